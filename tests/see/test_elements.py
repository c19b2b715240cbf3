"""四个互动图示在真的 Chromium 里：键盘与触摸、课文里的数、网址里的状态、窄屏、明暗、跳转、没有脚本时。"""

from __future__ import annotations

import re
from math import atan2, cos, sin
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from see_tools import PAGES, STARTS, Element

EVERY = pytest.mark.parametrize("name", PAGES)
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}


def cells(element: Element, grid: str) -> list[list[str]]:
    """一张热力图里的数。"""
    rows = element.host.get_by_role("grid", name=re.compile(f"^{grid}")).get_by_role("row")
    texts = [row.get_by_role("gridcell").all_inner_texts() for row in rows.all()]
    return [row for row in texts if row]


# ---------------------------------------------------------------- 每个都要有的


@EVERY
def test_the_picture_can_still_be_opened(show, name):
    element = show(name)
    figure = element.find("> figure svg")
    assert not figure.is_visible()
    element.find(".still summary").press("Enter")
    assert figure.is_visible()


@EVERY
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_whole_and_readable(show, name, scheme):
    element = show(name, **PHONE)
    if scheme == "dark":
        element.tab.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    for state in (None, WIDEST[name]):
        if state:
            element.again(state)
            assert element.error() == ""
        assert element.tab.evaluate("document.documentElement.scrollWidth") <= 390
        outside = element.host.evaluate(
            """host => [...host.shadowRoot.querySelectorAll('.see *')]
                .filter(x => x.getBoundingClientRect().right > host.getBoundingClientRect().right + 1)
                .map(x => x.outerHTML.slice(0, 80))"""
        )
        assert not outside
        assert element.host.evaluate(CONTRAST) >= 4.5


#: 最占地方的状态。
_SIX = ";".join(["-12.25,1.5,-100,3"] * 6)
WIDEST = {
    "attention-explorer": f"q:{_SIX}~k:{_SIX}~v:{_SIX}~step:3",
    "head-shapes": "B:3~T:6~C:12~H:1~n:215~step:2",
    "rope-rotation": "m:31~n:31~base:1000000",
    "kv-cache": "prompt:8~steps:8~at:8~length:32768~layers:200~dim:1024~bytes:4",
}

#: 正文那一句话与背景的对比度。
CONTRAST = """host => {
    const channel = c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = text => {
        const canvas = new OffscreenCanvas(1, 1).getContext('2d');
        canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(x => channel(x / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const say = host.shadowRoot.querySelector('.say');
    const [a, b] = [light(getComputedStyle(say).color), light(getComputedStyle(document.body).backgroundColor)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}"""


@EVERY
def test_reduced_motion_stops_every_transition(show, name):
    element = show(name)
    durations = """host => [...host.shadowRoot.querySelectorAll('*')].map(x => getComputedStyle(x))
        .filter(s => s.transitionProperty !== 'none' && parseFloat(s.transitionDuration) > 0).length"""
    assert element.host.evaluate(durations) > 0
    element.tab.emulate_media(reduced_motion="reduce")
    assert element.host.evaluate(durations) == 0


@EVERY
def test_dark_changes_the_colours_at_once(show, name):
    element = show(name)
    colours = """host => ['color', 'borderTopColor'].map(
        x => getComputedStyle(host.shadowRoot.querySelector('.see'))[x])"""
    light = element.host.evaluate(colours)
    element.tab.evaluate("document.body.setAttribute('data-md-color-scheme', 'slate')")
    assert all(one != other for one, other in zip(light, element.host.evaluate(colours)))


#: 拒绝的网址：看不懂、太长、像代码、超出范围、合起来不合格。
HOSTILE = {
    "attention-explorer": [
        "q:1,2;3",
        "q:1,2,3",
        "t:NaN",
        "t:99",
        "step:9",
        "q:1e9,0;0,1",
        "axis:__proto__",
        "mask:true",
    ],
    "head-shapes": ["B:0", "H:3", "C:999999999999", "n:32", "constructor:1", "__proto__:1"],
    "rope-rotation": ["m:-1", "m:32", "base:1e309", "m:1~m:2"],
    "kv-cache": ["prompt:9", "length:3000", "bytes:8", "at:", "dim:0x10"],
}
HOSTILE_ANYWHERE = [
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "x" * 5000,
    "",
    "~",
    "%00",
    "\u202eq:1",
    "[object Object]",
]


