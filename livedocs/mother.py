"""运行页面的进程的母进程：先导入慢的库，再为每一页分叉出一个干净的进程（见 worker.py）。

导入它只要几毫秒：pytest 还在载入别的插件时，母进程就已经开始导入 torch（见 plugin.py）。
"""

from __future__ import annotations

import atexit
import contextlib
import queue
import re
import subprocess
import sys
import threading

from livedocs.worker import FORKS, Pipe

#: 导入很慢的库：页面要用时，由母进程先导入一次。
HEAVY = frozenset({"numpy", "torch", "matplotlib"})
#: torch 里第一次用到才导入、要半秒以上的部分：代码里有左边的字，母进程就先导入右边的模块。
LAZY = {
    "torch.testing": ("torch.fx.experimental.symbolic_shapes", "torch.distributed.tensor"),
    "torch.optim": ("torch._dynamo",),
    "FlopCounterMode": ("torch._dynamo",),
}


class WorkerDied(Exception):
    """运行页面的进程没有回答：超时，或被系统结束。"""


class Worker:
    """一个 `livedocs.worker` 进程；回答由线程读进队列，这样等待可以有时限。"""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "livedocs.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.pipe = Pipe(self.process.stdout.fileno(), self.process.stdin.fileno())
        self.answers: queue.Queue[dict | None] = queue.Queue()
        #: 正有一页在运行；它的进程结束之后是 False。
        self.serving = False
        threading.Thread(target=self._listen, daemon=True).start()
        atexit.register(self.close)

    def _listen(self) -> None:
        try:
            while (message := self.pipe.read()) is not None:
                self.answers.put(message)
        except OSError:
            pass
        self.answers.put(None)

    def send(self, message: dict) -> None:
        try:
            self.pipe.write(message)
        except OSError as error:
            raise WorkerDied("运行页面的进程已经结束") from error

    def receive(self, timeout: float) -> dict:
        try:
            answer = self.answers.get(timeout=timeout)
        except queue.Empty:
            raise WorkerDied(f"超过 {timeout:g} 秒还没有结束") from None
        if answer is None or "exited" in answer:
            self.serving = False
            code = self._exit_code() if answer is None else answer["exited"]
            raise WorkerDied(f"进程中途结束（退出码 {code}）：代码自己结束了它，或被系统结束（负数是信号）")
        return answer

    def _exit_code(self) -> int | None:
        try:
            return self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


_mother: Worker | None = None


def serving_worker() -> Worker:
    """能分叉的系统上，各页共用的母进程；不能时，一页一个新的。"""
    global _mother
    if _mother is None or _mother.process.poll() is not None or not FORKS:
        _mother = Worker()
    return _mother


def preload(code: str) -> list[str]:
    """`code` 会导入的慢库。看漏了也只是慢一点：页面自己会导入它。"""
    heavy = HEAVY & set(re.findall(r"^\s*(?:import|from)\s+(\w+)", code, re.MULTILINE))
    lazy = [module for words, modules in LAZY.items() if words in code and "torch" in heavy for module in modules]
    return sorted(heavy) + lazy


def warm(code: str) -> None:
    """让母进程先导入 `code` 要用的慢库，不等它：pytest 同时读页面、核对写法。不能分叉的系统上什么也不做。"""
    if FORKS and (names := preload(code)):
        with contextlib.suppress(WorkerDied):  # 真的要运行时，会再启动、再报错
            serving_worker().send({"do": "preload", "names": names})
