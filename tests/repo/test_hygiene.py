"""仓库里该有什么、不该有什么。"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

LIMIT = 200_000  # 字节
RUFF = ["--select=E4,E7,E9,F,W,I,UP,PLE"]
CONFIG = {".toml", ".txt", ".cfg", ".ini", ".yml", ".yaml", ".json", ".npmrc", ".sh", ".conf"}
PYTORCH = "https://download.pytorch.org/whl/cpu"
MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:work|root|home|Users|opt)/\w")
PACKAGE_INDEX = re.compile(r"(?:index[-_]url|find[-_]links|trusted[-_]host|registry)\W+(\w+://\S+|/\S+)", re.IGNORECASE)


def text_of(path: Path) -> str | None:
    """文件的文字；二进制文件为 ``None``。"""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def test_nothing_is_too_big(files: list[Path], root: Path) -> None:
    big = {str(path.relative_to(root)): path.stat().st_size for path in files if path.stat().st_size > LIMIT}
    assert not big, f"这些文件超过 {LIMIT} 字节"


def test_nothing_built_or_installed_is_kept(files: list[Path], root: Path) -> None:
    anywhere = {"node_modules", ".venv", ".cache", "__pycache__", ".ipynb_checkpoints"}
    for path in files:
        parts = path.relative_to(root).parts
        assert parts[0] not in {"site", "build", "dist"}, path
        assert not anywhere & set(parts), path
        assert not path.name.endswith((".min.js", ".min.css", ".map", ".pyc", ".whl", ".wasm")), path


def test_text_is_utf8_with_unix_line_ends(files: list[Path], root: Path) -> None:
    for path in files:
        data = path.read_bytes()
        if text_of(path) is not None and b"\0" not in data:
            assert b"\r\n" not in data, f"{path.relative_to(root)} 的换行不是 LF"
            assert not data.startswith(b"\xef\xbb\xbf"), f"{path.relative_to(root)} 以 BOM 开头"
        else:
            assert path.suffix in {".png", ".woff2", ".ico"}, f"{path.relative_to(root)} 不是 UTF-8 文字"


def test_no_file_names_a_path_of_one_machine(files: list[Path], root: Path) -> None:
    found = [
        f"{path.relative_to(root)}:{number}: {line.strip()[:120]}"
        for path in files
        for number, line in enumerate((text_of(path) or "").splitlines(), start=1)
        if MACHINE_PATH.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("line", ['"@work/x"', "see @root/x", "(@home/me/x)", "= @Users/me"])
def test_machine_paths_are_recognised(line: str) -> None:
    # @ 代替 /，免得这个文件自己命中。
    assert MACHINE_PATH.search(line.replace("@", "/"))


@pytest.mark.parametrize("line", ["https://a.example/home/x", "../work/x", "docs/root/x", "path/home/x"])
def test_other_paths_are_not(line: str) -> None:
    assert not MACHINE_PATH.search(line)


def test_no_package_index_is_named(files: list[Path], root: Path) -> None:
    for path in files:
        if path.suffix in CONFIG or path.name in {"Makefile", "run", ".npmrc", "pip.conf", "README.md"}:
            for address in PACKAGE_INDEX.findall(text_of(path) or ""):
                assert address.strip("`'\"。，") == PYTORCH, f"{path.relative_to(root)} 写了软件源 {address}"


def test_the_npm_lock_names_no_registry(root: Path) -> None:
    for lock in [*root.glob("web/package-lock.json"), *root.glob("tests/npm/package-lock.json")]:
        packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
        assert not [name for name, entry in packages.items() if "resolved" in entry], "应以 omit-lockfile-registry-resolved 生成"
        # 没有地址，就更要有散列：装到的必须是当初那一份。
        assert not [name for name, entry in packages.items() if name and "integrity" not in entry]


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-site.txt"])
def test_every_direct_dependency_is_pinned_exactly(root: Path, name: str) -> None:
    lines = (root / name).read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if line and not line.startswith(("#", "-r ", "-e "))]
    assert wanted
    for line in wanted:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==\d[\w.]*(?: *; .+)?", line), f"{name} 里没有锁定到确切版本：{line}"


def test_npm_dependencies_are_pinned_exactly(root: Path) -> None:
    for manifest in [*root.glob("web/package.json"), *root.glob("tests/npm/package.json")]:
        package = json.loads(manifest.read_text(encoding="utf-8"))
        for table in ("dependencies", "devDependencies"):
            for name, version in package.get(table, {}).items():
                assert re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", version), f"{name} 没有锁定到确切版本：{version}"


def test_both_licences_are_there(root: Path) -> None:
    assert (root / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")
    text = (root / "LICENSE-docs").read_text(encoding="utf-8")
    assert text.startswith("Attribution-ShareAlike 4.0 International\n")
    assert text.rstrip().endswith("Creative Commons may be contacted at creativecommons.org.")


def test_ruff_has_nothing_to_say(files: list[Path], root: Path) -> None:
    sources = [path for path in files if path.suffix == ".py"]
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise", *RUFF, *sources]
    result = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8")
    assert result.returncode == 0, result.stdout + result.stderr
