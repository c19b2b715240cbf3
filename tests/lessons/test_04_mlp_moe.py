"""code/04-mlp-moe-demo.py：随机尺寸上的性质、课文里的数，以及读者看到的拒绝。测的是已发布的文件。"""

import math

import checks_02_04 as check
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lesson_files import CODE, load

from livedocs.publish import published

NAME = "04-mlp-moe-demo.py"
M = load(NAME, published(CODE / NAME))

size = st.integers(1, 5)
seed = st.integers(0, 2**32 - 1)
many = settings(max_examples=20, deadline=None)


@st.composite
def experts_and_k(draw):
    experts = draw(st.integers(1, 5))
    return experts, draw(st.integers(1, experts))


@many
@given(C=size, width=size, seed=seed)
def test_dense_layers(C, width, seed):
    check.gelu_mlp_equals_torch(M, C, width, seed)
    check.swiglu_equals_by_hand(M, C, width, seed)


def test_swiglu_is_not_linear():
    check.swiglu_is_not_linear(M)


@many
@given(hidden=st.integers(1, 10000), multiple=st.integers(1, 300))
def test_width_of_any_size(hidden, multiple):
    """浮点的 8/3 从不越过整数运算的结果。"""
    assert M.ffn_width(hidden, multiple=multiple) == -(-8 * hidden // (3 * multiple)) * multiple


def test_widths_of_the_lesson():
    check.width_is_rounded_up(M)


@many
@given(N=size, Ek=experts_and_k(), seed=seed, renormalise=st.booleans())
def test_route(N, Ek, seed, renormalise):
    check.route_picks_the_best(M, N, *Ek, seed=seed, renormalise=renormalise)


def test_route_in_low_precision_sums_in_fp32():
    """bf16 的分数：概率是 fp32，和为 1。"""
    probabilities, weights, _ = M.route(torch.zeros(1, 300, dtype=torch.bfloat16), 2)
    assert probabilities.dtype == weights.dtype == torch.float32
    assert abs(probabilities.sum().item() - 1) < 1e-5


@many
@given(
    B=st.integers(1, 3), T=size, C=size, Ek=experts_and_k(), shared=st.integers(0, 2), renormalise=st.booleans(), seed=seed,
    factor=st.one_of(st.none(), st.floats(0.1, 4.0)),
)  # fmt: skip
def test_moe(B, T, C, Ek, shared, renormalise, seed, factor):
    E, k = Ek
    check.moe_equals_token_by_token(M, B, T, C, 3, E, k, shared, factor, renormalise, seed)


def test_moe_gradients():
    check.moe_gradients_are_right(M)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64], ids=str)
@torch.no_grad()
def test_dtype_is_kept(dtype):
    x = torch.randn(1, 3, 6, generator=check.generator(0)).to(dtype)
    assert check.make_moe(M).to(dtype)(x).dtype == dtype
    assert M.GeluMLP(6).to(dtype)(x).dtype == M.SwiGLU(6).to(dtype)(x).dtype == dtype


def test_one_expert_is_a_plain_swiglu():
    """一个专家、选一个：路由权重是 1，等于那个 SwiGLU。"""
    moe = check.make_moe(M, E=1, k=1, shared=0)
    x = torch.randn(2, 3, 6, generator=check.generator(0), dtype=torch.float64)
    check.close(moe(x), moe.experts[0](x))


@pytest.mark.parametrize(("top_k", "renormalise", "trains"), [(1, True, False), (1, False, True), (2, True, True), (2, False, True)])
def test_router_gradient(top_k, renormalise, trains):
    """选一个又重新归一，主损失对路由器没有梯度；其余三种有。"""
    moe = check.make_moe(M, k=top_k, shared=0, renormalise=renormalise)
    moe(torch.randn(2, 6, 6, generator=check.generator(0), dtype=torch.float64)).pow(2).mean().backward()
    assert (moe.router.weight.grad.abs().max() > 1e-6) == trains


