"""livedocs.markdown：围栏、绑定的数字、换行、图、卡片。用网站自己的 Markdown 设置渲染。"""

import re

import pytest
from site_tools import ROOT

from livedocs import svg
from livedocs.markdown import MarkupError, insert_card, lesson_card
from livedocs.project import load_project


@pytest.fixture(scope="module")
def md():
    return load_project(ROOT).markdown()


def render(md, text: str) -> str:
    return md.reset().convert(text)


# ---------------------------------------------------------------- 围栏


def test_our_options_do_not_reach_the_html(md):
    html = render(md, '```{.python .run raises="ValueError" timeout="5" file="x.py" title="标题"}\nx = 1\n```')
    assert '<div class="language-python run highlight"><span class="filename">标题</span>' in html
    assert not re.search(r"raises|timeout|file=", html)


def test_output_is_labelled_and_not_copied(md):
    html = render(md, '```{.text .output rtol="1e-3" atol="1e-6"}\n0.3\n```')
    assert html.startswith('<div class="code-output"><span class="code-output__label"')
    assert "no-copy" in html
    assert "tol" not in html


def test_evidence_is_folded(md):
    html = render(md, "- 项\n\n    ```{.python .evidence}\n    assert True\n    ```")
    assert '<details class="evidence"><summary>展开证据</summary>' in html


@pytest.mark.parametrize(
    "header",
    ['{.python .run wrong="1"}', '{.python .run hl_lines="x"}', 'python wrong="1"', '{.text .output rtol2="1"}'],
)
def test_an_unknown_option_is_an_error_in_chinese(md, header):
    with pytest.raises(MarkupError, match="不认识的选项或写法"):
        render(md, f"```{header}\nx = 1\n```")


@pytest.mark.parametrize("language", ["text", "bash", "yaml", "py", "Python", "没听说过"])
def test_any_language_renders(md, language):
    assert "<pre>" in render(md, f"```{{.{language}}}\nx = 1\n```")


def test_highlighted_lines_still_work(md):
    assert "hll" in render(md, '```{.python .run hl_lines="1"}\nx = 1\n```')


# ---------------------------------------------------------------- 绑定的数字


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("0.3302", "0.3302"),
        ("33 %", "33 %"),
        ("−0.25", "−0.25"),
        ("1e-12", "1e-12"),
        ("707 264", "707 264"),
        ("[0.67, 0.33]", "[0.67, 0.33]"),
        ("[[1, 0], [0.33, 0.67]]", "[[1, 0], [0.33, 0.67]]"),
        ("(2, 5)", "(2, 5)"),
        ("`[2, 5, 4, 8]`", "[2, 5, 4, 8]"),
        ("$e^{0.7} = 2.03$", "e^{0.7} = 2.03"),
    ],
)
def test_a_mark_binds_the_literal_before_it(md, literal, value):
    html = render(md, f"值是 {literal}<!--= f[0](x) ** 2 * y_1 < z -->。")
    assert html.startswith("<p>值是 <data ")
    assert f'value="{value}"' in html
    assert 'data-expr="f[0](x) ** 2 * y_1 &lt; z"' in html
    assert html.endswith("</data>。</p>")


@pytest.mark.parametrize(
    "text",
    [
        "| a | b |\n|---|---|\n| 1 | 0.5<!--= x --> |",
        "!!! note\n\n    0.5<!--= x -->",
        '!!! note "标题 0.5<!--= x -->"\n\n    正文',
        "- 0.5<!--= x -->\n    - **0.5<!--= x -->**",
        "## 标题 0.5<!--= x -->",
        '![替代文字说清内容](../figures/attention-read.svg "图注 0.5<!--= x -->")',
        "词[^a]\n\n[^a]: 脚注 0.5<!--= x -->",
        "> 0.5<!--= x -->",
    ],
)
def test_marks_work_everywhere_and_leave_no_comment(md, text):
    html = render(md, text)
    assert 'data-expr="x"' in html
    assert "<!--" not in html


def test_given_disappears(md):
    assert render(md, "eps 是 1e-6<!--given-->。") == "<p>eps 是 1e-6。</p>"


def test_marks_in_raw_html_leave_no_comment(md):
    assert "<!--" not in render(md, "<div>0.9<!--= q --></div>")


@pytest.mark.parametrize("text", ["`0.3<!--= x -->`", "```{.text}\n0.3<!--= x -->\n```", "    0.3<!--= x -->"])
def test_code_is_left_alone(md, text):
    assert "0.3&lt;!--= x --&gt;" in render(md, text)


