"""图中的数从这里来：按路径载入 code/ 里的脚本（只用标准库的那些），不重抄一个数字。"""

import importlib.util
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@cache
def load(name):
    """载入 code/<name>.py，返回模块；文件名里可以有连字符。"""
    path = ROOT / "code" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"lesson_{name.replace('-', '_')}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
