"""变异：小网站上，该发现的都发现，故意松的一处被列出来；中断了能接着做；工作区一个字节也不变。"""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from livedocs import mutate, notebook, numbers
from livedocs.mutation import mutants, operators
from livedocs.mutation.lessons import Lessons
from livedocs.page import Line, Origin
from livedocs.program import program

ROOT = Path(__file__).resolve().parents[2]

FILES = {
    "code/demo.py": '''
        """演示。"""

        # --8<-- [start:root]
        def root(x, low=0):
            """平方根。"""
            if x < low:
                raise ValueError(f"负数 {x + 0} 没有平方根")
            return x ** 0.5
        # --8<-- [end:root]


        # --8<-- [start:extra]
        def extra(x):
            return x * 3
        # --8<-- [end:extra]


        # --8<-- [start:main]
        if __name__ == "__main__":
            print(root(9))
        # --8<-- [end:main]
        ''',
    "docs/page.md": '''
        # 页

        ```{.python .run}
        --8<-- "code/demo.py:root"
        print(root(6.25))
        ```

        ```{.text .output}
        2.5
        ```

        6.25<!--given--> 的平方根是 2.5<!--= root(6.25) -->；书上说是 2.4[^book]。

        [^book]: 某书，2017。
        ''',
    "docs/weak.md": '''
        # 松的一页

        ```{.python .run}
        print(0.12345)
        ```

        ```{.text .output rtol="1e-2"}
        0.12345
        ```
        ''',
    "docs/examples/demo.md": '''
        # 例子

        ```{.python .script}
        --8<-- "code/demo.py"
        ```

        ```{.text .output}
        3.0
        ```
        ''',
    "tests/lessons/lesson_files.py": '''
        from pathlib import Path
        from types import SimpleNamespace

        PATH = Path(__file__).resolve().parents[2] / "code" / "demo.py"


        def load(text=None):
            space = {"__name__": "demo"}
            exec(compile(text or PATH.read_text(encoding="utf-8"), str(PATH), "exec"), space)
            return SimpleNamespace(**space)


        def mutate(old, new):
            text = PATH.read_text(encoding="utf-8")
            if old not in text:
                raise LookupError(old)
            return load(text.replace(old, new))
        ''',
    "tests/lessons/test_demo.py": '''
        import pytest
        from lesson_files import load, mutate


        def test_root():
            assert load().root(9) == 3


        def test_refusal():
            with pytest.raises(ValueError):
                load().root(-1)


        def test_ablation():
            assert mutate("x * 3", "x * 5").extra(1) == 5
        ''',
    "tests/site_tools.py": '''
        from pathlib import Path

        ROOT = Path(__file__).resolve().parents[1]
        ''',
    "tests/site/test_downloads.py": '''
        from site_tools import ROOT

        from livedocs.publish import published, scripts

        CODE = ROOT / "code"


        def test_every_script_is_downloadable_byte_for_byte(site):
            for path in scripts(CODE):
                assert (site.folder / "code" / path.name).read_bytes() == published(path).encode()
        ''',
}


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return path


def build(root: Path) -> Path:
    real = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    write(root, "mkdocs.yml", "site_name: 小站\n" + real[real.index("markdown_extensions:") :])
    for name, text in FILES.items():
        write(root, name, text)
    return root


