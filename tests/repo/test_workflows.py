"""GitHub 的工作流与 Dependabot 的配置。"""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def jobs() -> dict[str, dict]:
    """每个工作流的每项任务，键是“文件名:任务名”。"""
    found = {}
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            found[f"{path.name}:{name}"] = job
    return found


@pytest.mark.parametrize(
    ("schema", "paths"),
    [("vendor.github-workflows", WORKFLOWS), ("vendor.dependabot", [ROOT / ".github" / "dependabot.yml"])],
    ids=["workflows", "dependabot"],
)
def test_schema(schema: str, paths: list[Path]) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *paths]
    result = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert result.returncode == 0, result.stdout + result.stderr


def test_zizmor_has_no_findings() -> None:
    zizmor = Path(sysconfig.get_path("scripts")) / "zizmor"
    command = [zizmor, "--offline", "--persona=pedantic", "--strict-collection", ROOT / ".github"]
    result = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_with_their_version(path: Path) -> None:
    uses = re.findall(r"uses: *(.+)", path.read_text(encoding="utf-8"))
    assert uses
    for action in uses:
        assert ACTION.fullmatch(action), action


def test_one_action_has_one_version() -> None:
    pins: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, pin in re.findall(r"uses: *([\w/-]+)@(.+)", path.read_text(encoding="utf-8")):
            pins.setdefault(action, set()).add(pin)
    assert {action: versions for action, versions in pins.items() if len(versions) > 1} == {}


@pytest.mark.parametrize(("name", "job"), jobs().items(), ids=jobs())
def test_every_job_ends_and_asks_for_little(name: str, job: dict) -> None:
    assert job["timeout-minutes"] <= 60
    writes = {scope for scope, access in job["permissions"].items() if access == "write"}
    assert writes == ({"pages", "id-token"} if name == "pages.yml:deploy" else set())


def test_the_promised_systems_and_versions_are_checked() -> None:
    found = jobs()
    versions = ["3.11", "3.12", "3.13"]
    assert found["ci.yml:linux"]["strategy"]["matrix"]["python"] == versions
    assert found["ci.yml:desktop"]["strategy"]["matrix"] == {"os": ["windows-latest", "macos-latest"], "python": versions}


def test_the_torch_rows_are_not_the_pinned_version() -> None:
    pinned = re.search(r"^torch==(\d+\.\d+)", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
    older, newest = jobs()["ci.yml:torch"]["strategy"]["matrix"]["torch"]
    assert newest == "newest"
    assert [int(part) for part in older.removesuffix(".*").split(".")] < [int(part) for part in pinned[1].split(".")]


def test_files_named_in_commands_exist() -> None:
    words = [
        word
        for job in jobs().values()
        for step in job["steps"]
        for word in re.findall(r"(?<!\S)[\w./:-]+", step.get("run", ""))
        if word.endswith((".py", ".txt")) or word == ".ci/run" or word.startswith("tests/")
    ]
    assert len(words) > 5
    for word in words:
        name, _, test = word.partition("::")
        assert (ROOT / name).exists(), name
        assert not test or f"def {test}(" in (ROOT / name).read_text(encoding="utf-8"), word
