"""两次构建出的网站差在哪里：每一页看得见的文字逐行比较；文字之外的文件只看字节变没变。"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from livedocs.changes import Kind, LineChange, line_changes

#: 不显示的元素。
_HIDDEN = {"script", "style", "template", "noscript", "head"}
#: 排成一段文字里的元素；其余的元素另起一行。
_INLINE = set(
    "a abbr b bdi bdo cite code del dfn em font i ins kbd label mark q s samp small span strong sub sup time tspan u var wbr img "
    "annotation math maction mfrac mi mn mo mover mpadded mphantom mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtd "
    "mtext mtr munder munderover semantics".split()
)
#: 生成的时刻、构建的次序，不是内容；离线版里的文件都单独比较过了。
_IGNORED = {"sitemap.xml", "sitemap.xml.gz", "downloads/site.zip"}
#: 文件名里的散列。
_HASH = re.compile(r"(?<=[.-])(?:[0-9a-f]{8}|[0-9A-Z]{8})(?=\.)")
KINDS = {".css": "样式", ".js": "脚本", ".mjs": "脚本", ".woff2": "字体", ".json": "数据", ".svg": "图", ".png": "图", ".zip": "下载包"}


class _Text(HTMLParser):
    """网页上看得见的文字，一块一行；`<pre>` 里的换行保留。"""

    def __init__(self):
        super().__init__()
        self.parts: list[str] = []
        self.title = ""
        self._hidden: list[str] = []
        self._pre = 0
        self._in_title = False

    def handle_starttag(self, tag, attrs):
        self._in_title = tag == "title" and not self.title
        if tag in _HIDDEN:
            self._hidden.append(tag)
        elif tag not in _INLINE:
            self.parts.append("\n")
        if tag == "pre":
            self._pre += 1
        if tag == "img" and not self._hidden:
            self.parts.append(f"[{dict(attrs).get('alt') or ''}]")

    def handle_endtag(self, tag):
        self._in_title = False
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
        if tag == "pre":
            self._pre = max(0, self._pre - 1)
        if tag not in _INLINE | _HIDDEN:
            self.parts.append("\n")

    def handle_data(self, data):
        if self._in_title:
            self.title += data
        elif not self._hidden:
            self.parts.append(data if self._pre else re.sub(r"\s+", " ", data))


def visible_lines(html: str) -> list[str]:
    """一页 HTML 看得见的文字，从标题开始；空行与行首行尾的空白略去，`<pre>` 里行首的空白保留。"""
    parser = _Text()
    parser.feed(html)
    parser.close()
    lines = [parser.title.strip(), *"".join(parser.parts).split("\n")]
    return [line.rstrip() for line in lines if line.strip()]


@dataclass(frozen=True)
class PageChange:
    """一个网页：看得见的文字的变化；没有变化时只是字节变了。`path` 是网站里的路径。"""

    path: str
    lines: tuple[LineChange, ...] = ()

    @property
    def kind(self) -> Kind:
        return max((line.verdict.kind for line in self.lines), default=Kind.BYTES)


@dataclass(frozen=True)
class SiteChanges:
    """两个网站的差别：网页、多出与少了的网页、别的文件（一句话一个）。"""

    pages: tuple[PageChange, ...]
    appeared: tuple[str, ...]
    vanished: tuple[str, ...]
    files: tuple[str, ...]
    #: 看得见的文字没变，只是引用的文件换了名字（散列）或写着新的版本号的网页有几个。
    repointed: int = 0


def compare(before: Path, after: Path, renamed: dict[str, str] | None = None) -> SiteChanges:
    """比较两个构建好的网站。`renamed` 是旧版本号到新版本号的对应，换了名字的文件因此还认得出。"""
    old, new = _files(before, renamed or {}), _files(after, {})
    pages, files, repointed = [], [], 0
    for key in sorted(old.keys() & new.keys()):
        a, b = old[key], new[key]
        if a.read_bytes() == b.read_bytes():
            continue
        name = b.relative_to(after).as_posix()
        if name.endswith(".html"):
            texts = [path.read_text(encoding="utf-8") for path in (a, b)]
            lines = line_changes(*map(visible_lines, texts))
            if not lines and _pattern(texts[0], renamed or {}) == _pattern(texts[1], {}):
                repointed += 1
                continue
            pages.append(PageChange(name, tuple(lines)))
        else:
            files.append(f"{_named(name)}的字节变了")
    appeared = [new[key].relative_to(after).as_posix() for key in sorted(new.keys() - old.keys())]
    vanished = [old[key].relative_to(before).as_posix() for key in sorted(old.keys() - new.keys())]
    files += [f"多了{_named(name)}" for name in appeared if not name.endswith(".html")]
    files += [f"少了{_named(name)}" for name in vanished if not name.endswith(".html")]
    return SiteChanges(
        tuple(pages),
        tuple(name for name in appeared if name.endswith(".html")),
        tuple(name for name in vanished if name.endswith(".html")),
        tuple(files),
        repointed,
    )


def _named(name: str) -> str:
    kind = "搜索索引" if name.startswith("search/") else KINDS.get(Path(name).suffix, "文件")
    return f"{kind} {name} "


def _files(folder: Path, renamed: dict[str, str]) -> dict[str, Path]:
    """（去掉散列、换上新版本号的）路径 → 文件；同名的几个按次序编号。"""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or name in _IGNORED:
            continue
        key, n = _pattern(name, renamed), 0
        while f"{key}#{n}" in found:
            n += 1
        found[f"{key}#{n}"] = path
    return found


def _pattern(text: str, renamed: dict[str, str]) -> str:
    """去掉文件名里的散列，换上新的版本号。"""
    for old, new in renamed.items():
        text = text.replace(old, new)
    return _HASH.sub("*", text)


def source_of(page: str, docs: Path) -> Path | None:
    """网页来自 docs/ 里的哪个文件：`a/b/index.html` 来自 `a/b.md`、`a/b.ipynb` 或 `a/b/index.md`。"""
    stem = page.removesuffix(".html")
    names = [f"{stem}.md", f"{stem}.ipynb"]
    if stem == "index" or stem.endswith("/index"):
        folder = stem.removesuffix("index").rstrip("/")
        names = [f"{stem}.md", f"{folder}.md", f"{folder}.ipynb", f"{stem}.ipynb"]
    return next((docs / name for name in names if name[0] != "." and (docs / name).is_file()), None)


def find_line(text: str, lines: list[str]) -> int | None:
    """看得见的一行文字是 `lines` 里的第几个（从 0 数起）：先找整行，再找其中最长的几个词；找不到时是 None。"""
    words = sorted(re.findall(r"\w[^\s<>*`$\[\]]+", text), key=len, reverse=True)
    for wanted in [text.strip(), *words[:5]]:
        for number, line in enumerate(lines):
            if wanted and wanted in line:
                return number
    return None
