"""第 2 章 基础组件：词嵌入、RMSNorm 与 RoPE，六个例子逐条验证。

按出现的顺序读，每个定义只用到它上面的定义：
  SimpleRMSNorm              按均方根缩放
  precompute_freqs_cis       旋转位置编码（RoPE）的 cos、sin 表
  apply_rotary_pos_emb       按位置旋转，前后两半配对
  SimpleEmbedding            词嵌入：按词元编号取出表的一行
  one_hot_embedding          同一个结果，写成 one-hot 向量乘矩阵
  SimpleLayerNorm            对照用：先减去均值，再除以标准差
  rope_frequencies           各对通道每走一个位置转过的角度
  apply_rotary_interleaved   对照用：RoPE 的相邻配对
  yarn_frequencies           YaRN：快的对不动，慢的对放慢到 1/factor
  example_1 到 example_6     每个例子声明一件事，用断言证明它，再打印结果

前三个定义和它们用到的检查，与第 3 章的脚本 03-attention-demo.py 一字不差。

记号：B = batch，T = 词元数，C = hidden_size，V = vocab_size，D = head_dim。

运行：python 02-basic-components-demo.py（需要 torch，CPU 就够）
"""

# --8<-- [start:imports]
import math

import torch
import torch.nn.functional as F
from torch import nn

# --8<-- [end:imports]

# --8<-- [bundle:03-attention-demo.py:checks,rms_norm,precompute_freqs_cis,apply_rotary_pos_emb,show]
# isort: split
import importlib

_attention = importlib.import_module("03-attention-demo")
check_positive = _attention.check_positive
check_even = _attention.check_even
at_least_fp32 = _attention.at_least_fp32
SimpleRMSNorm = _attention.SimpleRMSNorm
precompute_freqs_cis = _attention.precompute_freqs_cis
rotate_half = _attention.rotate_half
apply_rotary_pos_emb = _attention.apply_rotary_pos_emb
show = _attention.show
# --8<-- [end-bundle]


# --8<-- [start:embedding]
def check_token_ids(ids, vocab_size):
    """要求 ids 是 [B, T] 的整数张量，T 至少是 1，每个编号都在 0 到 vocab_size - 1 之间。

    Raises:
        ValueError: 类型、shape 或编号不合要求；消息写出第一个越界的编号和它的位置。
    """
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"词元编号应是整数张量，得到 {ids.dtype}")
    if ids.dim() != 2 or ids.shape[1] == 0:
        raise ValueError(f"词元编号是 {list(ids.shape)}，应是 [batch, seq]，而且至少有 1 个词元")
    outside = (ids < 0) | (ids >= vocab_size)  # [B, T]
    if outside.any():
        b, t = outside.nonzero()[0].tolist()
        raise ValueError(f"第 {b} 段第 {t} 个词元的编号是 {ids[b, t]}，词表只有 0 到 {vocab_size - 1}")


class SimpleEmbedding(nn.Module):
    """词嵌入：编号是几，就取出表的第几行；ids [B, T] -> [B, T, C]。

    表 weight 是 [V, C]，一行是一个词元的向量；初始化用标准差 std 的正态分布。

    Raises:
        ValueError: vocab_size 或 hidden_size 不是正整数；ids 不合要求（见 check_token_ids）。
    """

    def __init__(self, vocab_size, hidden_size, std=0.02):
        super().__init__()
        check_positive(vocab_size=vocab_size, hidden_size=hidden_size)
        self.weight = nn.Parameter(torch.randn(vocab_size, hidden_size) * std)  # [V, C]

    def forward(self, ids):
        check_token_ids(ids, self.weight.shape[0])
        return self.weight[ids]  # [B, T, C]


def one_hot_embedding(ids, weight):
    """同一个结果的另一种写法：one-hot 向量 [B, T, V] 乘矩阵 weight [V, C]，得到 [B, T, C]。

    Raises:
        ValueError: ids 不合要求（见 check_token_ids）。
    """
    check_token_ids(ids, weight.shape[0])
    one_hot = F.one_hot(ids.long(), weight.shape[0]).to(weight.dtype)  # [B, T, V]
    return one_hot @ weight  # [B, T, C]
