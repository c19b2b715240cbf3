"""`<head>` 里给搜索引擎与聊天软件看的数据：描述、分享卡片、结构化数据。

描述取自 front matter 的 `description`（notebook 写在它的元数据里），没有时取正文的第一段。
凡是要绝对地址的（`og:url`、分享卡片的图、结构化数据里的网址），只在设了 `SITE_URL` 时才写：
没有网址的网站写不出绝对地址，写相对地址等于写错。

结构化数据用 schema.org 的词汇（Course、LearningResource、TechArticle、BreadcrumbList），写成 JSON-LD。
它是数据而不是脚本，浏览器不运行它，内容安全策略也不管它。
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

#: 分享卡片：网站里的路径与大小（像素）；由 card.py 画出。
CARD, CARD_SIZE = "assets/images/card.png", (1200, 630)
LANGUAGE = "zh-CN"
LICENSE = "https://creativecommons.org/licenses/by-sa/4.0/"
#: 描述的字数；用正文第一段当描述时，也最多取这么多。
SHORTEST, LONGEST = 20, 120

_FIRST_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_HIDDEN = re.compile(r"<(aside|details|div)\b.*?</\1>", re.DOTALL)


def of_notebook(path: Path) -> dict:
    """notebook 的 front matter：文件元数据里的 `description` 与 `minutes`。"""
    stored = json.loads(path.read_text(encoding="utf-8")).get("metadata", {})
    return {key: stored[key] for key in ("description", "minutes") if key in stored}


def plain(text: str) -> str:
    """一行 Markdown 或 HTML 里读得出的文字：链接留下文字，去掉记号与标签。"""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", text, flags=re.DOTALL)
    text = re.sub(r"[`$]|\*\*", "", text)
    return re.sub(r"\s+", " ", html.unescape(text)).strip()


def description(page: Page) -> str:
    """这一页的描述，一行纯文字；没有写、正文也没有段落时是空的。"""
    if written := page.meta.get("description"):
        return plain(str(written))
    found = _FIRST_PARAGRAPH.search(_HIDDEN.sub("", page.content or ""))
    text = plain(found.group(1)) if found else ""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def head(page: Page, config: MkDocsConfig, nav: Navigation) -> str:
    """加进 `<head>` 的元素。"""
    title, about = page_title(page, config), description(page)
    properties = {
        "og:type": "website" if page.is_homepage else "article",
        "og:site_name": config.site_name,
        "og:locale": LANGUAGE.replace("-", "_"),
        "og:title": title,
        "og:description": about,
        "og:url": page.canonical_url or "",
    }
    if card := card_url(config):
        properties |= {
            "og:image": card,
            "og:image:width": str(CARD_SIZE[0]),
            "og:image:height": str(CARD_SIZE[1]),
            "og:image:alt": f"{config.site_name}：{config.site_description or ''}",
        }
    lines = [f'<meta property="{name}" content="{html.escape(value)}">' for name, value in properties.items() if value]
    lines.append(f'<meta name="twitter:card" content="{"summary_large_image" if card else "summary"}">')
    graph = json.dumps(structured(page, config, nav), ensure_ascii=False, separators=(",", ":"))
    # 描述里万一写着 </script>，也不能让它结束这个元素。
    lines.append(f'<script type="application/ld+json">{graph.replace("<", chr(92) + "u003c")}</script>')
    return "\n".join(lines)


def card_url(config: MkDocsConfig) -> str:
    """分享卡片的绝对地址；网站没有网址，或没有这张图时是空的。"""
    return config.site_url + CARD if config.site_url and Path(config.docs_dir, CARD).is_file() else ""


def page_title(page: Page, config: MkDocsConfig) -> str:
    """首页用网站的名字，其余的页面用自己的标题。"""
    return config.site_name if page.is_homepage else plain(str(page.meta.get("title") or page.title or ""))


def structured(page: Page, config: MkDocsConfig, nav: Navigation) -> dict:
    """这一页的 JSON-LD：首页是课程与它的各课，其余的页面是一份学习材料与它的位置。"""
    course = _course(config)
    if page.is_homepage:
        lessons = [other for other in nav.pages if _is_lesson(other)]
        course |= _about(page) | {"coursePrerequisites": _items(page, "prerequisites")}
        course |= {"timeRequired": _duration(lessons), "hasPart": [_reference(other, config) for other in lessons]}
        graph = [{key: value for key, value in course.items() if value}, _site(config)]
    else:
        graph = [_resource(page, config) | {"isPartOf": course}]
        if config.site_url:
            graph.append(_breadcrumbs(page, config))
    return {"@context": "https://schema.org", "@graph": graph}


def _is_lesson(page: Page) -> bool:
    return page.file.src_uri.startswith(("chapters/", "labs/"))


def _course(config: MkDocsConfig) -> dict:
    found = {"@type": "Course", "name": config.site_name}
    return found | ({"@id": f"{config.site_url}#course", "url": config.site_url} if config.site_url else {})


def _site(config: MkDocsConfig) -> dict:
    found = {"@type": "WebSite", "name": config.site_name, "inLanguage": LANGUAGE}
    return found | ({"url": config.site_url} if config.site_url else {})


def _reference(page: Page, config: MkDocsConfig) -> dict:
    found = {"@type": "LearningResource", "name": page_title(page, config)}
    return found | ({"url": page.canonical_url} if config.site_url else {})


def _resource(page: Page, config: MkDocsConfig) -> dict:
    title = page_title(page, config)
    found = {"@type": ["LearningResource", "TechArticle"], "name": title, "headline": title} | _about(page)
    found |= {
        "learningResourceType": next((ancestor.title for ancestor in page.ancestors), ""),
        "teaches": _items(page, "outcomes"),
        "competencyRequired": _items(page, "prerequisites"),
        "timeRequired": _duration([page]),
        "dateModified": page.meta.get("modified", ""),
        "url": page.canonical_url,
        "image": card_url(config),
    }
    return {key: value for key, value in found.items() if value}


def _about(page: Page) -> dict:
    return {
        "description": description(page),
        "inLanguage": LANGUAGE,
        "license": LICENSE,
        "isAccessibleForFree": True,
    }


def _items(page: Page, key: str) -> list[str]:
    """front matter 里的一个列表，每项是一行纯文字。"""
    value = page.meta.get(key) or []
    return [plain(str(item)) for item in (value if isinstance(value, list) else [value])]


def _duration(pages: list[Page]) -> str:
    """front matter 里 `minutes` 的和，写成 ISO 8601 的时长；都没有写时是空的。"""
    minutes = sum(page.meta.get("minutes", 0) for page in pages)
    return f"PT{minutes}M" if minutes else ""


def _breadcrumbs(page: Page, config: MkDocsConfig) -> dict:
    """首页 → 本页。导航里的分组没有自己的网页，所以不在其中。"""
    steps = [(config.site_name, config.site_url), (page_title(page, config), page.canonical_url)]
    items = [
        {"@type": "ListItem", "position": number, "name": name, "item": url}
        for number, (name, url) in enumerate(steps, 1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": items}
