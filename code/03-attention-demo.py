"""第 3 章 注意力机制：从 RMSNorm 到带键值缓存的分组查询注意力，七个例子逐条验证。

按出现的顺序读，每个定义只用到它上面的定义：
  SimpleRMSNorm            按均方根缩放；用在 Q 和 K 上就是 QK-Norm
  precompute_freqs_cis     旋转位置编码（RoPE）的 cos、sin 表
  apply_rotary_pos_emb     按位置旋转 Q 和 K
  repeat_kv                一个 KV 头给几个查询头共用（GQA）
  keep_mask                因果掩码：True 表示看得见
  masked_softmax           先屏蔽，再 softmax
  SimpleAttention          把上面六步接起来，可以带着键值缓存（KV Cache）往下算
  reference_attention      同一个结果的另一种写法，由 PyTorch 自带的函数拼成
  example_1 到 example_7   每个例子声明一件事，用断言证明它，再打印 shape

记号：B = batch，T = 这次送进来的词元数，past = 缓存里已有的词元数，S = past + T，
C = hidden_size，H = n_heads（查询头数），Hkv = n_kv_heads，D = head_dim。
SimpleRMSNorm、precompute_freqs_cis、apply_rotary_pos_emb、repeat_kv、SimpleAttention，以及缓存的布局
[B, S, Hkv, D]，与 MiniMind 的 model_minimind.py 对应；掩码与 softmax 在那里写在 Attention 的 forward 里。

运行：python 03-attention-demo.py（需要 torch，CPU 就够）
"""

# --8<-- [start:imports]
import math

import torch
import torch.nn.functional as F
from torch import nn

# --8<-- [end:imports]

# --8<-- [start:checks]
def check_positive(**sizes):
    """要求每个具名参数都是正整数，否则抛出 ValueError。"""
    for name, size in sizes.items():
        if type(size) is not int or size < 1:
            raise ValueError(f"{name} 应是正整数，得到 {size!r}")


def check_even(head_dim):
    """要求 head_dim 是偶数：RoPE 把通道两两配对；否则抛出 ValueError。"""
    if head_dim % 2:
        raise ValueError(f"head_dim = {head_dim} 是奇数：RoPE 要把通道两两配对")


def at_least_fp32(x):
    """bf16、fp16 升到 fp32，fp32、fp64 不变：平方和与 softmax 的分母用它来算。"""
    return x.to(torch.promote_types(x.dtype, torch.float32))
# --8<-- [end:checks]


# --8<-- [start:rms_norm]
class SimpleRMSNorm(nn.Module):
    """把最后一维除以它的均方根，再逐通道乘可学习的 weight：[..., dim] -> [..., dim]。

    y = x / sqrt(mean(x * x) + eps) * weight。与 LayerNorm 不同：不减均值，也没有偏置。
    来源：Zhang 与 Sennrich，Root Mean Square Layer Normalization，2019，式 (4)；eps 是实现时加的。

    Raises:
        ValueError: dim 不是正整数；输入的最后一维不是 dim。
    """

    def __init__(self, dim, eps=1e-6):
        super().__init__()
        check_positive(dim=dim)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))  # [dim]

    def forward(self, x):
        dim = self.weight.shape[0]
        if x.shape[-1] != dim:
            raise ValueError(f"RMSNorm 的宽度是 {dim}，输入是 {list(x.shape)}：最后一维应是 {dim}")
        wide = at_least_fp32(x)  # [..., dim]；fp16 里 300 的平方已经溢出
        rms = torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)  # [..., 1]
        return (wide / rms * self.weight).to(x.dtype)  # [..., dim]
# --8<-- [end:rms_norm]


