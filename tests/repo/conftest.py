"""关于仓库本身的检查共用的东西。"""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """仓库的根目录。"""
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """仓库的每个文件：已提交的，与尚未提交但没有被忽略的。"""
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode("utf-8")
    paths = [ROOT / name for name in listing.split("\0") if name]
    found = [path for path in paths if path.is_file()]
    assert len(found) > 20, "这里应是一个 git 仓库"
    return found
