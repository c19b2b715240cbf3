"""第 2、4 章的检查：每个都接受一个模块（原版或改坏的版本），不成立就断言失败。

参照是 PyTorch 自带的函数，或者与课文不同的另一种写法；相等都在 float64 里比较。
"""

import math

import torch
import torch.nn.functional as F
from torch_checks import close, rope


def generator(seed):
    return torch.Generator().manual_seed(seed)


def make(build, seed=0):
    """在固定的种子下构造一个模块，转成 float64，不改动全局的随机状态。"""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build().double()


# ---- 第 2 章 ----


def embedding_equals_one_hot(m, V=7, C=3, B=2, T=5, seed=0):
    """查表与 F.embedding 逐位相同，与 one-hot 乘矩阵逐位相同；三者的梯度也相同。"""
    ids = torch.randint(0, V, (B, T), generator=generator(seed))
    embedding = make(lambda: m.SimpleEmbedding(V, C), seed)
    upstream = torch.randn(B, T, C, generator=generator(seed), dtype=torch.float64)
    weight = embedding.weight
    outputs = [embedding(ids), m.one_hot_embedding(ids, weight), F.embedding(ids, weight)]
    gradients = [torch.autograd.grad(output, weight, upstream)[0] for output in outputs]
    for output, gradient in zip(outputs[1:], gradients[1:]):
        assert torch.equal(output, outputs[0])
        close(gradient, gradients[0])


