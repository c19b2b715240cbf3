// 查询与文字的写法：折叠大小写与全角，切成能找的词。

/** 折叠大小写与全角字母；长度不变，所以找到的位置可以直接用在原文上。 @param {string} text */
export function fold(text) {
  const half = text.replace(/[\uff01-\uff5e]/g, (mark) => String.fromCharCode(mark.charCodeAt(0) - 0xfee0));
  const lower = half.toLowerCase();
  return lower.length === text.length ? lower : half;
}

/** 去掉空白、连字符与下划线：“KV 缓存”与“KV缓存”、“kv_cache”与“kvcache”于是相同。 @param {string} folded */
export function squeeze(folded) {
  return folded.replace(/[\s\-_\u2010-\u2015]+/g, "");
}

const HAN = /\p{Script=Han}/u;
const LATIN = String.raw`(?:(?!\p{Script=Han})[\p{L}\p{N}_√])+`;
const PIECE = new RegExp(String.raw`\p{Script=Han}+|${LATIN}(?:[.\-]${LATIN})*`, "gu");

/** 带着这些字的两个字，多半横跨两个词。 */
const LIGHT = /[有是了在和与就都也还把被会要给让从到对用个得地]/u;

const LETTER_WEIGHT = 0.3;

/** 问句里没有内容的字；只在切中文时当作分隔。 */
const EMPTY =
  /为什么|是什么|什么|怎么样|怎么办|怎么|怎样|如何|能不能|可不可以|行不行|是不是|要不要|有没有|哪些|哪个|哪里|多少|几个|自己|一下|可以|请问|[的吗呢吧啊么]/gu;

/**
 * @typedef {object} Term 要找的一个词
 * @property {string} text 已折叠
 * @property {boolean} word 字母与数字组成的词；否则是汉字的一段
 * @property {number} weight 占多大分量；1 是一个完整的词
 * @property {Term} [whole] 它是哪个标识符的一段
 */

/**
 * 查询里的词：字母与数字按词，汉字按相邻的两字。
 * 标识符除了整个，各段也算（分量小）；`f.softmax` 这样带点的也一样。
 * @param {string} query 已折叠
 * @returns {Term[]}
 */
export function terms(query) {
  /** @type {Map<string, Term>} */
  const found = new Map();
  const add = (/** @type {string} */ text, /** @type {boolean} */ word, weight = 1, /** @type {Term | undefined} */ whole = undefined) => {
    if (!found.has(text)) found.set(text, { text, word, weight, whole });
    return /** @type {Term} */ (found.get(text));
  };
  for (const [piece] of query.matchAll(PIECE)) {
    if (HAN.test(piece)) {
      for (const run of content(piece)) {
        // 单字只管整句像不像：“前面还是后面”与“前还是后”。
        for (const letter of run) add(letter, false, run.length === 1 ? 0.5 : LETTER_WEIGHT);
        for (let i = 0; i + 2 <= run.length; i++) {
          const pair = run.slice(i, i + 2);
          add(pair, false, LIGHT.test(pair) ? 0.15 : 1);
        }
      }
      continue;
    }
    const whole = add(piece, true);
    const parts = piece.split(/[._\-]+/).filter((part) => part.length > 1);
    if (parts.length > 1) for (const part of parts) add(part, true, 0.3, whole);
  }
  return [...found.values()];
}

/** 一段汉字里有内容的各段；全是虚词时整段照用。 @param {string} run */
function content(run) {
  const parts = run.split(EMPTY).filter(Boolean);
  return parts.length ? parts : [run];
}

/** 去掉虚词以后的整个查询，供整句比较。 @param {string} query 已折叠 */
export function gist(query) {
  const kept = squeeze(query.replace(/[？?！!，,。、：:；;“”"'‘’（）()]+/g, " ").replace(EMPTY, " "));
  return kept || squeeze(query);
}

/**
 * `text` 里 `term` 出现得有多像一个完整的词，各处加起来：完整 1，标识符的一段 0.6，词的开头 0.4，词的中间 0.1。
 * 汉字不分词，每处都是 1。
 * @param {string} text 已折叠 @param {Term} term
 */
export function count(text, term) {
  let total = 0;
  for (let at = text.indexOf(term.text); at >= 0; at = text.indexOf(term.text, at + term.text.length)) {
    total += term.word ? likeness(text, at, at + term.text.length) : 1;
  }
  return total;
}

const LETTER = /[a-z0-9]/;

/** @param {string} text @param {number} start @param {number} end */
function likeness(text, start, end) {
  const before = text[start - 1] ?? " ";
  const after = text[end] ?? " ";
  if (LETTER.test(before)) return 0.1;
  if (LETTER.test(after)) return 0.4;
  return before === "_" || after === "_" ? 0.6 : 1;
}