@EVERY
def test_a_bad_address_is_refused_and_shown_as_text(show, name):
    element = show(name, quote(HOSTILE[name][0]))
    element.tab.once("dialog", lambda dialog: pytest.fail(f"弹出了 {dialog.message}"))
    for number, state in enumerate(HOSTILE[name] + HOSTILE_ANYWHERE):
        if number:
            element.again(quote(state))
        assert "网址里的状态不能用" in element.error(), state
        assert len(element.error()) < 300
        assert element.find("img, script, iframe").count() == 0
        assert element.said() == STARTS[name], state


#: 一个有代表性的状态，和它的那一句话里要有的字。
SHARED = {
    "attention-explorer": ("q:1,0;0,2~mask:0~step:3~i:0~j:1~t:0.5", "其中"),
    "head-shapes": ("B:2~T:5~C:12~H:3~n:89~step:2", "下标从 [1, 2, 1, 1] 变成 [1, 1, 2, 1]"),
    "rope-rotation": ("m:20~n:17~order:1", "两种配对的点积都是 −3.584"),
    "kv-cache": ("at:3~way:uncached", "t0 到 t6 的 K、V 全部重算"),
}


@EVERY
def test_a_link_carries_the_state_and_reset_goes_back_to_the_lesson(show, name):
    state, wanted = SHARED[name]
    element = show(name, permissions=["clipboard-read", "clipboard-write"])
    assert element.said() == STARTS[name]
    element.again(state)
    assert element.error() == ""
    said = element.said()
    assert wanted in said
    element.state()  # 等状态写进网址
    element.button("复制链接").click()
    expect(element.find(".copied")).to_contain_text("已复制")  # 写剪贴板要等
    link = element.tab.evaluate("navigator.clipboard.readText()")
    assert f"{name}=" in link and link == element.tab.url
    element.tab.goto(link)
    again = Element(element.tab, name)
    assert again.said() == said
    again.button("复原").click()
    assert again.said() == STARTS[name]
    again.wait_forgotten()


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_axe_finds_nothing(show, scheme):
    tab = show("attention-explorer").tab
    tab.evaluate("scheme => document.body.setAttribute('data-md-color-scheme', scheme)", scheme)
    for name in PAGES:
        element = Element(tab, name)
        assert element.find('[aria-live="polite"]').count() == 1
    tab.evaluate(SETTLED)
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    found = tab.evaluate("axe.run([...document.querySelectorAll('article > *')]).then(result => result.violations)")
    assert not [(rule["id"], [node["target"] for node in rule["nodes"]][:3]) for rule in found]


#: 等颜色的过渡结束，影子树里的也等。
SETTLED = """async () => {
    const roots = [document, ...[...document.querySelectorAll('*')].map(one => one.shadowRoot).filter(Boolean)];
    await Promise.allSettled(roots.flatMap(root => root.getAnimations()).map(one => one.finished));
}"""
AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


# ---------------------------------------------------------------- <attention-explorer>


def test_attention_shows_the_numbers_of_the_lesson(show):
    element = show("attention-explorer")
    assert cells(element, "点积") == [["1", "0"], ["0", "1"]]
    wanted = {
        "缩放": [["0.7071", "0"], ["0", "0.7071"]],
        "掩码": [["0.7071", "−∞"], ["0", "0.7071"]],
        "权重": [["1", "0", "1"], ["0.3302", "0.6698", "1"]],
        "输出": [["2", "0"], ["0.6605", "2.679"]],
    }
    for name, numbers in wanted.items():
        element.button("下一步").click()
        assert cells(element, name) == numbers
    assert element.find(".sum").inner_text() == "o1[0] = 0.3302×2 + 0.6698×0 = 0.6605"
    assert element.button("下一步").get_attribute("aria-disabled") == "true"


def test_attention_by_keyboard(show):
    element = show("attention-explorer")
    tab = element.tab
    element.label("1 点积").focus()
    tab.keyboard.press("ArrowRight")
    assert element.said().startswith("第 2 步，缩放")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    grid = element.host.get_by_role("grid", name=re.compile("^权重"))
    grid.locator('[tabindex="0"]').focus()
    tab.keyboard.press("ArrowRight")
    assert element.focused("data-cell") == "now-1-1"
    assert "q1 给 k1 的权重是 0.6698" in element.said()
    tab.keyboard.press("ArrowUp")
    assert "q0 给 k1 的权重是 0" in element.said()
    assert "被屏蔽的位置恰好是 0" in element.said()
    element.label("Q[1][1]").focus()
    tab.keyboard.press("ArrowUp")
    assert element.label("Q[1][1]").input_value() == "2"
    assert cells(element, "权重")[1] == ["0.1956", "0.8044", "1"]
    element.label("Q[1][1]").fill("0.5")  # 句点不该让 Material 翻到下一页
    tab.keyboard.press("Enter")
    assert cells(element, "权重")[1] == ["0.4125", "0.5875", "1"]
    assert "bench.html" in tab.url
    element.tab.wait_for_url("**/*q:1,0;0,0.5~*")


