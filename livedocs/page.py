"""一页文档，就像网站看到的那样：有哪些围栏，它们的每一行来自哪个文件的哪一行。

网站用 Python-Markdown 和 pymdownx 渲染页面，这里用同一份设置渲染同一页，只改两处：展开 `--8<--` 的预处理器让每行
带着出处走；渲染好的围栏外面套一层编了号的 `<div>`（也不上色）。因此列表、引用、提示框、标签页和折叠里的围栏不需要另写规则。
"""

from __future__ import annotations

import re
import secrets
import shlex
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from html.parser import HTMLParser
from pathlib import Path

from markdown.extensions.attr_list import get_attrs
from pymdownx.snippets import SnippetMissingError
from pymdownx.superfences import RE_HL_LINES, RE_LINENUMS, RE_NESTED_FENCE_START, SuperFencesException

from livedocs.project import Project
from livedocs.publish import published_lines

PYTHON = "python"
#: 不运行、只展示的语言。别的语言名是错误：拼错的 `pyton` 不该悄悄逃过检查。
INERT = frozenset(
    "text bash powershell console yaml toml json ini html css javascript markdown makefile diff tex".split()
)
#: 容易误写的 Python 别名；站点会照样高亮，所以必须拒绝。
ALIASES = frozenset("py py3 python3 Python PY pycon ipython python2".split())
CODE_CLASSES = frozenset("run evidence script".split())
CODE_OPTIONS = frozenset("raises timeout notest file title hl_lines linenums".split())
OUTPUT_OPTIONS = frozenset("rtol atol title".split())


@dataclass(frozen=True)
class Origin:
    """一行文字的出处；`line` 从 1 数起。"""

    path: Path
    line: int


class Line(str):
    """带着出处的一行。前后拼接（缩进、去掉转义的标记）和替换都保留出处。"""

    origin: Origin

    def __new__(cls, text: str, origin: Origin) -> Line:
        line = super().__new__(cls, text)
        line.origin = origin
        return line

    def __add__(self, right: str) -> Line:
        return Line(str.__add__(self, right), self.origin)

    def __radd__(self, left: str) -> Line:
        return Line(str.__add__(left, self), self.origin)

    def replace(self, *args) -> Line:
        return Line(str.replace(self, *args), self.origin)


@dataclass(frozen=True)
class Fault:
    """页面违反了约定的一处。"""

    origin: Origin
    message: str


@dataclass
class Fence:
    """页面显示的一个代码围栏。`content` 每行以换行结尾，就是读者看到和复制的文字。"""

    lang: str
    classes: tuple[str, ...]
    options: dict[str, str]
    content: str
    origins: list[Origin]
    opening: Line
    closing: Line
    #: 开头和结尾在展开片段后的行号（从 0 数起），只用来判断相邻。
    start: int
    end: int
    #: 围栏前的缩进与引用记号，例如 `"    "` 或 `"> "`。
    prefix: str
    #: 网页上的第几个（从 0 数起）；脚注里的围栏显示在页面末尾。
    shown_at: int = 0

    @property
    def is_code(self) -> bool:
        return self.lang == PYTHON

    @property
    def is_output(self) -> bool:
        return "output" in self.classes

    @property
    def origin(self) -> Origin:
        return self.opening.origin


@dataclass
class Block:
    """一段 Python 和紧跟其后的输出（没有输出就是 None）。"""

    code: Fence
    output: Fence | None = None
    number: int = 0

    @property
    def origin(self) -> Origin:
        return self.code.origin

    @property
    def is_script(self) -> bool:
        return "script" in self.code.classes

    @property
    def documented(self) -> str:
        return self.output.content if self.output else ""

    def sources(self, page: Path) -> list[tuple[Path, int, int]]:
        """从别的文件引入的行：(文件, 首行, 末行)，按出现顺序。"""
        spans: list[tuple[Path, int, int]] = []
        for origin in self.code.origins:
            if origin.path == page:
                continue
            if spans and spans[-1][0] == origin.path and origin.line >= spans[-1][2]:
                spans[-1] = (origin.path, spans[-1][1], origin.line)
            else:
                spans.append((origin.path, origin.line, origin.line))
        return spans


