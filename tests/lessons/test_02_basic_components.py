"""code/02-basic-components-demo.py：随机尺寸上的性质、课文里的数，以及读者看到的拒绝。

测的是已发布的文件，也就是并入了 RMSNorm 与 RoPE 的那一份。
"""

import math

import checks_02_04 as check
import pytest
import torch
import torch_checks
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_files import CODE, load

from livedocs.publish import published

NAME = "02-basic-components-demo.py"
M = load(NAME, published(CODE / NAME))

size = st.integers(1, 5)
seed = st.integers(0, 2**32 - 1)
half = st.integers(1, 5)
many = settings(max_examples=20, deadline=None)


@many
@given(V=st.integers(1, 9), C=size, B=size, T=size, seed=seed)
def test_embedding(V, C, B, T, seed):
    check.embedding_equals_one_hot(M, V, C, B, T, seed)


def test_embedding_accepts_int32():
    ids = torch.tensor([[1, 0]], dtype=torch.int32)
    embedding = M.SimpleEmbedding(3, 2)
    assert torch.equal(embedding(ids), embedding(ids.long()))
    assert torch.equal(M.one_hot_embedding(ids, embedding.weight), embedding(ids))


@many
@given(width=st.integers(1, 9), seed=seed)
def test_norms(width, seed):
    check.layer_norm_equals_torch(M, width, seed)
    check.layer_norm_is_centred_rms_norm(M, width, seed)
    torch_checks.rms_norm_equals_reference(M, width, seed)


def test_norms_in_half_precision():
    check.norms_accumulate_in_fp32(M)
    torch_checks.rms_norm_survives_fp16(M)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64], ids=str)
def test_dtype_is_kept(dtype):
    x = torch.ones(1, 2, 1, 4, dtype=dtype)
    table = torch.ones(2, 2)
    for y in (M.SimpleLayerNorm(4).to(dtype)(x), M.apply_rotary_interleaved(x, table, table)):
        assert y.dtype == dtype and y.shape == x.shape
    assert M.SimpleEmbedding(3, 2).to(dtype)(torch.zeros(1, 1, dtype=torch.long)).dtype == dtype


def test_layer_norm_of_equal_values_is_the_bias():
    assert torch.equal(M.SimpleLayerNorm(3)(torch.full((2, 3), 7.0)), torch.zeros(2, 3))


def test_norm_gradients():
    """梯度与有限差分一致；eps 为 0 时 RMSNorm 的梯度与输入垂直，LayerNorm 的还与全 1 向量垂直。"""
    x = torch.randn(5, generator=check.generator(0), dtype=torch.float64, requires_grad=True)
    goal = torch.randn(5, generator=check.generator(1), dtype=torch.float64)
    for norm in (M.SimpleRMSNorm(5, eps=0.0), M.SimpleLayerNorm(5, eps=0.0)):
        norm = norm.double()
        assert torch.autograd.gradcheck(norm, (x,))
        (gradient,) = torch.autograd.grad((norm(x) * goal).sum(), x)
        assert (gradient @ x).abs() < 1e-12
    assert gradient.sum().abs() < 1e-12


@many
@given(half=half, base=st.sampled_from([100.0, 1e4, 1e6]))
def test_frequencies(half, base):
    check.frequencies_match_the_table(M, 2 * half, base)


@many
@given(B=size, T=size, H=size, half=half, seed=seed)
def test_pairings(B, T, H, half, seed):
    check.interleaved_equals_complex(M, B, T, H, 2 * half, seed)
    check.pairings_differ_by_a_permutation(M, B, T, H, 2 * half, seed)


@many
@given(
    half=st.integers(2, 64),
    factor=st.floats(1, 64),
    length=st.integers(64, 8192),
    base=st.sampled_from([1e4, 1e5, 1e6]),
)
def test_yarn(half, factor, length, base):
    check.yarn_interpolates_by_parts(M, 2 * half, factor, length, base)


def test_yarn_by_factor_one_changes_nothing():
    torch_checks.close(M.yarn_frequencies(96, 1, 2048, 1e6), M.rope_frequencies(96, 1e6))


def test_numbers_of_the_lesson():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    expected = torch.tensor([0.3651, 0.7303, 1.0954, 1.4606])
    torch_checks.close(M.SimpleRMSNorm(4)(x).detach(), expected, atol=5e-5, rtol=0)
    assert torch.arange(4096).bfloat16().unique().numel() == 769
    wavelengths = [2 * math.pi / M.rope_frequencies(96, base) for base in (1e4, 1e6)]
    assert [int((w > 2048).sum()) for w in wavelengths] == [17, 27]


def ids(*rows, dtype=torch.long):
    return torch.tensor(rows, dtype=dtype)


