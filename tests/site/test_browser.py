"""在真的 Chromium 里用网站：搜得到、跳得动、换得了明暗，不出站、没有报错。逐页走一遍的在 test_weight.py。

浏览器由 tests/conftest.py 提供；没有时跳过并说明。
"""

from __future__ import annotations

import re

import pytest
from search_tools import type_query
from site_tools import ROOT, let_pass, until, wait_for_sitemap

from livedocs.publish import published

LAB = "labs/01-single-head-attention/"
NOTEBOOK = "labs/02-causal-attention/"


@pytest.fixture
def tab(chromium, site):
    """一个标签页；结束时要求：没有一个请求去了别的主机，控制台没有错误。"""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 900},
        base_url=site.url,
        color_scheme="light",
        bypass_csp=True,  # wait_for_function 要用 eval；策略本身由 tests/play 检查
        permissions=["clipboard-read", "clipboard-write"],
    )
    page = context.new_page()
    foreign, errors = [], []
    page.expected_errors = 0

    def check(request):
        if not request.url.startswith((site.url, "data:", "blob:")):
            foreign.append(request.url)

    context.on("request", check)
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not foreign
    assert len(errors) <= page.expected_errors, errors


def wait_for_page(tab, path: str, title: str) -> None:
    """等到了 `path` 这一页：网址先变，正文后到；主题把读到的一节、图示把状态写进网址。"""
    tab.wait_for_url(re.compile(rf"/repo/{path}([?#].*)?$"))
    tab.locator("h1", has_text=title).wait_for()


def test_formulas_survive_instant_navigation(tab):
    tab.goto("start/")
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    tab.click(f'.md-nav a[href$="{LAB}"]')
    wait_for_page(tab, LAB, "实验 01")
    assert_typeset(tab)
    tab.click(f'.md-nav a[href$="{NOTEBOOK}"]')
    wait_for_page(tab, NOTEBOOK, "实验 02")
    assert_typeset(tab)
    tab.go_back()
    wait_for_page(tab, LAB, "实验 01")
    assert_typeset(tab)
    assert tab.evaluate("window.stayed"), "整页重新载入了：即时跳转没有起作用"


def assert_typeset(tab) -> None:
    formula = tab.locator(".katex").first
    formula.wait_for()
    tab.evaluate("document.fonts.ready")
    assert "KaTeX_Main" in formula.evaluate("element => getComputedStyle(element).fontFamily")
    hidden = tab.locator(".katex-mathml").first.evaluate("element => getComputedStyle(element).position")
    assert hidden == "absolute"
    assert tab.evaluate("[...document.fonts].some(font => font.family.includes('KaTeX') && font.status === 'loaded')")


def test_tabs_blocks_and_diagrams_survive_printing_and_going_back(tab):
    tab.goto("start/")
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    assert_tabs_work(tab)
    tab.click(f'.md-nav a[href$="{LAB}"]')
    wait_for_page(tab, LAB, "实验 01")
    tab.locator("py-block[data-ready]").first.wait_for()
    tab.click('.md-nav a[href$="chapters/03-attention/"]')
    wait_for_page(tab, "chapters/03-attention/", "第 3 章")
    for media in ("print", "screen"):
        tab.emulate_media(media=media)
        tab.evaluate(f"window.dispatchEvent(new Event('{'before' if media == 'print' else 'after'}print'))")
        assert_typeset(tab)
    diagram = tab.locator("rope-rotation")
    diagram.scroll_into_view_if_needed()
    slider = diagram.get_by_label("查询的位置 m")
    before = slider.input_value()
    slider.press("ArrowRight")
    assert slider.input_value() != before
    tab.go_back()
    wait_for_page(tab, LAB, "实验 01")
    block = tab.locator("py-block[data-ready]").first
    block.get_by_role("button", name="编辑").click()
    block.locator(".cm-content").wait_for()
    tab.go_back()
    wait_for_page(tab, "start/", "怎样使用本站")
    assert_tabs_work(tab)
    assert tab.evaluate("window.stayed"), "整页重新载入了：即时跳转没有起作用"


#: 滚动，接着就点：主题 0.25 秒以后才写网址，机器再慢也是先点。
SCROLL_AND_CLICK = """async link => {
    document.getElementById('download').scrollIntoView();
    scrollBy(0, 100);
    await new Promise(requestAnimationFrame);
    link.click();
}"""


@pytest.mark.parametrize("while_waiting", [0, 60])
def test_a_link_is_reached_although_the_reader_was_scrolling(tab, while_waiting):
    """刚滚动过就点，等下一页时又滚动：到的是下一页的页首，网址里没有旧页的一节。"""
    waiting = []
    tab.route(f"**/{LAB}", lambda route: waiting.append(route))
    tab.goto("start/")
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    link = tab.locator(f'.md-nav a[href$="{LAB}"]').first
    link.scroll_into_view_if_needed()
    link.evaluate(SCROLL_AND_CLICK)
    until(tab, lambda: tab.evaluate("location.hash"))  # 主题写了旧页的一节；没有写，这个测试试不出什么
    wanted = tab.evaluate("scrollY") + while_waiting
    tab.mouse.wheel(0, while_waiting)
    until(tab, lambda: tab.evaluate("scrollY") == wanted)
    let_pass(tab, 500)  # 主题记下滚动的位置
    until(tab, lambda: waiting)
    waiting[0].continue_()
    tab.locator("h1", has_text="单头").wait_for()
    let_pass(tab, 500)
    assert tab.evaluate("[location.hash, scrollY, window.stayed]") == ["", 0, True]
    assert tab.url.endswith(f"/{LAB}")


