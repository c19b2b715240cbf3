"""键值缓存的代价：逐个处理 T 个词元一共算多少个分数；有缓存时解码一步，投影与注意力各多少次乘加。"""

import math

from .lesson import load
from .svg import Figure

LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128)
LEFT, RIGHT = 84, 456
STEP_END = 2048  # 下图横轴的尽头
MILLION = 1_000_000


def totals(cached):
    """返回逐个处理 LENGTHS 个词元时，每层每头算的分数总数。"""
    work = load("kv_cache_cost").work
    return [work([1] * length, cached=cached).scores for length in LENGTHS]


def crossing():
    """返回解码一步时注意力与投影的乘加次数相等的键数。"""
    projection, attention = load("kv_cache_cost").step_cost(1)
    assert projection % attention == 0
    return projection // attention


def count(value):
    """把 1、10、100、1000、10000……写成坐标轴上的短词。"""
    return f"{value // 10000} 万" if value >= 10000 else str(value)


def axes(fig, top, bottom, x_ticks, y_ticks, x_name):
    """画坐标轴、刻度和横轴的名字；刻度是 (坐标, 文字) 的列表。"""
    for y, label in y_ticks:
        fig.line([(LEFT, y), (RIGHT, y)], "f-dash")
        fig.text(LEFT - 10, y, label, "f-s f-m", anchor="end")
    for x, label in x_ticks:
        fig.line([(x, bottom), (x, bottom + 6)])
        fig.text(x, bottom + 18, label, "f-s f-n f-m")
    fig.line([(LEFT, top), (LEFT, bottom), (RIGHT, bottom)])
    fig.text((LEFT + RIGHT) / 2, bottom + 42, x_name, "f-s f-m")


def draw_totals(fig):
    """上图：双对数坐标里的两条线。"""
    top, bottom = 52, 292

    def x(length):
        return LEFT + (RIGHT - LEFT) * math.log2(length) / math.log2(LENGTHS[-1])

    def y(scores):
        return bottom - (bottom - top) * math.log10(scores) / 6

    fig.text(240, 24, "逐个处理 T 个词元，一共算多少个分数（每层每头）", "f-b")
    axes(
        fig, top, bottom,
        [(x(length), str(length)) for length in LENGTHS],
        [(y(10**power), count(10**power)) for power in range(7)],
        "词元数 T（两个轴都是对数刻度）",
    )  # fmt: skip
    with_cache, without = totals(True), totals(False)
    fig.line([(x(length), y(scores)) for length, scores in zip(LENGTHS, without)], "f-x f-thick f-dash")
    fig.line([(x(length), y(scores)) for length, scores in zip(LENGTHS, with_cache)], "f-w f-thick")
    fig.text(x(36) - 6, y(10**4.5), f"没有缓存：T = 128 时 {without[-1]} 个", "f-s f-b f-x", anchor="end")
    fig.text(RIGHT - 4, y(10**1.5), f"有缓存：T = 128 时 {with_cache[-1]} 个", "f-s f-b f-w", anchor="end")


def draw_step(fig):
    """下图：投影是水平线，注意力是过原点的直线。"""
    top, bottom = 416, 636
    step_cost = load("kv_cache_cost").step_cost
    projection, last = step_cost(STEP_END)
    meet = crossing()

    def x(t):
        return LEFT + (RIGHT - LEFT) * t / STEP_END

    def y(operations):
        return bottom - (bottom - top) * operations / (3.3 * MILLION)

    fig.text(240, 384, "有缓存时解码一步，一层的乘加次数", "f-b")
    axes(
        fig, top, bottom,
        [(x(t), str(t)) for t in range(0, STEP_END + 1, 512)],
        [(y(n * MILLION), f"{n}00 万" if n else "0") for n in range(4)],
        "缓存里的键数 t",
    )  # fmt: skip
    fig.line([(x(0), y(projection)), (x(STEP_END), y(projection))], "f-k f-thick f-dash")
    fig.line([(x(0), y(0)), (x(STEP_END), y(last))], "f-w f-thick")
    fig.line([(x(meet), y(projection)), (x(meet), bottom)], "f-dash")
    fig.text(RIGHT - 4, y(1.5 * MILLION), "投影：与 t 无关", "f-s f-b f-k", anchor="end")
    fig.text(x(1560), y(step_cost(1760)[1]), "注意力：与 t 成正比", "f-s f-b f-w", anchor="end")
    fig.text(x(meet) + 10, y(0.45 * MILLION), f"t = {meet} 时相等", "f-s", anchor="start")


def draw():
    with_cache, without = totals(True), totals(False)
    projection, _ = load("kv_cache_cost").step_cost(1)
    fig = Figure(
        "键值缓存的代价：数出来的分数与乘加次数",
        f"上：双对数坐标，逐个处理 T 个词元的分数总数；T 等于 {LENGTHS[-1]} 时有缓存 {with_cache[-1]} 个，没有缓存 {without[-1]} 个，"
        "没有缓存的线更陡。"
        f"下：有缓存时解码一步，一层的投影固定是 {projection} 次乘加，注意力从 0 起随缓存长度直线上升，"
        f"在 t 等于 {crossing()} 处与投影相等。",
        height=690,
    )
    draw_totals(fig)
    fig.line([(20, 354), (460, 354)], "f-dash")
    draw_step(fig)
    return fig.render()
