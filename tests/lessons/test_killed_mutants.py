"""变异试验里曾经没有被发现的改动；由 ``python -m livedocs.mutate --kinds code`` 找到。

课文与读者的代码都不写出这些缺省值，所以别的测试用不着它们，改了也看不出来。
"""

import inspect

import pytest
import torch
from lesson_files import load

#: (脚本, 公开的名字, 缺省值)
DEFAULTS = [
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
    ("04-mlp-moe-demo.py", "ffn_width", {"ratio": 8 / 3, "multiple": 64}),
    ("04-mlp-moe-demo.py", "route", {"renormalise": True}),
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
