"""变异：一次只改一处，看检查会不会发现。

    python -m livedocs.mutate                                   全站
    python -m livedocs.mutate --pages docs/labs --kinds output,number
    python -m livedocs.mutate --kinds code --sample 50 --seed 1 --resume mutation.jsonl

改的是拷贝，从不碰工作区。每个变异只运行可能看得见它的检查：页面的变异，用 pytest 所用的函数核对这一页；
脚本的变异，运行走过那一行的 tests/lessons 测试和展示那一行的页面，便宜的在前，发现了就停。
`--resume` 的文件一行一个结果（JSON）；中断后再运行，没有变过的页面和脚本不重做，添了测试以后只重判漏网的。
`--agree N` 另从每类取 N 个，用真正的 pytest 命令再判一次，两者必须一致。
没有被发现的变异逐个列出。退出码：要求全部发现的类别有漏网的、脚本的变异发现得不到 95 %、照原样就不通过、清单过时，
或 `--agree` 不一致是 1；命令用错是 2；中断是 130。

**为什么不用现成的变异工具来改脚本。** 看过三个：
- mutmut 3（在维护）把每个函数改写成“蹦床”，按模块名找变异；本站的脚本按路径装入、文件名带连字符、片段与行号要给页面看，
  它会报“没有测试”（boxed/mutmut#512、#515），也不改函数以外的代码。
- cosmic-ray 8（在维护）直接改文件，这一点合适；但每个变异只有一条固定的测试命令，不能先跑便宜的、也不能只跑走过那一行的，
  一次要从头导入 torch；它没有切片的变异，并带来数据库和网络的依赖。
- mutatest 在 Python 3.11 上要改它的源码才能运行（EvanKepner/mutatest#34），它把变异写进字节码缓存，页面看不见。
要改的又不只是脚本：页面的数字、下载的字节、notebook 的图都不是它们的事。所以这里只用标准库的 `ast` 写了运算符（`operators.py`）。
"""

from __future__ import annotations

import argparse
import ast
import concurrent.futures
import fnmatch
import hashlib
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from livedocs.mutation import mutants as sources
from livedocs.mutation.checks import Bench, BrokenBaseline
from livedocs.mutation.mutants import Mutant
from livedocs.mutation.operators import code_mutants
from livedocs.project import Project, ProjectError, find_root, load_project
from livedocs.verdict import DocFailure

#: 类别 → (说明, 至少要发现的比例；None 是不作要求)。
KINDS: dict[str, tuple[str, float | None]] = {
    "output": ("页面上输出的每个数字、每一行", 1.0),
    "number": ("正文里绑定的、给定的数，每个数字加一、减一", 1.0),
    "notebook": ("notebook 存下的文字与图片", 1.0),
    "transcript": ("脚本的运行记录，每个数字、每一行", 1.0),
    "download": ("下载的每个字节", 1.0),
    "marker": ("片段标记：引入的行与脚本里的标记", None),
    "code": ("脚本里的运算符、比较、常量、坐标轴、切片", 0.95),
    "loose": ("没有记号的数：引用的、行内代码里的常量", None),
}
EQUIVALENTS = Path("tests") / "lessons" / "equivalent-mutants.toml"
LESSONS = Path("tests") / "lessons"
_JUNK = {".git", ".venv", "venv", "node_modules", "__pycache__", ".cache", ".hypothesis", ".pytest_cache", ".ruff_cache"}
#: 只在项目的根上不要的。没有 proof.json，pytest 就不核对它：任何改动都会让证明过期，那不是发现了错误。
_JUNK_AT_ROOT = {"site", "build", "proof.json"}


class UsageError(Exception):
    """命令用错了；消息是给人看的中文句子。"""


def _junk(root: Path):
    """拷贝时不要的文件夹与文件。"""

    def ignored(folder: str, names: list[str]) -> set[str]:
        unwanted = _JUNK | _JUNK_AT_ROOT if Path(folder) == root else _JUNK
        return {name for name in names if name in unwanted or name.endswith(".egg-info")}

    return ignored


# ---------------------------------------------------------------- 挑选


