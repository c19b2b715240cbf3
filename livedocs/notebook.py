"""重新执行 notebook，把存下的输出与新的输出比较：文字逐字，图片按相似度。"""

from __future__ import annotations

import base64
import copy
import io
import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from livedocs import compare, numbers, rewrite
from livedocs.page import Fault, Line, Origin
from livedocs.program import Program, program
from livedocs.project import Project, find_root, load_project
from livedocs.verdict import DocFailure

CELL_TIMEOUT = 120
#: 两张图缩成 8×8 像素一格后，任何一格的平均差不能超过它（0–255）。
PICTURE_TOLERANCE = 6.0
#: 与内容无关、每次运行都可能不同的显示，不作比较的依据。
_ADDRESS = re.compile(r"(?<=at )0x[0-9a-f]{6,}(?=>)")


class NotebookError(DocFailure):
    """notebook 读不了、执行失败，或存下的输出不能发布。"""


_OUTPUT_KEYS = {
    "stream": {"name", "text"},
    "display_data": {"data"},
    "execute_result": {"data"},
    "error": {"ename", "evalue"},
}


#: 元数据里读者看得到的文字：描述与概要卡片。
_DESCRIBED = ("title", "description", "outcomes", "prerequisites")


def read(path: Path) -> dict:
    """读成普通的字典（nbformat 4）。

    Raises:
        NotebookError: 不是合法的 JSON 或不是 nbformat 4。
    """
    return parse(_bytes(path))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotebookError(f"不能读取：{error}") from None


