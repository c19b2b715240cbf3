"""例子的文字说的数，就是程序用的数；例子里的断言真的断言了全部情形。变异试验里曾经没有被发现的改动。"""

import ast
import contextlib
import inspect
import io
import re
import sys

import pytest
import torch
from lesson_files import CODE, load, source


def printed(function) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        function()
    return stream.getvalue()


def inputs_of(module, name: str, monkeypatch) -> list[torch.Tensor]:
    """此后每次 `module.name` 这一层被调用时的输入。"""
    seen, original = [], getattr(module, name)

    class Recording(original):
        def forward(self, x):
            seen.append(x.clone())
            return super().forward(x)

    monkeypatch.setattr(module, name, Recording)
    return seen


def defaults_of(function) -> dict:
    parameters = inspect.signature(function).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.default is not inspect.Parameter.empty}


def test_the_norms_are_tried_on_ten_times_and_plus_ten(monkeypatch):
    m = load("02-basic-components-demo.py")
    seen = inputs_of(m, "SimpleRMSNorm", monkeypatch)
    said = printed(m.example_2_two_norms)
    factor, shift = (int(re.search(pattern, said).group(1)) for pattern in (r"放大 (\d+) 倍", r"每个分量加 (\d+)"))
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    for wanted in (x, factor * x, x + shift):
        assert any(torch.equal(wanted, tried) for tried in seen)


def test_the_half_precision_example_squares_what_it_says(monkeypatch):
    m = load("02-basic-components-demo.py")
    seen = inputs_of(m, "SimpleRMSNorm", monkeypatch)
    said = printed(m.example_3_half_precision)
    value = int(re.search(r"(\d+) 的平方：", said).group(1))
    assert [tried.unique().tolist() for tried in seen] == [[value]]


def test_yarn_moves_the_second_last_pair_only_part_of_the_way():
    """放慢到 1/factor 的起点截到最后一对，不是它前面的一对。"""
    m = load("02-basic-components-demo.py")
    ratio = m.rope_frequencies(8) / m.yarn_frequencies(8, 4, 20_000)
    assert ratio[3].item() == pytest.approx(4) and 1.1 < ratio[2].item() < 3.9


@pytest.mark.parametrize("turns", [{"beta_slow": 0}, {"beta_slow": 32.0}, {"beta_fast": 1.0}, {"beta_fast": float("inf")}])
def test_the_turns_of_yarn_on_their_bounds(turns):
    with pytest.raises(ValueError, match="0 < beta_slow < beta_fast"):
        load("02-basic-components-demo.py").yarn_frequencies(8, 4, 2048, **turns)


@pytest.mark.parametrize("position", range(16))
def test_the_rope_example_compares_every_offset(position):
    """任何一个位置转错了，例 3 都要发现：它比较全部 31 种位置差。"""
    m = load("03-attention-demo.py")
    rotate = m.apply_rotary_pos_emb

    def one_wrong(q, k, cos, sin):
        stuck_cos, stuck_sin = cos.clone(), sin.clone()
        stuck_cos[position], stuck_sin[position] = 1, 0  # 这个位置的键没有旋转
        return rotate(q, k, cos, sin)[0], rotate(q, k, stuck_cos, stuck_sin)[1]

    m.apply_rotary_pos_emb = one_wrong
    if position == 0:  # 位置 0 本来就不旋转
        printed(m.example_3_rope)
    else:
        with pytest.raises(AssertionError):
            printed(m.example_3_rope)


@pytest.mark.parametrize(
    ("probabilities", "chosen"),
    [((4,), (4, 2)), ((4, 3), (4,)), ((4, 3), (5, 2)), ((0, 3), (0, 2))],
)
def test_each_wrong_shape_of_a_routing_is_refused(probabilities, chosen):
    m = load("04-mlp-moe-demo.py")
    with pytest.raises(ValueError, match=r"应是 \[N, E\] 与 \[N, k\]"):
        m.load_balance_loss(torch.ones(probabilities), torch.zeros(chosen, dtype=torch.long))


@pytest.mark.parametrize(("expert", "refused"), [(-1, True), (0, False), (2, False), (3, True)])
def test_the_experts_are_numbered_from_zero(expert, refused):
    m = load("04-mlp-moe-demo.py")
    with pytest.raises(ValueError, match="专家只有 0 到 2") if refused else contextlib.nullcontext():
        m.load_balance_loss(torch.full((2, 3), 1 / 3), torch.tensor([[0], [expert]]))


def test_the_dispatch_example_has_the_experts_it_counts(monkeypatch):
    m = load("04-mlp-moe-demo.py")
    made, original = [], m.MoE
    monkeypatch.setattr(m, "MoE", lambda **sizes: made.append(sizes) or original(**sizes))
    said = printed(m.example_5_dispatch)
    tokens, each, all_of_them = map(int, re.search(r"(\d+) 个词元各选 (\d+) 个专家.*则要 (\d+) 次", said).groups())
    assert made[0]["top_k"] == each and made[0]["n_experts"] == all_of_them // tokens


