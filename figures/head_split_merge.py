"""拆头与合并：[B, T, C] 到 [B, H, T, D] 再回来，跟着一个元素走完每一步。"""

from .svg import Figure

B, T, C, H = 2, 4, 8, 2
D = C // H
CELL = (36, 24)
LEFT = 58
GAP = 12  # 两个头之间的空隙
FOLLOW = (2, 5)  # 跟踪的元素在批次 0 里的下标 t、c
COLOURS = ("f-q", "f-k")


def number_of(t, h, d):
    """返回批次 0 里第 t 个词元、第 h 个头、头内第 d 维的元素的编号：它在内存中的次序。"""
    return t * C + h * D + d


def place(order, target):
    """返回 target 在按行切成 [T][C] 的 order 里的下标 (t, c)。"""
    return divmod(order.index(target), C)


def head_of(number):
    """返回编号为 number 的元素属于哪个头。"""
    return number % C // D


def draw():
    t, c = FOLLOW
    h, d = divmod(c, D)
    target = number_of(t, h, d)
    by_token = [number_of(i, k, j) for i in range(T) for k in range(H) for j in range(D)]
    by_head = [number_of(i, k, j) for k in range(H) for i in range(T) for j in range(D)]
    right, wrong = place(by_token, target), place(by_head, target)

    fig = Figure(
        "拆头与合并时每个元素去了哪里",
        f"批次 0 的 {T}×{C} 个元素按内存次序编号，两个头用两种颜色。reshape 只把每行分成 {H} 组；"
        f"transpose 把头换到词元之前，每个头得到一个 {T}×{D} 的矩阵；转置回来再 reshape 就还原。"
        f"元素 {target} 的下标依次是 [0,{t},{c}]、[0,{t},{h},{d}]、[0,{h},{t},{d}]、[0,{right[0]},{right[1]}]。"
        f"合并时漏了转置，形状一样，前两行却全是头 0，元素 {target} 到了 [0,{wrong[0]},{wrong[1]}]。",
        height=752,
    )
    rings = []  # 跟踪的元素的粗框，最后画，不被邻格盖住

    def row(x, y, values, cell=CELL):
        for j, value in enumerate(values):
            cls, follow = COLOURS[head_of(value)], value == target
            fig.cell(x + j * cell[0], y, *cell, "", cls, tint=0.28 if follow else None)
            if follow:
                rings.append((x + j * cell[0], y, *cell, f"f-thick {cls}"))
        centres = [x + (j + 0.5) * cell[0] for j in range(len(values))]
        fig.text_row(centres, y + cell[1] / 2, map(str, values), "f-s f-n")

    def tokens(y, pitch):
        for i in range(T):
            fig.text(LEFT - 12, y + i * pitch + CELL[1] / 2, f"t={i}", "f-s f-n f-m", anchor="end")

    def shape(y, name, dims, note):
        fig.text(LEFT, y, f"{name} `{dims}`", "f-b", anchor="start")
        fig.text(LEFT + C * CELL[0] + GAP, y, note, "f-s f-m", anchor="end")

    def where(y, *at):
        fig.text(464, y + CELL[1] / 2, f"[{','.join(map(str, at))}]", f"f-s f-n {COLOURS[h]}", anchor="end")

    def step(y, label):
        fig.arrow([(LEFT + 20, y), (LEFT + 20, y + 30)])
        fig.text(LEFT + 36, y + 14, label, "f-s", anchor="start")

    def head_left(k):
        return LEFT + k * (D * CELL[0] + GAP)

    # 输入：每行一个词元，每列一个通道
    y = 40
    shape(20, "输入", "[B,T,C]", "一行一个词元")
    fig.text(464, 20, f"{target} 的下标", "f-s f-m", anchor="end")
    tokens(y, CELL[1])
    for i in range(T):
        row(LEFT, y + i * CELL[1], by_token[i * C : i * C + C])
    where(y + t * CELL[1], 0, t, c)
    y += T * CELL[1] + 7
    step(y, "reshape：每行分成 H 组，数据不动")

    # 分组：一个框是一个词元
    y += 50
    shape(y, "分组", "[B,T,H,D]", "一框一个词元")
    y += 22
    pitch = CELL[1] + 9
    tokens(y, pitch)
    for i in range(T):
        fig.rect(LEFT - 4, y + i * pitch - 3, C * CELL[0] + GAP + 8, CELL[1] + 6, radius=6)
        for k in range(H):
            start = i * C + k * D
            row(head_left(k), y + i * pitch, by_token[start : start + D])
    where(y + t * pitch, 0, t, h, d)
    y += T * pitch + 1
    step(y, "transpose(1, 2)：把头换到词元之前")

    # 一个框是一个头
    y += 50
    shape(y, "拆头", "[B,H,T,D]", "一框一个头")
    y += 44
    tokens(y, CELL[1])
    for k in range(H):
        x = head_left(k)
        fig.rect(x - 4, y - 25, D * CELL[0] + 8, T * CELL[1] + 29, radius=6)
        fig.text(x + D * CELL[0] / 2, y - 12, f"头 {k}", f"f-s f-b {COLOURS[k]}")
        for i in range(T):
            start = (k * T + i) * D
            row(x, y + i * CELL[1], by_head[start : start + D])
    where(y + t * CELL[1], 0, h, t, d)
    y += T * CELL[1] + 11

    # 合并：对的与错的
    small = (26, CELL[1])
    lefts = (16, 256)
    ends = (
        ("transpose(1, 2)，再 reshape", "合并", by_token, right, "还原", "f-v"),
        ("直接 reshape", "漏了转置", by_head, wrong, "错位", "f-x"),
    )
    for x, (label, name, order, at, verdict, cls) in zip(lefts, ends):
        fig.arrow([(x + 14, y), (x + 14, y + 30)])
        fig.text(x + 28, y + 14, label, "f-s", anchor="start")
        fig.text(x, y + 50, f"{name} `[B,T,C]`", "f-b", anchor="start")
        for i in range(T):
            row(x, y + 70 + i * CELL[1], order[i * C : i * C + C], small)
        fig.text(x, y + 186, f"`{target}` 在 `[0,{at[0]},{at[1]}]`：{verdict}", f"f-s {cls}", anchor="start")
    for x, y, width, height, cls in rings:
        fig.rect(x, y, width, height, cls, tint=0)
    return fig.render()
