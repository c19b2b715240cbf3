"""样式表瘦身：主题与 KaTeX 的样式里，全站用不到的规则与变量不发布；注释与缩进都不发布。

一条选择器要的类名在任何网页、任何脚本里都没有出现过，它就不可能选中什么。括号里的（`:not(…)`、`:is(…)`）不看，
所以只会多留，不会少留。`dir` 与配色的属性选择器同样处理：没有网页写过的值，不会出现。

只在构建时做，预览时用完整的样式表。改过的文件按内容改名，缓存因此不会用到旧的；网页里的引用一起改。
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: 别人写的样式表，相对于网站的文件夹；本站自己的只去掉注释与缩进。
FOREIGN = ("assets/stylesheets/main.*.css", "assets/stylesheets/palette.*.css", "assets/katex/katex.*.css")
OWN = ("assets/stylesheets/*.css",)

_CLASSES = re.compile(r'\bclass="([^"]*)"')
_VALUES = re.compile(r'\b(dir|data-md-color-[a-z]+)="([^"]*)"')
_WORD = re.compile(r"[\w-]+")
_VARIABLE = re.compile(r"--[\w-]+")
_INNER = re.compile(r"\([^()]*\)")
_ATTRIBUTE = re.compile(r"""\[(dir|data-md-color-[a-z]+)=["']?([\w-]+)["']?\]""")
_CLASS = re.compile(r"\.((?:[\w-]|\\.)+)")
_NESTED = ("@media", "@supports", "@container", "@layer")
_STRING = r"""("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
_COMMENT = re.compile(_STRING + r"|/\*.*?\*/", re.DOTALL)
_SPACE = re.compile(_STRING + r"|\s*([{};])\s*|\s+")


class StyleError(ValueError):
    """样式表的括号不配对；消息是给人看的中文句子。"""


@dataclass(frozen=True)
class Used:
    """全站出现过的类名、属性值与变量名。"""

    words: frozenset[str]
    values: frozenset[tuple[str, str]]
    variables: frozenset[str]

    def allows(self, selector: str) -> bool:
        """`selector` 有没有可能选中什么。"""
        while (outer := _INNER.sub("", selector)) != selector:
            selector = outer
        classes = (name.replace("\\", "") for name in _CLASS.findall(re.sub(r"\[[^\]]*\]", "", selector)))
        return all(name in self.words for name in classes) and self.values.issuperset(_ATTRIBUTE.findall(selector))


def used(pages: list[str], scripts: list[str], sheets: list[str]) -> Used:
    """从全部网页、脚本与样式表里收集。"""
    words: set[str] = set()
    values: set[tuple[str, str]] = set()
    for page in pages:
        for names in _CLASSES.findall(page):
            words.update(names.split())
        values.update(_VALUES.findall(page))
    for script in scripts:
        words.update(_WORD.findall(script))
    variables = {name for text in [*pages, *scripts] for name in _VARIABLE.findall(text)}
    variables.update(name for sheet in sheets for name in re.findall(r"var\(\s*(--[\w-]+)", sheet))
    return Used(frozenset(words), frozenset(values), frozenset(variables))


def purge(css: str, wanted: Used) -> str:
    """`css` 里可能用到的部分。

    Raises:
        StyleError: 括号不配对。
    """
    kept = []
    for head, body in _blocks(css):
        if body is None:
            kept.append(head)
        elif head.startswith(_NESTED):
            inner = purge(body, wanted)
            kept.append(f"{head}{{{inner}}}" if inner else "")
        elif head.startswith("@"):
            kept.append(f"{head}{{{body}}}")
        else:
            selectors = ",".join(one for one in _split(head, ",") if wanted.allows(one))
            lines = ";".join(one for one in _split(body, ";") if _declared(one) in wanted.variables | {None})
            kept.append(f"{selectors}{{{lines}}}" if selectors and lines else "")
    return "".join(kept)


def compact(css: str) -> str:
    """去掉 `css` 的注释与缩进；引号里的原样不动。"""
    css = _COMMENT.sub(lambda found: found.group(1) or " ", css)
    return _SPACE.sub(lambda found: found.group(1) or found.group(2) or " ", css).strip()


def _declared(declaration: str) -> str | None:
    """一条声明定义的变量名；不是变量就是 None。"""
    name = declaration.partition(":")[0].strip()
    return name if name.startswith("--") else None


def _blocks(css: str) -> Iterator[tuple[str, str | None]]:
    """最外层的每一条：（花括号前面的, 花括号里面的）；`@charset` 这样没有花括号的，里面是 None。"""
    while css:
        head, body, rest = _cut(css)
        yield head, body
        css = rest


def _cut(css: str) -> tuple[str, str | None, str]:
    depth, start = 0, 0
    for position, mark in _marks(css):
        if mark == ";" and depth == 0:
            return css[: position + 1], None, css[position + 1 :]
        if mark == "{":
            start = start or position
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return css[:start], css[start + 1 : position], css[position + 1 :]
    if depth or css.strip():
        raise StyleError(f"样式表的花括号不配对：{css[:60]}")
    return "", None, ""


def _split(text: str, separator: str) -> list[str]:
    """按 `separator` 切开；括号与引号里的不切。"""
    parts, last, depth = [], 0, 0
    for position, mark in _marks(text):
        if mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
        elif mark == separator and depth == 0:
            parts.append(text[last:position])
            last = position + 1
    return [*parts, text[last:]]


#: 引号里的字、注释与转义整个跳过；其余逐个看。
_MARK = re.compile(r"""/\*.*?\*/|\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|([{}()\[\],;])""", re.DOTALL)


def _marks(text: str) -> Iterator[tuple[int, str]]:
    for found in _MARK.finditer(text):
        if found.group(1):
            yield found.start(), found.group(1)


def apply(folder: Path) -> None:
    """`folder` 里整个网站的样式表瘦身，按内容改名，改网页里的引用。"""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))}
    scripts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.js")]
    sheets = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.css"))}
    wanted = used(list(pages.values()), scripts, list(sheets.values()))
    foreign = {path for pattern in FOREIGN for path in folder.glob(pattern)}
    own = {path for pattern in OWN for path in folder.glob(pattern)} - foreign
    names = {}
    for path in sorted(foreign | own):
        text = compact(sheets[path])
        text = purge(text, wanted) if path in foreign else text
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]
        target = path.with_name(f"{path.name.split('.')[0]}.{digest}.min.css")
        path.unlink()
        target.write_text(text, encoding="utf-8", newline="\n")
        names[path.name] = target.name
    for path, page in pages.items():
        for old, new in names.items():
            page = page.replace(f"/{old}", f"/{new}")
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(page)