def test_attention_by_touch(show):
    element = show("attention-explorer", **PHONE)
    element.label("4 权重").tap()
    element.label("因果掩码").tap()
    assert cells(element, "权重")[0] == ["0.6698", "0.3302", "1"]
    element.host.get_by_role("gridcell", name="权重 第 0 行第 1 列：0.3302").tap()
    assert "33 % 给了未来" in element.said()
    element.label("除以 √D").tap()
    assert cells(element, "权重")[1] == ["0.2689", "0.7311", "1"]


def test_attention_counterfactuals_of_the_lesson(show):
    element = show("attention-explorer")
    element.label("4 权重").check()
    element.label("按列（错）").check()
    assert cells(element, "权重") == [["0.6698", "0", "0.6698"], ["0.3302", "1", "1.3302"]]
    assert "不是 1" in element.said()
    assert element.find(".extra.wrong").count() == 2
    element.label("按行").check()
    element.label("温度").fill("0.5")
    assert cells(element, "权重")[1] == ["0.1956", "0.8044", "1"]
    for row, column in ((0, 0), (0, 1), (1, 0), (1, 1)):
        element.label(f"V[{row}][{column}]").fill(["0", "4", "2", "0"][2 * row + column])
    element.label("温度").fill("1")
    element.label("5 输出").check()
    assert cells(element, "输出") == [["0", "4"], ["1.3395", "1.321"]]


def test_attention_highlights_the_row_and_column_in_play(show):
    element = show("attention-explorer")
    lit = lambda: sorted(x.get_attribute("aria-label") for x in element.find("input.lit").all())  # noqa: E731
    assert lit() == ["K[0][0]", "K[0][1]", "Q[1][0]", "Q[1][1]"]
    element.label("5 输出").check()
    assert lit() == ["V[0][0]", "V[1][0]"]
    row = element.find(".picture:not(.live) .cell.lit").all_inner_texts()
    assert row == ["0.3302", "0.6698"]


def test_attention_grows_to_six_tokens_and_refuses_what_makes_no_sense(show):
    element = show("attention-explorer")
    element.find(".sizes summary").click()
    element.button("Tq 加 1").click()
    assert "queries[0] 没有合法的键：Tq = 3 大于 Tk = 2" in element.error()
    for name, times in (("Tk", 4), ("Tq", 4), ("D", 2)):
        for _ in range(times):
            element.button(f"{name} 加 1").click()
        assert element.button(f"{name} 加 1").get_attribute("aria-disabled") == "true"
    assert element.error() == ""
    assert element.find("input[aria-label^='K[']").count() == 24
    assert len(cells(element, "点积")) == 6
    for bad in ("abc", "1e5", "", "101", "0.12345", "1/3", "９"):
        element.label("K[5][3]").fill(bad)
        element.label("K[5][3]").press("Enter")
        assert "K[5][3] 应是 −100 到 100 的数" in element.error()
        assert element.label("K[5][3]").get_attribute("aria-invalid") == "true"
    element.label("K[5][3]").fill("−2.5")
    element.label("K[5][3]").press("Enter")
    assert element.error() == ""
    element.tab.wait_for_url("**-2.5~*")
    assert len(element.state()) < 600


def test_attention_survives_extreme_numbers(show):
    big = "100,100;-100,100"
    element = show("attention-explorer", f"q:{big}~k:{big}~v:{big}~t:0.1~step:3~i:1~j:1")
    assert element.error() == ""
    assert cells(element, "权重") == [["1", "0", "1"], ["0", "1", "1"]]
    assert "已减去最大值" in element.find(".sum").inner_text()


# ---------------------------------------------------------------- <head-shapes>


def test_heads_follow_number_21_like_the_lesson(show):
    element = show("head-shapes")
    wanted = [
        ("[1, 4, 2, 4]", "[0, 2, 1, 1]", "它还是第 21 个"),
        ("[1, 2, 4, 4]", "[0, 1, 2, 1]", "按新的次序读，它是第 25 个"),
        ("[1, 2, 4, 4]", "[0, 1, 2, 1]", "头 1 里词元 0 到 2 的通道 1"),
        ("[1, 4, 8]", "[0, 2, 5]", "编号 21 回到原位"),
    ]
    for shape, index, said in wanted:
        element.button("下一步").click()
        assert element.find(".shape code").inner_text().endswith(f"= {shape}")
        assert element.find(".path .on code").inner_text() == index
        assert said in element.said()
        assert element.find(".cell.at").inner_text() == "21"


