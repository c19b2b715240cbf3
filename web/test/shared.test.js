import assert from "node:assert/strict";
import { test } from "node:test";
import { checkEdits } from "../src/py-block/edits.js";
import { help } from "../src/py-block/help.js";
import { around, diffLines } from "../src/shared/diff.js";
import { fingerprint, LARGEST, read, remove, write } from "../src/shared/store.js";

/** @type {Map<string, string>} */
const items = new Map();
Object.defineProperty(globalThis, "localStorage", {
  value: {
    getItem: (/** @type {string} */ key) => items.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void items.set(key, value),
    removeItem: (/** @type {string} */ key) => void items.delete(key),
  },
  configurable: true,
});

test("差别：删掉的在前，加上的在后，其余不动", () => {
  const lines = diffLines("a\nb\nc\n", "a\nB\nc\nd\n");
  assert.deepEqual(
    lines.map(({ kind, text }) => kind[0] + text),
    ["sa", "rb", "aB", "sc", "ad"],
  );
  assert.equal(around(diffLines("1\n2\n3\n4\n5\n", "1\n2\n3\n4\n6\n")).length, 3);
  assert.deepEqual(diffLines("", ""), []);
});

test("差别：很长的文字不会卡住", () => {
  const long = Array.from({ length: 100_000 }, (_, index) => `${index}`).join("\n");
  assert.ok(diffLines(long, long + "\nx").length < 1000);
});

test("修改：合格的才用", () => {
  assert.deepEqual([...(checkEdits({ 0: "x = 1\n" }, 2) ?? [])], [[0, "x = 1\n"]]);
  for (const hostile of [
    null, 5, "x", [], ["x"], { 2: "超出这一页" }, { "-1": "x" }, { __proto__x: "x" }, { 0: 5 }, { 0: { a: 1 } },
    { 0: "x".repeat(20_001) }, { constructor: "x" },
  ]) {
    assert.equal(checkEdits(hostile, 2), null, JSON.stringify(hostile));
  }
});

test("存储：坏的、太大的拒绝，存得下的原样取回", () => {
  const any = (/** @type {unknown} */ value) => value;
  assert.deepEqual(read("none", any), { value: null, refused: false });
  assert.ok(write("one", { a: 1 }));
  assert.deepEqual(read("one", any), { value: { a: 1 }, refused: false });
  items.set("livedocs:bad", "{");
  assert.deepEqual(read("bad", any), { value: null, refused: true });
  items.set("livedocs:huge", JSON.stringify("x".repeat(LARGEST)));
  assert.deepEqual(read("huge", any), { value: null, refused: true });
  assert.equal(write("huge", "x".repeat(LARGEST)), false);
  remove("one");
  assert.equal(items.has("livedocs:one"), false);
});

test("散列：内容变了就变", () => {
  assert.notEqual(fingerprint("a"), fingerprint("b"));
  assert.equal(fingerprint("同一版"), fingerprint("同一版"));
});

test("每种常见的异常都有一句话，按最具体的类型", () => {
  assert.match(help({ type: "IndentationError", bases: ["IndentationError", "SyntaxError"], last: "" }), /缩进/);
  assert.match(help({ type: "MyError", bases: ["MyError", "ValueError", "Exception"], last: "" }), /值不合要求/);
  assert.match(help({ type: "Odd", bases: ["Odd", "Exception"], last: "" }), /最后一行/);
  assert.match(help({ type: "ModuleNotFoundError", bases: ["ModuleNotFoundError", "ImportError"], last: "" }), /标准库/);
});
