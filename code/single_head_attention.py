"""单头因果注意力：只用标准库，从一行 softmax 到一次完整的读取。

按出现的顺序读：
  check_row、finite、matrix   不合格的输入，说清哪里不合格
  stable_softmax              一行分数 -> 一行权重
  attention                   分数 -> 掩码 -> 权重 -> 输出
  QUERIES、KEYS、VALUES       全站共用的固定输入
  show                        打印一个矩阵

记号：Tq 个查询，Tk 个键，Tk 个值；查询与键的宽度是 D，值的宽度是 Dv。
矩阵是列表的列表，[Tq][Tk] 读作“Tq 行，每行 Tk 个数”；下标从 0 开始。

运行：python single_head_attention.py（Python 3.10 及以上，只导入 math）
"""

# --8<-- [start:imports]
import math

# --8<-- [end:imports]

# --8<-- [start:checks]
def check_row(row, name):
    """要求 row 是非空的列表（或元组）；否则抛出 TypeError 或 ValueError。"""
    if not isinstance(row, (list, tuple)):
        raise TypeError(f"{name} 应是列表，得到 {type(row).__name__}")
    if not row:
        raise ValueError(f"{name} 是空的：至少要有 1 个元素")


def finite(value, name):
    """返回 float(value)；不是数抛出 TypeError，NaN、无穷大或超出浮点范围抛出 ValueError。"""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} 应是整数或浮点数，得到 {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # 大整数超出浮点数的范围
        number = math.inf if value > 0 else -math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} = {number}：不是有限的数")
    return number


def matrix(rows, name):
    """返回 rows 的浮点数副本 [行数][宽度]；空矩阵、行宽不一、含非有限数都会报错。"""
    check_row(rows, name)
    for i, row in enumerate(rows):
        check_row(row, f"{name}[{i}]")
        if len(row) != len(rows[0]):
            raise ValueError(f"{name} 的行宽不一：{name}[0] 宽 {len(rows[0])}，{name}[{i}] 宽 {len(row)}")
    return [[finite(x, f"{name}[{i}][{j}]") for j, x in enumerate(row)] for i, row in enumerate(rows)]
# --8<-- [end:checks]


# --8<-- [start:stable_softmax]
def stable_softmax(row: list[float]) -> list[float]:
    """把一行分数 [Tk] 变成一行权重 [Tk]：每个权重不小于 0，总和为 1。

    分数 -inf 表示这个位置被屏蔽，它的权重恰好是 0。
    公式：weight[j] = exp(row[j] - m) / sum_k exp(row[k] - m)，m = max(row)；
    减去 m 不改变结果（分子、分母同除以 exp(m)）。
    来源：Goodfellow 等，Deep Learning，2016，4.1 节（softmax 的上溢与下溢）。

    Raises:
        ValueError: 空行；含 NaN 或 +inf；全是 -inf（没有合法的键，0/0 没有意义）。
        TypeError: 不是列表，或元素不是数。
    """
    check_row(row, "row")
    row = [s if s == -math.inf else finite(s, f"row[{j}]") for j, s in enumerate(row)]  # [Tk]
    peak = max(row)
    if peak == -math.inf:
        raise ValueError(f"这一行的 {len(row)} 个分数全是 -inf：没有合法的键，权重无从分配")
    # 指数都不大于 0，所以 exp 不会上溢；最大的一项是 exp(0) = 1，所以分母不小于 1。
    exps = [math.exp(s - peak) for s in row]  # [Tk]
    total = sum(exps)
    return [e / total for e in exps]  # [Tk]
# --8<-- [end:stable_softmax]


