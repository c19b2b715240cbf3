"""`<head>` 里的数据：每页的描述、分享卡片、结构化数据；站点地图。"""

import json
import re
import xml.etree.ElementTree as etree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from site_tools import ROOT

from livedocs import card, meta

HIDDEN = ("404.html",)


class Head(HTMLParser):
    """一页 `<head>` 里的标题、`<meta>`、`<link>` 与 JSON-LD。"""

    def __init__(self, text: str):
        super().__init__()
        self.title, self.names, self.links, self.data = "", {}, {}, []
        self._inside = ""
        self.feed(text.partition("</head>")[0])

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self._inside = "title" if tag == "title" else found.get("type", "") if tag == "script" else ""
        if tag == "meta" and (key := found.get("name") or found.get("property")):
            assert key not in self.names, f"写了两次：{key}"
            self.names[key] = found["content"]
        elif tag == "link":
            self.links.setdefault(found["rel"], found["href"])

    def handle_data(self, data):
        if self._inside == "title":
            self.title += data
        elif self._inside == "application/ld+json" and data.strip():
            self.data.append(json.loads(data))

    def handle_endtag(self, tag):
        self._inside = ""


@pytest.fixture(scope="module")
def heads(site) -> dict[str, Head]:
    """网址里的路径 → 这一页的 `<head>`，不含 404。"""
    found = {}
    for page in site.pages():
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(site.folder).as_posix()
        if name not in HIDDEN:
            found[name.removesuffix("index.html")] = Head(text)
    return found


def test_every_page_describes_itself(heads):
    texts = {path: head.names["description"] for path, head in heads.items()}
    bad = {path: text for path, text in texts.items() if not meta.SHORTEST <= len(text) <= meta.LONGEST}
    assert not bad, "描述应有 20 到 120 个字：写在 front matter 的 description 里"
    listed = list(texts.values())
    twice = {path: text for path, text in texts.items() if listed.count(text) > 1}
    assert not twice, "每页的描述应当不同"
    assert not [text for text in texts.values() if re.search(r"[*`<>$]|\]\(", text)], "描述里不能有记号"
    # 网站自己的一句话介绍只是没有描述时的退路。
    assert not [path for path, text in texts.items() if text == site_description()]


