"""随机的页面：收集到的围栏正是网站显示的围栏，每一行都指回它的出处；什么页面都不会让检查崩溃。

平时各跑一百多页，种子固定。大规模地跑，种子随机：

    LIVEDOCS_FUZZ=5000 pytest tests/livedocs/test_fuzz.py

找到的反例缩小后写进 `CASES`。
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from fuzz_pages import Made, good_page, wild_page
from hypothesis import HealthCheck, Phase, event, given, note, settings
from hypothesis import strategies as st

from livedocs import guard
from livedocs.page import Page, load_page
from livedocs.project import load_project

ROOT = Path(__file__).resolve().parents[2]

CAMPAIGN = int(os.environ.get("LIVEDOCS_FUZZ", "0"))
RANDOM = st.randoms(use_true_random=False)


def examples(number: int) -> settings:
    return settings(
        max_examples=CAMPAIGN or number,
        derandomize=not CAMPAIGN,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """一个小项目，Markdown 设置取自真实的 mkdocs.yml；每一页都写进它。"""
    root = tmp_path_factory.mktemp("fuzz")
    real = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    (root / "mkdocs.yml").write_text(f"site_name: 小站\n{real[real.index('markdown_extensions:') :]}", encoding="utf-8")
    for name in ("docs", "code"):
        (root / name).mkdir()
    return load_project(root)


def load(made: Made, project) -> Page:
    for name in ("docs", "code"):
        shutil.rmtree(project.root / name)
        (project.root / name).mkdir()
    for name, text in made.files.items():
        note(f"—— {name}\n{text}")
    return load_page(made.write(project.root), project)


def source_line(origin) -> str:
    return origin.path.read_text(encoding="utf-8").split("\n")[origin.line - 1]


def same_text(shown: str, source: str) -> bool:
    """`shown` 就是出处的那一行，只差网站自己的变换：前缀、缩进、制表符、一个转义的分号、只有空白的行。"""

    def plain(text: str) -> str:
        text = re.sub(r";+(?=-+8<-)|[\x02\x03]", "", text).lstrip("> \t\ufeff")
        return re.sub(r"[ \t]+", " ", text).rstrip(" ") if text.strip() else ""

    empty_section = not shown.strip() and re.search(r'-+8<-+ +"[^"]*:\w+"$', source)
    return bool(empty_section) or plain(shown) == plain(source)


def check_lines(page: Page) -> None:
    for fence in page.fences:
        lines = fence.content.split("\n")[:-1]
        assert len(lines) == len(fence.origins)
        for line, origin in zip(lines, fence.origins, strict=True):
            assert same_text(line, source_line(origin)), (line, origin)
        mark = fence.opening.strip("> \t")
        assert mark.rstrip() in source_line(fence.opening.origin)
        assert fence.closing.strip("> \t") in source_line(fence.closing.origin)


@examples(150)
@given(RANDOM)
def test_a_good_page_is_read_exactly(project, random):
    made = good_page(random)
    page = load(made, project)
    assert [fault.message for fault in page.faults if "看上去是它的输出" not in fault.message] == []  # 相邻是随机的
    event(f"{min(len(page.fences), 9)} 个围栏")
    read = [
        (fence.lang, fence.content, [(origin.path.relative_to(project.root).as_posix(), origin.line) for origin in fence.origins])
        for fence in page.fences
    ]
    wanted = [(want.lang, "".join(line + "\n" for line in want.lines), want.where) for want in made.wants]
    assert read == wanted
    check_lines(page)
    assert guard.missed(page, project) == []


@examples(200)
@given(RANDOM)
def test_a_wild_page_is_reported_or_read_exactly(project, random):
    page = load(wild_page(random), project)
    faults = page.faults or guard.missed(page, project)
    event("报告" if faults else "照读")
    for fault in faults:
        assert fault.message and fault.origin.line >= 1 and fault.origin.path.is_file()
        assert "网站不能渲染" not in fault.message, fault.message
    if not faults:
        check_lines(page)


#: 造页面时找到的反例，缩小之后：名字 → (各文件, 报告里的一条：文件:行 与 文字；没有错误时是 None)。
CASES = {
    "引入一个文件夹": ({"docs/page.md": '甲\n\n--8<-- "code/:x"\n'}, ("docs/page.md:3", "片段不能读取")),
    "引入的文件不是 UTF-8": ({"docs/page.md": '甲\n\n--8<-- "code/a.txt"\n', "code/a.txt": "汉".encode("gbk")}, ("docs/page.md:3", "片段不能读取")),
    "脚注里的文字围栏显示在最后": (
        {"docs/page.md": "甲[^n]\n\n[^n]: 注\n\n    ```{.text}\n    脚注\n    ```\n\n```{.python .run}\nx = 1\n```\n"},
        None,
    ),
    "脚注里的代码比后面的先运行": (
        {"docs/page.md": "甲[^n]\n\n[^n]: 注\n\n    ```{.python .run}\n    x = 1\n    ```\n\n```{.python .run}\nx = 2\n```\n"},
        ("docs/page.md:5", "先后与运行的顺序不同"),
    ),
    "块写法里的空行": ({"docs/page.md": "```{.text}\n--8<--\n\ncode/a.txt\n--8<--\n```\n", "code/a.txt": "甲"}, None),
    "空的片段": (
        {"docs/page.md": '```{.text}\n甲\n--8<-- "code/a.py:none"\n乙\n```\n', "code/a.py": "# --8<-- [start:none]\n# --8<-- [end:none]\n"},
        None,
    ),
    "图不存在": ({"docs/page.md": "甲\n\n![图](../figures/没有.svg)\n\n```{.text}\n乙\n```\n"}, ("docs/page.md:3", "没有.svg")),
    "图与文字同一段": ({"docs/page.md": "甲\n\n字 ![图](../figures/没有.svg)\n\n```{.text}\n乙\n```\n"}, ("docs/page.md:3", "图要单独成段")),
    "图前有别的元素": ({"docs/page.md": "甲\n\n`码` ![图](../figures/没有.svg) 字\n"}, ("docs/page.md:3", "图要单独成段")),
    "高亮的行写错": ({"docs/page.md": '甲\n\n```{.text hl_lines="a"}\n乙\n```\n'}, ("docs/page.md:3", "hl_lines='a' 的写法不对")),
    "引入自己": ({"docs/page.md": '```{.text}\n--8<-- "docs/page.md:1:1"\n```\n'}, ("docs/page.md:1", "")),
}


@pytest.mark.parametrize("name", CASES)
def test_counter_examples(project, name):
    files, expected = CASES[name]
    for file, content in files.items():
        path = project.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    page = load_page(project.root / "docs" / "page.md", project)
    faults = page.faults or guard.missed(page, project)
    if expected:
        where, what = expected
        reports = [f"{project.show(fault.origin.path)}:{fault.origin.line}：{fault.message}" for fault in faults]
        assert any(report.startswith(where) and what in report for report in reports), reports
    else:
        assert [fault.message for fault in faults] == []
        check_lines(page)