def test_unused_expert_gets_no_gradient():
    moe = check.make_moe(M, E=3, k=1, shared=0)
    x = torch.ones(1, 1, 6, dtype=torch.float64)
    (used,) = set(moe(x, return_route=True)[1]["chosen"].flatten().tolist())
    moe(x).sum().backward()
    for e, expert in enumerate(moe.experts):
        assert (expert.up_proj.weight.grad is not None) == (e == used)


@many
@given(N=st.integers(1, 9), Ek=experts_and_k(), capacity=st.integers(1, 9), seed=seed)
def test_capacity(N, Ek, capacity, seed):
    E, k = Ek
    check.capacity_is_first_come(M, N, E, k, capacity, seed)


@many
@given(N=st.integers(1, 50), Ek=experts_and_k(), factor=st.sampled_from([0.5, 1.0, 1.25, 2.0]))
def test_expert_capacity(N, Ek, factor):
    """容量恰好是不小于平均数乘系数的最小整数；系数至少是专家数除以 k 时，一个也不丢。"""
    E, k = Ek
    capacity = M.expert_capacity(N, E, k, factor)
    assert (capacity - 1) * E < N * k * factor <= capacity * E
    assert M.expert_capacity(N, E, k, E / k) in (N, N + 1)  # 浮点的 E / k 可能略大


@torch.no_grad()
def test_capacity_lets_the_future_in_when_k_is_two():
    """k = 2 且限容量：改动最后一个词元，有时会改变前面的输出；不限容量则从不。"""
    moved = {}
    for factor in (None, 1.0):
        moved[factor] = False
        for seed in range(10):
            moe = check.make_moe(M, E=3, k=2, shared=0, factor=factor, seed=seed)
            x = torch.randn(1, 6, 6, generator=check.generator(seed), dtype=torch.float64)
            changed = x.clone()
            changed[:, -1] = torch.randn(6, generator=check.generator(seed + 100))
            moved[factor] |= bool((moe(x)[:, :-1] - moe(changed)[:, :-1]).abs().max() > 1e-6)
    assert moved == {None: False, 1.0: True}


def test_tokens_do_not_mix():
    check.tokens_do_not_mix_without_capacity(M)


@many
@given(N=st.integers(1, 20), Ek=experts_and_k(), seed=seed)
def test_balance(N, Ek, seed):
    check.balance_matches_both_libraries(M, N, *Ek, seed=seed)
    check.balance_of_even_routing(M, *Ek)


def test_balance_gradient():
    check.balance_pushes_the_busy_expert_down(M)


def test_balance_can_be_below_one():
    """次数 9 比 1，损失 0.9344，比均匀时还低；集中到一个专家时接近专家数。"""
    probabilities = torch.tensor([[0.51, 0.49]] * 9 + [[0.0, 1.0]])
    chosen = probabilities.argmax(-1, keepdim=True)
    assert M.load_balance_loss(probabilities, chosen).item() == pytest.approx(0.9344)
    one_hot = torch.tensor([[1.0, 0.0, 0.0, 0.0]] * 3)
    assert M.load_balance_loss(one_hot, torch.zeros(3, 1, dtype=torch.long)).item() == pytest.approx(4)


@many
@given(C=size, width=size, Ek=experts_and_k(), shared=st.integers(0, 2))
def test_parameters(C, width, Ek, shared):
    E, k = Ek
    total, active = M.moe_parameters(C, width, E, k, shared)
    assert total == M.count_parameters(M.MoE(C, width, E, k, shared))
    assert active == total - (E - k) * M.count_parameters(M.SwiGLU(C, width))


def test_parameters_of_minimind():
    """MiniMind 现行版本：稠密 63 912 192；MoE 总 198 416 640，激活 63 936 768。"""
    C, width = 768, M.ffn_width(768, math.pi)
    outside = 6400 * C + 8 * (2 * C * 768 + 2 * C * 384 + 2 * C + 2 * 96) + C
    total, active = M.moe_parameters(C, width, 4, 1)
    assert outside + 8 * 3 * C * width == 63_912_192
    assert (outside + 8 * total, outside + 8 * active) == (198_416_640, 63_936_768)


def zeros(*shape):
    return torch.zeros(*shape)


