"""文档写的输出与实际输出是否一致：逐字比较；只有声明了容差的数才按容差比较。"""

from __future__ import annotations

import difflib
import math
import re

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]*\w)|[-+]?\b(?:inf|nan)\b")


def as_shown(text: str) -> str:
    """网页能显示的样子：制表符成空格（Markdown 的规则），只有空白的行成空行，末尾恰有一个换行。"""
    lines = [line.expandtabs(4) for line in text.replace("\r\n", "\n").split("\n")]
    lines = [line if line.strip() else "" for line in lines]
    text = "\n".join(lines)
    return text if not text or text.endswith("\n") else text + "\n"


def same(documented: str, actual: str, rtol: float | None = None, atol: float | None = None) -> bool:
    """两段输出是否一致。

    不给容差时逐字比较。给了 `rtol` 或 `atol` 时，数以外的文字仍逐字比较，
    每一对数要满足 |a − b| ≤ atol + rtol·|b|，b 是文档写的数。
    """
    documented, actual = as_shown(documented), as_shown(actual)
    if documented == actual:
        return True
    if rtol is None and atol is None:
        return False
    if NUMBER.sub("#", documented) != NUMBER.sub("#", actual):
        return False
    pairs = zip(NUMBER.findall(actual), NUMBER.findall(documented), strict=True)
    return all(_close(float(a), float(b), rtol or 0.0, atol or 0.0) for a, b in pairs)


def _close(a: float, b: float, rtol: float, atol: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= atol + rtol * abs(b)


def diff(documented: str, actual: str, limit: int = 24) -> str:
    """给人看的短差异：`-` 是文档写的，`+` 是实际的；超过 `limit` 行时截断并说明。"""
    lines = list(
        difflib.unified_diff(
            as_shown(documented).splitlines(), as_shown(actual).splitlines(), "文档", "实际", lineterm="", n=1
        )
    )[2:]
    lines = [line for line in lines if not line.startswith("@@")]
    if len(lines) > limit:
        lines = [*lines[:limit], f"…… 另有 {len(lines) - limit} 行不同"]
    return "\n".join(line if len(line) <= 240 else f"{line[:240]}…… 这一行共 {len(line) - 1} 字" for line in lines)