# --8<-- [start:precompute_freqs_cis]
def precompute_freqs_cis(head_dim, end, rope_base=10000.0, dtype=torch.float32):
    """位置 0 到 end - 1 的旋转角的余弦与正弦：返回 (cos, sin)，都是 [end, head_dim]。

    第 i 对通道在位置 m 转过 m * theta_i，theta_i = rope_base ** (-2i / head_dim)。
    配对是前后两半：通道 i 与通道 i + head_dim / 2 是一对，所以两半的表相同。
    表的精度不低于 fp32：角度若用 bf16 计算，相邻的大位置会分不开。
    来源：Su 等，RoFormer，2021，3.2.2 节。论文把相邻的通道配对，前后两半是 GPT-NeoX 以来的写法。

    Raises:
        ValueError: head_dim 或 end 不是正整数；head_dim 是奇数；rope_base 不是有限的正数。
    """
    check_positive(head_dim=head_dim, end=end)
    check_even(head_dim)
    if not 0 < rope_base < math.inf:
        raise ValueError(f"rope_base 应是有限的正数，得到 {rope_base}")
    exponent = torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim  # [D/2]
    theta = rope_base**-exponent  # [D/2]，从 1 递减
    position = torch.arange(end, dtype=torch.float64)  # [end]
    angle = torch.outer(position, theta)  # [end, D/2]
    angle = torch.cat([angle, angle], dim=-1)  # [end, D]
    dtype = torch.promote_types(dtype, torch.float32)
    return angle.cos().to(dtype), angle.sin().to(dtype)  # [end, D]，[end, D]
# --8<-- [end:precompute_freqs_cis]


# --8<-- [start:apply_rotary_pos_emb]
def rotate_half(x):
    """前后两半 (a, b) 变成 (-b, a)，即每一对通道转 90 度：[..., D] -> [..., D]。"""
    a, b = x.chunk(2, dim=-1)  # [..., D/2]，[..., D/2]
    return torch.cat([-b, a], dim=-1)  # [..., D]


def apply_rotary_pos_emb(q, k, cos, sin):
    """按位置旋转 q [B, T, H, D] 与 k [B, T, Hkv, D]，返回同样 shape、同样 dtype 的 (q, k)。

    cos、sin 是 [T, D]：第 t 行属于 q、k 的第 t 个词元，由调用者从整张表里切好。
    每一对通道 (a, b) 变成 (a cos - b sin, b cos + a sin)。
    来源：Su 等，RoFormer，2021，3.4.2 节式 (34)。

    Raises:
        ValueError: q、k 不是四维，长度或 head_dim 不同；head_dim 是奇数；cos、sin 不是 [T, D]。
    """
    for name, x in (("q", q), ("k", k)):
        if x.dim() != 4:
            raise ValueError(f"{name} 是 {list(x.shape)}，应是四维 [batch, seq, heads, head_dim]")
    _, T, _, D = q.shape
    if (k.shape[1], k.shape[3]) != (T, D):
        raise ValueError(f"q 是 {list(q.shape)}，k 是 {list(k.shape)}：seq 与 head_dim 应相同")
    check_even(D)
    for name, table in (("cos", cos), ("sin", sin)):
        if table.shape != (T, D):  # 只有一行的表会被悄悄广播，所以必须恰好是 T 行
            raise ValueError(f"{name} 是 {list(table.shape)}，应是 [{T}, {D}]：每个词元一行")
    cos, sin = cos[:, None, :], sin[:, None, :]  # [T, 1, D]，在头的维度上广播

    def rotate(x):
        return (x * cos + rotate_half(x) * sin).to(x.dtype)  # [B, T, heads, D]

    return rotate(q), rotate(k)
# --8<-- [end:apply_rotary_pos_emb]


# --8<-- [start:repeat_kv]
def repeat_kv(x, n_rep):
    """每个 KV 头连续重复 n_rep 次：[B, S, Hkv, D] -> [B, S, Hkv * n_rep, D]。

    输出的第 h 个头来自第 h // n_rep 个 KV 头：顺序是 0, 0, 1, 1，不是 0, 1, 0, 1。
    来源：Ainslie 等，GQA，2023，2.2 节（一组查询头共用一个 KV 头）。

    Raises:
        ValueError: x 不是四维；n_rep 不是正整数。
    """
    check_positive(n_rep=n_rep)
    if x.dim() != 4:
        raise ValueError(f"x 是 {list(x.shape)}，应是四维 [batch, seq, n_kv_heads, head_dim]")
    B, S, Hkv, D = x.shape
    x = x[:, :, :, None, :].expand(B, S, Hkv, n_rep, D)  # [B, S, Hkv, n_rep, D]，不复制数据
    return x.reshape(B, S, Hkv * n_rep, D)  # [B, S, H, D]
