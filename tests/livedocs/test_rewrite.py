"""`--update-docs` 只改输出，别的一个字节不动；改不了时什么都不写。"""

from __future__ import annotations

import pytest
from test_page_faults import DEMO, GOOD, fence, indented

from livedocs.rewrite import Edit, RewriteError, apply, write_atomically


@pytest.mark.parametrize(("newline", "bom"), [("\n", False), ("\r\n", False), ("\n", True), ("\r\n", True)])
def test_only_the_output_changes(site, newline, bom):
    site.script(DEMO)
    odd = GOOD + "\n行尾空格   \n\t制表符\u2028与行分隔符\x0c\n没有换行的末行"
    right = site.page(odd, newline=newline, bom=bom).read_bytes()
    page = site.page(odd.replace("\n2.0\n", "\n2.1\n3.1\n"), newline=newline, bom=bom)
    code, report = site.check("--update-docs", "docs")
    assert code == 0, report
    assert page.read_bytes() == right
    assert "docs/page.md：写回 1 处" in report
    assert site.check("--update-docs", "docs")[0] == 0
    assert page.read_bytes() == right, "再写一次不变"
    assert site.check()[0] == 0


@pytest.mark.parametrize("prefix", ["    ", "        "])
def test_outputs_in_containers_keep_their_indent(site, prefix):
    head = "!!! note\n\n" if prefix == "    " else "!!! note\n\n    - 项\n\n"
    wrong = head + indented(fence("print('甲\\n\\n  乙')", output="旧"), prefix)
    right = head + indented(fence("print('甲\\n\\n  乙')", output="甲\n\n  乙"), prefix)
    page = site.page(wrong)
    code, report = site.check("--update-docs", "docs")
    assert code == 0, report
    assert page.read_text(encoding="utf-8") == right.rstrip("\n") + "\n"


def test_quote(site):
    page = site.page(indented(fence("print(2)", output="3").replace("\n\n", "\n>\n"), "> "))
    assert site.check("--update-docs", "docs")[0] == 0
    assert "> 2\n" in page.read_text(encoding="utf-8") and site.check()[0] == 0


def test_missing_fence_is_added_and_empty_one_removed(site):
    page = site.page(fence("print(7)") + "\n文\n\n" + fence("x = 1", output="8") + "\n文\n")
    code, report = site.check("--update-docs", "docs")
    assert code == 0, report
    assert page.read_text(encoding="utf-8") == fence("print(7)", output="7") + "\n文\n\n" + fence("x = 1") + "\n文\n"
    assert site.check()[0] == 0


@pytest.mark.parametrize("printed", ["```\\n~~~", "````", '--8<-- \\"code/demo.py\\"', "# --8<-- [start:x]", "甲\\t乙", "末尾空格  ", "  缩进", "\\n空行在前", "空行在后\\n"])
def test_awkward_output_survives(site, printed):
    """打印的内容像围栏、像片段记号、有制表符或空行时，写回之后检查通过。"""
    site.script(DEMO)
    site.page(fence(f'print("{printed}")', output="旧"))
    code, report = site.check("--update-docs", "docs")
    assert code == 0, report
    code, report = site.check()
    assert code == 0, report


def test_a_page_with_another_error_is_not_touched(site):
    page = site.page(fence("print(2)", output="3") + "\n" + fence("1 / 0"))
    before = page.read_bytes()
    code, report = site.check("--update-docs", "docs")
    assert code == 1 and page.read_bytes() == before
    assert "还有别的错误，没有改动文件" in report and "ZeroDivisionError" in report


@pytest.mark.parametrize("bad", ["```{.python .run oops=\"1\"}\nx = 1\n```\n", '```{.python}\n--8<-- "code/none.py:x"\n```\n', "<<<<<<< HEAD\n"])
def test_bad_pages_are_refused_before_anything_is_written(site, bad):
    page = site.page(fence("print(2)", output="3") + "\n" + bad)
    before = page.read_bytes()
    code, _ = site.check("--update-docs", "docs")
    assert code == 1 and page.read_bytes() == before


def test_refused_in_parallel(site):
    page = site.page(fence("print(2)", output="3"))
    before = page.read_bytes()
    code, report = site.check_apart("--update-docs", "-n", "2", "docs")
    assert code == 4 and "--update-docs 要在一个进程里运行" in report
    assert page.read_bytes() == before


def test_parallel_keeps_a_page_whole(site):
    for name in "abcd":
        site.page("\n".join([fence(f"x = '{name}'"), fence("x += 'y'"), fence("print(x)", output=f"{name}y")]), f"{name}.md")
    code, report = site.check_apart("-n", "2", "docs")
    assert code == 0 and "20 passed" in report
    assert "核对了 4 页：12 段代码，4 处输出" in report


def test_git_diff_shows_exactly_the_change(site):
    site.script(DEMO)
    site.page(GOOD)
    site.git("init", "-q")
    site.git("add", "-A")
    site.git("commit", "-qm", "好的")
    site.script(DEMO.replace("0.5", "0.25"))
    assert site.check()[0] == 1
    assert site.check("--update-docs", "docs")[0] == 0
    changed = [line for line in site.git("diff", "-U0", "docs").splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")]
    assert changed == ["-2.0", "+1.4142135623730951"]


def test_overlapping_edits_are_refused(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("1\n2\n3\n")
    with pytest.raises(RewriteError, match="重叠"):
        apply(path, [Edit(1, 2, ("x",)), Edit(2, 3, ("y",))])
    with pytest.raises(RewriteError, match="变短了"):
        apply(path, [Edit(9, 9, ("x",))])
    assert path.read_text() == "1\n2\n3\n"


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.md"
    path.write_text("旧", encoding="utf-8")

    def power_cut(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", power_cut)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, "新".encode())
    assert path.read_text(encoding="utf-8") == "旧"
    assert [p.name for p in tmp_path.iterdir()] == ["a.md"]