def choose(project: Project, pages: list[str], kinds: frozenset[str]) -> list[Mutant]:
    """要求的范围里的全部变异，按文件与位置排序。

    Raises:
        UsageError: 一个 `pages` 也对不上任何页面或脚本。
    """
    documents, scripts = sources.pages_of(project), sources.scripts_of(project)
    if pages:
        documents, scripts = _selected(project, pages, documents, scripts)
    found: list[Mutant] = []
    for path in documents:
        if path.suffix == ".ipynb":
            found += sources.notebook_mutants(path, project.root, kinds)
        else:
            found += sources.page_mutants(path, project, kinds)
    for path in scripts:
        if "marker" in kinds:
            found += sources.section_mutants(path, project.root)
        if "code" in kinds:
            found += code_mutants(path, project.root)
        if "download" in kinds:
            found += sources.download_mutants(path, project.root)
    return found


def _selected(project: Project, patterns: list[str], documents: list[Path], scripts: list[Path]) -> tuple[list[Path], list[Path]]:
    """选中的页面与脚本；选中一页，也选中它展示的脚本。"""
    chosen: set[Path] = set()
    for pattern in patterns:
        clean = pattern.replace("\\", "/").removeprefix("./").rstrip("/")
        matching = {
            path
            for path in [*documents, *scripts]
            if (name := project.show(path)) == clean or name.startswith(clean + "/") or fnmatch.fnmatch(name, clean)
        }
        if not matching:
            raise UsageError(f"没有这样的页面或脚本：{pattern}；写相对于项目的路径，例如 docs/index.md、docs/labs、code/demo.py")
        chosen |= matching
    for path in [path for path in chosen if path.suffix == ".md"]:
        text = sources.read(path)
        chosen |= {script for script in scripts if f"code/{script.name}" in text and "8<" in text}
    return [p for p in documents if p in chosen], [p for p in scripts if p in chosen]


def sampled(found: list[Mutant], each: int | None, seed: int) -> list[Mutant]:
    """每类取 `each` 个；不指定时全部。"""
    kept: list[Mutant] = []
    for kind in KINDS:
        group = [mutant for mutant in found if mutant.kind == kind]
        if each is not None and len(group) > each:
            group = random.Random(f"{seed}:{kind}").sample(group, each)
        kept += sorted(group, key=lambda mutant: (mutant.path, mutant.start, mutant.new))
    return kept


# ---------------------------------------------------------------- 等价的变异


@dataclass(frozen=True)
class Equivalents:
    """`equivalent-mutants.toml`：与原来的程序没有可观察的差别的变异，各有理由。"""

    reasons: dict[str, str]
    problems: list[str]


def equivalents(path: Path, found: list[Mutant], scripts: set[str]) -> Equivalents:
    """读清单并与 `found` 对上；`scripts` 是这次生成了 code 变异的脚本，别的脚本的条目不核对。

    Raises:
        UsageError: 清单读不懂。
    """
    if not path.is_file():
        return Equivalents({}, [])
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name} 读不懂：{error}") from error
    reasons: dict[str, str] = {}
    problems = []
    for number, entry in enumerate(entries, 1):
        where = f"{path.name} 第 {number} 条（{entry.get('file', '没有写 file')}：{entry.get('change', '没有写 change')}）"
        missing = [key for key in ("file", "line", "change", "reason") if not str(entry.get(key, "")).strip()]
        if missing:
            problems.append(f"{where}：缺少 {'、'.join(missing)}")
            continue
        if entry["file"] not in scripts:
            if not (path.parents[2] / entry["file"]).is_file():
                problems.append(f"{where}：没有这个文件")
            continue
        texts = (path.parents[2] / entry["file"]).read_text(encoding="utf-8").split("\n")
        same = [
            m for m in found if m.kind == "code" and m.path == entry["file"] and m.change == entry["change"] and texts[m.line - 1].strip() == entry["line"].strip()
        ]
        nth = entry.get("nth")
        if not same or (nth is not None and not 1 <= nth <= len(same)):
            problems.append(f"{where}：已经没有这个变异；代码改过了，删去或更新这一条")
        elif nth is None and len(same) > 1:
            problems.append(f"{where}：对得上 {len(same)} 个变异；用 nth = 1 到 {len(same)} 指明是哪一个")
        else:
            reasons[same[(nth or 1) - 1].key] = entry["reason"]
    return Equivalents(reasons, problems)


