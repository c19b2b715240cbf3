"""变化的轻重：哪些是舍入，哪些是意义。"""

from __future__ import annotations

import pytest

from livedocs.changes import Kind, classify, line_changes, only_versions

ROUNDING = [
    ("0.3302", "0.3303"),  # 恰在舍入边界上
    ("权重约为0.2500。", "权重约为0.2501。"),  # 中文不隔开也认得
    ("33.1 %", "33.2 %"),
    ("约 −0.333", "约 −0.334"),
    ("[1.0000, 2.0000]", "[1.0000, 2.0001]"),
    ("0.123456789012", "0.123456789199"),  # 位数多，差却只是噪声
    ("1.0000002e-3", "1.0000003e-3"),
    (" 0.0000", "-0.0000"),
    ("a  9.999 b", "a 10.000 b"),  # 对齐用的空格随着变
]
MEANING = [
    ("[2, 5, 4, 8]", "[2, 5, 8, 4]"),
    ("形状 [2, 5]", "形状 [2, 5, 1]"),
    ("共 7 个", "共 8 个"),
    ("100000", "100001"),
    ("0.3302", "0.3402"),
    ("0.3", "0.4"),  # 末位一个单位，却差四分之一
    ("0.0000", "0.0001"),  # 0 不再是 0
    ("1.19e-07", "2.38e-07"),
    ("0.5", "-0.5"),
    ("0.30", "0.3"),
    ("0.0001", "1e-4"),
    ("nan", "0.0"),
    ("inf", "nan"),
    ("2.4.6", "2.4.5"),
    ("x1.5", "x1.6"),
    ("a b", "a  b"),
    ("0.1  0.2 ", "0.1 0.2"),
    ("通过", "不通过"),
    ("ValueError: 第 1 行", "ValueError: 第 1 行为空"),
    ("[0.5, 0.1]", "[0.1, 0.5]"),
    ("0.5\n", "0.5"),
    ("", "0.5"),
]


@pytest.mark.parametrize(("old", "new"), ROUNDING)
def test_rounding(old, new):
    for a, b in ((old, new), (new, old)):
        verdict = classify(a, b)
        assert verdict.kind is Kind.ROUNDING and "相对差" in verdict.reason


@pytest.mark.parametrize(("old", "new"), MEANING)
def test_meaning(old, new):
    for a, b in ((old, new), (new, old)):
        verdict = classify(a, b)
        assert verdict.kind is Kind.MEANING and verdict.reason


def test_one_meaning_among_roundings_is_meaning():
    assert classify("0.3302 0.5000", "0.3303 0.6000").reason.startswith("数不同：0.5000 变成 0.6000")


def test_the_same_is_the_same():
    assert classify("0.5", "0.5").kind is Kind.SAME and line_changes(["a"], ["a"]) == []


def test_lines_of_equal_number_are_paired():
    changes = line_changes(["a", "0.3302", "c"], ["a", "0.3303", "d"])
    assert [(c.offset, c.verdict.kind) for c in changes] == [(1, Kind.ROUNDING), (2, Kind.MEANING)]


def test_lines_that_come_and_go_are_meaning():
    [change] = line_changes(["a", "b"], ["a", "x", "b"])
    assert (change.offset, change.old, change.new, change.verdict.reason) == (1, "", "x", "多了文字")
    [change] = line_changes(["a", "b"], ["b"])
    assert (change.offset, change.old, change.verdict.reason) == (0, "a", "少了文字")
    changes = line_changes(["0.3302", "a"], ["0.3303", "b", "c"])
    assert all(change.verdict.kind is Kind.MEANING for change in changes)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("numpy==2.4.6", "numpy==2.4.5", True),
        ("用2.4.6版。", "用2.4.5版。", True),
        ("12.4.6", "12.4.5", False),
        ("2.4.6.1", "2.4.5.1", False),
        ("2.4.6 旧", "2.4.5 新", False),
        ("2.4.6", "2.4.6", False),
    ],
)
def test_version_numbers(old, new, expected):
    assert only_versions(old, new, {"2.4.6": "2.4.5"}) is expected


def test_short_versions_may_be_results():
    assert not only_versions("3.1", "3.2", {"3.1": "3.2"})