def test_heads_show_where_a_missing_transpose_puts_it(show):
    element = show("head-shapes")
    element.label("合并时漏掉转置").check()
    assert "应在 [0, 2, 5]，却到了 [0, 3, 1]，词元 2 的数进了词元 3" in element.said()
    rows = element.find(".cells .cell").all_inner_texts()
    assert [int(x) for x in rows[:8]] == [0, 1, 2, 3, 8, 9, 10, 11]
    element.label("合并时漏掉转置").uncheck()
    assert [int(x) for x in element.find(".cells .cell").all_inner_texts()] == list(range(32))


def test_heads_by_keyboard(show):
    element = show("head-shapes")
    tab = element.tab
    element.find('.cell[tabindex="0"]').focus()
    tab.keyboard.press("ArrowRight")
    assert element.said().startswith("投影：编号 22 在 [0, 2, 6]")
    tab.keyboard.press("ArrowUp")
    assert element.said().startswith("投影：编号 14 在 [0, 1, 6]")
    element.label("3 transpose").focus()
    tab.keyboard.press("Space")
    element.find('.cell[tabindex="0"]').focus()
    for _ in range(3):
        tab.keyboard.press("ArrowLeft")  # 从头 1 走回头 0
    assert element.find(".path li").first.inner_text().endswith("[0, 1, 3]")
    assert element.focused("aria-label") == "编号 11"
    element.label("C，通道").focus()
    tab.keyboard.press("ArrowUp")
    assert "hidden_size = 9 不能被 n_heads = 2 整除" in element.error()


def test_heads_by_touch(show):
    element = show("head-shapes", "B:2~T:5~C:12~H:3~n:89~step:2", **PHONE)
    tab = element.tab
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    element.host.get_by_role("button", name="编号 61", exact=True).tap()
    assert "下标从 [1, 0, 0, 1] 变成 [1, 0, 0, 1]" in element.said()


def test_heads_explain_illegal_sizes(show):
    element = show("head-shapes")
    element.label("H，头").fill("3")
    element.label("H，头").press("Enter")
    assert element.error() == (
        "hidden_size = 8 不能被 n_heads = 3 整除：每个头 2 个通道，会剩下 2 个没有头要。C = 8 时，H 可以是 1、2、4、8"
    )
    assert element.find(".shape code").inner_text() == "[B, T, C] = [1, 4, 8]"
    for bad in ("0", "13", "两", "-1", "2.5", ""):
        element.label("H，头").fill(bad)
        element.label("H，头").press("Enter")
        assert "H 应是 1 到 12 的整数" in element.error()
    element.label("H，头").fill("8")
    element.label("H，头").press("Enter")
    assert element.error() == ""
    element.label("4 相乘").check()
    assert element.find(".block").count() == 8


# ---------------------------------------------------------------- <rope-rotation>


def products(element: Element) -> list[str]:
    return [text.removeprefix("点积 ") for text in element.find(".caption output").all_inner_texts()]


def test_rope_depends_on_the_distance_only(show):
    element = show("rope-rotation")
    assert products(element) == ["−3.584", "−1.073"]
    element.label("一起移动（距离不变）").check()
    seen = set()
    for position in (3, 9, 20, 31):
        element.label("查询的位置 m").fill(str(position))
        seen.add(tuple(products(element)))
        assert element.label("键的位置 n").input_value() == str(position - 3)
    assert seen == {("−3.584", "−1.073")}
    element.label("一起移动（距离不变）").uncheck()
    # 课文里的其他距离：0、1、7，以及反过来的 −1。
    for m, n, wanted in ((5, 5, "−2.5"), (5, 4, "−3.567"), (12, 5, "−2.98"), (4, 5, "−1.88")):
        element.label("查询的位置 m").fill(str(m))
        element.label("键的位置 n").fill(str(n))
        assert products(element)[0] == wanted
        assert f"m − n = {m - n}".replace("-", "−") in element.said()


def test_rope_layouts_agree_after_reordering(show):
    element = show("rope-rotation")
    element.label("相邻配对之前先重排通道").check()
    assert products(element) == ["−3.584", "−3.584"]
    assert "两种配对的点积都是 −3.584" in element.said()
    parts = element.find("figcaption b").all_inner_texts()
    assert parts[:4] == parts[4:]


