// 在全部文字里找：没有倒排索引，直接扫描原文（几百节，一次查询几毫秒），所以任何一段汉字、标识符的任何一段都找得到。
//
// 一节的得分由两部分组成：
// 1. 各个词（BM25 的办法：词越少见、出现越多、一节越短，分越高），乘上“查询里的词有多少找到了”；
// 2. 整句：查询与这一节的名字、标题、现象有多像。名字与现象来自术语表与排查表。
import { entry, plain } from "./entry.js";
import { likeness, WHOLE } from "./likeness.js";
import { count, fold, gist, squeeze, terms } from "./text.js";
import { nearest, replace, rules } from "./wording.js";

/** @typedef {import("./text.js").Term} Term */
/** @typedef {import("./entry.js").Entry} Entry */
/** @typedef {import("./entry.js").Field} Field */
/**
 * @typedef {object} Data livedocs/search.py 写的索引
 * @property {[string, string, [string, string, string?, string?, string[]?, string[]?, string[]?][], number?][]} pages
 * @property {[string, string][]} retired （别处的叫法，本站的叫法）
 * @property {[string, string][]} english （英文，中文）
 */
/** @typedef {{ entry: Entry, score: number, terms: Term[] }} Hit */

/** 各处的分量。 @type {Record<Field, number>} */
const FIELDS = { names: 5, defines: 5, title: 4, symptoms: 2.5, prose: 1, code: 0.5 };
/** 查询再长，也只看这么多个字。 */
const LONGEST = 100;
/** 词出现得再多，也不超过这么快地趋于饱和。 */
const SATURATION = 1.5;
/** 到处都用的词（“词元”）没有专门的一节，最好的去处是它的定义；少见的词分数高，这一点不起作用。 */
const DEFINITION = 2.5;
/** 好几页共用的标题（“自测”“常见失败与排查”）：同样的内容多半另有专门的一节。 */
const COMMON = 0.85;
/** 一页开头的概要与引言什么都提到一点，讲清楚的是后面的各节。 */
const INTRO = 0.35;

export class Engine {
  /** @param {Data} data */
  constructor(data) {
    this.retired = rules(data.retired);
    this.english = rules(data.english);
    /** @type {Entry[]} */
    this.entries = [];
    this.pages = data.pages.map(([url, title]) => ({ url, title }));
    data.pages.forEach(([url, title, rows, boost = 1], page) => {
      for (const row of rows) this.entries.push({ ...entry(page, url, title, row), boost });
    });
    /** @type {Map<string, number>} */
    const titles = new Map();
    for (const { heading } of this.entries) titles.set(heading, (titles.get(heading) ?? 0) + 1);
    for (const one of this.entries) one.share = 2 / Math.max(2, titles.get(one.heading) ?? 0);
    /** 接在读者键入的字后面的补全。 */
    this.completions = [
      ...new Set(data.pages.flatMap(([, , rows]) => rows.flatMap((row) => [...(row[4] ?? []), plain(row[1])]))),
    ].sort((one, other) => one.length - other.length);
    /** 网站里的词，猜拼错的词时才数。 @type {Map<string, number> | null} */
    this.vocabulary = null;
    this.lengths = { prose: mean(this.entries, "prose"), code: mean(this.entries, "code") };
  }

  /**
   * 得分从高到低；一个词也没有找到的节不在其中。
   * @param {string} query @returns {Hit[]}
   */
  search(query) {
    const typed = fold(query).trim().slice(0, LONGEST).replace(/根号\s*/g, "√");
    const asked = typed.replace(/[a-z][a-z0-9_]{4,}/g, (word) => this.corrected(word));
    const ours = replace(asked, this.retired);
    const hits = this.scored(asked, ours ? 0.7 : 1);
    this.better(hits, ours, 1);
    this.better(hits, replace(asked, this.english), 0.9);
    return [...hits.values()].sort((one, other) => other.score - one.score);
  }

  /** 哪里也没有的标识符或英文词，换成最像的那个。 @param {string} word */
  corrected(word) {
    if (this.entries.some(({ text, tight }) => text.names.includes(word) || tight.includes(squeeze(word)))) return word;
    this.vocabulary ??= vocabulary(this.entries);
    return nearest(word, this.vocabulary) || word;
  }

