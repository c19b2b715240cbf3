"""整个模型的检查：每个都接受一个模块（05-transformer-block-demo.py 的原版，或改坏的版本），不成立就断言失败。

改坏的是已发布的文件：并入的定义（掩码、缩放、RoPE……）也在里面，所以一处改动穿过整个模型。
相等都在 float64 里比较。
"""

import math

import torch
import torch.nn.functional as F
from lesson_files import CODE, load
from torch_checks import close, rope

from livedocs.publish import published

DEMO = "05-transformer-block-demo.py"


def load_published(name=DEMO, *replacements):
    """装入已发布的文件；每一处 (原文, 改成) 的原文都必须恰好出现一次。

    Raises:
        LookupError: 原文没有出现，或出现了多次。
    """
    text = published(CODE / name)
    for old, new in replacements:
        if text.count(old) != 1:
            raise LookupError(f"{name} 里应恰好有一处 {old!r}，实际有 {text.count(old)} 处：请更新这条改动")
        text = text.replace(old, new)
    return load(name, text)


def build(m, seed=0, init_std=0.3, dtype=torch.float64, **sizes):
    """随机的模型：归一化的权重也随机，否则看不出次序错了。"""
    torch.manual_seed(seed)
    model = m.DecoderModel(m.ModelConfig(**sizes), init_std=init_std)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.copy_(0.5 + torch.rand_like(parameter))
    return model.to(dtype)


def ids_for(model, B=2, T=9, seed=0):
    """随机的词元编号 [B, T]。"""
    return torch.randint(0, model.config.vocab_size, (B, T), generator=torch.Generator().manual_seed(seed))


def reference_hidden(model, input_ids):
    """只用 PyTorch 自带的函数重算最后的隐藏状态：不用课程里的任何一个定义，只读它的权重。"""
    c, T = model.config, input_ids.shape[1]
    x = F.embedding(input_ids, model.embed_tokens.weight)
    for layer in model.layers:
        attn, mlp = layer.self_attn, layer.mlp
        y = F.rms_norm(x, (c.hidden_size,), layer.input_layernorm.weight, 1e-6)
        q, k, v = (
            F.linear(y, p.weight).unflatten(-1, (-1, c.head_dim)) for p in (attn.q_proj, attn.k_proj, attn.v_proj)
        )
        if c.qk_norm:
            q = F.rms_norm(q, (c.head_dim,), attn.q_norm.weight, 1e-6)
            k = F.rms_norm(k, (c.head_dim,), attn.k_norm.weight, 1e-6)
        q, k = (rope(t, torch.arange(T), c.rope_base).transpose(1, 2) for t in (q, k))
        read = F.scaled_dot_product_attention(q, k, v.transpose(1, 2), is_causal=True, enable_gqa=True)
        x = x + F.linear(read.transpose(1, 2).flatten(2), attn.o_proj.weight)
        y = F.rms_norm(x, (c.hidden_size,), layer.post_attention_layernorm.weight, 1e-6)
        gate = F.silu(F.linear(y, mlp.gate_proj.weight)) * F.linear(y, mlp.up_proj.weight)
        x = x + F.linear(gate, mlp.down_proj.weight)
    return F.rms_norm(x, (c.hidden_size,), model.norm.weight, 1e-6)


def equals_reference(m, B=2, T=9, seed=0, **sizes):
    """整个模型的 logits 与自带函数拼成的参考实现相同（表是 fp32 的，所以容差 1e-6）。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, B, T, seed)
    with torch.no_grad():
        close(model(ids).logits, F.linear(reference_hidden(model, ids), model.lm_head.weight), 1e-6, 1e-6)


def future_does_not_leak(m, T=7, seed=0, **sizes):
    """改动词元 t：它之前的 logits 一位不差，它与之后的都变。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, 2, T, seed)
    with torch.no_grad():
        before = model(ids).logits
        for t in range(T):
            changed = ids.clone()
            changed[:, t] = (changed[:, t] + 1) % model.config.vocab_size
            after = model(changed).logits
            assert torch.equal(after[:, :t], before[:, :t])
            assert ((after[:, t:] - before[:, t:]).abs().amax(dim=(0, 2)) > 1e-9).all()


def cached_equals_uncached(m, pieces=(4, 1, 1, 3), seed=0, **sizes):
    """不论怎样分块，带缓存算出的 logits 与一次算完相同。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, 2, sum(pieces), seed)
    with torch.no_grad():
        whole, parts, past_kvs = model(ids).logits, [], None
        for piece in ids.split(pieces, dim=1):
            logits, _, past_kvs = model(piece, past_kvs=past_kvs, use_cache=True)
            parts.append(logits)
    close(torch.cat(parts, dim=1), whole)
    assert len(past_kvs) == model.config.n_layers
    shape = (2, sum(pieces), model.config.n_kv_heads, model.config.head_dim)
    assert all(k.shape == v.shape == shape for k, v in past_kvs)


def generation_ignores_cache(m, T=5, new=8, seed=0, **sizes):
    """贪心解码与抽样：有没有缓存、预填充怎样分块，得到同样的词元；抽样也与逐步重算一致。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, 2, T, seed)
    expected = ids
    for _ in range(new):  # 不用 generate：整段重算，取最后一个位置
        with torch.no_grad():
            logits = F.linear(reference_hidden(model, expected), model.lm_head.weight)
        expected = torch.cat([expected, logits[:, -1:].argmax(-1)], dim=1)
    assert torch.equal(m.generate(model, ids, new, use_cache=False), expected)
    for chunk in (None, 1, 2, T):
        assert torch.equal(m.generate(model, ids, new, chunk=chunk), expected)
    sampled = [
        m.generate(model, ids, new, use_cache, None, 0.8, torch.Generator().manual_seed(seed)) for use_cache in (0, 1)
    ]
    assert torch.equal(*sampled)


