"""术语就地解释：正文里第一次出现的术语成为指向术语表的链接，定义取自术语表，由 `web/src/terms/` 显示。

唯一的来源是 `docs/reference/glossary.md` 的表格。没有脚本时，链接打开术语表里的那一行。

- 每页每个术语只标正文里第一次出现；代码、标题、链接、公式、图、表格、折叠框与会动的部件里不标。
- “在哪里讲”指着的那一节讲的就是它：从那一节起不再标，之前出现的才标。加粗的术语，旁边就是它的解释，也不标。
- 最长的名字优先：“注意力权重”不会被标成“注意力”。一个汉字的术语（头、值、门）只在两边都不是汉字时才标；
  英文的术语两边不能还是字母。
- 在进入搜索索引之后才做，索引与 `proof.json` 的散列都与没有这一步时相同。
"""

from __future__ import annotations

import functools
import html
import posixpath
import re
from dataclasses import dataclass

from livedocs.html_text import pieces
from livedocs.markdown import ELEMENTS
from livedocs.maths import readable_tex

PAGE = "reference/glossary.md"
HEAD = ("术语", "英文", "符号", "定义", "在哪里讲")

#: 也有日常意思的词：读者多半不是在找术语的定义，标出来会答非所问。
COMMON = frozenset(["层", "读取", "合并", "参数", "标签", "容量", "对齐末尾", "内核", "空行", "截断", "轴"])
#: 含着术语、意思却不同的说法，整个跳过。
OTHER_SENSES = ("编码器", "解码器", "会损失", "百分数")

_SKIPPED = frozenset(
    ["a", "h1", "h2", "h3", "h4", "h5", "h6", "button", "summary", "td", "th", "kbd", "label", "data", "details", "dt"]
) | frozenset(ELEMENTS)
_SKIPPED_CLASSES = frozenset(
    ["lesson-card", "proof-badge", "admonition-title", "footnote", "arithmatex", "headerlink", "no-terms"]
)
_STRONG = frozenset(["strong"])
_LINK = re.compile(r"\[[^\]]*\]\(([^)#]*)(?:#([^)]*))?\)")
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"


class GlossaryError(ValueError):
    """术语表写得不对；消息指明哪一行、怎样改。"""


@dataclass(frozen=True)
class Term:
    """一个术语。`taught` 是讲它的地方：（源文件在 docs/ 里的路径, 锚点），没有锚点指整页。"""

    name: str
    names: tuple[str, ...]
    english: str
    definition: str
    taught: frozenset[tuple[str, str]]

    @property
    def anchor(self) -> str:
        """术语表里这一行的 id。"""
        return "term-" + re.sub(r"[\s（）()]+", "-", self.name).strip("-").lower()


