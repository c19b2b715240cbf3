"""图里说的是真的：图中的数等于算出来的数，图中的次序等于课程代码的次序。"""

import importlib.util
import math
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import pytest

from figures import head_split_merge, kv_cache, mask_before_softmax, rope_rotation, store
from figures.gqa_groups import KINDS, QUERY_HEADS, serves
from figures.svg import fixed, number

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


def lesson(name):
    """按路径载入 code/<name>.py。"""
    spec = importlib.util.spec_from_file_location(
        f"figure_check_{name.replace('-', '_')}", ROOT / "code" / f"{name}.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stored(name):
    """返回存下的图的根元素。"""
    return ET.fromstring((store.FOLDER / f"{name}.svg").read_bytes())


def texts(root):
    """返回图中的每段文字。"""
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def matrix(root, name, width, read=float):
    """返回名为 name 的矩阵里的数，按 width 个一行。"""
    group = next(node for node in root.iter(f"{SVG}g") if node.get("data-matrix") == name)
    values = [read(text.replace("−", "-").replace("∞", "inf")) for text in texts(group)]
    return [values[i : i + width] for i in range(0, len(values), width)]


def rounded(rows):
    return [[float(f"{value:.4f}") for value in row] for row in rows]


def test_attention_read_shows_the_numbers_of_the_lesson():
    code = lesson("single_head_attention")
    masked, weights, output = code.attention(code.QUERIES, code.KEYS, code.VALUES)
    scaled, _, _ = code.attention(code.QUERIES, code.KEYS, code.VALUES, causal=False)
    root = stored("attention-read")
    assert matrix(root, "Q", 2) == code.QUERIES
    assert matrix(root, "K", 2) == code.KEYS
    assert matrix(root, "V", 2) == code.VALUES
    assert matrix(root, "raw", 2) == rounded([[s * math.sqrt(2) for s in row] for row in scaled])
    assert matrix(root, "scaled", 2) == rounded(scaled)
    assert matrix(root, "masked", 2) == rounded(masked)
    assert matrix(root, "weights", 2) == rounded(weights)
    assert matrix(root, "output", 2) == rounded(output)
    formula = next(text for text in texts(root) if "v0" in text and "v1" in text and "=" in text)
    assert [float(x) for x in re.findall(r"\d\.\d+", formula)] == rounded(weights)[1]


def test_attention_read_describes_the_numbers_it_shows():
    description = stored("attention-read").find(f"{SVG}desc").text
    code = lesson("single_head_attention")
    _, weights, output = code.attention(code.QUERIES, code.KEYS, code.VALUES)
    assert [float(x) for x in re.findall(r"\d\.\d+", description)] == rounded(weights)[1] + rounded(output)[1]


def test_causal_mask_rows_are_uniform_and_aligned_to_the_end():
    root = stored("causal-mask")
    fraction = [[Fraction(1, i + 1) if j <= i else Fraction(0) for j in range(5)] for i in range(5)]
    assert matrix(root, "square", 5, Fraction) == fraction
    assert matrix(root, "one", 4, Fraction) == [[Fraction(1, 4)] * 4]
    assert matrix(root, "two", 5, Fraction) == fraction[3:], "后两行正是方阵的后两行"
    assert matrix(root, "wrong", 4, Fraction) == [[1, 0, 0, 0]]


def test_masked_cells_are_hatched_not_only_coloured():
    root = stored("causal-mask")
    hidden = 10 + 1 + 3  # 方阵的上三角、两个查询的那一格、对齐起点的三格
    assert len([node for node in root.iter(f"{SVG}path") if node.get("opacity")]) == hidden


def test_mask_before_softmax_both_orders():
    softmax = lesson("single_head_attention").stable_softmax
    first, last = mask_before_softmax.numbers()
    assert first[2][:2] == softmax(mask_before_softmax.SCORES[:2]) and first[2][2] == 0.0
    assert last[2] == [0.0, 0.0, 0.0], "合法的权重下溢成恰好 0"
    root = stored("mask-before-softmax")
    assert matrix(root, "先掩码-2", 3) == rounded([first[2]])
    assert matrix(root, "先 softmax-2", 3) == [[0.0, 0.0, 0.0]]
    assert texts(root).count("0/0") == 3


def test_head_split_merge_follows_the_lesson_code():
    torch = pytest.importorskip("torch")
    shapes = lesson("multi_head_shapes")
    f = head_split_merge
    assert (f.B, f.T, f.C, f.H) == shapes.BASELINE, "图与课文用同一组尺寸"
    x = torch.arange(f.B * f.T * f.C).reshape(f.B, f.T, f.C)
    heads = shapes.split_heads(x, f.H)
    t, c = f.FOLLOW
    h, d = divmod(c, f.D)
    target = f.number_of(t, h, d)
    assert x[0, t, c] == heads[0, h, t, d] == target
    for k in range(f.H):
        for i in range(f.T):
            assert heads[0, k, i].tolist() == [f.number_of(i, k, j) for j in range(f.D)]
    right, wrong = shapes.merge_heads(heads), heads.reshape(f.B, f.T, f.C)
    root = stored("head-split-merge")
    said = " ".join(texts(root))
    for merged, verdict in ((right, "还原"), (wrong, "错位")):
        i, j = divmod(merged[0].flatten().tolist().index(target), f.C)
        assert f"{target} 在 [0,{i},{j}]：{verdict}" in said
    rows = [
        row.split()
        for row in (
            " ".join(s.text for s in n)
            for n in root.iter(f"{SVG}text")
            if n.find(f"{SVG}tspan") is not None and n.get("x") is None
        )
    ]
    assert rows[-2 * f.T : -f.T] == [[str(v) for v in row] for row in right[0].tolist()]
    assert rows[-f.T :] == [[str(v) for v in row] for row in wrong[0].tolist()]


def test_gqa_groups_are_the_lessons_repeat_kv():
    torch = pytest.importorskip("torch")
    repeat_kv = lesson("03-attention-demo").repeat_kv
    for _, _, kv_heads in KINDS:
        x = torch.arange(kv_heads).reshape(1, 1, kv_heads, 1)
        repeated = repeat_kv(x, QUERY_HEADS // kv_heads).flatten().tolist()
        assert repeated == [serves(h, kv_heads) for h in range(QUERY_HEADS)]


def test_rope_frequencies_are_the_lessons_tables_and_pairs():
    torch = pytest.importorskip("torch")
    demo = lesson("03-attention-demo")
    half, end = rope_rotation.HEAD_DIM // 2, 8
    cos, sin = demo.precompute_freqs_cis(rope_rotation.HEAD_DIM, end, rope_rotation.BASE)
    angles = torch.outer(
        torch.arange(end, dtype=torch.float64), torch.tensor(rope_rotation.frequencies(), dtype=torch.float64)
    )
    torch.testing.assert_close(cos.double(), torch.cat([angles.cos()] * 2, dim=-1), rtol=0, atol=1e-6)
    torch.testing.assert_close(sin.double(), torch.cat([angles.sin()] * 2, dim=-1), rtol=0, atol=1e-6)
    # 图上写“x0、x4”：第 i 维与第 i + 一半 维配成一对
    said = texts(stored("rope-rotation"))
    for i in range(half):
        assert f"x{i}、x{i + half}" in said


def test_rope_dot_product_depends_on_the_difference_only():
    theta = rope_rotation.frequencies()[0]
    products, gaps = set(), set()
    for m, n in rope_rotation.PAIRS:
        gaps.add(m - n)
        q, k = (rope_rotation.rotate(v, p, theta) for v, p in ((rope_rotation.QUERY, m), (rope_rotation.KEY, n)))
        products.add(number(rope_rotation.dot(q, k)))
    assert len(gaps) == len(products) == 1
    assert texts(stored("rope-rotation")).count(f"q·k = {products.pop()}") == 2
    elsewhere = rope_rotation.dot(rope_rotation.QUERY, rope_rotation.rotate(rope_rotation.KEY, 1, theta))
    assert number(elsewhere) not in products, "差变了，点积也变"


def test_kv_cache_lengths_and_counts():
    lengths = [past + new for _, past, new in kv_cache.steps()]
    assert lengths == [4, 5, 6, 7]
    root = stored("kv-cache")
    said = texts(root)
    assert said.count("算") - 1 == 7 and said.count("读") - 1 == 4 + 5 + 6, "图例各占一个"
    assert any("4+1+1+1 = 7" in text for text in said) and any("4+5+6+7 = 22" in text for text in said)


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.0, "0"), (-0.0, "0"), (0.330238, "0.3302"), (2.679046, "2.6790"), (-math.inf, "−∞"), (-0.5, "−0.5000"), (-1e-9, "0"), (1000.0, "1000")],
)  # fmt: skip
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("value", "text"), [(3.0, "3"), (2.5, "2.5"), (1 / 3, "0.33"), (-0.001, "0"), (100, "100")])
def test_fixed(value, text):
    assert fixed(value) == text
