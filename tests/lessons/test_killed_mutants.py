"""变异试验里曾经没有被发现的改动；由 ``python -m livedocs.mutate --kinds code`` 找到。

课文与读者的代码都不写出这些缺省值，所以别的测试用不着它们，改了也看不出来。
"""

import inspect
import math

import pytest
import torch
from lesson_files import load

#: (脚本, 公开的名字, 缺省值)
DEFAULTS = [
    ("02-basic-components-demo.py", "SimpleEmbedding", {"std": 0.02}),
    ("02-basic-components-demo.py", "rope_frequencies", {"rope_base": 10000.0}),
    ("03-attention-demo.py", "SimpleRMSNorm", {"eps": 1e-6}),
    ("03-attention-demo.py", "precompute_freqs_cis", {"rope_base": 10000.0}),
    ("03-attention-demo.py", "SimpleAttention", {"hidden_size": 16, "n_heads": 4, "n_kv_heads": 2, "head_dim": 8}),
    ("multi_head_shapes.py", "MultiHeadAttention", {"causal": True}),
    ("single_head_attention.py", "attention", {"causal": True}),
    (
        "04-mlp-moe-demo.py",
        "MoE",
        {"hidden_size": 16, "n_experts": 4, "top_k": 2, "n_shared": 0, "capacity_factor": None, "renormalise": True},
    ),
    ("04-mlp-moe-demo.py", "SwiGLU", {"hidden_size": 16, "width": None}),
    ("04-mlp-moe-demo.py", "ffn_width", {"ratio": 8 / 3, "multiple": 64}),
    ("04-mlp-moe-demo.py", "route", {"renormalise": True}),
    ("01-architecture-demo.py", "memory_mib", {"B": 1, "T": 2048}),
    ("kv_cache_cost.py", "cache_bytes", {"n_layers": 8, "n_kv_heads": 4, "head_dim": 96, "bytes_each": 2, "batch": 1}),
    ("kv_cache_cost.py", "step_cost", {"hidden_size": 768, "n_heads": 8, "n_kv_heads": 4, "head_dim": 96}),
]


@pytest.mark.parametrize(("script", "name", "defaults"), DEFAULTS, ids=[f"{row[0]}-{row[1]}" for row in DEFAULTS])
def test_defaults(script, name, defaults):
    parameters = inspect.signature(getattr(load(script), name)).parameters
    assert {key: parameters[key].default for key in defaults} == defaults


def test_yarn_slows_the_last_pair_fully():
    """训练长度很长时，“放慢到 1/factor”的起点要截到最后一对；不截，最后一对就放慢得不够。"""
    m = load("02-basic-components-demo.py")
    slowed, plain = m.yarn_frequencies(8, 4, 100_000), m.rope_frequencies(8)
    assert slowed[-1].item() == pytest.approx(plain[-1].item() / 4, rel=1e-6)
    assert slowed[0].item() == pytest.approx(plain[0].item(), rel=1e-6)


def test_the_id_that_is_named_is_the_wrong_one():
    """编号 0 合格；报出的是那个越界的编号。"""
    with pytest.raises(ValueError, match="编号 70"):
        load("05-transformer-block-demo.py").check_ids("input_ids ", torch.tensor([[0, 70]]), 64)


#: (脚本, 调用, 界限上合格的值, 界限上不合格的值)
BOUNDS = [
    ("02-basic-components-demo.py", lambda m, v: m.rope_frequencies(4, v), (1e-3, 1.0), (0, -1.0, math.inf, math.nan)),
    ("03-attention-demo.py", lambda m, v: m.precompute_freqs_cis(4, 2, rope_base=v), (1e-3, 1.0), (0, -1.0, math.inf, math.nan)),
    ("02-basic-components-demo.py", lambda m, v: m.yarn_frequencies(4, v, 64), (1, 1.5), (0.5, math.inf, math.nan)),
    (
        "02-basic-components-demo.py",
        lambda m, v: m.yarn_frequencies(4, 2, 64, beta_slow=v, beta_fast=2),
        (1e-3, 1.9),
        (0, 2, 3, -1, math.inf, math.nan),
    ),
    ("02-basic-components-demo.py", lambda m, v: m.yarn_frequencies(4, 2, 64, rope_base=v), (1.001, 2), (1, 0.5, -1, math.nan)),
    ("04-mlp-moe-demo.py", lambda m, v: m.ffn_width(8, v), (1e-3, 1), (0, -1, math.inf, math.nan)),
    ("04-mlp-moe-demo.py", lambda m, v: m.expert_capacity(4, 2, 1, v), (1e-3, 1), (0, -1, math.inf, math.nan)),
]


