"""`下载本章`：一页用到的东西打成一个 zip，放进空文件夹就能照着运行。

- 页面展示、引用的脚本，与网站上单独下载的逐字节相同；notebook 页是那个 notebook；
- `expected/`：示例页上核对过的运行记录，和比较它的 `check.py`；
- `requirements.txt`：这些脚本导入的库，版本是本站核对时锁定的；只用标准库时写明不需要安装；
- `README.txt`：Windows、macOS、Linux 上怎样运行。

只收被测试过的文件：不由页面的代码块另拼脚本，因为那样的文件没有单独运行过。
"""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from livedocs import archive, notebook, proof, publish
from livedocs.pack_readme import readme
from livedocs.page import load_page, read_source
from livedocs.program import imports
from livedocs.project import Project

#: 这些文件夹里的页面有“下载本章”，按钮上的字各不相同。
LABELS = {"chapters": "下载本章", "labs": "下载本实验", "examples": "下载脚本与运行记录"}
#: 运行 notebook 需要的包；IPython 随 ipykernel 装好。
_KERNEL = ("ipykernel", "nbclient")
_BROUGHT = {"IPython": "ipykernel"}
_TEMPLATES = Path(__file__).resolve().parent / "templates" / "pack"

_INCLUDED = re.compile(r"^\s*-+8<-+\s+[\"']code/(?P<name>[\w.-]+\.py)(?::[\w.-]+)?[\"']", re.MULTILINE)
_LINKED = re.compile(r"\]\((?:\.\./)*code/(?P<name>[\w.-]+\.py)\)")
_SCRIPT_FENCE = re.compile(r"^\s*`{3,}\s*\{[^}]*\.script\b", re.MULTILINE)


class PackError(ValueError):
    """打不成包：页面引用的脚本不存在，notebook 读不了，或导入了没有锁定版本的库；消息说明是哪一个。"""


@dataclass(frozen=True)
class Pack:
    """一页的下载包：网站里的路径、按钮上的字、zip 的字节。"""

    uri: str
    label: str
    data: bytes


def label_of(src_uri: str) -> str | None:
    """这一页的下载按钮上写什么；不提供下载包的页面是 None。"""
    return LABELS.get(src_uri.partition("/")[0])


def uri_of(src_uri: str) -> str:
    """下载包在网站里的路径：`chapters/x.md` → `downloads/chapters/x.zip`。"""
    return f"downloads/{src_uri.rpartition('.')[0]}.zip"


def packs(project: Project, pages: list[str]) -> dict[str, Pack]:
    """`pages`（相对于 docs/ 的路径）里每一页的下载包；没有脚本也没有 notebook 的页面没有。

    Raises:
        PackError: 见类的说明。
        publish.PublishError: 脚本里的标记有错。
    """
    wanted = sorted(uri for uri in pages if label_of(uri))
    if not wanted:
        return {}
    shelf = _Shelf(project, _transcripts(project, [uri for uri in pages if uri.endswith(".md")]))
    found = {}
    for uri in wanted:
        if files := shelf.files(uri):
            folder = Path(uri).stem
            data = _zip(tuple(sorted((f"{folder}/{name}", content) for name, content in files.items())))
            found[uri] = Pack(uri_of(uri), label_of(uri), data)
    return found


@functools.lru_cache(maxsize=256)
def _zip(files: tuple[tuple[str, bytes], ...]) -> bytes:
    """预览时每次保存都要重建；内容没变的包不再压缩。"""
    return archive.pack(dict(files))


def script_names(path: Path) -> list[str]:
    """页面引入片段的、链接到的 code/ 里的脚本，按第一次出现的次序。notebook 没有。"""
    if path.suffix == ".ipynb":
        return []
    text = read_source(path)
    found = sorted([*_INCLUDED.finditer(text), *_LINKED.finditer(text)], key=lambda match: match.start())
    return list(dict.fromkeys(match.group("name") for match in found))


