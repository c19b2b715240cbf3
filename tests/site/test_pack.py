"""下载本章：每个 zip 解压到空文件夹，照它的 README 运行，与它的 expected 比较。"""

import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from mkdocs.exceptions import Abort
from site_tools import ROOT

from livedocs import archive, pack, proof
from livedocs.compare import diff, same
from livedocs.program import imports
from livedocs.project import load_project
from livedocs.publish import published, scripts

PROJECT = load_project(ROOT)
SOURCES = sorted(
    path.relative_to(PROJECT.docs).as_posix()
    for folder in pack.LABELS
    for path in (PROJECT.docs / folder).iterdir()
    if path.suffix in {".md", ".ipynb"}
)


def packed(site) -> dict[str, dict[str, bytes]]:
    """网站上的每个下载包：`{网站里的路径: {去掉最外层文件夹的路径: 内容}}`。"""
    found = {}
    for path in sorted((site.folder / "downloads").rglob("*/*.zip")):
        with zipfile.ZipFile(path) as archive_:
            assert {name.partition("/")[0] for name in archive_.namelist()} == {path.stem}
            files = {name.partition("/")[2]: archive_.read(name) for name in archive_.namelist()}
        found[path.relative_to(site.folder).as_posix()] = files
    return found


def readme(files: dict[str, bytes]) -> str:
    return files["README.txt"].decode("utf-8-sig").replace("\r\n", "\n")


def commands(text: str, heading: str) -> list[str]:
    """README 里一节的“macOS 与 Linux”命令。"""
    section = re.search(rf"^{heading}\n\n(.*?)(?:\n\n\n|\Z)", text, re.DOTALL | re.MULTILINE).group(1)
    return re.findall(r"^    (\S.*)$", section.partition("macOS 与 Linux：")[2], re.MULTILINE)


def test_every_lesson_has_its_pack_and_its_button(site):
    packs = packed(site)
    assert sorted(packs) == sorted(pack.uri_of(source) for source in SOURCES)
    for source in SOURCES:
        page = site.read(source.rpartition(".")[0] + "/index.html")
        links = re.findall(r'href="(?:\.\./)*(downloads/[^"]+)" download', page)
        assert links == [pack.uri_of(source)] * 2, source  # 标题下一处，页面末尾一处


def test_the_button_is_not_in_the_search_index(site):
    texts = [path.read_text(encoding="utf-8") for path in (site.folder / "search").glob("*.json")]
    assert any("掩码" in text for text in texts)
    for text in texts:
        assert "（zip，" not in text and "编辑此页" not in text and "最后修改 " not in text


def test_packs_hold_the_published_bytes_and_the_checked_transcripts(site):
    for uri, files in packed(site).items():
        for name, data in files.items():
            assert re.fullmatch(r"[A-Za-z0-9._/-]+", name), f"{uri}：{name} 不是各系统都能用的名字"
            if name.endswith(".py") and name != "check.py":
                assert data == (site.folder / "code" / name).read_bytes() == published(ROOT / "code" / name).encode()
                assert f"expected/{Path(name).stem}.txt" in files, (uri, name)
            elif name.endswith(".ipynb"):
                assert data == (ROOT / "docs" / "labs" / name).read_bytes()
            elif name != "README.txt":
                assert b"\r" not in data, (uri, name)


def test_requirements_name_just_what_the_scripts_import(site):
    pins = proof.pinned_versions(ROOT)
    for uri, files in packed(site).items():
        code = [data.decode() for name, data in files.items() if name.endswith(".py")]
        used = imports(code) - sys.stdlib_module_names
        listed = dict(re.findall(r"^([\w-]+)==(\S+)$", files["requirements.txt"].decode(), re.MULTILINE))
        assert {name: pins[name] for name in listed} == listed, uri
        if not any(name.endswith(".ipynb") for name in files):
            assert set(listed) == used, uri
            assert used or "不需要安装任何包" in files["requirements.txt"].decode(), uri


