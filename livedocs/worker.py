"""运行页面代码的进程。由 `mother.py` 启动，`runner.py` 使用它。

为什么另开进程：页面会改工作目录、关掉标准输出、改 torch 的默认类型、留下线程、永远循环，这些都不该影响下一页。
为什么先导入再分叉：导入 torch 要一秒多，一个进程导入一次，每页从它分出一个干净的子进程，只要几毫秒。
不能分叉的系统（Windows、macOS）上，一页用一个新进程。

协议：标准输入输出上的帧，4 字节长度加 JSON。父进程发 preload（先导入这些库，不回答）、start（路径、预导入）、run（一段代码）、eval（一个表达式）、end。
"""

from __future__ import annotations
import __future__

import builtins
import gc
import importlib
import linecache
import os
import select
import shutil
import signal
import struct
import sys
import tempfile
import traceback
import types
from json import dumps, loads  # 绑定到这里，页面改了 json 模块也不受影响
from os import getpid, read, write

#: 一段代码最多打印这么多字节；超过的是循环失控，网页也放不下。
OUTPUT = 10**6
#: 页面写的每个文件（包括它打印的内容）最多这么大，免得占满磁盘。
FILE = 256 * 2**20

#: 设了 LIVEDOCS_SPAWN，Linux 也走 Windows 和 macOS 的路：测试用它。
FORKS = sys.platform.startswith("linux") and not os.environ.get("LIVEDOCS_SPAWN")
FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag


class Pipe:
    """不带缓冲的帧读写：分叉前后，谁也不会多读走别人的字节。"""

    def __init__(self, reader: int, writer: int):
        self.reader, self.writer = reader, writer

    def read(self) -> dict | None:
        """下一帧；对方关闭时是 None。"""
        header = self._exactly(4)
        if header is None:
            return None
        body = self._exactly(struct.unpack(">I", header)[0])
        return None if body is None else loads(body)

    def _exactly(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            chunk = read(self.reader, size - len(data))
            if not chunk:
                return None
            data += chunk
        return data

    def write(self, message: dict) -> None:
        body = dumps(message).encode()
        data = struct.pack(">I", len(body)) + body
        while data:
            data = data[write(self.writer, data) :]


def plain(value, depth: int = 0):
    """把一个值变成能写进 JSON 的数、文字、列表；张量和数组取 `tolist()`。别的类型报 TypeError。"""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": repr(float(value))}
    if depth > 8:
        raise TypeError("嵌套太深")
    if hasattr(value, "tolist"):
        return plain(value.tolist(), depth + 1)
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if hasattr(value, "__float__"):
        return {"float": repr(float(value))}
    raise TypeError(f"{type(value).__name__} 不是数、文字或它们的列表")


class Interpreter:
    """一页的命名空间，以及对它写到标准输出、标准错误的内容的捕获。"""

    def __init__(self, path: str, memory: int, folder: str):
        self.pid = getpid()
        self.module = types.ModuleType("__main__")
        self.module.__builtins__ = builtins
        sys.modules["__main__"] = self.module
        sys.argv = [path]
        self.flags = 0
        self.files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        for target, file in zip((1, 2), self.files, strict=True):
            os.dup2(file.fileno(), target)
        sys.stdin = open(os.devnull, encoding="utf-8")
        sys.stdout = self._stream(1)
        sys.stderr = self._stream(2)
        os.chdir(folder)
        if memory and FORKS:
            import resource

            with open("/proc/self/statm", encoding="ascii") as stream:
                mapped = int(stream.read().split()[0]) * resource.getpagesize()  # 母进程预导入的库已经占着的
            resource.setrlimit(resource.RLIMIT_AS, (mapped + memory, mapped + memory))
            resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))

    @staticmethod
    def _stream(fd: int):
        errors = "strict" if fd == 1 else "backslashreplace"  # 与真的 Python 一样：打印不了的字符要报错
        return open(fd, "w", encoding="utf-8", errors=errors, newline="\n", closefd=False)

    def run(self, code: str, filename: str) -> dict:
        """运行一段，返回它写出的文字和未捕获的异常。"""
        linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)
        error = None
        try:
            compiled = compile(code, filename, "exec", flags=self.flags, dont_inherit=True)
            self.flags |= compiled.co_flags & FUTURE_FLAGS
            exec(compiled, self.module.__dict__)
        except BaseException as exception:  # 页面可以抛出任何东西，包括 SystemExit
            error = describe(exception)
        if getpid() != self.pid:
            os._exit(0)  # 页面分叉出来的那一半：它不回答，否则一段代码就有了两个回答
        sizes = self.flush()
        stdout, stderr = self.captured()
        for name, size in zip(("标准输出", "标准错误"), sizes, strict=True):
            if size > OUTPUT:
                return {"stdout": "", "stderr": "", "error": None, "died": f"向{name}写了太多内容（上限 {OUTPUT:,} 字节）"}
        return {"stdout": stdout, "stderr": stderr, "error": error}

    def evaluate(self, expression: str) -> dict:
        """求一个表达式的值，返回 {"value": …} 或 {"error": …}。"""
        answer = evaluate(expression, self.module.__dict__, self.flags)
        self.captured()
        return answer

    def flush(self) -> list[int]:
        """到现在为止各写出了多少字节。"""
        for name in ("stdout", "stderr"):
            try:
                getattr(sys, name).flush()
            except (ValueError, OSError, AttributeError):
                pass  # 页面关掉了它；页面自己的下一次 print 会报错
        return [os.fstat(file.fileno()).st_size for file in self.files]

    def captured(self) -> tuple[str, str]:
        """取走并清空到现在为止写出的内容；页面绕过 sys.stdout 直接写描述符的也算。"""
        self.flush()
        texts = []
        for file in self.files:
            file.seek(0)
            texts.append(file.read(OUTPUT + 1).decode("utf-8", errors="backslashreplace").replace("\r\n", "\n"))
            file.seek(0)
            file.truncate()
        return texts[0], texts[1]


