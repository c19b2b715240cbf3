"""一个 MkDocs 项目里，检查页面所需要的那部分：文件夹在哪里，Markdown 怎样渲染。"""

from __future__ import annotations

import functools
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown import Markdown


class ProjectError(Exception):
    """mkdocs.yml 找不到或不能用；消息说明原因和文件。"""


@dataclass(frozen=True)
class Project:
    """`root` 是 mkdocs.yml 所在的文件夹；其余都从 mkdocs.yml 读出。"""

    root: Path
    docs: Path
    extensions: list = field(compare=False, repr=False)
    extension_configs: dict = field(compare=False, repr=False)

    def markdown(self) -> Markdown:
        """一个新的渲染器，设置与网站完全相同。"""
        from markdown import Markdown

        return Markdown(extensions=self.extensions, extension_configs=self.extension_configs)

    def expand(self, lines: list[str]) -> list[str]:
        """网站自己展开 `--8<--` 之后的各行；没有用 pymdownx.snippets 的站点，原样返回。"""
        steps = self.markdown().preprocessors
        if "snippet" in steps:
            for step in steps[: steps.get_index_for_name("snippet") + 1]:
                lines = step.run(lines)
        return lines

    def show(self, path: Path) -> str:
        """报告里写给人看的路径：相对于项目、用斜线。"""
        path = Path(path)
        try:
            return path.relative_to(self.root).as_posix()
        except ValueError:
            return path.as_posix()


def find_root(path: Path) -> Path | None:
    """离 `path` 最近的、含 mkdocs.yml 的上层文件夹；没有时是 None。"""
    for folder in [path, *path.parents]:
        if (folder / "mkdocs.yml").is_file():
            return folder
    return None


def anchor_paths(settings: dict, root: Path) -> None:
    """扩展设置里的相对路径从 `root`（mkdocs.yml 所在处）算起，而不是从当前文件夹。

    MkDocs 的 `!relative` 做得到同样的事，但 Zensical 读不了它；同一份 mkdocs.yml 两边都要能用。
    """
    for name, key in (("pymdownx.snippets", "base_path"), ("livedocs.markdown", "figures")):
        value = settings.get(name, {}).get(key)
        if isinstance(value, str):
            settings[name][key] = str(root / value)
        elif isinstance(value, list):
            settings[name][key] = [str(root / part) if isinstance(part, str) else part for part in value]


@functools.cache
def load_project(root: Path) -> Project:
    """读 `root/mkdocs.yml`，不启动任何插件，也不运行任何钩子。"""
    from mkdocs.config.defaults import MkDocsConfig

    path = root / "mkdocs.yml"
    config = MkDocsConfig(config_file_path=str(path))
    try:
        with path.open("rb") as stream:
            config.load_file(stream)
        config.load_dict({"plugins": [], "hooks": [], "theme": {"name": None, "custom_dir": str(root)}})
        logging.getLogger("mkdocs").addFilter(lambda record: record.levelno >= logging.WARNING)
        errors, _ = config.validate()
    except Exception as error:
        raise ProjectError(f"{path}：不能读取（{error}）") from error
    if errors:
        raise ProjectError(f"{path}：" + "；".join(f"{key}: {error}" for key, error in errors))
    anchor_paths(config.mdx_configs, root)
    return Project(root, Path(config.docs_dir), config.markdown_extensions, config.mdx_configs)
