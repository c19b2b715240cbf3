"""建好的网站里显示的每段代码，与检查程序收集到的逐段相同。"""

from __future__ import annotations

from site_tools import ROOT

from livedocs.guard import collected_code
from livedocs.page import load_page, shown_code
from livedocs.project import load_project


def article(html: str) -> str:
    return html[html.index("<article") : html.index("</article>")]


def test_the_built_site_shows_exactly_what_is_checked(site):
    project = load_project(ROOT)
    pages = sorted(project.docs.rglob("*.md"))
    assert pages
    for path in pages:
        relative = path.relative_to(project.docs).with_suffix("")
        folder = relative.parent if relative.name == "index" else relative
        shown = shown_code(article(site.read(f"{folder.as_posix()}/index.html"))).blocks
        page = load_page(path, project)
        assert not page.faults, path
        assert shown == collected_code(page), path
