"""pytest 插件（`-p livedocs.mutation.tracing`）：哪个测试走过 code/ 里的哪些行，用了多久。

结果写进环境变量 `LIVEDOCS_TRACE` 指定的 JSON 文件：
`{"tests": {节点: {"seconds": 秒, "lines": {文件名: [行]}}}, "imports": {测试文件: {文件名: [行]}},
"seconds": {测试文件: 导入它的用时}, "failed": {节点: 原因}}`。
收集时就运行的行（模块里的常量、缺省参数）记在 imports 里，算给这个测试文件的每个测试。

另开进程运行整个脚本的测试，走过的行看不见，又最慢，这里只记下有它，不真的运行。
改写脚本文本再装入的测试（消融）不列入：原文一变它们就找不到要改的地方，那不是发现了错误。
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from livedocs import transcript

CODE = str(Path("code").resolve()) + os.sep
#: 一个测试最多记这么多秒；慢的测试都在反复做同样的事，后面走过的行前面也走过。
LIMIT = 2.0
#: 另开进程的测试，当作要这么多秒。
APART = 5.0


class Tracing:
    """一次 pytest 运行的记录。"""

    def __init__(self, target: str):
        self.target = Path(target)
        self.tests: dict[str, dict] = {}
        self.imports: dict[str, dict[str, set[int]]] = {}
        self.rewriting: set[str] = set()
        self.seconds: dict[str, float] = {}
        self.failed: dict[str, str] = {}
        self._lines: dict[str, set[int]] = {}
        self._rewrites = self._apart = False
        self._until = 0.0
        transcript.run_script = self._skip

    def _skip(self, *_, **__):
        self._apart = True
        pytest.skip("另开进程运行脚本")

    def _on_call(self, frame, event, arg):
        if time.monotonic() > self._until:
            sys.settrace(None)
            return None
        code = frame.f_code
        if code.co_filename.startswith(CODE):
            seen = self._lines.setdefault(os.path.basename(code.co_filename), set())
            seen.add(frame.f_lineno)

            def on_line(frame, event, arg):
                seen.add(frame.f_lineno)
                return on_line

            return on_line
        if code.co_name == "mutate" and code.co_filename.endswith("lesson_files.py"):
            self._rewrites = True
        return None

    def _begin(self) -> None:
        self._lines, self._rewrites, self._apart = {}, False, False
        self._until = time.monotonic() + LIMIT
        sys.settrace(self._on_call)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        if not isinstance(collector, pytest.Module):
            return (yield)
        started = time.monotonic()
        self._begin()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.seconds[collector.nodeid] = time.monotonic() - started
            self.imports[collector.nodeid] = self._lines

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        self._begin()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            test = self.tests.setdefault(item.nodeid, {"seconds": 0.0})
            test["lines"] = {} if self._apart else self._lines
            test["seconds"] += APART if self._apart else 0.0
            if self._rewrites:
                self.rewriting.add(item.nodeid)

    def pytest_runtest_logreport(self, report):
        self.tests.setdefault(report.nodeid, {"seconds": 0.0, "lines": {}})["seconds"] += report.duration
        self._note(report)

    def pytest_collectreport(self, report):
        self._note(report)

    def _note(self, report) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr).strip().rpartition("\n")[2][:200]

    def pytest_sessionfinish(self):
        def plain(lines):
            return {name: sorted(numbers) for name, numbers in lines.items()}

        tests = {
            name: {"seconds": test["seconds"], "lines": plain(test.get("lines", {}))}
            for name, test in self.tests.items()
            if name not in self.rewriting and name not in self.failed
        }
        imports = {name: plain(lines) for name, lines in self.imports.items()}
        record = {"tests": tests, "imports": imports, "seconds": self.seconds, "failed": self.failed}
        self.target.write_text(json.dumps(record), encoding="utf-8")


def pytest_configure(config):
    if target := os.environ.get("LIVEDOCS_TRACE"):
        config.pluginmanager.register(Tracing(target))
