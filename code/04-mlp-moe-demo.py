"""第 4 章 前馈网络：从 GELU 到 SwiGLU，再到混合专家（MoE），八个例子逐条验证。

按出现的顺序读，每个定义只用到它上面的定义：
  count_parameters    模块里参数的总个数
  GeluMLP             两个矩阵夹一个 GELU
  ffn_width           中间宽度的取整规则：C 的几倍，再向上取到 64 的倍数
  SwiGLU              三个矩阵：门、上、下
  route               路由器：每个词元选 top_k 个专家，各给一个权重
  expert_capacity     一个专家最多收几个词元
  within_capacity     哪些选择还在容量之内
  load_balance_loss   负载均衡损失，两种归一
  MoE                 把上面几步接起来：按专家取出词元，算完放回原处
  dense_moe           同一个结果的另一种写法：每个专家都算全部词元
  moe_parameters      总参数与激活参数的公式
  example_1 到 example_8   每个例子声明一件事，用断言证明它，再打印结果

记号：B = batch，T = 词元数，N = B * T，C = hidden_size，F = width（中间宽度），
E = n_experts，k = top_k。gate_proj、up_proj、down_proj 与 MiniMind 的 model_minimind.py 对应。

运行：python 04-mlp-moe-demo.py（需要 torch，CPU 就够）
"""

# --8<-- [start:imports]
import math

import torch
import torch.nn.functional as F
from torch import nn

# --8<-- [end:imports]

# --8<-- [bundle:03-attention-demo.py:checks,show]
# isort: split
import importlib

_attention = importlib.import_module("03-attention-demo")
check_positive = _attention.check_positive
at_least_fp32 = _attention.at_least_fp32
show = _attention.show
# --8<-- [end-bundle]


# --8<-- [start:check_hidden]
def check_hidden(x, hidden_size):
    """要求 x 是 [B, T, hidden_size]，而且 T 至少是 1；否则抛出 ValueError。"""
    if x.dim() != 3 or x.shape[2] != hidden_size:
        raise ValueError(f"x 是 {list(x.shape)}，应是 [batch, seq, {hidden_size}]")
    if x.shape[1] == 0:
        raise ValueError(f"x 是 {list(x.shape)}：序列是空的，至少要有 1 个词元")
# --8<-- [end:check_hidden]


# --8<-- [start:count_parameters]
def count_parameters(module):
    """模块里参数的总个数。"""
    return sum(parameter.numel() for parameter in module.parameters())
# --8<-- [end:count_parameters]


# --8<-- [start:gelu_mlp]
class GeluMLP(nn.Module):
    """两层的前馈网络，没有偏置：x [B, T, C] -> down(gelu(up(x))) [B, T, C]。

    参数 2 * C * F 个；width 缺省是 4 * hidden_size。
    来源：Vaswani 等，Attention Is All You Need，2017，3.3 节（那里用 ReLU，有偏置）；
    GELU：Hendrycks 与 Gimpel，Gaussian Error Linear Units (GELUs)，2016。

    Raises:
        ValueError: 尺寸不是正整数；x 不是 [B, T, C] 或 T = 0。
    """

    def __init__(self, hidden_size=16, width=None):
        super().__init__()
        width = 4 * hidden_size if width is None else width
        check_positive(hidden_size=hidden_size, width=width)
        self.hidden_size = hidden_size
        self.up_proj = nn.Linear(hidden_size, width, bias=False)  # C -> F
        self.down_proj = nn.Linear(width, hidden_size, bias=False)  # F -> C

    def forward(self, x):
        check_hidden(x, self.hidden_size)
        return self.down_proj(F.gelu(self.up_proj(x)))  # [B, T, F] -> [B, T, C]
# --8<-- [end:gelu_mlp]


