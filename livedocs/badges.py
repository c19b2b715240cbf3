"""网页上的证明：每页标题下的徽章，和“版本与证明”页的总表。数目都来自 proof.json，不是现数的。"""

from __future__ import annotations

import html
import re
from pathlib import Path

from livedocs import proof
from livedocs.project import Project

#: 页面里写这条注释的地方换成总表。
PLACE = re.compile(r"<!--\s*livedocs:counts\s*-->")

COLUMNS = {"blocks": "代码块", "cells": "notebook 单元", "outputs": "输出与图", "numbers": "绑定的数字", "transcripts": "运行记录"}


def badge(path: Path, project: Project, pages: dict[str, dict], link: str) -> str:
    """标题下的一行；没有可核对内容的页面没有徽章。`link` 指向“版本与证明”页。"""
    text = proof.badge(path, project, pages)
    if not text:
        return ""
    state = "stale" if text == proof.STALE else "proved"
    return (
        f'<p class="proof-badge proof-badge--{state}" data-search-exclude="1">'
        f'<a href="{html.escape(link)}">{html.escape(text)}</a></p>'
    )


def table(rows: list[tuple[str, str, Path]], project: Project, pages: dict[str, dict]) -> str:
    """`(标题, 网址, 源文件)` → 总表；没有可核对内容的页面不列出，最后一行是合计。"""
    body, total, count = [], dict.fromkeys(COLUMNS, 0), 0
    for title, url, path in rows:
        recorded = pages.get(project.show(path), {})
        numbers = {key: recorded.get(key, 0) for key in COLUMNS}
        stale = recorded.get("hash") != proof.page_hash(path, project)
        if not stale and not any(numbers.values()):
            continue
        count += 1
        if not stale:
            total = {key: total[key] + numbers[key] for key in COLUMNS}
        cells = f'<td colspan="{len(COLUMNS)}">{proof.STALE}</td>' if stale else _cells(numbers)
        body.append(f'<tr><td><a href="{html.escape(url)}">{html.escape(title)}</a></td>{cells}</tr>')
    head = "".join(f"<th>{name}</th>" for name in COLUMNS.values())
    return (
        f'<div class="proof-counts"><table><thead><tr><th>页面</th>{head}</tr></thead><tbody>{"".join(body)}</tbody>'
        f"<tfoot><tr><th>合计 {count} 页</th>{_cells(total)}</tr></tfoot></table></div>"
    )


def _cells(numbers: dict[str, int]) -> str:
    return "".join(f"<td>{numbers[key] or '–'}</td>" for key in COLUMNS)
