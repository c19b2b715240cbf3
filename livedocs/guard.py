"""守卫：网站真正显示的代码围栏，与收集器收集到的，必须逐个相同。

收集到的，是 `page.py` 逐行追踪的结果；显示的，是同一次渲染的 HTML 里读出的每一段代码。渲染与网站不同的只有展开
`--8<--` 的预处理器，所以这里再用网站自己的展开一次，结果要一样。追踪的规则若有遗漏，就在这里变红，而不是悄悄少检查一段。
"""

from __future__ import annotations

from itertools import zip_longest

from livedocs.page import Fault, Fence, Origin, Page, read_source
from livedocs.project import Project


def collected_code(page: Page) -> list[tuple[str, str]]:
    """收集到的围栏，写成与 `page.shown` 可比的样子。"""
    return [(fence.lang, fence.content.strip("\n")) for fence in _as_shown(page)]


def _as_shown(page: Page) -> list[Fence]:
    """按网页上的先后；只有脚注里的围栏与源文的先后不同。"""
    return sorted(page.fences, key=lambda fence: fence.shown_at)


def missed(page: Page, project: Project) -> list[Fault]:
    """网站显示的与收集到的有没有差别；没有时是空列表。已经有 fault 的页面没有读完，不能再问。"""
    if page.site_error is not None:
        return [Fault(Origin(page.path, 1), f"网站不能渲染这一页：{page.site_error!r}")]
    return _lines_differ(page, project) or differences(page, page.shown, collected_code(page))


def _lines_differ(page: Page, project: Project) -> list[Fault]:
    """网站自己展开片段之后的各行，与追踪的各行的第一处差别。"""
    from mkdocs.utils.meta import get_data

    body = get_data(read_source(page.path))[0]
    lines = project.expand(body.split("\n")) if body.strip() else []  # 空的页面，网站也不展开
    for number, (site, ours) in enumerate(zip_longest(lines, page.lines, fillvalue="")):  # 末尾多几个空行不算
        if site != ours:
            origin = page.lines[min(number, len(page.lines) - 1)].origin if page.lines else Origin(page.path, 1)
            return [Fault(origin, f"展开片段之后的第 {number + 1} 行，网站的与收集到的不同：\n    网站：{site!r}\n    收集：{ours!r}")]
    return []


def differences(page: Page, shown: list[tuple[str, str]], collected: list[tuple[str, str]]) -> list[Fault]:
    """两份清单的第一处差别。没有语言类的站点只比较文字。"""
    if not any(language for language, _ in shown):
        collected = [("", text) for _, text in collected]
    for number, (seen, kept) in enumerate(zip(shown, collected, strict=False), 1):
        if seen != kept:
            origin = _as_shown(page)[number - 1].origin
            return [Fault(origin, f"第 {number} 段代码，网站显示的与收集到的不同：\n    网站：{seen!r}\n    收集：{kept!r}")]
    if len(shown) != len(collected):
        extra = (shown if len(shown) > len(collected) else collected)[min(len(shown), len(collected))]
        return [
            Fault(
                Origin(page.path, 1),
                f"网站显示 {len(shown)} 段代码，收集到 {len(collected)} 段；多出的第一段是 {extra!r}",
            )
        ]
    return []
