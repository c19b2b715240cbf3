"""画图的小工具：文字、方框、箭头、矩阵、分组，拼成一张随主题变色的 SVG。

一张图是一个 Figure：按画的先后收集元素，render() 给出整份文件的文字。
坐标的单位是 viewBox 的单位，数值固定写成最多两位小数，所以同样的输入总是得到同样的字节。

颜色只写在 STYLE 里，元素只带类名：
  文字、底色          用 Material 的变量，没有变量时（单独打开文件）用后备值
  f-q f-k f-v f-w f-x  查询、键、值、权重、被屏蔽（或出错）：各有浅色与深色两个值
三个条件决定取哪个值：页面写明了主题（data-md-color-scheme）就听页面的，否则听系统的 prefers-color-scheme。
"""

import math
from contextlib import contextmanager
from xml.sax.saxutils import escape, quoteattr

WIDTH = 480  # 所有图同宽：手机上缩到约 360 时，14 的字仍有 10 像素高
SIZES = {"": 16, "f-s": 14, "f-h": 17}  # 文字的三种大小
TINT = 0.13  # 方框底色的浓度

# 名字: (浅色, 深色)。前三个是 Material 变量的后备值，其余是图自己的颜色。
MATERIAL = {
    "fg": ("--md-default-fg-color", "#212121", "#d7dae2"),
    "bg": ("--md-default-bg-color", "#ffffff", "#1e2129"),
    "face": ("--md-code-bg-color", "#f5f5f5", "#272a35"),
}
ACCENTS = {
    "q": ("#1d5bb8", "#8ab4ff"),
    "k": ("#9a4a08", "#f0ab6c"),
    "v": ("#166a3a", "#6fd09a"),
    "w": ("#6840bd", "#bfa8ff"),
    "x": ("#b3261e", "#ff9d93"),
    "m": ("#565b66", "#b4b9c7"),  # 次要的文字
    "l": ("#7d828e", "#858c9e"),  # 线
}

SANS = (
    'var(--md-text-font-family,system-ui,-apple-system,"Segoe UI","PingFang SC","Microsoft YaHei",'
    '"Noto Sans CJK SC","Noto Sans SC",sans-serif)'
)
MONO = (
    'var(--md-code-font-family,ui-monospace,SFMono-Regular,Consolas,Menlo,"DejaVu Sans Mono",'
    '"PingFang SC","Microsoft YaHei","Noto Sans CJK SC",monospace)'
)


def _style():
    """返回所有图共用的样式表；每条规则都以 .fig 开头，内嵌进页面时不影响别处。"""

    def values(theme):
        fallbacks = [f"--fig-{name}:var({row[0]},{row[1 + theme]})" for name, row in MATERIAL.items()]
        return ";".join(fallbacks + [f"--fig-{name}:{row[theme]}" for name, row in ACCENTS.items()])

    rules = [
        ".fig{display:block;width:540px;max-width:100%;height:auto;margin:0 auto}",
        f".fig,[data-md-color-scheme=default] .fig{{{values(0)}}}",
        f"@media (prefers-color-scheme:dark){{.fig{{{values(1)}}}}}",
        f"[data-md-color-scheme=slate] .fig{{{values(1)}}}",
        f".fig text{{font-family:{SANS};font-size:16px;text-anchor:middle;fill:var(--fig-fg)}}",
        ".fig .f-s{font-size:14px}.fig .f-h{font-size:17px;font-weight:700}.fig .f-b{font-weight:700}",
        f".fig .f-n{{font-family:{MONO};font-variant-numeric:tabular-nums}}",
        ".fig .f-start{text-anchor:start}.fig .f-end{text-anchor:end}",
        ".fig .f-bg{fill:var(--fig-bg)}.fig .f-face{fill:var(--fig-face);stroke:var(--fig-l);stroke-opacity:.4}",
        f".fig rect:not([fill-opacity],.f-bg,.f-face){{fill-opacity:{TINT}}}",
        ".fig path,.fig circle{fill:none;stroke:var(--fig-l);stroke-width:1.5}.fig polygon{fill:var(--fig-l)}",
        ".fig .f-slot{fill:none;stroke:var(--fig-l)}.fig .f-slot,.fig .f-dash{stroke-dasharray:4 4}",
        ".fig .f-thick{stroke-width:2.5}",
    ]
    for name in ACCENTS:
        colour = f"var(--fig-{name})"
        rules.append(
            f".fig :is(text,polygon,rect).f-{name}{{fill:{colour}}}.fig :is(path,rect).f-{name}{{stroke:{colour}}}"
        )
    return "\n".join(rules)


STYLE = _style()


def fixed(value):
    """把坐标写成最多两位小数的文字：3.0 -> "3"，2.50 -> "2.5"，不出现 "-0"。"""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def number(value, digits=4):
    """把图中的数写成文字：整数不带小数点，-inf 写成 −∞，其余保留 digits 位小数。"""
    if value == -math.inf:
        return "−∞"
    text = f"{value:.{digits}f}"
    if float(text) == round(value):
        text = str(round(value))
    return text.replace("-", "−")


def weight_tint(weight):
    """把 0 到 1 的权重变成底色的浓度：越重越深，最深时字仍清楚。"""
    return 0.05 + 0.25 * weight