def run(root: Path, *arguments: str, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "livedocs.mutate", "--workers", "1", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", timeout=600, check=False, **options)


def digest(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """整个小网站的一次运行：（文件夹, 运行结果, 运行前的散列, 报告的各行）。"""
    root = build(tmp_path_factory.mktemp("site"))
    report = tmp_path_factory.mktemp("report") / "report.jsonl"
    before = digest(root)
    done = run(root, "--resume", str(report))
    entries = [json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()]
    return root, done, before, [entry for entry in entries if "key" in entry]


def outcomes(entries: list[dict], kind: str) -> dict[str, str]:
    return {f"{e['where']} {e['change']}": e["outcome"] for e in entries if e["kind"] == kind}


def test_known_mutants_are_killed(campaign):
    _, done, _, entries = campaign
    assert set(e["outcome"] for e in entries) == {"killed", "survived"}, done.stdout + done.stderr
    for kind in ("number", "transcript", "download"):
        assert set(outcomes(entries, kind).values()) == {"killed"}, kind
    markers = outcomes(entries, "marker")
    assert markers["docs/page.md:4 root → rootx"] == markers["docs/page.md:4 root → extra"] == "killed"
    assert markers["code/demo.py:3 root → rootx"] == "killed"
    output = outcomes(entries, "output")
    assert output["docs/page.md:9 2 → 3：[2→3].5"] == "killed"
    killers = {e["change"]: e["by"] for e in entries if e["where"] == "docs/page.md:9"}
    assert killers["2 → 3：[2→3].5"] == "docs/page.md:8：输出与文档不一致（代码在第 3 行）"
    code = outcomes(entries, "code")
    assert code["code/demo.py:8 ** → *"] == code["code/demo.py:8 0.5 → 1.0"] == "killed"
    assert not any("+" in change for change in code), "f-string 里的不改"
    assert {e["kind"] for e in entries} == set(mutate.KINDS) - {"notebook"}


def test_a_download_test_that_always_fails_has_found_nothing(tmp_path):
    root = build(tmp_path)
    write(root, "tests/site/test_downloads.py", FILES["tests/site/test_downloads.py"].replace("==", "!="))
    done = run(root, "--kinds", "download", "--sample", "3")
    assert done.returncode == 1 and "没有判：code/demo.py：照原样就不通过" in done.stdout, done.stdout + done.stderr


def test_weak_places_are_listed_with_their_lines(campaign):
    _, done, _, entries = campaign
    assert done.returncode == 1, done.stderr
    assert "没有被发现的 output" in done.stdout
    assert "  docs/weak.md:8：4 → 5：0.12[3→4]" not in done.stdout
    assert "  docs/weak.md:8：5 → 6：0.1234[5→6]" in done.stdout.splitlines()
    assert "  code/demo.py:6：< → <=" in done.stdout.splitlines(), "没有人试过 0"
    assert "  docs/page.md:12：4 → 5：" in done.stdout, "引用的数没法核对，要列出来"
    alive = [e["where"] for e in entries if e["kind"] == "output" and e["outcome"] == "survived"]
    assert alive and set(alive) == {"docs/weak.md:8"}


def test_a_test_that_rewrites_the_text_is_no_discovery(campaign):
    """消融测试找不到它要改的原文时会失败；那不算发现了错误。"""
    code = outcomes(campaign[3], "code")
    assert code["code/demo.py:14 * → /"] == code["code/demo.py:14 3 → 4"] == "survived"


def test_working_tree_is_untouched(campaign):
    root, _, before, _ = campaign
    assert digest(root) == before


def test_resume_after_a_kill(tmp_path, campaign):
    root = build(tmp_path / "site")
    report = tmp_path / "report.jsonl"
    arguments = ["--kinds", "output,number,transcript", "--resume", str(report)]
    command = [sys.executable, "-m", "livedocs.mutate", "--workers", "1", *arguments]
    (tmp_path / "tmp").mkdir()  # 被 SIGKILL 结束的进程收拾不了它的临时文件夹
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    process = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None and not (report.is_file() and report.stat().st_size):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with report.open("a", encoding="utf-8") as stream:
        stream.write('{"key": "写到一半')
    done = run(root, *arguments)
    assert "已有" in done.stderr and "个结果，还要判" in done.stderr, done.stderr
    entries = []
    for line in report.read_text(encoding="utf-8").splitlines():
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    keys = [entry["key"] for entry in entries]
    assert len(keys) == len(set(keys))
    whole = [e for e in campaign[3] if e["kind"] in ("output", "number", "transcript")]
    assert {e["key"]: e["outcome"] for e in entries} == {e["key"]: e["outcome"] for e in whole}

    write(root, "docs/weak.md", FILES["docs/weak.md"].replace("松的", "变了的"))
    changed = mutate.Report(report)
    inputs = mutate.Inputs(root)
    project = mutate.load_project(root)
    valid = [changed.valid(m, inputs) for m in mutate.choose(project, ["docs/weak.md"], frozenset({"output"}))]
    assert valid and not any(valid), "页面变了，旧的结果不算"
    valid = [changed.valid(m, inputs) for m in mutate.choose(project, ["docs/page.md"], frozenset({"output"}))]
    assert valid and all(valid)


def test_a_new_test_only_judges_the_survivors_again(tmp_path):
    """被一个测试发现的，别的测试变了也不重判；漏网的重判。那个测试或脚本变了，都重判。"""
    root = build(tmp_path / "site")
    report = tmp_path / "report.jsonl"
    zero = "from lesson_files import load\n\n\ndef test_zero():\n    assert load().root(0) == 0\n"
    write(root, "tests/lessons/test_zero.py", zero)
    run(root, "--kinds", "code", "--resume", str(report))

    def known() -> set[str]:
        inputs, past = mutate.Inputs(root), mutate.Report(report)
        found = mutate.choose(mutate.load_project(root), [], frozenset({"code"}))
        return {f"{m.change} {entry['outcome']}" for m in found if (entry := past.valid(m, inputs))}

    by_test, by_page = {"< → <= killed", "0 → 1 killed"}, {"** → * killed", "0.5 → 1.0 killed", "== → != killed", "9 → 10 killed"}
    assert known() == by_test | by_page | {"* → / survived", "3 → 4 survived"}
    write(root, "tests/lessons/test_demo.py", FILES["tests/lessons/test_demo.py"] + "\n        # 变了\n")
    assert known() == by_test | by_page
    write(root, "tests/lessons/test_zero.py", zero + "# 变了\n")
    assert known() == by_page
    write(root, "tests/lessons/test_zero.py", zero)
    write(root, "docs/page.md", FILES["docs/page.md"] + "\n        变了。\n")
    assert known() == by_test
    write(root, "code/demo.py", FILES["code/demo.py"].replace("平方根。", "根。"))
    assert known() == set()


def test_agrees_with_the_real_pytest(tmp_path):
    root = build(tmp_path)
    done = run(root, "--kinds", "output,code", "--pages", "docs/weak.md", "code/demo.py", "--sample", "6", "--agree", "2")
    assert "与真正的 pytest 命令一致：output 2 个，code 2 个" in done.stdout, done.stdout + done.stderr
    assert "结论不一致" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--kinds", "output,digit"], "没有这一类变异：digit；可用的是 output、number"),
        (["--pages", "docs/none.md"], "没有这样的页面或脚本：docs/none.md"),
        (["--workers", "0"], "--workers 与 --sample 要是正整数"),
        (["--agree", "-1"], "--agree 不能是负数"),
    ],
)
def test_wrong_arguments(tmp_path, monkeypatch, capsys, arguments, sentence):
    monkeypatch.chdir(build(tmp_path))
    assert mutate.main(arguments) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("README.md", "# 小站\n\n说明。\n".encode(), "README.md 不是这个命令写的结果（第 1 行）；换一个文件名"),
        ("binary.jsonl", b"\x89PNG\r\n\x1a\n\x00\xff\n", "binary.jsonl 不是这个命令写的结果（第 1 行）"),
        ("other.jsonl", b'{"key": "a"}\n', "other.jsonl 不是这个命令写的结果（第 1 行）"),
        ("list.jsonl", b"[1]\n", "list.jsonl 不是这个命令写的结果（第 1 行）"),
        ("half.jsonl", b'{"key": "a", "kind\nabc', "half.jsonl 不是这个命令写的结果（第 2 行）"),
        ("folder", None, "folder 是文件夹；写一个文件名，例如 folder"),
        ("gone/report.jsonl", None, "没有 gone 这个文件夹，不能建立 report.jsonl；先建立文件夹"),
    ],
)
def test_a_file_that_cannot_hold_the_results(tmp_path, monkeypatch, capsys, name, data, sentence):
    """什么都没有运行、没有写，就说出来。"""
    root = build(tmp_path)
    (root / "folder").mkdir()
    if data is not None:
        (root / name).write_bytes(data)
    before = digest(root)
    monkeypatch.chdir(root)
    monkeypatch.setattr(mutate, "campaign", lambda root, options: pytest.fail("不该开始"))
    assert mutate.main(["--kinds", "output", "--resume", name]) == 2
    assert f"错误：--resume：{sentence}" in capsys.readouterr().err
    assert digest(root) == before