@pytest.mark.parametrize(("script", "call", "accepted", "refused"), BOUNDS)
def test_values_on_the_bounds(script, call, accepted, refused):
    m = load(script)
    for value in accepted:
        call(m, value)
    for value in refused:
        with pytest.raises(ValueError, match="应|不小于|大于"):
            call(m, value)


def test_a_sequence_may_fill_the_position_table_and_no_more():
    """从空的开始、接着缓存，都是正好填满合格，多一个就拒绝。"""
    m = load("05-transformer-block-demo.py")
    model = m.DecoderModel(m.ModelConfig(5, 4, 1, 2, 1, 2, 4, max_positions=4))
    ids = torch.zeros(1, 4, dtype=torch.long)
    assert model(ids)[0].shape == (1, 4, 5)
    _, _, caches = model(ids[:, :3], use_cache=True)
    assert model(ids[:, :1], past_kvs=caches)[0].shape == (1, 1, 5)
    for tokens, past in ((5, None), (2, caches)):
        with pytest.raises(ValueError, match="max_positions 是 4"):
            model(torch.zeros(1, tokens, dtype=torch.long), past_kvs=past)


def test_one_read_divides_by_the_square_root_of_two():
    """键值缓存那一课自己和自己比较，除以几都看不出来；这里与手算比较。"""
    e = math.exp(1 / math.sqrt(2))
    read = load("kv_cache_cost.py").read([1.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    assert read == pytest.approx([e / (e + 1), 1 / (e + 1)], rel=1e-12)


#: 出处见第 1 章的脚注：MiniMind 仓库的 MiniMindConfig。别处只用到其中几个数。
MINIMIND = {"vocab_size": 6400, "n_layers": 8, "n_heads": 8, "max_positions": 32768, "rope_base": 1e6}


def test_the_two_published_configurations():
    m = load("01-architecture-demo.py")
    new = MINIMIND | {"hidden_size": 768, "n_kv_heads": 4, "head_dim": 96, "intermediate_size": 2432, "qk_norm": True}
    old = MINIMIND | {"hidden_size": 512, "n_kv_heads": 2, "head_dim": 64, "intermediate_size": 1408, "qk_norm": False}
    for config, published in ((m.MINIMIND_3, new), (m.MINIMIND_2, old)):
        assert {name: getattr(config, name) for name in published} == published


def test_the_standard_deviation_of_an_embedding_is_the_one_asked_for():
    m = load("02-basic-components-demo.py")
    torch.manual_seed(0)
    for std in (0.02, 0.5):
        assert m.SimpleEmbedding(200, 100, std=std).weight.std().item() == pytest.approx(std, rel=0.05)


def test_the_learning_rate_rises_for_ten_steps_and_stays(monkeypatch):
    m = load("05-train-poems-demo.py")
    rates = []

    class Recording(torch.optim.AdamW):
        def step(self, closure=None):
            rates.append([group["lr"] for group in self.param_groups])
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "AdamW", Recording)
    poems = ["春眠不觉晓", "处处闻啼鸟", "夜来风雨声"]
    vocabulary = m.Vocabulary(poems)
    model = m.DecoderModel(m.ModelConfig(len(vocabulary), 8, 1, 2, 1, 4, 8))
    m.train(model, vocabulary, poems[:2], poems[2:], steps=12, batch_size=2, every=12, peak_lr=1e-3)
    assert rates == [[pytest.approx(1e-3 * min(step, 10) / 10)] for step in range(1, 13)]


def test_a_temperature_is_finite_and_not_negative():
    m = load("05-transformer-block-demo.py")
    model = m.DecoderModel(m.ModelConfig(5, 4, 1, 2, 1, 2, 4, max_positions=4))
    ids = torch.zeros(1, 1, dtype=torch.long)
    for temperature in (0.0, 0.5):
        assert m.generate(model, ids, 1, temperature=temperature).shape == (1, 2)
    for temperature in (-0.5, math.inf, math.nan):
        with pytest.raises(ValueError, match="temperature 应是有限的非负数"):
            m.generate(model, ids, 1, temperature=temperature)


def test_the_fixed_projections_of_the_cache_lesson():
    assert load("kv_cache_cost.py").project([1, 2]) == ([3, -1], [-3, 2], [3, 5])
