"""写错的页面让严格构建失败，并说清哪一页、错在哪里。"""

import subprocess
import sys

import pytest
from mkdocs.exceptions import Abort


def failure(project, caplog, text: str) -> str:
    """严格构建首页，返回全部消息；构建没有失败就是测试失败。"""
    with pytest.raises(Abort) as error:
        project.build(text)
    return f"{caplog.text}\n{error.value}"


def test_a_bad_formula_names_page_and_formula(project, caplog):
    said = failure(project, caplog, "# 题\n\n$\\frac{1$ 与 $\\nosuch{x}$\n")
    assert "index.md：公式排不出来：\\nosuch{x}" in said


@pytest.mark.parametrize(
    ("snippet", "named"),
    [("code/none.py", "code/none.py"), ("code/x.py:none", "none"), ("../outside.py", "../outside.py")],
)
def test_a_missing_snippet_fails(project, caplog, snippet, named):
    project.write("code/x.py", "# --8<-- [start:a]\nx = 1\n# --8<-- [end:a]\n")
    project.write("../outside.py", "x = 1\n")
    said = failure(project, caplog, f'# 题\n\n```{{.python .run}}\n--8<-- "{snippet}"\n```\n')
    assert "index.md" in said
    assert "片段找不到" in said
    assert named in said


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[死链接](none.md)", "none.md"),
        ("[死锚点](#none)", "#none"),
        ("[别页的死锚点](other.md#none)", "other.md#none"),
        ("[绝对链接](/other/)", "/other/"),
        ("[不认识的链接](other)", "other"),
        ("[没有的脚本](code/none.py)", "code/none.py"),
    ],
)
def test_a_dead_link_fails(project, caplog, text, named):
    project.write("docs/other.md", "# 另一页\n\n[首页](index.md)\n")
    assert f"'{named}'" in failure(project, caplog, f"# 题\n\n[另一页](other.md) {text}\n")


def test_a_link_to_a_script_is_checked_and_served(project):
    project.write("code/x.py", "# --8<-- [start:a]\nx = '汉字'\n# --8<-- [end:a]\n")
    html = project.build("# 题\n\n[脚本](code/x.py)\n")
    assert 'href="code/x.py"' in html
    assert (project.site / "code" / "x.py").read_bytes() == "x = '汉字'\n".encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('```{.python .run wrong="1"}\nx = 1\n```', "不认识的选项或写法 wrong='1'"),
        ("![字](figures/none.svg)", "找不到图"),
    ],
)
def test_wrong_markup_fails(project, caplog, text, message):
    said = failure(project, caplog, f"# 题\n\n{text}\n")
    assert "index.md" in said
    assert message in said


def test_a_script_that_cannot_be_published_fails(project, caplog):
    project.write("code/x.py", "# --8<-- [start:a]\nx = 1\n")
    assert "code/x.py 不能发布" in failure(project, caplog, "# 题\n")


def test_a_page_left_out_of_the_navigation_fails(project, caplog):
    config = project.folder / "mkdocs.yml"
    config.write_text(config.read_text(encoding="utf-8") + "\nnav:\n  - index.md\n", encoding="utf-8")
    project.write("docs/forgotten.md", "# 忘了\n")
    assert "forgotten.md" in failure(project, caplog, "# 题\n")


def test_the_author_sees_no_traceback(project, environment):
    project.write("docs/index.md", '# 题\n\n```{.python .run}\n--8<-- "code/none.py"\n```\n')
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=project.folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "片段找不到" in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
