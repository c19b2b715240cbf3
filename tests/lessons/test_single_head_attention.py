"""code/single_head_attention.py：随机尺寸上的性质，以及读者看到的拒绝。只用标准库，Python 3.10 就能运行。"""

import math

import pytest
import single_checks as check
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_files import load

M = load("single_head_attention.py")

size = st.integers(1, 6)
seed = st.integers(0, 2**32 - 1)
many = settings(max_examples=40, deadline=None)


@many
@given(Tq=size, extra=st.integers(0, 4), D=size, seed=seed)
def test_rows_sum_to_one(Tq, extra, D, seed):
    check.rows_sum_to_one(M, Tq, Tq + extra, D, causal=True, seed=seed)


@many
@given(Tq=size, Tk=size, D=size, seed=seed)
def test_rows_sum_to_one_without_the_mask(Tq, Tk, D, seed):
    check.rows_sum_to_one(M, Tq, Tk, D, causal=False, seed=seed)


@many
@given(T=size, D=size, Dv=size, seed=seed)
def test_future_does_not_leak_and_mask_aligns_to_end(T, D, Dv, seed):
    check.future_does_not_leak(M, T, D, Dv, seed)
    check.aligns_to_end(M, T, D, Dv, seed)


def test_large_scores():
    check.large_scores(M)


def test_masks_before_softmax():
    check.masks_before_softmax(M)


def test_refuses_row_without_key():
    check.refuses_row_without_key(M)


@many
@given(row=st.lists(st.floats(allow_nan=False) | st.integers(), min_size=1, max_size=6))
def test_softmax_gives_weights_or_a_sentence(row):
    """任何一行数：要么得到和为 1 的权重，要么得到一句 ValueError，没有别的结局。"""
    try:
        weights = M.stable_softmax(row)
    except ValueError:
        assert math.inf in row or max(row) == -math.inf or max(map(abs, row)) > 1e308
    else:
        assert min(weights) >= 0 and abs(sum(weights) - 1) < 1e-12
        assert all(w == 0 for s, w in zip(row, weights) if s == -math.inf)


@many
@given(row=st.lists(st.floats(-50, 50), min_size=1, max_size=6), shift=st.floats(-1e6, 1e6))
def test_softmax_ignores_a_shift(row, shift):
    shifted = M.stable_softmax([s + shift for s in row])
    assert all(abs(a - b) < 1e-8 for a, b in zip(M.stable_softmax(row), shifted))


def test_integers_and_tuples_are_accepted():
    rows = ((1, 0), (0, 1))
    assert M.attention(rows, rows, ((2, 0), (0, 4))) == M.attention(M.QUERIES, M.KEYS, M.VALUES)


def test_inputs_are_not_changed():
    inputs = [[[1, 0], [0, 1]] for _ in range(3)]
    M.attention(*inputs)
    assert inputs == [[[1, 0], [0, 1]] for _ in range(3)]


def test_only_values_change():
    """实验 4：只换 V，分数与权重一位不差。"""
    old, new = (M.attention(M.QUERIES, M.KEYS, v) for v in (M.VALUES, [[10, 1], [20, 2]]))
    assert old[:2] == new[:2] and old[2] != new[2]


EYE = [[1.0, 0.0], [0.0, 1.0]]
REFUSALS = [
    # stable_softmax
    (lambda: M.stable_softmax([]), ValueError, "row 是空的：至少要有 1 个元素"),
    (lambda: M.stable_softmax(None), TypeError, "row 应是列表，得到 NoneType"),
    (lambda: M.stable_softmax([0.0, math.nan]), ValueError, "row[1] = nan：不是有限的数"),
    (lambda: M.stable_softmax([math.inf, 0.0]), ValueError, "row[0] = inf：不是有限的数"),
    (lambda: M.stable_softmax([10**400]), ValueError, "row[0] = inf：不是有限的数"),
    (lambda: M.stable_softmax([0, -(10**400)]), ValueError, "row[1] = -inf：不是有限的数"),
    (lambda: M.stable_softmax([True, 0.0]), TypeError, "row[0] 应是整数或浮点数，得到 bool"),
    (lambda: M.stable_softmax(["1.0"]), TypeError, "row[0] 应是整数或浮点数，得到 str"),
    (
        lambda: M.stable_softmax([-math.inf, -math.inf]),
        ValueError,
        "这一行的 2 个分数全是 -inf：没有合法的键，权重无从分配",
    ),
    # attention：空、不齐、类型不对
    (lambda: M.attention([], EYE, EYE), ValueError, "queries 是空的：至少要有 1 个元素"),
    (lambda: M.attention(EYE, [[]], EYE), ValueError, "keys[0] 是空的：至少要有 1 个元素"),
    (lambda: M.attention(EYE, EYE, [[], []]), ValueError, "values[0] 是空的：至少要有 1 个元素"),
    (
        lambda: M.attention(EYE, [[1.0, 0.0], [1.0]], EYE),
        ValueError,
        "keys 的行宽不一：keys[0] 宽 2，keys[1] 宽 1",
    ),
    (lambda: M.attention("ab", EYE, EYE), TypeError, "queries 应是列表，得到 str"),
    (lambda: M.attention([1.0, 0.0], EYE, EYE), TypeError, "queries[0] 应是列表，得到 float"),
    (lambda: M.attention(EYE, EYE, [[2, None], [0, 4]]), TypeError, "values[0][1] 应是整数或浮点数，得到 NoneType"),
    (lambda: M.attention([[True, 0]], EYE, EYE), TypeError, "queries[0][0] 应是整数或浮点数，得到 bool"),
    # attention：NaN 与无穷大；-inf 只能是掩码写进分数的，不能是输入
    (lambda: M.attention(EYE, [[1, math.nan], [0, 1]], EYE), ValueError, "keys[0][1] = nan：不是有限的数"),
    (lambda: M.attention(EYE, EYE, [[2, 0], [0, math.inf]]), ValueError, "values[1][1] = inf：不是有限的数"),
    (lambda: M.attention([[-math.inf, 0]], EYE, EYE), ValueError, "queries[0][0] = -inf：不是有限的数"),
    (lambda: M.attention([[1e200]], [[1e200]], [[1]]), ValueError, "scores[0][0] = inf：不是有限的数"),
    # attention：shape 对不上
    (
        lambda: M.attention([[1.0, 0.0, 0.0]], EYE, EYE),
        ValueError,
        "查询与键的宽度不同：queries 是 [1][3]，keys 是 [2][2]",
    ),
    (
        lambda: M.attention(EYE, EYE, [[2.0, 0.0]]),
        ValueError,
        "键与值的行数不同：keys 是 [2][2]，values 是 [1][2]",
    ),
    # attention：没有合法的键
    (
        lambda: M.attention([[1.0, 0.0]] * 3, EYE, EYE),
        ValueError,
        "queries[0] 没有合法的键：Tq = 3 大于 Tk = 2，掩码盖住了整行",
    ),
]


@pytest.mark.parametrize(("call", "error", "sentence"), REFUSALS)
def test_refusal(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error and str(caught.value) == sentence


def test_more_queries_than_keys_is_fine_without_the_mask():
    assert len(M.attention([[1.0, 0.0]] * 3, EYE, EYE, causal=False)[2]) == 3
