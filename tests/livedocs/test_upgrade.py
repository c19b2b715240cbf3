"""升级演习：小网站用三个做出来的包打印；换版本之后，一个什么都不变，一个只有舍入，一个意义变了。

包是测试现写的 wheel，pip 以 --no-index 安装，不用网络。旧的版本装在一个叠在现有环境上的虚拟环境里，
就像读者自己的环境。
"""

from __future__ import annotations

import json
import os
import re
import site
import subprocess
import sys
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_page_faults import fence

from livedocs import sandbox, site_diff, upgrade
from livedocs.changes import Kind, Verdict
from livedocs.notebook import dump
from livedocs.sandbox import Pin, SandboxError

ROOT = Path(__file__).resolve().parents[2]

#: 包 → 版本 → 源码。
SOURCES = {
    "calm": {
        "1.0.0": "def value():\n    return 0.25\n",
        "1.0.1": "def value():\n    return 1 / 4\n",
    },
    "drift": {
        "1.0.0": "def value():\n    return 0.330249\n",
        "1.0.1": "def value():\n    return 0.330251\n",
    },
    "shift": {
        "1.0.0": "def shape():\n    return [2, 5]\n\n\ndef check(x):\n    raise ValueError('太小')\n\n\ndef gone():\n    return 1\n",
        "1.0.1": "def shape():\n    return [5, 2]\n\n\ndef check(x):\n    raise ValueError('小于 1')\n",
    },
}
PAGES = {
    "calm.md": "# 稳\n\n" + fence("import calm\nprint(calm.value())", output="0.25") + "\n值是 0.25<!--= calm.value() -->。\n",
    "drift.md": "# 舍入\n\n"
    + fence("import drift\nprint('权重')\nprint(f'{drift.value():.4f}')", output="权重\n0.3302")
    + "\n权重约为 0.3302<!--= drift.value() -->。\n",
    "shift.md": "# 意义\n\n"
    + fence("import shift\nprint(shift.shape())", output="[2, 5]")
    + "\n"
    + fence("shift.check(0)", '{.python .run raises="ValueError"}', "ValueError: 太小"),
    "gone.md": "# 没有了\n\n" + fence("import shift\nx = shift.gone()") + "\n" + fence("print(x)", output="1"),
    "stale.md": "# 本来就旧\n\n" + fence("print(2)", output="1"),
}
CELL = {
    "cell_type": "code",
    "id": "c1",
    "metadata": {},
    "execution_count": 1,
    "outputs": [{"output_type": "stream", "name": "stdout", "text": "0.3302\n"}],
    "source": "import drift\n\nprint(f'{drift.value():.4f}')",
}
NOTEBOOK = {
    "cells": [CELL],
    "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def wheel(folder: Path, name: str, version: str) -> Path:
    """一个只有一个模块的 wheel。"""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": SOURCES[name][version],
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in files.items():
            archive.writestr(member, text)
    return path


@dataclass
class Bench:
    """小网站、装着旧版本的环境，和放着 wheel 的文件夹。"""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "site"

    def drill(self, *pins: str, **environ: str) -> tuple[int, str, str]:
        """运行命令，返回（退出码, 报告, 进度与错误）。"""
        python = self.folder / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "PYTEST_", "PYTHON"))}
        kept |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.folder / "wheels"), "PIP_CONFIG_FILE": os.devnull}
        kept |= {"PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"} | environ
        done = subprocess.run(
            [python, "-m", "livedocs.upgrade", *pins], cwd=self.root / "docs", env=kept, capture_output=True, encoding="utf-8", timeout=120
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout, done.stderr

    def snapshot(self) -> dict[str, tuple[bytes, int]]:
        return {
            path.relative_to(self.folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
            for place in (self.root, self.folder / "env")
            for path in sorted(place.rglob("*"))
            if path.is_file()
        }


@pytest.fixture(scope="module")
def bench(tmp_path_factory) -> Bench:
    folder = tmp_path_factory.mktemp("upgrade").resolve()
    (folder / "wheels").mkdir()
    venv.EnvBuilder(symlinks=os.name != "nt").create(folder / "env")
    packages = next((folder / "env").rglob("site-packages"))
    lines = [f"import site; site.addsitedir({place!r})" for place in site.getsitepackages()]
    (packages / "below.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name, versions in SOURCES.items():
        for version in versions:
            made = wheel(folder / "wheels", name, version)
            if version == "1.0.0":
                zipfile.ZipFile(made).extractall(packages)
    real = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    extensions = real[real.index("markdown_extensions:") :]
    (folder / "site" / "docs").mkdir(parents=True)
    (folder / "site" / "mkdocs.yml").write_text(
        f"site_name: 小站\ntheme: {{name: mkdocs, locale: zh_CN}}\nplugins: []\n{extensions}", encoding="utf-8"
    )
    pins = "".join(f"{name}==1.0.0\n" for name in SOURCES)
    (folder / "site" / "requirements.txt").write_text(f"# 锁定\n{pins}", encoding="utf-8")
    for name, text in PAGES.items():
        (folder / "site" / "docs" / name).write_text(text, encoding="utf-8")
    (folder / "site" / "docs" / "index.md").write_text('# 首页\n\n```{.text}\n--8<-- "requirements.txt"\n```\n', encoding="utf-8")
    (folder / "site" / "docs" / "nb.ipynb").write_bytes(dump(NOTEBOOK))
    return Bench(folder)


@pytest.fixture(scope="module")
def all_three(bench):
    before = bench.snapshot()
    answer = bench.drill("calm==1.0.1", "drift==1.0.1", "Shift==1.0.1")
    assert bench.snapshot() == before, "演习动了项目或现在的环境"
    return answer


def section(report: str, title: str) -> str:
    """报告里一类变化的全部。"""
    match = re.search(rf"^{title}（\d+ 处）\n(.*?)\n\n", report, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else ""


def line_in(bench: Bench, name: str, text: str) -> int:
    lines = (bench.root / name).read_text(encoding="utf-8").split("\n")
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_what_means_something_else_is_listed_with_its_line(bench, all_three):
    code, report, progress = all_three
    assert code == 2, report + progress
    meaning = section(report, "意义")
    shape = line_in(bench, "docs/shift.md", "[2, 5]")
    assert f"docs/shift.md:{shape} 输出：整数不同：2 变成 5\n      - [2, 5]\n      + [5, 2]" in meaning
    error = line_in(bench, "docs/shift.md", "ValueError: 太小")
    assert f"docs/shift.md:{error} 输出：文字不同\n      - ValueError: 太小\n      + ValueError: 小于 1" in meaning
    gone = line_in(bench, "docs/gone.md", "{.python .run}")
    assert f"docs/gone.md:{gone} 页面：换了版本以后不能通过（后面 1 项因此没有运行）" in meaning
    assert "AttributeError: module 'shift' has no attribute 'gone'" in meaning
    assert "drift" not in meaning and "calm" not in meaning


def test_what_is_only_rounded_is_listed_apart(bench, all_three):
    rounding = section(all_three[1], "舍入")
    printed = line_in(bench, "docs/drift.md", "0.3302")
    bound = line_in(bench, "docs/drift.md", "权重约为")
    cell = line_in(bench, "docs/nb.ipynb", "import drift")
    for place in (f"docs/drift.md:{printed} 输出：", f"docs/drift.md:{bound} 数字：", f"docs/nb.ipynb:{cell} 第 1 个单元的输出："):
        assert place in rounding
    assert rounding.count("只有末位的数不同") == 3 and "- 0.3302\n      + 0.3303" in rounding
    assert "shift" not in rounding and "calm" not in rounding


def test_a_page_that_shows_the_pin_is_neither(all_three):
    shown = section(all_three[1], "版本号")
    assert "docs/index.md" in shown and "（引自 requirements.txt:2）" in shown
    assert all(f"+ {name}==1.0.1" in shown for name in SOURCES)


def test_what_was_stale_before_is_not_counted(all_three):
    _, report, progress = all_three
    assert "stale" not in report and "现在的版本就有的差别 1 处" in progress


def test_the_summary_counts(all_three):
    summary = all_three[1].strip().splitlines()[-1]
    assert summary.startswith("小结：calm 1.0.0 → 1.0.1、drift 1.0.0 → 1.0.1、shift 1.0.0 → 1.0.1：意义 3 处、舍入 3 处、")


def test_progress_is_told(all_three):
    progress = all_three[2]
    assert all(f"[{n}/5]" in progress for n in range(1, 6)) and re.search(r"1/7 docs/\w+\.md", progress)


def test_a_version_that_changes_nothing(bench):
    """只有用到它的那一页；首页写着锁定的版本，不在内。"""
    small = bench.folder / "small"
    (small / "docs").mkdir(parents=True)
    for name in ("mkdocs.yml", "requirements.txt"):
        (small / name).write_bytes((bench.root / name).read_bytes())
    (small / "docs" / "index.md").write_text(PAGES["calm.md"], encoding="utf-8")
    code, report, progress = bench.drill("calm==1.0.1", "--root", str(small))
    assert code == 0, report + progress
    assert report == "小结：calm 1.0.0 → 1.0.1：意义 0 处、舍入 0 处、版本号 0 处、字节 0 处；什么都不变，可以换。" + report[report.index("用时") :]
    assert "[5/5] 没有页面有差别" in progress


REFUSED = {
    "calmm==1.0.1": "calmm 不是这个项目锁定的包；是不是 calm？",
    "zzz==1": "zzz 不是这个项目锁定的包；锁定的有：calm、drift、shift",
    "calm==1.0.0": "calm 现在就是 1.0.0，没有什么可试的",
    "calm": "读不懂 calm：应写成 名字==版本",
    "calm==": "读不懂 calm==",
}


@pytest.mark.parametrize("argument", REFUSED)
def test_wrong_arguments_are_refused_at_once(bench, argument, capsys):
    assert upgrade.main([argument, "--root", str(bench.root)]) == 3
    assert f"试不成：{REFUSED[argument]}" in capsys.readouterr().err


def test_twice_and_outside_a_project(bench, tmp_path, capsys):
    assert upgrade.main(["calm==1.0.1", "Calm==1.0.1", "--root", str(bench.root)]) == 3
    assert "calm 写了两次" in capsys.readouterr().err
    assert upgrade.main(["calm==1.0.1", "--root", str(tmp_path)]) == 3
    assert "没有 mkdocs.yml" in capsys.readouterr().err
    assert upgrade.main(["calm==1.0.1", "--root", str(bench.root), "--keep", str(bench.root / "x")]) == 3
    assert "应是项目之外的空文件夹" in capsys.readouterr().err
    assert upgrade.main(["calm==1.0.1", "--root", str(bench.root)]) == 3  # 这个进程里没有装
    assert "calm 锁定的是 1.0.0，却没有安装" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="3"):
        upgrade.main([])
    assert "命令行写错了" in capsys.readouterr().err


def test_a_version_that_does_not_exist(bench):
    code, report, told = bench.drill("calm==9.9.9")
    assert (code, report) == (3, "")
    assert "试不成：找不到 calm 的版本 9.9.9；最近的版本有 1.0.0、1.0.1" in told


PIN = Pin("torch", "2.13.0", "2.12.0")
SAID = {
    "网络不通，查不到 torch 2.12.0": "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(…)'\n"
    "ERROR: Could not find a version that satisfies the requirement torch==2.12.0 (from versions: none)\n"
    "ERROR: No matching distribution found for torch==2.12.0",
    "网络不通，没有装上 torch": "ERROR: Could not install packages due to an OSError: Max retries exceeded with url",
    "找不到 torch 的版本 2.12.0": "ERROR: No matching distribution found for torch==2.12.0",
    "torch 2.12.0 不支持 Python": "ERROR: Ignored the following versions that require a different python version: 2.12.0 Requires-Python >=3.99\n"
    "ERROR: No matching distribution found for torch==2.12.0",
    "与别的锁定的版本冲突": "The conflict is caused by:\n    torch 2.12.0 depends on numpy<2\n    The user requested (constraint) numpy==2.4.6\n\nERROR: ResolutionImpossible: x",
    "pip 没有装上 torch 2.12.0": "error: subprocess-exited-with-error",
    "没有 pip": "python: No module named pip",
}


@pytest.mark.parametrize("reason", SAID)
def test_why_pip_failed_is_one_sentence(reason):
    assert reason in sandbox.pip_reason(SAID[reason], [PIN])


def test_npm_packages_are_pins_too():
    found = sandbox.pins(ROOT)
    assert found["katex"][1] and found["pyodide"][1] and not found["torch"][1]
    [pin] = upgrade.wanted([f"katex=={found['katex'][0]}.9"], ROOT)
    assert pin.npm


@pytest.mark.parametrize(
    ("kinds", "code"),
    [([], 0), ([Kind.BYTES], 1), ([Kind.VERSION], 1), ([Kind.BYTES, Kind.ROUNDING], 1), ([Kind.ROUNDING, Kind.MEANING], 2)],
)
def test_exit_code_is_the_worst(kinds, code):
    assert upgrade.exit_code([upgrade.Change("docs/a.md:1", "输出", Verdict(kind)) for kind in kinds]) == code


def test_two_sites_are_compared_by_what_is_seen(tmp_path):
    files = {
        "old": {"a.html": "<head><style>x</style></head><p>一 <b>二</b></p>", "s.0123abcd.css": "a", "b.html": "<link href=s.0123abcd.css data-v=1.2.3>", "c.html": "<p>去"},
        "new": {"a.html": "<head></head><p class=x>一 <b>三</b></p>", "s.9876fedc.css": "b", "b.html": "<link href=s.9876fedc.css data-v=1.2.4>", "d.html": "<p>来"},
    }
    for name, contents in files.items():
        (tmp_path / name).mkdir()
        for file, text in contents.items():
            (tmp_path / name / file).write_text(text, encoding="utf-8")
    found = site_diff.compare(tmp_path / "old", tmp_path / "new", {"1.2.3": "1.2.4"})
    [page] = found.pages
    assert (page.path, [(line.old, line.new) for line in page.lines]) == ("a.html", [("一 二", "一 三")])
    assert (found.appeared, found.vanished, found.repointed) == (("d.html",), ("c.html",), 1)
    assert found.files == ("样式 s.9876fedc.css 的字节变了",)


def test_visible_text():
    html = "<title>题</title><nav>导航</nav><pre><span>a</span>\n  b</pre><p>x<script>y</script> <em>z</em>\n w</p><img alt='图'>"
    assert site_diff.visible_lines(html) == ["题", "导航", "a", "  b", "x z w", "[图]"]


def test_new_warnings_of_the_build():
    said = "INFO -  x\nWARNING -  Doc file 'a.md' contains a link\n/x/y.py:3: DeprecationWarning: old\n"
    assert upgrade.warnings_in(said) == ["WARNING -  Doc file 'a.md' contains a link", "/x/y.py:3: DeprecationWarning: old"]


def test_numbers_of_a_notebook_are_sorted_too(tmp_path):
    text = {"cells": [{"cell_type": "markdown", "source": ["第一行\n", "约 0.3302"]}]}
    (tmp_path / "nb.ipynb").write_text(json.dumps(text, ensure_ascii=False, indent=1), encoding="utf-8")
    failure = "nb.ipynb 第 1 个单元：写的是 0.3302，x 是 0.330251，应写 0.3303"
    now = upgrade.Run(failures={"nb.ipynb": [failure]})
    [change] = upgrade.page_changes(now, upgrade.Run(), tmp_path)
    assert (change.verdict.kind, change.place, change.old, change.new) == (Kind.ROUNDING, "nb.ipynb:6", "0.3302", "0.3303")
    assert upgrade.page_changes(now, now, tmp_path) == []


def test_changed_pictures_of_a_notebook(tmp_path):
    from test_notebook import picture

    paths = []
    for name, change in (("a", None), ("b", lambda image: image.paste("red", (0, 0, 60, 60)))):
        outputs = [{"output_type": "display_data", "metadata": {}, "data": {"image/png": picture(change)}}]
        paths.append(tmp_path / f"{name}.ipynb")
        paths[-1].write_bytes(dump(NOTEBOOK | {"cells": [CELL | {"outputs": outputs}]}))
    [found] = upgrade.notebook_changes("nb.ipynb", *paths)
    assert found.verdict.kind is Kind.MEANING and "最多差" in found.verdict.reason and found.what == "第 1 个单元的图"
    assert upgrade.notebook_changes("nb.ipynb", paths[0], paths[0]) == []


def test_checks_that_no_longer_start_are_meaning(tmp_path):
    [change] = upgrade.page_changes(upgrade.Run(broken="ImportError: 坏"), upgrade.Run(), tmp_path)
    assert change.verdict == Verdict(Kind.MEANING, "换了版本以后，检查运行不起来") and change.new == "ImportError: 坏"


def test_pages_that_run_in_the_browser(bench, tmp_path):
    """两个 Pyodide 的回答由假的 run-pages.mjs 给出；第二个换了报错的文字。"""
    sides = []
    for name, last in (("a", "NameError: name 'x' is not defined"), ("b", "NameError: 没有 x")):
        root = tmp_path / name
        (root / "docs").mkdir(parents=True)
        (root / "web" / "test").mkdir(parents=True)
        (root / "mkdocs.yml").write_bytes((bench.root / "mkdocs.yml").read_bytes())
        (root / "docs" / "p.md").write_text("---\nruns: browser\n---\n\n# 页\n\n" + fence("print(1)\nx"), encoding="utf-8")
        pages = [[{"stdout": "1\n", "stderr": "", "error": {"last": last}}]]
        (root / "web" / "test" / "run-pages.mjs").write_text(
            f"import fs from 'node:fs'; fs.readFileSync(0); console.log({json.dumps(json.dumps({'pages': pages}))})", encoding="utf-8"
        )
        sides.append(sandbox.create(root, tmp_path / f"{name}-side"))
    [change] = upgrade.browser_changes(*sides, "docs", lambda _: None)
    assert (change.place, change.new, change.verdict.kind) == ("docs/p.md:7", "NameError: 没有 x", Kind.MEANING)


def test_python_that_runs_is_the_one_of_the_copy(bench, tmp_path):
    made = sandbox.create(bench.root, tmp_path)
    done = subprocess.run([made.python, "-c", "import livedocs, sys; print(sys.prefix)"], env=made.environ(), capture_output=True, text=True)
    assert Path(done.stdout.strip()) == made.env and made.env != Path(sys.prefix)
    with pytest.raises(SandboxError, match="不能拷贝项目"):
        sandbox.create(bench.root, tmp_path)
