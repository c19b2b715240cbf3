import assert from "node:assert/strict";
import { test } from "node:test";
import { fits, sameChoice } from "../src/self-test/check.js";
import { checkProgress, rightOf } from "../src/self-test/progress.js";

test("整数要恰好，小数按写出的位数", () => {
  assert.ok(fits("6", "6"));
  assert.ok(fits("6", " ６ "));
  assert.ok(fits("6", "6.0"));
  assert.ok(!fits("6", "7"));
  assert.ok(!fits("6", "6.4"));
  assert.ok(fits("0.27", "0.2689"));
  assert.ok(fits("0.27", "约 0.27"));
  assert.ok(!fits("0.27", "0.28"));
  assert.ok(fits("1e-12", "0.000000000001"));
  assert.ok(fits("33 %", "33%"));
  assert.ok(!fits("33 %", "33"));
  assert.ok(fits("−2", "-2"));
  assert.ok(!fits("6", ""));
  assert.ok(!fits("6", "六"));
});

test("shape 怎样写都行，各维要对", () => {
  for (const given of ["[3][5]", "[3, 5]", "(3,5)", "3×5", "3x5", "［3，5］"]) assert.ok(fits("[3][5]", given), given);
  assert.ok(!fits("[3][5]", "[5][3]"));
  assert.ok(!fits("[3][5]", "[3][5][1]"));
  assert.ok(!fits("[3, 5]", "15"));
  assert.ok(fits("[B, T, C]", "[b,t,c]"));
});

test("文字逐字比，太长的不比", () => {
  assert.ok(fits("ValueError", "valueerror"));
  assert.ok(!fits("x", "x".repeat(100_000)));
});

test("选择题不看次序", () => {
  assert.ok(sameChoice(["A", "C"], ["C", "A"]));
  assert.ok(!sameChoice(["A", "C"], ["A"]));
  assert.ok(!sameChoice(["A"], ["A", "C"]));
});

test("进度：坏的不用", () => {
  const good = { version: "v", total: 3, done: { 0: "right", 2: "wrong" } };
  assert.deepEqual(checkProgress(good), good);
  assert.equal(rightOf(/** @type {any} */ (good)), 1);
  for (const hostile of [
    null, [], "x", { ...good, total: 1e9 }, { ...good, total: "3" }, { ...good, done: { 3: "right" } },
    { ...good, done: { 0: "<img>" } }, { ...good, version: "x".repeat(50) }, { ...good, done: [] , total: 0 },
  ]) {
    assert.equal(checkProgress(hostile), null, JSON.stringify(hostile));
  }
});
