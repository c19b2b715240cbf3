"""MkDocs 钩子：只做 Markdown 扩展做不到的事，也就是需要知道“这是哪一页”“网站里有哪些文件”的事。

- 下载：`code/*.py` 的已发布文本成为网站里的文件，链接到它们也受检查；
- front matter 的概要卡片（扩展看不到 front matter）、标题下的徽章；
- notebook 的链接、图片、目录（notebook 不经过 Python-Markdown）；
- 公式的两步排版（排版要在进入索引之后）；
- KaTeX 的样式与字体、打包好的前端与浏览器里的 Python 解释器、搜索 worker 的修补；
- 内容安全策略、站点与词典的路径、看得懂的构建错误。
"""

from __future__ import annotations

import html
import logging
import re
from pathlib import Path

from markdown import Markdown
from mkdocs.config.config_options import ExtraScriptValue
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import Abort, PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page, _RelativePathTreeprocessor
from mkdocs.structure.toc import get_toc
from mkdocs.utils import get_relative_url
from pymdownx.snippets import SnippetMissingError

from livedocs import badges, csp, maths, notebook_page, proof, publish, rebuild, search, web
from livedocs.markdown import insert_card, lesson_card, page_runs
from livedocs.project import load_project

log = logging.getLogger("mkdocs.plugins.livedocs")

KATEX_CSS = "assets/katex/katex.min.css"


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent


# ---------------------------------------------------------------- 设置

_serving = False
#: 这次构建用的前端；`on_config` 打包一次，网页里的文件名和发布的文件因此总是同一份。
_built: web.Bundle | None = None


def on_startup(command: str, dirty: bool) -> None:
    """预览（serve）还是构建（build）。"""
    global _serving
    _serving = command == "serve"


@event_priority(100)
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """在别的插件之前运行：它们用到的设置要先改好。"""
    global _built
    search.quiet_jieba()
    for name, plugin in config.plugins.items():
        if name.endswith("search") and plugin.config.get("jieba_dict_user"):
            # 词典的路径从 mkdocs.yml 算起，而不是从当前文件夹算起。
            plugin.config["jieba_dict_user"] = str(_root(config) / plugin.config["jieba_dict_user"])
    try:
        _built = built = web.bundle()
    except web.WebError as error:
        raise PluginError(str(error)) from error
    config.extra_css.insert(0, KATEX_CSS)
    config.extra_css.append(f"assets/web/{built.manifest['style']}")
    script = ExtraScriptValue(f"assets/web/{built.manifest['script']}")
    script.type = "module"
    config.extra_javascript.append(script)
    md = Markdown(extensions=config.markdown_extensions, extension_configs=config.mdx_configs)
    notebook_page.install(md, config.mdx_configs["toc"]["slugify"])
    return config


def on_pre_build(config: MkDocsConfig) -> None:
    """搜索插件在它自己的 on_config 里建好了索引；让索引记住没有变的页面。"""
    for name, plugin in config.plugins.items():
        if name.endswith("search") and hasattr(plugin, "search_index"):
            rebuild.remember_entries(plugin.search_index)


# ---------------------------------------------------------------- 文件


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """加入下载、KaTeX 的样式与字体，换上修好的搜索 worker。"""
    for path in publish.scripts(_root(config) / "code"):
        try:
            text = publish.published(path)
        except (publish.PublishError, OSError, UnicodeDecodeError) as error:
            raise PluginError(f"code/{path.name} 不能发布：{error}") from error
        files.append(File.generated(config, f"code/{path.name}", content=text.encode("utf-8")))
    _add_katex(files, config)
    for uri, path in _built.assets():
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for file in list(files):
        if re.fullmatch(r"assets/javascripts/workers/search\.\w+\.min\.js", file.src_uri):
            patched = search.patch_worker(file.content_string)
            files.remove(file)
            files.append(File.generated(config, file.src_uri, content=patched.encode("utf-8")))
    return files


def _add_katex(files: Files, config: MkDocsConfig) -> None:
    dist = web.WEB / "node_modules" / "katex" / "dist"
    css = (dist / "katex.min.css").read_text(encoding="utf-8")
    # 所有还在更新的浏览器都认 woff2；别的格式不发布。
    css = re.sub(r",\s*url\([^)]*\.(?:woff|ttf)\)\s*format\([^)]*\)", "", css)
    files.append(File.generated(config, KATEX_CSS, content=css.encode("utf-8")))
    for font in sorted((dist / "fonts").glob("*.woff2")):
        files.append(File.generated(config, f"assets/katex/fonts/{font.name}", abs_src_path=str(font)))


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
    if _is_notebook(page):
        return None
    start = files.get_file_from_path("start.md")
    link = get_relative_url(start.src_uri, page.file.src_uri) + "#run" if start else ""
    card = lesson_card(page.meta, has_code="{.python" in markdown, start=link)
    return insert_card(markdown, f"{_badge(page, config, files)}\n\n{card}")


def _badge(page: Page, config: MkDocsConfig, files: Files) -> str:
    about = files.get_file_from_path("reference/proof.md")
    link = get_relative_url(about.url, page.url) if about else ""
    path = Path(page.file.abs_src_path)
    return badges.badge(path, load_project(_root(config)), _proofs(config), link)


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
        if badges.PLACE.search(page.content):
            rows = [
                (other.title, get_relative_url(other.url, page.url), Path(other.file.abs_src_path))
                for other in _in_reading_order(files)
            ]
            table = badges.table(rows, load_project(_root(config)), _proofs(config))
            page.content = badges.PLACE.sub(lambda _, table=table: table, page.content)
    return env


def _in_reading_order(files: Files) -> list[Page]:
    pages = [file.page for file in files.documentation_pages()]
    ordered = []
    page = next((page for page in pages if page.next_page and not page.previous_page), None)
    while page:
        ordered.append(page)
        page = page.next_page
    return ordered


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """排公式。排不出来的给出警告（严格构建因此失败），网页上显示标红的原文。"""

    def report(tex: str, reason: str) -> None:
        log.warning("%s：公式排不出来：%s\n    %s", page.file.src_uri, tex, reason)

    try:
        done = maths.typeset(output, maths.shared(), report)
    except web.WebError as error:
        raise PluginError(str(error)) from error
    return _finish(done)


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """404 页也受内容安全策略约束。"""
    return _finish(output) if template_name.endswith(".html") else output


#: 主题里没有名字的两个部件；读屏软件要念出它们。
_NAMES = {'role="dialog"': "搜索", 'role="progressbar"': "正在打开页面"}


def _finish(output: str) -> str:
    for role, name in _NAMES.items():
        output = re.sub(rf'(data-md-component="\w+" {role})>', rf'\1 aria-label="{name}">', output, count=1)
    return output if _serving else csp.reserve(output)


def on_post_build(config: MkDocsConfig) -> None:
    """全站写完，行内脚本都知道了：填写内容安全策略。预览时没有，因为自动刷新要用自己的行内脚本。"""
    if not _serving:
        csp.apply(Path(config.site_dir))


# ---------------------------------------------------------------- 错误


def on_build_error(error: Exception) -> None:
    """片段写错了只报一句话：MkDocs 已经说了是哪一页，不再打印调用栈。"""
    if isinstance(error, SnippetMissingError):
        log.error("片段找不到：%s\n    检查页面里 --8<-- 的路径和片段名，是否拼错，或在 code/ 里改了名", error)
        raise Abort("构建中止") from error
