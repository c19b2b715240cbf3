"""在 Chromium 里打开整站，要求没有出站的请求、没有错误。"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from livedocs import web


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
