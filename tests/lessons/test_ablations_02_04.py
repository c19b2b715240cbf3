"""第 2、4 章的消融：在已发布的文件里故意改坏一处，指定的检查必须失败；同一个检查在原版上必须通过。"""

import checks_02_04 as check
import pytest
import torch_checks
from lesson_files import CODE, load

from livedocs.publish import published

BASIC, MOE = "02-basic-components-demo.py", "04-mlp-moe-demo.py"


def broken(name, changes):
    """装入改坏的已发布文件；每一处原文都必须恰好出现一次。"""
    text = published(CODE / name)
    for old, new in changes:
        assert text.count(old) == 1, f"{name} 里应恰好有一处 {old!r}，实际有 {text.count(old)} 处"
        text = text.replace(old, new)
    return load(name, text)


def with_capacity(m):
    check.moe_equals_token_by_token(m, factor=0.5)


# (名字, 文件, 改动, 必须失败的检查)
ABLATIONS = [
    # ---- 词嵌入 ----
    ("embedding-row-shifted", BASIC, [("return self.weight[ids]", "return self.weight[ids - 1]")], check.embedding_equals_one_hot),
    (
        "embedding-detached",
        BASIC,
        [("return one_hot @ weight", "return one_hot @ weight.detach() + 0 * weight.sum()")],
        check.embedding_equals_one_hot,
    ),
    # ---- 归一化 ----
    (
        "norm-mean-not-subtracted",
        BASIC,
        [("centred = wide - wide.mean(-1, keepdim=True)", "centred = wide")],
        check.layer_norm_equals_torch,
    ),
    (
        "norm-order-scale-before-centring",
        BASIC,
        [("centred = wide - wide.mean(-1, keepdim=True)", "centred = wide / wide.pow(2).mean(-1, keepdim=True).sqrt() - wide.mean(-1, keepdim=True)")],
        check.layer_norm_is_centred_rms_norm,
    ),
    (
        "norm-order-weight-before-statistics",
        BASIC,
        [("wide = at_least_fp32(x)  # [..., dim]；fp16", "wide = at_least_fp32(x) * self.weight  # fp16")],
        torch_checks.rms_norm_equals_reference,
    ),
    (
        "norm-unbiased-variance",
        BASIC,
        [("centred.pow(2).mean(-1, keepdim=True)", "centred.pow(2).sum(-1, keepdim=True) / (dim - 1)")],
        check.layer_norm_equals_torch,
    ),
    ("norm-bias-missing", BASIC, [(" * self.weight + self.bias)", " * self.weight)")], check.layer_norm_equals_torch),
    ("norm-mean-over-batch", BASIC, [("wide - wide.mean(-1, keepdim=True)", "wide - wide.mean(0, keepdim=True)")], check.layer_norm_equals_torch),
    (
        "norm-layer-square-in-fp16",
        BASIC,
        [("wide = at_least_fp32(x)  # [..., dim]\n        centred", "wide = x\n        centred")],
        check.norms_accumulate_in_fp32,
    ),
    (
        "norm-rms-square-in-fp16",
        BASIC,
        [("wide = at_least_fp32(x)  # [..., dim]；fp16", "wide = x  # fp16")],
        check.norms_accumulate_in_fp32,
    ),
    (
        "norm-eps-outside-the-root",
        BASIC,
        [("wide.pow(2).mean(-1, keepdim=True) + self.eps)", "wide.pow(2).mean(-1, keepdim=True)) + self.eps")],
        torch_checks.rms_norm_equals_reference,
    ),
    # ---- RoPE ----
    (
        "rope-frequencies-without-the-two",
        BASIC,
        [("rope_base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)", "rope_base ** (-torch.arange(head_dim // 2, dtype=torch.float64) / head_dim)")],
        check.frequencies_match_the_table,
    ),
    (
        "rope-pairing-halves",
        BASIC,
        [("a, b = x[..., 0::2], x[..., 1::2]", "a, b = x.chunk(2, dim=-1)")],
        check.interleaved_equals_complex,
    ),
    (
        "rope-pairing-not-put-back",
        BASIC,
        [("b * cos + a * sin], dim=-1)  # [B, T, H, D/2, 2]", "b * cos + a * sin], dim=-2)")],
        check.interleaved_equals_complex,
    ),
    ("rope-pairing-reversed", BASIC, [("[a * cos - b * sin, b * cos + a * sin]", "[a * cos + b * sin, b * cos - a * sin]")], check.interleaved_equals_complex),
    (
        "rope-pairing-order-inverted",
        BASIC,
        [(".view(2, head_dim // 2).T.flatten()", ".view(head_dim // 2, 2).T.flatten()")],
        check.pairings_differ_by_a_permutation,
    ),
    (
        "rope-half-split-made-adjacent",
        BASIC,
        [("a, b = x.chunk(2, dim=-1)", "a, b = x[..., ::2], x[..., 1::2]"), ("torch.cat([-b, a], dim=-1)", "torch.stack([-b, a], dim=-1).flatten(-2)")],
        check.pairings_differ_by_a_permutation,
    ),
    # ---- YaRN ----
    ("yarn-ramp-reversed", BASIC, [("theta * (1 - ramp + ramp / factor)", "theta * (ramp + (1 - ramp) / factor)")], check.yarn_interpolates_by_parts),
    ("yarn-slows-everything", BASIC, [("theta * (1 - ramp + ramp / factor)", "theta / factor")], check.yarn_interpolates_by_parts),
    ("yarn-without-two-pi", BASIC, [("original_end / (turns * 2 * math.pi)", "original_end / turns")], check.yarn_interpolates_by_parts),
    (
        "yarn-fast-and-slow-swapped",
        BASIC,
        [("math.floor(pair_with(beta_fast))", "math.floor(pair_with(beta_slow))"), ("math.ceil(pair_with(beta_slow))", "math.ceil(pair_with(beta_fast))")],
        check.yarn_interpolates_by_parts,
    ),
    # ---- 前馈网络 ----
    ("ffn-activation-missing", MOE, [("F.gelu(self.up_proj(x))", "self.up_proj(x)")], check.gelu_mlp_equals_torch),
    ("ffn-tanh-gelu", MOE, [("F.gelu(self.up_proj(x))", "F.gelu(self.up_proj(x), approximate='tanh')")], check.gelu_mlp_equals_torch),
    ("gate-missing", MOE, [("self.down_proj(gate * self.up_proj(x))", "self.down_proj(self.up_proj(x))")], check.swiglu_is_not_linear),
    ("gate-added", MOE, [("gate * self.up_proj(x)", "gate + self.up_proj(x)")], check.swiglu_equals_by_hand),
    ("gate-without-silu", MOE, [("gate = F.silu(self.gate_proj(x))", "gate = self.gate_proj(x)")], check.swiglu_equals_by_hand),
    ("gate-sigmoid-only", MOE, [("gate = F.silu(self.gate_proj(x))", "gate = self.gate_proj(x).sigmoid()")], check.swiglu_equals_by_hand),
    ("gate-and-up-swapped", MOE, [("gate = F.silu(self.gate_proj(x))", "gate = F.silu(self.up_proj(x))"), ("gate * self.up_proj(x)", "gate * self.gate_proj(x)")], check.swiglu_equals_by_hand),
    ("width-rounded-down", MOE, [("math.ceil(hidden_size * ratio / multiple)", "math.floor(hidden_size * ratio / multiple)")], check.width_is_rounded_up),
    ("width-rounded-to-nearest", MOE, [("math.ceil(hidden_size * ratio / multiple)", "round(hidden_size * ratio / multiple)")], check.width_is_rounded_up),
    # ---- 路由 ----
    ("renormalisation-missing", MOE, [("    if renormalise:", "    if False:")], check.weights_sum_to_one),
    ("renormalisation-over-tokens", MOE, [("weights / weights.sum(dim=-1, keepdim=True)", "weights / weights.sum(dim=0, keepdim=True)")], check.weights_sum_to_one),
    ("top-k-smallest", MOE, [("probabilities.topk(top_k, dim=-1)", "probabilities.topk(top_k, dim=-1, largest=False)")], check.route_picks_the_best),
    ("top-k-one-less", MOE, [("probabilities.topk(top_k, dim=-1)", "probabilities.topk(max(top_k - 1, 1), dim=-1)")], check.route_picks_the_best),
    ("top-k-first-experts", MOE, [("weights, chosen = probabilities.topk(top_k, dim=-1)", "weights, chosen = probabilities[:, :top_k], torch.arange(top_k).expand(len(logits), -1)")], check.route_picks_the_best),
    ("router-softmax-over-tokens", MOE, [("at_least_fp32(logits).softmax(dim=-1)", "at_least_fp32(logits).softmax(dim=0)")], check.route_picks_the_best),
    # ---- 分发 ----
    ("dispatch-overwrites", MOE, [("output.index_add(0, token, part)", "output.index_copy(0, token, part)")], check.moe_equals_token_by_token),
    ("dispatch-weight-of-first-choice", MOE, [("weights[token, rank, None]", "weights[token, 0, None]")], check.moe_equals_token_by_token),
    ("dispatch-weight-missing", MOE, [("part = part * weights[token, rank, None].to(part.dtype)", "pass")], check.moe_equals_token_by_token),
    ("dispatch-only-first-choice", MOE, [("((chosen == e) & kept).nonzero", "((chosen == e) & kept & (torch.arange(self.top_k) == 0)).nonzero")], check.moe_equals_token_by_token),
    ("shared-expert-missing", MOE, [("output = output + expert(x)  #", "output = output  #")], check.moe_equals_token_by_token),
    ("capacity-ignored", MOE, [("((chosen == e) & kept).nonzero", "(chosen == e).nonzero")], with_capacity),
    ("capacity-off-by-one", MOE, [("place <= capacity", "place < capacity")], check.capacity_is_first_come),
    (
        "capacity-token-major",
        MOE,
        [("queue = chosen.T.flatten()", "queue = chosen.flatten()"), ("(place <= capacity).view(chosen.shape[1], chosen.shape[0]).T", "(place <= capacity).view(chosen.shape)")],
        check.capacity_is_first_come,
    ),
    # ---- 负载均衡 ----
    ("balance-not-times-experts", MOE, [("return n_experts * (fractions", "return (fractions")], check.balance_of_even_routing),
    ("balance-wrong-denominator", MOE, [("        fractions = fractions / top_k", "        fractions = fractions")], check.balance_matches_both_libraries),
    ("balance-counts-only-first-choice", MOE, [("counts = chosen.flatten().bincount", "counts = chosen[:, 0].bincount")], check.balance_matches_both_libraries),
    ("balance-without-gradient", MOE, [("(fractions * probabilities.mean(dim=0)).sum()", "(fractions * fractions).sum() + 0 * probabilities.sum()")], check.balance_pushes_the_busy_expert_down),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "named_check"), [pytest.param(*row[1:], id=row[0]) for row in ABLATIONS])
def test_ablation_is_caught(name, changes, named_check):
    named_check(load(name, published(CODE / name)))
    with pytest.raises(AssertionError):
        named_check(broken(name, changes))


def changes_of(label):
    return next(row[2] for row in ABLATIONS if row[0] == label)


def test_inverted_order_is_invisible_when_head_dim_is_four():
    """D = 4 时，重排与它的逆是同一个次序：只用四维向量的例子，看不出弄反了。"""
    check.pairings_differ_by_a_permutation(broken(BASIC, changes_of("rope-pairing-order-inverted")), D=4)


def test_missing_renormalisation_is_invisible_when_all_experts_are_chosen():
    """全选时概率之和本来就是 1：归一或不归一都一样。"""
    check.moe_equals_token_by_token(broken(MOE, changes_of("renormalisation-missing")), E=3, k=3)


def test_overwriting_is_invisible_when_k_is_one():
    """每个词元只选一个专家时，覆盖与累加相同：k = 1 的测试看不出错。"""
    check.moe_equals_token_by_token(broken(MOE, changes_of("dispatch-overwrites")), k=1)


def test_wrong_denominator_is_invisible_when_k_is_one():
    check.balance_matches_both_libraries(broken(MOE, changes_of("balance-wrong-denominator")), k=1)
