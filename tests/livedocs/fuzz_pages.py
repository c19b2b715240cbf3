"""造页面：围栏套在列表、引用、提示框、标签页、折叠、脚注和片段里；同时记下读者应当看到什么。

`good_page` 造合乎约定的页面，并给出每个围栏应有的语言、文字，以及每一行的出处；
`wild_page` 把这样的页面弄坏：删行、换行、改缩进、插进像围栏的行。
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

TAB = 4
MARKS = ("`", "~")
HEADERS = (
    ("{.python .run}", "python"),
    ("{.python .run}", "python"),
    ("{ .python .run }", "python"),
    ("{.python .evidence}", "python"),
    ('{.python .run hl_lines="1" title="题 <b> `x`" linenums="1"}', "python"),
    ('{.python .run raises="ValueError" timeout="5"}', "python"),
    ("{.text}", "text"),
    ('{.text title="甲"}', "text"),
    ("{.bash}", "bash"),
    ("{.html}", "html"),
    ("{.markdown}", "markdown"),
    ("python", "python"),
    (" text", "text"),
    ("{.python .run} ", "python"),
)
#: 围栏里的行；`%d` 换成唯一的编号，好让文字只可能来自一个地方。
BODIES = (
    "x%d = 1",
    "print('汉字 %d')",
    "def f%d():",
    "    return %d",
    "\ty%d = 2",
    "z%d = 3\t# 注释\t甲",
    "> 像引用 %d",
    "# 像标题 %d",
    "- 像列表 %d",
    "    - 像列表 %d",
    "<!-- 像注释 %d -->",
    "<!-- 像注释的开头 %d",
    "--> 像注释的结尾 %d",
    "<div markdown=\"1\"> %d",
    "</div> </pre> </code> %d",
    "a%d &lt; b & c <b>d</b>",
    "[^%d]: 像脚注",
    '!!! note "像提示框 %d"',
    '=== "像标签页 %d"',
    "| %d | 像表格 |",
    "**%d** `x` $y$ \\* \\\\",
    "行尾空格 %d   ",
    "\u3000全角空格 %d",
    "分隔符 %d\u2028后\x0c后\x85后",
    "; --8<-- 不是片段 %d",
    "s%d = '--8<--'",
    "*[HTML]: 像缩写 %d",
    "--- %d",
    "{.python .run} %d",
    "``` 像围栏 %d",
    "~~~ 像围栏 %d",
)
EMPTY_SECTION = re.compile(r"[ ]*--8<-- .*:part")
ESCAPED = (
    ';--8<-- "code/没有%d.xx"',
    ';;--8<-- "code/没有%d.xx:x"',
    "# ;--8<-- [start:x%d]",
    "# ;;--8<-- [end:x%d]",
    ";--8<--",
)


@dataclass
class Want:
    """一个围栏应有的样子；行的出处在拼好文件之后才知道。"""

    lang: str
    number: int
    #: 围栏前的缩进与引用记号有几列。
    width: int = 0
    lines: list[str] = field(default_factory=list)
    where: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class Row:
    """文件的一行。`want`：它是哪个围栏的正文；`include`：引入哪个文件的哪一节；`opens`：哪个围栏的首行。"""

    text: str
    want: Want | None = None
    include: tuple[str, str] | None = None
    opens: Want | None = None


@dataclass
class Made:
    """造好的文件（名字 → 文字）和应当看到的围栏，按源文的顺序。"""

    files: dict[str, str]
    wants: list[Want]
    newline: str = "\n"
    bom: bool = False

    def write(self, root: Path) -> Path:
        for name, text in self.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = text.replace("\n", self.newline).encode("utf-8")
            path.write_bytes((b"\xef\xbb\xbf" if self.bom and name == "docs/page.md" else b"") + data)
        return root / "docs" / "page.md"


class Maker:
    """用一个随机数发生器造一页。"""

    def __init__(self, random: Random):
        self.random = random
        self.count = 0
        self.files: dict[str, list[Row]] = {}
        self.footnotes: list[str] = []

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def number(self) -> int:
        self.count += 1
        return self.count

    # ------------------------------------------------------------ 各种块

    def page(self) -> Made:
        rows: list[Row] = []
        title = f"页 {self.number()}"
        if self.chance(40):
            rows += [Row(line) for line in ("---", f"title: {title}", "outcomes: [甲, 乙]", "---")]
            rows += [Row("")] * self.random.randrange(3)
        rows += [Row(f"# {title}"), Row("")]
        rows += self.blocks(self.random.randrange(1, 5), depth=0, quoted=False)
        for key in self.footnotes:
            rows += self.footnote(key)
        self.files["docs/page.md"] = rows
        wants: list[Want] = []
        self.place("docs/page.md", "", wants)
        files = {name: self.text(rows) for name, rows in self.files.items()}
        return Made(files, wants, self.random.choice(["\n", "\n", "\r\n"]), self.chance(20))

    def text(self, rows: list[Row]) -> str:
        text = "\n".join(row.text for row in rows)
        return text if rows[-1].want or self.chance(15) else text + "\n"

    def blocks(self, count: int, depth: int, quoted: bool) -> list[Row]:
        rows: list[Row] = []
        for _ in range(count):
            rows += self.block(depth, quoted)
            rows += [Row("")] * (2 if self.chance(10) else 1)
        return rows

    def block(self, depth: int, quoted: bool) -> list[Row]:
        kinds = ["fence"] * 5 + ["text", "text", "comment", "table"]
        if depth < 3:
            kinds += ["list", "list", "quote", "admonition", "details", "tabs"]
        if depth == 0:
            kinds += ["div"]
        if not quoted:
            kinds += ["include"]
        return getattr(self, self.random.choice(kinds) + "_")(depth, quoted)

    def text_(self, depth: int, quoted: bool) -> list[Row]:
        n = self.number()
        choices = [
            f"文字 {n}，有 `代码`、**重点**和 $x^2$。",
            f"## 小节 {n}",
            f"两个反引号 ``a ` b {n}`` 和三个 ```` ``` ````。",
            f"数 0.33<!--= a[{n}] --> 与 100<!--given-->。",
            f"<span>HTML {n}</span>",
            f"![图 {n}](x.png)",
        ]
        if depth == 0 and self.chance(30):
            key = f"n{n}"
            self.footnotes.append(key)
            return [Row(f"有脚注的文字[^{key}]。")]
        return [Row(self.random.choice(choices))]

    def comment_(self, depth: int, quoted: bool) -> list[Row]:
        if self.chance(50) or depth or quoted:
            return [Row(f"<!-- 注释 {self.number()} -->")]
        return [Row("<!--"), Row(f"几行的注释 {self.number()}"), Row(""), Row("-->")]

    def table_(self, depth: int, quoted: bool) -> list[Row]:
        return [Row("| 甲 | 乙 |"), Row("|---|---|"), Row(f"| {self.number()} | `a` |")]

    def fence_(self, depth: int, quoted: bool) -> list[Row]:
        header, lang = self.random.choice(HEADERS)
        want = Want(lang, self.number())
        mark = self.random.choice(MARKS) * self.random.choice([3, 3, 3, 4, 5])
        rows = [Row(mark + header, opens=want)]
        for _ in range(self.random.randrange(6)):
            rows += self.body(want, mark, quoted)
        if rows[1:] and not any(row.text.strip() for row in rows[1:]):
            rows += [Row(f"v{self.number()} = 0", want)]
        rows.append(Row(mark + " " * (2 if self.chance(10) else 0)))
        if lang == "python" and self.chance(50):
            output = Want("text", self.number())
            rows += [Row(""), Row("```{.text .output}", opens=output), Row(f"输出 {output.number}", output), Row("```")]
        return rows

    def body(self, want: Want, mark: str, quoted: bool) -> list[Row]:
        roll = self.random.randrange(10)
        if roll == 0:
            return [Row("" if quoted or self.chance(70) else " " * self.random.randrange(1, 9), want)]
        if roll == 1 and not quoted:
            line = self.code_file(want, mark)
            return [Row(line, None if self.last_include else want, self.last_include)]
        if roll == 2 and len(mark) > 3:
            return [Row(mark[0] * 3 + "{.python .run}", want), Row(f"内层 {self.number()}", want), Row(mark[0] * 3, want)]
        if roll == 3:
            line = self.random.choice(ESCAPED)
            return [Row(line % self.number() if "%d" in line else line, want)]
        line = self.random.choice(BODIES) % self.number()
        if line.lstrip().startswith(mark):
            line = "像围栏 " + line
        if line.startswith(">") and quoted:
            line = "x " + line
        return [Row(line, want)]

    def indented(self, rows: list[Row], first: str, rest: str) -> list[Row]:
        out = []
        for number, row in enumerate(rows):
            prefix = first if number == 0 else rest
            bare = row.text == "" and (">" not in prefix or self.chance(50))
            out.append(Row(prefix.rstrip() if bare else prefix + row.text, row.want, row.include, row.opens))
        return out

    def step(self, quoted: bool) -> str:
        return "\t" if self.chance(10) and not quoted else "    "

    def list_(self, depth: int, quoted: bool) -> list[Row]:
        rows = []
        marker = self.random.choice(["- ", "* ", "1. "])
        for _ in range(self.random.randrange(1, 3)):
            rows += [Row(f"{marker}项 {self.number()}"), Row("")]
            rows += self.indented(self.blocks(self.random.randrange(1, 3), depth + 1, quoted), *[self.step(quoted)] * 2)
        return rows

    def quote_(self, depth: int, quoted: bool) -> list[Row]:
        inner = self.blocks(self.random.randrange(1, 3), depth + 1, True)
        while inner[-1].text == "" and inner[-1].want is None:
            inner.pop()
        return self.indented(inner, "> ", "> ")

    def admonition_(self, depth: int, quoted: bool, head: str = '!!! note "提示"') -> list[Row]:
        inner = self.blocks(self.random.randrange(1, 3), depth + 1, quoted)
        return [Row(head), *([Row("")] if self.chance(70) else []), *self.indented(inner, *[self.step(quoted)] * 2)]

    def details_(self, depth: int, quoted: bool) -> list[Row]:
        return self.admonition_(depth, quoted, self.random.choice(['??? note "折叠"', "???+ tip"]))

    def tabs_(self, depth: int, quoted: bool) -> list[Row]:
        rows = []
        for _ in range(self.random.randrange(1, 3)):
            rows += self.admonition_(depth, quoted, f'=== "标签 {self.number()}"')
        return rows

    def div_(self, depth: int, quoted: bool) -> list[Row]:
        return [Row('<div markdown="1">'), Row(""), *self.blocks(1, 1, quoted), Row("</div>")]

    def footnote(self, key: str) -> list[Row]:
        rows = [Row(f"[^{key}]:"), Row(f"    出处 {self.number()}"), Row("")]
        if self.chance(50):
            want = Want("text", self.number())
            inner = [Row("```{.text}", opens=want), Row(f"脚注里 {want.number}", want), Row("```"), Row("")]
            rows += self.indented(inner, "    ", "    ")
        return rows

    # ------------------------------------------------------------ 片段

    def include_(self, depth: int, quoted: bool) -> list[Row]:
        """引入一个放着几个块的文件；写法有三种。"""
        name = f"code/part{self.number()}.md"
        self.files[name] = self.blocks(self.random.randrange(1, 3), max(depth, 2), quoted)
        if self.chance(40):
            self.files[name] = [
                Row(f"不要 {self.number()}"),
                Row("<!-- --8<-- [start:want] -->"),
                Row(""),
                *self.files[name],
                Row("<!-- --8<-- [end:want] -->"),
                Row(f"不要 {self.number()}"),
            ]
            return [Row(f'--8<-- "{name}:want"', None, (name, "want"))]
        if self.chance(30):
            blank = [Row("")] * self.random.randrange(2)
            return [Row("--8<--"), *blank, Row(name, None, (name, "")), *blank, Row("--8<--")]
        return [Row(f'--8<-- "{name}"', None, (name, ""))]

    def code_file(self, want: Want, mark: str) -> str:
        """一个代码文件，返回引入它的那一行。整个的 `.py` 文件里不能再有片段和转义，别的文件可以。"""
        number = self.number()
        if self.chance(10):
            name = f"code/mod{number}.py"
            self.files[name] = [Row("# --8<-- [start:part]"), Row("# --8<-- [end:part]"), Row("")]
            self.last_include = None  # 空的片段显示成一个空行，出处是引入它的那一行
            return f'--8<-- "{name}:part"'
        section, script = self.chance(60), self.chance(50)
        lines = [Row(f"a{self.number()} = 1", want)]
        for _ in range(self.random.randrange(3)):
            more = self.body(want, mark, False)
            if section or not script or not any("8<-" in row.text for row in more):
                lines += more
        if self.chance(30):
            lines = self.indented(lines, "    ", "    ")
        if section and self.chance(50):
            inner = self.random.randrange(len(lines) + 1)
            lines[inner:inner] = [Row("# -8<- [start:inner]"), Row("# -8<- [end:inner]")]
        name = f"code/mod{number}.{'py' if section or script else 'txt'}"
        if section:
            lines = [
                Row(f"前 = {self.number()}"),
                Row("# --8<-- [start:part]"),
                *lines,
                Row("# --8<-- [end:part]"),
                Row(f"后 = {self.number()}"),
            ]
        elif lines[-1].include or self.chance(80):
            lines.append(Row("", want))  # 文件末尾的换行：引入整个文件时是一个空行
        self.files[name] = lines
        self.last_include = (name, "part" if section else "")
        return f'--8<-- "{name}' + (':part"' if section else '"')

    # ------------------------------------------------------------ 应当看到什么

    def place(self, name: str, section: str, wants: list[Want], indent: str = "") -> None:
        """按展开的顺序走一遍，把每一行正文的文字和出处记到它的围栏上。"""
        rows = list(enumerate(self.files[name], 1))
        if section:
            at = {row.text.split("[")[-1].split("]")[0]: n for n, row in rows if "8<" in row.text and row.want is None}
            rows = rows[at[f"start:{section}"] : at[f"end:{section}"] - 1]
            rows = [(n, row) for n, row in rows if row.want or row.include or "8<-" not in row.text]
            texts = dedent([row.text for _, row in rows])
        else:
            texts = [row.text for _, row in rows]
        for (number, row), text in zip(rows, texts, strict=True):
            full = (indent + unescaped(text)).expandtabs(TAB)
            if row.opens is not None:
                row.opens.width = len(re.match(r"[> ]*", full).group())
                wants.append(row.opens)
            elif row.want is not None:
                empty = not full.strip() or EMPTY_SECTION.match(full)
                row.want.lines.append("" if empty else full[row.want.width :])
                row.want.where.append((name, number))
            elif row.include:
                space = re.match(r"[ \t]*", text).group()
                self.place(*row.include, wants, indent + space.expandtabs(TAB))


def dedent(lines: list[str]) -> list[str]:
    import textwrap

    return textwrap.dedent("\n".join(lines)).split("\n") if lines else []


def unescaped(line: str) -> str:
    """片段的转义：行首的、或节标记前的一个分号不显示。"""
    if re.match(r"[ \t]*;+-+8<-+([ \t]+\"[^\"]+\")?$", line):
        return line.replace(";", "", 1)
    return re.sub(r";(;*-+8<-+[ \t]+\[[ \t]*(?:start|end)[ \t]*:[ \t]*[a-z][-_0-9a-z]*[ \t]*\])", r"\1", line, count=1)


def good_page(random: Random) -> Made:
    return Maker(random).page()


#: 插进页面的行：像围栏、像片段、像容器。
JUNK = (
    "```",
    "~~~",
    "````",
    "```{.python .run}",
    "```python 多余",
    "```{.python .run",
    "``` {.python .run }",
    "~~~{.text}",
    "```{.text .output}",
    "> ```{.python .run}",
    "- ```{.python .run}",
    "    ```",
    "\t```python",
    "<!--",
    "-->",
    "<pre>",
    "</pre>",
    "<div>",
    "</div>",
    '<div markdown="1">',
    "</details>",
    "    缩进的字",
    "> 引用",
    "- 项",
    '!!! note "提示"',
    '=== "标签"',
    "[^x]: 脚注",
    "[^x]",
    "--8<--",
    '--8<-- "code/没有.py"',
    '--8<-- "code/:x"',
    '--8<-- ""',
    '--8<-- "docs/page.md"',
    '--8<-- "docs/page.md:1:3"',
    "# --8<-- [start:want]",
    "# --8<-- [end:want]",
    ";--8<--",
    "---",
    "...",
    "题: 目",
    "<<<<<<< 甲",
    "\u2028",
    "\x0c",
    "\x00\x02\x03",
    "\u0001klzzwxh:0\u0004",
    "\x02wzxhzdk:0\x03",
    "$$",
    "![图](../figures/没有.svg)",
    "字 ![图](../figures/没有.svg) 字",
    "*[甲]: 乙",
    '```{.text hl_lines="a"}',
    '```{.python .run linenums="x"}',
    '```{.python .run 甲="乙"}',
    "```{#甲 .text}",
    "`",
    "",
    "",
)


def wild_page(random: Random) -> Made:
    """一张合约定的页面，改坏几处。"""
    made = Maker(random).page()
    for name in [name for name in made.files if name == "docs/page.md" or random.randrange(4) == 0]:
        lines = made.files[name].split("\n")
        for _ in range(random.randrange(1, 5)):
            at = random.randrange(len(lines) + 1)
            what = random.randrange(6)
            if what == 0 and at < len(lines):
                del lines[at]
            elif what == 1 and at < len(lines):
                lines[at] = random.choice([" ", "    ", "\t", "> ", ">"]) + lines[at]
            elif what == 2 and at < len(lines):
                lines[at] = lines[at][random.randrange(1, 5) :]
            elif what == 3 and at < len(lines):
                lines.insert(random.randrange(len(lines)), lines[at])
            else:
                lines.insert(at, random.choice(JUNK))
        made.files[name] = "\n".join(lines)
    made.wants.clear()
    return made
