"""正文里的数：绑定的要与表达式的值一致，没有来历的要报告，诚实的数不误报。"""

from __future__ import annotations

from decimal import Decimal

import pytest
from test_page_faults import fence

from livedocs import numbers

CODE = fence(
    "from types import SimpleNamespace\n"
    "w = [[1.0, 0.0], [0.33023845, 0.66976155]]\n"
    "big = 707264\nneg = -0.123\nshape = (2, 5, 4, 8)\nversion = '1.2.3'\neps = 1e-6\nlimit, answer = 0.05, 42"
)


def page(text: str) -> str:
    return f"# 页\n\n{CODE}\n{text}\n"


GOOD = [
    "泄漏的权重是 0.3302<!--= w[1][0] -->。",
    "约 33 %<!--= w[1][0] --> 的权重，或 33.02%<!--= w[1][0] -->。",
    "[0.330238, 0.669762]<!--= w[1] -->",
    "`[0.33, 0.67]`<!--= w[1] -->",
    "**0.67**<!--= w[1][1] -->",
    "共 707 264<!--= big --> 对，或 707,264<!--= big -->，或 707264<!--= big -->。",
    "差 −0.123<!--= neg -->，也就是 -0.12<!--= neg -->。",
    "$e^{0.5} \\approx 1.6487$<!--= [limit * 10, 2.718281828 ** (limit * 10)] -->",
    "$w_{10}=0.33,\\ w_{11}\\approx0.67$<!--= w[1] -->",
    "`[2, 5, 4, 8]`<!--= shape -->，[2, 5, 4, 8]<!--= shape -->",
    "版本 `1.2.3`<!--= version -->",
    "记号写成 `数<!--= 表达式 -->` 或 `数<!--given-->`。",
    "| 行 | 权重 |\n|---|---|\n| 1 | 0.67<!--= w[1][1] --> |",
    "!!! note\n\n    泄漏 0.33<!--= w[1][0] -->。",
    "- 泄漏 0.33<!--= w[1][0] -->",
    "## 小标题 0.33<!--= w[1][0] -->",
    "eps 取 1e-6<!--given-->，上限 5 %<!--given-->，代码里写 `1e-6`。",
    "隐藏宽度 768，词表 6400。[^m]\n\n[^m]: 某模型，2026 年 5 月，3.2 节，值 0.123。",
    "| 宽 | 层 |[^m]\n|---|---|\n| 768 | 16 |\n\n[^m]: 某模型，2026 年。",
    # 不是结果的数，不该要求记号
    "Python 3.11、Python 3.10–3.13、PyTorch 2.13.0、torch 2.13 与 CC BY-SA 4.0。",
    "见第 3.1 节、§3.2.1、[3.2 多头](other.md)、图 12.1。",
    "见 issue 103963 与 [PR 131060](https://example.org/131060)。",
    "2017 年，Vaswani 2017，2026-05-01。",
    "两行、3 个词元；bf16、fp32、float64、GPT-3、`x[0.5]`、`f(0.25, 1000)`。",
    "地址 http://127.0.0.1:8000/ 与 [链接](https://example.org/a/1.25?b=0.5)。",
    "<!-- 注释里的 0.123 -->",
    "### 3.1 标题的编号",
    "文字 {: #a0.5 }",
    "实验 01 与 `05-train.py`；$w_{11}=\\frac83C_{12}$；约 50 分钟。",
    "两位的整数：代码里写着 42。",
]

