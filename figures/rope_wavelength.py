"""RoPE 各对通道的波长与训练长度；YaRN 放慢其中慢的那些。"""

import math

from .svg import Figure

HEAD_DIM, BASE, LENGTH, FACTOR = 96, 1e6, 2048, 16  # MiniMind 现行版本的宽度、基数与 YaRN 设置
FAST, SLOW = 32, 1
LEFT, RIGHT, TOP, BOTTOM = 62, 462, 44, 296
DECADES = 8  # 纵轴从 10 的 0 次方到 8 次方


def wavelengths():
    """返回每一对转一圈要走的位置数。"""
    return [2 * math.pi * BASE ** (2 * i / HEAD_DIM) for i in range(HEAD_DIM // 2)]


def slowed():
    """返回 YaRN 之后的波长。"""

    def pair_with(turns):
        return HEAD_DIM * math.log(LENGTH / (turns * 2 * math.pi)) / (2 * math.log(BASE))

    low, high = math.floor(pair_with(FAST)), math.ceil(pair_with(SLOW))
    ramps = [min(max((i - low) / (high - low), 0), 1) for i in range(HEAD_DIM // 2)]
    return [w / (1 - r + r / FACTOR) for w, r in zip(wavelengths(), ramps)]


def draw():
    before, after = wavelengths(), slowed()
    long = sum(w > LENGTH for w in before)
    fig = Figure(
        "RoPE 各对通道的波长",
        f"横轴是 {HEAD_DIM // 2} 对通道的编号，纵轴是转一圈要走的位置数，按 10 的幂次。波长从 6.3 逐对变长。"
        f"横线是训练长度 {LENGTH}：有 {long} 对的波长比它长，训练时没有转满一圈。"
        f"YaRN 不动快的对，把慢的对放慢到 1/{FACTOR}，中间平滑过渡。",
        height=350,
    )

    def at(index, wave):
        x = LEFT + (RIGHT - LEFT) * (index + 0.5) / len(before)
        return x, BOTTOM - (BOTTOM - TOP) * math.log10(wave) / DECADES

    fig.text(12, 20, "转一圈要走的位置数", "f-s f-m", anchor="start")
    for power in range(0, DECADES + 1, 2):
        _, y = at(0, 10**power)
        fig.line([(LEFT, y), (RIGHT, y)], "f-dash")
        fig.text(LEFT - 8, y, f"{10**power:g}" if power < 5 else f"1e{power}", "f-s f-n f-m", anchor="end")
    _, y = at(0, LENGTH)
    fig.line([(LEFT, y), (RIGHT, y)], "f-x f-thick")
    fig.text(LEFT + 8, y - 14, f"训练长度 {LENGTH}", "f-s f-x", anchor="start")
    for cls, waves in (("f-k", after), ("f-q", before)):
        for index, wave in enumerate(waves):
            px, py = at(index, wave)
            fig.rect(px - 2, py - 2, 4, 4, cls, radius=2, tint=1)
    for index in range(0, len(before), 8):
        fig.text(at(index, 1)[0], BOTTOM + 16, str(index), "f-s f-n f-m")
    fig.text((LEFT + RIGHT) / 2, BOTTOM + 40, "通道对的编号", "f-s f-m")
    fig.text(300, 20, "`RoPE`", "f-s f-b f-q")
    fig.text(400, 20, f"`YaRN` × {FACTOR}", "f-s f-b f-k")
    return fig.render()