@pytest.mark.parametrize(
    ("function", "defaults"),
    [
        ("train", {"steps": 120, "batch_size": 16, "peak_lr": 6e-3, "every": 12, "seed": 0}),
        ("write_poems", {"count": 20, "temperature": 0.5, "seed": 0}),
        ("run", {"seed": 0}),
    ],
)
def test_the_training_defaults(function, defaults):
    assert defaults_of(getattr(load("05-train-poems-demo.py"), function)) == defaults


def test_the_training_settings(monkeypatch):
    """优化器的设置、梯度的上限、每步读几首诗。"""
    m = load("05-train-poems-demo.py")
    given, batches = {}, []
    original, clip, make_batch = torch.optim.AdamW, m.nn.utils.clip_grad_norm_, m.make_batch
    monkeypatch.setattr(torch.optim, "AdamW", lambda parameters, **settings: given.update(settings) or original(parameters, **settings))
    monkeypatch.setattr(m.nn.utils, "clip_grad_norm_", lambda parameters, longest: given.update(longest=longest) or clip(parameters, longest))
    monkeypatch.setattr(m, "make_batch", lambda texts, vocabulary: batches.append(len(texts)) or make_batch(texts, vocabulary))
    poems = ["春眠不觉晓", "处处闻啼鸟", "夜来风雨声", "花落知多少", "床前明月光"]
    vocabulary = m.Vocabulary(poems)
    model = m.DecoderModel(m.ModelConfig(len(vocabulary), 8, 1, 2, 1, 4, 8))
    m.train(model, vocabulary, poems[:4], poems[4:], steps=2, batch_size=2)
    assert given == {"lr": 6e-3, "betas": (0.9, 0.95), "weight_decay": 0.1, "longest": 1.0}
    assert batches == [4, 1, 2, 2]


def test_the_model_that_is_trained(monkeypatch):
    m = load("05-train-poems-demo.py")
    asked = []
    monkeypatch.setattr(m, "DecoderModel", lambda config: asked.append(config) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        m.run()
    (config,) = asked
    assert (config.hidden_size, config.n_layers, config.n_heads, config.n_kv_heads, config.head_dim, config.intermediate_size) == (64, 2, 4, 2, 16, 192)


def test_the_initial_loss_example_uses_the_deviations_it_names(monkeypatch):
    m = load("05-transformer-block-demo.py")
    stds, original = [], m.nn.init.normal_

    def record(weight, mean=0.0, std=1.0):
        if weight.shape == (6400, 768):
            stds.append(std)
        return original(weight, mean, std)

    monkeypatch.setattr(m.nn.init, "normal_", record)
    layers, decoder = [], m.DecoderModel
    monkeypatch.setattr(m, "DecoderModel", lambda config, **k: layers.append(config.n_layers) or decoder(config, **k))
    named = [float(text) for text in re.findall(r"词嵌入的标准差 ([\d.]+)", printed(m.example_5_initial_loss))]
    assert layers == [1, 1]  # 注释说只有 1 层
    assert len(stds) == 8 and stds[3::4] == named  # 每个模型：缺省的、init_std 的两次（共享的两层）、例子自己的


def test_the_overfitting_example_takes_the_steps_it_names(monkeypatch):
    m = load("05-transformer-block-demo.py")
    steps = []

    class Counting(torch.optim.AdamW):
        def step(self, closure=None):
            steps.append(self)
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "AdamW", Counting)
    assert int(re.search(r"(\d+) 步以后", printed(m.example_6_overfit)).group(1)) == len(steps)


def test_the_generation_example_prefills_in_the_chunks_it_names(monkeypatch):
    m = load("05-transformer-block-demo.py")
    asked, original = [], m.generate
    monkeypatch.setattr(m, "generate", lambda *a, **k: asked.append((a[2], k)) or original(*a, **k))
    said = printed(m.example_8_generation)
    assert [count for count, _ in asked] == [20] * 4 and re.findall(r"再用缓存生成 (\d+) 个", said) == ["20"] * 3
    assert asked[0][1] == {"use_cache": False}
    assert [keywords for _, keywords in asked[1:]] == [{"chunk": None}, {"chunk": int(re.search(r"每次预填充 (\d+) 个", said).group(1))}, {"chunk": 1}]


def test_the_defaults_of_the_decoder():
    m = load("05-transformer-block-demo.py")
    sizes = {"vocab_size": 64, "hidden_size": 32, "n_layers": 3, "n_heads": 4, "n_kv_heads": 2, "head_dim": 8}
    assert defaults_of(m.ModelConfig) == sizes | {
        "intermediate_size": 64, "max_positions": 64, "rope_base": 10000.0, "qk_norm": True, "tie_weights": True
    }  # fmt: skip
    assert defaults_of(m.TransformerBlock.forward) == {"past_kv": None, "use_cache": False}
    assert defaults_of(m.DecoderModel.forward) == {"labels": None, "past_kvs": None, "use_cache": False, "logits_to_keep": 0}
    assert defaults_of(m.DecoderModel.__init__) == {"init_std": 0.02}
    assert defaults_of(m.generate) == {"use_cache": True, "chunk": None, "temperature": 0.0, "generator": None}


