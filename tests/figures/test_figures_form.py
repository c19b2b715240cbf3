"""每张图的形式：合法的 SVG、有名字和说明、不向外取东西、不串样式、字够大、不出界、不重叠、对比度够。"""

import re
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path

import material
import pytest

from figures import store
from figures.svg import ACCENTS, MATERIAL, SIZES, STYLE, TINT

SVG = "{http://www.w3.org/2000/svg}"
FILES = [f"{name}.svg" for name in store.NAMES]
PHONE = 358  # 390 宽的屏幕减去 Material 两侧的边距


def root_of(name):
    return ET.fromstring((store.FOLDER / name).read_bytes())


def source_of(name):
    return (store.FOLDER / name).read_text(encoding="utf-8")


def classes(node):
    return node.get("class", "").split()


# 形式 ---------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_is_a_labelled_picture_that_scales(name):
    root = root_of(name)
    assert root.tag == f"{SVG}svg" and root.get("role") == "img" and root.get("class") == "fig"
    assert root.get("width") is None and root.get("height") is None
    x, y, width, height = map(float, root.get("viewBox").split())
    assert (x, y) == (0, 0) and width <= 720 and height <= 2 * width
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    title, desc = root[0].text, root[1].text
    assert len(title) >= 6 and len(desc) >= 40 and re.search(r"[\u4e00-\u9fff]", title + desc)
    assert len(source_of(name).encode("utf-8")) < 25_000


def test_titles_differ():
    assert len({root_of(name)[0].text for name in FILES}) == len(FILES)


@pytest.mark.parametrize("name", FILES)
def test_takes_nothing_from_outside_and_runs_nothing(name):
    source = source_of(name).replace('xmlns="http://www.w3.org/2000/svg"', "", 1)
    assert not re.search(
        r"https?:|//|url\(|@import|@font-face|href|<script|<image|<foreignObject|data:|\son\w+=", source
    )


@pytest.mark.parametrize("name", FILES)
def test_several_figures_fit_in_one_page(name):
    root = root_of(name)
    assert not [node for node in root.iter() if node.get("id")], "同页的图不能有相同的 id，所以没有 id"
    assert not [node for node in root.iter() if node.get("style")], "颜色和字体只写在样式表里"
    style = root.find(f"{SVG}style").text
    flat = re.sub(r"@media[^{]*\{(.*?\})\}", r"\1", style)
    for selectors in re.findall(r"([^{}]+)\{[^{}]*\}", flat):
        for selector in re.split(r",(?![^(]*\))", selectors.strip()):
            assert re.match(r"(\[data-md-color-scheme=(default|slate)\] )?\.fig( |$)", selector), selector
    used = {c for node in root.iter() for c in classes(node)} - {"fig"}
    assert used <= set(re.findall(r"\.(f-[a-z]+)", style))


def test_light_and_dark_are_set_by_the_page_first_and_by_the_system_otherwise():
    for name, (light, dark) in ACCENTS.items():
        for start, colour in (
            (r"\.fig,\[data-md-color-scheme=default\] \.fig", light),
            (r"@media \(prefers-color-scheme:dark\)\{\.fig", dark),
            (r"\[data-md-color-scheme=slate\] \.fig", dark),
        ):
            assert re.search(rf"(?m)^{start}\{{[^}}]*--fig-{name}:{colour}[;}}]", STYLE), (name, start)


# 文字的位置 ---------------------------------------------------------------


def extent(text, size, mono):
    """估计文字的宽度：汉字与全角标点 1 em，等宽 0.62 em，其余 0.6 em（偏宽，留余地）。"""
    wide = sum(unicodedata.east_asian_width(ch) in "WF" for ch in text)
    return size * (wide + (len(text) - wide) * (0.62 if mono else 0.6))


def placed_texts(root):
    """逐段给出 (文字, 左, 上, 右, 下, 类名的集合)；一行多词的按词给出。"""
    for node in root.iter(f"{SVG}text"):
        names = set(classes(node))
        size = next((SIZES[c] for c in names if c in SIZES), SIZES[""])
        words = [(node, "".join(node.itertext()))]
        if node.get("x") is None:
            words = [(span, span.text) for span in node]
        for place, text in words:
            x, y, width = float(place.get("x")), float(node.get("y")), extent(text, size, "f-n" in names)
            left = x - {True: 0, False: width / 2}["f-start" in names] - (width / 2 if "f-end" in names else 0)
            yield text, left, y - 0.8 * size, left + width, y + 0.15 * size, names


@pytest.mark.parametrize("name", FILES)
def test_text_is_large_enough_on_a_phone_and_stays_inside(name):
    root = root_of(name)
    width, height = map(float, root.get("viewBox").split()[2:])
    assert min(SIZES.values()) * 720 / width >= 13
    assert min(SIZES.values()) * PHONE / width >= 10
    for text, left, top, right, bottom, _ in placed_texts(root):
        assert left >= 2 and right <= width - 2 and top >= 2 and bottom <= height - 2, text


