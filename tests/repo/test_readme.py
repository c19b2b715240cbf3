"""README 说的每个文件、每条命令都在。"""

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CODE = re.findall(r"^ *(`{3,})(\w*)\n(.*?)\n *\1$", README, flags=re.DOTALL | re.MULTILINE)
MADE = {".venv", "site/"}  # 运行时才有


def named_files() -> set[str]:
    """README 里像路径的词：行内代码、代码块里的词、链接的目标。"""
    words = set(re.findall(r"`([^`\s]+)`", re.sub(r"`{3,}", "", README)))
    words |= {word.strip("\"'") for _, _, body in CODE for word in body.split()}
    words |= set(re.findall(r"\]\(([^)#]+)\)", README))
    words = {re.sub(r":[a-z_]+$", "", word) for word in words}
    path = re.compile(r"\.?[A-Za-z0-9][\w.-]*(/[\w.-]*)+|[\w-]+\.(py|txt|md|toml|yml|ipynb)")
    return {word for word in words if path.fullmatch(word) and not word.startswith((".venv/", "//"))} - MADE


def exists(name: str) -> bool:
    """从根目录算起的路径；只写文件名时，在 code/ 或 livedocs/ 里也算。"""
    return any((ROOT / folder / name).exists() for folder in ("", "code", "livedocs"))


def test_files() -> None:
    named = named_files()
    assert {"code/", "requirements-site.txt", "tools/env.py", "docs/reference/proof.md"} <= named
    assert sorted(name for name in named if not exists(name)) == []


def test_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake ([a-z]+)", README))
    assert {"serve", "test", "build"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"Makefile 里没有 {target}"


@pytest.mark.parametrize(
    "command",
    ["make serve", "make test", "py -m venv .venv", "pip install -r requirements.txt", "mkdocs serve", "pytest"],
)
def test_the_plain_commands_are_there(command: str) -> None:
    lines = [line.split("#")[0].strip() for _, _, body in CODE for line in body.splitlines()]
    assert command in lines


def test_the_pinned_torch_is_the_one_named() -> None:
    pinned = re.search(r"^torch==\S+", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)[0]
    assert set(re.findall(r"torch==\S+", README)) == {pinned}


def test_every_module_of_livedocs_is_described() -> None:
    modules = {path.name for path in (ROOT / "livedocs").glob("*.py")} - {"__init__.py"}
    described = set(re.findall(r"`(\w+\.py)`", README))
    assert modules - described == set()


def test_the_example_page_runs(capsys: pytest.CaptureFixture) -> None:
    page = next(body for _, language, body in CODE if language == "markdown")
    source = re.search(r"```{.python .run}\n(.*?)\n *```", page, re.DOTALL)[1]
    source = re.sub(r'--8<-- "(.+):(.+)"', lambda snippet: section(*snippet.groups()), textwrap.dedent(source))
    namespace: dict[str, object] = {}
    exec(source, namespace)
    assert re.fullmatch(r"\d\.\d{4}\n", capsys.readouterr().out)
    number, expression = re.search(r"([\d.]+)<!--= (.+?) -->", page).groups()
    assert f"{eval(expression, namespace):.2f}" == number


def section(path: str, name: str) -> str:
    """脚本里的一个片段。"""
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.search(rf"\[start:{name}\]\n(.*?)\n# --8<-- \[end:{name}\]", text, re.DOTALL)[1]