# --8<-- [start:ffn_width]
def ffn_width(hidden_size, ratio=8 / 3, multiple=64):
    """SwiGLU 的中间宽度：hidden_size * ratio 向上取到 multiple 的倍数。

    ratio = 8/3 时三个矩阵的参数与两个 C x 4C 的矩阵相当；MiniMind 现行版本用 math.pi。

    Raises:
        ValueError: hidden_size 或 multiple 不是正整数；ratio 不是有限的正数。
    """
    check_positive(hidden_size=hidden_size, multiple=multiple)
    if not 0 < ratio < math.inf:
        raise ValueError(f"ratio 应是有限的正数，得到 {ratio}")
    return math.ceil(hidden_size * ratio / multiple) * multiple
# --8<-- [end:ffn_width]


# --8<-- [start:swiglu]
class SwiGLU(nn.Module):
    """带门的前馈网络，没有偏置：x [B, T, C] -> down(silu(gate(x)) * up(x)) [B, T, C]。

    silu(z) = z * sigmoid(z)。参数 3 * C * F 个；width 缺省由 ffn_width 决定。
    来源：Shazeer，GLU Variants Improve Transformer，2020。

    Raises:
        ValueError: 尺寸不是正整数；x 不是 [B, T, C] 或 T = 0。
    """

    def __init__(self, hidden_size=16, width=None):
        super().__init__()
        width = ffn_width(hidden_size) if width is None else width
        check_positive(hidden_size=hidden_size, width=width)
        self.hidden_size = hidden_size
        self.gate_proj = nn.Linear(hidden_size, width, bias=False)  # C -> F
        self.up_proj = nn.Linear(hidden_size, width, bias=False)  # C -> F
        self.down_proj = nn.Linear(width, hidden_size, bias=False)  # F -> C

    def forward(self, x):
        check_hidden(x, self.hidden_size)
        gate = F.silu(self.gate_proj(x))  # [B, T, F]
        return self.down_proj(gate * self.up_proj(x))  # [B, T, F] -> [B, T, C]
# --8<-- [end:swiglu]


# --8<-- [start:route]
def route(logits, top_k, renormalise=True):
    """每个词元选分数最高的 top_k 个专家：logits [N, E] -> (概率 [N, E], 权重 [N, k], 选择 [N, k])。

    概率是对 E 个专家的 softmax，至少在 fp32 里算。权重是被选专家的概率；
    renormalise=True 时再除以它们的和，使每个词元的权重之和为 1。
    来源：Shazeer 等，Outrageously Large Neural Networks，2017（先选后归一）；
    Fedus 等，Switch Transformers，2021（k = 1，不重新归一）。

    Raises:
        ValueError: logits 不是 [N, E] 或 N = 0；top_k 不在 1 到 E 之间。
    """
    check_positive(top_k=top_k)
    if logits.dim() != 2 or logits.shape[0] == 0:
        raise ValueError(f"路由分数是 {list(logits.shape)}，应是 [词元, 专家]，而且至少有 1 个词元")
    if top_k > logits.shape[1]:
        raise ValueError(f"top_k = {top_k} 超过专家数 {logits.shape[1]}：一个词元不能选同一个专家两次")
    probabilities = at_least_fp32(logits).softmax(dim=-1)  # [N, E]
    weights, chosen = probabilities.topk(top_k, dim=-1)  # [N, k]，[N, k]
    if renormalise:
        weights = weights / weights.sum(dim=-1, keepdim=True)  # [N, k]
    return probabilities, weights, chosen
# --8<-- [end:route]


# --8<-- [start:capacity]
def expert_capacity(n_tokens, n_experts, top_k, factor):
    """一个专家最多收几个词元：平均每个专家 n_tokens * top_k / n_experts 个，乘 factor，向上取整。

    来源：Fedus 等，Switch Transformers，2021（那里 top_k = 1）。

    Raises:
        ValueError: 个数不是正整数；factor 不是有限的正数。
    """
    check_positive(n_tokens=n_tokens, n_experts=n_experts, top_k=top_k)
    if not 0 < factor < math.inf:
        raise ValueError(f"容量系数应是有限的正数，得到 {factor}")
    return math.ceil(n_tokens * top_k * factor / n_experts)


