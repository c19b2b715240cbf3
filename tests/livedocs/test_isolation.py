"""一页做什么都影响不到下一页；做过了头的，被停下，并指出是哪一页哪一行。"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time

import psutil
import pytest
from test_page_faults import fence

from livedocs import runner, worker

LINUX = sys.platform.startswith("linux")
forked = pytest.mark.skipif(not LINUX, reason="别的系统上一页用一个新进程，没有母进程可影响")

#: 一页能看到的环境，写成文字。单独运行时的样子写进页面，之后无论前一页做了什么，都必须还是这样。
FINGERPRINT = """
import builtins, decimal, gc, io, json, locale, math, os, random, resource, signal, sys, threading, warnings

def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as stream:
        return len(os.listdir("/proc/self/task")), stream.read()

print("文件夹", len(os.listdir()), os.path.basename(os.getcwd())[:9])
print("环境", "LEFT" in os.environ, oct(os.umask(0o22)))
print("内建", "extra" in dir(builtins), len("甲乙"), builtins.print.__name__, max(3, 1))
print("模块", json.dumps([1]), json.loads("2"), math.sqrt(4), os.read.__name__, "意外" in sys.modules, io.open.__name__)
print("路径", [p for p in sys.path if "rude" in p], sys.argv[0].endswith("b.md"))
print("信号", signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL))
print("屏蔽", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
print("线程", threading.active_count(), children())
print("限制", sys.getrecursionlimit(), resource.getrlimit(resource.RLIMIT_NOFILE), gc.isenabled(), decimal.getcontext().prec)
print("警告", any(f[0] == "error" for f in warnings.filters), sys.gettrace(), sys.excepthook is sys.__excepthook__)
print("描述符", len(os.listdir("/proc/self/fd")), locale.setlocale(locale.LC_NUMERIC))
print("随机数", random.getrandbits(64) in TAKEN)
print("主模块", sorted(k for k in globals() if k.startswith("rude")), flush=True)
""".replace("TAKEN", str({random.Random(seed).getrandbits(64) for seed in range(3)}))

#: 名字 → 前一页的代码。它们自己都能正常结束。
RUDE = {
    "改工作目录": "import os\nos.chdir('/')",
    "在文件夹里留下文件": "open('left.txt', 'w').write('x') and None",
    "改环境变量和掩码": "import os\nos.environ['LEFT'] = '1'\n_ = os.umask(0o77)",
    "改内建": "import builtins\nbuiltins.extra = 1\nbuiltins.max = min",
    "改 json": "import json\njson.dumps = lambda *_: '坏'\njson.loads = None",
    "改 os.read": "import os\nos.read = os.write = len",
    "改 math": "import math\nmath.sqrt = abs",
    "往模块表和路径里塞东西": "import sys\nsys.modules['意外'] = sys\nsys.path.insert(0, '/rude')\nsys.argv[0] = 'rude'",
    "装信号处理": "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGALRM, print)\n_ = signal.setitimer(signal.ITIMER_REAL, 500)",
    "屏蔽信号": "import signal\n_ = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])",
    "留下线程": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()",
    "留下子进程": "import subprocess\nchild = subprocess.Popen(['sleep', '601'])",
    "改各种限制": "import sys, gc, decimal\nsys.setrecursionlimit(99999)\ngc.disable()\ndecimal.getcontext().prec = 3",
    "把警告变成错误": "import warnings\nwarnings.simplefilter('error')",
    "装追踪": "import sys\nsys.settrace(lambda *_: None)",
    "打开文件不关": "rude_files = [open('/dev/null') for _ in range(20)]",
    "设随机数种子": "import random\nrandom.seed(1)",
    "留下全局变量": "rude_value = 1",
}
#: 它们影响的是进程以外，同一页里看不到，或者会让同一页的检查本身停下。
OUTSIDE = {
    "关掉标准输出": "import sys\nsys.stdout.close()",
    "关掉全部描述符": "import os\nos.closerange(0, 3)",
    "分叉": "import os\nrude = os.fork()",
    "分叉后另立门户": "import os, subprocess\nsubprocess.Popen(['sleep', '602'], start_new_session=True)\nif os.fork() == 0:\n    os.setsid()",
    "打印不换行就结束": "print('x' * 10, end='')\nimport sys; sys.stdout.flush()\nimport os; os.dup2(os.open(os.devnull, os.O_WRONLY), 1)",
}


PASSED = {"PASSED"}


def outcome(report: str) -> dict[str, set[str]]:
    """`-v` 的报告 → 页面名：它的各项结果。"""
    found: dict[str, set[str]] = {}
    for name, result in re.findall(r"^docs/(\w+)\.md::.* (PASSED|FAILED|ERROR)", report, re.MULTILINE):
        found[name] = found.get(name, set()) | {result}
    return found


def write_fingerprint(site) -> str:
    """让页面自己写出单独运行时的样子。"""
    page = site.page(fence(FINGERPRINT.strip(), output="?"), "b.md")
    code, report = site.check("--update-docs", "docs")
    assert code == 0, report
    text = page.read_text(encoding="utf-8")
    page.unlink()
    (site.root / "proof.json").unlink(missing_ok=True)
    return text


@forked
def test_nothing_a_page_does_reaches_the_next(site):
    text = write_fingerprint(site)
    rude = RUDE | OUTSIDE
    for number, code in enumerate(rude.values()):
        site.page(fence(code), f"p{number:02}a.md")
        site.page(text, f"p{number:02}b.md")
    _, report = site.check("-v", "docs")
    results = outcome(report)
    assert len(results) == 2 * len(rude)
    for number, name in enumerate(rude):
        assert results[f"p{number:02}b"] == PASSED, f"“{name}”影响了下一页：\n{report}"
        if name in RUDE:
            assert results[f"p{number:02}a"] == PASSED, f"“{name}”本身没有通过：\n{report}"
    assert not [p for p in psutil.process_iter(["cmdline"]) if (p.info["cmdline"] or [])[:1] == ["sleep"] and p.info["cmdline"][1:] in (["601"], ["602"])]


@forked
@pytest.mark.parametrize("name", [name for name in RUDE if name != "改 os.read"])
def test_the_fingerprint_would_show_it(site, name):
    """对照：在同一页里，上面每一种都会让指纹改变——所以上一个测试不是因为看不见才通过的。"""
    if not (cache := getattr(test_the_fingerprint_would_show_it, "text", None)):
        cache = test_the_fingerprint_would_show_it.text = write_fingerprint(site)
    site.page(fence(RUDE[name]) + "\n" + cache, "b.md")
    code, report = site.check()
    assert code == 1 and re.search(r"FAILED docs/b\.md::\[CodeFence#2\]", report), report


@forked
def test_a_page_named_on_the_command_line_has_its_heavy_library_imported_meanwhile(site):
    """页面引入的文件要用 numpy：还没有读懂页面，母进程就已经在导入它。没有指名页面时，等到运行才导入。"""
    site.script("# --8<-- [start:a]\nimport numpy\n# --8<-- [end:a]\n")
    for argument, loaded in (("docs/page.md", "True"), ("docs", "False")):
        block = fence('import sys\nprint("numpy" in sys.modules)', output=loaded)
        site.page('```text\n--8<-- "code/demo.py:a"\n```\n\n' + block)
        code, report = site.check_apart(argument)
        assert code == 0, report


TORCH = """
import torch
print(torch.get_default_dtype(), torch.initial_seed(), torch.is_grad_enabled(), torch.get_num_threads() == THREADS)
print(torch.relu(torch.tensor(-1.0)).item(), torch.are_deterministic_algorithms_enabled(), torch.randn(1).item() == FIRST)
print(torch.nn.functional.softmax.__module__, torch._dynamo is not None if "torch._dynamo" in __import__("sys").modules else True)
"""


@forked
def test_torch_is_as_it_was(site):
    setup = "import torch\ngenerator = torch.Generator()\n"
    rude = (
        "import torch\ntorch.set_default_dtype(torch.float64)\n_ = torch.manual_seed(7)\ntorch.set_grad_enabled(False)\n"
        "torch.relu = torch.sigmoid\ntorch.nn.functional.softmax = print\ntorch.use_deterministic_algorithms(True)\n_ = torch.randn(3)"
    )
    body = TORCH.strip().replace("THREADS", "torch.get_num_threads()").replace("FIRST", "torch.randn(1, generator=torch.Generator().manual_seed(torch.initial_seed())).item()")
    page = site.page(fence(body, output="?"), "b.md")
    assert site.check("--update-docs", "docs")[0] == 0
    text = page.read_text(encoding="utf-8")
    (site.root / "proof.json").unlink(missing_ok=True)
    assert "torch.float32" in text and "0.0 False True" in text
    site.page(fence(setup + rude), "a.md")
    code, report = site.check()
    assert code == 0, report
    (site.root / "docs" / "a.md").unlink()
    site.page(fence(rude) + "\n" + text, "b.md")
    assert site.check()[0] == 1, "对照：同一页里看得见"


@pytest.fixture
def small_memory(monkeypatch):
    monkeypatch.setattr("livedocs.runner.MEMORY", 700 * 2**20)


#: 名字 → （代码块, 报告里必须有的文字）。每一种之后的一页都照常通过。
STOPPED = {
    "永远循环": (fence("x = 1\nwhile True:\n    pass", '{.python .run timeout="0.4"}'), ["docs/a.md:1：超过 0.4 秒还没有结束"]),
    "永远等待": (fence("import time\ntime.sleep(99)", '{.python .run timeout="0.4"}'), ["docs/a.md:1：超过 0.4 秒还没有结束"]),
    "不理会信号的循环": (
        fence("import signal\nfor n in range(1, 32):\n    if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\nwhile True: pass", '{.python .run timeout="0.4"}'),
        ["docs/a.md:1：超过 0.4 秒还没有结束"],
    ),
    "子进程不结束": (fence("import subprocess\nsubprocess.run(['sleep', '603'])", '{.python .run timeout="0.4"}'), ["docs/a.md:1：超过 0.4 秒还没有结束"]),
    "占内存": (fence("x = []\nwhile True:\n    x.append(bytearray(2**26))"), ["docs/a.md:1：代码出错 MemoryError", "docs/a.md:4，在 <module>"]),
    "无穷递归": (fence("def f():\n    f()\nf()"), ["docs/a.md:1：代码出错 RecursionError", "docs/a.md:4，在 <module>", "docs/a.md:3，在 f"]),
    "打印太多": (fence("print('甲' * 10**6)"), ["docs/a.md:1：向标准输出写了太多内容（上限 1,000,000 字节）"]),
    "打印几个吉字节": (fence("import os\nfor _ in range(4096):\n    _ = os.write(1, b'x' * 2**20)"), ["docs/a.md:1：向标准输出写了太多内容"]),
    "往标准错误写太多": (fence("import sys\nprint('x' * 2 * 10**6, file=sys.stderr)"), ["docs/a.md:1：向标准错误写了太多内容"]),
    "写太大的文件": (fence("with open('x', 'wb') as f:\n    for _ in range(300):\n        _ = f.write(bytes(2**20))"), ["docs/a.md:1：代码出错 OSError", "File too large"]),
    "关掉标准输出再打印": (fence("import sys\nsys.stdout.close()\nprint(1)"), ["docs/a.md:1：代码出错 ValueError: I/O operation on closed file", "docs/a.md:4，在 <module>"]),
    "突然结束": (fence("import os\nos._exit(7)"), ["docs/a.md:1：进程中途结束（退出码 7）"]),
    "结束自己": (fence("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"), ["docs/a.md:1：进程中途结束（退出码 -9）"]),
    "结束母进程": (fence("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nimport time; time.sleep(60)"), ["docs/a.md:1：进程中途结束"]),
    "段错误": (fence("import ctypes\nctypes.string_at(0)"), ["docs/a.md:1：进程中途结束（退出码 -11）"]),
    "关掉全部描述符": (fence("import os\nos.closerange(0, 99)"), ["docs/a.md:1：进程中途结束"]),
}


@forked
@pytest.mark.parametrize("name", STOPPED)
def test_stopped_and_named(site, small_memory, name):
    text, expected = STOPPED[name]
    site.page(text + "\n" + fence("print(2)", output="2"), "a.md")
    site.page(fence("print(1)", output="1"), "b.md")
    started = time.monotonic()
    code, report = site.check("-v", "docs")
    assert time.monotonic() - started < runner.TIMEOUT  # 不是等到默认的上限
    assert code == 1
    for fragment in expected:
        assert fragment in report, f"报告里没有“{fragment}”：\n{report}"
    assert "这一段没有运行" in report, "同一页后面的块不再运行，也说明了原因"
    assert outcome(report)["b"] == PASSED, report
    assert "INTERNALERROR" not in report and "检查本身出错" not in report


def test_the_default_limits():
    """写一课的那一页把它们绑定在正文里。"""
    assert (runner.TIMEOUT, runner.MEMORY, worker.OUTPUT, worker.FILE) == (60, 12 * 2**30, 10**6, 256 * 2**20)


@forked
def test_no_folder_is_left_behind(site, monkeypatch):
    """页面的临时文件夹总会删掉，超时的也一样。"""
    kept = site.root / "tmp"
    kept.mkdir()
    monkeypatch.setenv("TMPDIR", str(kept))
    site.page(fence("while True: pass", '{.python .run timeout="0.3"}'), "a.md")
    site.page(fence("open('x', 'w').close()"), "b.md")
    site.check_apart("docs")
    assert not list(kept.glob("livedocs-*"))


@forked
def test_killing_the_run_leaves_no_process(site):
    """pytest 自己被结束时，正在循环的页面也跟着结束。"""
    site.page(fence("open('/proc/self/comm', 'w').write('rude-loop') and None\nwhile True: pass"), "a.md")
    run = subprocess.Popen([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "docs"], cwd=site.root, stdout=subprocess.DEVNULL)

    def looping() -> list[psutil.Process]:
        return [p for p in psutil.process_iter(["name"]) if p.info["name"] == "rude-loop"]

    try:
        assert wait_until(looping, 30)
    finally:
        run.kill()
        run.wait()
    assert wait_until(lambda: not looping(), 10)


def wait_until(condition, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


# ---------------------------------------------------------------- 写到一半被结束

PAGES = 4
KILLS = 15
ARGUMENTS = ["-q", "-p", "no:cacheprovider", "-p", "pytest_markdown_docs.plugin", "-p", "livedocs.plugin", "--update-docs", "docs"]
#: 先导入好一切，每要一次就分叉出一个 `pytest --update-docs`：十几次运行不必都等着导入。
SERVER = f"""
import os, sys
from pathlib import Path
import pytest
import livedocs.items
from livedocs.project import load_project
load_project(Path.cwd()).markdown()
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for target in range(3):
            os.dup2(null, target)
        os._exit(pytest.main({ARGUMENTS!r}))
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@forked
def test_killing_an_update_leaves_old_or_new(site):
    """在随机的时刻结束 `--update-docs`：每一页不是旧的就是新的，再运行一次就全是新的。"""
    numbers = range(1, 7)
    old = {f"p{n}.md": f"# 页 {n}\n\n" + "\n文\n\n".join(fence(f"print('新' * {m})", output="旧") for m in numbers) for n in range(PAGES)}
    new = {f"p{n}.md": f"# 页 {n}\n\n" + "\n文\n\n".join(fence(f"print('新' * {m})", output="新" * m) for m in numbers) for n in range(PAGES)}
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], cwd=site.root, env=alone, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def start() -> int:
        for name, text in old.items():
            site.page(text, name)
        server.stdin.write("\n")
        server.stdin.flush()
        return int(server.stdout.readline())

    def read() -> dict[str, str]:
        return {path.name: path.read_text(encoding="utf-8") for path in (site.root / "docs").glob("[!.]*.md")}

    try:
        start()
        begun = time.monotonic()
        assert wait_until(lambda: read() != old, 120)
        first = time.monotonic() - begun
        assert wait_until(lambda: read() == new, 120)
        writing = time.monotonic() - begun - first
        assert int(server.stdout.readline()) == 0
        chance = random.Random(0)
        mixed = 0
        for attempt in range(KILLS):
            run = start()
            if attempt % 5 == 0:
                time.sleep(chance.uniform(0, first))  # 第一页还没有写
            else:
                wait_until(lambda: read() != old, 120)
                time.sleep(chance.uniform(0, writing) if attempt % 5 > 2 else 0)  # 或者第一页刚写好
            try:
                os.kill(run, signal.SIGKILL)
            except ProcessLookupError:
                pass  # 已经全部写完
            server.stdout.readline()
            now = read()
            assert now.keys() == old.keys()
            torn = [name for name, text in now.items() if text not in (old[name], new[name])]
            assert not torn, torn
            mixed += now not in (old, new)
    finally:
        server.kill()
        server.wait()
    assert mixed, "没有一次正好停在两页之间，这个测试就没有说明什么"
    done = subprocess.run([sys.executable, "-m", "pytest", *ARGUMENTS], cwd=site.root, env=alone, capture_output=True)
    assert done.returncode == 0 and read() == new
