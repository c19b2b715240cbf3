"""边写边核对：保存一个文件，就在已经热好的进程里重新核对用到它的页面，结论立刻出现在终端。

    make watch                  # 预览网站，同时核对；结论也显示在网页下方
    python -m livedocs.watch    # 只核对，不预览

核对用的就是 pytest 与它的插件，所以结论与 `pytest 那一页` 相同；快在两处：pytest 与 Markdown 已经导入，
运行页面的母进程已经导入 torch（见 `mother.py`）。一个文件影响哪些页面，由页面显示的每一行的出处得到：
页面自己、引入的片段与它们并入的脚本、内联的插图。改了 mkdocs.yml 或检查程序自己，要重新启动。
"""

from __future__ import annotations

import argparse
import atexit
import io
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from livedocs import rewrite
from livedocs.page import load_page
from livedocs.project import Project, ProjectError, find_root, load_project
from livedocs.publish import PublishError, published_lines

#: 编辑器保存一次会动几次文件；安静了这么多秒才开始核对。
QUIET = 0.1
#: 核对一页时 pytest 的选项：不要它自己的报告、缓存与用不到的插件。
OPTIONS = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist", "-o", "addopts="]


@dataclass(frozen=True)
class Verdict:
    """一页核对的结论：`problems` 是空的就是全部通过。"""

    page: str
    checks: int
    problems: tuple[str, ...]
    seconds: float

    def __str__(self) -> str:
        if not self.problems:
            return f"✓ {self.page}：{self.checks} 项全部通过（{self.seconds:.1f} 秒）"
        return "\n".join([f"✗ {self.page}：{len(self.problems)} 项没有通过（{self.seconds:.1f} 秒）", *self.problems])


@dataclass
class Collector:
    """pytest 插件：记下一次运行里通过的项数与失败的报告。"""

    checks: int = 0
    problems: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report) -> None:
        self.checks += report.when == "call" and report.passed
        self._note(report)

    def pytest_collectreport(self, report) -> None:
        self._note(report)

    def _note(self, report) -> None:
        if report.failed:
            self.problems.append(report.longreprtext.strip())


def check(page: Path, project: Project) -> Verdict:
    """在本进程里用 pytest 核对一页。"""
    import pytest  # 预览的进程也导入本模块，它那里可以没有 pytest

    started, collector = time.monotonic(), Collector()
    with redirect_stdout(io.StringIO()) as said:
        code = pytest.main([*OPTIONS, "--rootdir", str(project.root), str(page)], plugins=[collector])
    if code not in (0, 1, 5) and not collector.problems:
        collector.problems.append(f"pytest 没有能够运行（退出码 {int(code)}）：{said.getvalue()[-500:]}")
    return Verdict(project.show(page), collector.checks, tuple(collector.problems), time.monotonic() - started)


def files_of(page: Path, project: Project) -> set[Path]:
    """一页显示的每一行出自哪些文件。写坏了的页面至少出自它自己和它提到的脚本。"""
    found = {page}
    if page.suffix == ".md":
        loaded = load_page(page, project)
        found |= {line.origin.path for line in loaded.lines}
        found |= {origin.path for fence in loaded.fences for origin in fence.origins}
    text = page.read_text(encoding="utf-8", errors="replace")
    for name in re.findall(r"code/([\w.-]+\.py)", text):
        script = project.root / "code" / name
        found.add(script)
        try:
            found |= {line.path for line in published_lines(script)}
        except (PublishError, OSError, UnicodeDecodeError):
            pass  # 核对时会报告
    found |= {project.docs / "figures" / name for name in re.findall(r"figures/([\w.-]+\.svg)", text)}
    return {path.resolve() for path in found}


class Pages:
    """全部页面，和各自出自哪些文件。"""

    def __init__(self, project: Project):
        self.project = project
        self._files: dict[Path, set[Path]] = {}
        for page in [*project.docs.rglob("*.md"), *project.docs.rglob("*.ipynb")]:
            self._read(page.resolve())

    def _read(self, page: Path) -> None:
        self._files[page] = files_of(page, self.project)

    def touched(self, changed: set[Path]) -> list[Path]:
        """改了 `changed`，要重新核对的页面。页面引入了什么也随之更新。"""
        for path in changed:
            if path.suffix in (".md", ".ipynb") and self.project.docs.resolve() in path.parents:
                if path.is_file():
                    self._read(path)
                else:
                    self._files.pop(path, None)
        return sorted(page for page, files in self._files.items() if files & changed)


