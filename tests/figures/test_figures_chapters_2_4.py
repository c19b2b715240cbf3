"""第 2、4 章的图里的数，与 code/ 里的实现、与 PyTorch 算出的相同。"""

import math
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

from figures import moe_routing, norm_geometry, rope_wavelength, store, swiglu_path
from figures.lesson import load
from figures.svg import number

SVG = "{http://www.w3.org/2000/svg}"
CODE = Path(__file__).resolve().parents[2] / "code"


@pytest.fixture(autouse=True)
def scripts_import_each_other(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(CODE), *sys.path])


def texts(name, matrix=None):
    """图中的每段文字；给出 matrix 时只取那个矩阵里的。"""
    root = ET.fromstring((store.FOLDER / f"{name}.svg").read_bytes())
    if matrix:
        root = next(node for node in root.iter(f"{SVG}g") if node.get("data-matrix") == matrix)
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_norm_geometry_equals_torch():
    said = texts("norm-geometry")
    for name, point in norm_geometry.INPUTS.items():
        x = torch.tensor(point, dtype=torch.float64)
        rms, layer = F.rms_norm(x, (2,), eps=0.0).tolist(), F.layer_norm(x, (2,), eps=0.0).tolist()
        for ours, theirs in ((norm_geometry.rms_norm(point), rms), (norm_geometry.layer_norm(point), layer)):
            assert ours == pytest.approx(theirs, abs=1e-9)
            assert any(name in text and norm_geometry.written(ours) in text for text in said), name
        assert math.hypot(*rms) == pytest.approx(math.sqrt(2)), "在半径为根号 2 的圆上"
        assert sum(layer) == pytest.approx(0), "在虚线上"


def test_rope_wavelength_equals_the_script():
    code = load("02-basic-components-demo")
    size, base, length, factor = (getattr(rope_wavelength, n) for n in ("HEAD_DIM", "BASE", "LENGTH", "FACTOR"))
    before = 2 * math.pi / code.rope_frequencies(size, base)
    after = 2 * math.pi / code.yarn_frequencies(size, factor, length, base)
    assert rope_wavelength.wavelengths() == pytest.approx(before.tolist())
    assert rope_wavelength.slowed() == pytest.approx(after.tolist())
    desc = (store.FOLDER / "rope-wavelength.svg").read_text(encoding="utf-8")
    assert f"有 {int((before > length).sum())} 对的波长比它长" in desc


def test_swiglu_path_equals_the_script():
    swiglu = load("04-mlp-moe-demo").SwiGLU(hidden_size=2, width=3).double()
    with torch.no_grad():
        for layer, rows in ((swiglu.gate_proj, swiglu_path.GATE), (swiglu.up_proj, swiglu_path.UP), (swiglu.down_proj, swiglu_path.DOWN)):
            layer.weight.copy_(torch.tensor(rows))
        output = swiglu(torch.tensor(swiglu_path.X, dtype=torch.float64).view(1, 1, 2)).flatten().tolist()
    steps = swiglu_path.steps()
    assert steps["output"] == pytest.approx(output)
    for name, values in steps.items():
        assert texts("swiglu-path", name) == [number(value) for value in values], name


def test_moe_routing_equals_the_script():
    code = load("04-mlp-moe-demo")
    _, weights, chosen = code.route(torch.tensor(moe_routing.LOGITS, dtype=torch.float64), moe_routing.TOP_K)
    table = torch.zeros(4, 3, dtype=torch.float64).scatter(1, chosen, weights)
    assert torch.tensor(moe_routing.weights(), dtype=torch.float64).sub(table).abs().max() < 1e-12
    assert texts("moe-routing", "weights") == [number(w) for w in table.flatten().tolist()]
    said = texts("moe-routing")
    boxes = [text for text in said if text in ("t0", "t1", "t2", "t3")]
    rows, gathered = boxes[:4], boxes[4:]
    assert rows == ["t0", "t1", "t2", "t3"]
    assert gathered == [f"t{t}" for e in range(3) for t in table[:, e].nonzero().flatten().tolist()]
    assert f"共 {chosen.numel()} 次；全算要 {table.numel()} 次" in said
