"""一个小小的 MkDocs 项目，供测试往里放页面；Markdown 设置取自真实的 mkdocs.yml。"""

from __future__ import annotations

import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from livedocs.project import load_project

ROOT = Path(__file__).resolve().parents[2]
# pytester 每次运行后都把新导入的模块丢掉；先在这里导入，免得每个测试重新导入 MkDocs 和 Markdown 扩展。
load_project(ROOT).markdown()


@dataclass
class MiniSite:
    """`page`/`script` 写文件，`check` 在进程内运行 pytest 并返回（退出码, 报告全文）。"""

    pytester: pytest.Pytester

    @property
    def root(self) -> Path:
        return self.pytester.path

    def page(self, text: str, name: str = "page.md", newline: str = "\n", bom: bool = False) -> Path:
        path = self.root / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = textwrap.dedent(text).lstrip("\n").replace("\n", newline).encode()
        path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + data)
        return path

    def script(self, text: str, name: str = "demo.py") -> Path:
        path = self.root / "code" / name
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    def check(self, *args: str) -> tuple[int, str]:
        result = self.pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", *(args or ("docs",)))
        return int(result.ret), "\n".join([*result.outlines, *result.errlines])

    def check_apart(self, *args: str) -> tuple[int, str]:
        """在单独的进程里运行，用于要看进程级行为的测试。"""
        result = self.pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:hypothesispytest", *(args or ("docs",)))
        return int(result.ret), "\n".join([*result.outlines, *result.errlines])

    def git(self, *args: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *args]
        return subprocess.run(command, cwd=self.root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def site(pytester: pytest.Pytester) -> MiniSite:
    """空的小项目：mkdocs.yml、docs/、code/。"""
    real = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    extensions = real[real.index("markdown_extensions:") :]
    (pytester.path / "mkdocs.yml").write_text(f"site_name: 小站\n{extensions}", encoding="utf-8")
    (pytester.path / "docs").mkdir()
    (pytester.path / "code").mkdir()
    return MiniSite(pytester)
