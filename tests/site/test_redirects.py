"""改了名字的页面与锚点：旧网址还能用；每个标题的链接经得起下一次构建。"""

import functools
import http.server
import re
import shutil
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from mkdocs.exceptions import Abort
from site_tools import Pages, Project
from test_html import validate

from livedocs import redirects
from livedocs.redirects import MoveError, Place

ANCHORS = Path(__file__).with_name("anchors.txt")
MOVED = """
extra:
  moved:
    chapters/旧.md: chapters/new.md
    chapters/旧.md#甲: chapters/new.md#b
    labs/old.ipynb: chapters/new.md#c
    chapters/new.md#old-c: chapters/new.md#c
"""


def small_site(project: Project, moved: str) -> Path:
    """构建一个接上 `extra.moved` 的小网站，返回它的文件夹。"""
    sections = "".join(f"## {name} {{#{name}}}\n\n" + "文\n\n" * 60 for name in "abc")
    project.write("docs/chapters/new.md", f"# 新的一页\n\n{sections}")
    with (project.folder / "mkdocs.yml").open("a", encoding="utf-8") as config:
        config.write(moved)
    project.build("# 首页\n\n[新](chapters/new.md)\n")
    return project.site


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """像部署时那样，在子路径 /repo/ 下提供小网站；返回它的网址与文件夹。"""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        url = f"http://127.0.0.1:{server.server_port}/repo/"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SITE_URL", url)
            folder = small_site(Project(tmp_path_factory.mktemp("moved")), MOVED)
        server.RequestHandlerClass = functools.partial(Pages, directory=str(folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield url, folder
        server.shutdown()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("chapters/旧/", "chapters/new/"),
        ("chapters/旧/?h=注意#a", "chapters/new/?h=注意#a"),
        ("chapters/旧/#甲", "chapters/new/#b"),
        ("labs/old/", "chapters/new/#c"),
        ("labs/old/#x", "chapters/new/#c"),
    ],
)
def test_an_old_address_leads_to_the_new_one(served, chromium, old, new):
    page = chromium.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(served[0] + quote(old, safe="/?=#"))
    page.wait_for_url("**/chapters/new/**")
    assert page.url == served[0] + quote(new, safe="/?=#")
    page.wait_for_selector("h1")
    assert not [text for text in complaints if "Security" in text]
    page.close()


def test_without_scripts_the_page_still_leads_there(served, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(served[0] + quote("chapters/旧/"))
    page.wait_for_url("**/chapters/new/")
    context.close()


def test_the_old_page_tells_search_engines_the_new_one(served):
    url, folder = served
    text = (folder / "chapters/旧/index.html").read_text(encoding="utf-8")
    assert f'<link rel="canonical" href="{url}chapters/new/">' in text
    assert '<meta name="robots" content="noindex">' in text
    assert "script-src &#x27;self&#x27;" in text or "script-src 'self'" in text
    assert '<a href="../new/">新的一页</a>' in text
    assert "旧" not in (folder / "sitemap.xml").read_text(encoding="utf-8")


def test_the_old_page_is_valid_html(served, tmp_path):
    shutil.copy(served[1] / "chapters/旧/index.html", tmp_path)
    assert validate(tmp_path)["faults"] == []


def test_a_renamed_anchor_still_scrolls_to_its_section(served, chromium):
    page = chromium.new_page(viewport={"width": 1000, "height": 700})
    page.goto(served[0] + "chapters/new/#old-c")
    page.wait_for_function("() => document.querySelector('#c').getBoundingClientRect().top < 200")
    # 标题没有被页眉挡住。
    assert (
        page.evaluate(
            "document.querySelector('#c').getBoundingClientRect().bottom - document.querySelector('.md-header').getBoundingClientRect().bottom"
        )
        > 0
    )
    page.close()


def test_a_site_without_moves_publishes_nothing_for_them(project):
    folder = small_site(project, "")
    assert not (folder / redirects.SCRIPT).exists()


PAGES = {"a.md": {"x", "y"}, "b.md": {"z"}, "n.ipynb": set()}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a.md": "b.md"}, "a.md 还在；删掉它，或者删掉这一行"),
        ({"old.md": "gone.md"}, "gone.md 不存在；检查路径是否拼错"),
        ({"old.md": "a.md#q"}, "a.md 里没有锚点 q"),
        ({"old.md": "older.md", "older.md": "a.md"}, "older.md 自己也搬走了；直接写最后的去处"),
        ({"old.md": "older.md", "older.md": "old.md"}, "older.md 自己也搬走了"),
        ({"old.md": "old.md"}, "old.md 自己也搬走了"),
        ({"old.md": "older.md#x", "older.md": "a.md"}, "older.md#x 自己也搬走了"),
        ({"old.md#q": "a.md#x"}, "old.md 不存在；整页搬到了哪里，也要写一行"),
        ({"a.md#x": "a.md#y"}, "锚点 x 还在；删掉这一行"),
        ({"a.md#q": "b.md#z"}, "浏览器不会因为锚点换一页"),
        ({"a.md#q": "a.md"}, "浏览器不会因为锚点换一页"),
    ],
)
def test_mistakes_are_refused(table, message):
    places = {redirects._place(old): redirects._place(new) for old, new in table.items()}
    with pytest.raises(MoveError, match=re.escape(message)):
        redirects.check(places, PAGES)


