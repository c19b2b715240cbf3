"""文案检查里的术语：不用旧称，名字的大小写写对。术语表（`docs/reference/glossary.md`）是来源。"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from livedocs.prose_text import HIDDEN, Source

#: 不在术语表里、也有固定写法的名字。
PROPER = (
    "Chromium Firefox GitHub JavaScript Jupyter KaTeX Linux Markdown Matplotlib MkDocs NumPy Pyodide Python PyTorch "
    "WebAssembly Windows Zensical macOS"
).split()

_RETIRED_SECTION = re.compile(r"\{#retired\}.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_SCOPE = re.compile(r"（(\S+) 里）")

#: （位置, 写着什么, 怎样改）
Finding = tuple[int, str, str]


@dataclass(frozen=True)
class Terms:
    """`retired`：不用的叫法 → 本站的叫法；`current`：本站的术语，里面包含旧称的字时不算。

    `scoped`：只在某个范围里不用的叫法 → (范围, 本站的叫法)；同一段里提到这个范围才算。
    """

    retired: dict[str, str]
    current: tuple[str, ...]
    scoped: dict[str, tuple[str, str]] = field(default_factory=dict)


def terms_of(glossary: str) -> Terms:
    """术语表的源文 → 旧称与现用的叫法。“门控（MoE 里）”是只在讲 MoE 时不用的叫法。

    Raises:
        ValueError: 找不到“旧称”的表。
    """
    before, _, section = glossary.partition("{#retired}")
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)[1:]
    if not rows:
        raise ValueError("术语表里没有“旧称”一节（{#retired}）的表，或它没有内容")
    retired, scoped = {}, {}
    for theirs, ours in rows:
        for name in theirs.strip().split("、"):
            if scope := _SCOPE.search(name):
                scoped[_SCOPE.sub("", name)] = (scope[1], ours.strip())
            else:
                retired[name] = ours.strip()
    listed = re.findall(r"^\| ([^|`]+) \|", before, re.MULTILINE)
    current = {part for name in listed for part in re.split(r"[（）、]", name.strip()) if part}
    return Terms(retired, tuple(sorted(current)), scoped)


def retired(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    """旧称。`text` 是遮住了代码的文字。"""
    shown = text
    if listed := _RETIRED_SECTION.search(source.text):  # 术语表自己的那张表
        shown = text[: listed.start()] + HIDDEN * len(listed.group()) + text[listed.end() :]
    for name in sorted(terms.current, key=len, reverse=True):
        if name not in terms.scoped:
            shown = shown.replace(name, HIDDEN * len(name))
    for name in sorted(terms.retired, key=len, reverse=True):
        for match in re.finditer(re.escape(name), shown):
            yield match.start(), name, f"本站的叫法是“{terms.retired[name]}”（见术语表的旧称）"
        shown = shown.replace(name, HIDDEN * len(name))
    for name, (scope, ours) in terms.scoped.items():
        for match in re.finditer(re.escape(name), shown):
            start, end = source.text.rfind("\n\n", 0, match.start()), source.text.find("\n\n", match.end())
            if scope in source.text[max(start, 0) : end if end >= 0 else None]:
                yield match.start(), name, f"讲 {scope} 时，本站的叫法是“{ours}”（见术语表的旧称）"


def spelling(text: str, source: Source, terms: Terms) -> Iterator[Finding]:
    """英文名字的大小写；只看正文，代码与输出里的照原样。"""
    if source.kind != "md":
        return
    names = {name for name in terms.current if re.fullmatch(r"[A-Za-z][A-Za-z0-9 -]{2,}", name)} | set(PROPER)
    right = {name.lower(): name for name in names}
    listed = "|".join(map(re.escape, sorted(right, key=len, reverse=True)))
    for match in re.finditer(rf"(?<![\w./-])(?:{listed})(?![A-Za-z0-9_./(-])", text, re.IGNORECASE | re.ASCII):
        if match.group() != right[match.group().lower()]:
            yield match.start(), match.group(), f"写成 {right[match.group().lower()]}"