# --8<-- [end:embedding]


# --8<-- [start:layer_norm]
class SimpleLayerNorm(nn.Module):
    """减去均值，除以标准差，再乘 weight、加 bias：[..., dim] -> [..., dim]。

    y = (x - mean) / sqrt(var + eps) * weight + bias；var 除以 dim，不是 dim - 1。
    来源：Ba、Kiros 与 Hinton，Layer Normalization，2016；eps 是实现时加的。

    Raises:
        ValueError: dim 不是正整数；输入的最后一维不是 dim。
    """

    def __init__(self, dim, eps=1e-6):
        super().__init__()
        check_positive(dim=dim)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))  # [dim]
        self.bias = nn.Parameter(torch.zeros(dim))  # [dim]

    def forward(self, x):
        dim = self.weight.shape[0]
        if x.shape[-1] != dim:
            raise ValueError(f"LayerNorm 的宽度是 {dim}，输入是 {list(x.shape)}：最后一维应是 {dim}")
        wide = at_least_fp32(x)  # [..., dim]
        centred = wide - wide.mean(-1, keepdim=True)  # [..., dim]
        std = torch.sqrt(centred.pow(2).mean(-1, keepdim=True) + self.eps)  # [..., 1]
        return (centred / std * self.weight + self.bias).to(x.dtype)  # [..., dim]
# --8<-- [end:layer_norm]


# --8<-- [start:rope_frequencies]
def rope_frequencies(head_dim, rope_base=10000.0):
    """各对通道每走一个位置转过的弧度：theta_i = rope_base ** (-2i / head_dim)，float64 [D/2]。

    第 i 对的波长是 2 * pi / theta_i 个位置：走这么远，正好转一圈。
    来源：Su 等，RoFormer，2021，3.2.2 节。

    Raises:
        ValueError: head_dim 不是正整数或是奇数；rope_base 不是有限的正数。
    """
    check_positive(head_dim=head_dim)
    check_even(head_dim)
    if not 0 < rope_base < math.inf:
        raise ValueError(f"rope_base 应是有限的正数，得到 {rope_base}")
    return rope_base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)  # [D/2]
# --8<-- [end:rope_frequencies]


# --8<-- [start:interleaved]
def apply_rotary_interleaved(x, cos, sin):
    """相邻配对的 RoPE：通道 2i 与 2i + 1 是一对；x [B, T, H, D]，cos、sin 是 [T, D/2]。

    与 apply_rotary_pos_emb 转的是同样的角度，只是配对不同，表也只需要每对一列。
    来源：Su 等，RoFormer，2021，3.4.2 节式 (34)。

    Raises:
        ValueError: x 不是四维；head_dim 是奇数；cos、sin 不是 [T, D/2]。
    """
    if x.dim() != 4:
        raise ValueError(f"x 是 {list(x.shape)}，应是四维 [batch, seq, heads, head_dim]")
    _, T, _, D = x.shape
    check_even(D)
    for name, table in (("cos", cos), ("sin", sin)):
        if table.shape != (T, D // 2):
            raise ValueError(f"{name} 是 {list(table.shape)}，应是 [{T}, {D // 2}]：每个词元一行，每对通道一列")
    a, b = x[..., 0::2], x[..., 1::2]  # [B, T, H, D/2]，[B, T, H, D/2]
    cos, sin = cos[:, None, :], sin[:, None, :]  # [T, 1, D/2]
    turned = torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1)  # [B, T, H, D/2, 2]
    return turned.flatten(-2).to(x.dtype)  # [B, T, H, D]


