"""code/03-attention-demo.py：随机尺寸上的性质、精度，以及读者看到的拒绝。"""

import pytest
import torch
import torch_checks as check
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_files import load

M = load("03-attention-demo.py")

size = st.integers(1, 5)
seed = st.integers(0, 2**32 - 1)
half = st.integers(1, 4)  # head_dim 的一半
many = settings(max_examples=25, deadline=None)


@many
@given(
    B=size, T=size, past=st.integers(0, 5), C=size, Hkv=st.integers(1, 3), n_rep=st.integers(1, 3), half=half, seed=seed
)
def test_forward_equals_sdpa(B, T, past, C, Hkv, n_rep, half, seed):
    """MHA（n_rep = 1）、MQA（Hkv = 1）与 GQA，有缓存或没有缓存。"""
    check.attention_equals_sdpa(M, B, T, past, C, Hkv * n_rep, Hkv, 2 * half, seed)


@many
@given(T=size, Hkv=st.integers(1, 2), n_rep=st.integers(1, 3), half=half, seed=seed)
def test_future_does_not_leak(T, Hkv, n_rep, half, seed):
    check.future_does_not_leak(M, T=T, H=Hkv * n_rep, Hkv=Hkv, D=2 * half, seed=seed)


@many
@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5), seed=seed)
def test_cached_in_random_chunks(sizes, seed):
    check.cached_equals_uncached(M, sizes, seed=seed)


@pytest.mark.parametrize("sizes", [[1] * 7, [3, 4], [4, 1, 1, 1]], ids=str)
def test_cached_as_the_lesson_does(sizes):
    check.cached_equals_uncached(M, sizes)


@many
@given(
    T=size, H=size, Hkv=size, half=half, base=st.sampled_from([100.0, 1e4, 1e6]), start=st.integers(0, 50), seed=seed
)
def test_rope(T, H, Hkv, half, base, start, seed):
    check.rope_equals_complex(M, 2, T, H, Hkv, 2 * half, base, start, seed)
    check.rope_keeps_norm(M, T, 2 * half, seed)


@many
@given(half=half, m=st.integers(0, 40), n=st.integers(0, 40), shift=st.integers(0, 40), seed=seed)
def test_rope_is_relative(half, m, n, shift, seed):
    check.rope_is_relative(M, 2 * half, (m, n, shift), seed)


def test_rope_table_is_accurate():
    check.rope_table_is_accurate(M)


def test_rope_table_dtype():
    """表不低于 fp32；要 float64 就给 float64。"""
    for asked, given_dtype in (
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ):
        assert [table.dtype for table in M.precompute_freqs_cis(8, 4, dtype=asked)] == [given_dtype] * 2


@many
@given(B=size, S=size, Hkv=size, D=size, n_rep=size)
def test_repeat_kv(B, S, Hkv, D, n_rep):
    check.repeat_kv_equals_repeat_interleave(M, B, S, Hkv, D, n_rep)


@many
@given(T=size, past=st.integers(0, 6), seed=seed)
def test_mask_and_softmax(T, past, seed):
    check.keep_mask_follows_positions(M, T, past)
    check.softmax_rows_sum_to_one(M, T, past, seed)


@many
@given(width=st.integers(1, 9), seed=seed)
def test_rms_norm(width, seed):
    check.rms_norm_equals_reference(M, width, seed)


def test_rms_norm_survives_fp16():
    check.rms_norm_survives_fp16(M)


def test_rms_norm_of_zeros_is_zero():
    assert torch.equal(M.SimpleRMSNorm(4)(torch.zeros(1, 4)), torch.zeros(1, 4))


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.bfloat16, 0.05), (torch.float16, 0.01), (torch.float32, 1e-5), (torch.float64, 1e-6)],
    ids=str,
)
def test_dtype_is_kept(dtype, tolerance):
    check.dtype_is_kept(M, dtype, tolerance)


@torch.no_grad()
def test_reference_in_the_demo_is_right_too():
    """例 5 的参考实现与这里的参考实现相同，所以例 5 的断言有依据。"""
    attn = check.make_attention(M)
    x = check.make_x(2, 6, 12)
    cos, sin = M.precompute_freqs_cis(6, 6, dtype=torch.float64)
    check.close(M.reference_attention(attn, x), attn(x, cos, sin)[0])


def test_gradients_are_right():
    """梯度与有限差分一致：掩码没有把 NaN 带进反向传播。"""
    attn = check.make_attention(M, C=4, H=2, Hkv=1, D=2)
    cos, sin = M.precompute_freqs_cis(2, 3, dtype=torch.float64)
    x = check.make_x(1, 3, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: attn(x, cos, sin)[0], (x,))