REFUSALS = [
    (lambda: M.SimpleEmbedding(0, 3), "vocab_size 应是正整数，得到 0"),
    (lambda: M.SimpleEmbedding(6, 3.0), "hidden_size 应是正整数，得到 3.0"),
    (lambda: M.SimpleEmbedding(6, 3)(ids([0, 6])), "第 0 段第 1 个词元的编号是 6，词表只有 0 到 5"),
    (lambda: M.SimpleEmbedding(6, 3)(ids([0, 1], [-100, 6])), "第 1 段第 0 个词元的编号是 -100，词表只有 0 到 5"),
    (lambda: M.one_hot_embedding(ids([0, 6]), torch.zeros(6, 3)), "第 0 段第 1 个词元的编号是 6，词表只有 0 到 5"),
    (lambda: M.SimpleEmbedding(6, 3)(torch.zeros(2, 0, dtype=torch.long)), "词元编号是 [2, 0]，应是 [batch, seq]，而且至少有 1 个词元"),
    (lambda: M.SimpleEmbedding(6, 3)(torch.zeros(2, dtype=torch.long)), "词元编号是 [2]，应是 [batch, seq]，而且至少有 1 个词元"),
    (lambda: M.SimpleEmbedding(6, 3)(torch.zeros(1, 2)), "词元编号应是整数张量，得到 torch.float32"),
    (lambda: M.SimpleEmbedding(6, 3)(ids([1, 0], dtype=torch.uint8)), "词元编号应是整数张量，得到 torch.uint8"),
    (lambda: M.SimpleLayerNorm(0), "dim 应是正整数，得到 0"),
    (lambda: M.SimpleLayerNorm(8)(torch.zeros(2, 1)), "LayerNorm 的宽度是 8，输入是 [2, 1]：最后一维应是 8"),
    (lambda: M.SimpleRMSNorm(8)(torch.zeros(2, 1)), "RMSNorm 的宽度是 8，输入是 [2, 1]：最后一维应是 8"),
    (lambda: M.rope_frequencies(7), "head_dim = 7 是奇数：RoPE 要把通道两两配对"),
    (lambda: M.rope_frequencies(0), "head_dim 应是正整数，得到 0"),
    (lambda: M.rope_frequencies(8, -1.0), "rope_base 应是有限的正数，得到 -1.0"),
    (lambda: M.half_to_interleaved(5), "head_dim = 5 是奇数：RoPE 要把通道两两配对"),
    (
        lambda: M.apply_rotary_interleaved(torch.zeros(1, 3, 1, 8), torch.zeros(1, 4), torch.zeros(1, 4)),
        "cos 是 [1, 4]，应是 [3, 4]：每个词元一行，每对通道一列",
    ),
    (
        lambda: M.apply_rotary_interleaved(torch.zeros(1, 3, 1, 8), torch.zeros(3, 4), torch.zeros(3, 8)),
        "sin 是 [3, 8]，应是 [3, 4]：每个词元一行，每对通道一列",
    ),
    (
        lambda: M.apply_rotary_interleaved(torch.zeros(3, 8), torch.zeros(3, 4), torch.zeros(3, 4)),
        "x 是 [3, 8]，应是四维 [batch, seq, heads, head_dim]",
    ),
    (
        lambda: M.apply_rotary_interleaved(torch.zeros(1, 3, 1, 7), torch.zeros(3, 3), torch.zeros(3, 3)),
        "head_dim = 7 是奇数：RoPE 要把通道两两配对",
    ),
    (lambda: M.yarn_frequencies(7, 2, 64), "head_dim = 7 是奇数：RoPE 要把通道两两配对"),
    (lambda: M.yarn_frequencies(8, 0.5, 64), "factor = 0.5：拉长的倍数应是不小于 1 的有限数"),
    (lambda: M.yarn_frequencies(8, math.inf, 64), "factor = inf：拉长的倍数应是不小于 1 的有限数"),
    (lambda: M.yarn_frequencies(8, 2, 0), "original_end 应是正整数，得到 0"),
    (lambda: M.yarn_frequencies(8, 2, 64, rope_base=1.0), "rope_base = 1.0：YaRN 要求它大于 1，否则没有快慢之分"),
    (
        lambda: M.yarn_frequencies(8, 2, 64, beta_fast=1.0, beta_slow=32.0),
        "应有 0 < beta_slow < beta_fast，得到 beta_slow = 32.0，beta_fast = 1.0",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSALS)
def test_refusal(call, sentence):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == sentence


def test_without_the_check_a_negative_id_takes_a_row_from_the_end():
    """为什么要查负数：张量的下标从末尾数起，不报错。"""
    table = torch.arange(6.0).view(6, 1)
    assert table[torch.tensor([-1])].item() == 5
    with pytest.raises(IndexError):
        table[torch.tensor([6])]
