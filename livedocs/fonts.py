"""公式的字体：只发布全站公式用到的字体，每种字体里只留用到的字形。

KaTeX 的二十种字体共 290 KB，一页往往要取其中两三种、四十多 KB，而用到的只是几十个字形。
排好的公式里，一个字用哪种字体由 KaTeX 的样式表决定；`used` 按同样的规则算出每种字体用到的字，
`publish` 按它裁剪字体，并从样式表里去掉没有用到的 `@font-face`。

裁剪去掉了提示指令（hinting）：屏幕上的字够大，少它每种字体省 2 KB。
算得对不对，由 tests/site/test_weight.py 用浏览器算出的样式核对。
"""

from __future__ import annotations

import functools
import hashlib
import html
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

#: 样式表里字体的写法：（家族, 是否斜体, 是否粗体）。
Face = tuple[str, bool, bool]

_FACE = re.compile(r"@font-face\{([^}]*)\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_FAMILY = re.compile(r"\bfont(?:-family)?:[^;]*?(KaTeX_\w+)")
_STYLE = re.compile(r"\bfont-style:(\w+)")
_WEIGHT = re.compile(r"\bfont-weight:(\w+)")
_SELECTOR = re.compile(r"(?:\.[\w-]+)+|span")
_TOKEN = re.compile(r"<(?P<close>/?)\w+(?P<attributes>[^>]*)>|(?P<text>[^<]+)")
_CLASS = re.compile(r'class="([^"]*)"')


class FontError(ValueError):
    """KaTeX 的样式表或字体不是认识的样子；消息是给人看的中文句子。"""


@dataclass(frozen=True)
class _Rule:
    """一条改变字体的规则：从外到内的类名，最里面的就是元素自己；`direct` 要求父元素紧挨着。"""

    compounds: tuple[frozenset[str], ...]
    direct: bool
    changes: dict[str, str]
    weight: tuple[int, int]

    def matches(self, ancestors: list[frozenset[str]], own: frozenset[str]) -> bool:
        *outer, last = self.compounds
        if not last <= own:
            return False
        left = list(ancestors)
        if self.direct:
            if not left or not outer.pop() <= left.pop():
                return False
        while outer:
            while left and not outer[-1] <= left[-1]:
                left.pop()
            if not left:
                return False
            outer.pop()
            left.pop()
        return True


@dataclass(frozen=True)
class Sheet:
    """KaTeX 的样式表里与字体有关的部分。"""

    #: 每种字体的文件名。
    faces: dict[Face, str]
    rules: tuple[_Rule, ...] = field(repr=False)


def read_sheet(css: str) -> Sheet:
    """读 KaTeX 的样式表。

    Raises:
        FontError: 有不认识的选择器；KaTeX 可能升级了，要改这里。
    """
    faces = {}
    for body in _FACE.findall(css):
        file = re.search(r"url\(fonts/([\w-]+\.woff2)\)", body)
        family = _FAMILY.search(body)
        if not file or not family:
            raise FontError(f"KaTeX 的样式表里有认不出的 @font-face：{body}")
        faces[family.group(1), "font-style:italic" in body, "font-weight:700" in body] = file.group(1)
    rules = []
    for selectors, body in _RULE.findall(_FACE.sub("", css)):
        changes = _changes(body)
        for selector in selectors.split(",") if changes else ():
            rules.append(_rule(selector.strip(), changes, len(rules)))
    if not faces or not rules:
        raise FontError("KaTeX 的样式表里没有字体；KaTeX 可能升级了，要改 livedocs/fonts.py")
    return Sheet(faces, tuple(sorted(rules, key=lambda rule: rule.weight)))


def _changes(body: str) -> dict[str, str]:
    found = {}
    if family := _FAMILY.search(body):
        found["family"] = family.group(1)
    if style := _STYLE.search(body):
        found["style"] = style.group(1)
    if weight := _WEIGHT.search(body):
        found["weight"] = weight.group(1)
    return found


def _rule(selector: str, changes: dict[str, str], order: int) -> _Rule:
    direct = ">" in selector
    parts = selector.replace(">", " ").split()
    if selector.count(">") > 1 or not all(_SELECTOR.fullmatch(part) for part in parts):
        raise FontError(f"KaTeX 的样式表里有不认识的选择器：{selector}；KaTeX 可能升级了，要改 livedocs/fonts.py")
    compounds = tuple(frozenset(part.split(".")[1:]) for part in parts)
    # 选择器里的类名越多越优先；一样多时写在后面的优先。
    return _Rule(compounds, direct, changes, (sum(map(len, compounds)), order))


def used(formula: str, sheet: Sheet) -> dict[Face, frozenset[str]]:
    """排好的一个公式（HTML）里，每种字体用到的字；读屏软件用的 MathML 不算。"""
    found: dict[Face, set[str]] = {}
    #: 从外到内的元素：类名与字体；字体是 None 时不在要显示的部分里。
    stack: list[tuple[frozenset[str], dict[str, str] | None]] = []
    for token in _TOKEN.finditer(formula):
        if token["text"]:
            font = stack[-1][1] if stack else None
            if font:
                face = (font["family"], font["style"] == "italic", font["weight"] in ("bold", "700"))
                found.setdefault(face, set()).update(html.unescape(token["text"]))
        elif token["close"]:
            stack.pop()
        elif not token["attributes"].endswith("/"):
            named = _CLASS.search(token["attributes"])
            own = frozenset(named.group(1).split() if named else ())
            outer = stack[-1][1] if stack else {"family": "KaTeX_Main", "style": "normal", "weight": "normal"}
            hidden = outer is None or "katex-mathml" in own
            stack.append((own, None if hidden else _font(stack, own, outer, sheet)))
    return {face: frozenset(text) for face, text in found.items()}


def _font(stack, own: frozenset[str], outer: dict[str, str], sheet: Sheet) -> dict[str, str]:
    ancestors = [classes for classes, _ in stack]
    font = dict(outer)
    for rule in sheet.rules:
        if rule.matches(ancestors, own):
            font |= rule.changes
    return font


_used = functools.lru_cache(maxsize=10_000)(lambda formula, css: used(formula, _sheet(css)))
_sheet = functools.lru_cache(maxsize=4)(read_sheet)


@functools.lru_cache(maxsize=256)
def subset(font: Path, characters: frozenset[str]) -> bytes:
    """`font` 里只留 `characters` 的 woff2；同样的字总是同样的字节。字体里没有的字不管。"""
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    options = Options(flavor="woff2", hinting=False, notdef_outline=True, name_IDs=[0, 13, 14])
    out = io.BytesIO()
    with TTFont(font, recalcTimestamp=False) as loaded:
        cutter = Subsetter(options)
        cutter.populate(unicodes=map(ord, characters))
        cutter.subset(loaded)
        loaded.flavor = "woff2"
        loaded.save(out)
    return out.getvalue()


def publish(formulas: Iterable[str], dist: Path) -> dict[str, bytes]:
    """要发布的文件：样式表 `katex.min.css` 与裁剪过的 `fonts/*.woff2`，名字到内容。

    字体的文件名带着内容的散列：多了一个字形，读者的缓存不会还用旧的。

    Args:
        formulas: 全站排好的公式（HTML）。
        dist: KaTeX 的 npm 包里的 `dist/`。

    Raises:
        FontError: 样式表不认识，或缺字体文件。
    """
    css = woff2_only((dist / "katex.min.css").read_text(encoding="utf-8"))
    sheet = _sheet(css)
    characters: dict[Face, set[str]] = {}
    for formula in formulas:
        for face, text in _used(formula, css).items():
            characters.setdefault(_nearest(face, sheet), set()).update(text)
    files, renamed = {}, {}
    for face, text in sorted(characters.items()):
        source = dist / "fonts" / sheet.faces[face]
        if not source.is_file():
            raise FontError(f"KaTeX 的样式表要用 {source.name}，npm 包里却没有；删除 web/node_modules 后重试")
        data = subset(source, frozenset(text))
        renamed[source.name] = f"{source.stem}.{hashlib.sha256(data).hexdigest()[:8]}.woff2"
        files[f"fonts/{renamed[source.name]}"] = data

    def only_used(found: re.Match) -> str:
        name = re.search(r"fonts/([\w-]+\.woff2)", found.group()).group(1)
        return found.group().replace(name, renamed[name]) if name in renamed else ""

    return {"katex.min.css": _FACE.sub(only_used, css).encode("utf-8"), **files}


def woff2_only(css: str) -> str:
    """所有还在更新的浏览器都认 woff2；别的格式不发布。"""
    return re.sub(r",\s*url\([^)]*\.(?:woff|ttf)\)\s*format\([^)]*\)", "", css)


def _nearest(face: Face, sheet: Sheet) -> Face:
    """样式表没有这种粗细或斜正时，浏览器用同一家族里的另一种。"""
    family, italic, bold = face
    for one in ((family, italic, bold), (family, italic, not bold), (family, not italic, bold), (family, False, False)):
        if one in sheet.faces:
            return one
    raise FontError(f"KaTeX 的样式表用到字体 {family}，却没有它的 @font-face")