@dataclass
class Page:
    """渲染好的一页。`faults` 不空时页面不合约定。"""

    path: Path
    fences: list[Fence] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    meta: dict = field(default_factory=dict)
    #: numbers.scan 的结果，算过一次就留着。
    numbers: object = None
    #: 网页上的代码，按先后：（语言, 去掉首尾空行的文字）。由守卫与收集到的比较。
    shown: list[tuple[str, str]] = field(default_factory=list)
    #: 网站渲染某个围栏时会出的错。
    site_error: Exception | None = None

    @cached_property
    def blocks(self) -> list[Block]:
        """页面上全部 Python 块，按读者看到的顺序。"""
        return [Block(fence, self._output_of(fence), i) for i, fence in enumerate(self.code_fences, 1)]

    @property
    def code_fences(self) -> list[Fence]:
        return [fence for fence in self.fences if fence.is_code]

    def _output_of(self, code: Fence) -> Fence | None:
        after = [f for f in self.fences if f.start > code.end]
        follower = min(after, key=lambda f: f.start, default=None)
        if follower is None or not follower.is_output or _container(follower) != _container(code):
            return None
        between = self.lines[code.end : follower.start]
        return follower if all(not line.strip(" \t>") for line in between) else None


def _container(fence: Fence) -> str:
    """围栏所在的容器：缩进的宽度和引用的层数。"""
    prefix = fence.prefix.expandtabs(4)
    return re.sub(r"\s", "", prefix) if ">" in prefix else prefix


class _Tracing:
    """混入网站自己的片段预处理器：规则一字不改，只是每行记得自己的出处。"""

    lines: list[Line]
    files: dict[str, list[Line]]
    expanding: str = ""
    reading: str = ""

    def process_snippet_lines(self, lines, target):
        self.expanding = target["path"]
        changed = super().process_snippet_lines(lines, target)
        if changed == lines:
            return lines
        traced = [Line(line.text, Origin(line.path, line.line)) for line in published_lines(Path(target["snippet"]))]
        return traced if traced == changed else changed

    def get_snippet_path(self, path):
        self.reading = path
        return super().get_snippet_path(path)

    def read_lines(self, path):
        if path not in self.files:  # 一页常从同一个文件引入许多片段
            source = Path(path)
            self.files[path] = [Line(text, Origin(source, n)) for n, text in enumerate(super().read_lines(path), 1)]
        return self.files[path]

    def dedent(self, lines):
        if not lines:
            return [Line("", self.at)]  # 空的片段：网站显示一个空行
        texts = textwrap.dedent("\n".join(lines)).split("\n")
        return [Line(text, line.origin) for text, line in zip(texts, lines, strict=False)]

    def match_section(self, line):
        match = super().match_section(line)
        return _SectionMatch(match, line.origin) if match and isinstance(line, Line) else match

    def run(self, lines):
        self.at = last = lines[-1].origin
        self.RE_ALL_SNIPPETS = _Watch(type(self).RE_ALL_SNIPPETS, self._at)
        self.RE_SNIPPET = _Watch(type(self).RE_SNIPPET, self._blank)
        self.blank, self.lines = [], []
        for line in super().run(lines):
            if not isinstance(line, Line):
                line = Line(line, self.blank.pop(0) if line == "" and self.blank else last)
            self.lines.append(line)
        return list(self.lines)

    def _at(self, line):
        self.at = line.origin

    def _blank(self, line):
        if not line.strip():
            self.blank.append(line.origin)


@dataclass(frozen=True)
class _Watch:
    """一个正则表达式；每次匹配之前把那一行告诉 `tell`。"""

    pattern: re.Pattern
    tell: Callable[[Line], None]

    def match(self, line):
        if isinstance(line, Line):
            self.tell(line)
        return self.pattern.match(line)


@dataclass(frozen=True)
class _SectionMatch:
    """一个片段标记；pymdownx 去掉转义时从 `pre` 开始拼接，所以出处放在 `pre` 上。"""

    match: re.Match
    origin: Origin

    def group(self, name: str):
        text = self.match.group(name)
        return Line(text, self.origin) if name == "pre" else text


class _Watched(list):
    """记得正读到第几行的列表：superfences 抛出的错误不带行号。"""

    at = 0

    def __iter__(self):
        for self.at, item in enumerate(list.__iter__(self)):  # noqa: B020
            yield item


#: 选项的上限：再大就等于不检查。
LIMITS = {"timeout": 600.0, "rtol": 0.1, "atol": 1.0}


#: 围栏外面的 `<div>` 由这个记号认出；每个进程不同，作者自己写的 HTML 冒充不了。
_TOKEN = secrets.token_hex(8)


#: 浏览器不把里面的当正文显示的元素，与没有内容的元素。
_UNSEEN = frozenset("audio canvas datalist iframe noembed noframes select template textarea title video".split())
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())