# ---------------------------------------------------------------- 续跑


class Report:
    """一行一个结果的文件。结果带着所依据的全部文件的散列；文件变了，旧的结果就不算。

    Raises:
        UsageError: 不能记在这个文件里：是文件夹、所在的文件夹不存在、不能读，或不是这样的文件。
    """

    def __init__(self, path: Path):
        self.path = path
        self.known: dict[str, list[dict]] = {}
        self.coverage: dict[str, dict] = {}
        if path.is_dir():
            raise UsageError(f"--resume：{path} 是文件夹；写一个文件名，例如 {path / 'mutation.jsonl'}")
        if not path.parent.is_dir():
            raise UsageError(f"--resume：没有 {path.parent} 这个文件夹，不能建立 {path.name}；先建立文件夹")
        try:
            lines = path.read_bytes().split(b"\n") if path.is_file() else []
        except OSError as error:
            raise UsageError(f"--resume：{path} 不能读取（{error}）；换一个文件名") from None
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            entry = _entry(line)
            if entry is None:
                raise UsageError(f"--resume：{path} 不是这个命令写的结果（第 {number} 行）；换一个文件名，没有的文件会新建")
            if "coverage" in entry:
                self.coverage = {entry["inputs"]: entry["coverage"]}
            elif entry:
                self.known.setdefault(entry["key"], []).append(entry)

    def valid(self, mutant: Mutant, inputs: Inputs) -> dict | None:
        """这个变异仍然有效的结果；没有时是 None。"""
        for entry in reversed(self.known.get(mutant.key, ())):
            if entry["inputs"] == inputs.of(mutant, entry):
                return entry
        return None

    def append(self, entries: list[dict]) -> None:
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        with self.path.open("a+b") as stream:
            if stream.tell() and not _ends_with_newline(self.path):
                stream.write(b"\n")
            stream.write(text.encode("utf-8"))


#: 一个结果里的键。
_KEYS = {"key", "kind", "where", "change", "outcome", "by", "seconds", "inputs"}


def _entry(line: bytes) -> dict | None:
    """一行里的结果或覆盖；写到一半被打断的一行（续写时后面会补上换行）是空的，别的文件的一行是 None。"""
    try:
        entry = json.loads(line.decode("utf-8"))
    except ValueError:
        starts = (b'{"key": "', b'{"inputs": "')
        return {} if any(line.startswith(start) or start.startswith(line) for start in starts) else None
    written = isinstance(entry, dict) and ({"inputs", "coverage"} == entry.keys() or entry.keys() >= _KEYS)
    return entry if written else None


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"


class Inputs:
    """一个变异的结论取决于哪些文件：它们的散列。"""

    def __init__(self, root: Path):
        self.root = root
        self.engine = _digest([*_reachable("plugin", "items", "worker", "markdown", "mutation.checks", "mutation.lessons", "mutation.tracing"), root / "mkdocs.yml"])
        self.code = _digest((root / "code").glob("*.py"))
        self.tests = _digest((root / LESSONS).glob("*.py"))
        self.judges = _digest(_reachable("mutation.lessons"))
        self._pages: str | None = None

    def of(self, mutant: Mutant, entry: dict) -> str:
        """`entry` 是这个变异的结果。脚本的变异被发现了，只要脚本与发现它的测试（或页面）没有变，就仍然被发现：添了测试，只重判漏网的。"""
        if not mutant.path.startswith("code/"):
            return self._stamp(self.engine, self.code, _digest([self.root / mutant.path]))
        if self._pages is None:
            self._pages = _digest((self.root / "docs").rglob("*.md"))
        if entry["outcome"] != "killed" or mutant.kind != "code":
            return self._stamp(self.engine, self.code, self.tests, self._pages)
        killer = re.search(r"\btests/lessons/(test_\w+\.py)", entry["by"])
        if not killer:
            return self._stamp(self.engine, self.code, self._pages)
        shared = [path for path in (self.root / LESSONS).glob("*.py") if not path.name.startswith("test_")]
        return self._stamp(self.judges, self.code, _digest([*shared, *(self.root / LESSONS).glob(killer.group(1))]))

    @staticmethod
    def _stamp(*parts: str) -> str:
        return hashlib.sha1("".join(parts).encode(), usedforsecurity=False).hexdigest()[:12]


