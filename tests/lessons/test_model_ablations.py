"""整个模型的消融：在已发布的文件里改坏一处，指定的检查必须失败；同一个检查在原版上必须通过。"""

import model_checks as check
import pytest
import torch

BLOCK_READ = "        x = x + read  # [B, T, C]\n"
NORMED_READ = "self.self_attn(self.input_layernorm(x), cos, sin, past_kv, use_cache)"
BLOCK_MLP = "x = x + self.mlp(self.post_attention_layernorm(x))"
TIED = "self.lm_head.weight = self.embed_tokens.weight  #"
SHIFT = "predictions, targets = logits[:, :-1], labels[:, 1:]"

# (名字, 改动, 必须失败的检查[, 失败的方式])
ABLATIONS = [
    # ---- Block：归一化的次序与残差 ----
    (
        "post-norm-instead-of-pre-norm",
        [
            (NORMED_READ, "self.self_attn(x, cos, sin, past_kv, use_cache)"),
            (BLOCK_READ, "        x = self.input_layernorm(x + read)\n"),
            (BLOCK_MLP, "x = self.post_attention_layernorm(x + self.mlp(x))"),
        ],
        check.equals_reference,
    ),
    (
        "post-norm-breaks-identity",
        [
            (NORMED_READ, "self.self_attn(x, cos, sin, past_kv, use_cache)"),
            (BLOCK_READ, "        x = self.input_layernorm(x + read)\n"),
            (BLOCK_MLP, "x = self.post_attention_layernorm(x + self.mlp(x))"),
        ],
        check.silent_sublayers_are_identity,
    ),
    (
        "two-norms-swapped",
        [
            (NORMED_READ, "self.self_attn(self.post_attention_layernorm(x), cos, sin, past_kv, use_cache)"),
            (BLOCK_MLP, "x = x + self.mlp(self.input_layernorm(x))"),
        ],
        check.equals_reference,
    ),
    ("attention-not-normed", [(NORMED_READ, "self.self_attn(x, cos, sin, past_kv, use_cache)")], check.equals_reference),
    ("mlp-not-normed", [(BLOCK_MLP, "x = x + self.mlp(x)")], check.equals_reference),
    ("residual-missing-after-attention", [(BLOCK_READ, "        x = read\n")], check.silent_sublayers_are_identity),
    (
        "residual-missing-after-mlp",
        [(BLOCK_MLP, "x = self.mlp(self.post_attention_layernorm(x))")],
        check.silent_sublayers_are_identity,
    ),
    (
        "residual-adds-the-normed-input",
        [(BLOCK_READ, "        x = self.input_layernorm(x) + read\n")],
        check.silent_sublayers_are_identity,
    ),
    (
        "mlp-before-attention-result",
        [(BLOCK_READ, ""), (BLOCK_MLP, "x = x + read + self.mlp(self.post_attention_layernorm(x))")],
        check.equals_reference,
    ),
    ("final-norm-missing", [("x = self.norm(x[:, -logits_to_keep:])", "x = x[:, -logits_to_keep:]")], check.equals_reference),
    (
        "layers-share-the-first",
        [("in enumerate(self.layers):", "in enumerate([self.layers[0]] * len(self.layers)):")],
        check.equals_reference,
    ),
    ("qk-norm-ignored", [("if not config.qk_norm:", "if True:")], check.parameters_equal_formula),
    ("gate-missing", [("gate = F.silu(self.gate_proj(x))", "gate = 1")], check.equals_reference),
    # ---- 权重共享与初始化 ----
    (
        "tied-weights-untied",
        [(TIED, "self.lm_head.weight = nn.Parameter(self.embed_tokens.weight.detach().clone())  #")],
        check.tied_is_one_tensor,
    ),
    (
        "tied-weights-untied-counted-twice",
        [(TIED, "self.lm_head.weight = nn.Parameter(self.embed_tokens.weight.detach().clone())  #")],
        check.parameters_equal_formula,
    ),
    ("init-missing", [("nn.init.normal_(module.weight, std=init_std)", "pass")], check.initial_loss_is_near_uniform),
    ("init-std-1", [("std=init_std", "std=1.0")], check.initial_loss_is_near_uniform),
    # ---- 损失 ----
    ("label-shift-missing", [(SHIFT, "predictions, targets = logits, labels")], check.loss_equals_definition),
    ("label-shift-double", [(SHIFT, "predictions, targets = logits[:, :-2], labels[:, 2:]")], check.loss_equals_definition),
    ("label-shift-backwards", [(SHIFT, "predictions, targets = logits[:, 1:], labels[:, :-1]")], check.loss_equals_definition),
    (
        "ignored-labels-in-the-mean",
        [
            (
                "at_least_fp32(predictions).reshape(-1, V), targets.reshape(-1), ignore_index=ignore_index",
                (
                    "at_least_fp32(predictions).reshape(-1, V), targets.reshape(-1), ignore_index=ignore_index,"
                    " reduction='sum') / (targets.numel()"
                ),
            )
        ],
        check.ignored_labels_do_not_count,
    ),
    # ---- 掩码、缩放、轴：穿过所有层 ----
    (
        "mask-removed",
        [("masked_softmax(scores, keep_mask(T, past, x.device))", "scores.softmax(dim=-1)")],
        check.future_does_not_leak,
    ),
    ("mask-off-by-one", [(".tril(past)", ".tril(past + 1)")], check.future_does_not_leak),
    ("mask-aligned-to-start", [(".tril(past)", ".tril()")], check.cached_equals_uncached),
    ("scale-missing", [(" / math.sqrt(self.head_dim)", "")], check.equals_reference),
    ("scale-by-heads", [("math.sqrt(self.head_dim)", "math.sqrt(self.n_heads)")], check.equals_reference),
    ("softmax-axis", [("wide.softmax(dim=-1)", "wide.softmax(dim=-2)")], check.future_does_not_leak),
    (
        "rope-interleaved",
        [
            ("a, b = x.chunk(2, dim=-1)", "a, b = x[..., ::2], x[..., 1::2]"),
            ("torch.cat([-b, a], dim=-1)", "torch.stack([-b, a], dim=-1).flatten(-2)"),
            ("torch.cat([angle, angle], dim=-1)", "angle.repeat_interleave(2, dim=-1)"),
        ],
        check.equals_reference,
    ),
    ("rope-base-ignored", [("config.max_positions, config.rope_base)", "config.max_positions)")],
     lambda m: check.equals_reference(m, rope_base=100.0)),
    (
        "rope-table-lowered",
        [
            (
                "self.rope = precompute_freqs_cis(config.head_dim, config.max_positions, config.rope_base)",
                (
                    "for n, t in zip('ab', precompute_freqs_cis(config.head_dim, config.max_positions, config.rope_base)):"
                    " self.register_buffer(n, t)\n    rope = property(lambda self: (self.a, self.b))"
                ),
            )
        ],
        check.rope_table_keeps_fp32,
    ),
    # ---- 缓存 ----
    (
        "cache-offset-missing",
        [("cos[past : past + T], sin[past : past + T]", "cos[:T], sin[:T]")],
        check.cached_equals_uncached,
    ),
    (
        "cache-of-the-first-layer-everywhere",
        [("else past_kvs[i]", "else past_kvs[0]")],
        check.cached_equals_uncached,
    ),
    ("cache-not-used", [("past_kv = None if past_kvs is None else past_kvs[i]", "past_kv = None")], check.cached_equals_uncached),
    (
        "cache-lost-in-generation",
        [("past_kvs=past_kvs, use_cache=True, logits_to_keep=1", "past_kvs=None, use_cache=True, logits_to_keep=1")],
        check.generation_ignores_cache,
    ),
    (
        "whole-text-sent-again",
        [("for piece in fresh.split(chunk or max(1, fresh.shape[1]), dim=1):", "for piece in [ids]:")],
        check.generation_ignores_cache,
        ValueError,  # 词元重复送进去，很快超出 RoPE 表
    ),
    ("first-logits-kept", [("x[:, -logits_to_keep:]", "x[:, :logits_to_keep or None]")], check.last_logits_are_the_last),
    (
        "generation-reads-the-prompt-only",
        [("logits, _, _ = model(ids, logits_to_keep=1)", "logits, _, _ = model(input_ids, logits_to_keep=1)")],
        check.generation_ignores_cache,
    ),
    # ---- 梯度 ----
    ("gradient-cut-at-attention", [(BLOCK_READ, "        x = x + read.detach()\n")], check.gradients_are_right),
    ("gradient-cut-at-head", [("logits = self.lm_head(x)", "logits = self.lm_head(x.detach())")], check.gradients_are_right),
    (
        "gradient-cut-cannot-memorise",
        [("logits = self.lm_head(x)", "logits = self.lm_head(x.detach())")],
        check.one_batch_can_be_memorised,
    ),
]  # fmt: skip