def test_two_tokens_are_the_shortest_sequence_with_a_loss():
    m = load("05-transformer-block-demo.py")
    logits = torch.zeros(1, 2, 3)
    assert m.next_token_loss(logits, torch.tensor([[0, 1]])).item() == pytest.approx(1.0986, abs=1e-4)
    with pytest.raises(ValueError, match="只有 1 个词元"):
        m.next_token_loss(logits[:, :1], torch.tensor([[0]]))


def lengths_sent(model) -> list[int]:
    """此后每次调用模型时，送进去几个词元。"""
    sent, forward = [], model.forward
    model.forward = lambda ids, **keywords: sent.append(ids.shape[1]) or forward(ids, **keywords)
    return sent


@pytest.mark.parametrize(
    ("keywords", "lengths"),
    [({}, [3, 1, 1]), ({"use_cache": False}, [3, 4, 5]), ({"chunk": 2}, [2, 1, 1, 1]), ({"chunk": 1}, [1, 1, 1, 1, 1])],
)
def test_the_cache_sends_each_token_once(keywords, lengths):
    m = load("05-transformer-block-demo.py")
    model = m.DecoderModel(m.ModelConfig(max_positions=5))
    sent = lengths_sent(model)
    m.generate(model, torch.zeros(1, 3, dtype=torch.long), 3, **keywords)
    assert sent == lengths


def test_a_generation_may_fill_the_positions_and_no_more():
    m = load("05-transformer-block-demo.py")
    model = m.DecoderModel(m.ModelConfig(max_positions=5))
    prompt = torch.zeros(2, 3, dtype=torch.long)
    assert m.generate(model, prompt, 3).shape == (2, 6)  # 最后一个词元不送进模型
    with pytest.raises(ValueError, match="要送 6 个进模型，超过 max_positions = 5"):
        m.generate(model, prompt, 4)


def test_samples_prints_the_record_and_five_poems_each(monkeypatch):
    m = load("05-train-poems-demo.py")
    for example in ("example_1_corpus", "example_2_training", "example_3_writing"):
        monkeypatch.setattr(m, example, lambda: None)
    result = m.Run(None, None, [m.Record(0, 1.0, 2.0)], [f"前{n}" for n in range(9)], [f"后{n}" for n in range(9)])
    monkeypatch.setattr(m, "run", lambda: result)
    threads = torch.get_num_threads()
    try:
        said = printed(lambda: m.main(["samples"])).splitlines()
        assert printed(m.main) == ""
    finally:
        torch.set_num_threads(threads)
    assert said == ["第 0 步：训练过的 1.00，没见过的 2.00", *[f"训练前：前{n}" for n in range(5)], *[f"训练后：后{n}" for n in range(5)]]


def test_the_command_line_passes_its_arguments_on(monkeypatch):
    tree = ast.parse(source("05-train-poems-demo.py"))
    tree.body = [node for node in tree.body if getattr(node, "name", "") != "main"]
    given = []
    monkeypatch.setattr(sys, "argv", ["05-train-poems-demo.py", "samples", "其余"])
    path = str(CODE / "05-train-poems-demo.py")  # 变异按路径认走过哪些行
    exec(compile(tree, path, "exec"), {"__name__": "__main__", "main": given.append})
    assert given == [["samples", "其余"]]


def test_large_scores_do_not_overflow():
    """减去最大的分数再取指数：分数上千也算得出。"""
    read = load("kv_cache_cost.py").read
    assert read([1, 0], [[2000, 0], [1000, 0]], [[1.0, 2.0], [3.0, 4.0]]) == [1.0, 2.0]
    assert read([-1, 0], [[2000, 0], [2000, 0]], [[1.0, 2.0], [3.0, 4.0]]) == [2.0, 3.0]


@pytest.mark.parametrize("broken", [True, False])
def test_the_cache_example_really_runs_both_ways(broken):
    """有缓存的与没有缓存的，哪一种算错了都要发现。"""
    m = load("kv_cache_cost.py")
    read_all = m.read_all

    def one_wrong(tokens, chunks, cached):
        outputs, counted = read_all(tokens, chunks, cached)
        return ([[0.0, 0.0]] + outputs[1:] if cached is broken and len(chunks) > 1 else outputs), counted

    m.read_all = one_wrong
    with pytest.raises(AssertionError):
        printed(m.example_3_really_run)


def test_the_prompt_example_counts_both_ways(monkeypatch):
    m = load("kv_cache_cost.py")
    asked, work = [], m.work
    monkeypatch.setattr(m, "work", lambda chunks, cached: asked.append((len(chunks), cached)) or work(chunks, cached))
    printed(m.example_5_prompt)
    assert asked[:4] == [(1, True), (1, False), (129, True), (129, False)]
