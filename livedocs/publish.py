"""已发布的文件：网页展示它，读者下载它，运行记录由它得到——三处是同样的字节。

它由 code/ 里的脚本得到：去掉片段标记；标着 bundle 的一段（在仓库里从别的脚本导入定义）换成那些定义本身。
所以定义只写一次，每个下载却能单独运行。
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pymdownx.snippets import SnippetPreprocessor

_BUNDLE = re.compile(r"\s*#\s*-+8<-+\s+\[\s*bundle\s*:\s*(?P<file>[^:\]\s]+\.py)\s*:\s*(?P<names>[^\]]*)\]\s*$")
_BUNDLE_END = re.compile(r"\s*#\s*-+8<-+\s+\[\s*end-bundle\s*\]\s*$")


class PublishError(ValueError):
    """脚本里的标记不成对、重名、指向不存在的片段，或用了不支持的写法；消息带文件和行号。"""


@dataclass(frozen=True)
class PublishedLine:
    """已发布文件的一行，和它在 code/ 里的出处（`line` 从 1 数起）。"""

    text: str
    path: Path
    line: int


def published(path: Path) -> str:
    """`path` 的已发布文本，行尾是 `\\n`。

    Raises:
        PublishError: 标记有错，见类的说明。
        OSError, UnicodeDecodeError: 文件读不了。
    """
    return "\n".join(line.text for line in published_lines(path))


def published_lines(path: Path) -> list[PublishedLine]:
    """已发布文件的各行及其出处；错误同 `published`。"""
    path = Path(path)
    kept: list[PublishedLine] = []
    bundled: set[tuple[str, str]] = set()
    inside: int | None = None
    for number, line in _unmarked(path):
        start = _BUNDLE.match(line)
        if start:
            if inside is not None:
                raise PublishError(f"{path.name}:{number}：bundle 里不能再有 bundle")
            inside = number
            kept.extend(_bundle(path, number, start.group("file"), start.group("names"), bundled))
        elif _BUNDLE_END.match(line):
            if inside is None:
                raise PublishError(f"{path.name}:{number}：bundle 没有开始就结束了")
            inside = None
        elif inside is None:
            kept.append(PublishedLine(line, path, number))
    if inside is not None:
        raise PublishError(f"{path.name}:{inside}：bundle 没有结束标记 # --8<-- [end-bundle]")
    return kept


def scripts(code: Path) -> list[Path]:
    """code/ 里全部可下载的脚本，按文件名排序。"""
    return sorted(Path(code).glob("*.py"))


def section(path: Path, name: str) -> list[PublishedLine]:
    """一个片段的各行；片段不存在时报 PublishError。"""
    lines = path.read_text(encoding="utf-8").split("\n")
    inside = False
    found: list[PublishedLine] = []
    for number, line in enumerate(lines, 1):
        marker = _section_marker(line)
        if marker and marker.group("name") == name:
            if marker.group("type").lower() == "end":
                return found
            inside = True
        elif inside and not marker:
            if _BUNDLE.match(line):
                raise PublishError(f"{path.name}:{number}：片段 {name} 里有 bundle，不能并入或引用")
            found.append(PublishedLine(line, path, number))
    raise PublishError(f"{path.name}：没有片段 {name}")


def _bundle(path: Path, number: int, file: str, names: str, bundled: set[tuple[str, str]]) -> list[PublishedLine]:
    """bundle 标记所指的片段，各一次，之间空两行。"""
    source = path.parent / file
    if not source.is_file():
        raise PublishError(f"{path.name}:{number}：找不到要并入的脚本 {file}")
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if not wanted:
        raise PublishError(f"{path.name}:{number}：bundle 没有写要并入哪些片段")
    lines: list[PublishedLine] = []
    for name in wanted:
        if (file, name) in bundled:
            continue
        bundled.add((file, name))
        try:
            part = section(source, name)
        except PublishError as error:
            raise PublishError(f"{path.name}:{number}：{error}") from None
        if lines:
            lines += [PublishedLine("", path, number)] * 2
        lines += part
    return lines


def _section_marker(line: str) -> re.Match | None:
    return SnippetPreprocessor.RE_SNIPPET_SECTION.match(line) if "8<-" in line else None


def _unmarked(path: Path) -> list[tuple[int, str]]:
    """去掉片段标记的各行 (行号, 文字)；顺便核对标记成对、不重名。"""
    kept: list[tuple[int, str]] = []
    opened: dict[str, int] = {}
    closed: set[str] = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        marker = _section_marker(line)
        if marker is None:
            if SnippetPreprocessor.RE_ALL_SNIPPETS.match(line):
                raise PublishError(f"{path.name}:{number}：脚本里不能再引入片段：{line.strip()}")
            kept.append((number, line))
            continue
        name = marker.group("name")
        if marker.group("escape"):
            raise PublishError(f"{path.name}:{number}：脚本里不支持转义的片段标记：{line.strip()}")
        if marker.group("type").lower() == "start":
            if name in opened or name in closed:
                raise PublishError(f"{path.name}:{number}：片段 {name} 出现了两次")
            opened[name] = number
        elif opened.pop(name, None) is None:
            raise PublishError(f"{path.name}:{number}：片段 {name} 没有开始就结束了")
        else:
            closed.add(name)
    for name, number in opened.items():
        raise PublishError(f"{path.name}:{number}：片段 {name} 没有结束标记 # --8<-- [end:{name}]")
    return kept