class _Shelf:
    """一次构建里各页共用的：锁定的版本、已发布的脚本、核对过的运行记录。"""

    def __init__(self, project: Project, transcripts: dict[str, str]):
        self.project, self.transcripts = project, transcripts
        self.pins = proof.pinned_versions(project.root)
        self._scripts: dict[str, str] = {}

    def files(self, uri: str) -> dict[str, bytes]:
        """一页的包里有什么：`{路径: 内容}`；没有可运行的东西时是空的。"""
        path = self.project.docs / uri
        scripts = {name: self._script(name, uri) for name in script_names(path)}
        book = path if path.suffix == ".ipynb" else None
        if not scripts and not book:
            return {}
        files = {name: text.encode("utf-8") for name, text in scripts.items()}
        expected = [name for name in scripts if name in self.transcripts]
        for name in expected:
            files[f"expected/{Path(name).stem}.txt"] = self.transcripts[name].encode("utf-8")
        if book:
            files[book.name] = book.read_bytes()
        if expected:
            files["check.py"] = (_TEMPLATES / "check.py").read_bytes().replace(b"\r\n", b"\n")
        pins = requirements(scripts, book, self.pins)
        files["requirements.txt"] = _requirements_text(pins).encode("utf-8")
        about = readme(_title(path), list(scripts), book and book.name, expected, pins, self.pins.get("python", ""))
        # 记事本最认得带 BOM、以 CRLF 换行的 UTF-8；别的编辑器也都认。
        files["README.txt"] = about.replace("\n", "\r\n").encode("utf-8-sig")
        return files

    def _script(self, name: str, uri: str) -> str:
        if name not in self._scripts:
            source = self.project.root / "code" / name
            if not source.is_file():
                raise PackError(f"docs/{uri} 引用了 code/{name}，而 code/ 里没有它；检查文件名")
            self._scripts[name] = publish.published(source)
        return self._scripts[name]


def requirements(scripts: dict[str, str], book: Path | None, pins: dict[str, str]) -> dict[str, str]:
    """这些脚本（和 notebook）要装的包与 `pins` 里锁定的版本；只用标准库时是空的。

    Raises:
        PackError: 导入了没有锁定版本的库；notebook 读不了。
    """
    modules = {name: imports([text]) for name, text in scripts.items()}
    wanted: set[str] = set()
    if book:
        cells = notebook.code_cells(_read_notebook(book))
        modules[book.name] = imports(notebook.source_of(cell) for _, cell in cells)
        wanted |= set(_KERNEL)
    for name, imported in modules.items():
        for module in sorted(imported - sys.stdlib_module_names):
            package = _BROUGHT.get(module, module)
            if package not in pins:
                raise PackError(
                    f"{name} 导入 {module}，而 requirements.txt 没有锁定它的版本；请加上，读者才装得到同一个"
                )
            wanted.add(package)
    return {package: pins[package] for package in sorted(wanted)}


def _read_notebook(path: Path) -> dict:
    try:
        return notebook.read(path)
    except notebook.NotebookError as error:
        raise PackError(f"{path.parent.name}/{path.name} 不是能读的 notebook（{error}）") from error


def _requirements_text(pins: dict[str, str]) -> str:
    if not pins:
        return "# 只用 Python 标准库，不需要安装任何包。\n"
    return "# 版本与本站核对时的相同。\n" + "".join(f"{name}=={version}\n" for name, version in pins.items())


def _title(path: Path) -> str:
    if path.suffix == ".ipynb":
        text = "\n".join(
            "".join(cell["source"]) for cell in _read_notebook(path)["cells"] if cell["cell_type"] == "markdown"
        )
    else:
        text = read_source(path)
    heading = re.search(r"^# +(.+?)\s*(?:\{.*\})?$", text, re.MULTILINE)
    return heading.group(1) if heading else path.stem


def _transcripts(project: Project, pages: list[str]) -> dict[str, str]:
    """脚本 → 页面上核对过的完整输出。"""
    found: dict[str, str] = {}
    for uri in pages:
        path = project.docs / uri
        source = read_source(path)
        if _SCRIPT_FENCE.search(source):
            found |= dict(_documented(path, source, project))
    return found


@functools.lru_cache(maxsize=256)
def _documented(path: Path, source: str, project: Project) -> tuple[tuple[str, str], ...]:
    """一页上的 (脚本, 运行记录)。`source` 是页面的源文：它变了才重新读。"""
    blocks = load_page(path, project).blocks
    return tuple((block.code.options["file"], block.documented) for block in blocks if block.is_script)
