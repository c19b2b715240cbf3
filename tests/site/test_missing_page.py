"""404 页：很深的地址也有样式、能搜索、链接都对，还猜得出读者要找哪一页。"""

import re

import pytest
from search_tools import ranking, type_query


@pytest.fixture
def page(chromium):
    page = chromium.new_page()
    yield page
    page.close()


DEEP = "chapters/03-atention/no/such/"


def test_a_deep_missing_address_has_styles_and_our_script(page, site):
    missing = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status >= 400 else None)
    answer = page.goto(site.url + DEEP)
    assert answer.status == 404
    assert page.inner_text("h1") == "没有这一页"
    page.wait_for_load_state("networkidle")
    assert missing == [site.url + DEEP]
    assert page.evaluate("getComputedStyle(document.querySelector('.md-header')).position") == "sticky"
    assert page.evaluate("document.documentElement.lang") == "zh-CN"


def test_every_link_of_the_page_leads_somewhere(page, site):
    page.goto(site.url + DEEP)
    links = set(page.eval_on_selector_all("a[href]", "links => links.map(link => link.href.split('#')[0])"))
    inside = {link for link in links if link.startswith(site.url) and link != site.url + DEEP}
    assert len(inside) > 25
    for link in inside:
        path = site.folder / link.removeprefix(site.url)
        assert path.is_file() or (path / "index.html").is_file(), link


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (DEEP, "chapters/03-attention/"),
        ("lab/01-single-head-attention.html", "labs/01-single-head-attention/"),
        ("glossary/", "reference/glossary/"),
    ],
)
def test_the_nearest_pages_are_suggested(page, site, asked, wanted):
    page.goto(site.url + asked)
    first = page.locator(".near-pages a").first
    assert first.evaluate("link => link.href") == site.url + wanted
    assert 1 <= page.locator(".near-pages a").count() <= 3
    first.click()
    page.wait_for_url(site.url + wanted)
    page.locator(".md-content h1").wait_for()


@pytest.mark.parametrize("asked", ["zzz/", "%E4%B8%8D/", "%ff/"])
def test_nothing_is_suggested_when_nothing_is_near(page, site, asked):
    page.goto(site.url + asked)
    page.wait_for_selector("near-pages:not([data-loading])")
    page.wait_for_load_state("networkidle")
    assert page.locator(".near-pages").count() == 0
    page.click("near-pages summary")
    assert page.locator("near-pages details a", has_text="术语表").is_visible()


def test_search_works_there(page, site):
    page.goto(site.url + DEEP)
    type_query(page, "因果掩码")
    found = ranking(page, site.url)
    assert found
    for link in found:
        assert (site.folder / link.partition("#")[0] / "index.html").is_file(), link
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}**h=**")
    page.locator(".md-content h1").wait_for()


def test_without_an_address_the_site_must_be_at_the_root(project):
    project.build("# 首页\n\n文。\n")
    text = (project.site / "404.html").read_text(encoding="utf-8")
    links = re.findall(r'<link rel="stylesheet" href="([^"]+)"|<near-pages base="([^"]+)"', text)
    assert links
    assert all((sheet or base).startswith("/") and not (sheet or base).startswith("//") for sheet, base in links)
