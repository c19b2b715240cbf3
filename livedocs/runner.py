"""在页面自己的命名空间里运行一段代码，拿回它打印的内容；出错时指出文档和 code/ 里的行。"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

from livedocs.mother import Worker, WorkerDied, preload, serving_worker
from livedocs.page import Block, Origin

TIMEOUT = 60.0
#: 一页的进程在开始之后最多还能占的地址空间（字节）；预先导入的库不算在内。
MEMORY = 12 * 2**30
#: 报告里最多写出栈的最外和最内各几层；无限递归有一千层。
SHOWN_FRAMES = 5


@dataclass
class Result:
    """一段代码运行的结果。`error` 是未捕获的异常（见 worker.describe），没有时是 None。"""

    stdout: str = ""
    stderr: str = ""
    error: dict | None = None
    died: str = ""

    def printed(self, expected: str | None) -> str:
        """应写进文档的输出；预期的异常只留最后一行。"""
        if self.error is None or expected is None:
            return self.stdout
        head = self.stdout if not self.stdout or self.stdout.endswith("\n") else self.stdout + "\n"
        return f"{head}{self.error['last']}\n"

    def raised(self, expected: str) -> bool:
        """抛出的异常是否就是 `expected`（或它的子类）。"""
        return self.error is not None and expected in self.error["bases"]


@dataclass
class PageRun:
    """一页的一次运行：块按顺序各运行一次，结果留着；要第 n 块时，先补上前面没运行的。"""

    path: Path
    blocks: list[Block]
    results: list[Result] = field(default_factory=list)
    values: list[list[dict]] = field(default_factory=list)
    #: 第 n 块之后要求值的表达式（n = 0 是所有块之前）。
    expressions: dict[int, list[str]] = field(default_factory=dict)
    _worker: Worker | None = None
    _pid: int = 0
    _broken: str = ""

    def result(self, block: Block) -> Result:
        """第 `block.number` 块的结果，需要时先运行它前面的块。"""
        if not self.values:
            self.values.append(self._evaluate(0))
        while len(self.results) < block.number:
            done = self.blocks[len(self.results)]
            self.results.append(self._run(done))
            self.values.append(self._evaluate(done.number))
            if len(self.results) == len(self.blocks):
                self.close()
        return self.results[block.number - 1]

    def finish(self) -> None:
        """运行余下的全部块，求完全部表达式。"""
        if self.blocks:
            self.result(self.blocks[-1])
        elif not self.values:
            self.values.append(self._evaluate(0))
            self.close()

    def _run(self, block: Block) -> Result:
        if self._broken:
            return Result(died=self._broken)
        if block.is_script or "notest" in block.code.options:
            return Result()
        timeout = float(block.code.options.get("timeout", TIMEOUT))
        request = {"do": "run", "code": block.code.content, "filename": f"<{block.number}>"}
        try:
            answer = self._ask(request, timeout)
        except WorkerDied as death:
            self._broken = f"前面第 {block.number} 段代码（{block.origin.path.name}:{block.origin.line}）没有运行完，这一段没有运行"
            self._kill()
            return Result(died=str(death))
        result = Result(answer["stdout"], answer["stderr"], answer["error"], answer.get("died", ""))
        if result.died or result.error and "raises" not in block.code.options:
            self._broken = f"前面第 {block.number} 段代码（{block.origin.path.name}:{block.origin.line}）出错，这一段没有运行"
        return result

    def _evaluate(self, after: int) -> list[dict]:
        answers = []
        for expression in self.expressions.get(after, ()):
            if self._broken:
                answers.append({"error": self._broken})
                continue
            try:
                answers.append(self._ask({"do": "eval", "code": expression}, TIMEOUT))
            except WorkerDied as death:
                self._broken = f"表达式 {expression} {death}"
                self._kill()
                answers.append({"error": str(death)})
        return answers

    def _ask(self, request: dict, timeout: float) -> dict:
        if self._worker is None:
            self._start()
        self._worker.send(request)
        return self._worker.receive(timeout)

    def _start(self) -> None:
        self._worker = serving_worker()
        names = preload("\n".join(block.code.content for block in self.blocks))
        self._worker.send({"do": "start", "path": str(self.path), "preload": names, "memory": MEMORY})
        self._worker.serving = True
        self._pid = self._worker.receive(TIMEOUT)["ready"]

    def close(self) -> None:
        """结束这一页的进程；结果都还在。"""
        if self._worker is None:
            return
        worker, self._worker = self._worker, None
        try:
            worker.send({"do": "end"})
            while worker.serving:
                worker.receive(5)
        except WorkerDied:
            if worker.serving:
                worker.close()

    def _kill(self) -> None:
        if self._worker is None:
            return
        worker, self._worker = self._worker, None
        try:
            if worker.serving:
                os.killpg(self._pid, signal.SIGKILL)  # 母进程收回这一页的其余进程，再服务下一页
            while worker.serving:
                worker.receive(5)
        except (WorkerDied, AttributeError, ProcessLookupError, PermissionError):
            if worker.serving:
                worker.close()


def locate(frames: list, blocks: list[Block]) -> list[tuple[Origin, str]]:
    """栈帧 → 文档和 code/ 里的位置；第三方库的帧略去。"""
    places = []
    for filename, lineno, name in frames:
        if not (filename.startswith("<") and filename[1:-1].isdigit()):
            continue
        origins = blocks[int(filename[1:-1]) - 1].code.origins
        if 1 <= lineno <= len(origins):
            places.append((origins[lineno - 1], name))
    return places if len(places) <= 2 * SHOWN_FRAMES else places[:SHOWN_FRAMES] + places[-SHOWN_FRAMES:]
