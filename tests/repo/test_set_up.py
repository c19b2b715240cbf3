"""准备环境：tools/env.py 与 Makefile。"""

import os
import runpy
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PYPROJECT = '[build-system]\nrequires = []\n[project]\nname = "x"\nversion = "1"\n'


def run(folder: Path, *command: object, **env: str) -> subprocess.CompletedProcess:
    """在 ``folder`` 里运行一条命令；输出与错误合在一起。"""
    # 外层 make 的变量与参数不带进来。
    environ = {k: v for k, v in os.environ.items() if k not in {"MAKEFLAGS", "MAKELEVEL", "VENV", "PORT", "PYTHON"}}
    environ |= {"PYTHONUTF8": "1", **env}
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=120,
    )  # fmt: skip


@pytest.fixture
def busy_port() -> Iterator[int]:
    """一个被占用的端口。"""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.fixture
def free_port() -> int:
    """一个空闲的端口。"""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def env(folder: Path, *args: object) -> subprocess.CompletedProcess:
    """运行 ``folder`` 里的 tools/env.py。"""
    return run(folder, sys.executable, folder / "tools" / "env.py", *args)


class TestPort:
    """端口检查。"""

    def test_free(self, free_port: int) -> None:
        result = env(ROOT, "port", free_port)
        assert (result.returncode, result.stdout) == (0, "")

    def test_busy(self, busy_port: int) -> None:
        result = env(ROOT, "port", busy_port)
        assert result.returncode == 1
        assert result.stdout.startswith(f"端口 {busy_port} 已被占用：")
        assert f"PORT={busy_port + 1}" in result.stdout

    @pytest.mark.parametrize("text", ["", "abc", "0", "65536", "-1", "８０００", "80 00"])
    def test_not_a_port(self, text: str) -> None:
        result = env(ROOT, "port", text)
        assert result.returncode == 1
        assert result.stdout.startswith(f"端口应是 1 到 65535 之间的整数，而不是“{text}”")


class TestVirtualEnvironment:
    """虚拟环境；需求文件里只有 pip 自己，所以不用联网。"""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """一个小小的仓库。"""
        (tmp_path / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "env.py", tmp_path / "tools" / "env.py")
        (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
        (tmp_path / "requirements-site.txt").write_text("pip\n", encoding="utf-8")
        (tmp_path / "requirements.txt").write_text("-r requirements-site.txt\n", encoding="utf-8")
        return tmp_path

    def test_life_of_an_environment(self, folder: Path) -> None:
        """从无到有、无事可做、需求变了、装到一半、环境坏了。一个环境用到底，因为建一个要几秒。"""
        first = env(folder, "site")
        assert first.returncode == 0, first.stdout
        assert "正在建立虚拟环境 .venv …" in first.stdout
        assert "正在安装 requirements-site.txt …" in first.stdout

        assert env(folder, "site").stdout == "", "没有变化，就什么也不做"

        (folder / "requirements-site.txt").write_text("pip>1\n", encoding="utf-8")
        changed = env(folder, "site")
        assert "正在建立虚拟环境" not in changed.stdout
        assert "正在安装 requirements-site.txt …" in changed.stdout

        everything = env(folder, "test")
        assert "正在安装 requirements.txt …" in everything.stdout
        (folder / ".venv" / ".ready-site").unlink()
        assert env(folder, "site").stdout == "", "全部都装好了，也就包含了网站所需"

        (folder / ".venv" / ".ready-test").unlink()
        (folder / ".venv" / ".unfinished").touch()
        resumed = env(folder, "site")
        assert resumed.returncode == 0
        assert "上次的安装没有完成，现在继续。" in resumed.stdout
        assert "正在建立虚拟环境" not in resumed.stdout
        assert not (folder / ".venv" / ".unfinished").exists()

        (folder / "requirements-site.txt").write_text("no-such-package @ file:///no/such/file.whl\n", encoding="utf-8")
        failed = env(folder, "site")
        assert failed.returncode == 1
        assert failed.stdout.rstrip().endswith("改正后再运行一次，会接着装。")

        # 装到一半的包：有元数据，没有文件清单。失败的安装留下了记号，所以下次会查到它。
        (folder / "requirements-site.txt").write_text("pip>1\n", encoding="utf-8")
        half = next((folder / ".venv").glob("[Ll]ib/**/site-packages")) / "half-1.0.dist-info"
        half.mkdir()
        (half / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1.0\n", encoding="utf-8")
        cleaned = env(folder, "site")
        assert cleaned.returncode == 0
        assert "上次中断留下了不完整的包（half），从头安装。" in cleaned.stdout
        assert not half.exists()
        assert env(folder, "site").stdout == ""

    @pytest.mark.parametrize(
        ("version", "explicit", "message"),
        [
            (None, False, "虚拟环境 .venv 不完整，将重建。"),
            ([3, 9], False, "虚拟环境 .venv 的 Python 太旧（3.9），将重建。"),
            ([3, 99], True, "虚拟环境 .venv 是 Python 3.99，与指定的 PYTHON 不同，将重建。"),
        ],
        ids=["no-pip", "too-old", "another-python"],
    )
    def test_environments_that_must_be_made_again(
        self,
        folder: Path,
        version: list[int] | None,
        explicit: bool,
        message: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture,
    ) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
        monkeypatch.chdir(folder)
        module = runpy.run_path(str(folder / "tools" / "env.py"))
        scope = module["prepare"].__globals__
        if version:
            monkeypatch.setitem(scope, "working_version", lambda: version)
        monkeypatch.setitem(scope, "VENV", Path(".venv"))
        monkeypatch.setitem(scope, "create_venv", lambda: sys.exit("重建"))
        with pytest.raises(SystemExit, match="重建"):
            module["prepare"]("site", explicit=explicit)
        assert capsys.readouterr().out == message + "\n"


@pytest.mark.skipif(os.name != "nt" and not shutil.which("make"), reason="没有安装 make")
class TestMake:
    """Makefile 的消息。"""

    # Windows 不用 make：README 给出普通命令。不收集，而不是跳过，因为那里没有要做的事。
    __test__ = os.name != "nt"

    def test_busy_port_stops_before_anything_is_installed(self, busy_port: int, tmp_path: Path) -> None:
        result = run(ROOT, "make", "serve", f"PORT={busy_port}", f"VENV={tmp_path / 'venv'}")
        assert result.returncode != 0
        assert f"端口 {busy_port} 已被占用：" in result.stdout
        assert not (tmp_path / "venv").exists()
        assert "mkdocs" not in result.stdout

    @pytest.mark.parametrize("target", ["serve", "test", "build", "update"])
    def test_python_too_old(self, target: str, tmp_path: Path) -> None:
        old = tmp_path / "python3.9"
        old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.18\nexit 1\n', encoding="utf-8")
        old.chmod(0o755)
        result = run(ROOT, "make", target, f"PYTHON={old}", f"VENV={tmp_path / 'venv'}")
        assert result.returncode != 0
        assert f"需要 Python 3.11 或更新的版本，而 {old} 是：Python 3.9.18。" in result.stdout
        assert not (tmp_path / "venv").exists()

    def test_python_not_there(self, tmp_path: Path) -> None:
        result = run(ROOT, "make", "serve", "PYTHON=no-such-python", f"VENV={tmp_path / 'venv'}")
        assert result.returncode != 0
        assert "找不到 Python：no-such-python。" in result.stdout

    def test_alone_it_explains_itself(self) -> None:
        result = run(ROOT, "make")
        assert result.returncode == 0
        for target in ("serve", "test", "build", "update"):
            assert f"make {target}" in result.stdout
