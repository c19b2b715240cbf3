"""中文文案的检查：页面、notebook 的文字、README、图与模板里的字，与 `code/` 里的注释和打印的中文。

每条规则是一个函数：拿到遮住了代码、公式与网址的文字，给出（位置, 写着什么, 怎样改）；遮住的字符换成 `\\0`，
所以位置不变。读哪些文字见 prose_text.py，术语的规则见 prose_terms.py。排版（空格、全角标点）交给 autocorrect-py；这里只补它不管的。

太长的句子只提醒，不算错：`python -m livedocs.prose` 列出它们。
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from livedocs.prose_terms import Finding, Terms, retired, spelling
from livedocs.prose_text import COMMENT, FENCE, HAN, HIDDEN, TAG_LINE, Source, cover, hide, sources

#: 一句话超过这么多字就提醒（标点、代码与公式里的字符不算）。
LONG = 80


@dataclass(frozen=True)
class Fault:
    """一处毛病。`found` 是写着的文字，例外清单按它认。"""

    where: str
    line: int
    rule: str
    found: str
    advice: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line}：{self.rule}：{self.found}\n    {self.advice}"


# ---------------------------------------------------------------- 规则

Rule = Callable[[str, Source, Terms], Iterator[Finding]]


def _bold(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    for match in re.finditer(r"\*\*(?![\s*])([^*\n]+?)\*\*", text):
        if match[1][-1] in "，。：；！？、,.:;!?":
            yield match.start(), match.group(), "标点写在粗体外面：**重点**：，否则后面紧跟文字时星号会原样显示"


def _half_width(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    if source.kind != "md":  # 脚本里的 (查询, 键, 值) 是元组的记法；只管标签后面的冒号
        pattern = rf"[{HAN}]:(?=[\s{HIDDEN}\"']|$)"
    else:
        ends = rf"[{HAN}”）》][,;:!?](?=[\s{HAN}“（]|$)|[{HAN}]\.(?=\s|$)"
        after_code = rf"[{HIDDEN}*\]][,;:!?](?=[ ]?[{HAN}“（])"
        pattern = rf"{ends}|{after_code}|[{HAN}]\((?=[^)]*[{HAN}])"
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield match.start(), match.group(), "中文里的标点用全角"
    for match in re.finditer(rf"(?<=[{HAN}，。])\"[^\"\n]*[{HAN}][^\"\n]*\"", text):
        yield match.start(), match.group(), "中文里的引号用“”"
    for match in re.finditer(rf"(?<=[{HAN}])(?:\.{{3,}}|---?(?=[{HAN}]))", text):
        yield match.start(), match.group(), "省略号写……，破折号写——"


def _doubled(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    for match in re.finditer(
        r"([，。；：、！？,;])\1|(的|了|是|在|和|与|把|被|就|也|都|而|或|及|对)\2|\b([A-Za-z]{2,})[ ]\3\b", text
    ):
        yield match.start(), match.group(), "同一个字、词或标点写了两遍；留一个"
    for match in re.finditer(rf"(?<![{HAN}])([{HAN}]{{3,6}})\1", text):
        yield match.start(), match.group(), "同一个词写了两遍；留一个"


_PAIRS = dict(zip("”’）》」】", "“‘（《「【"))


def _unbalanced(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    if source.kind == "node":  # 两个标签之间的字只是一句话的一部分
        return
    start = 0
    # 一段、表格的一行、列表的一项各自配对。
    for part in re.split(r"(\n(?=[ >]*(?:\n|\||[-*+] |\d+\. |#|!!!|\?\?\?|===)))", text):
        opened: list[tuple[str, int]] = []
        for offset, character in enumerate(part):
            if character in _PAIRS.values():
                opened.append((character, offset))
            elif character in _PAIRS:
                if not opened or opened[-1][0] != _PAIRS[character]:
                    yield start + offset, character, f"前面没有与它配对的 {_PAIRS[character]}"
                    break
                opened.pop()
        else:
            if opened:
                yield start + opened[-1][1], opened[-1][0], "这一段里没有与它配对的后一半"
        start += len(part)


def _invisible(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    for match in re.finditer("[\u200b-\u200f\u2028-\u202e\u2060\ufeff\u00ad]", source.text):
        yield match.start(), f"U+{ord(match.group()):04X}", "看不见的字符；删掉"
    for match in re.finditer(r"^(?:#+ |title:).*¶", text, re.MULTILINE):
        yield match.end() - 1, "¶", "标题旁的记号由网站加上"
    for match in re.finditer("[０-９Ａ-Ｚａ-ｚ]+", text):
        yield match.start(), match.group(), "数字与字母用半角"


_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|spm|share_\w+|from_source", re.IGNORECASE)
_LOCAL = {"localhost", "127.0.0.1"}


def _links(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    shown = FENCE.sub(cover, source.text)
    for match in re.finditer(r"https?://[^\s<>\"`)，。；、）]+", shown):
        address = urlsplit(match.group())
        if address.scheme != "https" and address.hostname not in _LOCAL:
            yield match.start(), match.group(), "外部链接用 https"
        if match.group()[-1] in ".,;:!?'”":
            yield match.start(), match.group(), "网址末尾的标点不是网址的一部分；中间加空格，或写成 [文字](网址)"
        if tracking := [
            name for name, _ in parse_qsl(address.query, keep_blank_values=True) if _TRACKING.fullmatch(name)
        ]:
            yield match.start(), match.group(), f"去掉跟踪用的参数 {'、'.join(tracking)}"
        if shown[: match.start()].endswith("](") and re.search(rf"[{HAN}]", match.group()):
            yield match.start(), match.group(), "网址里的汉字要写成 %E4 这样的编码"


RULES: dict[str, Rule] = {
    "旧称": retired,
    "名字的写法": spelling,
    "粗体里的标点": _bold,
    "半角标点": _half_width,
    "重复": _doubled,
    "配对": _unbalanced,
    "字符": _invisible,
    "外部链接": _links,
}
TYPOGRAPHY = "排版"


def check(source: Source, terms: Terms) -> list[Fault]:
    """一段文字的全部毛病，按行的先后。"""
    text = hide(source.text)
    faults = [
        Fault(source.where, source.first + source.text.count("\n", 0, at), name, found.replace(HIDDEN, "·"), advice)
        for name, rule in RULES.items()
        for at, found, advice in rule(text, source, terms)
    ]
    return sorted(faults + list(_typography(source)), key=lambda fault: fault.line)


def _typography(source: Source) -> Iterator[Fault]:
    from autocorrect_py import lint_for

    # 围栏、注释与单独成行的标签先去掉：它们会让它认错后面的整段。
    text = source.text
    for pattern in (FENCE, COMMENT, TAG_LINE) if source.kind == "md" else (COMMENT,):
        text = pattern.sub(lambda match: "\n" * match.group().count("\n"), text)
    for line in lint_for(text, "page.md" if source.kind == "md" else "words.txt").lines:
        if source.kind != "md" and _narrow(line.old) == _narrow(line.new):
            continue  # 脚本里标点的宽度另有规则，这里只看汉字与字母之间的空格
        yield Fault(source.where, source.first + line.line - 1, TYPOGRAPHY, line.old, f"写成：{line.new}")


def _narrow(text: str) -> str:
    text = text.translate(str.maketrans("，：；（）！？", ",:;()!?"))
    return re.sub(r"\s*([,:;()!?])\s*", r"\1", text).strip()


def long_sentences(source: Source) -> list[Fault]:
    """太长的句子；只是提醒。"""
    faults, at = [], 0
    for sentence in re.split(r"([。！？；|\n])", hide(source.text)):
        length = len(re.sub(rf"[^{HAN}A-Za-z0-9]", "", sentence))
        if length > LONG:
            line = source.first + source.text.count("\n", 0, at)
            shown = re.sub(rf"{HIDDEN}+", "·", sentence).strip()
            faults.append(
                Fault(source.where, line, "长句", shown[:40] + "…", f"有 {length} 个字；拆成几句，或列成几条")
            )
        at += len(sentence)
    return faults


def main() -> int:
    """列出当前文件夹里各页太长的句子。"""
    docs = Path("docs")
    for path in sorted([*docs.rglob("*.md"), *docs.rglob("*.ipynb")]):
        for source in sources(path, path.as_posix()):
            for fault in long_sentences(source):
                print(fault)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
