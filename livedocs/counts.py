"""网站上有多少可核对的东西：从渲染好的页面数出来，填进“版本与证明”页的表格。"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

#: 页面里写这条注释的地方换成表格。
PLACE = re.compile(r"<!--\s*livedocs:counts\s*-->")

_CODE = re.compile(r'<div class="language-python (?:run|evidence|script)\b')
_OUTPUT = re.compile(r'<div class="code-output"|<figure class="[^"]*\bplot\b')
_NUMBER = re.compile(r'<data class="bound"')


@dataclass(frozen=True)
class Counts:
    """一页上的代码块、输出（含图）和绑定的数字各有多少。"""

    code: int
    outputs: int
    numbers: int

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.code + other.code, self.outputs + other.outputs, self.numbers + other.numbers)


def count(content: str) -> Counts:
    """数一页的 HTML。"""
    return Counts(*(len(pattern.findall(content)) for pattern in (_CODE, _OUTPUT, _NUMBER)))


def table(rows: list[tuple[str, str, Counts]]) -> str:
    """`(标题, 网址, 各项数目)` → 表格；全是零的页面不列出，最后一行是合计。"""

    def cells(counts: Counts) -> str:
        return "".join(f"<td>{n}</td>" for n in (counts.code, counts.outputs, counts.numbers))

    shown = [row for row in rows if row[2] != Counts(0, 0, 0)]
    body = "".join(
        f'<tr><td><a href="{html.escape(url)}">{html.escape(title)}</a></td>{cells(counts)}</tr>'
        for title, url, counts in shown
    )
    total = cells(sum((counts for *_, counts in shown), Counts(0, 0, 0)))
    return (
        "<table><thead><tr><th>页面</th><th>代码块</th><th>输出与图</th><th>绑定的数字</th></tr></thead>"
        f"<tbody>{body}</tbody><tfoot><tr><th>合计 {len(shown)} 页</th>{total}</tr></tfoot></table>"
    )
