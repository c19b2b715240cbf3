"""像第一次来的读者那样读完一页：记下取了什么、版面移动了多少、报了什么错。

测试与 benchmarks/pages.py 共用。只允许本站的请求：别的主机一律拦下，记在 `foreign` 里。
"""

from __future__ import annotations

import functools
import gzip
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from site_tools import MOUNT

#: 静态主机会压缩的文件；图片、字体与压缩包本来就是压缩过的。
TEXT = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".xml", ".txt", ".py", ".md", ".ipynb", ".wasm"}
#: 累计全部版面移动，比浏览器只取最坏的五秒更严；读者刚刚按过键的不算。
_WATCH = """
window.shifts = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    const from = entry.sources.map(source => {
      const node = source.node;
      return node ? (node.id || node.className?.baseVal || node.className || node.nodeName) : '?';
    });
    window.shifts.push([entry.value, from.join(' ')]);
  }
}).observe({ type: 'layout-shift', buffered: true });
"""

#: 一屏一屏往下看；每一屏等正在载入的和附近的部件换好，像网络不太慢的读者那样。
_READ = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const waiting = () => [...document.querySelectorAll('[data-loading]')].some(part => {
    const { top, bottom } = part.getBoundingClientRect();
    return part.dataset.loading === 'now' || top < 2.5 * innerHeight && bottom > -1.5 * innerHeight;
  });
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
    window.scrollTo({ top: y, behavior: 'instant' });
    await frame();
    if (!waiting()) continue;
    for (const end = performance.now() + 60_000; waiting() && performance.now() < end; ) await frame();
    await frame(); // 换上与滚动不在同一帧里，否则算作在眼前移动
  }
  await document.fonts.ready;
  await frame();
}"""


@dataclass
class Visit:
    """读一页的记录。`requests` 是本站的路径（去掉子路径与查询），按取的次序，一个文件只记一次。"""

    path: str
    requests: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    shifts: list[tuple[float, str]] = field(default_factory=list)
    #: 页面的宽度，CSS 像素；比视口宽就要横着滚动。
    width: int = 0

    @property
    def cls(self) -> float:
        """累计的版面移动（没有单位；0 是没有动过）。"""
        return sum(value for value, _ in self.shifts)


class Reader:
    """依次读许多页，一页一个标签页。"""

    def __init__(self, browser, url: str, width: int, **options):
        self._url = url
        # 窄屏上一页有几十屏；屏高一些，少等几十帧。
        height = 900 if width > 600 else 1600
        self.context = browser.new_context(viewport={"width": width, "height": height}, base_url=url, **options)
        self.context.add_init_script(_WATCH)
        # 有拦截时浏览器不用缓存，所以每一页都像第一次来。
        self.context.route(lambda address: not self._ours(address), lambda route: route.abort())
        self.tab = None

    def _ours(self, address: str) -> bool:
        return address.startswith((self._url, "data:", "blob:"))

    def _open(self, visit: Visit) -> None:
        """新的标签页，记在 `visit` 里；上一页的关掉，它迟来的请求与报错不会记在这一页。"""
        if self.tab:
            self.tab.close()
        self.tab = self.context.new_page()
        self._pending: set = set()
        self.tab.on("request", lambda request: self._request(request, visit))
        for event in ("requestfinished", "requestfailed"):
            self.tab.on(event, lambda request: self._pending.discard(request))
        self.tab.on("console", lambda message: message.type == "error" and visit.errors.append(message.text))
        self.tab.on("pageerror", lambda error: visit.errors.append(str(error)))

    def _request(self, request, visit: Visit) -> None:
        address = request.url
        self._pending.add(request)
        if not self._ours(address):
            visit.foreign.append(address)
        elif address.startswith(self._url):
            path = unquote(urlsplit(address).path).removeprefix(MOUNT)
            if path not in visit.requests:
                visit.requests.append(path)

    def read(self, path: str) -> Visit:
        """打开 `path`（如 `chapters/03-attention/`），从头看到尾。"""
        visit = Visit(path)
        self._open(visit)
        self.tab.goto(path, wait_until="load")
        self.tab.evaluate(_READ)
        self._settle(visit)
        visit.shifts = [tuple(shift) for shift in self.tab.evaluate("window.shifts")]
        visit.width = self.tab.evaluate("document.documentElement.scrollWidth")
        return visit

    def _settle(self, visit: Visit) -> None:
        """等到没有请求还在路上，刚取到的也画出来了。"""
        for _ in range(2000):
            self.tab.wait_for_timeout(30)
            if not self._pending:
                return
        raise AssertionError(f"{visit.path}：这些请求一直没有完成：{[each.url for each in self._pending]}")

    def close(self) -> None:
        self.context.close()


def paths(folder: Path) -> list[str]:
    """网站里的全部网页，写成网址里的路径；只把读者送到别处去的（改过名的页面）不算，404 页没有固定的地址，也不算。"""
    pages = [
        page for page in sorted(folder.rglob("index.html")) if 'http-equiv="refresh"' not in page.read_text("utf-8")
    ]
    found = [page.parent.relative_to(folder).as_posix() for page in pages]
    return ["" if path == "." else f"{path}/" for path in found]


@functools.cache
def size(file: Path) -> int:
    """传输时的字节数：文字按 gzip（6 级，常见静态主机的设置）压缩以后，别的原样；不含 HTTP 的头。"""
    if file.is_dir():
        file = file / "index.html"
    data = file.read_bytes()
    return len(gzip.compress(data, 6, mtime=0)) if file.suffix in TEXT else len(data)


def weight(folder: Path, seen: Visit, missing: str = "") -> int:
    """读这一页要传输的字节数；`missing` 是故意写错的地址，答复是 404 页。"""
    files = ["404.html" if missing and path == missing else path for path in seen.requests]
    return sum(size(folder / path) for path in files)
