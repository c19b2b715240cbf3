"""pytest 插件（`-p livedocs.mutation.tracing`）：哪个测试走过 code/ 里的哪些行，用了多久。

结果写进环境变量 `LIVEDOCS_TRACE` 指定的 JSON 文件：
`{"tests": {节点: {"seconds": 秒, "lines": {文件名: [行]}, "cut": 没有记完}}, "imports": {测试文件: {文件名: [行]}},
"seconds": {测试文件: 导入它的用时}, "failed": {节点: 原因}}`。
收集时就运行的行（模块里的常量、缺省参数）记在 imports 里，算给这个测试文件的每个测试。

另开进程运行整个脚本的测试，走过的行看不见，又最慢，这里只记下有它，不真的运行。
改写脚本文本再装入的测试（消融）不列入：原文一变它们就找不到要改的地方，那不是发现了错误。
认出它们靠 `compile` 的审计事件：编译的文字既不是脚本原文，也不是它的已发布文本。
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from livedocs import publish, transcript

CODE = str(Path("code").resolve()) + os.sep
#: 一个测试最多记这么多秒；没有记完的（cut），当作走过了它用到的脚本的每一行。
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
        self._rewrites = self._apart = self._cut = False
        self._until = 0.0
        transcript.run_script = self._skip
        #: 装入的是脚本原文（file）还是已发布文本（published）；后者的行号要换算。
        self.forms: dict[str, set[str]] = {}
        self._texts: dict[str, tuple[str, str]] = {}
        sys.addaudithook(self._on_compile)

    def _skip(self, *_, **__):
        self._apart = True
        pytest.skip("另开进程运行脚本")

    def _on_call(self, frame, event, arg):
        if time.monotonic() > self._until:
            sys.settrace(None)
            self._cut = True
            return None
        code = frame.f_code
        if code.co_filename.startswith(CODE):
            seen = self._lines.setdefault(os.path.basename(code.co_filename), set())
            seen.add(frame.f_lineno)

            def on_line(frame, event, arg):
                seen.add(frame.f_lineno)
                return on_line

            return on_line
        return None

    def _on_compile(self, event, arguments):
        if event != "compile" or not isinstance(arguments[1], str) or not arguments[1].startswith(CODE):
            return
        text, filename = arguments[0], arguments[1]
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        if not isinstance(text, str):
            return
        if filename not in self._texts:
            path = Path(filename)
            self._texts[filename] = (path.read_text(encoding="utf-8"), publish.published(path)) if path.is_file() else ("", "")
        whole, published = self._texts[filename]
        if text in (whole, published):
            self.forms.setdefault(os.path.basename(filename), set()).add("file" if text == whole else "published")
        else:
            self._rewrites = True

    def _begin(self) -> None:
        self._lines, self._rewrites, self._apart, self._cut = {}, False, False, False
        self._until = time.monotonic() + LIMIT
        sys.settrace(self._on_call)

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        if not isinstance(collector, pytest.Module):
            return (yield)
        started = time.process_time()
        self._begin()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.seconds[collector.nodeid] = time.process_time() - started
            self.imports[collector.nodeid] = self._lines

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        started = time.process_time()  # 按处理器时间：机器忙不忙都一样
        self._begin()
        try:
            return (yield)
        finally:
            sys.settrace(None)
            test = self.tests.setdefault(item.nodeid, {"seconds": 0.0})
            test["lines"] = {} if self._apart else self._lines
            test["cut"] = self._cut
            test["seconds"] += APART if self._apart else time.process_time() - started
            if self._rewrites:
                self.rewriting.add(item.nodeid)

    def pytest_runtest_logreport(self, report):
        self._note(report)

    def pytest_collectreport(self, report):
        self._note(report)

    def _note(self, report) -> None:
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr).strip().rpartition("\n")[2][:200]

    def pytest_sessionfinish(self):
        origins: dict[str, list] = {}

        def plain(lines):
            found: dict[str, set[int]] = {}
            for name, numbers in lines.items():
                if "published" in self.forms.get(name, ()):
                    where = origins.setdefault(name, publish.published_lines(Path(CODE) / name))
                    for number in numbers:
                        if number <= len(where):
                            found.setdefault(where[number - 1].path.name, set()).add(where[number - 1].line)
                if self.forms.get(name) != {"published"}:
                    found.setdefault(name, set()).update(numbers)
            return {name: sorted(numbers) for name, numbers in found.items()}

        tests = {
            name: {"seconds": test["seconds"], "lines": plain(test.get("lines", {})), "cut": test.get("cut", False)}
            for name, test in self.tests.items()
            if name not in self.rewriting and name not in self.failed
        }
        imports = {name: plain(lines) for name, lines in self.imports.items()}
        record = {"tests": tests, "imports": imports, "seconds": self.seconds, "failed": self.failed}
        self.target.write_text(json.dumps(record), encoding="utf-8")


def pytest_configure(config):
    if target := os.environ.get("LIVEDOCS_TRACE"):
        config.pluginmanager.register(Tracing(target))
