"""code/kv_cache_cost.py：数出来的等于定义，真的算一遍也一样；该拒绝的拒绝；改坏一处，指定的检查失败。"""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_files import load, mutate

NAME = "kv_cache_cost.py"
M = load(NAME)

chunk_lists = st.lists(st.integers(1, 6), min_size=1, max_size=5)
many = settings(max_examples=40, deadline=None)


def random_tokens(n, seed):
    """n 个随机词元 [n][2]。"""
    g = random.Random(seed)
    return [[g.uniform(-2, 2), g.uniform(-2, 2)] for _ in range(n)]


def attention_by_definition(m, tokens):
    """因果注意力的定义，不用脚本里的 read：每个位置只看自己和之前，逐行写开。"""
    projected = [m.project(token) for token in tokens]
    outputs = []
    for i, (query, _, _) in enumerate(projected):
        scores = [sum(a * b for a, b in zip(query, key)) / 2**0.5 for _, key, _ in projected[: i + 1]]
        exps = [math.exp(s) for s in scores]
        row = [sum(e * value[d] for e, (_, _, value) in zip(exps, projected)) / sum(exps) for d in range(2)]
        outputs.append(row)
    return outputs


# ---- 检查：每个都接受一个模块，改坏的版本必须失败 ----


def outputs_do_not_depend_on_chunks(m, chunks=(3, 1, 4, 1), seed=0):
    """怎样分块、有没有缓存，输出都与一次算完逐位相同，也与定义相同。"""
    tokens = random_tokens(sum(chunks), seed)
    whole, _ = m.read_all(tokens, [len(tokens)], cached=True)
    for cached in (True, False):
        outputs, _ = m.read_all(tokens, chunks, cached)
        assert outputs == whole
    for row, expected in zip(whole, attention_by_definition(m, tokens)):
        assert row == pytest.approx(expected, rel=1e-9, abs=1e-9)


def counted_equals_formula(m, chunks=(3, 1, 4, 1), seed=0):
    """真的算一遍数出来的投影与分数，等于 work 给出的，也等于逐步写开的和。"""
    tokens = random_tokens(sum(chunks), seed)
    ends = [sum(chunks[: i + 1]) for i in range(len(chunks))]
    for cached in (True, False):
        _, counted = m.read_all(tokens, chunks, cached)
        queries = list(chunks) if cached else ends
        assert counted == m.work(chunks, cached) == (sum(queries), sum(q * end for q, end in zip(queries, ends)))


def future_does_not_leak(m, T=6, seed=0):
    """改动词元 t，t 之前的输出一位不差，t 自己的改变。"""
    tokens = random_tokens(T, seed)
    before, _ = m.read_all(tokens, [2, T - 2], cached=True)
    for t in range(T):
        changed = [list(token) for token in tokens]
        changed[t][0] += 1.0
        after, _ = m.read_all(changed, [2, T - 2], cached=True)
        assert after[:t] == before[:t] and after[t] != before[t]


def bytes_are_those_of_the_tensors(m, length=5, n_layers=3, n_kv_heads=2, head_dim=6, batch=4):
    """与 PyTorch 里真的缓存占的字节相同。"""
    torch = pytest.importorskip("torch")
    for dtype in (torch.bfloat16, torch.float32):
        one = torch.zeros(batch, length, n_kv_heads, head_dim, dtype=dtype)
        stored = 2 * n_layers * one.nelement() * one.element_size()
        assert m.cache_bytes(length, n_layers, n_kv_heads, head_dim, dtype.itemsize, batch) == stored


def step_cost_is_that_of_the_layer(m, T=4, C=12, H=4, Hkv=2, D=6):
    """投影的乘加次数等于第 3 章那一层四个投影的参数个数；注意力的等于两次矩阵乘法的。"""
    pytest.importorskip("torch")
    attn = load("03-attention-demo.py").SimpleAttention(C, H, Hkv, D)
    weights = sum(p.weight.numel() for p in (attn.q_proj, attn.k_proj, attn.v_proj, attn.o_proj))
    assert m.step_cost(T, C, H, Hkv, D) == (weights, H * (T * D + T * D))


@many
@given(chunks=chunk_lists, seed=st.integers(0, 2**32 - 1))
def test_any_chunks(chunks, seed):
    outputs_do_not_depend_on_chunks(M, chunks, seed)
    counted_equals_formula(M, chunks, seed)


