"""中文文案：每页、notebook 的文字、README、图与模板里的字，与 `code/` 里的注释和打印的中文。"""

import json
import tomllib
from pathlib import Path

import pytest

from livedocs import prose
from livedocs.prose_terms import Terms, terms_of
from livedocs.prose_text import Source

EXCEPTIONS = Path(__file__).with_name("prose-exceptions.toml")
CHECKED = (
    *("docs/**/*.md", "docs/**/*.ipynb", "docs/figures/*.svg", "theme/**/*.html", "code/*.py"),
    *("README.md", "web/README.md", "benchmarks/README.md"),
)
TERMS = Terms(
    {"遮罩": "掩码", "嵌入": "词嵌入", "KV 缓存": "键值缓存（KV Cache）"},
    ("掩码", "词嵌入", "RoPE"),
    {"门控": ("MoE", "路由器")},
)


def faults(text: str, kind: str = "md") -> list[str]:
    """一段文字的毛病，写成“行:规则”。"""
    return [f"{fault.line}:{fault.rule}" for fault in prose.check(Source("x", text, kind=kind), TERMS)]


def test_every_page_reads_well(root: Path) -> None:
    terms = terms_of((root / "docs/reference/glossary.md").read_text(encoding="utf-8"))
    allowed = {
        (entry["file"], entry["rule"], entry["text"])
        for entry in tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["exception"]
    }
    used, found = set(), []
    paths = sorted(path for pattern in CHECKED for path in root.glob(pattern))
    assert len(paths) > 40
    for path in paths:
        name = path.relative_to(root).as_posix()
        for source in prose.sources(path, name):
            for fault in prose.check(source, terms):
                key = (name, fault.rule, fault.found)
                if key in allowed:
                    used.add(key)
                else:
                    found.append(str(fault))
    assert not found, f"{len(found)} 处文案要改；真的不该改的，写进 {EXCEPTIONS.name} 并说明原因：\n" + "\n".join(found)
    assert used == allowed, f"这些例外没有用到，从 {EXCEPTIONS.name} 里删掉：{allowed - used}"


def test_each_exception_gives_its_reason() -> None:
    entries = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["exception"]
    assert all(len(entry["why"]) > 5 for entry in entries)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("先加遮罩，再做 softmax。", "旧称"),
        ("查表得到嵌入。", "旧称"),
        ("MoE 的门控给专家打分。", "旧称"),
        ("用 Pytorch 写 rope。", "名字的写法"),
        ("**重点：**后面", "粗体里的标点"),
        ("句末的**重点。**", "粗体里的标点"),
        ("先做这一步,再做那一步。", "半角标点"),
        ("因果掩码(不许看未来)有用。", "半角标点"),
        ("到此为止.", "半角标点"),
        ("用 `x`,然后再做。", "半角标点"),
        ("公式 $x$; 然后再做。", "半角标点"),
        ("**重点**:后面", "半角标点"),
        ('他说"可以"。', "半角标点"),
        ("等一等...", "半角标点"),
        ("这是注意力的的权重。", "重复"),
        ("第一步，，第二步。", "重复"),
        ("see the the mask。", "重复"),
        ("注意力权重注意力权重。", "重复"),
        ("一个“引号没有结束。", "配对"),
        ("没有开头）的括号。", "配对"),
        ("“套（错”了）。", "配对"),
        ("零宽\u200b空格。", "字符"),
        ("全角的２个。", "字符"),
        ("# 标题¶", "字符"),
        ("见 http://example.com/a 一文。", "外部链接"),
        ("见 [文章](https://example.com/a?utm_source=x)。", "外部链接"),
        ("见 https://example.com/a. 然后", "外部链接"),
        ("见 [文章](https://example.com/注意力)。", "外部链接"),
        ("用PyTorch写。", "排版"),
        ("第 2 行,测试", "排版"),
    ],
)
def test_each_rule_finds_its_own_kind_of_fault(text: str, rule: str) -> None:
    assert rule in {found.partition(":")[2] for found in faults(text)}


