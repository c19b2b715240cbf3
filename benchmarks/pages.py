"""每一页有多重、多稳：第一次来的读者要取多少字节、几个文件，版面移动多少，有没有出站的请求。

    python benchmarks/pages.py                   # 构建整站，在 Chromium 里逐页读完
    python benchmarks/pages.py --site site       # 用已经构建好的网站
    python benchmarks/pages.py --files 03-       # 只看路径里有 03- 的页面，并列出每个文件

字节数按 gzip 传输计；测法与测试的相同，见 tests/site/visit.py。
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "site")]

import visit  # noqa: E402
from conftest import FLAGS  # noqa: E402
from site_tools import MOUNT, Pages  # noqa: E402

from livedocs import chromium  # noqa: E402

WIDTHS = (1280, 390)


def main() -> int:
    parser = argparse.ArgumentParser(description="每一页的字节数、请求数与版面移动")
    parser.add_argument("--site", type=Path, help="已经构建好的网站；不写就现在构建")
    parser.add_argument("--files", metavar="词", help="只看路径里有这个词的页面，并列出每个文件")
    options = parser.parse_args()
    browser = chromium.find()
    if browser is None:
        print("没有找到 Chromium：安装它，或用环境变量 CHROMIUM 指明路径", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.site or Path(scratch)
        handler = functools.partial(Pages, directory=str(folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            url = f"http://127.0.0.1:{server.server_port}{MOUNT}"
            if options.site is None:
                build(folder, url)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            measure(folder, url, browser, options.files)
            server.shutdown()
    return 0


def build(folder: Path, url: str) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(ROOT / "mkdocs.yml"), "-d", str(folder)]
    subprocess.run(command, env=os.environ | {"SITE_URL": url}, check=True)


def measure(folder: Path, url: str, browser_path: str, word: str | None) -> None:
    """逐页读完，打印一张表。"""
    from playwright.sync_api import sync_playwright

    chosen = [path for path in visit.paths(folder) if word is None or word in path]
    seen: dict[str, list[visit.Visit]] = {path: [] for path in chosen}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        for width in WIDTHS:
            reader = visit.Reader(browser, url, width)
            for path in chosen:
                seen[path].append(reader.read(path))
            reader.close()
        browser.close()
    print("| 页面 | 全部 KB | HTML KB | 文件 | 出站 | 报错 | " + " | ".join(f"CLS {width}" for width in WIDTHS) + " |")
    print("|---|---:|---:|---:|---:|---:|" + "---:|" * len(WIDTHS))
    for path, visits in seen.items():
        first = visits[0]
        cells = [
            path or "首页",
            f"{visit.weight(folder, first) / 1000:.1f}",
            f"{visit.size(folder / path) / 1000:.1f}",
            str(len(first.requests)),
            str(sum(len(each.foreign) for each in visits)),
            str(sum(len(each.errors) for each in visits)),
            *(f"{each.cls:.3f}" for each in visits),
        ]
        print("| " + " | ".join(cells) + " |")
        if word is not None:
            for file in sorted(first.requests, key=lambda file: -visit.size(folder / file)):
                print(f"    {visit.size(folder / file):>7} {file}")
            for each in visits:
                for value, source in each.shifts:
                    print(f"    移动 {value:.3f}：{source}")


if __name__ == "__main__":
    sys.exit(main())