def layer_norm_equals_torch(m, width=6, seed=0):
    """与 F.layer_norm 相同，weight 与 bias 随机。"""
    norm = make(lambda: m.SimpleLayerNorm(width))
    x = torch.randn(3, width, generator=generator(seed), dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(torch.rand(width, generator=generator(seed + 1)) + 0.5)
        norm.bias.copy_(torch.randn(width, generator=generator(seed + 2)))
    close(norm(x), F.layer_norm(x, (width,), norm.weight, norm.bias, 1e-6))


def layer_norm_is_centred_rms_norm(m, width=6, seed=0):
    """先减均值再做 RMSNorm，就是没有仿射的 LayerNorm；平移只影响 RMSNorm。"""
    x = torch.randn(3, width, generator=generator(seed), dtype=torch.float64)
    layer, rms = make(lambda: m.SimpleLayerNorm(width)), make(lambda: m.SimpleRMSNorm(width))
    close(layer(x), rms(x - x.mean(-1, keepdim=True)))
    close(layer(x), layer(x + 3.0), atol=1e-8)
    assert width == 1 or (rms(x) - rms(x + 3.0)).abs().max() > 1e-6


def norms_accumulate_in_fp32(m):
    """fp16 输入 300：两种归一化都不溢出。"""
    x = torch.tensor([[300.0, -300.0, 300.0, -300.0]], dtype=torch.float16)
    for norm in (m.SimpleRMSNorm(4), m.SimpleLayerNorm(4)):
        y = norm(x)
        assert y.dtype == torch.float16 and torch.equal(y, x / 300)


def frequencies_match_the_table(m, D=8, base=10000.0):
    """频率等于公式；位置 1 那一行的角度就是它。"""
    theta = m.rope_frequencies(D, base)
    close(theta, torch.tensor([base ** (-2 * i / D) for i in range(D // 2)], dtype=torch.float64))
    cos, sin = m.precompute_freqs_cis(D, 2, base, dtype=torch.float64)
    close(torch.atan2(sin[1], cos[1]), torch.cat([theta, theta]))


def interleaved_equals_complex(m, B=2, T=5, H=3, D=6, seed=0):
    """相邻配对等于复数乘法，复数由相邻的两个通道组成。"""
    x = torch.randn(B, T, H, D, generator=generator(seed), dtype=torch.float64)
    cos, sin = m.precompute_freqs_cis(D, T, dtype=torch.float64)
    theta = m.rope_frequencies(D)
    angle = torch.outer(torch.arange(T).double(), theta)[:, None]
    expected = torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angle), angle))
    close(m.apply_rotary_interleaved(x, cos[:, : D // 2], sin[:, : D // 2]), expected.flatten(-2))


def pairings_differ_by_a_permutation(m, B=2, T=5, H=3, D=6, seed=0):
    """重排后用相邻配对，等于用前后配对后重排；不重排就不同。"""
    x = torch.randn(B, T, H, D, generator=generator(seed), dtype=torch.float64)
    cos, sin = m.precompute_freqs_cis(D, T, dtype=torch.float64)
    tables = cos[:, : D // 2], sin[:, : D // 2]
    half, _ = m.apply_rotary_pos_emb(x, x, cos, sin)
    close(half, rope(x, torch.arange(T)))
    order = m.half_to_interleaved(D)
    assert sorted(order.tolist()) == list(range(D))
    close(m.apply_rotary_interleaved(x[..., order], *tables), half[..., order])
    if T > 1 and D > 2:
        assert (m.apply_rotary_interleaved(x, *tables) - half).abs().max() > 1e-3


def yarn_interpolates_by_parts(m, D=96, factor=16.0, length=2048, base=1e6, fast=32.0, slow=1.0):
    """逐对按 MiniMind 等实现的写法再算一遍；快的不动，慢的除以 factor，中间单调。"""
    theta, changed = m.rope_frequencies(D, base), m.yarn_frequencies(D, factor, length, base, fast, slow)
    edge = [D * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base)) for turns in (fast, slow)]
    low, high = max(math.floor(edge[0]), 0), min(math.ceil(edge[1]), D // 2 - 1)
    for i in range(D // 2):
        ramp = min(max((i - low) / max(high - low, 0.001), 0), 1)
        close(changed[i], theta[i] * (1 - ramp) + theta[i] / factor * ramp)
    ratio = theta / changed
    assert (ratio[1:] >= ratio[:-1] - 1e-9).all() and ratio[0] >= 1 - 1e-12 and ratio.max() <= factor * (1 + 1e-12)
    turns = length * theta / (2 * math.pi)
    close(ratio[turns > fast * base ** (2 / D)], torch.ones_like(ratio[turns > fast * base ** (2 / D)]))
    slowest = turns < slow * base ** (-2 / D)
    close(ratio[slowest], torch.full_like(ratio[slowest], factor))


# ---- 第 4 章 ----


def gelu_mlp_equals_torch(m, C=4, width=7, seed=0):
    """与 nn.Sequential(Linear, GELU, Linear) 同样的权重、同样的结果。"""
    mlp = make(lambda: m.GeluMLP(C, width), seed)
    x = torch.randn(2, 3, C, generator=generator(seed), dtype=torch.float64)
    normal = torch.distributions.Normal(0.0, 1.0)
    hidden = x @ mlp.up_proj.weight.T
    close(mlp(x), (hidden * normal.cdf(hidden)) @ mlp.down_proj.weight.T)
    assert m.count_parameters(mlp) == 2 * C * width


def swiglu_equals_by_hand(m, C=4, width=7, seed=0):
    """与 z * sigmoid(z) 写开的式子相同；参数 3 * C * F 个。"""
    ffn = make(lambda: m.SwiGLU(C, width), seed)
    x = torch.randn(2, 3, C, generator=generator(seed), dtype=torch.float64)
    z, up = x @ ffn.gate_proj.weight.T, x @ ffn.up_proj.weight.T
    close(ffn(x), (z / (1 + torch.exp(-z)) * up) @ ffn.down_proj.weight.T)
    assert m.count_parameters(ffn) == 3 * C * width


def swiglu_is_not_linear(m, seed=0):
    """有门就不是线性的：f(2a) 不等于 2 f(a)。"""
    ffn = make(lambda: m.SwiGLU(8, 16), seed)
    a = torch.randn(1, 3, 8, generator=generator(seed), dtype=torch.float64)
    assert (ffn(2 * a) - 2 * ffn(a)).abs().max() > 1e-3


def width_is_rounded_up(m):
    """8/3 与 64：与整数运算相同，且不小于 8/3 倍；MiniMind 两个版本的宽度。"""
    for size in (1, 23, 24, 25, 512, 640, 768, 1024, 4096):
        assert m.ffn_width(size) == -(-8 * size // (3 * 64)) * 64
        assert 0 <= m.ffn_width(size) - 8 * size / 3 < 64
    assert (m.ffn_width(512), m.ffn_width(768, math.pi)) == (1408, 2432)


def route_picks_the_best(m, N=9, E=5, k=2, seed=0, renormalise=True):
    """选中的 k 个互不相同，概率都不小于没选中的；权重按约定归一。"""
    logits = torch.randn(N, E, generator=generator(seed), dtype=torch.float64) * 3
    probabilities, weights, chosen = m.route(logits, k, renormalise)
    close(probabilities, torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True))
    assert weights.shape == chosen.shape == (N, k)
    for row in range(N):
        picked = chosen[row].tolist()
        assert len(set(picked)) == k
        assert set(picked) == set(sorted(range(E), key=lambda e: -logits[row, e].item())[:k])
    expected = probabilities.gather(1, chosen)
    close(weights, expected / expected.sum(-1, keepdim=True) if renormalise else expected)


def weights_sum_to_one(m, seed=0):
    """重新归一之后，每个词元的权重之和是 1，与只对被选者做 softmax 相同。"""
    logits = torch.randn(20, 6, generator=generator(seed), dtype=torch.float64)
    _, weights, _ = m.route(logits, 3)
    close(weights.sum(-1), torch.ones(20, dtype=torch.float64))
    close(weights, logits.topk(3).values.softmax(-1))


def make_moe(m, C=6, width=5, E=4, k=2, shared=1, factor=None, renormalise=True, seed=0):
    return make(lambda: m.MoE(C, width, E, k, shared, factor, renormalise), seed)


def token_by_token(m, moe, x, kept):
    """最笨的写法：一个词元一个词元、一个专家一个专家地算。"""
    flat = x.flatten(0, 1)
    rows = []
    for n, token in enumerate(flat):
        scores = (moe.router.weight @ token).softmax(-1)
        best = sorted(range(moe.n_experts), key=lambda e: -scores[e].item())[: moe.top_k]
        total = sum(scores[e] for e in best) if moe.renormalise else 1.0
        row = torch.zeros_like(token)
        for rank, e in enumerate(best):
            if kept[n, rank]:
                row = row + scores[e] / total * moe.experts[e](token[None, None])[0, 0]
        for expert in moe.shared_experts:
            row = row + expert(token[None, None])[0, 0]
        rows.append(row)
    return torch.stack(rows).view_as(x)


@torch.no_grad()
def moe_equals_token_by_token(m, B=2, T=4, C=6, width=5, E=4, k=2, shared=1, factor=None, renormalise=True, seed=0):
    """与逐个词元的写法相同，与课文的 dense_moe 也相同；有没有容量都成立。"""
    moe = make_moe(m, C, width, E, k, shared, factor, renormalise, seed)
    x = torch.randn(B, T, C, generator=generator(seed), dtype=torch.float64)
    output, steps = moe(x, return_route=True)
    close(output, moe(x))
    close(output, token_by_token(m, moe, x, steps["kept"]))
    close(output, m.dense_moe(moe, x))
    if factor is None:
        assert steps["kept"].all()


def moe_gradients_are_right(m, seed=0):
    """输入与全部参数的梯度都与有限差分一致（路由在这些输入附近不变）。"""
    moe = make_moe(m, C=3, width=4, E=3, k=2, shared=1, seed=seed)
    x = torch.randn(1, 3, 3, generator=generator(seed), dtype=torch.float64, requires_grad=True)
    names, values = zip(*moe.named_parameters())

    def run(x, *values):
        return torch.func.functional_call(moe, dict(zip(names, values)), (x,))

    assert torch.autograd.gradcheck(run, (x, *(v.detach().requires_grad_() for v in values)))


def capacity_is_first_come(m, N=8, E=3, k=2, capacity=2, seed=0):
    """逐个数：第一选择先排队，然后第二选择；每个专家最多收 capacity 个。"""
    logits = torch.randn(N, E, generator=generator(seed), dtype=torch.float64)
    chosen = logits.topk(k).indices
    kept = m.within_capacity(chosen, E, capacity)
    room = [capacity] * E
    for rank in range(k):
        for n in range(N):
            e = chosen[n, rank].item()
            assert kept[n, rank].item() == (room[e] > 0), (n, rank)
            room[e] -= room[e] > 0


def balance_matches_both_libraries(m, N=12, E=4, k=2, seed=0):
    """除以 N * k 与 Megatron-LM 的写法相同；除以 N 与 transformers、MiniMind 的写法相同。"""
    probabilities, _, chosen = m.route(torch.randn(N, E, generator=generator(seed), dtype=torch.float64), k)
    counts = torch.zeros(E, dtype=torch.float64)
    for e in chosen.flatten().tolist():
        counts[e] += 1
    close(m.load_balance_loss(probabilities, chosen), (probabilities.sum(0) * counts).sum() * E / (k * N * N))
    per_token = F.one_hot(chosen, E).double().mean(0)
    close(m.load_balance_loss(probabilities, chosen, per_choice=False), (per_token * probabilities.mean(0)).sum() * E)


def balance_of_even_routing(m, E=4, k=2):
    """次数均匀时，不论概率是什么，损失是 1（除以 N * k）或 k（除以 N）。"""
    chosen = torch.stack([(torch.arange(E) + r) % E for r in range(k)], dim=1)
    probabilities = torch.rand(E, E, generator=generator(0), dtype=torch.float64)
    probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    close(m.load_balance_loss(probabilities, chosen), torch.tensor(1.0, dtype=torch.float64))
    close(m.load_balance_loss(probabilities, chosen, False), torch.tensor(float(k), dtype=torch.float64))


def balance_pushes_the_busy_expert_down(m):
    """梯度只经过概率：常被选的专家分数的梯度为正（下降时变小），其余为负。"""
    logits = torch.tensor([[2.0, 0.0, 0.0]] * 5 + [[0.0, 1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    probabilities, _, chosen = m.route(logits, 1)
    (gradient,) = torch.autograd.grad(m.load_balance_loss(probabilities, chosen), logits)
    assert (gradient[:, 0] > 0).all() and (gradient[:, 1:].sum(-1) < 0).all()


@torch.no_grad()
def tokens_do_not_mix_without_capacity(m, seed=0):
    """不限容量：改动一个词元，其余词元的输出一位不差。"""
    moe = make_moe(m, seed=seed)
    x = torch.randn(2, 5, 6, generator=generator(seed), dtype=torch.float64)
    before = moe(x)
    for t in range(5):
        changed = x.clone()
        changed[0, t] += 1.0
        after = moe(changed)
        others = torch.ones(2, 5, dtype=torch.bool)
        others[0, t] = False
        close(after[others], before[others])
        assert not torch.equal(after[0, t], before[0, t])
