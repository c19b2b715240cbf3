"""三种搜索，同一份标准答案（tests/site/golden-queries.toml）：第一条就是的、前三条里有的，要下载多少字节。

    python benchmarks/search.py                          # 本站、主题自带的、Pagefind
    python benchmarks/search.py --engines ours --misses  # 只看本站，列出没有排第一的

主题自带的要 jieba（见 requirements.txt），Pagefind 用 npm 装进临时文件夹。
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "site")]

from conftest import FLAGS  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402
from search_tools import Query, golden, location, rank, ranking, type_query  # noqa: E402
from site_tools import MOUNT, Pages  # noqa: E402

from livedocs import chromium, web  # noqa: E402

PAGEFIND = "pagefind@1.6.0"

#: 用主题自带的索引与 worker 构建：切词用 jieba，分隔符照主题文档的中文设置，再加上标识符里的标点。
THEIRS = r"""
import sys
from livedocs import search
from material.plugins.search.plugin import SearchIndex

class Theirs(SearchIndex):
    def write(self, site):
        pass

separator = "[\\s\\u200b\\-_,:!=\\[\\]()<>{}\"'`/.|&;*+，。、；：？！（）【】《》“”‘’「」…—]+"
fields = {"title": {"boost": 1e3}, "text": {"boost": 1.0}, "tags": {"boost": 1e6}}
search.Index = lambda: Theirs(lang=["zh"], separator=separator, pipeline=[], fields=fields)
search.is_worker = lambda uri: False
search.use_worker = lambda html, ours: html
from mkdocs.__main__ import cli
cli()
"""

#: 对 Pagefind 最有利的次序：每页之内，得分最高的节在前，最多三节。
ASK_PAGEFIND = """async ([base, text]) => {
    const pagefind = window.pagefind ??= await import(`${base}pagefind/pagefind.js`);
    const found = await pagefind.search(text);
    const pages = await Promise.all(found.results.slice(0, 8).map(result => result.data()));
    const weight = part => part.weighted_locations.reduce((sum, place) => sum + place.balanced_score, 0);
    return pages.flatMap(page => page.sub_results.sort((a, b) => weight(b) - weight(a)).slice(0, 3)
        .map(part => new URL(part.url, location.href).href)); }"""


def main() -> int:
    parser = argparse.ArgumentParser(description="比较三种搜索")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--misses", action="store_true", help="列出没有排第一的查询")
    options = parser.parse_args()
    browser = chromium.find()
    if browser is None:
        print("没有找到 Chromium：安装它，或用环境变量 CHROMIUM 指明路径", file=sys.stderr)
        return 1
    print(
        "| 搜索 | 第一条就是 | 前三条里有 | 其中没有看过的 | 打开网页时 | 第一次搜索时 |\n|---|---:|---:|---:|---:|---:|"
    )
    for name in options.engines:
        with tempfile.TemporaryDirectory() as scratch, served(Path(scratch) / "site") as base:
            try:
                ask = ENGINES[name](Path(scratch), base)
            except (RuntimeError, web.WebError, subprocess.CalledProcessError) as error:
                print(f"{name} 没有测成：{error}", file=sys.stderr)
                return 1
            report(name, base, browser, ask, options.misses)
    return 0


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """在 127.0.0.1 上提供 `folder`；给出网址。"""
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}{MOUNT}"
        server.shutdown()


def build(folder: Path, url: str, *start: str) -> None:
    command = [
        sys.executable,
        *(start or ("-m", "mkdocs")),
        "build",
        "-q",
        "-f",
        str(ROOT / "mkdocs.yml"),
        "-d",
        str(folder),
    ]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"SITE_URL": url}, check=True)


def ours(scratch: Path, base: str) -> Callable:
    build(scratch / "site", base)
    return typed(base)


def theirs(scratch: Path, base: str) -> Callable:
    if importlib.util.find_spec("jieba") is None:
        raise RuntimeError("主题的中文搜索要 jieba：pip install -r benchmarks/requirements.txt")
    build(scratch / "site", base, "-c", THEIRS)
    return typed(base)


def typed(base: str) -> Callable:
    """往主题的搜索框里键入。"""

    def ask(page, query: Query) -> list[str]:
        type_query(page, query.text)
        return ranking(page, base)

    return ask


def pagefind(scratch: Path, base: str) -> Callable:
    build(scratch / "site", base)
    npm = [web.node(), str(web._npm()), "install", "--ignore-scripts", "--no-audit", "--no-fund", PAGEFIND]
    subprocess.run(npm, cwd=scratch, check=True, stdout=subprocess.DEVNULL)
    command = [web.node(), "node_modules/pagefind/lib/runner/bin.cjs", "--site", "site", "--root-selector", "article"]
    subprocess.run(command, cwd=scratch, check=True, stdout=subprocess.DEVNULL)

    def ask(page, query: Query) -> list[str]:
        return [location(link, base) for link in page.evaluate(ASK_PAGEFIND, [base, query.text])]

    return ask


ENGINES = {"ours": ours, "theme": theirs, "pagefind": pagefind}


def report(name: str, base: str, browser_path: str, ask: Callable, misses: bool) -> None:
    """测一种，打印一行。"""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_context(bypass_csp=True, viewport={"width": 1280, "height": 900}).new_page()
        fetched: list = []
        marks = ("/pagefind/",) if name == "pagefind" else ("/search/", "/workers/search.", "/web/search-")
        page.on("response", lambda r: fetched.append(r) if any(mark in r.url for mark in marks) else None)
        page.goto(base)
        page.wait_for_load_state("networkidle")
        before = weight(fetched)
        places = {}
        for query in golden():
            places[query] = rank(ask(page, query), query)
            if len(places) == 1:
                first = weight(fetched)
        browser.close()
    held = [place for query, place in places.items() if query.held_out]
    cells = [
        name,
        f"{hits(places.values(), 1)}/{len(places)}",
        f"{hits(places.values(), 3)}/{len(places)}",
        f"{hits(held, 1)}、{hits(held, 3)} / {len(held)}",
        f"{before / 1000:.0f} KB",
        f"{first / 1000:.0f} KB",
    ]
    print("| " + " | ".join(cells) + " |", flush=True)
    for query, place in places.items() if misses else ():
        if place != 1:
            print(f"    {query.kind} “{query.text}”排第 {place or '—'}，想看到 {query.wanted[0]}")


def weight(responses: list) -> int:
    """传输的字节；文字按 gzip 算，已经压缩的照原样。"""
    bodies = [(response.url, response.body()) for response in responses]
    return sum(len(gzip.compress(body)) if url.endswith((".js", ".json")) else len(body) for url, body in bodies)


def hits(places, most: int) -> int:
    return sum(1 for place in places if place is not None and place <= most)


if __name__ == "__main__":
    sys.exit(main())