@pytest.mark.parametrize("name", FILES)
def test_texts_do_not_overlap(name):
    boxes = list(placed_texts(root_of(name)))
    for i, (a, l1, t1, r1, b1, _) in enumerate(boxes):
        for b, l2, t2, r2, b2, _ in boxes[i + 1 :]:
            assert not (l1 < r2 and l2 < r1 and t1 < b2 and t2 < b1), f"{a!r} 与 {b!r} 重叠"


# 对比度 -------------------------------------------------------------------


def hsl(hue, saturation, lightness):
    """HSL（度、0–1、0–1）到 RGB（0–255）。"""

    def channel(n):
        k = (n + hue / 30) % 12
        return 255 * (lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(k - 3, 9 - k, 1)))

    return tuple(channel(n) for n in (0, 8, 4))


def colour(text, hue=225.0):
    """CSS 颜色到 ((r, g, b), 不透明度)。"""
    if text.startswith("#"):
        digits = text[1:]
        digits = "".join(ch * 2 for ch in digits) if len(digits) in (3, 4) else digits
        values = [int(digits[i : i + 2], 16) for i in range(0, len(digits), 2)]
        return tuple(values[:3]), values[3] / 255 if len(values) == 4 else 1.0
    h, s, lightness, alpha = re.fullmatch(
        r"hsla\((var\(--md-hue\)|[\d.]+)\s*,\s*([\d.]+)%\s*,\s*([\d.]+)%\s*,\s*([\d.]+)\)", text
    ).groups()
    return hsl(hue if h.startswith("var") else float(h), float(s) / 100, float(lightness) / 100), float(alpha)


def over(front, alpha, back):
    """半透明的颜色叠在底色上。"""
    return tuple(alpha * f + (1 - alpha) * b for f, b in zip(front, back))


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    """WCAG 2 的对比度，1 到 21。"""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_formula():
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.01)
    assert colour("hsla(var(--md-hue), 15%, 14%, 1)")[0] == pytest.approx((30.3, 33, 41.1), abs=0.2)


def material_values():
    """从装好的主题里读浅色与深色的变量值：{"浅色": {变量: 值}, "深色": …}。"""
    sheets = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
    main, palette = (next(sheets.glob(f"{stem}.*.min.css")).read_text(encoding="utf-8") for stem in ("main", "palette"))
    found = {}
    for theme, css in (("浅色", main), ("深色", palette)):
        found[theme] = {row[0]: re.search(rf"{row[0]}:([^;}}]+)", css).group(1) for row in MATERIAL.values()}
    return found


def themes():
    """每种看法下各颜色的值：站内浅色、站内深色、单独打开浅色、单独打开深色。"""
    values = material_values()
    for i, theme in enumerate(("浅色", "深色")):
        accents = {name: colour(row[i])[0] for name, row in ACCENTS.items()}
        for where in ("站内", "单独打开"):
            base = {
                name: colour(values[theme][row[0]] if where == "站内" else row[1 + i]) for name, row in MATERIAL.items()
            }
            yield where + theme, base, accents


def paint(node, base, accents):
    """返回方框的 (颜色, 不透明度)；不填色的返回 None。"""
    names = classes(node)
    for c in names:
        if c == "f-slot":
            return None
        if c in ("f-bg", "f-face"):
            return base[c[2:]]
        if c[2:] in accents:
            return accents[c[2:]], float(node.get("fill-opacity", TINT))
    raise AssertionError(f"不认识的方框 {names}")


@pytest.mark.parametrize(("view", "base", "accents"), [pytest.param(*t, id=t[0]) for t in themes()])
@pytest.mark.parametrize("name", FILES)
def test_every_text_has_contrast_aa_on_what_lies_under_it(name, view, base, accents):
    """按画的先后叠好每段文字下面的底色，再算对比度：至少 4.5。"""
    root = root_of(name)
    page = base["bg"][0]
    boxes = []
    for node in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(node.get(key)) for key in ("x", "y", "width", "height"))
        fill = paint(node, base, accents)
        if fill:
            boxes.append((x, y, x + w, y + h, fill))
    for text, left, top, right, bottom, names in placed_texts(root):
        cx, cy = (left + right) / 2, (top + bottom) / 2
        under = page
        for x0, y0, x1, y1, (rgb, alpha) in boxes:
            if x0 <= cx <= x1 and y0 <= cy <= y1:
                under = over(rgb, alpha, under)
        accent = [accents[c[2:]] for c in names if c[2:] in accents]
        front = accent[0] if accent else over(*base["fg"], under)
        assert contrast(front, under) >= 4.5, f"{text!r} 在{view}下只有 {contrast(front, under):.2f}"


@pytest.mark.parametrize(("view", "base", "accents"), [pytest.param(*t, id=t[0]) for t in themes()])
def test_lines_and_borders_stand_out_from_the_page(view, base, accents):
    for name, rgb in accents.items():
        assert contrast(rgb, base["bg"][0]) >= 3, f"--fig-{name} 在{view}下"
