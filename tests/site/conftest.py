"""整站严格构建一次，用 HTTP 在子路径 /repo/ 下提供，像 GitHub Pages 那样。"""

from __future__ import annotations

import functools
import http.server
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from site_tools import MOUNT, ROOT, Pages, Project, Site

#: 像部署时那样设了仓库地址；主题会因此想向 GitHub 的接口取星标数，测试要求它不去取。
REPOSITORY = "https://github.com/example/example"

#: 构建和预览网站时不许导入的包：装没装都不能用到。
BLOCKER = """
import sys

class Blocked:
    names = {"torch", "numpy", "matplotlib", "ipykernel"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ImportError(f"构建网站时不该导入 {name}")

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(scope="session")
def environment(tmp_path_factory) -> dict[str, str]:
    """运行 mkdocs 的环境：不许导入 torch 等，不带外面设的网址和通知开关。"""
    folder = tmp_path_factory.mktemp("blocker")
    (folder / "sitecustomize.py").write_text(BLOCKER, encoding="utf-8")
    dropped = ("SITE_URL", "REPO_URL", "NO_MKDOCS_2_WARNING", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"PYTHONPATH": str(folder), "PYTHONUTF8": "1"}


@pytest.fixture(scope="session")
def site(tmp_path_factory, environment) -> Iterator[Site]:
    """整站严格构建，并提供在一个空闲端口上。

    不加 -q、-v：它们会改变严格构建的结果。当前文件夹特意不是仓库：结果不该由它决定。
    """
    folder = tmp_path_factory.mktemp("site")
    handler = functools.partial(Pages, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        url = f"http://127.0.0.1:{server.server_port}{MOUNT}"
        done = subprocess.run(
            [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(ROOT / "mkdocs.yml"), "-d", str(folder)],
            cwd=folder.parent,
            env=environment | {"SITE_URL": url, "REPO_URL": REPOSITORY},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield Site(folder, done.stdout, url)
        server.shutdown()


@pytest.fixture
def project(tmp_path, caplog) -> Project:
    caplog.set_level(logging.INFO, logger="mkdocs")
    return Project(tmp_path)
