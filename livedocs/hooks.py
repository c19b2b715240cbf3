"""MkDocs 钩子：只做 Markdown 扩展做不到的事，也就是需要知道“这是哪一页”“网站里有哪些文件”的事。

- 下载：`code/*.py` 的已发布文本成为网站里的文件，链接到它们也受检查；
- front matter 的概要卡片（扩展看不到 front matter）、标题下的徽章；
- notebook 的链接、图片、目录（notebook 不经过 Python-Markdown）；
- 公式的两步排版（排版要在进入索引之后）；
- KaTeX 的样式与字体、打包好的前端与浏览器里的 Python 解释器、搜索的索引与 worker；
- `<head>` 里的描述与结构化数据，改了名字的页面与锚点；
- 内容安全策略、看得懂的构建错误。
"""

from __future__ import annotations

import html
import logging
import os
import re
from pathlib import Path

from markdown import Markdown
from mkdocs.config.config_options import ExtraScriptValue
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page, _RelativePathTreeprocessor
from mkdocs.structure.toc import get_toc
from mkdocs.utils import get_relative_url
from pymdownx.snippets import SnippetMissingError

from livedocs import (
    badges,
    course,
    csp,
    english,
    fonts,
    frame,
    glossary,
    history,
    html_text,
    maths,
    meta,
    notebook_page,
    offline,
    pack,
    page_tools,
    proof,
    publish,
    rebuild,
    redirects,
    search,
    slim,
    steady,
    styles,
    watch,
    web,
)
from livedocs.markdown import insert_card, lesson_card, page_runs
from livedocs.project import anchor_paths, load_project

log = logging.getLogger("mkdocs.plugins.livedocs")

KATEX = "assets/katex"


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent


# ---------------------------------------------------------------- 设置

_serving = False
#: 这次构建用的前端；`on_config` 打包一次，网页里的文件名和发布的文件因此总是同一份。
_built: web.Bundle | None = None
#: 这次构建的搜索索引；没有启用搜索插件时是 None。
_index: search.Index | None = None
#: 这次构建里各页的下载包，键是源文件在 docs/ 里的路径。
_packs: dict[str, pack.Pack] = {}
#: 课程里的每一课：源文件在 docs/ 里的路径 → 第几课、共几课。
_lessons: dict[str, dict[str, int]] = {}
#: 术语表的网址与全部术语；没有术语表的网站是空的。
_terms: tuple[str, tuple[glossary.Term, ...]] = ("", ())
#: 页面在 docs/ 里的路径 → 网址。
_urls: dict[str, str] = {}
#: 各文件最后一次改动；每次构建读一次 git。
_changes: dict[str, history.Change] = {}


def on_startup(command: str, dirty: bool) -> None:
    """预览（serve）还是构建（build）。"""
    global _serving
    _serving = command == "serve"


@event_priority(100)
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """在别的插件之前运行：它们用到的设置要先改好。"""
    global _built
    anchor_paths(config.mdx_configs, _root(config))
    try:
        _built = built = web.bundle()
    except web.WebError as error:
        raise PluginError(str(error)) from error
    config.extra_css.insert(0, f"{KATEX}/katex.min.css")
    config.extra_css.append(f"assets/web/{built.manifest['style']}")
    script = ExtraScriptValue(f"assets/web/{built.manifest['script']}")
    script.type = "module"
    config.extra_javascript.append(script)
    md = Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)
    notebook_page.install(md, config.mdx_configs["toc"]["slugify"])
    return config


def on_pre_build(config: MkDocsConfig) -> None:
    """搜索插件在它自己的 on_config 里建好了索引；换成本站的。"""
    global _index
    for name, plugin in config.plugins.items():
        if name.endswith("search") and hasattr(plugin, "search_index"):
            plugin.search_index = _index = search.Index()


# ---------------------------------------------------------------- 文件


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """加入下载，去掉主题自带的搜索 worker。"""
    for path in publish.scripts(_root(config) / "code"):
        try:
            text = publish.published(path)
        except (publish.PublishError, OSError, UnicodeDecodeError) as error:
            raise PluginError(f"code/{path.name} 不能发布：{error}") from error
        files.append(File.generated(config, f"code/{path.name}", content=text.encode("utf-8")))
    for uri, path in _built.assets():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    _add_packs(files, config)
    shipped = [file for file in files if search.is_worker(file.src_uri)]
    if not shipped:
        log.warning("主题里找不到搜索 worker：主题可能升级了。改 livedocs/search.py 里的 _WORKER，再看搜索还能不能用")
    for file in shipped:
        files.remove(file)
    return files


