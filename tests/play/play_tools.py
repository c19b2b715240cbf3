"""测试网页里会动的部分用的工具：静态文件服务器与 tests/site 的相同，只是带着内容安全策略。"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "site"))

from site_tools import MOUNT, Pages, Site  # noqa: E402

__all__ = ["MOUNT", "ROOT", "Guarded", "Pages", "Site"]


class Guarded(Pages):
    """像部署时那样：每个回答都带着 `_headers` 里的策略，文件可以缓存。"""

    policy = ""
    #: 有的系统登记的类型不对；GitHub Pages 的是这样。
    extensions_map = Pages.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def end_headers(self):
        self.send_header("Content-Security-Policy", self.policy)
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()
