"""搜索：一页怎样读成各节，索引里有什么，以及在真的搜索框里键入标准答案里的每一条。"""

from __future__ import annotations

import gzip
import html
import json
import re
import subprocess
from types import SimpleNamespace

import pytest
from mkdocs.exceptions import PluginError
from search_tools import Query, golden, location, rank, ranking, type_query, verdict, wait_for_search
from site_tools import ROOT, let_pass, until, wait_for_sitemap

from livedocs import search, web
from livedocs.sections import sections

# ---------------------------------------------------------------- 一页的各节


def test_sections_follow_the_headings():
    page = """<h1 id="top">整页 <em>标题</em><a class="headerlink" href="#top">¶</a></h1><p>引言。</p>
        <h2 id="one">一、<code>a</code> 与 √d<a class="headerlink" href="#one">¶</a></h2><p>第一句。</p><p>第二<br>句。</p>
        <p data-search-exclude="1">不要</p><h3 id="two">二</h3><script>x</script>"""
    found = sections(page)
    assert [(one.anchor, one.title, one.prose) for one in found] == [
        ("", "整页 标题", "引言。"),
        ("one", "一、a 与 √d", "第一句。\n第二\n句。"),
        ("two", "二", ""),
    ]


def test_code_is_kept_apart_and_folded_code_too():
    block = (
        '<div class="highlight"><pre><span></span><code><span>def</span> f():\n    <b>return</b> 1\n</code></pre></div>'
    )
    (one,) = sections(
        f"<h1 id='x'>x</h1><p>前 <code>f</code> 后</p>{block}<details><summary>展开</summary>{block}</details>"
    )
    assert one.prose == "前 f 后\n展开"
    assert one.code == one.folded == "def f():\n    return 1"


def test_rows_know_their_header_and_links():
    table = """<table><thead><tr><th>你看到的</th><th>符号</th><th>讲清它的一段</th></tr></thead>
        <tbody><tr><td>整行 <code>NaN</code></td><td></td><td><a href="../a/#b">第 3 章</a></td></tr></tbody></table>"""
    (one,) = sections(f"<h1 id='x'>x</h1>{table}")
    assert one.prose.splitlines()[-1] == "整行 NaN · 第 3 章"  # 空格子不占位置
    (row,) = one.rows
    assert row["你看到的"].text == "整行 NaN"
    assert row["讲清它的一段"].links == ["../a/#b"]


def test_footnote_marks_are_not_text():
    mark = '<sup id="fnref:a"><a class="footnote-ref" href="#fn:a">1</a></sup>'
    back = '<a class="footnote-backref" href="#fnref:a" title="回去">↩</a>'
    rows = f"<table><tr><th>值</th></tr><tr><td>768{mark}</td></tr></table>"
    (one,) = sections(f"<h1 id='x'>x{mark}</h1><p>宽 768{mark}。</p>{rows}<li>出处 {back}</li>")
    assert (one.title, one.prose) == ("x", "宽 768。\n值\n768\n出处")
    assert one.rows[0]["值"].text == "768"


@pytest.mark.parametrize("broken", ["", "<p>", "</div></p>", "<table><td>x<tr></table>", "<h2>没有 id</h2>文"])
def test_sections_accept_any_html(broken):
    assert all(one.title == one.title.strip() for one in sections(broken))


# ---------------------------------------------------------------- 索引


def index(**pages: str) -> search.Index:
    """几页的索引；名字是网址（`_` 代替 `/`），值是正文。"""
    made = search.Index()
    for name, content in pages.items():
        made.add_entry_from_context(
            SimpleNamespace(url=name.replace("_", "/"), title=name, content=content, meta={"search": None})
        )
    return made


def table(header: str, *rows: str) -> str:
    cells = lambda line, tag: "".join(f"<{tag}>{cell}</{tag}>" for cell in line.split("|"))  # noqa: E731
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{cells(header, 'th')}</tr></thead><tbody>{body}</tbody></table>"


