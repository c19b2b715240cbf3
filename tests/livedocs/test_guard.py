"""守卫自己会不会变红：收集器少收、多收、收错一段，都要被发现。"""

from __future__ import annotations

import textwrap

import pytest
from test_page_faults import fence, indented

from livedocs import guard
from livedocs.page import Line, load_page
from livedocs.project import load_project

PAGE = "\n".join(
    [
        fence("x = 1\n\n\ty = 2"),
        "- 项\n\n" + indented(fence("print(1)", output="1")),
        "> " + fence("a < b & c").replace("\n", "\n> ") + "\n",
        '!!! note\n\n    === "甲"\n\n' + indented(fence("z = 3", '{.python .run hl_lines="1" title="题" linenums="1"}'), " " * 8),
        '??? note "折叠"\n\n' + indented("~~~{.text}\n```\n里面\n```\n~~~\n"),
        "脚注[^1]\n\n[^1]:\n    注\n\n" + indented(fence("f = 1", "{.text}")),
    ]
)


@pytest.fixture
def page(site):
    path = site.page(PAGE)
    return load_page(path, load_project(site.root))


def test_the_site_shows_what_is_collected(page, site):
    assert len(page.fences) == 7 and not page.faults
    assert guard.missed(page, load_project(site.root)) == []


@pytest.mark.parametrize("index", range(7))
def test_a_missing_fence_is_noticed(page, site, index):
    del page.fences[index]
    (fault,) = guard.missed(page, load_project(site.root))
    assert "不同" in fault.message or "网站显示 7 段代码，收集到 6 段" in fault.message


@pytest.mark.parametrize("index", range(7))
def test_a_changed_character_is_noticed(page, site, index):
    page.fences[index].content += "x"
    (fault,) = guard.missed(page, load_project(site.root))
    assert f"第 {index + 1} 段代码" in fault.message


def test_a_wrong_language_is_noticed(page, site):
    page.fences[0].lang = "text"
    assert "网站：('python'" in guard.missed(page, load_project(site.root))[0].message


#: 读者看得见、却不是围栏的代码。
UNCOLLECTED = {
    "提示框叫 linenos": '!!! linenos "注意"\n\n        print(1)\n',
    "行号栏的类": '<pre class="linenos">print(1)</pre>',
    "行号栏里": '<table class="linenos"><tr><td><pre>print(1)</pre></td></tr></table>',
    "过时的元素": "<xmp>\nprint(1)\n</xmp>",
    "空的注释": "<!-->\n<pre>print(1)</pre>\n-->",
    "叹号结束的注释": "<div>\n<!-- 甲 --!>\n<pre>print(1)</pre>\n</div>",
    "CDATA": "<div>\n<![CDATA[>\n<pre>print(1)</pre>\n]]></div>",
    "冒充编号": fence("x = 1") + '\n<div data-fence="0" class="language-python"><pre>x = 1</pre></div>',
}
#: 检查得到、读者却看不见的围栏。
UNSEEN = {
    "注释没有结束": "<div><!--</div>\n\n" + fence("x = 1"),
    "标签没有结束": "<p><span title='>\n</p>\n\n" + fence("x = 1"),
    "hidden": f'<div hidden markdown="1">\n\n{fence("x = 1")}\n\n</div>',
    "不显示": f'<div style="Display : none" markdown="1">\n\n甲<br>\n\n{fence("x = 1")}\n\n</div>',
    "没有结束的 template": f"<div><template/></div>\n\n<div><template/>\n\n{fence('x = 1')}\n",
}


@pytest.mark.parametrize("name", UNCOLLECTED | UNSEEN)
def test_code_around_the_fences_is_noticed(site, name):
    project = load_project(site.root)
    page = load_page(site.page((UNCOLLECTED | UNSEEN)[name]), project)
    (fault,) = page.faults or guard.missed(page, project)
    assert ("有 1 段代码不是用围栏写的" if name in UNCOLLECTED else "这个围栏不会显示在网页上") in fault.message