  /** 换一种说法再找一遍，得分更高的换上。 @param {Map<Entry, Hit>} hits @param {string} asked @param {number} weight */
  better(hits, asked, weight) {
    if (!asked) return;
    for (const [entry, hit] of this.scored(asked, weight)) {
      if ((hits.get(entry)?.score ?? 0) < hit.score) hits.set(entry, hit);
    }
  }

  /** @param {string} asked 已折叠 @param {number} weight @returns {Map<Entry, Hit>} */
  scored(asked, weight) {
    const wanted = terms(asked);
    const found = this.entries.map((entry) => wanted.map((term) => this.frequency(entry, term)));
    const rarity = wanted.map((term, i) => {
      const holders = found.filter((row) => row[i] > 0).length;
      // 哪里也没有的词分不出高下；标识符整个找得到，就不看它的各段。
      if (!holders || (term.whole && found.some((row) => row[wanted.indexOf(/** @type {Term} */ (term.whole))] >= 0.5))) {
        return 0;
      }
      return term.weight * Math.log(1 + (this.entries.length - holders + 0.5) / (holders + 0.5));
    });
    const all = rarity.reduce((sum, value) => sum + value, 0);
    const query = { whole: gist(asked), wanted, rarity, all };
    /** @type {Map<Entry, Hit>} */
    const hits = new Map();
    this.entries.forEach((entry, place) => {
      const matched = wanted.filter((term, i) => found[place][i] > 0 && rarity[i] > 0 && shows(term, wanted));
      const near = likeness(entry, query);
      if (!matched.length && near < WHOLE.title) return;
      let words = 0;
      let covered = 0;
      rarity.forEach((rare, i) => {
        const often = found[place][i];
        if (often) covered += rare;
        words += (rare * often) / (often + SATURATION);
      });
      const cover = all ? covered / all : 0;
      const score = words * (0.3 + 0.7 * cover) + (all || 1) * near + (entry.defined.includes(query.whole) ? DEFINITION : 0);
      hits.set(entry, { entry, terms: matched, score: score * weight * entry.boost * (entry.share < 1 ? COMMON : 1) });
    });
    return hits;
  }

  /** 一个词在一节里出现得有多重。 @param {Entry} entry @param {Term} term */
  frequency({ text, share, tight, intro }, term) {
    let total = 0;
    for (const field of /** @type {Field[]} */ (Object.keys(FIELDS))) {
      const often = count(text[field], term);
      if (!often) continue;
      if (field === "prose" || field === "code") {
        total += FIELDS[field] * often * this.damping(field, text[field]) * (intro ? INTRO : 1);
      } else {
        total += FIELDS[field] * Math.min(often, 1) * (field === "title" ? share : 1);
      }
    }
    // “kvcache”：原文里写作“KV Cache”。
    return total || (term.word && term.text.length > 3 && tight.includes(term.text) ? 0.5 : 0);
  }

  /** 长的一节，同样的次数说明得少。 @param {"prose" | "code"} field @param {string} text */
  damping(field, text) {
    return 1 / (0.7 + (0.3 * text.length) / this.lengths[field]);
  }

  /** 接着键入的字能写成的词；没有时是空。 @param {string} query */
  complete(query) {
    const typed = query.split(/\s+/).at(-1) ?? "";
    const start = fold(typed);
    const found = start && this.completions.find((word) => word.length > typed.length && fold(word).startsWith(start));
    return found ? [typed + found.slice(typed.length)] : [];
  }
}

/** 单个汉字不加亮，也不算找到；查询本来就只有一个字除外。 @param {Term} term @param {Term[]} wanted */
function shows(term, wanted) {
  return term.text.length > 1 || wanted.length === 1 || term.word;
}

/** @param {Entry[]} entries @param {"prose" | "code"} field */
function mean(entries, field) {
  const total = entries.reduce((sum, entry) => sum + entry.text[field].length, 0);
  return total / Math.max(1, entries.length) || 1;
}

/** 网站里的英文词与标识符，各出现几次。 @param {Entry[]} entries */
function vocabulary(entries) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const { text } of entries) {
    for (const field of Object.values(text)) {
      for (const [word] of field.matchAll(/[a-z][a-z0-9_]{4,}/g)) found.set(word, (found.get(word) ?? 0) + 1);
    }
  }
  return found;
}