def within_capacity(chosen, n_experts, capacity):
    """哪些选择没有超过容量：chosen [N, k] -> 布尔 [N, k]，False 表示被丢弃。

    先到先得：所有词元的第一选择排在前面，然后是第二选择；同一级里按词元的次序。

    Raises:
        ValueError: capacity 不是正整数；chosen 不是 [N, k]，或含有不存在的专家。
    """
    check_positive(n_experts=n_experts, capacity=capacity)
    if chosen.dim() != 2:
        raise ValueError(f"chosen 是 {list(chosen.shape)}，应是 [词元, top_k]")
    if ((chosen < 0) | (chosen >= n_experts)).any():
        raise ValueError(f"chosen 里有不存在的专家：专家只有 0 到 {n_experts - 1}")
    queue = chosen.T.flatten()  # [k * N]：第一选择在前
    one_hot = F.one_hot(queue, n_experts)  # [k * N, E]
    place = (one_hot.cumsum(dim=0) * one_hot).sum(dim=-1)  # [k * N]，在自己那个专家的队里排第几
    return (place <= capacity).view(chosen.shape[1], chosen.shape[0]).T  # [N, k]
# --8<-- [end:capacity]


# --8<-- [start:load_balance_loss]
def load_balance_loss(probabilities, chosen, per_choice=True):
    """负载均衡损失 E * sum_i f_i * P_i，一个标量；probabilities [N, E]，chosen [N, k]。

    P_i 是专家 i 的平均概率；f_i 是专家 i 被选的次数，除以 N * k（per_choice=True）或除以 N。
    各专家被选的次数相同时，前一种是 1，后一种是 k。梯度只经过 P：次数是数出来的，没有梯度。
    来源：Fedus 等，Switch Transformers，2021，式 (4) 到 (6)（那里 k = 1，两种写法相同）。

    Raises:
        ValueError: 两个张量不是 [N, E] 与 [N, k]；chosen 含有不存在的专家。
    """
    if probabilities.dim() != 2 or chosen.dim() != 2 or len(probabilities) != len(chosen) or not len(chosen):
        raise ValueError(f"概率是 {list(probabilities.shape)}，选择是 {list(chosen.shape)}，应是 [N, E] 与 [N, k]")
    n_experts, top_k = probabilities.shape[1], chosen.shape[1]
    if ((chosen < 0) | (chosen >= n_experts)).any():
        raise ValueError(f"chosen 里有不存在的专家：专家只有 0 到 {n_experts - 1}")
    counts = chosen.flatten().bincount(minlength=n_experts)  # [E]
    fractions = counts.to(probabilities.dtype) / len(chosen)  # [E]，和是 k
    if per_choice:
        fractions = fractions / top_k  # [E]，和是 1
    return n_experts * (fractions * probabilities.mean(dim=0)).sum()
# --8<-- [end:load_balance_loss]


