"""proof.json：过时、手改、缺页都变红；只有通过的页面能写；徽章只在散列相同时出现。"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_page_faults import fence

from livedocs import badges, proof
from livedocs.project import load_project

ROOT = Path(__file__).resolve().parents[2]

PAGE = "# 页\n\n" + fence("x = 0.25\nprint(x)", output="0.25") + "\n值是 0.25<!--= x -->。\n"


def recorded(site) -> dict:
    return json.loads((site.root / "proof.json").read_text(encoding="utf-8"))["pages"]


@pytest.fixture
def proved(site):
    site.page(PAGE)
    code, report = site.check("--update-docs", "docs")
    assert code == 0 and "更新了 proof.json" in report
    assert site.check()[0] == 0
    return site


def test_the_repository_has_a_record_for_every_page():
    pages = proof.load(ROOT)
    files = {path.relative_to(ROOT).as_posix() for kind in ("*.md", "*.ipynb") for path in (ROOT / "docs").rglob(kind)}
    assert set(pages) == files


def test_record_says_what_was_counted(proved):
    entry = recorded(proved)["docs/page.md"]
    assert (entry["blocks"], entry["outputs"], entry["numbers"], entry["transcripts"]) == (1, 1, 1, 0)
    assert entry["versions"] == {"python": proof.running_version("python")}


@pytest.mark.parametrize("change", ["文字", "blocks", "numbers", "versions", "hash", "多的键", "没有记录"])
def test_stale_or_edited_records_fail(proved, change):
    pages = recorded(proved)
    entry = pages["docs/page.md"]
    if change == "文字":
        proved.page(PAGE.replace("值是", "值就是"))
    elif change == "没有记录":
        del pages["docs/page.md"]
    elif change == "versions":
        entry["versions"]["python"] = "3.99"
    elif change == "hash":
        entry["hash"] = "0" * 32
    else:
        entry[change] = 9
    (proved.root / "proof.json").write_text(json.dumps({"pages": pages}), encoding="utf-8")
    code, report = proved.check()
    assert code == 1 and "proof.json 里" in report and "pytest --update-docs docs/page.md" in report
    assert "Traceback" not in report


def test_unreadable_record_is_a_sentence(proved):
    (proved.root / "proof.json").write_text("{", encoding="utf-8")
    code, report = proved.check()
    assert code == 2 and "proof.json 读不懂" in report and "Traceback" not in report
    before = (proved.root / "docs" / "page.md").read_bytes()
    code, report = proved.check("--update-docs", "docs")
    assert code == 2 and "proof.json 读不懂" in report and (proved.root / "docs" / "page.md").read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value", "wanted"),
    [
        ("numbers", "x", "不小于 0 的整数"),
        ("blocks", None, "不小于 0 的整数"),
        ("cells", True, "不小于 0 的整数"),
        ("outputs", -1, "不小于 0 的整数"),
        ("hash", 5, "字符串"),
        ("versions", ["python"], "库到版本的字典"),
        ("versions", {"python": 3.11}, "库到版本的字典"),
    ],
)
def test_a_value_of_the_wrong_type_is_a_sentence(tmp_path, key, value, wanted):
    (tmp_path / "proof.json").write_text(json.dumps({"pages": {"docs/page.md": {key: value}}}), encoding="utf-8")
    with pytest.raises(ValueError, match=f"proof.json 读不懂（docs/page.md 的 {key} 应是{wanted}，得到 .*删除它"):
        proof.load(tmp_path)


def test_a_missing_count_is_not_a_crash_in_the_badge(proved):
    pages = recorded(proved)
    del pages["docs/page.md"]["cells"], pages["docs/page.md"]["versions"]
    assert "1 段代码" in proof.badge(proved.root / "docs" / "page.md", load_project(proved.root), pages)


def test_a_page_with_notest_can_be_proved(site):
    site.page(PAGE + "\n" + fence("import 没有", '{.python notest="要联网"}'))
    assert site.check("--update-docs", "docs")[0] == 0
    assert recorded(site)["docs/page.md"]["blocks"] == 1
    assert site.check()[0] == 0


def test_a_failing_page_loses_its_record(proved):
    proved.page(PAGE + "\n" + fence("1 / 0"))
    assert proved.check("--update-docs", "docs")[0] == 1
    assert "docs/page.md" not in recorded(proved)


def test_part_of_a_page_proves_nothing(proved):
    proved.page(PAGE + "\n" + fence("y = 1") + "\n没有来历的 0.75。\n")
    before = recorded(proved)
    proved.check("--update-docs", "docs/page.md::[CodeFence#1][line:3]")
    assert recorded(proved) == before


def test_the_record_is_deterministic(proved):
    data = (proved.root / "proof.json").read_bytes()
    assert proved.check("--update-docs", "docs")[0] == 0
    assert (proved.root / "proof.json").read_bytes() == data


def test_pages_that_are_gone_leave_the_record(proved):
    other = proved.page("# 别页\n", "other.md")
    assert proved.check("--update-docs", "docs")[0] == 0 and "docs/other.md" in recorded(proved)
    other.unlink()
    proved.page(PAGE.replace("0.25", "0.5"))
    assert proved.check("--update-docs", "docs")[0] == 0
    assert set(recorded(proved)) == {"docs/page.md"}


def test_a_changed_figure_or_snippet_changes_the_hash(site):
    project = load_project(site.root)
    (site.root / "docs" / "figures").mkdir()
    figure = site.root / "docs" / "figures" / "a.svg"
    figure.write_text("<svg/>", encoding="utf-8")
    script = site.script("x = 1\n")
    page = site.page('![图](figures/a.svg)\n\n```{.python .script}\n--8<-- "code/demo.py"\n```\n')
    seen = {proof.page_hash(page, project)}
    figure.write_text("<svg> </svg>", encoding="utf-8")
    seen.add(proof.page_hash(page, project))
    script.write_text("x = 2\n", encoding="utf-8")
    seen.add(proof.page_hash(page, project))
    assert len(seen) == 3


def test_other_versions_than_the_pinned_do_not_write(site):
    (site.root / "pyproject.toml").write_text('[tool.livedocs]\npython = "3.1"\n', encoding="utf-8")
    site.page(PAGE)
    code, report = site.check("--update-docs", "docs")
    assert code == 0 and "没有写 proof.json，因为python 是" in report and "锁定的是 3.1" in report
    assert not (site.root / "proof.json").exists()


def test_badge_only_while_the_hash_matches(proved):
    project, path = load_project(proved.root), proved.root / "docs" / "page.md"
    text = badges.badge(path, project, recorded(proved), "../proof/")
    assert "本页 1 段代码、1 处输出、1 个数字已核对（Python " in text and "proof-badge--proved" in text
    proved.page(PAGE + "\n多一句。\n")
    text = badges.badge(path, project, recorded(proved), "../proof/")
    assert "改动后尚未核对" in text and "已核对" not in text
    table = badges.table([("页", "page/", path)], project, recorded(proved))
    assert "改动后尚未核对" in table and "合计 1 页" in table
