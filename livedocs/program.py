"""页面的程序里写着什么：数字常量，导入的模块。

一段代码只解析一次：同一个片段出现在几页上，核对数字与写版本记录又都要它。
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """几段代码：它们的文字，和其中写着的全部数字常量的绝对值。"""

    text: str
    constants: frozenset[float]


def program(codes: Iterable[str]) -> Program:
    """`codes` 合成的程序；有语法错误的一段里没有常量。"""
    codes = list(codes)
    return Program("\n".join(codes), frozenset().union(*(_facts(code)[0] for code in codes)))


def imports(codes: Iterable[str]) -> set[str]:
    """`codes` 里导入的顶层模块名；有语法错误的一段按行认。"""
    return set().union(*(_facts(code)[1] for code in codes))


@functools.lru_cache(maxsize=4096)
def _facts(code: str) -> tuple[frozenset[float], frozenset[str]]:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return frozenset(), frozenset(re.findall(r"^\s*(?:import|from)\s+(\w+)", code, re.MULTILINE))
    constants, names = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, (int, float)):
                constants.add(abs(float(node.value)))
        elif isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return frozenset(constants), frozenset(names)
