"""表格的外框：构建时就放好，主题的脚本载入以后正文不移动。

主题的脚本把每张表格放进可以横向滚动的外框，外框有自己的边距；等脚本载入才放，表格后面的正文都会移动。
脚本仍然会再放一层，`web/src/shared/steady.css` 让那一层不占地方。
"""

from __future__ import annotations

import re

_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)


def wrap_tables(page: str) -> str:
    """`page`（HTML）里没有类名的表格放进主题的外框；主题也只管没有类名的。"""
    return _TABLE.sub(
        lambda found: f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">{found.group()}</div></div>',
        page,
    )
