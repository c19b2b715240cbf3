"""把一个 SVG 文件变成能内嵌进网页的一段：去掉文件头，`id` 加上前缀，好让同一页的几张图互不干扰。"""

from __future__ import annotations

import re
import xml.etree.ElementTree as etree

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_DROPPED = ("metadata", "title", "desc", "script")
_REFERENCE = re.compile(r"url\(\s*(['\"]?)#([^)'\"]+)\1\s*\)")


class SvgError(ValueError):
    """文件不是能内嵌的 SVG。"""


def inline(source: str, prefix: str, label: str) -> str:
    """`source` 是 SVG 文件的文字，`label` 是替代文字；返回可以放进 HTML 的 `<svg>…</svg>`。

    图中的字不进搜索索引（`data-search-exclude`），读屏软件读 `label`。
    """
    try:
        root = etree.fromstring(source.encode("utf-8"))
    except etree.ParseError as error:
        raise SvgError(f"不是合法的 SVG：{error}") from None
    if root.tag != f"{{{_SVG}}}svg":
        raise SvgError("根元素不是 <svg>")
    if not label:
        raise SvgError("没有替代文字；在 ![ ] 里用一两句话说清图中内容")
    if "viewBox" not in root.attrib:
        raise SvgError("根元素没有 viewBox，不能随页面缩放")
    _clean(root)
    _prefix_ids(root, prefix)
    root.set("role", "img")
    root.set("aria-label", label)
    root.set("data-search-exclude", "1")
    etree.register_namespace("", _SVG)
    etree.register_namespace("xlink", _XLINK)
    return etree.tostring(root, encoding="unicode").strip()


def _clean(root: etree.Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{_SVG}}}{name}" for name in _DROPPED}:
                parent.remove(child)
        for name in list(parent.attrib):
            if re.match(r"on[a-z]+$", name):
                del parent.attrib[name]


def _prefix_ids(root: etree.Element, prefix: str) -> None:
    def renamed(value: str) -> str:
        return _REFERENCE.sub(lambda m: f"url(#{prefix}-{m.group(2)})", value)

    ids = {element.get("id") for element in root.iter() if element.get("id")}
    for element in root.iter():
        for name, value in list(element.attrib.items()):
            if name == "id":
                element.set(name, f"{prefix}-{value}")
            elif name in ("href", f"{{{_XLINK}}}href") and value.startswith("#"):
                element.set(name, f"#{prefix}-{value[1:]}")
            elif "url(" in value:
                element.set(name, renamed(value))
        if element.tag == f"{{{_SVG}}}style" and element.text:
            text = renamed(element.text)
            for name in sorted(ids, key=len, reverse=True):
                text = re.sub(rf"#{re.escape(name)}(?![\w-])", f"#{prefix}-{name}", text)
            element.text = text
