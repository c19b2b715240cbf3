"""`--changed`：记得哪些页面上次通过时是什么样子，没有变过的不再检查。

钥匙由会影响结果的一切算出：页面显示的全部内容（片段、脚本、图都在内）、检查程序自己、
Python 与页面导入的库的版本、锁定的版本、proof.json 里的记录。记在 pytest 的缓存文件夹里，不提交。
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from livedocs import proof
from livedocs.program import imports
from livedocs.project import Project

_READS = re.compile(r"\b(?:open|read_text|read_bytes|getenv|environ|listdir|glob|import_module|livedocs)\b")
#: 这次因为没有变过而不检查的页面。
SKIPPED = pytest.StashKey[list]()


class Memory:
    """一页的记忆。"""

    def __init__(self, config: pytest.Config, project: Project, name: str, codes: Iterable[str]):
        self.config, self.project, self.name = config, project, name
        codes = list(codes)
        self.imported = sorted(imports(codes))
        #: 程序自己读别的文件，结果就不只取决于这一页：总要检查。
        self.reads = any(_READS.search(code) for code in codes)

    def unchanged(self, entry: proof.Entry) -> bool:
        """给了 `--changed`，而且这一页与上次通过时完全相同。"""
        if not self.config.getoption("--changed") or self.config.getoption("--update-docs"):
            return False
        cache = getattr(self.config, "cache", None)
        key = self.key(entry)
        if cache is None or not key or cache.get(self._slot(), None) != key:
            return False
        self.config.stash[SKIPPED].append(self.name)
        return True

    def remember(self, entry: proof.Entry) -> None:
        """这一页的全部检查都通过了；`entry` 是检查过的那个样子的记录，不是现在文件的：检查时作者可能又存了一次。"""
        cache = getattr(self.config, "cache", None)
        if cache is not None:
            cache.set(self._slot(), self.key(entry))

    def key(self, entry: proof.Entry) -> str:
        """页面显示的内容、版本与检查程序合成的一个散列；空串是总要检查。"""
        if self.reads:
            return ""
        try:
            recorded = (proof.load(self.project.root) or {}).get(self.name)
        except ValueError:
            return ""
        versions = {name: proof.running_version(name) for name in self.imported}
        parts = [entry.hash, engine_hash(), sys.version, versions, proof.pinned_versions(self.project.root), recorded]
        mkdocs = (self.project.root / "mkdocs.yml").read_bytes()
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode() + mkdocs).hexdigest()

    def _slot(self) -> str:
        return f"livedocs/{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"


@functools.cache
def engine_hash() -> str:
    """检查程序自己的散列：规则变了，以前的通过就不算数。"""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(path.read_bytes())
    return digest.hexdigest()