class ShownCode(HTMLParser):
    """HTML 里真正显示的代码（注释与隐藏的元素里的不算）：`blocks` 是每个 `<pre>` 的（语言, 文字），行号栏不算。

    `fences` 是套在外面的编号，按显示的先后；`other_pre` 是不在它们里面的 `<pre>` 有几个。
    """

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks: list[tuple[str, str]] = []
        self.fences: list[int] = []
        self.other_pre = 0
        self._open: list[tuple[str, list[str], bool, bool]] = []  # 标签、类、是不是围栏、看不看得见
        self._text: list[str] | None = None

    def handle_starttag(self, tag, attrs):
        if tag in _VOID:
            return
        attributes = dict(attrs)
        style = (attributes.get("style") or "").replace(" ", "").lower()
        hidden = tag in _UNSEEN or "hidden" in attributes or "display:none" in style
        seen = not hidden and all(entry[3] for entry in self._open[-1:])
        token, _, number = (attributes.get("data-fence") or "").partition("-")
        fence = token == _TOKEN
        self._open.append((tag, (attributes.get("class") or "").split(), fence, seen))
        if not seen:
            return
        if tag in ("xmp", "listing", "plaintext"):  # 过时的元素，浏览器照样当代码显示
            self.other_pre += 1
        if fence:
            self.fences.append(int(number))
        if tag == "pre":
            self.other_pre += not any(fence for _, _, fence, _ in self._open)
            if not any("linenos" in classes or "linenodiv" in classes for _, classes, _, _ in self._open):
                self._text = []

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if any(entry[0] in ("svg", "math") for entry in self._open):  # 别处的 `/>` 浏览器当作 `>`
            self.handle_endtag(tag)

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
        for _, classes, _, _ in reversed(self._open):
            for name in classes:
                if name.startswith("language-"):
                    return name.removeprefix("language-")
        return ""


def shown_code(html: str) -> ShownCode:
    """`html` 里显示的代码。没有结束的注释像在浏览器里一样，吞掉后面的全部，所以不调用 `close()`。"""
    parser = ShownCode()
    # 三种写法，浏览器与 HTMLParser 的读法不同：空的注释、`--!>` 结束的注释、`<![CDATA[`（到第一个 `>` 为止）。
    parser.feed(re.sub(r"<!---?>", "", html).replace("--!>", "-->").replace("<![", "<!?"))
    return parser


class _Plain:
    """不上色的高亮程序：文字、语言类与外层的元素照旧，只是没有一个个词的颜色。上色占渲染的大半时间。"""

    def __init__(self, *_, **__):
        pass

    def highlight(self, source, language, *_, **__):
        return f'<div class="language-{escape(language)} highlight"><pre><code>{escape(source)}</code></pre></div>'


def _without_colours(fenced) -> None:
    settings = fenced.get_hl_settings

    def plain_settings():
        settings()
        fenced.highlighter = _Plain

    fenced.get_hl_settings = plain_settings


def _without_front_matter(source: str) -> tuple[str, dict, int]:
    """（正文, 元数据, 正文前的行数），按 MkDocs 自己的规则。"""
    from mkdocs.utils.meta import get_data

    body, meta = get_data(source)
    if not source.endswith(body):
        return source, {}, 0
    return body, meta, source[: len(source) - len(body)].count("\n")


def read_source(path: Path) -> str:
    """页面的文字，按 MkDocs 自己的规则读：UTF-8，BOM 去掉，行尾统一成 `\\n`。"""
    return path.read_text(encoding="utf-8-sig", errors="strict")


def load_page(path: Path, project: Project) -> Page:
    """读一页。文件读不了、片段找不到时，返回的页面只有一条 fault，没有围栏。"""
    page = Page(path)
    try:
        source = read_source(path)
    except UnicodeDecodeError as error:
        page.faults.append(Fault(Origin(path, 1), f"不是 UTF-8 编码的文件（第 {error.start} 字节）；请用 UTF-8 保存"))
        return page
    for number, text in enumerate(source.split("\n"), 1):
        if re.match(r"(<{7}|>{7}|={7})( |$)", text) and re.search(r"^<{7} ", source, re.MULTILINE):
            page.faults.append(Fault(Origin(path, number), "还留着版本冲突的标记；先解决冲突"))
            return page
    body, page.meta, skipped = _without_front_matter(source)
    _check_front_matter(page, source, body)
    if page.faults:
        return page
    _render(page, body, skipped, project)
    if not page.faults:
        _check(page, project)
    return page


