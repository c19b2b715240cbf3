"""页面末尾的工具：报告错误带着页面、散列与版本；最后修改来自 git，说不准就不说。"""

import html
import json
import os
import re
import subprocess
from urllib.parse import parse_qs, urlsplit

import pytest
from site_tools import ROOT

from livedocs import history, page_tools
from livedocs.history import Change

LAB = "labs/01-single-head-attention/index.html"
CHANGE = Change("0123456789abcdef0123456789abcdef01234567", "2024-02-03", 0)
SHOWN = page_tools.Shown(
    "第 1 章",
    "docs/chapters/x.md",
    "https://books.example/chapters/x/",
    {"hash": "abc123", "versions": {"python": "3.11", "torch": "2.0"}},
    CHANGE,
)


def tools(page: str) -> str:
    """一页末尾的工具。"""
    return re.search(r'<section class="page-tools".*?</section>', page, re.DOTALL).group()


def test_every_page_ends_with_its_tools(site):
    for page in site.pages():
        if page.name == "index.html":
            shown = tools(page.read_text(encoding="utf-8"))
            assert "打印本页" in shown and "报告错误" in shown and "编辑此页" in shown, page
    assert "page-tools" not in site.read("404.html")


def test_a_report_carries_the_page_its_hash_and_versions(site):
    link = html.unescape(re.search(r'<a href="([^"]+)">报告错误</a>', tools(site.read(LAB))).group(1))
    address = urlsplit(link)
    assert address._replace(query="").geturl() == "https://github.com/example/example/issues/new"
    query = {name: values[0] for name, values in parse_qs(address.query, strict_parsing=True).items()}
    entry = json.loads((ROOT / "proof.json").read_text(encoding="utf-8"))["pages"][
        "docs/labs/01-single-head-attention.md"
    ]
    assert query["title"] == "［报告错误］实验 01 从零实现并验证单头因果注意力"
    lines = query["body"].split("\n")
    assert "页面：docs/labs/01-single-head-attention.md" in lines
    assert f"网址：{site.url}labs/01-single-head-attention/" in lines
    assert f"页面的散列：{entry['hash']}" in lines
    assert f"核对时的版本：Python {entry['versions']['python']}" in lines
    assert len(link) < 4000, "太长的网址，有的服务器不收"


def test_editing_leads_to_the_source_of_the_page(site):
    for page, source in (
        (LAB, "labs/01-single-head-attention.md"),
        ("labs/02-causal-attention/index.html", "labs/02-causal-attention.ipynb"),
    ):
        assert f'href="https://github.com/example/example/edit/main/docs/{source}"' in tools(site.read(page))


def test_no_inline_handlers(site):
    for page in site.pages():
        assert not re.search(
            r"<[^>]*\son\w+=", tools(page.read_text(encoding="utf-8")) if page.name == "index.html" else ""
        ), page


def test_without_a_repository_the_reader_gets_a_text_to_copy(project):
    page = project.build("# 首页\n\n正文。\n")
    shown = tools(page)
    assert "编辑此页" not in shown and "issues" not in shown and "最后修改" not in shown
    assert "<summary>报告错误</summary>" in shown
    assert "［报告错误］首页" in shown and "页面：docs/index.md" in shown


@pytest.mark.parametrize(
    ("repo", "issue", "commit", "edit"),
    [
        ("https://github.com/a/b", "/issues/new?title=", "/commit/", "/edit/main/"),
        ("https://gitee.com/a/b/", "/issues/new?title=", "/commit/", "/edit/main/"),
        ("https://gitlab.com/a/b", "/-/issues/new?issue%5Btitle%5D=", "/-/commit/", "/-/edit/main/"),
    ],
)
def test_links_for_each_kind_of_host(repo, issue, commit, edit):
    base = repo.rstrip("/")
    assert page_tools.report_link(repo, SHOWN).startswith(base + issue)
    assert page_tools.commit_link(repo, CHANGE) == f"{base}{commit}{CHANGE.commit}"
    assert page_tools.edit_link(repo, "docs/甲 乙.md") == f"{base}{edit}docs/%E7%94%B2%20%E4%B9%99.md"


def test_facts_that_are_not_known_are_left_out():
    body = page_tools.report_body(page_tools.Shown("首页", "docs/index.md", "", {}, None))
    assert body.startswith("页面：docs/index.md\n\n哪一节")
    assert "最后修改：2024-02-03，012345678" in page_tools.report_body(SHOWN)


# ---------------------------------------------------------------- 最后修改


class Repository:
    """测试用的仓库；每次提交的日期由测试给。"""

    def __init__(self, folder):
        self.folder = folder
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, date="2024-01-01T12:00:00+08:00"):
        identity = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "n"), ("EMAIL", "e@example.org"), ("DATE", date))
        }
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), **identity}
        return subprocess.run(
            ["git", "-C", self.folder, *arguments], env=environment, capture_output=True, check=True, encoding="utf-8"
        ).stdout

    def commit(self, date: str, **files: str) -> str:
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "改动", date=f"{date}T23:30:00+08:00")
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path) -> Repository:
    (tmp_path / "work").mkdir()
    return Repository(tmp_path / "work")


def test_the_last_change_of_each_file(repository):
    first = repository.commit("2024-01-05", **{"课.md": "一", "b.py": "1"})
    second = repository.commit("2024-02-06", **{"b.py": "2"})
    found = history.last_changes(repository.folder)
    # 日期按提交者的时区：UTC 的 15:30 在东八区已经是晚上，仍是同一天。
    assert (found["课.md"].commit, found["课.md"].date) == (first, "2024-01-05")
    assert (found["b.py"].commit, found["b.py"].date) == (second, "2024-02-06")
    assert history.newest(found, ["课.md", "b.py"]).commit == second
    assert history.newest(found, ["课.md", "没有提交.md"]) is None
    assert found["b.py"].short == second[:9]


def test_merged_work_counts_as_changed_by_the_merge(repository):
    repository.commit("2024-01-05", **{"a.md": "一"})
    repository.git("switch", "-q", "-c", "other")
    repository.commit("2024-01-06", **{"a.md": "二"})
    repository.git("switch", "-q", "main")
    repository.commit("2024-01-07", **{"b.md": "一"})
    repository.git("merge", "-q", "--no-ff", "-m", "合并", "other", date="2024-01-08T00:00:00+08:00")
    merged = repository.git("rev-parse", "HEAD").strip()
    assert history.last_changes(repository.folder)["a.md"].commit == merged


def test_a_folder_inside_a_repository_sees_its_own_paths(repository):
    (repository.folder / "book").mkdir()
    repository.commit("2024-01-05", **{"book/a.md": "一", "outside.md": "一"})
    assert set(history.last_changes(repository.folder / "book")) == {"a.md"}


def test_unknown_history_is_not_guessed(repository, tmp_path, monkeypatch):
    repository.commit("2024-01-05", **{"a.md": "一"})
    repository.commit("2024-01-06", **{"b.md": "一"})
    shallow = tmp_path / "shallow"
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.folder}", str(shallow))
    assert history.last_changes(shallow) == {}  # 浅克隆里，每个文件都像是最后一次提交改的
    (tmp_path / "plain").mkdir()
    assert history.last_changes(tmp_path / "plain") == {}  # 解压的 zip
    monkeypatch.setenv("PATH", str(tmp_path))
    assert history.last_changes(repository.folder) == {}  # 没有 git
