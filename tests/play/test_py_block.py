"""<py-block>：在网页里运行、停止、修改、复原；结论、出错的行、上限；刷新以后还在。"""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect
from site_tools import stopped_clock

LAB = "labs/01-single-head-attention/"
EXAMPLE = "examples/single_head_attention/"


@pytest.fixture
def lesson(shared_tab):
    """实验 01，没有改过的样子；解释器若已载入，就还在。"""
    if LAB not in shared_tab.url:
        shared_tab.goto(LAB)
    shared_tab.evaluate(
        "for (const block of document.querySelectorAll('py-block')) if (block.edited || block.result) block.restore()"
    )
    return shared_tab


def block(tab, number: int):
    """页面上的第 `number` 段，从 1 数起。"""
    return tab.locator("py-block").nth(number - 1)


def status(one):
    return one.locator(".py-block__status")


def run(one) -> str:
    """运行一段，返回结论。"""
    one.evaluate("block => block.run()")
    expect(one).not_to_have_attribute("data-running", "")
    return status(one).text_content()


def write(one, code: str) -> None:
    one.evaluate("(block, code) => block.replace(code)", code)


#: 实验 01 的第 6 段是基线：有函数、有输出，前面有五段定义。
BASELINE = 6


def test_the_first_run_says_the_size_shows_bytes_and_agrees_with_the_page(open_tab):
    tab = open_tab()
    requests = []
    tab.on("request", lambda request: requests.append(request))
    tab.goto(LAB)
    one = block(tab, BASELINE)
    expect(one.locator(".py-block__hint")).to_contain_text(re.compile(r"约 6\.\d MB"))
    assert not [request.url for request in requests if "pyodide" in request.url or "editor" in request.url]
    tab.evaluate(
        """() => { window.said = []; new MutationObserver(() => window.said.push(
            document.querySelectorAll('.py-block__status')[5].textContent)).observe(
            document.querySelectorAll('.py-block__status')[5], {childList: true}) }"""
    )
    one.get_by_role("button", name="运行").click()
    expect(status(one)).to_contain_text("与文档一致")
    said = tab.evaluate("window.said")
    assert any(re.search(r"正在载入 Python：[\d.]+ / 13\.4 MB", text) for text in said), said
    assert "2.679046" in one.locator(".py-block__output").text_content()
    assert tab.locator(".py-block__hint").count() == 0
    assert {request.method for request in requests} == {"GET"}


def test_every_block_agrees_with_the_page(lesson):
    run(block(lesson, 1))
    said = lesson.evaluate(
        """async () => { const said = []; for (const block of document.querySelectorAll('py-block')) {
             await block.run(); said.push(block.querySelector('.py-block__status').textContent) } return said }"""
    )
    assert len(said) > 30
    assert not [text for text in said if "与文档一致" not in text]


def test_running_again_costs_little(lesson):
    """解释器已经在那里：不再取任何文件，也不再开一个 worker。"""
    run(block(lesson, BASELINE))
    workers, requests = lesson.workers, []

    def note(request):
        requests.append(request.url)

    lesson.on("request", note)
    for _ in range(3):
        assert "与文档一致" in run(block(lesson, BASELINE))
    lesson.remove_listener("request", note)
    assert lesson.workers == workers and any("worker" in one.url for one in workers)
    assert requests == []


def test_a_raising_block_is_compared_by_its_last_line(lesson):
    one = lesson.locator('py-block[data-raises="OverflowError"]')
    assert "与文档一致" in run(one)
    assert one.locator(".py-block__output").text_content() == "OverflowError: math range error\n"


def test_editing_by_keyboard_alone(lesson):
    one = block(lesson, BASELINE)
    lesson.keyboard.press("Escape")
    one.locator("pre").first.focus()
    lesson.keyboard.press("Enter")
    editor = one.locator(".cm-content")
    expect(editor).to_be_focused()
    lesson.keyboard.press("ControlOrMeta+End")
    lesson.keyboard.type('\nprint("多一行")')
    lesson.keyboard.press("ControlOrMeta+Enter")
    expect(status(one)).to_contain_text("你改过这段代码：和原来的输出相比")
    assert one.locator(".web-diff__line--added").text_content().endswith("多一行")
    # Tab 在编辑器里缩进；Esc 之后的 Tab 离开。
    lesson.keyboard.press("Tab")
    expect(editor).to_be_focused()
    with stopped_clock(lesson):
        lesson.keyboard.press("Escape")
        lesson.keyboard.press("Tab")
    expect(editor).not_to_be_focused()
    one.get_by_role("button", name="复制").click()
    expect(status(one)).to_have_text("已复制")  # 写剪贴板要等
    assert "多一行" in lesson.evaluate("navigator.clipboard.readText()")
    one.get_by_role("button", name="复原").click()
    assert "多一行" not in editor.text_content()
    assert "与文档一致" in run(one)