def half_to_interleaved(head_dim):
    """通道的重排 [D]：x[..., order] 把前后两半的每一对 (i, i + D/2) 放到相邻的 2i、2i + 1。

    Raises:
        ValueError: head_dim 不是正整数或是奇数。
    """
    check_positive(head_dim=head_dim)
    check_even(head_dim)
    return torch.arange(head_dim).view(2, head_dim // 2).T.flatten()  # [D]：0, D/2, 1, D/2 + 1, ...
# --8<-- [end:interleaved]


# --8<-- [start:yarn]
def yarn_frequencies(head_dim, factor, original_end, rope_base=10000.0, beta_fast=32.0, beta_slow=1.0):
    """YaRN 调整过的频率，float64 [D/2]：把训练长度 original_end 拉长到 factor 倍。

    在训练长度内转满 beta_fast 圈的对（快）不动，转不满 beta_slow 圈的对（慢）放慢到 1/factor，
    中间的对按编号线性过渡：theta_i * (1 - ramp_i + ramp_i / factor)。
    来源：Peng 等，YaRN，2023。论文按圈数过渡；这里与 MiniMind 等实现一致，按编号过渡。

    Raises:
        ValueError: 尺寸不合要求；rope_base 不大于 1；factor 小于 1；没有 beta_fast > beta_slow > 0。
    """
    theta = rope_frequencies(head_dim, rope_base)  # [D/2]
    check_positive(original_end=original_end)
    if rope_base <= 1:
        raise ValueError(f"rope_base = {rope_base}：YaRN 要求它大于 1，否则没有快慢之分")
    if not 1 <= factor < math.inf:
        raise ValueError(f"factor = {factor}：拉长的倍数应是不小于 1 的有限数")
    if not 0 < beta_slow < beta_fast < math.inf:
        raise ValueError(f"应有 0 < beta_slow < beta_fast，得到 beta_slow = {beta_slow}，beta_fast = {beta_fast}")

    def pair_with(turns):
        """在训练长度内恰好转 turns 圈的那一对的编号（可以是小数）。"""
        return head_dim * math.log(original_end / (turns * 2 * math.pi)) / (2 * math.log(rope_base))

    last = head_dim // 2 - 1
    low = max(math.floor(pair_with(beta_fast)), 0)  # 到这一对为止不动
    high = min(math.ceil(pair_with(beta_slow)), last)  # 从这一对起放慢到 1/factor
    index = torch.arange(head_dim // 2, dtype=torch.float64)  # [D/2]
    ramp = ((index - low) / max(high - low, 0.001)).clamp(0, 1)  # [D/2]，0 是不动，1 是放慢
    return theta * (1 - ramp + ramp / factor)  # [D/2]
# --8<-- [end:yarn]


# --8<-- [start:numbers]
def numbers(values, digits=4):
    """把一行数写成定点小数，供打印用。"""
    return "[" + ", ".join(f"{value:.{digits}f}" for value in torch.as_tensor(values).tolist()) + "]"
# --8<-- [end:numbers]


# --8<-- [start:example_1]
def example_1_embedding():
    """查表与 one-hot 乘矩阵是同一个线性映射：结果逐位相等，梯度也相同。"""
    print("例 1  词嵌入：查表等于 one-hot 乘矩阵")
    torch.manual_seed(1)
    embedding = SimpleEmbedding(vocab_size=6, hidden_size=3)
    ids = torch.tensor([[2, 5, 2, 0]])  # [B, T]，词元 2 出现两次
    x = embedding(ids)  # [B, T, C]
    product = one_hot_embedding(ids, embedding.weight)  # [B, T, C]

    assert torch.equal(x, product)
    assert torch.equal(x[0, 0], x[0, 2])  # 同一个词元，同一行
    (by_lookup,) = torch.autograd.grad(x.sum(), embedding.weight)  # [V, C]，这里的梯度就是出现的次数
    (by_product,) = torch.autograd.grad(product.sum(), embedding.weight)  # [V, C]
    assert torch.equal(by_lookup, by_product)
    counts = by_lookup[:, 0].int().tolist()
    assert counts == [1, 0, 2, 0, 0, 1]
    show("ids", ids, "batch, seq")
    show("表", embedding.weight, "vocab, hidden")
    show("x", x, "batch, seq, hidden")
    print("  两种写法逐位相等：成立")
    print(f"  各行收到的梯度份数：{counts}，没出现的词元是 0")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_two_norms():
    """RMSNorm 只除以长度，LayerNorm 还减去均值；先减均值再做 RMSNorm，就是 LayerNorm。"""
    print("例 2  RMSNorm 与 LayerNorm")
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)  # [dim]
    rms, layer = SimpleRMSNorm(4).double(), SimpleLayerNorm(4).double()

    print(f"  x:         {numbers(x)}")
    print(f"  RMSNorm:   {numbers(rms(x))}")
    print(f"  LayerNorm: {numbers(layer(x))}")
    torch.testing.assert_close(rms(x), F.rms_norm(x, (4,), eps=1e-6))
    torch.testing.assert_close(layer(x), F.layer_norm(x, (4,), eps=1e-6))
    torch.testing.assert_close(layer(x), rms(x - x.mean()))
    print("  先减均值再做 RMSNorm，等于 LayerNorm：成立")
    for name, changed in (("放大 10 倍", 10 * x), ("每个分量加 10", x + 10)):
        moved = [bool((norm(changed) - norm(x)).abs().max() > 1e-2) for norm in (rms, layer)]
        words = ["变了" if m else "不变" for m in moved]
        print(f"  {name}：RMSNorm {words[0]}，LayerNorm {words[1]}")
        assert moved == ([False, False] if "倍" in name else [True, False])
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_half_precision():
    """fp16 最大只到 65504：300 的平方已经溢出，所以平方要在 fp32 里取。"""
    print("例 3  fp16 里的 RMSNorm：平方在 fp32 里取")
    x = torch.full((1, 4), 300.0, dtype=torch.float16)  # [1, dim]
    squares = x.pow(2)  # [1, dim]，fp16
    naive = x / torch.sqrt(squares.mean(-1, keepdim=True))  # [1, dim]
    ours = SimpleRMSNorm(4)(x)  # [1, dim]

    assert squares.isinf().all() and torch.equal(naive, torch.zeros_like(x))
    assert ours.dtype == torch.float16 and torch.equal(ours, torch.ones_like(x))
    print(f"  fp16 最大的有限数：{torch.finfo(torch.float16).max:.0f}，300 的平方：{300**2}")
    print(f"  平方留在 fp16: 平方是 {squares[0, 0].item()}，结果是 {naive[0, 0].item()}")
    print(f"  平方在 fp32:   结果是 {ours[0, 0].item()}，dtype 仍是 fp16")
# --8<-- [end:example_3]


# --8<-- [start:example_4]
def example_4_rotation():
    """每一对通道是平面上的一个点，位置 m 处转 m * theta；转速逐对变慢，波长逐对变长。"""
    print("例 4  RoPE：从平面旋转到频率与波长")
    theta = rope_frequencies(head_dim=8)  # [D/2]
    wavelength = 2 * math.pi / theta  # [D/2]
    cos, sin = precompute_freqs_cis(head_dim=8, end=64)  # [64, D]，[64, D]
    assert torch.allclose(cos[1, :4].double(), theta.cos()) and torch.equal(cos[:, :4], cos[:, 4:])
    for i in range(4):
        print(f"  第 {i} 对：每个位置 {theta[i]:.3f} 弧度，转一圈要 {wavelength[i]:.1f} 个位置")

    point = torch.tensor([1.0, 0.0])  # 平面上的一个点：第 0 对是通道 0 与通道 4
    x = torch.zeros(1, 64, 1, 8)  # [B, T, H, D]
    x[..., [0, 4]] = point
    turned, _ = apply_rotary_pos_emb(x, x, cos, sin)  # [B, T, H, D]
    for m in (0, 1, 2, 3):
        by_hand = torch.tensor([math.cos(m), math.sin(m)])  # 第 0 对每个位置转 1 弧度
        torch.testing.assert_close(turned[0, m, 0, [0, 4]], by_hand)
        print(f"  点 (1, 0) 在位置 {m}: {numbers(turned[0, m, 0, [0, 4]], 3)}")
    products = turned[0, :, 0] @ turned[0, :, 0].T  # [64, 64]
    for distance in (0, 1, 5, 40):
        same = products.diagonal(-distance)  # 位置差都是 distance
        torch.testing.assert_close(same, torch.full_like(same, math.cos(distance)), atol=1e-5, rtol=0)
    print("  这一对的点积是 cos(位置差)，与起点无关：成立")
# --8<-- [end:example_4]


# --8<-- [start:example_5]
def example_5_two_pairings():
    """两种配对只差一次通道重排：q 和 k 按同一个次序重排，点积不变；不重排就是另一个数。"""
    print("例 5  前后配对与相邻配对")
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64).view(1, 1, 1, 4)  # [B, T, H, D]
    cos, sin = (table[1:2] for table in precompute_freqs_cis(4, 2, dtype=torch.float64))  # 位置 1，[1, D]
    half, _ = apply_rotary_pos_emb(x, x, cos, sin)  # [B, T, H, D]
    adjacent = apply_rotary_interleaved(x, cos[:, :2], sin[:, :2])  # [B, T, H, D]
    print(f"  前后配对：{numbers(half.flatten(), 3)}")
    print(f"  相邻配对：{numbers(adjacent.flatten(), 3)}")

    order = half_to_interleaved(4)  # [D]
    reordered = apply_rotary_interleaved(x[..., order], cos[:, :2], sin[:, :2])  # [B, T, H, D]
    torch.testing.assert_close(reordered, half[..., order])
    assert (adjacent - half).abs().max() > 0.01
    print(f"  重排的次序：{order.tolist()}")
    print("  先重排、再用相邻配对，等于先用前后配对、再重排：成立")
