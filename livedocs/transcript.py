"""整个脚本的运行记录：像读者那样运行——全新的进程，空文件夹，里面只有这一个文件。"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 120.0


@dataclass(frozen=True)
class Transcript:
    """一次运行的结果。`left` 是脚本留在文件夹里的新文件。"""

    stdout: str
    stderr: str
    returncode: int
    left: tuple[str, ...]
    timed_out: bool = False


def run_script(text: str, name: str, timeout: float = TIMEOUT, python: str = sys.executable, **env: str) -> Transcript:
    """把 `text` 存成空文件夹里的 `name` 并运行 `python name`；`env` 追加环境变量。"""
    with tempfile.TemporaryDirectory(prefix="livedocs-") as folder:
        (Path(folder) / name).write_text(text, encoding="utf-8", newline="\n")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment |= {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"} | env
        encoding = environment["PYTHONIOENCODING"]
        try:
            done = subprocess.run(
                [python, name], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout
            )
        except subprocess.TimeoutExpired as error:
            return Transcript(_text(error.stdout, encoding), _text(error.stderr, encoding), -1, (), timed_out=True)
        left = tuple(sorted(p.name for p in Path(folder).iterdir() if p.name != name))
    return Transcript(_text(done.stdout, encoding), _text(done.stderr, encoding), done.returncode, left)


def _text(data: bytes | None, encoding: str) -> str:
    return (data or b"").decode(encoding, errors="backslashreplace").replace("\r\n", "\n")
