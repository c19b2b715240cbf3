"""CI 中“没有运行就是失败”的守卫（tests/conftest.py）。"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUARD = Path(__file__).parent.parent / "conftest.py"
#: 守卫旁边、它导入的模块。
TOOLS = GUARD.with_name("site_tools.py")

SKIPPED = """
import pytest

@pytest.mark.skip(reason="没有浏览器")
def test_a():
    pass
"""
XFAILED = """
import pytest

@pytest.mark.xfail(reason="以后再修")
def test_a():
    assert False
"""
XPASSED = """
import pytest

@pytest.mark.xfail(reason="以后再修")
def test_a():
    pass
"""
MODULE = """
import pytest

pytest.importorskip("no_such_module_at_all")
"""
PASSES = """
def test_b():
    pass
"""


def run(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess:
    """在一个只有守卫与给定测试的目录里运行 pytest。"""
    environ = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-X", "utf8", "-m", "pytest", "-p", "no:cacheprovider", *args]
    return subprocess.run(command, cwd=folder, env=environ | env, capture_output=True, encoding="utf-8", timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """像本仓库那样：守卫在 tests/，测试在 tests/ 与 docs/。"""
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = docs tests\n", encoding="utf-8")
    for name in ("docs", "tests"):
        (tmp_path / name).mkdir()
    for path in (GUARD, TOOLS):
        shutil.copy(path, tmp_path / "tests" / path.name)
    (tmp_path / "tests" / "test_passes.py").write_text(PASSES, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("args", [(), ("-p", "xdist", "-n", "1")], ids=["one-process", "xdist"])
@pytest.mark.parametrize("where", ["docs", "tests"])
def test_in_ci_a_test_that_did_not_run_is_a_failure(folder: Path, where: str, args: tuple[str, ...]) -> None:
    for name, source in {"skip": SKIPPED, "xfail": XFAILED, "xpass": XPASSED, "module": MODULE}.items():
        (folder / where / f"test_{name}.py").write_text(source, encoding="utf-8")
    result = run(folder, "-k", "not test_b", *args, CI="true")
    assert result.returncode == 1
    assert f"{where}/test_skip.py::test_a：跳过：Skipped: 没有浏览器" in result.stdout
    assert f"{where}/test_xfail.py::test_a：标记为预期失败：以后再修" in result.stdout
    assert f"{where}/test_xpass.py::test_a：标记为预期失败：以后再修" in result.stdout
    assert f"{where}/test_module.py：跳过：" in result.stdout
    assert "tests/test_passes.py::test_b：被选择条件排除" in result.stdout


@pytest.mark.parametrize("source", [SKIPPED, XFAILED, XPASSED, MODULE], ids=["skip", "xfail", "xpass", "module"])
def test_in_ci_one_of_them_is_enough(folder: Path, source: str) -> None:
    (folder / "tests" / "test_bad.py").write_text(source, encoding="utf-8")
    assert run(folder, CI="true").returncode == 1


def test_in_ci_no_tests_at_all_is_a_failure(folder: Path) -> None:
    (folder / "tests" / "test_passes.py").unlink()
    assert run(folder, CI="true").returncode == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("env", [{}, {"CI": "false"}], ids=["unset", "false"])
def test_elsewhere_a_skipped_test_stays_a_skip(folder: Path, env: dict[str, str]) -> None:
    (folder / "docs" / "test_bad.py").write_text(SKIPPED, encoding="utf-8")
    result = run(folder, **env)
    assert result.returncode == 0
    assert "没有运行的测试" not in result.stdout


def test_in_ci_when_everything_ran_all_is_well(folder: Path) -> None:
    assert run(folder, CI="true").returncode == 0
