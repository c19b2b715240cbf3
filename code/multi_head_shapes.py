"""3.2 多头注意力如何组织 shape：拆头、合并头，以及 shape 看不出来的错。

按出现的顺序读：
  split_heads               [B, T, C] -> [B, H, T, D]
  merge_heads               [B, H, T, D] -> [B, T, C]，split_heads 的逆
  merge_without_transpose   反例：少一次转置，shape 对，内容乱
  MultiHeadAttention        投影 -> 拆头 -> 分数 -> 权重 -> 合并 -> 输出投影
  BASELINE、DISTINCT        两组尺寸：一组好算，一组各不相同
  example_1 到 example_5    每个例子声明一件事，用断言证明它，再打印 shape

记号：B = batch，T = 词元数，C = hidden_size，H = n_heads，D = C / H。

运行：python multi_head_shapes.py（需要 torch，CPU 就够）
"""

# --8<-- [start:imports]
import math

import torch
import torch.nn.functional as F
from torch import nn

# --8<-- [end:imports]

# --8<-- [start:split_heads]
def split_heads(x, n_heads):
    """把最后一维拆成 n_heads 个头：[B, T, C] -> [B, H, T, D]。

    第 h 个头是通道 h * D 到 (h + 1) * D - 1；先拆最后一维，再把头换到词元前面。

    Raises:
        ValueError: x 不是三维；n_heads 不是正整数，或不能整除 C。
    """
    if x.dim() != 3:
        raise ValueError(f"x 是 {list(x.shape)}，应是三维 [batch, seq, hidden_size]")
    B, T, C = x.shape
    if type(n_heads) is not int or n_heads < 1:
        raise ValueError(f"n_heads 应是正整数，得到 {n_heads!r}")
    if C % n_heads:
        raise ValueError(f"hidden_size = {C} 不能被 n_heads = {n_heads} 整除")
    x = x.reshape(B, T, n_heads, C // n_heads)  # [B, T, H, D]
    return x.transpose(1, 2)  # [B, H, T, D]
# --8<-- [end:split_heads]


# --8<-- [start:merge_heads]
def merge_heads(x):
    """把各头的通道首尾相接：[B, H, T, D] -> [B, T, C]，merge_heads(split_heads(x, H)) 等于 x。

    转置之后内存不再连续，view 一般不合法；reshape 会在需要时复制。

    Raises:
        ValueError: x 不是四维。
    """
    if x.dim() != 4:
        raise ValueError(f"x 是 {list(x.shape)}，应是四维 [batch, n_heads, seq, head_dim]")
    B, H, T, D = x.shape
    x = x.transpose(1, 2)  # [B, T, H, D]
    return x.reshape(B, T, H * D)  # [B, T, C]
# --8<-- [end:merge_heads]


# --8<-- [start:merge_without_transpose]
def merge_without_transpose(x):
    """反例：不转置就 reshape，[B, H, T, D] -> [B, T, C]；shape 正确，一行里却混进了别的词元。"""
    B, H, T, D = x.shape
    return x.reshape(B, T, H * D)  # [B, T, C]，内容是错的
# --8<-- [end:merge_without_transpose]


# --8<-- [start:multi_head_attention]
class MultiHeadAttention(nn.Module):
    """多头自注意力：x [B, T, C] -> output [B, T, C]。四个 C x C 的投影，没有偏置。

    来源：Vaswani 等，Attention Is All You Need，2017，3.2.2 节。

    Raises:
        ValueError: 尺寸不是正整数；hidden_size 不能被 n_heads 整除；x 不是 [B, T, C] 或 T = 0。
    """

    def __init__(self, hidden_size, n_heads, causal=True):
        super().__init__()
        for name, size in (("hidden_size", hidden_size), ("n_heads", n_heads)):
            if type(size) is not int or size < 1:
                raise ValueError(f"{name} 应是正整数，得到 {size!r}")
        if hidden_size % n_heads:
            raise ValueError(f"hidden_size = {hidden_size} 不能被 n_heads = {n_heads} 整除")
        self.hidden_size, self.n_heads, self.causal = hidden_size, n_heads, causal
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)  # C -> C
        self.k_proj = nn.Linear(hidden_size, hidden_size, bias=False)  # C -> C
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=False)  # C -> C
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)  # C -> C

    def forward(self, x, return_steps=False):
        """返回 output [B, T, C]；return_steps=True 时返回 (output, steps)。

        steps 是字典，按计算的顺序收着每个中间量：名字 -> 张量。
        """
        if x.dim() != 3 or x.shape[1] == 0 or x.shape[2] != self.hidden_size:
            raise ValueError(f"x 是 {list(x.shape)}，应是 [batch, seq, {self.hidden_size}]，且 seq 不小于 1")
        _, T, C = x.shape
        D = C // self.n_heads
        q_proj = self.q_proj(x)  # [B, T, C]
        q = split_heads(q_proj, self.n_heads)  # [B, H, T, D]
        k = split_heads(self.k_proj(x), self.n_heads)  # [B, H, T, D]
        v = split_heads(self.v_proj(x), self.n_heads)  # [B, H, T, D]
        scores = q @ k.transpose(-2, -1) / math.sqrt(D)  # [B, H, Tq, Tk]
        if self.causal:
            keep = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()  # [Tq, Tk]
            scores = scores.masked_fill(~keep, -math.inf)  # [B, H, Tq, Tk]
        weights = scores.softmax(dim=-1)  # [B, H, Tq, Tk]，对键归一化
        heads = weights @ v  # [B, H, Tq, D]
        merged = merge_heads(heads)  # [B, T, C]
        output = self.o_proj(merged)  # [B, T, C]
        if not return_steps:
            return output
        steps = {"x": x, "q_proj": q_proj, "q": q, "k": k, "v": v, "scores": scores}
        steps |= {"weights": weights, "heads": heads, "merged": merged, "output": output}
        return output, steps
