"""已经装好的 Chromium 在哪里；印 PDF、画分享卡片、测试与测量都用它。"""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")


def find() -> str | None:
    """Chromium（或 Chrome、Edge）的路径；环境变量 `CHROMIUM` 优先。没有时，或它指的文件不能运行时，是 None。"""
    named = os.environ.get("CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)