BAD = {
    "泄漏 0.67<!--= w[1][0] -->": ["docs/page.md:14：写的是 0.67，w[1][0] 是 0.33023845，应写 0.33", "--update-docs docs/page.md"],
    "泄漏 0.3303<!--= w[1][0] -->": ["应写 0.3302"],
    "泄漏 34 %<!--= w[1][0] -->": ["写的是 34 %", "应写 33 %"],
    "[0.67, 0.33]<!--= w[1] -->": ["写的是 0.67", "应写 0.33"],
    "[0.33]<!--= w[1] -->": ["写了 1 个数，w[1] 有 2 个"],
    "`[2, 4, 5, 8]`<!--= shape -->": ["写的是 4，shape 是 5，应写 5"],
    "共 707 265<!--= big -->": ["应写 707 264"],
    "差 0.123<!--= neg -->": ["应写 −0.123"],
    "$x=0.33,\\ y=0.66$<!--= w[1] -->": ["写的是 0.66", "应写 0.67"],
    "`1.2.4`<!--= version -->": ["写的是 1.2.4，version 是 1.2.3"],
    "泄漏 0.33<!--= nothing -->": ["nothing 不能求值：NameError"],
    "泄漏 0.33<!--= w[1 -->": ["w[1 不能求值：SyntaxError"],
    "泄漏 0.33<!--= float('nan') -->": ["不是有限的数"],
    "泄漏很多<!--= w[1][0] -->": ["前面没有紧挨着的数"],
    "泄漏 0.33。": ["docs/page.md:14：数 0.33 没有来历", "0.33<!--= 表达式 -->"],
    "泄漏 33 %。": ["数 33 % 没有来历"],
    "共 65 536 个。": ["数 65 536 没有来历"],
    "共 17 个。": ["docs/page.md:14：数 17 没有来历", "17<!--= 表达式 -->"],
    "$T=64$ 时 $T/4=16$，−16 度。": ["数 64 没有来历", "数 16 没有来历", "数 −16 没有来历"],
    "误差 1e-5 以内。": ["数 1e-5 没有来历"],
    "| 甲 |\n|---|\n| 0.5 |": ["docs/page.md:16：数 0.5 没有来历"],
    "!!! note\n\n    泄漏 0.33。": ["docs/page.md:16：数 0.33 没有来历"],
    "$x = 0.33$": ["数 0.33 没有来历"],
    "`[0.25, 0.5]`": ["数 0.25 没有来历", "数 0.5 没有来历"],
    "![替代 0.33](a.svg)": ["数 0.33 没有来历"],
    "eps 取 1e-7<!--given-->": ["1e-7 声明为给定的输入，本页的程序里却没有这个数"],
    "宽度 768。深度另有出处。[^m]\n\n[^m]: 某模型，2026 年。": ["数 768 没有来历"],
    "准确率 99.9 %[^m]。": ["数 99.9 % 没有来历"],
    "准确率 99.9 %[^m]。\n\n[^m]: 随便。": ["数 99.9 % 没有来历"],
    "误差是0.123，快3.5倍，宽度999维。": ["数 0.123 没有来历", "数 3.5 没有来历", "数 999 没有来历"],
    "快 2.5x，占 12.5GB，小于 .99，共 1_000_000，99‰。": ["数 2.5 没有来历", "数 12.5 没有来历", "数 .99 没有来历", "数 1_000_000 没有来历", "数 99‰ 没有来历"],
    "0 代表 0.5 的一半，方式 0.25，词表 9999。": ["数 0.5 没有来历", "数 0.25 没有来历", "数 9999 没有来历"],
    "列表 999，Dv 999，conv 0.99，Hidden 2048，误差:99999。": ["数 999 没有来历", "数 0.99 没有来历", "数 2048 没有来历", "数 99999 没有来历"],
    "在 Python 3.11，0.99 是权重。": ["数 0.99 没有来历"],
    "## 0.99 是权重": ["数 0.99 没有来历"],
    "注释以 `<!--` 开头，误差 0.123。": ["数 0.123 没有来历"],
    "权重 0.99 <!-- 开始\n结束 --> 又 0.98": ["数 0.99 没有来历", "数 0.98 没有来历"],
    "泄漏 0.99<!--= 0.99 -->": ["只是把数又写了一遍"],
    "泄漏 0.99<!--= float('0.99') -->": ["只是把数又写了一遍"],
    "变 1<!--= globals().update(limit=9) or w[0][0] -->": ["求值会改变页面的状态"],
    "取 0.669762<!--= w[1].pop() -->": ["求值会改变页面的状态"],
}


@pytest.mark.parametrize("text", GOOD)
def test_honest_numbers_pass(site, text):
    site.page("# 别页\n", "other.md")
    site.page(page(text))
    code, report = site.check("docs/page.md")
    assert code == 0, report


@pytest.mark.parametrize("text", BAD)
def test_wrong_or_loose_numbers_fail(site, text):
    site.page(page(text))
    code, report = site.check()
    assert code == 1, report
    for fragment in BAD[text]:
        assert fragment in report, f"报告里没有“{fragment}”：\n{report}"
    assert "Traceback" not in report


@pytest.mark.parametrize(("value", "written", "good"), [("18.75", "18.8", True), ("18.75", "18.7", False), ("0.125", "0.12", True), ("0.125", "0.13", True), ("0.1251", "0.12", False), ("2.5", "2", True), ("2.5", "3", True), ("-18.75", "-18.8", True), ("18.749999999999996", "18.8", True)])
def test_exact_ties_round_as_people_round(value, written, good):
    number, exponent, _ = numbers.decimals(written)
    assert numbers._rounds_to(Decimal(value), number, Decimal(1).scaleb(exponent)) is good


def test_front_matter_cannot_claim_a_number(site):
    site.page("---\ntitle: 页\ndescription: 准确率 99.9 %。\noutcomes: [看懂 0.33]\nminutes: 20\n---\n\n" + page("").replace("# 页\n", "# 页\n"))
    code, report = site.check()
    assert code == 1 and "description 里不能绑定数字，数 99.9 % 没有来历" in report and "outcomes 里不能绑定数字" in report


def test_value_is_taken_at_that_place(site):
    site.page(fence("x = 0.25") + "\n现在 0.25<!--= x -->。\n\n" + fence("x = 0.75") + "\n后来 0.75<!--= x -->。\n")
    code, report = site.check()
    assert code == 0, report


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("甲 0.67<!--= w[1][0] --> 乙 33 %<!--= w[1][1] -->  ", "甲 0.33<!--= w[1][0] --> 乙 67 %<!--= w[1][1] -->  "),
        ("共 111 222<!--= big --> 对", "共 707 264<!--= big --> 对"),
        ("差 −0.999<!--= neg -->", "差 −0.123<!--= neg -->"),
        ("[0.99, 0.67]<!--= w[1] -->", "[0.33, 0.67]<!--= w[1] -->"),
        ("$a=0.1,\\ b\\approx0.2$<!--= w[1] -->", "$a=0.3,\\ b\\approx0.7$<!--= w[1] -->"),
    ],
)
def test_update_rewrites_only_the_number(site, before, after):
    right = site.page(page(after)).read_bytes()
    path = site.page(page(before))
    code, report = site.check("--update-docs", "docs")
    assert code == 0, report
    assert path.read_bytes() == right
    assert site.check()[0] == 0
