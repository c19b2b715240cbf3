"""在浏览器的 Python 里运行一页：一页是一个程序，每段代码依次进入同一个新的 __main__。

规则与 livedocs/worker.py 相同；不同的只是写出的文字边产生边送走，而且有上限。
"""

import __future__

import builtins
import io
import linecache
import os
import shutil
import sys
import traceback
import types

FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag


class Stream(io.TextIOBase):
    """把写出的文字交给 `send`；超过 `limit` 个字符的部分只计数，不保存。"""

    encoding = "utf-8"

    def __init__(self, send, limit):
        self.send, self.limit = send, limit
        self.kept = self.dropped = 0
        self.waiting = []
        self.size = 0

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        room = self.limit - self.kept
        part = text if len(text) <= room else text[: max(room, 0)]
        self.kept += len(part)
        self.dropped += len(text) - len(part)
        if part:
            self.waiting.append(part)
            self.size += len(part)
            if self.size > 4096:
                self.flush()
        return len(text)

    def flush(self):
        if self.waiting:
            self.send("".join(self.waiting).encode("utf-8", "backslashreplace").decode())
            self.waiting.clear()
            self.size = 0


class Interpreter:
    """一页的命名空间。`send(name, text)` 收下写出的文字，name 是 stdout 或 stderr。"""

    def __init__(self, send, limit, folder="/page"):
        self.send, self.limit, self.folder = send, limit, folder
        self.filenames = []
        self.reset()

    def reset(self):
        """从头来：新的 __main__，空的文件夹。"""
        for name in self.filenames:
            linecache.cache.pop(name, None)
        self.filenames = []
        self.module = types.ModuleType("__main__")
        self.module.__builtins__ = builtins
        sys.modules["__main__"] = self.module
        sys.argv = ["page.py"]
        sys.stdin = io.StringIO("")
        self.flags = 0
        os.chdir("/")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder, exist_ok=True)
        os.chdir(self.folder)

    def run(self, code, filename):
        """运行一段，返回未捕获的异常（没有时是 None）与被丢掉的字符数。"""
        lines = code.splitlines(keepends=True)
        linecache.cache[filename] = (len(code), None, lines, filename)
        self.filenames.append(filename)
        out = Stream(lambda text: self.send("stdout", text), self.limit)
        err = Stream(lambda text: self.send("stderr", text), self.limit)
        sys.stdout, sys.stderr = out, err
        error = None
        try:
            compiled = compile(code, filename, "exec", flags=self.flags, dont_inherit=True)
            self.flags |= compiled.co_flags & FUTURE_FLAGS
            exec(compiled, self.module.__dict__)
        except BaseException as exception:  # 页面可以抛出任何东西，包括 SystemExit
            error = describe(exception)
        finally:
            for stream in (out, err):
                stream.flush()
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        return {"error": error, "dropped": out.dropped + err.dropped}


def describe(exception):
    """异常的类型、最后一行，和经过的页面里的栈帧：[文件, 行, 函数]。"""
    kind = type(exception)
    name = kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    text = exception.msg if isinstance(exception, SyntaxError) and exception.msg else str(exception)
    frames = [
        [frame.filename, frame.lineno or 0, frame.name] for frame in traceback.extract_tb(exception.__traceback__)
    ]
    if isinstance(exception, SyntaxError) and exception.filename:
        frames.append([exception.filename, exception.lineno or 1, "<module>"])
    names = [base.__name__ for base in kind.__mro__ if base not in (object, BaseException)]
    last = f"{name}: {text}" if text else name
    return {"type": kind.__name__, "bases": names, "last": last[:4000], "frames": frames[-40:]}
