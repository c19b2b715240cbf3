"""SwiGLU 的数据通路：同一个 x 走两条支路，一条过 SiLU 当门，逐项相乘，再投影回来。"""

import math

from .svg import Figure

X = [1.0, 2.0]  # [C=2]
GATE = [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]]  # [F=3, C=2]
UP = [[1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]  # [F=3, C=2]
DOWN = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]  # [C=2, F=3]


def times(matrix, vector):
    """返回 matrix 乘 vector。"""
    return [sum(m * v for m, v in zip(row, vector)) for row in matrix]


def silu(z):
    """返回 z 乘 sigmoid(z)。"""
    return z / (1 + math.exp(-z))


def steps():
    """返回每一步的向量：名字 -> 数。"""
    before, up = times(GATE, X), times(UP, X)
    gate = [silu(z) for z in before]
    product = [g * u for g, u in zip(gate, up)]
    return {"x": X, "before": before, "gate": gate, "up": up, "product": product, "output": times(DOWN, product)}


def draw():
    values = steps()
    fig = Figure(
        "SwiGLU 的数据通路",
        "宽 2 的 x 分成两条支路，各投影到宽 3。左支路过 SiLU，得到三个门；右支路原样。两条支路逐项相乘，"
        "再投影回宽 2，得到输出。门接近 0 的那一项被关上，门为负时连符号也变。",
        height=452,
    )
    width, height = 72, 34

    def vector(name, centre, y, cls):
        row = values[name]
        fig.matrix(centre - len(row) * width / 2, y, [row], (width, height), name, cls, text_cls="f-s f-n")

    left, right, middle = 124, 356, 240
    fig.text(middle, 20, "`x` [C=2]", "f-s f-m")
    vector("x", middle, 32, "f-q")
    for side, label, tip in ((left, "`gate_proj`", 122), (right, "`up_proj`", 204)):
        fig.arrow([(middle, 66), (middle, 82), (side, 82), (side, tip)])
        fig.text(side + 54, 102, label, "f-s")
    vector("before", left, 124, "f-face")
    fig.arrow([(left, 158), (left, 204)])
    fig.text(left + 34, 181, "SiLU", "f-s")
    vector("gate", left, 206, "f-w")
    fig.text(left, 256, "门 [F=3]", "f-s f-m")
    vector("up", right, 206, "f-v")
    fig.text(right, 256, "内容 [F=3]", "f-s f-m")
    fig.arrow([(left, 270), (left, 288), (middle, 288), (middle, 310)])
    fig.line([(right, 270), (right, 288), (middle, 288)])
    fig.text(middle + 66, 302, "逐项相乘", "f-s")
    vector("product", middle, 312, "f-face")
    fig.arrow([(middle, 346), (middle, 390)])
    fig.text(middle + 54, 368, "`down_proj`", "f-s")
    vector("output", middle, 392, "f-q")
    fig.text(middle, 440, "输出 [C=2]", "f-s f-m")
    return fig.render()
