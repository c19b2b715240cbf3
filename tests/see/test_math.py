"""网页上的算术与 code/ 里的 Python 相等：同样的随机输入，一个 Node 进程，双精度，相对误差小于 1e-9。

每个函数至少一千组输入。最后把 JavaScript 改坏几处（例如忘了除以 √D），比较必须失败：
证明这些比较确实看得出错。
"""

from __future__ import annotations

import importlib.util
import json
import math
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from livedocs import web

ROOT = Path(__file__).resolve().parents[2]
MATH = ROOT / "web" / "src" / "math"
RUNNER = Path(__file__).with_name("math_runner.mjs")
COUNT = 1000
BOUND = 1e-9


@dataclass(frozen=True)
class Case:
    """对 JavaScript 的一次调用，和 Python 给出的答案。

    `by_row`：误差相对于所在的那一行里最大的数；用在会相消的和上。缺省是逐个数相对。
    """

    module: str
    function: str
    args: list[Any]
    expected: Any
    by_row: bool = False


@cache
def load(name: str) -> ModuleType:
    """按路径装入 code/ 里的脚本；它们要互相导入，所以 code/ 暂时放进搜索路径。"""
    spec = importlib.util.spec_from_file_location(f"see_{name.replace('-', '_')}", ROOT / "code" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "code"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "code"))
    return module


