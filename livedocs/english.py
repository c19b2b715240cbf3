"""给正文里的英文句子和论文标题标上 `lang="en"`：读屏软件换英文的声音念，浏览器换英文的断行、标点与字体。

规则：连着四个以上的英文词（代码、公式不算），中间没有汉字，字母一共不少于 20 个；强调里的英文是篇名，多短都标。
别的单个英文词不标：
术语、库名夹在汉字里，中文的声音念得通，来回换声音反而难听；WCAG 3.1.2 也把专有名词与术语排除在外。
"""

from __future__ import annotations

import functools
import re

from livedocs.html_text import Piece, pieces

_WORD = r"(?:[A-Za-z][A-Za-z'’./-]*|&amp;)"
_SENTENCE = re.compile(rf"{_WORD}(?:[,:;]?[ \n](?:{_WORD}|[0-9]+)){{3,}}")
_TITLE = re.compile(r"[A-Za-z][A-Za-z0-9 ,:;'’./&_-]*")
LETTERS = 20


@functools.lru_cache(maxsize=512)
def mark(article: str) -> str:
    """`article`（HTML）里的英文句子包进 `<span lang="en">`。"""
    return "".join(_marked(piece) if piece.text else piece.raw for piece in pieces(article))


def _marked(piece: Piece) -> str:
    text = piece.raw
    if _TITLE.fullmatch(text) and piece.inside and piece.inside[-1].name == "em":
        return f'<span lang="en">{text}</span>'

    def wrap(match: re.Match) -> str:
        sentence = match.group()
        if sum(letter.isascii() and letter.isalpha() for letter in sentence) < LETTERS:
            return sentence
        return f'<span lang="en">{sentence}</span>'

    return _SENTENCE.sub(wrap, text)
