"""notebook 作为网页。"""

import base64
import gzip
import json
import re

import pytest
from mkdocs.exceptions import Abort
from site_tools import ROOT

# 1×1 的 PNG
PIXEL = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
).decode()


def markdown(text: str, *tags: str) -> dict:
    return {"cell_type": "markdown", "id": "m", "metadata": {"tags": list(tags)}, "source": text}


def code(source: str, *outputs: dict, tags: tuple[str, ...] = ()) -> dict:
    return {
        "cell_type": "code",
        "id": "c",
        "metadata": {"tags": list(tags)},
        "source": source,
        "outputs": list(outputs),
        "execution_count": 1,
    }


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def picture(**metadata) -> dict:
    return {"output_type": "display_data", "data": {"image/png": PIXEL}, "metadata": {"image/png": metadata}}


ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "坏了", "traceback": []}


@pytest.fixture
def notebook(project):
    """写下一本 notebook 并构建，返回它的网页。"""

    def build(*cells: dict) -> str:
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
        kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
        nb = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": list(cells)}
        project.write("docs/nb.ipynb", json.dumps(nb))
        project.build("# 首页\n\n[nb](nb.ipynb)\n")
        page = (project.site / "nb" / "index.html").read_text(encoding="utf-8")
        return re.search(r"<article.*?</article>", page, re.DOTALL).group()

    return build


def test_cells_look_like_the_rest_of_the_site(notebook, project):
    page = notebook(
        markdown("# 题目\n\n见[首页](index.md)，权重 0.33<!--= w -->，$\\sqrt{d}$：\n\n$$\na \\le b\n$$\n\n句。\n句。"),
        markdown("## 为什么除以 $\\sqrt d$\n\n- 一\n- 二\n\n```python\nx = 1\n```"),
        code("print('汉字')", stream("汉字\n")),
        code("plot()", picture(alt="一张图")),
    )
    assert '<h1 id="题目">题目<a class="headerlink"' in page
    assert '<h2 id="为什么除以-sqrt-d">' in page
    assert '<a href="../">首页</a>' in page
    assert '<data class="bound" data-expr="w"' in page
    assert page.count("<math") == 3
    assert "<p><div" not in page
    assert "句。句。" in page
    assert '<div class="language-python run highlight">' in page
    assert '<div class="code-output">' in page
    assert re.search(r'<img alt="一张图" height="1" loading="lazy" src="figure-1.png" width="1"', page)
    assert (project.site / "nb" / "figure-1.png").read_bytes() == base64.b64decode(PIXEL)
    assert "base64" not in page
    assert "<style" not in page
    assert "<script" not in page


def test_solutions_are_folded_together(notebook):
    page = notebook(
        markdown("# 题目"),
        markdown("思路", "solution"),
        code("x = 1", tags=("solution",)),
        markdown("正文"),
        markdown("答案", "solution"),
    )
    assert page.count("<summary>参考答案</summary>") == 2
    first = page[page.index("<details") : page.index("</details>")]
    assert "思路" in first
    assert "正文" not in first


def test_dead_links_and_anchors_in_a_notebook_fail_the_build(notebook, caplog):
    with pytest.raises(Abort):
        notebook(markdown("# 题目\n\n[没有](no.md)，[也没有](#没有这一节)，[还是没有](index.md#none)"))
    assert "no.md" in caplog.text
    assert "没有这一节" in caplog.text
    assert "#none" in caplog.text


def test_an_anchor_in_a_notebook_can_be_linked_to(notebook, caplog):
    notebook(markdown("# 题目\n\n见[下面](#一节)"), markdown("## 一节"))
    assert "WARNING" not in caplog.text


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (ERROR, "存着一个错误：ValueError: 坏了"),
        (stream("警告\n", "stderr"), "存着写到 stderr 的输出：警告"),
        (
            {"output_type": "display_data", "data": {"application/x": {}}, "metadata": {}},
            "的输出只有网页不会显示的类型",
        ),
    ],
)
def test_a_stored_error_or_warning_is_not_published(notebook, caplog, output, message):
    with pytest.raises(Abort):
        notebook(markdown("# 题目"), code("fail()", output))
    assert f"nb.ipynb 不能发布：第 2 个单元格（首行 'fail()'）{message}" in caplog.text


def test_a_picture_without_a_text_is_a_warning(notebook, caplog):
    with pytest.raises(Abort):
        notebook(markdown("# 题目"), code("plot()", picture()))
    assert "没有替代文字" in caplog.text


@pytest.mark.parametrize("folder", ["docs", "docs/labs"])  # labs 里的还要打进下载包
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{ 不是 JSON", "不能读取"),
        ("[]", "不是 nbformat 4"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": []}]}', "第 1 个单元没有 source"),
        ('{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "outputs": 5}]}', "第 1 个单元没有 outputs"),
        ('{"nbformat": 4, "cells": [{"cell_type": "raw", "source": ""}]}', "第 1 个单元是 raw 单元"),
    ],
)
def test_a_broken_notebook_is_an_error_without_a_traceback(project, caplog, folder, text, reason):
    project.write(f"{folder}/nb.ipynb", text)
    with pytest.raises(Abort):
        project.build("# 首页\n")
    assert f"不是能读的 notebook（{reason}" in caplog.text and "nb.ipynb" in caplog.text
    assert "Traceback" not in caplog.text


def test_the_lab_is_small_and_complete(site):
    page = site.read("labs/02-causal-attention/index.html")
    assert len(gzip.compress(page.encode())) < 40_000
    assert "base64" not in page
    nb = json.loads((ROOT / "docs/labs/02-causal-attention.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in nb["cells"] if cell["cell_type"] == "code" and "".join(cell["source"]).strip()]
    assert page.count('<div class="language-python run highlight">') == len(cells)
    pictures = [o for cell in cells for o in cell["outputs"] if "image/png" in o.get("data", {})]
    assert page.count('<figure class="plot">') == len(pictures) > 0
    assert page.count('class="success solution"') > 2
