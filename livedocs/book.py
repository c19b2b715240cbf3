"""整本书的 PDF：`python -m livedocs.book [网站的文件夹] [输出的 PDF]`，默认 `site/` 与 `site/downloads/book.pdf`。

先把构建好的网站接成一个网页（book_html.py），由已经装好的 Chromium 印成 PDF，再由 pypdf 写书签。
目录链接到每一节，Chromium 因此记下每一节的位置，页码就从这里来；知道了页码，只把封面与目录再印一次，换进去。
"""

from __future__ import annotations

import contextlib
import functools
import html
import http.server
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from livedocs import chromium, history
from livedocs.book_html import BookError, Chapter, Heading, chapters, compose, wrap
from livedocs.proof import pinned_versions

ROOT = Path(__file__).resolve().parent.parent
FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync".split()
TIMEOUT = 180_000.0  # 毫秒
_PAGE, _BOOK_CSS = "/book.html", "/book.css"
_CSS = Path(__file__).resolve().parent / "templates" / "book" / "book.css"


@dataclass(frozen=True)
class Place:
    """书里的一个标题印在哪里：第几页（从 0 数起）、离页底的距离（点）。"""

    heading: Heading
    page: int
    top: float


def find_chromium() -> str:
    """Chromium 的路径；环境变量 `CHROMIUM` 优先。

    Raises:
        BookError: 找不到。
    """
    path = chromium.find()
    if path is None:
        raise BookError(
            "找不到 Chromium，印不了 PDF。请安装它（Debian 与 Ubuntu：apt-get install chromium），"
            "或用环境变量 CHROMIUM 指明 Chrome、Edge 或 Chromium 的路径"
        )
    return path


def make(site: Path, target: Path, root: Path = ROOT) -> list[Place]:
    """把 `site` 印成 `target`，返回全部标题的位置。

    Raises:
        BookError: 网站没有构建，没有 Chromium，或印出的书与网站对不上。
    """
    book = chapters(root, site)
    browser = find_chromium()
    home = _Home.read(site, root)
    with tempfile.TemporaryDirectory(prefix="livedocs-book-") as folder:
        whole, front = Path(folder) / "whole.pdf", Path(folder) / "front.pdf"
        with _served(site) as (address, publish), _printer(browser) as print_page:
            publish(compose(_front(book, home, {}), book, home.styles, home.address))
            print_page(address, whole)
            places = _places(whole, book)
            pages = {place.heading.anchor: place.page + 1 for place in places}
            publish(wrap(_front(book, home, pages), home.styles))
            print_page(address, front)
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(whole, front, target, home.name, book, places)
    return places


# ---------------------------------------------------------------- 网页


@dataclass(frozen=True)
class _Home:
    """从首页读出的：站名、说明、正式地址（没有时是空的）、样式表，和封面上的几句话。"""

    name: str
    about: str
    address: str
    styles: list[str]
    facts: list[str]

    @classmethod
    def read(cls, site: Path, root: Path) -> _Home:
        text = (site / "index.html").read_text(encoding="utf-8")
        address = _one(r'<link rel="canonical" href="([^"]+)"', text)
        pins = pinned_versions(root)
        versions = "、".join(
            f"{shown} {pins[key]}" for key, shown in (("python", "Python"), ("torch", "PyTorch")) if key in pins
        )
        change = min(history.last_changes(root).values(), key=lambda change: change.age, default=None)
        facts = [
            versions and f"核对时的版本：{versions}",
            change and f"内容截至 {change.date}（{change.short}）",
            address and f"网站：{address}",
            "代码以 MIT 许可发布，文字以 CC BY-SA 4.0 许可发布",
        ]
        styles = [
            "/" + style.removeprefix("./") for style in re.findall(r'<link rel="stylesheet" href="([^"]+)"', text)
        ]
        about = _one(r'<meta name="description" content="([^"]*)"', text)
        return cls(_one(r"<title>(.*?)</title>", text), about, address, [*styles, _BOOK_CSS], list(filter(None, facts)))


def _one(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.DOTALL)
    return html.unescape(found.group(1)).strip() if found else ""


def _front(book: list[Chapter], home: _Home, pages: dict[str, int]) -> str:
    """封面与目录；`pages` 是各个锚点的页码，还不知道时用同样宽的数占位。"""
    lines = "".join(f"<p>{html.escape(fact)}</p>" for fact in home.facts)
    cover = (
        f'<section class="book-cover"><p class="book-cover__title">{html.escape(home.name)}</p>'
        f'<p class="book-cover__about">{html.escape(home.about)}</p><div class="book-cover__facts">{lines}</div></section>'
    )
    rows = []
    for part, members in groupby(book, key=lambda chapter: chapter.part):
        rows += [f'<p class="book-contents__part">{html.escape(part)}</p>'] if part else []
        rows += [_row(heading, pages) for chapter in members for heading in chapter.headings]
    return f'{cover}<section class="book-contents"><p class="book-contents__title">目录</p>{"".join(rows)}</section>'