def test_rope_by_keyboard(show):
    element = show("rope-rotation")
    tab = element.tab
    element.label("查询的位置 m").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert element.said().startswith("查询在位置 7，键在位置 2，m − n = 5")
    tab.keyboard.press("Home")
    assert element.said().startswith("查询在位置 0")
    element.label("1000000").focus()
    tab.keyboard.press("Space")
    assert "base = 1000000" in element.said()


def test_rope_by_dragging_an_arrow(show):
    element = show("rope-rotation")
    tab = element.tab
    circle = element.find("svg.grab").first
    circle.scroll_into_view_if_needed()
    box = circle.bounding_box()
    x, y, r = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["width"] * 0.4
    # 查询在第 0 对是 (0.5, 1)，位置 5。
    start = atan2(1, 0.5) + 5
    tab.mouse.move(x + r * cos(start), y - r * sin(start))
    tab.mouse.down()
    for turn in (1, 2, 3):
        tab.mouse.move(x + r * cos(start + turn), y - r * sin(start + turn))
    tab.mouse.up()
    assert element.said().startswith("查询在位置 8，键在位置 2")
    tab.mouse.move(x, y)
    assert element.said().startswith("查询在位置 8，键在位置 2")


def test_rope_by_touch(show):
    element = show("rope-rotation", **PHONE)
    tab = element.tab
    box = element.label("键的位置 n").bounding_box()
    tab.touchscreen.tap(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    assert element.said().startswith("查询在位置 5，键在位置 31，m − n = −26")
    element.label("一起移动（距离不变）").tap()
    assert element.label("一起移动（距离不变）").is_checked()


# ---------------------------------------------------------------- <kv-cache>


def ledger(element: Element) -> list[list[int]]:
    rows = element.find(".ledger tbody tr").all()
    return [[int(x.replace(",", "")) for x in row.locator("td").all_inner_texts()] for row in rows]


def test_cache_walks_through_prefill_and_decode(show):
    element = show("kv-cache")
    assert ledger(element) == [[4, 4], [16, 16], [4, 4], [16, 16]]
    for at, length in enumerate((5, 6, 7), 1):
        element.button("下一步").click()
        assert element.said().startswith(f"解码第 {at} 步：只送进 t{length - 1}")
        assert f"t0 到 t{length - 2} 的从缓存读" in element.said()
        assert ledger(element)[:2] == [[1, length], [length, length**2]]
        assert element.find(".strip >> nth=0").locator(".fresh").all_inner_texts() == [f"t{length - 1}"]
        assert element.find(".strip >> nth=0").locator(".kept").count() == length - 1
        assert element.find("rect.fresh").count() == length
    # 课文的图：有缓存投影 7 次。
    assert ledger(element)[2:] == [[7, 22], [34, 126]]
    element.label("没有缓存").check()
    assert "全部重算" in element.said()
    assert element.find("rect.fresh").count() == 49
    assert element.find("rect.masked").count() == 21


def test_cache_bytes_are_those_of_the_lesson(show):
    element = show("kv-cache")
    sizes = element.find(".bars output")
    assert sizes.all_inner_texts() == ["48 MiB", "24 MiB", "12 MiB", "6 MiB"]
    element.label("fp32").check()
    assert sizes.all_inner_texts()[1] == "48 MiB"
    element.label("bf16").check()
    element.label("head_dim").fill("64")
    element.label("head_dim").press("Enter")
    assert sizes.all_inner_texts()[2] == "8 MiB"
    element.label("层数").fill("0")
    element.label("层数").press("Enter")
    assert "层数应是 1 到 200 的整数" in element.error()
    assert sizes.all_inner_texts()[2] == "8 MiB"


def test_cache_by_keyboard(show):
    element = show("kv-cache")
    tab = element.tab
    element.label("步骤").focus()
    tab.keyboard.press("ArrowRight")
    assert element.said().startswith("解码第 1 步")
    tab.keyboard.press("End")
    assert element.said().startswith("解码第 3 步")
    element.button("解码步数 减 1").focus()
    tab.keyboard.press("Enter")
    assert element.said().startswith("解码第 2 步")
    element.label("长度 T").focus()
    tab.keyboard.press("ArrowRight")
    assert element.find(".bars output").first.inner_text() == "96 MiB"


def test_cache_by_touch(show):
    element = show("kv-cache", **PHONE)
    tab = element.tab
    for _ in range(4):
        element.button("提示词 加 1").tap()
    for _ in range(5):
        element.button("解码步数 加 1").tap()
    for name in ("提示词", "解码步数"):
        assert element.button(f"{name} 加 1").get_attribute("aria-disabled") == "true"
    element.button("下一步").tap()
    assert element.said().startswith("解码第 1 步：只送进 t8")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
