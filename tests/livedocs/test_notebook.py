"""notebook 里的每一种错都要变红；写回只改不一致的单元。"""

from __future__ import annotations

import json

import pytest

from livedocs import proof
from livedocs.notebook import cell_difference, dump, picture_difference
from livedocs.project import load_project
from livedocs.proof import page_hash


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
    "执行序号不从 1 起": ([cell("x = 1", count=2)], ["第 1 个单元的执行序号是 [2]，从头依次执行应是 [1]", "pytest --update-docs docs/nb.ipynb"]),
    "执行序号不依次": ([cell("x = 1", count=1), text("文字"), cell(" ", count=None), cell("y = 1", count=3)], ["第 4 个单元的执行序号是 [3]，从头依次执行应是 [2]"]),
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


def shown(alt: str) -> dict:
    data = {"text/plain": "图"}
    return cell(f"from IPython.display import display\ndisplay({data!r}, raw=True, metadata={{'image/png': {{'alt': {alt!r}}}}})", drawn(alt))


def drawn(alt: str) -> dict:
    return {"output_type": "display_data", "data": {"text/plain": "图"}, "metadata": {"image/png": {"alt": alt}}}


@pytest.mark.parametrize(
    ("alt", "expected"),
    [
        ("权重从 0.33 升到 1。", "第 1 个单元：图的替代文字里不能绑定数字，数 0.33 没有来历"),
        ("一共 57 格。", "第 1 个单元：图的替代文字里不能绑定数字，数 57 没有来历"),
        ("一共 57<!--given--> 格。", "第 1 个单元：图的替代文字里的记号会原样显示"),
        ("一共 64 格，左上角为 1。", ""),
    ],
)
def test_numbers_in_alternative_text_need_a_source(site, alt, expected):
    """读屏软件念的也是读者得到的内容；程序里写着的数（64）不必再说来历。"""
    write(site, shown(alt), cell("n = 64", count=2))
    code, report = site.check()
    assert code == (1 if expected else 0) and expected in report, report


def test_stored_alternative_text_is_compared(site):
    path = write(site, cell(shown("左上角为 1。")["source"], drawn("右上角为 1。")))
    code, report = site.check()
    assert code == 1 and "第 1 个单元：图的替代文字不同" in report and "-右上角为 1。" in report and "+左上角为 1。" in report, report
    assert site.check("--update-docs", "docs")[0] == 0 and "右上角" not in path.read_text(encoding="utf-8").replace("\\", "")
    assert site.check()[0] == 0


def change(path, edit) -> None:
    """改存下的 notebook，别的照旧。"""
    stored = json.loads(path.read_text(encoding="utf-8"))
    edit(stored)
    path.write_bytes(dump(stored))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("description", "权重约为 0.33 的一课。", "docs/nb.ipynb：元数据的 description 里不能绑定数字，数 0.33 没有来历"),
        ("title", "57 个权重", "docs/nb.ipynb：元数据的 title 里不能绑定数字，数 57 没有来历"),
        ("outcomes", ["会做", "算出 128 个"], "docs/nb.ipynb：元数据的 outcomes 里不能绑定数字，数 128 没有来历"),
        ("prerequisites", ["读过 3.5 倍"], "docs/nb.ipynb：元数据的 prerequisites 里不能绑定数字，数 3.5 没有来历"),
        ("description", "三个步骤，2 个检查。", ""),
    ],
)
def test_numbers_in_the_metadata_need_a_source(site, key, value, expected):
    path = write(site, cell("x = 1"))
    change(path, lambda stored: stored["metadata"].update({key: value}))
    code, report = site.check()
    assert code == (1 if expected else 0) and expected in report, report


@pytest.mark.parametrize(
    "edit",
    [
        lambda stored: stored["metadata"].update(description="另一句"),
        lambda stored: stored["metadata"].update(title="另一题"),
        lambda stored: stored["metadata"].update(outcomes=["会做"]),
        lambda stored: stored["metadata"].update(prerequisites=["先要会"]),
        lambda stored: stored["metadata"]["kernelspec"].update(name="my-env"),
        lambda stored: stored["cells"][0].update(execution_count=9),
        lambda stored: stored["cells"][0]["outputs"][0]["metadata"]["image/png"].update(alt="另一张"),
    ],
    ids=["description", "title", "outcomes", "prerequisites", "kernelspec", "execution_count", "alt"],
)
def test_hash_covers_what_readers_see(site, edit):
    """`--changed` 与证明都由这个散列认出改动。"""
    project = load_project(site.root)
    path = write(site, shown("图"))
    before = page_hash(path, project)
    change(path, lambda stored: stored["metadata"]["language_info"].update(version="3.11.9"))
    assert page_hash(path, project) == before, "Jupyter 自己写的，读者看不到"
    change(path, edit)
    assert page_hash(path, project) != before