def test_readmes_are_for_three_systems_and_name_no_host(site):
    for uri, files in packed(site).items():
        text = readme(files)
        assert files["README.txt"].startswith(b"\xef\xbb\xbf") and files["README.txt"].count(b"\n") == text.count("\n")
        assert all(f"{system}" in text for system in ("Windows", "macOS", "Linux")), uri
        hosts = set(re.findall(r"https?://([\w.-]+)", text))
        assert hosts <= {"download.pytorch.org"}, uri
        assert ("--index-url 镜像地址" in text) == ("==" in files["requirements.txt"].decode()), uri


#: 装着也当没装：只认 requirements.txt 里列出的。
HIDING = """
import sys
from importlib.machinery import PathFinder

class Hiding:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in {hidden!r} else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Hiding if finder is PathFinder else finder for finder in sys.meta_path]
"""


def test_every_script_runs_as_its_readme_says(site, tmp_path):
    """同样的文件只运行一次。只用标准库的，关掉 site-packages 运行；别的，藏起 requirements.txt 没有列出的库。"""
    done: set[bytes] = set()
    for uri, files in packed(site).items():
        folder = tmp_path / Path(uri).with_suffix("").name
        with zipfile.ZipFile(site.folder / uri) as zipped:
            zipped.extractall(folder.parent / "unpacked")
        here = folder.parent / "unpacked" / Path(uri).stem
        alone = "==" not in files["requirements.txt"].decode()
        names = [name for name in files if name.endswith(".py") and name != "check.py"]
        text = readme(files)
        lines = commands(text, "运行") if names else []
        python = "python3" if alone else ".venv/bin/python"
        assert sorted(lines) == [f"{python} {name}" for name in sorted(names)], uri
        for line in lines:
            name = line.removeprefix(f"{python} ")
            if files[name] in done:
                continue
            done.add(files[name])
            hidden = {library for library in proof.LIBRARIES if library not in files["requirements.txt"].decode()}
            (tmp_path / "sitecustomize.py").write_text(HIDING.replace("{hidden!r}", repr(hidden)), encoding="utf-8")
            result = run([sys.executable, *(["-I", "-S"] if alone else []), name], here, PYTHONPATH=str(tmp_path))
            assert result.returncode == 0, f"{uri}：{line}\n{result.stderr}"
            expected = files[f"expected/{Path(name).stem}.txt"].decode("utf-8")
            assert same(expected, result.stdout), f"{uri}：{name}\n{diff(expected, result.stdout)}"
    assert len(done) == len(scripts(ROOT / "code"))


def test_the_notebook_runs_as_its_readme_says(site, tmp_path):
    uri = "downloads/labs/02-causal-attention.zip"
    command = commands(readme(packed(site)[uri]), "notebook")[0]
    assert command == ".venv/bin/jupyter-execute 02-causal-attention.ipynb"
    with zipfile.ZipFile(site.folder / uri) as zipped:
        zipped.extractall(tmp_path)
    here = tmp_path / "02-causal-attention"
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    program = shutil.which("jupyter-execute", path=sysconfig.get_path("scripts"))
    result = run([program, command.partition(" ")[2]], here)
    assert result.returncode == 0, result.stderr
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


def run(command: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONUTF8": "1"} | env
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=120)


