"""下载的文件就是被测试的文件。"""

import html
import json
import re

from site_tools import ROOT

from livedocs.publish import published, scripts


def test_every_script_is_downloadable_byte_for_byte(site):
    names = sorted(path.name for path in (site.folder / "code").iterdir())
    assert names == [path.name for path in scripts(ROOT / "code")]
    for path in scripts(ROOT / "code"):
        assert (site.folder / "code" / path.name).read_bytes() == published(path).encode("utf-8")


def test_no_download_contains_a_section_marker(site):
    for path in (site.folder / "code").iterdir():
        assert b"8<-" not in path.read_bytes(), path


def test_every_example_page_links_its_download(site):
    for path in (site.folder / "examples").iterdir():
        links = re.findall(
            r'<a [^>]*href="(?:\.\./)+code/([^"]+\.py)"[^>]*>', site.read(f"examples/{path.name}/index.html")
        )
        assert links, path
        for name in links:
            assert (site.folder / "code" / name).is_file(), (path, name)


def test_links_to_scripts_ask_to_save(site):
    for page in site.pages():
        for link in re.findall(r'<a [^>]*href="[^"]*code/[^"/]+\.py"[^>]*>', page.read_text(encoding="utf-8")):
            assert " download" in link, (page, link)


def test_example_page_shows_the_download(site):
    """页面显示的脚本（去掉高亮的标签）就是下载的文件。"""
    for path in scripts(ROOT / "code"):
        page = site.read(f"examples/{path.stem}/index.html")
        block = re.search(r'<div class="language-python script[^"]*">.*?<code>(.*?)</code>', page, re.DOTALL).group(1)
        shown = html.unescape(re.sub(r"<[^>]+>", "", block))
        assert shown.strip("\n") == published(path).strip("\n"), path


def test_notebook_is_downloadable_at_its_own_address(site):
    for source in (ROOT / "docs").rglob("*.ipynb"):
        folder = source.relative_to(ROOT / "docs").with_suffix("")
        assert (site.folder / folder / source.name).read_bytes() == source.read_bytes()
        page = site.read(f"{folder.as_posix()}/index.html")
        assert f'href="{source.name}"' in page
        assert json.loads((site.folder / folder / source.name).read_bytes())["nbformat"] == 4