@pytest.mark.parametrize(
    "text",
    [
        "**重点**：词嵌入（embedding）与“掩码”。",
        "讲 MoE 的一段。\n\n没有门控的前馈网络。",
        "命令 `python`，网址 https://example.com/python/rope 里的一页。",
        "代码 `a,b` 与 `“` 不算，公式 $[0, 1)$ 也不算。",
        "```{.text .output}\n形状:(2, 3)，遮\n```",
        "数 0.5<!--= f('”') --> 与 1<!--given: (x-->。",
        "见 [文章](https://example.com/a(b)?page=2) 与 http://127.0.0.1:8000 里的网页。",
        "> - 列表里的“引号”\n> - 另一项（括号）",
        "| 甲 | 乙 |\n|---|---|\n| “一” | （二） |",
        "点积是 $\\cos$(位置差 × 转速)。",
        "慢慢看，一个一个数；可以可以。",
        '<lab-record markdown="block">\n\n| [甲](#a)与[乙](#b) |\n| --- |\n',
    ],
)
def test_what_is_right_is_left_alone(text: str) -> None:
    assert faults(text) == []


def test_a_report_names_the_line_and_what_to_do(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# 题\n\n```{.python .run}\nx = 1\n# 甲\n# 遮罩\n```\n\n```text\n遮\n```\n\n一段遮罩。\n", encoding="utf-8"
    )
    reports = [str(f) for source in prose.sources(page, "page.md") for f in prose.check(source, TERMS)]
    advice = "本站的叫法是“掩码”（见术语表的旧称）"
    assert sorted(reports) == [f"page.md:13：旧称：遮罩\n    {advice}", f"page.md:6：旧称：遮罩\n    {advice}"]


def test_a_report_on_a_notebook_names_the_cell(tmp_path: Path) -> None:
    notebook = tmp_path / "n.ipynb"
    cells = [{"cell_type": "code", "source": "遮罩 = 1"}, {"cell_type": "markdown", "source": ["# 题\n", "遮罩\n"]}]
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    [found] = [f for source in prose.sources(notebook, "n.ipynb") for f in prose.check(source, TERMS)]
    assert (found.where, found.line, found.found) == ("n.ipynb 第 2 个单元", 2, "遮罩")


def test_words_in_pictures_and_templates_are_read(tmp_path: Path) -> None:
    picture = tmp_path / "p.svg"
    picture.write_text("<svg>\n<text>遮罩 &lt; 1</text>\n<text>{{ 遮罩 }}</text></svg>", encoding="utf-8")
    found = [(f.line, f.rule) for source in prose.sources(picture, "p.svg") for f in prose.check(source, TERMS)]
    assert found == [(2, "旧称")]


def test_comments_and_strings_of_scripts_are_read_and_code_is_not(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(
        '"""用PyTorch写。"""\n遮罩 = {1: 2}  # 遮罩\nprint(f"长度: {遮罩}", "(查询, 键)")\nprint("宽度:", 1)\n',
        encoding="utf-8",
    )
    found = [(f.line, f.rule) for source in prose.sources(script, "s.py") for f in prose.check(source, TERMS)]
    assert found == [(1, "排版"), (2, "旧称"), (3, "半角标点"), (4, "半角标点")]


def test_retired_names_come_from_the_glossary(root: Path) -> None:
    terms = terms_of((root / "docs/reference/glossary.md").read_text(encoding="utf-8"))
    assert terms.retired["遮罩"] == "掩码"
    assert terms.retired["KV 缓存"] == "键值缓存（KV Cache）"
    # 有范围的旧称另外检查；本站的术语本身不能是旧称。
    assert "门控" not in terms.retired
    assert terms.scoped["门控"] == ("MoE", "路由器")
    assert not set(terms.retired) & set(terms.current)
    assert {"词嵌入", "键值缓存", "KV Cache", "RoPE"} <= set(terms.current)


def test_a_glossary_without_retired_names_is_an_error() -> None:
    with pytest.raises(ValueError, match="没有“旧称”一节"):
        terms_of("# 术语表\n\n## 旧称 {#retired}\n\n没有表。\n")


def test_long_sentences_are_only_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("短句。\n\n" + "很长" * 41 + "。`" + "x" * 90 + "`。\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert prose.main() == 0
    shown = capsys.readouterr().out
    assert shown.startswith("docs/a.md:3：长句：")
    assert "有 82 个字" in shown
    assert shown.count("长句") == 1