def _check_front_matter(page: Page, source: str, body: str) -> None:
    """front matter 写坏了，MkDocs 会把它当正文印出来；标题写了两处，两处要相同。"""
    if source.startswith("---\n") and not page.meta:
        page.faults.append(Fault(Origin(page.path, 1), "front matter 不是合法的 YAML（或没有以 --- 结束），网站会把它当正文印出来"))
    elif not source.startswith("---\n") and re.match(r"(?:title|description|outcomes|runs|minutes): ", source):
        page.faults.append(Fault(Origin(page.path, 1), "front matter 要写在两行 --- 之间"))
    title = page.meta.get("title")
    heading = re.search(r"^# +(.+?)(?: *\{[^{}]*\})? *$", body, re.MULTILINE)
    if title is not None and heading and str(title).strip() != heading.group(1).strip():
        page.faults.append(Fault(Origin(page.path, 1), f"front matter 的 title 是“{title}”，一级标题是“{heading.group(1)}”；写成一样的"))


def _render(page: Page, body: str, skipped: int, project: Project) -> None:
    md = project.markdown()
    snippets = None
    if "snippet" in md.preprocessors:
        original = md.preprocessors["snippet"]
        snippets = object.__new__(type("TracingSnippets", (_Tracing, type(original)), {}))
        snippets.__dict__.update(original.__dict__, lines=[], files={})
        md.preprocessors.register(snippets, "snippet", 32)
    fenced = md.preprocessors["fenced_code_block"]
    if not hasattr(fenced, "search_nested"):
        page.faults.append(Fault(Origin(page.path, 1), "mkdocs.yml 里没有 pymdownx.superfences，页面的围栏无法追踪"))
        return
    recorded: list[Fence] = []
    seen_lines: list[Line] = []
    watched = _Watched()

    source = [Line(text, Origin(page.path, skipped + n)) for n, text in enumerate(body.split("\n"), 1)]

    source_of_fence = ""

    def numbered(formatter):
        def both(src="", **settings):
            nonlocal source_of_fence
            source_of_fence = src
            try:
                shown = formatter(src=src, **settings)
            except Exception as error:  # 写法的错由 _check 说得更清楚；它没有发现的，守卫报告
                page.site_error = page.site_error or error
                shown = ""
            return shown if shown is None else f'<div data-fence="{_TOKEN}-{len(recorded)}">{shown}</div>'

        return both

    _without_colours(fenced)
    for entry in fenced.extension.superfences:
        entry["formatter"] = numbered(entry["formatter"])

    original_store, original_run = fenced._store, fenced.run

    def store(source, code, start, end):
        first, last = seen_lines[start], seen_lines[end - 1]
        lang, classes, options = parse_header(first)
        origins = [line.origin for line in seen_lines[start + 1 : end - 1]]
        prefix = re.match(r"[> \t]*", first).group()
        content = source_of_fence + "\n" if end - start > 2 else ""
        recorded.append(Fence(lang, classes, options, content, origins, first, last, start, end, prefix))
        original_store(source, code, start, end)

    def run(lines):
        origin_lines = snippets.lines if snippets else source
        if len(lines) < len(origin_lines):
            raise SuperFencesException("mkdocs.yml 里有扩展在围栏之前改变了行数，围栏的行号不再可靠")
        filler = Line("", Origin(page.path, 0))
        seen_lines[:] = origin_lines + [filler] * (len(lines) - len(origin_lines))
        watched.extend(lines)
        return original_run(watched)

    fenced._store, fenced.run = store, run
    try:
        html = md.convert(_Source(body, source))
    except SnippetMissingError as error:
        page.faults.append(_missing_snippet(error, source, project))
        return
    except (OSError, UnicodeDecodeError) as error:
        page.faults.append(Fault(_include_of(snippets.reading if snippets else "", source).origin, f"片段不能读取：{error}"))
        return
    except SuperFencesException as error:
        at = seen_lines[watched.at] if seen_lines else _include_of(snippets.expanding if snippets else "", source)
        if drawing := re.search(r"[^\s：]+\.svg", str(error)):  # 图的错误到最后才知道，不在读到的那一行
            at = next((line for line in seen_lines if drawing.group() in line), source[0])
        page.faults.append(Fault(at.origin, str(error)))
        return
    except Exception as error:  # 扩展什么都可能抛出；网站也会在这里中止
        page.faults.append(Fault(source[0].origin, f"网站不能渲染这一页：{error!r}"))
        return
    page.lines = seen_lines
    shown = shown_code(html)
    page.shown = shown.blocks
    for at, number in enumerate(shown.fences):
        recorded[number].shown_at = at
    page.fences = sorted((recorded[i] for i in shown.fences), key=lambda fence: fence.start)
    _unrecognised(page, recorded, shown)


