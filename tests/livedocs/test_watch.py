"""边写边核对：保存一个文件，用到它的页面就有了新的结论。"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import pytest
from site_tools import ROOT
from test_page_faults import fence

from livedocs import watch
from livedocs.project import load_project

SCRIPT = "# --8<-- [start:add]\ndef add(a, b):\n    return a + b\n# --8<-- [end:add]\n"
SNIPPET = '--8<-- "code/demo.py:add"\nprint(add(1, 2))'


@pytest.fixture
def written(site):
    """一页用到脚本的片段，一页没有。"""
    site.script(SCRIPT)
    site.page("# 用到\n\n" + fence(SNIPPET, output="3") + "\n一共 3.5<!--= add(1, 2.5) -->。\n", "uses.md")
    site.page("# 没有用到\n\n" + fence("print(1)", output="1"), "alone.md")
    return site


def test_a_file_touches_the_pages_that_show_it(written):
    docs = written.root / "docs"
    pages = watch.Pages(load_project(written.root))
    assert pages.touched({(written.root / "code/demo.py").resolve()}) == [(docs / "uses.md").resolve()]
    assert pages.touched({(docs / "alone.md").resolve()}) == [(docs / "alone.md").resolve()]
    assert pages.touched({(written.root / "code/other.py").resolve()}) == []
    written.page("# 也用到\n\n" + fence(SNIPPET, output="3"), "alone.md")
    pages.touched({(docs / "alone.md").resolve()})
    assert len(pages.touched({(written.root / "code/demo.py").resolve()})) == 2


def test_bundled_scripts_and_figures_count():
    """真的页面：一页的脚本并入了别的脚本的片段，正文里有插图。"""
    found = watch.files_of(ROOT / "docs/chapters/03-attention.md", load_project(ROOT))
    names = {path.relative_to(ROOT).as_posix() for path in found}
    assert {"docs/chapters/03-attention.md", "code/03-attention-demo.py", "docs/figures/rope-rotation.svg"} <= names
    demo = watch.files_of(ROOT / "docs/examples/05-train-poems-demo.md", load_project(ROOT))
    assert ROOT / "code/05-transformer-block-demo.py" in demo


class Watching:
    """`python -m livedocs.watch` 的一个进程，和它写出的结论。"""

    def __init__(self, root):
        self.report = root.parent / f"{root.name}-verdicts.json"
        command = [sys.executable, "-u", "-m", "livedocs.watch", "--report", str(self.report)]
        self.process = subprocess.Popen(
            command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        self.said: list[str] = []
        threading.Thread(target=lambda: self.said.extend(self.process.stdout), daemon=True).start()
        self.wait(lambda: any("等你保存" in line for line in self.said))

    def wait(self, condition) -> None:
        end = time.monotonic() + 60
        while not condition():
            assert self.process.poll() is None and time.monotonic() < end, "".join(self.said)
            time.sleep(0.05)

    def verdict(self, page: str):
        return json.loads(self.report.read_text(encoding="utf-8")).get(page) if self.report.exists() else None


def test_saving_a_file_gives_the_verdict_of_the_pages_that_use_it(written):
    watching = Watching(written.root)
    try:
        written.script(SCRIPT.replace("a + b", "a * b"))
        # 写文件先清空再写：停在中间久了，会先核对一次空的，接着再核对写完的。
        wanted = "docs/uses.md:8：输出与文档不一致", "写的是 3.5，add(1, 2.5) 是 2.5"
        watching.wait(lambda: all(part in "\n".join(watching.verdict("docs/uses.md") or []) for part in wanted))
        assert watching.verdict("docs/alone.md") is None
        written.script(SCRIPT)
        watching.wait(lambda: watching.verdict("docs/uses.md") == [])
        watching.wait(lambda: "✓ docs/uses.md：3 项全部通过" in "".join(watching.said))
        written.page("# 用到\n\n```python\nprint(1\n", "uses.md")
        watching.wait(lambda: watching.verdict("docs/uses.md"))
    finally:
        watching.process.kill()
        watching.process.wait()


def test_the_preview_answers_with_the_verdicts_of_its_addresses(tmp_path):
    report = tmp_path / "verdicts.json"
    report.write_text(json.dumps({"docs/a.md": ["坏"], "docs/gone.md": []}), encoding="utf-8")
    app = watch.answering(lambda environ, start: [b"page"], report, {"docs/a.md": "a/"})
    seen = []
    body = b"".join(app({"PATH_INFO": f"/repo/{watch.ADDRESS}"}, lambda status, headers: seen.append(status)))
    assert seen == ["200 OK"] and json.loads(body) == {"a/": ["坏"]}
    assert app({"PATH_INFO": "/repo/a/"}, None) == [b"page"]


def test_the_banner_shows_the_verdict_of_the_page(chromium, tmp_path):
    """在真的浏览器里：没有核对过的页面没有这一条，核对过的写着结论，结论变了跟着变。"""
    verdicts = {"a/": ["docs/a.md:3：输出与文档不一致"]}
    page = watch.banner("<html><body><p>正文</p></body></html>", f"../{watch.ADDRESS}")
    tab = chromium.new_page()
    try:
        tab.route(
            "**/*",
            lambda route: (
                route.fulfill(json=verdicts)
                if watch.ADDRESS in route.request.url
                else route.fulfill(body=page, content_type="text/html; charset=utf-8")
            ),
        )
        tab.goto("http://preview.invalid/repo/b/")
        tab.wait_for_timeout(300)
        assert tab.locator("#livedocs-verdict").is_hidden()
        tab.goto("http://preview.invalid/repo/a/")
        tab.get_by_text("docs/a.md:3：输出与文档不一致").wait_for()
        verdicts["a/"] = []
        tab.get_by_text("这一页核对过，全部通过").wait_for()
        assert tab.get_by_role("status").evaluate("e => getComputedStyle(e).position") == "fixed"
    finally:
        tab.close()


def test_outside_a_project(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "livedocs.watch"], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60
    )
    assert done.returncode == 2 and "都没有 mkdocs.yml" in done.stderr
