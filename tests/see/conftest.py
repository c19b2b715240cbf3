"""互动图示的测试用真的网站与真的浏览器。"""

from __future__ import annotations

import re

import pytest
from see_tools import PAGES, Element
from site_tools import Site

#: 试验页的内容安全策略：没有行内脚本，没有 eval，也没有行内样式（插图里的 <style> 因此拿掉）。
POLICY = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:"


@pytest.fixture(scope="session")
def bench(site) -> str:
    """一张只有四个互动图示的网页，由真的网页里的片段拼成：载入快，测试主要用它。返回它的网址。"""
    page = (site.folder / "chapters/03-attention/index.html").read_text(encoding="utf-8")
    head = re.findall(r'<link rel="stylesheet"[^>]*>|<script[^>]*type="module"[^>]*></script>', page)
    head = [tag.replace("../../", "./") for tag in head]
    elements = []
    for name, path in PAGES.items():
        text = (site.folder / path / "index.html").read_text(encoding="utf-8")
        element = re.search(rf"<{name}\b.*?</{name}>", text, re.DOTALL).group()
        elements.append(re.sub(r"<style>.*?</style>| style=\"[^\"]*\"", "", element, flags=re.DOTALL))
    text = f"""<!doctype html><html lang="zh"><head><meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>bench</title><link rel="icon" href="data:,">
        <meta name="viewport" content="width=device-width,initial-scale=1">{"".join(head)}</head>
        <body data-md-color-scheme="default"><main class="md-grid"><article class="md-content__inner md-typeset">
        {"<p></p>".join(elements)}</article></main></body></html>"""
    (site.folder.parent / "extra" / "bench.html").write_text(text, encoding="utf-8")
    return f"{site.url}bench.html"


class Watched:
    """标签页，和其中出现的错误：去了别的主机的请求、控制台里的错误。"""

    def __init__(self, browser, site: Site, **options):
        defaults = {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light", "base_url": site.url}
        self.context = browser.new_context(**defaults | options)
        self.faults: list[str] = []
        self.tab = self.context.new_page()
        self.context.on("request", lambda request: self.local(request.url, site))
        self.tab.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)
        self.tab.on("pageerror", lambda error: self.faults.append(str(error)))

    def local(self, url: str, site: Site) -> None:
        if not url.startswith((site.url, "data:", "blob:")):
            self.faults.append(f"请求了 {url}")


@pytest.fixture
def open_tab(chromium, site, bench):
    """`open_tab(…)` 打开一个新的标签页，参数与 Playwright 的 new_context 相同；结束时要求没有错误。"""
    opened: list[Watched] = []

    def open_(**options):
        opened.append(Watched(chromium, site, **options))
        return opened[-1].tab

    yield open_
    for each in opened:
        each.context.close()
    assert not [fault for each in opened for fault in each.faults]


@pytest.fixture(scope="session")
def shared_tabs(chromium, site):
    """同样选项的测试共用一个标签页：每次重新载入，省下开标签页的时间。"""
    tabs: dict[str, Watched] = {}

    def shared(**options) -> Watched:
        key = repr(sorted(options.items()))
        if key not in tabs:
            tabs[key] = Watched(chromium, site, **options)
        return tabs[key]

    yield shared
    for each in tabs.values():
        each.context.close()


@pytest.fixture
def show(shared_tabs, bench):
    """`show(名字, 状态, …)` 在试验页上打开一个互动图示；其余参数与 new_context 相同；结束时要求没有错误。"""
    used: list[Watched] = []

    def show_(name: str, state: str | None = None, **options) -> Element:
        watched = shared_tabs(**options)
        used.append(watched)
        watched.tab.emulate_media(reduced_motion="no-preference")
        watched.tab.goto(bench + (f"?{name}={state}" if state is not None else ""))
        return Element(watched.tab, name)

    yield show_
    faults = [fault for each in used for fault in each.faults]
    for each in used:
        each.faults.clear()
    assert not faults