# --8<-- [end:repeat_kv]


# --8<-- [start:keep_mask]
def keep_mask(T, past=0, device=None):
    """T 个新词元对 past + T 个键的因果掩码，布尔 [T, S]，True 表示看得见。

    掩码对齐末尾：第 i 个新词元在位置 past + i，看得见位置 0 到 past + i。
    来源：Vaswani 等，Attention Is All You Need，2017，3.2.3 节。
    """
    return torch.ones(T, past + T, dtype=torch.bool, device=device).tril(past)  # [T, S]
# --8<-- [end:keep_mask]


# --8<-- [start:masked_softmax]
def masked_softmax(scores, keep):
    """对最后一维做 softmax，keep 为 False 的位置权重恰为 0：[..., T, S] -> [..., T, S]。

    分母在至少 fp32 里求和，结果转回 scores 的 dtype。

    Raises:
        ValueError: keep 不是布尔张量；某一行没有合法的键（softmax 会给出 NaN）。
    """
    if keep.dtype != torch.bool:  # 0/1 的浮点掩码若被加到分数上，什么也没屏蔽
        raise ValueError(f"keep 应是布尔张量（True 表示看得见），得到 {keep.dtype}")
    empty = (~keep).all(dim=-1)  # [..., T]
    if empty.any():
        row = ", ".join(map(str, empty.nonzero()[0].tolist()))
        raise ValueError(f"keep[{row}] 没有合法的键：掩码是 {list(keep.shape)}，这一行全是 False，权重无从分配")
    wide = at_least_fp32(scores).masked_fill(~keep, -math.inf)  # [..., T, S]
    return wide.softmax(dim=-1).to(scores.dtype)  # [..., T, S]
# --8<-- [end:masked_softmax]


