"""术语就地解释：术语表是唯一的来源；标对地方，键盘、鼠标、触摸都能看到，没有脚本时是一条链接。"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from reader_tools import LESSON, source
from site_tools import let_pass, until, wait_for_sitemap

from livedocs import english, glossary
from livedocs.html_text import in_article, pieces

#: 一张短的页面，有几个术语；它的下一页也有。
SHORT = "examples/multi_head_shapes/"
HEAD = "| 术语 | 英文 | 符号 | 定义 | 在哪里讲 |\n|---|---|---|---|---|\n"
TABLE = HEAD + (
    "| 注意力 | attention |  | 加权求和 | [一](../a.md#what) |\n"
    "| 注意力权重 | weights |  | 每行之和是 $1$ | [一](../a.md#what) |\n"
    "| 键 | key | $K$ | 凭什么被找到 | [二](../b.md) |\n"
    "| 键值缓存（KV Cache） | cache |  | 存下 `k` | [二](../b.md#cache) |\n"
    "| 解码 | decode |  | 每步一个词元 | [二](../b.md#cache) |\n"
    "| NaN | not a number |  | 没有意义 | [二](../b.md#nan) |\n"
    "| `view` | view |  | 重新分段 | [二](../b.md#view) |\n"
)


def marked(html: str, page: str = "c.md", table: str = TABLE) -> list[str]:
    """`html` 里标出的术语，按次序。"""
    done = glossary.explain(html, page, "g/", glossary.parse(table))
    assert re.sub(r'<a class="term"[^>]*>(.*?)</a>', r"\1", done) == html, "除了加上链接，什么也不该变"
    return re.findall(r'<a class="term"[^>]*>(.*?)</a>', done)


def test_the_table_is_read():
    terms = {term.name: term for term in glossary.parse(TABLE)}
    assert terms["键值缓存（KV Cache）"].names == ("键值缓存", "KV Cache")
    assert terms["键值缓存（KV Cache）"].definition == "存下 k"
    assert terms["键值缓存（KV Cache）"].taught == {("b.md", "cache")}
    assert terms["注意力权重"].definition == "每行之和是 1"
    assert terms["view"].names == (), "代码里的名字不在正文里找"


def test_the_real_table_has_a_definition_for_every_term():
    terms = glossary.parse(source("docs/" + glossary.PAGE))
    assert len(terms) > 100
    assert len({term.anchor for term in terms}) == len(terms)
    for term in terms:
        assert not re.search(r"[`$\\|]", term.definition), term
    assert glossary.COMMON <= {name for term in terms for name in term.names}, "不标的词要真的在术语表里"


@pytest.mark.parametrize(
    "row, message",
    [
        ("| 值 | value | 交出的内容 | [一](../a.md) |\n", "有 4 格"),
        ("| 值 | value |  |  | [一](../a.md) |\n", "没有定义"),
        ("| 注意力 | attention |  | 又一次 | [一](../a.md) |\n", "与第 3 行重复"),
    ],
)
def test_a_faulty_row_is_refused(row, message):
    with pytest.raises(glossary.GlossaryError, match=r"docs/reference/glossary\.md:10 .*" + message):
        glossary.parse(TABLE + row)


@pytest.mark.parametrize(
    "html, wanted",
    [
        ("<p>注意力与注意力</p><p>注意力</p>", ["注意力"]),
        ("<p>注意力权重，再看注意力</p>", ["注意力权重", "注意力"]),
        ("<p>查询、键、值</p>", ["键"]),
        ("<p>按键与关键字</p>", []),
        ("<p>结果是 NaN。</p>", ["NaN"]),
        ("<p>NaNs 与 isNaN</p>", []),
        ("<p>编码器与解码器，再解码</p>", ["解码"]),
        ("<p><code>注意力</code><a href='#'>注意力</a><strong>键值缓存</strong>：存下键</p>", []),
        ("<h2>注意力</h2><table><tr><th>注意力</th><td>注意力</td></tr></table><p>注意力</p>", ["注意力"]),
        ("<details><summary>注意力</summary><p>注意力</p></details><p>注意力</p>", ["注意力"]),
        ('<div class="footnote"><p>注意力</p></div><p title="注意力">x</p>', []),
        ("<self-test><p>注意力</p></self-test><p><x-tex data-tex='a>b'>注意力</x-tex></p>", []),
        ("<p><strong>键值缓存，即 KV Cache</strong></p><p>键值缓存</p>", []),
        ("<p>用了 KV Cache，就有键值缓存</p>", ["KV Cache"]),
    ],
)
def test_what_is_marked(html, wanted):
    assert marked(html) == wanted


def test_a_term_is_not_marked_where_it_is_taught():
    page = '<p>先说注意力</p><h2 id="what">做什么</h2><p>注意力权重，还有 NaN</p>'
    assert marked(page, "a.md") == ["注意力", "NaN"]
    assert marked("<p>查询、键、值</p>", "b.md") == []


def test_text_is_found_whatever_surrounds_it():
    page = '<a title="a > b">x</a><!-- <p> --><p>一<br>二<li>三</p><pre><i>四</i></pre>'
    found = list(pieces(page))
    assert "".join(piece.raw for piece in found) == page
    assert [piece.raw for piece in pieces(page) if piece.text] == ["x", "一", "二", "三"]
    assert in_article("<article><p>a</p></article><p>a</p>", str.upper) == "<article><P>A</P></article><p>a</p>"
    assert in_article("<p>没有正文</p>", str.upper) == "<p>没有正文</p>"


def test_english_sentences_are_marked_and_words_are_not():
    text = '<p>论文<em>Attention Is All You Need</em>，用 PyTorch 与 KV Cache；<code>a b c d e f g h i j k l m n</code></p>'
    assert english.mark(text) == text.replace(
        "Attention Is All You Need", '<span lang="en">Attention Is All You Need</span>'
    )
    for title in ("RoFormer", "Add a private _safe_softmax"):
        assert english.mark(f"<em>{title}</em>") == f'<em><span lang="en">{title}</span></em>'
    for plain in ("<p>a b c d 与 B T C D</p>", "<p>RoFormer</p>", "<em>读 RoPE</em>"):
        assert english.mark(plain) == plain


class Links(HTMLParser):
    """一页里的术语，和全部 id。"""

    def __init__(self, text: str):
        super().__init__()
        self.terms: list[dict] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if attributes.get("class") == "term":
            self.terms.append(attributes)
        if attributes.get("id"):
            self.ids.add(attributes["id"])


def test_every_link_leads_to_its_row(site):
    rows = Links(site.read("reference/glossary/index.html"))
    assert not rows.terms
    defined = {term.anchor: term.definition for term in glossary.parse(source("docs/" + glossary.PAGE))}
    assert set(defined) <= rows.ids
    counts = {}
    for path in site.pages():
        found = Links(path.read_text(encoding="utf-8")).terms
        counts[path.parent.name] = len(found)
        for term in found:
            address, _, anchor = term["href"].partition("#")
            assert (path.parent / address / "index.html").resolve() == (site.folder / "reference/glossary/index.html").resolve()
            assert term["data-note"] == defined[anchor]
        anchors = [term["href"] for term in found]
        assert len(anchors) == len(set(anchors)), f"{path}：一个术语标了两次"
    assert 10 < counts["03-attention"] < 60, "一章里标得太少或太多"


def test_the_search_index_does_not_know_about_terms(site):
    for path in [*site.folder.glob("search/*.json"), *site.folder.glob("assets/web/*.json")]:
        text = json.dumps(json.loads(path.read_text(encoding="utf-8")), ensure_ascii=False)
        assert 'class=\\"term\\"' not in text, path


def note(tab):
    return tab.locator(".term-note")


def test_mouse_and_keyboard_see_the_definition(open_tab):
    tab = open_tab()
    tab.goto(SHORT)
    term = tab.locator("a.term").first
    definition = term.get_attribute("data-note")
    term.hover()
    note(tab).wait_for()
    assert definition in note(tab).inner_text()
    note(tab).hover()  # 可以移进框里
    tab.wait_for_timeout(400)
    assert note(tab).is_visible()
    tab.keyboard.press("Escape")
    note(tab).wait_for(state="detached")

    tab.mouse.move(2, 400)
    second = tab.locator("a.term").nth(1)
    second.focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    note(tab).wait_for()
    assert second.get_attribute("aria-describedby") == note(tab).get_attribute("id")
    assert second.get_attribute("data-note") in note(tab).inner_text()
    box, room = note(tab).bounding_box(), tab.viewport_size
    assert box["x"] >= 0 and box["x"] + box["width"] <= room["width"]
    tab.keyboard.press("Enter")
    tab.locator("tr:target").wait_for()
    note(tab).wait_for(state="detached")


def test_a_tap_explains_and_the_note_leads_on(open_tab):
    tab = open_tab(width=390, height=800, has_touch=True, is_mobile=True)
    tab.goto(SHORT)
    here = tab.url
    for term in (tab.locator("a.term").first, tab.locator("a.term").nth(2)):
        term.tap()
        note(tab).wait_for()
        assert tab.url == here, "点一下只显示解释，不离开这一页"
        assert note(tab).count() == 1
        assert term.get_attribute("data-note") in note(tab).inner_text()
        box = note(tab).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        tab.locator("h1").tap()
        note(tab).wait_for(state="detached")
    tab.locator("a.term").first.tap()
    tab.locator(".term-note a").tap()
    tab.locator("tr:target").wait_for()


def test_terms_still_work_after_instant_navigation(open_tab):
    tab = open_tab()
    tab.goto(SHORT)
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    tab.locator(".md-footer__link--next").press("Enter")
    tab.locator("h1", has_text="kv_cache_cost").wait_for()
    assert tab.evaluate("window.stayed")
    tab.locator("a.term").first.hover()
    note(tab).wait_for()


def test_a_term_is_reached_on_a_slow_network(open_tab):
    """词汇表还在路上时读者接着滚动：到的仍然是那个词，后退回到离开的地方。"""
    tab, waiting = open_tab(), []
    tab.goto(LESSON)
    tab.route("**/glossary/", lambda route: waiting.append(route))
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    term = tab.locator("a.term").first
    term.scroll_into_view_if_needed()
    name = unquote(urlsplit(term.get_attribute("href")).fragment)
    left = tab.evaluate("scrollY")
    term.click()
    tab.wait_for_url("**/glossary/#*")  # 网址先变，正文后到
    tab.mouse.wheel(0, 300)
    until(tab, lambda: tab.evaluate("scrollY") != left)
    let_pass(tab, 500)
    assert tab.evaluate("history.state !== null"), "主题没有记滚动的位置，这个测试试不出什么"
    until(tab, lambda: waiting)
    waiting[0].continue_()
    row = tab.locator("tr:target")
    row.wait_for()
    assert row.get_attribute("id") == name and tab.evaluate("window.stayed")
    box = row.bounding_box()
    assert 0 <= box["y"] < 900
    tab.go_back()
    tab.locator("h1", has_text="3.1").wait_for()
    let_pass(tab, 500)
    assert abs(tab.evaluate("scrollY") - left) < 50


def test_without_scripts_a_term_is_a_link(open_tab):
    tab = open_tab(java_script_enabled=False)
    tab.goto(SHORT)
    tab.locator("a.term").first.click()
    tab.locator("tr:target").wait_for()