@pytest.mark.parametrize("tail", [b"", b"{", b'{"key": "\xe5\x86', '{"key": "写到一半'.encode(), '{"key": "写到一半\n'.encode(), b'{"inputs": "abc", "cov'])
def test_a_truncated_last_line_is_tolerated(tmp_path, tail):
    """被打断在任何一个字节，包括一个汉字的中间；前面的结果都在。"""
    whole = dict.fromkeys(("kind", "where", "change", "outcome", "by", "seconds", "inputs"), "") | {"key": "k"}
    path = tmp_path / "report.jsonl"
    path.write_bytes(json.dumps(whole).encode() + b"\n" + json.dumps({"inputs": "a", "coverage": {}}).encode() + b"\n" + tail)
    report = mutate.Report(path)
    assert report.known == {"k": [whole]} and report.coverage == {"a": {}}
    report.append([whole])
    assert mutate.Report(path).known == {"k": [whole, whole]}


@pytest.mark.parametrize("pattern", ["docs/weak.md", "docs/w*.md", "docs/../docs/weak.md"])
def test_an_absolute_path_inside_the_project_is_a_page(tmp_path, monkeypatch, pattern):
    root = build(tmp_path)
    monkeypatch.chdir(root)
    chosen = []
    monkeypatch.setattr(mutate, "campaign", lambda root, options: chosen.extend(mutate.choose(mutate.load_project(root), options.pages, frozenset({"output"}))) or 0)
    assert mutate.main(["--pages", f"{root}/{pattern}"]) == 0
    assert {mutant.path for mutant in chosen} == {"docs/weak.md"}


