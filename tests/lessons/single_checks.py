"""实验 01 的检查，只用标准库：每个都接受一个模块（原版或改坏的版本），不成立就断言失败。

同一个检查用在两处：原版在随机的尺寸上必须通过；改坏的版本在缺省的尺寸上必须失败。
"""

import math
import random


def random_rows(seed, *shapes):
    """若干个随机矩阵（列表的列表），取值在 -2 到 2 之间。"""
    rng = random.Random(seed)
    return [[[rng.uniform(-2, 2) for _ in range(width)] for _ in range(rows)] for rows, width in shapes]


def rows_sum_to_one(m, Tq=3, Tk=5, D=4, causal=True, seed=0):
    """每行权重不小于 0，和为 1；被屏蔽的恰为 0。"""
    queries, keys, values = random_rows(seed, (Tq, D), (Tk, D), (Tk, 2))
    scores, weights, _ = m.attention(queries, keys, values, causal=causal)
    for i, row in enumerate(weights):
        assert len(row) == len(scores[i]) == Tk
        assert min(row) >= 0 and abs(sum(row) - 1) < 1e-12
        if causal:
            first_future = Tk - Tq + i + 1
            assert row[first_future:] == [0.0] * (Tk - first_future)
            assert scores[i][first_future:] == [-math.inf] * (Tk - first_future)


def future_does_not_leak(m, T=4, D=3, Dv=2, seed=0):
    """改动词元 t 的键和值，t 之前各行的输出一位不差。"""
    queries, keys, values = random_rows(seed, (T, D), (T, D), (T, Dv))
    before = m.attention(queries, keys, values)[2]
    for t in range(T):
        changed_keys = [[x + 1 for x in row] if j == t else row for j, row in enumerate(keys)]
        changed_values = [[x - 9 for x in row] if j == t else row for j, row in enumerate(values)]
        after = m.attention(queries, changed_keys, changed_values)[2]
        assert after[:t] == before[:t]
        assert after[t] != before[t]


def aligns_to_end(m, T=4, D=3, Dv=2, seed=0):
    """只送最后 n 个查询，结果是整个序列的最后 n 行：这正是有缓存时的一步。"""
    queries, keys, values = random_rows(seed, (T, D), (T, D), (T, Dv))
    whole = m.attention(queries, keys, values)
    for n in range(1, T + 1):
        part = m.attention(queries[-n:], keys, values)
        for some, every in zip(part, whole):
            assert some == every[-n:]


def large_scores(m):
    """分数很大时不溢出，结果只取决于分数之差。"""
    weights = m.stable_softmax([1000.0, 1001.0])
    assert [round(w, 6) for w in weights] == [0.268941, 0.731059]
    assert weights == m.stable_softmax([-1.0, 0.0]) == m.stable_softmax([-1001, -1000])


def masks_before_softmax(m):
    """未来的分数大到压过一切时，看得见的键仍分到全部权重。"""
    queries, keys = [[1.0], [1.0]], [[0.0], [2000.0]]
    weights = m.attention(queries, keys, [[1.0], [2.0]])[1]
    assert weights == [[1.0, 0.0], [0.0, 1.0]]


def refuses_row_without_key(m):
    """没有合法的键就报错，不返回 NaN，也不返回均匀的一行。"""
    for call in (lambda: m.stable_softmax([-math.inf] * 2), lambda: m.attention([[1.0]] * 3, [[1.0]] * 2, [[1.0]] * 2)):
        try:
            result = call()
        except ValueError as error:
            assert "没有合法的键" in str(error)
        else:
            raise AssertionError(f"没有拒绝，返回了 {result}")
