"""只用键盘：走得到每一处，次序与看到的一致，停在哪里看得见，不会困住；说明里写的每个键都真的有用。"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from reader_tools import LAB, LESSON, NOTEBOOK, mount_widgets, source
from site_tools import let_pass, stopped_clock, until, wait_for_sitemap

#: 键盘现在停在哪里；影子树里的也看得见。没有停在任何地方时是空。
STOP = """() => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    if (!one || one === document.body || one === document.documentElement) return null;
    window.stops ??= new Map();
    if (!window.stops.has(one)) window.stops.set(one, window.stops.size);
    // 选明暗、选标签页的单选钮本身没有大小，看得见的是图标与标签；外框也画在那上面。
    const tab = one.matches('.tabbed-set > input');
    const shown = one.matches('.md-option') ? one.nextElementSibling : tab ? one.labels[0] : one;
    const style = getComputedStyle(shown), box = shown.getBoundingClientRect();
    const ring = [style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0, style.boxShadow !== 'none'];
    let at = one;
    while (at && !at.closest('header, .md-sidebar, article, footer')) at = at.getRootNode().host;
    const region = at?.closest('header, .md-sidebar--primary, .md-sidebar--secondary, article, footer');
    return {
        id: window.stops.get(one),
        what: `${one.localName}.${one.className} ${one.id} ${one.type ?? ''} “${(one.innerText || one.getAttribute('aria-label') || '').slice(0, 20)}”`,
        seen: box.width > 0 && box.height > 0 && shown.checkVisibility({ visibilityProperty: true })
            && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
        ring: ring.some(Boolean),
        region: region ? region.localName + (region.className.match(/--(primary|secondary)/)?.[0] ?? '') : '',
        top: box.top + scrollY,
    };
}"""
#: 应当走得到的：看得见的链接、按钮、输入框，和放不下而在框里滚动的。
REACHABLE = """() => {
    window.stops ??= new Map();
    const wanted = [];
    const walk = root => {
        for (const one of root.querySelectorAll('*')) {
            if (one.shadowRoot) walk(one.shadowRoot);
            const focusable = one.matches('a[href], button, input, select, textarea, summary, [tabindex="0"]');
            const scrolls = /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1;
            if (!(focusable || scrolls) || one.disabled || one.tabIndex < 0 && focusable || one.matches('[type=radio]')) continue;
            const box = one.getBoundingClientRect();
            if (box.width && box.height && one.checkVisibility({ visibilityProperty: true })) wanted.push(one);
        }
    };
    walk(document);
    const reached = one => window.stops.has(one) || [...window.stops.keys()].some(stop => one.contains(stop));
    return wanted.filter(one => !reached(one)).map(one => `${one.localName}.${one.className} ${one.innerText?.slice(0, 20)}`);
}"""
REGIONS = ["header", "div--primary", "div--secondary", "article", "footer"]

#: 说明里的写法 → Playwright 的键名。
REAL = {"Esc": "Escape", "Ctrl+Enter": "Control+Enter", "↑": "ArrowUp", "↓": "ArrowDown"}


def walk(tab, limit: int = 700) -> list[dict]:
    """从页首一直按 Tab，直到离开页面；返回每一站。"""
    stops = []
    for _ in range(limit):
        tab.keyboard.press("Tab")
        stop = tab.evaluate(STOP)
        if stop is None or (stops and stop["id"] == 0):
            return stops
        stops.append(stop)
    raise AssertionError(f"按了 {limit} 次还没有走完，最后停在 {stops[-3:]}")


@pytest.mark.parametrize("path, width", [(LESSON, 390), (NOTEBOOK, 1280), (LAB, 1280)])
def test_tab_reaches_everything_in_order(open_tab, path, width):
    tab = open_tab(width=width)
    tab.goto(path)
    if path != NOTEBOOK:
        tab.locator("py-block[data-ready]").first.wait_for(state="attached")
    mount_widgets(tab)  # 按得比读者快，图示还没有换好就走过去了
    tab.evaluate("scrollTo(0, 0)")
    tab.wait_for_load_state("networkidle")
    stops = walk(tab)
    assert [stop["what"] for stop in stops if not stop["seen"]] == [], "停在了看不见的地方"
    assert [stop["what"] for stop in stops if not stop["ring"]] == [], "停在那里时没有外框"
    assert len(stops) == len({stop["id"] for stop in stops}), "同一处停了两次"
    regions = [stop["region"] for stop in stops if stop["region"] in REGIONS]
    assert regions == sorted(regions, key=REGIONS.index), "目录、正文、页脚的次序乱了"
    tops = [(stop["top"], stop["what"]) for stop in stops if stop["region"] == "article"]
    # 同一行里的几站高低差一点：允许一行的出入。
    back = [f"{after} 在 {before} 之后" for before, after in zip(tops, tops[1:]) if after[0] < before[0] - 60]
    assert not back, back
    assert tab.evaluate(REACHABLE) == [], "键盘走不到"


def wait_for_new_text(tab, act) -> None:
    """做 `act`，等正文换成新的：第一次的页内跳转，主题会重新取来正文换上，焦点要再放一次。"""
    wait_for_sitemap(tab)
    tab.evaluate("document.querySelector('article').dataset.old = ''")
    act()
    tab.locator("article:not([data-old])").wait_for()


def test_the_skip_link_leads_to_the_text(open_tab):
    tab = open_tab()
    tab.goto(LESSON)
    tab.keyboard.press("Tab")
    assert tab.locator(".md-skip").inner_text().strip() == "跳到正文"
    wait_for_new_text(tab, lambda: tab.keyboard.press("Enter"))
    tab.locator("h1:focus").wait_for()
    tab.keyboard.press("Tab")
    assert tab.evaluate("Boolean(document.activeElement.closest('article'))")


def test_a_link_within_the_page_takes_the_keyboard_along(open_tab):
    """按了目录里的一节，接下来的 Tab 从那一节开始，而不是留在目录里。"""
    tab = open_tab()
    tab.goto(LESSON)
    link = tab.locator(".md-sidebar--secondary a[href$='#step-mask']")
    wait_for_new_text(tab, lambda: link.press("Enter"))
    tab.locator("#step-mask:focus").wait_for()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('h2')?.id") == "step-mask"
    assert tab.url.endswith("#step-mask")


def test_the_place_is_kept_when_the_sitemap_is_late(open_tab):
    """网站地图到得晚：浏览器先跳了一次，主题再补一次，换上新的正文；键盘仍然在那一节。"""
    tab, waiting = open_tab(), []
    tab.route("**/sitemap.xml", lambda route: waiting.append(route))
    tab.goto(LESSON)
    tab.evaluate("document.querySelector('article').dataset.old = ''")
    tab.locator(".md-sidebar--secondary a[href$='#step-mask']").press("Enter")
    tab.locator("#step-mask:focus").wait_for()
    until(tab, lambda: waiting)
    waiting[0].continue_()
    tab.locator("article:not([data-old])").wait_for()
    tab.locator("#step-mask:focus").wait_for()


def test_the_help_opens_and_closes_and_keeps_the_page(open_tab):
    tab = open_tab()
    tab.goto(LESSON)
    title = tab.locator("h1").inner_text()
    link = tab.locator(".keys-link")
    link.focus()
    tab.keyboard.press("Enter")
    tab.locator(".keys-help").wait_for()
    for key in ("n", "p", "/", "?"):  # 表打开时，这些键不换页、不搜索
        tab.keyboard.press(key)
    assert tab.locator("h1").inner_text() == title and tab.locator(".keys-help").count() == 1
    for _ in range(6):  # 键盘只在表里走
        tab.keyboard.press("Tab")
        assert tab.evaluate("!document.activeElement.closest('main, header, footer')")
    tab.keyboard.press("Escape")
    tab.locator(".keys-help").wait_for(state="detached")
    assert link.evaluate("link => link === document.activeElement"), "关闭之后回到原处"
    tab.keyboard.press("?")
    tab.locator(".keys-help button").click()
    tab.locator(".keys-help").wait_for(state="detached")


def test_a_question_mark_in_the_search_box_is_a_question_mark(open_tab):
    tab = open_tab()
    tab.goto(LESSON)
    tab.locator(".md-search__input").click()
    tab.keyboard.type("?")
    assert tab.locator(".md-search__input").input_value() == "?"
    assert tab.locator(".keys-help").count() == 0


def test_every_key_in_the_help_works(open_tab):
    """说明里的键，一个一个按；`done` 是按过的，最后与说明逐个对照。"""
    tab, done = open_tab(), set()
    search = tab.locator(".md-search__input")

    def press(group: str, *keys: str) -> None:
        for key in keys:
            tab.keyboard.press(REAL.get(key, key.lower() if len(key) == 1 else key))
            done.add((group, key))

    every = "每一页"
    for key in ("/", "S", "F"):
        tab.goto(LESSON)
        press(every, key)
        assert search.evaluate("box => box === document.activeElement")
    tab.locator("#__search:checked").wait_for(state="attached")  # 得到焦点之后，搜索才打开
    press(every, "Esc")
    assert not search.evaluate("box => box === document.activeElement")
    wait_for_sitemap(tab)
    for key, title in (("N", "实验 01"), ("P", "3.1"), (".", "实验 01"), (",", "3.1")):
        press(every, key)
        tab.locator("h1", has_text=title).wait_for()
    let_pass(tab, 150)  # 跳转之后 0.125 秒，主题把搜索框收起来
    press(every, "?")
    tab.locator(".keys-help").wait_for()
    listed = tab.evaluate("""() => [...document.querySelectorAll('.keys-help h3')].map(title =>
        [title.textContent, [...title.nextElementSibling.querySelectorAll('dt')].map(one => one.textContent)])""")
    tab.keyboard.press("Escape")
    tab.locator(".keys-help").wait_for(state="detached")  # 表没有关好，按键还归它

    tab.keyboard.press("/")
    tab.keyboard.insert_text("softmax")  # 一次写入，结果只出来一次
    tab.keyboard.press("End")
    tab.locator(".md-search-result__item mark").first.wait_for()  # 取索引时先有一条“正在取”
    links = "[...document.querySelectorAll('.md-search-result__item a')].indexOf(document.activeElement)"
    for key, chosen in (("↓", 0), ("↓", 1), ("↑", 0)):
        press("搜索框里", key)
        assert tab.evaluate(links) == chosen
    chosen = tab.evaluate("new URL(document.activeElement.href).pathname")
    press("搜索框里", "Enter")
    tab.wait_for_url(lambda url: urlsplit(url).path == chosen)

    tab.goto(LESSON)
    code = "能运行的代码"
    tab.locator("py-block[data-ready]").first.wait_for(state="attached")
    tab.locator("py-block pre").first.focus()
    press(code, "Enter")
    tab.locator("py-block .cm-focused").first.wait_for()
    with stopped_clock(tab):
        press(code, "Esc", "Tab")
    tab.locator("py-block .cm-focused").wait_for(state="detached")
    term = tab.locator("a.term").first
    term.focus()
    tab.keyboard.press("Shift+Tab")
    press("带点线的术语", "Tab")
    tab.locator(".term-note").wait_for()
    press("带点线的术语", "Enter")
    tab.locator("tr:target").wait_for()

    tab.goto(LESSON)
    tab.locator("py-block[data-ready] pre").first.press("Enter")
    tab.locator("py-block .cm-focused").first.wait_for()
    with tab.expect_request("**/assets/pyodide/**"):  # 开始运行：去取解释器
        press(code, "Ctrl+Enter")

    written = {(group, key) for group, rows in listed for row in rows for key in row.split(" ")}
    assert written == done | {(code, "⌘+Enter")}  # 测试的机器没有 ⌘ 键


def test_the_start_page_names_the_same_keys():
    """“怎样使用本站”的表与 `?` 打开的表写的是同样的键。"""
    page = set(re.findall(r"<kbd>(.*?)</kbd>", source("docs/start.md")))
    script = source("web/src/keys/index.js")
    rows = re.findall(r'^ {6}\["([^"]+)", "', script, re.MULTILINE)
    ours = {key for row in rows for combination in row.split(" ") for key in combination.split("+")}
    same = {"↑": "上", "↓": "下"}
    assert {same.get(key, key) for key in ours} == page


def test_the_drawer_opens_and_closes_by_keyboard(open_tab):
    tab = open_tab(width=390)
    tab.goto(LESSON)
    opener = tab.locator(".md-header label[for=__drawer]")
    for key in ("Enter", "Space"):
        opener.focus()
        tab.keyboard.press(key)
        tab.locator(".md-sidebar--primary").get_by_role("link", name="首页").wait_for()
        assert tab.evaluate("Boolean(document.activeElement.closest('.md-sidebar--primary'))")
        tab.keyboard.press("Escape")
        tab.locator(".md-sidebar--primary").wait_for(state="hidden")
        assert opener.evaluate("label => label === document.activeElement")
    tab.keyboard.press("Enter")
    section = tab.locator(".md-nav--primary label.md-nav__link", has_text="示例代码").first
    section.focus()
    tab.keyboard.press("Enter")
    tab.locator(".md-nav--primary").get_by_role("link", name="kv_cache_cost.py").wait_for()


def test_the_colour_scheme_turns_by_keyboard(open_tab):
    tab = open_tab()
    tab.goto(LESSON)
    tab.locator(".md-option").first.focus()
    seen = []
    for _ in range(3):
        tab.keyboard.press("Enter")
        seen.append(tab.get_attribute("body", "data-md-color-media"))
    assert len(set(seen)) == 3
