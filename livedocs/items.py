"""收集与核对：把 docs/ 里的页面和 notebook 变成 pytest 的测试，运行、比较、报告；`--update-docs` 写回。

Markdown 块由 pytest-markdown-docs 收集和调度；这里给它换上“网站看到的围栏”和自己的运行器。
"""

from __future__ import annotations

import dataclasses
import gc
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
from pytest_markdown_docs._runners import _Runner, register_runner
from pytest_markdown_docs.definitions import FenceTestDefinition
from pytest_markdown_docs.plugin import MarkdownTextFile

from livedocs import guard, memory, numbers, proof, rewrite, verdict
from livedocs.page import Block, Fault, Page, load_page
from livedocs.project import Project, ProjectError, find_root, load_project
from livedocs.runner import PageRun
from livedocs.verdict import DocFailure


@dataclass
class PageState:
    """一页在这次测试里的状态：它的运行、待写回的改动、有没有改写解决不了的错误。"""

    page: Page
    project: Project
    run: PageRun
    update: bool
    edits: list[rewrite.Edit] = field(default_factory=list)
    failed: bool = False
    #: 这一页共有几项测试，已经通过几项。只运行了一部分时，不能写证明。
    total: int = 0
    passed: int = 0
    #: 正在核对的这个样子的记录；`--update-docs` 改了页面以后，是改过的样子的。写法有错的页面没有。
    entry: proof.Entry | None = None
    #: `--update-docs` 检查的途中文件变了，什么也没有写。
    interrupted: bool = False

    @property
    def name(self) -> str:
        return self.project.show(self.page.path)

    @property
    def complete(self) -> bool:
        """这一页的每一项都运行过，并且通过。"""
        return not self.failed and self.passed == self.total

    def finish(self) -> list[str]:
        """这页的测试都跑完了：收回进程，写回改动和证明。返回给作者看的话。"""
        self.run.close()
        if self.update and self.entry and not self._same():
            self.edits, self.entry, self.interrupted = [], None, True
            return [f"{self.name}：检查的途中又存了一次（或它引入的文件变了），没有写回，也没有写 {proof.FILE}；再运行一次"]
        notes = []
        if self.edits and self.failed:
            notes.append(f"{self.name}：还有别的错误，没有改动文件；先修好它们")
        elif self.edits and rewrite.apply(self.page.path, self.edits):
            notes.append(f"{self.name}：写回 {len(self.edits)} 处")
        self.edits = []
        if self.update and (self.failed or self.complete):
            self.entry = None if self.failed else proof.entry_of_page(load_page(self.page.path, self.project), self.project)
            notes += write_proof(self.project, self.name, self.entry)
        return notes

    def _same(self) -> bool:
        """文件显示的内容还是检查过的那个样子。"""
        try:
            return proof.page_hash(self.page.path, self.project) == self.entry.hash
        except Exception:  # 删去了，或存到一半
            return False


def write_proof(project: Project, name: str, entry: proof.Entry | None) -> list[str]:
    """把一页的记录写进 proof.json；环境与锁定的版本不同时不写，并说明。"""
    if entry is not None and (different := proof.environment_matches(entry)):
        return [f"{name}：没有写 {proof.FILE}，因为{'；'.join(different)}"]
    return [f"{name}：更新了 {proof.FILE}"] if proof.record(project.root, name, entry) else []


@dataclass(frozen=True)
class BlockTest(FenceTestDefinition):
    """pytest-markdown-docs 的测试定义，加上它在页面里的块。"""

    block: Block | None = None
    state: PageState | None = None


class PageParser:
    """冒充 markdown-it 的解析器：交出的不是它自己找到的围栏，而是网站会显示的那些。"""

    def __init__(self, page: Page):
        self.page = page

    def parse(self, text: str) -> list:
        """`text` 是同一页的源文，已经由 `load_page` 按网站的规则读过。"""
        return [
            SimpleNamespace(
                type="fence",
                map=[block.origin.line - 1, block.code.closing.origin.line],
                info="python",
                content=block.code.content,
            )
            for block in self.page.blocks
        ]


@register_runner()
class LiveRunner(_Runner):
    """在页面的命名空间里运行一块，与文档比较。绝不放出 TypeError：收到它，调度者会把这块再运行一次。"""

    def runtest(self, test: BlockTest, args, *, asyncio_runner=None):
        state, block = test.state, test.block
        if "notest" in block.code.options:
            pytest.skip(f"{state.name}:{block.origin.line} 不运行：{block.code.options['notest']}")
        try:
            edit = verdict.judge(block, state.page, state.run, state.project)
            if edit is not None and not state.update:
                raise DocFailure(verdict.mismatch(block, edit, state.page, state.project))
        except DocFailure:
            state.failed = True
            raise
        except rewrite.RewriteError as error:
            state.failed = True
            raise DocFailure(str(error)) from error
        except Exception as error:
            state.failed = True
            raise RuntimeError(f"{state.name}:{block.origin.line}：检查本身出错：{error!r}") from error
        if edit is not None:
            state.edits.append(edit)

    def repr_failure(self, test, excinfo, style=None):
        if excinfo.errisinstance(DocFailure):
            return str(excinfo.value)
        return "\n".join([str(excinfo.value), str(excinfo.getrepr(style="short"))])