@torch.no_grad()
def test_cache_is_returned_only_when_asked_and_never_changed():
    attn = check.make_attention(M)
    x = check.make_x(2, 3, 12)
    cos, sin = M.precompute_freqs_cis(6, 8, dtype=torch.float64)
    assert attn(x, cos, sin)[1] is None
    cache = attn(x, cos, sin, use_cache=True)[1]
    copies = [t.clone() for t in cache]
    assert attn(x, cos, sin, past_kv=cache)[1] is None
    grown = attn(x, cos, sin, past_kv=cache, use_cache=True)[1]
    assert [t.shape[1] for t in (*cache, *grown)] == [3, 3, 6, 6]
    assert all(torch.equal(t, copy) for t, copy in zip(cache, copies))


@torch.no_grad()
def test_empty_cache_is_no_cache():
    attn = check.make_attention(M)
    x = check.make_x(2, 3, 12)
    cos, sin = M.precompute_freqs_cis(6, 3, dtype=torch.float64)
    empty = torch.zeros(2, 0, 2, 6, dtype=torch.float64)
    assert torch.equal(attn(x, cos, sin, past_kv=(empty, empty))[0], attn(x, cos, sin)[0])


@torch.no_grad()
def test_table_may_be_exactly_long_enough():
    attn = M.SimpleAttention()
    cos, sin = M.precompute_freqs_cis(8, 7)
    cache = attn(torch.zeros(1, 6, 16), cos, sin, use_cache=True)[1]
    assert attn(torch.zeros(1, 1, 16), cos, sin, past_kv=cache)[0].shape == (1, 1, 16)


def zeros(*shape, dtype=torch.float32):
    return torch.zeros(*shape, dtype=dtype)


def forward(x=None, cos=None, sin=None, past_kv=None):
    """缺省尺寸的一次前向，只换掉给出的输入；表有 8 行。"""
    table = M.precompute_freqs_cis(8, 8)
    x = zeros(2, 3, 16) if x is None else x
    return M.SimpleAttention()(x, cos if cos is not None else table[0], sin if sin is not None else table[1], past_kv)


