"""按路径装入 code/ 里的脚本，或它们被改坏的版本。

文件名带连字符，code/ 也不是包，所以不能用 import 语句。
"""

import sys
import types
from pathlib import Path

CODE = Path(__file__).resolve().parents[2] / "code"
sys.path.insert(0, str(CODE))  # 标着 bundle 的一段从同一个文件夹里的脚本导入定义


def source(name: str) -> str:
    """脚本的全文，含片段标记。"""
    return (CODE / name).read_text(encoding="utf-8")


def load(name: str, text: str | None = None) -> types.ModuleType:
    """把脚本装成一个模块，不触发 ``__main__``；给出 text 时用它代替文件的内容。

    被执行的只有仓库里的脚本，以及由它改出的文本。
    """
    module = types.ModuleType(name.removesuffix(".py").replace("-", "_"))
    module.__file__ = str(CODE / name)
    code = compile(source(name) if text is None else text, module.__file__, "exec")
    exec(code, module.__dict__)  # noqa: S102
    return module


def mutate(name: str, *replacements: tuple[str, str]) -> types.ModuleType:
    """装入改坏的脚本：每一处 (原文, 改成) 的原文都必须恰好出现一次，所以改动不会落空。

    Raises:
        LookupError: 原文没有出现，或出现了多次。
    """
    text = source(name)
    for old, new in replacements:
        if text.count(old) != 1:
            raise LookupError(f"{name} 里应恰好有一处 {old!r}，实际有 {text.count(old)} 处：请更新这条改动")
        text = text.replace(old, new)
    return load(name, text)