def test_an_edit_above_changes_the_result_below(lesson):
    write(block(lesson, 1), "QUERIES = KEYS = [[1.0, 0.0], [0.0, 1.0]]\nVALUES = [[3.0, 0.0], [0.0, 4.0]]\n")
    one = block(lesson, BASELINE)
    assert "你改过上面的代码：和原来的输出相比，变了的" in run(one)
    assert one.locator(".web-diff__line--added").count() == 2
    block(lesson, 1).evaluate("block => block.restore()")
    assert "与文档一致" in run(one)


@pytest.mark.parametrize(
    "code, last, line, helps",
    [
        ("x = 1\ny = wieghts\n", "NameError: name 'wieghts' is not defined", 2, "还没有定义"),
        ("x = 1\nprint('a'\n", "SyntaxError: '(' was never closed", 2, "读不懂"),
        ("a = 1\nb = 2\nassert a == b, '不相等'\n", "AssertionError: 不相等", 3, "断言不再成立"),
        ("def f(n):\n    return f(n + 1)\n\nf(0)\n", "RecursionError: maximum recursion depth exceeded", 2, "调用自己"),
        ("import torch\n", "ModuleNotFoundError: No module named 'torch'", 1, "标准库"),
        ("x = bytearray(2**30)\n", "MemoryError", 1, "内存到了上限"),
        ("import js\njs.fetch('x')\n", "AttributeError: fetch", 2, "没有这个属性"),
    ],
)
def test_errors_name_the_line_and_help(lesson, code, last, line, helps):
    one = block(lesson, BASELINE)
    write(one, code)
    run(one)
    assert last in one.locator(".py-block__last").text_content()
    assert helps in one.locator(".py-block__fault").text_content()
    marked = one.locator(".cm-fault")
    expect(marked).to_have_text(code.split("\n")[line - 1])


def test_an_error_above_is_reported_where_it_happened(lesson):
    write(block(lesson, 2), "1 / 0\n")
    one = block(lesson, BASELINE)
    assert "上面的代码出错了" in run(one)
    result = one.locator(".py-block__result")
    expect(result).to_contain_text("ZeroDivisionError")
    result.get_by_role("button", name="到第 2 段代码").click()
    expect(block(lesson, 2).get_by_role("button", name="运行")).to_be_focused()


def test_a_flood_of_output_is_cut_at_the_stated_limit(lesson):
    one = block(lesson, BASELINE)
    write(one, "for i in range(300_000):\n    print(i)\n")
    run(one)
    assert len(one.locator(".py-block__output").text_content()) == 100_000
    expect(one.locator(".py-block__result")).to_contain_text("输出超过 100000 字")


def test_an_endless_loop_is_stopped_and_the_next_run_restores_the_page(lesson):
    assert "与文档一致" in run(block(lesson, 4))
    one = block(lesson, BASELINE)
    write(one, "print('开始', flush=True)\nwhile True:\n    pass\n")
    one.evaluate("block => { block.run() }")
    expect(one.locator(".py-block__output")).to_have_text("开始\n")
    below = block(lesson, BASELINE + 2)
    below.evaluate("block => { block.run() }")  # 排在后面
    below.get_by_role("button", name="停止").click()
    expect(status(below)).to_contain_text("已停止")
    expect(one).to_have_attribute("data-running", "")
    assert lesson.evaluate("1 + 1") == 2  # 页面没有卡住
    one.get_by_role("button", name="停止").click()
    expect(status(one)).to_contain_text("已停止")
    one.get_by_role("button", name="复原").click()
    assert "与文档一致" in run(one)


def test_edits_survive_a_reload_and_belong_to_this_version(open_tab):
    tab = open_tab()
    tab.goto(LAB)
    write(block(tab, 3), "print('留着')\n")
    tab.reload()
    expect(block(tab, 3).locator(".cm-content")).to_have_text("print('留着')")
    expect(status(block(tab, 3))).to_contain_text("上次改过")
    keys = tab.evaluate("Object.keys(localStorage).filter(key => key.startsWith('livedocs:edits:'))")
    assert len(keys) == 1
    tab.evaluate("key => localStorage.setItem(key + 'x', localStorage.getItem(key))", keys[0])
    tab.evaluate("key => localStorage.removeItem(key)", keys[0])
    tab.reload()
    expect(tab.locator("py-block[data-ready]").first).to_be_visible()
    assert tab.locator(".py-block__editor").count() == 0