def test_tables_say_what_a_section_is_called():
    words = table(
        "术语|英文|符号|定义|在哪里讲",
        '键值缓存（KV Cache）|key–value cache|K|存下的键|<a href="../a/#kv">第 3 章</a>',
    )
    faults = table("你看到的|讲清它的一段", '整行是 NaN|<a href="../a/#%E7%A9%BA">第 3 章</a>')
    others = table("别处的叫法|本站的叫法", "遮罩、蒙版|掩码", "门控（MoE 里）|路由器")
    made = index(
        a_='<h1 id="t">甲</h1><h2 id="kv">缓存</h2><p>x</p><h2 id="空">空行</h2>',
        b_=f'<h1 id="t">乙</h1><h2 id="w">词</h2>{words}{faults}{others}',
    )
    data = json.loads(made.text)
    (_, _, rows), (_, _, there) = data["pages"]
    assert rows[1] == ["kv", "缓存", "x", "", ["键值缓存", "KV Cache", "key–value cache"]]
    assert rows[2] == ["空", "空行", "", "", [], ["整行是 NaN"]]
    assert there[1][6] == ["键值缓存", "KV Cache", "key–value cache"]
    assert data["retired"] == [["遮罩", "掩码"], ["蒙版", "掩码"], ["门控", "路由器"]]
    assert data["english"] == [["key–value cache", "键值缓存"]]


def test_code_shown_elsewhere_is_not_stored_again():
    code = "<pre><code>def f():\n    return 1\n\n\ndef {}():\n    return 2\n</code></pre>"
    made = index(
        a_=f'<h1 id="t">甲</h1>{code.format("g")}',
        b_=f'<h1 id="t">乙</h1><details>{code.format("h")}</details>',
    )
    assert made.text.count("def f()") == 1
    assert made.text.count("def h()") == 1


def test_a_page_can_count_less():
    made = search.Index()
    for url, wanted in (("a/", {"boost": 0.25}), ("b/", None)):
        made.add_entry_from_context(SimpleNamespace(url=url, title="甲", content="<p>x</p>", meta={"search": wanted}))
    lower, usual = json.loads(made.text)["pages"]
    assert lower[3:] == [0.25] and usual[3:] == []


@pytest.mark.parametrize("boost", ["很低", 0, -1, True, float("nan"), float("inf")])
def test_a_boost_must_be_a_positive_number(boost):
    page = SimpleNamespace(
        url="a/", title="甲", content="", meta={"search": {"boost": boost}}, file=SimpleNamespace(src_uri="a.md")
    )
    with pytest.raises(PluginError, match=r"^a\.md .*boost.*大于 0 的数"):
        search.Index().add_entry_from_context(page)


def test_the_page_itself_gets_only_settings_and_a_name(tmp_path):
    made, other = index(a_="<h1 id='t'>甲</h1><p>文</p>"), index(a_="<h1 id='t'>甲</h1><p>字</p>")
    small = json.loads(made.generate_search_index(None))
    assert small["docs"] == [] and small["config"]["index"] == made.name
    assert made.name != other.name, "内容变了，名字也要变：浏览器会存着旧的"
    made.write(tmp_path)
    other.write(tmp_path)
    assert [path.name for path in (tmp_path / "search").iterdir()] == [other.name], "旧的索引要去掉"


def test_a_page_can_stay_out():
    made = search.Index()
    made.add_entry_from_context(
        SimpleNamespace(url="a/", title="甲", content="<p>x</p>", meta={"search": {"exclude": True}})
    )
    assert json.loads(made.text)["pages"] == []


def test_the_worker_is_ours_and_the_index_is_clean(site):
    ours = web.bundle().manifest["search"]
    assert (site.folder / "assets/web" / ours).is_file()
    assert not list((site.folder / "assets/javascripts/workers").glob("search.*")), "主题的 worker 用不到"
    for page in site.pages():
        settings = re.search(r'<script id="__config"[^>]*>(.*?)</script>', page.read_text(encoding="utf-8"))
        if settings:
            assert json.loads(settings[1])["search"].endswith(f"assets/web/{ours}"), page
    (path,) = (site.folder / "search").glob("index-*.json")
    for url, _, rows, *_ in json.loads(path.read_text(encoding="utf-8"))["pages"]:
        for anchor, title, *rest in rows:
            where = f"{url}#{anchor}"
            assert title or not anchor, where
            prose = rest[0] if rest else ""
            assert not HIDDEN.search(title), where
            assert not HIDDEN.search(prose.replace("¶", "")), where  # 正文里可以说到 ¶
            assert not re.search(r"katex|x-tex|\\\[", f"{title}\n{prose}"), where  # 公式只有可读的一份


