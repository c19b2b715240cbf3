"""第 1 章 模型架构总览：一段词元怎样变成分数和损失，一个真实的小模型有多少参数、要多少计算和内存。

按出现的顺序读，每个定义只用到它上面的定义：
  第 3、4、5 章的定义      归一化、RoPE、注意力、前馈网络、整个模型与损失，原样并入
  MINIMIND_3、MINIMIND_2   MiniMind 现行版本与较早版本的默认配置
  matmul_parameters        参与矩阵乘法的参数：每个词元都要用到一遍
  forward_flops            一次前向的浮点运算次数
  memory_mib               权重、训练状态、键值缓存、logits 各占多少 MiB
  example_1 到 example_4   路径与 shape；参数；计算量；内存

记号：B = batch，T = 词元数，V = vocab_size，C = hidden_size，L = n_layers，H、Hkv、D 与第 3 章相同。
FLOPs 是浮点运算的次数：一次乘法算 1 次，一次加法算 1 次。1 MiB = 1048576 字节。

运行：python 01-architecture-demo.py（需要 torch，CPU 就够）
"""

# --8<-- [start:imports]
import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

# --8<-- [end:imports]

# --8<-- [bundle:03-attention-demo.py:checks,rms_norm,precompute_freqs_cis,apply_rotary_pos_emb,repeat_kv,keep_mask,masked_softmax,simple_attention,show]
# isort: split
import importlib

_attention = importlib.import_module("03-attention-demo")
check_positive = _attention.check_positive
show = _attention.show
assert dataclass and NamedTuple and F and nn  # 并入的定义要用到它们
# --8<-- [end-bundle]


# --8<-- [bundle:04-mlp-moe-demo.py:check_hidden,ffn_width,swiglu]
ffn_width = importlib.import_module("04-mlp-moe-demo").ffn_width
# --8<-- [end-bundle]


# --8<-- [bundle:05-transformer-block-demo.py:config,count_parameters,transformer_block,next_token_loss,decoder_model]
_block = importlib.import_module("05-transformer-block-demo")
ModelConfig = _block.ModelConfig
count_parameters = _block.count_parameters
DecoderModel = _block.DecoderModel
# --8<-- [end-bundle]


# --8<-- [start:minimind]
# MiniMind（jingyaogong/minimind）model/model_minimind.py 中 MiniMindConfig 的默认值
MINIMIND_3 = ModelConfig(  # 现行版本：2026 年的 minimind-3
    vocab_size=6400,
    hidden_size=768,
    n_layers=8,
    n_heads=8,
    n_kv_heads=4,
    head_dim=96,
    intermediate_size=ffn_width(768, ratio=math.pi),
    max_positions=32768,
    rope_base=1e6,
)
MINIMIND_2 = ModelConfig(  # 较早版本：2025 年的 MiniMind2 系列，没有 QK-Norm
    vocab_size=6400,
    hidden_size=512,
    n_layers=8,
    n_heads=8,
    n_kv_heads=2,
    head_dim=64,
    intermediate_size=ffn_width(512),
    max_positions=32768,
    rope_base=1e6,
    qk_norm=False,
)
# --8<-- [end:minimind]


# --8<-- [start:flops]
def matmul_parameters(config):
    """矩阵乘法里的参数个数：四个投影、前馈网络与 LM head；查表与归一化不在内。

    权重共享时 LM head 就是词嵌入那个矩阵：查表用它不做乘法，最后打分要整个乘一遍。
    """
    parts = count_parameters(config)
    return parts["注意力的四个投影"] + parts["前馈网络"] + config.vocab_size * config.hidden_size


def forward_flops(config, T, past=0):
    """一段 T 个词元、缓存里已有 past 个的一次前向，要做多少次浮点运算（只数矩阵乘法）。

    每个参数对每个词元做一次乘法、一次加法：2 * matmul_parameters * T。
    注意力的两次矩阵乘法（分数、读值）：每层每个查询头各 2 * T * S * D，S = past + T，按整个方阵计。

    Raises:
        ValueError: T 不是正整数，或 past 是负数。
    """
    check_positive(T=T)
    if past < 0:
        raise ValueError(f"past 应是非负整数，得到 {past}")
    attention = 2 * 2 * config.n_layers * config.n_heads * config.head_dim * T * (past + T)
    return 2 * matmul_parameters(config) * T + attention
# --8<-- [end:flops]


# --8<-- [start:memory]
def memory_mib(config, B=1, T=2048):
    """几样东西各占多少 MiB，返回 {名字: MiB}；没有算激活值，它取决于实现。"""
    check_positive(B=B, T=T)
    parameters = sum(count_parameters(config).values())
    cached = 2 * config.n_layers * config.n_kv_heads * config.head_dim * B * T  # K 与 V 的个数
    sizes = {
        "权重，fp32": 4 * parameters,
        "权重，bf16": 2 * parameters,
        "训练：权重、梯度、AdamW 的两份状态，fp32": 16 * parameters,
        f"键值缓存，bf16，{B} x {T} 个词元": 2 * cached,
        f"logits，fp32，{B} x {T} 个位置": 4 * B * T * config.vocab_size,
    }
    return {name: size / 2**20 for name, size in sizes.items()}
