"""页面末尾的工具：下载本章、打印、编辑此页、报告错误、最后修改。

这里只准备内容，样子在 theme/partials/page-tools.html。没有设仓库地址（`REPO_URL`）时，
编辑与最后修改的链接没有，报告错误改为给出一段可以复制的文字。
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from mkdocs.utils import get_relative_url

from livedocs.history import Change
from livedocs.pack import Pack

_NAMES = {"python": "Python", "torch": "torch", "numpy": "NumPy", "matplotlib": "Matplotlib"}
#: 网站由这个分支发布，编辑也在它上面。
BRANCH = "main"
#: 新建问题的网址：GitLab 的写法与别处不同。
_NEW_ISSUE = "{repo}/issues/new?title={title}&body={body}"
_NEW_ISSUE_GITLAB = "{repo}/-/issues/new?issue%5Btitle%5D={title}&issue%5Bdescription%5D={body}"


@dataclass(frozen=True)
class Shown:
    """页面的来历，报告错误时一并写上。`entry` 是 proof.json 里这一页的记录；`url` 没有设网站地址时是空的。"""

    title: str
    source: str
    url: str
    entry: dict
    change: Change | None


def report_title(shown: Shown) -> str:
    """问题的标题。"""
    return f"［报告错误］{shown.title}"


def report_body(shown: Shown) -> str:
    """问题的正文：来历已经写好，读者只需填写后半。"""
    versions = "、".join(
        f"{_NAMES.get(name, name)} {version}" for name, version in shown.entry.get("versions", {}).items()
    )
    facts = [
        ("页面", shown.source),
        ("网址", shown.url),
        ("页面的散列", shown.entry.get("hash", "")),
        ("核对时的版本", versions),
        ("最后修改", f"{shown.change.date}，{shown.change.short}" if shown.change else ""),
    ]
    return "\n".join(
        [
            *(f"{name}：{value}" for name, value in facts if value),
            "",
            "哪一节，写的是什么：",
            "",
            "应该是什么，依据是什么：",
            "",
            "运行的完整命令与输出（没有运行就不写）：",
            "",
            "操作系统、Python 与 PyTorch 的版本：",
            "",
        ]
    )


def report_link(repo: str, shown: Shown) -> str:
    """填好标题与正文的“新建问题”网址。"""
    template = _NEW_ISSUE_GITLAB if _gitlab(repo) else _NEW_ISSUE
    return template.format(
        repo=repo.rstrip("/"), title=quote(report_title(shown), safe=""), body=quote(report_body(shown), safe="")
    )


def commit_link(repo: str, change: Change) -> str:
    """这次提交的网址。"""
    return f"{_base(repo)}/commit/{change.commit}"


def edit_link(repo: str, source: str) -> str:
    """在网页上编辑 `source`（相对于仓库的路径）的网址。"""
    return f"{_base(repo)}/edit/{BRANCH}/{quote(source)}"


def _base(repo: str) -> str:
    return repo.rstrip("/") + ("/-" if _gitlab(repo) else "")


def _gitlab(repo: str) -> bool:
    return "gitlab" in (urlsplit(repo).hostname or "").split(".")


def pack_link(pack: Pack | None, page_url: str) -> str:
    """标题下的下载链接；没有下载包的页面没有。"""
    if pack is None:
        return ""
    return (
        f'<p class="page-pack" data-search-exclude="1"><a href="{get_relative_url(pack.uri, page_url)}" download>'
        f"{pack.label}（zip，{kilobytes(pack.data)} KB）</a></p>"
    )


def kilobytes(data: bytes) -> int:
    """有多少 KB（1 KB 是 1000 字节），不到 1 的算 1。"""
    return max(1, round(len(data) / 1000))


def context(shown: Shown, pack: Pack | None, repo: str) -> dict:
    """模板要用的内容。`repo` 是仓库的网址，没有设时是空的。"""
    return {
        "pack": pack and {"uri": pack.uri, "label": pack.label},
        "change": shown.change,
        "commit_link": commit_link(repo, shown.change) if repo and shown.change else "",
        "edit_link": edit_link(repo, shown.source) if repo else "",
        "report_link": report_link(repo, shown) if repo else "",
        "report_title": report_title(shown),
        "report_body": report_body(shown),
    }
