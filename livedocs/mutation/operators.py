"""脚本里可以改的运算符、比较、常量、布尔值、条件、坐标轴与切片。

用 `ast` 找到位置，只替换那几个字，所以行号不变，片段、页面与报错的位置都还对得上。
不改的：字符串与 f-string 的内容（打印的文字由运行记录逐字核对；3.12 之前 f-string 里的位置也不可靠）、类型标注、
`assert` 与 `assert_close` 等（它们是检查，不是被检查的）、随机种子（换一个本就不该有差别）。容差（和小于 1 的小数作大小比较）只取反：放宽它，任何通过的测试都看不出来。
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

from livedocs.mutation.mutants import Mutant, Text

_BINARY = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
}
_COMPARE = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def code_mutants(path: Path, root: Path) -> list[Mutant]:
    """一个脚本的全部变异，按位置排序；改后不能编译的不算。"""
    finder = _Finder(Text(root, path))
    unique = {(m.start, m.end, m.new): m for m in finder.mutants()}
    kept = []
    for mutant in sorted(unique.values(), key=lambda m: (m.start, m.end, m.new)):
        try:
            compile(mutant.apply(finder.text.text), mutant.path, "exec")
        except (SyntaxError, ValueError):
            continue
        kept.append(mutant)
    return kept


class _Finder:
    def __init__(self, text: Text):
        self.text = text
        self.tree = ast.parse(text.text)
        self.tokens = [
            (self._at(*token.start, utf8=False), self._at(*token.end, utf8=False), token.string)
            for token in tokenize.generate_tokens(io.StringIO(text.text).readline)
            if token.type in (tokenize.OP, tokenize.NAME)
        ]
        #: 前面紧挨着负号的整数：由负号那里一起改。
        self.negated = {
            self.span(node.operand)[0]
            for node in ast.walk(self.tree)
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        }

    def _at(self, line: int, column: int, utf8: bool = True) -> int:
        """(行, 列) → 全文里的位置；`ast` 的列按 UTF-8 字节数。"""
        if utf8:
            column = len(self.text.lines[line - 1].encode()[:column].decode())
        return self.text.starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)

    def mutants(self) -> Iterator[Mutant]:
        yield from self._visit(self.tree, (1, 1), False)

    def _visit(self, node: ast.AST, lines: tuple[int, int], checking: bool) -> Iterator[Mutant]:
        """`lines` 是所在语句的首末行；`checking` 表示在和容差的比较里。"""
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno
            lines = (node.lineno, max(node.lineno, last))
        if isinstance(node, (ast.JoinedStr, ast.Assert)) or _is_check_or_seed(node):
            return
        for start, end, new in self._changes(node, checking):
            old = self.text.text[start:end]
            line = self.text.text.count("\n", 0, start) + 1
            change = f"{' '.join(old.split()) or '（空）'} → {' '.join(new.split()) or '（空）'}"
            yield Mutant("code", self.text.path, line, start, end, old, new, change, lines)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "type_comment", "type_params"):
                continue
            inner = isinstance(node, ast.Compare) and _tolerance(node)
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._visit(child, lines, inner)

    def _changes(self, node: ast.AST, checking: bool) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            old, new = _BINARY[type(node.op)]
            yield from self._operator(node.left, node.right, old, new)
        elif isinstance(node, ast.AugAssign) and type(node.op) in _BINARY:
            old, new = _BINARY[type(node.op)]
            yield from self._operator(node.target, node.value, old + "=", new + "=")
        elif isinstance(node, ast.Compare):
            yield from self._compare(node, _tolerance(node))
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:]):
                yield from self._operator(left, right, old, new)
        elif isinstance(node, ast.UnaryOp):
            yield from self._unary(node)
        elif isinstance(node, ast.Constant):
            yield from self._constant(node, checking)
        elif isinstance(node, ast.Slice):
            yield from self._slice(node)
        for test in _conditions(node):
            if isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.NamedExpr)):
                start, end = self.span(test)
                yield start, end, f"not ({self.text.text[start:end]})"

    def _operator(self, left: ast.AST, right: ast.AST, old: str, new: str) -> Iterator[tuple[int, int, str]]:
        """`left` 与 `right` 之间的运算符；两个词的（not in、is not）取首尾。"""
        first, last, words = self.span(left)[1], self.span(right)[0], old.split()
        between = [token for token in self.tokens if token[0] >= first and token[1] <= last]
        for i in range(len(between) - len(words) + 1):
            if [token[2] for token in between[i : i + len(words)]] == words:
                yield between[i][0], between[i + len(words) - 1][1], new
                return

    def _compare(self, node: ast.Compare, checking: bool) -> Iterator[tuple[int, int, str]]:
        sides = [node.left, *node.comparators]
        for left, op, right in zip(sides, node.ops, sides[1:]):
            old, new = _COMPARE[type(op)]
            yield from self._operator(left, right, old, _OPPOSITE.get(old, new) if checking else new)

    def _unary(self, node: ast.UnaryOp) -> Iterator[tuple[int, int, str]]:
        start, end = self.span(node)
        inner = self.text.text[slice(*self.span(node.operand))]
        if isinstance(node.op, ast.Not):
            yield start, end, f"({inner})"
        elif isinstance(node.op, ast.USub):
            yield start, end, inner
            if isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
                yield start, end, f"-{node.operand.value + 1}"

    def _constant(self, node: ast.Constant, checking: bool) -> Iterator[tuple[int, int, str]]:
        start, end = self.span(node)
        value = node.value
        if isinstance(value, bool):
            yield start, end, str(not value)
        elif isinstance(value, int):
            if start not in self.negated:
                yield start, end, str(value + 1)
        elif isinstance(value, float) and not (checking and value < 1):
            yield start, end, repr(value * 2 if value else 1.0)

    def _slice(self, node: ast.Slice) -> Iterator[tuple[int, int, str]]:
        for bound in (node.lower, node.upper):
            if bound is None:
                continue
            start, end = self.span(bound)
            yield start, end, ""
            if isinstance(bound, (ast.Name, ast.Attribute, ast.BinOp, ast.Call)):
                yield end, end, " + 1"


def _is_check_or_seed(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rpartition(".")[2]
    return name in ("manual_seed", "seed") or name.startswith("assert")


def _conditions(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        return [node.test]
    return list(node.ifs) if isinstance(node, ast.comprehension) else []


def _tolerance(node: ast.Compare) -> bool:
    """和小于 1 的正小数作大小比较。"""
    order = all(isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for op in node.ops)
    small = any(isinstance(side, ast.Constant) and isinstance(side.value, float) and 0 < side.value < 1 for side in [node.left, *node.comparators])
    return order and small