# --8<-- [start:simple_attention]
class SimpleAttention(nn.Module):
    """因果的分组查询注意力：x [B, T, C] -> output [B, T, C]，可选键值缓存。

    顺序：投影并拆头 -> QK-Norm -> RoPE -> 接上缓存 -> repeat_kv -> 分数 -> 掩码与 softmax -> 合并头。
    缓存里放的是已归一化、已旋转、还没有重复的 K 和原样的 V：(k, v)，各为 [B, S, Hkv, D]。
    来源：Vaswani 等，Attention Is All You Need，2017，3.2 节；Ainslie 等，GQA，2023，2.2 节；
    QK-Norm：Henry 等，2020，用 L2 归一化；Dehghani 等，2023，第 2 节，用 LayerNorm；这里用 RMSNorm。

    Raises:
        ValueError: 尺寸不是正整数；n_heads 不能被 n_kv_heads 整除；head_dim 是奇数。
    """

    def __init__(self, hidden_size=16, n_heads=4, n_kv_heads=2, head_dim=8):
        super().__init__()
        check_positive(hidden_size=hidden_size, n_heads=n_heads, n_kv_heads=n_kv_heads, head_dim=head_dim)
        if n_heads % n_kv_heads:
            raise ValueError(f"n_heads = {n_heads} 不能被 n_kv_heads = {n_kv_heads} 整除")
        check_even(head_dim)
        self.hidden_size, self.head_dim = hidden_size, head_dim
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.n_rep = n_heads // n_kv_heads  # 每个 KV 头服务 n_rep 个查询头
        self.q_proj = nn.Linear(hidden_size, n_heads * head_dim, bias=False)  # C -> H * D
        self.k_proj = nn.Linear(hidden_size, n_kv_heads * head_dim, bias=False)  # C -> Hkv * D
        self.v_proj = nn.Linear(hidden_size, n_kv_heads * head_dim, bias=False)  # C -> Hkv * D
        self.o_proj = nn.Linear(n_heads * head_dim, hidden_size, bias=False)  # H * D -> C
        self.q_norm = SimpleRMSNorm(head_dim)  # 每个头各自归一化，weight 由所有头共用
        self.k_norm = SimpleRMSNorm(head_dim)

    def project(self, x):
        """x [B, T, C] -> q [B, T, H, D]，k 与 v [B, T, Hkv, D]：投影，再把最后一维拆成头。"""
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, self.n_heads, self.head_dim)  # [B, T, H, D]
        k = self.k_proj(x).view(B, T, self.n_kv_heads, self.head_dim)  # [B, T, Hkv, D]
        v = self.v_proj(x).view(B, T, self.n_kv_heads, self.head_dim)  # [B, T, Hkv, D]
        return q, k, v

    def forward(self, x, cos, sin, past_kv=None, use_cache=False):
        """返回 (output [B, T, C], past_kv)；use_cache=False 时 past_kv 是 None。

        cos、sin 是整张表 [end, D]：词元的位置接在缓存之后，这里切出 past 到 past + T - 1 行。

        Raises:
            ValueError: x 不是 [B, T, C] 或 T = 0；位置超出表；缓存的 shape 或 dtype 对不上。
        """
        past = 0 if past_kv is None else past_kv[0].shape[1]
        self.check_inputs(x, cos, sin, past)
        B, T, _ = x.shape
        q, k, v = self.project(x)  # [B, T, H, D]，[B, T, Hkv, D]，[B, T, Hkv, D]
        q, k = self.q_norm(q), self.k_norm(k)  # shape 不变
        q, k = apply_rotary_pos_emb(q, k, cos[past : past + T], sin[past : past + T])  # shape 不变
        if past_kv is not None:
            self.check_cache(past_kv, k, v, past)
            k = torch.cat([past_kv[0], k], dim=1)  # [B, S, Hkv, D]，缓存里的 K 已经转过，不再旋转
            v = torch.cat([past_kv[1], v], dim=1)  # [B, S, Hkv, D]
        new_kv = (k, v) if use_cache else None

        q = q.transpose(1, 2)  # [B, H, T, D]
        k = repeat_kv(k, self.n_rep).transpose(1, 2)  # [B, H, S, D]
        v = repeat_kv(v, self.n_rep).transpose(1, 2)  # [B, H, S, D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)  # [B, H, T, S]
        weights = masked_softmax(scores, keep_mask(T, past, x.device))  # [B, H, T, S]
        heads = (weights @ v).transpose(1, 2)  # [B, T, H, D]
        return self.o_proj(heads.reshape(B, T, self.n_heads * self.head_dim)), new_kv  # [B, T, C]

    def check_inputs(self, x, cos, sin, past):
        """核对 x [B, T, C] 与两张表 [end, D]，要求 past + T 不超过 end；否则抛出 ValueError。"""
        if x.dim() != 3 or x.shape[2] != self.hidden_size:
            raise ValueError(f"x 是 {list(x.shape)}，应是 [batch, seq, {self.hidden_size}]")
        T = x.shape[1]
        if T == 0:
            raise ValueError(f"x 是 {list(x.shape)}：序列是空的，至少要有 1 个词元")
        for name, table in (("cos", cos), ("sin", sin)):
            if table.dim() != 2 or table.shape[1] != self.head_dim:
                raise ValueError(f"{name} 表是 {list(table.shape)}，应是 [end, {self.head_dim}]")
            if past + T > table.shape[0]:
                raise ValueError(
                    f"位置 {past + T - 1} 超出 RoPE 表：缓存有 {past} 个词元，新来 {T} 个，"
                    f"而 {name} 表只有 {table.shape[0]} 行"
                )

    def check_cache(self, past_kv, k, v, past):
        """核对缓存 (k, v) 各为 [B, past, Hkv, D]、dtype 与新的 k、v 相同；否则抛出 ValueError。"""
        expected = [k.shape[0], past, self.n_kv_heads, self.head_dim]
        for name, old, new in (("K", past_kv[0], k), ("V", past_kv[1], v)):
            if list(old.shape) != expected:
                raise ValueError(f"缓存的 {name} 是 {list(old.shape)}，应是 {expected}")
            if old.dtype != new.dtype:
                raise ValueError(f"缓存的 {name} 是 {old.dtype}，新算出的 {name} 是 {new.dtype}")
# --8<-- [end:simple_attention]


