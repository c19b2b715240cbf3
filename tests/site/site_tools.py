"""测试网站用的工具：构建好的网站、静态文件服务器、由测试写出的小网站。"""

from __future__ import annotations

import http.server
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOUNT = "/repo/"


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
    """静态文件，挂在 /repo/ 下；找不到时给出网站自己的 404 页。"""

    def translate_path(self, path):
        inside = path.partition("?")[0]
        return super().translate_path(inside.removeprefix(MOUNT.rstrip("/")) if inside.startswith(MOUNT) else "/none")

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
        config = config.replace("livedocs/search-words.txt", (ROOT / "livedocs" / "search-words.txt").as_posix())
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
