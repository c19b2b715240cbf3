"""正文里的数：每个小数、百分数和两位以上的整数，要么绑定到本页的一个表达式，要么注明出处，要么声明是给定的输入；
两位的整数在本页的程序里写着，就不必声明。

绑定的写法是紧跟在数后面的一条注释 `0.3302<!--= weights[1][0] -->`。它在 GitHub、打印稿里都看不见；
检查时在本页自己的命名空间里、走到这个位置时求值，按写出的位数四舍五入后必须正是写出的数。
注释前可以是一个数、一个百分数（值乘以 100）、一个列表或形状、一段行内代码，或一个公式；
公式里绑定的是最后几个数，个数由表达式的值决定。
`<!--given-->` 声明前面的数是给定的输入，本页的程序里必须写着它。写错一个数字正好成了程序里另一个常量的，
要指明是哪一处：`10000<!--given: rope_base=10000-->`，冒号后面是程序里的一段，到这个数为止。
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path

from livedocs import exempt
from livedocs.page import Fault, Line, Origin, Page
from livedocs.program import Program, program
from livedocs.rewrite import Edit

#: 一个写出来的数：符号、千位分隔（空格、逗号、窄空格、下划线）、小数、指数。
#: 两边可以紧挨着汉字，汉字后面的符号也是数的符号；后面可以紧跟单位（`2.5x`、`12GB`），前面不能紧挨着字母（`fp16` 不是数）。
_GROUP = r"(?:[ ,_\u2009\u202f\u00a0]|\\,|\{,\})"
NUMBER = re.compile(
    r"(?:(?<![A-Za-z0-9.])|(?<=(?<![A-Za-z0-9])x)(?=\d+\.\d))(?<![A-Za-z0-9)\]}]_)(?<![A-Za-z0-9)\]}]__)(?:(?<![A-Za-z0-9_)\]}])[-+−–±])?"
    rf"(?:(?:\d{{1,3}}{_GROUP}(?:\d{{3}}{_GROUP})*\d{{3}}(?!\d)|\d+)(?:\.\d+)?|\.\d+)"
    r"(?:[eE][-+−]?\d+)?(?!\d|\.\d)"
    r"(?:[ \u00a0\u2009\u202f~]?(?:\\[,;: ])?\\?[%％‰])?"
)
MARK = re.compile(r"<!--(?:=(?P<expr>.*?)|(?P<given>given)(?::(?P<where>.*?))?)\s*-->")
#: 公式里的命令名、编号和上下标；`\\approx2.03` 里的数从命令名之后开始。
_TEX_NAME = re.compile(
    r"\\tag\{(?![^}]*\d{3}|[^}]*\b0\.)[^}]*\}|\\hspace\{[^}]*\}|\\\\\[[\d.]+(?:em|ex|pt)\]|\\[A-Za-z]+"
    r"|_(?:\d|\{(?![^{}]*(?:\d\.\d|\d{4}|%))[^{}]*\})|\^\{\(\d+\)\}"
)
#: 行内代码 `loss = 0.97, acc: 88 %` 里数的名字，与最后的单位。
_NAMED = re.compile(r"(?:^|(?<=[,;，；=≈ ]))[ ]?[^\W\d][\w.\[\]()]*[ ]?(?:[<>=]=?|[:：≈])(?=[ ]?[-+−±]?[\d.])")
_UNIT_AT_END = re.compile(r"(?<=\d)[ ]?(?:[KMGT]i?B|[mnµμ]?s|x|nats?|bits?|tokens?)[ ]?$")
_PURE = re.compile(r"[\s\d.,;:()\[\]{}+\-−±~eE%×*/=≈<>]*\d[\s\d.,;:()\[\]{}+\-−±~eE%×*/=≈<>]*")


@dataclass(frozen=True)
class Binding:
    """一处绑定：`spans` 是这一行里被绑定的各个数的位置，`after` 是它前面有几段代码。"""

    line: Line
    expression: str
    literal: str
    spans: tuple[tuple[int, int], ...]
    after: int
    formula: bool = False
    #: 其中本页的程序没有写着的数：公式里绑定的是最后几个，前面的要是程序里的常量。
    strangers: tuple[tuple[int, int], ...] = ()


@dataclass
class Numbers:
    """一页正文里绑定的数；没有来历的在 `faults` 里。"""

    bindings: list[Binding] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def scan(page: Page) -> Numbers:
    """找出一页里全部的数和记号；没有出处的数是 fault。结果留在页面上，再问不必重算。"""
    if page.numbers is None:
        page.numbers = _scan(page)
    return page.numbers


def _scan(page: Page) -> Numbers:
    in_fence = {n for fence in page.fences for n in range(fence.start, fence.end)}
    lines = [Line("", line.origin) if n in in_fence else line for n, line in enumerate(page.lines)]
    ends = sorted(block.code.end for block in page.blocks)
    after = [bisect_right(ends, number) for number in range(len(lines))]
    inputs = program(block.code.content for block in page.blocks)
    found = scan_lines(lines, after, inputs)
    for key in ("description", "outcomes", "prerequisites"):  # 题目与一级标题相同，在正文里查过
        for text in page.meta.get(key) if isinstance(page.meta.get(key), list) else [page.meta.get(key) or ""]:
            for match in NUMBER.finditer(_mask(str(text))[0]):
                if _needs_source(match, str(text), inputs):
                    where = _around(str(text), *match.span())
                    message = f"front matter 的 {key} 里不能绑定数字，数 {match.group().strip()} 没有来历：{where}"
                    found.faults.append(Fault(Origin(page.path, 1), message))
    return found


def scan_lines(lines: list[Line], after: list[int], inputs: Program) -> Numbers:
    """同 `scan`，对任意几行正文：`after[i]` 是第 i 行前面有几段代码，`inputs` 是程序里写着的数。"""
    found = Numbers()
    sources = _footnotes(lines, found)
    paragraphs: list[list[Visible]] = [[]]
    footnote = comment = False
    for number, line in enumerate(lines):
        if not line.strip():
            paragraphs.append([])
            footnote = footnote and not str(line)
            continue
        if _ITEM.match(line):  # 每一项是一段：一项的脚注不能作别的项的出处
            paragraphs.append([])
        if _FOOTNOTE.match(line):
            footnote = True
        elif footnote and not line.startswith(("    ", "\t")):
            footnote = False
        text, comment = _outside_comments(str(line), comment)
        if not footnote:
            paragraphs[-1].append(Visible(number, line, text))
        if _TITLE.match(line):  # 题目也是一段
            paragraphs.append([])
        if _BROKEN_MARK.search(_CODE.sub(_spaces, MARK.sub(_spaces, str(line)))):
            found.faults.append(Fault(line.origin, f"记号没有写完：要在同一行里以 --> 结束：{line.strip()}"))
    if comment:
        found.faults.append(Fault(lines[-1].origin, "有一条注释 <!-- 没有结束，后面的数都没有查；以 --> 结束它"))
    for paragraph in paragraphs:
        _scan_paragraph(paragraph, after, inputs, sources, found)
    return found


@dataclass(frozen=True)
class Visible:
    """正文的一行；`text` 里的注释换成了空格，位置不变。"""

    number: int
    line: Line
    text: str


_FOOTNOTE = re.compile(r"[ ]{0,3}\[\^([^\]]+)\]:[ ]*(.*)")
_ITEM = re.compile(r"[> \t]*(?:[-*+]|\d+[.)])[ \t]")
_TITLE = re.compile(r"[> \t]*(?:#{1,6}[ ]|!!!|\?\?\?|===)")
_BROKEN_MARK = re.compile(r"<!--(?:=|given)")
#: 记号或注释夹在一个数的中间：读者看到的是另一个数。
_SPLIT = re.compile(r"[\d.](?:<!--.*?-->)+(?:\.?\d|[%％‰])")
#: 一行里没有这些，就没有数也没有记号。
_MAY_HAVE_ANY = re.compile(r"\d|<!--")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def _footnotes(lines: list[Line], found: Numbers) -> set[str]:
    """能作出处的脚注：定义里要有年份或网址。"""
    sources = set()
    for index, line in enumerate(lines):
        definition = _FOOTNOTE.match(line)
        if not definition:
            continue
        text = [definition.group(2)]
        for following in lines[index + 1 :]:
            if following.strip() and not following.startswith(("    ", "\t")):
                break
            text.append(str(following))
        if re.search(r"(?:19|20)\d\d|https?://", "\n".join(text)):
            sources.add(definition.group(1))
    return sources


def _outside_comments(text: str, inside: bool) -> tuple[str, bool]:
    """把注释换成空格（绑定的记号和行内代码里的不算注释）；返回（文字, 行末是否还在注释里）。"""
    kept = [m.span() for m in _CODE.finditer(text)] + [m.span() for m in MARK.finditer(text)]
    chars, position = list(text), 0
    while True:
        if inside:
            end = text.find("-->", position)
            stop = len(text) if end < 0 else end + 3
            chars[position:stop] = " " * (stop - position)
            if end < 0:
                return "".join(chars), True
            position, inside = stop, False
        start = text.find("<!--", position)
        while start >= 0 and (span := next(((a, b) for a, b in kept if a <= start < b), None)):
            start = text.find("<!--", span[1])
        if start < 0:
            return "".join(chars), False
        position, inside = start, True


#: 一段 Python 里的数字常量；标识符里的数字不算。
_CONSTANT = re.compile(r"(?<![\w.])(?:\d[\d_]*(?:\.[\d_]*)?|\.\d+)(?:[eE][-+]?\d+)?")


def _constants(fragment: str) -> list[Program]:
    """一段程序里的数字常量，按先后；不必自成语句，所以不能交给 `ast`。"""
    return [Program(text, frozenset({abs(float(text))})) for text in _CONSTANT.findall(fragment)]


def constant_fault(expression: str) -> str | None:
    """绑定到写出来的常量等于没有绑定：表达式里要有页面自己的名字，或者真的算了什么。"""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return None  # 求值时报告
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    calculated = any(isinstance(node, ast.BinOp) for node in nodes)
    if calculated or names - set(dir(builtins)) or names - {"float", "int", "str", "abs", "round", "list", "tuple"}:
        return None
    return f"<!--= {expression.strip()} --> 只是把数又写了一遍，证明不了什么；绑定到变量，或改用 <!--given-->、脚注"


def _check_given(spans, text: str, where: str | None, line: Line, inputs: Program, found: Numbers) -> None:
    problems = [where and _where_fault(where, inputs)] * len(spans)
    tail = _constants(where or "")[-len(spans) :]
    for at, (start, end) in enumerate(spans):
        number = text[start:end]
        if where and not problems[at] and not (len(tail) == len(spans) and _is_input(number, tail[at])):
            problems[at] = f"不是指明的代码 {where.strip()} 里的最后一个数"
        elif not where:
            alone = len(spans) == 1 or _is_result(number)  # 列表、公式里的一两位整数不必有来历
            problems[at] = _given_fault(number, inputs, alone)
        if problems[at]:
            found.faults.append(Fault(line.origin, f"{number.strip()} {problems[at]}：{_around(text, start, end)}\n    {_GIVEN_ADVICE}"))


_GIVEN_ADVICE = "写进代码；或写 <!--given: 代码-->，指明是程序里的哪一段，到这个数为止；或改为绑定 <!--= 表达式 -->，或注明出处 [^…]"


def _where_fault(where: str, inputs: Program) -> str | None:
    """作者指明的一段代码能不能作来历。"""
    if not re.search(r"[^\W\d]", _CONSTANT.sub("", where)):
        return f"指明的代码 {where.strip()} 里要有名字，只写数等于没有指明"
    if not re.search(r"(?<!\w)" + r"\s*".join(map(re.escape, re.findall(r"\S", where))) + r"(?![\d_]|\.\d|[eE][-+\d])", inputs.text):
        return f"指明的代码 {where.strip()} 不在本页的程序里"
    return None


def _given_fault(number: str, inputs: Program, alone: bool = True) -> str | None:
    """声明为给定的数，程序里有没有；写错一个数字会不会正好是别的常量。"""
    if not _is_input(number, inputs):
        return "声明为给定的输入，本页的程序里却没有这个数"
    confused = next((other for other in _one_digit_off(number) if alone and _is_input(other, inputs)), None)
    return confused and f"声明为给定的输入，但写错一个数字成了 {confused.strip()}，也是程序里的数，检查发现不了"


def _is_source(number: str, expression: str, inputs: Program) -> bool:
    """公式里等号前面的数：写在绑定的表达式里，或在程序里而且不会与别的常量弄混。"""
    return any(_is_input(number, constant) for constant in _constants(expression)) or _given_fault(number, inputs, _is_result(number)) is None


def _one_digit_off(number: str) -> Iterator[str]:
    """把一个数字换成加一、减一以后的各种写法。"""
    for at, digit in enumerate(number):
        if digit.isdigit():
            for other in {(int(digit) + 1) % 10, (int(digit) - 1) % 10}:
                yield number[:at] + str(other) + number[at + 1 :]


def _scan_paragraph(paragraph: list[Visible], after: list[int], inputs: Program, sources: set[str], found: Numbers) -> None:
    if not paragraph:
        return
    table = all(row.text.lstrip().startswith("|") for row in paragraph)
    header_cites = table and _cites(paragraph[0].text, sources)
    for row in paragraph:
        number, line, text = row.number, row.line, row.text
        if not _MAY_HAVE_ANY.search(line):
            continue
        masked, formulas, codes = _mask(text)
        taken: list[tuple[int, int]] = []
        for split in _SPLIT.finditer(str(line)):
            if not any(start < split.start() < end for start, end in codes):
                found.faults.append(Fault(line.origin, f"注释夹在数的中间，网页上连成另一个数：{split.group()}；整个数写在记号前面"))
        for mark in MARK.finditer(text):
            if any(start < mark.start() < end for start, end in codes):
                continue  # 行内代码里写着的记号只是文字
            literal = _literal_before(text, mark.start(), masked, formulas, codes, taken)
            if literal is None:
                found.faults.append(Fault(line.origin, f"记号 {mark.group()} 前面没有紧挨着的数、列表、行内代码或公式"))
                continue
            spans, shown, formula = literal
            if mark.group("given"):
                taken.extend(spans)
                _check_given(spans, text, mark.group("where"), line, inputs, found)
            else:
                constant = constant_fault(mark.group("expr"))
                if constant:
                    found.faults.append(Fault(line.origin, constant))
                strangers = tuple((a, b) for a, b in spans if (_is_result(text[a:b]) or _is_two_digits(text[a:b], text[:a], text[b:])) and not _is_source(text[a:b], mark.group("expr"), inputs))
                found.bindings.append(Binding(line, mark.group("expr").strip(), shown, tuple(spans), after[number], formula, strangers))
                taken.extend(spans)
        for match in NUMBER.finditer(masked):
            if found.faults and found.faults[-1].origin == line.origin and "没有紧挨着" in found.faults[-1].message:
                break  # 先改好记号，再看剩下的数
            if any(match.start() < end and start < match.end() for start, end in taken) or not _needs_source(match, text, inputs):
                continue
            if any(start <= match.start() < end for start, end in codes) and _is_input(match.group(), inputs):
                continue  # 行内代码里的常量，程序里就写着它
            sentence = text if table else _sentence(paragraph, number, match.start())
            if _cites(sentence, sources) or header_cites:
                continue
            found.faults.append(
                Fault(
                    line.origin,
                    f"数 {match.group().strip()} 没有来历：{_around(text, match.start(), match.end())}\n"
                    f"    绑定到程序：{match.group().strip()}<!--= 表达式 -->；或注明出处 [^…]；或声明是给定的输入 <!--given-->",
                )
            )


def _is_result(number: str) -> bool:
    """一定要有来历的：小数、百分数、指数，或三位以上的整数。"""
    digits = re.sub(r"\D", "", number)
    return bool(re.search(r"[.%％‰eE]", number)) or len(digits) >= 3


#: 后面是这些字的两位整数不是结果：日期、估计的用时、位数。
_SMALL = re.compile(r"[ \u00a0]?(?:秒|天|月|日|年|世纪|位(?![置读])|号)")


def _is_two_digits(number: str, before: str, after: str) -> bool:
    """两位的整数。零开头的是名字（实验 01），公式的下标 `w_{11}` 与 `\\frac83` 不是数，次序（第 12 个）与日期、用时也不算。"""
    named = re.search(r"\w_\{?$|frac$|第[ ]?(?:\d+[ ]?[、–到至和~-][ ]?)?$|[A-Za-z]\d*-$", before)
    return bool(re.fullmatch(r"[-+−–±]?[1-9]\d", number)) and not named and not _SMALL.match(after)


#: 10 的几次方：`10^{-6}`、`10<sup>-6</sup>`、`10⁻⁶`。
_POWER = re.compile(r"\^\{?([-−]?\d+)\}?|<sup>([-−]?\d+)</sup>|([⁻⁰¹²³⁴-⁹]+)")
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def _needs_source(match: re.Match, text: str, inputs: Program) -> bool:
    """这个数要不要注明来历；`text` 是 `match` 所在的那一行。"""
    number = match.group()
    if number == "10" and (power := _POWER.match(text, match.end())):
        exponent = (power[1] or power[2] or power[3]).translate(_SUPERSCRIPTS)
        return float(f"1e{exponent}") not in inputs.constants
    return _is_result(number) or (_is_two_digits(number, text[: match.start()], text[match.end() :]) and not _is_input(number, inputs))


def _is_input(number: str, inputs: Program) -> bool:
    """程序里写着这个数。多写了零的（00、0e-12、1e-02、0001）不是程序里的那个 0 或 1。"""
    value, _, percent = decimals(number)
    plain = re.sub(r"^[\s+\-−–±]+", "", number)
    if re.match(r"0\d", plain) or re.search(r"[eE][-+−]?0", plain) or (not value and not re.fullmatch(r"0(\.0)?", plain)):
        return False
    return abs(float(value)) / (100 if percent else 1) in inputs.constants


def _around(text: str, start: int, end: int) -> str:
    text_before, text_after = text[max(0, start - 16) : start], text[end : end + 12]
    return f"…{text_before}{text[start:end]}{text_after}…"


def _cites(text: str, sources: set[str]) -> bool:
    """文字里有指向可用出处的脚注。"""
    return any(key in sources for key in re.findall(r"\[\^([^\]]+)\]", text))


def _sentence(paragraph: list[Visible], number: int, column: int) -> str:
    """段落里含有这个位置的那一句；句末的脚注记号算在内。"""
    whole = "".join(row.text for row in paragraph)
    position = sum(len(row.text) for row in paragraph if row.number < number) + column
    start = max((m.end() for m in re.finditer(r"[。！？](?:\[\^[^\]]+\])*", whole[:position])), default=0)
    stop = re.search(r"[。！？](?:\[\^[^\]]+\])*", whole[position:])
    return whole[start : position + stop.end() if stop else len(whole)]


def _mask(text: str) -> tuple[str, list[tuple[int, int]], list[tuple[int, int]]]:
    """把不是正文的部分换成空格（位置不变）；返回（文字, 公式的位置, 行内代码的位置）。"""
    chars = list(text)

    def blank(start: int, end: int) -> None:
        chars[start:end] = " " * (end - start)

    codes, formulas = [], []
    for match in _CODE.finditer(text):
        codes.append(match.span())
        ticks, inner = match.groups()
        inner = _UNIT_AT_END.sub(_spaces, _NAMED.sub(_spaces, inner))
        chars[slice(*match.span())] = " " * len(ticks) + inner + " " * len(ticks) if _PURE.fullmatch(inner) else _spaces(match)
    for match in MARK.finditer(text):
        blank(*match.span())
    current = "".join(chars)
    for match in re.finditer(r"(?<![\\$])(\$\$?)(?!\s)(.+?)(?<![\\\s])\1", current):
        if not any(start <= match.start() < end for start, end in codes):
            formulas.append(match.span())
            for name in re.finditer(_TEX_NAME, match.group()):
                blank(match.start() + name.start(), match.start() + name.end())
    for match in re.finditer(r"(?<!\\)\\[A-Za-z]+(?=[\d.])", "".join(chars)):  # 多行的公式里的命令
        if not any(start <= match.start() < end for start, end in codes):
            blank(*match.span())
    for match in exempt.LINKED.finditer("".join(chars)):
        blank(*match.span())
    for pattern in (
        r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?=[\s)])",  # 链接的地址
        r"<[A-Za-z/][^<>]*>",
        r"https?://[^\s）)，。；、]+",
        r"\{[:#.][^{}]*\}|\{ [^{}]*[=#.][A-Za-z][^{}]*\}$|\{ ?(?:width|height)=[^{}]*\}",
        r"\[\^[^\]]+\]",
        r"<!--.*?-->",
    ):
        for match in re.finditer(pattern, "".join(chars)):
            if not any(start <= match.start() < end for start, end in formulas):
                chars[slice(*match.span())] = _attributes(match.group())
    for pattern in exempt.EVERYWHERE:
        for match in pattern.finditer("".join(chars)):
            if not any(start <= match.start() < end for start, end in formulas):
                blank(*match.span())
    heading = exempt.HEADING.match("".join(chars))
    if heading:
        blank(0, heading.end())
    return "".join(chars), formulas, codes


def _spaces(match: re.Match) -> str:
    return " " * len(match.group())


def _attributes(tag: str) -> str:
    """标签换成空格，读者看得到的属性（替代文字、提示）留下。"""
    kept = [" "] * len(tag)
    for match in re.finditer(r"\b(?:alt|title|aria-label)=([\"'])(.*?)\1", tag):
        kept[slice(*match.span(2))] = match[2]
    return "".join(kept)


def _literal_before(text, position, masked, formulas, codes, taken):
    """记号前紧挨着的东西：（各个数的位置, 写出的样子, 是否公式）；没有时是 None。"""
    end = position
    while end > 0 and text[end - 1] in "*_":
        end -= 1
    if end > 0 and text[end - 1] == ">":  # 连着的另一条记号
        previous = next((m for m in MARK.finditer(text) if m.end() == end), None)
        if previous is None:
            return None
        return _literal_before(text, previous.start(), masked, formulas, codes, taken)
    for spans, formula in ((formulas, True), (codes, False)):
        inside = next(((a, b) for a, b in spans if b == end), None)
        if inside:
            numbers = [m.span() for m in NUMBER.finditer(_unmasked(text, *inside)) if m.start() >= inside[0] and m.end() <= inside[1]]
            shown = text[slice(*inside)]
            return (numbers, shown, formula or bool(re.search("[=≈]", shown))) if numbers or not formula else None
    if end > 0 and text[end - 1] in "])）":
        opening = {"]": "[", ")": "(", "）": "（"}[text[end - 1]]
        depth, start = 0, end
        while start > 0:
            start -= 1
            depth += (text[start] == text[end - 1]) - (text[start] == opening)
            if depth == 0:
                break
        numbers = [m.span() for m in NUMBER.finditer(masked, start, end)]
        return (numbers, text[start:end], False) if numbers and depth == 0 else None
    for match in NUMBER.finditer(text):
        if match.end() == end:
            return [match.span()], match.group(), False
    return None


def _unmasked(text: str, start: int, end: int) -> str:
    """只留下 `start` 到 `end` 的文字，其余是空格；公式里的命令名也是空格。"""
    inside = _TEX_NAME.sub(lambda m: " " * len(m.group()), text[start:end])
    return " " * start + inside


def decimals(number: str) -> tuple[Decimal, int, bool]:
    """写出的数 → （值, 末位的数量级, 是否百分数）：`"0.330"` → (0.330, -3, False)。"""
    percent = number.rstrip().endswith(("%", "％"))
    plain = re.sub(r"[ ,_~\u2009\u202f\u00a0%％‰±+]|\\[,;:]|\{,\}|\\", "", number).replace("−", "-").replace("–", "-")
    value = Decimal(plain)
    return value, value.as_tuple().exponent, percent


def flatten(value) -> list[Decimal | str]:
    """worker 送回的值 → 数的平列表；文字原样。"""
    if isinstance(value, list):
        return [item for part in value for item in flatten(part)]
    if isinstance(value, dict):
        return [Decimal(value["float"])]
    if isinstance(value, bool) or value is None:
        return [str(value)]
    return [Decimal(value)] if isinstance(value, int) else [value]


def check(binding: Binding, answer: dict) -> tuple[str | None, str | None]:
    """（错误, 改写后的整行）。一致时两者都是 None；求值失败时没有改写。"""
    if "error" in answer:
        return f"{binding.expression} 不能求值：{answer['error']}", None
    values = flatten(answer["value"])
    if len(values) == 1 and isinstance(values[0], str):
        literal = binding.literal.strip("`")
        if literal == values[0]:
            return None, None
        return f"写的是 {literal}，{binding.expression} 是 {values[0]}", None
    if not values or any(isinstance(value, str) or not value.is_finite() for value in values):
        return f"{binding.expression} 的值 {answer['value']!r} 不是有限的数", None
    spans = binding.spans[-len(values) :] if binding.formula else binding.spans
    if len(spans) != len(values):
        return f"{binding.literal} 写了 {len(spans)} 个数，{binding.expression} 有 {len(values)} 个", None
    text, wrong = str(binding.line), []
    if binding.formula and (loose := [text[slice(*span)] for span in binding.strangers if span not in spans]):
        return f"公式 {binding.literal} 里的 {'、'.join(loose)} 没有绑定，本页的程序里也没有这个数", None
    rewritten = text
    for (start, end), value in reversed(list(zip(spans, values, strict=True))):
        written = text[start:end]
        try:
            number, exponent, percent = decimals(written)
        except InvalidOperation:
            return f"读不懂写出的数 {written!r}", None
        actual = value * 100 if percent else value
        step = Decimal(1).scaleb(exponent)
        if not _rounds_to(actual, number, step):
            new = _format(written, actual, exponent)
            wrong.insert(0, f"写的是 {written.strip()}，{binding.expression} 是 {actual:.10g}，应写 {new.strip()}")
            rewritten = rewritten[:start] + new + rewritten[end:]
    return ("；".join(wrong), rewritten) if wrong else (None, None)


def _rounds_to(actual: Decimal, number: Decimal, step: Decimal) -> bool:
    """`actual` 舍入到 `step` 是否就是 `number`；恰在中间时，两种通行的舍入（五入、成双）都算对。"""
    gap = abs(actual - number)
    if abs(gap - step / 2) > step * Decimal("1e-9"):
        return gap < step / 2
    middle = (actual / (step / 2)).to_integral_value() * (step / 2)  # 去掉浮点的尾数
    return number in {(middle / step).to_integral_value(rounding) * step for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)}


def _format(written: str, value: Decimal, exponent: int) -> str:
    """按原来的写法（位数、千位分隔、减号、百分号）写新的值。"""
    if re.search(r"\d[eE]", written):
        digits = len(re.search(r"\.(\d+)", written).group(1)) if "." in written else 0
        return f"{value:.{digits}e}"
    places = max(0, -exponent)
    separator = re.search(r"\d([ ,\u2009\u202f\u00a0]|\\,|\{,\})\d{3}", written)
    text = f"{abs(value):,.{places}f}" if separator else f"{abs(value):.{places}f}"
    if separator:
        text = text.replace(",", separator.group(1))
    sign = ("−" if "−" in written or not re.match(r"\s*-", written) else "-") if value < 0 and Decimal(f"{value:.{places}f}") else ""
    sign = sign if sign else "+" if written.lstrip().startswith("+") else ""
    tail = re.search(r"[ \u00a0\u2009\u202f~]?(?:\\[,;: ])?\\?[%％]\s*$", written)
    return sign + text + (tail.group() if tail else "")


def edits(page: Path, corrections: list[tuple[Binding, str]]) -> list[Edit]:
    """同一行的几处改写合成一处；每处只动自己的数。"""
    lines: dict[int, list[tuple[Binding, str]]] = {}
    for binding, text in corrections:
        if binding.line.origin.path == page:
            lines.setdefault(binding.line.origin.line, []).append((binding, text))
    return [Edit(number, number, (merged(group),)) for number, group in sorted(lines.items())]


def merged(group: list[tuple[Binding, str]]) -> str:
    """同一行的几处改写（`check` 各自给出整行）合成的一行。"""
    text = str(group[0][0].line)
    for binding, changed in sorted(group, key=lambda pair: -pair[0].spans[0][0]):
        first, last = binding.spans[0][0], binding.spans[-1][1]
        tail = len(str(binding.line)) - last
        text = text[:first] + changed[first : len(changed) - tail] + text[last:]
    return text