# --8<-- [start:reference]
def reference_attention(attn, x, rope_base=10000.0):
    """用 PyTorch 自带的函数重算 attn 的输出，不用上面任何一个定义：x [B, T, C] -> [B, T, C]。

    RMSNorm 用 F.rms_norm，旋转用复数乘法，重复用 repeat_interleave，其余交给 SDPA。
    没有缓存时 Tq = Tk，is_causal=True 对齐开头与对齐末尾是一回事。
    """
    B, T, _ = x.shape
    D = attn.head_dim
    q = attn.q_proj(x).view(B, T, -1, D)  # [B, T, H, D]
    k = attn.k_proj(x).view(B, T, -1, D)  # [B, T, Hkv, D]
    v = attn.v_proj(x).view(B, T, -1, D)  # [B, T, Hkv, D]
    q = F.rms_norm(q, (D,), attn.q_norm.weight, attn.q_norm.eps)  # [B, T, H, D]
    k = F.rms_norm(k, (D,), attn.k_norm.weight, attn.k_norm.eps)  # [B, T, Hkv, D]
    theta = rope_base ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)  # [D/2]
    angle = torch.outer(torch.arange(T, dtype=torch.float64), theta).to(x.dtype)  # [T, D/2]
    turn = torch.polar(torch.ones_like(angle), angle)[:, None, :]  # [T, 1, D/2]，复数 exp(i * angle)

    def rotate(z):
        z = torch.complex(*z.chunk(2, dim=-1)) * turn  # [B, T, heads, D/2]
        return torch.cat([z.real, z.imag], dim=-1)  # [B, T, heads, D]

    q = rotate(q).transpose(1, 2)  # [B, H, T, D]
    k = rotate(k).repeat_interleave(attn.n_rep, dim=2).transpose(1, 2)  # [B, H, T, D]
    v = v.repeat_interleave(attn.n_rep, dim=2).transpose(1, 2)  # [B, H, T, D]
    heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # [B, H, T, D]
    return attn.o_proj(heads.transpose(1, 2).reshape(B, T, -1))  # [B, T, C]
# --8<-- [end:reference]


# --8<-- [start:show]
def show(name, tensor, axes):
    """打印一个张量的 shape，以及每一维的名字。"""
    assert tensor.dim() == len(axes.split(", "))
    print(f"  {name}: {list(tensor.shape)} = [{axes}]")
# --8<-- [end:show]


