"""要用 PyTorch 作参照的检查：每个都接受一个模块（原版或改坏的版本），不成立就断言失败。

同一个检查用在两处：原版在随机的尺寸上必须通过；改坏的版本在缺省的尺寸上必须失败。
相等都在 float64 里比较，所以容差可以很紧，也不随机器变化。
"""

import torch
import torch.nn.functional as F
from single_checks import random_rows


def close(actual, expected, atol=1e-10, rtol=1e-10):
    """torch.testing.assert_close，缺省容差 1e-10；NaN 不等于 NaN。"""
    torch.testing.assert_close(actual, expected, atol=atol, rtol=rtol)


def visible(T, past):
    """因果掩码的定义：第 i 个新词元在位置 past + i，看得见位置不大于它的键；布尔 [T, past + T]。"""
    return torch.arange(past + T)[None, :] <= past + torch.arange(T)[:, None]


# ---- single_head_attention.py：m.attention ----


def single_equals_sdpa(m, Tq=3, Tk=5, D=4, Dv=2, causal=True, seed=0):
    """输出与 F.scaled_dot_product_attention 相同；掩码显式给出，因为 is_causal 对齐开头。"""
    queries, keys, values = random_rows(seed, (Tq, D), (Tk, D), (Tk, Dv))
    _, _, output = m.attention(queries, keys, values, causal=causal)
    q, k, v = (torch.tensor(x, dtype=torch.float64)[None] for x in (queries, keys, values))
    mask = visible(Tq, Tk - Tq) if causal else None
    close(torch.tensor(output, dtype=torch.float64), F.scaled_dot_product_attention(q, k, v, attn_mask=mask)[0])


# ---- 03-attention-demo.py ----


def rms_norm_equals_reference(m, width=6, seed=0):
    """与 F.rms_norm 相同，weight 随机；eps 可以忽略时，输入放大多少倍输出都不变。"""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(3, width, generator=g, dtype=torch.float64)
    norm = m.SimpleRMSNorm(width).double()
    with torch.no_grad():
        norm.weight.copy_(torch.rand(width, generator=g) + 0.5)
    close(norm(x), F.rms_norm(x, (width,), norm.weight, 1e-6))
    close(norm(x * 1e6), norm(x * 1e9), atol=1e-6, rtol=1e-6)


def rms_norm_survives_fp16(m):
    """fp16 里 300 的平方溢出；平方在 fp32 里取，结果是 1。"""
    y = m.SimpleRMSNorm(4)(torch.full((1, 4), 300.0, dtype=torch.float16))
    assert y.dtype == torch.float16 and torch.equal(y, torch.ones(1, 4, dtype=torch.float16))


def rope(x, position, rope_base=10000.0):
    """RoPE 的定义，写成复数乘法；x [..., T, heads, D]，position [T]，前后两半配对。"""
    D = x.shape[-1]
    theta = rope_base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angle = position.double()[:, None, None] * theta
    z = torch.complex(*x.double().chunk(2, dim=-1)) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], dim=-1)


def rope_equals_complex(m, B=2, T=5, H=3, Hkv=2, D=6, rope_base=10000.0, start=0, seed=0):
    """旋转后的 Q、K 与复数乘法的结果相同。"""
    g = torch.Generator().manual_seed(seed)
    q = torch.randn(B, T, H, D, generator=g, dtype=torch.float64)
    k = torch.randn(B, T, Hkv, D, generator=g, dtype=torch.float64)
    cos, sin = m.precompute_freqs_cis(D, start + T, rope_base, dtype=torch.float64)
    position = torch.arange(start, start + T)
    q_rot, k_rot = m.apply_rotary_pos_emb(q, k, cos[start:], sin[start:])
    close(q_rot, rope(q, position, rope_base))
    close(k_rot, rope(k, position, rope_base))