def test_every_answer_is_a_place_on_the_site(site):
    """一节改了名字，标准答案要跟着改。"""
    (path,) = (site.folder / "search").glob("index-*.json")
    pages = json.loads(path.read_text(encoding="utf-8"))["pages"]
    places = {f"{url}#{row[0]}" if row[0] else url for url, _, rows, *_ in pages for row in rows}
    missing = {(query.text, wanted) for query in golden() for wanted in query.wanted if wanted not in places}
    assert not missing, f"golden-queries.toml 里的这些去处已经不在了：{missing}"
    assert len(golden()) >= 60 and sum(query.held_out for query in golden()) >= 15
    assert len({query.text for query in golden()}) == len(golden())


REFERENCE = re.compile(r'([^<>\n]{2,})<sup id="fnref[^"]*"><a class="footnote-ref"[^>]*>(\d+)</a></sup>([^<>\n]*)')


def test_no_footnote_mark_is_in_the_index(site):
    (index_file,) = (site.folder / "search").glob("index-*.json")
    pages = json.loads(index_file.read_text(encoding="utf-8"))["pages"]
    texts = {url: "\n".join(row[2] for row in rows if len(row) > 2) for url, _, rows, *_ in pages}
    marks = [
        (url, html.unescape(before)[-10:].lstrip() + number + html.unescape(after)[:6].rstrip())
        for url in texts
        for before, number, after in REFERENCE.findall((site.folder / url / "index.html").read_text(encoding="utf-8"))
    ]
    assert len(marks) > 50
    assert not [(url, glued) for url, glued in marks if glued in texts[url]]


EVERY_NAME = """
import { readFileSync } from "node:fs";
const { Engine } = await import(process.argv[1]);
const engine = new Engine(JSON.parse(readFileSync(process.argv[2], "utf8")));
const names = JSON.parse(readFileSync(0, "utf8"));
const found = (name) => engine.search(name).some(({ entry }) => entry.code.includes(name) || entry.prose.includes(name));
console.log(JSON.stringify(names.filter((name) => !found(name))));
"""