def test_an_absolute_path_outside_the_project_is_refused(tmp_path, monkeypatch, capsys):
    outside = write(tmp_path, "weak.md", "# 别处")
    monkeypatch.chdir(build(tmp_path / "site"))
    assert mutate.main(["--pages", str(outside)]) == 2
    assert "没有这样的页面或脚本" in capsys.readouterr().err


def test_lessons_that_cannot_run_are_an_error_and_not_a_lack_of_discoveries(tmp_path):
    root = build(tmp_path)
    write(root, "tests/lessons/conftest.py", "raise RuntimeError('坏了')")
    done = run(root, "--kinds", "code")
    assert done.returncode == 2
    assert "tests/lessons 不能运行" in done.stderr and "坏了" in done.stderr


def test_outside_a_project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert mutate.main([]) == 2
    assert "mkdocs.yml" in capsys.readouterr().err


def entry(**changes: str) -> str:
    fields = {"file": "code/demo.py", "line": "if x < low:", "change": "< → <=", "reason": "因为"} | changes
    return "[[equivalent]]\n" + "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (entry(), None),
        (entry(line="if x < high:"), "已经没有这个变异"),
        (entry(change="< → >"), "已经没有这个变异"),
        (entry(file="code/gone.py"), "没有这个文件"),
        (entry(reason=" "), "缺少 reason"),
        (entry() + "nth = 2\n", "已经没有这个变异"),
        (entry(line="def root(x, low=0):", change="0 → 1"), None),
    ],
)
def test_list_of_equivalent_mutants(tmp_path, text, problem):
    root = build(tmp_path)
    path = write(root, "tests/lessons/equivalent-mutants.toml", text)
    found = operators.code_mutants(root / "code" / "demo.py", root)
    equal = mutate.equivalents(path, found, {"code/demo.py"})
    if problem is None:
        assert not equal.problems and list(equal.reasons.values()) == ["因为"]
    else:
        assert not equal.reasons and problem in equal.problems[0]
    assert mutate.Outcome([], equal.reasons, equal.problems).failed() == (problem is not None)


def test_broken_list_is_a_sentence(tmp_path):
    path = write(tmp_path, "tests/lessons/equivalent-mutants.toml", "[[equivalent]\n")
    with pytest.raises(mutate.UsageError, match="equivalent-mutants.toml 读不懂"):
        mutate.equivalents(path, [], set())


