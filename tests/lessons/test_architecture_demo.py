"""第 1 章：参数、计算量、内存的公式与 PyTorch 数出来的相等。"""

import pytest
import torch
from lesson_files import load
from torch.utils.flop_counter import FlopCounterMode

m = load("01-architecture-demo.py")

CONFIGS = {
    "small": m.ModelConfig(),
    "untied": m.ModelConfig(tie_weights=False, n_kv_heads=1, head_dim=6),
    "minimind-3": m.MINIMIND_3,
    "minimind-2": m.MINIMIND_2,
}


def on_meta(config):
    with torch.device("meta"):
        return m.DecoderModel(config)


@pytest.mark.parametrize("name", CONFIGS)
def test_parameters_by_part(name):
    """每一部分单独数，都等于公式。"""
    config = CONFIGS[name]
    model = on_meta(config)
    counted = dict.fromkeys(m.count_parameters(config), 0)
    for path, parameter in model.named_parameters():
        part = (
            "词嵌入" if path.startswith("embed_tokens")
            else "LM head" if path.startswith("lm_head")
            else "前馈网络" if ".mlp." in path
            else "QK-Norm" if "q_norm" in path or "k_norm" in path
            else "每层的两个归一化" if "layernorm" in path
            else "注意力的四个投影" if ".self_attn." in path
            else "最后的归一化"
        )  # fmt: skip
        counted[part] += parameter.numel()
    assert counted == m.count_parameters(config)


def test_minimind_totals():
    assert sum(m.count_parameters(m.MINIMIND_3).values()) == 63_912_192
    assert sum(m.count_parameters(m.MINIMIND_2).values()) == 25_829_888
    assert (m.MINIMIND_3.intermediate_size, m.MINIMIND_2.intermediate_size) == (2432, 1408)


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(("T", "past"), [(1, 0), (7, 0), (1, 9), (4, 3)])
def test_flops_equal_the_counter_of_pytorch(name, T, past):
    config = CONFIGS[name]
    model = m.DecoderModel(config) if name in ("small", "untied") else None
    if model is None:  # 大模型不必真的算：按层数缩到 1 层，词表缩小
        sizes = {**config.__dict__, "n_layers": 1, "vocab_size": 10, "max_positions": 64}
        config = m.ModelConfig(**sizes)
        model = m.DecoderModel(config)
    with torch.no_grad():
        past_kvs = model(torch.zeros(1, past, dtype=torch.long), use_cache=True).past_kvs if past else None
        with FlopCounterMode(display=False) as counter:
            model(torch.zeros(1, T, dtype=torch.long), past_kvs=past_kvs)
    assert counter.get_total_flops() == m.forward_flops(config, T, past)


def test_training_costs_three_forwards():
    """反向约是前向的两倍：计数器数出的训练一步在前向的 2.9 到 3 倍之间（第一层不必对输入求导的部分略少）。"""
    config = m.ModelConfig()
    model = m.DecoderModel(config)
    ids = torch.zeros(1, 12, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        model(ids, labels=ids).loss.backward()
    assert 2.9 < counter.get_total_flops() / m.forward_flops(config, 12) <= 3.0


def test_memory_is_what_tensors_take():
    config = m.ModelConfig()
    model = m.DecoderModel(config)
    sizes = m.memory_mib(config, B=2, T=8)
    weights = sum(p.numel() * p.element_size() for p in model.parameters())
    assert sizes["权重，fp32"] * 2**20 == weights
    output = model.bfloat16()(torch.zeros(2, 8, dtype=torch.long), use_cache=True)
    cached = sum(t.numel() * t.element_size() for kv in output.past_kvs for t in kv)
    assert sizes["键值缓存，bf16，2 x 8 个词元"] * 2**20 == cached
    assert sizes["logits，fp32，2 x 8 个位置"] * 2**20 == 4 * output.logits.numel()
    optimizer = torch.optim.AdamW(model.float().parameters())
    ids = torch.zeros(1, 4, dtype=torch.long)
    model(ids, labels=ids).loss.backward()
    optimizer.step()
    state = sum(t.numel() * t.element_size() for s in optimizer.state.values() for t in s.values() if t.dim())
    gradients = sum(p.grad.numel() * p.grad.element_size() for p in model.parameters())
    assert sizes["训练：权重、梯度、AdamW 的两份状态，fp32"] * 2**20 == weights + state + gradients


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: m.forward_flops(m.MINIMIND_3, 0), "T 应是正整数，得到 0"),
    (lambda: m.forward_flops(m.MINIMIND_3, 1, -1), "past 应是非负整数，得到 -1"),
    (lambda: m.memory_mib(m.MINIMIND_3, B=0), "B 应是正整数，得到 0"),
])  # fmt: skip
def test_refuses(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
