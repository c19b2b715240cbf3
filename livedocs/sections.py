"""一页的 HTML → 各节的文字：标题、正文、代码、收起来的代码，以及表格里的每一行。供搜索使用。

带 `data-search-exclude` 的元素不读，标题与脚注的记号也不读：它们的数字会粘在前面的字上。
一节从带 id 的标题开始，到下一个标题为止；第一个标题属于整页，没有锚点。
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

#: 另起一行的元素；别的元素不断行。
_BLOCKS = frozenset(
    "address article aside blockquote dd details div dl dt figcaption figure h1 h2 h3 h4 h5 h6 hr li ol p pre "
    "section summary table tbody thead tr ul".split()
)
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_SKIPPED = frozenset(("script", "style", "object", "template"))
#: 记号，不是文字：本节链接，脚注的编号，回到正文的箭头。
_MARKS = frozenset(("headerlink", "footnote-ref", "footnote-backref"))
_HEADING = re.compile(r"h[1-6]$")
#: 一行里相邻的两格之间；搜索结果的摘要会显示它。
CELL = " · "


@dataclass
class Cell:
    """表格的一格：文字，与其中的链接（原样的 href）。"""

    text: str = ""
    links: list[str] = field(default_factory=list)


@dataclass
class Section:
    """一节。`prose` 与两种代码都是一行一块；`folded` 是写在折叠里的代码；`rows` 的键是那一列的表头。"""

    anchor: str
    title: str = ""
    prose: str = ""
    code: str = ""
    folded: str = ""
    rows: list[dict[str, Cell]] = field(default_factory=list)


def sections(html: str) -> list[Section]:
    """`html`（一页的正文）里的各节，按次序；没有正文时是空表。"""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    for section in reader.found:
        section.title = " ".join(section.title.split())
        section.prose = _tidy(section.prose)
        section.code, section.folded = section.code.strip("\n"), section.folded.strip("\n")
    return [section for section in reader.found if section.anchor or section.title or section.prose]


def _tidy(text: str) -> str:
    lines = (CELL.join(filter(None, (cell.strip() for cell in line.split(CELL)))) for line in text.split("\n"))
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = [Section("")]
        #: 打开着的元素：（标签，从这里起不读）
        self._open: list[tuple[str, bool]] = []
        self._named = False
        self._header: list[str] = []
        self._row: list[Cell] | None = None
        self._heads = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in _VOID:
            if tag in ("br", "hr"):
                self._write("\n")
            return
        skip = (
            tag in _SKIPPED
            or "data-search-exclude" in given
            or not _MARKS.isdisjoint((given.get("class") or "").split())
        )
        self._open.append((tag, skip))
        if self._skipping():
            return
        if _HEADING.match(tag) and given.get("id"):
            # 第一个标题之前没有别的标题：它就是整页的标题。
            if self._named:
                self.found.append(Section(given["id"]))
            self._named = True
        elif tag == "table":
            self._header = []
        elif tag == "tr":
            self._row, self._heads = [], False
        elif tag in ("td", "th") and self._row is not None:
            self._heads = self._heads or tag == "th"
            if self._row:
                self._write(CELL)
            self._row.append(Cell())
        elif tag == "a" and self._row and given.get("href"):
            self._row[-1].links.append(given["href"])
        if tag in _BLOCKS:
            self._write("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or tag not in (name for name, _ in self._open):
            return
        skipping = self._skipping()
        while self._open.pop()[0] != tag:
            pass
        if skipping:
            return
        if tag == "tr" and self._row is not None:
            self._end_row()
        if tag in _BLOCKS:
            self._write("\n")

    def handle_data(self, data: str) -> None:
        if self._skipping():
            return
        self._write(data if self._inside("pre") else data.replace("\n", " "))
        if self._row:
            self._row[-1].text += data

    def _end_row(self) -> None:
        cells, self._row = self._row or [], None
        for cell in cells:
            cell.text = " ".join(cell.text.split())
        if self._heads and not self._header:
            self._header = [cell.text for cell in cells]
        elif len(cells) == len(self._header):
            self.found[-1].rows.append(dict(zip(self._header, cells)))

    def _write(self, text: str) -> None:
        section = self.found[-1]
        if any(_HEADING.match(tag) for tag, _ in self._open):
            section.title += text
        elif not self._inside("pre"):
            section.prose += text
        elif self._inside("details"):
            section.folded += text
        else:
            section.code += text

    def _inside(self, tag: str) -> bool:
        return any(name == tag for name, _ in self._open)

    def _skipping(self) -> bool:
        return any(skip for _, skip in self._open)
