"""能在网页里运行的每一页，在 Pyodide 里从头到尾运行一次（Node 里，一个进程）：输出与文档一致。"""

from __future__ import annotations

import json
import subprocess

import pytest
from site_tools import ROOT

from livedocs import compare
from livedocs.page import load_page
from livedocs.project import load_project
from livedocs.runner import Result


@pytest.fixture(scope="module")
def pages():
    project = load_project(ROOT)
    loaded = [load_page(path, project) for path in sorted((ROOT / "docs").rglob("*.md"))]
    found = [page for page in loaded if page.meta.get("runs") == "browser" and page.blocks]
    assert len(found) >= 5
    return found


@pytest.fixture(scope="module")
def results(node, pages):
    programs = [[block.code.content for block in page.blocks] for page in pages]
    done = subprocess.run(
        [node, "test/run-pages.mjs"],
        cwd=ROOT / "web",
        input=json.dumps(programs),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_another_python_gives_the_documented_output(pages, results):
    assert results["python"].startswith("3.14")
    wrong = []
    for page, answers in zip(pages, results["pages"], strict=True):
        for block, answer in zip(page.blocks, answers, strict=True):
            result = Result(answer["stdout"], answer["stderr"], answer["error"])
            expected = block.code.options.get("raises")
            where = f"{page.path.relative_to(ROOT)}:{block.origin.line}"
            options = block.output.options if block.output else {}
            tolerance = {key: float(options[key]) for key in ("rtol", "atol") if key in options}
            if result.error and not (expected and result.raised(expected)):
                wrong.append(f"{where}：{result.error['last']}")
            elif result.stderr:
                wrong.append(f"{where}：{result.stderr}")
            elif not compare.same(block.documented, result.printed(expected), **tolerance):
                wrong.append(f"{where}：\n{compare.diff(block.documented, result.printed(expected))}")
    assert not wrong, "\n".join(wrong)


def test_the_lab_runs_more_than_thirty_blocks(pages):
    lab = next(page for page in pages if page.path.name == "01-single-head-attention.md")
    assert len(lab.blocks) > 30
