"""打印一页、印整本书：用真的 Chromium 印成 PDF，再由 pdftotext 读出文字。

文字用 pdftotext（poppler）读，不用 pypdf：字体里的“⼤”（部首）与“大”是同一个字形，
Chromium 因此另写一份实际的文字（ActualText），读者用的程序认它，pypdf 不认。
"""

import html
import os
import re
import shutil
import subprocess
import sys

import pytest
from playwright.sync_api import expect
from pypdf import PdfReader
from site_tools import ROOT

from livedocs import book
from livedocs.book_html import BookError, chapters

LAB = "labs/01-single-head-attention/"
NOTES = "chapters/04-mlp-moe/"
#: 只在屏幕上有用的字；纸上一个也不该有。
SCREEN_ONLY = (
    "¶",
    "打印本页",
    "编辑此页",
    "下载本章",
    "下载本实验",
    "回到页面顶部",
    "目录\n",
    "上一课",
    "复制",
)


@pytest.fixture(scope="session")
def text_of():
    """读出 PDF 每一页的文字。"""
    program = shutil.which("pdftotext")
    if program is None:
        message = "没有找到 pdftotext，打印的检查没有运行；安装 poppler-utils（macOS：poppler）"
        if os.environ.get("CI", "").lower() not in ("", "0", "false"):
            pytest.fail(message)
        pytest.skip(message)

    def read(path) -> list[str]:
        done = subprocess.run(
            [program, "-raw", "-enc", "UTF-8", path, "-"], capture_output=True, encoding="utf-8", timeout=60
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        return done.stdout.split("\f")[:-1]

    return read


#: 页面上第一张图画查询用的颜色；没有图时是 null。
FIGURE = """() => { const figure = document.querySelector('svg.fig');
    return figure && getComputedStyle(figure).getPropertyValue('--fig-q'); }"""


def plain(text: str) -> str:
    """去掉空白与断行，便于查找。"""
    return re.sub(r"\s+", "", text)


@pytest.fixture
def printed(chromium, site, tmp_path, text_of):
    """打印一页，返回 `(文字, 打印之后的标签页)`。"""
    context = chromium.new_context(base_url=site.url, color_scheme="dark")

    def print_page(path: str):
        tab = context.new_page()
        tab.goto(path)
        if path == LAB:
            expect(tab.locator("py-block[data-ready]").first).to_be_attached()
        tab.evaluate("document.fonts.ready")
        target = tmp_path / "page.pdf"
        tab.pdf(path=target, prefer_css_page_size=True, print_background=True)
        return "\n".join(text_of(target)), tab

    yield print_page
    context.close()


def test_a_lesson_prints_clean(printed, site):
    """标题、注释里的汉字、公式、折叠的内容都在；导航和按钮不在；纸上是浅色。"""
    text, tab = printed(LAB)
    flat = plain(text)
    headings = re.findall(r"<h[1-4] id[^>]*>(.*?)<a class=\"headerlink\"", site.read(f"{LAB}index.html"))
    headings = [html.unescape(re.sub(r"<[^>]+>", "", heading)) for heading in headings if "katex" not in heading]
    assert len(headings) > 20
    for heading in headings:
        assert plain(heading) in flat, heading
    assert plain("# 把第 2 个键和第 2 个值都换掉，第 1 行输出不应有任何变化。") in flat  # 代码里的注释
    assert plain('raise TypeError(f"{name} 应是列表，得到 {type(row).__name__}")') in flat  # 折叠着的代码
    assert "softmax(QK" in flat and "e+e" in flat  # 行内与独立的公式；根号是画出来的，没有文字
    assert "2.679046" in flat  # 输出
    assert not [word for word in SCREEN_ONLY if word in text.replace("“打印本页”", "")]
    assert not re.findall("[\u2e80-\u2fdf]", text), "汉字成了部首，搜不到也复制不了"
    # 打印之后，页面回到原来的样子。
    expect(tab.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    expect(tab.locator(".print-links, .print-link")).to_have_count(0)
    assert tab.locator("details[open]").count() < tab.locator("details").count()


def test_links_become_numbered_notes(printed, site):
    text, _ = printed(LAB)
    listed = text.rpartition("本页的链接")[2]
    numbers = [int(number) for number in re.findall(r"^\s*(\d+)\.\s*\S*https?://", listed, re.M)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) > 5
    marks = {int(number) for number in re.findall(r"\[(\d+)\]", text)}
    assert set(numbers) <= marks
    assert f"{site.url}chapters/03-1-attention-pipeline/" in listed  # 站内的写完整的网址
    assert f"{site.url}{LAB}#" not in listed  # 本页之内的不列


def footnote_numbers(text: str) -> list[int]:
    """第 4 章末尾的脚注的编号。"""
    listed = text[text.index("1. MiniMind 仓库") :].partition("本页的链接")[0]
    return [int(number) for number in re.findall(r"^(\d+)\. ", listed, re.M)]


def footnote_count(site) -> int:
    return site.read(f"{NOTES}index.html").count('<li id="fn:')


def test_footnotes_keep_both_digits(printed, site):
    """编号在版心之外的部分不会印出来。"""
    text, _ = printed(NOTES)
    count = footnote_count(site)
    assert count > 9 and footnote_numbers(text) == list(range(1, count + 1))


def test_printing_is_light_and_fits_the_paper(chromium, site):
    """深色的页面打印时是黑字白底；没有一处比纸宽。"""
    context = chromium.new_context(
        base_url=site.url, color_scheme="dark", reduced_motion="reduce", viewport={"width": 660, "height": 900}
    )
    tab = context.new_page()
    figures = 0
    for path in ("chapters/03-2-multi-head-shapes/", "reference/glossary/", "labs/02-causal-attention/"):
        tab.goto(path)
        expect(tab.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
        dark = tab.evaluate(FIGURE)
        tab.emulate_media(media="print")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        shown = tab.evaluate("""() => ({
            paper: getComputedStyle(document.body).backgroundColor,
            ink: getComputedStyle(document.querySelector('.md-typeset h1')).color,
            code: getComputedStyle(document.querySelector('.md-typeset pre > code, .md-typeset td')).color,
            chrome: [...document.querySelectorAll('.md-header, .md-sidebar, .md-footer, .md-typeset button, .md-button')]
                .filter(element => element.getClientRects().length).length,
            wide: [...document.querySelectorAll('.md-typeset :is(pre, table, figure, .katex-display, p)')]
                .filter(element => element.getBoundingClientRect().right > innerWidth + 1).map(element => element.outerHTML.slice(0, 80)),
            folded: [...document.querySelectorAll('details')].filter(details => !details.open).length,
            tabs: [...document.querySelectorAll('.tabbed-block')].filter(block => !block.getClientRects().length).length,
        })""")
        assert shown["paper"] == "rgb(255, 255, 255)", path
        for ink in (shown["ink"], shown["code"]):
            assert max(map(int, re.findall(r"\d+", ink)[:3])) < 0x40, (path, ink)
        assert shown["chrome"] == shown["folded"] == shown["tabs"] == 0, (path, shown)
        assert shown["wide"] == [], path
        if dark:
            figures += 1
            assert tab.evaluate(FIGURE) != dark, f"{path}：图还是深色"
        tab.emulate_media(media="screen")
    assert figures
    context.close()


def test_the_print_button_prints(chromium, site):
    context = chromium.new_context(base_url=site.url)
    tab = context.new_page()
    tab.add_init_script("window.print = () => { window.printed = (window.printed ?? 0) + 1; }")
    tab.goto("labs/02-causal-attention/")
    tab.get_by_role("button", name="打印本页").click()
    tab.wait_for_function("() => window.printed === 1")  # 写成函数：内容安全策略不许反复 eval 一个表达式
    assert tab.evaluate("[...document.images].every(image => image.complete && image.naturalWidth)"), "有图没有载入"
    context.close()


def test_without_scripts_the_page_says_how_to_print(site):
    assert "<print-page>打印本页：用浏览器的“打印”</print-page>" in site.read(f"{LAB}index.html")


# ---------------------------------------------------------------- 整本书


def test_the_whole_book(chromium, site, tmp_path, text_of):
    """一条命令印出整本书：书签完整，每页的文字都在，目录的页码对，链接跳得到。

    要 `chromium` 只为没有浏览器时与别的测试同样处理；书自己启动浏览器。
    """
    target = tmp_path / "book.pdf"
    done = subprocess.run(
        [sys.executable, "-m", "livedocs.book", site.folder, target], capture_output=True, encoding="utf-8", timeout=300
    )
    assert done.returncode == 0, done.stderr
    reader = PdfReader(target)
    pages = chapters(ROOT, site.folder)
    texts = [plain(text) for text in text_of(target)]

    outline = []

    def walk(items, depth):
        for item in items:
            if isinstance(item, list):
                walk(item, depth + 1)
            else:
                outline.append((depth, item.title, reader.get_destination_page_number(item)))

    walk(reader.outline, 0)
    places = {}
    wanted = [heading.title for page in pages for heading in page.headings]
    assert [title for _, title, _ in outline if title in set(wanted)] == wanted
    assert [title for depth, title, _ in outline if title not in set(wanted)] == ["教程", "示例代码", "参考"]
    rows = iter(outline)
    for page in pages:
        for heading in page.headings:
            title, at = next((title, at) for _, title, at in rows if title == heading.title)
            places[heading.anchor] = at
            assert plain(title) in texts[at] or plain(title) in texts[at] + texts[at + 1], (title, at)
    starts = [places[page.headings[0].anchor] for page in pages]
    assert starts == sorted(set(starts))

    # 目录：每一节的页码就是它所在的那一页；每一行都能点。
    contents = "".join(texts[: starts[0]])
    for page in pages:
        for heading in page.headings[:1]:
            assert f"{plain(heading.title)}{places[heading.anchor] + 1}" in contents, heading.title
    links = [
        annotation.get_object()
        for page in reader.pages[: starts[0]]
        for annotation in page.get("/Annots", [])
        if annotation.get_object()["/Subtype"] == "/Link"
    ]
    assert len([link for link in links if "/Dest" in link or link.get("/A", {}).get("/S") == "/GoTo"]) >= len(wanted)

    # 通往书里各页的链接都在书内；指向网站的只剩下载的文件。
    outside = {
        annotation.get_object().get("/A", {}).get("/URI", "")
        for page in reader.pages
        for annotation in page.get("/Annots", [])
    }
    assert all(re.search(r"\.\w+$", address) for address in outside if address.startswith(site.url)), outside

    assert reader.metadata.title == "跑得通的大模型教程"
    at = [page.path for page in pages].index(NOTES)
    notes = footnote_numbers("\n".join(text_of(target)[starts[at] : starts[at + 1]]))
    assert notes[: (count := footnote_count(site))] == list(range(1, count + 1))
    assert plain("核对时的版本：Python") in texts[0]
    whole = "".join(texts)
    assert plain("# 把第 2 个键和第 2 个值都换掉，第 1 行输出不应有任何变化。") in whole
    assert "下载整站（zip" not in whole and "打印本页" not in whole.replace("“打印本页”", "")


def test_without_chromium_the_book_says_what_to_do(site, tmp_path, monkeypatch):
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "nothing"))
    with pytest.raises(BookError, match="找不到 Chromium.*apt-get install chromium.*CHROMIUM"):
        book.make(site.folder, tmp_path / "book.pdf")
    assert not (tmp_path / "book.pdf").exists()


def test_without_a_site_the_book_says_what_to_do(tmp_path, capsys):
    assert book.main([str(tmp_path)]) == 1
    assert "先构建网站：make build" in capsys.readouterr().err
