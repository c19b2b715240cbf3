"""像第一次来的读者那样读完每一页：不出站、没有报错、不重、不动、放得下，公式的字都在裁剪过的字体里。

预算都写在这里。`benchmarks/pages.py` 按同样的测法打印每一页的数。
"""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import visit
from fontTools.ttLib import TTFont
from site_tools import ROOT, until

from livedocs import fonts, web

#: 一页的全部文件，gzip 传输，字节。
PAGE = 190_000
#: notebook 页面的 HTML，gzip 传输，字节。
NOTEBOOK = 40_000
#: 累计的版面移动，没有单位。
SHIFT = 0.02
#: 读者点了“运行”“编辑”才能取的。
ON_DEMAND = ("assets/pyodide/", "assets/web/worker-", "assets/web/editor-", "assets/web/run-", "assets/web/program-")

MISSING = "no/such/page/"

#: 浏览器自己算出的：公式里每个字用哪种字体。
_CHARACTERS = """() => {
  const found = {};
  for (const root of document.querySelectorAll('.katex-html')) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const style = getComputedStyle(texts.currentNode.parentElement);
      const font = [style.fontFamily.split(',')[0].replaceAll('"', ''), style.fontStyle, style.fontWeight].join(' ');
      (found[font] ??= new Set());
      for (const character of texts.currentNode.data) found[font].add(character);
    }
  }
  return Object.entries(found).map(([font, characters]) => [font, [...characters].join('')]);
}"""


def faults(seen: visit.Visit, width: int, weight: int, html: int) -> list[str]:
    """读了一页之后，哪里不合格；字节数是传输时的，`html` 只在 notebook 页面不是 0。"""
    found = [f"请求了别的主机：{address}" for address in seen.foreign]
    expected = 1 if seen.path == MISSING else 0  # 浏览器自己把 404 记作一个错误
    found += [f"控制台报错：{error}" for error in seen.errors[expected:]]
    if weight > PAGE:
        found.append(f"全部文件 {weight} 字节，预算 {PAGE}")
    if html > NOTEBOOK:
        found.append(f"notebook 的 HTML {html} 字节，预算 {NOTEBOOK}")
    if seen.cls >= SHIFT:
        found.append(f"版面移动了 {seen.cls:.3f}，预算 {SHIFT}；动的是 {[what for _, what in seen.shifts]}")
    if seen.width > width:
        found.append(f"页面宽 {seen.width} 像素，超出 {width}")
    found += [f"还没有人要就取了 {path}" for path in seen.requests if path.startswith(ON_DEMAND)]
    return [f"{seen.path or '首页'}：{fault}（{width} 像素宽）" for fault in found]


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_is_light_and_still_and_asks_nobody_else(chromium, site, width):
    reader = visit.Reader(chromium, site.url, width)
    found = []
    try:
        for path in [*visit.paths(site.folder), MISSING]:
            seen = reader.read(path)
            weight = visit.weight(site.folder, seen, missing=MISSING)
            notebook = any((site.folder / path).glob("*.ipynb"))
            found += faults(seen, width, weight, visit.size(site.folder / path) if notebook else 0)
            assert reader.tab.locator("h1").count() == 1, path
            if width == 1280:
                found += absent(site.folder, path, reader.tab.evaluate(_CHARACTERS))
    finally:
        reader.close()
    assert not found, "\n".join(found)


def absent(folder: Path, path: str, characters: list[tuple[str, str]]) -> list[str]:
    """公式里有、原来的字体里也有、裁剪过的字体里却没有的字。"""
    found = []
    for font, text in characters:
        family, style, weight = font.split()
        original = original_font(family, style == "italic", int(weight) >= 600)
        published = list((folder / "assets/katex/fonts").glob(f"{original.stem}.*.woff2"))
        kept = letters(published[0]) if published else frozenset()
        lost = (set(text) & letters(original)) - kept
        if lost:
            found.append(f"{path}：{original.stem} 里没有 {''.join(sorted(lost))}，浏览器会换别的字体")
    return found


@functools.cache
def original_font(family: str, italic: bool, bold: bool) -> Path:
    dist = ROOT / "web" / "node_modules" / "katex" / "dist"
    sheet = fonts.read_sheet(fonts.woff2_only((dist / "katex.min.css").read_text(encoding="utf-8")))
    return dist / "fonts" / sheet.faces[family, italic, bold]


