"""升级演习：换一个依赖的版本，页面上有什么会变？

    python -m livedocs.upgrade numpy==2.3.5
    python -m livedocs.upgrade mkdocs-material==9.8.1 pymdown-extensions==13.1.1
    python -m livedocs.upgrade katex==0.19.0

名字是 requirements*.txt 里锁定的包，或 web/package.json 里 npm 的包；几个可以一起换。
全部在临时文件夹里的拷贝上做（见 `livedocs.sandbox`），项目本身一个字节不动：

1. 用现在的版本严格构建网站，再换版本、再构建，比较每一页看得见的文字、警告和每个文件的字节；
2. 用新的版本运行全部页面、脚本和 notebook，记下 `--update-docs` 要改的每一处和不能通过的每一处；
3. 变了的页面再用现在的版本运行一遍，升级之前就有的差别不算在升级头上。

结果分四类：**意义**（文字、形状、次序、报错、相似度超限的图、不能通过的页面、新的警告）、**舍入**（规则见 `livedocs.changes`）、
**版本号**（页面写着所换的版本）、**字节**（看得见的文字没变：样式、脚本、标记、搜索索引）。

退出码：0 什么都不变；1 只有舍入、版本号或字节；2 有意义的变动；3 试不成，原因是一句话。

在 Linux 上换 torch 时，像 README 那样设 PIP_EXTRA_INDEX_URL，免得装成带 CUDA 的版本。
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from livedocs import notebook, proof, sandbox, site_diff
from livedocs.changes import Kind, Verdict, classify, line_changes, only_versions
from livedocs.page import load_page
from livedocs.project import ProjectError, find_root, load_project
from livedocs.sandbox import Pin, Sandbox, SandboxError

TITLES = {Kind.MEANING: "意义", Kind.ROUNDING: "舍入", Kind.VERSION: "版本号", Kind.BYTES: "字节"}
#: 一处变化最多显示旧的、新的各几行。
SHOWN = 6
#: 前一段出错以后没有运行的块：只是后果，不单独列出。
_CONSEQUENCE = re.compile(r"这一段没有运行|不能求值：前面第")


@dataclass(frozen=True)
class Change:
    """报告里的一处：在哪里、是什么、为什么归这一类、从什么变成什么。"""

    place: str
    what: str
    verdict: Verdict
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        lines = [f"  {self.place} {self.what}：{self.verdict.reason}"]
        for mark, text in (("-", self.old), ("+", self.new)):
            shown = text.split("\n") if text else []
            lines += [f"      {mark} {line}" for line in shown[:SHOWN]]
            lines += [f"      {mark} …… 另有 {len(shown) - SHOWN} 行"] if len(shown) > SHOWN else []
        return "\n".join(lines)


@dataclass
class Run:
    """一次运行全部（或几个）页面的记录，见 `livedocs.recorder`。"""

    edits: dict[tuple[str, int], dict] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    broken: str = ""

    def pages(self) -> set[str]:
        return {page for page, _ in self.edits} | set(self.failures)


def wanted(arguments: list[str], root: Path) -> list[Pin]:
    """命令行里的 `NAME==VERSION` → 要换的依赖。

    Raises:
        SandboxError: 写法不对、没有这个包、版本就是现在的。
    """
    known, found = sandbox.pins(root), []
    by_canonical = {sandbox.canonical(name): name for name in known}
    for argument in arguments:
        match = re.fullmatch(r"([@\w./-]+?)==([\w.+!-]+)", argument)
        if match is None:
            raise SandboxError(f"读不懂 {argument}：应写成 名字==版本，例如 numpy==2.3.5")
        given, version = match.groups()
        name = given if given in known else by_canonical.get(sandbox.canonical(given))
        if name is None:
            close = difflib.get_close_matches(given, known, n=1)
            hint = f"；是不是 {close[0]}？" if close else f"；锁定的有：{'、'.join(sorted(known))}"
            raise SandboxError(f"{given} 不是这个项目锁定的包{hint}")
        old, npm = known[name]
        if version == old:
            raise SandboxError(f"{name} 现在就是 {version}，没有什么可试的")
        if name in {pin.name for pin in found}:
            raise SandboxError(f"{name} 写了两次")
        found.append(Pin(name, old, version, npm))
    return found


def drill(root: Path, changed: list[Pin], folder: Path, say: Callable[[str], None]) -> list[Change]:
    """整个演习；返回全部变化。`folder` 是空的临时文件夹，拷贝和网站都在里面。"""
    docs = load_project(root).docs.relative_to(root).as_posix()
    for pin in changed:
        installed = pin.old if pin.npm else proof.running_version(pin.name)
        if installed != pin.old:
            raise SandboxError(f"{pin.name} 锁定的是 {pin.old}，{'装着的却是 ' + installed if installed else '却没有安装'}；先按锁定的版本装好")
    say("[1/5] 拷贝项目")
    before = sandbox.create(root, folder / "before")
    after = sandbox.create(before.tree, folder / "after", packages=not any(pin.npm for pin in changed))
    say(f"[2/5] 换版本：{'、'.join(map(str, changed))}")
    along = sandbox.upgrade(after, changed, say)
    if along:
        say(f"  连带换了：{'、'.join(along)}")
    say("[3/5] 构建网站两次")
    changes = site_changes(before, after, docs, folder, changed, say)
    if any(pin.name == "pyodide" and pin.npm for pin in changed):
        changes += browser_changes(before, after, docs, say)
    if all(pin.npm for pin in changed):
        say("[4/5] 运行页面的 Python 没有变，不必再运行")
    else:
        changes += python_changes(before, after, docs, say)
    return [_versioned(change, changed) for change in changes]


def python_changes(before: Sandbox, after: Sandbox, docs: str, say: Callable[[str], None]) -> list[Change]:
    """页面、脚本和 notebook 的变化。"""
    say("[4/5] 用新的版本运行全部页面")
    now = run_pages(after, [docs], say)
    notebooks = [path.relative_to(after.tree).as_posix() for path in sorted((after.tree / docs).rglob("*.ipynb"))]
    moved = [name for name in notebooks if (after.tree / name).read_bytes() != (before.tree / name).read_bytes()]
    affected = sorted(now.pages() | set(moved)) if not now.broken else [docs]
    then = Run()
    if affected:
        say(f"[5/5] 用现在的版本再运行有差别的 {len(affected)} 页")
        then = run_pages(before, affected, say)
        if then.broken:
            raise SandboxError(f"用现在的版本也运行不了页面，先修好：\n{then.broken}")
    else:
        say("[5/5] 没有页面有差别")
    changes = page_changes(now, then, before.tree)
    for name in moved:
        if name not in now.failures:
            changes += notebook_changes(name, before.tree / name, after.tree / name)
    already = sum(len(texts) for texts in then.failures.values()) + len(then.edits)
    if already:
        say(f"  现在的版本就有的差别 {already} 处（页面还没有写回，或不能通过），不算在升级头上")
    return changes


def _versioned(change: Change, changed: list[Pin]) -> Change:
    """只是所换的版本号变了的，改归“版本号”。"""
    if change.old and only_versions(change.old, change.new, {pin.old: pin.new for pin in changed}):
        return dataclasses.replace(change, verdict=Verdict(Kind.VERSION, "写着所换的版本"))
    return change


# ---------------------------------------------------------------- 页面


def run_pages(side: Sandbox, targets: list[str], say: Callable[[str], None]) -> Run:
    """在 `side` 里对 `targets` 运行 `pytest --update-docs`，读回每一处改动和失败。"""
    log = side.env / "record.jsonl"
    log.unlink(missing_ok=True)
    seen = 0

    def entries() -> list[dict]:
        text = log.read_text(encoding="utf-8") if log.is_file() else ""
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def watch() -> None:
        nonlocal seen
        progress = [entry for entry in entries() if "done" in entry]
        for entry in progress[seen:]:
            say(f"  {entry['done'] + 1}/{entry['total']} {entry['page']}")
        seen = len(progress)

    command = [side.python, "-m", "pytest", "-p", "no:cacheprovider", "-p", "livedocs.recorder", "--update-docs", "-q"]
    command += ["--rootdir", str(side.tree), "--continue-on-collection-errors", *targets]
    code, said = sandbox.run(command, side, "pytest --update-docs", say, watch=watch, LIVEDOCS_RECORD=str(log))
    watch()
    found = Run()
    for entry in entries():
        if "failure" in entry:
            found.failures.setdefault(entry["page"], []).append(entry["failure"].strip())
        elif "line" in entry:
            found.edits[entry["page"], entry["line"]] = entry
    if code not in (0, 1, 5) or (code == 1 and not found.failures):
        found.broken = sandbox.tail(said)
    return found


def page_changes(now: Run, then: Run, tree: Path) -> list[Change]:
    """新版本的运行 `now` 与现在的运行 `then` 之间的变化；`then` 里没有的改动，旧的一边就是页面写着的。"""
    changes = []
    if now.broken:
        changes.append(Change("全部页面", "检查", Verdict(Kind.MEANING, "换了版本以后，检查运行不起来"), new=now.broken))
    for (page, line), entry in now.edits.items():
        before = then.edits.get((page, line), {}).get("new", entry["old"])
        for change in line_changes(_unquoted(before), _unquoted(entry["new"])):
            at = line + min(change.offset, max(len(entry["old"]) - 1, 0))
            changes.append(Change(f"{page}:{at}", entry["what"], change.verdict, change.old, change.new))
    for page, texts in now.failures.items():
        fresh = [text for text in texts if text not in then.failures.get(page, [])]
        causes = [text for text in fresh if not _CONSEQUENCE.search(text)] or fresh
        for text in causes:
            if numbers := _number_failures(page, text, tree):
                changes += numbers
                continue
            reason = "换了版本以后不能通过"
            if text is causes[-1] and len(fresh) > len(causes):
                reason += f"（后面 {len(fresh) - len(causes)} 项因此没有运行）"
            changes.append(Change(_place(page, text, tree), "页面", Verdict(Kind.MEANING, reason), new=text))
    return changes


def _number_failures(page: str, failure: str, tree: Path) -> list[Change]:
    """notebook 的文字里绑定的数不会自动改写，只会报错；每一行都是这种错误时，逐个归类，否则是空的。"""
    found = []
    for line in failure.split("\n"):
        match = re.fullmatch(r".* 第 \d+ 个单元：写的是 (.+?)，.* 是 .+，应写 (.+)", line)
        if match is None or not page.endswith(".ipynb"):
            return []
        old, new = match.groups()
        found.append(Change(_place(page, line, tree), "数字", classify(old, new), old, new))
    return found


def _unquoted(lines: list[str]) -> list[str]:
    """去掉围栏的首尾行：插入或删除整个输出时，只看输出本身。"""
    return [line for line in lines if not re.match(r"[> \t]*(`{3,}|~{3,})", line)] if _fenced(lines) else list(lines)


def _fenced(lines: list[str]) -> bool:
    return bool(lines) and bool(re.match(r"[> \t]*(`{3,}|~{3,})", lines[-1]))


def _place(page: str, failure: str, tree: Path) -> str:
    """报错的全文里写着的页面与行；notebook 的单元换算成文件里的行。"""
    if match := re.search(rf"{re.escape(page)}:(\d+)", failure):
        return f"{page}:{match.group(1)}"
    cell = re.search(r"第 (\d+) 个单元", failure)
    if cell is None or not page.endswith(".ipynb"):
        return f"{page}:1"
    text = (tree / page).read_text(encoding="utf-8")
    return f"{page}:{_cell_line(json.loads(text)['cells'][int(cell.group(1)) - 1], text)}"


def notebook_changes(name: str, before: Path, after: Path) -> list[Change]:
    """一个 notebook 各单元的输出的变化；位置是单元在文件里的行。"""
    old, new = notebook.read(before), dict(notebook.code_cells(notebook.read(after)))
    text, changes = before.read_text(encoding="utf-8"), []
    for number, cell in notebook.code_cells(old):
        place = f"{name}:{_cell_line(cell, text)}"
        then, now = notebook.normal_outputs(cell), notebook.normal_outputs(new[number])
        if [output[:2] for output in then] != [output[:2] for output in now]:
            reason = notebook.cell_difference(cell, new[number]) or "输出的种类不同"
            changes.append(Change(place, f"第 {number} 个单元", Verdict(Kind.MEANING, reason)))
            continue
        for (_, mime, was), (_, _, is_now) in zip(then, now, strict=True):
            if mime.startswith("image/") and mime != "image/svg+xml":
                if difference := notebook.picture_difference(was, is_now):
                    changes.append(Change(place, f"第 {number} 个单元的图", Verdict(Kind.MEANING, difference)))
            else:
                for change in line_changes(was.splitlines(), is_now.splitlines()):
                    changes.append(Change(place, f"第 {number} 个单元的输出", change.verdict, change.old, change.new))
    return changes


def _cell_line(cell: dict, text: str) -> int:
    source = cell.get("source") or ""
    first = source.split("\n", 1)[0] if isinstance(source, str) else source[0].rstrip("\n") if source else ""
    wanted = json.dumps(first, ensure_ascii=False)[:-1]
    return next((n for n, line in enumerate(text.split("\n"), 1) if line.strip().removeprefix('"source": ').startswith(wanted)), 1)


def browser_changes(before: Sandbox, after: Sandbox, docs: str, say: Callable[[str], None]) -> list[Change]:
    """能在网页里运行的页面，用两个版本的 Pyodide 各运行一次（在 Node 里），比较每段代码写出的文字。"""
    runner = Path("web") / "test" / "run-pages.mjs"
    if not (before.tree / runner).is_file():
        return []
    project = load_project(before.tree)
    loaded = [load_page(path, project) for path in sorted((before.tree / docs).rglob("*.md"))]
    pages = [page for page in loaded if page.meta.get("runs") == "browser" and page.blocks]
    programs = json.dumps([[block.code.content for block in page.blocks] for page in pages])
    answers = []
    for side, label in ((before, "现在的"), (after, "新的")):
        node = "import subprocess, sys; from livedocs import web; sys.exit(subprocess.run([web.node(), *sys.argv[1:]]).returncode)"
        command = [side.python, "-c", node, "test/run-pages.mjs"]
        code, said = sandbox.run(
            command, side, f"用{label} Pyodide 运行 {len(pages)} 页", say, cwd=side.tree / "web", stdin=programs
        )
        answer = re.search(r"^\{.*\}$", said, re.MULTILINE)
        if code or answer is None:
            if side is before:
                raise SandboxError(f"用现在的 Pyodide 也运行不了页面，先修好：\n{sandbox.tail(said)}")
            return [Change("网页里的 Python", "检查", Verdict(Kind.MEANING, "换了版本以后运行不起来"), new=sandbox.tail(said))]
        answers.append(json.loads(answer.group())["pages"])
    changes = []
    for page, old, new in zip(pages, *answers, strict=True):
        for block, was, now in zip(page.blocks, old, new, strict=True):
            where = f"{project.show(page.path)}:{block.origin.line}"
            for change in line_changes(_told(was), _told(now)):
                changes.append(Change(where, "网页里运行的输出", change.verdict, change.old, change.new))
    return changes


def _told(answer: dict) -> list[str]:
    """Pyodide 里一段代码写出的各行，连同异常的最后一行。"""
    error = [answer["error"]["last"]] if answer["error"] else []
    return [*answer["stdout"].splitlines(), *answer["stderr"].splitlines(), *error]


# ---------------------------------------------------------------- 网站


def site_changes(before: Sandbox, after: Sandbox, docs: str, folder: Path, changed: list[Pin], say) -> list[Change]:
    """网站的变化。现在的版本构建不成时没有可比的，报 SandboxError；新的版本构建不成是意义的变动。"""
    built = {}
    for side, name in ((before, "site-before"), (after, "site-after")):
        target, record, aside = folder / name, side.tree / proof.FILE, folder / f"{name}-{proof.FILE}"
        if record.is_file():  # 徽章说的是升级之前的核对，不参加比较
            record.replace(aside)
        command = [side.python, "-m", "mkdocs", "build", "--strict", "-d", str(target)]
        label = "用现在的版本构建" if side is before else "用新的版本构建"
        _, said = sandbox.run(command, side, label, say, SOURCE_DATE_EPOCH="1700000000")
        if aside.is_file():
            aside.replace(record)
        said = said.replace(str(side.tree), "").replace(str(target), "")
        built[name] = (target if (target / "index.html").is_file() or any(target.glob("**/*.html")) else None, said)
    (old, said_before), (new, said_after) = built.values()
    if old is None:
        raise SandboxError(f"用现在的版本也构建不成网站，先修好：\n{sandbox.tail(said_before)}")
    changes = [
        Change("网站", "构建", Verdict(Kind.MEANING, "新的警告"), new=line)
        for line in dict.fromkeys(warnings_in(said_after))
        if line not in warnings_in(said_before)
    ]
    if new is None:
        return [*changes, Change("网站", "构建", Verdict(Kind.MEANING, "换了版本以后构建不成"), new=sandbox.tail(said_after))]
    found = site_diff.compare(old, new, {pin.old: pin.new for pin in changed if pin.old.count(".") >= 2})
    return changes + _site_report(found, before.tree, before.tree / docs)


def warnings_in(said: str) -> list[str]:
    said = re.sub(r"\x1b\[[0-9;]*m", "", said)
    return [line.strip() for line in said.splitlines() if re.match(r"(?:WARNING|ERROR|CRITICAL)\b|.*\w(?:Warning|Error): ", line)]


def _site_report(found: site_diff.SiteChanges, tree: Path, docs: Path) -> list[Change]:
    """同样的一行变化（例如每一页都有的按钮）只报一次，写明还有几页。"""
    places: dict[tuple[str, str, Verdict], list[str]] = {}
    only_bytes = []
    for page in found.pages:
        source = site_diff.source_of(page.path, docs)
        name = source.relative_to(tree).as_posix() if source else f"网页 {page.path}"
        if not page.lines:
            only_bytes.append(name)
            continue
        lines = _sources(source, tree) if source else []
        for line in page.lines:
            at = site_diff.find_line(line.old or line.new, [text for text, _ in lines])
            place = lines[at][1] if at is not None else f"{name}:1"
            places.setdefault((line.old, line.new, line.verdict), []).append(place)
    changes = []
    for (old, new, verdict), where in places.items():
        more = f"（另有 {len(where) - 1} 处相同：{'、'.join(where[1:4])}{'……' if len(where) > 4 else ''}）" if len(where) > 1 else ""
        changes.append(Change(where[0], f"网页{more}", verdict, old, new))
    changes += [Change(name, "网页", Verdict(Kind.MEANING, "多了这个网页")) for name in found.appeared]
    changes += [Change(name, "网页", Verdict(Kind.MEANING, "少了这个网页")) for name in found.vanished]
    changes += [Change(f"{name}:1", "网页", Verdict(Kind.BYTES, "文字没变，标记的字节变了")) for name in only_bytes]
    if found.repointed:
        reason = f"{found.repointed} 个网页看得见的文字没变，只是引用的文件名或标记里的版本号变了"
        changes.append(Change("网站", "网页", Verdict(Kind.BYTES, reason)))
    return changes + [Change("网站", "文件", Verdict(Kind.BYTES, text)) for text in found.files]


def _sources(path: Path, tree: Path) -> list[tuple[str, str]]:
    """一页的各行和它们的位置；由片段引入的行另写出处。"""
    name = path.relative_to(tree).as_posix()
    lines = load_page(path, load_project(tree)).lines if path.suffix == ".md" else []
    if not lines:
        return [(text, f"{name}:{n}") for n, text in enumerate(path.read_text(encoding="utf-8").split("\n"), 1)]
    found, at = [], 1
    for line in lines:
        own = line.origin.path == path
        at = line.origin.line if own else at
        place = f"{name}:{at}" if own else f"{name}:{at}（引自 {line.origin.path.relative_to(tree).as_posix()}:{line.origin.line}）"
        found.append((str(line), place))
    return found


# ---------------------------------------------------------------- 报告


def report(changes: list[Change], changed: list[Pin], seconds: float) -> str:
    """给人看的全文：按轻重分组，最后一行是小结。"""
    lines = []
    for kind in sorted(TITLES, reverse=True):
        group = [change for change in changes if change.verdict.kind is kind]
        if group:
            lines += [f"{TITLES[kind]}（{len(group)} 处）", *map(str, group), ""]
    counts = "、".join(f"{TITLES[kind]} {sum(c.verdict.kind is kind for c in changes)} 处" for kind in sorted(TITLES, reverse=True))
    told = {
        Kind.SAME: "什么都不变，可以换",
        Kind.BYTES: "读者看到的文字不变；样式与脚本请看一眼网站",
        Kind.VERSION: "读者看到的只有版本号变了",
        Kind.ROUNDING: "只有舍入；换了以后用 pytest --update-docs 写回",
        Kind.MEANING: "有意义的变动，逐处看过再换",
    }[worst(changes)]
    return "\n".join([*lines, f"小结：{'、'.join(map(str, changed))}：{counts}；{told}。用时 {seconds:.0f} 秒。"])


def worst(changes: list[Change]) -> Kind:
    return max((change.verdict.kind for change in changes), default=Kind.SAME)


def exit_code(changes: list[Change]) -> int:
    """0 什么都不变；1 只有舍入、版本号或字节；2 有意义的变动。"""
    return {Kind.SAME: 0, Kind.MEANING: 2}.get(worst(changes), 1)


class _Parser(argparse.ArgumentParser):
    """argparse 的用法错误以 2 退出，与“有意义的变动”撞了；改成 3。"""

    def error(self, message):
        self.exit(3, f"{self.format_usage()}命令行写错了：{message}\n")


def main(argv: list[str] | None = None) -> int:
    parser = _Parser(
        prog="python -m livedocs.upgrade", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pins", nargs="+", metavar="NAME==VERSION", help="要换的依赖和新的版本")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="项目的文件夹（含 mkdocs.yml），默认从当前文件夹往上找")
    parser.add_argument("--keep", type=Path, metavar="文件夹", help="把拷贝和两个网站留在这个（空的）文件夹里，供细看")
    options = parser.parse_args(argv)
    started = time.monotonic()

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    try:
        root = find_root(options.root.resolve())
        if root is None:
            raise SandboxError(f"{options.root} 和它的上层都没有 mkdocs.yml；用 --root 指出项目的文件夹")
        changed = wanted(options.pins, root)
        changes = _in_folder(root, changed, options.keep, say)
    except (SandboxError, ProjectError, notebook.NotebookError) as error:
        print(f"试不成：{error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("已中断，项目没有改动。", file=sys.stderr)
        return 3
    print(report(changes, changed, time.monotonic() - started))
    return exit_code(changes)


def _in_folder(root: Path, changed: list[Pin], keep: Path | None, say) -> list[Change]:
    if keep is not None:
        folder = keep.resolve()
        if folder.is_relative_to(root) or (folder.exists() and any(folder.iterdir())):
            raise SandboxError(f"--keep {keep} 应是项目之外的空文件夹")
        folder.mkdir(parents=True, exist_ok=True)
        return drill(root, changed, folder, say)
    with tempfile.TemporaryDirectory(prefix="livedocs-upgrade-", ignore_cleanup_errors=True) as temporary:
        return drill(root, changed, Path(temporary).resolve(), say)


if __name__ == "__main__":
    sys.exit(main())
