"""整站在严格的内容安全策略之下：别处的脚本不运行，读屏与键盘都能用。逐页走一遍的在 tests/site/test_weight.py。"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from site_tools import ROOT

from livedocs import csp

LAB = "labs/01-single-head-attention/"


def test_the_policy_is_strict_and_the_same_in_the_header_and_in_every_page(site):
    header = site.read(csp.HEADERS).partition("Content-Security-Policy: ")[2].strip()
    rules = dict(rule.split(" ", 1) for rule in header.split("; "))
    assert rules["default-src"] == "'self'"
    words = rules["script-src"].split()
    assert words[:2] == ["'self'", "'wasm-unsafe-eval'"]
    assert all(re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", word) for word in words[2:])
    assert len(words) < 12, "行内脚本应当只有主题的几段"
    assert "unsafe" not in rules["style-src"]
    assert not re.search(r"https?:|\*", header)
    for page in site.pages():
        text = page.read_text(encoding="utf-8")
        assert f'<meta http-equiv="Content-Security-Policy" content="{header}">' in text, page
        assert text.index("Content-Security-Policy") < text.index("<script"), page


def test_a_foreign_inline_script_does_not_run(open_tab, site):
    tab = open_tab(allowed=["Content Security Policy"])
    tab.goto("")
    tab.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s) }"
    )
    assert tab.evaluate("window.hacked") is None


def test_hashes_cover_what_runs_and_nothing_else():
    html = (
        '<script>a()</script><script type="application/json">{}</script><script src="x.js"></script><style>b{}</style>'
    )
    scripts, styles = csp.inline_hashes(html + "<script>a()</script>")
    assert len(scripts) == len(styles) == 1
    assert csp.reserve('<head><meta charset="utf-8"><script>').index("Content-Security-Policy") > 0


AXE = (ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").as_posix()


@pytest.mark.parametrize(
    "path, scheme", [(LAB, "light"), (LAB, "dark"), ("chapters/03-1-attention-pipeline/", "light")]
)
def test_axe_finds_nothing_serious(open_tab, node, path, scheme):
    tab = open_tab(color_scheme=scheme)
    tab.goto(path)
    expect(tab.locator("py-block[data-ready]").first).to_be_attached()
    expect(tab.locator(".self-test__actions").first).to_be_attached()
    one = tab.locator("py-block").first
    one.evaluate("block => block.replace('print(1)\\nundefined\\n')")
    expect(one.locator(".cm-content")).to_be_visible()
    with open(AXE, encoding="utf-8") as source:
        tab.evaluate(source.read() + "; undefined")
    result = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [
        f"{rule['id']}：{node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"][:3]
    ]
    assert not serious, "\n".join(serious)
