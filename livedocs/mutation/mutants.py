"""可以改哪里：页面、notebook、下载和片段标记的变异。脚本里的变异在 `operators.py`。

每个变异都是“把一个文件的某一段文字换成另一段”，所以写入、恢复、报告和续跑只有一种做法。
"""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from livedocs import notebook, numbers, publish
from livedocs.page import Block, Line, Origin, Page, load_page
from livedocs.project import Project

_SECTION = re.compile(r"^\s*#\s*-+8<-+\s*\[\s*(start|end)\s*:\s*([^\]\s]+)\s*\]\s*$")
_INCLUDE = re.compile(r'^(\s*-+8<-+\s+"(code/[^":]+\.py))(?::([^":]+))?"\s*$')
#: 图片里每张取多少块来涂掉。
TILES = 12


@dataclass(frozen=True)
class Mutant:
    """一处改动：`path`（相对于项目，用斜线）的文字里，`start` 到 `end` 换成 `new`。

    `download` 的 `path` 是脚本，改的是读者下载到的文字，不是仓库里的文件；位置按已发布文件的字节数。
    """

    kind: str
    path: str
    line: int
    start: int
    end: int
    old: str
    new: str
    change: str
    #: 脚本里这处改动所在语句的首末行：测试要走过其中一行，才可能发现它。
    lines: tuple[int, int] = (0, 0)

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def key(self) -> str:
        spot = f"{self.kind}|{self.path}|{self.start}|{self.end}|{self.old}|{self.new}"
        return hashlib.sha1(spot.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]

    def apply(self, text: str) -> str:
        """改好的全文；原文对不上时报 ValueError（文件在生成变异之后变了）。"""
        if text[self.start : self.end] != self.old:
            raise ValueError(f"{self.where}：文件变了，这里不再是 {self.old!r}")
        return text[: self.start] + self.new + text[self.end :]


def read(path: Path) -> str:
    """文件的文字，行尾与 BOM 原样保留。"""
    return path.read_bytes().decode("utf-8")


def write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))


class Text:
    """一个文件的文字，按行号找位置；行尾可以是 `\\n` 或 `\\r\\n`，开头可以有 BOM。"""

    def __init__(self, root: Path, path: Path):
        self.path = path.relative_to(root).as_posix()
        self.text = read(path)
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def replace(self, kind: str, line: int, column: int, old: str, new: str, change: str = "") -> Mutant:
        """第 `line` 行（从 1 数起）第 `column` 个字起的 `old` 换成 `new`。"""
        start = self.starts[line - 1] + column
        assert self.text[start : start + len(old)] == old, (self.path, line, column, old)
        return Mutant(kind, self.path, line, start, start + len(old), old, new, change or f"{old} → {new}")

    def drop(self, kind: str, line: int) -> Mutant:
        text = self.lines[line - 1]
        return self.replace(kind, line, 0, text + "\n", "", f"删去这一行：{_short(text)}")

    def repeat(self, kind: str, line: int) -> Mutant:
        text = self.lines[line - 1]
        return self.replace(kind, line, 0, text + "\n", f"{text}\n{text}\n", f"这一行写两次：{_short(text)}")


def _short(text: str, limit: int = 40) -> str:
    text = text.strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def other_digit(digit: str, step: int = 1) -> str:
    return str((int(digit) + step) % 10)


def _digits(text: Text, kind: str, line: int, first: int, last: int, steps: tuple[int, ...] = (1,)) -> Iterator[Mutant]:
    """一行的 `first` 到 `last` 之间的每个数字。"""
    shown = text.lines[line - 1]
    for column in range(first, min(last, len(shown))):
        if shown[column] in "0123456789":
            for step in steps:
                new = other_digit(shown[column], step)
                around = _short(shown[max(0, column - 12) : column] + f"[{shown[column]}→{new}]" + shown[column + 1 : column + 9])
                yield text.replace(kind, line, column, shown[column], new, f"{shown[column]} → {new}：{around}")


def page_mutants(path: Path, project: Project, kinds: frozenset[str]) -> list[Mutant]:
    """一页 Markdown 里的 output、transcript、number、loose、marker 变异。"""
    page = load_page(path, project)
    text = Text(project.root, path)
    found: list[Mutant] = []
    for block in page.blocks:
        kind = "transcript" if block.is_script else "output"
        if kind in kinds and block.output:
            found.extend(_output_mutants(text, block, page, kind))
    if kinds & {"number", "loose"}:
        found.extend(mutant for mutant in _number_mutants(text, page) if mutant.kind in kinds)
    if "marker" in kinds:
        found.extend(_include_mutants(text, project))
    return found