class Figure:
    """一张图。title 是名字，desc 用一两句话说清图中内容（读屏软件会念）。"""

    def __init__(self, title, desc, height, width=WIDTH):
        self.title, self.desc = title, desc
        self.width, self.height = width, height
        self.parts = []
        self.rect(0, 0, width, height, "f-bg", radius=10)  # 单独打开时的底；内嵌时与页面同色

    # 基本元素 -------------------------------------------------------------

    def tag(self, name, content=None, **attributes):
        """加入一个元素；属性名的下划线写成连字符，末尾的下划线去掉（class_ -> class）。"""
        pairs = []
        for key, value in attributes.items():
            if value is None or value == "":
                continue
            value = value if isinstance(value, str) else fixed(value)
            pairs.append(f" {key.rstrip('_').replace('_', '-')}={quoteattr(value)}")
        body = "/>" if content is None else f">{content}</{name}>"
        self.parts.append(f"<{name}{''.join(pairs)}{body}")

    @contextmanager
    def group(self, **attributes):
        """把块内画的元素放进一个 <g>；attributes 通常是 data_matrix="weights"。"""
        pairs = "".join(f" {k.replace('_', '-')}={quoteattr(v)}" for k, v in attributes.items())
        self.parts.append(f"<g{pairs}>")
        yield
        self.parts.append("</g>")

    def text(self, x, y, content, cls="", anchor="middle"):
        """在 (x, y) 写一行字，y 是字的中线；反引号里的部分用等宽字体。"""
        size = next(SIZES[c] for c in [*cls.split(), ""] if c in SIZES)
        runs = content.split("`")
        parts = [f'<tspan class="f-n">{escape(r)}</tspan>' if i % 2 else escape(r) for i, r in enumerate(runs)]
        place = "" if anchor == "middle" else f"f-{anchor}"
        self.tag("text", "".join(parts), class_=f"{cls} {place}".strip(), x=x, y=y + 0.35 * size)

    def text_row(self, places, y, contents, cls):
        """在同一行的几处各写一个短词，places 是各词中点的 x；比一个个写省一半字节。"""
        parts = [f'<tspan x="{fixed(x)}">{escape(content)}</tspan>' for x, content in zip(places, contents)]
        self.tag("text", "".join(parts), class_=cls, y=y + 0.35 * SIZES["f-s" if "f-s" in cls else ""])

    def rect(self, x, y, width, height, cls="f-face", radius=4, tint=None):
        """画方框；带颜色的类（f-q 等）可以用 tint 改变底色的浓度。"""
        self.tag("rect", class_=cls, x=x, y=y, width=width, height=height, rx=radius, fill_opacity=tint)

    def line(self, points, cls=""):
        """画一条折线。"""
        self.tag("path", class_=cls, d="M" + "L".join(f"{fixed(x)} {fixed(y)}" for x, y in points))

    def arrow(self, points, cls="", size=7):
        """画一条折线，末端是箭头；points 的最后一点就是箭尖。"""
        (x0, y0), (x1, y1) = points[-2:]
        length = math.hypot(x1 - x0, y1 - y0)
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        foot = (x1 - dx * size, y1 - dy * size)
        self.line([*points[:-1], foot], cls)
        half = size * 0.6
        corners = [(x1, y1), (foot[0] - dy * half, foot[1] + dx * half), (foot[0] + dy * half, foot[1] - dx * half)]
        colour = " ".join(c for c in cls.split() if c not in ("f-dash", "f-thick"))
        self.tag("polygon", class_=colour, points=" ".join(f"{fixed(x)},{fixed(y)}" for x, y in corners))

    def hatch(self, x, y, width, height, cls="f-x", step=8):
        """在方框的两角画斜线，中间留给字：不靠颜色也能看出这一格被屏蔽。"""
        strokes, span = [], width + height
        corner = range(step, int(0.36 * span), step)
        for s in [*corner, *(span - s for s in corner)]:
            x0, y0 = (s, 0) if s <= width else (width, s - width)
            x1, y1 = (0, s) if s <= height else (s - height, height)
            strokes.append(f"M{fixed(x + x0)} {fixed(y + y0)}L{fixed(x + x1)} {fixed(y + y1)}")
        self.tag("path", class_=cls, d="".join(strokes), opacity=0.45)

    # 组合 -----------------------------------------------------------------

    def cell(self, x, y, width, height, content, cls="f-face", text_cls="f-n", tint=None, masked=False):
        """画一格：底、可能有的斜线、居中的字。"""
        inner = (x + 1, y + 1, width - 2, height - 2)
        if masked:
            cls, text_cls, tint = "f-x", f"{text_cls} f-b f-x", 0.06
        self.rect(*inner, cls, radius=3, tint=tint)
        if masked:
            self.hatch(*inner)
        if content != "":
            self.text(x + width / 2, y + height / 2, content, text_cls)

    def matrix(self, x, y, rows, cell, name=None, cls="f-face", text_cls="f-n", tint=None, masked=None,
               show=number, row_labels=(), column_labels=()):  # fmt: skip
        """画一个数的矩阵 rows，左上角在 (x, y)，每格 cell = (宽, 高)。

        masked 是同样大小的真假值（真：被屏蔽）；tint 也是（各格底色的浓度）；
        row_labels、column_labels 写在左边和上边。
        """
        width, height = cell
        for j, label in enumerate(column_labels):
            self.text(x + (j + 0.5) * width, y - 12, label, "f-s f-n f-m")
        for i, label in enumerate(row_labels):
            self.text(x - 8, y + (i + 0.5) * height, label, "f-s f-n f-m", anchor="end")
        with self.group(**({"data_matrix": name} if name else {})):
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    self.cell(
                        x + j * width, y + i * height, width, height, show(value), cls, text_cls,
                        tint[i][j] if tint else None, bool(masked and masked[i][j]),
                    )  # fmt: skip

    def render(self):
        """返回整份 SVG 的文字（LF 换行，没有空行）。"""
        box = f"0 0 {fixed(self.width)} {fixed(self.height)}"
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="fig" role="img" viewBox="{box}">',
            f"<title>{escape(self.title)}</title>",
            f"<desc>{escape(self.desc)}</desc>",
            f"<style>\n{STYLE}\n</style>",
            *self.parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"
