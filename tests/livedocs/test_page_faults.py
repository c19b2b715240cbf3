"""每一种故意的错都要变红，并指出文档的行、code/ 的行和改法。"""

from __future__ import annotations

import pytest

DEMO = """
# --8<-- [start:root]
def root(x):
    if x < 0:
        raise ValueError("负数没有平方根")
    return x ** 0.5
# --8<-- [end:root]


assert root(9) == 3
"""

GOOD = """
# 页

```{.python .run}
--8<-- "code/demo.py:root"
print(root(4))
```

```{.text .output}
2.0
```
"""


def fence(body: str, header: str = "{.python .run}", output: str | None = None) -> str:
    text = f"```{header}\n{body}\n```\n"
    return text if output is None else f"{text}\n```{{.text .output}}\n{output}\n```\n"


def indented(text: str, prefix: str = "    ") -> str:
    return "".join(prefix + line if line.strip() else line for line in text.splitlines(keepends=True))


WRONG = fence("print(1 + 1)", output="3")

#: 名字 → (页面, 报告里必须出现的文字)
FAULTS = {
    "输出里一个数字错了": (GOOD.replace("\n2.0\n", "\n2.1\n"), ["docs/page.md:8：输出与文档不一致（代码在第 3 行）", "-2.1", "+2.0", "code/demo.py:2–5", "pytest --update-docs docs/page.md"]),
    "缺少输出围栏": (GOOD[: GOOD.index("```{.text")], ["docs/page.md:3：这段代码打印了内容，后面却没有", "+2.0"]),
    "不打印却有输出": (fence("x = 1", output="1"), ["代码却什么都没有打印", "-1"]),
    "孤立的输出围栏": ("文字\n\n```{.text .output}\n1\n```\n", ["docs/page.md:3", "没有紧挨着的 Python 块"]),
    "输出与代码隔着文字": (fence("print(1)") + "\n隔开\n\n```{.text .output}\n1\n```\n", ["docs/page.md:7", "没有紧挨着"]),
    "提示框里的错": ("!!! note\n\n" + indented(WRONG), ["docs/page.md:7：输出与文档不一致（代码在第 3 行）", "+2"]),
    "折叠里的错": ('??? note "折叠"\n\n' + indented(WRONG), ["docs/page.md:7", "+2"]),
    "标签页里的错": ('=== "甲"\n\n' + indented(WRONG), ["docs/page.md:7", "+2"]),
    "列表里的错": ("- 项\n\n" + indented(WRONG), ["docs/page.md:7", "+2"]),
    "引用里的错": (indented(WRONG.replace("\n\n", "\n>\n"), "> "), ["docs/page.md:5", "+2"]),
    "提示框里的列表里的错": ("!!! note\n\n    - 项\n\n" + indented(WRONG, " " * 8), ["docs/page.md:9", "+2"]),
    "片段改了名": (GOOD.replace("demo.py:root", "demo.py:sqrt"), ["docs/page.md:4：找不到片段 sqrt"]),
    "片段的文件没有了": (GOOD.replace("demo.py:root", "gone.py:root"), ["docs/page.md:4：找不到文件 code/gone.py"]),
    "选项拼错": (fence("x = 1", "{.python .run rise=\"ValueError\"}"), ["docs/page.md:1", "rise"]),
    "类拼错": (fence("x = 1", "{.python .runn}"), ["docs/page.md:1", "runn"]),
    "输出的选项拼错": (GOOD.replace("{.text .output}", '{.text .output rtoll="1"}'), ["rtoll"]),
    "容差不是数": (GOOD.replace("{.text .output}", '{.text .output rtol="大"}'), ["rtol='大' 不是 0 到 0.1 之间的数"]),
    "容差无穷大": (GOOD.replace("{.text .output}", '{.text .output rtol="inf"}'), ["rtol='inf' 不是 0 到 0.1 之间的数"]),
    "容差大得没有意义": (GOOD.replace("{.text .output}", '{.text .output atol="1e9"}'), ["atol='1e9' 不是"]),
    "时限无穷大": (fence("x = 1", '{.python .run timeout="inf"}'), ["timeout='inf' 不是 0 到 600 之间的数"]),
    "raises 不是类名": (fence("x = 1", '{.python .run raises="ValueError, TypeError"}', "x"), ["要写一个异常的类名"]),
    "假的输出": (fence("x = 1") + "\n```{.text}\n0.9\n```\n", ["docs/page.md:5：紧跟代码块的 text 围栏看上去是它的输出"]),
    "front matter 写坏了": ("---\ntitle: [\n---\n\n# 页\n", ["docs/page.md:1：front matter 不是合法的 YAML"]),
    "front matter 没有结束": ("---\ntitle: 页\n\n# 页\n", ["docs/page.md:1：front matter 不是合法的 YAML"]),
    "front matter 没有横线": ("title: 页\nruns: browser\n\n# 页\n", ["front matter 要写在两行 --- 之间"]),
    "标题写得不一样": ("---\ntitle: 甲\n---\n\n# 乙 {#x}\n", ["front matter 的 title 是“甲”，一级标题是“乙”"]),
    "回车符": (fence('print("a\\rb")'), ["docs/page.md:1：代码打印了网页显示不了的控制字符 '\\r'"]),
    "控制字符": (fence('print("\\x1b[31m")'), ["控制字符 '\\x1b'"]),
    "打印不了的字符": (fence('print("\\ud800")'), ["UnicodeEncodeError"]),
    "__str__ 出错的异常": (fence("class E(Exception):\n    def __str__(self):\n        return 1 / 0\nraise E"), ["代码出错 E: （这个异常的 __str__ 出错"]),
    "无限递归": (fence("def f():\n    f()\nf()"), ["RecursionError", "docs/page.md:3，在 f"]),
    "notest 没有原因": (fence("x = 1", '{.python notest=""}'), ["docs/page.md:1", "notest 要写明原因"]),
    "语言 Python": (fence("x = 1", "{.Python .run}"), ["docs/page.md:1", "语言写成了 Python"]),
    "语言 py3": (fence("x = 1", "{.py3}"), ["docs/page.md:1", "语言写成了 py3"]),
    "语言 py": (fence("x = 1", "py"), ["docs/page.md:1", "语言写成了 py"]),
    "语言不认识": (fence("x = 1", "{.pyhton}"), ["docs/page.md:1", "不认识的语言“pyhton”"]),
    "没有语言": (fence("x = 1", ""), ["docs/page.md:1", "不认识的语言"]),
    "选项没有花括号": (fence("x = 1", "python notest"), ["docs/page.md:1：选项要写在花括号里", "```python notest"]),
    "围栏首行有多余的字": (fence("x = 1", "python 运行它"), ["docs/page.md:1", "网站不会把这一行当作围栏"]),
    "围栏没有结束": (fence("x = 1").replace("\n```\n", "\n") + "\n后文\n", ["docs/page.md:1", "网站不会把这一行当作围栏"]),
    "前一个围栏吞掉后一个": ("```{.text}\n甲\n\n" + fence("print(1)"), ["围栏里面又出现围栏"]),
    "缩进写成的代码": ("文字\n\n    print(1)\n", ["不是用围栏写的"]),
    "注释里的围栏": ("<!--\n\n" + fence("print(1)") + "\n-->\n", ["不会显示在网页上"]),
    "TypeError": (fence("len(3)"), ["docs/page.md:1：代码出错 TypeError: object of type 'int' has no len()", "docs/page.md:2，在 <module>"]),
    "SyntaxError": (fence("x = = 1"), ["代码出错 SyntaxError: invalid syntax", "docs/page.md:2"]),
    "SystemExit": (fence("raise SystemExit(0)"), ["代码出错 SystemExit: 0", "docs/page.md:2"]),
    "KeyboardInterrupt": (fence("raise KeyboardInterrupt"), ["代码出错 KeyboardInterrupt"]),
    "code/ 里抛出的异常": (GOOD.replace("root(4)", "root(-4)"), ["代码出错 ValueError: 负数没有平方根", "docs/page.md:5，在 <module>", "code/demo.py:4，在 root（由 docs/page.md:3 引入）"]),
    "写到标准错误": (fence("import sys\nprint('糟', file=sys.stderr)"), ["docs/page.md:1：代码写到了标准错误", "糟"]),
    "警告": (fence("import warnings\nwarnings.warn('旧了')"), ["代码写到了标准错误", "旧了"]),
    "绕过 sys.stdout 的打印": (fence("import os\n_ = os.write(1, b'low')"), ["docs/page.md:1：这段代码打印了内容", "+low"]),
    "应当抛错却没有": (fence("x = 1", '{.python .run raises="ValueError"}', "ValueError: 甲"), ["docs/page.md:1：文档说这段代码抛出 ValueError，它却正常结束了"]),
    "抛出了别的错": (fence("len(3)", '{.python .run raises="ValueError"}', "ValueError: 甲"), ["文档说抛出 ValueError，实际却是 TypeError"]),
    "异常的最后一行变了": (fence("int('x')", '{.python .run raises="ValueError"}', "ValueError: 甲"), ["-ValueError: 甲", "+ValueError: invalid literal for int() with base 10: 'x'"]),
    "超时": (fence("while True:\n    pass", '{.python .run timeout="0.3"}'), ["docs/page.md:1：超过 0.3 秒还没有结束"]),
    "进程被结束": (fence("import os\nos._exit(3)"), ["docs/page.md:1：进程中途结束（退出码 3）"]),
    "前面出错": (fence("1 / 0") + "\n" + fence("print(1)", output="1"), ["ZeroDivisionError", "docs/page.md:5：前面第 1 段代码（page.md:1）出错，这一段没有运行"]),
    "命令里的文件不存在": (fence("python nothing.py", "{.bash}"), ["docs/page.md:2：命令里的文件 nothing.py 不存在"]),
    "冲突标记": ("甲\n\n<<<<<<< HEAD\n乙\n=======\n丙\n>>>>>>> x\n", ["docs/page.md:3：还留着版本冲突的标记"]),
    "脚本的运行记录变了": (fence('--8<-- "code/demo.py"', "{.python .script}", "2"), ["docs/page.md:5：文档有输出，代码却什么都没有打印"]),
    "脚本块只是一个片段": (fence('--8<-- "code/demo.py:root"', "{.python .script}"), ["docs/page.md:1：页面展示的不是整个"]),
    "file 与引入的文件不同": (fence('--8<-- "code/demo.py"', '{.python .script file="x.py"}'), ['file="x.py" 与引入的文件 demo.py 不是同一个']),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_reported(site, name):
    text, expected = FAULTS[name]
    site.script(DEMO)
    page = site.page(text)
    before = page.read_bytes()
    code, report = site.check()
    assert code == 1, report
    for fragment in expected:
        assert fragment in report, f"报告里没有“{fragment}”：\n{report}"
    assert "Traceback" not in report and "INTERNALERROR" not in report
    assert page.read_bytes() == before


@pytest.mark.parametrize(("newline", "bom"), [("\n", False), ("\r\n", False), ("\n", True), ("\r\n", True)])
def test_good_page_passes_whatever_its_bytes(site, newline, bom):
    site.script(DEMO)
    site.page(GOOD, newline=newline, bom=bom)
    code, report = site.check()
    assert code == 0, report
    assert "1 段代码，1 处输出" in report
    site.page(GOOD.replace("\n2.0\n", "\n2.1\n"), newline=newline, bom=bom)
    code, report = site.check()
    assert code == 1 and "docs/page.md:8" in report


def test_page_that_is_not_utf8(site):
    (site.root / "docs" / "page.md").write_bytes("# 一页用国标编码的文字\n".encode("gbk"))
    code, report = site.check()
    assert code == 1 and "不是 UTF-8 编码的文件" in report


def test_tolerance_only_where_declared(site):
    page = fence("print('误差', 0.12345)", output="误差 0.1234")
    site.page(page)
    assert site.check()[0] == 1
    site.page(page.replace(".output}", '.output rtol="1e-2"}'))
    assert site.check()[0] == 0
    site.page(page.replace(".output}", '.output rtol="1e-6"}'))
    assert site.check()[0] == 1
    site.page(page.replace(".output}", '.output rtol="1e-2"}').replace("误差 0.1234\n", "误 差 0.1234\n"))
    assert site.check()[0] == 1, "容差只管数，不管文字"


def test_classes_of_a_page_can_be_pickled(site):
    site.page(fence("import pickle\nclass A:\n    x = 3\nprint(pickle.loads(pickle.dumps(A())).x, A.__module__)", output="3 __main__"))
    code, report = site.check()
    assert code == 0, report


def test_dataclass_with_postponed_annotations(site):
    first = fence("from __future__ import annotations\nfrom dataclasses import dataclass, KW_ONLY")
    second = fence(
        "@dataclass\nclass P:\n    x: int\n    _: KW_ONLY\n    y: 不存在 = 1\nprint(P(2), P.__annotations__['y'])",
        output="P(x=2, y=1) 不存在",
    )
    site.page(first + "\n" + second)
    code, report = site.check()
    assert code == 0, report


def test_one_program_per_page(site):
    site.page(fence("x = 1") + "\n" + fence("x += 1\nprint(x, __name__)", output="2 __main__"), "a.md")
    site.page(fence("print('x' in globals())", output="False"), "b.md")
    code, report = site.check()
    assert code == 0, report


def test_each_block_runs_once(site):
    counter = site.root / "count"
    body = f"open(r'{counter}', 'a').write('x')"
    site.page(fence(f"_ = {body}") + "\n" + fence("pass") + "\n" + fence("raise TypeError('一次')", '{.python raises="TypeError"}', "TypeError: 一次"))
    code, report = site.check()
    assert code == 0, report
    assert counter.read_text() == "x"


def test_choosing_one_block_runs_those_above(site):
    site.page(fence("x = 41") + "\n" + fence("print(x + 1)", output="42"))
    code, report = site.check("docs/page.md::[CodeFence#2][line:5]")
    assert code == 0, report
    assert "1 passed" in report


def test_notest_with_a_reason_is_visible(site):
    site.page(fence("x = 1", '{.python notest="要联网"}'))
    code, report = site.check("docs", "-ra")
    assert code == 0 and "要联网" in report and "1 skipped" in report


def test_markdown_outside_docs_is_left_alone(site):
    (site.root / "README.md").write_text("```python\n1/0\n```\n", encoding="utf-8")
    site.page(GOOD)
    site.script(DEMO)
    assert site.check(".")[0] == 0


def test_broken_mkdocs_yml_is_a_sentence(site):
    (site.root / "mkdocs.yml").write_text("site_name: 站\nmarkdown_extensions: [没有这个扩展]\n", encoding="utf-8")
    site.page("# 页\n")
    code, report = site.check()
    assert code == 2 and "mkdocs.yml" in report and "没有这个扩展" in report
    assert "Traceback" not in report


def test_without_fork(site, monkeypatch):
    """Windows 和 macOS 上一页一个新进程：结果、超时和出错的报告都一样。"""
    monkeypatch.setenv("LIVEDOCS_SPAWN", "1")
    site.script(DEMO)
    site.page(GOOD + "\n值 2.0<!--= root(4) -->\n", "a.md")
    site.page(fence("x = 1") + "\n" + fence("print('x' in globals())", output="True"), "b.md")
    code, report = site.check_apart()
    assert code == 0, report
    site.page(fence("while True:\n    pass", '{.python .run timeout="0.3"}') + "\n" + fence("y = 1"), "a.md")
    site.page(fence("import os\nos._exit(3)"), "c.md")
    code, report = site.check_apart()
    assert code == 1 and "docs/a.md:1：超过 0.3 秒还没有结束" in report
    assert "docs/a.md:6：前面第 1 段代码（a.md:1）没有运行完" in report and "docs/c.md:1：进程中途结束（退出码 3）" in report


def test_nothing_leaks_from_page_to_page(site):
    """一页可以关掉标准输出、换目录、改 builtins、留下线程；下一页看不到。"""
    site.page(
        fence(
            "import builtins, os, sys, threading, random\n"
            "os.chdir('/')\n"
            "builtins.extra = 1\n"
            "import json, math\n"
            "json.dumps = math.sqrt = None\n"
            "os.environ['LEFT'] = '1'\n"
            "random.seed(0)\n"
            "threading.Thread(target=lambda: __import__('time').sleep(600)).start()\n"
            "sys.stdout.close()"
        ),
        "a.md",
    )
    site.page(
        fence(
            "import math, os, threading\n"
            "print('extra' in dir(__builtins__), math.sqrt(4), os.getcwd() != '/', 'LEFT' in os.environ, threading.active_count())",
            output="False 2.0 True False 1",
        ),
        "b.md",
    )
    code, report = site.check()
    assert code == 0, report
