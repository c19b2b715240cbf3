"""证明的记录 `proof.json`：每一页显示的全部内容的散列、核对过的数目、核对时的版本。

记录只由通过检查的 `--update-docs` 写，没有通过就去掉；平常的 pytest 重新计算并比较，过时或手改都会变红。
网站据此显示徽章：散列与当前内容相同才算数，所以没有 torch 也能构建出真的徽章。
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import re
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

from livedocs import notebook, numbers, rewrite
from livedocs.page import Page, read_source
from livedocs.program import imports
from livedocs.project import Project

FILE = "proof.json"
#: 页面可能用到、写进版本记录的库（导入名 = 发行名）。
LIBRARIES = ("numpy", "torch", "matplotlib", "transformers")


@dataclass(frozen=True)
class Entry:
    """一页的记录。`cells` 只有 notebook 有，`transcripts` 是整个脚本的运行记录。"""

    hash: str
    blocks: int = 0
    outputs: int = 0
    numbers: int = 0
    transcripts: int = 0
    cells: int = 0
    versions: dict[str, str] = field(default_factory=dict)


_COUNTS = ("blocks", "outputs", "numbers", "transcripts", "cells")


def page_hash(path: Path, project: Project) -> str:
    """页面显示的全部内容的散列：展开片段后的 Markdown、front matter 和内嵌的图；notebook 是单元与输出。"""
    digest = hashlib.sha256()
    if path.suffix == ".ipynb":
        stored = notebook.read(path)
        shown: list = [notebook.kernel_of(stored), notebook.described(stored)]
        for cell in stored["cells"]:
            shown.append([cell["cell_type"], cell.get("source"), cell.get("metadata", {})])
            if cell["cell_type"] == "code":
                shown.append([notebook.normal_outputs(cell), notebook.alternatives(cell), cell.get("execution_count")])
        digest.update(json.dumps(shown, ensure_ascii=False, sort_keys=True).encode())
        return digest.hexdigest()[:32]
    text = "\n".join(shown_lines(path, project))
    digest.update(text.encode())
    for name in sorted(set(re.findall(r"figures/([\w.-]+\.svg)", text))):
        figure = project.docs / "figures" / name
        digest.update(figure.read_bytes().replace(b"\r\n", b"\n") if figure.is_file() else b"")
    return digest.hexdigest()[:32]


def shown_lines(path: Path, project: Project) -> list[str]:
    """页面的源文，片段都展开了；front matter 也在内，因为概要卡片显示它。"""
    return project.expand(read_source(path).split("\n"))


def entry_of_page(page: Page, project: Project) -> Entry:
    """一页 Markdown 应有的记录。"""
    blocks = [block for block in page.blocks if not block.is_script and "notest" not in block.code.options]
    return Entry(
        hash=page_hash(page.path, project),
        blocks=len(blocks),
        outputs=sum(block.output is not None for block in blocks),
        numbers=len(numbers.scan(page).bindings),
        transcripts=sum(block.is_script for block in page.blocks),
        versions=_versions([block.code.content for block in page.blocks], project) if page.blocks else {},
    )


def entry_of_notebook(path: Path, project: Project) -> Entry:
    """一个 notebook 应有的记录。"""
    cells = notebook.code_cells(notebook.read(path))
    return Entry(
        hash=page_hash(path, project),
        outputs=sum(len(notebook.normal_outputs(cell)) for _, cell in cells),
        numbers=len(notebook.prose(notebook.read(path), path).bindings),
        cells=len(cells),
        versions=_versions([notebook.source_of(cell) for _, cell in cells], project),
    )


def _versions(codes: list[str], project: Project) -> dict[str, str]:
    """Python 与代码导入的库的版本：项目锁定了的写锁定的版本，没有锁定的写现在的。"""
    pins = pinned_versions(project.root)
    imported = imports(codes)
    return {name: pins.get(name) or running_version(name) for name in ("python", *LIBRARIES) if name == "python" or name in imported}


def pinned_versions(root: Path) -> dict[str, str]:
    """requirements.txt 里锁定的版本，和 pyproject.toml 里 `[tool.livedocs] python`。"""
    pins = {}
    for name in ("requirements.txt", "requirements-site.txt"):
        if (root / name).is_file():
            pins |= dict(re.findall(r"^([\w.-]+)==([\w.]+)", (root / name).read_text(encoding="utf-8"), re.MULTILINE))
    if (root / "pyproject.toml").is_file():
        import tomllib

        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        python = settings.get("tool", {}).get("livedocs", {}).get("python")
        pins |= {"python": python} if python else {}
    return pins


def running_version(name: str) -> str:
    """现在这个解释器，或装着的库的版本；没有安装是空字符串。"""
    if name == "python":
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        return importlib.metadata.version(name).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return ""


def load(root: Path) -> dict[str, dict] | None:
    """proof.json 里各页的记录；没有这个文件是 None，读不懂报 ValueError。"""
    path = root / FILE
    if not path.is_file():
        return None
    return dict(_parsed(path.read_bytes()))


@functools.lru_cache(maxsize=1)  # 每一页都来读它
def _parsed(data: bytes) -> dict[str, dict]:
    try:
        pages = json.loads(data.decode("utf-8"))["pages"]
        faults = [f"{name} 的{fault}" for name, entry in pages.items() if (fault := _fault(entry))]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        faults = [repr(error)]
    if faults:
        raise ValueError(f"{FILE} 读不懂（{faults[0]}）；删除它，再运行 pytest --update-docs")
    return pages


def _fault(entry: object) -> str:
    """一页的记录里类型不对的地方；没有是空字符串。缺的键与多的键由 `compare` 报告。"""
    if not isinstance(entry, dict):
        return f"记录应是字典，得到 {entry!r}"
    for key, value in entry.items():
        if key == "hash" and not isinstance(value, str):
            return f" {key} 应是字符串，得到 {value!r}"
        if key in _COUNTS and (type(value) is not int or value < 0):
            return f" {key} 应是不小于 0 的整数，得到 {value!r}"
        if key == "versions" and not (
            isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
        ):
            return f" {key} 应是库到版本的字典，得到 {value!r}"
    return ""


def save(root: Path, pages: dict[str, dict]) -> bool:
    """写 proof.json（键有序，没有时间和平台）；返回文件是否变了。已经不存在的页面一并去掉。"""
    kept = {name: pages[name] for name in sorted(pages) if (root / name).is_file()}
    data = (json.dumps({"pages": kept}, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
    path = root / FILE
    if path.is_file() and path.read_bytes().replace(b"\r\n", b"\n") == data:
        return False
    rewrite.write_atomically(path, data)
    return True


def record(root: Path, name: str, entry: Entry | None) -> bool:
    """更新一页的记录；`entry` 是 None 时去掉它（没有通过的页面不能有徽章）。"""
    pages = load(root) or {}
    pages.pop(name, None)
    if entry is not None:
        pages[name] = asdict(entry)
    return save(root, pages)


def compare(name: str, recorded: dict | None, entry: Entry) -> str | None:
    """记录与应有的记录差在哪里；一致时是 None。"""
    command = f"检查通过后更新它：pytest --update-docs {name}"
    if recorded is None:
        return f"{FILE} 里没有这一页的记录；{command}"
    expected = asdict(entry)
    wrong = [f"{key} 记的是 {recorded.get(key)!r}，应是 {value!r}" for key, value in expected.items() if recorded.get(key) != value]
    wrong += [f"多出 {key}" for key in recorded if key not in expected]
    return f"{FILE} 里的记录过时了（或被手改过）：{'；'.join(wrong)}\n  {command}" if wrong else None


def environment_matches(entry: Entry) -> list[str]:
    """现在的环境与记录里的版本不同的库：在这样的环境里不能写记录。"""
    return [
        f"{name} 是 {running_version(name) or '（没有安装）'}，项目锁定的是 {version}"
        for name, version in entry.versions.items()
        if running_version(name) != version
    ]


def badge(path: Path, project: Project, pages: dict[str, dict]) -> str:
    """网页上的徽章文字；没有可核对内容的页面是空字符串。"""
    recorded = pages.get(project.show(path))
    if recorded is None or recorded.get("hash") != page_hash(path, project):
        return STALE
    parts = [
        (recorded.get("blocks", 0), "段代码"),
        (recorded.get("cells", 0), "个代码单元"),
        (recorded.get("outputs", 0), "处输出"),
        (recorded.get("numbers", 0), "个数字"),
        (recorded.get("transcripts", 0), "份运行记录"),
    ]
    counted = "、".join(f"{number} {unit}" for number, unit in parts if number)
    if not counted:
        return ""
    names = {"python": "Python", "torch": "torch", "numpy": "NumPy"}
    versions = "、".join(f"{names.get(name, name)} {version}" for name, version in recorded.get("versions", {}).items())
    return f"本页 {counted}已核对" + (f"（{versions}）" if versions else "")


STALE = "改动后尚未核对"
