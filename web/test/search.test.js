import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "../src/search/engine.js";
import { plain } from "../src/search/entry.js";
import { results } from "../src/search/results.js";
import { mark, teaser } from "../src/search/teaser.js";
import { count, fold, gist, squeeze, terms } from "../src/search/text.js";
import { nearest } from "../src/search/wording.js";

/** @type {import("../src/search/engine.js").Data} */
const data = {
  pages: [
    [
      "a/",
      "第 3 章 注意力",
      [
        ["", "第 3 章 注意力", "引言提到掩码、缓存与 softmax。"],
        ["mask", "三、因果掩码", "不许读取未来。", "def keep_mask(past, new):\n    return past", ["因果掩码", "causal mask"]],
        ["cache", "十、键值缓存（KV Cache）", "存下算过的键与值。", "", ["键值缓存", "KV Cache"], ["开了缓存结果就变"]],
        ["example-2", "示例 2：repeat_kv", "每个头重复几次。", "def repeat_kv(x, n_rep):\n    return x"],
        ["self-test", "自测", "因果掩码挡住了什么？repeat_kv 的顺序是什么？"],
      ],
    ],
    [
      "b/",
      "术语表",
      [
        ["", "术语表", ""],
        ["masks", "掩码", "遮罩 · 掩码\n因果掩码 · causal mask", "", [], [], ["因果掩码"]],
      ],
    ],
    ["c/", "第 4 章", [["", "第 4 章", ""], ["self-test", "自测", "因果掩码"]]],
    ["d/", "第 5 章", [["", "第 5 章", ""], ["self-test", "自测", "别的"]]],
  ],
  retired: [
    ["遮罩", "掩码"],
    ["KV 缓存", "键值缓存"],
    ["嵌入", "词嵌入"],
  ],
  english: [["mask", "掩码"]],
};
const engine = new Engine(data);
const first = (/** @type {string} */ query) => engine.search(query)[0]?.entry.location;

test("折叠大小写与全角，长度不变", () => {
  assert.equal(fold("ＫＶ Cache（１）"), "kv cache(1)");
  assert.equal(fold("İx").length, "İx".length);
  assert.equal(squeeze("kv_cache - x"), "kvcachex");
});

test("查询切成词：标识符整个在前，各段在后；汉字两个一组", () => {
  const words = terms("repeat_kv");
  assert.deepEqual(words.map(({ text }) => text), ["repeat_kv", "repeat", "kv"]);
  assert.ok(words[0].weight > words[1].weight);
  assert.deepEqual(
    terms("kv缓存").map(({ text }) => text),
    ["kv", "缓", "存", "缓存"],
  );
  assert.equal(gist("为什么没有 q cache？"), "没有qcache");
});

test("完整的词比词的一段多", () => {
  const term = { text: "mask", word: true, weight: 1 };
  assert.equal(count("a mask", term), 1);
  assert.ok(count("keep_mask", term) < 1);
  assert.ok(count("unmasked", term) < count("masked", term));
});

test("名字、标识符、现象、标题各自排在第一", () => {
  assert.equal(first("因果掩码"), "a/#mask");
  assert.equal(first("causal mask"), "a/#mask");
  assert.equal(first("repeat_kv"), "a/#example-2");
  assert.equal(first("keep_mask"), "a/#mask");
  assert.equal(first("开了缓存结果就变"), "a/#cache");
});

test("空格写错、别处的叫法也找得到", () => {
  assert.equal(first("KV缓存"), "a/#cache");
  assert.equal(first("kvcache"), "a/#cache");
  assert.equal(first("因果 掩码"), "a/#mask");
  assert.equal(first("因果遮罩"), "a/#mask");
  assert.equal(first("softmax KV 缓存"), "a/#cache");
  assert.equal(first("因果 mask"), "a/#mask");
});

test("拼错的标识符找得到原来的", () => {
  assert.equal(first("reapet_kv"), "a/#example-2");
  assert.equal(first("keep_msak"), "a/#mask");
  assert.equal(nearest("sofmax", new Map([["softmax", 3], ["soft", 9]])), "softmax");
  assert.equal(nearest("kv", new Map([["kw", 1]])), "", "短的词不猜");
  assert.equal(nearest("abcdef", new Map([["uvwxyz", 1]])), "");
  assert.equal(nearest("colour", new Map([["colout", 1], ["color", 5]])), "color", "同样像时取常见的");
});

test("什么也不像的查询没有结果", () => {
  assert.deepEqual(engine.search("qzxw"), []);
  assert.deepEqual(engine.search("…"), []);
});

test("任何查询都不出错，得分都是数", () => {
  for (const query of ["(", "[a", "\\", "的", "a".repeat(3000), "掩码".repeat(3000), "🙂", "constructor", "__proto__", "根号"]) {
    for (const { score } of engine.search(query)) assert.ok(Number.isFinite(score), query);
    engine.complete(query);
  }
});

test("整页的编号指那一页；作者给的倍数乘在得分上", () => {
  const rows = (/** @type {string} */ title) => /** @type {[string, string, string][]} */ ([["", title, ""], ["x", "三、别的", "没有"]]);
  const pages = (/** @type {number | undefined} */ boost) =>
    /** @type {import("../src/search/engine.js").Data["pages"]} */ ([
      ["a/", "3.2 多头", rows("3.2 多头")],
      ["b/", "多头", rows("多头"), boost],
    ]);
  const made = (/** @type {number} */ boost) => new Engine({ pages: pages(boost), retired: [], english: [] });
  assert.equal(made(1).search("3.2")[0].entry.location, "a/");
  const score = (/** @type {number} */ boost) => made(boost).search("多头").find(({ entry }) => entry.location === "b/")?.score ?? 0;
  assert.ok(score(1) > 0);
  assert.ok(Math.abs(score(0.25) - score(1) / 4) < 1e-9);
});

test("标题去掉编号", () => {
  assert.equal(plain("三、因果掩码"), "因果掩码");
  assert.equal(plain("示例 2：repeat_kv"), "repeat_kv");
  assert.equal(plain("3.1 缩放点积注意力"), "缩放点积注意力");
  assert.equal(plain("第 3 章"), "第 3 章");
});

test("补全保留读者键入的写法", () => {
  assert.deepEqual(engine.complete("因果"), ["因果掩码"]);
  assert.deepEqual(engine.complete("CAUSAL"), ["CAUSAL mask"]);
  assert.deepEqual(engine.complete("没有这样的词"), []);
});

test("页面里的尖括号不会变成标签", () => {
  const wanted = terms("img");
  assert.equal(mark("<img src=x>", wanted), "&#60;<mark>img</mark> src=x&#62;");
  const html = teaser({ prose: "", code: '<img src="x" onerror=alert(1)>', observed: "" }, wanted);
  assert.ok(!html.includes("<img"), html);
});

test("一页一组，页在前；回车打开的是得分最高的一节", () => {
  const [group] = results(engine, "repeat_kv");
  assert.equal(group[0].location, "a/");
  const best = [...group].sort((one, other) => other.score - one.score)[0];
  assert.equal(best.location, "a/#example-2");
  // 主题把得分低于第一项的折叠起来：最好的一节必须看得见。
  assert.ok(best.score > group[0].score);
  assert.ok(!/[¶\u200b]/.test(JSON.stringify(group)));
});

test("整页就是要找的：它自己得分最高，摘要由它显示", () => {
  const [group] = results(engine, "术语表");
  assert.equal(group[0].location, "b/");
  assert.ok(group.slice(1).every(({ score }) => score < group[0].score));
});