def test_every_function_in_blocks_and_the_notebook_is_found(site):
    names = set()
    for path in [*(ROOT / "code").glob("*.py"), *(ROOT / "docs").rglob("*.ipynb"), *(ROOT / "docs").rglob("*.md")]:
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r'^\s*"?\s*(?:def|class) ([A-Za-z]\w+)', text, re.MULTILINE))
    assert {"repeat_kv", "refuse_empty_rows", "sorted_dispatch"} <= names
    (index_file,) = (site.folder / "search").glob("index-*.json")
    engine = (ROOT / "web/src/search/engine.js").as_uri()
    done = subprocess.run(
        [web.node(), "--input-type=module", "-e", EVERY_NAME, engine, str(index_file)],
        input=json.dumps(sorted(names)),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


# ---------------------------------------------------------------- 在浏览器里

#: 结果的标题里不该有的：链接记号、零宽字符、软连字符。
HIDDEN = re.compile("[¶\u00ad\u200b-\u200f\u2060\ufeff]")
#: 第一次搜索要下载的索引（gzip 后）；超过就想一想多出来的是什么。
BUDGET = 290_000


@pytest.fixture
def tab(chromium, site):
    """一个标签页；`requests` 是它取过的网址。结束时要求没有一个请求去了别的主机，没有报错。"""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 900},
        base_url=site.url,
        bypass_csp=True,  # wait_for_function 要用 eval
    )
    page = context.new_page()
    page.requests, errors = [], []
    context.on("request", lambda request: page.requests.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not [url for url in page.requests if not url.startswith((site.url, "data:", "blob:"))]
    assert not errors


def indexes(tab) -> list[str]:
    return [url for url in tab.requests if re.search(r"/search/index-\w+\.json", url)]


def test_the_golden_queries(tab, site):
    """≥ 95 % 第一条就是，全部在前三条里；任何结果的标题里没有 ¶ 与零宽字符。"""
    tab.goto("chapters/03-attention/")
    places: dict[Query, int | None] = {}
    for query in golden():
        type_query(tab, query.text)
        titles = tab.locator(".md-search-result__article :is(h1, h2)").all_text_contents()
        assert titles and not [title for title in titles if HIDDEN.search(title) or not title.strip()], query.text
        places[query] = rank(ranking(tab, site.url), query)
    problem = verdict(places)
    assert not problem, problem


def test_the_verdict_sees_a_broken_ranking():
    queries = [Query(f"词{n}", "术语", ("a/",), False) for n in range(20)]
    assert verdict(dict.fromkeys(queries, 1)) == ""
    assert verdict({query: 2 if n == 0 else 1 for n, query in enumerate(queries)}) == ""
    assert "19/20" not in verdict({query: 2 if n < 2 else 1 for n, query in enumerate(queries)})
    assert "词0" in verdict({query: 2 if n < 2 else 1 for n, query in enumerate(queries)})
    assert "词3" in verdict({query: None if n == 3 else 1 for n, query in enumerate(queries)})
    assert "词3" in verdict({query: 4 if n == 3 else 1 for n, query in enumerate(queries)})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("注意力", "chapters/03-attention/"),
        ("注意力機制", "chapters/03-attention/"),
        ("transformer", "chapters/05-transformer-block/#block"),
        ("3.2", "chapters/03-2-multi-head-shapes/"),
        ("第 3 章", "chapters/03-attention/"),
        ("更新记录", "reference/changelog/"),
    ],
)
def test_lessons_come_before_the_pages_about_them(tab, site, text, wanted):
    """更新记录按课列标题，与各章同名；它只在找它自己时排在前面。"""
    tab.goto("start/")
    type_query(tab, text)
    found = ranking(tab, site.url)
    assert found[0] == wanted
    assert wanted.startswith("reference/") or not [
        link for link in found[:3] if link.startswith("reference/changelog/")
    ]


def test_text_that_comes_without_keys_is_searched(tab):
    """鼠标粘贴、语音输入：框里的字变了，却没有一次按键。"""
    tab.goto("start/")
    tab.click(".md-search__input")
    tab.keyboard.insert_text("掩码")
    tab.locator(".md-search-result__item mark", has_text="掩码").first.wait_for()


def test_an_input_method_searches_when_the_word_is_chosen(tab):
    """拼写到一半时不查（框里是拼音），用鼠标选了字就查。"""
    tab.goto("start/")
    tab.click(".md-search__input")
    # 就绪时、得到焦点时，主题也各读一次框里的字；等它读过。
    wait_for_search(tab)
    tab.locator("#__search:checked").wait_for(state="attached")
    keyboard = tab.context.new_cdp_session(tab)
    for letters in ("y", "yan", "yan ma"):
        keyboard.send("Input.imeSetComposition", {"text": letters, "selectionStart": 0, "selectionEnd": len(letters)})
        tab.keyboard.press("Shift")
    assert tab.input_value(".md-search__input") == "yan ma"
    tab.wait_for_timeout(300)
    assert indexes(tab) == [], "拼写到一半就查了"
    keyboard.send("Input.insertText", {"text": "掩码"})
    tab.locator(".md-search-result__item mark", has_text="掩码").first.wait_for()
    assert tab.input_value(".md-search__input") == "掩码"


def test_the_index_comes_with_the_first_query_and_only_once(tab, site):
    tab.goto("labs/01-single-head-attention/")
    tab.wait_for_load_state("networkidle")
    assert indexes(tab) == []
    assert (site.folder / "search/search_index.json").stat().st_size < 500
    tab.click(".md-search__input")
    type_query(tab, "掩码")
    type_query(tab, "缓存")
    (fetched,) = indexes(tab)
    size = len(gzip.compress((site.folder / "search" / fetched.rpartition("/")[2]).read_bytes()))
    assert size <= BUDGET, f"搜索索引压缩后 {size} 字节，多于 {BUDGET}"


