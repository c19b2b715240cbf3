"""一次注意力读取的数据流：Q、K、V 到分数、缩放、掩码、权重、输出，数字是实验 01 的。"""

import math

from .lesson import load
from .svg import Figure, number, weight_tint

CELL = (76, 32)
LEFT, MIDDLE = 164, 240  # 主列的左边与中线


def numbers():
    """返回图中的每个矩阵：名字 -> 行的列表。"""
    lesson = load("single_head_attention")
    queries, keys, values = lesson.QUERIES, lesson.KEYS, lesson.VALUES
    scaled, _, _ = lesson.attention(queries, keys, values, causal=False)
    masked, weights, output = lesson.attention(queries, keys, values)
    raw = [[sum(q * k for q, k in zip(query, key)) for key in keys] for query in queries]
    return {
        "Q": queries, "K": keys, "V": values,
        "raw": raw, "scaled": scaled, "masked": masked, "weights": weights, "output": output,
    }  # fmt: skip


def draw():
    data = numbers()
    weights, root = data["weights"], math.sqrt(len(data["Q"][0]))
    hidden = [[score == -math.inf for score in row] for row in data["masked"]]
    fig = Figure(
        "一次注意力读取的数据流",
        "自上而下：Q 与 K 做点积得到原始分数，除以 √2，用因果掩码屏蔽未来，每行做 softmax 得到权重，"
        f"再与 V 相乘得到输出。q1 的权重是 {number(weights[1][0])} 和 {number(weights[1][1])}，"
        f"输出是 {number(data['output'][1][0])} 和 {number(data['output'][1][1])}。",
        height=706,
    )

    # 三个输入
    for name, label, x in (("Q", "查询 Q", 40), ("K", "键 K", 188), ("V", "值 V", 352)):
        cls = f"f-{name.lower()}"
        fig.text(x + 52, 22, label, f"f-b {cls}")
        letter = name.lower()
        fig.matrix(x, 38, data[name], (52, 32), name, cls, row_labels=[f"{letter}0", f"{letter}1"])

    # 五步：(名字, 标题, 说明, 左上角的 y)
    tops = {name: 166 + i * 108 for i, name in enumerate(("raw", "scaled", "masked", "weights", "output"))}
    captions = {
        "raw": ("原始分数", "QKᵀ"),
        "scaled": ("缩放后", "防止分数过大"),
        "masked": ("掩码后", "q0 看不到 k1"),
        "weights": ("权重", "每行和为 1"),
        "output": ("输出", "值的加权和"),
    }
    steps = {"scaled": f"÷ √D = {number(root)}", "masked": "未来置为 −∞", "weights": "每行 softmax", "output": "乘 V"}
    for name, top in tops.items():
        title, note = captions[name]
        fig.text(124, top + 20, title, "f-b", anchor="end")
        fig.text(124, top + 44, note, "f-s f-m", anchor="end")
        if name in steps:
            fig.arrow([(MIDDLE, top - 42), (MIDDLE, top - 6)])
            fig.text(MIDDLE + 14, top - 25, steps[name], "f-s", anchor="start")
        fig.matrix(
            LEFT, top, data[name], CELL, name,
            cls={"weights": "f-w", "output": "f-v"}.get(name, "f-face"),
            tint=[[weight_tint(w) for w in row] for row in weights] if name == "weights" else None,
            masked=hidden if name in ("masked", "weights") else None,
            row_labels=["q0", "q1"],
        )  # fmt: skip
    for j in range(2):
        fig.text(LEFT + (j + 0.5) * CELL[0], tops["raw"] - 13, f"k{j}", "f-s f-n f-m")

    # Q、K 汇入分数；V 沿右边走到输出
    fig.arrow([(92, 108), (92, 128), (MIDDLE - 14, 128), (MIDDLE - 14, tops["raw"] - 5)], "f-q")
    fig.arrow([(MIDDLE, 108), (MIDDLE, tops["raw"] - 5)], "f-k")
    fig.arrow([(404, 108), (404, tops["output"] + 32), (LEFT + 2 * CELL[0] + 5, tops["output"] + 32)], "f-v")
    a, b = (number(w) for w in weights[1])
    fig.text(MIDDLE, tops["output"] + 88, f"q1 的输出 = `{a}` · v0 + `{b}` · v1", "f-s")
    return fig.render()
