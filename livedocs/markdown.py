"""网站用到的 Python-Markdown 扩展。凡是扩展做得到的都放在这里，因为扩展在 MkDocs 和 Zensical 里同样有效。

- `validate_fence` / `format_fence`：代码围栏。吃掉本站自己的选项，把输出和证据包成读者看得懂的样子；
  能在网页里运行的页面上（`page_runs` 是 `browser`），每段 Python 包进 `<py-block>`（见 web/README.md）。
- `JoinLines`：汉字之间的换行不显示成空格。
- `BoundNumbers`：`0.3302<!--= expr -->` 这样的记号变成 `<data>` 元素，不留下注释。
- `Figures`：`docs/figures/` 里的 SVG 内嵌进页面，好随网站的明暗主题变色。
- `Downloads`：指向脚本的链接带上 `download` 属性。
- `lesson_card`：由 front matter 生成的概要卡片（一段 Markdown）。扩展看不到 front matter，由 hooks.py 插入。
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as etree
from contextvars import ContextVar
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import INLINE_PLACEHOLDER_RE
from pymdownx.snippets import SnippetPreprocessor
from pymdownx.superfences import SuperFencesException, highlight_validator

from livedocs import publish, svg
from livedocs.self_test import SelfTests

try:
    from mkdocs.exceptions import BuildError
except ImportError:  # 在 Zensical 里没有 MkDocs

    class BuildError(Exception):
        """占位：MkDocs 里这个类型的错误只显示消息，不显示调用栈。"""


# Material 一被导入就打印换代通知。mkdocs.yml 里的 `!!python/name:livedocs.markdown…` 使本模块先于主题导入，
# 所以在这里关掉，任何命令启动的构建都不会打印它。换代的计划见“版本与证明”页。
os.environ["NO_MKDOCS_2_WARNING"] = "1"


class MarkupError(SuperFencesException, BuildError):
    """页面里的写法不能显示。superfences 会吞掉别的异常，只放行自己的这一种。"""


# ---------------------------------------------------------------- 代码围栏

#: 只给检查程序看的选项，不进入 HTML。
OWN_OPTIONS = frozenset(["raises", "timeout", "notest", "file", "rtol", "atol"])
HIGHLIGHT_OPTIONS = frozenset(["title", "hl_lines", "linenums", "title_mode"])
_UNKNOWN = "livedocs-unknown"
_OWN = "livedocs-own"

#: 正在渲染的这一页的 `runs`；扩展看不到 front matter，由 hooks.py 在渲染之前设好。
page_runs: ContextVar[str | None] = ContextVar("page_runs", default=None)
#: 网页里会动的元素（web/src/<元素名>/）；登记在这里，Markdown 才把它们当块级元素。
ELEMENTS = ("py-block", "lab-record", "self-test", "attention-explorer", "head-shapes", "rope-rotation", "kv-cache")


def validate_fence(language, inputs, options, attrs, md) -> bool:
    """围栏首行的选项分三份：高亮用的、`data-*` 属性、不认识的（留给 `format_fence` 报错）。"""
    unknown = {}
    for key, value in inputs.items():
        if key in HIGHLIGHT_OPTIONS or key.startswith("data-"):
            continue
        if key not in OWN_OPTIONS:
            unknown[key] = value
    theirs = {key: value for key, value in inputs.items() if key not in OWN_OPTIONS and key not in unknown}
    highlight_validator(language, theirs, options, attrs, md)
    for key in HIGHLIGHT_OPTIONS & attrs.keys():  # 写法不对，高亮程序不认
        unknown[key] = attrs.pop(key)
    if unknown:
        options[_UNKNOWN] = unknown
    if own := {key: value for key, value in inputs.items() if key in OWN_OPTIONS}:
        options[_OWN] = own
    return True


def format_fence(source, language, class_name, options, md, **kwargs) -> str:
    """照常高亮；`.output` 挂上“输出”标签，`.evidence` 收进折叠框。"""
    for key, value in options.pop(_UNKNOWN, {}).items():
        first = source.strip().split("\n", 1)[0]
        raise MarkupError(
            f"代码块（{language}，首行是 {first!r}）有不认识的选项或写法 {key}={value!r}；"
            f"可用的选项：{'、'.join(sorted(OWN_OPTIONS | (HIGHLIGHT_OPTIONS - {'title_mode'})))}"
        )
    own = options.pop(_OWN, {})
    browser = page_runs.get() == "browser"
    classes = kwargs["classes"] or []
    if "output" in classes:
        classes.append("no-copy")  # 输出是给人对照的，不是给人复制的
    block = md.preprocessors["fenced_code_block"].highlight(
        src=source, language=language, options=options, md=md, **kwargs
    )
    if "output" in classes:
        return (
            f'<div class="code-output"{_data(own if browser else {}, "rtol", "atol")}>'
            f'<span class="code-output__label" data-search-exclude="1">输出</span>{block}</div>'
        )
    if browser and language == "python" and "notest" not in own:
        kind = next((name for name in ("evidence", "script") if name in classes), "run")
        block = f'<py-block data-kind="{kind}"{_data(own, "raises")}>{block}</py-block>'
    if "evidence" in classes:
        return f'<details class="evidence"><summary>展开证据</summary>{block}</details>'
    return block


def _data(own: dict[str, str], *names: str) -> str:
    """本站的选项 → `data-*` 属性。"""
    return "".join(f' data-{name}="{escape(own[name])}"' for name in names if name in own)


# ---------------------------------------------------------------- 绑定的数字

_COMMENT = r"<!--(?:=(?P<expr>.*?)|given(?::.*?)?)\s*-->"
_PLACEHOLDER_BEFORE = re.compile(INLINE_PLACEHOLDER_RE.pattern + r"\Z")
_NUMBER_BEFORE = re.compile(
    r"(?:(?<![\w.])[-+−±])?\d(?:[\d_,\u00a0\u202f]|[ ](?=\d{3}(?!\d)))*(?:\.\d+)?(?:[eE][-+−]?\d+)?[ \u00a0]?[%％‰]?\Z"
)
_CLOSING = {"]": "[", ")": "(", "）": "（"}


class BoundNumbers(InlineProcessor):
    """`0.3302<!--= expr -->` → `<data class="bound" data-expr="expr">0.3302</data>`；`<!--given-->` 只是去掉。

    在行内代码和公式之后、其余行内语法之前运行：那两种已经换成占位符，里面写的注释不会被误认；
    而表达式里的 `*`、`_`、`[a](b)` 还没有被当成 Markdown。
    """

    def handleMatch(self, m, data):
        expr = m.group("expr")
        start = self._literal_start(data, m.start())
        if expr is None or start == m.start():
            return "", m.start(), m.end()
        literal = data[start : m.start()]
        bound = etree.Element("data", {"class": "bound"})
        bound.text = literal
        bound.set("value", self._plain(literal))
        bound.set("data-expr", expr.strip())
        bound.set("tabindex", "0")  # 键盘和触摸也能看到表达式
        bound.set("title", f"本页的程序算出：{expr.strip()}")
        return bound, start, m.end()

    @staticmethod
    def _literal_start(data: str, end: int) -> int:
        """注释前紧挨着的数、百分数、列表、行内代码或公式从哪里开始；都不是时返回 `end`。"""
        before = data[:end]
        found = _PLACEHOLDER_BEFORE.search(before) or _NUMBER_BEFORE.search(before)
        if found:
            return found.start()
        pairs: list[str] = []
        for index in range(end - 1, max(-1, end - 400), -1):
            if before[index] in _CLOSING:
                pairs.append(_CLOSING[before[index]])
            elif pairs and before[index] == pairs[-1]:
                pairs.pop()
            if not pairs:
                return index if index < end - 1 else end
            if before[index] == "\n":
                break
        return end

    def _plain(self, literal: str) -> str:
        stash = self.md.treeprocessors["inline"].stashed_nodes

        def text_of(match):
            node = stash.get(match.group(1))
            return "".join(node.itertext()) if isinstance(node, etree.Element) else node or ""

        return INLINE_PLACEHOLDER_RE.sub(text_of, literal).strip().removeprefix("\\(").removesuffix("\\)")


class NoLeftovers(Postprocessor):
    """兜底：直接写成 HTML 的段落里，行内语法够不着的记号也不留下注释。"""

    def run(self, text):
        return re.sub(_COMMENT, "", text, flags=re.DOTALL) if "<!--" in text else text


# ---------------------------------------------------------------- 换行

_WIDE = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # 汉字
_PUNCTUATION = "\u3001-\u3004\u3008-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65“”‘’…—"  # 全角标点
_TAGS = r"(?:</?(?:a|abbr|code|data|del|em|mark|small|span|strong|sub|sup)\b[^<>]*>)*"
_BREAK = re.compile(
    rf"(?<=[{_PUNCTUATION}])({_TAGS})\n({_TAGS})(?=\S)|(?<=[{_WIDE}])({_TAGS})\n({_TAGS})(?=[{_WIDE}{_PUNCTUATION}])"
    rf"|(?<=[^\s>])({_TAGS})\n({_TAGS})(?=[{_PUNCTUATION}])"
)


def join_lines(text: str) -> str:
    """段落里的换行在浏览器里显示成空格；汉字之间、全角标点旁边不该有空格，所以去掉那里的换行。"""
    return _BREAK.sub(lambda m: "".join(group or "" for group in m.groups()), text)


class JoinLines(Postprocessor):
    """在原样 HTML（代码块就在其中）放回之前运行，所以碰不到代码。"""

    def run(self, text):
        return join_lines(text)


# ---------------------------------------------------------------- 图

_IMAGE = (
    r"!\[(?P<alt>(?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*(?P<src>[^\s()]*figures/[^\s()]+\.svg)"
    r"(?:\s+(?P<quote>[\"'])(?P<title>.*?)(?P=quote))?\s*\)"
)


class FigureImage(InlineProcessor):
    """`![替代文字](../figures/x.svg "图注")` → 带图注的 `<figure>`；图注里可以有公式、代码和绑定的数字。"""

    def handleMatch(self, m, data):
        alt = self.unescape(m.group("alt"))
        figure = etree.Element("figure", {"class": "diagram"})
        # src 先留着，让 MkDocs 照常核对路径；InlineSvg 最后才把它换成图。
        etree.SubElement(figure, "img", {"src": m.group("src"), "alt": re.sub(r"\s+", " ", alt).strip()})
        if m.group("title"):
            etree.SubElement(figure, "figcaption").text = m.group("title")
        return figure, m.start(), m.end()


class UnwrapFigures(Treeprocessor):
    """单独成段的图不放在 `<p>` 里：`<p>` 里不能有 `<figure>`。"""

    def run(self, root):
        for parent in list(root.iter()):
            for index, child in enumerate(list(parent)):
                if child.tag != "p" or child.find("figure") is None:
                    continue
                figure = child.find("figure")
                if len(child) > 1 or (child.text or "").strip() or (figure.tail or "").strip():
                    raise MarkupError(f"图要单独成段：{figure.find('img').get('src')} 的同一段里还有别的文字")
                figure.tail = child.tail
                parent[index] = figure


class InlineSvg(Treeprocessor):
    """把 `<figure>` 里的 `<img>` 换成 SVG 本身。在 MkDocs 核对过链接之后运行。"""

    def __init__(self, md: Markdown, figures: Path):
        super().__init__(md)
        self.figures = figures

    def run(self, root):
        for number, figure in enumerate(root.iter("figure"), 1):
            image = figure.find("img")
            if image is None or figure.get("class") != "diagram":
                continue
            name = unquote(urlsplit(image.get("src")).path).rpartition("figures/")[2]
            try:
                drawing = svg.inline(
                    (self.figures / name).read_text(encoding="utf-8"), f"fig{number}", image.get("alt")
                )
            except OSError:
                raise MarkupError(f"找不到图 {image.get('src')}：{self.figures.name}/ 里没有 {name}") from None
            except svg.SvgError as error:
                raise MarkupError(f"图 {name} 不能用：{error}") from None
            figure.remove(image)
            figure.text = self.md.htmlStash.store(drawing)


# ---------------------------------------------------------------- 下载


class Downloads(Treeprocessor):
    """指向 `code/*.py` 和 `*.ipynb` 文件的链接：点一下就保存，而不是在浏览器里打开。"""

    def run(self, root):
        for link in root.iter("a"):
            path = urlsplit(link.get("href") or "")
            if not path.netloc and re.search(r"(?:^|/)code/[^/]+\.py$|\.ipynb$", path.path):
                link.set("download", "")


# ---------------------------------------------------------------- 概要卡片

RUNS = {"browser": "只需 Python 标准库", "local": "在本机运行，需要 PyTorch"}


def lesson_card(meta: dict, has_code: bool = True, start: str = "") -> str:
    """front matter → 一段 Markdown，放在 H1 之后；没有 `outcomes` 的页面没有卡片，没有代码的页面不写怎样运行。

    `start` 是说明怎样在自己的电脑上运行的那一节；能在网页里运行的页面链接到它，没有脚本时读者就靠它。

    “学完能做什么”进入搜索索引；“先修”等不进，否则搜一个词会先找到只是以它为先修的页面。
    索引器按元素名跳过内容，所以不进索引的那部分用 `<aside>`，里面不再有 `<aside>`。
    """
    outcomes = _as_list(meta.get("outcomes"))
    if not outcomes:
        return ""
    rows = []
    if prerequisites := _as_list(meta.get("prerequisites")):
        rows.append(("先修", "；".join(prerequisites)))
    if minutes := meta.get("minutes"):
        rows.append(("用时", f"约 {minutes} 分钟"))
    if runs := meta.get("runs"):
        if runs not in RUNS:
            raise MarkupError(f"front matter 的 runs 是 {runs!r}；只能是 {' 或 '.join(RUNS)}")
        if has_code:
            ways = f"；在本页运行（浏览器要开着 JavaScript），或[在自己的电脑上运行]({start})"
            rows.append(("运行", RUNS[runs] + (ways if runs == "browser" and start else "")))
    terms = "\n\n".join(f"{name}\n:   {text}" for name, text in rows)
    goals = "\n".join(f"- {item}" for item in outcomes)
    return (
        '<div class="lesson-card" markdown="1">\n\n'
        f'<div class="lesson-card__goals" markdown="1">\n\n学完这一页，你能：\n\n{goals}\n\n</div>\n\n'
        f'<aside class="lesson-card__facts" aria-label="先修、用时与运行方式" data-search-exclude="1" markdown="1">\n\n'
        f"{terms}\n\n</aside>\n\n</div>\n\n"
    )


def _as_list(value) -> list[str]:
    if value is None:
        return []
    return [str(item).strip() for item in (value if isinstance(value, list) else [value])]


def insert_card(markdown: str, card: str) -> str:
    """把卡片放到正文第一个 H1 之后；没有 H1 就放在最前面。围栏里以 `# ` 开头的行不算。"""
    if not card:
        return markdown
    lines = markdown.split("\n")
    fence = ""
    for index, line in enumerate(lines):
        opened = re.match(r"[ ]{0,3}(`{3,}|~{3,})", line)
        if fence:
            if opened and opened.group(1).startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif opened:
            fence = opened.group(1)
        elif line.startswith("# "):
            return "\n".join([*lines[: index + 1], "", card, *lines[index + 1 :]])
    return card + markdown


# ---------------------------------------------------------------- 整个脚本


class PublishedSnippets(SnippetPreprocessor):
    """引入整个 `.py` 文件时，展示的是已发布的文件（见 publish.py）；引入片段时与 pymdownx 相同。"""

    def __init__(self, original: SnippetPreprocessor):
        self.__dict__.update(original.__dict__)

    def process_snippet_lines(self, lines, target):
        if not is_whole_script(target):
            return lines
        try:
            return publish.published(Path(target["snippet"])).split("\n")
        except publish.PublishError as error:
            raise MarkupError(str(error)) from None


def is_whole_script(target: dict) -> bool:
    """pymdownx 的片段目标是不是一个完整的脚本。"""
    return not (target["section"] or target["start"] or target["is_url"]) and target["snippet"].endswith(".py")


# ---------------------------------------------------------------- 扩展本身


class LivedocsExtension(Extension):
    """`figures`：放 SVG 的文件夹，相对路径从 mkdocs.yml 所在处（即构建时的项目根）算起。"""

    def __init__(self, **kwargs):
        self.config = {"figures": [str(_ROOT / "docs" / "figures"), "放 SVG 的文件夹"]}
        super().__init__(**kwargs)

    def extendMarkdown(self, md: Markdown) -> None:
        md.registerExtension(self)
        md.block_level_elements.extend(name for name in ELEMENTS if name not in md.block_level_elements)
        if "snippet" in md.preprocessors:  # pymdownx.snippets 要列在本扩展之前
            md.preprocessors.register(PublishedSnippets(md.preprocessors["snippet"]), "snippet", 32)
        # 行内代码 190、公式 189.9、转义 180、图片 150。
        md.inlinePatterns.register(BoundNumbers(_COMMENT, md), "livedocs-bound", 186)
        md.inlinePatterns.register(FigureImage(_IMAGE, md), "livedocs-figure", 185)
        # inline 20；MkDocs 核对链接的 relpath 是 0。
        md.treeprocessors.register(UnwrapFigures(md), "livedocs-unwrap", 19)
        md.treeprocessors.register(SelfTests(md, MarkupError), "livedocs-self-test", 18)
        md.treeprocessors.register(Downloads(md), "livedocs-downloads", -5)
        md.treeprocessors.register(InlineSvg(md, Path(self.getConfig("figures"))), "livedocs-svg", -10)
        # raw_html 30、unescape 10。
        md.postprocessors.register(JoinLines(md), "livedocs-join", 35)
        md.postprocessors.register(NoLeftovers(md), "livedocs-leftovers", 5)


_ROOT = Path(__file__).resolve().parent.parent


def makeExtension(**kwargs) -> LivedocsExtension:
    """Python-Markdown 由此取得扩展。"""
    return LivedocsExtension(**kwargs)
