import assert from "node:assert/strict";
import { test } from "node:test";
import { judge, printedBy } from "../src/py-block/verdict.js";

const plain = { documented: "", raises: "", rtol: null, atol: null, edited: false, editedAbove: false };
const ran = { stdout: "", stderr: "", error: null, dropped: 0 };
const error = { type: "ValueError", bases: ["ValueError", "Exception"], last: "ValueError: 不行", frames: [] };

test("同样的输出与文档一致", () => {
  const found = judge({ ...plain, documented: "1\n" }, { ...ran, stdout: "1\n" });
  assert.equal(found.text, "与文档一致");
  assert.equal(found.matches, true);
});

test("不同的输出不一致，容差之内的一致", () => {
  assert.equal(judge({ ...plain, documented: "1.00\n" }, { ...ran, stdout: "1.01\n" }).matches, false);
  assert.equal(judge({ ...plain, documented: "1.00\n", rtol: 0.1 }, { ...ran, stdout: "1.01\n" }).matches, true);
});

test("没有输出也是一种输出", () => {
  assert.equal(judge(plain, ran).matches, true);
  assert.equal(judge(plain, { ...ran, stdout: "多了\n" }).matches, false);
  assert.equal(judge({ ...plain, documented: "少了\n" }, ran).matches, false);
});

test("改过以后只说变没变", () => {
  const edited = { ...plain, documented: "1\n", edited: true };
  assert.match(judge(edited, { ...ran, stdout: "2\n" }).text, /你改过这段代码：和原来的输出相比/);
  assert.match(judge(edited, { ...ran, stdout: "1\n" }).text, /没有变化/);
  assert.match(judge({ ...edited, edited: false, editedAbove: true }, { ...ran, stdout: "2\n" }).text, /上面的代码/);
});

test("预期的异常只比较最后一行", () => {
  const expected = { ...plain, raises: "ValueError", documented: "先打印\nValueError: 不行\n" };
  assert.equal(judge(expected, { ...ran, stdout: "先打印\n", error }).matches, true);
  assert.equal(judge(expected, { ...ran, stdout: "先打印\n" }).matches, false);
  assert.equal(printedBy("没有换行", error, "ValueError"), "没有换行\nValueError: 不行\n");
});

test("没有预料到的异常、警告、截断的输出都不算一致", () => {
  assert.equal(judge(plain, { ...ran, error }).tone, "error");
  assert.equal(judge({ ...plain, raises: "KeyError" }, { ...ran, error }).unexpected, true);
  assert.equal(judge(plain, { ...ran, stderr: "警告" }).matches, false);
  assert.equal(judge({ ...plain, documented: "1\n" }, { ...ran, stdout: "1\n", dropped: 5 }).matches, false);
});
