"""第 5 章：整个模型的证明与拒绝。"""

import math

import model_checks as check
import pytest
import torch
from lesson_files import load

DEMO = "05-transformer-block-demo.py"
m = load(DEMO)

SIZES = [
    pytest.param({}, id="default"),
    pytest.param({"tie_weights": False}, id="untied"),
    pytest.param({"qk_norm": False}, id="no-qk-norm"),
    pytest.param({"n_layers": 1, "n_kv_heads": 4}, id="mha"),
    pytest.param(
        {"vocab_size": 11, "hidden_size": 10, "n_layers": 5, "n_heads": 6, "n_kv_heads": 1, "head_dim": 4,
         "intermediate_size": 7, "rope_base": 1e6},
        id="mqa-odd-sizes",
    ),
]  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize(
    "proof",
    [
        check.equals_reference,
        check.future_does_not_leak,
        check.cached_equals_uncached,
        check.generation_ignores_cache,
        check.last_logits_are_the_last,
        check.loss_equals_definition,
        check.ignored_labels_do_not_count,
        check.parameters_equal_formula,
        check.silent_sublayers_are_identity,
    ],
)
def test_proof(proof, sizes):
    proof(m, **sizes)


@pytest.mark.parametrize(
    "proof",
    [
        check.tied_is_one_tensor,
        check.initial_loss_is_near_uniform,
        check.gradients_are_right,
        check.one_batch_can_be_memorised,
        check.rope_table_keeps_fp32,
    ],
)
def test_proof_of_the_default_model(proof):
    proof(m)


@pytest.mark.parametrize("pieces", [(1,) * 9, (3, 4), (8, 1), (2, 2, 2, 2), (5,)])
def test_any_split_gives_the_same_logits(pieces):
    check.cached_equals_uncached(m, pieces)


def test_published_file_defines_the_same_model():
    """下载到的那一份（定义已并入）与仓库里的这一份，同样的种子得到同样的 logits。"""
    alone = check.load_published()
    ids = torch.arange(8).view(1, 8)
    ours, theirs = (check.build(module)(ids).logits for module in (m, alone))
    assert torch.equal(ours, theirs)


def test_tied_standard_normal_embedding_starts_far_from_uniform():
    """词嵌入用 N(0, 1) 又共享：模型一开始就认定“下一个词元是自己”，损失约等于 C，而不是 ln V。"""
    torch.manual_seed(0)
    model = m.DecoderModel(m.ModelConfig(6400, 768, 1, 8, 4, 96, 768))
    torch.nn.init.normal_(model.embed_tokens.weight)
    ids = check.ids_for(model, 2, 64)
    with torch.no_grad():
        logits, loss, _ = model(ids, labels=ids)
    assert loss > 100 and abs(loss / 768 - 1) < 0.1
    assert torch.equal(logits.argmax(-1), ids)


# ---- 拒绝：每一条都写明数字 ----

SMALL = m.DecoderModel(m.ModelConfig())
IDS = torch.arange(6).view(1, 6)
CACHE = SMALL(IDS, use_cache=True).past_kvs


def short_cache():
    """第 1 层的缓存比别的层短一格。"""
    return [(k[:, :5], v[:, :5]) if i == 1 else (k, v) for i, (k, v) in enumerate(CACHE)]


