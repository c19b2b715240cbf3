"""预览时保存一次就重建一次整站；没有变的页面不必重新编入索引，模板也不必重新编译。

两样都只记在内存里，键是内容本身，所以重建的结果与从头构建逐字节相同。
"""

from __future__ import annotations

from types import CodeType

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket

_entries: dict[tuple, list[dict]] = {}


class Templates(BytecodeCache):
    """编译好的 Jinja 模板；Jinja 自己以模板源文的散列核对。"""

    def __init__(self):
        self._codes: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._codes.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._codes[bucket.key] = (bucket.checksum, bucket.code)


templates = Templates()


def remember_entries(index) -> None:
    """让 Material 的搜索索引 `index` 记住每一页得到的条目：内容没变就直接取用，不再切词。"""
    original = index.add_entry_from_context

    def add(page) -> None:
        key = (page.url, page.title, page.content, repr(page.meta), str(page.toc))
        if key not in _entries:
            before = len(index.entries)
            original(page)
            for stale in [other for other in _entries if other[0] == page.url]:
                del _entries[stale]
            _entries[key] = index.entries[before:]
        else:
            index.entries.extend(_entries[key])

    index.add_entry_from_context = add
