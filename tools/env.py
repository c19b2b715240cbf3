"""为 Makefile 准备虚拟环境；只用标准库，由系统的 Python（≥ 3.11）运行。

用法::

    python tools/env.py site [--explicit]   # 预览与构建网站所需
    python tools/env.py test [--explicit]   # 运行全部检查所需（包含前者）
    python tools/env.py port 8000           # 端口可用吗

装好之后在虚拟环境里留一个印记，内容是需求文件的散列；印记相符就什么也不做。
印记只在成功之后写，所以中断的安装下次会重做。
"""

import hashlib
import json
import os
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = Path(os.environ.get("VENV") or ".venv")
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
UNFINISHED = VENV / ".unfinished"
REQUIREMENTS = {
    "site": ["requirements-site.txt"],
    "test": ["requirements.txt", "requirements-site.txt"],
}

# 在虚拟环境里运行：列出没有装完整的包（缺清单，或清单里的文件不在）。
FIND_BROKEN = """
from importlib.metadata import distributions
for dist in distributions():
    files = dist.files
    if not files or not all(f.locate().exists() for f in files if f.suffix == ".py"):
        print(dist.name)
"""


def main(argv: list[str]) -> None:
    """按命令行做一件事；失败时以一句中文结束，退出码不为 0。"""
    match argv:
        case ["port", port]:
            check_port(port)
        case [("site" | "test") as which, *rest] if rest in ([], ["--explicit"]):
            os.chdir(ROOT)
            prepare(which, explicit=bool(rest))
        case _:
            sys.exit(__doc__)


def check_port(text: str) -> None:
    """端口不是数字、被占用或无权使用时，以一句话结束。"""
    port = int(text) if text.isascii() and text.isdigit() else 0
    if not 0 < port < 65536:
        sys.exit(f"端口应是 1 到 65535 之间的整数，而不是“{text}”，例如 make serve PORT=8001。")
    busy = f"端口 {port} 已被占用：请关掉占用它的程序，或换一个端口，例如 make serve PORT={port % 65535 + 1}。"
    with socket.socket() as probe:
        probe.settimeout(1)
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            sys.exit(busy)
    with socket.socket() as probe:
        if os.name == "posix":  # 与 mkdocs 的服务器相同：刚关闭的连接不算占用
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except PermissionError:
            sys.exit(f"没有权限使用端口 {port}，请换一个 1024 以上的端口，例如 make serve PORT=8000。")
        except OSError:
            sys.exit(busy)


def prepare(which: str, explicit: bool) -> None:
    """让虚拟环境满足 ``which`` 的需求文件；已经满足时立即返回。"""
    version = working_version()
    if version and explicit and version != list(sys.version_info[:2]):
        print(f"虚拟环境 {VENV} 是 Python {version[0]}.{version[1]}，与指定的 PYTHON 不同，将重建。", flush=True)
        version = None
    elif version and version < [3, 11]:
        print(f"虚拟环境 {VENV} 的 Python 太旧（{version[0]}.{version[1]}），将重建。", flush=True)
        version = None
    elif not version and VENV.exists():
        print(f"虚拟环境 {VENV} 不完整，将重建。", flush=True)

    interrupted = UNFINISHED.exists()
    if version and not interrupted and (ready(which) or ready("test")):
        return
    if not version or run(PYTHON, "-m", "pip", "--version", capture_output=True).returncode:
        create_venv()
        interrupted = False
    UNFINISHED.touch()
    if interrupted:
        print("上次的安装没有完成，现在继续。", flush=True)
    install(REQUIREMENTS[which][0])
    if interrupted and (broken := run(PYTHON, "-c", FIND_BROKEN, capture_output=True, text=True).stdout.split()):
        print(f"上次中断留下了不完整的包（{'、'.join(broken)}），从头安装。", flush=True)
        create_venv()
        UNFINISHED.touch()
        install(REQUIREMENTS[which][0])
    stamp(which).write_text(key(which), encoding="utf-8")
    UNFINISHED.unlink()


def create_venv() -> None:
    """建立（或清空重建）虚拟环境。"""
    print(f"正在建立虚拟环境 {VENV} …", flush=True)
    if run(sys.executable, "-m", "venv", "--clear", VENV).returncode:
        sys.exit("建立虚拟环境失败。Debian 与 Ubuntu 请先安装 venv 模块：sudo apt install python3-venv。")


def install(requirements: str) -> None:
    """用 pip 安装一个需求文件；失败时以一句话结束。"""
    print(f"正在安装 {requirements} …", flush=True)
    if run(PYTHON, "-m", "pip", "install", "-r", requirements).returncode:
        sys.exit(f"安装 {requirements} 没有成功；原因见上面 pip 的输出。改正后再运行一次，会接着装。")


def working_version() -> list[int] | None:
    """虚拟环境的 Python 版本；环境不存在、跑不起来或没有 pip 时为 ``None``。"""
    if not (VENV / "pyvenv.cfg").exists() or not PYTHON.exists():
        return None
    probe = run(PYTHON, "-c", "import json, pip, sys; print(json.dumps(sys.version_info[:2]))", capture_output=True, text=True)
    return json.loads(probe.stdout) if probe.returncode == 0 else None


def stamp(which: str) -> Path:
    """``which`` 的印记文件。"""
    return VENV / f".ready-{which}"


def ready(which: str) -> bool:
    """``which`` 所需已经装好，此后需求没有变。"""
    return stamp(which).exists() and stamp(which).read_text(encoding="utf-8") == key(which)


def key(which: str) -> str:
    """印记的内容：需求文件、包的元数据与仓库位置（可编辑安装记着它）的散列。"""
    project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))
    parts = [Path(name).read_text("utf-8") for name in REQUIREMENTS[which]]
    parts += [json.dumps(project[table], sort_keys=True) for table in ("build-system", "project")]
    return hashlib.sha256("\0".join([*parts, str(ROOT)]).encode()).hexdigest()


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    """运行一条命令，不把失败变成异常。"""
    return subprocess.run([str(part) for part in command], **options)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("已中断。再运行一次，会接着装。")
