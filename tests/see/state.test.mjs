// 网址里的状态：写出去再读回来不变；来历不明的文字只会被拒绝。
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  StateError,
  address,
  decimal,
  excerpt,
  flag,
  format,
  integer,
  matrix,
  parse,
  word,
} from "../../web/src/see/state.js";

const parsers = { q: matrix(6, 4), step: integer(0, 4), mask: flag, axis: word("rows", "columns") };

/** 有种子的随机数：结果每次相同。 */
function generator(seed) {
  return () => {
    seed = (seed * 1664525 + 1013904223) % 2 ** 32;
    return seed / 2 ** 32;
  };
}

test("写出去再读回来不变", () => {
  const random = generator(1);
  const pick = (n) => Math.floor(random() * n);
  for (let round = 0; round < 2000; round++) {
    const [rows, columns] = [1 + pick(6), 1 + pick(4)];
    const number = () => Math.round((random() * 200 - 100) * 10 ** pick(5)) / 10 ** 4 || 0;
    const state = {
      q: Array.from({ length: rows }, () => Array.from({ length: columns }, number)),
      step: pick(5),
      mask: random() < 0.5,
      axis: random() < 0.5 ? "rows" : "columns",
    };
    const text = format(state);
    assert.deepEqual(parse(text, parsers), state);
    const link = address("attention-explorer", text, "https://example.org/repo/a/?h=x&attention-explorer=old#top");
    const url = new URL(link);
    assert.equal(url.searchParams.get("attention-explorer"), text);
    assert.equal(url.searchParams.get("h"), "x");
    assert.equal(url.hash, "#top");
  }
});

test("来历不明的文字只会被拒绝，或读成合格的值", () => {
  const random = generator(2);
  const alphabet = "qstepmaxirow:~,;.-+0123456789eE_<>\"'%&\\ \0\u202e一９∞{}[]()";
  for (let round = 0; round < 20000; round++) {
    const length = Math.floor(random() * 40);
    let text = ["", "q:", "step:", "q:1,2;", "mask:"][Math.floor(random() * 5)];
    for (let i = 0; i < length; i++) text += alphabet[Math.floor(random() * alphabet.length)];
    try {
      const state = parse(text, parsers);
      assert.ok(Object.keys(state).every((key) => Object.hasOwn(parsers, key)));
      assert.ok((state.q ?? []).flat().every((x) => Number.isFinite(x) && Math.abs(x) <= 100));
    } catch (error) {
      assert.ok(error instanceof StateError, String(error));
    }
  }
});

test("原型上的名字不是键", () => {
  for (const key of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    assert.throws(() => parse(`${key}:1`, parsers), StateError);
    assert.throws(() => parse(`axis:${key}`, parsers), StateError);
  }
});

test("太长、写两次、行宽不一、不是数", () => {
  for (const text of [
    "q:" + "1,".repeat(400) + "1",
    "step:1~step:1",
    "q:1,2;3",
    "q:1,,2",
    "q:1e9",
    "q:0x1",
    "q:NaN",
    "step:-1",
    "step:1.5",
    "",
  ]) {
    assert.throws(() => parse(text, parsers), StateError, text);
  }
});

test("一个数怎样写", () => {
  const good = [
    ["1", 1],
    ["-0", 0],
    [" 2.5 ", 2.5],
    ["−3", -3],
    [".5", 0.5],
    ["100", 100],
    ["0.1234", 0.1234],
  ];
  for (const [text, value] of good) assert.ok(Object.is(decimal(text), value), text);
  for (const text of ["", "-", ".", "1e2", "Infinity", "101", "-100.5", "0.12345", "1,5", "１", "0b1", "--1"]) {
    assert.ok(Number.isNaN(decimal(text)), text);
  }
});

test("显示来历不明的文字时截短", () => {
  assert.ok(excerpt("x".repeat(10000)).length < 70);
});