def test_operators(tmp_path):
    """每种运算符各一个；行号不变，改后都能编译。"""
    source = '''
        """说明 1 + 1。"""
        def f(甲, b=-1, *, 保留: int = 3):
            if 甲 and not b:  # 中文在前，列数按字
                return 甲[1:b] + [x for x in 甲 if x]
            assert 甲 + 1 == 2 and torch.manual_seed(7)
            甲 += 1; torch.manual_seed(5); torch.testing.assert_close(甲, b, atol=1e-5)
            return (甲 is not None) == (b not in 甲), 甲 @ b // 2, 1e-6, f"{b + 1}", 甲 < 1e-9, True
        '''
    path = write(tmp_path, "code/demo.py", source)
    found = operators.code_mutants(path, tmp_path)
    text = path.read_text(encoding="utf-8")
    changes = {(m.line, m.change) for m in found}
    assert changes == {
        (2, "-1 → 1"),
        (2, "-1 → -2"),
        (2, "3 → 4"),
        (3, "and → or"),
        (3, "not b → (b)"),
        (4, "1 → （空）"),
        (4, "1 → 2"),
        (4, "b → （空）"),
        (4, "（空） → + 1"),
        (4, "+ → -"),
        (4, "x → not (x)"),
        (6, "+= → -="),
        (6, "1 → 2"),
        (7, "is not → is"),
        (7, "== → !="),
        (7, "not in → in"),
        (7, "// → /"),
        (7, "2 → 3"),
        (7, "1e-6 → 2e-06"),
        (7, "< → >="),
        (7, "True → False"),
    }
    for mutant in found:
        changed = mutant.apply(text)
        ast.parse(changed)
        assert changed.count("\n") == text.count("\n")
        assert changed.splitlines()[mutant.line - 1] != text.splitlines()[mutant.line - 1]
    with pytest.raises(ValueError, match="文件变了"):
        found[0].apply("#" + text)


def picture() -> str:
    import numpy as np
    from PIL import Image

    pixels = np.full((64, 96, 3), 255, dtype="uint8")
    pixels[20:30, 10:60] = (200, 30, 30)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return base64.b64encode(stream.getvalue()).decode()


