"""自测题：`!!! question "自测 1（单选）"` 包进 `<self-test>`，题型与答案写成属性，网页据此判题。

作者照旧写 Markdown，没有脚本时答案折叠着，读者自己对照：

- 单选、多选：列表项以 `A. `、`B. ` 开头，答案以 **B** 或 **A、C** 开头；
- 填空：题目里的 `______` 是空，答案第一段里的粗体（没有粗体时是行内代码）依次是各空的答案；
- 开放：折叠里的列表是评分要点，没有列表时整个参考回答是一个要点。

答案与选项对不上时，构建报错，而不是让读者怎么选都错。
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as etree

from markdown.treeprocessors import Treeprocessor

TITLE = re.compile(r"自测")
KINDS = {"单选": "single", "多选": "multiple", "填空": "fill", "开放": "open"}
BLANK = "______"
_OPTION = re.compile(r"\s*([A-H])[.．、]\s")
_PLACEHOLDER = re.compile("\u0002[^\u0003]*\u0003")


class SelfTestError(ValueError):
    """自测题写得不能判；消息说明怎样改。"""


class SelfTests(Treeprocessor):
    """在行内语法之后运行：那时粗体、行内代码已经是元素。`fault` 是要抛出的异常类型。"""

    def __init__(self, md, fault: type[Exception] = SelfTestError):
        super().__init__(md)
        self.fault = fault

    def run(self, root):
        for parent in list(root.iter()):
            if parent.tag == "self-test":
                continue
            for index, child in enumerate(list(parent)):
                if _is_question(child):
                    try:
                        attributes = describe(child)
                    except SelfTestError as error:
                        raise self.fault(str(error)) from None
                    wrapper = etree.Element("self-test", attributes)
                    wrapper.tail, child.tail = child.tail, None
                    wrapper.append(child)
                    parent[index] = wrapper


def _is_question(element: etree.Element) -> bool:
    classes = (element.get("class") or "").split()
    if element.tag != "div" or "admonition" not in classes or "question" not in classes:
        return False
    title = element.find("p[@class='admonition-title']")
    return title is not None and bool(TITLE.match(_text(title)))


def describe(question: etree.Element) -> dict[str, str]:
    """题型与答案：`data-kind`，`data-answers`（JSON）。"""
    title = _text(question.find("p[@class='admonition-title']"))
    details = question.find("details")
    if details is None:
        raise SelfTestError(f'“{title}”没有答案：在题目里加上 ??? success "答案与解释"')
    kind = next((kind for name, kind in KINDS.items() if name in title), None)
    paragraph = next((item for item in details if item.tag == "p"), None)
    strong = [_text(item) for item in paragraph.iter("strong")] if paragraph is not None else []
    options = [match.group(1) for item in question.findall("./ul/li") if (match := _OPTION.match(_text(item)))]
    if kind is None:
        kind = _guess(options, strong, details)
    if kind in ("single", "multiple"):
        return {"data-kind": kind, "data-answers": json.dumps(_letters(title, kind, options, strong))}
    if kind == "open":
        return {"data-kind": "open"}
    blanks = sum(_text(item).count(BLANK) for item in question if item is not details)
    answers = strong[:blanks]
    if len(answers) < blanks and paragraph is not None:
        answers = [_text(item) for item in paragraph.iter("code")][:blanks]
    if not blanks or len(answers) < blanks:
        return {"data-kind": "open"}  # 写成一段话的答案，读者自己对照
    return {"data-kind": "fill", "data-answers": json.dumps(answers, ensure_ascii=False)}


def _guess(options: list[str], strong: list[str], details: etree.Element) -> str:
    if options and strong and (letters := re.findall("[A-H]", strong[0])):
        return "multiple" if len(letters) > 1 else "single"
    return "open" if "参考" in _text(details.find("summary")) else "fill"


def _letters(title: str, kind: str, options: list[str], strong: list[str]) -> list[str]:
    if len(options) < 2:
        raise SelfTestError(f"“{title}”没有选项：写成列表，每项以 A. 、B. …… 开头")
    letters = re.findall("[A-H]", strong[0]) if strong else []
    if not letters or re.sub("[A-H、，,和与 ]", "", strong[0]):
        raise SelfTestError(f"“{title}”的答案要以粗体的选项开头，例如 **B** 或 **A、C**")
    if missing := [letter for letter in letters if letter not in options]:
        raise SelfTestError(f"“{title}”的答案 {'、'.join(missing)} 不在选项里")
    if kind == "single" and len(letters) != 1:
        raise SelfTestError(f"“{title}”是单选，答案却有 {len(letters)} 个")
    return letters


def _text(element: etree.Element | None) -> str:
    return "" if element is None else re.sub(r"\s+", " ", _PLACEHOLDER.sub("", "".join(element.itertext()))).strip()
