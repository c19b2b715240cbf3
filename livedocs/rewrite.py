"""把实际输出写回页面：只动输出围栏与绑定的数字，其余一个字节不变；写到一半被打断，页面还是旧的。"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pymdownx.snippets import SnippetPreprocessor

from livedocs.compare import as_shown
from livedocs.page import Block


class RewriteError(Exception):
    """不能改写；消息说明是哪个文件、为什么。什么都没有写。"""


@dataclass(frozen=True)
class Edit:
    """把文件的第 `first`–`last` 行（从 1 数起，含两端）换成 `lines`；`last = first - 1` 是插入。"""

    first: int
    last: int
    lines: tuple[str, ...]


def output_edit(block: Block, page: Path, printed: str) -> Edit:
    """让 `block` 的输出围栏正好是 `printed` 的那一处改动：替换、插入或删除围栏。"""
    code, output = block.code, block.output
    owner = output.opening.origin if output else code.closing.origin
    if owner.path != page:
        raise RewriteError(f"{owner.path}:{owner.line}：这段输出来自被引入的文件，不能从这一页改写")
    prefix = (output or code).prefix
    if not printed:
        return Edit(code.closing.origin.line + 1, output.closing.origin.line, ())
    body = [_as_content(line) for line in as_shown(printed)[:-1].split("\n")]
    body = [prefix + line if line else prefix.rstrip() for line in body]
    if output and not _needs_longer_fence(output.opening, printed):
        return Edit(output.opening.origin.line + 1, output.closing.origin.line - 1, tuple(body))
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", printed))])
    header = re.sub(r"`{3,}|~{3,}", "", str(output.opening)).strip() if output else "{.text .output}"
    fence = [f"{prefix}{ticks}{header}", *body, f"{prefix}{ticks}"]
    if output:
        return Edit(output.opening.origin.line, output.closing.origin.line, tuple(fence))
    after = code.closing.origin.line
    return Edit(after + 1, after, (prefix.rstrip(), *fence))


def _as_content(line: str) -> str:
    """打印的内容恰好像片段记号时，加分号转义，网站便照样显示它。"""
    if SnippetPreprocessor.RE_ALL_SNIPPETS.match(line) or SnippetPreprocessor.RE_SNIPPET_SECTION.match(line):
        return re.sub(r"(-{1,}8<-{1,})", r";\1", line, count=1)
    return line


def _needs_longer_fence(opening: str, printed: str) -> bool:
    mark = re.match(r"[> \t]*(`+|~+)", opening).group(1)
    return any(line.lstrip("> \t").startswith(mark) for line in printed.split("\n"))


def apply(path: Path, edits: list[Edit]) -> bool:
    """一次写入全部改动，返回文件是否变了。行尾、BOM 和未改动的行原样保留。

    Raises:
        RewriteError: 改动重叠，或超出文件的行数。
    """
    data = path.read_bytes()
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    lines = data[len(bom) :].decode("utf-8").splitlines(keepends=True) if data else []
    lines = _rejoin(lines)
    ordered = sorted(edits, key=lambda edit: (edit.first, edit.last))
    for before, after in zip(ordered, ordered[1:], strict=False):
        if after.first <= before.last:
            raise RewriteError(f"{path}:{after.first}：两处改动重叠")
    for edit in reversed(ordered):
        if not 1 <= edit.first <= len(lines) + 1 or edit.last > len(lines):
            raise RewriteError(f"{path}:{edit.first}：文件在检查之后变短了，重新运行一次")
        ending = _ending(lines[edit.first - 2] if edit.first >= 2 else lines[0])
        if edit.first - 2 >= 0 and edit.lines and not lines[edit.first - 2].endswith(("\n", "\r")):
            lines[edit.first - 2] += ending
        lines[edit.first - 1 : edit.last] = [line + ending for line in edit.lines]
    new = bom + "".join(lines).encode("utf-8")
    if new == data:
        return False
    write_atomically(path, new)
    return True


def _rejoin(lines: list[str]) -> list[str]:
    """只在 \\n、\\r\\n、\\r 处断行；`splitlines` 还会在 \\x0c、U+2028 等处断开，这里接回去。"""
    joined: list[str] = []
    for line in lines:
        if joined and not joined[-1].endswith(("\n", "\r")):
            joined[-1] += line
        else:
            joined.append(line)
    return joined


def _ending(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\r" if line.endswith("\r") else "\n"


def write_atomically(path: Path, data: bytes) -> None:
    """先写同一文件夹里的临时文件，再一步换名；权限照旧。"""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, path.stat().st_mode & 0o7777 if path.exists() else 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
