"""可重复的 zip：同样的内容，任何时候、在谁的电脑上打包，都是同样的字节。

次序按文件名，时间一律是 1980-01-01（zip 能写的最早的一天），权限一律是 0644。压缩由 zlib 做，
所以“同样的字节”以同一种 zlib 为前提。
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
#: 已经压缩过的文件，再压一遍只费时间。
_PACKED = {".zip", ".png", ".woff2", ".gz"}


def pack(files: dict[str, bytes]) -> bytes:
    """`{包里的路径: 内容}` → zip 的字节。"""
    buffer = io.BytesIO()
    write(buffer, files.items())
    return buffer.getvalue()


def write(target: IO[bytes] | Path, entries: Iterable[tuple[str, bytes]]) -> None:
    """把 `(包里的路径, 内容)` 按路径的次序写进 `target`；路径用斜线。"""
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in sorted(entries, key=lambda entry: entry[0]):
            info = zipfile.ZipInfo(name, EPOCH)
            info.create_system = _UNIX
            info.external_attr = 0o100644 << 16
            info.compress_type = zipfile.ZIP_STORED if Path(name).suffix in _PACKED else zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
