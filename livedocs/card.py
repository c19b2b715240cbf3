"""分享卡片：别人在聊天软件里贴出网址时显示的图，全站一张。

图由本模块画成 SVG，再由本机的 Chromium 变成 `docs/assets/images/card.png`；构建网站时只用这张图，
不需要浏览器，也不需要中文字体，每台机器构建出的网站因此相同。接收网页的软件大多不认 SVG，所以要 PNG。

图里记着它是由哪一份 SVG 画出的（散列）。SVG 变了而图没有重画，测试就会变红；重画用::

    python -m livedocs.card

右边的方阵是分数全相等时的因果注意力权重：第 i 行（从 1 数起）有 i 格，每格 1/i，越淡权重越小。
"""

from __future__ import annotations

import hashlib
import re
import struct
import sys
import zlib
from html import escape
from pathlib import Path

from livedocs import chromium
from livedocs.meta import CARD, CARD_SIZE

#: PNG 文字块里的名字。
KEY = b"livedocs-source"
SIZE = 6  # 方阵的行数
CELL, GAP = 52, 12  # 一格的边长与间隔，像素
FONT = "'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif"


class CardError(Exception):
    """图不能读，或者画不出来；消息说明原因。"""


def drawing(name: str, about: str) -> str:
    """`name` 与 `about` 是网站的名字与一句话介绍，一个分句一行；返回 SVG，大小是 `CARD_SIZE`。

    Raises:
        CardError: 有一行字太长，会盖住方阵。
    """
    width, height = CARD_SIZE
    left, top = width - 90 - SIZE * (CELL + GAP), (height - SIZE * (CELL + GAP) + GAP) // 2
    cells = [
        f'<rect x="{left + column * (CELL + GAP)}" y="{top + row * (CELL + GAP)}" width="{CELL}" height="{CELL}" rx="9" '
        f'fill-opacity="{1 / (row + 1):.3f}"/>'
        for row in range(SIZE)
        for column in range(row + 1)
    ]
    lines = re.findall(r"[^，。；]+[，。；]?", about)
    for text, size in [(name, 66), *((line, 32) for line in lines)]:
        if 80 + _width(text) * size > left:
            raise CardError(f"“{text}”太长，卡片上放不下；改短，或在 card.py 里缩小字号")
    words = "".join(f'<text x="80" y="{320 + 54 * number}">{escape(line)}</text>' for number, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" fill="#fff">'
        f'<rect width="{width}" height="{height}" fill="#0f6b63"/>{"".join(cells)}'
        f'<g font-family="{FONT}" font-size="32">'
        f'<text x="80" y="220" font-size="66" font-weight="700">{escape(name)}</text>{words}</g></svg>\n'
    )


def _width(text: str) -> float:
    """一行字大约多宽，单位是字号：汉字与全角标点是 1，其余按 0.55 算。"""
    return sum(1 if ord(character) > 0x2000 else 0.55 for character in text)


def source_hash(svg: str) -> str:
    """一份 SVG 的散列，写在由它画出的图里。"""
    return hashlib.sha256(svg.encode("utf-8")).hexdigest()


def signed(png: bytes, svg: str) -> bytes:
    """在 PNG 末尾的 IEND 之前加一个文字块，记下图由哪一份 SVG 画出。"""
    data = b"tEXt" + KEY + b"\0" + source_hash(svg).encode("ascii")
    chunk = struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))
    end = png.rindex(b"IEND") - 4
    return png[:end] + chunk + png[end:]


def read(png: bytes) -> tuple[tuple[int, int], str]:
    """一张 PNG 的（宽、高）像素数，与它记下的散列（没有记时是空的）。

    Raises:
        CardError: 不是完整的 PNG。
    """
    if png[:8] != b"\x89PNG\r\n\x1a\n":
        raise CardError("不是 PNG 文件")
    position, size, source = 8, (0, 0), ""
    while position + 12 <= len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        kind, data = png[position + 4 : position + 8], png[position + 8 : position + 8 + length]
        if kind == b"IHDR":
            size = struct.unpack(">II", data[:8])
        elif kind == b"tEXt" and data.startswith(KEY + b"\0"):
            source = data[len(KEY) + 1 :].decode("ascii")
        elif kind == b"IEND":
            return size, source
        position += length + 12
    raise CardError("PNG 文件不完整")


def render(svg: str) -> bytes:
    """用本机的 Chromium 把 SVG 画成 PNG。

    Raises:
        CardError: 没有装 playwright 或 Chromium。
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise CardError("没有安装 playwright；先安装 requirements.txt 里的依赖") from None
    found = chromium.find()
    if found is None:
        raise CardError("没有找到 Chromium；安装它，或用环境变量 CHROMIUM 指明路径")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=dict(zip(("width", "height"), CARD_SIZE)))
        page.set_content(f"<style>body{{margin:0}}svg{{display:block}}</style>{svg}")
        png = page.screenshot()
        browser.close()
    return signed(png, svg)


def of_site(root: Path) -> str:
    """`root/mkdocs.yml` 那个网站的卡片。

    Raises:
        CardError: 没有 mkdocs.yml，或者字太长。
    """
    if not (root / "mkdocs.yml").is_file():
        raise CardError(f"{root} 里没有 mkdocs.yml；在仓库的文件夹里运行")
    from mkdocs.config import load_config

    config = load_config(str(root / "mkdocs.yml"), plugins=[], hooks=[])
    return drawing(config.site_name, config.site_description or "")


def main() -> int:
    """重画当前文件夹里那个网站的卡片。"""
    root = Path.cwd()
    target = root / "docs" / CARD
    try:
        target.write_bytes(render(of_site(root)))
    except CardError as error:
        print(f"卡片没有画成：{error}", file=sys.stderr)
        return 1
    print(f"已画出 {target.relative_to(root).as_posix()}，{target.stat().st_size} 字节")
    return 0


if __name__ == "__main__":
    sys.exit(main())