def _add_packs(files: Files, config: MkDocsConfig) -> None:
    global _packs, _changes
    pages = [file.src_uri for file in files if file.src_uri.endswith((".md", ".ipynb"))]
    try:
        _packs = pack.packs(load_project(_root(config)), pages)
    except (ValueError, OSError) as error:
        raise PluginError(f"下载包打不成：{error}") from error
    for found in _packs.values():
        files.append(File.generated(config, found.uri, content=found.data))
    _changes = history.last_changes(_root(config))


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> None:
    """目录定下来了：记下课程的次序与术语。"""
    global _lessons, _terms, _urls
    _urls = {file.src_uri: "" if file.url == "./" else file.url for file in files.documentation_pages()}
    _lessons, _terms = course.lessons(nav), ("", ())
    if file := files.get_file_from_path(glossary.PAGE):
        try:
            _terms = file.url, glossary.parse(file.content_string)
        except glossary.GlossaryError as error:
            raise PluginError(str(error)) from error


# ---------------------------------------------------------------- 页面


def on_pre_page(page: Page, config: MkDocsConfig, files: Files) -> Page:
    """不能发布的 notebook 在渲染之前就拒绝。"""
    if _is_notebook(page):
        try:
            notebook_page.check(Path(page.file.abs_src_path))
        except notebook_page.StoredFault as error:
            raise PluginError(f"{page.file.src_uri} 不能发布：{error}") from error
    return page


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str | None:
    """概要卡片。notebook 不经过 Python-Markdown，它的概要写在自己的第一个单元格里。"""
    page_runs.set(None if _is_notebook(page) else page.meta.get("runs"))
    page.meta.update(_lessons.get(page.file.src_uri, {}))
    if _is_notebook(page):
        page.meta.update(meta.of_notebook(Path(page.file.abs_src_path)))
        return None
    start = files.get_file_from_path("start.md")
    link = get_relative_url(start.src_uri, page.file.src_uri) + "#run" if start else ""
    card = lesson_card(page.meta, has_code="{.python" in markdown, start=link)
    return insert_card(markdown, f"{_badge(page, config, files)}\n\n{card}")


def _badge(page: Page, config: MkDocsConfig, files: Files) -> str:
    about = files.get_file_from_path("reference/proof.md")
    link = get_relative_url(about.url, page.url) if about else ""
    path = Path(page.file.abs_src_path)
    badge = badges.badge(path, load_project(_root(config)), _proofs(config), link)
    return course.place(page.meta) + badge + page_tools.pack_link(_packs.get(page.file.src_uri), page.url)


def _proofs(config: MkDocsConfig) -> dict[str, dict]:
    try:
        return proof.load(_root(config)) or {}
    except ValueError as error:
        raise PluginError(str(error)) from error


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """notebook 的后半段处理；公式换成占位元素，进入索引的就不是三份公式。"""
    if _is_notebook(page):
        content = _finish_notebook(content, page, config, files)
    _defer_titles(page.toc)
    content = offline.PLACE.sub(lambda _: offline.offer(get_relative_url(offline.URI, page.url), _serving), content)
    return maths.defer(content)


def _is_notebook(page: Page) -> bool:
    return page.file.src_uri.endswith(".ipynb")