CASES = [pytest.param(*row[1:3], row[3] if len(row) > 3 else AssertionError, id=row[0]) for row in ABLATIONS]


@pytest.fixture(scope="module")
def original():
    """已发布的原版；每个检查在它上面只需要通过一次。"""
    module, passed = check.load_published(), set()

    def passes(named_check):
        if named_check not in passed:
            named_check(module)
            passed.add(named_check)

    return passes


@pytest.mark.parametrize(("changes", "named_check", "failure"), CASES)
def test_ablation_is_caught(original, changes, named_check, failure):
    original(named_check)
    mutant = check.load_published(check.DEMO, *changes)
    with pytest.raises(failure):
        named_check(mutant)


def test_swapped_norms_are_invisible_while_weights_are_one():
    """两个归一化的权重全是 1 时，用谁都一样：只测刚初始化的模型，看不出它们换了位置。"""
    changes = next(row[1] for row in ABLATIONS if row[0] == "two-norms-swapped")
    ids = torch.arange(6).view(1, 6)
    results = []
    for module in (check.load_published(), check.load_published(check.DEMO, *changes)):
        torch.manual_seed(0)
        results.append(module.DecoderModel(module.ModelConfig())(ids).logits)
    assert torch.equal(*results)


def test_double_shift_is_invisible_to_shapes_and_still_trains():
    """标签移了两次，损失照样能降到接近 0：模型学会的是隔一个词元的预测，只有定义查得出来。"""
    changes = next(row[1] for row in ABLATIONS if row[0] == "label-shift-double")
    module = check.load_published(check.DEMO, *changes)
    torch.manual_seed(0)
    model = module.DecoderModel(module.ModelConfig(n_layers=1))
    ids = check.ids_for(model, 2, 10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(100):
        loss = model(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    logits, loss, _ = model(ids, labels=ids)
    assert loss < 0.05
    assert torch.equal(logits[:, :-2].argmax(-1), ids[:, 2:])
