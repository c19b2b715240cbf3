"""行末的 shape 注释也是读者看到的数：运行脚本时，逐行与真正的 shape 比较。

注释写在赋值或 return 的末尾，例如 ``# [B, T, C]``、``# [16, D]，[16, D]``、``# [Tq=2][D=2]``。数字必须相同；
字母在同一次函数调用里必须一直是同一个数（循环里再走到同一行时，在这一行第一次出现的字母可以变），与同名的局部变量也相同；
``D/2`` 这样的式子在字母都已知时核对。
"""

import ast
import io
import math
import re
import sys
import tokenize
from dataclasses import dataclass, field

#: 一段注释里的一个 shape：方括号里逗号分开，或几层嵌套的列表 ``[Tq][Tk]``。
SHAPE = re.compile(r"(?:\[[^\[\]]*\])+")
#: 同一行最多核对这么多次：训练要走几百步，看前几步就够。
TIMES = 3


@dataclass(frozen=True)
class Claim:
    """一个语句的末尾写着的 shape；`names` 是它赋值的变量，return 的是空的。"""

    first: int
    last: int
    names: tuple[str, ...]
    shapes: tuple[str, ...]


@dataclass
class Checked:
    """一次运行里核对过的行，和不符的地方。"""

    lines: set[int] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


def claims(text: str) -> dict[int, Claim]:
    """脚本里写着 shape 的语句：它占的每一行 → 它。"""
    lines = text.split("\n")
    found: dict[int, Claim] = {}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.Assign, ast.Return)) or "#" not in lines[node.end_lineno - 1]:
            continue
        comment = lines[node.end_lineno - 1].rpartition("  # ")[2]
        parts = [part.strip() for part in re.split(r"[，；：]", comment)]
        shapes = tuple(part for part in parts if SHAPE.fullmatch(part))
        names = _names(node)
        if shapes and names is not None:
            claim = Claim(node.lineno, node.end_lineno, names, shapes)
            found.update(dict.fromkeys(range(node.lineno, node.end_lineno + 1), claim))
    return found


def unparsed(text: str) -> list[str]:
    """有 shape、却没有全部核对的那些注释。"""
    found, known = [], claims(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or "--8<--" in token.string:
            continue
        written = [match.group() for match in re.finditer(rf"(?<!\w){SHAPE.pattern}", token.string)]
        claim = known.get(token.start[0])
        if written and not (claim and claim.last == token.start[0] and written == list(claim.shapes)):
            found.append(token.string)
    return found


def _names(node: ast.Assign | ast.Return) -> tuple[str, ...] | None:
    if isinstance(node, ast.Return):
        return ()
    target = node.targets[0]
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return tuple(part.id for part in parts) if all(isinstance(part, ast.Name) for part in parts) else None


def shape_of(value) -> list[int] | None:
    """张量或嵌套列表的 shape；标量与别的东西没有 shape，是 None。"""
    if hasattr(value, "shape"):
        return list(value.shape) or None
    if isinstance(value, (list, tuple)) and value:
        return [len(value), *(shape_of(value[0]) or [])]
    return None


def _size(text: str, known: dict[str, int]) -> float | None:
    """一个维度应有的大小；有不知道的字母时是 None，算不出来（除以 0、乘方）是 NaN，与什么都不相等。"""
    expression = re.sub(r"(?<=\w)\s*·\s*(?=\w)", "*", text)
    names = set(re.findall(r"[^\W\d]\w*", expression))
    if not re.fullmatch(r"[\w\s+*/-]+", expression) or not names <= known.keys():
        return None
    if re.search(r"\*\s*\*", expression):
        return math.nan
    try:
        return eval(expression, {"__builtins__": {}}, known)  # noqa: S307 —— 只有字母、数字与四则运算
    except SyntaxError:
        return None
    except ArithmeticError:
        return math.nan


def dimensions_of(written: str) -> list[str]:
    return [part.strip() for part in written.strip("[]").replace("][", ",").split(",")]


def compare(written: str, real: list[int], known: dict[str, int]) -> bool:
    """写的 shape 与真正的是否相同；新见到的字母记进 `known`。"""
    dimensions = dimensions_of(written)
    if "..." in dimensions:
        at = dimensions.index("...")
        tail = len(dimensions) - at - 1
        if at + tail > len(real):
            return False
        dimensions = dimensions[:at] + dimensions[at + 1 :]
        real = real[:at] + real[len(real) - tail :]
    if len(dimensions) != len(real):
        return False
    for dimension, size in zip(dimensions, real):
        name, _, value = (part.strip() for part in dimension.partition("="))
        if value:  # 写明了是几，就从这里起是几
            known[name] = int(value)
        if name.isidentifier():
            if known.setdefault(name, size) != size:
                return False
        elif (expected := _size(name, known)) is not None and expected != size:
            return False
    return True


class Tracer:
    """``sys.settrace`` 用的：一个脚本里每个函数的每一行运行完，核对那一行的 shape。"""

    def __init__(self, filename: str, text: str):
        self.filename = filename
        self.claims = claims(text)
        self.checked = Checked()
        self.seen: dict[int, int] = {}

    def __call__(self, frame, event, _):
        if frame.f_code.co_filename != self.filename:
            return None
        lines = {line for *_, line in frame.f_code.co_lines() if line}
        if all(self.seen.get(self.claims[line].first, 0) >= TIMES for line in lines & self.claims.keys()):
            return None
        known: dict[Claim, dict[str, int]] = {}  # 各个字母是在哪一行知道的
        pending: list[Claim] = []

        def local(frame, event, argument):
            if pending and not (event == "line" and pending[0].first <= frame.f_lineno <= pending[0].last):
                claim = pending.pop()
                if event != "exception":
                    self._check(claim, frame, known, argument if event == "return" else None)
            if event == "line" and (claim := self.claims.get(frame.f_lineno)) and not pending:
                pending.append(claim)
            return local

        return local

    def _check(self, claim: Claim, frame, known: dict[Claim, dict[str, int]], returned) -> None:
        self.seen[claim.first] = self.seen.get(claim.first, 0) + 1
        if claim.names:
            values = [frame.f_locals.get(name) for name in claim.names]
        else:
            values = list(returned) if isinstance(returned, tuple) else [returned]
        if len(claim.shapes) == 1 and len(values) > 1:
            values = [value for value in values if hasattr(value, "shape")]
        known.pop(claim, None)
        letters = {name: size for sizes in known.values() for name, size in sizes.items()}
        letters |= {name: value for name, value in frame.f_locals.items() if type(value) is int}
        before = dict(letters)
        for at, value in enumerate(values):
            written = claim.shapes[at] if at < len(claim.shapes) else claim.shapes[-1]
            real = shape_of(value)
            if real is None:
                continue
            if len(real) == 1 < real[0] == len(dimensions_of(written)) and type(value[0]) is int:
                real = value  # 这个列表本身写的就是 shape
            self.checked.lines.add(claim.first)
            if not compare(written, real, letters):
                said = "，".join(f"{name} = {letters[name]}" for name in re.findall(r"[^\W\d]\w*", written) if name in letters)
                self.checked.wrong.append(f"第 {claim.last} 行写着 {written}，真正的是 {real}" + (f"（{said}）" if said else ""))
        known[claim] = {name: size for name, size in letters.items() if before.get(name) != size}


def check(filename: str, text: str, run) -> Checked:
    """运行 `run()`，核对 `filename` 里每一行 shape 注释。"""
    tracer, before = Tracer(filename, text), sys.gettrace()
    sys.settrace(tracer)
    try:
        run()
    finally:
        sys.settrace(before)
    return tracer.checked
