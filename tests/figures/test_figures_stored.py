"""docs/figures 里存的图就是代码画的图；改了一个数、少了一张、多了一张，都会被指名道姓。"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from figures import __main__ as command
from figures import store

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path):
    """一份刚画好的图，放在临时目录里，可以随便改坏。"""
    store.update(tmp_path)
    return tmp_path


def test_stored_figures_are_redrawn_byte_for_byte():
    assert store.check() == []


def test_redrawing_in_a_fresh_process_without_torch_gives_the_same_bytes():
    script = (
        "import sys; sys.modules['torch'] = None; sys.modules['numpy'] = None\n"
        "from figures import store\n"
        "sys.stdout.write('；'.join(store.check()))"
    )
    run = subprocess.run(
        [sys.executable, "-W", "error", "-X", "utf8", "-c", script],
        check=False, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_files_have_lf_only_no_blank_lines_and_end_with_one_newline():
    for name, data in store.draw_all().items():
        assert b"\r" not in data, name
        assert b"\n\n" not in data, name
        assert data.endswith(b"</svg>\n"), name


def test_a_changed_number_is_found_and_the_message_says_file_line_and_command(folder, capsys):
    path = folder / "attention-read.svg"
    text = path.read_text(encoding="utf-8")
    line = 1 + text[: text.index(">0.6605<")].count("\n")
    path.write_bytes(text.replace(">0.6605<", ">0.6606<").encode("utf-8"))

    assert command.main(["--check"], folder) == 1
    message = capsys.readouterr().err
    assert f"docs/figures/attention-read.svg:{line}：" in message
    assert ">0.6606<" in message and ">0.6605<" in message
    assert "python -m figures" in message
    assert message.count("\n") == 1, "只有改坏的那一张被报告"


@pytest.mark.parametrize("name", [f"{name}.svg" for name in store.NAMES])
def test_any_changed_digit_of_any_figure_is_found(folder, name):
    path = folder / name
    data = path.read_bytes()
    shown = [m.start(1) for m in re.finditer(rb"<(?:text|tspan)[^>]*>[^<]*?(\d)", data)]
    at = shown[len(shown) // 2]
    digit = b"%d" % ((data[at] - ord("0") + 1) % 10)
    path.write_bytes(data[:at] + digit + data[at + 1 :])
    assert [name in problem for problem in store.check(folder)] == [True]


def test_truncated_missing_and_unknown_figures_are_named(folder):
    (folder / "kv-cache.svg").unlink()
    (folder / "mystery.svg").write_text("<svg/>", encoding="utf-8")
    whole = (folder / "causal-mask.svg").read_bytes()
    (folder / "causal-mask.svg").write_bytes(whole[: whole.rindex(b"</svg>")])
    problems = "\n".join(store.check(folder))
    assert "docs/figures/kv-cache.svg：文件不存在" in problems
    assert "docs/figures/mystery.svg：没有画它的代码" in problems
    assert "docs/figures/causal-mask.svg:" in problems


def test_windows_line_ends_are_a_difference(folder):
    path = folder / "kv-cache.svg"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(store.check(folder)) == 1


def test_update_rewrites_only_what_changed_and_says_so(folder, capsys):
    path = folder / "gqa-groups.svg"
    whole = path.read_bytes()
    path.write_bytes(b"<svg")
    untouched = (folder / "kv-cache.svg").stat().st_mtime_ns

    assert command.main([], folder) == 0
    assert capsys.readouterr().out.splitlines() == [f"更新 docs/figures/gqa-groups.svg（{len(whole)} 字节）"]
    assert path.read_bytes() == whole
    assert (folder / "kv-cache.svg").stat().st_mtime_ns == untouched

    assert command.main([], folder) == 0
    assert capsys.readouterr().out == "docs/figures：没有变化\n"
    assert command.main(["--check"], folder) == 0


def test_a_failing_drawing_leaves_every_file_as_it_was(folder, monkeypatch):
    from figures import mask_before_softmax

    (folder / "attention-read.svg").write_bytes(b"old")
    before = store.stored(folder)
    monkeypatch.setattr(mask_before_softmax, "SCORES", [float("nan")] * 3)
    with pytest.raises(ValueError):
        store.update(folder)
    assert store.stored(folder) == before


def test_an_interrupted_write_leaves_the_old_file_and_no_rubbish(folder, monkeypatch):
    path = folder / "kv-cache.svg"
    path.write_bytes(b"old")
    monkeypatch.setattr(store.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("磁盘满")))
    with pytest.raises(OSError, match="磁盘满"):
        store.update(folder)
    assert path.read_bytes() == b"old"
    assert sorted(p.name for p in folder.iterdir()) == sorted(f"{name}.svg" for name in store.NAMES)