class ContractItem(pytest.Item):
    """页面约定里不需要运行的部分（livedocs.page 找到的全部 fault），以及守卫。"""

    def __init__(self, *, state: PageState, **kwargs):
        super().__init__(**kwargs)
        self.state = state

    def runtest(self):
        state = self.state
        faults = state.page.faults or guard.missed(state.page, state.project)
        if faults:
            state.failed = True
            raise DocFailure("\n".join(verdict.fault_report(fault, state.project) for fault in faults))

    def repr_failure(self, excinfo):
        return str(excinfo.value) if excinfo.errisinstance(DocFailure) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, f"{self.state.name} 的约定"


class NumbersItem(pytest.Item):
    """正文里的数：没有来历的，和与表达式的值不符的。"""

    def __init__(self, *, state: PageState, found: numbers.Numbers, **kwargs):
        super().__init__(**kwargs)
        self.state, self.found = state, found
        self.user_properties.append(("livedocs", f"number:{len(found.bindings)}"))

    def runtest(self):
        state = self.state
        state.run.finish()
        problems = [verdict.fault_report(fault, state.project) for fault in self.found.faults]
        corrections = []
        queues = {after: list(answers) for after, answers in enumerate(state.run.values)}
        for binding in self.found.bindings:
            error, rewritten = numbers.check(binding, queues[binding.after].pop(0))
            if error is None:
                continue
            if rewritten is not None and state.update:
                corrections.append((binding, rewritten))
                continue
            problems.append(verdict.fault_report(Fault(binding.line.origin, error), state.project))
        if problems:
            state.failed = True
            if any("应写" in problem for problem in problems):
                problems.append(f"  确认新的数正确后，更新它们：pytest --update-docs {state.name}")
            raise DocFailure("\n".join(problems))
        state.edits.extend(numbers.edits(state.page.path, corrections))

    def repr_failure(self, excinfo):
        return str(excinfo.value) if excinfo.errisinstance(DocFailure) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, f"{self.state.name} 正文里的数"


class ProofItem(pytest.Item):
    """proof.json 里这一页的记录，与现在的页面一致。"""

    def __init__(self, *, state: PageState, **kwargs):
        super().__init__(**kwargs)
        self.state = state

    def runtest(self):
        state = self.state
        recorded = (proof.load(state.project.root) or {}).get(state.name)
        problem = proof.compare(state.name, recorded, state.entry)
        if problem:
            raise DocFailure(f"{state.name}：{problem}")

    def repr_failure(self, excinfo):
        return str(excinfo.value) if excinfo.errisinstance((DocFailure, ValueError)) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, f"{self.state.name} 的证明"


class PageFile(MarkdownTextFile):
    """一页 Markdown。"""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.state: PageState | None = None
        self.memory: memory.Memory | None = None

    def collect(self):
        gc.collect()  # 收回上一页渲染时的垃圾，其余的以后不再走一遍：不然页数越多，每一页越慢
        gc.freeze()
        project = load_project(find_root(self.path))
        try:
            proof.load(project.root)
        except ValueError as error:
            raise self.CollectError(str(error)) from None
        page = load_page(self.path, project)
        update = self.config.getoption("--update-docs")
        self.state = PageState(page, project, PageRun(self.path, page.blocks), update)
        self.add_marker(pytest.mark.xdist_group(self.state.name))
        self.memory = memory.Memory(self.config, project, self.state.name, (block.code.content for block in page.blocks))
        if not page.faults:
            self.state.entry = proof.entry_of_page(page, project)
            if self.memory.unchanged(self.state.entry):
                return
        items = list(self._items(page, project, update))
        self.state.total = len(items)
        yield from items

    def _items(self, page: Page, project: Project, update: bool):
        yield ContractItem.from_parent(self, name="[约定]", state=self.state)
        if page.faults:
            return  # 先改好写法，再运行
        found = numbers.scan(page)
        for binding in found.bindings:
            self.state.run.expressions.setdefault(binding.after, []).append(binding.expression)
        yield from self._block_items(page)
        yield NumbersItem.from_parent(self, name="[数字]", state=self.state, found=found)
        if not update and (project.root / proof.FILE).is_file():
            yield ProofItem.from_parent(self, name="[证明]", state=self.state)

    def _block_items(self, page: Page):
        if not page.blocks:
            return
        _current.page = page
        try:
            items = list(super().collect())
        finally:
            _current.page = None
        for item, block in zip(items, page.blocks, strict=True):
            known = {f.name: getattr(item.test_definition, f.name) for f in dataclasses.fields(FenceTestDefinition)}
            item.test_definition = BlockTest(**known, block=block, state=self.state)
            item.runner_name = LiveRunner.__name__
            item.user_properties = [("livedocs", _kind(block))]
            yield item


