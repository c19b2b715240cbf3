"""两份文字之间的变化：只是舍入，还是意义变了。只看文字，不读文件，不运行程序。

升级依赖以后，输出难免有末位的变动；要人看的是意义的变动。规则（`classify`）：

- **舍入**：除了带小数点或指数的数，其余文字逐字相同（数旁边对齐用的空格不算）；每一对数的小数位数与
  指数写法相同；并且每一对数或者相对差不超过 `NOISE`（浮点运算的噪声，位数写得再多也只是噪声），
  或者只差末位一个单位、且相对差不超过 `RELATIVE`（恰在舍入边界上的数会这样）。
- **版本号**（`only_versions`）：把所换的旧版本号换成新的，文字就相同。
- **意义**：其余的全部。整数（形状、个数、下标）、inf 与 nan、文字、次序、行数的任何不同，
  小数位数变了，0 变成不是 0，都算意义。

拿不准时算意义：多看一处不要紧，少看一处要紧。
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from decimal import Decimal
from enum import IntEnum

#: 相对差不超过它，就是浮点运算的噪声：float32 的间隔约 1.2e-7，几次累加后约 1e-6。
NOISE = Decimal("1e-6")
#: 末位差一个单位时，相对差还要不超过它；否则 0.3 变成 0.4 也成了舍入。
RELATIVE = Decimal("1e-2")

#: 带小数点或指数的数、整数、inf 与 nan。标识符里的数字（x1、v0.2）和版本号（2.4.6）是文字。
NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])[-+−]?"
    r"(?:(?:\d+\.\d+|\d+\.|\.\d+|\d+)(?:[eE][-+−]?\d+)?(?![A-Za-z0-9_]|\.\d)|(?:inf|nan)(?![A-Za-z0-9_]))"
)


class Kind(IntEnum):
    """变化的轻重；数越大越重。"""

    SAME = 0
    BYTES = 1  #: 字节变了，看得见的文字没变（样式、脚本、标记、索引）
    VERSION = 2  #: 写着的就是所换的版本号
    ROUNDING = 3
    MEANING = 4


@dataclass(frozen=True)
class Verdict:
    """一处变化的轻重，和一句理由。"""

    kind: Kind
    reason: str = ""


@dataclass(frozen=True)
class LineChange:
    """第 `offset` 行（从 0 数起，按旧的文字）从 `old` 变成 `new`；整行增减时另一边是空字符串。"""

    offset: int
    old: str
    new: str
    verdict: Verdict


def classify(old: str, new: str) -> Verdict:
    """`old` 变成 `new`，是没变、舍入，还是意义。规则见模块的说明。"""
    if old == new:
        return Verdict(Kind.SAME)
    if _frame(old) != _frame(new):
        return Verdict(Kind.MEANING, "文字不同")
    before, after = NUMBER.findall(old), NUMBER.findall(new)
    if before == after:
        return Verdict(Kind.MEANING, "空白不同")
    worst = Decimal(0)
    for a, b in zip(before, after, strict=True):
        if a == b:
            continue
        verdict = _numbers(a, b)
        if verdict.kind is Kind.MEANING:
            return verdict
        worst = max(worst, _relative(_value(a), _value(b)))
    return Verdict(Kind.ROUNDING, f"只有末位的数不同，相对差至多 {float(worst):.1e}")


def only_versions(old: str, new: str, renamed: dict[str, str]) -> bool:
    """`old` 里只有版本号换了：`renamed` 是旧版本号到新版本号的对应。两段的版本号与小数分不清，不算。"""
    text = old
    for before, after in renamed.items():
        if before.count(".") >= 2:
            text = re.sub(rf"(?<![A-Za-z0-9_.]){re.escape(before)}(?!\.?[A-Za-z0-9_])", lambda _, after=after: after, text)
    return old != new and text == new


def line_changes(old: list[str], new: list[str]) -> list[LineChange]:
    """逐行的变化。行数相同时一行对一行；不同时先对齐相同的行，对不上的行是意义的变动。"""
    if len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return [LineChange(n, a, b, classify(a, b)) for n, (a, b) in enumerate(pairs) if a != b]
    found = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if j - i == m - k:
            found += [LineChange(i + n, a, b, classify(a, b)) for n, (a, b) in enumerate(zip(old[i:j], new[k:m], strict=True))]
        else:
            reason = f"行数不同：{j - i} 行变成 {m - k} 行" if i < j and k < m else "多了文字" if k < m else "少了文字"
            found.append(LineChange(i, "\n".join(old[i:j]), "\n".join(new[k:m]), Verdict(Kind.MEANING, reason)))
    return found


def _frame(text: str) -> str:
    """数以外的文字；数旁边对齐用的空格归一。"""
    return re.sub(r"[ \t]*\x00[ \t]*", "\x00", NUMBER.sub("\x00", text))


def _numbers(a: str, b: str) -> Verdict:
    told = f"{a} 变成 {b}"
    if _form(a) != _form(b):
        return Verdict(Kind.MEANING, f"数的写法不同：{told}")
    if _form(a) in ("integer", "word"):
        return Verdict(Kind.MEANING, f"整数不同：{told}" if _form(a) == "integer" else f"数不同：{told}")
    x, y = _value(a), _value(b)
    relative = _relative(x, y)
    unit = max(_unit(a), _unit(b))
    if relative <= NOISE or (abs(x - y) <= unit and relative <= RELATIVE):
        return Verdict(Kind.ROUNDING)
    return Verdict(Kind.MEANING, f"数不同：{told}（相对差 {relative:.1e}）")


def _form(number: str) -> str:
    """数的写法：整数、inf 与 nan，或小数位数与有没有指数。"""
    if number.lstrip("-+−") in ("inf", "nan"):
        return "word"
    mantissa, _, exponent = number.lower().partition("e")
    if not mantissa.partition(".")[2] and not exponent:
        return "integer"
    return f"{len(mantissa.partition('.')[2])} 位小数{'，指数' if exponent else ''}"


def _value(number: str) -> Decimal:
    return Decimal(number.replace("−", "-"))


def _unit(number: str) -> Decimal:
    """末位的一个单位。"""
    return Decimal(1).scaleb(_value(number).as_tuple().exponent)


def _relative(x: Decimal, y: Decimal) -> Decimal:
    largest = max(abs(x), abs(y))
    return abs(x - y) / largest if largest else Decimal(0)
