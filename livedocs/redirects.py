"""改了名字的页面与锚点：旧网址还能用。

`mkdocs.yml` 的 `extra.moved` 是唯一的一张表，左边是旧处，右边是新处，都从 `docs/` 算起::

    extra:
      moved:
        chapters/old.md: chapters/new.md
        labs/gone.md: chapters/new.md#section
        chapters/old.md#part: chapters/new.md#section
        chapters/new.md#old-id: chapters/new.md#new-id

- 搬走的页面在旧网址留一个网页：脚本带着 `#` 后面的部分去新网址；没有脚本时由 `<meta refresh>` 跳转。
  它不进搜索引擎，规范网址指向新处；普通的静态服务器、子路径与内容安全策略都不妨碍它。
- 页面还在、只是锚点改了名：在新的标题里留一个旧 id。

写错了（旧处还在、新处不存在、又搬了一次）就停下构建。
"""

from __future__ import annotations

import difflib
import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

SCRIPT = "assets/javascripts/moved.js"
_PLACE = re.compile(r"(?P<page>[^#\s]+\.(?:md|ipynb))(?:#(?P<anchor>\S+))?")


class MoveError(ValueError):
    """`extra.moved` 写得不对；消息指明哪一行、怎样改。"""


@dataclass(frozen=True)
class Place:
    """一个页面（在 `docs/` 里的路径），或者它的一个锚点；没有锚点时是空的。"""

    page: str
    anchor: str = ""

    def __str__(self) -> str:
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


def moves(config: MkDocsConfig) -> dict[Place, Place]:
    """`mkdocs.yml` 里的表：旧处 → 新处。

    Raises:
        MoveError: 不是一张表，或者有一格不是页面。
    """
    for name in difflib.get_close_matches("moved", config.extra):
        if name != "moved":
            raise MoveError(f"extra.{name} 不起作用；是 extra.moved 吗")
    table = config.extra.get("moved") or {}
    if not isinstance(table, dict):
        raise MoveError("extra.moved 应是一张表：旧页面: 新页面")
    return {_place(old): _place(new) for old, new in table.items()}


def _place(text: object) -> Place:
    match = _PLACE.fullmatch(str(text))
    if not match:
        raise MoveError(
            f"extra.moved 里的 {text!r} 不是页面；写成从 docs/ 算起的路径，如 chapters/a.md 或 chapters/a.md#id"
        )
    return Place(match["page"], match["anchor"] or "")


def check(table: dict[Place, Place], anchors: dict[str, set[str]]) -> None:
    """`anchors` 是现有的每一页（在 `docs/` 里的路径）与它的全部锚点。

    Raises:
        MoveError: 旧处还在、新处不存在、新处自己也搬走了，或者浏览器做不到。
    """
    gone = {place.page for place in table if not place.anchor}
    for old, new in table.items():
        here = f"extra.moved 里的 {old}: {new}"
        if new in table or new.page in gone:
            raise MoveError(f"{here}：{new} 自己也搬走了；直接写最后的去处")
        if new.page not in anchors:
            raise MoveError(f"{here}：{new.page} 不存在；检查路径是否拼错")
        if new.anchor and new.anchor not in anchors[new.page]:
            raise MoveError(f"{here}：{new.page} 里没有锚点 {new.anchor}")
        if not old.anchor and old.page in anchors:
            raise MoveError(f"{here}：{old.page} 还在；删掉它，或者删掉这一行")
        if old.anchor and old.page not in anchors and old.page not in gone:
            raise MoveError(f"{here}：{old.page} 不存在；整页搬到了哪里，也要写一行")
        if old.anchor and old.anchor in anchors.get(old.page, set()):
            raise MoveError(f"{here}：锚点 {old.anchor} 还在；删掉这一行")
        if old.anchor and old.page in anchors and (new.page != old.page or not new.anchor):
            raise MoveError(f"{here}：浏览器不会因为锚点换一页；在 {old.page} 里留下这个标题和一句指路的话")


def keep_anchors(content: str, page: str, table: dict[Place, Place]) -> str:
    """一页的 HTML：改了名的锚点，在新的元素里留一个旧 id。"""
    for old, new in table.items():
        if old.anchor and old.page == page:
            opening = re.compile(rf'<(\w+)\b[^<>]*\bid="{re.escape(html.escape(new.anchor))}"[^<>]*>')
            kept = f'<span id="{html.escape(old.anchor)}"></span>'
            content = opening.sub(lambda match, kept=kept: match.group() + kept, content, count=1)
    return content


def files(table: dict[Place, Place], existing: Files, config: MkDocsConfig, finish: Callable[[str], str]) -> list[File]:
    """旧网址上的网页，与它们共用的脚本；`finish` 是每个网页写出之前的最后一步。

    标题取自新的页面，所以要在页面都渲染好之后。
    """
    found = []
    for old, new in table.items():
        if old.anchor:
            continue
        here = File(_markdown(old.page), config.docs_dir, config.site_dir, config.use_directory_urls)
        target = existing.get_file_from_path(new.page)
        inside = {
            place.anchor: _link(here, existing.get_file_from_path(other.page), other.anchor)
            for place, other in table.items()
            if place.page == old.page and place.anchor
        }
        page = _page(here, target, new.anchor, inside)
        found.append(File.generated(config, here.dest_uri, content=finish(page).encode("utf-8")))
    if found:
        script = Path(__file__).with_name("templates") / "moved.js"
        found.append(File.generated(config, SCRIPT, content=script.read_bytes()))
    return found


def _markdown(path: str) -> str:
    return re.sub(r"\.ipynb$", ".md", path)


def _link(here: File, target: File, anchor: str) -> str:
    return get_relative_url(target.url, here.url) + (f"#{anchor}" if anchor else "")


def _page(here: File, target: File, anchor: str, inside: dict[str, str]) -> str:
    link = html.escape(_link(here, target, anchor))
    title = html.escape(re.sub(r"<[^>]+>", "", target.page.title or ""))
    canonical = html.escape(target.page.canonical_url or _link(here, target, ""))
    anchors = html.escape(json.dumps(inside, ensure_ascii=False))
    return f"""<!doctype html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<title>这一页搬到了：{title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<link rel="canonical" href="{canonical}">
<noscript><meta http-equiv="refresh" content="0; url={link}"></noscript>
<script src="{get_relative_url(SCRIPT, here.url)}" data-anchors="{anchors}" defer></script>
</head>
<body>
<p>这一页搬到了：<a href="{link}">{title}</a></p>
</body>
</html>
"""
