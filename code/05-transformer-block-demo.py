"""第 5 章 Transformer Block 与整体前向：把前几章的零件装成完整的 decoder-only 模型，九个例子逐条验证。

按出现的顺序读，每个定义只用到它上面的定义：
  SimpleRMSNorm … SimpleAttention   第 3 章：归一化、RoPE、分组查询注意力、键值缓存
  SwiGLU                            第 4 章：前馈网络
  ModelConfig                       一个模型的全部尺寸
  count_parameters                  按公式数参数，按部分列出
  TransformerBlock                  Pre-Norm 的一层：x + 注意力(归一化(x))，再 x + 前馈(归一化(x))
  DecoderModel                      词嵌入 -> 许多层 -> 最后的归一化 -> LM head
  next_token_loss                   标签移一位，再求交叉熵
  generate                          逐个生成词元，可以带键值缓存（KV Cache）
  example_1 到 example_9            每个例子声明一件事，用断言证明它，再打印结论

记号：B = batch，T = 这次送进来的词元数，past = 缓存里已有的词元数，V = vocab_size，C = hidden_size，L = n_layers。
子模块的名字（embed_tokens、layers、self_attn、mlp、norm、lm_head）与 MiniMind、transformers 的同名。

运行：python 05-transformer-block-demo.py（需要 torch，CPU 就够）
"""

# --8<-- [start:imports]
import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

# --8<-- [end:imports]

# --8<-- [bundle:03-attention-demo.py:checks,rms_norm,precompute_freqs_cis,apply_rotary_pos_emb,repeat_kv,keep_mask,masked_softmax,simple_attention,show]
# isort: split
import importlib

_attention = importlib.import_module("03-attention-demo")
check_positive = _attention.check_positive
at_least_fp32 = _attention.at_least_fp32
SimpleRMSNorm = _attention.SimpleRMSNorm
precompute_freqs_cis = _attention.precompute_freqs_cis
SimpleAttention = _attention.SimpleAttention
show = _attention.show
# --8<-- [end-bundle]


# --8<-- [bundle:04-mlp-moe-demo.py:check_hidden,ffn_width,swiglu]
SwiGLU = importlib.import_module("04-mlp-moe-demo").SwiGLU
# --8<-- [end-bundle]


# --8<-- [start:config]
@dataclass(frozen=True)
class ModelConfig:
    """一个 decoder-only 模型的全部尺寸；缺省值是几秒钟就能训练的小模型。

    Raises:
        ValueError: 某个尺寸不是正整数。头数不整除、head_dim 是奇数等由 SimpleAttention 拒绝。
    """

    vocab_size: int = 64  # V
    hidden_size: int = 32  # C
    n_layers: int = 3  # L
    n_heads: int = 4  # H
    n_kv_heads: int = 2  # Hkv
    head_dim: int = 8  # D
    intermediate_size: int = 64  # 前馈网络中间的宽度
    max_positions: int = 64  # RoPE 表的行数：最长的序列
    rope_base: float = 10000.0
    qk_norm: bool = True
    tie_weights: bool = True  # 词嵌入与 LM head 共用一个矩阵

    def __post_init__(self):
        check_positive(vocab_size=self.vocab_size, n_layers=self.n_layers, max_positions=self.max_positions)
# --8<-- [end:config]


# --8<-- [start:count_parameters]
def count_parameters(config):
    """按公式数参数，返回 {部分: 个数}；所有线性层都没有偏置。"""
    C, D, L = config.hidden_size, config.head_dim, config.n_layers
    q_width, kv_width = config.n_heads * D, config.n_kv_heads * D
    parts = {
        "词嵌入": config.vocab_size * C,
        "注意力的四个投影": L * (2 * C * q_width + 2 * C * kv_width),  # q、o 各 C * H * D；k、v 各 C * Hkv * D
        "QK-Norm": L * 2 * D if config.qk_norm else 0,
        "前馈网络": L * 3 * C * config.intermediate_size,  # gate、up、down
        "每层的两个归一化": L * 2 * C,
        "最后的归一化": C,
        "LM head": 0 if config.tie_weights else config.vocab_size * C,  # 共享时不再数一遍
    }
    return parts
# --8<-- [end:count_parameters]


