"""全部测试共用的：没有运行就是失败的守卫，只构建一次的整站，唯一的一个浏览器。

设了环境变量 ``CI`` 时，没有运行的测试就是失败。

跳过（skip）、预期失败（xfail、xpass）与被选择条件排除（deselect）的测试，
都会让这次运行变红，并在结尾逐个列出。不设 ``CI`` 时什么也不做。
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from site_tools import ROOT, Site, SiteServer, whole_site

import livedocs
from livedocs import chromium as browsers

#: 浏览器自己不联网，也不需要显卡。
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


def pytest_configure(config: pytest.Config) -> None:
    """登记守卫；在主进程里开始提供整站。

    不直接写成 conftest 的钩子：conftest 的钩子只管自己目录下的测试，守卫还要管 docs/。
    """
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        config.pluginmanager.register(NothingSkipped(), "nothing-skipped")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SiteServer(), "site-server")


class NothingSkipped:
    """收集没有运行的测试；有一个就让退出码不为 0。"""

    def __init__(self) -> None:
        self.missed: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """一个测试的结果：跳过与预期失败都记下。"""
        if hasattr(report, "wasxfail"):
            self.missed[report.nodeid] = f"标记为预期失败：{report.wasxfail}"
        elif report.skipped:
            self.missed[report.nodeid] = f"跳过：{skip_reason(report)}"

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """一个文件的收集结果：整个文件跳过也记下。"""
        if report.skipped:
            self.missed[report.nodeid] = f"跳过：{skip_reason(report)}"

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """被 ``-k``、``-m`` 等排除的测试。"""
        self.missed.update((item.nodeid, "被选择条件排除") for item in items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """pytest-xdist 的一个工作进程结束：取回它排除的测试。"""
        self.missed.update(getattr(node, "workeroutput", {}).get("missed", {}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """把“全部通过”改为失败；工作进程则交出记录。"""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["missed"] = self.missed
        elif self.missed and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """逐个列出没有运行的测试。"""
        if self.missed:
            terminalreporter.section("没有运行的测试（设了 CI，所以算失败）", red=True)
            for nodeid, reason in sorted(self.missed.items()):
                terminalreporter.line(f"{nodeid}：{reason}")


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """跳过的理由；pytest 把它放在 (文件, 行, 理由) 里。"""
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


#: 构建和预览网站时不许导入的包：装没装都不能用到。
BLOCKER = """
import sys

class Blocked:
    names = {"torch", "numpy", "matplotlib", "ipykernel"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ImportError(f"构建网站时不该导入 {name}")

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(scope="session")
def environment(tmp_path_factory) -> dict[str, str]:
    """运行 mkdocs 的环境：不许导入 torch 等，不带外面设的网址和通知开关。"""
    folder = tmp_path_factory.mktemp("blocker")
    assert Path(livedocs.__file__).is_relative_to(ROOT), (
        f"测的是别处装的 livedocs：{livedocs.__file__}；在这个文件夹里重新 pip install -e ."
    )
    (folder / "sitecustomize.py").write_text(BLOCKER, encoding="utf-8")
    dropped = ("SITE_URL", "REPO_URL", "NO_MKDOCS_2_WARNING", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "PYTHONUTF8": "1"}


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest, environment: dict[str, str]) -> Site:
    """严格构建的整站，用 HTTP 在子路径 /repo/ 下提供，像部署时那样带着内容安全策略。"""
    if hasattr(request.config, "workerinput"):
        place = request.config.workerinput["site"]
    else:
        place = request.config.pluginmanager.get_plugin("site-server").place
    return whole_site(place, environment)


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """Chromium；一个进程里只能有一个 Playwright，所以各处的测试共用它。"""
    path = browsers.find()
    if path is None:
        message = "没有找到 Chromium，浏览器里的检查没有运行；安装它，或用环境变量 CHROMIUM 指明路径"
        if os.environ.get("CI", "").lower() not in ("", "0", "false"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import expect, sync_playwright

    # 只有失败时才等满：忙的机器上，没有联网的解释器也要几十秒才载入。
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
