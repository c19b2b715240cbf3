"""同样的内容，不同的工具：核对一遍要多久，占多少内存，内容变成十倍时怎样增长。

    python benchmarks/run.py                       # 全部工具，内容 1、3、10 份
    python benchmarks/run.py --tools floor,ours    # 只测两种
    python benchmarks/run.py --repeat 1 3 --json 结果.json

先在临时文件夹里建一个虚拟环境，装上 benchmarks/requirements.txt（`--venv` 指定别的位置，装好的会再用）；
torch 等库借用运行本脚本的环境。本仓库的环境里要装好 requirements.txt。

“地板”是只运行、不核对：一个进程，torch 只导入一次，每页一个新的命名空间，逐段 `exec`。别的工具都写成它的倍数。
时间有两种：经过的时间，和全部进程用掉的处理器时间（机器上有别的程序在跑时看后者）。
内存是整个进程树的 PSS 之和的峰值：几个进程共享的一页内存只算一次。
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TOOLS = ("floor", "ours", "nbval", "nbmake", "pytest-examples", "mkdocs")
#: 单线程：否则处理器时间里混进线程空转的部分。
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NO_MKDOCS_2_WARNING": "1"}
#: 提到别的文件、要在原处检查的页面；和自己又启动检查程序的页面。
LEFT_OUT = {"start.md", "authoring.md"}
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)  # 各种工具平时都有编译好的字节码可用
#: 借来的 torch 旁边还有别的 pytest 插件，所以不自动加载，只加载要测的。
PLUGINS = {"nbval": "nbval.plugin", "nbmake": "nbmake.pytest_plugin", "pytest-examples": "pytest_examples"}

FLOOR = """
import contextlib, io, json, sys, types
import torch
for page in json.load(open("pages.json", encoding="utf-8")):
    torch.set_grad_enabled(True)  # 一页改了它，同一个进程里的下一页就不能求梯度
    torch.set_default_dtype(torch.float32)
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    with contextlib.redirect_stdout(io.StringIO()):
        for block in page["blocks"]:
            try:
                exec(compile(block["code"], "block", "exec", dont_inherit=True), module.__dict__)
            except BaseException:
                if not block["raises"]:
                    raise
"""

EXAMPLES = """
import pytest
from pytest_examples import find_examples

spaces = {}

@pytest.mark.parametrize("example", find_examples("pages"), ids=str)
def test_example(example, eval_example):
    space = spaces.setdefault(example.path, {})
    failure = ""
    try:
        space.update(eval_example.run(example, module_globals=space))
    except BaseException as error:  # 它改写过的调用栈，pytest 有时打印不出来
        failure = repr(error)
    assert not failure or "# raises" in example.source, failure