@functools.cache
def letters(font: Path) -> frozenset[str]:
    with TTFont(font) as loaded:
        return frozenset(map(chr, loaded.getBestCmap() or ()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"foreign": ["https://cdn.example/x.js"]}, "请求了别的主机：https://cdn.example/x.js"),
        ({"errors": ["Refused to run"]}, "控制台报错：Refused to run"),
        ({"shifts": [(0.015, "P"), (0.01, "IMG")]}, "版面移动了 0.025"),
        ({"width": 400}, "页面宽 400 像素，超出 390"),
        ({"requests": ["assets/pyodide/1/pyodide.mjs"]}, "还没有人要就取了 assets/pyodide/"),
        ({"weight": PAGE + 1}, f"全部文件 {PAGE + 1} 字节，预算 {PAGE}"),
        ({"html": NOTEBOOK + 1}, f"notebook 的 HTML {NOTEBOOK + 1} 字节，预算 {NOTEBOOK}"),
    ],
)
def test_each_budget_is_enforced(change, message):
    sizes = {"weight": PAGE, "html": NOTEBOOK} | {key: change[key] for key in change if key in ("weight", "html")}
    rest = {key: value for key, value in change.items() if key not in sizes}
    (fault,) = faults(visit.Visit("labs/02-causal-attention/", **({"width": 390} | rest)), 390, **sizes)
    assert message in fault


def test_a_page_within_the_budgets_has_no_fault():
    assert faults(visit.Visit("labs/02-causal-attention/", width=390), 390, PAGE, NOTEBOOK) == []


def test_a_faulty_page_is_noticed(chromium, site):
    """量的办法本身有用：出站、报错、太宽、先取解释器、在眼前移动，都看得见。"""
    interpreter = next((site.folder / "assets/pyodide").rglob("pyodide.mjs")).relative_to(site.folder).as_posix()
    extra = site.folder.parent / "extra"
    extra.mkdir(exist_ok=True)
    (extra / "faulty.html").write_text(
        '<!doctype html><title>x</title><link rel="icon" href="data:,"><h1>x</h1>'
        '<img src="https://example.invalid/x.png"><p style="width: 2000px">甲</p>'
        f'<script type="module" src="{interpreter}"></script>',
        encoding="utf-8",
    )
    reader = visit.Reader(chromium, site.url, 390)
    try:
        seen = reader.read("faulty.html")
        found = "\n".join(faults(seen, 390, visit.weight(site.folder, visit.Visit("", [interpreter])), 0))
        assert "example.invalid" in found
        assert "页面宽 2" in found
        assert f"还没有人要就取了 {interpreter}" in found
        assert not seen.shifts
        reader.tab.evaluate("window.scrollTo(0, 0); document.querySelector('p').style.marginTop = '300px'")
        until(reader.tab, lambda: reader.tab.evaluate("window.shifts"))
    finally:
        reader.close()


def test_a_lost_glyph_is_found(site, tmp_path):
    web.ensure_packages()
    (tmp_path / "assets/katex").mkdir(parents=True)
    for font, data in fonts.publish(
        ['<span class="katex"><span class="katex-html">≤</span></span>'],
        original_font("KaTeX_Main", False, False).parents[1],
    ).items():
        target = tmp_path / "assets/katex" / font
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(data)
    assert absent(tmp_path, "x/", [("KaTeX_Main normal 400", "≤")]) == []
    (fault,) = absent(tmp_path, "x/", [("KaTeX_Main normal 400", "≤∞汉")])
    assert fault.startswith("x/：KaTeX_Main-Regular 里没有 ∞，")


def test_slow_scripts_move_nothing(chromium, site):
    """脚本与字体晚半秒才到：按钮条、图示、公式换上时，读者眼前的正文不动。"""
    reader = visit.Reader(chromium, site.url, 390)

    def late(route):
        reader.tab.wait_for_timeout(500)
        route.continue_()

    reader.context.route("**/assets/web/main-*.js", late)
    try:
        for path in ("examples/single_head_attention/", "labs/01-single-head-attention/#stable-softmax"):
            seen = reader.read(path)
            assert seen.cls < SHIFT, (path, seen.shifts)
    finally:
        reader.close()
