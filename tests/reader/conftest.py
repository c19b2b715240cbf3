"""读者的浏览器：标签页不许出站、不许报错。"""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture
def open_tab(chromium, site) -> Iterator:
    """`open_tab(…)` 打开新的标签页，参数与 Playwright 的 new_context 相同；结束时要求没有出站的请求、没有错误。"""
    opened = []

    def open_one(width: int = 1280, height: int = 900, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            base_url=site.url,
            **{"color_scheme": "light", "reduced_motion": "reduce"} | options,
        )
        faults: list[str] = []
        opened.append((context, faults))
        tab = context.new_page()
        context.on(
            "request",
            lambda request: None
            if request.url.startswith((site.url, "data:", "blob:"))
            else faults.append(f"请求 {request.url}"),
        )
        tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        return tab

    yield open_one
    for context, faults in opened:
        context.close()
        assert not faults, faults
