"""pytest 插件（`-p livedocs.recorder`）：`--update-docs` 要改的每一处、不能通过的每一处，随时记成一行 JSON。

写进环境变量 `LIVEDOCS_RECORD` 指定的文件。三种记录：

- `{"page", "done", "total"}`：开始检查一页，供人看进度；
- `{"page", "what", "line", "old", "new"}`：从第 `line` 行起，`old` 这些行要换成 `new`；
- `{"page", "failure"}`：改写解决不了的错误，内容是报告全文。

有错误的页面不会被改写，但要改的地方也在这里。notebook 由 `livedocs.notebook` 整本改写，这里只记它的错误。
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest


class Recorder:
    """一次 pytest 运行的记录。"""

    def __init__(self, target: Path, root: Path):
        self.target, self.root = target, root
        self.pages: list[str] = []
        self.page = ""
        self.recorded: dict[str, int] = {}

    def write(self, **entry: object) -> None:
        with self.target.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def show(self, path: Path) -> str:
        return Path(path).relative_to(self.root).as_posix()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.pages = list(dict.fromkeys(self.show(item.path) for item in session.items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(page=report.nodeid.partition("::")[0], failure=report.longreprtext)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo):
        report = yield
        page = self.show(item.path)
        if page != self.page:
            self.page = page
            self.write(page=page, done=self.pages.index(page), total=len(self.pages))
        if report.failed:
            self.write(page=page, failure=report.longreprtext)
        if call.when == "call":
            edits = getattr(getattr(item.parent, "state", None), "edits", [])
            for edit in edits[self.recorded.get(page, 0) :]:
                old = _lines(item.path)[edit.first - 1 : edit.last]
                self.write(page=page, what=_what(item), line=edit.first, old=old, new=list(edit.lines))
            self.recorded[page] = len(edits)
        return report


def _what(item: pytest.Item) -> str:
    block = getattr(getattr(item, "test_definition", None), "block", None)
    return "数字" if block is None else "运行记录" if block.is_script else "输出"


def _lines(path: Path) -> list[str]:
    return re.split(r"\r\n|\r|\n", path.read_bytes().decode("utf-8-sig"))


def pytest_configure(config: pytest.Config) -> None:
    target = os.environ.get("LIVEDOCS_RECORD")
    if target:
        config.pluginmanager.register(Recorder(Path(target), config.rootpath), "livedocs-recorder")
