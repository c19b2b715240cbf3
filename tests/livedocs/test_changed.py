"""`--changed` 跳过没有变过的页面，而且只跳过它们。"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from test_page_faults import fence

from livedocs import memory

A = "# 甲\n\n" + fence('--8<-- "code/demo.py:one"\nprint(one())', output="1")
B = "# 乙\n\n" + fence("print(2)", output="2")
DEMO = "# --8<-- [start:one]\ndef one():\n    return 1\n# --8<-- [end:one]\n"


@pytest.fixture
def checked(site):
    site.script(DEMO)
    site.page(A, "a.md")
    site.page(B, "b.md")
    code, _ = run(site)
    assert code == 0
    return site


def run(site, *args):
    result = site.pytester.runpytest_inprocess("-p", "no:hypothesispytest", "--changed", *(args or ("docs",)))
    return int(result.ret), "\n".join(result.outlines)


def test_nothing_changed_nothing_checked(checked):
    code, report = run(checked)
    assert code == 0 and "--changed：2 页上次通过之后没有变过" in report and "passed" not in report


@pytest.mark.parametrize("change", ["页面", "脚本", "检查程序", "设置", "版本"])
def test_a_change_is_checked(checked, change, monkeypatch):
    expected = "2 页"
    if change == "页面":
        checked.page(A.replace("1\n```\n", "9\n```\n"), "a.md")
    elif change == "脚本":
        checked.script(DEMO.replace("return 1", "return 9"))
    elif change == "检查程序":
        monkeypatch.setattr(memory, "engine_hash", lambda: "另一个")
    elif change == "设置":
        with (checked.root / "mkdocs.yml").open("a", encoding="utf-8") as stream:
            stream.write("# 变了\n")
    else:
        monkeypatch.setattr(memory, "sys", SimpleNamespace(version="另一个"))
    code, report = run(checked)
    if change in ("页面", "脚本"):
        assert code == 1 and "docs/a.md" in report and "--changed：1 页" in report
    else:
        assert code == 0 and "6 passed" in report and f"--changed：{expected}" not in report


def test_a_failed_page_is_checked_again(checked):
    checked.page(B.replace("2\n```\n", "3\n```\n"), "b.md")
    assert run(checked)[0] == 1
    code, report = run(checked)
    assert code == 1 and "--changed：1 页" in report


def test_part_of_a_page_is_not_remembered(checked):
    checked.page(B + "\n没有来历的 0.75。\n", "b.md")
    assert run(checked, "docs/b.md::[CodeFence#1][line:3]")[0] == 0
    assert run(checked)[0] == 1


def test_a_page_saved_during_its_check_is_checked_again(checked):
    """检查的途中又存了一次：通过的是先前的样子，后来的没有检查过。"""
    page = checked.root / "docs" / "b.md"
    saves = f"import pathlib\npage = pathlib.Path({str(page)!r})\ntext = page.read_text(encoding='utf-8')\npage.write_text(text + '\\n没有来历的 0.75。\\n', encoding='utf-8')"
    checked.page("# 乙\n\n" + fence(saves), "b.md")
    assert run(checked)[0] == 0
    code, report = run(checked)
    assert code == 1 and "0.75" in report


@pytest.mark.parametrize("name", ["b.md", "a.md"])
def test_an_update_does_not_certify_what_was_saved_meanwhile(checked, name):
    """`--update-docs` 的途中又存了一次：检查过的是先前的样子，什么也不写。"""
    (checked.root / "proof.json").write_text('{"pages": {}}', encoding="utf-8")
    page = checked.root / "docs" / name
    later = page.read_text(encoding="utf-8") + "\n没有来历的 0.75。\n"
    saves = f"import pathlib\npathlib.Path({str(page)!r}).write_text({later!r}, encoding='utf-8')\nprint(3)"
    checked.page("# 乙\n\n" + fence(saves, output="2"), "b.md")
    if name == "a.md":
        checked.page(A + "\n" + fence(saves, output="2"), "a.md")
    code, report = checked.check("--update-docs", f"docs/{name}")
    assert code == 1 and f"docs/{name}：检查的途中又存了一次" in report, report
    assert page.read_text(encoding="utf-8") == later
    assert f"docs/{name}" not in (checked.root / "proof.json").read_text(encoding="utf-8")


def test_a_page_that_reads_a_file_is_always_checked(checked):
    (checked.root / "data.txt").write_text("1", encoding="utf-8")
    checked.page("# 乙\n\n" + fence(f"print(open({str(checked.root / 'data.txt')!r}).read())", output="1"), "b.md")
    assert run(checked)[0] == 0
    (checked.root / "data.txt").write_text("2", encoding="utf-8")
    code, report = run(checked)
    assert code == 1 and "--changed：1 页" in report
