"""内容安全策略：网页只运行本站的脚本。

主题自带几段行内脚本，逐段以散列放行；图里的 `<style>` 也一样。即时跳转会在一个页面里运行另一页的行内脚本，
所以全站用同一条策略，散列取全站的并集：先在每页放占位的 `<meta>`，全站写完以后再填。

同一条策略还写进网站的 `_headers`（Netlify、Cloudflare Pages 等读它；GitHub Pages 不读，那里靠 `<meta>`）。

`style="…"` 属性由 KaTeX 大量使用，不能逐个列出，所以 `style-src-attr` 放行；行内的样式表仍然不许。
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

PLACE = '<meta http-equiv="Content-Security-Policy" content="livedocs">'
HEADERS = "_headers"

_CHARSET = re.compile(r"<meta charset=[^>]*>")
_INLINE = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)
_TYPE = re.compile(r"""\btype\s*=\s*["']?([^"'\s>]+)""")
_RUNS = {"", "module", "text/javascript", "application/javascript"}


def reserve(html: str) -> str:
    """在 `<head>` 最前面留好位置；策略对它之后的内容才有效。"""
    return _CHARSET.sub(lambda m: m.group() + PLACE, html, count=1)


def inline_hashes(html: str) -> tuple[set[str], set[str]]:
    """一页里行内脚本与行内样式表的散列。"""
    found: dict[str, set[str]] = {"script": set(), "style": set()}
    for tag, attributes, text in _INLINE.findall(html):
        tag = tag.lower()
        kind = _TYPE.search(attributes)
        if tag == "script" and (re.search(r"\bsrc\s*=", attributes) or (kind and kind.group(1) not in _RUNS)):
            continue
        found[tag].add(_hash(text))
    return found["script"], found["style"]


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy(scripts: set[str], styles: set[str]) -> str:
    """全站的策略。`wasm-unsafe-eval` 只允许编译 WebAssembly（浏览器里的 Python），不允许 `eval`。"""
    rules = {
        "default-src": "'self'",
        "script-src": " ".join(["'self'", "'wasm-unsafe-eval'", *sorted(scripts)]),
        "style-src": " ".join(["'self'", *sorted(styles)]),
        "style-src-attr": "'unsafe-inline'",
        "img-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def apply(folder: Path) -> str:
    """算出 `folder` 里整个网站的策略，填进每一页，写出 `_headers`；返回这条策略。"""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))}
    scripts: set[str] = set()
    styles: set[str] = set()
    for text in pages.values():
        found = inline_hashes(text)
        scripts |= found[0]
        styles |= found[1]
    rule = policy(scripts, styles)
    for path, text in pages.items():
        if PLACE in text:
            with path.open("w", encoding="utf-8", newline="\n") as file:
                file.write(text.replace(PLACE, PLACE.replace("livedocs", rule)))
    (folder / HEADERS).write_text(f"/*\n  Content-Security-Policy: {rule}\n", encoding="utf-8", newline="\n")
    return rule