@many
@given(T=st.integers(3, 8), seed=st.integers(0, 2**32 - 1))
def test_future_does_not_leak(T, seed):
    future_does_not_leak(M, T, seed)


@many
@given(length=st.integers(1, 5), n_layers=st.integers(1, 3), heads=st.integers(1, 3), width=st.integers(1, 4))
def test_bytes(length, n_layers, heads, width):
    bytes_are_those_of_the_tensors(M, length, n_layers, heads, width)


@many
@given(T=st.integers(1, 6), C=st.integers(1, 9), Hkv=st.integers(1, 3), n_rep=st.integers(1, 3), half=st.integers(1, 3))
def test_step_cost(T, C, Hkv, n_rep, half):
    step_cost_is_that_of_the_layer(M, T, C, Hkv * n_rep, Hkv, 2 * half)


def test_the_numbers_of_the_lesson():
    assert [M.cache_bytes(2048, n_kv_heads=n) / 2**20 for n in (8, 4, 2, 1)] == [48, 24, 12, 6]
    assert M.work([1] * 128, cached=True).scores == 8256
    assert M.work([1] * 128, cached=False).scores == 707264


def test_prefill_costs_the_same_with_and_without_a_cache():
    assert M.work([512], cached=True) == M.work([512], cached=False) == (512, 512 * 512)


REFUSALS = [
    (lambda: M.cache_bytes(0), "length 应是正整数，得到 0"),
    (lambda: M.cache_bytes(8, n_kv_heads=-1), "n_kv_heads 应是正整数，得到 -1"),
    (lambda: M.cache_bytes(8, bytes_each=0.5), "bytes_each 应是正整数，得到 0.5"),
    (lambda: M.cache_bytes(8, batch=True), "batch 应是正整数，得到 True"),
    (lambda: M.work([], cached=True), "一块也没有：至少要送 1 块词元"),
    (lambda: M.work([3, 0], cached=False), "chunks[1] 应是正整数，得到 0"),
    (lambda: M.step_cost(0), "t 应是正整数，得到 0"),
    (lambda: M.step_cost(8, n_heads=6), "n_heads = 6 不能被 n_kv_heads = 4 整除"),
    (lambda: M.read_all([[1.0, 2.0]] * 3, [2], cached=True), "各块加起来是 2 个词元，而 tokens 有 3 个"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSALS)
def test_refusal(call, sentence):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == sentence


ABLATIONS = [
    ("cache-dropped", [("first = past if cached else 0", "first = past")], counted_equals_formula),
    ("cache-always-rebuilt", [("first = past if cached else 0", "first = 0")], counted_equals_formula),
    ("old-entries-kept-when-recomputing", [("del keys[first:], values[first:]", "pass")], outputs_do_not_depend_on_chunks),
    ("mask-aligned-to-start", [("visible = first + i + 1", "visible = i + 1")], outputs_do_not_depend_on_chunks),
    ("mask-off-by-one", [("visible = first + i + 1", "visible = first + i + 2")], future_does_not_leak),
    ("mask-removed", [("visible = first + i + 1", "visible = len(keys)")], future_does_not_leak),
    ("scale-missing", [(" / math.sqrt(2)", "")], outputs_do_not_depend_on_chunks),
    ("only-keys-stored", [("return 2 * n_layers * batch", "return n_layers * batch")], bytes_are_those_of_the_tensors),
    ("layers-forgotten", [("return 2 * n_layers * batch", "return 2 * batch")], bytes_are_those_of_the_tensors),
    ("pairs-counted-once", [("scores += queries * (past + new)", "scores += past + new")], counted_equals_formula),
    ("uncached-counted-as-cached", [("queries = new if cached else past + new", "queries = new")], counted_equals_formula),
    (
        "kv-projections-as-wide-as-q",
        [("2 * hidden_size * n_kv_heads * head_dim\n", "2 * hidden_size * n_heads * head_dim\n")],
        step_cost_is_that_of_the_layer,
    ),
    ("attention-called-constant", [("attention = 2 * t * n_heads", "attention = 2 * n_heads")], step_cost_is_that_of_the_layer),
]


@pytest.mark.parametrize(("changes", "named_check"), [pytest.param(*row[1:], id=row[0]) for row in ABLATIONS])
def test_ablation_is_caught(changes, named_check):
    named_check(M)
    with pytest.raises(AssertionError):
        named_check(mutate(NAME, *changes))
