"""每个文件最后一次改动：出自哪次提交，是哪一天。

只读 git 已有的记录，一次取全部文件的。没有 git、不是仓库、或是浅克隆（那里每个文件看上去都改于同一次提交）时，
什么也不说，好过说错。
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 20.0


@dataclass(frozen=True)
class Change:
    """一次提交：完整的散列、提交者写的日期（`YYYY-MM-DD`，按提交者的时区）、离现在是第几次提交（0 最新）。"""

    commit: str
    date: str
    age: int

    @property
    def short(self) -> str:
        return self.commit[:9]


def last_changes(root: Path) -> dict[str, Change]:
    """`{相对于 root 的路径: 最后一次改动它的提交}`；不知道时是空的。没有提交过的文件不在其中。"""
    if _git(root, "rev-parse", "--is-shallow-repository") != "false\n":
        return {}
    log = _git(root, "-c", "core.quotePath=off", "log", "--first-parent", "-m", "--no-renames", "--name-only",
               "--relative", "--no-show-signature", "--format=\x01%H %cd", "--date=short")  # fmt: skip
    found: dict[str, Change] = {}
    for age, entry in enumerate((log or "").split("\x01")[1:]):
        first, *names = entry.split("\n")
        commit, _, date = first.partition(" ")
        for name in filter(None, names):
            found.setdefault(name, Change(commit, date, age))
    return found


def newest(changes: dict[str, Change], paths: Iterable[str]) -> Change | None:
    """这些文件里最近的一次改动；有一个查不到（还没有提交），就不知道，返回 None。"""
    known = [changes.get(path) for path in paths]
    return min(known, key=lambda change: change.age) if known and all(known) else None


def _git(root: Path, *arguments: str) -> str | None:
    """git 打印的文字；运行不了或失败时是 None。"""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
