"""读者体验的测试共用的小工具。"""

from __future__ import annotations

from playwright.sync_api import expect
from site_tools import ROOT, Site

from livedocs import web

LESSON = "chapters/03-1-attention-pipeline/"
LAB = "labs/01-single-head-attention/"
NOTEBOOK = "labs/02-causal-attention/"
WIDGETS = "attention-explorer, head-shapes, kv-cache, rope-rotation"


def axe_source() -> str:
    """axe-core 的程序。"""
    return (web.ensure_packages() / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def addresses(site: Site) -> list[str]:
    """全部网页的地址，404 也在内。"""
    return [page.relative_to(site.folder).as_posix().removesuffix("index.html") for page in site.pages()]


def set_scheme(tab, scheme: str) -> None:
    """换成浅色（default）或深色（slate）。"""
    tab.evaluate("scheme => document.body.setAttribute('data-md-color-scheme', scheme)", scheme)


def mount_widgets(tab) -> None:
    """等这一页的部件全都换好：图示要滚动到附近才载入。"""
    for widget in tab.locator(WIDGETS).all():
        widget.scroll_into_view_if_needed()
    expect(tab.locator("[data-loading]")).to_have_count(0)


def source(path: str) -> str:
    """仓库里一个文件的文字。"""
    return (ROOT / path).read_text(encoding="utf-8")
