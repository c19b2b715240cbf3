"""pytest 插件（`-p livedocs.mutation.served`）：让页面的检查以为读者下载到的文件换了一个字节。

环境变量 `LIVEDOCS_SERVED` 是 JSON：`{"path": 脚本, "start": 位置, "end": 位置, "new": 换成的字节}`。
`livedocs.mutate --agree` 用它让真正的 pytest 命令核对同一个变异。
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from livedocs import publish


def pytest_configure(config):
    if not (wanted := os.environ.get("LIVEDOCS_SERVED")):
        return
    from livedocs.mutation.checks import served

    spot = json.loads(wanted)
    source = Path(spot["path"]).resolve()
    data = bytearray(publish.published(source).encode("utf-8"))
    data[spot["start"] : spot["end"]] = spot["new"].encode("latin-1")
    change = served(source, bytes(data))
    change.__enter__()
    config.add_cleanup(lambda: change.__exit__())