def describe(exception: BaseException) -> dict:
    """异常的类型、最后一行和经过的栈帧。"""
    kind = type(exception)
    name = kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    try:
        text = exception.msg if isinstance(exception, SyntaxError) and exception.msg else str(exception)
    except BaseException:  # 页面自己的 __str__ 出错
        text = "（这个异常的 __str__ 出错，无法显示）"
    frames = [
        [frame.filename, frame.lineno or 0, frame.name] for frame in traceback.extract_tb(exception.__traceback__)
    ]
    if isinstance(exception, SyntaxError) and exception.filename:
        frames.append([exception.filename, exception.lineno or 1, "<module>"])
    names = [base.__name__ for base in kind.__mro__ if base is not object]
    return {"type": kind.__name__, "bases": names, "last": f"{name}: {text}" if text else name, "frames": frames}


def evaluate(expression: str, namespace: dict, flags: int = 0) -> dict:
    """在 `namespace` 里求值：{"value": …} 或 {"error": 异常的最后一行}。"""
    try:
        compiled = compile(expression, "<expr>", "eval", flags=flags, dont_inherit=True)
        before = dict(namespace)
        value = plain(eval(compiled, namespace))
        changed = before.keys() != namespace.keys() or any(before[name] is not namespace[name] for name in before)
        if changed or plain(eval(compiled, namespace)) != value:
            return {"error": "求值会改变页面的状态，或每次的值不同"}
        return {"value": value}
    except BaseException as exception:
        return {"error": describe(exception)["last"]}


def report(expressions: list[str], namespace: dict) -> None:
    """把各表达式的值打印成一行 JSON；notebook 的检查在它自己的内核里调用它。"""
    print(dumps([evaluate(expression, namespace) for expression in expressions]))


def serve_page(pipe: Pipe, start: dict, folder: str) -> None:
    """一页从头到尾：收到 end 或管道关闭为止。"""
    interpreter = Interpreter(start["path"], start.get("memory", 0), folder)
    pipe.write({"ready": os.getpid()})
    while (request := pipe.read()) is not None and request["do"] != "end":
        if request["do"] == "run":
            reply = interpreter.run(request["code"], request["filename"])
        else:
            reply = interpreter.evaluate(request["code"])
        pipe.write(reply)


def _wait(child: int, reader: int) -> int:
    """等这一页的进程结束，返回退出码；要结果的人先不在了（管道断开），就结束它。"""
    handle = os.pidfd_open(child)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(reader, 0)  # 只看断开，不读内容：内容是子进程的
    while all(fd != handle for fd, _ in poll.poll()):
        os.kill(child, signal.SIGKILL)
    os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


ADOPT_ORPHANS, DIE_WITH_PARENT = 36, 1  # Linux 的 PR_SET_CHILD_SUBREAPER、PR_SET_PDEATHSIG


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD = -1, -2, -3  # glibc 的 mallopt(3)


def _keep_memory() -> None:
    """释放的内存先留着再用。一页的进程很短，glibc 照常一边还给系统一边再要，训练的一页光缺页就有十几万次。"""
    import ctypes

    if adjust := getattr(ctypes.CDLL(None), "mallopt", None):  # 别的 C 库没有它
        for option, size in ((M_TRIM_THRESHOLD, 2**30), (M_MMAP_THRESHOLD, 2**25), (M_TOP_PAD, 2**26)):
            adjust(option, size)


def _sweep(child: int) -> None:
    """结束一页留下的全部进程：同一组的，和另立门户的。"""
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    while True:
        with open(f"/proc/self/task/{getpid()}/children", encoding="ascii") as stream:
            left = stream.read().split()
        if not left:
            return
        for pid in map(int, left):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(pid, 0)


def _import(names: list[str]) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:
            pass  # 页面自己的 import 会报出真正的错误


def main() -> None:
    pipe = Pipe(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C 由 pytest 处理，它会结束本进程
    if FORKS:
        _keep_memory()
        _prctl(ADOPT_ORPHANS, 1)  # 页面留下的后台进程归到本进程名下，一页结束时收回它们
    while (request := pipe.read()) is not None:
        if request["do"] == "preload":
            _import(request["names"])
        if request["do"] != "start":
            continue
        _import(request["preload"])
        folder = tempfile.mkdtemp(prefix="livedocs-")
        if not FORKS:
            try:
                serve_page(pipe, request, folder)
            finally:
                os.chdir(os.path.dirname(folder))
                shutil.rmtree(folder, ignore_errors=True)
                os._exit(0)
        gc.freeze()  # 子进程的垃圾回收不再逐个摸导入的几十万个对象：摸过的内存页就不能与本进程共用
        child = os.fork()
        if child == 0:
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            _prctl(DIE_WITH_PARENT, signal.SIGKILL)
            try:
                serve_page(pipe, request, folder)
            finally:
                os._exit(0)  # 页面留下的线程和出错的检查都不能让进程留着
        code = _wait(child, pipe.reader)
        _sweep(child)
        shutil.rmtree(folder, ignore_errors=True)
        pipe.write({"exited": code})


if __name__ == "__main__":
    main()
