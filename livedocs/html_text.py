"""HTML 里给人读的文字：逐段取出正文，原样跳过代码、公式与图。

术语（glossary.py）与英文（english.py）都在这些文字上做记号。只认本站自己生成的 HTML，不是通用的解析器。
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

#: 整块当成一个记号：里面没有要读的句子。
_OPAQUE = ("pre", "code", "svg", "script", "style", "x-tex", "math", "textarea")
_TOKEN = re.compile(
    r"<!--.*?-->"
    rf"|<(?P<opaque>{'|'.join(_OPAQUE)})\b(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>.*?</(?P=opaque)>"
    r"|<(?P<close>/?)(?P<name>[a-zA-Z][\w-]*)(?P<attributes>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>"
    r"|[^<]+|<",
    re.DOTALL,
)
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_ATTRIBUTE = re.compile(r'\s(id|class)="([^"]*)"')


@dataclass(frozen=True)
class Tag:
    """一个打开的元素。"""

    name: str
    id: str = ""
    classes: frozenset[str] = frozenset()


@dataclass
class Piece:
    """一段原文：文字（`text` 为真），或者一个标记。`inside` 是它外面的元素，由外到内。"""

    raw: str
    text: bool
    inside: list[Tag] = field(default_factory=list)

    def within(self, names: frozenset[str], classes: frozenset[str] = frozenset()) -> bool:
        """是否在这些元素、或带这些 class 的元素里面。"""
        return any(tag.name in names or tag.classes & classes for tag in self.inside)


def pieces(html: str) -> Iterator[Piece]:
    """`html` 的全部片段，连起来恰好是原文。`inside` 随时会变，要留着就先拷贝。"""
    stack: list[Tag] = []
    for token in _TOKEN.finditer(html):
        raw, name = token.group(), token.group("name")
        if token.group("opaque") or raw.startswith("<!--"):
            yield Piece(raw, False, stack)
        elif name is None:
            yield Piece(raw, True, stack)
        elif token.group("close"):
            _leave(stack, name.lower())
            yield Piece(raw, False, stack)
        else:
            attributes = dict(_ATTRIBUTE.findall(token.group("attributes")))
            tag = Tag(name.lower(), attributes.get("id", ""), frozenset(attributes.get("class", "").split()))
            if tag.name not in _VOID and not raw.endswith("/>"):
                stack.append(tag)
            yield Piece(raw, False, stack)


def _leave(stack: list[Tag], name: str) -> None:
    """关掉最近的同名元素；没有写结束标记的 `<p>`、`<li>` 一起关掉。"""
    for index in range(len(stack) - 1, -1, -1):
        if stack[index].name == name:
            del stack[index:]
            return


def in_article(page: str, change) -> str:
    """对一页里 `<article>` 的内容施行 `change`；没有正文的页面原样返回。"""
    start = page.find("<article")
    start = page.find(">", start) + 1 if start >= 0 else -1
    end = page.rfind("</article>")
    return page[:start] + change(page[start:end]) + page[end:] if 0 < start <= end else page
