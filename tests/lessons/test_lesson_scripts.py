"""每个脚本像读者那样运行：空文件夹里只有它一份；编码、警告、线程数都不改变它打印的文字。

运行脚本、去掉片段标记，用的就是网站所用的两个函数。
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from lesson_files import CODE, load, source

from livedocs.publish import published, scripts, section
from livedocs.transcript import run_script

SCRIPTS = [path.name for path in scripts(CODE)]
STANDARD_LIBRARY_SCRIPTS = ["ai_core_examples.py", "kv_cache_cost.py", "single_head_attention.py"]


def run(name, python=sys.executable, **env):
    """像读者那样运行已发布的文件，返回它打印的文字；出错、写 stderr 或留下文件都算失败。"""
    transcript = run_script(published(CODE / name), name, python=python, **env)
    assert (transcript.returncode, transcript.stderr, transcript.left) == (0, "", ())
    return transcript.stdout


@pytest.mark.parametrize("name", SCRIPTS)
def test_prints_the_same_text_every_way(name):
    """GBK 控制台、警告当作错误、单线程合成一次运行：三者各自的失败一眼可辨（编码错误、警告、文字不同）。"""
    plain = run(name)
    assert plain.strip()
    strict = {"PYTHONIOENCODING": "gbk", "PYTHONWARNINGS": "error", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    assert run(name, **strict) == plain


def test_baseline_of_single_head_attention():
    assert run("single_head_attention.py") == (
        "weights\n  [1.0, 0.0]\n  [0.330238, 0.669762]\noutput\n  [2.0, 0.0]\n  [0.660477, 2.679046]\n"
    )


def test_summary_of_ai_core_examples():
    lines = run("ai_core_examples.py").splitlines()
    assert lines[-1] == "4 组手算结果全部核对：通过" and len(lines) == 5


def python_3_10():
    """一个能用的 Python 3.10；没有就返回 None。"""
    candidates = [shutil.which("python3.10")]
    candidates += sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/3.10*/bin/python"))
    for candidate in filter(None, candidates):
        process = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if process.returncode == 0 and process.stdout.startswith("Python 3.10."):
            return str(candidate)
    return None


@pytest.mark.parametrize("name", STANDARD_LIBRARY_SCRIPTS)
def test_python_3_10(name):
    """语法总是按 3.10 检查；找得到 3.10 的解释器就再运行一遍，打印的文字相同。"""
    ast.parse(published(CODE / name), feature_version=(3, 10))
    python = python_3_10()
    if python:
        assert run(name, python=python) == run(name)


@pytest.mark.parametrize("name", SCRIPTS)
def test_import_is_silent_and_sets_nothing(name, capfd):
    """导入不打印，也不改动 PyTorch 的全局状态。"""

    def state():
        return (
            torch.get_rng_state().tolist(),
            torch.get_default_dtype(),
            torch.get_num_threads(),
            torch.is_grad_enabled(),
            torch.are_deterministic_algorithms_enabled(),
            torch.get_float32_matmul_precision(),
        )

    before = state()
    load(name)
    assert state() == before
    assert capfd.readouterr() == ("", "")


ALLOWED_IMPORTS = {
    "single_head_attention.py": {"math"},
    "ai_core_examples.py": {"math"},
    "kv_cache_cost.py": {"math", "typing"},
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_imports_only_what_the_reader_has(name):
    """标准库的课只导入标准库里的一两个模块；其余的只用标准库和 torch，也不导入别的脚本。"""
    imported = set()
    for node in ast.walk(ast.parse(source(name))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module.partition(".")[0])
    assert imported <= ALLOWED_IMPORTS.get(name, sys.stdlib_module_names | {"torch"})


@pytest.mark.parametrize("name", SCRIPTS)
def test_text_can_be_shown_by_a_gbk_console(name):
    """全文都在 GBK 里，所以拒绝时的句子在中文 Windows 的控制台上也看得见。"""
    source(name).encode("gbk")


MARKER = re.compile(r"# --8<-- \[(?P<kind>start|end):(?P<name>[a-z][-_0-9a-z]*)\]\n")


BUNDLE = re.compile(r"# --8<-- \[bundle:(?P<file>[-_0-9a-z]+\.py):(?P<names>[-_0-9a-z,]+)\]\n")
END_BUNDLE = "# --8<-- [end-bundle]\n"


def bundled(marker):
    """bundle 标记要并入的文本：各片段之间空两行。"""
    parts = [section(CODE / marker["file"], name) for name in marker["names"].split(",")]
    return "\n\n\n".join("\n".join(line.text for line in part) for part in parts) + "\n"


def sections(name):
    """片段名到片段文本，按文件中的顺序；并入的一段叫 “bundle:脚本名”。标记是否成对由 livedocs.publish 检查。"""
    found, current = {}, None
    for line in source(name).splitlines(keepends=True):
        bundle = BUNDLE.fullmatch(line)
        if bundle:
            assert current is None
            found[f"bundle:{bundle['file']}"] = bundled(bundle)
            current = "在仓库里代替 bundle 的各行"
            found[current] = ""
            continue
        if line == END_BUNDLE:
            del found[current]
            current = None
            continue
        marker = MARKER.fullmatch(line)
        assert marker or "--8<--" not in line, f"片段标记写错了：{line.strip()}"
        if marker is None:
            if current is not None:
                found[current] += line
        elif marker["kind"] == "start":
            assert current is None, f"片段 {marker['name']} 套在片段 {current} 里"
            current = marker["name"]
            found[current] = ""
        else:
            current = None
    return found


@pytest.mark.parametrize("name", SCRIPTS)
def test_sections_run_in_order_by_themselves(name, capsys):
    """页面按顺序引用各片段时，每个片段只需要它前面的片段；合起来就是整个脚本。"""
    namespace = {"__name__": "__main__"}
    for part, text in sections(name).items():
        exec(compile(text, f"{name}:{part}", "exec"), namespace)  # noqa: S102
        if re.fullmatch(r"example_\d+", part):
            (example,) = (value for key, value in namespace.items() if re.match(rf"{part}_", key))
            example()
    outside = published(CODE / name)
    for text in sections(name).values():
        outside = outside.replace(text, "")
    assert [type(node) for node in ast.parse(outside).body] == [ast.Expr]  # 片段之外只剩模块的说明
    examples = "".join(f"{line}\n" for line in capsys.readouterr().out.splitlines())
    assert examples


@pytest.mark.parametrize("name", SCRIPTS)
def test_published_file_reads_as_if_written_by_hand(name):
    text = published(CODE / name)
    assert "--8<--" not in text and "\t" not in text and "\r" not in text
    assert "\n\n\n\n" not in text  # 去掉标记之后，最多空两行
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert ast.get_docstring(ast.parse(text))


EXPECTED_SECTIONS = {
    "single_head_attention.py": ["imports", "checks", "stable_softmax", "attention", "baseline", "show", "main"],
    "multi_head_shapes.py": [
        "imports",
        "split_heads",
        "merge_heads",
        "merge_without_transpose",
        "multi_head_attention",
        "baseline",
        "show",
        *(f"example_{i}" for i in range(1, 6)),
        "main",
    ],
    "03-attention-demo.py": [
        "imports",
        "checks",
        "rms_norm",
        "precompute_freqs_cis",
        "apply_rotary_pos_emb",
        "repeat_kv",
        "keep_mask",
        "masked_softmax",
        "simple_attention",
        "reference",
        "show",
        *(f"example_{i}" for i in range(1, 8)),
        "main",
    ],
    "ai_core_examples.py": ["main"],
    "02-basic-components-demo.py": [
        "imports",
        "bundle:03-attention-demo.py",
        "embedding",
        "layer_norm",
        "rope_frequencies",
        "interleaved",
        "yarn",
        "numbers",
        *(f"example_{i}" for i in range(1, 7)),
        "main",
    ],
    "04-mlp-moe-demo.py": [
        "imports",
        "bundle:03-attention-demo.py",
        "check_hidden",
        "count_parameters",
        "gelu_mlp",
        "ffn_width",
        "swiglu",
        "route",
        "capacity",
        "load_balance_loss",
        "moe",
        "dense_moe",
        "moe_parameters",
        "numbers",
        *(f"example_{i}" for i in range(1, 9)),
        "main",
    ],
    "01-architecture-demo.py": [
        "imports",
        "bundle:03-attention-demo.py",
        "bundle:04-mlp-moe-demo.py",
        "bundle:05-transformer-block-demo.py",
        "minimind",
        "flops",
        "memory",
        *(f"example_{i}" for i in range(1, 5)),
        "main",
    ],
    "05-transformer-block-demo.py": [
        "imports",
        "bundle:03-attention-demo.py",
        "bundle:04-mlp-moe-demo.py",
        "config",
        "count_parameters",
        "transformer_block",
        "next_token_loss",
        "decoder_model",
        "generate",
        *(f"example_{i}" for i in range(1, 10)),
        "main",
    ],
    "05-train-poems-demo.py": [
        "imports",
        "bundle:03-attention-demo.py",
        "bundle:04-mlp-moe-demo.py",
        "bundle:05-transformer-block-demo.py",
        "corpus",
        "vocabulary",
        "make_batch",
        "train",
        "write_poems",
        "run",
        *(f"example_{i}" for i in range(1, 4)),
        "main",
    ],
    "kv_cache_cost.py": [
        "imports",
        "checks",
        "cache_bytes",
        "work",
        "step_cost",
        "read_all",
        *(f"example_{i}" for i in range(1, 6)),
        "main",
    ],
}


@pytest.mark.parametrize("name", EXPECTED_SECTIONS)
def test_sections_that_pages_rely_on(name):
    assert list(sections(name)) == EXPECTED_SECTIONS[name]
