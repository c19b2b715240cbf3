"""脚本里每一行的 shape 注释都与真正的 shape 相同。"""

import contextlib
import io
import re
from collections import Counter

import pytest
import torch
from lesson_files import CODE, load, source
from shape_comments import check, claims, unparsed

SCRIPTS = sorted(path.name for path in CODE.glob("*.py"))
#: 同一个函数里一个字母先后是两个大小：例子的前一半与后一半。
TWO_SIZES = {"04-mlp-moe-demo.py": {"[B, T, C]": 1}}

_ATTRIBUTE = "赋给模块的属性，不是局部变量"
_LAYER = "说的是这一层的权重，不是这一行的值"
_ARROW = "一行里前后两个 shape，只返回后一个"
#: 写着 shape、却没有核对的注释，和为什么。只看注释：改了这一行的代码不算发现了什么。
UNPARSED = {
    "02-basic-components-demo.py": [("# [V, C]", _ATTRIBUTE), ("# [dim]", _ATTRIBUTE), ("# [dim]", _ATTRIBUTE)],
    "03-attention-demo.py": [
        ("# [dim]", _ATTRIBUTE),
        ("# [B, T, C]，([B, S, Hkv, D], [B, S, Hkv, D])", "元组里还有元组"),
    ],
    "04-mlp-moe-demo.py": [("# [B, T, F] -> [B, T, C]", _ARROW), ("# [B, T, F] -> [B, T, C]", _ARROW)],
    "05-transformer-block-demo.py": [
        ("# [B, T, V]，或只有最后几个位置", "数据类的字段，没有值"),
        ("# [V, C]", _LAYER),
        ("# weight 是 [V, C]", _LAYER),
    ],
    "multi_head_shapes.py": [("# [B, T, C]", "只看会不会报错，没有赋值")],
    "single_head_attention.py": [
        ("# 四个命题：不看未来；每行和为 1；输出是 [Tq][Dv]；去掉掩码，第一行就混入第二个值。", "独立的一行，说的是下面的断言"),
    ],
}


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
    wrong = Counter(re.search("写着 (.*)，真正的是", fault)[1] for fault in checked.wrong)
    assert wrong == TWO_SIZES.get(name, {}), checked.wrong
    assert {claim.first for claim in claims(source(name)).values()} - checked.lines == set(), "没有走到这些行"


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_shape_comment_is_checked_or_listed(name):
    """新的注释写着 shape 却核对不了，就要改写法，或列进 UNPARSED 并写明原因。"""
    assert sorted(unparsed(source(name))) == sorted(comment for comment, _ in UNPARSED.get(name, []))


@pytest.mark.parametrize(
    ("line", "listed"),
    [
        ("x = y  # [B, T]", False),
        ("x = y  # [B, T]，说明", False),
        ("x = y[0]  # 合法的键是 keys[:visible]", False),
        ("# --8<-- [start:one]", False),
        ("x.y = y  # [B, T]", True),
        ("x = y  # [B, T] -> [B, C]", True),
        ("x = y  # [B, T]，即 [B, C]", True),
        ("f(y)  # [B, T]", True),
        ("# 得到 [B, T]", True),
    ],
)
def test_an_unparsed_shape_is_noticed(line, listed):
    assert unparsed(f"def f():\n    {line}\n    return 1\n") == ([line[line.index("#") :]] if listed else [])


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
        ("[B, T, D/2]\n", "[B, T, D/4]\n", "第 4 行写着 [B, T, D/4]，真正的是 [2, 4, 3]（B = 2，T = 4，D = 6）"),
        ("[B, T, D/2]\n", "[B, T, D/0]\n", "第 4 行写着 [B, T, D/0]，真正的是 [2, 4, 3]"),
        ("# [D]，", "# [D**1]，", "第 8 行写着 [D**1]，真正的是 [6]（D = 6）"),
        ("# [D]，", "# [9 * * 9]，", "第 8 行写着 [9 * * 9]，真正的是 [6]"),
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