@functools.lru_cache(maxsize=4)
def parse(text: str) -> tuple[Term, ...]:
    """术语表的源文 → 全部术语，按表里的次序。

    Raises:
        GlossaryError: 一行不是五格、没有定义，或者两行是同一个名字。
    """
    terms, seen, inside = [], {}, False
    for number, line in enumerate(text.split("\n"), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells or tuple(cells) == HEAD or not inside:
            inside = tuple(cells) == HEAD
            continue
        if set("".join(cells)) <= set("-: "):
            continue
        if len(cells) != len(HEAD):
            raise GlossaryError(f"docs/{PAGE}:{number} 有 {len(cells)} 格，应是 {len(HEAD)} 格：{'、'.join(HEAD)}")
        term = _term(cells)
        if not term.definition:
            raise GlossaryError(f"docs/{PAGE}:{number} 的“{term.name}”没有定义；请写一句话")
        if earlier := next((seen[name] for name in term.names if name in seen), None):
            raise GlossaryError(f"docs/{PAGE}:{number} 的“{term.name}”与第 {earlier} 行重复；请合成一行")
        seen.update(dict.fromkeys(term.names, number))
        terms.append(term)
    return tuple(terms)


def _term(cells: list[str]) -> Term:
    name, english, _, definition, where = cells
    plain = _plain(name)
    names = [] if "`" in name else [part for part in re.split(r"[（）、]", plain) if part]
    taught = [
        (posixpath.normpath(posixpath.join(posixpath.dirname(PAGE), path)) if path else PAGE, anchor)
        for path, anchor in _LINK.findall(where)
    ]
    return Term(plain, tuple(names), _plain(english), _plain(definition), frozenset(taught))


def _plain(markdown: str) -> str:
    """行内的 Markdown → 纯文字：公式写成可读的样子，链接只留文字。"""
    text = re.sub(r"\$([^$]+)\$", lambda m: readable_tex(m.group(1)), markdown)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[`*]", "", text).strip()


@functools.lru_cache(maxsize=4)
def _pattern(terms: tuple[Term, ...]) -> re.Pattern:
    names = sorted({name for term in terms for name in term.names} | set(OTHER_SENSES), key=len, reverse=True)
    return re.compile("|".join(_bounded(name) for name in names))


def _bounded(name: str) -> str:
    escaped = re.escape(name)
    before = r"(?<![\w])" if name[0].isascii() else ""
    after = r"(?![\w])" if name[-1].isascii() else ""
    if name[0].isascii() or name[-1].isascii():  # 英文旁边的汉字不算字母
        before, after = before.replace(r"\w", "A-Za-z0-9_-"), after.replace(r"\w", "A-Za-z0-9_-")
    if len(name) == 1:
        before, after = rf"(?<![{_HAN}])", rf"(?![{_HAN}])"
    return before + escaped + after


@functools.lru_cache(maxsize=512)
def explain(article: str, source: str, link: str, terms: tuple[Term, ...]) -> str:
    """`article`（一页正文的 HTML）里第一次出现的术语成为链接。

    `source` 是这一页在 docs/ 里的路径，`link` 是从这一页到术语表的网址。
    """
    by_name = {name: term for term in terms for name in term.names}
    here: dict[str, set[str]] = {}  # 锚点 → 这一节讲的术语
    for term in terms:
        for page, anchor in term.taught:
            if page == source:
                here.setdefault(anchor, set()).update(term.names)
    done = set(COMMON) | here.get("", set())

    def replace(match: re.Match) -> str:
        name = match.group()
        at_edge = match.start() == 0 or match.end() == len(match.string)
        if name not in by_name or name in done or (len(name) == 1 and at_edge):
            return name
        done.update(by_name[name].names)
        return _anchor(name, by_name[name], link)

    result, pattern = [], _pattern(terms)
    for piece in pieces(article):
        inner = piece.inside[-1] if piece.inside else None
        if not piece.text and inner and inner.id:
            done |= here.get(inner.id, set())
        elif piece.text and not piece.within(_SKIPPED, _SKIPPED_CLASSES):
            if piece.within(_STRONG):
                done |= {name for found in pattern.findall(piece.raw) if found in by_name for name in by_name[found].names}
            else:
                result.append(pattern.sub(replace, piece.raw))
                continue
        result.append(piece.raw)
    return "".join(result)


def _anchor(name: str, term: Term, link: str) -> str:
    def attribute(text: str) -> str:
        return html.escape(text)

    return (
        f'<a class="term" href="{attribute(link)}#{attribute(term.anchor)}" data-name="{attribute(term.name)}" '
        f'data-english="{attribute(term.english)}" data-note="{attribute(term.definition)}">{name}</a>'
    )


def mark_rows(content: str, terms: tuple[Term, ...]) -> str:
    """术语表自己的 HTML：每个术语的一行带上 id，英文一格标上语言。"""
    by_name = {term.name: term for term in terms}

    def row(match: re.Match) -> str:
        term = by_name.get(html.unescape(re.sub(r"<[^>]+>", "", match.group(1))))
        if term is None:
            return match.group()
        return f'<tr id="{html.escape(term.anchor)}">\n<td>{match.group(1)}</td>\n<td lang="en">{match.group(2)}</td>'

    return re.sub(r"<tr>\s*<td>(.*?)</td>\s*<td>(.*?)</td>", row, content, flags=re.DOTALL)