# --8<-- [start:transformer_block]
class TransformerBlock(nn.Module):
    """Pre-Norm 的一层：x [B, T, C] -> x [B, T, C]，两个子层都把结果加回残差流。

    x = x + 注意力(归一化(x))：在位置之间搬运信息；
    x = x + 前馈(归一化(x))：在每个位置上各自加工。
    来源：Xiong 等，On Layer Normalization in the Transformer Architecture，2020，图 1 (b)。
    """

    def __init__(self, config):
        super().__init__()
        C = config.hidden_size
        self.input_layernorm = SimpleRMSNorm(C)
        self.self_attn = SimpleAttention(C, config.n_heads, config.n_kv_heads, config.head_dim)
        self.post_attention_layernorm = SimpleRMSNorm(C)
        self.mlp = SwiGLU(C, config.intermediate_size)
        if not config.qk_norm:
            self.self_attn.q_norm = self.self_attn.k_norm = nn.Identity()

    def forward(self, x, cos, sin, past_kv=None, use_cache=False):
        """返回 (x [B, T, C], 这一层的缓存)；参数与 SimpleAttention.forward 相同。"""
        read, past_kv = self.self_attn(self.input_layernorm(x), cos, sin, past_kv, use_cache)  # [B, T, C]
        x = x + read  # [B, T, C]
        x = x + self.mlp(self.post_attention_layernorm(x))  # [B, T, C]
        return x, past_kv
# --8<-- [end:transformer_block]


# --8<-- [start:next_token_loss]
def next_token_loss(logits, labels, ignore_index=-100):
    """平均交叉熵：位置 t 的 logits 对位置 t + 1 的标签；logits [B, T, V]，labels [B, T]，返回标量。

    labels 与 input_ids 对齐（通常就是它的一份拷贝），移一位在这里做，只做这一次。
    标签是 ignore_index 的位置不计入总和，也不计入个数。

    Raises:
        ValueError: shape 对不上；少于 2 个词元；标签不在 0 到 V - 1；没有一个标签要算（平均数会是 0/0）。
    """
    if logits.dim() != 3 or labels.shape != logits.shape[:2]:
        raise ValueError(f"logits 是 {list(logits.shape)}，labels 是 {list(labels.shape)}：应是 [B, T, V] 与 [B, T]")
    B, T, V = logits.shape
    if T < 2:
        raise ValueError(f"序列只有 {T} 个词元：没有下一个词元可以预测")
    predictions, targets = logits[:, :-1], labels[:, 1:]  # [B, T - 1, V]，[B, T - 1]
    counted = targets != ignore_index  # [B, T - 1]
    if not counted.any():
        raise ValueError(f"{targets.numel()} 个标签都是 ignore_index = {ignore_index}：没有可以求平均的损失")
    check_ids("标签", targets[counted], V)
    return F.cross_entropy(
        at_least_fp32(predictions).reshape(-1, V), targets.reshape(-1), ignore_index=ignore_index
    )  # 标量


def check_ids(name, ids, vocab_size):
    """要求 ids 是整数，且都在 0 到 vocab_size - 1；否则抛出 ValueError。"""
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name}应是整数编号，得到 {ids.dtype}")
    low, high = ids.min().item(), ids.max().item()
    if low < 0 or high >= vocab_size:
        wrong = low if low < 0 else high
        raise ValueError(f"{name}里有编号 {wrong}：词表只有 {vocab_size} 个词元，编号应在 0 到 {vocab_size - 1}")
# --8<-- [end:next_token_loss]


# --8<-- [start:decoder_model]
class ModelOutput(NamedTuple):
    """一次前向的结果。"""

    logits: torch.Tensor  # [B, T, V]，或只有最后几个位置
    loss: torch.Tensor | None  # 标量；没有给标签时是 None
    past_kvs: list | None  # 每层一份缓存；use_cache=False 时是 None


