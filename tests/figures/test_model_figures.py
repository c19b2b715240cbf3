"""整个模型的几张图：次序、标签、损失曲线与课程代码一致。"""

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from figures import label_shift, poem_loss, store
from figures.lesson import load

CODE = Path(__file__).resolve().parents[2] / "code"
SVG = "{http://www.w3.org/2000/svg}"


def stored(name):
    return ET.fromstring((store.FOLDER / f"{name}.svg").read_bytes())


def texts(name):
    return ["".join(node.itertext()) for node in stored(name).iter(f"{SVG}text")]


@pytest.fixture
def lesson(monkeypatch):
    """载入 code/ 里要用 torch 的脚本；标着 bundle 的一段从同一个文件夹导入。"""
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(CODE))
    return load


def test_architecture_path_follows_the_model(lesson):
    """图上自上而下的次序，就是模型与每一层里子模块的次序。"""
    demo = lesson("05-transformer-block-demo")
    model = demo.DecoderModel(demo.ModelConfig())
    drawn = texts("architecture-path")
    assert [name for name, _ in model.named_children()] == ["embed_tokens", "layers", "norm", "lm_head"]
    path = ["input_ids", "词嵌入 [V, C]", "最后的 RMSNorm", "LM head [V, C]", "标签移一位，交叉熵"]
    assert [text for text in drawn if text in path] == path
    parts = [name for name, _ in model.layers[0].named_children()]
    assert parts == ["input_layernorm", "self_attn", "post_attention_layernorm", "mlp"]
    assert [t for t in drawn if t in ("RMSNorm", "注意力", "SwiGLU")] == ["RMSNorm", "注意力", "RMSNorm", "SwiGLU"]
    assert model.lm_head.weight is model.embed_tokens.weight and "矩" in drawn


def test_block_residual_shows_both_orders():
    drawn = texts("block-residual")
    split = drawn.index("Post-Norm（原始论文）")
    names = ("RMSNorm", "注意力", "SwiGLU", "+")
    assert [t for t in drawn[:split] if t in names] == ["RMSNorm", "注意力", "+", "RMSNorm", "SwiGLU", "+"]
    assert [t for t in drawn[split:] if t in names] == ["注意力", "+", "RMSNorm", "SwiGLU", "+", "RMSNorm"]
    assert "竖线上只有 2 次加法" in drawn and "竖线每层穿过 2 次归一化" in drawn


def test_label_shift_pairs_each_token_with_the_next():
    drawn = texts("label-shift")
    text = label_shift.TEXT
    shown = [t for t in drawn if t in text and len(t) == 1]
    assert shown == [*text, *text[1:]]
    assert f"{len(text)} 个词元，{len(text) - 1} 项损失；输入与掩码都不动" in drawn


def test_poem_loss_is_the_run_of_the_script(lesson):
    """步数、词表与脚本一致；记录与重新训练一次的结果相差不大（末位随机器变，所以只要求接近）。"""
    script = lesson("05-train-poems-demo")
    seen, unseen = script.poems()
    assert len(script.Vocabulary(seen + unseen)) == poem_loss.VOCABULARY
    assert [step for step, _, _ in poem_loss.RECORDS] == list(range(0, 121, 12))
    first, last = poem_loss.RECORDS[0], poem_loss.RECORDS[-1]
    best = min(poem_loss.RECORDS, key=lambda record: record[2])
    assert abs(first[1] - math.log(poem_loss.VOCABULARY)) < 0.2
    assert last[1] < 0.6 and 0 < best[0] < last[0] and last[2] > best[2] + 0.5
    described = stored("poem-loss").find(f"{SVG}desc").text
    assert re.findall(r"\d\.\d\d", described) == [
        f"{x:.2f}" for x in (first[1], last[1], best[2], last[2], math.log(poem_loss.VOCABULARY))
    ]
