"""正文里的数：绑定的要与表达式的值一致，没有来历的要报告，诚实的数不误报。"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from test_page_faults import fence

from livedocs import numbers
from livedocs.page import Line, Origin
from livedocs.program import program

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
    "$5\\,\\%$<!--= limit -->，5~%<!--= limit -->，5\u2009%<!--= limit -->。",
    "两位的整数：代码里写着 42。",
    "第 12 个、第 13 步、第 12、13 行、第 10–20 行；7 月 15 日，11 月，20 世纪 90 年代，10:30 到 11:00，16:9。",
    "约 20 秒，24 小时，12 天；32 位，64 位系统，16 px；SHA-256、RFC 2119、ISO 8601、PEP 484、HTTP 404、U+4E2D、Ubuntu 24.04、x86-64。",
    "- 宽 768[^m]\n- 层 16[^m]\n\n[^m]: 某模型，2026 年。",
    "汉字-0.123<!--= neg -->，汉字−0.123<!--= neg -->，汉字–0.12<!--= neg -->。",
    "`w<!-- -->0.5`",
    "`p = 0.33`<!--= w[1][0] -->，`w[1][0]≈0.3302`<!--= w[1][0] -->，`limit=0.05`，`pytest==9.2.0`，`T/4`，`3*4=12`<!--= 3 * 4 -->。",
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
    "是-0.33<!--= w[1][0] -->": ["写的是 -0.33，w[1][0] 是 0.33023845"],
    "是−0.33<!--= w[1][0] -->，是–0.33<!--= w[1][0] -->": ["写的是 −0.33", "写的是 –0.33"],
    "0.33<!--= w[1][0] -->7": ["注释夹在数的中间"],
    "0.33<!--= w[1][0] -->%": ["注释夹在数的中间，网页上连成另一个数：3<!--= w[1][0] -->%"],
    "1<!-- -->0.33<!--= w[1][0] -->": ["注释夹在数的中间"],
    "(1,0.9731)": ["数 0.9731 没有来历"],
    "[1,0.9731]、$(1,0.97)$": ["数 0.9731 没有来历", "数 0.97 没有来历"],
    "Python 37.2 秒，PyTorch 0.8 秒，CUDA 12.5 倍，Windows 3.7 GB": ["数 37.2 没有来历", "数 0.8 没有来历", "数 12.5 没有来历", "数 3.7 没有来历"],
    "第 99.95 百分位，图 0.97，12.5 页": ["数 99.95 没有来历", "数 0.97 没有来历", "数 12.5 没有来历"],
    "[0.9731](other.md)": ["数 0.9731 没有来历"],
    "[47 个头](other.md)": ["数 47 没有来历"],
    "## 12.5 倍的加速": ["数 12.5 没有来历"],
    "## 47 个头": ["数 47 没有来历"],
    "$x_{0.97}$": ["数 0.97 没有来历"],
    "算得 { 0.9731 }": ["数 0.9731 没有来历"],
    "- 损失是 0.8765\n- 论文里的写法[^m]\n\n[^m]: 某文，2026 年。": ["数 0.8765 没有来历"],
    "误差 1e-5 以内。": ["数 1e-5 没有来历"],
    "| 甲 |\n|---|\n| 0.5 |": ["docs/page.md:16：数 0.5 没有来历"],
    "!!! note\n\n    泄漏 0.33。": ["docs/page.md:16：数 0.33 没有来历"],
    "$x = 0.33$": ["数 0.33 没有来历"],
    "`[0.25, 0.5]`": ["数 0.25 没有来历", "数 0.5 没有来历"],
    "`loss=0.97`，`w[1] ≈ 0.5`，`3*4=0.25`": ["数 0.97 没有来历", "数 0.5 没有来历", "数 0.25 没有来历"],
    "`p = 0.67`<!--= w[1][0] -->": ["写的是 0.67，w[1][0] 是 0.33023845"],
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
    site.page("---\ntitle: 页\ndescription: 准确率 99.9 %，42 个里对了 41 个。\noutcomes: [看懂 0.33]\nminutes: 20\n---\n\n" + page("").replace("# 页\n", "# 页\n"))
    code, report = site.check()
    assert code == 1 and "description 里不能绑定数字，数 99.9 % 没有来历" in report and "outcomes 里不能绑定数字" in report
    assert "数 41 没有来历" in report and "数 42 没有来历" not in report


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
        ("占 $9\\,\\%$<!--= limit -->，`p=9 %`<!--= limit -->", "占 $5\\,\\%$<!--= limit -->，`p=5 %`<!--= limit -->"),
    ],
)
def test_update_rewrites_only_the_number(site, before, after):
    right = site.page(page(after)).read_bytes()
    path = site.page(page(before))
    code, report = site.check("--update-docs", "docs")
    assert code == 0, report
    assert path.read_bytes() == right
    assert site.check()[0] == 0


#: 像版本、编号、题目的样子写出来的结果；没有来历都要发现。
RESULTS = [
    *("PyTorch 0.97，NumPy 0.35", "| PyTorch 0.97 | NumPy 0.35 |", "PyTorch 3.7 微秒", "NumPy 3.7 s", "PyTorch 2.5×", "PyTorch 2.5x 更快"),
    *("Python 973 行代码", "PyTorch 973 token/s", "CUDA 12.5 TFLOPS", "PyTorch 45.2 TB", "SA 0.97", "Python 3.11 和 0.97 的准确率", "PyTorch 2.13 与 12.5 倍的显存"),
    *("[12.5 倍](other.md)", "[3.37 的损失](other.md)", "[12.5 GB](other.md)", "[99.5 %](other.md)", "[1.25](https://example.org)"),
    *("## 12.5 GB 的缓存", "## 16 头注意力", "## 1.25 的损失", "## 99.5 ％ 的", "## 12.5 × 加速", "## 3.5 次"),
    *("$\\varepsilon=10^{-5}$", "误差 10⁻⁵", "误差 10<sup>-5</sup>", "误差 5×10⁻⁵"),
    *("准确率 _0.97_。", "准确率 __0.97__。", "共 __1024__ 个", "共 _97_ 个"),
    *("$$\nx \\approx0.97\n$$", "$\\underbrace{d\\times d}_{589824}$", "$p_{97\\%}$", "$x \\tag{0.97}$"),
    *("占 $5\\,\\%$", "占 5\u2009%", "占 5~%"),
    *("激活等 2048 MB", "等 2000 步", "Step 2000", "Epoch 2000 步", "Hidden 2000 维", "2048-16"),
    *('!!! note "准确率 0.97"\n    出处见[^m]。\n\n[^m]: 某文，2026 年。', "## 准确率 0.97\n出处见[^m]。\n\n[^m]: 某文，2026 年。"),
    *("占 97 MB", "占 24 GB", "胜率 47:53", "见 https://example.org/a，0.97 是权重"),
    *('<img src="a.png" alt="准确率 0.97">', '<abbr title="0.97">甲</abbr>', "快 x2.5", "快 ×2.5"),
    *("表 12.5 %", "平均 2.5 节省下来", "比例 0.97，比例 97", "第 100 步"),
    *("`loss: 0.97`", "`loss=0.42, acc=0.88`", "`0.97 ms`", "`12.5GB`", "`loss <= 0.97`", "`±0.97`"),
]
#: 不是结果的数：不该要求来历。
NAMES = [
    *("本课需要 Python 3.11 以上与 PyTorch 2.13.0。", "Python 3.10、3.11 与 3.13。", "TensorFlow 2.16、cuDNN 9.1、GCC 13.2、Apache 2.0、Zensical 0.0.73、Node.js 20。", "PyTorch ≥ 2.1，NumPy < 2.0，Python（3.11），C++17。"),
    *("GPT-4o 与 GPT-3.5，Llama-3.1-8B，Llama 3.1，Phi-3.5-mini，Qwen2.5-7B，Qwen3-235B-A22B。", "RTX 4090、H100、A100-80GB；WikiText-103、ResNet-50、ViT-B/16。", "e4m3、bf16、INT8、RFC8259、x86-64。"),
    *("NeurIPS 2017 与 ICLR 2021。", "见（Vaswani 等，2017），Vaswani et al., 2017。", "2017–2024 年，2017 到 2024 年，GPT-2（2019），(Kingma & Ba, 2015)，2026/05/01。"),
    *("arXiv:1706.03762、[1706.03762](https://arxiv.org/abs/1706.03762)、DOI 10.1145/3292500.3330701、ISBN 978-7-111-64124-7。",),
    *("练习 12、例 14、算法 12、公式 3.14、由式（3.1）、见式 (12)、步骤 10、表 3-1、图 2-4。", "第 128 行、第 128 页、第 12 步。"),
    *("课程共 1.5 小时，90–120 分钟，端口是 8000，图宽 600px，10:30 到 11:45，16:9。", "提交 4e10293 引入了错误。"),
    *("![图](a.svg){ width=300 }", '![图](a.svg){ width="80%" }', "$x_{100}$，$W^{(12)}$，KaTeX 0.16、Pyodide 0.28", "$a \\\\[0.5em] b \\hspace{0.5em} c$", "误差 $10^{-6}$，即 10⁻⁶。"),
]


def loose(text: str) -> list[str]:
    lines = [Line(line, Origin(Path("page.md"), number)) for number, line in enumerate(text.split("\n"), 1)]
    code = "w = [[1.0, 0.0], [0.33023845, 0.66976155]]\neps = 1e-6\nlimit, answer = 0.05, 42\nrope_base = 10000\n"
    return [fault.message.split("\n")[0] for fault in numbers.scan_lines(lines, [1] * len(lines), program([code])).faults]


@pytest.mark.parametrize("text", RESULTS)
def test_a_result_is_no_version_or_reference(text):
    assert any("没有来历" in fault for fault in loose(text)), text


@pytest.mark.parametrize("text", NAMES)
def test_names_and_dates_need_no_source(text):
    assert loose(text) == []


@pytest.mark.parametrize("text", ["有 3<!--given->，接着 0.98。\n\n下段 973。", "0.33<!--= w[1]\n[0] -->", "上文\n\n<!-- 没有结束 0.98"])
def test_an_unfinished_mark_hides_nothing(text):
    assert any("没有写完" in fault or "没有结束" in fault for fault in loose(text))


@pytest.mark.parametrize("where", ["rope_base=1000", "w = [[1.0, 0.0], [0.33", "r = 42"])
def test_given_names_a_whole_place(where):
    number = where.split("=")[-1].split("[")[-1].strip()
    assert any("不在本页的程序里" in fault for fault in loose(f"{number}<!--given: {where}-->"))


def test_two_digits_in_a_bound_formula_need_a_source_too():
    (binding,) = numbers.scan_lines([Line("$97\\cdot 42=128$<!--= n -->", Origin(Path("page.md"), 1))], [1], program(["answer = 42"])).bindings
    assert numbers.check(binding, {"value": 128})[0] == "公式 $97\\cdot 42=128$ 里的 97 没有绑定，本页的程序里也没有这个数"