class DecoderModel(nn.Module):
    """decoder-only 语言模型：input_ids [B, T] -> logits [B, T, V]。

    词嵌入 -> n_layers 个 TransformerBlock -> 最后的 RMSNorm -> LM head。
    权重共享：Press 与 Wolf，Using the Output Embedding to Improve Language Models，2017，第 3 节。
    初始化：线性层与词嵌入用标准差 init_std 的正态分布，归一化的 weight 全是 1。

    Raises:
        ValueError: 配置里的尺寸不合法。
    """

    def __init__(self, config, init_std=0.02):
        super().__init__()
        self.config = config
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)  # [V, C]
        self.layers = nn.ModuleList(TransformerBlock(config) for _ in range(config.n_layers))
        self.norm = SimpleRMSNorm(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)  # weight 是 [V, C]
        if config.tie_weights:
            self.lm_head.weight = self.embed_tokens.weight  # 同一个张量，不是拷贝
        for module in self.modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=init_std)
        # 不登记成 buffer：model.to(torch.bfloat16) 不会把角度的表也降成 bf16
        self.rope = precompute_freqs_cis(config.head_dim, config.max_positions, config.rope_base)

    def forward(self, input_ids, labels=None, past_kvs=None, use_cache=False, logits_to_keep=0):
        """返回 ModelOutput(logits, loss, past_kvs)。

        labels 与 input_ids 对齐，[B, T]；移一位由 next_token_loss 做。
        logits_to_keep = n 时只算最后 n 个位置的 logits；0 表示全部。
        past_kvs 是上一次返回的缓存，每层一份；新词元接在它后面。

        Raises:
            ValueError: 词元编号越界；序列是空的；位置超出 max_positions；缓存对不上；logits_to_keep 不合法。
        """
        self.check_inputs(input_ids, labels, past_kvs, logits_to_keep)
        cos, sin = (table.to(input_ids.device) for table in self.rope)  # [end, D]，[end, D]
        x = self.embed_tokens(input_ids)  # [B, T, C]
        new_kvs = []
        for i, layer in enumerate(self.layers):
            past_kv = None if past_kvs is None else past_kvs[i]
            x, new_kv = layer(x, cos, sin, past_kv, use_cache)  # [B, T, C]
            new_kvs.append(new_kv)
        x = self.norm(x[:, -logits_to_keep:])  # [B, T 或 n, C]；-0 就是 0，即全部
        logits = self.lm_head(x)  # [B, T 或 n, V]
        loss = None if labels is None else next_token_loss(logits, labels)
        return ModelOutput(logits, loss, new_kvs if use_cache else None)

    def check_inputs(self, input_ids, labels, past_kvs, logits_to_keep):
        """核对 forward 的参数；有错就抛出 ValueError，句子里写明数字。"""
        if input_ids.dim() != 2:
            raise ValueError(f"input_ids 是 {list(input_ids.shape)}，应是 [batch, seq]")
        B, T = input_ids.shape
        if input_ids.numel() == 0:
            raise ValueError(f"input_ids 是 {list(input_ids.shape)}：序列是空的，至少要有 1 个词元")
        check_ids("input_ids ", input_ids, self.config.vocab_size)
        if not 0 <= logits_to_keep <= T:
            raise ValueError(f"logits_to_keep = {logits_to_keep}，应在 0 到 {T} 之间：这次只有 {T} 个词元")
        if labels is not None and logits_to_keep:
            raise ValueError(f"给了标签就要全部 {T} 个位置的 logits，logits_to_keep 应是 0，得到 {logits_to_keep}")
        past = 0
        if past_kvs is not None:
            if len(past_kvs) != len(self.layers):
                raise ValueError(f"缓存有 {len(past_kvs)} 层，模型有 {len(self.layers)} 层")
            lengths = [k.shape[1] for k, _ in past_kvs]
            if len(set(lengths)) > 1:
                raise ValueError(f"各层缓存的长度应相同，得到 {lengths}")
            past = lengths[0]
        if past + T > self.config.max_positions:
            raise ValueError(
                f"位置 {past + T - 1} 超出 RoPE 表：缓存有 {past} 个词元，新来 {T} 个，"
                f"max_positions 是 {self.config.max_positions}"
            )
# --8<-- [end:decoder_model]


