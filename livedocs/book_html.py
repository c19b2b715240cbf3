"""整本书的 HTML：把构建好的网站的每一页按导航的次序接成一个网页，供 book.py 印成 PDF。

每页的 `id` 加上自己的前缀，站内的链接改成书内的链接，所以印出的 PDF 里能点着跳转。
站外的链接编号，网址列在各页的末尾。
"""

from __future__ import annotations

import hashlib
import html
import posixpath
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from mkdocs.config.defaults import MkDocsConfig

_ARTICLE = re.compile(r'<article class="md-content__inner md-typeset">(.*?)</article>', re.DOTALL)
_TAG = re.compile(r"<(?P<name>[a-zA-Z][\w-]*)(?P<attributes>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_IDS = re.compile(r'(?P<name>\s(?:id|for|headers|list|aria-\w+by|aria-controls|aria-owns))="(?P<value>[^"]*)"')
_URL_ID = re.compile(r"url\(\s*(['\"]?)#([^)'\"]+)\1\s*\)")
_LINK = re.compile(r'<a\b(?P<attributes>[^>]*?)\shref="(?P<href>[^"]*)"(?P<more>[^>]*)>(?P<text>.*?)</a>', re.DOTALL)
_STYLE = re.compile(r"(<style\b[^>]*>)(.*?)(</style>)", re.DOTALL)
_CODE = re.compile(r"<pre>(.*?)</pre>", re.DOTALL)
#: 比这更长的代码可以从中间断开；与 web/src/print/index.js 相同。
LONG_CODE = 30
#: 书里没有用的：按钮、工具、标题旁的记号、编辑用的控件。
_DROPPED = re.compile(
    r'<section class="page-tools".*?</section>|<p class="(?:page-pack|site-zip|notebook-download)".*?</p>'
    r'|<a class="headerlink".*?</a>|<a class="footnote-backref".*?</a>|<script\b.*?</script>'
    r'|<p>\s*<a class="md-button[^>]*>.*?</a>\s*</p>',
    re.DOTALL,
)
_HEADING = re.compile(r'<h(?P<level>[12])\b[^>]*?\sid="(?P<id>[^"]*)"[^>]*>(?P<inner>.*?)</h(?P=level)>', re.DOTALL)


class BookError(Exception):
    """书做不成；消息说明缺什么、怎样补上。"""


@dataclass(frozen=True)
class Heading:
    """书里的一个标题：级别（1 是一页的题目，2 是一节）、锚点、文字。"""

    level: int
    anchor: str
    title: str


@dataclass(frozen=True)
class Chapter:
    """书里的一页：所属的部分（没有时是空的）、网站里的路径（`chapters/x/`，首页是空的）、正文的 HTML。"""

    part: str
    path: str
    body: str = field(repr=False)

    @property
    def anchor(self) -> str:
        """它在书里的位置。"""
        return "p" + _digest(self.path)

    def inside(self, name: str) -> str:
        """这一页里 `id` 为 `name` 的元素在书里的 `id`。PDF 里的名字要短，又只认 ASCII，所以用散列。"""
        return f"{self.anchor}-{_digest(name)}"

    @property
    def headings(self) -> list[Heading]:
        """一级与二级标题，按次序；第一个就是这一页的题目。"""
        return [
            Heading(
                int(found.group("level")),
                self.inside(html.unescape(found.group("id"))),
                _text(found.group("inner")),
            )
            for found in _HEADING.finditer(self.body)
        ]

    @property
    def title(self) -> str:
        """这一页的题目。"""
        return self.headings[0].title


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:10]


def _text(inner: str) -> str:
    """标题的文字；公式只取看得见的那一份。"""
    return html.unescape(re.sub(r"<[^>]+>", "", re.sub(r"<math\b.*?</math>", "", inner, flags=re.DOTALL))).strip()


def chapters(root: Path, site: Path) -> list[Chapter]:
    """`site`（构建好的网站）里的各页，按 `root/mkdocs.yml` 的导航的次序。

    Raises:
        BookError: 网站还没有构建，或与导航对不上。
    """
    found = []
    for part, source in _navigation(root):
        path = re.sub(r"(?:(^|/)index)?\.(?:md|ipynb)$", r"\1", source)
        path = path if not path or path.endswith("/") else path + "/"
        page = site / path / "index.html"
        if not page.is_file():
            raise BookError(f"{site} 里没有 {path}index.html；先构建网站：make build")
        body = _ARTICLE.search(page.read_text(encoding="utf-8"))
        if body is None:
            raise BookError(f"{page} 里找不到正文；网站的模板变了的话，livedocs/book_html.py 也要改")
        chapter = Chapter(part, path, _DROPPED.sub("", body.group(1)))
        if [heading.level for heading in chapter.headings].count(1) != 1 or chapter.headings[0].level != 1:
            raise BookError(f"{page} 的正文里应当恰有一个一级标题，并且在最前面")
        found.append(chapter)
    return found


def _navigation(root: Path) -> list[tuple[str, str]]:
    """（部分, 源文件），按次序。"""
    path = root / "mkdocs.yml"
    config = MkDocsConfig(config_file_path=str(path))
    with path.open("rb") as stream:
        config.load_file(stream)

    def walk(items: list, part: str):
        for item in items:
            for title, value in item.items() if isinstance(item, dict) else [("", item)]:
                if isinstance(value, list):
                    yield from walk(value, part or title)
                else:
                    yield part, value

    return list(walk(config["nav"] or [], ""))


def compose(front: str, book: list[Chapter], styles: list[str], address: str) -> str:
    """整本书的网页：`front` 是封面与目录，`styles` 是样式表的网址，`address` 是网站的正式地址，没有时是空的。"""
    bodies = "\n".join(
        f'<section class="book-chapter" id="{chapter.anchor}">{_body(chapter, book, address)}</section>'
        for chapter in book
    )
    return wrap(front + bodies, styles)


def wrap(content: str, styles: list[str]) -> str:
    """套上网页的外壳，好用网站自己的样式。"""
    links = "".join(f'<link rel="stylesheet" href="{html.escape(style)}">' for style in styles)
    return (
        f'<!doctype html><html lang="zh-CN"><head><meta charset="utf-8"><title>book</title>{links}</head>'
        f'<body dir="ltr" data-md-color-scheme="default"><main class="md-content"><article class="md-content__inner md-typeset">'
        f"{content}</article></main></body></html>"
    )


def _body(chapter: Chapter, book: list[Chapter], address: str) -> str:
    """一页的正文：`id` 加前缀，链接改写，图的网址写全，站外链接编号。"""
    pages = {other.path: other for other in book}
    outside: dict[str, int] = {}

    def link(match: re.Match) -> str:
        target, fragment = urldefrag(html.unescape(match.group("href")))
        parts = urlsplit(target)
        text = match.group("text")
        if parts.scheme and parts.scheme not in ("http", "https"):
            return match.group()
        path = (
            posixpath.normpath("/" + urljoin(chapter.path, unquote(parts.path))).lstrip("/") if target else chapter.path
        )
        path = path if not path or posixpath.splitext(path)[1] else path.rstrip("/") + "/"
        if not parts.scheme and path in pages:
            inside = pages[path].inside(unquote(fragment)) if fragment else pages[path].anchor
            rest = re.sub(r'\sdata-[\w-]+="[^"]*"', "", match.group("attributes") + match.group("more"))
            return f'<a{rest} href="#{html.escape(inside)}">{text}</a>'
        where = target if parts.scheme else urljoin(address, path) if address else ""
        if not where:
            return f"<span>{text}</span>"
        number = outside.setdefault(where + (f"#{fragment}" if fragment else ""), len(outside) + 1)
        return f'<a href="{html.escape(where)}">{text}</a><sup class="print-link">[{number}]</sup>'

    def code(match: re.Match) -> str:
        long = match.group(1).count("\n") >= LONG_CODE
        return f'<pre class="print-long">{match.group(1)}</pre>' if long else match.group()

    body = _CODE.sub(code, _tags(_LINK.sub(link, chapter.body), chapter))
    if outside:
        items = "".join(f"<li>{html.escape(unquote(where))}</li>" for where in outside)
        body += f'<section class="print-links"><h6>链接</h6><ol>{items}</ol></section>'
    return body


def _tags(body: str, chapter: Chapter) -> str:
    """逐个标签改写：`id` 与指向它的属性、SVG 里的引用、图片的网址。"""

    def reference(match: re.Match) -> str:
        return f"url(#{chapter.inside(match.group(2))})"

    def ids(match: re.Match) -> str:
        value = " ".join(chapter.inside(html.unescape(name)) for name in match.group("value").split())
        return f'{match.group("name")}="{value}"'

    def tag(match: re.Match) -> str:
        attributes = _URL_ID.sub(reference, _IDS.sub(ids, match.group("attributes")))
        name = match.group("name")
        if name == "img":
            attributes = re.sub(
                r'\ssrc="(?!data:)([^"]*)"',
                lambda m: f' src="/{html.escape(urljoin(chapter.path, html.unescape(m.group(1))))}"',
                attributes,
            ).replace(' loading="lazy"', "")
        elif name == "details":
            attributes += " open"
        elif name != "a":
            attributes = re.sub(
                r'(\s(?:xlink:)?href)="#([^"]*)"', lambda m: f'{m.group(1)}="#{chapter.inside(m.group(2))}"', attributes
            )
        return f"<{name}{attributes}>"

    parts = _STYLE.split(body)
    for index in range(0, len(parts), 4):
        parts[index] = _TAG.sub(tag, parts[index])
    for index in range(2, len(parts), 4):
        parts[index] = _URL_ID.sub(reference, parts[index])
    return "".join(parts)
