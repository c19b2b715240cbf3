"""一层的两种接法：Pre-Norm 的残差流从头到尾只做加法；Post-Norm 在每次相加之后归一化。"""

from .svg import Figure

SUBLAYERS = ("注意力", "SwiGLU")
COLOURS = {"RMSNorm": "f-v", "注意力": "f-k", "SwiGLU": "f-w"}


def draw():
    fig = Figure(
        "Pre-Norm 与 Post-Norm：归一化放在支路里，还是放在残差流上",
        "左边是 Pre-Norm：残差流是一条不间断的竖线，归一化在支路里，两个子层的结果加回竖线。"
        "右边是 Post-Norm：相加之后立刻归一化，残差流每层穿过两次归一化。",
        height=470,
    )
    for left, name, pre in ((12, "Pre-Norm（本章）", True), (252, "Post-Norm（原始论文）", False)):
        rail, branch = left + 40, left + 140
        fig.text(left + 104, 22, name, "f-h")
        fig.text(rail, 50, "x", "f-n f-b")
        y = 64
        for sublayer in SUBLAYERS:
            start = y
            fig.arrow([(rail, y + 12), (branch, y + 12), (branch, y + 30)])
            y += 30
            for step in (["RMSNorm", sublayer] if pre else [sublayer]):
                fig.rect(branch - 56, y, 112, 36, COLOURS[step])
                fig.text(branch, y + 18, step)
                y += 36
                if step == "RMSNorm":
                    fig.arrow([(branch, y), (branch, y + 16)])
                    y += 16
            fig.arrow([(branch, y), (branch, y + 22), (rail + 11, y + 22)])
            y += 22
            fig.line([(rail, start), (rail, y - 10)], "f-thick f-q")
            fig.tag("circle", cx=rail, cy=y, r=10)
            fig.text(rail, y, "+", "f-b")
            y += 10
            if not pre:
                fig.arrow([(rail, y), (rail, y + 14)], "f-q")
                fig.rect(rail - 36, y + 14, 112, 36, "f-v")
                fig.text(rail + 20, y + 32, "RMSNorm")
                y += 50
        bottom = 412
        fig.arrow([(rail, y), (rail, bottom)], "f-thick f-q")
        fig.text(rail, bottom + 14, "x", "f-n f-b")
        note = f"竖线上只有 {len(SUBLAYERS)} 次加法" if pre else f"竖线每层穿过 {len(SUBLAYERS)} 次归一化"
        fig.text(left + 104, 452, note, "f-s f-m")
    return fig.render()
