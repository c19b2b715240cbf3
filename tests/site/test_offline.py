"""下载整站：解压后用 Python 自带的服务器提供，页面、搜索、公式、网页里的运行都能用，不出站。"""

import contextlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from playwright.sync_api import expect

from livedocs import offline

LAB = "labs/01-single-head-attention/"


@pytest.fixture(scope="module")
def unpacked(site, tmp_path_factory):
    """解压出的文件夹。"""
    folder = tmp_path_factory.mktemp("offline")
    with zipfile.ZipFile(site.folder / offline.URI) as zipped:
        zipped.extractall(folder)
    assert [path.name for path in folder.iterdir()] == [offline.FOLDER]
    return folder / offline.FOLDER


@contextlib.contextmanager
def served(folder):
    """照 README 的命令启动服务器，只是端口由系统挑。"""
    command = re.search(r"python3 -m (http\.server) (\d+) --bind (\S+)", offline.README)
    module, _, address = command.groups()
    with subprocess.Popen(
        [sys.executable, "-u", "-m", module, "0", "--bind", address],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as server:
        try:
            port = re.search(r"port (\d+)", server.stdout.readline()).group(1)
            yield f"http://{address}:{port}/"
        finally:
            server.terminate()


def test_the_pack_is_the_site_without_itself(site, unpacked):
    inside = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    outside = {path.relative_to(site.folder).as_posix() for path in site.folder.rglob("*") if path.is_file()}
    assert inside - outside == {"README.txt"}
    assert outside - inside == {offline.URI}
    changed = {name for name in inside & outside if (unpacked / name).read_bytes() != (site.folder / name).read_bytes()}
    assert changed == {"start/index.html"}
    page = (unpacked / "start" / "index.html").read_text(encoding="utf-8")
    assert "你正在读的就是离线版" in page and offline.URI not in page
    assert offline.URI in site.read("start/index.html")


def test_the_button_says_how_big_the_pack_is(site):
    size = (site.folder / offline.URI).stat().st_size
    shown = re.search(r'class="site-zip".*?</p>', site.read("start/index.html")).group()
    assert f"下载整站（zip，{size / 1e6:.1f} MB）" in shown


def test_opening_a_file_directly_is_not_recommended(chromium, unpacked, site):
    """说明里的话是真的：从本地文件打开，页面之间的链接到不了页面。"""
    page = chromium.new_page()
    page.goto((unpacked / "index.html").as_uri())
    links = page.locator("a[href]").evaluate_all(
        "all => all.map(a => a.href).filter(href => href.startsWith('file:') && href.split('#')[0] !== location.href)"
    )
    page.close()
    assert any(link.endswith(f"/{LAB}") for link in links)  # 是文件夹，不是网页
    for text in (offline.README, site.read("start/index.html")):
        assert "不要直接双击" in text and "链接打不开" in text


def test_packing_again_gives_the_same_bytes(site, tmp_path):
    copy = tmp_path / "site"
    small = shutil.ignore_patterns("pyodide", "*.zip")  # 大的文件不压缩两遍
    shutil.copytree(site.folder, copy, ignore=small, copy_function=shutil.copyfile)
    first = offline.write(copy).read_bytes()
    shutil.rmtree(copy)
    shutil.copytree(site.folder, copy, ignore=small)
    assert offline.write(copy).read_bytes() == first


def test_reading_searching_and_running_offline(chromium, unpacked):
    with served(unpacked) as url:
        context = chromium.new_context(base_url=url)
        foreign, errors = [], []

        def only_here(route):
            if route.request.url.startswith(url):
                return route.continue_()
            foreign.append(route.request.url)
            return route.abort()

        context.route("**/*", only_here)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))

        page.goto("")
        page.locator(f'.md-nav a[href$="{LAB}"]').first.click()
        page.wait_for_url(f"**/{LAB}*")
        expect(page.locator("h1")).to_contain_text("实验 01")  # 网址先变，正文后到；首页也有公式
        formula = page.locator(".katex").first
        assert "KaTeX_Main" in formula.evaluate("element => getComputedStyle(element).fontFamily")
        assert page.evaluate("document.fonts.ready.then(fonts => [...fonts].some(font => font.status === 'loaded'))")

        block = page.locator('py-block[data-kind="run"]').nth(3)
        block.scroll_into_view_if_needed()
        block.get_by_role("button", name="运行").click()
        expect(block).to_contain_text("与文档一致")

        page.click(".md-search__input")
        page.keyboard.insert_text("因果掩码")
        page.keyboard.press("End")
        expect(page.locator(".md-search-result__item").first).to_be_visible()
        page.locator(".md-search-result__item a").first.click()
        expect(page.locator("h1")).to_have_count(1)
        for path in ("labs/02-causal-attention/", "start/", "reference/proof/"):
            page.goto(path)
            expect(page.locator("h1")).to_have_count(1)
        context.close()
        assert not foreign and not errors, (foreign, errors)


def test_a_site_that_offers_nothing_is_not_packed(project):
    project.build("# 首页\n\n正文。\n")
    assert not (project.site / offline.URI).exists()


def test_the_preview_says_there_is_no_pack():
    assert "href" not in offline.offer("downloads/site.zip", serving=True)
    assert "make build" in offline.offer("downloads/site.zip", serving=True)
    assert 'href="downloads/site.zip" download' in offline.offer("downloads/site.zip", serving=False)
