"""livedocs.slim、livedocs.styles、livedocs.steady：少传的那些字节，读者看不出来；表格的外框构建时就放好。"""

import pytest

from livedocs.slim import slim
from livedocs.steady import wrap_tables
from livedocs.styles import StyleError, apply, compact, purge, used

PAGE = '<html dir="ltr"><body data-md-color-scheme="slate"><p class="here also"></p></body></html>'
WANTED = used([PAGE], ['e.className="made--by-script"'], ["p{color:var(--shown)}"])


def test_plain_code_needs_no_span_but_colours_stay():
    code = (
        '<pre><span class="n">x</span><span class="w"> </span><span class="o">=</span> <span class="mi">1</span></pre>'
    )
    assert slim(code) == '<pre>x = <span class="mi">1</span></pre>'


def test_space_is_folded_outside_code_only():
    page = "<p>\n\n    甲\n   乙</p>\n\n<pre>a\n\n    b</pre><textarea>\n  c\n\n</textarea><script>\n\n  d\n</script>"
    assert slim(page) == (
        "<p>\n甲\n乙</p>\n<pre>a\n\n    b</pre><textarea>\n  c\n\n</textarea><script>\n\n  d\n</script>"
    )


def test_a_repeated_style_is_written_once():
    assert slim("<svg><style>a{}</style></svg><svg><style>a{}</style></svg><svg><style>b{}</style></svg>") == (
        "<svg><style>a{}</style></svg><svg></svg><svg><style>b{}</style></svg>"
    )


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".here{x:1}.gone{x:1}", ".here{x:1}"),
        (".gone,.here .made--by-script{x:1}", ".here .made--by-script{x:1}"),
        (".here:not(.gone){x:1}", ".here:not(.gone){x:1}"),
        (":is(.gone,.here) p{x:1}", ":is(.gone,.here) p{x:1}"),
        ("[dir=rtl] .here{x:1}[dir=ltr] .here{x:2}", "[dir=ltr] .here{x:2}"),
        ("[data-md-color-scheme=slate]{x:1}[data-md-color-scheme=red]{x:1}", "[data-md-color-scheme=slate]{x:1}"),
        ("@media print{.gone{x:1}}@media print{.here{x:1}}", "@media print{.here{x:1}}"),
        ("@keyframes gone{0%{x:1}}", "@keyframes gone{0%{x:1}}"),
        ('@charset "UTF-8";p{x:1}', '@charset "UTF-8";p{x:1}'),
        (":root{--shown:1;--hidden:url('data:a;b}c');y:2}", ":root{--shown:1;y:2}"),
        (":root{--hidden:1}", ""),
        (r'.here:after{content:"}\";"}', r'.here:after{content:"}\";"}'),
    ],
)
def test_only_rules_that_may_match_are_kept(css, kept):
    assert purge(css, WANTED) == kept


def test_our_own_sheets_lose_their_comments_only():
    css = '/* 说明 */\na > b,\nc {\n  width: calc(1px + 2px);\n  content: " ; {";\n}\n'
    assert compact(css) == 'a > b, c{width: calc(1px + 2px);content: " ; {";}'


@pytest.mark.parametrize("css", ["a{b:c", "}", "a{b:c}}x"])
def test_unbalanced_braces_are_an_error(css):
    with pytest.raises(StyleError, match="花括号不配对"):
        purge(css, WANTED)


def test_a_changed_sheet_gets_a_new_name_and_the_pages_follow(tmp_path):
    sheets = tmp_path / "assets" / "stylesheets"
    sheets.mkdir(parents=True)
    page = tmp_path / "index.html"

    def build(rule: str) -> str:
        for old in sheets.glob("*"):
            old.unlink()
        (sheets / "main.0123abcd.min.css").write_text(f".here{{{rule}}}.gone{{x:1}}", encoding="utf-8")
        page.write_text('<link href="./assets/stylesheets/main.0123abcd.min.css"><p class="here">', encoding="utf-8")
        apply(tmp_path)
        (sheet,) = sheets.glob("*.css")
        assert sheet.read_text(encoding="utf-8") == f".here{{{rule}}}"
        assert f"assets/stylesheets/{sheet.name}" in page.read_text(encoding="utf-8")
        return sheet.name

    assert build("x:1") == build("x:1") != build("x:2")


def test_the_theme_sheet_is_smaller_and_keeps_what_scripts_make(site):
    (sheet,) = (site.folder / "assets/stylesheets").glob("main.*.css")
    css = sheet.read_text(encoding="utf-8")
    for name in ("md-search-result__item", "md-tooltip2__inner", "md-code__button", "md-top", "md-dialog"):
        assert f".{name}" in css
    assert ".md-post" not in css
    assert "rtl" not in css


def test_tables_get_the_frame_the_theme_would_add():
    page = '<table>\n<tr></tr>\n</table><table class="proof-counts"></table>'
    assert wrap_tables(page) == (
        '<div class="md-typeset__scrollwrap"><div class="md-typeset__table"><table>\n<tr></tr>\n</table></div></div>'
        '<table class="proof-counts"></table>'
    )


def test_the_theme_still_adds_the_same_frame(site):
    """主题改了外框的名字，构建时放的那一层就没有用了。"""
    (script,) = (site.folder / "assets/javascripts").glob("bundle.*.min.js")
    text = script.read_text(encoding="utf-8")
    for part in ("md-typeset__scrollwrap", "md-typeset__table", "table:not([class])"):
        assert part in text
