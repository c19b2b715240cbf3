"""脚本里每一行的 shape 注释都与真正的 shape 相同。"""

import contextlib
import io

import pytest
import torch
from lesson_files import CODE, load, source
from shape_comments import check, claims

SCRIPTS = sorted(path.name for path in CODE.glob("*.py"))
#: 同一个函数里一个字母先后是两个大小：例子的前一半与后一半。
TWO_SIZES = {("04-mlp-moe-demo.py", "[B, T, C]，真正的是 [2, 5, 16]（B = 2，T = 5，C = 2）")}


def everything(name: str):
    """运行整个脚本，以及 main 没有走到的分支。"""
    module = load(name)

    def run():
        with contextlib.redirect_stdout(io.StringIO()):
            if hasattr(module, "main"):
                module.main()
            else:
                exec(compile(source(name), module.__file__, "exec"), {"__name__": "__main__"})
            if name == "05-transformer-block-demo.py":
                model = module.DecoderModel(module.ModelConfig())
                module.generate(model, torch.zeros(2, 3, dtype=torch.long), 2, temperature=1.0)

    return module.__file__, run


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_shape_comment_is_true(name):
    filename, run = everything(name)
    checked = check(filename, source(name), run)
    assert {(name, wrong.partition("写着 ")[2]) for wrong in checked.wrong} == {known for known in TWO_SIZES if known[0] == name}
    assert {claim.first for claim in claims(source(name)).values()} - checked.lines == set(), "没有走到这些行"


GOOD = """
def halves(x):
    B, T, D = x.shape
    a, b = x[..., : D // 2], x[..., D // 2 :]  # [B, T, D/2]，[B, T, D/2]
    for size in (1, 2):
        piece = x[:, :size]  # [B, n, D]
    rows = [[0, 1], [2, 3], [4, 5]]  # [Tq=3][2]
    scale = x.new_ones(D)  # [D]，说明
    return a.flatten(1)  # [B, T * D/2]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("# [B, T, D/2]，", "# [B, T, D]，", "第 4 行写着 [B, T, D]，真正的是 [2, 4, 3]（B = 2，T = 4，D = 6）"),
        ("[B, T, D/2]\n", "[B, T, D/3]\n", "第 4 行写着 [B, T, D/3]"),
        ("[Tq=3][2]", "[Tq=2][2]", "第 7 行写着 [Tq=2][2]，真正的是 [3, 2]"),
        ("[Tq=3][2]", "[Tq=3]", "第 7 行写着 [Tq=3]，真正的是 [3, 2]"),
        ("# [D]，", "# [T]，", "第 8 行写着 [T]，真正的是 [6]（T = 4）"),
        ("# [D]，", "# [..., T]，", "第 8 行写着 [..., T]，真正的是 [6]"),
        ("x[:, :size]", "x[:, :size, 1:]", "第 6 行写着 [B, n, D]，真正的是 [2, 1, 5]"),
        ("a.flatten(1)", "b.flatten(0, 1)", "第 9 行写着 [B, T * D/2]，真正的是 [8, 3]"),
        ("new_ones(D)", "new_ones(D + 1)", "第 8 行写着 [D]，真正的是 [7]（D = 6）"),
        ("", "", ""),
    ],
)
def test_a_wrong_shape_is_reported(old, new, said):
    text = GOOD.replace(old, new)
    space = {}
    exec(compile(text, "halves.py", "exec"), space)
    checked = check("halves.py", text, lambda: space["halves"](torch.zeros(2, 4, 6)))
    assert checked.lines == {4, 6, 7, 8, 9}
    assert any(said in wrong for wrong in checked.wrong) if said else checked.wrong == []
