"""整个模型：从 input_ids 到 logits 与损失的路，每一步的 shape，以及在哪一章讲。"""

from .svg import Figure

X, W = 66, 232  # 方框的左边与宽
MID = X + W / 2
SHAPE = X + W + 12  # 右边写 shape 与章

# (名字, 类, 右边第一行：输出的 shape, 右边第二行：哪一章)
BEFORE = [("input_ids", "f-face", "[B, T]", "词元编号"), ("词嵌入 `[V, C]`", "f-q", "[B, T, C]", "第 2 章")]
INSIDE = [("RMSNorm", "f-v", "第 2 章"), ("注意力", "f-k", "第 3 章"), ("RMSNorm", "f-v", "第 2 章"), ("SwiGLU", "f-w", "第 4 章")]
AFTER = [
    ("最后的 RMSNorm", "f-v", "[B, T, C]", "第 5 章"),
    ("LM head `[V, C]`", "f-q", "[B, T, V]", "logits，第 5 章"),
    ("标签移一位，交叉熵", "f-face", "[]", "损失，第 5 章"),
]


def draw():
    fig = Figure(
        "从词元编号到损失：整个模型的一次前向",
        "自上而下：input_ids 查词嵌入变成向量，shape 是 [B, T, C]；经过 L 层，每层是归一化、注意力、加回残差，"
        "再归一化、SwiGLU、加回残差，shape 不变；最后归一化，由 LM head 变成 logits，shape 是 [B, T, V]；"
        "标签移一位以后算交叉熵，得到一个数。LM head 与词嵌入是同一个矩阵。",
        height=690,
    )

    def box(y, name, cls, height=38):
        fig.rect(X, y, W, height, cls)
        fig.text(MID, y + height / 2, name)

    def side(y, first, second):
        fig.text(SHAPE, y + 9, f"`{first}`", "f-s", anchor="start")
        fig.text(SHAPE, y + 29, second, "f-s f-m", anchor="start")

    y = 14
    embedding = 0
    for name, cls, shape, chapter in BEFORE:
        box(y, name, cls)
        side(y, shape, chapter)
        fig.arrow([(MID, y + 38), (MID, y + 62)])
        embedding = y + 19
        y += 62
    # 一层：虚线框；左侧的竖线是残差流
    top = y
    rail = X + 34
    height = 4 * 50 + 2 * 30 + 28
    fig.rect(X - 6, top, W + 12, height, "f-slot", radius=8)
    fig.text(SHAPE + 4, top + 20, "重复 L 层，shape 不变", "f-s f-b", anchor="start")
    fig.line([(MID, top), (MID, top + 8), (rail, top + 8)])
    y = top + 8
    centre = X + 142
    for half in (INSIDE[:2], INSIDE[2:]):
        fig.arrow([(rail, y + 6), (centre, y + 6), (centre, y + 22)])
        for i, (name, cls, chapter) in enumerate(half):
            fig.rect(X + 68, y + 22, 148, 34, cls)
            fig.text(centre, y + 39, name)
            fig.text(SHAPE + 4, y + 39, chapter, "f-s f-m", anchor="start")
            if i == 0:
                fig.arrow([(centre, y + 56), (centre, y + 72)])
            y += 50
        fig.arrow([(centre, y + 6), (centre, y + 18), (rail + 10, y + 18)])
        fig.tag("circle", cx=rail, cy=y + 18, r=9)
        fig.text(rail, y + 18, "+", "f-b")
        y += 30
    # 残差流的竖线，在两个加号处断开
    first, second = top + 8 + 118, top + 8 + 248
    fig.line([(rail, top + 8), (rail, first - 9)], "f-thick")
    fig.line([(rail, first + 9), (rail, second - 9)], "f-thick")
    fig.line([(rail, second + 9), (rail, top + height - 6), (MID, top + height - 6)])
    fig.text(X + 16, top + 180, "残", "f-s f-m")
    fig.text(X + 16, top + 198, "差", "f-s f-m")
    fig.text(X + 16, top + 216, "流", "f-s f-m")
    y = top + height
    fig.arrow([(MID, y - 6), (MID, y + 22)])
    y += 22
    head = 0
    for i, (name, cls, shape, chapter) in enumerate(AFTER):
        box(y, name, cls)
        side(y, shape, chapter)
        if name.startswith("LM"):
            head = y + 19
        if i < len(AFTER) - 1:
            fig.arrow([(MID, y + 38), (MID, y + 62)])
        y += 62
    # 权重共享
    fig.line([(X, embedding), (24, embedding), (24, head), (X, head)], "f-dash f-q")
    for i, letter in enumerate("同一个矩阵"):
        fig.text(42, (embedding + head) / 2 - 36 + 18 * i, letter, "f-s f-q")
    return fig.render()
