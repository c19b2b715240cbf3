"""搜索的标准答案，和往真的搜索框里键入的办法；tests/site/ 与 benchmarks/search.py 共用。"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

GOLDEN = Path(__file__).with_name("golden-queries.toml")

#: 结果列表里看得见的：[得分, 网址, 属于第几页]。折叠在“更多”里的不算；
#: 下面列着各节、自己没有摘要的页名只是那几节的标题，也不算。
_VISIBLE = """() => [...document.querySelectorAll('.md-search-result__item')].flatMap((item, page) => {
    const links = [...item.querySelectorAll(':scope > a')];
    const bare = link => link.querySelector('h1')?.textContent.trim() === link.textContent.trim();
    return links.filter(link => links.length === 1 || !bare(link))
        .map(link => [Number(link.querySelector('[data-md-score]').dataset.mdScore), link.href, page]); })"""


@dataclass(frozen=True)
class Query:
    """一条标准答案；`wanted` 里任何一处排第一都算对。"""

    text: str
    kind: str
    wanted: tuple[str, ...]
    held_out: bool


def golden() -> list[Query]:
    """golden-queries.toml 里的全部查询，按文件里的次序。"""
    rows = tomllib.loads(GOLDEN.read_text(encoding="utf-8"))["query"]
    return [Query(row["text"], row["kind"], tuple(row["wanted"]), row.get("held_out", False)) for row in rows]


#: 数一数答了几次；主题每次都重写“几个结果”那一行，再填列表，中间不停。
_WATCH = """() => { window.answers = 0;
    new MutationObserver(() => window.answers++).observe(
        document.querySelector('.md-search-result__meta'), { childList: true }); }"""
_ANSWERED = """before => window.answers > before
    && !document.querySelector('.md-search-result__list').textContent.includes('正在取搜索索引')"""


def wait_for_search(page) -> None:
    """等搜索准备好：worker 就绪时主题先查一次框里的字（空的），答复会被当成下一次查询的。"""
    page.locator(".md-search-result__meta", has_not_text="正在初始化搜索引擎").wait_for(state="attached")


def type_query(page, text: str) -> None:
    """在搜索框里键入 `text`（原有的字先选中，于是换掉），等到这一次的结果出来。"""
    if not page.evaluate("'answers' in window"):
        wait_for_search(page)
        page.evaluate(_WATCH)
    if not page.evaluate("document.activeElement.matches('.md-search__input')"):
        page.click(".md-search__input")
    before = page.evaluate("window.answers")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)
    page.wait_for_function(_ANSWERED, arg=before)


def ranking(page, base: str) -> list[str]:
    """读者看到的去处（解码后的网址，不含 `base` 与高亮的参数）；第一条就是回车会打开的那一条。

    同一页的几条按得分排，与主题的回车键一样。
    """
    rows = sorted(page.evaluate(_VISIBLE), key=lambda row: (row[2], -row[0]))
    return [location(link, base) for _, link, _ in rows]


def location(link: str, base: str) -> str:
    """`https://…/repo/labs/01/?h=词#节` → `labs/01/#节`。"""
    address, _, anchor = unquote(link).removeprefix(base).partition("#")
    return address.partition("?")[0] + (f"#{anchor}" if anchor else "")


def rank(found: list[str], query: Query) -> int | None:
    """第一处想看到的排第几（从 1 数）；没有找到时是 None。"""
    return next((place for place, link in enumerate(found, 1) if link in query.wanted), None)


def verdict(places: dict[Query, int | None]) -> str:
    """不合格的原因；合格时是空的。≥ 95 % 第一条就是，全部在前三条里。"""
    later = [(query, place) for query, place in places.items() if place != 1]
    lost = [(query, place) for query, place in later if place is None or place > 3]
    if not lost and len(later) <= 0.05 * len(places):
        return ""
    lines = [
        f"第一条就是的 {len(places) - len(later)}/{len(places)}，前三条里有的 {len(places) - len(lost)}/{len(places)}"
    ]
    lines += [f"“{query.text}”排第 {place or '—'}，想看到 {query.wanted[0]}" for query, place in later]
    return "\n".join(lines)
