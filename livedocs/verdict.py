"""对一段代码的判决：它做了什么，文档说了什么，差在哪里，怎样改。"""

from __future__ import annotations

import re
from pathlib import Path

from livedocs import compare, publish, transcript
from livedocs.page import Block, Fault, Page
from livedocs.project import Project
from livedocs.rewrite import Edit, output_edit
from livedocs.runner import PageRun, Result, locate


class DocFailure(AssertionError):
    """页面与程序不一致。消息就是给作者看的全文。"""


def judge(block: Block, page: Page, run: PageRun, project: Project) -> Edit | None:
    """核对一段代码。一致时返回 None；只是输出过时时返回改写它的 Edit，由调用者决定是报错还是写回。

    Raises:
        DocFailure: 改写输出解决不了的错误（异常、标准错误、超时、抛错类型不符……）。
    """
    if block.is_script:
        printed = _script_output(block, page, project)
    else:
        printed = _block_output(block, page, run, project)
    if control := re.search(r"[\x00-\x08\x0b-\x1f\x7f]", printed):
        where = f"{project.show(page.path)}:{block.origin.line}"
        raise DocFailure(f"{where}：代码打印了网页显示不了的控制字符 {control.group()!r}")
    tolerance = _tolerance(block)
    if compare.same(block.documented, printed, **tolerance) and bool(printed) == bool(block.output):
        return None
    return output_edit(block, page.path, printed)


def mismatch(block: Block, edit: Edit, page: Page, project: Project) -> str:
    """输出不一致的报告。"""
    where = block.output.origin if block.output else block.origin
    name = project.show(page.path)
    if not block.output:
        head = f"{name}:{where.line}：这段代码打印了内容，后面却没有 ```{{.text .output}} 围栏"
    elif not edit.lines and edit.first <= block.output.opening.origin.line:
        head = f"{name}:{where.line}：文档有输出，代码却什么都没有打印"
    else:
        head = f"{name}:{where.line}：输出与文档不一致（代码在第 {block.origin.line} 行）"
    prefix = (block.output or block.code).prefix
    actual = [line[len(prefix) :] for line in edit.lines]
    actual = [line for line in actual if not line.startswith("```")] if not block.output else actual
    shown = compare.diff(block.documented, "\n".join(actual).strip("\n") if actual else "")
    return "\n".join([head, _indent(shown), *_sources(block, page, project), _command(name)])


def fault_report(fault: Fault, project: Project) -> str:
    return f"{project.show(fault.origin.path)}:{fault.origin.line}：{fault.message}"


def _tolerance(block: Block) -> dict[str, float]:
    options = block.output.options if block.output else {}
    return {key: float(options[key]) for key in ("rtol", "atol") if key in options}


def _block_output(block: Block, page: Page, run: PageRun, project: Project) -> str:
    result = run.result(block)
    expected = block.code.options.get("raises")
    where = f"{project.show(page.path)}:{block.origin.line}"
    if result.died:
        raise DocFailure(_text(block, page, project, f"{where}：{result.died}"))
    if result.stderr:
        raise DocFailure(
            _text(block, page, project, f"{where}：代码写到了标准错误（警告也算），读者会看到页面上没有的文字", result.stderr)
        )
    if expected and not result.error:
        raise DocFailure(_text(block, page, project, f"{where}：文档说这段代码抛出 {expected}，它却正常结束了"))
    if result.error and not (expected and result.raised(expected)):
        raise DocFailure(_crash(page, project, result, run, where, expected))
    return result.printed(expected)


def _crash(page: Page, project: Project, result: Result, run: PageRun, where: str, expected) -> str:
    said = f"文档说抛出 {expected}，实际却是" if expected else "代码出错"
    lines = [f"{where}：{said} {result.error['last']}"]
    for origin, name in locate(result.error["frames"], run.blocks):
        place = f"{project.show(origin.path)}:{origin.line}"
        include = "" if origin.path == page.path else f"（由 {where} 引入）"
        lines.append(f"    {place}，在 {name}{include}")
    if result.stdout:
        lines += ["  出错前打印：", _indent(result.stdout.rstrip("\n"))]
    return "\n".join(lines)


def _script_output(block: Block, page: Page, project: Project) -> str:
    where = f"{project.show(page.path)}:{block.origin.line}"
    source, text = _script_of(block, where, project)
    name = block.code.options.get("file", source.name)
    if name != source.name:
        raise DocFailure(f'{where}：file="{name}" 与引入的文件 {source.name} 不是同一个')
    timeout = float(block.code.options.get("timeout", transcript.TIMEOUT))
    done = transcript.run_script(text, name, timeout)
    if done.timed_out:
        raise DocFailure(f"{where}：{name} 运行超过 {timeout:g} 秒")
    if done.returncode != 0 or done.stderr:
        raise DocFailure(f"{where}：{name} 在空文件夹里不能正常运行（退出码 {done.returncode}）\n{_indent(done.stderr or done.stdout)}")
    if done.left:
        raise DocFailure(f"{where}：{name} 运行后留下了文件：{'、'.join(done.left)}")
    return done.stdout


def _script_of(block: Block, where: str, project: Project) -> tuple[Path, str]:
    """`.script` 块展示的是哪个脚本：它的已发布文本必须就是这一块。"""
    paths = list(dict.fromkeys(origin.path for origin in block.code.origins))
    for path in paths:
        try:
            text = publish.published(path)
        except (publish.PublishError, OSError):
            continue  # 页面自己的行，或只被并入一段的脚本
        if text.strip("\n") == block.code.content.strip("\n"):
            return path, text
    names = "、".join(project.show(path) for path in paths)
    raise DocFailure(f'{where}：页面展示的不是整个 {names}；.script 块里只写一行 --8<-- "code/文件名.py"')


def _text(block: Block, page: Page, project: Project, head: str, detail: str = "") -> str:
    return "\n".join([head, *([_indent(detail.rstrip("\n"))] if detail else []), *_sources(block, page, project)])


def _sources(block: Block, page: Page, project: Project) -> list[str]:
    spans = [f"{project.show(path)}:{first}–{last}" for path, first, last in block.sources(page.path)]
    return [f"  代码引自 {'、'.join(spans)}"] if spans else []


def _command(name: str) -> str:
    return f"  确认新输出正确后，更新它：pytest --update-docs {name}"


def _indent(text: str) -> str:
    return "\n".join("    " + line for line in text.split("\n"))