# --8<-- [start:attention]
def attention(queries, keys, values, causal=True):
    """完成一次单头注意力的读取，返回 (scores, weights, output)。

    queries [Tq][D]，keys [Tk][D]，values [Tk][Dv]；
    scores [Tq][Tk] 是 softmax 读到的分数：已除以 sqrt(D)，被屏蔽的位置是 -inf；
    weights [Tq][Tk] 每行和为 1；output [Tq][Dv] 的第 i 行是值的加权和。

    因果掩码对齐末尾：最后一个查询对应最后一个键，queries[i] 只看 keys[0] 到 keys[Tk - Tq + i]。
    Tq = Tk 时就是下三角；Tk > Tq 时，前 Tk - Tq 个键来自缓存，每个查询都能看到。
    来源：Vaswani 等，Attention Is All You Need，2017，3.2.1 节式 (1)；掩码见 3.2.3 节。

    Raises:
        ValueError: 空输入；行宽不一；Q、K 宽度不同；K、V 行数不同；NaN 或无穷大；
            分数溢出；某个查询没有合法的键（因果且 Tq > Tk）。
        TypeError: 不是列表的列表，或元素不是数。
    """
    queries, keys, values = matrix(queries, "queries"), matrix(keys, "keys"), matrix(values, "values")
    Tq, D = len(queries), len(queries[0])  # 查询数，查询与键的宽度
    Tk, Dv = len(keys), len(values[0])  # 键数，值的宽度
    if len(keys[0]) != D:
        raise ValueError(f"查询与键的宽度不同：queries 是 [{Tq}][{D}]，keys 是 [{Tk}][{len(keys[0])}]")
    if len(values) != Tk:
        raise ValueError(f"键与值的行数不同：keys 是 [{Tk}][{D}]，values 是 [{len(values)}][{Dv}]")

    scores = []
    for i, query in enumerate(queries):
        row = [sum(q * k for q, k in zip(query, key)) / math.sqrt(D) for key in keys]  # [Tk]
        row = [finite(s, f"scores[{i}][{j}]") for j, s in enumerate(row)]  # [Tk]
        if causal:
            visible = Tk - Tq + i + 1  # 合法的键是 keys[:visible]
            if visible < 1:
                raise ValueError(f"queries[{i}] 没有合法的键：Tq = {Tq} 大于 Tk = {Tk}，掩码盖住了整行")
            # 先屏蔽，再 softmax：被屏蔽的分数从一开始就不进入分母。
            row = [s if j < visible else -math.inf for j, s in enumerate(row)]  # [Tk]
        scores.append(row)

    weights = [stable_softmax(row) for row in scores]  # [Tq][Tk]
    columns = list(zip(*values))  # [Dv][Tk]
    output = [[sum(w * v for w, v in zip(row, column)) for column in columns] for row in weights]  # [Tq][Dv]
    return scores, weights, output
# --8<-- [end:attention]


# --8<-- [start:baseline]
QUERIES = [[1.0, 0.0], [0.0, 1.0]]  # [Tq=2][D=2]
KEYS = [[1.0, 0.0], [0.0, 1.0]]  # [Tk=2][D=2]
VALUES = [[2.0, 0.0], [0.0, 4.0]]  # [Tk=2][Dv=2]
# --8<-- [end:baseline]


# --8<-- [start:show]
def show(name, rows):
    """打印一个矩阵：先是名字，然后每行一行，数值保留 6 位小数。"""
    print(name)
    for row in rows:
        print(" ", [round(value, 6) for value in row])
# --8<-- [end:show]


# --8<-- [start:main]
if __name__ == "__main__":
    scores, weights, output = attention(QUERIES, KEYS, VALUES)

    # 四个命题：不看未来；每行和为 1；输出是 [Tq][Dv]；去掉掩码，第一行就混入第二个值。
    assert weights[0][1] == 0.0
    assert all(abs(sum(row) - 1.0) < 1e-12 for row in weights)
    assert [len(row) for row in output] == [len(VALUES[0])] * len(QUERIES)
    assert output[0][1] == 0.0 < attention(QUERIES, KEYS, VALUES, causal=False)[2][0][1]

    show("weights", weights)
    show("output", output)
# --8<-- [end:main]
