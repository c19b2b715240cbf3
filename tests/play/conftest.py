"""构建整站，带着内容安全策略挂在 /repo/ 下；在 Chromium 里打开它。"""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from play_tools import MOUNT, ROOT, Guarded, Site

from livedocs import csp, web


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Iterator[Site]:
    """构建一次；严格构建由 tests/site 检查。"""
    folder = tmp_path_factory.mktemp("play")
    handler = type("Handler", (Guarded,), {})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=str(folder))) as server:
        url = f"http://127.0.0.1:{server.server_port}{MOUNT}"
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(ROOT / "mkdocs.yml"), "-d", str(folder)],
            env=os.environ | {"SITE_URL": url, "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        headers = (folder / csp.HEADERS).read_text(encoding="utf-8")
        handler.policy = headers.partition("Content-Security-Policy: ")[2].strip()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Site(folder, done.stdout, url)
        server.shutdown()


def watch(context, page, site) -> list[str]:
    """记下去别的主机的请求、控制台的错误（违反内容安全策略也在内）。"""
    faults: list[str] = []

    def request(request):
        if not request.url.startswith((site.url, "data:", "blob:")):
            faults.append(f"请求 {request.url}")

    def console(message):
        if message.type == "error":
            faults.append(f"控制台 {message.text}")

    context.on("request", request)
    page.on("console", console)
    page.on("pageerror", lambda error: faults.append(f"异常 {error}"))
    return faults


@pytest.fixture
def open_tab(chromium, site) -> Iterator:
    """打开新的标签页（各有各的存储与缓存）；结束时要求没有出站的请求，控制台没有错误。

    `open_tab(allowed=[…])`：这个测试故意造成的错误，含有这些词的不算。
    """
    opened = []

    def open_one(allowed=(), width=1280, **options):
        tab, faults = new_tab(chromium, site, width, **options)
        opened.append((tab, faults, allowed))
        return tab

    yield open_one
    for tab, faults, allowed in opened:
        tab.context.close()
        left = [fault for fault in faults if not any(word in fault for word in allowed)]
        assert not left, left


def new_tab(chromium, site, width=1280, **options):
    context = chromium.new_context(
        viewport={"width": width, "height": 900},
        base_url=site.url,
        **{"color_scheme": "light", "permissions": ["clipboard-read", "clipboard-write"]} | options,
    )
    page = context.new_page()
    page.set_default_timeout(20_000)
    return page, watch(context, page, site)


@pytest.fixture(scope="module")
def shared_tab(chromium, site) -> Iterator:
    """一个文件里的测试共用的标签页：解释器只载入一次。"""
    tab, faults = new_tab(chromium, site)
    yield tab
    tab.context.close()
    assert not faults, faults


@pytest.fixture(scope="session")
def node() -> str:
    web.ensure_packages()
    return web.node()