def assert_tabs_work(tab) -> None:
    tabs = tab.locator(".tabbed-set").first
    for number in (1, 0):
        tabs.locator(".tabbed-labels label").nth(number).click()
        shown = tabs.locator(".tabbed-block")
        shown.nth(number).wait_for()
        assert not shown.nth(1 - number).is_visible()


def test_formulas_are_there_after_following_a_search_result(tab):
    tab.goto("start/")
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    type_query(tab, "单头因果注意力")
    tab.click(".md-search-result__item a >> nth=0")
    tab.wait_for_url("**/?h=*")
    assert_typeset(tab)
    assert tab.evaluate("window.stayed")


def test_the_dark_scheme_reaches_text_code_and_diagrams(tab):
    tab.goto(LAB)
    script = """() => ['body', '.highlight code', 'svg.fig text'].map(
        selector => { const style = getComputedStyle(document.querySelector(selector));
                      return selector.includes('svg') ? style.fill : style.backgroundColor })"""
    light = tab.evaluate(script)
    toggle = "label.md-header__button:not([hidden])[for^=__palette]"
    tab.click(toggle)  # 跟随系统 → 浅色
    tab.click(toggle)  # 浅色 → 深色
    tab.wait_for_selector('body[data-md-color-scheme="slate"]')
    tab.evaluate("Promise.allSettled(document.getAnimations().map(one => one.finished))")  # 颜色的过渡结束
    dark = tab.evaluate(script)
    assert all(one != other for one, other in zip(light, dark, strict=True)), (light, dark)
    tab.click(f'.md-nav a[href$="{NOTEBOOK}"]')
    tab.wait_for_url(f"**/{NOTEBOOK}")
    assert tab.get_attribute("body", "data-md-color-scheme") == "slate"


def test_a_dark_system_gets_the_dark_scheme(chromium, site):
    context = chromium.new_context(base_url=site.url, color_scheme="dark")
    page = context.new_page()
    page.goto("")
    assert page.get_attribute("body", "data-md-color-scheme") == "slate"
    context.close()


def test_an_unknown_address_shows_our_404_page(tab):
    tab.expected_errors = 1  # 浏览器自己把 404 记作错误
    answer = tab.goto("no/such/page/")
    assert answer.status == 404
    assert tab.inner_text("h1") == "没有这一页"
    assert tab.evaluate("getComputedStyle(document.querySelector('.md-header')).position") == "sticky"
    type_query(tab, "注意力")
    assert tab.locator(".md-search-result__item").count() > 3
    tab.keyboard.press("Escape")
    tab.click("article a")
    tab.wait_for_url("**/repo/")


def test_downloads_are_the_published_files(tab):
    tab.goto("examples/single_head_attention/")
    with tab.expect_download() as download:
        tab.click('article a[href$="code/single_head_attention.py"] >> nth=0')
    saved = download.value
    assert saved.suggested_filename == "single_head_attention.py"
    assert saved.path().read_bytes() == published(ROOT / "code/single_head_attention.py").encode("utf-8")


def test_the_notebook_downloads(tab):
    tab.goto(NOTEBOOK)
    with tab.expect_download() as download:
        tab.click(".notebook-download a")
    assert download.value.path().read_bytes() == (ROOT / "docs/labs/02-causal-attention.ipynb").read_bytes()


def test_copying_code_copies_the_code_and_nothing_else(tab):
    tab.goto("examples/single_head_attention/")
    tab.locator("py-block").get_by_role("button", name="复制").click()
    tab.get_by_role("status").filter(has_text="已复制").wait_for()
    copied = tab.evaluate("navigator.clipboard.readText()")
    wanted = published(ROOT / "code/single_head_attention.py")
    assert copied.replace("\r\n", "\n").strip("\n") == wanted.strip("\n")
    assert "\u200b" not in copied


def test_a_bound_number_shows_its_expression(tab):
    tab.goto(LAB)
    number = tab.locator("data.bound").first
    expression = number.get_attribute("data-expr")
    number.scroll_into_view_if_needed()
    number.hover()
    tip = tab.locator(".md-tooltip2__inner", has_text="本页的程序算出")
    tip.wait_for()
    assert expression in tip.inner_text()
    other = tab.locator("data.bound").nth(1)
    other.scroll_into_view_if_needed()
    other.focus()
    tip = tab.locator(".md-tooltip2__inner", has_text=other.get_attribute("data-expr"))
    tip.first.wait_for()


def test_evidence_and_answers_unfold(tab):
    tab.goto(LAB)
    for selector in ("details.evidence", "details.success"):
        fold = tab.locator(selector).first
        assert fold.get_attribute("open") is None
        fold.locator("> summary").click()
        assert fold.locator("> :not(summary)").first.is_visible()


def test_printing_leaves_out_the_frame(tab):
    tab.goto(LAB)
    tab.emulate_media(media="print")
    for selector in (".md-header", ".md-sidebar", ".md-footer"):
        assert not tab.locator(selector).first.is_visible(), selector
    assert tab.locator(".katex-html").first.is_visible()