# --8<-- [start:generate]
@torch.no_grad()
def generate(model, input_ids, max_new_tokens, use_cache=True, chunk=None, temperature=0.0, generator=None):
    """在 input_ids [B, T] 后面逐个生成，返回 [B, T + max_new_tokens]。

    use_cache=True：先预填充提示词，之后每步只送 1 个新词元；False：每步把整段重算。
    chunk：预填充每次最多送几个词元；缺省一次送完。分块只是换一种走法，结果不变。
    temperature = 0 取分数最高的词元（贪心解码）；大于 0 则按 softmax(logits / temperature) 抽样。

    Raises:
        ValueError: max_new_tokens 或 chunk 不是正整数；temperature 是负数；生成到最后会超出 max_positions。
    """
    check_positive(max_new_tokens=max_new_tokens, chunk=1 if chunk is None else chunk)
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature 应是有限的非负数，得到 {temperature}")
    total = input_ids.shape[-1] + max_new_tokens - 1  # 最后一个词元只写出，不再送进模型
    if total > model.config.max_positions:
        raise ValueError(
            f"提示词 {input_ids.shape[-1]} 个，再生成 {max_new_tokens} 个，要送 {total} 个进模型，"
            f"超过 max_positions = {model.config.max_positions}"
        )
    ids, fresh, past_kvs = input_ids, input_ids, None  # fresh：还没有进缓存的词元
    for _ in range(max_new_tokens):
        if use_cache:
            for piece in fresh.split(chunk or max(1, fresh.shape[1]), dim=1):
                logits, _, past_kvs = model(piece, past_kvs=past_kvs, use_cache=True, logits_to_keep=1)
        else:
            logits, _, _ = model(ids, logits_to_keep=1)
        logits = logits[:, -1]  # [B, V]
        if temperature:
            weights = (at_least_fp32(logits) / temperature).softmax(dim=-1)  # [B, V]
            fresh = torch.multinomial(weights, 1, generator=generator)  # [B, 1]
        else:
            fresh = logits.argmax(dim=-1, keepdim=True)  # [B, 1]
        ids = torch.cat([ids, fresh], dim=1)  # [B, T + 1]
    return ids
# --8<-- [end:generate]


# --8<-- [start:example_1]
def example_1_forward():
    """从词元编号到 logits：编号查表变成向量，每层不改 shape，最后一个矩阵给每个词打分。"""
    print("例 1  整体前向：input_ids 到 logits")
    torch.manual_seed(1)
    model = DecoderModel(ModelConfig())
    input_ids = torch.randint(0, 64, (2, 10))  # [B, T]
    x = model.embed_tokens(input_ids)  # [B, T, C]
    show("input_ids", input_ids, "batch, seq")
    show("词嵌入", x, "batch, seq, hidden")
    for i, layer in enumerate(model.layers):
        x, _ = layer(x, *model.rope)  # [B, T, C]
        show(f"第 {i} 层的输出", x, "batch, seq, hidden")
    logits = model.lm_head(model.norm(x))  # [B, T, V]
    show("logits", logits, "batch, seq, vocab")
    assert logits.shape == (2, 10, 64)
    assert torch.equal(logits, model(input_ids).logits)
    last = model(input_ids, logits_to_keep=1).logits  # [B, 1, V]
    torch.testing.assert_close(last, logits[:, -1:], atol=1e-5, rtol=0)
    show("logits_to_keep=1", last, "batch, 1, vocab")
# --8<-- [end:example_1]


# --8<-- [start:example_2]
def example_2_residual_stream():
    """残差流：最后的隐藏状态等于词嵌入加上每个子层写进去的更新；子层全写 0，整个模型就是恒等。"""
    print("例 2  残差流：每个子层只往上加")
    torch.manual_seed(2)
    model = DecoderModel(ModelConfig()).double()
    input_ids = torch.randint(0, 64, (2, 10))  # [B, T]
    x = embedded = model.embed_tokens(input_ids)  # [B, T, C]
    updates = []
    for layer in model.layers:
        read, _ = layer.self_attn(layer.input_layernorm(x), *model.rope)  # [B, T, C]
        updates.append(read)
        wrote = layer.mlp(layer.post_attention_layernorm(x + read))  # [B, T, C]
        updates.append(wrote)
        x, _ = layer(x, *model.rope)  # [B, T, C]
    assert len(updates) == 2 * len(model.layers) == 6
    torch.testing.assert_close(x, embedded + sum(updates), atol=1e-12, rtol=0)
    print("  最后的隐藏状态 = 词嵌入 + 6 个子层的更新（误差 < 1e-12）：成立")

    with torch.no_grad():
        for layer in model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
    x = embedded
    for layer in model.layers:
        x, _ = layer(x, *model.rope)  # [B, T, C]
    assert torch.equal(x, embedded)
    print("  把每层的 o_proj 与 down_proj 置零，3 层之后仍是词嵌入，一位不差：成立")
# --8<-- [end:example_2]


