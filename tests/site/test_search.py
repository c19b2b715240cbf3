"""livedocs.search：worker 的修补。真的查询在 test_browser.py。"""

import logging
from pathlib import Path

import material

from livedocs.search import _PATCHES, patch_worker


def shipped_worker() -> str:
    folder = Path(material.__file__).parent / "templates/assets/javascripts/workers"
    (path,) = folder.glob("search.*.min.js")
    return path.read_text(encoding="utf-8")


def test_the_shipped_worker_has_the_faults(caplog):
    original = shipped_worker()
    patched = patch_worker(original)
    assert not caplog.records
    for old, new in _PATCHES:
        assert old in original
        assert old not in patched
        assert new in patched


def test_another_worker_gives_a_warning_and_stays_as_it_is(caplog):
    with caplog.at_level(logging.WARNING, logger="mkdocs.plugins.livedocs"):
        assert patch_worker("var x=1;") == "var x=1;"
    assert "主题可能升级了" in caplog.text


def test_the_built_site_has_the_patched_worker(site):
    (path,) = (site.folder / "assets/javascripts/workers").glob("search.*.min.js")
    assert path.read_text(encoding="utf-8") == patch_worker(shipped_worker())