def test_check_py_agrees_and_notices_a_difference(site, tmp_path):
    """包里的 check.py 也照 README 运行；改一个字、弄坏脚本，它都看得出。"""
    uri = "downloads/examples/single_head_attention.zip"
    assert commands(readme(packed(site)[uri]), "核对") == ["python3 check.py"]
    with zipfile.ZipFile(site.folder / uri) as zipped:
        zipped.extractall(tmp_path)
    here = tmp_path / "single_head_attention"
    good = run([sys.executable, "-I", "-S", "-X", "utf8", "check.py"], here)
    assert (good.returncode, good.stdout) == (0, "single_head_attention.py：逐字相同\n")
    record = here / "expected" / "single_head_attention.txt"
    record.write_text(record.read_text(encoding="utf-8").replace("1.0", "1.5", 1), encoding="utf-8")
    bad = run([sys.executable, "-I", "-S", "-X", "utf8", "check.py"], here)
    assert bad.returncode == 1
    assert "行开始不同" in bad.stdout and "1.5" in bad.stdout and "README.txt" in bad.stdout
    (here / "single_head_attention.py").write_text("raise SystemExit('坏了')", encoding="utf-8")
    broken = run([sys.executable, "-I", "-S", "-X", "utf8", "check.py"], here)
    assert broken.returncode == 1 and "没有运行完：坏了" in broken.stdout


def unzipped(site, folder: Path) -> Path:
    with zipfile.ZipFile(site.folder / "downloads/examples/single_head_attention.zip") as zipped:
        zipped.extractall(folder)
    return folder / "single_head_attention"


@pytest.mark.parametrize("left", ["空的", "没有"])
def test_check_py_without_records_is_an_error(site, tmp_path, left):
    here = unzipped(site, tmp_path)
    shutil.rmtree(here / "expected")
    if left == "空的":
        (here / "expected").mkdir()
    done = run([sys.executable, "-I", "-S", "-X", "utf8", "check.py"], here)
    assert (done.returncode, done.stderr) == (1, "")
    assert "没有可以比较的记录" in done.stdout and "重新解压" in done.stdout


def test_check_py_does_not_crash_on_an_ascii_terminal(site, tmp_path):
    here = unzipped(site, tmp_path)
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    done = run([sys.executable, "-S", "check.py"], here, **ascii_only)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.encode().decode("unicode_escape") == "single_head_attention.py：逐字相同\n"


def test_packs_are_the_same_bytes_every_time(site):
    pack._zip.cache_clear()
    again = pack.packs(PROJECT, SOURCES)
    assert {found.uri for found in again.values()} == set(packed(site))
    for found in again.values():
        assert (site.folder / found.uri).read_bytes() == found.data, found.uri


def test_the_order_of_files_does_not_matter():
    one = archive.pack({"a.txt": b"1", "b/c.txt": b"2"})
    assert one == archive.pack({"b/c.txt": b"2", "a.txt": b"1"})
    for info in zipfile.ZipFile(io.BytesIO(one)).infolist():
        assert (info.date_time, info.external_attr >> 16, info.create_system) == (archive.EPOCH, 0o100644, 3)


LESSON = '# 一课\n\n```{.python .run}\n--8<-- "code/one.py:part"\n```\n'
SCRIPT = "# --8<-- [start:part]\nx = 1\n# --8<-- [end:part]\n"


def test_a_page_without_scripts_has_no_pack(project):
    project.write("docs/chapters/plain.md", "# 没有代码的一课\n\n正文。\n")
    page = project.build("# 首页\n\n[课](chapters/plain.md)\n")
    assert not (project.site / "downloads").exists()
    assert "downloads/" not in page


def test_an_unpinned_library_is_an_error(project, caplog):
    project.write("code/one.py", SCRIPT + "import pandas\n")
    project.write("docs/chapters/one.md", LESSON)
    with pytest.raises(Abort):
        project.build("# 首页\n\n[课](chapters/one.md)\n")
    assert "one.py 导入 pandas，而 requirements.txt 没有锁定它的版本" in caplog.text


def test_a_link_to_a_missing_script_is_an_error(project, caplog):
    project.write("docs/chapters/one.md", "# 一课\n\n下载 [two.py](../code/two.py)。\n")
    with pytest.raises(Abort):
        project.build("# 首页\n\n[课](chapters/one.md)\n")
    assert "docs/chapters/one.md 引用了 code/two.py，而 code/ 里没有它" in caplog.text
