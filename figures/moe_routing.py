"""混合专家的路由：4 个词元各选 3 个专家里的 2 个；专家取出选它的词元，算完乘权重放回。"""

import math

from .svg import Figure, number, weight_tint

LOGITS = [[2.0, 1.0, 0.0], [0.0, 1.0, 3.0], [3.0, 0.0, 1.0], [2.0, 1.0, -1.0]]  # [N=4, E=3]
TOP_K = 2


def weights():
    """返回 [N][E] 的路由权重：只在选中的 TOP_K 个专家之间做 softmax，没选的是 0。"""
    table = []
    for row in LOGITS:
        chosen = sorted(range(len(row)), key=lambda e: -row[e])[:TOP_K]
        total = sum(math.exp(row[e]) for e in chosen)
        table.append([math.exp(row[e]) / total if e in chosen else 0.0 for e in range(len(row))])
    return table


def members(table):
    """返回每个专家取走的词元。"""
    return [[t for t, row in enumerate(table) if row[e] > 0] for e in range(len(table[0]))]


def draw():
    table = weights()
    gathered = members(table)
    experts = range(len(gathered))
    first = [(e, w) for e, w in enumerate(table[0]) if w > 0]
    fig = Figure(
        "混合专家：路由、取出、放回",
        f"左：4 个词元对 3 个专家的路由权重，每行选 {TOP_K} 个，选中的两个之和是 1，没选的是 0。"
        + "右：" + "；".join(f"专家 {e} 取走词元 {'、'.join(map(str, gathered[e]))}" for e in experts)
        + f"，一共 {sum(map(len, gathered))} 次。下：词元 0 的输出是它选中的两个专家的结果按权重相加。",
        height=336,
    )  # fmt: skip
    width, height = 66, 40
    fig.text(143, 22, "路由权重 [N=4, E=3]", "f-b")
    fig.matrix(
        44, 62, table, (width, height), "weights", "f-w", text_cls="f-s f-n",
        tint=[[weight_tint(w) for w in row] for row in table], masked=[[w == 0 for w in row] for row in table],
        row_labels=[f"t{t}" for t in range(4)], column_labels=[f"e{e}" for e in experts],
    )  # fmt: skip
    fig.text(362, 22, "专家取走的词元", "f-b")
    fig.arrow([(248, 138), (272, 138)])
    for e in experts:
        y = 62 + 54 * e
        fig.text(304, y + 22, f"专家 {e}", "f-s")
        for place, t in enumerate(gathered[e]):
            fig.cell(332 + 38 * place, y + 4, 36, 36, f"t{t}", "f-q", "f-s f-n")
        for place in range(len(gathered[e]), 3):
            fig.rect(334 + 38 * place, y + 6, 32, 32, "f-slot")
    fig.line([(20, 246), (460, 246)], "f-dash")
    fig.text(240, 270, "放回原处：词元 0 的输出", "f-b")
    terms = " + ".join(f"{number(w)} × 专家 {e}(t0)" for e, w in first)
    fig.text(240, 300, terms, "f-s")
    fig.text(240, 324, f"共 {sum(map(len, gathered))} 次；全算要 {len(table) * len(gathered)} 次", "f-s f-m")
    return fig.render()