# --8<-- [start:example_3]
def example_3_parameters():
    """参数个数等于公式；共享的词嵌入与 LM head 是同一个张量，只数一次，梯度也加在一起。"""
    print("例 3  参数个数与权重共享")
    for tie in (True, False):
        config = ModelConfig(tie_weights=tie)
        model = DecoderModel(config)
        built = sum(p.numel() for p in model.parameters())  # parameters() 对同一个张量只给一次
        assert built == sum(count_parameters(config).values())
        print(f"  {'共享' if tie else '不共享'}：{built} 个参数，等于公式")
    config = ModelConfig()
    for part, count in count_parameters(config).items():
        print(f"    {part}: {count}")

    model = DecoderModel(config)
    assert model.lm_head.weight is model.embed_tokens.weight
    model(torch.tensor([[3, 5, 3]]), labels=torch.tensor([[3, 5, 3]])).loss.backward()
    assert model.lm_head.weight.grad is model.embed_tokens.weight.grad
    with torch.no_grad():
        model.embed_tokens.weight[7] += 1.0
    assert torch.equal(model.lm_head.weight[7], model.embed_tokens.weight[7])
    print("  共享的是同一个张量，改一个就改了另一个：成立")
# --8<-- [end:example_3]


# --8<-- [start:example_4]
def example_4_label_shift():
    """标签移一位：5 个词元只有 4 个预测；手算的交叉熵等于 F.cross_entropy；ignore_index 不进分子也不进分母。"""
    print("例 4  标签移一位与交叉熵")
    torch.manual_seed(4)
    model = DecoderModel(ModelConfig()).double()
    text = ["床", "前", "明", "月", "光"]
    input_ids = torch.tensor([[11, 12, 13, 14, 15]])  # [B = 1, T = 5]
    logits, loss, _ = model(input_ids, labels=input_ids)  # [1, 5, V]，标量
    for t in range(4):
        print(f"  位置 {t} 读到“{text[t]}”，要预测“{text[t + 1]}”")
    print(f"  位置 4 读到“{text[4]}”，后面没有词元，不算损失")

    log_p = logits - logits.exp().sum(-1, keepdim=True).log()  # [1, 5, V]，log softmax
    terms = [-log_p[0, t, input_ids[0, t + 1]] for t in range(4)]
    by_hand = sum(terms) / 4
    torch.testing.assert_close(by_hand, loss, atol=1e-12, rtol=0)
    torch.testing.assert_close(F.cross_entropy(logits[0, :4], input_ids[0, 1:]), loss, atol=1e-12, rtol=0)
    print("  手算的平均数 = F.cross_entropy = 模型的 loss（误差 < 1e-12）：成立")

    labels = torch.tensor([[-100, -100, -100, 14, 15]])  # 只算最后两个标签
    _, partial, _ = model(input_ids, labels=labels)
    torch.testing.assert_close(partial, (terms[2] + terms[3]) / 2, atol=1e-12, rtol=0)
    print("  前 3 个标签写成 -100：只剩 2 项，除以 2 而不是 4：成立")
# --8<-- [end:example_4]


# --8<-- [start:example_5]
def example_5_initial_loss():
    """初始损失：logits 的标准差是 s 时，损失约为 ln V + s * s / 2；s = std * sqrt(C)。"""
    print("例 5  初始损失：V = 6400，C = 768")
    config = ModelConfig(6400, 768, 1, 8, 4, 96, 768)  # 只有 1 层：初始损失与层数几乎无关
    uniform = math.log(config.vocab_size)
    print(f"  均匀猜测：ln 6400 = {uniform:.2f}")
    for std in (0.02, 1.0):
        torch.manual_seed(5)
        model = DecoderModel(config, init_std=0.02)
        nn.init.normal_(model.embed_tokens.weight, std=std)  # LM head 共享它
        input_ids = torch.randint(0, 6400, (8, 64))  # [B, T]
        with torch.no_grad():
            loss = model(input_ids, labels=input_ids).loss.item()
        if std == 0.02:
            expected = uniform + std**2 * config.hidden_size / 2
            assert abs(loss - expected) < 0.1
            print(f"  词嵌入的标准差 0.02：预计 ln V + 0.02 * 0.02 * 768 / 2 = {expected:.2f}，实测相差不到 0.1")
        else:
            assert loss > 100
            print("  词嵌入的标准差 1（nn.Embedding 的缺省值），又与 LM head 共享：损失 > 100")
# --8<-- [end:example_5]


