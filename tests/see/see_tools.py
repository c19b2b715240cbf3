"""测试互动图示用的工具。"""

from __future__ import annotations

import re

#: 互动图示 → 它所在的网页。
PAGES = {
    "attention-explorer": "chapters/03-1-attention-pipeline/",
    "head-shapes": "chapters/03-2-multi-head-shapes/",
    "rope-rotation": "chapters/03-attention/",
    "kv-cache": "chapters/03-3-kv-cache/",
}

#: 课文里的例子，载入时那一句话。
STARTS = {
    "attention-explorer": "第 1 步，点积。查询 q1 与键 k0 的点积是 0。",
    "head-shapes": "投影：编号 21 在 [0, 2, 5]，由词元 2 的 8 个输入通道与权重的第 5 行算出；别的词元没有参与。",
    "rope-rotation": "查询在位置 5，键在位置 2，m − n = 3。点积：前后配对 −3.584，相邻配对 −1.073。只要 m − n 不变，这两个数就不变。",
    "kv-cache": "预填充：一次送进 4 个词元。算 t0 到 t3 的 K、V，存进缓存。4 个查询对 4 个键，16 个分数。"
    "到此合计，投影 4 个词元（没有缓存 4 个），分数 16 个（没有缓存 16 个）。",
}


class Element:
    """网页上的一个互动图示。"""

    def __init__(self, tab, name: str):
        self.tab, self.name, self.host = tab, name, tab.locator(name)
        self.host.scroll_into_view_if_needed()
        self.host.locator(".see").wait_for()

    def find(self, selector: str):
        return self.host.locator(selector)

    def said(self) -> str:
        """aria-live 里的那一句话。"""
        return self.find(".say").inner_text()

    def error(self) -> str:
        return self.find(".error").inner_text()

    def button(self, name: str):
        return self.host.get_by_role("button", name=name, exact=True)

    def label(self, name: str):
        return self.host.get_by_label(name, exact=True)

    def state(self) -> str:
        """网址里的状态，等它写进去。"""
        self.tab.wait_for_url(re.compile(rf"[?&]{self.name}="))
        return re.search(rf"[?&]{self.name}=([^&#]*)", self.tab.url).group(1)

    def wait_forgotten(self) -> None:
        """等网址里没有状态。"""
        self.tab.wait_for_url(re.compile(rf"^(?!.*[?&]{self.name}=)"))

    def focused(self, attribute: str) -> str | None:
        """影子树里得到焦点的元素的一个属性。"""
        return self.host.evaluate("(host, name) => host.shadowRoot.activeElement?.getAttribute(name)", attribute)

    def again(self, state: str) -> None:
        """换一个网址，让元素重新进入页面。"""
        self.host.evaluate(
            """(host, query) => {
                history.replaceState(null, '', location.pathname + query);
                host.replaceWith(host.cloneNode(true));
            }""",
            f"?{self.name}={state}",
        )
        self.host.locator(".see").wait_for()
