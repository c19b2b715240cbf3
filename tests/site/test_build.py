"""整站构建、预览本身：没有警告，不碰 torch，不打广告。"""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from site_tools import ROOT

from livedocs.project import load_project


def test_the_strict_build_has_no_warning(site):
    assert "WARNING" not in site.log
    assert "Documentation built" in site.log


def test_the_build_prints_no_upgrade_notice(site):
    assert "Zensical" not in site.log
    assert "end of life" not in site.log
    assert "Building prefix dict" not in site.log


def test_every_page_of_docs_is_built(site):
    docs = load_project(ROOT).docs
    for source in [*docs.rglob("*.md"), *docs.rglob("*.ipynb")]:
        path = source.relative_to(docs).with_suffix("")
        page = path.with_name("index.html") if path.name == "index" else path / "index.html"
        assert (site.folder / page).is_file(), source


def test_site_and_repo_address_default_to_none(project):
    html = project.build("# 首页\n\n正文。\n")
    assert "canonical" not in html
    assert "md-source" not in html


def test_serve_answers_without_torch(environment):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    try:
        page = wait_for(f"http://127.0.0.1:{port}/labs/01-single-head-attention/", server)
        assert 'class="katex"' in page
    finally:
        server.terminate()
        output, _ = server.communicate(timeout=20)
    assert "Zensical" not in output
    assert "WARNING" not in output


def wait_for(url: str, server: subprocess.Popen, seconds: float = 60) -> str:
    """等到预览能回答为止，返回那一页。"""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert server.poll() is None, server.stdout.read()
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                return response.read().decode("utf-8")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.2)
    raise AssertionError(f"预览没有在 {seconds} 秒内回答")