def _output_mutants(text: Text, block: Block, page: Page, kind: str) -> Iterator[Mutant]:
    """输出里的每个数字、每一行：数字换一个，行删去；整份运行记录的行还写两次。"""
    for origin, line in zip(block.output.origins, block.output.content.split("\n")):
        if origin.path != page.path:
            continue
        prefix = len(text.lines[origin.line - 1]) - len(text.lines[origin.line - 1].lstrip("> \t")) if line.strip() else 0
        yield from _digits(text, kind, origin.line, prefix, len(text.lines[origin.line - 1]))
        if line.strip():
            yield text.drop(kind, origin.line)
            if kind == "transcript":
                yield text.repeat(kind, origin.line)


def _number_mutants(text: Text, page: Page) -> Iterator[Mutant]:
    """正文里的数：绑定的与声明为给定的（number），以及没有记号的（loose：引用的、行内代码里的常量）。"""
    bindings = numbers.scan(page).bindings
    in_fence = {n for fence in page.fences for n in range(fence.start, fence.end)}
    for n, line in enumerate(page.lines):
        number = line.origin.line
        if n in in_fence or line.origin.path != page.path or not number or not line.strip():
            continue
        shift = text.lines[number - 1].find(str(line))
        if shift < 0:
            continue  # 制表符或行尾被换过的行
        for kind, first, last in _numbers_of(line, [b for b in bindings if b.line.origin == line.origin]):
            yield from _digits(text, kind, number, shift + first, shift + last, (1, -1) if kind == "number" else (1,))


def _numbers_of(line: Line, bindings: list[numbers.Binding]) -> Iterator[tuple[str, int, int]]:
    """一行里的数：（类别, 起, 止）。"""
    shown = str(line)
    spans = set(_given_spans(line))
    for binding in bindings:
        bound = list(binding.spans)
        if binding.formula:  # 公式里绑定的是最后的数；前面的一两位整数不必有来历
            bound = [span for span in bound[:-1] if numbers._is_result(shown[slice(*span)])] + bound[-1:]
        spans.update(bound)
    for first, last in sorted(spans):
        yield "number", first, last
    for match in numbers.NUMBER.finditer(numbers._mask(shown)[0]):
        free = not any(match.start() < last and first < match.end() for first, last in spans)
        if free and numbers._is_result(match.group()):
            yield "loose", *match.span()


def _given_spans(line: Line) -> list[tuple[int, int]]:
    text = str(line)
    if "<!--given" not in text:
        return []
    masked, formulas, codes = numbers._mask(text)
    spans: list[tuple[int, int]] = []
    for mark in numbers.MARK.finditer(text):
        if not mark.group("given") or any(start < mark.start() < end for start, end in codes):
            continue  # 行内代码里写着的记号只是文字
        literal = numbers._literal_before(text, mark.start(), masked, formulas, codes, [])
        if literal:  # 列表、公式里的一两位整数不必有来历
            spans.extend(span for span in literal[0] if len(literal[0]) == 1 or numbers._is_result(text[slice(*span)]))
    return spans


def _include_mutants(text: Text, project: Project) -> Iterator[Mutant]:
    """页面里引入片段的行：删去；名字拼错；换成同一文件的下一个片段。"""
    for number, line in enumerate(text.lines, 1):
        match = _INCLUDE.match(line)
        if not match or not (project.root / match.group(2)).is_file():
            continue
        yield text.drop("marker", number)
        if match.group(3) is None:
            column = match.start(2)
            yield text.replace("marker", number, column, match.group(2), match.group(2)[:-3] + "x.py")
            continue
        column, name = match.start(3), match.group(3)
        yield text.replace("marker", number, column, name, name + "x")
        names = [m.group(2) for m in map(_SECTION.match, read(project.root / match.group(2)).split("\n")) if m and m.group(1) == "start"]
        if name in names and len(names) > 1:
            yield text.replace("marker", number, column, name, names[(names.index(name) + 1) % len(names)])