@pytest.mark.parametrize("start, end", [
    ("<details", "</details>"), ('<div style="display: block"', "</div>"),
    ("<div><template>甲</template><br><p hidden>乙</p></div>\n\n<section", "</section>"),
    ("<svg><title/><path d=''/></svg>\n\n<div", "</div>"),
])  # fmt: skip
def test_code_in_a_visible_element_is_collected(site, start, end):
    project = load_project(site.root)
    page = load_page(site.page(f'{start} markdown="1">\n\n{fence("x = 1")}\n\n{end}'), project)
    assert page.faults == [] and guard.missed(page, project) == []
    assert [each.content for each in page.fences] == ["x = 1\n"]


@pytest.mark.parametrize("text", ["", "\n", " \n\n", "---\ntitle: x\n---\n", "\ufeff", "<div><![foo[ x</div>", '<div data-fence="x">甲</div>'])
def test_a_page_without_code_is_read(site, text):
    path = site.root / "docs" / "page.md"
    path.write_text(text, encoding="utf-8")
    project = load_project(site.root)
    page = load_page(path, project)
    assert page.faults == [] and guard.missed(page, project) == [] and page.fences == []


@pytest.mark.parametrize("changed", ["别的", None])
def test_a_line_traced_wrongly_is_noticed(page, site, changed):
    """追踪用的是自己的展开；网站的展开若不同，代码恰好相同也要报告。"""
    at = next(number for number, line in enumerate(page.lines) if line.startswith("脚注"))
    page.lines[at : at + 1] = [Line(changed, page.lines[at].origin)] if changed else []
    (fault,) = guard.missed(page, load_project(site.root))
    assert f"展开片段之后的第 {at + 1} 行" in fault.message and fault.origin.path.name == "page.md"


def test_a_fence_that_the_site_cannot_render_is_noticed(site, monkeypatch):
    def broken(*_, **__):
        raise KeyError("坏")

    monkeypatch.setattr("livedocs.page._Plain.highlight", broken)
    page = load_page(site.page(fence("x = 1")), load_project(site.root))
    (fault,) = page.faults or guard.missed(page, load_project(site.root))
    assert "网站不能渲染这一页：KeyError('坏')" in fault.message


def test_the_guard_runs_in_every_check(site, monkeypatch):
    site.page(fence("x = 1") + "\n" + fence("y = 2"))
    real = load_page

    def forgetful(path, project):
        page = real(path, project)
        page.fences = page.fences[:1]
        return page

    monkeypatch.setattr("livedocs.items.load_page", forgetful)
    code, report = site.check()
    assert code == 1 and "网站显示 2 段代码，收集到 1 段" in report


def test_every_line_knows_where_it_is_from(site):
    site.script("甲 = 0\n# --8<-- [start:a]\ndef f():\n    # ;--8<-- [start:x]\n    return 1\n# --8<-- [end:a]\n")
    (site.root / "code" / "part.md").write_text("```{.python .run}\np = 1\n```\n", encoding="utf-8")
    text = textwrap.dedent("""
        ---
        title: 页
        ---

        # 页

        !!! note

            ```{.python .run}
            前 = 1
            --8<-- "code/demo.py:a"
            后 = 2
            ```

        --8<-- "code/part.md"
        """).lstrip()
    path = site.page(text)
    page = load_page(path, load_project(site.root))
    assert not page.faults
    first, second = page.fences
    where = [(origin.path.name, origin.line) for origin in first.origins]
    assert where == [("page.md", 10), ("demo.py", 3), ("demo.py", 4), ("demo.py", 5), ("page.md", 12)]
    assert (first.opening.origin.line, first.closing.origin.line) == (9, 13)
    assert [(o.path.name, o.line) for o in second.origins] == [("part.md", 2)]
