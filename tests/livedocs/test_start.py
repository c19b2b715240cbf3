"""只核对一页时，母进程尽早开始导入 torch：插件的入口很轻，命令行上的页面一读就知道用不用 torch。"""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from site_tools import ROOT

from livedocs import mother, plugin

#: 入口导入了其中任何一个，母进程就要晚动身十分之一秒以上。
HEAVY = ("markdown", "mkdocs", "pymdownx", "yaml", "livedocs.items", "livedocs.page", "pytest_markdown_docs")


def test_the_entry_is_light():
    code = f"import sys, livedocs.plugin; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def warmed(monkeypatch):
    """以这些参数启动 pytest 时，交给母进程的代码；没有交时是空串。"""

    def start(*arguments: str) -> str:
        given = []
        monkeypatch.setattr(mother, "warm", given.append)
        config = SimpleNamespace(invocation_params=SimpleNamespace(args=arguments))
        manager = SimpleNamespace(get_plugin={"pytestconfig": config}.get)
        group = SimpleNamespace(addoption=lambda *_, **__: None)
        plugin.pytest_addoption(SimpleNamespace(getgroup=lambda _: group), manager)
        return "".join(given)

    return start


def test_a_named_page_starts_the_imports_of_what_it_includes(warmed):
    page = str(ROOT / "docs" / "chapters" / "03-attention.md")
    assert "torch" in mother.preload(warmed(page))
    assert "torch" in mother.preload(warmed("-q", page + "::[约定]"))


def test_no_torch_for_a_page_without_it(warmed):
    assert mother.preload(warmed(str(ROOT / "docs" / "labs" / "01-single-head-attention.md"))) == []


@pytest.mark.parametrize("options", [["-n", "2"], ["-n2"], ["--collect-only"], ["--co"], ["--changed"], ["--help"]])
def test_no_early_start_when_the_page_may_not_run_here(warmed, options):
    assert warmed(*options, str(ROOT / "docs" / "chapters" / "03-attention.md")) == ""
