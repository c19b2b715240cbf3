"""测试网站用的工具：构建好的网站和提供它的服务器、由测试写出的小网站。"""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from livedocs import csp

ROOT = Path(__file__).resolve().parents[1]
MOUNT = "/repo/"

#: 像部署时那样设了仓库地址；主题会因此想向 GitHub 的接口取星标数，测试要求它不去取。
REPOSITORY = "https://github.com/example/example"


@dataclass(frozen=True)
class Site:
    """构建好的网站：文件夹、构建时打印的文字、提供它的网址。"""

    folder: Path
    log: str
    url: str

    def pages(self) -> list[Path]:
        """全部网页，包括 404。"""
        return sorted(self.folder.rglob("*.html"))

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")


class Pages(http.server.SimpleHTTPRequestHandler):
    """静态文件，像部署时那样：挂在 /repo/ 下，带着 `_headers` 里的策略，找不到时给出网站自己的 404 页。

    网站里没有的文件，再到网站旁边的 extra 文件夹里找：测试自己的网页放在那里。
    """

    #: 有的系统登记的类型不对；GitHub Pages 的是这样。
    extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def translate_path(self, path):
        inside = path.partition("?")[0]
        if not inside.startswith(MOUNT):
            return super().translate_path("/none")
        found = super().translate_path(inside.removeprefix(MOUNT.rstrip("/")))
        extra = Path(self.directory, "..", "extra", inside.removeprefix(MOUNT))
        return str(extra) if not os.path.exists(found) and extra.is_file() else found

    def end_headers(self):
        self.send_header("Content-Security-Policy", self.policy())
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def policy(self) -> str:
        headers = Path(self.directory, csp.HEADERS).read_text(encoding="utf-8")
        return headers.partition("Content-Security-Policy: ")[2].strip()

    def send_error(self, code, message=None, explain=None):
        page = Path(self.directory, "404.html")
        if code != 404 or not page.is_file():
            return super().send_error(code, message, explain)
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *args):
        """不打印访问记录。"""


class Server(http.server.ThreadingHTTPServer):
    """网页在回答写完之前关掉，不是错误。"""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class SiteServer:
    """提供整站的服务器。网站只构建一次，由第一个要用它的进程构建；服务器在主进程里。"""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="whole-site-"))
        for name in ("site", "extra"):
            (self.folder / name).mkdir()
        handler = functools.partial(Pages, directory=str(self.folder / "site"))
        self.server = Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.place = {
            "folder": str(self.folder),
            "url": f"http://127.0.0.1:{self.server.server_port}{MOUNT}",
        }

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        """pytest-xdist 的一个工作进程将要开始：告诉它网站在哪里。"""
        node.workerinput["site"] = self.place

    def pytest_unconfigure(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.folder, ignore_errors=True)


def whole_site(place: dict[str, str], environment: dict[str, str]) -> Site:
    """严格构建好的整站；别的进程已经构建过，就用它的。

    不加 -q、-v：它们会改变严格构建的结果。当前文件夹特意不是仓库：结果不该由它决定。
    """
    folder = Path(place["folder"])
    log = folder / "build.log"
    with FileLock(folder / "build.lock"):
        if not log.exists():
            done = subprocess.run(
                [sys.executable, "-m", "mkdocs", "build", "--strict"]
                + ["-f", str(ROOT / "mkdocs.yml"), "-d", str(folder / "site")],
                cwd=folder,
                env=environment | {"SITE_URL": place["url"], "REPO_URL": REPOSITORY},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=300,
                check=False,
            )
            # 失败也记下来：别的进程不再白白构建一遍。
            log.write_text(f"{done.returncode}\n{done.stdout}", encoding="utf-8")
    code, _, output = log.read_text(encoding="utf-8").partition("\n")
    assert code == "0", output
    return Site(folder / "site", output, place["url"])


class Project:
    """一个小网站，设置与真的网站相同，页面由测试给出；在本进程里构建。"""

    def __init__(self, folder: Path):
        self.folder = folder
        self.site = folder / "site"
        (folder / "docs").mkdir()
        (folder / "code").mkdir()
        config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
        before, _, rest = config.partition("\nnav:\n")
        after = rest[rest.index("\n\n") :]
        config = (before + after).replace("custom_dir: theme", f"custom_dir: {(ROOT / 'theme').as_posix()}")
        config = config.replace("- livedocs/hooks.py", f"- {(ROOT / 'livedocs' / 'hooks.py').as_posix()}")
        config = re.sub(r"^watch:.*\n", "", config, flags=re.MULTILINE)
        (folder / "mkdocs.yml").write_text(config, encoding="utf-8")

    def write(self, path: str, text: str) -> Path:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def build(self, text: str | None = None) -> str:
        """严格构建，返回首页的 HTML；失败时抛出 MkDocs 的异常。"""
        from mkdocs.commands.build import build
        from mkdocs.config import load_config

        if text is not None:
            self.write("docs/index.md", text)
        shutil.rmtree(self.site, ignore_errors=True)
        config = load_config(str(self.folder / "mkdocs.yml"), strict=True, site_dir=str(self.site))
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        return (self.site / "index.html").read_text(encoding="utf-8")


def until(tab, condition: Callable[[], object]) -> None:
    """等到 `condition()` 成立；等的时候网页照常运行，路由与事件照常处理。"""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "等了 60 秒"
        tab.wait_for_timeout(20)


def let_pass(tab, milliseconds: int) -> None:
    """在网页自己的时钟里等：此前设下、更早到点的计时器都已经跑过，机器再慢也是这样。"""
    tab.evaluate("time => new Promise(done => setTimeout(done, time))", milliseconds)


def wait_for_sitemap(tab) -> None:
    """等主题取到网站地图：在那以前点链接是整页载入，不是即时跳转。"""
    tab.wait_for_load_state("networkidle")


@contextlib.contextmanager
def stopped_clock(tab) -> Iterator[None]:
    """网页的 `Date.now` 停住不走：CodeMirror 只放行 Esc 之后两秒以内的 Tab，忙的机器按两个键就会超过两秒。"""
    tab.evaluate("() => { const now = Date.now(); Date.now = () => now; }")
    yield
    tab.evaluate("() => { Date.now = () => new Date().getTime(); }")
