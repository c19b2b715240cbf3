"""读得舒服：行长、行高、字距、标点、窄屏上的表与代码、深色下的图，读者在课程里的位置。"""

from __future__ import annotations

import re

import pytest
from reader_tools import LESSON, NOTEBOOK, set_scheme
from site_tools import ROOT

from livedocs import course, frame

#: 正文第一段普通文字：一行放得下几个汉字，行高是字号的几倍。
LINE = """() => {
    const text = [...document.querySelectorAll('article > p')].find(one => one.innerText.length > 60);
    const style = getComputedStyle(text), size = parseFloat(style.fontSize);
    return [text.getBoundingClientRect().width / size, parseFloat(style.lineHeight) / size];
}"""
#: 把一句话放进正文，量它有多宽（以字号为单位）。
WIDTH = """([text, style, lang]) => {
    const one = document.createElement('span');
    one.textContent = text;
    Object.assign(one.style, { whiteSpace: 'nowrap', position: 'absolute' }, style);
    if (lang) one.lang = lang;
    document.querySelector('article p').append(one);
    const width = one.getBoundingClientRect().width / parseFloat(getComputedStyle(one).fontSize);
    one.remove();
    return width;
}"""


def test_lines_have_a_readable_length_and_height(open_tab):
    tab = open_tab()
    tab.goto(LESSON)
    for width, least, most in ((1920, 38, 42), (1280, 38, 42), (1000, 38, 42), (768, 38, 42), (390, 20, 24)):
        tab.set_viewport_size({"width": width, "height": 900})
        letters, height = tab.evaluate(LINE)
        assert least <= letters <= most + 0.1, width
        assert 1.75 <= height <= 1.9, width


def test_spacing_and_punctuation_follow_chinese_habits(open_tab):
    tab = open_tab()
    tab.goto(LESSON)
    assert tab.get_attribute("html", "lang") == "zh-CN"

    def width(text: str, style: dict | None = None, lang: str = "") -> float:
        return tab.evaluate(WIDTH, [text, style or {}, lang])

    off = {"textAutospace": "no-autospace"}
    assert width("在Python里") > width("在Python里", off) + 0.1, "没有写空格的地方，浏览器补一点"
    assert width("在 Python 里") == pytest.approx(width("在 Python 里", off)), "写了空格的地方，不再加"
    assert width("你好”。（见") < 5.9, "连着的全角标点挤掉空白"
    for mark in "“”‘’—…":
        assert width(f"字{mark}字") == pytest.approx(3, abs=0.02), f"{mark} 应当是中文字体里一个字宽的字形"
    assert width("don’t", lang="en") < width("don’t") - 0.3, "英文里的撇号是西文的"


def test_english_titles_are_marked_and_not_dotted(open_tab):
    tab = open_tab()
    tab.goto(LESSON)
    title = tab.locator(".footnote [lang=en]").first
    style = title.evaluate("one => { const { textEmphasisStyle, fontStyle } = getComputedStyle(one); return [textEmphasisStyle, fontStyle]; }")
    assert style == ["none", "italic"]
    assert tab.locator(".footnote em:not(:has([lang=en]))").filter(has_text=re.compile(r"^[A-Za-z ]+$")).count() == 0


def test_tables_on_a_phone_scroll_in_their_own_frame_with_room_for_sentences(open_tab):
    tab = open_tab(width=390)
    for path in ("reference/glossary/", "reference/troubleshooting/", ""):
        tab.goto(path)
        tab.locator(".md-typeset__scrollwrap").first.wait_for()
        thin = tab.evaluate("""() => [...document.querySelectorAll('article td')].filter(cell => {
            const size = parseFloat(getComputedStyle(cell).fontSize);
            const { paddingLeft, paddingRight } = getComputedStyle(cell);
            const room = cell.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
            return /[\u4e00-\u9fff，。；]{12}/.test(cell.innerText) && room < 8 * size;
        }).map(cell => cell.innerText)""")
        assert thin == [], "一句话挤成了细柱"
        spilled = tab.evaluate("""() => [...document.querySelectorAll('article td code')].filter(code =>
            code.getBoundingClientRect().right > code.closest('td').getBoundingClientRect().right + 1).map(code => code.innerText)""")
        assert spilled == [], "代码从自己的格里伸出来了"
        table = tab.locator(".md-typeset__scrollwrap").first
        if table.evaluate("box => box.scrollWidth > box.clientWidth + 1"):
            tab.locator(".md-typeset__scrollwrap[tabindex='0']").first.wait_for()


def test_diagrams_are_readable_in_both_schemes(open_tab):
    """图里的字与页面底色的对比度；画在色块上的字，色块的颜色也随主题变，所以同样以底色为准，只要求 3。"""
    tab = open_tab()
    for path in (LESSON, NOTEBOOK):
        tab.goto(path)
        for scheme in ("default", "slate"):
            set_scheme(tab, scheme)
            faint = tab.evaluate("""() => {
                const parse = text => text.match(/[\\d.]+/g).map(Number);
                const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
                const page = light(parse(getComputedStyle(document.body).backgroundColor));
                return [...document.querySelectorAll('svg.fig text')].filter(one => {
                    const own = light(parse(getComputedStyle(one).fill));
                    return (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05) < 3;
                }).map(one => one.textContent + getComputedStyle(one).fill);
            }""")
            assert faint == [], f"{path} {scheme}"


def test_every_lesson_says_where_it_is(site):
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    section = config.partition(f"- {course.SECTION}:\n")[2].partition("\n  - ")[0]
    lessons = [re.sub(r"\.(md|ipynb)$", "/index.html", path) for path in re.findall(r": (\S+)$", section, re.MULTILINE)]
    for number, path in enumerate(lessons, 1):
        text = site.read(path)
        assert f"<span>第 {number} 课，共 {len(lessons)} 课</span>" in text, path
        assert f'<progress max="{len(lessons)}" value="{number}"' in text, path
    assert "course-place" not in site.read("reference/glossary/index.html")
    first, last, middle = site.read(lessons[0]), site.read(lessons[-1]), site.read(lessons[3])
    assert 'aria-label="上一课: ' in middle and 'aria-label="下一课: ' in middle
    assert 'aria-label="上一页: ' in first and 'aria-label="下一页: ' in last


def test_the_footer_names_both_directions_on_a_phone(open_tab):
    tab = open_tab(width=390)
    tab.goto(NOTEBOOK)
    shown = [one.inner_text().strip() for one in tab.locator(".md-footer__direction").all() if one.is_visible()]
    assert shown == ["上一课", "下一课"]


def test_the_parts_of_the_frame_are_still_in_the_theme(site):
    """主题换了模板，要补名字的部件就找不到了：这里先知道。"""
    text = site.read("index.html")
    for bare, named in frame.PARTS.items():
        assert named in text, bare
        assert bare not in text, bare
