"""pytest 插件的入口：选项；命令行上指名的页面要用 torch 时，让母进程立刻开始导入。

只核对一页时，等得最久的是导入 torch。所以这个模块只导入很轻的东西，收集页面的部分（items.py）等母进程动身以后才载入。
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from livedocs import mother
from livedocs.project import find_root

#: 有这些选项时不一定运行页面，或在别的进程里运行；不提早启动母进程。
ELSEWHERE = re.compile(r"-n|--numprocesses|--co$|--collect-only|--changed|--fixtures|--markers|--version|--help|-V|-h")


def pytest_addoption(parser, pluginmanager):
    group = parser.getgroup("livedocs")
    group.addoption("--changed", action="store_true", help="上次通过之后没有变过的页面不再检查（页面、片段、脚本、图、版本都没变）")
    group.addoption(
        "--update-docs", action="store_true", help="把实际输出写回页面、notebook 和运行记录；其余不动，用 git diff 看改了什么"
    )
    arguments = pluginmanager.get_plugin("pytestconfig").invocation_params.args  # 这时别的插件还没有载入
    if not any(ELSEWHERE.match(str(argument)) for argument in arguments):
        mother.warm("\n".join(texts(map(str, arguments))))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.pluginmanager.import_plugin("livedocs.items")


def texts(arguments: Iterable[str]) -> Iterator[str]:
    """命令行上指名的页面和它们引入的文件。"""
    for path in [Path(argument.partition("::")[0]).absolute() for argument in arguments]:
        if path.suffix == ".md" and path.is_file() and (root := find_root(path.parent)):
            yield (text := path.read_text(encoding="utf-8", errors="replace"))
            included = [root / name for name in re.findall(r'--8<-- "([^":]+)', text)]
            yield from (file.read_text(encoding="utf-8", errors="replace") for file in included if file.is_file())
