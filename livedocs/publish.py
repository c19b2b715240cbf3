"""已发布的文件：code/ 里的脚本去掉片段标记。网页展示它，读者下载它，抄录由它运行得到。"""

from __future__ import annotations

from pathlib import Path

from pymdownx.snippets import SnippetPreprocessor


class PublishError(ValueError):
    """脚本里的片段标记不成对、重名，或用了不支持的写法；消息带文件和行号。"""


def published(path: Path) -> str:
    """`path` 的已发布文本：标记行删去，其余一字不动，行尾是 `\\n`。

    Raises:
        PublishError: 标记没有成对、同名片段出现两次，或脚本里又引入了别的片段。
        OSError, UnicodeDecodeError: 文件读不了。
    """
    path = Path(path)
    kept: list[str] = []
    opened: dict[str, int] = {}
    closed: set[str] = set()
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        marker = SnippetPreprocessor.RE_SNIPPET_SECTION.match(line) if "8<-" in line else None
        if marker is None:
            if SnippetPreprocessor.RE_ALL_SNIPPETS.match(line):
                raise PublishError(f"{path.name}:{number}：脚本里不能再引入片段：{line.strip()}")
            kept.append(line)
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
    return "\n".join(kept)


def scripts(code: Path) -> list[Path]:
    """code/ 里全部可下载的脚本，按文件名排序。"""
    return sorted(Path(code).glob("*.py"))