# --8<-- [end:example_5]


# --8<-- [start:example_6]
def example_6_long_context():
    """长文本：位置要精确存放；YaRN 只放慢那些在训练长度内转不满一圈的对。"""
    print("例 6  长文本：bf16 里的位置，与 YaRN 的频率")
    positions = torch.arange(4096)  # [4096]
    distinct = positions.bfloat16().unique().numel()
    assert distinct == 769 and positions.float().unique().numel() == 4096
    print(f"  4096 个位置存成 bf16，只剩 {distinct} 个不同的数；存成 fp32，一个不少")

    head_dim, base, length, factor = 96, 1e6, 2048, 16
    theta = rope_frequencies(head_dim, base)  # [D/2]
    slowed = yarn_frequencies(head_dim, factor, length, base)  # [D/2]
    ratio = theta / slowed  # [D/2]，放慢到几分之一
    turns = length * theta / (2 * math.pi)  # [D/2]，在训练长度内转几圈
    untouched, full = int((ratio == 1).sum()), int((ratio > factor - 1e-9).sum())
    assert (turns[:untouched] > 30).all() and (turns[-full:] < 1).all()
    assert (ratio[1:] >= ratio[:-1]).all()
    print(f"  head_dim {head_dim}，base {base:.0f}，训练长度 {length}，拉长到 {factor} 倍：")
    print(f"  48 对里 {untouched} 对不动，{full} 对放慢到 1/{factor}，其余 {48 - untouched - full} 对在中间")
    print(f"  最慢的一对在训练长度内只转 {turns[-1]:.4f} 圈")
# --8<-- [end:example_6]


# --8<-- [start:main]
def main():
    """按顺序运行六个例子。"""
    example_1_embedding()
    with torch.no_grad():
        example_2_two_norms()
        example_3_half_precision()
        example_4_rotation()
        example_5_two_pairings()
        example_6_long_context()


if __name__ == "__main__":
    main()
# --8<-- [end:main]
