"""MHA、GQA、MQA：同样 4 个查询头，分别配 4、2、1 个键值头。"""

from fractions import Fraction

from .svg import Figure

QUERY_HEADS = 4
KINDS = (("MHA", "多头", 4), ("GQA", "分组查询", 2), ("MQA", "多查询", 1))
BOX, STEP = 30, 36
PANEL = QUERY_HEADS * STEP - (STEP - BOX)  # 一栏的宽度：4 个查询头


def serves(query_head, kv_heads):
    """返回第 query_head 个查询头读的键值头：相邻的 n_rep 个查询头共用一个。"""
    return query_head // (QUERY_HEADS // kv_heads)


def draw():
    fig = Figure(
        "MHA、GQA、MQA 的查询头与键值头",
        "三栏各有 4 个查询头。MHA：4 个键值头，一一对应；GQA：2 个键值头，查询头 0、1 读键值头 0，查询头 2、3 读键值头 1；"
        "MQA：1 个键值头，4 个查询头共用。键值缓存的大小与键值头的个数成正比。",
        height=306,
    )
    gap = (fig.width - 3 * PANEL) / 4
    for column, (name, label, kv_heads) in enumerate(KINDS):
        left = gap + column * (PANEL + gap)
        middle = left + PANEL / 2
        repeat = QUERY_HEADS // kv_heads
        fig.text(middle, 22, f"{name} {label}", "f-b")
        centres = []
        for kv in range(kv_heads):
            members = [h for h in range(QUERY_HEADS) if serves(h, kv_heads) == kv]
            centres.append(left + BOX / 2 + STEP * sum(members) / len(members))
        for h in range(QUERY_HEADS):
            x = left + h * STEP
            centre = centres[serves(h, kv_heads)]
            fig.line([(x + BOX / 2, 74), (centre, 142)])
            fig.cell(x - 1, 43, BOX + 2, BOX + 2, f"Q{h}", "f-q", "f-s f-n")
        for kv, centre in enumerate(centres):
            for y, letter in ((142, "K"), (174, "V")):
                fig.cell(centre - BOX / 2 - 1, y, BOX + 2, BOX + 2, f"{letter}{kv}", f"f-{letter.lower()}", "f-s f-n")
        fig.text(middle, 228, f"{kv_heads} 个键值头", "f-s")
        fig.text(middle, 252, f"n_rep = {repeat}", "f-s f-n f-m")
        fig.text(middle, 276, f"缓存 × {Fraction(kv_heads, QUERY_HEADS)}", "f-s f-m")
    return fig.render()