def parse(data: bytes) -> dict:
    """同 `read`，从文件的字节。"""
    try:
        notebook = json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise NotebookError(f"不能读取：{error}") from None
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or not isinstance(notebook.get("cells"), list):
        raise NotebookError("不是 nbformat 4 的 notebook")
    for number, cell in enumerate(notebook["cells"], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") not in ("markdown", "code", "raw"):
            raise NotebookError(f"第 {number} 个单元没有合法的 cell_type")
        if cell["cell_type"] == "raw":
            raise NotebookError(f"第 {number} 个单元是 raw 单元；它的内容没有检查，改成文字或代码单元")
        source = cell.get("source")
        lines = source if isinstance(source, list) else [source]
        if not all(isinstance(line, str) for line in lines):
            raise NotebookError(f"第 {number} 个单元没有 source 文字")
        if cell["cell_type"] == "code" and not isinstance(cell.get("outputs"), list):
            raise NotebookError(f"第 {number} 个单元没有 outputs 列表")
        for output in cell["outputs"] if cell["cell_type"] == "code" else ():
            if not isinstance(output, dict) or not _OUTPUT_KEYS.get(output.get("output_type"), {"?"}) <= output.keys():
                raise NotebookError(f"第 {number} 个单元存下的输出不完整；重新执行：pytest --update-docs")
    return notebook


def code_cells(notebook: dict) -> list[tuple[int, dict]]:
    """(单元序号, 单元)，序号从 1 数起，算上文字单元。"""
    return [(n, cell) for n, cell in enumerate(notebook["cells"], 1) if cell.get("cell_type") == "code"]


def stored_faults(notebook: dict) -> list[str]:
    """不用执行就知道不能发布的：读者没有的内核，存下的错误、写到标准错误的文字（警告），没有从头依次执行过的单元。"""
    kernel, ran = kernel_of(notebook), 0
    faults = [] if kernel == "python3" else [f"元数据里的内核 kernelspec.name 是 {kernel!r}；写成 python3，读者的 Jupyter 里都有它"]
    for number, cell in code_cells(notebook):
        if source_of(cell).strip():
            ran, count = ran + 1, cell.get("execution_count")
            if count is None:
                faults.append(f"第 {number} 个单元没有执行过")
            elif count != ran:
                faults.append(f"第 {number} 个单元的执行序号是 [{count}]，从头依次执行应是 [{ran}]")
        for output in cell.get("outputs", []):
            if output.get("output_type") == "error":
                faults.append(f"第 {number} 个单元存下的输出是错误 {output.get('ename')}: {output.get('evalue')}")
            elif output.get("output_type") == "stream" and output.get("name") == "stderr":
                faults.append(f"第 {number} 个单元存下的输出含有标准错误（警告）：{_joined(output.get('text')).strip()[:80]}")
    return faults


def kernel_of(notebook: dict) -> object:
    """元数据里的内核名；没有写是 None。"""
    try:
        return notebook["metadata"]["kernelspec"]["name"]
    except (KeyError, TypeError):
        return None


def described(notebook: dict) -> dict:
    """元数据里写给读者的：题目、描述、概要卡片里的几项。"""
    metadata = notebook.get("metadata")
    return {key: metadata[key] for key in _DESCRIBED if metadata.get(key)} if isinstance(metadata, dict) else {}


def alternatives(cell: dict) -> list[str]:
    """一个单元的图存下的替代文字，依次。"""
    details = [part for output in cell.get("outputs", []) for part in (output.get("metadata") or {}).values()]
    return [str(part["alt"]) for part in details if isinstance(part, dict) and part.get("alt")]


def _unbound(text: str, what: str, origin: Origin, inputs: Program) -> list[Fault]:
    """一段不能写记号的文字（`what` 是它的名字）里，没有来历的数与原样显示的记号。"""
    if "<!--" in text:
        return [Fault(origin, f"{what}里的记号会原样显示，去掉它；数只能用程序里写着的：{text}")]
    found = numbers.scan_lines([Line(" ".join(text.split()), origin)], [0], inputs)
    return [Fault(origin, f"{what}里不能绑定数字，" + fault.message.partition("\n")[0]) for fault in found.faults]


def prose(notebook: dict, path: Path) -> numbers.Numbers:
    """文字单元里的数和记号；出处的“行号”是单元序号，元数据是 0。文字单元里的 Python 围栏不会运行，所以是 fault。

    图的替代文字和元数据里的描述也是读者看到的文字，但不能写记号：没有来历的数是 fault。
    """
    lines: list[Line] = []
    after: list[int] = []
    ran = 0
    inputs = program(source_of(cell) for _, cell in code_cells(notebook))
    faults = []
    for key, written in described(notebook).items():
        for text in written if isinstance(written, list) else [written]:
            faults += _unbound(str(text), f"元数据的 {key} ", Origin(path, 0), inputs)
    for number, cell in enumerate(notebook["cells"], 1):
        ran += cell["cell_type"] == "code"
        for text in alternatives(cell):
            faults += _unbound(text, "图的替代文字", Origin(path, number), inputs)
        if cell["cell_type"] != "markdown":
            continue
        inside = ""
        for text in [*source_of(cell).split("\n"), ""]:
            mark = re.match(r"\s*(`{3,}|~{3,})(.*)", text)
            if mark and not inside:
                inside = mark.group(1)
                if re.search(r"\bpy", mark.group(2), re.IGNORECASE):
                    faults.append(Fault(Origin(path, number), "文字单元里的 Python 围栏不会运行；写成代码单元"))
            elif mark and mark.group(1).startswith(inside):
                inside = ""
            lines.append(Line("" if inside or mark else text, Origin(path, number)))
            after.append(ran)
    found = numbers.scan_lines(lines, after, inputs)
    found.faults = faults + found.faults
    return found


@dataclass
class ProseCheck:
    """正文里的数核对的结果：`problems` 改写解决不了；`wrong` 与程序不符，`corrections` 是其中各行改好的样子。"""

    problems: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    corrections: list[tuple[numbers.Binding, str]] = field(default_factory=list)


def check_prose(found: numbers.Numbers, values: dict[int, list[dict]], name: str) -> ProseCheck:
    """没有来历的数，和与程序不符的数。`values` 是 `execute` 求出的值。"""
    places = [f" 第 {fault.origin.line} 个单元" if fault.origin.line else "" for fault in found.faults]
    result = ProseCheck([f"{name}{place}：{fault.message}" for place, fault in zip(places, found.faults)])
    queues = {after: list(answers) for after, answers in values.items()}
    for binding in found.bindings:
        error, rewritten = numbers.check(binding, queues[binding.after].pop(0))
        if error:
            (result.problems if rewritten is None else result.wrong).append(f"{name} 第 {binding.line.origin.line} 个单元：{error}")
        if rewritten is not None:
            result.corrections.append((binding, rewritten))
    return result


def correct_prose(notebook: dict, corrections: list[tuple[numbers.Binding, str]]) -> dict:
    """正文里的数改好的一份。同一单元里相同的两行，值也相同，一起改。"""
    result = copy.deepcopy(notebook)
    lines: dict[tuple[int, str], list[tuple[numbers.Binding, str]]] = {}
    for binding, changed in corrections:
        lines.setdefault((binding.line.origin.line, str(binding.line)), []).append((binding, changed))
    for (number, old), group in lines.items():
        cell = result["cells"][number - 1]
        new = numbers.merged(group)
        texts = [new if text == old else text for text in source_of(cell).split("\n")]
        whole = "\n".join(texts)
        cell["source"] = whole.splitlines(keepends=True) if isinstance(cell["source"], list) else whole
    return result


def execute(notebook: dict, folder: Path, expressions: dict[int, list[str]] | None = None) -> tuple[dict, dict[int, list[dict]]]:
    """在新的内核里从头执行一份拷贝；返回它，和 `expressions`（第 n 个代码单元之后要求的值）的结果。

    Raises:
        NotebookError: 单元抛出异常、超时，或没有安装内核。
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    fresh = nbformat.reads(json.dumps(notebook), as_version=4)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    probes = _insert_probes(fresh, expressions or {})
    client = NotebookClient(
        fresh,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
    )
    try:
        client.execute(stderr=subprocess.DEVNULL)  # 内核自己的警告与这一页无关；单元写到标准错误的，在它的输出里
    except CellExecutionError:
        raise NotebookError(_failed_cell(fresh)) from None
    except CellTimeoutError:
        raise NotebookError(f"{_running_cell(fresh)}运行超过 {CELL_TIMEOUT} 秒") from None
    except DeadKernelError:
        raise NotebookError(f"{_running_cell(fresh)}运行时内核中途结束（可能是内存不足）") from None
    except Exception as error:
        if type(error).__name__ == "NoSuchKernel":
            raise NotebookError("没有名为 python3 的内核；运行 pip install -r requirements.txt") from None
        raise
    values = {after: json.loads(cell.outputs[0]["text"]) for after, cell in probes.items()}
    fresh.cells = [cell for cell in fresh.cells if not any(cell is probe for probe in probes.values())]
    ran = (cell for cell in fresh.cells if cell.cell_type == "code" and cell.execution_count is not None)
    for count, cell in enumerate(ran, 1):  # 插入的单元也占了序号
        cell.execution_count = count
        for output in cell.outputs:
            if "execution_count" in output:
                output.execution_count = count
    return json.loads(nbformat.writes(fresh)), values


def _insert_probes(notebook, expressions: dict[int, list[str]]) -> dict:
    """在代码单元之后插入求值的单元，返回 {前面有几个代码单元: 插入的单元}。"""
    import nbformat

    probes, cells, ran = {}, [], 0

    def probe() -> None:
        if expressions.get(ran) and ran not in probes:
            call = f'__import__("livedocs.worker", fromlist=["report"]).report({expressions[ran]!r}, globals())'
            probes[ran] = nbformat.v4.new_code_cell(call)
            cells.append(probes[ran])

    probe()
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            ran += 1
            probe()
    notebook.cells = cells
    return probes


def _failed_cell(notebook) -> str:
    for number, cell in code_cells(notebook):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                trace = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(output.get("traceback", [])))
                arrow = re.search(r"^-+>\s*(\d+) (.*)$", trace, re.MULTILINE)
                line = f"第 {arrow.group(1)} 行 {arrow.group(2).strip()}\n    " if arrow else ""
                return f"第 {number} 个单元出错：{line}{output['ename']}: {output['evalue']}"
    return "有单元出错"


def _running_cell(notebook) -> str:
    done = [number for number, cell in code_cells(notebook) if cell.get("execution_count") is not None]
    return f"第 {done[-1]} 个单元之后的单元" if done else "第一个代码单元"


def source_of(cell: dict) -> str:
    return _joined(cell.get("source"))


def _joined(text) -> str:
    return "".join(text) if isinstance(text, list) else text or ""


def normal_outputs(cell: dict) -> list[tuple[str, str, str]]:
    """输出的可比形式：(种类, MIME, 内容)；相邻的同名流合并，内存地址抹去。"""
    outputs: list[tuple[str, str, str]] = []
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            kind, text = f"stream:{output['name']}", _joined(output["text"])
            if outputs and outputs[-1][0] == kind:
                text = outputs.pop()[2] + text
            outputs.append((kind, "text/plain", text))
        elif output["output_type"] == "error":
            outputs.append(("error", "text/plain", f"{output['ename']}: {output['evalue']}"))
        else:
            for mime, data in sorted(output["data"].items()):
                content = json.dumps(data, sort_keys=True) if mime.endswith("json") else _joined(data)
                outputs.append((output["output_type"], mime, _ADDRESS.sub("0x…", content)))
    return outputs


def cell_difference(stored: dict, fresh: dict) -> str | None:
    """一个单元存下的输出与新的输出差在哪里；一致时是 None。"""
    old, new = normal_outputs(stored), normal_outputs(fresh)
    if [(kind, mime) for kind, mime, _ in old] != [(kind, mime) for kind, mime, _ in new]:
        kinds = ["、".join(f"{kind}({mime})" for kind, mime, _ in side) or "没有输出" for side in (old, new)]
        return f"输出的种类不同：存下的是 {kinds[0]}，实际是 {kinds[1]}"
    for (kind, mime, before), (_, _, after) in zip(old, new, strict=True):
        if mime.startswith("image/") and mime != "image/svg+xml":
            difference = picture_difference(before, after)
            if difference:
                return f"{mime} 图片不同：{difference}"
        elif before != after:
            return f"{kind}({mime}) 不同\n" + compare.diff(before, after)
    said = ["\n".join(alternatives(cell)) for cell in (stored, fresh)]
    return None if said[0] == said[1] else "图的替代文字不同\n" + compare.diff(*said)


def picture_difference(before: str, after: str) -> str | None:
    """两张 base64 图片是否看起来一样；不一样时说明差多少。"""
    import numpy as np
    from PIL import Image

    try:
        images = [Image.open(io.BytesIO(base64.b64decode(text))).convert("RGBA") for text in (before, after)]
    except Exception as error:
        return f"存下的图片不能解码（{error}）"
    if images[0].size != images[1].size:
        return f"大小从 {images[0].size} 变成 {images[1].size}"
    pixels = [np.asarray(image, dtype=np.float64) for image in images]
    gap = pixels[0] - pixels[1]
    for _ in range(2):  # 先各行、再各列，每 8 个取平均；末尾不满 8 个的也是一格
        starts = np.arange(0, len(gap), 8)
        sizes = np.diff(starts, append=len(gap))
        gap = (np.add.reduceat(gap, starts) / sizes[:, None, None]).swapaxes(0, 1)
    worst = float(np.abs(gap).max(initial=0.0))
    return f"8×8 像素平均后最多差 {worst:.1f}/255，上限 {PICTURE_TOLERANCE:g}" if worst > PICTURE_TOLERANCE else None


def updated(stored: dict, fresh: dict) -> dict:
    """把不一致的单元换成新的输出；一致的（包括相似的图片）保留原样，免得无意义的改动。"""
    result = copy.deepcopy(stored)
    new_cells = dict(code_cells(fresh))
    for number, cell in code_cells(result):
        new = new_cells[number]
        if cell_difference(cell, new):
            cell["outputs"] = new["outputs"]
        cell["execution_count"] = new["execution_count"]
    return result


def dump(notebook: dict) -> bytes:
    """nbformat 的通行写法：缩进一格，不转义中文，末尾换行。"""
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode("utf-8")


class NotebookFile(pytest.File):
    """一个 notebook；整本是一项测试，因为单元要在同一个内核里依次执行。"""

    def collect(self):
        from livedocs import memory, proof

        project = load_project(find_root(self.path))
        try:
            codes = [source_of(cell) for _, cell in code_cells(read(self.path))]
            entry = proof.entry_of_notebook(self.path, project)
        except NotebookError:
            codes, entry = [], None  # 由测试报告
        self.memory = memory.Memory(self.config, project, project.show(self.path), codes)
        if entry and self.memory.unchanged(entry):
            return
        self.add_marker(pytest.mark.xdist_group(project.show(self.path)))
        yield NotebookItem.from_parent(self, name="[notebook]", project=project)


class NotebookItem(pytest.Item):
    def __init__(self, *, project: Project, **kwargs):
        super().__init__(**kwargs)
        self.project = project

    def runtest(self):
        from livedocs import items, proof

        update = self.config.getoption("--update-docs")
        name = self.project.show(self.path)
        saved = _bytes(self.path)
        stored = parse(saved)
        faults = stored_faults(stored)
        if faults and not update:
            raise NotebookError("\n".join([*faults, f"  重新执行并写回：pytest --update-docs {name}"]))
        found = prose(stored, self.path)
        expressions: dict[int, list[str]] = {}
        for binding in found.bindings:
            expressions.setdefault(binding.after, []).append(binding.expression)
        fresh, values = execute(stored, self.path.parent, expressions)
        problems = stored_faults(fresh)
        if problems:
            raise NotebookError("\n".join(problem.replace("存下的输出", "输出") for problem in problems))
        checked = check_prose(found, values, name)
        if checked.problems:
            raise NotebookError("\n".join(checked.problems))
        new_cells = dict(code_cells(fresh))
        differences = checked.wrong
        for number, cell in code_cells(stored):
            difference = cell_difference(cell, new_cells[number])
            if difference:
                body = difference.replace("\n", "\n    ")
                differences.append(f"{name} 第 {number} 个单元：{body}")
        self._refuse_another_save(saved)
        if update:
            data = dump(correct_prose(updated(stored, fresh), checked.corrections))
            if data != saved and (differences or faults):
                rewrite.write_atomically(self.path, data)
                saved = data
        elif differences:
            raise NotebookError("\n".join([*differences, f"  确认新输出正确后，更新它：pytest --update-docs {name}"]))
        entry = proof.entry_of_notebook(self.path, self.project)
        self._refuse_another_save(saved)  # 记录出自刚读的文件：它要仍是查过的样子
        if update:
            self.config.stash[items.NOTES] += items.write_proof(self.project, name, entry)
        elif (pages := proof.load(self.project.root)) is not None and (problem := proof.compare(name, pages.get(name), entry)):
            raise NotebookError(problem)
        self.parent.memory.remember(entry)
        self.user_properties.append(("livedocs", f"number:{len(found.bindings)}"))
        self.user_properties.append(("livedocs", f"cell:{len(code_cells(stored))}"))

    def _refuse_another_save(self, saved: bytes) -> None:
        """文件已经不是查过的 `saved`：不能写回，也不能算通过。"""
        if _bytes(self.path) != saved:
            raise NotebookError("检查的途中又存了一次，查过的不是现在的内容；没有写回，也没有记下结果，再运行一次")

    def repr_failure(self, excinfo):
        if excinfo.errisinstance(DocFailure):
            name = self.project.show(self.path)
            text = str(excinfo.value)
            return text if text.startswith(name) else f"{name}：{text}"
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, self.project.show(self.path)