# --8<-- [end:memory]


# --8<-- [start:example_1]
def example_1_path():
    """一段词元走完全程：编号、向量、每层、归一化、分数、损失，每一步的 shape。"""
    print("例 1  从 input_ids 到 logits 与损失")
    torch.manual_seed(1)
    model = DecoderModel(ModelConfig())
    input_ids = torch.randint(0, 64, (2, 6))  # [B, T]
    show("input_ids", input_ids, "batch, seq")
    x = model.embed_tokens(input_ids)  # [B, T, C]
    show("词嵌入", x, "batch, seq, hidden")
    for layer in model.layers:
        x, _ = layer(x, *model.rope)  # [B, T, C]
    show(f"{len(model.layers)} 层之后", x, "batch, seq, hidden")
    x = model.norm(x)  # [B, T, C]
    show("最后的归一化", x, "batch, seq, hidden")
    logits = model.lm_head(x)  # [B, T, V]
    show("logits", logits, "batch, seq, vocab")
    output = model(input_ids, labels=input_ids)
    assert torch.equal(logits, output.logits)
    torch.testing.assert_close(output.loss, F.cross_entropy(logits[:, :-1].flatten(0, 1), input_ids[:, 1:].flatten()))
    assert output.loss.shape == ()
    print("  loss: [] = 一个数")
    probabilities = logits.softmax(dim=-1)  # [B, T, V]
    torch.testing.assert_close(probabilities.sum(dim=-1), torch.ones(2, 6))
    print("  每个位置对 64 个词元的概率之和是 1：成立")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_parameters():
    """MiniMind 两个版本的默认配置：按公式数参数，与真的搭出来的模型相等。"""
    print("例 2  参数个数")
    for name, config in (("现行版本", MINIMIND_3), ("较早版本", MINIMIND_2)):
        parts = count_parameters(config)
        total = sum(parts.values())
        with torch.device("meta"):  # 只有 shape，不占内存，也不做初始化
            model = DecoderModel(config)
        assert total == sum(p.numel() for p in model.parameters())
        print(f"  {name}：前馈宽度 {config.intermediate_size}，共 {total:,} 个参数，与搭出的模型相等")
        for part, count in parts.items():
            print(f"    {part}: {count:,}，占 {100 * count / total:.1f}%")
    assert sum(count_parameters(MINIMIND_3).values()) == 63_912_192
    assert sum(count_parameters(MINIMIND_2).values()) == 25_829_888
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_flops():
    """计算量：公式与 PyTorch 的计数器一致；每个词元约是参数个数的两倍，上下文越长，注意力占得越多。"""
    print("例 3  一次前向的 FLOPs")
    small = ModelConfig()
    model = DecoderModel(small)
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(torch.zeros(1, 10, dtype=torch.long))
    assert counter.get_total_flops() == forward_flops(small, 10)
    print("  小模型、10 个词元：公式与 PyTorch 的计数器相等")
    for name, config in (("现行版本", MINIMIND_3), ("较早版本", MINIMIND_2)):
        parameters = sum(count_parameters(config).values())
        one = forward_flops(config, 1)
        print(f"  {name}：第 1 个词元 {one / 1e6:.1f} MFLOPs，是参数个数的 {one / parameters:.3f} 倍")
        for past in (511, 2047, 8191):
            flops = forward_flops(config, 1, past)
            share = 1 - 2 * matmul_parameters(config) / flops
            print(f"    缓存里已有 {past} 个：{flops / 1e6:.1f} MFLOPs，其中注意力的两次乘法占 {100 * share:.0f}%")
# --8<-- [end:example_3]


# --8<-- [start:example_4]
def example_4_memory():
    """内存：训练状态是权重的四倍；一批 logits 可以比权重还大。"""
    print("例 4  内存（MiB）")
    for name, config in (("现行版本", MINIMIND_3), ("较早版本", MINIMIND_2)):
        print(f"  {name}")
        for part, size in memory_mib(config, B=8, T=2048).items():
            print(f"    {part}: {size:.1f}")
    sizes = memory_mib(MINIMIND_3, B=8, T=2048)
    assert sizes["logits，fp32，8 x 2048 个位置"] > sizes["权重，fp32"]
    print("  现行版本一批 8 x 2048 的 logits 比全部权重还大：成立")
# --8<-- [end:example_4]


# --8<-- [start:main]
def main():
    """按顺序运行四个例子。"""
    torch.set_num_threads(1)  # 张量都很小，多个线程只会互相等待
    example_1_path()
    example_2_parameters()
    example_3_flops()
    example_4_memory()


if __name__ == "__main__":
    main()
# --8<-- [end:main]