# --8<-- [end:multi_head_attention]


# --8<-- [start:baseline]
BASELINE = (2, 4, 8, 2)  # B, T, C, H；D = 4，于是 B = H、T = D，有些错会藏起来
DISTINCT = (2, 5, 12, 3)  # B, T, C, H；D = 4，五个尺寸各不相同

AXES = {
    "x": "B, T, C",
    "q_proj": "B, T, C",
    "q": "B, H, T, D",
    "k": "B, H, T, D",
    "v": "B, H, T, D",
    "scores": "B, H, Tq, Tk",
    "weights": "B, H, Tq, Tk",
    "heads": "B, H, T, D",
    "merged": "B, T, C",
    "output": "B, T, C",
}


def make_input(B, T, C):
    """不用随机数的输入：-1 到 1 之间等距的 B * T * C 个数，排成 [B, T, C]。"""
    return torch.linspace(-1, 1, B * T * C).view(B, T, C)  # [B, T, C]
# --8<-- [end:baseline]


# --8<-- [start:show]
def show_steps(steps):
    """逐行打印每个中间量的 shape 和各维的名字。"""
    for name, tensor in steps.items():
        assert tensor.dim() == len(AXES[name].split(", "))
        print(f"  {name}: {list(tensor.shape)} = [{AXES[name]}]")
# --8<-- [end:show]