REFUSALS = {
    "id-equal-to-V": (lambda: SMALL(torch.tensor([[3, 64]])), "编号 64：词表只有 64 个词元，编号应在 0 到 63"),
    "id-negative": (lambda: SMALL(torch.tensor([[3, -1]])), "编号 -1：词表只有 64 个"),
    "id-float": (lambda: SMALL(torch.tensor([[3.0]])), "应是整数编号，得到 torch.float32"),
    "id-bool": (lambda: SMALL(torch.tensor([[True]])), "应是整数编号，得到 torch.bool"),
    "empty-sequence": (lambda: SMALL(torch.zeros(2, 0, dtype=torch.long)), r"\[2, 0\]：序列是空的"),
    "empty-batch": (lambda: SMALL(torch.zeros(0, 3, dtype=torch.long)), r"\[0, 3\]：序列是空的"),
    "ids-1d": (lambda: SMALL(torch.tensor([1, 2])), r"input_ids 是 \[2\]，应是 \[batch, seq\]"),
    "positions-past-table": (
        lambda: SMALL(torch.zeros(1, 65, dtype=torch.long)),
        "位置 64 超出 RoPE 表：缓存有 0 个词元，新来 65 个，max_positions 是 64",
    ),
    "positions-past-table-with-cache": (
        lambda: SMALL(torch.zeros(1, 59, dtype=torch.long), past_kvs=CACHE),
        "位置 64 超出 RoPE 表：缓存有 6 个词元，新来 59 个",
    ),
    "cache-of-other-depth": (lambda: SMALL(IDS, past_kvs=CACHE[:2]), "缓存有 2 层，模型有 3 层"),
    "cache-lengths-differ": (lambda: SMALL(IDS, past_kvs=short_cache()), r"各层缓存的长度应相同，得到 \[6, 5, 6\]"),
    "cache-of-other-batch": (
        lambda: SMALL(IDS.expand(2, 6), past_kvs=CACHE),
        r"缓存的 K 是 \[1, 6, 2, 8\]，应是 \[2, 6, 2, 8\]",
    ),
    "cache-of-other-dtype": (
        lambda: SMALL(IDS, past_kvs=[(k.double(), v.double()) for k, v in CACHE]),
        "缓存的 K 是 torch.float64，新算出的 K 是 torch.float32",
    ),
    "keep-too-many": (lambda: SMALL(IDS, logits_to_keep=7), "logits_to_keep = 7，应在 0 到 6 之间"),
    "keep-negative": (lambda: SMALL(IDS, logits_to_keep=-1), "logits_to_keep = -1"),
    "keep-with-labels": (lambda: SMALL(IDS, IDS, logits_to_keep=1), "全部 6 个位置的 logits"),
    "labels-shape": (lambda: SMALL(IDS, IDS[:, 1:]), r"logits 是 \[1, 6, 64\]，labels 是 \[1, 5\]"),
    "label-equal-to-V": (lambda: SMALL(IDS, torch.full((1, 6), 64)), "标签里有编号 64"),
    "label-other-negative": (lambda: SMALL(IDS, torch.full((1, 6), -1)), "标签里有编号 -1"),
    "all-ignored": (lambda: SMALL(IDS, torch.full((1, 6), -100)), "5 个标签都是 ignore_index = -100"),
    "one-token-loss": (lambda: SMALL(IDS[:, :1], IDS[:, :1]), "只有 1 个词元：没有下一个词元"),
    "generate-zero": (lambda: m.generate(SMALL, IDS, 0), "max_new_tokens 应是正整数，得到 0"),
    "generate-chunk-zero": (lambda: m.generate(SMALL, IDS, 1, chunk=0), "chunk 应是正整数，得到 0"),
    "generate-temperature": (lambda: m.generate(SMALL, IDS, 1, temperature=-0.5), "得到 -0.5"),
    "generate-temperature-nan": (lambda: m.generate(SMALL, IDS, 1, temperature=math.nan), "得到 nan"),
    "generate-past-table": (
        lambda: m.generate(SMALL, IDS, 60),
        "提示词 6 个，再生成 60 个，要送 65 个进模型，超过 max_positions = 64",
    ),
    "generate-empty": (lambda: m.generate(SMALL, IDS[:, :0], 1), r"\[1, 0\]：序列是空的"),
    "config-vocab": (lambda: m.ModelConfig(vocab_size=0), "vocab_size 应是正整数，得到 0"),
    "config-layers": (lambda: m.ModelConfig(n_layers=1.5), "n_layers 应是正整数，得到 1.5"),
    "config-positions": (lambda: m.ModelConfig(max_positions=-4), "max_positions 应是正整数，得到 -4"),
    "config-heads": (lambda: m.DecoderModel(m.ModelConfig(n_heads=3)), "n_heads = 3 不能被 n_kv_heads = 2 整除"),
    "config-head-dim": (lambda: m.DecoderModel(m.ModelConfig(head_dim=7)), "head_dim = 7 是奇数"),
    "config-width": (lambda: m.DecoderModel(m.ModelConfig(intermediate_size=0)), "应是正整数，得到 0"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refuses(case):
    call, sentence = REFUSALS[case]
    with pytest.raises(ValueError, match=sentence):
        call()


def test_longest_sequence_that_fits():
    """恰好用满 RoPE 表：送 64 个进模型，写出 65 个。"""
    assert m.generate(SMALL, IDS, 59).shape == (1, 65)
    assert SMALL(torch.zeros(1, 64, dtype=torch.long)).logits.shape == (1, 64, 64)


def test_greedy_needs_no_generator_and_leaves_the_global_one_alone():
    before = torch.get_rng_state()
    m.generate(SMALL, IDS, 3)
    m.generate(SMALL, IDS, 3, temperature=1.0, generator=torch.Generator().manual_seed(0))
    assert torch.equal(torch.get_rng_state(), before)
