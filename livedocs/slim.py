"""网页瘦身：去掉不改变样子的标记，读者少下载一成。

- 代码上色：名字、标点、运算符与空白用代码本来的颜色，不需要各自的 `<span>`；
- 插图的样式：每张图自带一份相同的 `<style>`，一页里留第一份就够；
- 模板留下的空行与缩进；`<pre>`、`<textarea>`、脚本与样式里的原样不动。
"""

from __future__ import annotations

import re

#: Pygments 的记号：n 名字，p 标点，o 运算符，w 空白。
_PLAIN = re.compile(r'<span class="[nopw]">([^<]*)</span>')
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_KEPT_OR_SPACE = re.compile(r"<(pre|textarea|script|style)\b.*?</\1\s*>|\s*\n\s*", re.DOTALL)


def slim(page: str) -> str:
    """`page`（整页 HTML）去掉多余的标记；显示出来的文字与样子不变。"""
    page = _PLAIN.sub(r"\1", page)
    seen: set[str] = set()
    page = _STYLE.sub(lambda style: _once(style.group(), seen), page)
    return _KEPT_OR_SPACE.sub(lambda found: found.group() if found.group(1) else "\n", page)


def _once(style: str, seen: set[str]) -> str:
    if style in seen:
        return ""
    seen.add(style)
    return style
