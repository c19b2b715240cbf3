"""标签移一位：5 个词元的输入，位置 t 的 logits 对位置 t + 1 的词元，最后一个位置没有标签。"""

from .svg import Figure

TEXT = "床前明月光"
CELL, LEFT = 68, 112


def draw():
    fig = Figure(
        "标签移一位：谁预测谁",
        "上面一行是输入：床、前、明、月、光。下面一行是每个位置要预测的词元：位置 0 读到“床”，预测“前”，"
        "依次类推；位置 4 读到“光”，后面没有词元，不算损失。5 个词元只有 4 项损失。",
        height=300,
    )
    centres = [LEFT + (t + 0.5) * CELL for t in range(len(TEXT))]
    fig.text_row(centres, 22, [f"位置 {t}" for t in range(len(TEXT))], "f-s f-m")
    for t, letter in enumerate(TEXT):
        fig.cell(LEFT + t * CELL, 40, CELL, 44, letter, "f-q", "")
        fig.arrow([(centres[t], 84), (centres[t], 120)])
        fig.rect(LEFT + t * CELL + 4, 120, CELL - 8, 36, "f-face")
        fig.text(centres[t], 138, "logits", "f-s f-n")
    fig.text(16, 62, "input_ids", "f-s f-n", anchor="start")
    fig.text(16, 138, "模型", "f-s", anchor="start")
    for t in range(len(TEXT)):
        if t + 1 < len(TEXT):
            fig.arrow([(centres[t], 156), (centres[t], 192)])
            fig.cell(LEFT + t * CELL, 192, CELL, 44, TEXT[t + 1], "f-v", "")
        else:
            fig.arrow([(centres[t], 156), (centres[t], 192)], "f-dash")
            fig.cell(LEFT + t * CELL, 192, CELL, 44, "不算", "f-x", "f-s", masked=True)
    fig.text(16, 214, "要预测的词元", "f-s", anchor="start")
    fig.text(16, 262, "`logits[:, :-1]` 对 `labels[:, 1:]`，移一位的是标签", "f-s", anchor="start")
    fig.text(16, 284, f"{len(TEXT)} 个词元，{len(TEXT) - 1} 项损失；输入与掩码都不动", "f-s f-m", anchor="start")
    return fig.render()
