"""每一页：axe 在浅色与深色下都没有意见，代码的颜色看得清，窄屏不横向滚动，不想看动画的人看不到动画。

一页只载入一次，几样一起看。axe 的全部规则都开着（最佳实践也在内），没有例外。axe 的用时随元素数增长，所以先减少元素：

- 代码里的每个词是一个元素，一页上万个：颜色由 `COLOURS` 自己量，量完把代码并成整段文字。公式同样；
  每个公式都有给读屏软件的 MathML，由 tests/site/test_html.py 检查。
- 与颜色有关的规则最慢，而对比度只由字的颜色、底色、字号、粗细决定：`THIN` 把两种主题下都与前面某处完全相同的段落藏起来，
  每一种样子留一处给 axe。
"""

from __future__ import annotations

import pytest
from reader_tools import LESSON, addresses, axe_source, mount_widgets, set_scheme

#: 分成几份，好让几个进程分着做。
PARTS = 4
SCHEMES = {"default": "浅色", "slate": "深色"}

#: 代码里每一种（字的颜色, 底色）的对比度；底色取最近的不透明的一层。
COLOURS = """() => {
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const back = element => {
        for (let at = element; at; at = at.parentElement) {
            const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
            if (a === 1) return [r, g, b];
        }
        return [255, 255, 255];
    };
    const found = new Map();
    for (const code of document.querySelectorAll('pre code')) {
        const behind = back(code);
        for (const token of [code, ...code.querySelectorAll('span')]) {
            const colour = getComputedStyle(token).color;
            const key = `${colour} 在 rgb(${behind}) 上`;
            if (found.has(key)) continue;
            const [one, other] = [light(parse(colour)), light(behind)].sort((a, b) => b - a);
            found.set(key, [(one + 0.05) / (other + 0.05), token.className, token.textContent.slice(0, 20)]);
        }
    }
    return [...found].filter(([, [ratio]]) => ratio < 4.5).map(([key, [ratio, ...rest]]) => `${key}：${ratio.toFixed(2)}（${rest}）`);
}"""
#: 把匹配的元素里的东西并成文字。
FLATTEN = "selector => document.querySelectorAll(selector).forEach(one => { one.textContent = one.textContent; })"
CODE, FORMULAS = "pre code", ".katex-html, .katex-mathml"
THIN = """schemes => {
    const own = one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    const back = one => {
        for (let at = one; at; at = at.parentElement) {
            const { backgroundColor, backgroundImage } = getComputedStyle(at);
            if (backgroundImage !== 'none' || !/, 0\\)$|transparent/.test(backgroundColor)) return backgroundColor + backgroundImage;
        }
    };
    const looks = new Map([...document.querySelectorAll('body *')].filter(own).map(one => [one, one.localName]));
    for (const scheme of schemes) {
        document.body.setAttribute('data-md-color-scheme', scheme);
        for (const [one, look] of looks) {
            const { color, fontSize, fontWeight, opacity, textDecorationLine } = getComputedStyle(one);
            looks.set(one, [look, color, fontSize, fontWeight, opacity, textDecorationLine, back(one)].join());
        }
    }
    const blocks = new Map();
    for (const [one, look] of looks) {
        const block = one.closest('p, li, tr, pre, h1, h2, h3, h4, dt, dd, summary, figcaption');
        if (block) blocks.set(block, (blocks.get(block) ?? []).concat(look));
    }
    const seen = new Set(), kept = new Set();
    for (const [block, found] of blocks) {
        if (found.some(look => !seen.has(look))) {
            found.forEach(look => seen.add(look));
            kept.add(block);
        }
    }
    for (const block of blocks.keys()) if (![...kept].some(one => block.contains(one))) block.style.display = 'none';
}"""
#: 会动、会渐变超过 0.01 秒的元素，影子树里的也算。
MOVING = """() => {
    const moving = new Set();
    const seconds = text => Math.max(...text.split(',').map(one => parseFloat(one) * (one.trim().endsWith('ms') ? 0.001 : 1)));
    const walk = root => {
        for (const element of root.querySelectorAll('*')) {
            for (const pseudo of [null, '::before', '::after']) {
                const style = getComputedStyle(element, pseudo);
                const animated = style.animationName !== 'none' ? seconds(style.animationDuration) : 0;
                if (Math.max(animated, seconds(style.transitionDuration), seconds(style.transitionDelay)) > 0.01)
                    moving.add(`${element.localName}.${element.className}${pseudo ?? ''}`);
                if (style.scrollBehavior === 'smooth') moving.add(`${element.localName} 平滑滚动`);
            }
            if (element.shadowRoot) walk(element.shadowRoot);
        }
    };
    walk(document);
    return [...moving].slice(0, 8);
}"""
WIDER = """() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('article *')].filter(one => one.getBoundingClientRect().right > width + 1)
        .slice(0, 3).map(one => `${one.localName}.${one.className}`).concat(`${document.documentElement.scrollWidth}px`);
}"""