class BrokenProject(pytest.File):
    """mkdocs.yml 不能用时，每一页都以这个原因失败。"""

    def __init__(self, *, reason: str, **kwargs):
        super().__init__(**kwargs)
        self.reason = reason

    def collect(self):
        raise self.CollectError(self.reason)


def _kind(block: Block) -> str:
    return "transcript" if block.is_script else "output" if block.output else "block"


_current = SimpleNamespace(page=None)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    parallel = getattr(config.option, "numprocesses", None) or hasattr(config, "workerinput")
    if config.getoption("--update-docs") and parallel:
        raise pytest.UsageError("--update-docs 要在一个进程里运行：去掉 -n")
    if getattr(config.option, "dist", "no") == "load":
        config.option.dist = "loadgroup"  # 一页是一个程序，不能分给两个进程
    config.addinivalue_line("markers", "xdist_group(name): 同组的测试在一个进程里运行；没有装 pytest-xdist 时不起作用")
    config.stash[NOTES] = []
    config.stash[UNWRITTEN] = False
    config.stash[memory.SKIPPED] = []


#: 运行结束时打印给作者看的话。
NOTES = pytest.StashKey[list]()
#: 有页面没有写成；测试虽然都通过，退出码是失败。
UNWRITTEN = pytest.StashKey[bool]()


def pytest_collection():
    gc.freeze()  # 渲染页面时产生大量小对象；垃圾回收不必每次又走一遍已经导入的模块


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent):
    collected = yield
    if file_path.suffix not in (".md", ".ipynb") or (root := find_root(file_path.parent)) is None:
        return collected
    try:
        project = load_project(root)
    except ProjectError as error:
        return [BrokenProject.from_parent(parent, path=file_path, reason=str(error))]
    if project.docs not in file_path.parents:
        return collected
    kept = [node for node in collected if not isinstance(node, MarkdownTextFile)]
    if file_path.suffix == ".md":
        return [*kept, PageFile.from_parent(parent, path=file_path)]
    from livedocs.notebook import NotebookFile

    return [*kept, NotebookFile.from_parent(parent, path=file_path)]


@pytest.hookimpl(tryfirst=True)
def pytest_markdown_docs_markdown_it():
    return PageParser(_current.page) if _current.page else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    try:
        return (yield)
    finally:
        state = getattr(item.parent, "state", None)
        if isinstance(state, PageState) and (nextitem is None or nextitem.parent is not item.parent):
            item.config.stash[NOTES] += state.finish()
            item.config.stash[UNWRITTEN] |= state.interrupted
            if state.complete and state.entry:
                item.parent.memory.remember(state.entry)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    state = getattr(item.parent, "state", None)
    if isinstance(state, PageState) and report.when == "call":
        state.passed += report.passed or report.skipped  # notest 的块写明了原因，不挡住这一页的证明
        state.failed |= report.failed
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session, exitstatus):
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.stash[memory.SKIPPED]:
        session.exitstatus = pytest.ExitCode.OK
    if session.config.stash[UNWRITTEN] and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    plugins = session.config.pluginmanager  # 没有用到 hypothesis 的运行，不为它结尾的报告导入整个 hypothesis
    if "hypothesis" not in sys.modules and plugins.hasplugin("hypothesispytest"):
        plugins.unregister(name="hypothesispytest")


def pytest_terminal_summary(terminalreporter, config):
    if skipped := config.stash[memory.SKIPPED]:
        terminalreporter.write_line(f"--changed：{len(skipped)} 页上次通过之后没有变过，没有再检查")
    for note in config.stash[NOTES]:
        terminalreporter.write_line(note)
    counts: dict[str, int] = {}
    pages = set()
    for report in terminalreporter.getreports("passed"):
        for key, value in report.user_properties:
            if key == "livedocs":
                kind, _, number = str(value).partition(":")
                counts[kind] = counts.get(kind, 0) + int(number or 1)
                pages.add(report.nodeid.partition("::")[0])
    if counts:
        blocks = counts.get("output", 0) + counts.get("block", 0)
        terminalreporter.write_line(
            f"livedocs 核对了 {len(pages)} 页：{blocks} 段代码，{counts.get('output', 0)} 处输出，"
            f"{counts.get('number', 0)} 个绑定的数，{counts.get('transcript', 0)} 份运行记录，{counts.get('cell', 0)} 个 notebook 单元"
        )
