"""RMSNorm 与 LayerNorm 的几何：宽 2 的向量，前者落到圆上，后者先落到“均值为 0”的直线上。"""

import math

from .svg import Figure, number

INPUTS = {"A": (3.0, 1.0), "B": (2.0, 2 / 3), "C": (1.5, -0.5)}  # B 是 A 的 2/3，C 是 A 减 1.5
UNIT = 40  # 一个单位的长度
ORIGINS = (82, 318)  # 两栏原点的 x
MIDDLE = 152  # 原点的 y


def rms_norm(vector):
    """返回 vector 除以它的均方根（eps 取 0）。"""
    rms = math.sqrt(sum(v * v for v in vector) / len(vector))
    return tuple(v / rms for v in vector)


def layer_norm(vector):
    """返回 vector 减去均值、再除以标准差的结果（eps 取 0）。"""
    mean = sum(vector) / len(vector)
    return rms_norm([v - mean for v in vector])


def written(point):
    """把一个点写成文字：(1.3416, 0.4472)。"""
    return f"({', '.join(number(v) for v in point)})"


def draw():
    outputs = [{name: norm(x) for name, x in INPUTS.items()} for norm in (rms_norm, layer_norm)]
    same, other = (written(outputs[0][name]) for name in "AC")
    centred = written(outputs[1]["A"])
    fig = Figure(
        "RMSNorm 与 LayerNorm 的几何",
        "宽 2 的三个向量：A 是 (3, 1)，B 是 A 的 2/3，C 是 A 的每个分量减 1.5。左：RMSNorm 只缩放长度，"
        f"结果都在半径为根号 2 的圆上，A、B 落在 {same}，C 落在 {other}。"
        f"右：LayerNorm 先减均值，三个向量都落在 {centred}。",
        height=306,
    )
    fig.text(120, 22, "RMSNorm：只除以长度", "f-b")
    fig.text(360, 22, "LayerNorm：先减均值", "f-b")
    fig.text(240, 48, "B = A × 2/3，C = A − 1.5", "f-s f-m")
    radius = math.sqrt(2) * UNIT

    def at(origin, point):
        return origin + UNIT * point[0], MIDDLE - UNIT * point[1]

    for origin, out in zip(ORIGINS, outputs):
        fig.line([(origin - 68, MIDDLE), (origin + 134, MIDDLE)])
        fig.line([(origin, MIDDLE - 76), (origin, MIDDLE + 76)])
        fig.tag("circle", class_="f-w", cx=origin, cy=MIDDLE, r=radius)
        if out is outputs[1]:
            fig.line([(origin - 72, MIDDLE - 72), (origin + 72, MIDDLE + 72)], "f-dash")
        for name, x in INPUTS.items():
            start, end = at(origin, x), at(origin, out[name])
            fig.arrow([start, end], "f-k", size=6)
            fig.rect(start[0] - 3, start[1] - 3, 6, 6, "f-q", radius=3, tint=1)
        for name, shift in (("A", (10, -8)), ("B", (0, -12)), ("C", (14, 2))):
            x, y = at(origin, INPUTS[name])
            fig.text(x + shift[0], y + shift[1], name, "f-s f-b f-q")
    fig.text(120, 252, f"A、B 落在 {same}", "f-s")
    fig.text(120, 278, f"C 落在 {other}", "f-s")
    fig.text(360, 252, f"A、B、C 都落在 {centred}", "f-s")
    fig.text(360, 278, "虚线：均值为 0 的向量", "f-s f-m")
    return fig.render()
