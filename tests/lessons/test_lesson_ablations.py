"""消融：故意改坏一处，指定的检查必须失败；同一个检查在原版上必须通过。"""

import pytest
import single_checks
import torch_checks as check
from lesson_files import load, mutate

SINGLE, DEMO, SHAPES = "single_head_attention.py", "03-attention-demo.py", "multi_head_shapes.py"

# (名字, 文件, 改动, 必须失败的检查[, 失败的方式])
ABLATIONS = [
    # ---- 单头 ----
    ("single-mask-removed", SINGLE, [("        if causal:", "        if False:")], single_checks.future_does_not_leak),
    (
        "single-mask-off-by-one",
        SINGLE,
        [("visible = Tk - Tq + i + 1", "visible = Tk - Tq + i + 2")],
        single_checks.future_does_not_leak,
    ),
    (
        "single-mask-aligned-to-start",
        SINGLE,
        [("visible = Tk - Tq + i + 1", "visible = i + 1")],
        single_checks.aligns_to_end,
    ),
    (
        "single-softmax-axis",
        SINGLE,
        [
            (
                "weights = [stable_softmax(row) for row in scores]",
                "weights = list(zip(*[stable_softmax(column) for column in zip(*scores)]))",
            )
        ],
        lambda m: single_checks.rows_sum_to_one(m, Tq=3, Tk=3),
    ),
    ("single-scale-missing", SINGLE, [(" / math.sqrt(D) for key", " for key")], check.single_equals_sdpa),
    (
        "single-scale-by-value-width",
        SINGLE,
        [("math.sqrt(D) for key", "math.sqrt(len(values[0])) for key")],
        check.single_equals_sdpa,
    ),
    (
        "single-peak-not-subtracted",
        SINGLE,
        [("math.exp(s - peak)", "math.exp(s)")],
        single_checks.large_scores,
        OverflowError,
    ),
    (
        "single-mask-after-softmax",
        SINGLE,
        [
            ("row = [s if j < visible else -math.inf for j, s in enumerate(row)]", "pass"),
            (
                "weights = [stable_softmax(row) for row in scores]",
                (
                    "weights = [stable_softmax(row) for row in scores]\n"
                    "    kept = [[w if j <= Tk - Tq + i else 0.0 for j, w in enumerate(r)] for i, r in enumerate(weights)]\n"
                    "    weights = [[w / sum(row) for w in row] for row in kept]"
                ),
            ),
        ],
        single_checks.masks_before_softmax,
        ZeroDivisionError,
    ),
    (
        "single-masked-row-accepted",
        SINGLE,
        [("if peak == -math.inf:", "if False:")],
        single_checks.refuses_row_without_key,
    ),
    # ---- 第 3 章 ----
    (
        "demo-mask-removed",
        DEMO,
        [("masked_softmax(scores, keep_mask(T, past, x.device))", "scores.softmax(dim=-1)")],
        check.future_does_not_leak,
    ),
    (
        "demo-mask-off-by-one",
        DEMO,
        [(".tril(past)", ".tril(past + 1)")],
        check.future_does_not_leak,
    ),
    ("demo-mask-aligned-to-start", DEMO, [(".tril(past)", ".tril()")], check.cached_equals_uncached),
    ("demo-softmax-axis", DEMO, [("wide.softmax(dim=-1)", "wide.softmax(dim=-2)")], check.softmax_rows_sum_to_one),
    ("demo-scale-missing", DEMO, [(" / math.sqrt(self.head_dim)", "")], check.attention_equals_sdpa),
    (
        "demo-scale-by-heads",
        DEMO,
        [("math.sqrt(self.head_dim)", "math.sqrt(self.n_heads)")],
        check.attention_equals_sdpa,
    ),
    (
        "demo-scale-by-hidden-size",
        DEMO,
        [("math.sqrt(self.head_dim)", "math.sqrt(self.hidden_size)")],
        check.attention_equals_sdpa,
    ),
    (
        "demo-cache-offset-missing",
        DEMO,
        [("cos[past : past + T], sin[past : past + T]", "cos[:T], sin[:T]")],
        check.cached_equals_uncached,
    ),
    (
        "demo-cache-offset-plus-one",
        DEMO,
        [
            (
                "cos[past : past + T], sin[past : past + T]",
                "cos[(past > 0) + past :][:T], sin[(past > 0) + past :][:T]",
            )
        ],
        lambda m: check.attention_equals_sdpa(m, T=1),
    ),
    (
        "demo-cached-keys-rotated-again",
        DEMO,
        [
            (
                "torch.cat([past_kv[0], k], dim=1)",
                "torch.cat([apply_rotary_pos_emb(past_kv[0], past_kv[0], cos[:past], sin[:past])[0], k], dim=1)",
            )
        ],
        check.cached_equals_uncached,
    ),
    (
        "demo-cached-values-lost",
        DEMO,
        [("torch.cat([past_kv[1], v], dim=1)", "torch.cat([v[:, :1].expand_as(past_kv[1]), v], dim=1)")],
        check.cached_equals_uncached,
    ),
    (
        "demo-heads-tiled",
        DEMO,
        [("x[:, :, :, None, :].expand(B, S, Hkv, n_rep, D)", "x[:, :, None].expand(B, S, n_rep, Hkv, D)")],
        check.repeat_kv_equals_repeat_interleave,
    ),
    (
        "demo-heads-tiled-in-forward",
        DEMO,
        [("x[:, :, :, None, :].expand(B, S, Hkv, n_rep, D)", "x[:, :, None].expand(B, S, n_rep, Hkv, D)")],
        check.attention_equals_sdpa,
    ),
    (
        "demo-norm-after-rope",
        DEMO,
        [
            ("        q, k = self.q_norm(q), self.k_norm(k)  # shape 不变\n", ""),
            (
                "        if past_kv is not None:\n            self.check_cache",
                (
                    "        q, k = self.q_norm(q), self.k_norm(k)\n"
                    "        if past_kv is not None:\n            self.check_cache"
                ),
            ),
        ],
        check.attention_equals_sdpa,
    ),
    (
        "demo-norm-missing",
        DEMO,
        [("q, k = self.q_norm(q), self.k_norm(k)", "q, k = q, k")],
        check.attention_equals_sdpa,
    ),
    (
        "demo-merge-without-transpose",
        DEMO,
        [("heads = (weights @ v).transpose(1, 2)", "heads = weights @ v")],
        check.attention_equals_sdpa,
    ),
    (
        "demo-rope-interleaved",
        DEMO,
        [
            ("a, b = x.chunk(2, dim=-1)", "a, b = x[..., ::2], x[..., 1::2]"),
            ("torch.cat([-b, a], dim=-1)", "torch.stack([-b, a], dim=-1).flatten(-2)"),
            ("torch.cat([angle, angle], dim=-1)", "angle.repeat_interleave(2, dim=-1)"),
        ],
        check.rope_equals_complex,
    ),
    (
        "demo-rope-table-interleaved",
        DEMO,
        [("torch.cat([angle, angle], dim=-1)", "angle.repeat_interleave(2, dim=-1)")],
        check.rope_keeps_norm,
    ),
    (
        "demo-rope-reversed",
        DEMO,
        [("torch.cat([-b, a], dim=-1)", "torch.cat([b, -a], dim=-1)")],
        check.rope_equals_complex,
    ),
    ("demo-rope-not-on-keys", DEMO, [("return rotate(q), rotate(k)", "return rotate(q), k")], check.rope_is_relative),
    (
        "demo-rope-positions-bf16",
        DEMO,
        [("torch.arange(end, dtype=torch.float64)", "torch.arange(end).bfloat16().double()")],
        check.rope_table_is_accurate,
    ),
    ("demo-square-in-fp16", DEMO, [("wide = at_least_fp32(x)", "wide = x")], check.rms_norm_survives_fp16),
    (
        "demo-norm-subtracts-mean",
        DEMO,
        [("wide = at_least_fp32(x)", "wide = at_least_fp32(x - x.mean(-1, keepdim=True))")],
        check.rms_norm_equals_reference,
    ),
    (
        "demo-float64-lowered",
        DEMO,
        [("x.to(torch.promote_types(x.dtype, torch.float32))", "x.float()")],
        check.attention_equals_sdpa,
    ),
    (
        "demo-bf16-becomes-fp32",
        DEMO,
        [("return (wide / rms * self.weight).to(x.dtype)", "return wide / rms * self.weight")],
        check.dtype_is_kept,
    ),
    (
        "demo-softmax-returns-fp32",
        DEMO,
        [("wide.softmax(dim=-1).to(scores.dtype)", "wide.softmax(dim=-1)")],
        check.dtype_is_kept,
    ),
    (
        "demo-rope-returns-fp32",
        DEMO,
        [("(x * cos + rotate_half(x) * sin).to(x.dtype)", "x * cos + rotate_half(x) * sin")],
        check.dtype_is_kept,
    ),
    # ---- 3.2 ----
    (
        "shapes-merge-without-transpose",
        SHAPES,
        [
            (
                "    B, H, T, D = x.shape\n    x = x.transpose(1, 2)  # [B, T, H, D]\n",
                "    B, H, T, D = x.shape\n",
            )
        ],
        check.merge_follows_channels,
    ),
    (
        "shapes-split-without-transpose",
        SHAPES,
        [
            ("x.reshape(B, T, n_heads, C // n_heads)", "x.reshape(B, n_heads, T, C // n_heads)"),
            ("return x.transpose(1, 2)  # [B, H, T, D]", "return x"),
        ],
        check.split_follows_channels,
    ),
    (
        "shapes-split-heads-last",
        SHAPES,
        [("x.reshape(B, T, n_heads, C // n_heads)", "x.reshape(B, T, C // n_heads, n_heads).transpose(-2, -1)")],
        check.split_follows_channels,
    ),
    (
        "shapes-mask-removed",
        SHAPES,
        [("        if self.causal:", "        if False:")],
        check.multi_head_future_does_not_leak,
    ),
    (
        "shapes-softmax-axis",
        SHAPES,
        [("scores.softmax(dim=-1)", "scores.softmax(dim=-2)")],
        check.multi_head_equals_torch,
    ),
    ("shapes-scale-missing", SHAPES, [(" / math.sqrt(D)", "")], check.multi_head_equals_torch),
    ("shapes-scale-by-hidden-size", SHAPES, [("math.sqrt(D)", "math.sqrt(C)")], check.multi_head_equals_torch),
    (
        "shapes-transpose-on-wrong-side",
        SHAPES,
        [
            ("q @ k.transpose(-2, -1) / math", "q.transpose(-2, -1) @ k / math"),
            ("        if self.causal:", "        if False:"),
            ("heads = weights @ v  #", "heads = v @ weights  #"),
        ],
        check.multi_head_steps_have_shapes,
    ),
]