def site_description() -> str:
    return re.search(r"^site_description: (.+)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)[1]


def test_titles_are_distinct_and_say_the_site_once(heads):
    titles = [head.title for head in heads.values()]
    assert len(set(titles)) == len(titles)
    assert all(title.count("跑得通的大模型教程") == 1 for title in titles), titles


def test_each_page_names_its_own_address(site, heads):
    for path, head in heads.items():
        assert head.links["canonical"] == head.names["og:url"] == site.url + path


def test_the_card_is_ours_and_has_the_stated_size(site, heads):
    for path, head in heads.items():
        names = head.names
        assert names["og:image"] == site.url + meta.CARD, path
        assert names["og:title"] in head.title, path
        assert names["og:description"] == names["description"], path
        assert names["og:type"] == ("website" if path == "" else "article")
        assert names["twitter:card"] == "summary_large_image"
        assert names["og:locale"] == "zh_CN"
        assert len(names["og:image:alt"]) > 10
    data = (site.folder / meta.CARD).read_bytes()
    assert len(data) < 200_000
    size, _ = card.read(data)
    assert size == meta.CARD_SIZE == (int(names["og:image:width"]), int(names["og:image:height"]))


def test_the_card_was_drawn_from_the_present_drawing():
    _, source = card.read((ROOT / "docs" / meta.CARD).read_bytes())
    assert source == card.source_hash(card.of_site(ROOT)), "网站的名字、介绍或画法变了；重画：python -m livedocs.card"


def test_a_card_is_drawn_and_signed(chromium, tmp_path):
    page = chromium.new_page(viewport={"width": 40, "height": 20})
    page.set_content("<p>图</p>")
    plain = page.screenshot()
    page.close()
    drawing = card.drawing("网站", "一句话。")
    png = card.signed(plain, drawing)
    assert card.read(plain) == ((40, 20), "")
    assert card.read(png) == ((40, 20), card.source_hash(drawing))
    page = chromium.new_page()
    (tmp_path / "card.png").write_bytes(png)
    page.goto((tmp_path / "card.png").as_uri())
    assert page.evaluate("document.images[0].naturalWidth") == 40
    page.close()


@pytest.mark.parametrize(
    ("data", "message"), [(b"GIF89a", "不是 PNG 文件"), (b"\x89PNG\r\n\x1a\n\0\0", "PNG 文件不完整")]
)
def test_a_broken_card_is_refused(data, message):
    with pytest.raises(card.CardError, match=message):
        card.read(data)


def test_words_that_do_not_fit_the_card_are_refused():
    with pytest.raises(card.CardError, match="太长，卡片上放不下"):
        card.drawing("网站", "一句没有任何停顿因而在这张不大的卡片上无论如何也放不下的介绍。")


def test_drawing_says_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert card.main() == 1
    assert "没有 mkdocs.yml；在仓库的文件夹里运行" in capsys.readouterr().err
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(card.chromium.shutil, "which", lambda name: None)
    assert card.main() == 1
    assert "没有找到 Chromium；安装它，或用环境变量 CHROMIUM 指明路径" in capsys.readouterr().err


#: 本站写的每种数据里必须有的，与可以有的。词汇见 schema.org。
REQUIRED = {
    "Course": {"@id", "name", "url", "description", "hasPart", "timeRequired", "inLanguage", "license"},
    "LearningResource": {"name", "headline", "description", "url", "image", "inLanguage", "license", "isPartOf"},
    "WebSite": {"name", "url", "inLanguage"},
    "BreadcrumbList": {"itemListElement"},
}
ALLOWED = {
    "Course": {"isAccessibleForFree", "coursePrerequisites"},
    "LearningResource": {
        "isAccessibleForFree",
        "teaches",
        "competencyRequired",
        "timeRequired",
        "dateModified",
        "learningResourceType",
    },
}


def test_structured_data_is_complete_and_points_into_the_site(site, heads):
    addresses = {site.url + path for path in heads}
    for path, head in heads.items():
        [data] = head.data
        assert data["@context"] == "https://schema.org"
        kinds = [node["@type"] if isinstance(node["@type"], str) else node["@type"][0] for node in data["@graph"]]
        assert kinds == (["Course", "WebSite"] if path == "" else ["LearningResource", "BreadcrumbList"]), path
        for kind, node in zip(kinds, data["@graph"]):
            keys = node.keys() - {"@type"}
            assert REQUIRED[kind] <= keys <= REQUIRED[kind] | ALLOWED.get(kind, set()), (path, keys)
            assert node.get("url", site.url + path) == site.url + path
            assert re.fullmatch(r"PT\d+M", node.get("timeRequired", "PT1M"))
            for text in [*node.get("teaches", []), *node.get("competencyRequired", [])]:
                assert not re.search(r"[`$]|\]\(|\*\*", text), (path, text)
        if path:
            steps = data["@graph"][1]["itemListElement"]
            assert [step["position"] for step in steps] == [1, 2]
            assert [step["item"] for step in steps] == [site.url, site.url + path]
        else:
            parts = [part["url"] for part in data["@graph"][0]["hasPart"]]
            assert set(parts) <= addresses
            assert {url for url in addresses if re.search("/(chapters|labs)/", url)} == set(parts)


def test_the_notebook_says_the_same_minutes_in_its_text():
    notebook = ROOT / "docs/labs/02-causal-attention.ipynb"
    assert f"约 {meta.of_notebook(notebook)['minutes']} 分钟" in notebook.read_text(encoding="utf-8")


def test_the_site_map_lists_every_page_once(site, heads):
    root = etree.fromstring(site.read("sitemap.xml"))
    name = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert root.tag == name + "urlset"
    listed = [url.find(name + "loc").text for url in root.findall(name + "url")]
    assert sorted(listed) == sorted(site.url + path for path in heads)
    # 页面写着最后一次改动的日期，站点地图与结构化数据才写，而且写同一个。
    for url in root.findall(name + "url"):
        path = url.find(name + "loc").text.removeprefix(site.url)
        page = site.read(f"{path}index.html")
        shown = re.search(r'最后修改 <time datetime="([\d-]+)"', page)
        assert url.findtext(name + "lastmod") == (shown[1] if shown else None), path
        if path:
            assert heads[path].data[0]["@graph"][0].get("dateModified") == (shown[1] if shown else None), path


def test_the_404_page_is_kept_out_of_search_engines(site):
    head = Head(site.read("404.html"))
    assert head.names["robots"] == "noindex"
    assert "canonical" not in head.links
    assert not head.data


def test_without_an_address_nothing_claims_one(project):
    html = project.build('---\ndescription: 一句"话" <b>\n---\n\n# 首页\n\n正文。\n')
    head = Head(html)
    assert not {"og:url", "og:image"} & head.names.keys()
    assert "canonical" not in head.links
    assert head.names["twitter:card"] == "summary"
    assert "http" not in json.dumps(head.data[0]["@graph"]).replace(meta.LICENSE, "")
    assert head.names["description"] == head.names["og:description"] == '一句"话"'
    assert head.data[0]["@graph"][0]["description"] == '一句"话"'
    assert "<loc>" not in (project.site / "sitemap.xml").read_text(encoding="utf-8")


def test_a_page_without_a_description_uses_its_first_paragraph(project):
    text = (
        "---\noutcomes: [会数数]\n---\n\n# 首页\n\n**第一段**：用 `x` 与[链接](#n)。\n\n## 二 {#n}\n\n"
        + "长" * 200
        + "\n"
    )
    assert Head(project.build(text)).names["description"] == "第一段：用 x 与链接。"
    long = Head(project.build("# 首页\n\n" + "长" * 200 + "\n")).names["description"]
    assert len(long) == meta.LONGEST
    assert long.endswith("…")


def test_data_cannot_end_its_own_element(project):
    project.write("docs/two.md", "---\ntitle: 甲</script><b>\noutcomes: ['</script>乙']\n---\n\n# 二\n\n文字。\n")
    project.build("# 首页\n\n[二](two.md)\n")
    text = Path(project.site, "two", "index.html").read_text(encoding="utf-8")
    [data] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    assert json.loads(data)["@graph"][0]["teaches"] == ["乙"]


def test_the_browser_accepts_the_data_without_a_complaint(chromium, site):
    page = chromium.new_page()
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(site.url + "chapters/03-attention/")
    data = json.loads(page.text_content("script[type='application/ld+json']"))
    assert data["@graph"][0]["headline"] == "第 3 章 注意力机制"
    assert not errors
    page.close()
