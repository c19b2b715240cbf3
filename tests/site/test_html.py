"""构建好的网页：不请求外站，公式已排好，记号不外漏，标题的 id 读得懂。"""

import json
import re
import subprocess
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from site_tools import ROOT

from livedocs import web

NPM = ROOT / "tests" / "npm"

#: 会让浏览器自己去取东西的属性；<a href> 不会。
FETCHES = {
    "img": ("src", "srcset"),
    "script": ("src",),
    "link": ("href",),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "use": ("href", "xlink:href"),
    "image": ("href", "xlink:href"),
    "form": ("action",),
}
#: 不发请求的 <link>
PASSIVE = {"canonical", "prev", "next", "alternate", "edit"}


class Elements(HTMLParser):
    """一页里全部元素的（名字, 属性），以及代码之外的注释。"""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.comments: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_comment(self, data):
        self.comments.append(data)


@pytest.fixture(scope="module")
def parsed(site):
    return {page: Elements(page.read_text(encoding="utf-8")) for page in site.pages()}


def foreign(url: str, site) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) and not url.startswith(site.url)


def test_no_page_fetches_from_another_host(site, parsed):
    for page, found in parsed.items():
        for tag, attributes in found.elements:
            if tag == "link" and attributes.get("rel") in PASSIVE:
                continue
            for name in FETCHES.get(tag, ()):
                assert not foreign(attributes.get(name, ""), site), f"{page}: <{tag} {name}={attributes[name]}>"
            assert not re.search(r"url\(\s*['\"]?(?:https?:)?//", attributes.get("style", "")), f"{page}: {attributes}"


def test_no_stylesheet_or_own_script_fetches_from_another_host(site):
    for path in site.folder.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(\s*['\"]?|@import\s+['\"])(?:https?:)?//", text), path


def test_the_repository_link_does_not_ask_github(site):
    text = site.read("index.html")
    assert 'href="https://github.com/example/example"' in text
    assert 'data-md-component="source"' not in text


def test_katex_fonts_are_woff2_and_only_the_used_ones(site):
    (sheet,) = (site.folder / "assets/katex").glob("katex.*.css")
    fonts = set(re.findall(r"url\(([^)]+)\)", sheet.read_text(encoding="utf-8")))
    published = {f"fonts/{path.name}" for path in (site.folder / "assets/katex/fonts").iterdir()}
    assert fonts == published
    assert all(font.endswith(".woff2") for font in fonts)
    assert sum(path.stat().st_size for path in (site.folder / "assets/katex/fonts").iterdir()) < 40_000


def test_formulas_are_typeset_with_mathml(site, parsed):
    formulas = 0
    for page, found in parsed.items():
        text = page.read_text(encoding="utf-8")
        assert "<x-tex" not in text, page
        visible = re.sub(r"<(script|style|pre|code)\b.*?</\1>", "", text, flags=re.DOTALL)
        assert not re.search(r"\\\(|\\\[", visible), page
        assert "katex-error" not in text, page
        spans = [a for _, a in found.elements if a.get("class") == "katex"]
        assert len(spans) == sum(tag == "math" for tag, _ in found.elements), page
        formulas += len(spans)
    assert formulas > 50


def test_our_marks_leave_no_comment_and_no_option(site, parsed):
    for page, found in parsed.items():
        assert not [c for c in found.comments if c.startswith(("=", "given")) or "livedocs" in c], page
        for tag, attributes in found.elements:
            leaked = {"raises", "timeout", "notest", "rtol", "atol", "file", "markdown"} & attributes.keys()
            assert not leaked, f"{page}: <{tag}> {leaked}"


def test_bound_numbers_carry_their_expression(site):
    text = site.read("labs/01-single-head-attention/index.html")
    found = re.findall(r'<data class="bound" data-expr="([^"]+)"[^>]*>', text)
    assert len(found) > 5


def test_headings_have_readable_unique_ids(parsed):
    for page, found in parsed.items():
        ids = [a["id"] for tag, a in found.elements if re.fullmatch(r"h[1-6]", tag) and "id" in a]
        assert len(ids) == len(set(ids)), page
        assert not [i for i in ids if re.fullmatch(r"_\d+|", i)], (page, ids)


def test_no_id_occurs_twice(parsed):
    for page, found in parsed.items():
        ids = [a["id"] for _, a in found.elements if a.get("id")]
        twice = {i for i in ids if ids.count(i) > 1}
        assert not twice, (page, twice)


def test_every_image_has_a_text_and_a_size(parsed):
    for page, found in parsed.items():
        for tag, attributes in found.elements:
            if tag == "img":
                assert attributes.get("alt"), (page, attributes)
                assert attributes.get("width"), (page, attributes)
                assert attributes.get("height"), (page, attributes)


def test_diagrams_are_inlined_with_a_text(site, parsed):
    drawings = [
        (page, a)
        for page, found in parsed.items()
        for tag, a in found.elements
        if tag == "svg" and "fig" in a.get("class", "").split()
    ]
    assert drawings
    for page, attributes in drawings:
        assert attributes["role"] == "img", page
        assert len(attributes["aria-label"]) > 10, page


def test_lesson_card_comes_from_the_front_matter(site):
    text = site.read("labs/01-single-head-attention/index.html")
    card = text[text.index('class="lesson-card"') :]
    assert text.index("<h1") < text.index('class="lesson-card"') < text.index("<h2")
    assert "约 60 分钟" in card
    assert 'href="../../chapters/03-1-attention-pipeline/"' in card


def test_outputs_are_labelled_and_evidence_is_folded(site):
    text = site.read("labs/01-single-head-attention/index.html")
    assert text.count('<div class="code-output"><span class="code-output__label">输出</span>') > 5
    assert re.search(
        r'<details class="evidence"><summary>展开证据</summary><py-block [^>]*><div class="language-python', text
    )


def validate(folder) -> dict:
    """html-validate 检查 `folder` 里的全部网页；规则与例外见 tests/npm/html-rules.mjs。"""
    web.ensure_packages(NPM)
    done = subprocess.run(
        [web.node(), str(NPM / "validate.mjs"), str(folder)],
        capture_output=True,
        encoding="utf-8",
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_page_is_valid_html(site):
    result = validate(site.folder)
    faults = [f"{f['file']}:{f['line']} {f['rule']}：{f['message']}（{f['selector']}）" for f in result["faults"]]
    assert not faults, "\n".join(faults[:40])
    assert not result["unused"], f"这些例外已经用不上，从 tests/npm/html-rules.mjs 里删掉：{result['unused']}"


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ('<p id="a"></p><p id="a"></p>', "no-dup-id"),
        ("<p><div></div></p>", "close-order"),
        ("<ul><div></div></ul>", "element-permitted-content"),
        ('<a href="x" href="y">z</a>', "no-dup-attr"),
    ],
)
def test_the_validator_finds(tmp_path, body, rule):
    head = '<head><meta charset="utf-8"><title>题</title></head>'
    page = f'<!doctype html><html lang="zh">{head}<body>{body}</body></html>'
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    assert rule in {fault["rule"] for fault in validate(tmp_path)["faults"]}


