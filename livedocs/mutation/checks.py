"""一个变异会不会被发现：只运行可能看得见它的检查，用的就是 pytest 用的那些函数。

页面先照原样运行一次，记住每块代码打印的内容与每个表达式的值；改的不是代码时，改后的页面重新读、重新核对，
但不重新运行——同样的代码打印同样的内容。改的是代码时，页面重新运行。

只换一个数字的变异有几千个，读一页要几十到几百毫秒，所以一起读、分开判：把许多行各改一处的页面读一次，
再逐个取出读到的那一行，换进原样的页面里核对。一起读出的结构与原样不同，或分开判时没有发现的，都单独从头再判一次。
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

from livedocs import guard, notebook, numbers, publish, rewrite, runner, transcript, verdict
from livedocs.mutation.lessons import Lessons
from livedocs.mutation.mutants import Mutant, pages_of, read, write
from livedocs.page import Block, Fault, Page, load_page
from livedocs.project import Project, load_project
from livedocs.runner import PageRun


class BrokenBaseline(Exception):
    """没有改动时检查就不通过；变异的结论没有意义。"""


@dataclass(frozen=True)
class Verdict:
    """`by` 是发现它的检查说的第一行；没有发现时是空的。"""

    killed: bool
    by: str = ""


def page_failure(page: Page, scanned: Lazy, project: Project, run: PageRun, near: int = 0) -> str | None:
    """与 `livedocs.items` 的各项测试同样的核对；第一处失败的说明，全部通过时是 None。

    `scanned` 是正文里的数，`near` 是改动的行：先核对含有它的那一块。
    “页面的证明是否最新”不在其中：任何改动都会让它过期，那不是发现了错误。
    """
    if page.faults:
        return _first(verdict.fault_report(page.faults[0], project))
    ordered = sorted(page.blocks, key=lambda block: not _covers(block, page, near))
    jobs = [functools.partial(_block_failure, block, page, project, run) for block in ordered]
    first = bool(ordered) and _covers(ordered[0], page, near)
    jobs.insert(1 if first else 0, functools.partial(_numbers_failure, scanned, project, run))
    for job in jobs:
        if failure := job():
            return failure
    missed = guard.missed(page, project)
    return _first(verdict.fault_report(missed[0], project)) if missed else None


@dataclass
class Lazy:
    """用到时才扫描正文里的数：多数变异在含有它的那一块就被发现了。"""

    page: Page

    @functools.cached_property
    def found(self) -> numbers.Numbers:
        return numbers.scan(self.page)


def _covers(block: Block, page: Page, line: int) -> bool:
    last = (block.output or block.code).closing.origin
    return last.path == page.path and block.origin.line <= line <= last.line


def _block_failure(block: Block, page: Page, project: Project, run: PageRun) -> str | None:
    if "notest" in block.code.options:
        return None
    try:
        edit = verdict.judge(block, page, run, project)
    except (verdict.DocFailure, rewrite.RewriteError) as error:
        return _first(str(error))
    except Exception as error:
        return f"检查本身出错：{error!r}"
    return _first(verdict.mismatch(block, edit, page, project)) if edit is not None else None


def _numbers_failure(scanned: Lazy, project: Project, run: PageRun) -> str | None:
    found = scanned.found
    if found.faults:
        return _first(verdict.fault_report(found.faults[0], project))
    run.finish()
    answers = {after: list(values) for after, values in enumerate(run.values)}
    for binding in found.bindings:
        error, _ = numbers.check(binding, answers[binding.after].pop(0))
        if error is not None:
            return _first(verdict.fault_report(Fault(binding.line.origin, error), project))
    return None


def _first(text: str) -> str:
    return text.partition("\n")[0]


@dataclass
class _Baseline:
    """照原样运行一次的页面。"""

    page: Page
    codes: list[tuple]
    results: list[runner.Result]
    answers: dict[tuple[int, str], dict]

    @classmethod
    def of(cls, page: Page, project: Project) -> _Baseline:
        scanned = Lazy(page)
        run = PageRun(page.path, page.blocks, expressions=_expressions(scanned.found))
        failure = page_failure(page, scanned, project, run)
        run.close()
        if failure:
            raise BrokenBaseline(failure)
        answers = {
            (after, expression): answer
            for after, expressions in run.expressions.items()
            for expression, answer in zip(expressions, run.values[after])
        }
        return cls(page, _codes(page), list(run.results), answers)

    def again(self, page: Page, found: numbers.Numbers) -> PageRun:
        """改后页面的运行：代码与表达式都没有变时，用记住的结果；否则真的运行。"""
        wanted = _expressions(found)
        known = all((after, e) in self.answers for after, expressions in wanted.items() for e in expressions)
        if not known or _codes(page) != self.codes:
            return PageRun(page.path, page.blocks, expressions=wanted)
        values = [[self.answers[after, e] for e in wanted.get(after, ())] for after in range(len(page.blocks) + 1)]
        return PageRun(page.path, page.blocks, list(self.results), values, wanted)


def _expressions(found: numbers.Numbers) -> dict[int, list[str]]:
    """第 n 块之后要求的值，次序与绑定相同。"""
    wanted: dict[int, list[str]] = {}
    for binding in found.bindings:
        wanted.setdefault(binding.after, []).append(binding.expression)
    return wanted


def _shape(page: Page) -> list[tuple]:
    """页面的结构：除了输出的文字，围栏都在哪里、是什么。"""
    return [
        (f.start, f.end, f.lang, f.classes, sorted(f.options.items()), f.prefix, None if f.is_output else f.content, len(f.origins))
        for f in page.fences
    ]


def _only(base: Page, changed: Page, line: int) -> tuple[Page, bool]:
    """原样的页面，只有第 `line` 行换成 `changed` 里读到的；第二项是这一行有没有不同。"""
    alone = Page(base.path, fences=list(base.fences), lines=list(base.lines), meta=base.meta)
    different = False
    for n, origin in enumerate(text.origin for text in base.lines):
        if origin.path == base.path and origin.line == line and base.lines[n] != changed.lines[n]:
            alone.lines[n], different = changed.lines[n], True
    for n, fence in enumerate(base.fences):
        for offset, origin in enumerate(fence.origins):
            if origin.path == base.path and origin.line == line:
                lines = fence.content.split("\n")
                lines[offset] = changed.fences[n].content.split("\n")[offset]
                alone.fences[n] = replace(fence, content="\n".join(lines))
                different = different or alone.fences[n].content != fence.content
    return alone, different


def _codes(page: Page) -> list[tuple]:
    return [(block.code.content, tuple(sorted(block.code.options.items())), block.is_script) for block in page.blocks]


@dataclass
class _Shows:
    """一页展示了某个脚本的哪些行，以及运行这一页大约要多少秒。"""

    seconds: float
    lines: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Step:
    """一项检查：`page` 是一页，`tests` 是一组测试；`seconds` 是照原样运行大约要用的时间。"""

    seconds: float
    page: Path | None = None
    tests: tuple[str, ...] = ()


class Bench:
    """一份文件树拷贝上的全部检查。`coverage` 是 `livedocs.mutation.tracing` 的记录，没有 tests/lessons 时是空的。"""

    def __init__(self, root: Path, coverage: dict | None = None):
        self.root = root
        self.project = load_project(root)
        self.coverage = coverage or {"tests": {}, "imports": {}, "seconds": {}}
        self.lessons = Lessons(root)
        self._pages: dict[Path, _Baseline | BrokenBaseline] = {}
        self._notebooks: dict[Path, tuple[dict, dict, dict] | BrokenBaseline] = {}
        self._downloads: dict[Path, str | None] = {}
        self._originals: dict[str, str] = {}
        self._using: dict[str, dict[Path, _Shows]] | None = None
        self._changed: tuple[Path, str, str] | None = None
        _remember_transcripts()

    def close(self) -> None:
        self.lessons.close()

    def verdict(self, mutant: Mutant) -> Verdict:
        """改、核对、恢复。

        Raises:
            BrokenBaseline: 没有改动时就不通过。
        """
        if mutant.kind == "download":
            return self._download(mutant)
        path = self.root / mutant.path
        original = self._originals.setdefault(mutant.path, read(path))
        self._prepare(mutant, path)
        changed = mutant.apply(original)
        self._changed = (path, original, changed)
        write(path, changed)
        try:
            if mutant.path.startswith("code/"):
                return self._script(mutant)
            if path.suffix == ".ipynb":
                return self._notebook(path)
            return self._page(path, mutant.line)
        finally:
            self._changed = None
            write(path, original)

    def _prepare(self, mutant: Mutant, path: Path) -> None:
        """改动之前先有原样的结果；脚本的变异要用到哪一页时再说，多数用不到。"""
        if mutant.path.startswith("code/"):
            self.using(path.name)
        elif path.suffix == ".ipynb":
            self._executed(path)
        else:
            self.baseline(path)

    # ------------------------------------------------------------ 页面

    def baseline(self, path: Path) -> _Baseline:
        if path not in self._pages:
            if self._changed:
                write(self._changed[0], self._changed[1])
            try:
                self._pages[path] = _Baseline.of(load_page(path, self.project), self.project)
            except BrokenBaseline as error:
                self._pages[path] = error
            finally:
                if self._changed:
                    write(self._changed[0], self._changed[2])
        found = self._pages[path]
        if isinstance(found, BrokenBaseline):
            raise found
        return found

    def _page(self, path: Path, line: int = 0) -> Verdict:
        base = self.baseline(path)
        try:
            page = load_page(path, self.project)
            scanned = Lazy(page)
            run = base.again(page, scanned.found)
        except Exception as error:
            return Verdict(True, f"页面不能读取：{error!r}")
        try:
            failure = page_failure(page, scanned, self.project, run, line)
        finally:
            run.close()
        return Verdict(failure is not None, failure or "")

    def verdicts(self, batch: list[Mutant]) -> Iterator[Verdict | BrokenBaseline]:
        """同一文件的一批变异的结论，次序相同；只换一个数字的一起读。"""
        together: dict[str, Verdict] = {}
        digits = [m for m in batch if m.path.endswith(".md") and re.fullmatch(r"[0-9]", m.old) and re.fullmatch(r"[0-9]", m.new)]
        rounds: list[dict[int, Mutant]] = []
        for mutant in digits:
            for chosen in rounds:
                if mutant.line not in chosen:
                    chosen[mutant.line] = mutant
                    break
            else:
                rounds.append({mutant.line: mutant})
        for chosen in rounds:
            try:
                together |= self._together(list(chosen.values())) if len(chosen) > 1 else {}
            except BrokenBaseline:
                break
        for mutant in batch:
            if mutant.key in together:
                yield together[mutant.key]
                continue
            try:
                yield self.verdict(mutant)
            except BrokenBaseline as error:
                yield error

    def _together(self, chosen: list[Mutant]) -> dict[str, Verdict]:
        """各在一行的几处改动，读一次，分开判；返回被发现的。"""
        path = self.root / chosen[0].path
        base = self.baseline(path)
        original = self._originals.setdefault(chosen[0].path, read(path))
        text = original
        for mutant in chosen:
            text = mutant.apply(text) if len(mutant.new) == len(mutant.old) else text
        write(path, text)
        try:
            page = load_page(path, self.project)
        finally:
            write(path, original)
        if page.faults or _shape(page) != _shape(base.page) or len(page.lines) != len(base.page.lines):
            return {}
        killed = {}
        for mutant in chosen:
            alone, changed = _only(base.page, page, mutant.line)
            if not changed:
                continue
            run = PageRun(path, alone.blocks, list(base.results))
            scanned = Lazy(alone)
            failure = None
            block = next((block for block in alone.blocks if _covers(block, alone, mutant.line)), None)
            if block is not None:
                failure = _block_failure(block, alone, self.project, run)
            if failure is None:
                try:
                    run = base.again(alone, scanned.found)
                    if run.results:
                        failure = _numbers_failure(scanned, self.project, run)
                finally:
                    run.close()
            if failure:
                killed[mutant.key] = Verdict(True, failure)
        return killed

    # ------------------------------------------------------------ notebook

    def _executed(self, path: Path) -> tuple[dict, dict, dict]:
        """（原样的单元, 重新执行的单元, 正文里表达式的值）。"""
        if path not in self._notebooks:
            stored = notebook.read(path)
            expressions: dict[int, list[str]] = {}
            for binding in notebook.prose(stored, path).bindings:
                expressions.setdefault(binding.after, []).append(binding.expression)
            try:
                fresh, values = notebook.execute(stored, path.parent, expressions)
                self._notebooks[path] = ({}, dict(notebook.code_cells(fresh)), values)
                failure = self._notebook(path).by
            except notebook.NotebookError as error:
                failure = f"{self.project.show(path)}：{_first(str(error))}"
            if failure:
                self._notebooks[path] = BrokenBaseline(failure)
            else:
                self._notebooks[path] = (dict(notebook.code_cells(stored)), dict(notebook.code_cells(fresh)), values)
        found = self._notebooks[path]
        if isinstance(found, BrokenBaseline):
            raise found
        return found

    def _notebook(self, path: Path) -> Verdict:
        original, fresh, values = self._executed(path)
        try:
            stored = notebook.read(path)
            if faults := notebook.stored_faults(stored):
                return Verdict(True, faults[0])
            checked = notebook.check_prose(notebook.prose(stored, path), values, self.project.show(path))
            if faults := checked.problems + checked.wrong:
                return Verdict(True, _first(faults[0]))
            for number, cell in notebook.code_cells(stored):
                if cell == original.get(number):
                    continue  # 原样的单元已经比较过
                if difference := notebook.cell_difference(cell, fresh[number]):
                    return Verdict(True, f"{self.project.show(path)} 第 {number} 个单元：{_first(difference)}")
        except notebook.NotebookError as error:
            return Verdict(True, _first(str(error)))
        return Verdict(False)

    # ------------------------------------------------------------ 下载

    def _download(self, mutant: Mutant) -> Verdict:
        """读者下载到的文字换掉一个字节：逐字节比较下载的测试，以及展示它的页面，应当看得出来。"""
        source = self.root / mutant.path
        data = bytearray(publish.published(source).encode("utf-8"))
        if source not in self._downloads:
            self._downloads[source] = self._download_test(source, bytes(data))
        if self._downloads[source]:  # 什么都说不同的测试，什么也没有发现
            raise BrokenBaseline(self._downloads[source])
        data[mutant.start : mutant.end] = mutant.new.encode("latin-1")
        if failure := self._download_test(source, bytes(data)):
            return Verdict(True, failure)
        for path in self.using(source.name):
            page = load_page(path, self.project)
            for block in page.blocks:
                if not block.is_script:
                    continue
                with served(source, bytes(data)):
                    failure = _block_failure(block, page, self.project, PageRun(path, page.blocks))
                if failure:
                    return Verdict(True, failure)
        return Verdict(False)

    def _download_test(self, source: Path, data: bytes) -> str | None:
        """tests/site/test_downloads.py 里逐字节比较的那个测试，给它一个只有这个下载的网站。"""
        tests = self.root / "tests" / "site" / "test_downloads.py"
        if not tests.is_file():
            return None
        module = self._downloads_module(tests)
        module.scripts = lambda folder: [source]
        target = self.root / "site" / "code" / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        try:
            module.test_every_script_is_downloadable_byte_for_byte(SimpleNamespace(folder=target.parents[1]))
        except AssertionError:
            return "tests/site/test_downloads.py：下载与已发布的文字不同"
        finally:
            target.unlink()
        return None

    def _downloads_module(self, tests: Path):
        cached = getattr(self, "_downloads_tests", None)
        if cached is None:
            import sys

            folders = [str(tests.parent), str(tests.parents[1])]  # 它自己的，与各测试共用的工具的
            sys.path[:0] = folders
            try:
                cached = self._downloads_tests = __import__("test_downloads")
            finally:
                for folder in folders:
                    sys.path.remove(folder)
        return cached

    # ------------------------------------------------------------ 脚本

    def using(self, name: str) -> dict[Path, _Shows]:
        """展示了这个脚本（的一行或一个片段）的页面。"""
        if self._using is None:
            self._using = {}
            for path in pages_of(self.project):
                if path.suffix != ".md" or "8<" not in read(path):
                    continue
                page = load_page(path, self.project)
                code = "\n".join(block.code.content for block in page.blocks)
                cost = 0.3 + 1.0 * ("import torch" in code) + 5.0 * any(block.is_script for block in page.blocks)
                for block in page.blocks:
                    for origin in block.code.origins:
                        if origin.path.parent == self.root / "code":
                            shows = self._using.setdefault(origin.path.name, {}).setdefault(path, _Shows(cost))
                            shows.lines.add(origin.line)
        return self._using.get(name, {})

    def steps(self, mutant: Mutant, everything: bool = False) -> list[Step]:
        """可能看得见这处改动的检查，便宜的在前。`everything` 时不按行挑选，用到这个脚本的都算。"""
        name = Path(mutant.path).name
        lines = set(range(mutant.lines[0], mutant.lines[1] + 1))
        steps = [
            Step(shows.seconds, page=path)
            for path, shows in self.using(name).items()
            if everything or mutant.kind == "marker" or lines & shows.lines
        ]
        imports, loading = self.coverage["imports"], self.coverage["seconds"]
        files: dict[tuple[str, bool], list[tuple[float, str]]] = {}
        for node, test in self.coverage["tests"].items():
            file = node.partition("::")[0]
            seen = set(test["lines"].get(name, ())) | set(imports.get(file, {}).get(name, ()))
            if seen & lines or (seen and (everything or test.get("cut"))):
                files.setdefault((file, False), []).append((test["seconds"], node))
            elif name in node:  # 在别的进程里运行它的测试，走过的行看不见
                files.setdefault((file, True), []).append((test["seconds"], node))
        for (file, _), group in files.items():  # 一个测试文件一步：导入测试文件往往比测试本身还慢
            cost = 0.3 + loading.get(file, 0.0) + sum(spent for spent, _ in group) / 2
            steps.append(Step(cost, tests=tuple(node for _, node in sorted(group))))
        return sorted(steps, key=lambda step: step.seconds)

    def _script(self, mutant: Mutant) -> Verdict:
        for step in self.steps(mutant, everything=mutant.kind == "marker"):
            if failure := self._step(step):
                return Verdict(True, failure)
        return Verdict(False)

    def _step(self, step: Step) -> str | None:
        if step.page is not None:
            return self._page(step.page).by or None
        code, text = self.lessons.run(list(step.tests), 20 + 10 * step.seconds)
        if code in (4, 5):  # 参数名变了，节点找不到：换成整个文件
            code, text = self.lessons.run(sorted({node.partition("::")[0] for node in step.tests}), 60 + 10 * step.seconds)
        if code == 0:
            return None
        return text or f"pytest 的退出码是 {code}"


class served:
    """让 `livedocs.verdict` 以为 `source` 发布的是 `data`；页面展示的仍是真正的已发布文字。"""

    def __init__(self, source: Path, data: bytes):
        def published(path: Path) -> str:
            return data.decode("utf-8", "surrogateescape") if Path(path) == source else publish.published(path)

        self.replacement = SimpleNamespace(published=published, PublishError=publish.PublishError)

    def __enter__(self) -> None:
        verdict.publish = self.replacement

    def __exit__(self, *_) -> None:
        verdict.publish = publish


def _remember_transcripts() -> None:
    """同样的脚本打印同样的文字，只真的运行一次。"""
    if hasattr(transcript.run_script, "cache_info"):
        return
    transcript.run_script = functools.lru_cache(maxsize=64)(transcript.run_script)