def test_notebook(tmp_path):
    """存下的文字、图片与正文里的数：每个变异都只差在那一处，并且看得出来。"""
    data = {"image/png": picture() + "\n", "text/plain": ["<Figure at 0x7f00aabbccdd>"]}
    stored = {
        "cells": [
            {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["第一行\n", "结果是 0.25<!--= 1/4 -->，书上是 0.5[^b]"]},
            {
                "cell_type": "code",
                "execution_count": 1,
                "id": "b",
                "metadata": {},
                "outputs": [
                    {"name": "stdout", "output_type": "stream", "text": ["甲 1\n", "乙 2\n"]},
                    {"data": data, "metadata": {}, "output_type": "display_data"},
                ],
                "source": ["print(1)"],
            },
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    build(tmp_path)
    path = tmp_path / "docs" / "n.ipynb"
    path.write_bytes(notebook.dump(stored))
    found = mutants.notebook_mutants(path, tmp_path, frozenset(mutate.KINDS))
    kinds = {kind: [m for m in found if m.kind == kind] for kind in mutate.KINDS}
    assert len(kinds["number"]) == 6 and {m.old for m in kinds["number"]} == {"0", "2", "5"}
    assert len(kinds["loose"]) == 2
    said = {m.change for m in kinds["notebook"]}
    assert {"第 2 个单元：1 → 2：甲 [1→2]", "第 2 个单元：删去这一行：乙 2", "第 2 个单元的图：反色", "第 2 个单元的图：左右翻转"} <= said
    assert any("像素涂掉" in change for change in said)
    assert not any("7f00" in change and "删去" not in change for change in said), "内存地址不算"
    text = mutants.read(path)
    for mutant in kinds["notebook"]:
        changed = json.loads(mutant.apply(text))
        assert notebook.cell_difference(changed["cells"][1], stored["cells"][1]), mutant.change
    assert [m.line for m in kinds["number"]] == [text[: text.index("0.25")].count("\n") + 1] * 6


def test_lessons_run_in_a_warm_process(tmp_path):
    """通过、失败、超时、找不到节点：退出码照 pytest 的；结束后还能接着用。"""
    write(
        tmp_path,
        "test_a.py",
        """
        def test_good(): pass


        def test_bad(): assert 1 == 2


        def test_slow():
            while True:
                pass
        """,
    )
    lessons = Lessons(tmp_path)
    try:
        assert lessons.run(["test_a.py::test_good"], 30)[0] == 0
        code, text = lessons.run(["test_a.py::test_bad"], 30)
        assert code == 1 and "test_bad" in text
        assert lessons.run(["test_a.py::test_slow"], 1) == (-1, "超过 1 秒")
        assert lessons.run(["test_a.py::test_gone"], 30)[0] == 4
        assert lessons.run(["test_a.py::test_good"], 30)[0] == 0
    finally:
        lessons.close()
    assert lessons._process.poll() is not None


@pytest.mark.parametrize("written", ["0e6", "000", "00", "0001", "0.000", "63", "1e5", "1e0", "1e06"])
def test_declared_number_must_be_the_one_in_the_program(written):
    """变异找到的漏洞：0e6 的值是 0，而程序里多半有 0；两位的整数也要真的在程序里。"""
    line = Line(f"基数 {written}<!--given-->", Origin(Path("page.md"), 1))
    inputs = program(["base, zero, width = 1e6, 0, 64"])
    assert "声明为给定的输入，本页的程序里却没有这个数" in numbers.scan_lines([line], [0], inputs).faults[0].message
    for honest in ("1e6", "1000000", "0", "0.0", "64", "−64"):
        line = Line(f"基数 {honest}<!--given-->", Origin(Path("page.md"), 1))
        assert not numbers.scan_lines([line], [0], inputs).faults, honest


def test_number_inside_a_bound_formula_must_be_in_the_program():
    """变异找到的漏洞：公式只绑定最后的数，前面的底数改了也看不出来。"""

    def said(formula: str) -> str | None:
        line = Line(f"{formula}<!--= x -->", Origin(Path("page.md"), 1))
        found = numbers.scan_lines([line], [0], program(["base = 10000.0"]))
        return numbers.check(found.bindings[0], {"value": {"float": "0.01"}})[0]

    assert said("$10000^{-4/8} = 0.01$") is None
    assert said("$10001^{-4/8} = 0.01$") == "公式 $10001^{-4/8} = 0.01$ 里的 10001 没有绑定，本页的程序里也没有这个数"
    assert "应写 0.01" in said("$10000^{-4/8} = 0.02$")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0.2<!--given-->", "0.2 声明为给定的输入，但写错一个数字成了 0.1，也是程序里的数，检查发现不了"),
        ("0.2<!--given: rates = (0.1, 0.2-->", None),
        ("0.1<!--given: rates = (0.1-->", None),
        ("[0.1, 0.2]<!--given: rates = (0.1,0.2-->", None),
        ("0.1<!--given: rates = (0.1, 0.2-->", "0.1 不是指明的代码 rates = (0.1, 0.2 里的最后一个数"),
        ("[0.2, 0.1]<!--given: rates = (0.1, 0.2-->", "0.2 不是指明的代码"),
        ("0.2<!--given: 0.1, 0.2-->", "指明的代码 0.1, 0.2 里要有名字，只写数等于没有指明"),
        ("0.2<!--given: rate = 0.2-->", "指明的代码 rate = 0.2 不在本页的程序里"),
        ("$\\eta = 0.2$，0.7<!--given-->", "数 0.2 没有来历"),
    ],
)
def test_a_given_number_that_one_slip_turns_into_another_constant_names_its_place(text, problem):
    """变异找到的漏洞：0.2 写成 0.1，程序里也有 0.1，检查看不出来。"""
    line = Line(f"学习率 {text}", Origin(Path("page.md"), 1))
    faults = numbers.scan_lines([line], [0], program(["rates = (0.1, 0.2)\nlimit = 0.7"])).faults
    assert (problem is None and not faults) or problem in faults[0].message