def section_mutants(path: Path, root: Path) -> list[Mutant]:
    """脚本里的片段标记：删去；改名；少围进一行。"""
    text = Text(root, path)
    found = []
    for number, line in enumerate(text.lines, 1):
        match = _SECTION.match(line)
        if not match:
            continue
        found.append(text.drop("marker", number))
        found.append(text.replace("marker", number, match.start(2), match.group(2), match.group(2) + "x"))
        other = number + 1 if match.group(1) == "start" else number - 1
        if not 1 <= other <= len(text.lines):
            continue
        neighbour = text.lines[other - 1]
        if neighbour.strip() and not _SECTION.match(neighbour):
            first, second = sorted((number, other))
            old = "\n".join(text.lines[first - 1 : second])
            new = "\n".join(reversed(text.lines[first - 1 : second]))
            change = f"片段 {match.group(2)} 少围进一行：{_short(neighbour)}"
            found.append(text.replace("marker", first, 0, old, new, change))
    return found


def download_mutants(path: Path, root: Path) -> list[Mutant]:
    """读者下载到的文件的每个字节：低位翻转一位，末尾多一个、少一个字节。"""
    data = publish.published(path).encode("utf-8")
    name = path.relative_to(root).as_posix()
    found = []
    line = 1
    for offset, byte in enumerate(data):
        change = f"下载的第 {offset} 个字节 {byte:#04x} → {byte ^ 1:#04x}"
        found.append(Mutant("download", name, line, offset, offset + 1, chr(byte), chr(byte ^ 1), change))
        line += byte == 10
    found.append(Mutant("download", name, line, len(data), len(data), "", "\n", "下载的末尾多一个换行"))
    if data:
        found.append(Mutant("download", name, line, len(data) - 1, len(data), chr(data[-1]), "", "下载的末尾少一个字节"))
    return found


# ---------------------------------------------------------------- notebook


def notebook_mutants(path: Path, root: Path, kinds: frozenset[str]) -> list[Mutant]:
    """存下的输出：文字里的每个数字、每一行，每张图片；以及文字单元里的数。"""
    text = Text(root, path)
    original = notebook.read(path)
    if notebook.dump(original).decode("utf-8") != text.text:
        raise notebook.NotebookError(f"{text.path} 不是通行的写法；先运行 pytest --update-docs {text.path}")
    found = []
    if "notebook" in kinds:
        for number, cell in notebook.code_cells(original):
            for index, output in enumerate(cell.get("outputs", [])):
                for key, mime, value in _stored_texts(output):
                    where = (number - 1, index, key, mime)
                    if (mime or "").startswith("image/") and mime != "image/svg+xml":
                        pictures = picture_changes(_joined(value))
                        found.extend(_rewritten(text, original, where, _like(value, new), f"第 {number} 个单元的图：{what}") for what, new in pictures)
                        continue
                    found.extend(
                        _rewritten(text, original, where, new, f"第 {number} 个单元：{what}") for what, new in _text_changes(value)
                    )
    if kinds & {"number", "loose"}:
        found.extend(mutant for mutant in _notebook_numbers(text, original, path) if mutant.kind in kinds)
    return found


def _notebook_numbers(text: Text, original: dict, path: Path) -> Iterator[Mutant]:
    """文字单元里的数，类别与页面上的相同。"""
    bindings = notebook.prose(original, path).bindings
    for number, cell in enumerate(original["cells"], 1):
        if cell.get("cell_type") != "markdown":
            continue
        lines = _joined(cell["source"]).split("\n")
        for index, content in enumerate(lines):
            line = Line(content, Origin(path, number))
            own = [b for b in bindings if b.line.origin.line == number and str(b.line) == content]
            for kind, first, last in _numbers_of(line, own):
                for column in range(first, last):
                    if content[column] not in "0123456789":
                        continue
                    for step in (1, -1) if kind == "number" else (1,):
                        new = other_digit(content[column], step)
                        changed = content[:column] + new + content[column + 1 :]
                        source = _like(cell["source"], "\n".join([*lines[:index], changed, *lines[index + 1 :]]))
                        around = _short(content[max(0, column - 12) : column] + f"[{content[column]}→{new}]" + content[column + 1 : column + 9])
                        what = f"第 {number} 个单元：{content[column]} → {new}：{around}"
                        yield _rewritten(text, original, (number - 1, None, "source", None), source, what, kind)


def _joined(value) -> str:
    return "".join(value) if isinstance(value, list) else value


def _like(value, new: str):
    """按原来的写法存：一行一项的列表，或一个字符串。"""
    return new.splitlines(keepends=True) if isinstance(value, list) else new


