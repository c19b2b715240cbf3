"""notebook 里的每一种错都要变红；写回只改不一致的单元。"""

from __future__ import annotations

import json

import pytest

from livedocs.notebook import cell_difference, dump, picture_difference


def cell(source: str, *outputs: dict, count: int | None = 1) -> dict:
    return {"cell_type": "code", "id": f"c{abs(hash(source)) % 10**8}", "metadata": {}, "execution_count": count, "outputs": list(outputs), "source": source}


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def text(source: str) -> dict:
    return {"cell_type": "markdown", "id": f"m{abs(hash(source)) % 10**8}", "metadata": {}, "source": source}


ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "坏", "traceback": []}
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}


def write(site, *cells: dict):
    path = site.root / "docs" / "nb.ipynb"
    path.write_bytes(dump({"cells": list(cells), "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}))
    return path


FAULTS = {
    "输出变了": ([cell("print(2)", stream("3\n"))], ["docs/nb.ipynb 第 1 个单元：stream:stdout(text/plain) 不同", "-3", "+2", "pytest --update-docs docs/nb.ipynb"]),
    "单元出错": ([cell("x = 1"), cell("y = 2\nraise ValueError('坏')", count=2)], ["第 2 个单元出错：第 2 行", "ValueError: 坏"]),
    "存下的输出是错误": ([cell("raise ValueError('坏')", ERROR)], ["docs/nb.ipynb", "第 1 个单元存下的输出是错误 ValueError: 坏"]),
    "存下的输出是警告": ([cell("x = 1", stream("UserWarning: 旧\n", "stderr"))], ["第 1 个单元存下的输出含有标准错误"]),
    "新的输出是警告": ([cell("import sys\nprint('警', file=sys.stderr)")], ["第 1 个单元输出含有标准错误"]),
    "没有执行过": ([cell("x = 1", count=None)], ["第 1 个单元没有执行过"]),
    "正文里没有来历的数": ([text("权重是 0.33。"), cell("x = 1")], ["docs/nb.ipynb 第 1 个单元：数 0.33 没有来历"]),
    "正文里的数与程序不符": ([cell("w = 0.3302"), text("权重是 0.67<!--= w -->。")], ["docs/nb.ipynb 第 2 个单元：写的是 0.67，w 是 0.3302，应写 0.33"]),
    "正文里的 Python 围栏": ([text("```python\nprint(1)\n```"), cell("x = 1")], ["第 1 个单元：文字单元里的 Python 围栏不会运行"]),
    "多了输出": ([cell("x = 1", stream("1\n"))], ["输出的种类不同：存下的是 stream:stdout(text/plain)，实际是 没有输出"]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_reported(site, name):
    cells, expected = FAULTS[name]
    path = write(site, *cells)
    before = path.read_bytes()
    code, report = site.check()
    assert code == 1, report
    for fragment in expected:
        assert fragment in report, f"报告里没有“{fragment}”：\n{report}"
    assert "Traceback" not in report
    assert path.read_bytes() == before


@pytest.mark.parametrize(("data", "expected"), [(b"{", "不能读取"), (b"{}", "不是 nbformat 4"), (b'{"nbformat": 3, "cells": []}', "不是 nbformat 4"), (b'{"nbformat": 4, "cells": ["abc"]}', "第 1 个单元没有合法的 cell_type"), (b'{"nbformat": 4, "cells": [{"cell_type": "raw"}]}', "raw 单元"), (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "outputs": null}]}', "没有 outputs 列表"), (b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "", "outputs": [{"output_type": "stream"}]}]}', "输出不完整"), ("甲".encode("gbk"), "不能读取")])
def test_unreadable_notebook(site, data, expected):
    path = site.root / "docs" / "nb.ipynb"
    path.write_bytes(data)
    for arguments in (["docs"], ["--update-docs", "docs"]):
        code, report = site.check(*arguments)
        assert code == 1 and expected in report and "docs/nb.ipynb" in report
        assert path.read_bytes() == data


@pytest.mark.parametrize("metadata", [{}, None, {"kernelspec": None}, {"kernelspec": {"name": "my-env"}}])
def test_the_kernel_must_be_one_the_reader_has(site, metadata):
    path = write(site, cell("print(1)", stream("1\n")))
    path.write_bytes(dump(json.loads(path.read_text(encoding="utf-8")) | {"metadata": metadata}))
    code, report = site.check()
    assert code == 1 and "元数据里的内核 kernelspec.name 是" in report and "写成 python3" in report, report


def test_update_writes_only_what_differs(site):
    path = write(site, cell("print(1)", stream("1\n")), cell("print(2)", stream("3\n"), count=2))
    before = json.loads(path.read_text(encoding="utf-8"))
    assert site.check("--update-docs", "docs")[0] == 0
    after = json.loads(path.read_text(encoding="utf-8"))
    assert after["cells"][0] == before["cells"][0]
    assert "".join(after["cells"][1]["outputs"][0]["text"]) == "2\n"
    data = path.read_bytes()
    assert site.check()[0] == 0 and site.check("--update-docs", "docs")[0] == 0
    assert path.read_bytes() == data


def test_bound_numbers_are_taken_at_their_place(site):
    path = write(site, text("先 0.5<!--= 1 / 2 -->"), cell("x = 0.25"), text("是 0.25<!--= x -->"), cell("x = 0.75", count=2), text("`[0.75, 1.5]`<!--= [x, 2 * x] -->，给定 0.25<!--given-->"))
    before = path.read_bytes()
    code, report = site.check()
    assert code == 0 and "4 个绑定的数" not in report and "3 个绑定的数" in report, report
    assert site.check("--update-docs", "docs")[0] == 0 and path.read_bytes() == before


def test_update_rewrites_wrong_numbers_in_the_prose_and_nothing_else(site):
    """同一行有两个数、同一单元有两行相同的，都改；别的字节不动。"""
    line = "是 {}<!--= x -->，两倍是 {}<!--= 2 * x -->。"
    path = write(site, cell("x = 0.25"), text(f"第一行\n{line}\n{line}".format(0.26, 0.5, 0.26, 0.5)), text("又 0.3<!--= x + 1 -->"))
    code, report = site.check()
    assert code == 1 and "第 2 个单元：写的是 0.26，x 是 0.25，应写 0.25" in report and "pytest --update-docs docs/nb.ipynb" in report, report
    before = path.read_text(encoding="utf-8")
    assert site.check("--update-docs", "docs")[0] == 0
    assert path.read_text(encoding="utf-8") == before.replace("0.26<", "0.25<").replace("0.3<", "1.2<")
    assert site.check()[0] == 0


def test_failing_notebook_is_not_rewritten(site):
    path = write(site, cell("print(2)", stream("3\n")), cell("1 / 0", count=2))
    before = path.read_bytes()
    assert site.check("--update-docs", "docs")[0] == 1
    assert path.read_bytes() == before


def picture(change=None) -> str:
    import base64
    import io

    from PIL import Image, ImageDraw

    image = Image.new("RGB", (120, 90), "white")
    ImageDraw.Draw(image).rectangle((20, 20, 60, 60), fill="navy")
    if change:
        change(image)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def test_pictures_are_compared_by_what_is_seen():
    from PIL import ImageDraw

    assert picture_difference(picture(), picture()) is None
    assert picture_difference(picture(), picture(lambda im: im.putpixel((5, 5), (254, 254, 254)))) is None
    moved = picture(lambda im: ImageDraw.Draw(im).rectangle((70, 70, 80, 80), fill="navy"))
    assert "最多差" in picture_difference(picture(), moved)
    assert "不能解码" in picture_difference(picture(), "AAAA")

    def shown(data):
        return {"outputs": [{"output_type": "display_data", "data": {"image/png": data}}]}

    assert cell_difference(shown(picture()), shown(picture())) is None
    assert "image/png 图片不同" in cell_difference(shown(picture()), shown(moved))
