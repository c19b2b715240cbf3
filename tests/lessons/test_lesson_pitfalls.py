"""真实教程犯过的错，与各页面要说的事实：PyTorch 自己怎样做，我们的代码为什么那样写。"""

import math

import pytest
import torch
import torch.nn.functional as F
import torch_checks as check
from lesson_files import load

M = load("03-attention-demo.py")
LOWEST = torch.finfo(torch.float32).min


def close(actual, expected, atol):
    check.close(actual, torch.as_tensor(expected, dtype=actual.dtype), atol=atol, rtol=0)


# ---- 掩码 ----


def test_fully_masked_row():
    """手写的 softmax 得到 NaN；填 finfo.min 得到均匀的一行；我们的函数拒绝。"""
    row = torch.full((3,), -math.inf)
    assert row.softmax(-1).isnan().all()
    close(torch.full((3,), LOWEST).softmax(-1), [1 / 3] * 3, 1e-6)
    with pytest.raises(ValueError, match="没有合法的键"):
        M.masked_softmax(torch.zeros(1, 3), torch.zeros(1, 3, dtype=torch.bool))


def test_cleaning_nan_after_softmax_does_not_clean_the_gradient():
    """加上 -inf 的掩码之后再清理 NaN，梯度仍是 NaN；用 masked_fill 屏蔽，梯度是 0。"""
    drop = torch.ones(3, dtype=torch.bool)
    added = torch.zeros(3, requires_grad=True)
    (added + torch.zeros(3).masked_fill(drop, -math.inf)).softmax(-1).nan_to_num().sum().backward()
    filled = torch.zeros(3, requires_grad=True)
    filled.masked_fill(drop, -math.inf).softmax(-1).nan_to_num().sum().backward()
    assert added.grad.isnan().all() and torch.equal(filled.grad, torch.zeros(3))


def test_adding_two_lowest_masks_lets_the_future_in():
    """左填充两个：两张 finfo.min 的掩码相加，有的溢出成 -inf，其余打平，第一行就看见了未来。

    布尔掩码先合并：第一行没有合法的键，我们的函数会说出来，而不是给出一行权重。
    """
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    real = torch.tensor([False, False, True, True])
    added = torch.zeros(4, 4).masked_fill(~causal, LOWEST) + torch.zeros(4).masked_fill(~real, LOWEST)
    close(added.softmax(-1)[0], [1 / 3, 0, 1 / 3, 1 / 3], 1e-6)
    with pytest.raises(ValueError, match=r"keep\[0\] 没有合法的键"):
        M.masked_softmax(torch.zeros(4, 4), causal & real)


def test_zero_one_mask_is_added():
    """0/1 的浮点掩码被加到分数上，什么也没屏蔽；我们的函数拒绝非布尔的掩码。"""
    mask = torch.ones(3, 3).tril()
    weights = F.scaled_dot_product_attention(*torch.zeros(2, 3, 3), torch.eye(3), attn_mask=mask)
    close(weights[0], [0.576, 0.212, 0.212], 5e-4)
    with pytest.raises(ValueError, match="布尔"):
        M.masked_softmax(torch.zeros(3, 3), mask)


def test_finite_sentinel_in_fp16():
    """-1e9 在 fp16 里装不下：masked_fill 报错，加法悄悄变成 -inf。"""
    scores = torch.zeros(2, dtype=torch.float16)
    with pytest.raises(RuntimeError):
        scores.masked_fill(torch.tensor([True, False]), -1e9)
    assert (scores + -1e9).isinf().all()


def test_polarity():
    """SDPA 的 True 是保留，nn.MultiheadAttention 的 True 是屏蔽。"""
    q = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    weights = M.masked_softmax(q @ q.T / math.sqrt(2), M.keep_mask(3))
    expected = [[1, 0, 0], [0.330238, 0.669762, 0], [0.248255, 0.248255, 0.503490]]
    close(weights, expected, 1e-6)
    close(F.scaled_dot_product_attention(q, q, torch.eye(3), attn_mask=M.keep_mask(3)), expected, 1e-6)


def test_is_causal_aligns_to_the_start():
    """一个查询、四个键，is_causal=True 只看得见第一个；我们的掩码对齐末尾，四个都看得见。"""
    q, k, v = torch.ones(1, 1, 2), torch.ones(1, 4, 2), torch.arange(8.0).view(1, 4, 2)
    assert torch.equal(F.scaled_dot_product_attention(q, k, v, is_causal=True), v[:, :1])
    assert M.keep_mask(1, past=3).tolist() == [[True] * 4]
    close(F.scaled_dot_product_attention(q, k, v, attn_mask=M.keep_mask(1, 3)), v.mean(1, keepdim=True), 1e-6)


# ---- RoPE ----


def test_slice_past_the_table_vanishes_or_broadcasts():
    """没有检查时：越界的切片是空的，乘出来也是空的；只剩一行的切片会广播给所有位置。"""
    cos, _ = M.precompute_freqs_cis(8, 4)
    assert (torch.ones(1, 1, 2, 8) * cos[4:5][:, None]).shape == (1, 0, 2, 8)
    assert (torch.ones(1, 3, 2, 8) * cos[3:6][:, None]).shape == (1, 3, 2, 8)


def test_two_pairings():
    """x = [1, 2, 3, 4]，位置 1，底 10000：前后两半配对与相邻配对的结果不同。"""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    cos, sin = M.precompute_freqs_cis(4, 2)
    halves, _ = M.apply_rotary_pos_emb(x.expand(1, 2, 1, 4), x.expand(1, 2, 1, 4), cos, sin)
    close(halves[0, 1, 0], [-1.984, 1.960, 2.462, 4.020], 5e-4)
    pairs = torch.tensor([1.0, 3.0, 2.0, 4.0])  # 相邻的 (1, 2)、(3, 4) 放到前后两半的位置上
    adjacent, _ = M.apply_rotary_pos_emb(pairs.expand(1, 2, 1, 4), pairs.expand(1, 2, 1, 4), cos, sin)
    close(adjacent[0, 1, 0][[0, 2, 1, 3]], [-1.143, 1.922, 2.960, 4.030], 5e-4)


def test_positions_in_bf16_collapse():
    """4096 个位置在 bf16 里只剩 769 个不同的数。"""
    assert torch.arange(4096).bfloat16().unique().numel() == 769


# ---- RMSNorm、填充 ----


def test_rms_norm_numbers():
    y = M.SimpleRMSNorm(4)(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    close(y.detach(), [0.3651, 0.7303, 1.0954, 1.4606], 5e-5)


@torch.no_grad()
def test_right_padding_needs_no_mask_but_left_padding_does():
    """右填充加因果：等长的两种填充内容之间，真实词元一位不差；左填充会改变它们。"""
    attn = check.make_attention(M)
    cos, sin = M.precompute_freqs_cis(6, 6, dtype=torch.float64)
    real, pad, other = check.make_x(1, 4, 12), check.make_x(1, 2, 12, seed=8), check.make_x(1, 2, 12, seed=9)
    alone, _ = attn(real, cos, sin)
    right = [attn(torch.cat([real, p], dim=1), cos, sin)[0][:, :4] for p in (pad, other)]
    left = [attn(torch.cat([p, real], dim=1), cos, sin)[0][:, 2:] for p in (pad, other)]
    assert torch.equal(*right)
    check.close(right[0], alone)
    assert (left[0] - left[1]).abs().max() > 1e-3