def _row(heading: Heading, pages: dict[str, int]) -> str:
    return (
        f'<p class="book-contents__row book-contents__row--{heading.level}"><a href="#{html.escape(heading.anchor)}">'
        f"<span>{html.escape(heading.title)}</span><span>{pages.get(heading.anchor, '000')}</span></a></p>"
    )


# ---------------------------------------------------------------- 印


@contextlib.contextmanager
def _served(site: Path) -> Iterator[tuple[str, Callable[[str], None]]]:
    """在本机的一个空闲端口上提供网站与书；返回书的网址，和换上一份书的函数。"""
    book = {_PAGE: b"", _BOOK_CSS: _CSS.read_bytes()}

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            data = book.get(self.path)
            if data is None:
                return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/css" if self.path.endswith(".css") else "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            """不打印访问记录。"""

    def publish(text: str) -> None:
        book[_PAGE] = text.encode("utf-8")

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{_PAGE}", publish
        server.shutdown()


@contextlib.contextmanager
def _printer(path: str) -> Iterator[Callable[[str, Path], None]]:
    """一个打开的 Chromium；返回把网址印成文件的函数。"""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise BookError("没有安装 playwright；请先运行 pip install -r requirements.txt") from error
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:
            raise BookError(f"启动不了 {path}：{error.message.splitlines()[0]}") from error

        def print_page(address: str, target: Path) -> None:
            page = browser.new_page()
            page.set_default_timeout(TIMEOUT)
            page.goto(address)
            page.evaluate("Promise.all([document.fonts.ready, ...[...document.images].map((image) => image.decode())])")
            page.pdf(path=str(target), prefer_css_page_size=True, print_background=True)
            page.close()

        yield print_page
        browser.close()


# ---------------------------------------------------------------- 书签


def _places(path: Path, book: list[Chapter]) -> list[Place]:
    """每个标题印在哪里，按书里的次序。"""
    from pypdf import PdfReader

    reader = PdfReader(path)
    known = {name.removeprefix("/"): place for name, place in reader.named_destinations.items()}
    places = []
    for heading in (heading for chapter in book for heading in chapter.headings):
        found = known.get(heading.anchor)
        if found is None:
            raise BookError(f"印出的书里找不到“{heading.title}”（#{heading.anchor}）")
        places.append(Place(heading, reader.get_destination_page_number(found), float(found.top or 0)))
    return places


def _write(whole: Path, front: Path, target: Path, name: str, book: list[Chapter], places: list[Place]) -> None:
    """换上有页码的目录；写书签，分三层：部分、页、节；写上书名与语言。"""
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import Fit, NameObject, TextStringObject

    writer = PdfWriter(clone_from=whole)
    numbered = PdfReader(front)
    if len(numbered.pages) != places[0].page:
        raise BookError(f"封面与目录先占 {places[0].page} 页，填上页码以后占 {len(numbered.pages)} 页，页码因此不对")
    for page, fresh in zip(writer.pages, numbered.pages):
        for key in ("/Contents", "/Resources"):
            page[NameObject(key)] = fresh.raw_get(key).clone(writer)
    parts: dict[str, object] = {}
    chapter, remaining = None, iter(book)
    for place in places:
        fit = Fit.xyz(top=place.top)
        if place.heading.level == 1:
            part = next(remaining).part
            if part and part not in parts:
                parts[part] = writer.add_outline_item(title=part, page_number=place.page, fit=fit)
            chapter = writer.add_outline_item(
                title=place.heading.title, page_number=place.page, parent=parts.get(part), fit=fit
            )
        else:
            writer.add_outline_item(title=place.heading.title, page_number=place.page, parent=chapter, fit=fit)
    writer.root_object[NameObject("/Lang")] = TextStringObject("zh-CN")
    writer.root_object[NameObject("/PageMode")] = NameObject("/UseOutlines")
    writer.add_metadata({"/Title": name, "/Producer": "livedocs"})
    writer.pdf_header = "%PDF-1.7"
    writer.write(target)


def main(arguments: list[str] | None = None) -> int:
    """命令行入口。"""
    given = sys.argv[1:] if arguments is None else arguments
    site = Path(given[0]) if given else ROOT / "site"
    target = Path(given[1]) if len(given) > 1 else site / "downloads" / "book.pdf"
    try:
        found = make(site, target)
    except BookError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{target}：{sum(place.heading.level == 1 for place in found)} 个页面，{target.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