def last_logits_are_the_last(m, seed=0, **sizes):
    """logits_to_keep = n 就是全部 logits 的最后 n 个位置。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, 2, 6, seed)
    with torch.no_grad():
        whole = model(ids).logits
        for n in (1, 2, 6):
            close(model(ids, logits_to_keep=n).logits, whole[:, -n:])


def loss_equals_definition(m, seed=0, **sizes):
    """损失等于定义：位置 t 的 logits 对词元 t + 1 的负对数概率，求平均；也等于 F.cross_entropy。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, 3, 6, seed)
    with torch.no_grad():
        logits, loss, _ = model(ids, labels=ids)
    terms = []
    for b in range(3):
        for t in range(5):
            row = logits[b, t].tolist()
            terms.append(math.log(sum(math.exp(z) for z in row)) - row[ids[b, t + 1]])
    assert abs(loss.item() - sum(terms) / 15) < 1e-10
    close(loss, F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()))


def ignored_labels_do_not_count(m, seed=0, **sizes):
    """写成 -100 的标签既不进分子，也不进分母；右填充换什么内容，损失都一样。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, 2, 8, seed)
    labels = ids.clone()
    labels[:, 5:] = -100
    with torch.no_grad():
        padded = model(ids, labels=labels).loss
        close(padded, model(ids[:, :5], labels=ids[:, :5]).loss)
        ids[:, 5:] = (ids[:, 5:] + 1) % model.config.vocab_size
        assert torch.equal(model(ids, labels=labels).loss, padded)


def tied_is_one_tensor(m, **sizes):
    """词嵌入与 LM head 是同一个张量：改一个就改了另一个，梯度是两条路之和。"""
    model = build(m, **sizes)
    assert model.lm_head.weight is model.embed_tokens.weight
    assert model.lm_head.weight.data_ptr() == model.embed_tokens.weight.data_ptr()
    ids = ids_for(model, 2, 6)
    model(ids, labels=ids).loss.backward()
    untied = m.DecoderModel(m.ModelConfig(**{**sizes, "tie_weights": False})).double()
    untied.load_state_dict(model.state_dict())
    untied(ids, labels=ids).loss.backward()
    both = untied.embed_tokens.weight.grad + untied.lm_head.weight.grad
    close(model.embed_tokens.weight.grad, both)


def parameters_equal_formula(m, **sizes):
    """参数个数等于公式；共享的张量只数一次。"""
    config = m.ModelConfig(**sizes)
    with torch.device("meta"):
        model = m.DecoderModel(config)
    assert sum(p.numel() for p in model.parameters()) == sum(m.count_parameters(config).values())


def initial_loss_is_near_uniform(m, V=6400, C=768, seed=0):
    """std = 0.02 时，初始损失与 ln V + std * std * C / 2 相差不到 0.1。"""
    torch.manual_seed(seed)
    config = m.ModelConfig(V, C, 1, C // 64, C // 64, 64, C)
    model = m.DecoderModel(config)
    ids = ids_for(model, 8, 64, seed)
    with torch.no_grad():
        loss = model(ids, labels=ids).loss.item()
    assert abs(loss - math.log(V) - 0.02**2 * C / 2) < 0.1


def gradients_are_right(m, seed=0):
    """float64 里，损失对每个参数的梯度与数值差商一致：沿随机的方向查；脚本的例 9 逐个参数查。"""
    model = build(m, seed, 0.5, vocab_size=4, hidden_size=4, n_layers=2, n_heads=2, n_kv_heads=1, head_dim=2,
                  intermediate_size=3, max_positions=4)  # fmt: skip
    ids = torch.tensor([[0, 3, 1], [2, 2, 1]])
    names, values = zip(*((n, p.detach().clone().requires_grad_()) for n, p in model.named_parameters()))

    def loss_of(*parameters):
        return torch.func.functional_call(model, dict(zip(names, parameters)), (ids, ids)).loss

    assert torch.autograd.gradcheck(loss_of, values, raise_exception=False, fast_mode=True)


def one_batch_can_be_memorised(m, seed=0):
    """一个批的损失降到 0.05 以下；训练用的 logits 也确实把每个下一个词元排在第一。"""
    torch.manual_seed(seed)
    model = m.DecoderModel(m.ModelConfig(n_layers=2))
    ids = ids_for(model, 4, 10, seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.0)
    for _ in range(100):
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        logits, loss, _ = model(ids, labels=ids)
    assert loss < 0.05
    assert torch.equal(logits[:, :-1].argmax(-1), ids[:, 1:])


def silent_sublayers_are_identity(m, seed=0, **sizes):
    """o_proj 与 down_proj 全 0 时，每一层都是恒等：残差流一位不差。"""
    model = build(m, seed, **sizes)
    ids = ids_for(model, 2, 6, seed)
    with torch.no_grad():
        x = embedded = model.embed_tokens(ids)
        for layer in model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
            x, _ = layer(x, *model.rope)
    assert torch.equal(x, embedded)


def rope_table_keeps_fp32(m):
    """模型转成 bf16 以后，角度的表仍是 fp32，logits 是 bf16。"""
    model = build(m, dtype=torch.bfloat16)
    tables = m.precompute_freqs_cis(model.config.head_dim, model.config.max_positions, model.config.rope_base)
    assert all(torch.equal(mine, table) for mine, table in zip(model.rope, tables))
    with torch.no_grad():
        assert model(ids_for(model)).logits.dtype == torch.bfloat16
