"""文案检查读什么：每个文件里给人看的文字，各带着出处；代码、公式与网址遮住。"""

from __future__ import annotations

import html
import io
import json
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HAN = r"\u3400-\u4dbf\u4e00-\u9fff"
HIDDEN = "\0"

_FSTRING_START = getattr(tokenize, "FSTRING_START", -1)
_FSTRING_END = getattr(tokenize, "FSTRING_END", -1)


@dataclass(frozen=True)
class Source:
    """`where` 是报告里写给人看的出处；`first` 是这段文字的第一行在文件里的行号。"""

    where: str
    text: str
    first: int = 1
    #: `md` 是 Markdown；`txt` 是脚本里的注释或字符串；`node` 是图或模板里两个标签之间的字。
    kind: str = "md"


def sources(path: Path, where: str) -> list[Source]:
    """一个文件里要检查的文字。`where` 是报告里的路径。"""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return [
            Source(f"{where} 第 {number} 个单元", "".join(cell["source"]))
            for number, cell in enumerate(json.loads(text)["cells"], 1)
            if cell["cell_type"] == "markdown"
        ]
    if path.suffix == ".py":
        return list(_words_of_script(text, where))
    if path.suffix in (".svg", ".html"):
        return [
            Source(where, html.unescape(match[1]), text.count("\n", 0, match.start(1)) + 1, "node")
            for match in re.finditer(r">([^<>{}]*[" + HAN + r"][^<>{}]*)(?=<)", text)
        ]
    found = [Source(where, text)]
    for fence in re.finditer(r"^(```+)\{\.python[^\n]*\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL):
        found += _words_of_script(fence[2], where, text.count("\n", 0, fence.start(2)))
    return found


def _words_of_script(text: str, where: str, before: int = 0) -> Iterator[Source]:
    """脚本里的注释与字符串；代码本身不看。`before` 是它前面有几行。"""
    lines = io.StringIO(text).readlines()
    opened: list[tuple[int, int]] = []  # 3.12 起 f-string 是好几个词：从开头到结尾当成一个
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start = token.start
            if token.type == _FSTRING_START:
                opened.append(start)
            elif token.type == _FSTRING_END:
                start = opened.pop()
            whole = token.type in (tokenize.STRING, _FSTRING_END) and not opened
            if token.type == tokenize.COMMENT and "--8<--" not in token.string:
                yield Source(where, token.string.lstrip("# "), start[0] + before, "txt")
            elif whole:
                words = _between(lines, start, token.end)
                yield Source(where, re.sub(r"\{[^{}]*\}", cover, words), start[0] + before, "txt")
    except (tokenize.TokenError, IndentationError):
        return  # 故意写错的例子；写得对不对由运行它的检查管


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """从 `start` 到 `end` 的文字；两者都是（行, 列），行从 1 数起。"""
    rows = lines[start[0] - 1 : end[0]]
    rows[-1] = rows[-1][: end[1]]
    rows[0] = rows[0][start[1] :]
    return "".join(rows)


def cover(match: re.Match) -> str:
    """遮住一处：换成同样长的 `\\0`，换行留着。"""
    return re.sub(r"[^\n]", HIDDEN, match.group())


FENCE = re.compile(
    r"^(?P<indent>[ >]*)(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ >]*(?P=mark)[`~]*[ ]*$|\Z)", re.MULTILINE | re.DOTALL
)
_ADDRESS = re.compile(r"<?https?://[^\s<>)，。；、）]+>?")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
TAG_LINE = re.compile(r"^ *</?[a-zA-Z][^<>]*>$", re.MULTILINE)
_HIDE = [
    FENCE,
    COMMENT,
    re.compile(r"(?<!`)(`+)(?!`)(?:[^`]|(?!\1)`)*?(?<!`)\1(?!`)"),
    re.compile(r"\$\$.+?\$\$|(?<![\\$\w])\$(?! )(?:[^$\n]|\\\$)+?(?<! )\$", re.DOTALL),
    re.compile(r"(?<=\])\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)"),
    re.compile(r"\{ ?[:#.][^{}\n]*\}"),
    re.compile(r"</?[a-zA-Z][^<>]*>"),
    _ADDRESS,
    re.compile(r"^\[[^\]\n]+\]:[^\n]*|\[\^[^\]\n]+\]:?", re.MULTILINE),
]


def hide(text: str) -> str:
    """代码、公式、注释、标签与网址都遮住；位置与行数不变。"""
    for pattern in _HIDE:
        text = pattern.sub(cover, text)
    return text