def _reachable(*names: str) -> set[Path]:
    """livedocs 里的这些模块，和它们直接、间接导入的 livedocs 模块：只做网站的那些（样式、下载包……）不影响结论。"""
    folder = Path(__file__).parent
    found: set[Path] = set()
    waiting = list(names)
    while waiting:
        path = folder / (waiting.pop().replace(".", "/") + ".py")
        if path in found or not path.is_file():
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "livedocs":
                inside = node.module.partition(".")[2]
                waiting += [inside, *(f"{inside}.{alias.name}".strip(".") for alias in node.names)]
    return found


def _digest(paths) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    for path in sorted(set(paths), key=lambda path: (path.name, path.parent.name)):  # 不按全路径：拷贝在哪个临时文件夹里都一样
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


# ---------------------------------------------------------------- 工作进程

_bench: Bench | None = None


def _start_worker(original: str, base: str, coverage: dict | None) -> None:
    """工作进程开始时：自己的一份拷贝。父进程没有了，就自己结束。"""
    global _bench
    parent = os.getppid()
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    root = Path(tempfile.mkdtemp(prefix="worker-", dir=base)) / "tree"
    shutil.copytree(original, root)
    os.chdir(root)
    _bench = Bench(root, coverage)


def _leave_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _judge(batch: list[Mutant]) -> list[dict]:
    """同一文件的一批变异的结果。"""
    results = []
    started = time.monotonic()
    for mutant, verdict in zip(batch, _bench.verdicts(batch)):
        if isinstance(verdict, BrokenBaseline):
            outcome, by = "broken", str(verdict)
        else:
            outcome, by = ("killed" if verdict.killed else "survived"), verdict.by
        now = time.monotonic()
        results.append(
            {
                "key": mutant.key,
                "kind": mutant.kind,
                "where": mutant.where,
                "change": mutant.change,
                "outcome": outcome,
                "by": by[:300],
                "seconds": round(now - started, 3),
            }
        )
        started = now
    return results


def _agree(mutant: Mutant, outcome: str) -> tuple[Mutant, str, int, str]:
    """用真正的 pytest 命令再判一次：（变异, 原来的结论, 退出码, 末行）。"""
    path = _bench.root / mutant.path
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
    environment = {k: v for k, v in os.environ.items() if k != "CI"}
    original = sources.read(path)
    if mutant.kind == "download":
        environment["LIVEDOCS_SERVED"] = json.dumps({"path": str(path), "start": mutant.start, "end": mutant.end, "new": mutant.new})
        command += ["-p", "livedocs.mutation.served", *map(str, _scripts_pages(path.name))]
    elif mutant.path.startswith("code/"):
        for step in _bench.steps(mutant, everything=True):
            command += [str(step.page)] if step.page else list(step.tests)
    else:
        command.append(str(path))
    try:
        if mutant.kind != "download":
            sources.write(path, mutant.apply(original))
        done = subprocess.run(command, cwd=_bench.root, env=environment, capture_output=True, text=True, timeout=600, check=False)
    finally:
        sources.write(path, original)
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return mutant, outcome, done.returncode, lines[-1] if lines else done.stderr[-200:]


def _scripts_pages(name: str) -> list[Path]:
    return [page for page in _bench.using(name) if ".script" in sources.read(page)]


# ---------------------------------------------------------------- 显示