REFUSALS = [
    # 构造
    (
        lambda: M.SimpleAttention(n_heads=4, n_kv_heads=3),
        "n_heads = 4 不能被 n_kv_heads = 3 整除",
    ),
    (lambda: M.SimpleAttention(n_heads=2, n_kv_heads=4), "n_heads = 2 不能被 n_kv_heads = 4 整除"),
    (lambda: M.SimpleAttention(head_dim=7), "head_dim = 7 是奇数：RoPE 要把通道两两配对"),
    (lambda: M.SimpleAttention(n_kv_heads=0), "n_kv_heads 应是正整数，得到 0"),
    (lambda: M.SimpleAttention(hidden_size=16.0), "hidden_size 应是正整数，得到 16.0"),
    (lambda: M.SimpleAttention(n_heads=True), "n_heads 应是正整数，得到 True"),
    (lambda: M.SimpleRMSNorm(0), "dim 应是正整数，得到 0"),
    # 函数
    (lambda: M.SimpleRMSNorm(8)(zeros(2, 1)), "RMSNorm 的宽度是 8，输入是 [2, 1]：最后一维应是 8"),
    (lambda: M.precompute_freqs_cis(7, 4), "head_dim = 7 是奇数：RoPE 要把通道两两配对"),
    (lambda: M.precompute_freqs_cis(8, 0), "end 应是正整数，得到 0"),
    (lambda: M.precompute_freqs_cis(8, 4, rope_base=0.0), "rope_base 应是有限的正数，得到 0.0"),
    (lambda: M.precompute_freqs_cis(8, 4, rope_base=float("nan")), "rope_base 应是有限的正数，得到 nan"),
    (
        lambda: M.apply_rotary_pos_emb(zeros(1, 3, 2, 8), zeros(1, 3, 2, 8), zeros(1, 8), zeros(1, 8)),
        "cos 是 [1, 8]，应是 [3, 8]：每个词元一行",
    ),
    (
        lambda: M.apply_rotary_pos_emb(zeros(1, 1, 2, 8), zeros(1, 1, 2, 8), zeros(1, 8), zeros(0, 8)),
        "sin 是 [0, 8]，应是 [1, 8]：每个词元一行",
    ),
    (
        lambda: M.apply_rotary_pos_emb(zeros(1, 3, 2, 8), zeros(1, 1, 2, 8), zeros(3, 8), zeros(3, 8)),
        "q 是 [1, 3, 2, 8]，k 是 [1, 1, 2, 8]：seq 与 head_dim 应相同",
    ),
    (
        lambda: M.apply_rotary_pos_emb(zeros(3, 8), zeros(3, 8), zeros(3, 8), zeros(3, 8)),
        "q 是 [3, 8]，应是四维 [batch, seq, heads, head_dim]",
    ),
    (
        lambda: M.apply_rotary_pos_emb(zeros(1, 3, 2, 7), zeros(1, 3, 2, 7), zeros(3, 7), zeros(3, 7)),
        "head_dim = 7 是奇数：RoPE 要把通道两两配对",
    ),
    (lambda: M.repeat_kv(zeros(1, 3, 2, 8), 0), "n_rep 应是正整数，得到 0"),
    (lambda: M.repeat_kv(zeros(3, 2, 8), 2), "x 是 [3, 2, 8]，应是四维 [batch, seq, n_kv_heads, head_dim]"),
    (
        lambda: M.masked_softmax(zeros(2, 2), torch.ones(2, 2)),
        "keep 应是布尔张量（True 表示看得见），得到 torch.float32",
    ),
    (
        lambda: M.masked_softmax(zeros(2, 2), torch.ones(2, 2, dtype=torch.bool).tril(-1)),
        "keep[0] 没有合法的键：掩码是 [2, 2]，这一行全是 False，权重无从分配",
    ),
    (
        lambda: M.masked_softmax(zeros(1, 2, 3, 3), torch.ones(1, 2, 3, 3, dtype=torch.bool).tril(-1)),
        "keep[0, 0, 0] 没有合法的键：掩码是 [1, 2, 3, 3]，这一行全是 False，权重无从分配",
    ),
    # 前向
    (lambda: forward(x=zeros(2, 3, 8)), "x 是 [2, 3, 8]，应是 [batch, seq, 16]"),
    (lambda: forward(x=zeros(3, 16)), "x 是 [3, 16]，应是 [batch, seq, 16]"),
    (lambda: forward(x=zeros(2, 0, 16)), "x 是 [2, 0, 16]：序列是空的，至少要有 1 个词元"),
    (lambda: forward(cos=zeros(8, 4)), "cos 表是 [8, 4]，应是 [end, 8]"),
    (lambda: forward(sin=zeros(8)), "sin 表是 [8]，应是 [end, 8]"),
    (
        lambda: forward(x=zeros(2, 9, 16)),
        "位置 8 超出 RoPE 表：缓存有 0 个词元，新来 9 个，而 cos 表只有 8 行",
    ),
    (
        lambda: forward(x=zeros(2, 1, 16), past_kv=(zeros(2, 8, 2, 8), zeros(2, 8, 2, 8))),
        "位置 8 超出 RoPE 表：缓存有 8 个词元，新来 1 个，而 cos 表只有 8 行",
    ),
    (
        lambda: forward(sin=zeros(2, 8)),
        "位置 2 超出 RoPE 表：缓存有 0 个词元，新来 3 个，而 sin 表只有 2 行",
    ),
    # 缓存：批大小、头数、布局、K 与 V 的长度、dtype
    (
        lambda: forward(past_kv=(zeros(1, 4, 2, 8), zeros(1, 4, 2, 8))),
        "缓存的 K 是 [1, 4, 2, 8]，应是 [2, 4, 2, 8]",
    ),
    (
        lambda: forward(past_kv=(zeros(2, 4, 4, 8), zeros(2, 4, 4, 8))),
        "缓存的 K 是 [2, 4, 4, 8]，应是 [2, 4, 2, 8]",
    ),
    (
        lambda: forward(past_kv=(zeros(2, 2, 4, 8), zeros(2, 2, 4, 8))),
        "缓存的 K 是 [2, 2, 4, 8]，应是 [2, 2, 2, 8]",
    ),
    (
        lambda: forward(past_kv=(zeros(2, 4, 2, 8), zeros(2, 3, 2, 8))),
        "缓存的 V 是 [2, 3, 2, 8]，应是 [2, 4, 2, 8]",
    ),
    (
        lambda: forward(past_kv=(zeros(2, 4, 2, 8, dtype=torch.float16), zeros(2, 4, 2, 8))),
        "缓存的 K 是 torch.float16，新算出的 K 是 torch.float32",
    ),
    (
        lambda: forward(past_kv=(zeros(2, 4, 2, 8), zeros(2, 4, 2, 8, dtype=torch.float64))),
        "缓存的 V 是 torch.float64，新算出的 V 是 torch.float32",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSALS)
def test_refusal(call, sentence):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == sentence
