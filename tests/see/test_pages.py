"""互动图示在课文里：没有脚本时是静态图，快滚动到时才载入，即时跳转与后退之后照样能用。"""

from __future__ import annotations

from see_tools import PAGES, STARTS, Element
from site_tools import let_pass, until, wait_for_sitemap


def test_without_scripts_every_picture_is_there(open_tab):
    tab = open_tab(java_script_enabled=False)
    for name, path in PAGES.items():
        tab.goto(path)
        assert tab.locator(f"{name} > figure svg").is_visible()
        assert tab.locator(f"{name} > figure figcaption").is_visible()


def test_instant_navigation_and_going_back(open_tab):
    tab = open_tab()
    loaded, far = [], []
    tab.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    tab.goto("start/")
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    said = {}
    for name, path in PAGES.items():
        tab.click(f'.md-nav a[href$="{path}"]')
        tab.wait_for_url(f"**/{path}")
        tab.locator(name).wait_for(state="attached")
        # 离眼前不到两屏才载入；别的页面的元素更不载入。
        if tab.locator(name).evaluate("element => element.getBoundingClientRect().top > 3.5 * innerHeight"):
            far.append(name)
            assert not [file for file in loaded if file.startswith(f"{name}-")]
        element = Element(tab, name)
        assert [file for file in loaded if file.startswith(f"{name}-")]
        assert element.said() == STARTS[name]
        change(element)
        said[name] = element.said()
        assert said[name] != STARTS[name]
        assert element.state()
        unseen = list(PAGES)[list(PAGES).index(name) + 1 :]
        assert not [file for file in loaded if file.startswith(tuple(f"{other}-" for other in unseen))]
    assert far
    for name, path in reversed(PAGES.items()):
        tab.wait_for_url(f"**/{path}?{name}=**")
        assert Element(tab, name).said() == said[name]
        tab.go_back()
    assert tab.evaluate("window.stayed"), "整页重新载入了"


def test_a_change_just_before_leaving_does_not_mark_the_next_page(open_tab):
    """改了图示马上点链接：网址先变成下一页的，图示却还在；状态不能写进那个网址。"""
    tab, waiting = open_tab(), []
    tab.goto(PAGES["rope-rotation"])
    wait_for_sitemap(tab)
    host = Element(tab, "rope-rotation").host
    tab.route(f"**/{PAGES['kv-cache']}", lambda route: waiting.append(route))
    host.evaluate("""(host, path) => {
        const slider = host.shadowRoot.querySelector('input[type=range]');
        slider.value = Number(slider.value) + 1;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
        document.querySelector(`.md-nav a[href$="${path}"]`).click();
    }""", PAGES["kv-cache"])  # fmt: skip
    assert "查询在位置 6" in Element(tab, "rope-rotation").said()
    let_pass(tab, 300)
    assert tab.evaluate("location.pathname").endswith(PAGES["kv-cache"])
    until(tab, lambda: waiting)
    waiting[0].continue_()
    tab.locator("h1", has_text="3.3").wait_for()
    assert tab.evaluate("location.search") == ""


def change(element: Element) -> None:
    """改一下状态。"""
    if element.name == "rope-rotation":
        element.label("查询的位置 m").press("ArrowRight")
    else:
        element.button("下一步").click()