# --8<-- [start:moe]
class MoE(nn.Module):
    """混合专家前馈网络：x [B, T, C] -> [B, T, C]，每个词元只经过 top_k 个专家。

    顺序：路由 -> （容量）-> 逐个专家：取出选它的词元，算，乘权重，加回原处 -> 加上共享专家。
    capacity_factor=None 表示不限容量，一个词元也不丢；被丢弃的选择贡献 0，词元由残差带过这一层。
    来源：Shazeer 等，2017；共享专家：Dai 等，DeepSeekMoE，2024。

    Raises:
        ValueError: 尺寸不是正整数；top_k 超过 n_experts；capacity_factor 不是有限的正数；
            n_shared 不是非负整数；x 不是 [B, T, C] 或 T = 0。
    """

    def __init__(
        self, hidden_size=16, width=None, n_experts=4, top_k=2, n_shared=0, capacity_factor=None, renormalise=True
    ):
        super().__init__()
        check_positive(hidden_size=hidden_size, n_experts=n_experts, top_k=top_k)
        if top_k > n_experts:
            raise ValueError(f"top_k = {top_k} 超过专家数 {n_experts}：一个词元不能选同一个专家两次")
        if type(n_shared) is not int or n_shared < 0:
            raise ValueError(f"n_shared 应是非负整数，得到 {n_shared!r}")
        if capacity_factor is not None:
            expert_capacity(1, n_experts, top_k, capacity_factor)  # 系数不合格，现在就拒绝
        self.hidden_size, self.n_experts, self.top_k = hidden_size, n_experts, top_k
        self.capacity_factor, self.renormalise = capacity_factor, renormalise
        self.router = nn.Linear(hidden_size, n_experts, bias=False)  # C -> E
        self.experts = nn.ModuleList(SwiGLU(hidden_size, width) for _ in range(n_experts))
        self.shared_experts = nn.ModuleList(SwiGLU(hidden_size, width) for _ in range(n_shared))

    def forward(self, x, return_route=False):
        """返回 output [B, T, C]；return_route=True 时返回 (output, 路由的各个中间量)。"""
        check_hidden(x, self.hidden_size)
        tokens = x.flatten(0, 1)  # [N, C]
        probabilities, weights, chosen = route(self.router(tokens), self.top_k, self.renormalise)
        kept = torch.ones_like(chosen, dtype=torch.bool)  # [N, k]
        if self.capacity_factor is not None:
            capacity = expert_capacity(len(tokens), self.n_experts, self.top_k, self.capacity_factor)
            kept = within_capacity(chosen, self.n_experts, capacity)  # [N, k]

        output = torch.zeros_like(tokens)  # [N, C]
        for e, expert in enumerate(self.experts):
            token, rank = ((chosen == e) & kept).nonzero(as_tuple=True)  # [n_e]，[n_e]
            if len(token):  # 没有词元选它，就不用算
                part = expert(tokens[token][None])[0]  # [n_e, C]
                part = part * weights[token, rank, None].to(part.dtype)  # [n_e, C]
                output = output.index_add(0, token, part)  # [N, C]，加回原来的行
        output = output.view_as(x)  # [B, T, C]
        for expert in self.shared_experts:
            output = output + expert(x)  # [B, T, C]，每个词元都经过
        if not return_route:
            return output
        steps = {"probabilities": probabilities, "weights": weights, "chosen": chosen, "kept": kept}
        return output, steps
# --8<-- [end:moe]


# --8<-- [start:dense_moe]
def dense_moe(moe, x):
    """不取不放，同样的结果：每个专家都算全部词元，再乘一张 [N, E] 的权重表（没选的是 0）。"""
    tokens = x.flatten(0, 1)  # [N, C]
    _, steps = moe(x, return_route=True)
    table = torch.zeros(len(tokens), moe.n_experts, dtype=steps["weights"].dtype)  # [N, E]
    table = table.scatter(1, steps["chosen"], steps["weights"] * steps["kept"])  # [N, E]
    outputs = torch.stack([expert(x).flatten(0, 1) for expert in moe.experts], dim=1)  # [N, E, C]
    routed = (table[:, :, None].to(x.dtype) * outputs).sum(dim=1).view_as(x)  # [B, T, C]
    return routed + sum(expert(x) for expert in moe.shared_experts)
# --8<-- [end:dense_moe]


# --8<-- [start:moe_parameters]
def moe_parameters(hidden_size, width, n_experts, top_k, n_shared=0):
    """一层 MoE 的 (总参数, 一个词元用到的参数)：每个专家 3 * C * F 个，路由器 C * E 个。

    Raises:
        ValueError: 尺寸不是正整数；top_k 超过 n_experts；n_shared 不是非负整数。
    """
    check_positive(hidden_size=hidden_size, width=width, n_experts=n_experts, top_k=top_k)
    if top_k > n_experts:
        raise ValueError(f"top_k = {top_k} 超过专家数 {n_experts}：一个词元不能选同一个专家两次")
    if type(n_shared) is not int or n_shared < 0:
        raise ValueError(f"n_shared 应是非负整数，得到 {n_shared!r}")
    expert, router = 3 * hidden_size * width, hidden_size * n_experts
    return (n_experts + n_shared) * expert + router, (top_k + n_shared) * expert + router
