"""读者在课程里的位置：标题下的“第 4 课，共 10 课”和一条细细的进度，页脚的“上一课”“下一课”。

课的次序就是目录里“教程”一节的次序；不在其中的页面（示例、参考）没有位置。
"""

from __future__ import annotations

from mkdocs.structure.nav import Navigation, Section

SECTION = "教程"


def lessons(nav: Navigation) -> dict[str, dict[str, int]]:
    """每一课的源文件（在 docs/ 里的路径）→ 要写进 `page.meta` 的 `lesson`（第几课）与 `lessons`（共几课）。"""
    sections = [item for item in nav.items if isinstance(item, Section) and item.title == SECTION]
    pages = [page.file.src_uri for section in sections for page in section.children if page.is_page]
    return {page: {"lesson": number, "lessons": len(pages)} for number, page in enumerate(pages, 1)}


def place(meta: dict) -> str:
    """标题下的一行 HTML；`meta` 是 `page.meta`；不是课的页面得到空字符串。

    用时不在这一行：概要卡片与 notebook 的开头已经写了。
    """
    if "lesson" not in meta:
        return ""
    number, count = meta["lesson"], meta["lessons"]
    return (
        f'<p class="course-place" data-search-exclude="1"><span>第 {number} 课，共 {count} 课</span>'
        f'<progress max="{count}" value="{number}" aria-hidden="true"></progress></p>'
    )