HOSTILE = [
    "{",
    "null",
    "[1]",
    '{"0": {"a": 1}}',
    '{"999": "x = 1"}',
    '{"__proto__": {"x": 1}}',
    json.dumps({"0": "x" * 50_000}),
    '"' + "x" * 500_000 + '"',
]


def test_hostile_storage_is_refused_and_markup_is_text(open_tab):
    tab = open_tab()
    tab.goto("start/")
    write(block(tab, 1), "x = 1\n")
    (key,) = tab.evaluate("Object.keys(localStorage).filter(key => key.startsWith('livedocs:edits:'))")
    for value in HOSTILE:
        tab.evaluate("([key, value]) => localStorage.setItem(key, value)", [key, value])
        tab.reload()
        expect(status(block(tab, 1))).to_contain_text("存下的修改读不出来")
        assert tab.locator(".py-block__editor").count() == 0
    markup = '</code><img src=x onerror="window.hacked = 1"><script>window.hacked = 1</script>\n'
    tab.evaluate("([key, value]) => localStorage.setItem(key, value)", [key, json.dumps({"0": markup})])
    tab.reload()
    expect(block(tab, 1).locator(".cm-content")).to_contain_text("onerror")
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("py-block img").count() == 0


def test_a_blocked_download_is_explained_and_can_be_retried(open_tab):
    tab = open_tab(allowed=["Failed to load resource", "ERR_FAILED"])
    tab.goto(EXAMPLE)
    tab.route("**/pyodide.asm.wasm", lambda route: route.abort())
    one = block(tab, 1)
    one.get_by_role("button", name="运行").click()
    expect(status(one)).to_have_text("没有载入")
    expect(one.locator(".py-block__fault")).to_contain_text("请检查网络")
    tab.unroute("**/pyodide.asm.wasm")
    one.get_by_role("button", name="运行").click()
    expect(status(one)).to_contain_text("与文档一致")


def test_instant_navigation_and_going_back(lesson):
    lesson.evaluate("window.stayed = true")
    run(block(lesson, BASELINE))
    lesson.click('.md-nav--primary a[href$="chapters/03-1-attention-pipeline/"]')
    expect(lesson.locator("h1")).to_contain_text("3.1")
    expect(lesson.locator("py-block[data-ready]").first).to_be_attached()
    count = lesson.locator("py-block").count()
    for number in (1, count):
        assert "与文档一致" in run(block(lesson, number))
    lesson.go_back()
    expect(lesson.locator("h1")).to_contain_text("实验 01")
    expect(block(lesson, BASELINE)).to_have_attribute("data-ready", "")
    assert "与文档一致" in run(block(lesson, BASELINE))
    assert lesson.evaluate("window.stayed"), "整页重新载入了：即时跳转没有起作用"


def test_without_javascript_the_page_reads_as_before(open_tab):
    tab = open_tab(java_script_enabled=False)
    tab.goto(LAB)
    assert tab.locator("py-block pre").count() > 30
    assert tab.locator("py-block button").count() == 0
    link = tab.locator(".lesson-card a", has_text="在自己的电脑上运行")
    assert link.get_attribute("href").endswith("start/#run")
    assert tab.locator("self-test details").first.is_visible()


def test_an_old_browser_gets_the_page_without_buttons(open_tab):
    tab = open_tab()
    tab.add_init_script("delete window.WebAssembly")
    tab.goto(LAB)
    tab.wait_for_timeout(300)
    assert tab.locator("py-block[data-ready]").count() == 0
    assert tab.locator("py-block pre").first.is_visible()


def test_a_page_opened_as_a_file_reads_as_before(open_tab, site):
    tab = open_tab(allowed=["file://", "ERR_FAILED", "Access to", "异常", "控制台"])
    tab.goto((site.folder / LAB / "index.html").as_uri())
    assert tab.locator("py-block[data-ready]").count() == 0
    assert tab.locator("py-block pre").first.is_visible()
    assert (
        tab.locator("body").evaluate("body => getComputedStyle(body.querySelector('.md-header')).position") == "sticky"
    )


def test_a_phone_has_room(open_tab):
    tab = open_tab(width=390, color_scheme="dark")
    tab.goto(LAB)
    one = block(tab, BASELINE)
    write(one, "print('很长的一行' * 40)\nundefined_name\n")
    run(one)
    one.locator(".cm-fault").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