# --8<-- [end:moe_parameters]


# --8<-- [start:numbers]
def numbers(values, digits=4):
    """把一行数写成定点小数，供打印用。"""
    return "[" + ", ".join(f"{value:.{digits}f}" for value in torch.as_tensor(values).tolist()) + "]"
# --8<-- [end:numbers]


# --8<-- [start:example_1]
def example_1_key_value_memory():
    """前馈网络是固定的键值记忆：第一个矩阵的行是键，第二个矩阵的列是值，系数不归一。"""
    print("例 1  前馈网络是一种键值记忆")
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # [F, C]
    values = torch.tensor([[10.0, 0.0], [0.0, 20.0], [5.0, 5.0]])  # [F, C]
    x = torch.tensor([2.0, -1.0])  # [C]
    matches = F.relu(keys @ x)  # [F]，这里用 ReLU，数字好看
    by_memory = sum(m * v for m, v in zip(matches, values))  # [C]
    by_matrix = F.linear(F.relu(F.linear(x, keys)), values.T)  # [C]：values.T 是 down_proj 的 weight

    assert torch.equal(by_memory, by_matrix)
    print(f"  与三个键的匹配：{numbers(matches, 1)}，和是 {matches.sum().item():.1f}，没有归一")
    print(f"  取出的值之和：{numbers(by_memory, 1)}，与矩阵写法相等：成立")

    torch.manual_seed(1)
    mlp, tokens = GeluMLP(), torch.randn(2, 5, 16)  # [B, T, C]
    order = [3, 1, 4, 0, 2]
    torch.testing.assert_close(mlp(tokens)[:, order], mlp(tokens[:, order]))
    print("  打乱词元的次序，输出只跟着换位：成立，词元之间互不读取")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_activations():
    """GELU 与 SiLU 都是 x 乘一个 0 到 1 之间的数；负的一侧不是 0，而且不单调。"""
    print("例 2  激活函数：x 乘一个门")
    x = torch.tensor([-3.0, -1.0, 0.0, 1.0, 3.0], dtype=torch.float64)
    normal = 0.5 * (1 + torch.erf(x / math.sqrt(2)))  # 标准正态分布小于 x 的概率
    torch.testing.assert_close(F.gelu(x), x * normal)
    torch.testing.assert_close(F.silu(x), x * torch.sigmoid(x))
    print(f"  x:    {numbers(x, 1)}")
    for name, y in (("ReLU", F.relu(x)), ("GELU", F.gelu(x)), ("SiLU", F.silu(x))):
        print(f"  {name}：{numbers(y, 3)}")
    grid = torch.linspace(-6, 6, 12001, dtype=torch.float64)
    for name, function in (("GELU", F.gelu), ("SiLU", F.silu)):
        lowest = function(grid).argmin()
        print(f"  {name} 的最低点：x 约 {grid[lowest]:.2f}，值约 {function(grid)[lowest]:.3f}")
    gap = (F.gelu(grid) - F.gelu(grid, approximate="tanh")).abs().max()
    assert 1e-4 < gap < 1e-3
    print("  GELU 的精确式与 tanh 近似：相差不到 0.001，但不相等")
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_swiglu_width():
    """多了一个矩阵，中间宽度就要缩到 2/3，参数才与原来相当；再向上取到 64 的倍数。"""
    print("例 3  SwiGLU 的宽度与参数")
    for hidden_size, ratio, rule in ((512, 8 / 3, "8/3"), (768, 8 / 3, "8/3"), (768, math.pi, "pi")):
        width = ffn_width(hidden_size, ratio)
        gated, plain = 3 * hidden_size * width, 2 * hidden_size * 4 * hidden_size
        print(f"  C = {hidden_size}，{rule} * C = {hidden_size * ratio:.1f}，取到 {width}")
        print(f"    SwiGLU {gated} 个参数，GELU（4C）{plain} 个，比 {gated / plain:.3f}")
    small = SwiGLU(hidden_size=24)
    assert count_parameters(small) == 3 * 24 * 64 == count_parameters(GeluMLP(24))
    print("  C = 24 时 8/3 * C 恰好是 64，两种前馈网络的参数一样多：成立")
    torch.manual_seed(3)
    x = torch.randn(1, 2, 24)  # [B, T, C]
    by_hand = (F.silu(x @ small.gate_proj.weight.T) * (x @ small.up_proj.weight.T)) @ small.down_proj.weight.T
    torch.testing.assert_close(small(x), by_hand)
    nn.init.zeros_(small.gate_proj.weight)
    assert torch.equal(small(x), torch.zeros_like(x))
    print("  门全为 0，输出就是 0：成立")