def _finish_notebook(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    links = _RelativePathTreeprocessor(page.file, files, config)
    done = notebook_page.finish(content, links.path_to_url)
    page.toc = get_toc(done.toc_tokens)
    page.present_anchor_ids, page.links_to_anchors = done.anchors, links.links_to_anchors
    for name, data in done.images.items():
        # 与页面放在同一个文件夹：labs/02-….ipynb 的图是 labs/02-…/figure-1.png。
        files.append(File.generated(config, page.file.src_uri.removesuffix(".ipynb") + "/" + name, content=data))
    name = html.escape(Path(page.file.src_uri).name)
    button = (
        f'<p class="notebook-download" data-search-exclude="1"><a class="md-button" href="{name}" download>'
        f"下载 notebook（{name}）</a></p>"
    )
    below = _badge(page, config, files) + button
    return re.sub(r"(</h1>)", lambda m: m.group() + below, done.content, count=1)


def _defer_titles(items) -> None:
    for item in items:
        item.title = maths.defer_title(item.title)
        _defer_titles(item.children)


def on_env(env, config: MkDocsConfig, files: Files):
    """全部页面都渲染好之后，填写“版本与证明”里的数目。"""
    env.bytecode_cache = rebuild.templates
    for file in files.documentation_pages():
        page = file.page
        if change := _last_change(page, config):
            page.meta["modified"] = change.date  # 站点地图与结构化数据也写它
        if badges.PLACE.search(page.content):
            rows = [
                (other.title, get_relative_url(other.url, page.url), Path(other.file.abs_src_path))
                for other in _in_reading_order(files)
            ]
            table = badges.table(rows, load_project(_root(config)), _proofs(config))
            page.content = badges.PLACE.sub(lambda _, table=table: table, page.content)
    _keep_moved(files, config)
    return env


def _keep_moved(files: Files, config: MkDocsConfig) -> None:
    """改了名字的页面与锚点：旧网址还能用。"""
    pages = {file.src_uri: file.page for file in files.documentation_pages()}
    try:
        moved = redirects.moves(config)
        redirects.check(moved, {uri: set(page.present_anchor_ids or ()) for uri, page in pages.items()})
    except redirects.MoveError as error:
        raise PluginError(f"mkdocs.yml：{error}") from error
    for uri, page in pages.items():
        page.content = redirects.keep_anchors(page.content, uri, moved)
    for file in redirects.files(moved, files, config, _finish):
        files.append(file)


def _in_reading_order(files: Files) -> list[Page]:
    pages = [file.page for file in files.documentation_pages()]
    ordered = []
    page = next((page for page in pages if page.next_page and not page.previous_page), None)
    while page:
        ordered.append(page)
        page = page.next_page
    return ordered


def on_page_context(context: dict, page: Page, config: MkDocsConfig, nav: Navigation) -> dict:
    """`<head>` 里的数据；主题从 `page.meta` 取描述，不转义，所以在这里转义。"""
    context["head_data"] = meta.head(page, config, nav)
    page.meta["description"] = html.escape(meta.description(page))
    context["page_tools"] = _page_tools(page, config)
    return context


def _last_change(page: Page, config: MkDocsConfig) -> history.Change | None:
    """这一页与它的脚本最近的一次改动；不知道时是 None。"""
    path = Path(page.file.abs_src_path)
    scripts = (f"code/{script}" for script in pack.script_names(path))
    return history.newest(_changes, [load_project(_root(config)).show(path), *scripts])


def _page_tools(page: Page, config: MkDocsConfig) -> dict:
    name = load_project(_root(config)).show(Path(page.file.abs_src_path))
    change = _last_change(page, config)
    shown = page_tools.Shown(page.title, name, page.canonical_url or "", _proofs(config).get(name, {}), change)
    return page_tools.context(shown, _packs.get(page.file.src_uri), config.repo_url or "")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """排公式。排不出来的给出警告（严格构建因此失败），网页上显示标红的原文。"""

    def report(tex: str, reason: str) -> None:
        log.warning("%s：公式排不出来：%s\n    %s", page.file.src_uri, tex, reason)

    output = html_text.in_article(output, lambda article: _annotate(article, page))
    try:
        done = maths.typeset(output, maths.shared(), report)
    except web.WebError as error:
        raise PluginError(str(error)) from error
    done = _finish(done)
    return watch.banner(done, get_relative_url(watch.ADDRESS, page.url)) if _watching() else done


def _annotate(article: str, page: Page) -> str:
    """术语与英文的记号。在进入索引之后做，所以索引里没有它们。"""
    url, terms = _terms
    source = page.file.src_uri
    if source == glossary.PAGE:
        article = glossary.mark_rows(article, terms)
    elif terms:
        article = glossary.explain(article, source, get_relative_url(url, page.url), terms)
    return english.mark(article)


def on_serve(server, config: MkDocsConfig, builder):
    """`make watch`：预览的同时核对改了的页面。"""
    if _watching():
        root, docs = _root(config), Path(config.docs_dir)
        urls = {(docs / uri).relative_to(root).as_posix(): url for uri, url in _urls.items()}
        watch.attach(server, root, urls)
    return server


def _watching() -> bool:
    return _serving and bool(os.environ.get("LIVEDOCS_WATCH"))


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """404 页也受内容安全策略约束。"""
    return _finish(output) if template_name.endswith(".html") else output


def _finish(output: str) -> str:
    output = frame.name_parts(output)
    output = search.use_worker(output, f"assets/web/{_built.manifest['search']}")
    output = slim.slim(steady.wrap_tables(output))
    return output if _serving else csp.reserve(output)


def on_post_build(config: MkDocsConfig) -> None:
    """写出搜索的索引；行内脚本都知道了，填写内容安全策略。预览时没有策略，因为自动刷新要用自己的行内脚本。"""
    if _index:
        _index.write(Path(config.site_dir))
    _write_katex(Path(config.site_dir, KATEX))
    if not _serving:
        try:
            styles.apply(Path(config.site_dir))
        except styles.StyleError as error:
            raise PluginError(f"样式表瘦身不成：{error}") from error
        csp.apply(Path(config.site_dir))
        offline.write_if_offered(Path(config.site_dir))


def _write_katex(folder: Path) -> None:
    """全部公式都排好了，才知道字体要留哪些字形。"""
    try:
        files = fonts.publish(maths.shared().typeset(), web.WEB / "node_modules" / "katex" / "dist")
    except (fonts.FontError, OSError) as error:
        raise PluginError(f"公式的字体发布不了：{error}") from error
    for name, data in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


# ---------------------------------------------------------------- 错误


def on_build_error(error: Exception) -> None:
    """片段写错了只报一句话：MkDocs 已经说了是哪一页，不再打印调用栈。"""
    if isinstance(error, SnippetMissingError):
        log.error("片段找不到：%s\n    检查页面里 --8<-- 的路径和片段名，是否拼错，或在 code/ 里改了名", error)
        raise Abort("构建中止") from error