class _Source(str):
    """`Markdown.convert` 会对源文 `.split("\\n")`；这里让它得到带出处的行。"""

    def __new__(cls, text: str, lines: list[Line]):
        source = super().__new__(cls, text)
        source.lines = lines
        return source

    def __str__(self) -> str:
        return self

    def strip(self, *args) -> str:
        return str.strip(self, *args)

    def split(self, separator=None, maxsplit=-1):
        return list(self.lines) if separator == "\n" else str.split(self, separator, maxsplit)


def _missing_snippet(error: Exception, lines: list[Line], project: Project) -> Fault:
    """pymdownx 只说少了什么；这里找出是哪一行要它。"""
    wanted = re.search(r"'(.*)'", str(error))
    name = wanted.group(1) if wanted else ""
    what = "片段" if "section" in str(error) else "文件"
    for line in lines:
        if "8<" in line and name and re.search(rf"[\"':/]{re.escape(name)}[\"':]", line):
            return Fault(line.origin, f"找不到{what} {name}：{line.strip()}\n    检查名字是否拼错，或是否在 code/ 里改了名")
    return Fault(lines[0].origin, f"片段不能展开，找不到{what} {name}")


def _include_of(name: str, lines: list[Line]) -> Line:
    """引入 `name` 的那一行；经过别的片段间接引入时是第一行。"""
    return next((line for line in lines if "8<" in line and name in line), lines[0])


def parse_header(line: str) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """围栏的首行 → (语言, 类, 选项)，规则与 superfences 相同。"""
    text = line.lstrip("> \t")
    match = RE_NESTED_FENCE_START.match(text)
    if match is None:
        return "", (), {}
    classes: list[str] = []
    options: dict[str, str] = {}
    if match.group("attrs"):
        for key, value in get_attrs(match.group("attrs")):
            if key == ".":
                classes.append(value)
            elif key != "id":
                options[key] = value
    elif match.group("options"):
        for part in shlex.split(match.group("options")):
            key, _, value = part.partition("=")
            options[key] = value
    lang = match.group("lang") or (classes.pop(0) if classes else "")
    return lang, tuple(classes), options


def _unrecognised(page: Page, recorded: list[Fence], shown: ShownCode) -> None:
    """像围栏却没有成为围栏的行、被吞掉的围栏、以及缩进写成的代码：读者会看到，检查却看不到。"""
    inside = set()
    for fence in page.fences:
        inside.update(range(fence.start, fence.end))
        mark = re.match(r"`+|~+", fence.opening.lstrip("> \t")).group()
        for offset, text in enumerate(fence.content.split("\n")):
            inner = re.match(r"[> \t]*(`{3,}|~{3,})", text)
            if inner and inner.group(1)[0] == mark[0] and len(inner.group(1)) >= len(mark):
                origin = fence.origins[offset] if offset < len(fence.origins) else fence.origin
                page.faults.append(
                    Fault(origin, "围栏里面又出现围栏：前一个围栏没有结束，或它的首行写法不被识别；外层围栏要比内层长")
                )
    hidden = set()
    visible = {id(fence) for fence in page.fences}
    for fence in recorded:
        if id(fence) not in visible:
            hidden.update(range(fence.start, fence.end))
            page.faults.append(Fault(fence.origin, "这个围栏不会显示在网页上（在注释、缩进代码或隐藏的元素里）；删除它，或让它显示"))
    for number, line in enumerate(page.lines):
        if number in inside or number in hidden:
            continue
        if re.match(r"[> \t]*(?:[-*+]|\d+[.)])?[> \t]*(`{3,}|~{3,})", line) and not re.match(r"[^`]*`{3,}[^`]+`{3,}", line):
            page.faults.append(
                Fault(line.origin, f"网站不会把这一行当作围栏：{line.strip()}\n    写成 ```{{.python .run}} 的形式，并以同样的缩进结束")
            )
    if shown.other_pre and not page.faults:
        page.faults.append(
            Fault(Origin(page.path, 1), f"有 {shown.other_pre} 段代码不是用围栏写的（缩进四格或直接写 HTML），不会被检查；改用围栏")
        )