class Bar:
    """标准错误上的进度条；不是终端时，每十分之一写一行。"""

    def __init__(self, total: int):
        self.total, self.done, self.alive = total, 0, 0
        self.started, self.shown = time.monotonic(), -1
        self.live = sys.stderr.isatty()

    def add(self, entries: list[dict]) -> None:
        self.done += len(entries)
        self.alive += sum(entry["outcome"] == "survived" for entry in entries)
        spent = time.monotonic() - self.started
        left = spent / self.done * (self.total - self.done) if self.done else 0
        share = self.done / self.total
        text = f"{self.done}/{self.total} 个变异，漏网 {self.alive}，已用 {_clock(spent)}，还要约 {_clock(left)}"
        if self.live:
            width = 24
            bar = "#" * int(share * width)
            print(f"\r[{bar:<{width}}] {text}\033[K", end="" if self.done < self.total else "\n", file=sys.stderr, flush=True)
        elif int(share * 10) > self.shown:
            self.shown = int(share * 10)
            print(f"{share:4.0%}  {text}", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


@dataclass
class Outcome:
    """一次运行的结果，以及它是否合格。"""

    entries: list[dict]
    reasons: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def groups(self) -> dict[str, Counter]:
        groups: dict[str, Counter] = {}
        for entry in self.entries:
            outcome = "equivalent" if entry["key"] in self.reasons and entry["outcome"] == "survived" else entry["outcome"]
            groups.setdefault(entry["kind"], Counter())[outcome] += 1
        return groups

    def show(self) -> None:
        print(f"{'类别':<10}{'变异':>8}{'发现':>8}{'漏网':>8}{'等价':>8}{'没判':>8}{'比例':>9}{'用时':>9}")
        for kind, count in sorted(self.groups().items(), key=lambda pair: list(KINDS).index(pair[0])):
            judged = count["killed"] + count["survived"]
            share = f"{count['killed'] / judged:.1%}" if judged else "—"
            spent = sum(entry["seconds"] for entry in self.entries if entry["kind"] == kind)
            print(
                f"{kind:<12}{sum(count.values()):>9}{count['killed']:>10}{count['survived']:>10}"
                f"{count['equivalent']:>10}{count['broken']:>10}{share:>11}{spent:>10.0f} 秒"
            )
        for kind in KINDS:
            alive = [e for e in self.entries if e["kind"] == kind and e["outcome"] == "survived" and e["key"] not in self.reasons]
            if alive:
                print(f"\n没有被发现的 {kind}（{KINDS[kind][0]}）：")
                for entry in alive:
                    print(f"  {entry['where']}：{entry['change']}")
        broken = {(entry["by"], entry["where"].rpartition(":")[0]) for entry in self.entries if entry["outcome"] == "broken"}
        for reason, path in sorted(broken):
            print(f"\n没有判：{path}：照原样就不通过：{reason}")
        for problem in self.problems:
            print(f"\n{problem}")

    def failed(self) -> bool:
        for kind, count in self.groups().items():
            wanted = KINDS[kind][1]
            judged = count["killed"] + count["survived"]
            if count["broken"] or (wanted is not None and judged and count["killed"] < wanted * judged):
                return True
        return bool(self.problems)


# ---------------------------------------------------------------- 一次运行


def campaign(root: Path, options: argparse.Namespace) -> int:
    """按 `options` 运行，返回退出码。"""
    kinds = _kinds(options.kinds)
    with tempfile.TemporaryDirectory(prefix="livedocs-mutate-", ignore_cleanup_errors=True) as base:
        original = Path(base) / "original"
        shutil.copytree(root, original, ignore=_junk(root))  # 别人可能正在改工作区：全部变异出自同一时刻的拷贝
        project = load_project(original)
        found = choose(project, options.pages, kinds)
        scripts = {mutant.path for mutant in found if mutant.kind == "code"}
        equal = equivalents(original / EQUIVALENTS, found, scripts)
        chosen = sampled(found, options.sample, options.seed)
        if not chosen:
            print("没有可改的地方")
            return 0
        report = Report(Path(options.resume) if options.resume else Path(base) / "report.jsonl")
        inputs = Inputs(original)
        known = {mutant.key: report.valid(mutant, inputs) for mutant in chosen}
        done = [entry for entry in known.values() if entry]
        todo = [mutant for mutant in chosen if not known[mutant.key]]
        if done:
            print(f"{report.path}：已有 {len(done)} 个结果，还要判 {len(todo)} 个", file=sys.stderr)
        outcome = Outcome(done, equal.reasons, list(equal.problems))
        if todo or options.agree:
            coverage = None
            if any(_uses_lessons(m) for m in chosen):
                coverage = report.coverage.get(inputs.code + inputs.tests) or _coverage(original, base)
                if coverage and inputs.code + inputs.tests not in report.coverage:
                    report.append([{"inputs": inputs.code + inputs.tests, "coverage": coverage}])
                for node, reason in (coverage or {"failed": {}})["failed"].items():
                    outcome.problems.append(f"没有用上这个测试，它照原样就不通过：{node}：{reason}")
            _run(todo, original, base, coverage, options, report, inputs, outcome, chosen)
        outcome.problems += [
            f"{EQUIVALENTS.as_posix()}：{e['where']} 的 {e['change']} 被发现了（{e['by']}），不是等价的；删去这一条"
            for e in outcome.entries
            if e["key"] in equal.reasons and e["outcome"] == "killed"
        ]
        outcome.show()
        return int(outcome.failed())


def _kinds(text: str) -> frozenset[str]:
    if not text:
        return frozenset(KINDS)
    wanted = [kind.strip() for kind in text.split(",") if kind.strip()]
    for kind in wanted:
        if kind not in KINDS:
            raise UsageError(f"没有这一类变异：{kind}；可用的是 {'、'.join(KINDS)}")
    return frozenset(wanted)


def _uses_lessons(mutant: Mutant) -> bool:
    return mutant.path.startswith("code/") and mutant.kind in ("code", "marker")


def _coverage(original: Path, base: str) -> dict | None:
    """照原样运行一次 tests/lessons，记下哪个测试走过哪些行。"""
    if not (original / LESSONS).is_dir():
        return None
    print("先照原样运行 tests/lessons，记下每个测试走过哪些行……", file=sys.stderr, flush=True)
    target = Path(base) / "coverage.json"
    environment = {k: v for k, v in os.environ.items() if k != "CI"} | {"LIVEDOCS_TRACE": str(target)}
    command = [sys.executable, "-m", "pytest", str(LESSONS), "-q", "--tb=line", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, "-p", "livedocs.mutation.tracing"], cwd=original, env=environment, capture_output=True, text=True, check=False
    )
    coverage = json.loads(target.read_text(encoding="utf-8")) if target.is_file() else {}
    if done.returncode not in (0, 1) or not coverage.get("tests"):  # 一个测试也没有运行，就什么也发现不了
        raise UsageError(f"tests/lessons 不能运行：{(done.stdout + done.stderr)[-2000:]}")
    for cached in original.rglob("__pycache__"):
        if cached.parent.name == "code":
            shutil.rmtree(cached)
    return coverage