# --8<-- [end:example_3]


# --8<-- [start:example_4]
def example_4_router():
    """路由：softmax 得概率，取最大的 k 个，再归一；k = 1 又归一时，权重恒为 1，路由器没有梯度。"""
    print("例 4  路由器：概率、选择与权重")
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]])  # [N=1, E=4]
    probabilities, plain, chosen = route(logits, top_k=2, renormalise=False)
    _, weights, _ = route(logits, top_k=2)
    assert torch.allclose(weights, logits[:, :2].softmax(-1))  # 归一之后，就是只对被选者做 softmax
    print(f"  概率：{numbers(probabilities[0])}")
    print(f"  选中专家 {chosen[0].tolist()}，概率 {numbers(plain[0])}，和 {plain.sum().item():.4f}")
    print(f"  归一之后：{numbers(weights[0])}，等于只对选中的两个做 softmax：成立")
    with torch.enable_grad():
        for renormalise in (False, True):
            learnable = logits.clone().requires_grad_()
            _, weight, _ = route(learnable, top_k=1, renormalise=renormalise)
            (gradient,) = torch.autograd.grad(weight.sum(), learnable)
            size = gradient.abs().max().item()
            assert size < 1e-6 if renormalise else size > 1e-2
            word = "没有梯度" if size < 1e-6 else "有梯度"
            print(f"  k = 1，{'重新归一' if renormalise else '不归一'}: 权重 {weight.item():.4f}，路由分数{word}")
# --8<-- [end:example_4]


# --8<-- [start:example_5]
def example_5_dispatch():
    """按专家取出、算完放回，与每个专家都算全部词元再加权，结果相同。"""
    print("例 5  取出再放回，等于每个专家都算一遍")
    torch.manual_seed(5)
    moe, x = MoE(hidden_size=16, width=32, n_experts=4, top_k=2, n_shared=1), torch.randn(2, 6, 16)  # [B, T, C]
    output, steps = moe(x, return_route=True)  # [B, T, C]
    torch.testing.assert_close(output, dense_moe(moe, x), atol=1e-5, rtol=0)
    counts = steps["chosen"].flatten().bincount(minlength=4)  # [E]
    assert counts.sum() == 2 * 6 * 2
    show("x", x, "batch, seq, hidden")
    show("chosen", steps["chosen"], "token, choice")
    show("output", output, "batch, seq, hidden")
    print(f"  12 个词元各选 2 个专家，共 {counts.sum().item()} 次；每个都算则要 {12 * 4} 次")
    print("  两种写法的最大误差 < 1e-5：成立")
# --8<-- [end:example_5]