def test_the_404_page_is_chinese_and_styled_under_the_sub_path(site):
    text = site.read("404.html")
    assert "没有这一页" in text
    assert "Not found" not in text
    for path in re.findall(r'<link rel="stylesheet" href="([^"]+)"', text):
        assert path.startswith("/repo/"), path


def test_proof_page_counts_what_is_there(site):
    text = site.read("reference/proof/index.html")
    table = text[text.index("<th>代码块</th>") :]
    rows = dict(re.findall(r'<tr><td><a href="[^"]*">([^<]*)</a></td><td>(\d+|–)</td>', table))
    lab = site.read("labs/01-single-head-attention/index.html")
    blocks = len(re.findall(r'<div class="language-python (?:run|evidence|script)', lab))
    assert int(rows["实验 01 从零实现并验证单头因果注意力"]) == blocks > 10
    total = int(re.search(r"<th>合计 \d+ 页</th><td>(\d+)</td>", table).group(1))
    assert total == sum(int(number) for number in rows.values() if number != "–")
    assert "改动后尚未核对" not in table


def test_every_lesson_carries_its_badge(site):
    lab = site.read("labs/01-single-head-attention/index.html")
    badge = re.search(r'<p class="proof-badge proof-badge--proved"[^>]*><a href="([^"]*)">([^<]*)</a>', lab)
    assert badge and badge.group(1) == "../../reference/proof/"
    assert re.fullmatch(r"本页 \d+ 段代码、\d+ 处输出、\d+ 个数字已核对（Python 3\.11）", badge.group(2))
    assert "个代码单元" in site.read("labs/02-causal-attention/index.html")
    for path in site.pages():
        assert "proof-badge--stale" not in path.read_text(encoding="utf-8"), path
