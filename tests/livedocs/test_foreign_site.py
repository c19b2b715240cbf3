"""别人的 MkDocs 项目也能用：装上这个包，自己的 mkdocs.yml，自己的写法。"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]

MKDOCS = """
site_name: 别人的站
docs_dir: content
nav:
  - index.md
markdown_extensions:
  - admonition
  - attr_list
  - pymdownx.superfences
  - pymdownx.details
  - pymdownx.snippets:
      base_path: [examples]
"""

PAGE = """
# 首页

```python
--8<-- "sums.py:total"
print(total([1, 2, 3]))
```

```text {.output}
6
```

!!! note

    ```{.python .run}
    print("甲")
    ```

    ```{.text .output}
    甲
    ```

??? tip "折叠"
    ```python
    total("x")
    ```

    说明这一段为什么会错。
"""

SUMS = """
# --8<-- [start:total]
def total(numbers):
    return sum(numbers)
# --8<-- [end:total]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """由仓库的文件夹构建的 wheel；在副本上构建，不在仓库里留下东西。"""
    scratch = tmp_path_factory.mktemp("build")
    copy = scratch / "livedocs-source"
    copy.mkdir()
    shutil.copytree(ROOT / "livedocs", copy / "livedocs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, copy / name)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(scratch), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=scratch)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(scratch.glob("livedocs-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """只有这个 wheel 的内容的文件夹：放在 PYTHONPATH 里，就像装在虚拟环境里一样。"""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def foreign(tmp_path, installed):
    """别人的项目：文件夹名、扩展、写法都与本站不同。返回在里面运行一条命令的函数。"""
    for name in ("content", "examples"):
        (tmp_path / name).mkdir()
    (tmp_path / "mkdocs.yml").write_text(MKDOCS.lstrip(), encoding="utf-8")
    (tmp_path / "content" / "index.md").write_text(PAGE.lstrip(), encoding="utf-8")
    (tmp_path / "examples" / "sums.py").write_text(SUMS.lstrip(), encoding="utf-8")

    def run(*command: str) -> tuple[int, str]:
        environment = os.environ | {"PYTHONPATH": str(installed), "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8")
        return done.returncode, done.stdout + done.stderr

    run.root = tmp_path
    return run


def check(foreign, *arguments: str) -> tuple[int, str]:
    return foreign("-m", "pytest", "-q", "-p", "no:cacheprovider", "--strict-markers", *arguments)


def test_the_wheel_has_every_file(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "livedocs").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected <= names, sorted(expected - names)
    points = next(name for name in names if name.endswith("entry_points.txt"))
    assert "livedocs = livedocs.plugin" in zipfile.ZipFile(wheel).read(points).decode()


def test_it_is_the_installed_copy_that_runs(foreign, installed):
    code, printed = foreign("-c", "import livedocs.plugin; print(livedocs.plugin.__file__)")
    assert code == 0 and Path(printed.strip()).parent.parent == installed


def test_a_foreign_site_is_checked(foreign):
    """默认的 superfences、没有语言类、没有本站的扩展；错误指出它自己的文件与行。"""
    page = foreign.root / "content" / "index.md"
    text = page.read_text(encoding="utf-8")
    code, report = check(foreign, "content")
    assert code == 1 and "content/index.md:23：代码出错 TypeError" in report, report
    assert "content/index.md:24，在 <module>" in report and "examples/sums.py:3，在 total" in report, report
    page.write_text(text.replace('    ```python\n    total("x")', '    ```{.python .run}\n    total([1])'), encoding="utf-8")
    code, report = check(foreign, "content")
    assert code == 0, report
    assert "核对了 1 页：3 段代码，2 处输出" in report
    assert foreign("-m", "mkdocs", "-q", "build", "--strict")[0] == 0


def test_update_writes_into_a_foreign_page(foreign):
    page = foreign.root / "content" / "index.md"
    right = PAGE.lstrip().replace('total("x")', 'total([1])')
    page.write_text(right.replace("\n6\n", "\n7\n"), encoding="utf-8")
    code, report = check(foreign, "--update-docs", "content")
    assert code == 0, report
    assert page.read_text(encoding="utf-8") == right


def test_without_the_other_plugins(foreign):
    """没有 pytest-xdist、hypothesis 也能用。"""
    page = foreign.root / "content" / "index.md"
    page.write_text("# 页\n\n```python\nx = 1\n```\n", encoding="utf-8")
    code, report = check(foreign, "-p", "no:xdist", "-p", "no:hypothesispytest", "content")
    assert code == 0, report


def test_a_site_without_superfences_says_so(foreign):
    settings = foreign.root / "mkdocs.yml"
    settings.write_text("site_name: 别人的站\ndocs_dir: content\nmarkdown_extensions: [fenced_code]\n", encoding="utf-8")
    code, report = check(foreign, "content")
    assert code == 1 and "没有 pymdownx.superfences" in report, report
    assert "INTERNALERROR" not in report


def test_a_site_without_snippets_is_checked_and_updated(foreign):
    settings = foreign.root / "mkdocs.yml"
    settings.write_text("site_name: 别人的站\ndocs_dir: content\nmarkdown_extensions: [pymdownx.superfences]\n", encoding="utf-8")
    page = foreign.root / "content" / "index.md"
    wrong = "# 页\n\n一半是 0.6<!--= half -->。\n\n```python\nhalf = 0.5\nprint(half)\n```\n\n```text {.output}\n0.6\n```\n\n一半是 0.6<!--= half -->。\n"
    page.write_text(wrong, encoding="utf-8")
    code, report = check(foreign, "content")
    assert code == 1 and "content/index.md:10：输出与文档不一致（代码在第 5 行）" in report, report
    assert "content/index.md:14：写的是 0.6，half 是 0.5" in report, report
    page.write_text(wrong.replace("一半是 0.6<!--= half -->。\n\n```python", "```python"), encoding="utf-8")
    code, report = check(foreign, "--update-docs", "content")
    assert code == 0 and "0.6" not in page.read_text(encoding="utf-8"), report


LOADED = """
import ast, json, sys
from importlib.metadata import packages_distributions
from pathlib import Path

def pytest_unconfigure():
    ours = [module for name, module in sys.modules.items() if name.partition(".")[0] == "livedocs" and module.__file__]
    nodes = [node for module in ours for node in ast.parse(Path(module.__file__).read_bytes()).body]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    owners = packages_distributions()
    print("LOADED", json.dumps(sorted({owner for name in names for owner in owners.get(name.partition(".")[0], [])})))
"""


def test_installing_it_brings_all_it_imports(foreign, wheel):
    """`pip install` 这个文件夹就够了：核对一页时导入的包，都在它的依赖里。"""
    (foreign.root / "conftest.py").write_text(LOADED, encoding="utf-8")
    (foreign.root / "content" / "index.md").write_text("# 页\n\n```python\nx = 1\n```\n\n共 1<!--= x --> 个。\n", encoding="utf-8")
    run = "import os, sys, pytest; os.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'; sys.exit(pytest.main(['-q', '-s', '-p', 'pytest_markdown_docs.plugin', '-p', 'livedocs.plugin', 'content']))"
    code, report = foreign("-c", run)
    assert code == 0, report
    loaded = json.loads(next(line for line in report.splitlines() if "LOADED" in line).partition("LOADED")[2])
    metadata = zipfile.ZipFile(wheel).read(next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("METADATA"))).decode()
    wanted = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    brought = closure([requirement for requirement in wanted if "extra ==" not in requirement])
    assert {"pytest", "pytest-markdown-docs"} <= set(loaded)
    assert [name for name in loaded if name.lower().replace("_", "-") not in brought | {"livedocs"}] == []


def closure(requirements: list[str]) -> set[str]:
    """这些依赖，和它们自己的依赖。"""
    found, waiting = set(), list(requirements)
    while waiting:
        requirement = Requirement(waiting.pop())
        name = requirement.name.lower().replace("_", "-")
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        waiting += distribution(name).requires or []
    return found
