"""把全站用到的手算结果重算一遍：矩阵乘法、shape 记账、一步梯度下降、注意力。

只用标准库。每个函数先写出手算的答案，再让程序算一次，不一致就停下报错。

运行：python ai_core_examples.py（Python 3.10 及以上）
"""

# --8<-- [start:main]
import math


def matmul(a, b):
    """矩阵乘法：[n][m] 乘 [m][p] 得 [n][p]，第 i 行第 j 列是 a 的第 i 行与 b 的第 j 列的点积。"""
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def softmax(row):
    """一行分数变成和为 1 的权重；先减最大值，exp 不会上溢。"""
    exps = [math.exp(score - max(row)) for score in row]
    return [e / sum(exps) for e in exps]


def assert_close(actual, expected, places=6):
    """逐个比较两个嵌套列表里的数，四舍五入到 places 位小数后应相同。"""
    if isinstance(expected, list):
        assert len(actual) == len(expected), f"长度是 {len(actual)}，手算是 {len(expected)}"
        for a, e in zip(actual, expected):
            assert_close(a, e, places)
    else:
        assert round(actual, places) == expected, f"算得 {actual}，手算是 {expected}"


def check_matrix_product():
    """2 x 2 的乘法；交换次序，结果不同。"""
    a, b = [[1, 2], [3, 4]], [[5, 6], [7, 8]]  # [2][2]，[2][2]
    assert matmul(a, b) == [[19, 22], [43, 50]]  # 例如 19 = 1 * 5 + 2 * 7
    assert matmul(b, a) == [[23, 34], [31, 46]]
    return "矩阵乘法：[[1, 2], [3, 4]] 乘 [[5, 6], [7, 8]] = [[19, 22], [43, 50]]"


def check_shapes():
    """第 3 章例 1 的 shape：线性层只改最后一维，拆头与转置不增不减元素。"""
    x = [2, 5, 16]  # [batch, seq, hidden]
    projected = x[:-1] + [32]  # [batch, seq, n_heads * head_dim]
    split = projected[:-1] + [4, 8]  # [batch, seq, n_heads, head_dim]
    q = [split[0], split[2], split[1], split[3]]  # [batch, n_heads, seq, head_dim]
    scores = q[:-1] + [q[-2]]  # [batch, n_heads, seq, seq]
    assert math.prod(projected) == math.prod(split) == math.prod(q) == 320
    assert q == [2, 4, 5, 8] and scores == [2, 4, 5, 5]
    return f"shape 记账：{x} 投影成 {projected}，拆头成 {split}，转置成 {q}，分数是 {scores}"


def check_gradient_step():
    """损失 (w * x - y) ** 2 在 w = 1、x = 3、y = 6 处走一步，学习率 0.05。"""
    w, x, y, rate = 1.0, 3.0, 6.0, 0.05

    def loss(w):
        return (w * x - y) ** 2

    gradient = 2 * (w * x - y) * x  # 链式法则：2 * (3 - 6) * 3 = -18
    assert gradient == -18.0
    assert_close((loss(w + 1e-3) - loss(w - 1e-3)) / 2e-3, gradient)  # 二次函数的中心差分没有截断误差
    new_w = w - rate * gradient  # 1 + 0.05 * 18 = 1.9
    assert_close([new_w, loss(w), loss(new_w)], [1.9, 9.0, 0.09])
    return f"一步梯度下降：w 从 {w} 到 {new_w:.1f}，损失从 {loss(w):.2f} 到 {loss(new_w):.2f}"


def check_attention():
    """实验 01 的固定输入：掩码、去掉掩码、softmax 走错轴、大分数。"""
    q = k = [[1.0, 0.0], [0.0, 1.0]]  # [Tq=2][D=2]，[Tk=2][D=2]
    v = [[2.0, 0.0], [0.0, 4.0]]  # [Tk=2][Dv=2]
    scores = [[s / math.sqrt(2) for s in row] for row in matmul(q, list(zip(*k)))]  # [Tq][Tk]
    assert_close(scores, [[0.707107, 0.0], [0.0, 0.707107]])
    masked = [[s if j <= i else -math.inf for j, s in enumerate(row)] for i, row in enumerate(scores)]  # [Tq][Tk]

    weights = [softmax(row) for row in masked]  # [Tq][Tk]
    assert_close(weights, [[1.0, 0.0], [0.330238, 0.669762]])
    assert_close(matmul(weights, v), [[2.0, 0.0], [0.660477, 2.679046]])

    leaked = [softmax(row) for row in scores]  # [Tq][Tk]，没有掩码
    assert_close(leaked[0], [0.669762, 0.330238])
    assert_close(matmul(leaked, v)[0], [1.339523, 1.320954])

    columns = [softmax(column) for column in zip(*masked)]  # [Tk][Tq]，走错轴
    assert_close([sum(row) for row in zip(*columns)], [0.669762, 1.330238])

    assert_close(softmax([1000.0, 1001.0]), [0.268941, 0.731059])
    assert softmax([1000.0, 1001.0]) == softmax([-1.0, 0.0])  # 只看分数之差
    return f"注意力：第二行权重 {[round(w, 6) for w in weights[1]]}"


def main():
    """逐组核对；全部通过才会打印最后一行。"""
    checks = [check_matrix_product, check_shapes, check_gradient_step, check_attention]
    for check in checks:
        print(check())
    print(f"{len(checks)} 组手算结果全部核对：通过")


if __name__ == "__main__":
    main()
# --8<-- [end:main]
