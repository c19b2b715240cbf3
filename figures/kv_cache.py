"""键值缓存：预填充 4 个词元，再解码 3 步，每一步算哪些、读哪些、存到多少。"""

from .svg import Figure

PREFILL, DECODE = 4, 3
TOTAL = PREFILL + DECODE
SLOT = 38
LEFT = 108


def steps():
    """返回每一步的 (名字, 开始前缓存的长度, 本步新来的词元数)。"""
    rows = [("预填充", 0, PREFILL)]
    rows += [(f"解码 {i + 1}", PREFILL + i, 1) for i in range(DECODE)]
    return rows


def draw():
    rows = steps()
    lengths = [past + new for _, past, new in rows]
    projected = sum(new for _, _, new in rows)
    again = sum(lengths)
    fig = Figure(
        "键值缓存：预填充与解码各步算什么、读什么",
        f"预填充一次算出 {PREFILL} 个词元的键和值并存下；之后每步解码只算 1 个新词元的键和值，"
        f"其余从缓存读取。缓存长度依次是 {'、'.join(map(str, lengths))}。"
        f"{TOTAL} 个词元各投影一次，共 {projected} 次；没有缓存则要 {again} 次。",
        height=402,
    )
    right = LEFT + TOTAL * SLOT
    fig.text(LEFT + TOTAL * SLOT / 2, 20, "键和值的位置", "f-s f-m")
    for j in range(TOTAL):
        fig.text(LEFT + (j + 0.5) * SLOT, 46, f"t{j}", "f-s f-n f-m")
    fig.text(right + 50, 46, "缓存长度", "f-s f-m")
    for i, (name, past, new) in enumerate(rows):
        y = 62 + i * 62
        fig.text(16, y + 11, name, "f-b", anchor="start")
        queries = f"t{past}" if new == 1 else f"t{past}–t{past + new - 1}"
        fig.text(16, y + 33, f"查询 `{queries}`", "f-s f-q", anchor="start")
        for j in range(TOTAL):
            x = LEFT + j * SLOT
            if j < past:
                fig.cell(x, y, SLOT, 42, "读", "f-face", "f-s")
            elif j < past + new:
                fig.cell(x, y, SLOT, 42, "算", "f-w", "f-s f-b", tint=0.28)
            else:
                fig.rect(x + 3, y + 3, SLOT - 6, 36, "f-slot")
        fig.text(right + 50, y + 21, f"{past + new}" if i == 0 else f"{past} → {past + new}", "f-n")
    y = 62 + len(rows) * 62 + 14
    fig.cell(16, y, SLOT, 30, "算", "f-w", "f-s f-b", tint=0.28)
    fig.text(64, y + 15, "本步投影出键和值，存入缓存", "f-s", anchor="start")
    fig.cell(270, y, SLOT, 30, "读", "f-face", "f-s")
    fig.text(318, y + 15, "从缓存读，不再计算", "f-s", anchor="start")
    y += 54
    fig.text(16, y, f"投影次数：有缓存 `{'+'.join(str(n) for _, _, n in rows)} = {projected}`", "f-s", anchor="start")
    fig.text(270, y, f"没有缓存 `{'+'.join(map(str, lengths))} = {again}`", "f-s", anchor="start")
    return fig.render()
