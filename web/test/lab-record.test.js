import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, judgeRow, observedText, toMarkdown } from "../src/lab-record/record.js";

const good = { label: "第 1 段代码", code: "print(1)\n", printed: "1\n", error: "", edited: false, passed: true, held: true };
const row = (/** @type {any[]} */ ...observed) => ({ name: "实验 | 一", condition: "都成立", observed });

test("判定：全部通过才通过；改过的只看断言", () => {
  assert.equal(judgeRow(row(null)), "还没有运行");
  assert.equal(judgeRow(row(good, null)), "运行了 1 / 2 段");
  assert.equal(judgeRow(row(good, good)), "通过");
  assert.equal(judgeRow(row(good, { ...good, passed: false })), "没有通过");
  assert.equal(judgeRow(row({ ...good, edited: true, passed: false })), "通过（代码改过）");
  assert.equal(judgeRow(row({ ...good, edited: true, held: false })), "没有通过");
});

test("观察到的：打印的内容，或异常的最后一行", () => {
  const failed = { ...good, printed: "", error: "ValueError: 不行", passed: false };
  assert.equal(observedText(row(good, failed)), "1\nValueError: 不行");
});

test("改动：说明文字、注释、没有重新定义的函数不算", () => {
  const kinds = (/** @type {string} */ a, /** @type {string} */ b) => changeOf(a, b).map(({ kind, text }) => kind[0] + text);
  assert.deepEqual(kinds("def show(x):\n    print(x)\n\n\ny = f(a)\n", "y = f(a, causal=False)\n"), ["ry = f(a)", "ay = f(a, causal=False)"]);
  const before = 'def f(x):\n    """说明\n\n    更多"""\n    m = max(x)\n    return m  # [T]\n';
  assert.deepEqual(kinds(before, "def f(x):\n    return m\n"), ["sdef f(x):", "r    m = max(x)", "s    return m"]);
});

test("导出：代码里的反引号不会提前结束围栏，表格里的竖线转义", () => {
  const tricky = { ...good, code: 'print("""\n````\n""")\n', printed: "```\n# 标题\n" };
  const text = toMarkdown({ title: "一课", url: "u", date: "d", python: "3.14.2", rows: [row(tricky), row(null)], shared: [good] });
  assert.match(text, /^`````python$/m);
  assert.match(text, /^````text$/m);
  assert.match(text, /实验 \\\| 一/);
  assert.match(text, /Python：3\.14\.2/);
  assert.match(text, /## 各实验共用的代码/);
});