def test_headings_with_marks_have_clean_ids_and_titles(md):
    render(md, "## 权重 0.33<!--= w[0] -->")
    assert md.toc_tokens[0]["id"] == "权重-033"
    assert md.toc_tokens[0]["name"] == "权重 0.33"


# ---------------------------------------------------------------- 换行


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("汉字。\n汉字", "<p>汉字。汉字</p>"),
        ("汉字\n汉字", "<p>汉字汉字</p>"),
        ("汉字。\nsoftmax", "<p>汉字。softmax</p>"),
        ("汉字\nsoftmax", "<p>汉字\nsoftmax</p>"),
        ("one\ntwo", "<p>one\ntwo</p>"),
        ("**汉字。**\n**汉字**", "<p><strong>汉字。</strong><strong>汉字</strong></p>"),
    ],
)
def test_a_line_break_between_chinese_is_no_space(md, text, html):
    assert render(md, text) == html


def test_line_breaks_in_code_stay(md):
    assert "汉字\n汉字" in render(md, "```{.text}\n汉字\n汉字\n```")


# ---------------------------------------------------------------- 图


def test_a_figure_is_inlined_with_caption(md):
    html = render(md, '![一次读取的数据流](../figures/attention-read.svg "图 1：$Q$ 与 `K`")')
    assert html.startswith('<figure class="diagram">')
    assert 'aria-label="一次读取的数据流"' in html
    assert re.search(r"<figcaption>图 1：<span class=\"arithmatex\">.*</span> 与 <code>K</code></figcaption>", html)
    assert "<img" not in html
    assert "<title>" not in html


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("![字](../figures/no-such.svg)", "找不到图"),
        ("![](../figures/attention-read.svg)", "没有替代文字"),
        ("文字 ![字](../figures/attention-read.svg)", "图要单独成段"),
    ],
)
def test_a_bad_figure_is_an_error_in_chinese(md, text, message):
    with pytest.raises(MarkupError, match=message):
        render(md, text)


def test_svg_ids_are_unique_per_figure():
    source = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1" onload="x()">'
        "<style>#a{fill:url(#b)} #ab{fill:red}</style><script>x()</script>"
        '<g id="a" fill="url(#b)"/><g id="b"/><g id="ab"/><use xlink:href="#a"/></svg>'
    )
    html = svg.inline(source, "fig2", "字")
    assert 'id="fig2-a" fill="url(#fig2-b)"' in html
    assert "#fig2-a{fill:url(#fig2-b)} #fig2-ab{fill:red}" in html
    assert 'href="#fig2-a"' in html
    assert "script" not in html
    assert "onload" not in html


@pytest.mark.parametrize("source", ["<svg", "<html/>", '<svg xmlns="http://www.w3.org/2000/svg"/>'])
def test_a_file_that_is_no_svg_is_refused(source):
    with pytest.raises(svg.SvgError):
        svg.inline(source, "f", "字")


# ---------------------------------------------------------------- 卡片与下载


def test_the_card_goes_after_the_title_and_not_into_code():
    card = lesson_card({"outcomes": ["做到 $x$"], "prerequisites": ["[A](a.md)"], "minutes": 5, "runs": "browser"})
    text = insert_card("```text\n# 不是标题\n```\n\n# 标题\n\n正文", card)
    assert text.index("# 标题") < text.index("lesson-card") < text.index("正文")
    assert "约 5 分钟" in card
    assert "只需 Python 标准库" in card


def test_the_card_renders_links_and_formulas(md):
    card = lesson_card({"outcomes": ["做到 $x$"], "prerequisites": ["[A](a.md)"], "minutes": 5})
    html = render(md, insert_card("# 标题\n\n正文", card))
    assert '<div class="lesson-card">' in html
    assert '<li>做到 <span class="arithmatex">' in html
    assert '<a href="a.md">A</a>' in html


def test_no_outcomes_no_card():
    assert lesson_card({"title": "x"}) == ""
    assert insert_card("# 标题", "") == "# 标题"


def test_an_unknown_way_to_run_is_an_error():
    with pytest.raises(MarkupError, match="runs"):
        lesson_card({"outcomes": ["x"], "runs": "moon"})


def test_links_to_scripts_are_downloads(md):
    assert "download" in render(md, "[脚本](../code/x.py)")
    assert "download" not in render(md, "[别处](https://example.org/code/x.py) [页](../examples/x.md)")
