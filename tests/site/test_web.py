"""livedocs.web：前端依赖的安装。"""

import json
import logging
import shutil
import subprocess

import pytest
from site_tools import ROOT

from livedocs import web


@pytest.fixture
def folder(tmp_path):
    """像 web/ 那样的文件夹，里面什么也没装。"""
    for name in web.MANIFESTS:
        shutil.copy(ROOT / "web" / name, tmp_path)
    return tmp_path


@pytest.fixture
def npm(monkeypatch):
    """冒充 npm：记下运行了几次，装出一个包。"""
    runs = []

    def run(scratch):
        runs.append(scratch)
        package = scratch / "node_modules" / "katex"
        package.mkdir(parents=True)
        (package / "package.json").write_text("{}", encoding="utf-8")

    monkeypatch.setattr(web, "_run_npm", run)
    return runs


def test_packages_are_fetched_once_and_the_reader_is_told(folder, npm, caplog):
    with caplog.at_level(logging.INFO, logger="mkdocs.plugins.livedocs"):
        target = web.ensure_packages(folder)
        web.ensure_packages(folder)
    assert len(npm) == 1
    assert len(caplog.records) == 1
    assert "npm" in caplog.text
    assert (target / "katex" / "package.json").is_file()
    assert not list(folder.glob(".install-*"))


def test_a_changed_lock_file_fetches_again(folder, npm):
    web.ensure_packages(folder)
    lock = folder / "package-lock.json"
    lock.write_text(lock.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    web.ensure_packages(folder)
    assert len(npm) == 2


def test_an_interrupted_installation_recovers(folder, npm):
    half = folder / "node_modules" / "katex"
    half.mkdir(parents=True)
    (half / "half-written").touch()
    target = web.ensure_packages(folder)
    assert len(npm) == 1
    assert not (target / "katex" / "half-written").exists()


def test_a_failed_installation_keeps_what_was_there(folder, npm, monkeypatch):
    target = web.ensure_packages(folder)
    (folder / "package.json").write_text('{"name": "other"}', encoding="utf-8")

    def fail(scratch):
        raise web.WebError("没有网络")

    monkeypatch.setattr(web, "_run_npm", fail)
    with pytest.raises(web.WebError):
        web.ensure_packages(folder)
    assert (target / "katex" / "package.json").is_file()
    assert not list(folder.glob(".install-*"))


def test_a_failing_npm_is_explained_in_chinese(folder, monkeypatch):
    answer = subprocess.CompletedProcess([], 1, b"npm error code ENOTFOUND\nnpm error A complete log of this run")
    monkeypatch.setattr(web.subprocess, "run", lambda *args, **kwargs: answer)
    with pytest.raises(web.WebError, match="npm 没有装上前端依赖") as failure:
        web.ensure_packages(folder)
    assert "ENOTFOUND" in str(failure.value)
    assert "complete log" not in str(failure.value)


@pytest.mark.parametrize("folder", ["web", "tests/npm"])
def test_versions_are_exact_and_the_lock_names_no_registry(folder):
    package = json.loads((ROOT / folder / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((ROOT / folder / "package-lock.json").read_text(encoding="utf-8"))
    for name, version in package["dependencies"].items():
        assert version[0].isdigit(), name
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    for name, entry in lock["packages"].items():
        assert "resolved" not in entry, name
        assert not name or entry["integrity"].startswith("sha512-")
