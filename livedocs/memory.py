"""`--changed`：记得哪些页面上次通过时是什么样子，没有变过的不再检查。

钥匙由会影响结果的一切算出：页面显示的全部内容（片段、脚本、图都在内）、检查程序自己、
Python 与页面导入的库的版本、锁定的版本、proof.json 里的记录。记在 pytest 的缓存文件夹里，不提交。
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from pathlib import Path

import pytest

from livedocs import proof
from livedocs.project import Project

#: 这次因为没有变过而不检查的页面。
SKIPPED = pytest.StashKey[list]()


class Memory:
    """一页的记忆。"""

    def __init__(self, config: pytest.Config, project: Project, path: Path, code: str):
        self.config, self.project, self.path, self.code = config, project, path, code
        self.name = project.show(path)

    def unchanged(self) -> bool:
        """给了 `--changed`，而且这一页与上次通过时完全相同。"""
        if not self.config.getoption("--changed") or self.config.getoption("--update-docs"):
            return False
        cache = getattr(self.config, "cache", None)
        if cache is None or cache.get(self._slot(), None) != self.key():
            return False
        self.config.stash[SKIPPED].append(self.name)
        return True

    def remember(self) -> None:
        """这一页的全部检查都通过了。"""
        cache = getattr(self.config, "cache", None)
        if cache is not None:
            cache.set(self._slot(), self.key())

    def key(self) -> str:
        """读不了的页面没有钥匙，总要检查。"""
        try:
            shown = proof.page_hash(self.path, self.project)
            recorded = (proof.load(self.project.root) or {}).get(self.name)
        except Exception:
            return ""
        versions = {name: proof.running_version(name) for name in sorted(proof.imports(self.code))}
        parts = [shown, engine_hash(), sys.version, versions, proof.pinned_versions(self.project.root), recorded]
        mkdocs = (self.project.root / "mkdocs.yml").read_bytes()
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode() + mkdocs).hexdigest()

    def _slot(self) -> str:
        return f"livedocs/{hashlib.sha256(self.name.encode()).hexdigest()[:16]}"


@functools.cache
def engine_hash() -> str:
    """检查程序自己的散列：规则变了，以前的通过就不算数。"""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
