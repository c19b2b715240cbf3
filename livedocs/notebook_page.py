"""notebook 作为网页：用网站自己的样子渲染，不带 nbconvert 的 574 KB 样式、外站脚本和 base64 图片。

mkdocs-jupyter 负责把 `.ipynb` 当成页面；它的 nbconvert 模板换成了 `templates/` 里的一行，渲染交给 `render`：
文字单元按 Jupyter 的规则（mistune）渲染，代码和输出用与普通页面相同的高亮，公式留成 arithmatex 的样子，
标题的 id 与普通页面同一规则。`finish` 再做需要知道页面的那部分：链接、图片文件、目录。
"""

from __future__ import annotations

import base64
import html
import logging
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import nbformat
from markdown import Markdown
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from livedocs import notebook
from livedocs.markdown import join_lines

log = logging.getLogger("mkdocs.plugins.livedocs")

TEMPLATES = Path(__file__).resolve().parent / "templates"
FILTER = "livedocs_notebook"
SOLUTION = "solution"

_MARK = re.compile(r"<!--(?:=(?P<expr>.*?)|given(?::.*?)?)\s*-->", re.DOTALL)
_LITERAL = re.compile(
    r"(<code>[^<]*</code>|<span class=\"arithmatex\">[^<]*</span>|[-+−]?\d[\d_,]*(?:\.\d+)?(?:[eE][-+]?\d+)?\s?[%％]?)"
    r"<!--=(.*?)-->",
    re.DOTALL,
)
_EXPLICIT_ID = re.compile(r"\s*\{\s*#([\w-]+)\s*\}\s*$")
_DATA_IMAGE = re.compile(r'src="data:image/png;base64,(?P<data>[^"]*)"')
_PARAGRAPH = re.compile(r"<p>((?:(?!</p>).)*?<div class=\"arithmatex\">.*?)</p>", re.DOTALL)
_DISPLAY = re.compile(r'<div class="arithmatex">.*?</div>', re.DOTALL)


class StoredFault(Exception):
    """notebook 里存着不能发布的输出；消息指明单元格。"""


def install(md: Markdown, slugify: Callable[[str, str], str]) -> None:
    """让 mkdocs-jupyter 用这里的模板和渲染。`md` 渲染代码块，设置与普通页面相同。"""
    from mkdocs_jupyter.config import settings
    from nbconvert.exporters.templateexporter import default_filters

    settings.templates_dir = str(TEMPLATES)
    default_filters[FILTER] = lambda nb: render(nb, md, slugify)


def check(path: Path) -> None:
    """存着错误、警告或网页显示不了的输出的 notebook 不发布。

    Raises:
        StoredFault: 指明第几个单元格、它的首行、错误是什么；文件读不了时说明原因。
    """
    try:
        notebook.read(path)
        nb = nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.ValidationError, notebook.NotebookError) as error:
        raise StoredFault(f"不是能读的 notebook（{error}）") from error
    for number, cell in enumerate(nb.cells, 1):
        for output in cell.get("outputs", []):
            if fault := _fault(output):
                first = cell.source.strip().split("\n", 1)[0]
                raise StoredFault(
                    f"第 {number} 个单元格（首行 {first!r}）{fault}\n    修好后重新运行整本 notebook 再保存"
                )


def _fault(output) -> str | None:
    if output.output_type == "error":
        return f"存着一个错误：{output.ename}: {output.evalue}"
    if output.output_type == "stream":
        return f"存着写到 stderr 的输出：{output.text.strip()}" if output.name == "stderr" else None
    shown = {"image/svg+xml", "image/png", "text/latex", "text/plain"}
    return None if shown & output.data.keys() else f"的输出只有网页不会显示的类型：{', '.join(output.data)}"


# ---------------------------------------------------------------- 单元格 → HTML


class _Renderer(IPythonRenderer):
    """Jupyter 的 Markdown 规则，输出换成网站的样子。"""

    def __init__(self, code: Callable[[str, str], str], slugify, used: set[str]):
        super().__init__(escape=False)
        self._code, self._slugify, self._used = code, slugify, used

    def heading(self, text, level, **attrs):
        explicit = _EXPLICIT_ID.search(text)
        text = _EXPLICIT_ID.sub("", text)
        plain = html.unescape(re.sub(r"<[^>]+>", "", text))
        anchor = explicit.group(1) if explicit else self._slugify(plain, "-") or "section"
        unique, count = anchor, 1
        while unique in self._used:
            unique, count = f"{anchor}_{count}", count + 1
        self._used.add(unique)
        link = f'<a class="headerlink" href="#{unique}" title="本节链接">¶</a>'
        return f'<h{level} id="{unique}">{text}{link}</h{level}>\n'

    def block_code(self, code, info=None):
        return self._code(code, (info or "text").split()[0])

    def inline_math(self, body):
        return f'<span class="arithmatex">\\({html.escape(body, quote=False)}\\)</span>'

    def block_math(self, body):
        return f'<div class="arithmatex">\\[{html.escape(body, quote=False)}\\]</div>'

    def latex_environment(self, name, body):
        return self.block_math(f"\\begin{{{name}}}{body}\\end{{{name}}}")


