"""已发布的文件：标记去掉，bundle 换成定义本身；网页、下载、运行记录是同样的字节。"""

from __future__ import annotations

import pytest
from test_page_faults import fence

from livedocs.page import load_page
from livedocs.project import load_project
from livedocs.publish import PublishError, published, published_lines

PARTS = '''
import math

# --8<-- [start:check]
def check(x):
    if x < 0:
        raise ValueError("负数")


# --8<-- [end:check]
# --8<-- [start:root]
def root(x):
    check(x)
    return math.sqrt(x)


# --8<-- [end:root]
if __name__ == "__main__":
    print(root(4))
'''

USER = '''
"""用别的脚本里的定义。"""
import math

# --8<-- [bundle:1-parts.py:check,root]
import importlib

_parts = importlib.import_module("1-parts")
check, root = _parts.check, _parts.root
# --8<-- [end-bundle]
# --8<-- [start:twice]
def twice(x):
    return 2 * root(x)
# --8<-- [end:twice]


print(twice(9))
'''


@pytest.fixture
def scripts(site):
    site.script(PARTS, "1-parts.py")
    site.script(USER, "2-user.py")
    return site


def test_bundle_is_replaced_by_the_definitions(scripts):
    text = published(scripts.root / "code" / "2-user.py")
    assert "8<" not in text and "importlib" not in text
    assert text.count("def check") == text.count("def root") == 1
    assert text.index("def check") < text.index("def root") < text.index("def twice")
    compile(text, "2-user.py", "exec")


def test_every_line_knows_its_source(scripts):
    lines = published_lines(scripts.root / "code" / "2-user.py")
    for line in lines:
        source = line.path.read_text(encoding="utf-8").split("\n")[line.line - 1]
        assert line.text in (source, ""), line
    assert {line.path.name for line in lines} == {"1-parts.py", "2-user.py"}


def test_page_download_and_transcript_are_the_same(scripts):
    path = scripts.page(fence('--8<-- "code/2-user.py"', "{.python .script}", "6.0"))
    page = load_page(path, load_project(scripts.root))
    assert not page.faults
    assert page.blocks[0].code.content.strip("\n") == published(scripts.root / "code" / "2-user.py").strip("\n")
    code, report = scripts.check()
    assert code == 0, report


def test_update_rewrites_the_transcript(scripts):
    path = scripts.page(fence('--8<-- "code/2-user.py"', "{.python .script}", "5.0\n旧"))
    code, report = scripts.check()
    assert code == 1 and "docs/page.md:5：输出与文档不一致" in report and "-旧" in report and "+6.0" in report
    assert scripts.check("--update-docs", "docs")[0] == 0
    assert path.read_text(encoding="utf-8") == fence('--8<-- "code/2-user.py"', "{.python .script}", "6.0")


BAD_SCRIPTS = {
    "抛出异常": ("raise ValueError('坏')\n", "ValueError: 坏"),
    "写到标准错误": ("import sys\nprint('糟', file=sys.stderr)\n", "糟"),
    "留下文件": ("open('left.txt', 'w').close()\n", "留下了文件：left.txt"),
    "导入邻居": ("import importlib\nimportlib.import_module('1-parts')\n", "No module named '1-parts'"),
    "读邻居的文件": ("print(open('1-parts.py').read())\n", "FileNotFoundError"),
}


@pytest.mark.parametrize("name", BAD_SCRIPTS)
def test_scripts_run_alone_and_cleanly(scripts, name):
    text, message = BAD_SCRIPTS[name]
    scripts.script(text)
    scripts.page(fence('--8<-- "code/demo.py"', "{.python .script}"))
    code, report = scripts.check()
    assert code == 1 and "docs/page.md:1：demo.py" in report and message in report


def test_a_crash_in_bundled_code_names_both_places(scripts):
    scripts.page(fence('--8<-- "code/1-parts.py:check"\ncheck(-1)'))
    code, report = scripts.check()
    assert code == 1 and "code/1-parts.py:6，在 check（由 docs/page.md:1 引入）" in report


BROKEN = {
    "没有开始的 bundle": ("# --8<-- [end-bundle]\n", "bundle 没有开始就结束了"),
    "没有结束的 bundle": ("# --8<-- [bundle:1-parts.py:root]\n", "demo.py:1：bundle 没有结束标记"),
    "文件不存在": ("# --8<-- [bundle:none.py:root]\n# --8<-- [end-bundle]\n", "demo.py:1：找不到要并入的脚本 none.py"),
    "片段不存在": ("# --8<-- [bundle:1-parts.py:nix]\n# --8<-- [end-bundle]\n", "demo.py:1：1-parts.py：没有片段 nix"),
    "没有写片段": ("# --8<-- [bundle:1-parts.py:]\n# --8<-- [end-bundle]\n", "没有写要并入哪些片段"),
    "片段没有结束": ("# --8<-- [start:a]\n", "片段 a 没有结束标记"),
    "片段没有开始": ("# --8<-- [end:a]\n", "片段 a 没有开始就结束了"),
    "片段重名": ("# --8<-- [start:a]\n# --8<-- [end:a]\n# --8<-- [start:a]\n# --8<-- [end:a]\n", "片段 a 出现了两次"),
    "引入别的片段": ('--8<-- "code/1-parts.py"\n', "脚本里不能再引入片段"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_marks_are_named(scripts, name):
    text, message = BROKEN[name]
    path = scripts.script(text)
    with pytest.raises(PublishError, match="demo.py") as caught:
        published(path)
    assert message in str(caught.value)
    scripts.page(fence('--8<-- "code/demo.py"', "{.python .script}"))
    code, report = scripts.check()
    assert code == 1 and message in report and "Traceback" not in report
