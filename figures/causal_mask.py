"""因果掩码：5 个零分数查询的均匀权重，以及查询少于键时掩码怎样对齐末尾。"""

from fractions import Fraction

from .lesson import load
from .svg import Figure, weight_tint

CELL = 50
SMALL = 40


def read(queries, keys):
    """返回零分数下的权重 [Tq][Tk]；看得到几个键，就平均分成几份。"""
    attention = load("single_head_attention").attention
    return attention([[0.0]] * queries, [[0.0]] * keys, [[0.0]] * keys)[1]


def aligned_to_start(keys):
    """返回对照用的一行权重：掩码若对齐起点，唯一的查询只剩第一个键。"""
    lesson = load("single_head_attention")
    return [lesson.stable_softmax([0.0] + [float("-inf")] * (keys - 1))]


def share(weight):
    """把权重写成分数：0.25 -> "1/4"。"""
    return str(Fraction(weight).limit_denominator(99))


def draw():
    square, one, two, wrong = read(5, 5), read(1, 4), read(2, 5), aligned_to_start(4)
    fig = Figure(
        "因果掩码：每个查询只看自己和以前的键",
        f"上：5 个查询、5 个键，分数全为 0，各行权重依次均匀分成 {'、'.join(share(row[0]) for row in square)}，"
        "右上三角被屏蔽，权重恰好是 0。下：键比查询多时掩码对齐末尾，1 个查询看到全部 4 个键，"
        "2 个查询面对 5 个键时分别看到 4 个和 5 个；若对齐起点，唯一的查询只看到第一个键。",
        height=524,
    )

    def block(x, y, rows, size, queries, name, cls="f-w"):
        keys = len(rows[0])
        fig.matrix(
            x, y, rows, (size, size if size == CELL else 34), name, cls,
            tint=[[weight_tint(w) for w in row] for row in rows], show=share,
            masked=[[w == 0 for w in row] for row in rows],
            row_labels=queries, column_labels=[f"k{j}" for j in range(keys)],
        )  # fmt: skip

    fig.text(44, 20, "查询与键一样多", "f-b", anchor="start")
    block(44, 62, square, CELL, [f"q{i}" for i in range(5)], "square")
    x = 44 + 5 * CELL + 20
    for i, row in enumerate(square):
        seen = sum(w > 0 for w in row)
        fig.text(x, 62 + (i + 0.5) * CELL, f"看 {seen} 个键，和为 {share(sum(row))}", "f-s", anchor="start")

    fig.line([(20, 336), (460, 336)], "f-dash")
    fig.text(44, 364, "键比查询多：对齐末尾", "f-b", anchor="start")
    block(44, 408, one, SMALL, ["q3"], "one")
    block(268, 408, two, SMALL, ["q3", "q4"], "two")
    fig.text(44 + 2 * SMALL, 468, "若对齐起点，只读到 k0", "f-s f-x")
    fig.matrix(
        44, 482, wrong, (SMALL, 30), "wrong", "f-w", tint=[[weight_tint(w) for w in row] for row in wrong],
        show=share, masked=[[w == 0 for w in row] for row in wrong], row_labels=["q3"],
    )  # fmt: skip
    fig.text(268 + 2.5 * SMALL, 497, "最后的查询对最后的键", "f-s f-m")
    return fig.render()