CASES = [pytest.param(*row[1:4], row[4] if len(row) > 4 else AssertionError, id=row[0]) for row in ABLATIONS]


@pytest.mark.parametrize(("name", "changes", "named_check", "failure"), CASES)
def test_ablation_is_caught(name, changes, named_check, failure):
    named_check(load(name))
    mutant = mutate(name, *changes)
    with pytest.raises(failure):
        named_check(mutant)


def test_change_that_matches_nothing_is_an_error():
    with pytest.raises(LookupError, match="实际有 0 处"):
        mutate(SINGLE, ("这一句不存在", ""))


def test_change_that_matches_twice_is_an_error():
    with pytest.raises(LookupError, match="实际有 [0-9]+ 处"):
        mutate(SINGLE, ("raise ValueError", "pass"))


def test_norm_order_is_invisible_while_weights_are_one():
    """QK-Norm 与 RoPE 只在成对的通道 weight 相同时可以交换：weight 全为 1 的测试看不出顺序错了。"""
    changes = next(row[2] for row in ABLATIONS if row[0] == "demo-norm-after-rope")
    check.attention_equals_sdpa(mutate(DEMO, *changes), norm_weight="ones")


def test_wrong_transpose_is_invisible_while_sizes_coincide():
    """T = D 且不看数值时，转置放错一边的 shape 全对：所以例子要有一组各不相同的尺寸。"""
    changes = next(row[2] for row in ABLATIONS if row[0] == "shapes-transpose-on-wrong-side")
    check.multi_head_steps_have_shapes(mutate(SHAPES, *changes), B=2, T=4, H=2, D=4)