def _run(todo, original, base, coverage, options, report, inputs, outcome, chosen) -> None:
    """在工作进程里判完 `todo`，边判边记；`--agree` 时再抽一些用真正的 pytest 判。"""
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # 同一秒里改两次、长短相同，缓存的字节码会认不出来
    os.environ.pop("CI", None)
    bar = Bar(len(todo))
    mutants = {mutant.key: mutant for mutant in todo}
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(
        options.workers, mp_context=context, initializer=_start_worker, initargs=(str(original), base, coverage)
    ) as pool:
        try:
            running = [pool.submit(_judge, batch) for batch in _batches(todo)]
            for future in concurrent.futures.as_completed(running):
                entries = [entry | {"inputs": inputs.of(mutants[entry["key"]], entry)} for entry in future.result()]
                report.append(entries)
                outcome.entries += entries
                bar.add(entries)
            if options.agree:
                _check_agreement(pool, options, outcome, chosen)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise


def _batches(todo: list[Mutant]) -> list[list[Mutant]]:
    """同一文件的变异分成小批：工作进程因此能重用照原样的结果，也不会有一个拖到最后。"""
    groups: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in todo:
        groups.setdefault((mutant.path, mutant.kind), []).append(mutant)
    batches = []
    for (_, kind), group in groups.items():
        size = {"code": 4, "marker": 6, "notebook": 10_000, "transcript": 60, "download": 5_000}.get(kind, 250)
        batches += [group[i : i + size] for i in range(0, len(group), size)]
    return sorted(batches, key=lambda batch: batch[0].kind not in ("notebook", "code"))


