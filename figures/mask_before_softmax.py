"""先掩码还是先 softmax：一个很大的未来分数，两种次序，两个结果。"""

import math

from .lesson import load
from .svg import Figure, number, weight_tint

SCORES = [0.0, 1.0, 1000.0]  # 查询 q1 的一行：k2 在未来，而且分数压倒一切
VISIBLE = 2
CELL = (70, 34)
LEFT, RIGHT = 16, 254  # 两栏的左边
STEP = 92  # 相邻两步的距离


def numbers():
    """返回两种次序的每一步：(先掩码的三行, 先 softmax 的三行)。"""
    softmax = load("single_head_attention").stable_softmax
    masked = [s if j < VISIBLE else -math.inf for j, s in enumerate(SCORES)]
    early = softmax(SCORES)
    cut = [w if j < VISIBLE else 0.0 for j, w in enumerate(early)]
    return [SCORES, masked, softmax(masked)], [SCORES, early, cut]


def draw():
    first, last = numbers()
    weights, total = first[2], sum(last[2])
    fig = Figure(
        "先掩码与先 softmax 的区别",
        f"同一行分数 {'、'.join(map(number, SCORES))}，第三个属于未来。左：先把未来置为负无穷再做 softmax，"
        f"权重是 {'、'.join(map(number, weights))}。右：先做 softmax，未来的分数占满了分母，"
        f"合法的两个权重都成了 0；再屏蔽未来，整行的和是 {number(total)}，归一化就是 0/0。",
        height=476,
    )
    hidden = [j >= VISIBLE for j in range(len(SCORES))]
    top = 70

    def column(x, title, rows, kinds, steps):
        """画一栏：kinds 说明每行是分数、掩码后的分数、权重还是掩码后的权重。"""
        middle = x + 1.5 * CELL[0]
        fig.text(middle, 22, title, "f-h")
        for j in range(len(SCORES)):
            label, cls = (f"`k{j}` 未来", "f-s f-x") if hidden[j] else (f"`k{j}`", "f-s f-m")
            fig.text(x + (j + 0.5) * CELL[0], 54, label, cls)
        for i, (row, kind) in enumerate(zip(rows, kinds)):
            y = top + i * STEP
            weights = "权重" in kind
            fig.matrix(
                x, y, [row], CELL, f"{title}-{i}", "f-w" if weights else "f-face",
                tint=[[weight_tint(w) for w in row]] if weights else None,
                masked=[hidden] if "掩码" in kind else None,
            )  # fmt: skip
            if i < len(steps):
                fig.arrow([(middle, y + 41), (middle, y + STEP - 7)])
                fig.text(middle + 14, y + 63, steps[i], "f-s", anchor="start")

    column(LEFT, "先掩码", first, ("分数", "掩码后的分数", "掩码后的权重"), ("未来置为 −∞", "softmax"))
    column(RIGHT, "先 softmax", last, ("分数", "权重", "掩码后的权重"), ("softmax", "未来置为 0", "除以和"))
    fig.line([(240, 14), (240, 462)], "f-dash")

    # 结局：左边已经是权重，右边还要除以一个 0
    end = top + 3 * STEP
    left, right = LEFT + 1.5 * CELL[0], RIGHT + 1.5 * CELL[0]
    fig.text(left, end - 26, f"和 = `{number(sum(weights))}`", "f-b f-v")
    fig.text(left, end + 6, f"`{number(weights[0])}` · v0 + `{number(weights[1])}` · v1", "f-s")
    fig.text(left, end + 34, "未来没有进过分母", "f-s f-m")
    for j, value in enumerate(last[2]):
        fig.cell(RIGHT + j * CELL[0], end, *CELL, f"{number(value)}/{number(total)}", "f-x", "f-n f-x")
    fig.text(right, end + 60, "没有定义（NaN）", "f-b f-x")
    fig.text(right, end + 88, "分母早被未来占满", "f-s f-m")
    return fig.render()
