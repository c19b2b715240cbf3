"""web/：类型、单元测试、大小，以及与 livedocs/ 里同一件事的 Python 写法是否一致。"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import subprocess

import pytest
from site_tools import ROOT

from livedocs import compare, web

#: 打开一页时，除 Material 自己的以外，脚本最多这么多字节（gzip 后）。
BUDGET = 25_000


def run(node: str, *args: str, text: str | None = None) -> str:
    done = subprocess.run(
        [node, *args], cwd=ROOT / "web", input=text, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_types(node):
    run(node, "node_modules/typescript/bin/tsc", "-p", "tsconfig.json")


def test_units(node):
    tests = sorted(str(path) for path in (ROOT / "web" / "test").glob("*.test.js"))
    assert tests
    run(node, "--test", *tests)


def test_javascript_before_the_first_run_is_small():
    built = web.bundle()
    size = sum(len(gzip.compress((built.folder / name).read_bytes())) for name in built.manifest["eager"])
    assert size < BUDGET


def test_the_interpreter_and_the_editor_are_not_in_the_first_load():
    built = web.bundle()
    first = "".join((built.folder / name).read_text(encoding="utf-8") for name in built.manifest["eager"])
    assert "loadPyodide" not in first
    assert "cm-content" not in first


def test_building_twice_does_not_run_esbuild_again(monkeypatch):
    web.bundle()
    monkeypatch.setattr(web, "_run_build", lambda *args: pytest.fail("没有变化，却又打包了一次"))
    assert (web.bundle().folder / "manifest.json").is_file()


def test_a_broken_source_is_reported(tmp_path, monkeypatch):
    for name in ("package.json", "package-lock.json", ".npmrc", "build.mjs"):
        (tmp_path / name).write_bytes((ROOT / "web" / name).read_bytes())
    (tmp_path / "src" / "py-block").mkdir(parents=True)
    (tmp_path / "src" / "py-block" / "worker.js").write_text("let x = ;", encoding="utf-8")
    try:
        (tmp_path / "node_modules").symlink_to(web.ensure_packages(), target_is_directory=True)
    except OSError:  # Windows 上可能不许建符号链接
        shutil.copytree(web.ensure_packages(), tmp_path / "node_modules")
    with pytest.raises(web.WebError, match=r"(?s)打包不成.*worker\.js"):
        web.bundle(tmp_path)


def test_the_size_told_to_the_reader_is_the_size():
    built = web.bundle()
    sizes = {name: path.stat().st_size for name, path in built.assets() if "pyodide" in name}
    assert sum(sizes.values()) == built.manifest["pyodide"]["raw"]
    assert 5e6 < built.manifest["pyodide"]["gzip"] < 8e6


HAND = [
    ("1\n", "1\n"),
    ("1", "1\n"),
    ("a\tb\n", "a   b\n"),
    ("中\tb\n", "中   b\n"),
    ("x\r\ny\n", "x\ny\n"),
    (" \n", "\n"),
    ("\x1c\n", "\n"),
    ("\ufeff\n", "\n"),
    ("\u3000\n", "\n"),
    (
        "0.5 v1.2 x2 2x 1e-3 -.5 +3. inf nan -inf info 中1 1中 1.2.3",
        "0.5 v1.2 x2 2x 1e-3 -.5 +3. inf nan -inf info 中1 1中 1.2.3",
    ),
    ("0.51 v1.2", "0.50 v1.2"),
    ("v1.2", "v1.3"),
    ("nan", "nan "),
    ("inf", "-inf"),
    ("1.0 2.0", "1.0"),
    ("[1.0, 2.0]\n", "[1.01, 2.02]\n"),
    ("1e400", "inf"),
    ("-0.0", "0.0"),
]
PIECES = [
    "1",
    "1.0",
    "1.01",
    "-2",
    "+.5",
    "3.",
    "1e-3",
    "1E5",
    "inf",
    "-inf",
    "nan",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "x",
]
PIECES += ["中", "_", ".", ",", "e", "[", "]", "\u3000", "\xa0", "é", "v1.2", "😀", "-", "0"]


def test_comparison_is_the_same_in_python_and_in_the_browser(node):
    rng = random.Random(20_240_601)
    cases: list[tuple[str, str, float | None, float | None]] = []
    tolerances = [(None, None), (0.02, None), (None, 0.02), (1e-6, 1e-9)]
    for documented, actual in HAND:
        cases += [(documented, actual, *tolerance) for tolerance in tolerances]
    for _ in range(4000):
        pieces = rng.choices(PIECES, k=rng.randrange(8))
        changed = list(pieces)
        if changed and rng.random() < 0.7:
            changed[rng.randrange(len(changed))] = rng.choice(PIECES)
        cases.append(("".join(pieces), "".join(changed), *rng.choice(tolerances)))
    results = json.loads(run(node, "test/compare-cases.mjs", text=json.dumps(cases)))
    for case, result in zip(cases, results, strict=True):
        documented, actual, rtol, atol = case
        assert result["shown"] == compare.as_shown(actual), case
        assert result["same"] == compare.same(documented, actual, rtol, atol), case
    outcomes = [result["same"] for result in results]
    assert 200 < sum(outcomes) < len(outcomes) - 200