REFUSALS = [
    (lambda: M.GeluMLP(0), "hidden_size 应是正整数，得到 0"),
    (lambda: M.GeluMLP(8, width=0), "width 应是正整数，得到 0"),
    (lambda: M.GeluMLP(8)(zeros(1, 2, 4)), "x 是 [1, 2, 4]，应是 [batch, seq, 8]"),
    (lambda: M.SwiGLU(8)(zeros(2, 8)), "x 是 [2, 8]，应是 [batch, seq, 8]"),
    (lambda: M.SwiGLU(8)(zeros(1, 0, 8)), "x 是 [1, 0, 8]：序列是空的，至少要有 1 个词元"),
    (lambda: M.SwiGLU(8, width=2.5), "width 应是正整数，得到 2.5"),
    (lambda: M.ffn_width(0), "hidden_size 应是正整数，得到 0"),
    (lambda: M.ffn_width(8, ratio=0), "ratio 应是有限的正数，得到 0"),
    (lambda: M.ffn_width(8, ratio=math.nan), "ratio 应是有限的正数，得到 nan"),
    (lambda: M.ffn_width(8, multiple=0), "multiple 应是正整数，得到 0"),
    (lambda: M.route(zeros(3, 4), 5), "top_k = 5 超过专家数 4：一个词元不能选同一个专家两次"),
    (lambda: M.route(zeros(3, 4), 0), "top_k 应是正整数，得到 0"),
    (lambda: M.route(zeros(0, 4), 1), "路由分数是 [0, 4]，应是 [词元, 专家]，而且至少有 1 个词元"),
    (lambda: M.route(zeros(1, 3, 4), 1), "路由分数是 [1, 3, 4]，应是 [词元, 专家]，而且至少有 1 个词元"),
    (lambda: M.expert_capacity(6, 3, 1, 0.0), "容量系数应是有限的正数，得到 0.0"),
    (lambda: M.expert_capacity(0, 3, 1, 1.0), "n_tokens 应是正整数，得到 0"),
    (lambda: M.within_capacity(torch.zeros(2, 1, dtype=torch.long), 3, 0), "capacity 应是正整数，得到 0"),
    (lambda: M.within_capacity(torch.zeros(2, dtype=torch.long), 3, 1), "chosen 是 [2]，应是 [词元, top_k]"),
    (lambda: M.within_capacity(torch.full((2, 1), 3), 3, 1), "chosen 里有不存在的专家：专家只有 0 到 2"),
    (
        lambda: M.load_balance_loss(zeros(3, 4), torch.zeros(2, 1, dtype=torch.long)),
        "概率是 [3, 4]，选择是 [2, 1]，应是 [N, E] 与 [N, k]",
    ),
    (lambda: M.load_balance_loss(zeros(3, 4), torch.full((3, 1), -1)), "chosen 里有不存在的专家：专家只有 0 到 3"),
    (lambda: M.MoE(n_experts=2, top_k=3), "top_k = 3 超过专家数 2：一个词元不能选同一个专家两次"),
    (lambda: M.MoE(n_experts=0, top_k=1), "n_experts 应是正整数，得到 0"),
    (lambda: M.MoE(n_shared=-1), "n_shared 应是非负整数，得到 -1"),
    (lambda: M.MoE(capacity_factor=-1.0), "容量系数应是有限的正数，得到 -1.0"),
    (lambda: M.MoE()(zeros(1, 0, 16)), "x 是 [1, 0, 16]：序列是空的，至少要有 1 个词元"),
    (lambda: M.MoE()(zeros(1, 2, 8)), "x 是 [1, 2, 8]，应是 [batch, seq, 16]"),
    (lambda: M.moe_parameters(8, 16, 2, 3), "top_k = 3 超过专家数 2：一个词元不能选同一个专家两次"),
    (lambda: M.moe_parameters(8, 16, 2, 1, n_shared=True), "n_shared 应是非负整数，得到 True"),
]


@pytest.mark.parametrize(("call", "sentence"), REFUSALS)
def test_refusal(call, sentence):
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value) == sentence