def changes(folders: list[Path]) -> queue.Queue[Path]:
    """监视这些文件夹；改了的文件一个个放进返回的队列。"""
    from watchdog.events import FileSystemEventHandler
    from watchdog.observers import Observer

    waiting: queue.Queue[Path] = queue.Queue()

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event) -> None:
            if event.event_type in ("created", "modified", "moved", "deleted") and not event.is_directory:
                for name in filter(None, (event.src_path, getattr(event, "dest_path", ""))):
                    waiting.put(Path(os.fsdecode(name)).resolve())

    observer = Observer()
    for folder in folders:
        if folder.is_dir():
            observer.schedule(Handler(), str(folder), recursive=True)
    observer.daemon = True
    observer.start()
    return waiting


def batch(waiting: queue.Queue[Path]) -> set[Path]:
    """等到有改动，再等到安静下来。"""
    found = {waiting.get()}
    while True:
        try:
            found.add(waiting.get(timeout=QUIET))
        except queue.Empty:
            return found


def watch(project: Project, report: Path | None) -> None:
    """一直核对下去。`report` 是给网页看的 JSON：{页面: [没有通过的各项]}，正在核对的页面是 null。"""
    waiting = changes([project.docs, project.root / "code"])
    pages = Pages(project)
    shown: dict[str, list[str] | None] = {}

    def tell(name: str, problems: list[str] | None) -> None:
        shown[name] = problems
        if report:
            rewrite.write_atomically(report, json.dumps(shown, ensure_ascii=False).encode("utf-8"))

    print("等你保存：改了 docs/ 或 code/ 里的文件，就核对用到它的页面（Ctrl-C 结束）", flush=True)
    while True:
        changed = batch(waiting)
        try:
            touched = pages.touched(changed)
        except OSError as error:  # 保存到一半又改了名：下一次改动再看
            print(f"读不到刚改的文件：{error}", flush=True)
            continue
        for page in touched:
            tell(project.show(page), None)
            verdict = check(page, project)
            tell(verdict.page, list(verdict.problems))
            print(verdict, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m livedocs.watch", description="保存一个文件，就核对用到它的页面。")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)  # 预览用：结论写在这里
    options = parser.parse_args()
    root = find_root(Path.cwd())
    if root is None:
        print("这里和上层文件夹都没有 mkdocs.yml；到项目里再运行", file=sys.stderr)
        return 2
    if options.report:
        threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    try:
        watch(load_project(root), options.report)
    except ProjectError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 0
    return 0


def _leave_with(parent: int) -> None:
    """预览结束了，自己也结束。"""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


# ---------------------------------------------------------------- 预览

#: 网页从这里取结论；只在预览时有。
ADDRESS = "livedocs-verdicts.json"
BANNER = Path(__file__).with_name("templates") / "verdict.html"


def attach(server, root: Path, urls: dict[str, str]) -> None:
    """`mkdocs serve` 开始时：启动核对的进程，让网页取得到结论。`urls` 是源文件（从项目算起）→ 网址。"""
    folder = Path(tempfile.mkdtemp(prefix="livedocs-watch-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    report = folder / "verdicts.json"
    report.write_text("{}", encoding="utf-8")
    subprocess.Popen([sys.executable, "-m", "livedocs.watch", "--report", str(report)], cwd=root)
    server.set_app(answering(server.get_app(), report, urls))


def answering(app, report: Path, urls: dict[str, str]):
    """WSGI 程序：结论由 `report` 回答，键换成网址；别的交给 `app`。"""

    def serve(environ, start_response):
        if not environ.get("PATH_INFO", "").endswith("/" + ADDRESS):
            return app(environ, start_response)
        verdicts = json.loads(report.read_text(encoding="utf-8"))
        known = {urls[name]: problems for name, problems in verdicts.items() if name in urls}
        body = json.dumps(known, ensure_ascii=False).encode("utf-8")
        start_response("200 OK", [("Content-Type", "application/json"), ("Cache-Control", "no-store")])
        return [body]

    return serve


def banner(html: str, address: str) -> str:
    """网页末尾加上显示结论的一条；`address` 是从这一页到 `ADDRESS` 的路径。"""
    before, body, after = html.rpartition("</body>")
    return before + BANNER.read_text(encoding="utf-8").replace("{{ address }}", address) + body + after


if __name__ == "__main__":
    sys.exit(main())