def test_right_moves_are_accepted():
    table = {"old.md": "a.md", "old.md#p": "b.md#z", "a.md#q": "a.md#x", "lab.ipynb": "n.ipynb"}
    redirects.check({redirects._place(old): redirects._place(new) for old, new in table.items()}, PAGES)


@pytest.mark.parametrize(
    ("moved", "message"),
    [
        ("extra:\n  moved: [a.md]\n", "extra.moved 应是一张表"),
        ("extra:\n  movd: {a.md: b.md}\n", "extra.movd 不起作用；是 extra.moved 吗"),
        ("extra:\n  moved:\n    old/: chapters/new.md\n", "'old/' 不是页面；写成从 docs/ 算起的路径"),
        ("extra:\n  moved:\n    old.md: chapters/nwe.md\n", "chapters/nwe.md 不存在"),
    ],
)
def test_a_mistake_stops_the_build_and_names_the_line(project, caplog, moved, message):
    with pytest.raises(Abort):
        small_site(project, moved)
    assert message in caplog.text


def test_only_the_first_element_of_the_new_name_gets_the_old_one():
    text = '<h2 class="x" id="b">二</h2><p id="bb">b</p>'
    table = {Place("a.md", "老"): Place("a.md", "b"), Place("z.md", "c"): Place("z.md", "bb")}
    assert (
        redirects.keep_anchors(text, "a.md", table)
        == '<h2 class="x" id="b"><span id="老"></span>二</h2><p id="bb">b</p>'
    )


# ---------------------------------------------------------------- 标题的链接


def headings(site) -> set[str]:
    """现有的每个标题的链接，写成“网址里的路径#锚点”。"""
    found = set()
    for page in site.pages():
        path = page.relative_to(site.folder).as_posix().removesuffix("index.html")
        text = page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
        found |= {f"{path}#{anchor}" for anchor in re.findall(r'<h[1-6][^<>]*\bid="([^"]+)"', text)}
    return found


def lost_links(recorded: set[str], site) -> list[str]:
    """记下的链接里，现在到不了的。"""
    lost = []
    for link in sorted(recorded):
        path, _, anchor = link.partition("#")
        page = site.folder / path / "index.html"
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
        if f'id="{anchor}"' not in text and "moved.js" not in text:
            lost.append(link)
    return lost


def test_no_heading_link_is_lost(site, request):
    recorded = set(ANCHORS.read_text(encoding="utf-8").split("\n")) - {""}
    lost = lost_links(recorded, site)
    assert not lost, (
        "别人也许正链接到这些标题。改了名就在 mkdocs.yml 的 extra.moved 里写一行；"
        f"真的不要了，从 tests/site/{ANCHORS.name} 里删掉：\n" + "\n".join(lost)
    )
    new = headings(site) - recorded
    if new and request.config.getoption("--update-docs"):
        ANCHORS.write_text("\n".join(sorted(recorded | new)) + "\n", encoding="utf-8", newline="\n")
        new = set()
    assert not new, (
        f"新的标题还没有记进 tests/site/{ANCHORS.name}，改名时就没有东西提醒你；"
        "运行 pytest --update-docs tests/site/test_redirects.py：\n" + "\n".join(sorted(new))
    )


def test_a_removed_heading_is_noticed(site):
    assert lost_links({"start/#run", "start/#nowhere", "nowhere/#run"}, site) == ["nowhere/#run", "start/#nowhere"]