# --8<-- [start:example_1]
def example_1_every_step():
    """基线尺寸下每一步的 shape；各头的结果与 SDPA 一致，拆开再合并回到原样。"""
    print("例 1  B = 2，T = 4，C = 8，H = 2，D = 4")
    B, T, C, H = BASELINE
    torch.manual_seed(1)
    attn = MultiHeadAttention(C, H)
    x = make_input(B, T, C)  # [B, T, C]
    _, steps = attn(x, return_steps=True)

    heads = F.scaled_dot_product_attention(steps["q"], steps["k"], steps["v"], is_causal=True)  # [B, H, T, D]
    torch.testing.assert_close(steps["heads"], heads, atol=1e-5, rtol=0)
    assert torch.equal(merge_heads(split_heads(x, H)), x)
    show_steps(steps)
    print("  各头的结果与 SDPA 的最大误差 < 1e-5：成立")
    print("  拆头再合并，一位不差：成立")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_distinct_sizes():
    """尺寸各不相同时，换错的维度会露出来；基线里 T = D，同一个错看不见。"""
    print("例 2  B = 2，T = 5，C = 12，H = 3，D = 4")
    B, T, C, H = DISTINCT
    torch.manual_seed(2)
    attn = MultiHeadAttention(C, H)
    _, steps = attn(make_input(B, T, C), return_steps=True)
    show_steps(steps)

    for name, (B, T, C, H) in (("基线", BASELINE), ("各不相同", DISTINCT)):
        q = split_heads(make_input(B, T, C), H)  # [B, H, T, D]
        right = q @ q.transpose(-2, -1)  # [B, H, T, T]
        wrong = q.transpose(-2, -1) @ q  # [B, H, D, D]，转置放错了一边
        assert (wrong.shape == right.shape) == (name == "基线")
        print(f"  {name}：正确的分数 {list(right.shape)}，转置放错一边 {list(wrong.shape)}")
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_parameters():
    """参数量是 4 * C * C，与头数无关：头数只决定怎样切分，不增加参数。"""
    print("例 3  参数量与头数无关")
    C = 8
    for H in (1, 2, 4, 8):
        attn = MultiHeadAttention(C, H)
        n_params = sum(p.numel() for p in attn.parameters())
        assert n_params == 4 * C * C
        print(f"  C = {C}，H = {H}，D = {C // H}：{n_params} 个参数")
# --8<-- [end:example_3]


# --8<-- [start:example_4]
def example_4_wrong_merge():
    """合并前忘了转置：不报错，shape 也对，但每一行混进了别的词元。"""
    print("例 4  合并时少一次转置")
    context = torch.arange(12).view(1, 3, 2, 2)  # [B=1, H=3, T=2, D=2]
    right = merge_heads(context)  # [B=1, T=2, C=6]
    wrong = merge_without_transpose(context)  # [B=1, T=2, C=6]

    assert right.shape == wrong.shape
    assert right[0].tolist() == [[0, 1, 4, 5, 8, 9], [2, 3, 6, 7, 10, 11]]
    assert wrong[0].tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    for head in range(3):
        print(f"  头 {head}：词元 0 是 {context[0, head, 0].tolist()}，词元 1 是 {context[0, head, 1].tolist()}")
    for t in range(2):
        print(f"  词元 {t}：正确 {right[0, t].tolist()}，少一次转置 {wrong[0, t].tolist()}")
# --8<-- [end:example_4]


# --8<-- [start:example_5]
def example_5_view_after_transpose():
    """转置只改步长，不搬数据：之后 view 一般报错；T = 1 时步长恰好接得上，所以合法。"""
    print("例 5  转置之后的 view")
    for T in (4, 1):
        heads = torch.zeros(2, 3, T, 5).transpose(1, 2)  # [B, T, H, D]
        try:
            heads.view(2, T, 15)  # [B, T, C]
            outcome = "合法"
        except RuntimeError:
            outcome = "报错 RuntimeError"
        # 最后两维能合并，当且仅当 H 的步长等于 D 的长度 5。
        stride = heads.stride(2)
        assert (outcome == "合法") == (stride == 5) == (T == 1)
        print(f"  T = {T}：[B, T, H, D] 中 H 的步长是 {stride}，D 的长度是 5，view {outcome}")
# --8<-- [end:example_5]


# --8<-- [start:main]
@torch.no_grad()
def main():
    """按顺序运行五个例子。"""
    example_1_every_step()
    example_2_distinct_sizes()
    example_3_parameters()
    example_4_wrong_merge()
    example_5_view_after_transpose()


if __name__ == "__main__":
    main()
# --8<-- [end:main]
