"""搜索：把网站的文字写成读者键入以后才下载的索引，并换上本站的搜索 worker（web/src/search/）。

主题在打开每一页时都会取 `search/search_index.json`。这里让它只剩设置，真的索引另存一个文件，
名字带内容的散列，worker 在第一次查询时才取。索引里是原文，不切词：worker 直接在原文里找。

页面里三种表格告诉搜索“这个说法指哪一节”，认的是表头，哪一页都可以用：

- 有“在哪里讲”一列：前两列（术语、英文）与“符号”是链接所指那一节的名字；
- 有“讲清它的一段”一列：第一列是现象，指向链接的那一节；
- “别处的叫法”与“本站的叫法”：左边的词当作右边的词来搜。
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urljoin

from mkdocs.exceptions import PluginError

from livedocs.sections import Cell, Section, sections

FOLDER = "search"
#: 主题按它给网页里与查询相同的字加亮；查询词之间用空白隔开。
SETTINGS = {"lang": ["zh"], "separator": r"\s+", "pipeline": [], "fields": {}}

_WORKER = re.compile(r"assets/javascripts/workers/search\.\w+\.min\.js")
#: 在这么多页里都有的标题（“自测”“完整脚本”）不说明内容。
_COMMON = 3


class Index:
    """替换 Material 搜索插件里的索引：插件照旧逐页交来内容，最后来取 search_index.json 的文字。"""

    #: 网址与正文 → 各节；预览时没有变的页面不再读一遍。
    _read: dict[str, tuple[str, list[Section]]] = {}

    def __init__(self) -> None:
        self._pages: list[tuple[str, str, list[Section]]] = []
        self._boost: dict[str, float] = {}

    def add_entry_from_context(self, page) -> None:
        """一页的正文已经渲染好；`page` 是 MkDocs 的页面。front matter 写了 `search: {exclude: true}` 的不编入，
        写了 `search: {boost: 0.5}` 的得分乘上它。"""
        wanted = page.meta.get("search") or {}
        if wanted.get("exclude"):
            return
        boost = wanted.get("boost", 1)
        if isinstance(boost, bool) or not isinstance(boost, int | float) or not 0 < boost < math.inf:
            raise PluginError(f"{page.file.src_uri} 的 front matter：search 的 boost 要是大于 0 的数，现在是 {boost!r}")
        self._boost[page.url] = boost
        known = self._read.get(page.url)
        if not known or known[0] != page.content:
            known = self._read[page.url] = (page.content, sections(page.content))
        self._pages.append((page.url, page.title, known[1]))

    def generate_search_index(self, _previous=None) -> str:
        """打开网页时就会下载的那一份：只有设置，和真的索引叫什么。"""
        return json.dumps({"config": SETTINGS | {"index": self.name}, "docs": []}, ensure_ascii=False)

    @property
    def name(self) -> str:
        """真的索引的文件名，在 `FOLDER` 里。"""
        return f"index-{hashlib.sha256(self.text.encode()).hexdigest()[:8]}.json"

    @functools.cached_property
    def text(self) -> str:
        """真的索引：`pages` 里每页是网址、标题、各节与得分的倍数；`retired` 是（别处的叫法，本站的叫法），`english` 是（英文，中文）。

        一节是 [锚点, 标题, 正文, 代码, 名字, 现象, 给出定义的词]；空的尾项不写。
        """
        tables = _Tables.read(self._pages)
        common = _common_titles(self._pages)
        shown = {
            chunk
            for _, _, found in self._pages
            for section in found
            if section.title not in common
            for chunk in _chunks(section.code)
        }
        pages = []
        for url, title, found in self._pages:
            rows = []
            for section in found:
                key = f"{url}#{section.anchor}" if section.anchor else url
                code = section.code if section.title not in common else _without(section.code, shown)
                code = "\n\n".join(filter(None, (code, _without(section.folded, shown))))
                known = [table.get(key, []) for table in (tables.names, tables.symptoms, tables.defined)]
                row = [section.anchor, section.title, section.prose, code, *known]
                while row and not row[-1]:
                    row.pop()
                rows.append(row)
            pages.append([url, title, rows, self._boost[url]] if self._boost[url] != 1 else [url, title, rows])
        data = {"pages": pages, "retired": tables.retired, "english": tables.english}
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))

    def write(self, site: Path) -> None:
        """在构建好的网站里写出真的索引，去掉以前的。"""
        folder = site / FOLDER
        folder.mkdir(exist_ok=True)
        target = folder / self.name
        for old in folder.glob("index-*.json"):
            if old != target:
                old.unlink()
        target.write_text(self.text, encoding="utf-8", newline="\n")


def _chunks(code: str) -> list[str]:
    """顶格的语句，一段一个。"""
    return [chunk.strip("\n") for chunk in re.split(r"\n\s*\n(?=\S)", code) if chunk.strip()]


def _without(code: str, shown: set[str]) -> str:
    """去掉别处已经完整展示过的语句：同样的定义收在好几页的折叠里，整个脚本又有一份。"""
    return "\n\n".join(chunk for chunk in _chunks(code) if chunk not in shown)


def _common_titles(pages: list[tuple[str, str, list[Section]]]) -> set[str]:
    counts = Counter(title for _, _, found in pages for title in {section.title for section in found})
    return {title for title, count in counts.items() if count >= _COMMON}


# ---------------------------------------------------------------- 表格


@dataclass
class _Tables:
    """表格里读出的说法。前三样的键是节的网址。"""

    names: dict[str, list[str]] = field(default_factory=dict)
    symptoms: dict[str, list[str]] = field(default_factory=dict)
    defined: dict[str, list[str]] = field(default_factory=dict)
    retired: list[tuple[str, str]] = field(default_factory=list)
    english: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, pages: list[tuple[str, str, list[Section]]]) -> _Tables:
        found = cls()
        for url, _, page in pages:
            for section in page:
                for row in section.rows:
                    found._add(url, section.anchor, row)
        return found

    def _add(self, url: str, anchor: str, row: dict[str, Cell]) -> None:
        first = _names(next(iter(row.values())).text)
        if "在哪里讲" in row and first:
            english = _names(row["英文"].text) if "英文" in row else []
            symbols = _names(row["符号"].text) if "符号" in row else []
            _point(self.names, url, row["在哪里讲"].links, [*first, *english, *symbols])
            _point(self.defined, url, [f"#{anchor}"], [*first, *english])
            self.english += [(word, first[0]) for word in english if word != first[0]]
        elif "讲清它的一段" in row:
            _point(self.symptoms, url, row["讲清它的一段"].links, [next(iter(row.values())).text])
        elif "别处的叫法" in row and (ours := _names(row["本站的叫法"].text) if "本站的叫法" in row else []):
            self.retired += [(word, ours[0]) for word in first]


def _point(table: dict[str, list[str]], url: str, links: list[str], words: list[str]) -> None:
    for link in links:
        target = unquote(urljoin(f"/{url}", link)).lstrip("/")
        known = table.setdefault(target, [])
        known += [word for word in words if word not in known]


def _names(cell: str) -> list[str]:
    """“键值缓存（KV Cache）”→ 两个名字；“（MoE 里）”是说明，不是名字；单个字母太含糊。"""
    cell = re.sub(r"（[^（）]*里）", "", cell)
    names = (name.strip() for name in re.split(r"[、，,（）]\s*| 与 ", cell))
    return [name for name in names if len(name) > 1 or not name.isascii()]


# ---------------------------------------------------------------- worker


def is_worker(uri: str) -> bool:
    """`uri` 是主题自带的搜索 worker，或者它的源码对照。"""
    return bool(_WORKER.fullmatch(uri.removesuffix(".map")))


def use_worker(html: str, ours: str) -> str:
    """网页的设置里写着主题的 worker；换成 `ours`（网站里的路径）。"""
    return _WORKER.sub(ours, html)