# --8<-- [start:example_1]
def example_1_projection():
    """投影之后拆头：Q 有 4 个头，K、V 只有 2 个；每个头是输出里连续的 8 个通道。"""
    print("例 1  Q/K/V 投影与拆头")
    torch.manual_seed(1)
    attn = SimpleAttention(hidden_size=16, n_heads=4, n_kv_heads=2, head_dim=8)
    x = torch.randn(2, 5, 16)  # [B, T, C]
    q, k, v = attn.project(x)  # [B, T, H, D]，[B, T, Hkv, D]，[B, T, Hkv, D]

    assert q.shape == (2, 5, 4, 8) and k.shape == v.shape == (2, 5, 2, 8)
    assert torch.equal(q[:, :, 1], attn.q_proj(x)[:, :, 8:16])  # 头 1 = 通道 8 到 15
    show("x", x, "batch, seq, hidden")
    show("Q", q, "batch, seq, n_heads, head_dim")
    show("K", k, "batch, seq, n_kv_heads, head_dim")
    show("V", v, "batch, seq, n_kv_heads, head_dim")
    for head in range(attn.n_kv_heads):
        served = [h for h in range(attn.n_heads) if h // attn.n_rep == head]
        assert len(served) == attn.n_rep == 2
        print(f"  KV 头 {head} 服务查询头 {served}")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_repeat_kv():
    """repeat_kv 把每个 KV 头连着放 n_rep 份；平铺会把查询头配给别组的 KV 头，shape 却一样。"""
    print("例 2  repeat_kv：两个查询头共用一个 KV 头")
    kv = torch.arange(2.0).view(1, 1, 2, 1).expand(2, 5, 2, 8)  # [B, S, Hkv, D]，第 h 个头全是 h
    repeated = repeat_kv(kv, 2)  # [B, S, H, D]
    tiled = kv.repeat(1, 1, 2, 1)  # [B, S, H, D]，反例

    assert repeated.shape == tiled.shape == (2, 5, 4, 8)
    assert torch.equal(repeated, kv.repeat_interleave(2, dim=2))
    sources = repeated[0, 0, :, 0].int().tolist()
    wrong = tiled[0, 0, :, 0].int().tolist()
    assert sources == [0, 0, 1, 1] and wrong == [0, 1, 0, 1]
    show("重复前", kv, "batch, seq, n_kv_heads, head_dim")
    show("重复后", repeated, "batch, seq, n_heads, head_dim")
    print(f"  查询头 0 到 3 用的 KV 头：{sources}")
    print(f"  若改成平铺：{wrong}，查询头 1 和 2 拿错了 KV 头")
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_rope():
    """RoPE 是旋转：位置 0 不动，每个位置都保持长度，内积只取决于位置之差。"""
    print("例 3  RoPE：旋转不改变长度，内积只看相对位置")
    cos, sin = precompute_freqs_cis(head_dim=8, end=16)  # [16, D]，[16, D]
    q = torch.tensor([1.0, 2.0, 3.0, 4.0, 4.0, 3.0, 2.0, 1.0])  # [D]
    k = torch.tensor([2.0, -1.0, 0.5, 1.0, 1.0, 3.0, -2.0, 0.5])  # [D]，与 q 不同
    q_all, k_all = (x.expand(1, 16, 1, 8) for x in (q, k))  # 同一个向量放在 16 个位置上
    q_rot, k_rot = (x[0, :, 0] for x in apply_rotary_pos_emb(q_all, k_all, cos, sin))  # [16, D]，[16, D]

    assert torch.equal(q_rot[0], q)
    torch.testing.assert_close(q_rot.norm(dim=-1), q.norm().expand(16), atol=1e-5, rtol=0)
    products = q_rot @ k_rot.T  # [16, 16]，第 m 行第 n 列是位置 m 的 q 与位置 n 的 k 的内积
    for offset in range(-15, 16):
        same_offset = products.diagonal(-offset)  # [16 - |offset|]，m - n = offset 的全部组合
        torch.testing.assert_close(same_offset, same_offset[:1].expand_as(same_offset), atol=1e-4, rtol=0)
    show("cos", cos, "position, head_dim")
    show("sin", sin, "position, head_dim")
    print("  位置 0 旋转后与原向量相等：成立")
    print("  16 个位置的长度与原向量之差 < 1e-5：成立")
    print("  31 种偏移，同一偏移的内积彼此之差 < 1e-4：成立")
    for offset in (0, 1, 3, 7):
        print(f"  偏移 m - n = {offset}：内积 {products[offset, 0].item():.3f}")
# --8<-- [end:example_3]


# --8<-- [start:example_4]
def example_4_causal_mask():
    """分数全为 0 时，第 i 行把权重平分给看得见的 i + 1 个键；未来的权重恰为 0。"""
    print("例 4  因果掩码：每一行只在看得见的键之间分配")
    scores = torch.zeros(5, 5)  # [T, S]
    weights = masked_softmax(scores, keep_mask(5))  # [T, S]

    assert torch.equal(weights.triu(1), torch.zeros(5, 5))
    for i in range(5):
        torch.testing.assert_close(weights[i, : i + 1], torch.full((i + 1,), 1 / (i + 1)))
    show("权重", weights, "query, key")
    for row in weights.tolist():
        print("  " + "  ".join(f"{w:.4f}" for w in row))
    print("  上三角恰好全是 0：成立")
# --8<-- [end:example_4]


# --8<-- [start:example_5]
def example_5_full_forward():
    """完整的一次前向，与 PyTorch 自带函数拼成的参考实现一致。"""
    print("例 5  完整前向：QK-Norm、RoPE、GQA、掩码、softmax、输出投影")
    torch.manual_seed(5)
    attn = SimpleAttention()
    cos, sin = precompute_freqs_cis(head_dim=8, end=16)  # [16, D]，[16, D]
    x = torch.randn(2, 6, 16)  # [B, T, C]
    output, (k, v) = attn(x, cos, sin, use_cache=True)  # [B, T, C]，([B, S, Hkv, D], [B, S, Hkv, D])

    assert output.shape == (2, 6, 16) and k.shape == v.shape == (2, 6, 2, 8)
    torch.testing.assert_close(output, reference_attention(attn, x), atol=1e-5, rtol=0)
    show("x", x, "batch, seq, hidden")
    show("output", output, "batch, seq, hidden")
    show("缓存的 K", k, "batch, seq, n_kv_heads, head_dim")
    show("缓存的 V", v, "batch, seq, n_kv_heads, head_dim")
    print("  与参考实现的最大误差 < 1e-5：成立")
# --8<-- [end:example_5]


# --8<-- [start:example_6]
def example_6_prefill_decode():
    """预填充一次写入 4 个词元，之后每步解码只算 1 个，缓存逐步变长。"""
    print("例 6  预填充 4 个词元，再解码 3 步")
    torch.manual_seed(6)
    attn = SimpleAttention()
    cos, sin = precompute_freqs_cis(head_dim=8, end=16)  # [16, D]，[16, D]
    x = torch.randn(2, 7, 16)  # [B, T, C]
    output, cache = attn(x[:, :4], cos, sin, use_cache=True)  # [B, 4, C]
    lengths = [cache[0].shape[1]]
    show("预填充后的缓存", cache[0], "batch, seq, n_kv_heads, head_dim")
    for t in range(4, 7):
        output, cache = attn(x[:, t : t + 1], cos, sin, past_kv=cache, use_cache=True)  # [B, 1, C]
        assert output.shape == (2, 1, 16)
        lengths.append(cache[0].shape[1])
    show("解码 3 步后的缓存", cache[0], "batch, seq, n_kv_heads, head_dim")
    assert lengths == [4, 5, 6, 7]
    print(f"  缓存长度：{lengths}")

    # 第 t 步：有缓存时 1 个查询对 t 个键；没有缓存就要把 t 个查询对 t 个键整个重算。
    T = 128
    cached = sum(t for t in range(1, T + 1))
    uncached = sum(t * t for t in range(1, T + 1))
    assert cached == T * (T + 1) // 2 and uncached == T * (T + 1) * (2 * T + 1) // 6
    print("  每步的投影与 t 无关，是 O(1)；每步的注意力要读 t 个键，是 O(t)")
    print(f"  逐个生成 {T} 个词元，每层每头算的分数：有缓存 {cached} 个，没有缓存 {uncached} 个")
# --8<-- [end:example_6]


# --8<-- [start:example_7]
def example_7_cache_is_exact():
    """有缓存与没有缓存算的是同一件事：逐个送、分块送都一致；改动词元 t 不影响它之前的输出。"""
    print("例 7  缓存不改变结果，未来不影响过去")
    torch.manual_seed(7)
    attn = SimpleAttention()
    cos, sin = precompute_freqs_cis(head_dim=8, end=16)  # [16, D]，[16, D]
    x = torch.randn(2, 7, 16)  # [B, T, C]
    whole, _ = attn(x, cos, sin)  # [B, T, C]
    for name, sizes in (("逐个 1 x 7", [1] * 7), ("分块 3 + 4", [3, 4]), ("分块 4 + 1 + 1 + 1", [4, 1, 1, 1])):
        parts, cache = [], None
        for chunk in x.split(sizes, dim=1):
            part, cache = attn(chunk, cos, sin, past_kv=cache, use_cache=True)  # [B, 块长, C]
            parts.append(part)
        torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=1e-5, rtol=0)
        print(f"  {name}: 与一次算完的最大误差 < 1e-5：成立")

    for t in range(7):
        changed = x.clone()  # [B, T, C]
        changed[:, t] += 1.0
        moved, _ = attn(changed, cos, sin)  # [B, T, C]
        assert torch.equal(moved[:, :t], whole[:, :t])  # 过去一位不差
        assert not torch.allclose(moved[:, t:], whole[:, t:])  # 现在与将来动了
    print("  依次改动 7 个词元，它之前的输出一位不差：成立")
    show("output", whole, "batch, seq, hidden")
# --8<-- [end:example_7]


# --8<-- [start:main]
@torch.no_grad()
def main():
    """按顺序运行七个例子。"""
    example_1_projection()
    example_2_repeat_kv()
    example_3_rope()
    example_4_causal_mask()
    example_5_full_forward()
    example_6_prefill_decode()
    example_7_cache_is_exact()


if __name__ == "__main__":
    main()
# --8<-- [end:main]
