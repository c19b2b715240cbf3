"""在 Firefox 里用一遍网站：公式、图示、搜索、即时跳转、运行代码、后退、标签页；没有报错，不出站。

步骤写在 tests/npm/firefox.mjs，由 puppeteer-core 通过 WebDriver BiDi 驱动。
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from site_tools import ROOT

from livedocs import web

NPM = ROOT / "tests" / "npm"

#: 不在 PATH 里时，安装程序放它的地方。
PLACES = ("/Applications/Firefox.app/Contents/MacOS/firefox", "C:/Program Files/Mozilla Firefox/firefox.exe")


@pytest.fixture(scope="module")
def firefox() -> str:
    """Firefox 的路径。没有时跳过；设了环境变量 CI 时算失败。"""
    known = [os.environ.get("FIREFOX"), *map(shutil.which, ("firefox-esr", "firefox"))]
    known += [place for place in PLACES if Path(place).is_file()]
    path = next(filter(None, known), None)
    if path is None:
        message = "没有找到 Firefox，它里面的检查没有运行；安装它，或用环境变量 FIREFOX 指明路径"
        if os.environ.get("CI", "").lower() not in ("", "0", "false"):
            pytest.fail(message)
        pytest.skip(message)
    return path


def use(firefox: str, url: str) -> dict[str, dict]:
    """跑完全部步骤：每一步的名字到 `{"ok": …, "detail": …}`。"""
    web.ensure_packages(NPM)
    done = subprocess.run(
        [web.node(), str(NPM / "firefox.mjs"), firefox, url],
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"Firefox 没有走完：{done.stderr}\n{done.stdout}"
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    return {step["step"]: step for step in steps}


def test_the_site_works_in_firefox(firefox, site):
    steps = use(firefox, site.url)
    failed = [f"{name}：{step.get('detail')}" for name, step in steps.items() if not step["ok"]]
    assert not failed, "\n".join(failed)
    assert len(steps) == 10