# --8<-- [start:example_6]
def example_6_overfit():
    """一个批可以背下来：损失降到 0.05 以下，说明前向、损失、梯度、更新连成了一条路。"""
    print("例 6  背下一个批")
    torch.manual_seed(6)
    model = DecoderModel(ModelConfig(n_layers=2))
    input_ids = torch.randint(0, 64, (4, 12))  # [B, T]，随机的编号，没有规律可学，只能背
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    before = model(input_ids, labels=input_ids).loss.item()
    for _ in range(100):
        loss = model(input_ids, labels=input_ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    after = model(input_ids, labels=input_ids).loss.item()
    assert abs(before - math.log(64)) < 0.3 and after < 0.05
    print(f"  训练前：与 ln 64 = {math.log(64):.2f} 相差不到 0.3")
    print("  100 步以后：损失 < 0.05")
# --8<-- [end:example_6]


# --8<-- [start:example_7]
def example_7_causality():
    """穿过所有层的因果性：改动词元 t，它之前的 logits 一位不差，它自己与之后的都变。"""
    print("例 7  改动未来，过去的 logits 不变")
    torch.manual_seed(7)
    model = DecoderModel(ModelConfig(), init_std=0.2)
    input_ids = torch.randint(0, 64, (2, 10))  # [B, T]
    with torch.no_grad():
        whole = model(input_ids).logits  # [B, T, V]
        for t in range(10):
            changed = input_ids.clone()  # [B, T]
            changed[:, t] = (changed[:, t] + 1) % 64
            moved = model(changed).logits  # [B, T, V]
            assert torch.equal(moved[:, :t], whole[:, :t])
            assert ((moved[:, t:] - whole[:, t:]).abs().amax(dim=(0, 2)) > 1e-6).all()  # 从 t 起每个位置都动了
    print("  依次改动 10 个词元，3 层之后它之前的 logits 一位不差，从它起每个位置都变了：成立")
# --8<-- [end:example_7]


# --8<-- [start:example_8]
def example_8_generation():
    """有没有缓存、预填充分不分块，logits 相同，贪心解码得到同样的词元。"""
    print("例 8  生成：缓存不改变结果")
    torch.manual_seed(8)
    model = DecoderModel(ModelConfig(), init_std=0.2).double()
    prompt = torch.randint(0, 64, (2, 7))  # [B, T]
    with torch.no_grad():
        whole = model(prompt).logits  # [B, T, V]
        for name, sizes in (("逐个 1 x 7", [1] * 7), ("分块 3 + 4", [3, 4])):
            parts, past_kvs = [], None
            for piece in prompt.split(sizes, dim=1):
                logits, _, past_kvs = model(piece, past_kvs=past_kvs, use_cache=True)  # [B, 块长, V]
                parts.append(logits)
            torch.testing.assert_close(torch.cat(parts, dim=1), whole, atol=1e-10, rtol=0)
            print(f"  {name}：logits 与一次算完相差 < 1e-10：成立")
    expected = generate(model, prompt, 20, use_cache=False)  # [B, 27]
    for name, chunk in (("一次预填充", None), ("每次预填充 3 个", 3), ("逐个预填充", 1)):
        assert torch.equal(generate(model, prompt, 20, chunk=chunk), expected)
        print(f"  {name}，再用缓存生成 20 个：词元与不用缓存时相同：成立")
    show("结果", expected, "batch, 7 + 20")
# --8<-- [end:example_8]


# --8<-- [start:example_9]
def example_9_gradients():
    """反向传播算出的梯度与数值差商一致：float64，逐个参数检查。"""
    print("例 9  梯度检查")
    torch.manual_seed(9)
    config = ModelConfig(5, 4, 2, 2, 1, 2, 4, max_positions=4)
    model = DecoderModel(config, init_std=0.5).double()
    input_ids = torch.tensor([[0, 3, 1, 4], [2, 2, 0, 1]])  # [B, T]
    names, values = zip(*((n, p.detach().clone().requires_grad_()) for n, p in model.named_parameters()))

    def loss_of(*parameters):
        return torch.func.functional_call(model, dict(zip(names, parameters)), (input_ids, input_ids)).loss

    assert torch.autograd.gradcheck(loss_of, values)
    count = sum(v.numel() for v in values)
    print(f"  2 层的小模型，{len(values)} 个张量、{count} 个参数：逐个与差商一致：成立")
# --8<-- [end:example_9]


# --8<-- [start:main]
def main():
    """按顺序运行九个例子。"""
    torch.set_num_threads(1)  # 张量都很小，多个线程只会互相等待
    example_1_forward()
    example_2_residual_stream()
    example_3_parameters()
    example_4_label_shift()
    example_5_initial_loss()
    example_6_overfit()
    example_7_causality()
    example_8_generation()
    example_9_gradients()


if __name__ == "__main__":
    main()
# --8<-- [end:main]
