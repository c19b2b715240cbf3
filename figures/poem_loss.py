"""训练唐诗的损失曲线：一次运行的例子。数字是那一次的记录，四舍五入到两位小数；换一台机器会略有不同。"""

import math

from .svg import Figure

VOCABULARY = 922
# (步, 训练过的诗, 没见过的诗)
RECORDS = [
    (0, 6.83, 6.83),
    (12, 5.88, 6.20),
    (24, 5.22, 6.16),
    (36, 4.48, 5.97),
    (48, 3.76, 5.99),
    (60, 2.95, 6.08),
    (72, 2.18, 6.28),
    (84, 1.52, 6.46),
    (96, 0.97, 6.75),
    (108, 0.61, 7.09),
    (120, 0.42, 7.34),
]
LEFT, RIGHT, TOP, BOTTOM, HIGHEST = 56, 456, 54, 304, 8


def place(step, loss):
    """把 (步, 损失) 换成图上的点。"""
    last = RECORDS[-1][0]
    return LEFT + (RIGHT - LEFT) * step / last, BOTTOM - (BOTTOM - TOP) * loss / HIGHEST


def draw():
    best = min(RECORDS, key=lambda record: record[2])
    uniform = math.log(VOCABULARY)
    fig = Figure(
        "训练唐诗的损失曲线（一次运行）",
        f"横轴是步数，0 到 {RECORDS[-1][0]}；纵轴是损失。训练过的诗从 {RECORDS[0][1]} 一路降到 {RECORDS[-1][1]}；"
        f"没见过的诗先降到第 {best[0]} 步的 {best[2]}，再升到 {RECORDS[-1][2]}，超过了均匀猜测的 {uniform:.2f}。",
        height=372,
    )
    fig.text(LEFT - 40, 22, "损失", "f-s f-m", anchor="start")
    for loss in range(0, HIGHEST + 1, 2):
        y = place(0, loss)[1]
        fig.text(LEFT - 10, y, str(loss), "f-s f-n f-m", anchor="end")
        fig.line([(LEFT - 4, y), (LEFT, y)])
    fig.line([(LEFT, TOP - 8), (LEFT, BOTTOM), (RIGHT + 8, BOTTOM)])
    for step in range(0, 121, 24):
        x = place(step, 0)[0]
        fig.line([(x, BOTTOM), (x, BOTTOM + 4)])
        fig.text(x, BOTTOM + 18, str(step), "f-s f-n f-m")
    fig.text((LEFT + RIGHT) / 2, BOTTOM + 44, "训练的步数", "f-s f-m")
    y = place(0, uniform)[1]
    fig.line([(LEFT, y), (RIGHT, y)], "f-dash")
    fig.text(LEFT + 14, y - 14, f"均匀猜测 `ln {VOCABULARY} = {uniform:.2f}`", "f-s f-m", anchor="start")
    for column, cls in ((1, "f-q"), (2, "f-k")):
        points = [place(record[0], record[column]) for record in RECORDS]
        fig.line(points, f"f-thick {cls}" if column == 1 else f"f-thick f-dash {cls}")
        for x, y in points:
            fig.rect(x - 3, y - 3, 6, 6, cls, radius=3 if column == 1 else 0, tint=1)
    fig.text(180, 256, "训练过的诗", "f-s f-q", anchor="start")
    fig.text(300, 126, "没见过的诗", "f-s f-k", anchor="start")
    return fig.render()
