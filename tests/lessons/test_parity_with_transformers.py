"""与别人写的实现对照：把第 5 章模型的权重原样装进 transformers 的 Qwen3，logits、损失、缓存、生成都一致。

Qwen3 与 MiniMind 现行版本同构：RMSNorm、GQA、QK-Norm、前后两半配对的 RoPE、SwiGLU。
配置写在代码里，权重由这里随机产生，不下载任何东西。
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"

import model_checks as check
import pytest
import torch
from lesson_files import load
from transformers import DynamicCache, Qwen3Config, Qwen3ForCausalLM

m = load("05-transformer-block-demo.py")
BOUND = 1e-4

SIZES = [
    pytest.param({}, id="default"),
    pytest.param({"tie_weights": False, "rope_base": 1e6}, id="untied"),
    pytest.param({"n_kv_heads": 1, "head_dim": 16, "n_layers": 2, "intermediate_size": 40}, id="mqa-wide-heads"),
]


def qwen3_config(config, attention="eager"):
    """同样尺寸的 Qwen3 配置。"""
    return Qwen3Config(
        vocab_size=config.vocab_size,
        hidden_size=config.hidden_size,
        intermediate_size=config.intermediate_size,
        num_hidden_layers=config.n_layers,
        num_attention_heads=config.n_heads,
        num_key_value_heads=config.n_kv_heads,
        head_dim=config.head_dim,
        max_position_embeddings=config.max_positions,
        rope_parameters={"rope_type": "default", "rope_theta": config.rope_base},
        rms_norm_eps=1e-6,
        hidden_act="silu",
        attention_bias=False,
        tie_word_embeddings=config.tie_weights,
        attn_implementation=attention,
        pad_token_id=None,
        bos_token_id=None,
        eos_token_id=None,
    )


def pair(sizes, attention="eager", seed=0):
    """(我们的模型, 装了同样权重的 Qwen3)；多一个或少一个名字都会报错。"""
    ours = check.build(m, seed, 0.1, torch.float32, **sizes)
    theirs = Qwen3ForCausalLM(qwen3_config(ours.config, attention)).eval()
    weights = {name if name == "lm_head.weight" else f"model.{name}": w for name, w in ours.state_dict().items()}
    theirs.load_state_dict(weights, strict=True)
    return ours, theirs


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("sizes", SIZES)
def test_logits_and_loss_are_equal(sizes, attention, record_property):
    ours, theirs = pair(sizes, attention)
    ids = check.ids_for(ours, 2, 12)
    with torch.no_grad():
        mine, other = ours(ids, labels=ids), theirs(ids, labels=ids)
    gap = (mine.logits - other.logits).abs().max().item()
    record_property("largest difference", gap)
    assert mine.logits.abs().max() > 0.5  # 不是都接近 0 才相等
    assert gap < BOUND
    assert abs(mine.loss.item() - other.loss.item()) < BOUND


@pytest.mark.parametrize("sizes", SIZES)
def test_logits_are_equal_with_both_caches(sizes):
    """两边都分块送、都用自己的缓存：每一块的 logits、最后的键与值都相同。"""
    ours, theirs = pair(sizes)
    ids = check.ids_for(ours, 2, 12)
    past_kvs, cache = None, DynamicCache(config=theirs.config)
    with torch.no_grad():
        whole = theirs(ids).logits
        seen = 0
        for piece in ids.split([5, 1, 1, 5], dim=1):
            logits, _, past_kvs = ours(piece, past_kvs=past_kvs, use_cache=True)
            other = theirs(piece, cache=cache, use_cache=True)
            cache = other.past_key_values
            assert (logits - other.logits).abs().max() < BOUND
            assert (logits - whole[:, seen : seen + piece.shape[1]]).abs().max() < BOUND
            seen += piece.shape[1]
    for (k, v), layer in zip(past_kvs, cache.layers):  # 他们的布局是 [B, Hkv, S, D]
        assert (k.transpose(1, 2) - layer.keys).abs().max() < BOUND
        assert (v.transpose(1, 2) - layer.values).abs().max() < BOUND


def test_greedy_tokens_are_equal():
    ours, theirs = pair({})
    prompt = check.ids_for(ours, 2, 5)
    with torch.no_grad():
        expected = theirs.generate(prompt, max_new_tokens=12, do_sample=False, attention_mask=torch.ones_like(prompt))
    assert torch.equal(m.generate(ours, prompt, 12), expected)


def test_parity_sees_a_swapped_norm():
    """对照不是摆设：换掉一个归一化的权重，差别远大于界限。"""
    ours, theirs = pair({})
    with torch.no_grad():
        layer = ours.layers[1]
        layer.input_layernorm.weight.copy_(layer.post_attention_layernorm.weight.flip(0))
        ids = check.ids_for(ours, 1, 8)
        assert (ours(ids).logits - theirs(ids).logits).abs().max() > 100 * BOUND


def test_parameter_counts_are_equal():
    """MiniMind 现行版本的尺寸：两边的参数一样多，等于公式。"""
    config = load("01-architecture-demo.py").MINIMIND_3
    with torch.device("meta"):
        theirs = Qwen3ForCausalLM(qwen3_config(config))
    assert sum(p.numel() for p in theirs.parameters()) == sum(m.count_parameters(config).values()) == 63_912_192