"""


@dataclass
class Measured:
    tool: str
    repeat: int
    seconds: float
    cpu: float
    memory: int
    code: int


# ---------------------------------------------------------------- 内容


def content(only: str = "") -> list[dict]:
    """每一页可以运行的代码块和写着的输出；整个脚本的页面和 notebook 不算。`only`：只要文件名含有它的。"""
    sys.path.insert(0, str(ROOT))
    from livedocs.page import load_page
    from livedocs.project import load_project

    project = load_project(ROOT)
    pages = []
    for path in sorted(project.docs.rglob("*.md")):
        if only not in path.name or path.name in LEFT_OUT:
            continue
        page = load_page(path, project)
        blocks = page.blocks
        if page.faults or not blocks or any(block.is_script or "notest" in block.code.options for block in blocks):
            continue
        pages.append(
            {
                "name": path.relative_to(project.docs).as_posix(),
                "blocks": [
                    {"code": block.code.content, "output": block.documented, "raises": "raises" in block.code.options}
                    for block in blocks
                ],
            }
        )
    return pages


def write_floor(folder: Path, pages: list[dict], repeat: int) -> list[str]:
    (folder / "pages.json").write_text(json.dumps(pages * repeat), encoding="utf-8")
    (folder / "floor.py").write_text(FLOOR, encoding="utf-8")
    return [sys.executable, "floor.py"]


def write_site(folder: Path, pages: list[dict], repeat: int) -> None:
    """真实的页面（连同正文、图、front matter），放进 `repeat` 个文件夹。"""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    kept, skipping = [], False
    for line in settings.split("\n"):
        if line and not line[0].isspace():
            skipping = line.startswith(("nav:", "watch:", "validation:"))
        if not skipping:
            kept.append(line)
    (folder / "mkdocs.yml").write_text("\n".join(kept), encoding="utf-8")
    for name in ("code", "livedocs", "theme", "web"):
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    if (ROOT / "web" / "node_modules").is_dir():
        (folder / "web" / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    proof = json.loads((ROOT / "proof.json").read_text(encoding="utf-8")) if (ROOT / "proof.json").is_file() else {}
    recorded = proof.get("pages", proof)
    copies = {}
    for number in range(repeat):
        for page in pages:
            target = folder / "docs" / f"c{number}" / page["name"]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / "docs" / page["name"], target)
            if f"docs/{page['name']}" in recorded:
                copies[f"docs/c{number}/{page['name']}"] = recorded[f"docs/{page['name']}"]
        shutil.copytree(ROOT / "docs" / "figures", folder / "docs" / f"c{number}" / "figures")
    shutil.copytree(ROOT / "docs" / "figures", folder / "docs" / "figures")
    shutil.copytree(ROOT / "docs" / "assets", folder / "docs" / "assets")
    for name in ("requirements.txt", "requirements-site.txt", "pyproject.toml"):
        shutil.copyfile(ROOT / name, folder / name)
    if len(copies) == repeat * len(pages):
        body = proof | {"pages": copies} if "pages" in proof else copies
        (folder / "proof.json").write_text(json.dumps(body, ensure_ascii=False, indent=1), encoding="utf-8")


def write_ours(folder: Path, pages: list[dict], repeat: int) -> list[str]:
    write_site(folder, pages, repeat)
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "docs"]


def write_mkdocs(folder: Path, pages: list[dict], repeat: int) -> list[str]:
    write_site(folder, pages, repeat)
    return [sys.executable, "-m", "mkdocs", "-q", "build", "-d", "site"]


def write_notebooks(folder: Path, pages: list[dict], repeat: int) -> None:
    for number in range(repeat):
        for page in pages:
            cells = []
            for block in page["blocks"]:
                source = block["code"]
                if block["raises"]:  # 两种工具都要求单元不出错
                    body = "".join("    " + line for line in source.splitlines(keepends=True))
                    source = f"try:\n{body}\nexcept Exception as _error:\n    print(f'{{type(_error).__name__}}: {{_error}}')\n"
                shown = block["output"]
                outputs = [{"output_type": "stream", "name": "stdout", "text": shown}] if shown else []
                cells.append(
                    {"cell_type": "code", "metadata": {}, "execution_count": len(cells) + 1, "id": f"c{len(cells)}", "source": source, "outputs": outputs}
                )
            kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
            book = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}
            name = f"c{number}_{page['name'].replace('/', '_').removesuffix('.md')}.ipynb"
            (folder / name).write_text(json.dumps(book), encoding="utf-8")


def write_examples(folder: Path, pages: list[dict], repeat: int) -> list[str]:
    (folder / "pages").mkdir()
    for number in range(repeat):
        for page in pages:
            fences = []
            for block in page["blocks"]:
                note = "\n# raises" if block["raises"] else ""
                fences.append(f"```python\n{block['code'].rstrip()}{note}\n```\n")
            (folder / "pages" / f"c{number}_{page['name'].replace('/', '_')}").write_text("\n".join(fences), encoding="utf-8")
    (folder / "test_examples.py").write_text(EXAMPLES, encoding="utf-8")
    return ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", PLUGINS["pytest-examples"], "test_examples.py"]


def command(tool: str, folder: Path, pages: list[dict], repeat: int, peer: Path) -> list[str]:
    """写好这种工具要的文件，返回要测的命令。"""
    if tool == "floor":
        return write_floor(folder, pages, repeat)
    if tool == "ours":
        return write_ours(folder, pages, repeat)
    if tool == "mkdocs":
        return write_mkdocs(folder, pages, repeat)
    if tool == "pytest-examples":
        return [str(peer), *write_examples(folder, pages, repeat)]
    write_notebooks(folder, pages, repeat)
    return [str(peer), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", PLUGINS[tool], f"--{tool}", "."]


# ---------------------------------------------------------------- 测量


def prepare(venv: Path) -> Path:
    """装好别的工具的虚拟环境，返回它的 python。torch 等取自当前环境。"""
    python = venv / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = venv / "benchmarks-ready.txt"
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8")
    if not done.is_file() or done.read_text(encoding="utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
        subprocess.run([python, "-m", "ipykernel", "install", "--prefix", venv, "--name", "python3"], check=True, capture_output=True)
        import torch

        site = next(venv.glob("lib/python*/site-packages"), venv / "Lib" / "site-packages")
        (site / "borrowed.pth").write_text(f"{Path(torch.__file__).parents[1]}\n", encoding="utf-8")
        done.write_text(wanted, encoding="utf-8")
    return python


def measure(argv: list[str], folder: Path, log: Path) -> tuple[float, float, int, int]:
    """运行一条命令：（经过的秒数, 处理器秒数, 内存峰值的字节数, 退出码）。"""
    import psutil

    peak, stop = 0, threading.Event()

    def watch(pid: int) -> None:
        nonlocal peak
        root = psutil.Process(pid)
        while not stop.wait(0.2):
            total = 0
            try:
                tree = [root, *root.children(recursive=True)]
            except psutil.Error:
                return
            for process in tree:
                try:
                    total += getattr(process.memory_full_info(), "pss", 0) or process.memory_info().rss
                except psutil.Error:
                    pass
            peak = max(peak, total)

    before = os.times()
    begun = time.perf_counter()
    with log.open("wb") as stream:
        environment = ENVIRONMENT | {"IPYTHONDIR": str(folder / ".ipython")}
        if any(plugin in argv for plugin in PLUGINS.values()):
            environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        process = subprocess.Popen(argv, cwd=folder, env=environment, stdout=stream, stderr=stream)
        watcher = threading.Thread(target=watch, args=(process.pid,))
        watcher.start()
        code = process.wait()
    seconds = time.perf_counter() - begun
    after = os.times()
    stop.set()
    watcher.join()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, cpu, peak, code


def table(results: list[Measured], repeats: list[int]) -> str:
    """结果写成 Markdown 表格：每个数都是同样份数的地板的倍数；最后一列是份数增加时自己增长的倍数。"""
    found = {(result.tool, result.repeat): result for result in results}
    head = ["工具", *[f"{what} {n}×" for n in repeats for what in ("时间", "处理器时间", "内存")], f"增长 {repeats[0]}→{repeats[-1]}×"]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    for tool in TOOLS:
        row = [tool]
        for n in repeats:
            mine, floor = found.get((tool, n)), found.get(("floor", n))
            if mine is None or floor is None:
                row += ["—"] * 3
                continue
            row += [f"{mine.seconds / floor.seconds:.2f}", f"{mine.cpu / floor.cpu:.2f}", f"{mine.memory / floor.memory:.2f}"]
        first, last = found.get((tool, repeats[0])), found.get((tool, repeats[-1]))
        row.append(f"{last.cpu / first.cpu:.1f}" if first and last else "—")
        if len(row) > 1 and any(cell != "—" for cell in row[1:]):
            lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def increments(results: list[Measured], repeats: list[int]) -> str:
    """每多一份内容，各工具多用多少处理器时间；随份数不变，就是直线。"""
    found = {(result.tool, result.repeat): result.cpu for result in results}
    lines = []
    for tool in TOOLS:
        steps = [(n, m) for n, m in zip(repeats, repeats[1:]) if (tool, n) in found and (tool, m) in found]
        parts = [f"{n}→{m}× {(found[tool, m] - found[tool, n]) / (m - n):.1f} s" for n, m in steps]
        lines += [f"{tool}：每多一份，" + "，".join(parts)] if parts else []
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description="同样的内容，各种工具核对一遍的代价")
    parser.add_argument("--tools", default=",".join(TOOLS), help=f"逗号分隔，可选 {', '.join(TOOLS)}")
    parser.add_argument("--repeat", type=int, nargs="+", default=[1, 3, 10], help="内容的份数，从小到大")
    parser.add_argument("--pages", default="", help="只测文件名含有这段文字的页面")
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "livedocs-benchmarks-venv")
    parser.add_argument("--json", type=Path, help="把测得的数写进这个文件")
    arguments = parser.parse_args()
    tools = arguments.tools.split(",")
    peer = prepare(arguments.venv) if set(tools) - {"floor", "ours", "mkdocs"} else Path(sys.executable)
    pages = content(arguments.pages)
    print(f"{len(pages)} 页，{sum(len(page['blocks']) for page in pages)} 段代码", flush=True)
    results = []
    with tempfile.TemporaryDirectory(prefix="livedocs-benchmarks-") as scratch:
        for repeat in arguments.repeat:
            for tool in tools:
                folder = Path(scratch) / f"{tool}-{repeat}"
                folder.mkdir()
                argv = command(tool, folder, pages, repeat, peer)
                log = Path(scratch) / "log"
                result = Measured(tool, repeat, *measure(argv, folder, log))
                results.append(result)
                print(f"{tool:16} {repeat:3}×  {result.seconds:8.1f} s  {result.cpu:8.1f} s（处理器）  {result.memory / 2**20:8.0f} MiB  退出码 {result.code}", flush=True)
                if result.code:
                    print("    " + "\n    ".join(log.read_text(encoding="utf-8", errors="replace").strip().split("\n")[-6:]), flush=True)
                shutil.rmtree(folder, ignore_errors=True)
                if arguments.json:
                    arguments.json.write_text(json.dumps([asdict(r) for r in results], indent=1), encoding="utf-8")
    print("\n" + table(results, arguments.repeat) + "\n\n" + increments(results, arguments.repeat))


if __name__ == "__main__":
    main()
