"""自测题的题型与答案从 Markdown 得到；写错了报错，而不是让读者怎么选都错。"""

from __future__ import annotations

import html
import json
import re

import pytest
from site_tools import ROOT

from livedocs.markdown import MarkupError
from livedocs.project import load_project


def question(title: str, body: str, answer: str, summary: str = "答案与解释") -> str:
    body, answer = (text.replace("\n", "\n    ") for text in (body, answer))
    return f'!!! question "{title}"\n\n    {body}\n\n    ??? success "{summary}"\n\n        {answer}\n'


OPTIONS = "选哪个？\n\n- A. 甲\n- B. 乙\n- C. 丙"


def render(text: str) -> list[dict[str, str]]:
    """每道题的属性。"""
    shown = load_project(ROOT).markdown().convert(text)
    tags = re.findall(r"<self-test([^>]*)>", shown)
    return [{name: html.unescape(value) for name, value in re.findall(r'data-(\w+)="([^"]*)"', tag)} for tag in tags]


@pytest.mark.parametrize(
    "text, kind, answers",
    [
        (question("自测 1（单选）", OPTIONS, "**B**。因为……"), "single", ["B"]),
        (question("自测 1（多选）", OPTIONS, "**A、C**。因为……"), "multiple", ["A", "C"]),
        (question("自测 1", OPTIONS, "**B**。因为……"), "single", ["B"]),
        (question("自测 1（填空）", "有 ______ 个。", "**6**。因为……"), "fill", ["6"]),
        (question("自测 1（填空）", "约 ______。", "**0.27<!--= x -->**。"), "fill", ["0.27"]),
        (question("自测 1（填空）", "`f(______)` 与 ______。", "前者 `[3][5]`，后者 `2`。"), "fill", ["[3][5]", "2"]),
    ],
)
def test_kind_and_answers(text, kind, answers):
    (found,) = render(text)
    assert found["kind"] == kind
    assert json.loads(found["answers"]) == answers


@pytest.mark.parametrize(
    "text",
    [
        question("自测 1（开放）", "为什么？", "因为……", "参考回答"),
        question("自测 1（填空）", "结果是 ______。", "说来话长。"),
    ],
)
def test_what_cannot_be_judged_is_left_to_the_reader(text):
    assert render(text) == [{"kind": "open"}]


@pytest.mark.parametrize(
    "text, says",
    [
        (question("自测 1（单选）", OPTIONS, "**D**。"), "不在选项里"),
        (question("自测 1（单选）", OPTIONS, "**A、B**。"), "单选，答案却有 2 个"),
        (question("自测 1（单选）", OPTIONS, "选 B。"), "粗体的选项"),
        (question("自测 1（单选）", "没有选项。", "**B**。"), "没有选项"),
        ('!!! question "自测 1（单选）"\n\n    没有答案。\n', "没有答案"),
    ],
)
def test_a_question_that_cannot_be_judged_is_an_error(text, says):
    with pytest.raises(MarkupError, match=says):
        render(text)


def test_other_admonitions_are_left_alone():
    assert render('!!! question "想一想"\n\n    为什么？\n') == []