def _stored_texts(output: dict) -> Iterator[tuple[str, str | None, str | list]]:
    if output["output_type"] == "stream":
        yield "text", None, output["text"]
    for mime, value in output.get("data", {}).items():
        if isinstance(value, (str, list)):
            yield "data", mime, value


def _text_changes(value) -> Iterator[tuple[str, str | list]]:
    joined = _joined(value)
    hidden = {i for match in notebook._ADDRESS.finditer(joined) for i in range(*match.span())}
    for i, char in enumerate(joined):
        if char in "0123456789" and i not in hidden:
            new = other_digit(char)
            around = _short(joined[max(0, i - 12) : i].rpartition("\n")[2] + f"[{char}→{new}]" + joined[i + 1 : i + 9].partition("\n")[0])
            yield f"{char} → {new}：{around}", _like(value, joined[:i] + new + joined[i + 1 :])
    lines = joined.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if line.strip():
            yield f"删去这一行：{_short(line)}", _like(value, "".join(lines[:i] + lines[i + 1 :]))


def _rewritten(text: Text, original: dict, where: tuple, new, change: str, kind: str = "notebook") -> Mutant:
    """把 notebook 里的一处换掉再写出，取与原文不同的那一段。"""
    cell, output, key, mime = where
    changed = {**original, "cells": list(original["cells"])}
    changed["cells"][cell] = copy.deepcopy(original["cells"][cell])
    holder = changed["cells"][cell] if output is None else changed["cells"][cell]["outputs"][output]
    if mime is None:
        holder[key] = new
    else:
        holder[key][mime] = new
    full = notebook.dump(changed).decode("utf-8")
    start = next(i for i, (a, b) in enumerate(zip(text.text, full)) if a != b)
    tail = next(i for i, (a, b) in enumerate(zip(reversed(text.text), reversed(full))) if a != b)
    tail = min(tail, len(text.text) - start, len(full) - start)
    line = text.text.count("\n", 0, start) + 1
    end = len(text.text) - tail
    return Mutant(kind, text.path, line, start, end, text.text[start:end], full[start : len(full) - tail], change)


def picture_changes(stored: str) -> Iterator[tuple[str, str]]:
    """一张 base64 图片的改动：整张反色、左右翻转、上下翻转、换通道、留白，以及逐块涂掉有内容的小块。"""
    import numpy as np
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(stored))).convert("RGBA")
    pixels = np.asarray(picture)
    colours = pixels[..., :3]
    whole = {
        "反色": np.concatenate([255 - colours, pixels[..., 3:]], axis=-1),
        "左右翻转": pixels[:, ::-1],
        "上下翻转": pixels[::-1],
        "红绿互换": pixels[..., [1, 0, 2, 3]],
        "留白": np.full_like(pixels, 255),
    }
    for name, changed in whole.items():
        if not np.array_equal(changed, pixels):
            yield name, _png(changed, stored)
    step = 16
    busy = [
        (y, x)
        for y in range(0, pixels.shape[0] - step + 1, step)
        for x in range(0, pixels.shape[1] - step + 1, step)
        if _ink(colours[y : y + step, x : x + step]) >= 0.05
    ]
    for y, x in busy[:: max(1, len(busy) // TILES)]:
        changed = pixels.copy()
        changed[y : y + step, x : x + step] = pixels[y, x]
        if not np.array_equal(changed, pixels):
            yield f"({x}, {y}) 处 {step}×{step} 像素涂掉", _png(changed, stored)


def _ink(tile) -> float:
    """小块里与左上角的颜色明显不同的像素占多少；只沾到一两个像素的块，涂掉也看不出来。"""
    import numpy as np

    gap = np.abs(tile.astype(int) - tile[0, 0].astype(int)).max(axis=-1)
    return float((gap > 32).mean())


def _png(pixels, stored: str) -> str:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels.astype("uint8"), "RGBA").save(stream, "PNG")
    return base64.b64encode(stream.getvalue()).decode() + ("\n" if stored.endswith("\n") else "")


# ---------------------------------------------------------------- 范围


def pages_of(project: Project) -> list[Path]:
    """docs/ 里全部的页面与 notebook。"""
    files = [*project.docs.rglob("*.md"), *project.docs.rglob("*.ipynb")]
    return sorted(path for path in files if not any(part.startswith(".") for part in path.relative_to(project.docs).parts))


def scripts_of(project: Project) -> list[Path]:
    return publish.scripts(project.root / "code")
