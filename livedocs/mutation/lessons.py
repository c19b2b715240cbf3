"""运行 tests/lessons 里选出的测试：一个先导入好 torch 与 pytest 的进程，每次分出一个子进程去运行。

导入 torch 要一秒多，变异有上千个；分叉只要几毫秒，子进程里运行的仍是真正的 pytest。
不能分叉的系统上，每次另开一个进程。协议与 `livedocs.worker` 相同：4 字节长度加 JSON 的帧。
"""

from __future__ import annotations

import importlib
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from livedocs.worker import FORKS, Pipe

OPTIONS = ["-x", "-q", "--tb=line", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:livedocs", "-p", "no:markdown-docs", "-p", "no:xdist"]
#: 处理器时间没有用完，但这么多倍的时间过去了还没有结束，也不再等。
PATIENCE = 20
#: 导入很慢的库：测试或脚本提到它，就先导入一次。
HEAVY = ("torch", "transformers", "numpy", "hypothesis", "mkdocs", "markdown", "pymdownx")


class Lessons:
    """运行一组测试，返回（pytest 的退出码, 最后几行）；用完 `timeout` 秒的退出码是 -1。"""

    def __init__(self, root: Path):
        self.root = root
        self._process: subprocess.Popen | None = None

    def run(self, nodes: list[str], timeout: float) -> tuple[int, str]:
        if not FORKS:
            return self._apart(nodes, timeout)
        if self._process is None or self._process.poll() is not None:
            self._start()
        self._pipe.write({"nodes": nodes, "timeout": timeout})
        answer = self._answers.get(timeout=PATIENCE * timeout + 60)
        if answer is None:
            raise RuntimeError("运行测试的进程中途结束")
        return answer["code"], answer["text"]

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "livedocs.mutation.lessons"], cwd=self.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._pipe = Pipe(self._process.stdout.fileno(), self._process.stdin.fileno())
        self._answers: queue.Queue[dict | None] = queue.Queue()
        threading.Thread(target=self._listen, args=(self._pipe, self._answers), daemon=True).start()

    @staticmethod
    def _listen(pipe: Pipe, answers: queue.Queue) -> None:
        try:
            while (message := pipe.read()) is not None:
                answers.put(message)
        except OSError:
            pass
        answers.put(None)

    def _apart(self, nodes: list[str], timeout: float) -> tuple[int, str]:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *OPTIONS, *nodes], cwd=self.root, capture_output=True, text=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return -1, f"超过 {timeout:g} 秒"
        return done.returncode, _tail(done.stdout)

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.stdin.close()
            self._process.wait(timeout=10)


def _tail(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    wanted = [line for line in lines if line.startswith(("FAILED", "ERROR"))] or lines[-3:]
    return wanted[0][:300] if wanted else ""


def run_once(nodes: list[str], timeout: float) -> dict:
    """分出一个子进程运行 pytest；到时限就连同它启动的进程一起结束。"""
    import resource

    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.setsid()
            code = 3
            try:
                seconds = max(1, round(timeout))  # 按处理器时间：机器忙的时候，慢不是错
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                import pytest

                code = int(pytest.main([*OPTIONS, *nodes]))
                sys.stdout.flush()
            finally:
                os._exit(code)
        deadline = time.monotonic() + PATIENCE * timeout
        pause = 0.002
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                break
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                code = -1
                break
            time.sleep(pause)
            pause = min(0.05, pause * 1.5)
        try:
            os.killpg(child, signal.SIGKILL)  # 测试留下的进程
        except (ProcessLookupError, PermissionError):
            pass
        output.seek(0)
        text = output.read().decode("utf-8", errors="replace")
    late = code in (-1, -signal.SIGXCPU, -signal.SIGKILL)
    return {"code": -1 if late else code, "text": f"超过 {timeout:g} 秒" if late else _tail(text)}


def main() -> None:
    pipe = Pipe(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    sys.dont_write_bytecode = True  # 同一秒里改两次、长短相同，缓存的字节码会认不出来
    texts = [path.read_text(encoding="utf-8") for folder in ("code", "tests/lessons") for path in Path(folder).glob("*.py")]
    for name in HEAVY:
        if any(re.search(rf"^\s*(?:import|from) {name}\b", text, re.MULTILINE) for text in texts):
            try:
                importlib.import_module(name)
            except ImportError:
                pass
    import pytest  # noqa: F401

    _steady_hypothesis()
    while (request := pipe.read()) is not None:
        pipe.write(run_once(request["nodes"], request["timeout"]))


def _steady_hypothesis() -> None:
    """固定的例子、不缩小反例、不限时：同一个变异每次都有同样的结论，失败也不多花时间。"""
    try:
        from hypothesis import Phase, settings
    except ImportError:
        return
    settings.register_profile("mutation", derandomize=True, database=None, deadline=None, phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutation")


if __name__ == "__main__":
    main()