def _check(page: Page, project: Project) -> None:
    """页面约定里不需要运行就能核对的部分。"""
    outputs = [block.output for block in page.blocks if block.output]
    for before, after in zip(page.code_fences, page.code_fences[1:], strict=False):
        if after.shown_at < before.shown_at:
            page.faults.append(Fault(before.origin, "网页上这段代码显示在后面的代码之后（例如写在脚注里），先后与运行的顺序不同；移到正文里"))
    for before, fence in zip(page.fences, page.fences[1:], strict=False):
        between = page.lines[before.end : fence.start]
        if before.is_code and fence.lang == "text" and not fence.is_output and _container(before) == _container(fence) and not "".join(between).strip(" \t>\n"):
            page.faults.append(Fault(fence.origin, "紧跟代码块的 text 围栏看上去是它的输出，却不会核对；写成 {.text .output}，或在中间写一句说明"))
    for fence in page.fences:
        _check_header(page, fence)
        if fence.is_output and not any(fence is output for output in outputs):
            page.faults.append(Fault(fence.origin, "这段输出前面没有紧挨着的 Python 块；移到产生它的块后面，或去掉 .output"))
        if fence.lang in ("bash", "powershell", "console"):
            _check_commands(page, fence, project)


def _check_header(page: Page, fence: Fence) -> None:
    def fault(message: str) -> None:
        page.faults.append(Fault(fence.origin, message))

    header = fence.opening.strip("> \t`~")
    if fence.options and not header.startswith("{"):
        fault(f"选项要写在花括号里：```{{.{fence.lang} …}}，而不是 ```{header}")
        return
    if fence.lang in ALIASES:
        fault(f"语言写成了 {fence.lang}；Python 块一律写 ```{{.python .run}}，否则不会被检查")
        return
    if fence.lang != PYTHON and fence.lang not in INERT:
        fault(f"不认识的语言“{fence.lang or '（空）'}”；可用的是 python 和 {'、'.join(sorted(INERT))}")
        return
    if fence.is_output and fence.lang != "text":
        fault("输出围栏要写成 ```{.text .output}")
    known = CODE_OPTIONS if fence.is_code else OUTPUT_OPTIONS if fence.is_output else frozenset({"title", "hl_lines", "linenums"})
    for key, value in fence.options.items():
        if key not in known and not key.startswith("data-"):
            fault(f"不认识的选项 {key}={value!r}；这里可用的是 {'、'.join(sorted(known))}")
    for name in fence.classes:
        if (fence.is_code and name not in CODE_CLASSES) or (not fence.is_code and name != "output"):
            fault(f"不认识的类 .{name}；Python 块可用 {'、'.join('.' + c for c in sorted(CODE_CLASSES))}，输出用 .output")
    if "notest" in fence.options and fence.options["notest"].strip() in ("", "notest"):
        fault('notest 要写明原因：notest="为什么不能运行"')
    for key, right in (("hl_lines", RE_HL_LINES), ("linenums", RE_LINENUMS)):
        if key in fence.options and not right.match(fence.options[key]):
            fault(f"{key}={fence.options[key]!r} 的写法不对")
    if "raises" in fence.options and not re.fullmatch(r"[A-Za-z_]\w*", fence.options["raises"]):
        fault(f"raises={fence.options['raises']!r} 要写一个异常的类名，例如 raises=\"ValueError\"")
    for key in ("timeout", "rtol", "atol"):
        if key in fence.options:
            try:
                positive = 0 <= float(fence.options[key]) <= LIMITS[key]
            except ValueError:
                positive = False
            if not positive:
                fault(f"{key}={fence.options[key]!r} 不是 0 到 {LIMITS[key]:g} 之间的数")


_FILE_IN_COMMAND = re.compile(r"(?<![\w/\\.:-])((?:[\w.-]+[/\\])*[\w-][\w.-]*\.(?:py|ipynb|md|txt|toml|ya?ml))(?![\w/])")


def _check_commands(page: Page, fence: Fence, project: Project) -> None:
    """命令里提到的文件必须存在：在项目根、code/ 或 docs/ 下。"""
    for offset, text in enumerate(fence.content.splitlines()):
        for name in _FILE_IN_COMMAND.findall(text):
            relative = name.replace("\\", "/").removeprefix("./")
            places = [project.root / relative, project.root / "code" / relative, project.docs / relative]
            if not any(place.is_file() for place in places) and not list(project.docs.glob(f"**/{relative}")):
                page.faults.append(Fault(fence.origins[offset], f"命令里的文件 {name} 不存在"))
