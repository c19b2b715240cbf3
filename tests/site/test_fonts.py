"""livedocs.fonts：一个字用哪种字体，裁剪出的字体，不认识的样式表。"""

import io

import pytest
from fontTools.ttLib import TTFont
from mkdocs.commands.build import build
from mkdocs.config import load_config
from site_tools import ROOT

from livedocs import maths, web
from livedocs.fonts import FontError, publish, read_sheet, subset, used, woff2_only

DIST = ROOT / "web" / "node_modules" / "katex" / "dist"


@pytest.fixture(scope="module")
def katex():
    web.ensure_packages()
    process = maths.KaTeX()
    yield process
    process.close()


@pytest.fixture(scope="module")
def sheet(katex):
    return read_sheet(woff2_only((DIST / "katex.min.css").read_text(encoding="utf-8")))


def faces(katex, sheet, tex: str, display: bool = False) -> dict[str, str]:
    """公式 → 每个字体文件用到的字。"""
    (result,) = katex.render([(tex, display)])
    found = used(result["html"], sheet)
    return {sheet.faces[face].removesuffix(".woff2"): "".join(sorted(text)) for face, text in found.items()}


@pytest.mark.parametrize(
    ("tex", "font", "text"),
    [
        ("x", "KaTeX_Math-Italic", "x"),
        ("2", "KaTeX_Main-Regular", "2"),
        ("\\mathrm{softmax}", "KaTeX_Main-Regular", "afmostx"),
        ("\\mathbf{W}", "KaTeX_Main-Bold", "W"),
        ("\\boldsymbol{w}", "KaTeX_Math-BoldItalic", "w"),
        ("\\mathbb{R}", "KaTeX_AMS-Regular", "R"),
        ("\\mathcal{L}", "KaTeX_Caligraphic-Regular", "L"),
        ("\\texttt{head}", "KaTeX_Typewriter-Regular", "adeh"),
        ("\\textit{row}", "KaTeX_Main-Italic", "orw"),
        ("\\Bigl(", "KaTeX_Size2-Regular", "("),
        ("a \\lt b", "KaTeX_Main-Regular", "<"),
    ],
)
def test_each_character_gets_the_font_of_the_style_sheet(katex, sheet, tex, font, text):
    assert faces(katex, sheet, tex)[font].strip("\u200b") == text


def test_operators_grow_with_the_style(katex, sheet):
    assert "∑" in faces(katex, sheet, "\\sum x")["KaTeX_Size1-Regular"]
    assert "∑" in faces(katex, sheet, "\\sum x", display=True)["KaTeX_Size2-Regular"]


def test_mathml_needs_no_font(katex, sheet):
    """公式的 TeX 原文写在 MathML 里，不显示；它用到的字母不算。"""
    assert set("frac") & set("".join(faces(katex, sheet, "\\frac12").values())) == set()


def test_only_what_is_used_is_published_and_the_bytes_are_the_same_again(katex):
    formulas = [result["html"] for result in katex.render([("x^2", False), ("\\sqrt{x}", False)])]
    files = publish(formulas, DIST)
    names = sorted(name.partition(".")[0] for name in files if name.startswith("fonts/"))
    assert names == ["fonts/KaTeX_Main-Regular", "fonts/KaTeX_Math-Italic"]
    css = files["katex.min.css"].decode()
    assert css.count("@font-face") == 2
    assert all(name in css for name in files if name.startswith("fonts/"))
    subset.cache_clear()
    assert publish(formulas, DIST) == files


def test_a_subset_holds_the_characters_and_keeps_the_licence():
    source = DIST / "fonts" / "KaTeX_Main-Regular.woff2"
    data = subset(source, frozenset("2√汉"))
    with TTFont(io.BytesIO(data)) as font:
        assert {chr(code) for code in font.getBestCmap()} == {"2", "√"}
        assert "scripts.sil.org" in font["name"].getDebugName(14)
    assert len(data) < 2_000 < source.stat().st_size


def test_another_formula_changes_the_file_name(katex):
    one, two = katex.render([("x", False), ("x y", False)])
    first, second = publish([one["html"]], DIST), publish([two["html"]], DIST)
    assert not (first.keys() & second.keys()) - {"katex.min.css"}


@pytest.mark.parametrize(
    ("css", "message"),
    [
        ("@font-face{font-family:KaTeX_Main;src:url(x.woff2)}", "认不出的 @font-face"),
        ("@font-face{font-family:KaTeX_Main;src:url(fonts/a.woff2)}", "没有字体"),
        (
            "@font-face{font-family:KaTeX_Main;src:url(fonts/a.woff2)}.katex a~b{font-family:KaTeX_Main}",
            "不认识的选择器：.katex a~b",
        ),
    ],
)
def test_an_unknown_style_sheet_is_explained(css, message):
    with pytest.raises(FontError, match=message):
        read_sheet(css)


def test_a_missing_font_is_explained(katex, tmp_path):
    (tmp_path / "katex.min.css").write_bytes((DIST / "katex.min.css").read_bytes())
    (x,) = katex.render([("x", False)])
    with pytest.raises(FontError, match=r"KaTeX_Math-Italic\.woff2，npm 包里却没有"):
        publish([x["html"]], tmp_path)


def test_the_preview_follows_a_new_formula(project):
    """预览时样式表不瘦身、不改名；改了页面，新的字形马上就有。"""

    def preview(text: str) -> tuple[str, list[str]]:
        project.write("docs/index.md", text)
        config = load_config(str(project.folder / "mkdocs.yml"), site_dir=str(project.site))
        config.plugins.on_startup(command="serve", dirty=False)
        build(config)
        folder = project.site / "assets" / "katex"
        return (folder / "katex.min.css").read_text(encoding="utf-8"), [path.name for path in folder.glob("fonts/*")]

    css, names = preview("# 首页\n\n$\\mathfrak{g}$\n")
    assert any(name.startswith("KaTeX_Fraktur-Regular.") for name in names)
    (before,) = [name for name in names if name.startswith("KaTeX_Fraktur-Regular.")]
    css, names = preview("# 首页\n\n$\\mathfrak{gh}$\n")
    (after,) = [name for name in names if name.startswith("KaTeX_Fraktur-Regular.")]
    assert before != after
    assert after in css and before not in css
