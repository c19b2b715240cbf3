"""预览时保存一次就重建一次整站；模板不必重新编译。

编译的结果只记在内存里，由模板的内容核对，所以重建的结果与从头构建逐字节相同。
"""

from __future__ import annotations

from types import CodeType

from jinja2 import BytecodeCache
from jinja2.bccache import Bucket


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