def render(nb, md: Markdown, slugify) -> str:
    """整本 notebook 的 HTML。标了 `solution` 的相邻单元格收进同一个折叠框。"""

    def code(source: str, language: str, classes: str = "") -> str:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", source)), default=0))
        return md.reset().convert(f"{fence}{{.{language}{classes}}}\n{source}\n{fence}")

    renderer = _Renderer(code, slugify, set())
    parts, folded = [], False
    for number, cell in enumerate(nb.cells, 1):
        solution = SOLUTION in cell.metadata.get("tags", [])
        if solution != folded:
            parts.append('<details class="success solution"><summary>参考答案</summary>' if solution else "</details>")
            folded = solution
        if cell.cell_type == "markdown":
            text = MarkdownWithMath(renderer=renderer).render(cell.source)
            parts.append(_outside_code(text, lambda part: _bind(join_lines(_unwrap_display(part)))))
        elif cell.cell_type == "code" and cell.source.strip():
            parts.append(code(cell.source, "python", " .run"))
            parts.extend(_output(output, number, code) for output in cell.outputs)
    return "\n".join([*parts, "</details>" if folded else ""])


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """对代码块以外的部分施行 `change`。"""
    pieces = re.split(r"(<pre\b.*?</pre>)", text, flags=re.DOTALL)
    return "".join(piece if index % 2 else change(piece) for index, piece in enumerate(pieces))


def _unwrap_display(text: str) -> str:
    """mistune 把独立公式放在段落里；`<p>` 里不能有 `<div>`，所以在公式处把段落断开。"""

    def split(match: re.Match) -> str:
        apart = "<p>" + _DISPLAY.sub(lambda m: f"</p>{m.group()}<p>", match.group(1)) + "</p>"
        return re.sub(r"<p>\s*</p>", "", apart)

    return _PARAGRAPH.sub(split, text)


def _bind(text: str) -> str:
    """文字单元里的绑定记号，与普通页面同样处理。"""

    def bound(match: re.Match) -> str:
        expr = html.escape(match.group(2).strip())
        value = html.escape(re.sub(r"<[^>]+>", "", match.group(1)).strip())
        return f'<data class="bound" value="{value}" data-expr="{expr}" tabindex="0" title="本 notebook 算出：{expr}">{match.group(1)}</data>'

    return _MARK.sub("", _LITERAL.sub(bound, text))


def _output(output, number: int, code) -> str:
    if output.output_type == "stream":
        return code("".join(output.text).rstrip("\n"), "text", " .output")
    data = output.get("data", {})
    if "image/svg+xml" in data:
        return f'<figure class="diagram plot">{"".join(data["image/svg+xml"])}</figure>'
    if "image/png" in data:
        details = output.metadata.get("image/png", {})
        alt = details.get("alt")
        if not alt:
            log.warning(
                "notebook 第 %d 个单元格画的图没有替代文字；显示时加上 metadata={'image/png': {'alt': '……'}}", number
            )
        payload = re.sub(r"\s+", "", "".join(data["image/png"]))
        width, height = _size(payload, details)
        return (
            f'<figure class="plot"><img src="data:image/png;base64,{payload}" alt="{html.escape(alt or "")}"'
            f' width="{width}" height="{height}" loading="lazy"></figure>'
        )
    if "text/latex" in data:
        body = "".join(data["text/latex"]).strip().strip("$")
        return f'<div class="arithmatex">\\[{html.escape(body, quote=False)}\\]</div>'
    return code("".join(data["text/plain"]), "text", " .output")


def _size(payload: str, details: dict) -> tuple[int, int]:
    """图片显示的宽和高：写明的优先（高分屏的图会写），否则取 PNG 文件头里的。"""
    if "width" in details and "height" in details:
        return details["width"], details["height"]
    return struct.unpack(">II", base64.b64decode(payload[:64])[16:24])


# ---------------------------------------------------------------- 页面


@dataclass
class NotebookPage:
    """一页 notebook 的 HTML，以及从中抽出的部分。"""

    content: str
    toc_tokens: list[dict]
    anchors: set[str]
    #: 图片文件：文件名 → 内容
    images: dict[str, bytes] = field(default_factory=dict)


def finish(content: str, link: Callable[[str], str]) -> NotebookPage:
    """去掉 mkdocs-jupyter 附加的样式，改写链接（`link` 由源文件的相对路径得到网址），抽出图片与目录。"""
    content = re.sub(r"<style>.*?</style>\s*$", "", content, flags=re.DOTALL).strip()

    def rewrite(match: re.Match) -> str:
        before, url = match.group(1), html.unescape(match.group(2))
        if not re.match(r"[a-z][a-z0-9+.-]*:", url):  # mistune 把汉字写成了 %XX
            url = link(unquote(url))
        return f'{before}{html.escape(url)}"'

    content = re.sub(r'(<a\s(?:[^>]*?\s)?href="|<img\s(?:[^>]*?\s)?src=")([^"]*)"', rewrite, content)
    page = NotebookPage(content, _toc(content), set(re.findall(r'\sid="([^"]+)"', content)))
    page.content = _DATA_IMAGE.sub(lambda m: _image(m, page.images), content)
    return page


def _image(match: re.Match, images: dict[str, bytes]) -> str:
    name = f"figure-{len(images) + 1}.png"
    images[name] = base64.b64decode(match.group("data"))
    return f'src="{name}"'


def _toc(content: str) -> list[dict]:
    """标题 → Python-Markdown 的 `toc_tokens` 那样的树。"""
    root: list[dict] = []
    stack: list[dict] = []
    for level, anchor, inner in re.findall(r'<h([1-6]) id="([^"]+)">(.*?)</h\1>', content, re.DOTALL):
        inner = re.sub(r'<a class="headerlink".*?</a>', "", inner)
        token = {"level": int(level), "id": anchor, "name": re.sub(r"<[^>]+>", "", inner).strip(), "children": []}
        while stack and stack[-1]["level"] >= token["level"]:
            stack.pop()
        (stack[-1]["children"] if stack else root).append(token)
        stack.append(token)
    return root
