"""守卫：网站真正显示的代码围栏，与收集器收集到的，必须逐个相同。

`page.py` 追踪围栏时换下了两处预处理器；这里用网站自己的设置（只是不上色）把同一页再渲染一次，从 HTML 里读出
读者看到的每一段代码，与收集到的比较。追踪的规则若有遗漏，就在这里变红，而不是悄悄少检查一段。
"""

from __future__ import annotations

from html import escape
from html.parser import HTMLParser

from livedocs.page import Fault, Fence, Origin, Page, read_source
from livedocs.project import Project


class ShownCode(HTMLParser):
    """HTML 里的代码块：（语言, 文字）；行号栏不算。"""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks: list[tuple[str, str]] = []
        self._open: list[tuple[str, str]] = []
        self._text: list[str] | None = None

    def handle_starttag(self, tag, attrs):
        classes = (dict(attrs).get("class") or "").split()
        if tag in ("div", "td", "table", "pre"):
            self._open.append((tag, " ".join(classes)))
        if tag == "pre" and not any("linenos" in seen or "linenodiv" in seen for _, seen in self._open):
            self._text = []

    def handle_endtag(self, tag):
        if tag == "pre" and self._text is not None:
            self.blocks.append((self._language(), "".join(self._text).strip("\n")))
            self._text = None
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index][0] == tag:
                del self._open[index:]
                break

    def handle_data(self, data):
        if self._text is not None:
            self._text.append(data)

    def _language(self) -> str:
        for _, classes in reversed(self._open):
            for name in classes.split():
                if name.startswith("language-"):
                    return name.removeprefix("language-")
        return ""


def shown_code(html: str) -> list[tuple[str, str]]:
    """`html` 里按顺序显示的代码：（语言, 去掉首尾空行的文字）。"""
    parser = ShownCode()
    parser.feed(html)
    parser.close()
    return parser.blocks


def collected_code(page: Page) -> list[tuple[str, str]]:
    """收集到的围栏，写成与 `shown_code` 可比的样子。"""
    return [(fence.lang, fence.content.strip("\n")) for fence in _as_shown(page)]


class _Plain:
    """不上色的高亮程序：文字、语言类与外层的元素照旧，只是没有一个个词的颜色。上色占渲染的大半时间。"""

    def __init__(self, *_, **__):
        pass

    def highlight(self, source, language, *_, **__):
        return f'<div class="language-{escape(language)} highlight"><pre><code>{escape(source)}</code></pre></div>'


def _without_colours(md) -> None:
    fences = md.preprocessors["fenced_code_block"]
    settings = fences.get_hl_settings

    def plain_settings():
        settings()
        fences.highlighter = _Plain

    fences.get_hl_settings = plain_settings


def _as_shown(page: Page) -> list[Fence]:
    """按网页上的先后；只有脚注里的围栏与源文的先后不同。"""
    return sorted(page.fences, key=lambda fence: fence.shown_at)


def missed(page: Page, project: Project) -> list[Fault]:
    """网站显示的与收集到的有没有差别；没有时是空列表。"""
    from mkdocs.utils.meta import get_data

    body, _ = get_data(read_source(page.path))
    md = project.markdown()
    _without_colours(md)
    try:
        html = md.convert(body)
    except Exception as error:  # 扩展什么都可能抛出；网站也会在这里中止
        return [Fault(Origin(page.path, 1), f"网站不能渲染这一页：{error!r}")]
    return differences(page, shown_code(html), collected_code(page))


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