def _check_agreement(pool, options, outcome: Outcome, chosen: list[Mutant]) -> None:
    """每类抽 `--agree` 个（漏网的优先占一半），用真正的 pytest 命令判，与结论比较。"""
    by_key = {mutant.key: mutant for mutant in chosen}
    running = []
    for kind in KINDS:
        entries = [e for e in outcome.entries if e["kind"] == kind and e["outcome"] in ("killed", "survived") and e["key"] in by_key]
        if kind == "download":  # 末尾的换行只由 tests/site 里的测试管，那要构建整个网站
            entries = [e for e in entries if by_key[e["key"]].old and by_key[e["key"]].new]
        rng = random.Random(f"{options.seed}:agree:{kind}")
        rng.shuffle(entries)
        alive = [e for e in entries if e["outcome"] == "survived"][: options.agree // 2]
        dead = [e for e in entries if e["outcome"] == "killed"][: options.agree - len(alive)]
        running += [pool.submit(_agree, by_key[e["key"]], e["outcome"]) for e in alive + dead]
    print(f"用真正的 pytest 命令再判 {len(running)} 个……", file=sys.stderr, flush=True)
    agreed: Counter = Counter()
    for future in concurrent.futures.as_completed(running):
        mutant, judged, code, last = future.result()
        if (code != 0) == (judged == "killed") and code in (0, 1, 2):
            agreed[mutant.kind] += 1
        else:
            said = "发现" if judged == "killed" else "漏网"
            outcome.problems.append(f"结论不一致：{mutant.where} [{mutant.kind}] {mutant.change}：这里是{said}，pytest 的退出码是 {code}（{last}）")
    print("与真正的 pytest 命令一致：" + "，".join(f"{kind} {agreed[kind]} 个" for kind in KINDS if agreed[kind]))


def _inside(root: Path, pattern: str) -> str:
    """项目里的绝对路径换成相对于项目的：改的是拷贝。别的原样。"""
    if Path(pattern).is_absolute():
        for path, folder in ((Path(pattern).resolve(), root.resolve()), (Path(pattern), root)):
            if path.is_relative_to(folder):
                return path.relative_to(folder).as_posix()
    return pattern


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m livedocs.mutate", description="一次只改一处，看检查会不会发现。", add_help=True)
    parser.add_argument("--pages", nargs="+", default=[], metavar="路径", help="只改这些页面、文件夹或脚本（选一页，也选它展示的脚本）")
    parser.add_argument("--kinds", default="", metavar="类别", help=f"逗号隔开；可用的是 {'、'.join(KINDS)}")
    parser.add_argument("--sample", type=int, metavar="N", help="每类随机取 N 个")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="抽样的种子")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="并行的进程数")
    parser.add_argument("--resume", metavar="文件", help="结果记在这个文件里；已有的、仍然有效的结果不重做")
    parser.add_argument("--agree", type=int, default=0, metavar="N", help="每类再取 N 个，用真正的 pytest 命令判一次")
    options = parser.parse_args(arguments)
    root = find_root(Path.cwd())
    try:
        if root is None:
            raise UsageError("这里和上层都没有 mkdocs.yml；在项目的文件夹里运行")
        if options.workers < 1 or (options.sample is not None and options.sample < 1):
            raise UsageError("--workers 与 --sample 要是正整数")
        if options.agree < 0:
            raise UsageError("--agree 不能是负数")
        options.pages = [_inside(root, pattern) for pattern in options.pages]
        if options.resume:
            Report(Path(options.resume))  # 不能用的文件，现在就说
        return campaign(root, options)
    except (UsageError, ProjectError, DocFailure) as error:
        print(f"错误：{error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        where = f"；已有的结果在 {options.resume}，用同样的命令接着做" if options.resume else ""
        print(f"\n中断了{where}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # 被结束时也收拾好临时文件夹
    sys.exit(main())
