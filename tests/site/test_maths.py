"""livedocs.maths：两步排版，可读的文字，出错时的报告。"""

import html
import re

import pytest

from livedocs.maths import KaTeX, defer, defer_title, readable_tex, typeset


@pytest.fixture(scope="module")
def katex():
    process = KaTeX()
    yield process
    process.close()


def test_inline_and_display_formulas(katex):
    page = defer(
        '<p>当 <span class="arithmatex">\\(a &lt; \\sqrt{d}\\)</span></p>'
        '<div class="arithmatex">\\[\n\\begin{aligned}a &amp;= b\\\\c &amp;= d\\end{aligned}\n\\]</div>'
    )
    assert "\\(" not in page
    assert ">a &lt; √d</x-tex>" in page
    faults = []
    html = typeset(page, katex, lambda *fault: faults.append(fault))
    assert not faults
    assert html.count("<math") == 2
    assert html.count("katex-display") == 1
    assert "x-tex data-tex" not in html


def test_a_heading_and_its_entry_in_the_table_of_contents(katex):
    title = defer_title("为什么除以 \\(\\sqrt{d}\\)")
    assert title.endswith(">√d</x-tex>")
    assert "<math" in typeset(title, katex, print)


@pytest.mark.parametrize(
    ("tex", "reason"),
    [
        ("\\frac{1}", "Unexpected end of input"),
        ("权重", "unicodeTextInMathMode"),
        ("\\nosuch", "Undefined control sequence"),
    ],
)
def test_a_bad_formula_is_reported_and_still_shown(katex, tex, reason):
    faults = []
    html = typeset(defer(f'<span class="arithmatex">\\({tex}\\)</span>'), katex, lambda *fault: faults.append(fault))
    assert faults[0][0] == tex
    assert reason in faults[0][1]
    assert "katex" in html


def test_formulas_are_asked_for_once(katex):
    asked = []
    original = katex._ask
    katex._ask = lambda formulas: asked.append(formulas) or original(formulas)
    try:
        katex.render([("x_{99}", False), ("x_{99}", False), ("x_{99}", True)])
        katex.render([("x_{99}", False)])
    finally:
        del katex._ask
    assert asked == [[("x_{99}", False), ("x_{99}", True)]]


def test_the_process_restarts_after_it_ended(katex):
    katex.render([("y_1", False)])
    katex.close()
    assert "<math" in katex.render([("y_2", False)])[0]["html"]


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("\\sqrt{d_k}", "√d_k"),
        ("QK^\\top", "QK^ᵀ"),
        ("\\frac{a}{b}", "a/b"),
        ("[B,\\,T]", "[B,T]"),
        ("\\text{掩码} \\le 1", "掩码 ≤ 1"),
        ("\\mathrm{softmax}(x)", "softmax(x)"),
        ("0\\times\\text{NaN}", "0×NaN"),
        ("\\lceil768\\pi/64\\rceil\\cdot64", "⌈768π/64⌉·64"),
        ("QK^{\\mathsf T}/\\sqrt D", "QK^T/√D"),
        ("\\frac83C", "8/3C"),
        ("\\dfrac{a+b}{\\sqrt{\\frac{c}{d}}}", "(a+b)/(√(c/d))"),
        ("\\frac{}{}", "/"),
        ("\\frac{x_{ij}}{\\sqrt{d_{k}}}", "x_ij/√d_k"),
        ("0.1\\ln s", "0.1 ln s"),
        ("\\left(\\cos\\theta\\right)", "(cosθ)"),
    ],
)
def test_readable_text(tex, text):
    assert readable_tex(tex) == text


#: 名字本来就是英文词的命令：函数名。
FUNCTIONS = set("arg cos det dim exp inf lim ln log max min sin sup tan tanh".split())


def leftovers(tex: str) -> list[str]:
    """读出来的文字里还当作字母写着的命令：`0\\times\\text{NaN}` 读成“0timesNaN”。"""
    plain, own = readable_tex(tex), re.sub(r"\\[A-Za-z]+", " ", tex)
    names = set(re.findall(r"\\([A-Za-z]{2,})", tex)) - FUNCTIONS
    return sorted(name for name in names if plain.count(name) > own.count(name))


def test_no_command_is_left_in_the_text_of_any_formula_of_the_site(site):
    pages = [path.read_text(encoding="utf-8") for path in site.folder.rglob("*.html")]
    # 独立成行的公式不进索引，也不在标题里。
    source = re.compile(
        r'<math(?![^>]*display="block")[^>]*>(?:(?!</math>).)*?<annotation [^>]*>(.*?)</annotation>', re.DOTALL
    )
    formulas = {html.unescape(tex) for page in pages for tex in source.findall(page)}
    assert len(formulas) > 200
    left = {tex: names for tex in formulas if (names := leftovers(tex))}
    assert not left, f"livedocs/maths.py 的 _SYMBOLS 或 _LOOKS 里要加上这些命令：{left}"


def test_a_command_left_in_the_text_is_seen():
    assert leftovers("0\\nosuch x\\cdot\\text{nosuch}") == ["nosuch"]
    assert leftovers("\\log x\\times\\text{times}") == []
