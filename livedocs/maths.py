"""公式：构建网站时由 KaTeX 排好（HTML 加给读屏软件的 MathML），浏览器里不需要脚本。

分两步走，好让搜索索引里没有三份公式：

1. `defer`：页面渲染完、进入索引之前，把 arithmatex 留下的 `\\(…\\)` 换成一个扁平的占位元素 `<x-tex>`，
   TeX 放在属性里；行内公式另带一份可读的文字（`√d`），索引里就只有这一份。
2. `typeset`：整页套好模板之后，把占位元素换成 KaTeX 的结果。
"""

from __future__ import annotations

import atexit
import functools
import html
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from livedocs.web import WEB, WebError, ensure_packages, node

_ARITHMATEX = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\s*(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<display>.*?)\\\])\s*</(?P=tag)>',
    re.DOTALL,
)
_BARE = re.compile(r"\\\((.+?)\\\)", re.DOTALL)
_PLACEHOLDER = re.compile(r'<x-tex data-tex="(?P<tex>[^"]*)"(?P<display> data-display)?>.*?</x-tex>', re.DOTALL)


class KaTeX:
    """一个常驻的 Node 进程，第一次遇到没见过的公式时才启动；排过的公式记在内存里。"""

    def __init__(self, web: Path = WEB):
        self._web = web
        self._process: subprocess.Popen | None = None
        self._done: dict[tuple[str, bool], dict[str, str]] = {}

    def render(self, formulas: list[tuple[str, bool]]) -> list[dict[str, str]]:
        """每个 `(tex, 是否独立成行)` 对应一个 `{"html": …}`，排不出来的另有 `"error"`。"""
        fresh = [formula for formula in dict.fromkeys(formulas) if formula not in self._done]
        if fresh:
            self._done.update(zip(fresh, self._ask(fresh), strict=True))
        return [self._done[formula] for formula in formulas]

    def typeset(self) -> list[str]:
        """到现在为止排过的公式（HTML），每个一次；要显示它们的字体由此算出。"""
        return [result["html"] for result in self._done.values()]

    def _ask(self, formulas: list[tuple[str, bool]]) -> list[dict[str, str]]:
        try:
            process = self._start()
            process.stdin.write(json.dumps(formulas).encode("ascii") + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (OSError, ValueError) as error:
            self.close()
            raise WebError(
                f"排公式的 Node 进程没有回答（{error}）；删除 {self._web / 'node_modules'} 后重试"
            ) from error

    def _start(self) -> subprocess.Popen:
        if self._process is None or self._process.poll() is not None:
            ensure_packages(self._web)
            self._process = subprocess.Popen(
                [node(), str(self._web / "typeset.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            atexit.register(self.close)
        return self._process

    def close(self) -> None:
        """结束 Node 进程；再次 `render` 时会重新启动。"""
        process, self._process = self._process, None
        if process is not None:
            atexit.unregister(self.close)
            process.stdin.close()
            process.stdout.close()
            process.wait(timeout=10)


@functools.cache
def shared() -> KaTeX:
    """整个进程共用的一个：`mkdocs serve` 每次重建都用它，排过的公式不再排。"""
    return KaTeX()


def defer(page: str) -> str:
    """第一步：`page`（一页的 HTML）里的公式换成占位元素。"""
    return _ARITHMATEX.sub(_placeholder, page)


def defer_title(title: str) -> str:
    """目录里的标题：arithmatex 的外壳已经去掉了，只剩 `\\(…\\)`。"""
    return _BARE.sub(lambda m: _element(m.group(1), display=False), title)


def _placeholder(match: re.Match) -> str:
    inline, tag = match.group("inline"), match.group("tag")
    element = _element(match.group("display"), display=True) if inline is None else _element(inline, display=False)
    return f'<{tag} class="arithmatex">{element}</{tag}>'


def _element(escaped: str, display: bool) -> str:
    """占位元素。行内公式带着可读的文字，搜索结果的摘要才读得通；独立公式不进索引。"""
    tex = html.unescape(escaped).strip()
    text = "" if display else html.escape(readable_tex(tex), quote=False)
    return f'<x-tex data-tex="{html.escape(tex)}"{" data-display" if display else ""}>{text}</x-tex>'


def typeset(page: str, katex: KaTeX, report: Callable[[str, str], None]) -> str:
    """第二步：占位元素换成排好的公式；排不出来的交给 `report(tex, 原因)`。"""
    found = [(html.unescape(m.group("tex")), bool(m.group("display"))) for m in _PLACEHOLDER.finditer(page)]
    if not found:
        return page
    results = katex.render(found)
    for (tex, _), result in zip(found, results, strict=True):
        if "error" in result:
            report(tex, result["error"])
    answers = iter(results)
    return _PLACEHOLDER.sub(lambda _: next(answers)["html"], page)


_SYMBOLS = {
    "times": "×",
    "cdot": "·",
    "le": "≤",
    "leq": "≤",
    "ge": "≥",
    "geq": "≥",
    "neq": "≠",
    "ne": "≠",
    "lt": "<",
    "gt": ">",
    "ll": "≪",
    "gg": "≫",
    "sim": "∼",
    "equiv": "≡",
    "propto": "∝",
    "pm": "±",
    "odot": "⊙",
    "oplus": "⊕",
    "partial": "∂",
    "nabla": "∇",
    "prod": "∏",
    "subset": "⊂",
    "cup": "∪",
    "cap": "∩",
    "mapsto": "↦",
    "Rightarrow": "⇒",
    "leftarrow": "←",
    "lceil": "⌈",
    "rceil": "⌉",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "langle": "⟨",
    "rangle": "⟩",
    "lVert": "‖",
    "rVert": "‖",
    "Vert": "‖",
    "quad": " ",
    "qquad": " ",
    "dots": "…",
    "ell": "ℓ",
    "eta": "η",
    "rho": "ρ",
    "varepsilon": "ε",
    "varphi": "φ",
    "approx": "≈",
    "infty": "∞",
    "to": "→",
    "rightarrow": "→",
    "in": "∈",
    "sum": "∑",
    "top": "ᵀ",
    "mid": "|",
    "ldots": "…",
    "cdots": "…",
    "alpha": "α",
    "beta": "β",
    "gamma": "γ",
    "delta": "δ",
    "epsilon": "ε",
    "theta": "θ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "sigma": "σ",
    "tau": "τ",
    "phi": "φ",
    "omega": "ω",
    "Delta": "Δ",
    "Sigma": "Σ",
    "Theta": "Θ",
}


#: 只管样子的命令，去掉就行。
_LOOKS = (
    r"\\(?:text(?:rm|bf|it|sf|tt)?|math(?:rm|bf|it|sf|tt|cal|bb|frak)|boldsymbol|operatorname\*?"
    r"|left|right|[bB]igg?[lrm]?|(?:display|text)style|(?:no)?limits)(?![A-Za-z])\s*"
)
#: 花括号里的一组，里面至多再有一层花括号；或者一个字。
_ARGUMENT = r"\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|([^\s{}\\]))"
_FRACTION = re.compile(rf"\\[dtc]?frac(?![A-Za-z]){_ARGUMENT}{_ARGUMENT}")
_ROOT = re.compile(rf"\\sqrt(?![A-Za-z]){_ARGUMENT}")


def readable_tex(tex: str) -> str:
    """公式的纯文字写法，供搜索结果和目录的读屏标签使用：`\\sqrt{d_k}` 成为 `√d_k`。"""
    tex = re.sub(_LOOKS, "", tex)
    tex = re.sub(r"\\([A-Za-z]+)", lambda m: _SYMBOLS.get(m.group(1), m.group(0)), tex)
    while (simpler := _simpler(tex)) != tex:
        tex = simpler
    tex = re.sub(r"(?<=[0-9A-Za-z])\\(?=[A-Za-z])", " ", tex)
    return re.sub(r"\s+", " ", re.sub(r"\\[,;:! ]|[{}\\]", "", tex)).strip()


def _simpler(tex: str) -> str:
    """把分式与根号写成一行；里面还有的，下一遍再写。"""
    lines = _FRACTION.sub(lambda m: _group(m[1] or m[2] or "") + "/" + _group(m[3] or m[4] or ""), tex)
    return _ROOT.sub(lambda m: "√" + _group(m[1] or m[2] or ""), lines)


def _group(part: str) -> str:
    """分子、分母、根号里的一项；有加减乘除的加上括号。"""
    return f"({part})" if re.search(r"[-+·×/∑∏ ]", part.strip()) else part.strip()
