"""同一份 mkdocs.yml 也能用 Zensical 构建；与 MkDocs 的结果差在哪里，“版本与证明”页上的表说得分毫不差。

每一行是一个比较的方面。没有写出的差别、已经消失的差别，都是失败。
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from site_tools import ROOT

PAGE = ROOT / "docs" / "reference" / "proof.md"
SAME, DIFFERENT = "相同", "不同"
#: 正文里比较的方面。
SHOWN = "标题与锚点 代码与输出 正文与表格 链接 图 绑定的数字 自测题 公式 在网页里运行 术语就地解释".split()
#: 由钩子插入、Zensical 因此没有的元素：类名 → 方面。比较正文与链接时不算它们。
INSERTED = {
    "lesson-card": "概要卡片",
    "proof-badge": "徽章与总表",
    "proof-counts": "徽章与总表",
    "course-place": "课的位置",
    "page-pack": "下载按钮",
    "site-zip": "下载按钮",
    "page-tools": "页面末尾的工具",
    "headerlink": "",
}
#: 没有内容的元素，不会有结束标记。
VOID = {"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Article(HTMLParser):
    """一页正文的各个方面；同一方面的内容按出现的先后。"""

    def __init__(self, text: str):
        super().__init__()
        self.found: dict[str, list[str]] = {name: [] for name in [*SHOWN, *INSERTED.values()] if name}
        self._open: list[tuple[str, str]] = []  # (元素名, 里面的文字属于哪个方面；空的表示不算)
        start = text.find("<article")
        self.feed(text[start : text.find("</article>", start)])

    def handle_starttag(self, tag, attrs):
        found = {name: value or "" for name, value in attrs}
        classes = found.get("class", "").split()
        aspect = self._open[-1][1] if self._open else "正文与表格"
        if inserted := next((name for name in INSERTED if name in classes), None):
            if aspect and INSERTED[inserted]:
                self.found[INSERTED[inserted]].append(tag)
            aspect = ""
        elif "katex" in classes:
            self.found["公式"].append("katex")
        if "arithmatex" in classes or "katex" in classes:
            if aspect:
                self._add(aspect, "∑")
            aspect = ""
        elif aspect and tag == "pre":
            aspect = "代码与输出"
            self.found[aspect].append("")
        elif aspect and re.fullmatch("h[1-6]", tag):
            aspect = "标题与锚点"
            self.found[aspect].append(f"{tag}#{found.get('id', '')} ")
        elif aspect and tag == "svg":
            self.found["图"].append(found.get("aria-label", ""))
            aspect = ""
        if aspect:
            if tag == "a" and "term" in classes:
                self.found["术语就地解释"].append(found.get("data-name", ""))
            elif tag == "a" and "href" in found:
                # notebook 在 Zensical 里只是文件，链接因此不同；另有一行说它。
                self.found["链接"].append(found["href"].replace(".ipynb", "/"))
            elif tag == "data":
                self.found["绑定的数字"].append(found.get("data-expr", ""))
            elif tag == "self-test":
                self.found["自测题"].append(str(sorted(found.items())))
            elif tag == "py-block":
                self.found["在网页里运行"].append(found.get("data-kind", ""))
        if tag not in VOID:
            self._open.append((tag, aspect))

    def handle_endtag(self, tag):
        names = [name for name, _ in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data):
        self._add(self._open[-1][1] if self._open else "正文与表格", data)

    def _add(self, aspect: str, text: str) -> None:
        if aspect in ("代码与输出", "标题与锚点"):
            self.found[aspect][-1] += text
        elif aspect:
            self.found[aspect].append(re.sub(r"\s+", "", text))

    def aspects(self) -> dict[str, list[str]]:
        # 元素边界不算：正文连成一串再比较。
        return self.found | {"正文与表格": ["".join(self.found["正文与表格"])]}


def head_aspects(text: str) -> dict[str, list[str]]:
    """`<head>` 的各个方面。"""
    head = text.partition("</head>")[0]
    return {
        "标题与描述": re.findall(
            r"<title>(.*?)</title>|name=\"description\" content=\"([^\"]*)|rel=\"canonical\" href=\"([^\"]*)", head
        ),
        "分享卡片与结构化数据": re.findall(r'property="og:|ld\+json', head),
        "内容安全策略": re.findall(r"Content-Security-Policy", head),
        "前端的脚本与样式": re.findall(r"assets/(?:web|katex)/", text),
    }


def site_aspects(folder: Path) -> dict[str, list[str]]:
    """整站的各个方面；都是网站里的路径或网址。"""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {
        "notebook 的网页": [name for name in files if name.startswith("labs/02") and name.endswith(".html")],
        "其余的网页": [name for name in files if name.endswith(".html") and not name.startswith("labs/02")],
        "下载的文件": [name for name in files if re.match(r"code/|downloads/|[^/]*\.zip$", name)],
        "搜索": [name for name in files if re.match(r"search(?:/|\.json)|assets/web/search", name)],
        "站点地图": sorted(
            url
            for url in re.findall(r"<loc>(.*?)</loc>", (folder / "sitemap.xml").read_text(encoding="utf-8"))
            if "/labs/02" not in url
        ),
    }


def differences(ours: Path, theirs: Path) -> dict[str, str]:
    """方面 → 第一处差别；没有差别时是空的。"""
    found: dict[str, str] = {}

    def compare(where: str, a: dict[str, list], b: dict[str, list]) -> None:
        for name in a:
            found.setdefault(name, "")
            if a[name] != b[name] and not found[name]:
                pairs = [
                    *zip(a[name], b[name]),
                    *[(x, "（没有）") for x in a[name][len(b[name]) :]],
                    ("（没有）", b[name][-1:]),
                ]
                one, other = next(pair for pair in pairs if pair[0] != pair[1])
                start = len(os.path.commonprefix([str(one), str(other)])) - 20
                one, other = (str(text)[max(start, 0) :][:120] for text in (one, other))
                found[name] = f"{where}：MkDocs 是 {one!r}，Zensical 是 {other!r}"

    compare("整站", site_aspects(ours), site_aspects(theirs))
    for page in sorted(theirs.rglob("*.html")):
        where = page.relative_to(theirs).as_posix()
        # 404 页的布局由主题决定，它的正文在下面单独核对。
        if where != "404.html" and (ours / where).is_file():
            texts = [path.read_text(encoding="utf-8") for path in (ours / where, page)]
            compare(where, *[Article(text).aspects() | head_aspects(text) for text in texts])
    return found


def listed() -> dict[str, str]:
    """“版本与证明”页的表：方面 → 相同或不同。"""
    section = PAGE.read_text(encoding="utf-8").partition("{#zensical}")[2].partition("\n## ")[0]
    return dict(re.findall(rf"^\| ([^|]+?) \| ({SAME}|{DIFFERENT}) \|", section, re.MULTILINE))


@pytest.fixture(scope="module")
def zensical(tmp_path_factory, site) -> Path:
    """用 Zensical 严格构建的网站，地址与 `site` 相同。它总是写到项目里，所以在一份拷贝里构建。"""
    project = tmp_path_factory.mktemp("zensical")
    for name in ("docs", "code", "theme", "livedocs"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [ROOT / "mkdocs.yml", *ROOT.glob("requirements*.txt")]:
        shutil.copy(path, project)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=project,
        env=os.environ | {"SITE_URL": site.url, "REPO_URL": "https://github.com/example/example", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return project / "site"


def test_the_list_of_differences_is_true(site, zensical):
    measured = differences(site.folder, zensical)
    wrong = []
    for name, where in measured.items():
        now, written = DIFFERENT if where else SAME, listed().get(name, "没有列出")
        if now != written:
            wrong.append(f"“{name}”写的是{written}，现在{now}。{where}")
    wrong += [f"“{name}”不再比较，从表里删掉" for name in listed().keys() - measured.keys()]
    assert not wrong, "docs/reference/proof.md 的 Zensical 一节要改：\n" + "\n".join(wrong)


def test_the_404_page_is_ours_in_both(site, zensical):
    for folder in (site.folder, zensical):
        text = (folder / "404.html").read_text(encoding="utf-8")
        assert "没有这一页" in text
        assert re.search(r'<link rel="stylesheet" href="/repo/', text)


CHANGES = {
    "代码与输出": ("<pre><code>x = 1</code></pre>", "<pre><code>x = 2</code></pre>"),
    "标题与锚点": ('<h2 id="a">甲</h2>', '<h2 id="b">甲</h2>'),
    "正文与表格": ("<td>甲</td>", "<td>乙</td>"),
    "链接": ('<a href="x/">甲</a>', '<a href="y/">甲</a>'),
    "图": ('<svg aria-label="甲"></svg>', '<svg aria-label="乙"></svg>'),
    "绑定的数字": ('<data data-expr="a">1</data>', '<data data-expr="b">1</data>'),
    "自测题": ('<self-test data-answers="A">甲</self-test>', '<self-test data-answers="B">甲</self-test>'),
    "公式": ('<span class="arithmatex"><span class="katex">x</span></span>', '<span class="arithmatex">\\(x\\)</span>'),
    "在网页里运行": ('<py-block data-kind="run">甲</py-block>', "甲"),
    "概要卡片": ('<div class="lesson-card"><p>甲 <a href="z/">乙</a></p></div>', ""),
    "术语就地解释": ('<p>一个<a class="term" href="g/">词元</a></p>', "<p>一个词元</p>"),
    "徽章与总表": ('<p class="proof-badge">甲</p>', ""),
    "标题与描述": ('<meta name="description" content="甲">', '<meta name="description" content="乙">'),
}


@pytest.mark.parametrize("aspect", CHANGES)
def test_each_aspect_sees_its_own_kind_of_difference(aspect):
    texts = [
        (f"<head>{change}</head>" if "<meta" in change else "</head>")
        + f"<article><p>前</p>{change}<p>后<br></p></article>"
        for change in CHANGES[aspect]
    ]
    first, second = (Article(text).aspects() | head_aspects(text) for text in texts)
    assert [name for name in first if first[name] != second[name]] == [aspect]