def test_update_repairs_the_execution_counts(site):
    path = write(site, cell("x = 1", count=4), text("文字"), cell("y = 2", count=7))
    before = path.read_text(encoding="utf-8")
    assert site.check("--update-docs", "docs")[0] == 0
    assert path.read_text(encoding="utf-8") == before.replace('"execution_count": 4', '"execution_count": 1').replace('"execution_count": 7', '"execution_count": 2')
    assert site.check()[0] == 0


@pytest.mark.parametrize("differs", [False, True])
@pytest.mark.parametrize("update", [False, True])
def test_a_notebook_saved_during_its_check_is_neither_written_nor_remembered(site, update, differs):
    """检查的途中又存了一次：写回会盖掉作者刚存的，查过的也不是它。"""
    page = site.root / "docs" / "nb.ipynb"
    saves = f"import pathlib\npage = pathlib.Path({str(page)!r})\ndata = getattr(page, 'read' + '_text')(encoding='utf-8')\nnew = page.write_text(data.replace('旧' + '句', '新' + '句'), encoding='utf-8')"
    write(site, text("旧句"), cell(saves), cell("print(2)", stream("3\n" if differs else "2\n"), count=2))
    saved = page.read_text(encoding="utf-8").replace("旧句", "新句")

    def check(*arguments: str) -> tuple[int, str]:
        result = site.pytester.runpytest_inprocess("-p", "no:hypothesispytest", *arguments, "docs")
        return int(result.ret), "\n".join(result.outlines)

    code, report = check(*(["--update-docs"] if update else []))
    assert code == 1 and "docs/nb.ipynb：检查的途中又存了一次" in report and "再运行一次" in report, report
    assert page.read_text(encoding="utf-8") == saved
    assert not (site.root / "proof.json").exists() and not list(page.parent.glob(".*.tmp"))
    for content in (saved.replace("新句", "旧句"), saved):  # 查过的样子和后来存的，都没有记住
        page.write_text(content, encoding="utf-8")
        code, report = check("--changed")
        assert "没有变过" not in report and code == (differs or content != saved), report


def test_the_proof_describes_what_was_checked(site, monkeypatch):
    """写回以后、算记录之前又存了一次：记录不写，作者存的留着。"""
    path = write(site, cell("print(2)", stream("3\n")))
    real = proof.entry_of_notebook

    def saved_meanwhile(where, project):
        if '"2\\n"' in path.read_text(encoding="utf-8"):
            change(path, lambda stored: stored["cells"].append(text("又一句")))
        return real(where, project)

    monkeypatch.setattr(proof, "entry_of_notebook", saved_meanwhile)
    code, report = site.check("--update-docs", "docs")
    assert code == 1 and "检查的途中又存了一次" in report, report
    assert "又一句" in path.read_text(encoding="utf-8") and not (site.root / "proof.json").exists()


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


def picture(change=None, size=(120, 90)) -> str:
    import base64
    import io

    from PIL import Image, ImageDraw

    image = Image.new("RGB", size, "white")
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
    for strip in ((0, 88, 122, 89), (120, 0, 122, 89), (120, 88, 122, 89)):  # 末尾不满 8 的行、列也比较
        striped = picture(lambda im, strip=strip: ImageDraw.Draw(im).rectangle(strip, fill="red"), (123, 90))
        assert "最多差" in (picture_difference(picture(size=(123, 90)), striped) or ""), strip
    dot = picture(lambda im: ImageDraw.Draw(im).rectangle((0, 0, 7, 7), fill=(255, 255, 248)))
    assert picture_difference(picture(), dot) == "8×8 像素平均后最多差 7.0/255，上限 6"

    def shown(data):
        return {"outputs": [{"output_type": "display_data", "data": {"image/png": data}}]}

    assert cell_difference(shown(picture()), shown(picture())) is None
    assert "image/png 图片不同" in cell_difference(shown(picture()), shown(moved))