def test_enter_opens_the_best_section_and_marks_the_words(tab, site):
    tab.goto("start/")
    wait_for_sitemap(tab)
    tab.evaluate("window.stayed = true")
    type_query(tab, "因果掩码")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/chapters/03-attention/?h=*")
    assert location(tab.url, site.url) == "chapters/03-attention/#causal-mask"
    tab.locator(".md-content h1", has_text="第 3 章").wait_for()  # 网址先变，正文后到
    tab.locator("mark[data-md-highlight]", has_text="因果掩码").first.wait_for(state="attached")
    assert tab.evaluate("window.stayed"), "整页重新载入了：即时跳转没有起作用"
    # 打开以后主题才让搜索框失去焦点；早了，下面的字就写不进去。
    tab.wait_for_function("!document.activeElement.matches('.md-search__input')")
    let_pass(tab, 150)  # 跳转之后 0.125 秒，主题再收一次搜索框；早了，又收起来了
    type_query(tab, "右移一位")
    assert ranking(tab, site.url)[0].endswith(("#shift-by-one", "#who-shifts"))
    assert len(indexes(tab)) == 1


def test_the_arrow_keys_walk_through_the_results(tab):
    tab.goto("")
    type_query(tab, "预填充")
    tab.keyboard.press("ArrowDown")
    assert tab.evaluate("document.activeElement.matches('.md-search-result__link')")
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.matches('.md-search__input')") is False


def test_a_suggestion_completes_the_word(tab):
    tab.goto("")
    type_query(tab, "因果")
    assert tab.inner_text(".md-search__suggest").strip() == "因果掩码"
    tab.keyboard.press("ArrowRight")
    assert tab.input_value(".md-search__input") == "因果掩码"


def test_search_works_under_the_content_security_policy(chromium, site):
    context = chromium.new_context(base_url=site.url)
    page = context.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto("reference/glossary/")
    page.click(".md-search__input")
    page.keyboard.type("repeat_kv")
    page.locator(".md-search-result__item mark", has_text="repeat_kv").first.wait_for()
    context.close()
    assert not said


def test_nothing_found_says_so(tab):
    tab.goto("")
    type_query(tab, "qzxwv")
    assert "没有找到" in tab.inner_text(".md-search-result__meta")
    assert tab.locator(".md-search-result__item").count() == 0


def test_a_lost_index_is_told_and_tried_again(tab):
    tab.route("**/search/index-*.json", lambda route: route.abort())
    tab.goto("")
    type_query(tab, "掩码")
    assert "搜索索引没有取到" in tab.inner_text(".md-search-result__list")
    tab.unroute("**/search/index-*.json")
    type_query(tab, "因果掩码")
    assert "没有取到" not in tab.inner_text(".md-search-result__list")
    assert tab.locator(".md-search-result__item").count() > 3


def test_waiting_for_the_index_is_told(tab):
    held = []
    tab.route("**/search/index-*.json", lambda route: held.append(route))
    tab.goto("")
    tab.click(".md-search__input")
    tab.keyboard.insert_text("掩码")
    tab.locator(".md-search-result__list", has_text="正在取搜索索引").wait_for()
    until(tab, lambda: held)
    held[0].continue_()
    tab.locator(".md-search-result__list mark", has_text="掩码").first.wait_for()


def test_the_theme_without_its_worker_is_a_warning(project, monkeypatch):
    from mkdocs.exceptions import Abort

    monkeypatch.setattr(search, "is_worker", lambda uri: False)
    with pytest.raises(Abort, match="1 warnings"):
        project.build("# 一页\n\n文字。\n")


def test_addresses_are_compared_without_the_marks():
    base = "http://127.0.0.1:1/repo/"
    assert location(f"{base}a/?h={html.unescape('%E8%AF%8D')}#%E8%8A%82", base) == "a/#节"
    assert location(base, base) == ""
