"""旋转位置编码：查询与键按位置旋转，点积只看位置之差；每一对维度有自己的频率。"""

import math

from .svg import Figure, number

HEAD_DIM, BASE = 8, 10000.0  # 与第 3 章的例子同样的宽度和底数
QUERY, KEY = (1.0, math.radians(20)), (0.6, math.radians(65))  # 两个不同的向量：(长度, 角度)
PAIRS = ((3, 1), (5, 3))  # 两组位置 (m, n)，差都是 2
RADIUS = 78


def frequencies():
    """返回每一对维度转动的速度 θ_i = base^(-2i/d)，单位是弧度每个位置。"""
    return [BASE ** (-2 * i / HEAD_DIM) for i in range(HEAD_DIM // 2)]


def rotate(vector, position, theta):
    """返回向量（长度, 角度）在某个位置上旋转之后的样子。"""
    return vector[0], vector[1] + position * theta


def dot(a, b):
    """返回两个（长度, 角度）向量的点积。"""
    return a[0] * b[0] * math.cos(a[1] - b[1])


def at(centre, vector, scale=RADIUS):
    """返回向量末端在图上的坐标（角度逆时针，图的 y 轴向下）。"""
    return centre[0] + scale * vector[0] * math.cos(vector[1]), centre[1] - scale * vector[0] * math.sin(vector[1])


def arc(centre, radius, start, end):
    """返回从角 start 到角 end 的圆弧（SVG 路径）。"""
    (x0, y0), (x1, y1) = at(centre, (1, start), radius), at(centre, (1, end), radius)
    large, sweep = int(abs(end - start) > math.pi), int(end < start)
    return f"M{x0:.2f} {y0:.2f}A{radius} {radius} 0 {large} {sweep} {x1:.2f} {y1:.2f}"


def draw():
    thetas = frequencies()
    theta = thetas[0]
    products = [dot(rotate(QUERY, m, theta), rotate(KEY, n, theta)) for m, n in PAIRS]
    fig = Figure(
        "旋转位置编码：点积只看位置之差，各对维度转速不同",
        "上：同一个查询和键放在两组位置，(m, n) 分别是 "
        + "、".join(f"({m}, {n})" for m, n in PAIRS)
        + f"，各自转过不同的角度，但夹角相同，点积都是 {number(products[0])}。下：宽 {HEAD_DIM} 的头有 {HEAD_DIM // 2} 对维度，"
        f"每个位置转 {'、'.join(f'{t:g}' for t in thetas)} 弧度，第一对转得最快，最后一对几乎不动。",
        height=676,
    )
    for (m, n), product, cx in zip(PAIRS, products, (122, 358)):
        centre = (cx, 144)
        fig.text(cx, 24, f"查询在 m = {m}，键在 n = {n}", "f-b")
        fig.tag("circle", cx=cx, cy=144, r=RADIUS, class_="f-dash")
        for vector, position, cls in ((QUERY, m, "f-q"), (KEY, n, "f-k")):
            fig.arrow([centre, at(centre, vector)], f"{cls} f-dash")
            fig.arrow([centre, at(centre, rotate(vector, position, theta))], f"{cls} f-thick", size=10)
        q, k = rotate(QUERY, m, theta), rotate(KEY, n, theta)
        fig.tag("path", class_="f-w f-thick", d=arc(centre, 26, k[1], q[1]))
        fig.text(*at(centre, (1.18, q[1])), "q", "f-n f-b f-q")
        fig.text(*at(centre, (0.79, k[1])), "k", "f-n f-b f-k")
        fig.text(cx, 252, f"m − n = {m - n}", "f-s")
        fig.text(cx, 276, f"q·k = `{number(product)}`", "f-b f-w")
    fig.text(240, 304, f"虚线：旋转前　实线：旋转后　θ = {number(theta)} 弧度", "f-s f-m")
    fig.line([(20, 330), (460, 330)], "f-dash")

    fig.text(20, 360, "每一对维度的转速", "f-b", anchor="start")
    positions = range(8)
    left, step = 196, 36
    for p in positions:
        fig.text(left + p * step, 392, str(p), "f-s f-n f-m")
    fig.text(left - 28, 392, "位置", "f-s f-m", anchor="end")
    for i, speed in enumerate(thetas):
        y = 428 + i * 56
        fig.text(20, y - 11, f"`x{i}`、`x{i + HEAD_DIM // 2}`", "f-s", anchor="start")
        fig.text(20, y + 11, f"θ = `{speed:g}`", "f-s f-w", anchor="start")
        for p in positions:
            centre = (left + p * step, y)
            fig.tag("circle", cx=centre[0], cy=y, r=14)
            fig.line([centre, at(centre, (1, p * speed), 14)], "f-w f-thick")
    fast, slow = number(2 * math.pi / thetas[0], 1), number(2 * math.pi / thetas[-1], 0)
    fig.text(20, 652, f"转满一圈要 2π/θ 个位置：从 `{fast}` 到 `{slow}`", "f-s", anchor="start")
    return fig.render()