def look(tab, path: str, axe: str) -> list[str]:
    """打开一页，返回全部问题。"""
    faults = []
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.goto(path)
    mount_widgets(tab)
    tab.evaluate(axe + "; undefined")
    for scheme, name in SCHEMES.items():
        set_scheme(tab, scheme)
        faults += [f"{name}的代码颜色：{one}" for one in tab.evaluate(COLOURS)]
    tab.evaluate(FLATTEN, CODE)
    for width in (390, 320):
        tab.set_viewport_size({"width": width, "height": 800})
        faults += [f"{width} px 宽横向滚动：{one}" for one in tab.evaluate(WIDER)]
    tab.set_viewport_size({"width": 1280, "height": 900})
    tab.evaluate(FLATTEN, FORMULAS)
    faults += [f"动画：{one}" for one in tab.evaluate(MOVING)]
    faults += opinions(tab)
    return [f"/{path} {fault}" for fault in faults]


def opinions(tab) -> list[str]:
    """axe 对打开着的网页的全部意见，两种主题。"""
    set_scheme(tab, "default")
    found = violations(tab, "rules: {'color-contrast': {enabled: false}, 'link-in-text-block': {enabled: false}}")
    tab.evaluate(THIN, list(SCHEMES))
    for scheme, name in SCHEMES.items():
        set_scheme(tab, scheme)
        only = "runOnly: {type: 'rule', values: ['color-contrast', 'link-in-text-block']}"
        found += [f"{name}：{one}" for one in violations(tab, only)]
    return found


def violations(tab, options: str) -> list[str]:
    """按 `options` 运行一次 axe。"""
    result = tab.evaluate(f"axe.run(document, {{ {options}, resultTypes: ['violations'] }})")
    return [
        f"{rule['id']}：{node['target']} {node['failureSummary']}"
        for rule in result["violations"]
        for node in rule["nodes"][:3]
    ]


@pytest.mark.parametrize("part", range(PARTS))
def test_every_page_is_accessible_and_fits(open_tab, site, part):
    tab, axe = open_tab(), axe_source()
    faults = []
    for path in addresses(site)[part::PARTS]:
        faults += look(tab, path, axe)
    assert not faults, "\n".join(faults)


def test_what_opens_on_demand_is_accessible_too(open_tab):
    """搜索的结果、术语的解释、键盘操作的表、手机上的目录：打开之后再看。"""
    tab = open_tab()
    tab.goto(LESSON)
    tab.evaluate(axe_source() + "; undefined")
    tab.evaluate(FLATTEN, f"{CODE}, {FORMULAS}")

    tab.locator("a.term").first.hover()
    tab.locator(".term-note").wait_for()
    faults = [f"术语的解释：{one}" for one in opinions(tab)]
    tab.mouse.move(2, 400)
    tab.keyboard.press("?")
    tab.locator(".keys-help").wait_for()
    faults += [f"键盘操作：{one}" for one in opinions(tab)]
    tab.keyboard.press("Escape")
    tab.locator(".keys-help").wait_for(state="detached")  # 表没有关好，按键还归它
    tab.keyboard.press("/")
    tab.keyboard.insert_text("softmax")  # 一次写入，结果只出来一次
    tab.locator(".md-search-result__item mark").first.wait_for()  # 取索引时先有一条“正在取”
    faults += [f"搜索的结果：{one}" for one in opinions(tab)]
    tab.keyboard.press("Escape")
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.locator(".md-header label[for=__drawer]").click()
    tab.locator(".md-sidebar--primary a").first.wait_for()
    faults += [f"手机上的目录：{one}" for one in opinions(tab)]
    assert not faults, "\n".join(faults)


def test_a_faulty_page_is_noticed(open_tab):
    """每一种检查都真的看得出毛病。"""
    tab = open_tab()
    tab.goto("404.html")
    tab.evaluate("""() => {
        const sample = document.createElement('div');
        sample.innerHTML = '<p><font color="#bbbbbb">看不清</font></p><pre><code><span><font></font></span></code></pre><div id="wide">宽</div><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">';
        document.querySelector('article').append(sample);
        sample.querySelector('code').style.color = '#9a9a9a';
        sample.querySelector('#wide').style.width = '900px';
        sample.querySelector('#wide').style.setProperty('transition', 'color 1s', 'important');
    }""")
    tab.evaluate(axe_source() + "; undefined")
    assert len(tab.evaluate(COLOURS)) == 1
    assert tab.evaluate(MOVING)
    tab.set_viewport_size({"width": 390, "height": 800})
    assert tab.evaluate(WIDER)
    found = opinions(tab)
    assert any(fault.startswith("image-alt") for fault in found)
    assert any(fault.startswith("浅色：color-contrast") for fault in found)
    assert not any(fault.startswith("深色：color-contrast") for fault in found), "同样的字在深色下是看得清的"