# --8<-- [start:example_6]
def example_6_capacity():
    """容量有限时先到先得；挤不进去的选择被丢弃，输出是 0（由残差带过），shape 一点不变。"""
    print("例 6  容量：挤不进去的词元被丢弃")
    chosen = torch.tensor([[0], [0], [0], [0], [1], [2]])  # [N=6, k=1]，四个都要专家 0
    for factor in (1.0, 1.5, 3.0):
        capacity = expert_capacity(n_tokens=6, n_experts=3, top_k=1, factor=factor)
        kept = within_capacity(chosen, 3, capacity)  # [N, k]
        dropped = [t for t in range(6) if not kept[t, 0]]
        print(f"  系数 {factor}：每个专家最多 {capacity} 个，丢弃的词元 {dropped}")
    torch.manual_seed(6)
    moe = MoE(hidden_size=8, width=16, n_experts=3, top_k=1, capacity_factor=1.0)
    nn.init.zeros_(moe.router.weight)  # 分数全相同：个个都选专家 0
    output, steps = moe(torch.randn(1, 6, 8), return_route=True)  # [B, T, C]
    assert (steps["chosen"] == steps["chosen"][0]).all()
    zero_rows = [t for t in range(6) if not output[0, t].any()]
    assert zero_rows == [2, 3, 4, 5]
    print(f"  6 个词元全挤同一个专家，容量 2：输出为 0 的词元 {zero_rows}")
# --8<-- [end:example_6]


# --8<-- [start:example_7]
def example_7_load_balance():
    """均匀时损失是 1 或 k，看怎么归一；反过来不成立：损失等于 1 并不说明均衡，还可以低于 1。"""
    print("例 7  负载均衡损失：数值证明不了均衡")
    even = torch.tensor([[0, 1], [2, 3], [1, 2], [3, 0]])  # [N=4, k=2]，每个专家各 2 次
    assert even.flatten().bincount().tolist() == [2, 2, 2, 2]
    for name, p in (("均匀", [0.25] * 4), ("偏斜", [0.7, 0.1, 0.1, 0.1])):
        probabilities = torch.tensor([p]).expand(4, 4)  # [N, E]
        losses = [load_balance_loss(probabilities, even, per_choice).item() for per_choice in (True, False)]
        assert abs(losses[0] - 1) < 1e-6 and abs(losses[1] - 2) < 1e-6
        print(f"  次数均匀，概率{name}：除以 N*k 得 {losses[0]:.2f}，除以 N 得 {losses[1]:.2f}")

    # 十个词元，两个专家：九个勉强选 0，一个坚决选 1
    probabilities = torch.tensor([[0.51, 0.49]] * 9 + [[0.0, 1.0]])  # [N=10, E=2]
    chosen = probabilities.argmax(-1, keepdim=True)  # [N, 1]
    skewed = load_balance_loss(probabilities, chosen).item()
    assert chosen.flatten().bincount().tolist() == [9, 1] and skewed < 1
    print(f"  次数 9 比 1，损失 {skewed:.4f}：比均匀时还低")
    collapsed = load_balance_loss(torch.tensor([[0.97, 0.01, 0.01, 0.01]] * 4), torch.zeros(4, 1, dtype=torch.long))
    print(f"  四个专家只用一个，概率也集中：损失 {collapsed.item():.2f}，上限是专家数 4")
# --8<-- [end:example_7]


# --8<-- [start:example_8]
def example_8_active_parameters():
    """总参数决定要存多少，激活参数决定一个词元算多少；共享专家每个词元都算。"""
    print("例 8  总参数与激活参数（一层）")
    moe = MoE(hidden_size=16, width=32, n_experts=4, top_k=2, n_shared=1)
    assert moe_parameters(16, 32, 4, 2, 1)[0] == count_parameters(moe)
    for name, sizes in (
        ("C 768，F 2432，4 选 1，无共享", (768, 2432, 4, 1, 0)),
        ("C 512，F 1408，4 选 2，共享 1", (512, 1408, 4, 2, 1)),
    ):
        total, active = moe_parameters(*sizes)
        print(f"  {name}：总 {total}，激活 {active}，比 {total / active:.2f}")
# --8<-- [end:example_8]


# --8<-- [start:main]
@torch.no_grad()
def main():
    """按顺序运行八个例子。"""
    example_1_key_value_memory()
    example_2_activations()
    example_3_swiglu_width()
    example_4_router()
    example_5_dispatch()
    example_6_capacity()
    example_7_load_balance()
    example_8_active_parameters()


if __name__ == "__main__":
    main()
# --8<-- [end:main]
