"""网址里的状态的单元测试：Node 自带的测试运行器。"""

from __future__ import annotations

import subprocess
from pathlib import Path

from livedocs import web


def test_state_in_the_address():
    done = subprocess.run(
        [web.node(), "--test", str(Path(__file__).with_name("state.test.mjs"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
