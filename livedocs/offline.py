"""`下载整站`：构建好的网站打成一个 zip，解压后用 `python -m http.server` 就能离线读。

只有放了 `<!-- livedocs:site-zip -->` 的网站才打包，在全部文件都写完之后。包里没有它自己，
所以包里那一处写的是“这就是离线版”。预览（serve）时每次保存都重建，不打包，也写明。
"""

from __future__ import annotations

import re
from pathlib import Path

from livedocs import archive

URI = "downloads/site.zip"
#: 包里的文件夹；解压出来就是它。
FOLDER = "site"
PLACE = re.compile(r"<!--\s*livedocs:site-zip\s*-->")
#: 按钮上的字；打好包以后补上大小。
_LABEL = "下载整站（zip）"
_OFFER = re.compile(r'<p class="site-zip".*?</p>', re.DOTALL)
_HERE = '<p class="site-zip">你正在读的就是离线版。</p>'

README = """\
离线版网站

在这个文件夹里打开终端，启动 Python 自带的服务器：

  Windows：         py -m http.server 8000 --bind 127.0.0.1
  macOS 与 Linux：  python3 -m http.server 8000 --bind 127.0.0.1

再用浏览器打开 http://127.0.0.1:8000 。搜索、公式、网页里的运行都能用，不需要联网。
读完，在终端里按 Ctrl+C 停下。

不要直接双击 index.html：那样页面之间的链接打不开，搜索和运行也不能用。
端口 8000 被占用时，把两处 8000 都换成别的数，例如 8001。
"""


def offer(link: str, serving: bool) -> str:
    """页面上的一段：下载的按钮；预览时是一句说明。"""
    if serving:
        return '<p class="site-zip" data-search-exclude="1">预览时没有离线版；<code>make build</code> 才打包。</p>'
    return (
        f'<p class="site-zip" data-search-exclude="1"><a class="md-button md-button--primary" href="{link}" download>'
        f"{_LABEL}</a></p>"
    )


def write_if_offered(site: Path) -> Path | None:
    """有页面提供下载整站时才打包，并在按钮上写明大小（1 MB 是 100 万字节）；返回包的路径。"""
    offering = [page for page in sorted(site.rglob("*.html")) if b'class="site-zip"' in page.read_bytes()]
    if not offering:
        return None
    target = write(site)
    label = f"{_LABEL.removesuffix('）')}，{target.stat().st_size / 1e6:.1f} MB）"
    for page in offering:
        page.write_bytes(page.read_bytes().replace(_LABEL.encode(), label.encode()))
    return target


def write(site: Path) -> Path:
    """把 `site` 里的网站打成包，放进 `site` 自己的 downloads/；返回包的路径。"""
    target = site / URI
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    paths = sorted(path for path in site.rglob("*") if path.is_file())
    readme = README.replace("\n", "\r\n").encode("utf-8-sig")
    entries = ((f"{FOLDER}/{path.relative_to(site).as_posix()}", _content(path)) for path in paths)
    archive.write(target, [*entries, (f"{FOLDER}/README.txt", readme)])
    return target


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".html" and b'class="site-zip"' in data:
        return _OFFER.sub(lambda _: _HERE, data.decode("utf-8")).encode("utf-8")
    return data