def rope_keeps_norm(m, T=9, D=8, seed=0):
    """位置 0 不动；每个位置都保持长度。"""
    q, k = torch.randn(2, 1, T, 2, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    cos, sin = m.precompute_freqs_cis(D, T, dtype=torch.float64)
    q_rot, k_rot = m.apply_rotary_pos_emb(q, k, cos, sin)
    assert torch.equal(q_rot[:, 0], q[:, 0]) and torch.equal(k_rot[:, 0], k[:, 0])
    close(q_rot.norm(dim=-1), q.norm(dim=-1))
    close(k_rot.norm(dim=-1), k.norm(dim=-1))


def rope_is_relative(m, D=8, positions=(3, 1, 11), seed=0):
    """两个不同的随机向量：一起平移任意距离，内积不变；改变偏移，内积改变。"""
    m_pos, n_pos, shift = positions
    end = max(m_pos, n_pos) + shift + 1
    q, k = torch.randn(2, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    cos, sin = m.precompute_freqs_cis(D, end, dtype=torch.float64)
    q_rot, k_rot = m.apply_rotary_pos_emb(q.expand(1, end, 1, D), k.expand(1, end, 1, D), cos, sin)
    product = q_rot[0, :, 0] @ k_rot[0, :, 0].T
    close(product[m_pos, n_pos], product[m_pos + shift, n_pos + shift])
    if shift:
        assert abs(product[m_pos, n_pos] - product[m_pos + shift, n_pos]) > 1e-9


def rope_table_is_accurate(m, D=8, end=5000):
    """远处的角度也准：fp32 表与 float64 的定义之差不超过舍入。"""
    cos, sin = m.precompute_freqs_cis(D, end)
    assert cos.dtype == sin.dtype == torch.float32 and cos.shape == sin.shape == (end, D)
    angle = torch.outer(torch.arange(end).double(), 10000.0 ** (-torch.arange(0, D, 2).double() / D)).repeat(1, 2)
    close(cos.double(), angle.cos(), atol=1e-7, rtol=0)
    close(sin.double(), angle.sin(), atol=1e-7, rtol=0)


def repeat_kv_equals_repeat_interleave(m, B=2, S=3, Hkv=2, D=4, n_rep=3):
    """与 repeat_interleave 相同：同一个 KV 头的副本相邻。"""
    x = torch.arange(B * S * Hkv * D).view(B, S, Hkv, D)
    assert torch.equal(m.repeat_kv(x, n_rep), x.repeat_interleave(n_rep, dim=2))


def keep_mask_follows_positions(m, T=3, past=4):
    """掩码逐位与位置的比较相同。"""
    keep = m.keep_mask(T, past)
    assert keep.dtype == torch.bool and torch.equal(keep, visible(T, past))


def softmax_rows_sum_to_one(m, T=3, past=4, seed=0):
    """每行和为 1；看不见的恰为 0；其余等于只在看得见的键上做 softmax。"""
    scores = torch.randn(2, T, past + T, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * 10
    weights = m.masked_softmax(scores, visible(T, past))
    close(weights.sum(-1), torch.ones(2, T, dtype=torch.float64))
    for i in range(T):
        assert torch.equal(weights[:, i, past + i + 1 :], torch.zeros(2, T - i - 1, dtype=torch.float64))
        close(weights[:, i, : past + i + 1], scores[:, i, : past + i + 1].softmax(-1))


def make_attention(m, C=12, H=4, Hkv=2, D=6, seed=0, dtype=torch.float64, norm_weight="random"):
    """随机权重的 SimpleAttention；两个 QK-Norm 的 weight 也随机，否则有些错看不出来。"""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        attn = m.SimpleAttention(C, H, Hkv, D)
        if norm_weight == "random":
            with torch.no_grad():
                attn.q_norm.weight.uniform_(0.5, 1.5)
                attn.k_norm.weight.uniform_(0.5, 1.5)
    return attn.to(dtype)


def make_x(B, T, C, seed=0, dtype=torch.float64):
    """随机输入 [B, T, C]。"""
    return torch.randn(B, T, C, generator=torch.Generator().manual_seed(seed + 1), dtype=torch.float64).to(dtype)


def in_chunks(attn, x, cos, sin, sizes):
    """带着缓存一块一块地算，返回 (拼起来的输出, 最后的缓存)；x.split 按 sizes 切。"""
    outputs, cache = [], None
    for chunk in x.split(sizes, dim=1):
        output, cache = attn(chunk, cos, sin, past_kv=cache, use_cache=True)
        outputs.append(output)
    return torch.cat(outputs, dim=1), cache


@torch.no_grad()
def attention_equals_sdpa(m, B=2, T=3, past=4, C=12, H=4, Hkv=2, D=6, seed=0, norm_weight="random"):
    """缓存 past 个词元之后再算 T 个，与 SDPA（显式掩码、repeat_interleave、复数旋转）相同。"""
    attn = make_attention(m, C, H, Hkv, D, seed, norm_weight=norm_weight)
    x = make_x(B, past + T, C, seed)
    cos, sin = m.precompute_freqs_cis(D, past + T + 1, dtype=torch.float64)
    cache = attn(x[:, :past], cos, sin, use_cache=True)[1] if past else None
    output, (cached_k, cached_v) = attn(x[:, past:], cos, sin, past_kv=cache, use_cache=True)

    q, k, v = (p(x).unflatten(-1, (-1, D)) for p in (attn.q_proj, attn.k_proj, attn.v_proj))
    q = rope(F.rms_norm(q, (D,), attn.q_norm.weight, 1e-6), torch.arange(past + T))
    k = rope(F.rms_norm(k, (D,), attn.k_norm.weight, 1e-6), torch.arange(past + T))
    close(cached_k, k)
    close(cached_v, v)
    k, v = (t.repeat_interleave(H // Hkv, dim=2).transpose(1, 2) for t in (k, v))
    heads = F.scaled_dot_product_attention(q[:, past:].transpose(1, 2), k, v, attn_mask=visible(T, past))
    close(output, attn.o_proj(heads.transpose(1, 2).flatten(2)))


@torch.no_grad()
def future_does_not_leak(m, B=2, T=5, C=12, H=4, Hkv=2, D=6, seed=0):
    """改动词元 t，t 之前的输出一位不差，t 自己的输出改变。"""
    attn = make_attention(m, C, H, Hkv, D, seed)
    cos, sin = m.precompute_freqs_cis(D, T, dtype=torch.float64)
    x = make_x(B, T, C, seed)
    before, _ = attn(x, cos, sin)
    for t in range(T):
        changed = x.clone()
        changed[:, t] += 1
        after, _ = attn(changed, cos, sin)
        assert torch.equal(after[:, :t], before[:, :t])
        assert not torch.equal(after[:, t], before[:, t])


@torch.no_grad()
def cached_equals_uncached(m, sizes=(3, 1, 2, 1), B=2, C=12, H=4, Hkv=2, D=6, seed=0):
    """按任意大小分块，带缓存的输出与一次算完的相同，缓存也相同。"""
    attn = make_attention(m, C, H, Hkv, D, seed)
    T = sum(sizes)
    cos, sin = m.precompute_freqs_cis(D, T, dtype=torch.float64)
    x = make_x(B, T, C, seed)
    whole, (k, v) = attn(x, cos, sin, use_cache=True)
    parts, (cached_k, cached_v) = in_chunks(attn, x, cos, sin, list(sizes))
    close(parts, whole)
    close(cached_k, k)
    close(cached_v, v)
    assert k.shape == (B, T, Hkv, D)


@torch.no_grad()
def dtype_is_kept(m, dtype=torch.bfloat16, tolerance=0.05):
    """输入是什么 dtype，输出、缓存、每个中间函数的结果就是什么 dtype；数值与 float64 相近。"""
    x = make_x(2, 7, 12)
    cos, sin = m.precompute_freqs_cis(6, 7)
    q = x.view(2, 7, 2, 6).to(dtype)
    assert m.SimpleRMSNorm(6).to(dtype)(q).dtype == dtype
    assert [t.dtype for t in m.apply_rotary_pos_emb(q, q, cos, sin)] == [dtype, dtype]
    assert m.masked_softmax(x.to(dtype), torch.ones(7, 12, dtype=torch.bool)).dtype == dtype

    output, cache = in_chunks(make_attention(m, dtype=dtype), x.to(dtype), cos, sin, [4, 1, 2])
    assert output.dtype == cache[0].dtype == cache[1].dtype == dtype
    exact, _ = make_attention(m)(x, cos.double(), sin.double())
    close(output.double(), exact, atol=tolerance, rtol=0)


# ---- multi_head_shapes.py ----


def split_follows_channels(m, B=2, T=5, H=3, D=4):
    """第 h 个头就是通道 h * D 到 (h + 1) * D - 1。"""
    x = torch.arange(B * T * H * D).view(B, T, H * D)
    heads = m.split_heads(x, H)
    assert heads.shape == (B, H, T, D)
    for h in range(H):
        assert torch.equal(heads[:, h], x[:, :, h * D : (h + 1) * D])


def merge_follows_channels(m, B=2, T=5, H=3, D=4):
    """第 t 行是各头第 t 行首尾相接。"""
    heads = torch.arange(B * H * T * D).view(B, H, T, D)
    merged = m.merge_heads(heads)
    assert torch.equal(merged, torch.cat(heads.unbind(dim=1), dim=-1))


def make_multi_head(m, C, H, causal, seed):
    """随机权重的 MultiHeadAttention，float64。"""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return m.MultiHeadAttention(C, H, causal=causal).double()


@torch.no_grad()
def multi_head_equals_torch(m, B=2, T=5, H=3, D=4, causal=True, seed=0):
    """与 nn.MultiheadAttention（同样的权重）相同，输出与每个头的权重都相同；它的掩码 True 表示屏蔽。"""
    C = H * D
    attn = make_multi_head(m, C, H, causal, seed)
    torch_attn = torch.nn.MultiheadAttention(C, H, bias=False, batch_first=True, dtype=torch.float64)
    torch_attn.in_proj_weight.copy_(torch.cat([attn.q_proj.weight, attn.k_proj.weight, attn.v_proj.weight]))
    torch_attn.out_proj.weight.copy_(attn.o_proj.weight)
    x = make_x(B, T, C, seed)
    drop = ~visible(T, 0) if causal else None
    expected, expected_weights = torch_attn(x, x, x, attn_mask=drop, average_attn_weights=False)
    output, steps = attn(x, return_steps=True)
    close(output, expected)
    close(attn(x), expected)
    close(steps["weights"], expected_weights)


@torch.no_grad()
def multi_head_future_does_not_leak(m, T=5, seed=0):
    """改动词元 t，t 之前的输出一位不差。"""
    attn = make_multi_head(m, 12, 3, True, seed)
    x = make_x(2, T, 12, seed)
    before = attn(x)
    for t in range(T):
        changed = x.clone()
        changed[:, t] += 1
        after = attn(changed)
        assert torch.equal(after[:, :t], before[:, :t])
        assert not torch.equal(after[:, t], before[:, t])


@torch.no_grad()
def multi_head_steps_have_shapes(m, B=2, T=5, H=3, D=4):
    """每个中间量的 shape 与它声明的各维一致，尺寸各不相同。"""
    C = H * D
    attn = make_multi_head(m, C, H, True, 0)
    _, steps = attn(make_x(B, T, C), return_steps=True)
    sizes = {"B": B, "T": T, "Tq": T, "Tk": T, "C": C, "H": H, "D": D}
    assert list(steps) == list(m.AXES)
    for name, tensor in steps.items():
        assert list(tensor.shape) == [sizes[axis] for axis in m.AXES[name].split(", ")], name