def run(calls: list[Case], folder: Path = MATH) -> list[Any]:
    """一个 Node 进程里做完全部调用。"""
    done = subprocess.run(
        [web.node(), str(RUNNER)],
        input=json.dumps({"folder": str(folder), "calls": [[c.module, c.function, c.args] for c in calls]}),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def error(actual: Any, expected: Any, by_row: bool = False, scale: float = 0.0) -> float:
    """最大的相对误差；结构不同、该是 -inf 的不是、该是 0 的不是，都算无穷大。"""
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or actual.keys() != expected.keys():
            return math.inf
        return max((error(actual[key], expected[key], by_row) for key in expected), default=0.0)
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return math.inf
        flat = [abs(x) for x in expected if isinstance(x, (int, float)) and math.isfinite(x)]
        scale = max(flat, default=0.0) if by_row else 0.0
        return max((error(a, e, by_row, scale) for a, e in zip(actual, expected)), default=0.0)
    if actual == "-inf" or not isinstance(expected, (int, float)) or math.isinf(expected):
        return 0.0 if (actual == "-inf" and expected == -math.inf) or actual == expected else math.inf
    if not isinstance(actual, (int, float)):
        return math.inf
    gap = abs(actual - expected)
    return 0.0 if gap == 0 else gap / max(abs(expected), scale) if max(abs(expected), scale) else math.inf


def assert_equal(cases: list[Case], folder: Path = MATH) -> None:
    results = run(cases, folder)
    for case, actual in zip(cases, results, strict=True):
        worst = error(actual, case.expected, case.by_row)
        assert worst < BOUND, (
            f"{case.module}.js 的 {case.function} 与 Python 相差 {worst:.3g}\n"
            f"参数 {case.args}\nJavaScript {actual}\nPython {case.expected}"
        )


# ---------------------------------------------------------------- 随机输入与 Python 的答案


def matrix(rng: random.Random, rows: int, width: int, size: float = 3.0) -> list[list[float]]:
    return [[rng.uniform(-size, size) for _ in range(width)] for _ in range(rows)]


def softmax_cases(rng: random.Random, count: int) -> Iterator[Case]:
    single = load("single_head_attention")
    for number in range(count):
        row = [rng.uniform(-1, 1) * 10 ** rng.uniform(-2, 3) for _ in range(rng.randint(1, 8))]
        if number % 3 == 0:  # 屏蔽几个
            row += [-math.inf] * rng.randint(1, 3)
            rng.shuffle(row)
        written = ["-inf" if s == -math.inf else s for s in row]
        yield Case("attention", "softmax", [written], single.stable_softmax(row))


def attention_cases(rng: random.Random, count: int) -> Iterator[Case]:
    single = load("single_head_attention")
    for _ in range(count):
        Tk, D, Dv = rng.randint(1, 6), rng.randint(1, 4), rng.randint(1, 4)
        mask = rng.random() < 0.7
        Tq = rng.randint(1, Tk if mask else 6)
        q, k, v = matrix(rng, Tq, D), matrix(rng, Tk, D), matrix(rng, Tk, Dv)
        scale, columns = rng.random() < 0.7, rng.random() < 0.3
        temperature = rng.choice([1, 1, 0.25, 0.5, 2, 5])
        options = {"mask": mask, "scale": scale, "axis": "columns" if columns else "rows", "temperature": temperature}
        yield Case(
            "attention", "attention", [q, k, v, options], read(single, q, k, v, mask, scale, columns, temperature)
        )


def read(single: ModuleType, q, k, v, mask=True, scale=True, columns=False, temperature=1) -> dict[str, Any]:
    """五步的结果，全部由 `attention` 与 `stable_softmax` 得到。

    不缩放、改温度，等于把查询先乘一个数；按列归一，是对每一列用 `stable_softmax`（实验 01 的小实验 2）。
    """
    D = len(k[0])
    root = math.sqrt(D)

    def scaled_query(factor: float):
        return [[factor * x for x in row] for row in q]

    dots = single.attention(scaled_query(root), k, v, causal=False)[0]
    chosen = scaled_query((1 if scale else root) / temperature)
    scaled = single.attention(chosen, k, v, causal=False)[0]
    masked, weights, output = single.attention(chosen, k, v, causal=mask)
    if columns:
        by_column = [single.stable_softmax(list(column)) for column in zip(*masked)]
        weights = [list(row) for row in zip(*by_column)]
        output = [[sum(w * x for w, x in zip(row, column)) for column in zip(*v)] for row in weights]
    return {"dots": dots, "scaled": scaled, "masked": masked, "weights": weights, "output": output}


def tensor(x: Any) -> dict[str, Any]:
    return {"shape": list(x.shape), "data": x.flatten().tolist()}


def random_sizes(rng: random.Random) -> tuple[int, int, int, int]:
    H, D = rng.randint(1, 4), rng.randint(1, 4)
    return rng.randint(1, 3), rng.randint(1, 5), H * D, H


def split_cases(rng: random.Random, count: int) -> Iterator[Case]:
    import torch

    shapes = load("multi_head_shapes")
    for _ in range(count):
        B, T, C, H = random_sizes(rng)
        x = torch.tensor([rng.uniform(-9, 9) for _ in range(B * T * C)], dtype=torch.float64).view(B, T, C)
        split = shapes.split_heads(x, H)
        yield Case("heads", "splitHeads", [tensor(x), H], tensor(split))
        yield Case("heads", "mergeHeads", [tensor(split)], tensor(shapes.merge_heads(split)))
        yield Case("heads", "mergeWithoutTranspose", [tensor(split)], tensor(shapes.merge_without_transpose(split)))


def multi_head_cases(rng: random.Random, count: int) -> Iterator[Case]:
    import torch

    shapes = load("multi_head_shapes")
    for _ in range(count):
        B, T, C, H = random_sizes(rng)
        causal = rng.random() < 0.7
        layer = shapes.MultiHeadAttention(C, H, causal).double()
        weight = {name: matrix(rng, C, C, 1.0) for name in "qkvo"}
        x = torch.tensor([rng.uniform(-2, 2) for _ in range(B * T * C)], dtype=torch.float64).view(B, T, C)
        with torch.no_grad():
            for name, rows in weight.items():
                getattr(layer, f"{name}_proj").weight.copy_(torch.tensor(rows, dtype=torch.float64))
            _, steps = layer(x, return_steps=True)
        expected = {name: tensor(step) for name, step in steps.items()}
        yield Case("heads", "multiHead", [tensor(x), weight, H, causal], expected, by_row=True)


def follow_cases(rng: random.Random, count: int) -> Iterator[Case]:
    """给每个数编号，看编号在每一步落在哪里。"""
    import torch

    shapes = load("multi_head_shapes")
    for _ in range(count):
        B, T, C, H = random_sizes(rng)
        start = [rng.randrange(size) for size in (B, T, C)]
        numbered = torch.arange(B * T * C).view(B, T, C)
        number = numbered[tuple(start)].item()
        split = shapes.split_heads(numbered, H)
        for transposed in (True, False):
            merge = shapes.merge_heads if transposed else shapes.merge_without_transpose
            steps = {
                "project": numbered,
                "reshape": numbered.reshape(B, T, H, C // H),
                "transpose": split,
                "matmul": split,  # 权重乘值不改变头、词元与通道
                "merge": merge(split),
            }
            expected = [
                {
                    "step": name,
                    "shape": list(x.shape),
                    "index": (x == number).nonzero()[0].tolist(),
                    "position": x.flatten().tolist().index(number),
                }
                for name, x in steps.items()
            ]
            yield Case("heads", "follow", [{"B": B, "T": T, "C": C, "H": H}, start, transposed], expected)


def rope_cases(rng: random.Random, count: int) -> Iterator[Case]:
    """相邻配对的答案由同一个 `apply_rotary_pos_emb` 得到：先重排通道，转完再排回去。"""
    import torch

    demo = load("03-attention-demo")
    tables = {}
    for _ in range(count + count // 50):
        D, base = 2 * rng.randint(1, 8), rng.choice([10000.0, 100.0, 1e6])
        m, n = rng.randint(0, 63), rng.randint(0, 63)
        q, k = matrix(rng, 2, D, 2.0)
        if (D, base) not in tables:
            tables[D, base] = demo.precompute_freqs_cis(D, 64, base, dtype=torch.float64)
        cos, sin = tables[D, base]

        def turn(x, position, order, cos=cos, sin=sin, D=D):
            x = torch.tensor(x, dtype=torch.float64)[order].view(1, 1, 1, D)
            row = slice(position, position + 1)
            turned = demo.apply_rotary_pos_emb(x, x, cos[row], sin[row])[0].flatten()
            back = torch.empty_like(turned)
            back[order] = turned
            return back

        half = list(range(D))
        # 第 3 章练习 3：先重排，再用相邻配对，等于前后配对以后再重排。
        paired = torch.arange(D).view(2, D // 2).T.flatten()
        yield Case("rope", "reorder", [q], torch.tensor(q, dtype=torch.float64)[paired].tolist())
        apart = [*range(0, D, 2), *range(1, D, 2)]  # 相邻的一对变成前后的一对
        for layout, order in (("half", half), ("interleaved", apart)):
            turned_q, turned_k = turn(q, m, order), turn(k, n, order)
            yield Case("rope", "rotate", [q, m, layout, base], turned_q.tolist(), by_row=True)
            each = (turned_q * turned_k)[order].view(2, D // 2).sum(0).tolist()
            yield Case("rope", "contributions", [q, m, k, n, layout, base], each, by_row=True)
            product = (turned_q @ turned_k).item()
            if abs(product) > 1e-3:  # 相消得太厉害时，相对误差没有意义
                yield Case("rope", "score", [q, m, k, n, layout, base], product)


def cache_cases(rng: random.Random, count: int) -> Iterator[Case]:
    cost = load("kv_cache_cost")
    for _ in range(count):
        prompt, steps = rng.randint(1, 40), rng.randint(0, 40)
        chunks = [prompt] + [1] * steps
        totals = [{way: cost.work(chunks[: n + 1], way == "cached") for way in WAYS} for n in range(len(chunks))]
        sums = [{what: {way: getattr(total[way], what) for way in WAYS} for what in WORK} for total in totals]
        zero = {what: {way: 0 for way in WAYS} for what in WORK}
        parts = [
            {what: {way: now[what][way] - before[what][way] for way in WAYS} for what in WORK}
            for before, now in zip([zero, *sums], sums)
        ]
        expected = [
            {
                "phase": "decode" if past else "prefill",
                "from": past,
                "length": past + new,
                **part,
                "read": past,
            }
            for (past, new), part in zip(cost.schedule(chunks), parts)
        ]
        yield Case("cache", "generation", [prompt, steps], expected)
        yield Case("cache", "running", [expected], sums)
        sizes = {name: rng.randint(1, 4096) for name in ("length", "n_layers", "n_kv_heads", "head_dim", "bytes_each")}
        named = dict(zip(("length", "layers", "kvHeads", "headDim", "bytesEach"), sizes.values()))
        yield Case("cache", "cacheBytes", [named], cost.cache_bytes(**sizes))


WAYS = ("cached", "uncached")
WORK = ("projected", "scores")

GROUPS = {
    "softmax": softmax_cases,
    "attention": attention_cases,
    "split": split_cases,
    "multi_head": multi_head_cases,
    "follow": follow_cases,
    "rope": rope_cases,
    "cache": cache_cases,
}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """张量都很小，多线程只会互相等待。"""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("group", GROUPS)
def test_javascript_equals_python(group):
    cases = list(GROUPS[group](random.Random(f"see {group}"), COUNT))
    counts = {name: sum(case.function == name for case in cases) for name in {case.function for case in cases}}
    assert min(counts.values()) >= COUNT, counts
    assert_equal(cases)


#: 没有直接比较的函数 → 用到它、因而一起被证明的那一组。
THROUGH = {
    "dot": "attention",
    "transpose": "attention",
    "visible": "attention",
    "checkShapes": "attention",
    "checkSizes": "split",
    "strides": "follow",
    "offset": "follow",
    "indexOf": "follow",
    "swapMiddle": "split",
    "linear": "multi_head",
    "thetas": "rope",
    "pairs": "rope",
}


def test_every_function_is_compared():
    """web/src/math/ 里新加的函数，没有与 Python 比较就会失败。"""
    compared = {case.function for group in GROUPS.values() for case in group(random.Random(0), 2)}
    exported = {
        name
        for path in MATH.glob("*.js")
        for name in re.findall(r"^export (?:async )?(?:function|const) (\w+)", path.read_text(encoding="utf-8"), re.M)
    }
    assert set(THROUGH.values()) <= GROUPS.keys()
    assert exported == compared | THROUGH.keys()


# ---------------------------------------------------------------- 改坏了看得出来

#: (模块, 原文, 改成, 哪一组比较必须失败)
MUTATIONS = [
    ("attention", "(scale ? Math.sqrt(queries[0].length) : 1)", "1", "attention"),  # 忘了除以 √D
    ("attention", "Tk - Tq + i + 1", "i + 1", "attention"),  # 掩码对齐了开头
    ("attention", "Tk - Tq + i + 1", "Tk - Tq + i + 2", "attention"),  # 多看一个
    ("attention", ": -Infinity", ": -1e9", "attention"),  # 大负数不是负无穷
    ("attention", ": transpose(transpose(masked).map(softmax))", ": masked.map(softmax)", "attention"),
    ("attention", "* temperature", "* Math.sqrt(temperature)", "attention"),
    ("attention", "score - peak", "score", "softmax"),  # 会上溢
    ("heads", "((b * X + x) * Y + y) * D", "((b * Y + y) * X + x) * D", "split"),
    ("heads", "= swapMiddle(x);\n", "= x;\n", "split"),  # 合并忘了转置
    ("heads", "j > i ? -Infinity", "j > i ? 0", "multi_head"),
    ("heads", "Math.sqrt(D)", "Math.sqrt(H)", "multi_head"),
    ("heads", "[Math.floor(c / D), c % D]", "[c % H, Math.floor(c / H)]", "follow"),
    ("heads", "transposed ? ", "true ? ", "follow"),
    ("rope", "x[second] * cos + x[first] * sin", "x[second] * cos - x[first] * sin", "rope"),
    ("rope", "(2 * i) / headDim", "i / headDim", "rope"),
    ("rope", "[i, i + half] : [2 * i, 2 * i + 1]", "[2 * i, 2 * i + 1] : [i, i + half]", "rope"),
    ("cache", "cached: fresh * length", "cached: fresh", "cache"),  # “有缓存就是 O(1)”
    ("cache", "return 2 * length", "return length", "cache"),
]


@pytest.mark.parametrize("module, old, new, group", MUTATIONS)
def test_a_broken_copy_is_noticed(tmp_path, module, old, new, group):
    folder = tmp_path / "math"
    shutil.copytree(MATH, folder)
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    target = folder / f"{module}.js"
    text = target.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{module}.js 里应恰好有一处 {old!r}"
    target.write_text(text.replace(old, new), encoding="utf-8")
    cases = list(GROUPS[group](random.Random(f"see {group}"), 60))
    assert_equal(cases)
    with pytest.raises(AssertionError, match="与 Python 相差"):
        assert_equal(cases, folder)


#: 不合格的输入，两边的消息逐字相同：(模块, 函数, 参数, Python 的脚本, 怎样调用)
REFUSED = [
    ("attention", "attention", [[[1, 2]], [[1]], [[1]]], "single_head_attention", lambda m, a: m.attention(*a)),
    ("attention", "attention", [[[1]], [[1]], [[1], [2]]], "single_head_attention", lambda m, a: m.attention(*a)),
    ("attention", "attention", [[[1], [2]], [[1]], [[1]]], "single_head_attention", lambda m, a: m.attention(*a)),
    ("attention", "softmax", [["-inf"] * 3], "single_head_attention", lambda m, a: m.stable_softmax([-math.inf] * 3)),
    ("heads", "checkSizes", [dict(B=1, T=2, C=8, H=3)], "multi_head_shapes", lambda m, a: m.MultiHeadAttention(8, 3)),
    ("heads", "checkSizes", [dict(B=1, T=2, C=8, H=0)], "multi_head_shapes", lambda m, a: m.MultiHeadAttention(8, 0)),
    ("rope", "thetas", [5], "03-attention-demo", lambda m, a: m.precompute_freqs_cis(*a, 1)),
    ("rope", "thetas", [0], "03-attention-demo", lambda m, a: m.precompute_freqs_cis(*a, 1)),
    ("rope", "thetas", [4, 0], "03-attention-demo", lambda m, a: m.precompute_freqs_cis(4, 1, 0)),
]


@pytest.mark.parametrize("module, function, args, script, call", REFUSED)
def test_illegal_input_is_refused_in_the_same_words(module, function, args, script, call):
    with pytest.raises(ValueError) as refused:
        call(load(script), args)
    assert run([Case(module, function, args, None)]) == [{"error": str(refused.value)}]
