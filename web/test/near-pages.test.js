// 404 页的“你要找的也许是”：写错的路径找得到原来那一页，毫不相干的什么也不给。
import assert from "node:assert/strict";
import test from "node:test";
import { likeness, nearest } from "../src/near-pages/score.js";

const PATHS = [
  "",
  "start/",
  "chapters/03-attention/",
  "chapters/03-3-kv-cache/",
  "chapters/04-mlp-moe/",
  "labs/01-single-head-attention/",
  "reference/glossary/",
];

for (const [asked, wanted] of [
  ["chapters/03-atention/", "chapters/03-attention/"],
  ["chapter/3-attention.html", "chapters/03-attention/"],
  ["Chapters/03-KV-Cache", "chapters/03-3-kv-cache/"],
  ["chapters/kv_cache/index.html", "chapters/03-3-kv-cache/"],
  ["glossary/", "reference/glossary/"],
  ["labs/single-head-attention.md", "labs/01-single-head-attention/"],
]) {
  test(`${asked} → ${wanted}`, () => assert.equal(nearest(asked, PATHS)[0], wanted));
}

test("毫不相干的路径没有建议", () => {
  assert.deepEqual(nearest("wp-login.php", PATHS), []);
  assert.deepEqual(nearest("", PATHS), []);
  assert.deepEqual(nearest("注意力/", PATHS), []);
});

test("最多三个，从最像的开始", () => {
  const found = nearest("chapters/03-", PATHS, 3, 0);
  assert.equal(found.length, 3);
  assert.ok(likeness("chapters/03-", found[0]) >= likeness("chapters/03-", found[1]));
});

test("相同的路径是 1，没有共同的字是 0", () => {
  assert.equal(likeness("a/b-c", "A/B_C/"), 1);
  assert.equal(likeness("ab", "cd"), 0);
});
