"""实验 01 的一键实验与记录，自测题的判题与进度。"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

LAB = "labs/01-single-head-attention/"


@pytest.fixture
def lab(shared_tab):
    if LAB not in shared_tab.url:
        shared_tab.goto(LAB)
    shared_tab.evaluate("localStorage.clear()")
    return shared_tab


# ---------------------------------------------------------------- 实验


def test_every_experiment_shows_its_change_before_it_runs(lab):
    panels = lab.locator(".lab-experiment")
    expect(panels).to_have_count(6)
    for number in range(6):
        assert panels.nth(number).locator(".web-diff__line--added").count() > 0
    assert any("causal=False" in line for line in panels.nth(0).locator(".web-diff__line--added").all_text_contents())
    removed = panels.nth(2).locator(".web-diff__line--removed").all_text_contents()
    assert any("s - peak" in line for line in removed)


def test_one_click_runs_an_experiment_and_fills_its_row(lab):
    lab.locator(".lab-experiment").nth(0).get_by_role("button").click()
    row = lab.locator("lab-record tr", has_text="小实验 1")
    expect(row.locator(".lab-record__verdict")).to_have_text("通过")
    expect(row.locator(".lab-record__seen")).to_contain_text("1.339523, 1.320954")
    other = lab.locator("lab-record tr", has_text="小实验 2")
    expect(other.locator(".lab-record__verdict")).to_have_text("还没有运行")


def test_a_broken_experiment_does_not_pass(lab):
    one = lab.locator("py-block", has_text="def naive_softmax").first
    one.evaluate("block => block.replace('assert stable_softmax([1.0, 2.0])[0] > 0.5\\n')")
    lab.locator("lab-record tr", has_text="小实验 3").get_by_role("button").click()
    row = lab.locator("lab-record tr", has_text="小实验 3")
    expect(row.locator(".lab-record__verdict")).to_have_text("没有通过")
    expect(row.locator(".lab-record__seen")).to_contain_text("AssertionError")
    one.evaluate("block => block.restore()")


def test_the_whole_record_is_filled_and_exported(lab):
    lab.get_by_role("button", name="依次运行全部实验").click()
    expect(lab.locator(".lab-record__status")).to_have_text("运行完毕：7 / 7 行通过")
    with lab.expect_download() as started:
        lab.get_by_role("button", name="导出实验记录").click()
    assert re.fullmatch(r"实验记录-\d{4}-\d\d-\d\d\.md", started.value.suggested_filename)
    text = Path(started.value.path()).read_text(encoding="utf-8")
    assert "Python：3.14" in text
    assert text.count("| 通过 |") == 7
    assert "free_scores, free_weights, free_output = attention(QUERIES, KEYS, VALUES, causal=False)" in text
    assert "OverflowError: math range error" in text
    assert "def stable_softmax(" in text


# ---------------------------------------------------------------- 自测


def question(tab, number: int):
    return tab.locator("self-test").nth(number - 1)


def check(one) -> str:
    one.get_by_role("button", name="检查").click()
    return one.locator(".self-test__status").text_content()


def test_choices_fill_ins_and_open_questions_are_judged_and_explained(open_tab):
    tab = open_tab()
    tab.goto(LAB)
    one = question(tab, 1)
    assert check(one) == "先选一项"
    one.get_by_role("radio").nth(0).check()
    assert check(one).startswith("不对")
    expect(one.locator("details").first).to_have_attribute("open", "")
    expect(one.locator("details a", has_text="第 1 行为什么是")).to_be_visible()
    one.get_by_role("radio").nth(1).check()
    assert check(one) == "答对了"
    several = question(tab, 3)
    several.get_by_role("checkbox").nth(0).check()
    assert check(several).startswith("不对")
    several.get_by_role("checkbox").nth(1).check()
    assert check(several) == "答对了"
    fill = question(tab, 4)
    fill.get_by_role("textbox").fill("７")
    assert check(fill).startswith("不对")
    fill.get_by_role("textbox").fill("６")
    assert check(fill) == "答对了"
    open_one = question(tab, 6)
    open_one.get_by_role("textbox").fill("<b>因为</b>")
    open_one.get_by_role("button", name="对照参考回答").click()
    open_one.get_by_role("checkbox").check()
    expect(open_one.locator(".self-test__status")).to_contain_text("要点都说到了")
    expect(tab.get_by_text("答对 4 / 6 题")).to_be_visible()

    # 进度留在目录里：换页、重新载入都在；清除以后不在。
    expect(tab.locator(".md-nav--primary .quiz-count")).to_have_text("4/6")
    tab.click('.md-nav--primary a[href$="chapters/03-1-attention-pipeline/"]')
    expect(tab.locator("h1")).to_contain_text("3.1")
    expect(tab.locator(".md-nav--primary .quiz-count")).to_have_text("4/6")
    expect(tab.get_by_text("共 6 题")).to_be_attached()
    tab.goto(LAB)
    expect(tab.locator(".md-nav--primary .quiz-count")).to_have_text("4/6")
    expect(question(tab, 1).locator(".self-test__status")).to_have_text("上次答对了")
    tab.get_by_role("button", name="清除进度").click()
    expect(tab.locator(".quiz-count")).to_have_count(0)
    assert tab.evaluate("Object.keys(localStorage).filter(key => key.startsWith('livedocs:quiz:'))") == []


@pytest.mark.parametrize(
    "value",
    [
        "{",
        "[]",
        '{"version": "v", "total": 6, "done": {"0": "<img src=x onerror=alert(1)>"}}',
        '"' + "x" * 300_000 + '"',
    ],
)
def test_hostile_progress_is_ignored(open_tab, value):
    tab = open_tab()
    tab.goto("start/")
    path = tab.evaluate("location.pathname").replace("start/", LAB)
    tab.evaluate("([key, value]) => localStorage.setItem(key, value)", [f"livedocs:quiz:{path}", value])
    tab.goto(LAB)
    expect(tab.get_by_text("共 6 题")).to_be_attached()
    assert tab.locator(".quiz-count").count() == 0


def test_every_lesson_has_five_questions_that_can_be_judged(site):
    for page in site.pages():
        text = page.read_text(encoding="utf-8")
        if 'id="self-test"' not in text:
            continue
        kinds = re.findall(r'<self-test [^>]*data-kind="(\w+)"', text)
        assert len(kinds) >= 5, page
        assert sum(kind != "open" for kind in kinds) >= 2, page
        for answers in re.findall(r'data-answers="([^"]*)"', text):
            assert json.loads(answers.replace("&quot;", '"').replace("&amp;", "&")), page
