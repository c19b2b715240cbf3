"""code/multi_head_shapes.py：随机尺寸上的性质，以及读者看到的拒绝。"""

import pytest
import torch
import torch_checks as check
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_files import load

M = load("multi_head_shapes.py")

size = st.integers(1, 5)
seed = st.integers(0, 2**32 - 1)
many = settings(max_examples=25, deadline=None)


@many
@given(B=size, T=size, H=size, D=size)
def test_split_and_merge(B, T, H, D):
    check.split_follows_channels(M, B, T, H, D)
    check.merge_follows_channels(M, B, T, H, D)
    check.multi_head_steps_have_shapes(M, B, T, H, D)
    x = torch.arange(B * T * H * D).view(B, T, H * D)
    assert torch.equal(M.merge_heads(M.split_heads(x, H)), x)


@many
@given(B=size, T=size, H=size, D=size, causal=st.booleans(), seed=seed)
def test_equals_torch(B, T, H, D, causal, seed):
    check.multi_head_equals_torch(M, B, T, H, D, causal, seed)


@many
@given(T=size, seed=seed)
def test_future_does_not_leak(T, seed):
    check.multi_head_future_does_not_leak(M, T, seed)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64], ids=str)
def test_dtype_is_kept(dtype):
    _, steps = M.MultiHeadAttention(12, 3).to(dtype)(M.make_input(2, 5, 12).to(dtype), return_steps=True)
    assert {tensor.dtype for tensor in steps.values()} == {dtype}


def test_wrong_merge_is_wrong_only_when_there_is_something_to_mix():
    """T = 1 或 H = 1 时少一次转置也对：这样的测试看不出错。"""
    for H, T, same in ((3, 2, False), (1, 2, True), (3, 1, True)):
        heads = torch.arange(H * T * 2).view(1, H, T, 2)
        assert torch.equal(M.merge_heads(heads), M.merge_without_transpose(heads)) is same


def zeros(*shape):
    return torch.zeros(*shape)


REFUSALS = [
    (lambda: M.split_heads(zeros(2, 4, 8), 3), "hidden_size = 8 不能被 n_heads = 3 整除"),
    (lambda: M.split_heads(zeros(2, 4, 8), 0), "n_heads 应是正整数，得到 0"),
    (lambda: M.split_heads(zeros(2, 4, 8), 2.0), "n_heads 应是正整数，得到 2.0"),
    (lambda: M.split_heads(zeros(4, 8), 2), "x 是 [4, 8]，应是三维 [batch, seq, hidden_size]"),
    (lambda: M.merge_heads(zeros(2, 4, 8)), "x 是 [2, 4, 8]，应是四维 [batch, n_heads, seq, head_dim]"),
    (lambda: M.MultiHeadAttention(8, 3), "hidden_size = 8 不能被 n_heads = 3 整除"),
    (lambda: M.MultiHeadAttention(0, 1), "hidden_size 应是正整数，得到 0"),
    (lambda: M.MultiHeadAttention(8, True), "n_heads 应是正整数，得到 True"),
    (lambda: M.MultiHeadAttention(8, 2)(zeros(2, 4, 6)), "x 是 [2, 4, 6]，应是 [batch, seq, 8]，且 seq 不小于 1"),
    (lambda: M.MultiHeadAttention(8, 2)(zeros(2, 0, 8)), "x 是 [2, 0, 8]，应是 [batch, seq, 8]，且 seq 不小于 1"),
    (lambda: M.MultiHeadAttention(8, 2)(zeros(4, 8)), "x 是 [4, 8]，应是 [batch, seq, 8]，且 seq 不小于 1"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSALS)
def test_refusal(call, sentence):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == sentence
