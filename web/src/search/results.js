// 引擎找到的各节 → 主题要的结果：按页分组，带标题、摘要与要加亮的词。
import { highlights, mark, teaser } from "./teaser.js";

/** 一页最多直接显示几节，其余折叠在“更多”里；得分不到第一的这么多的也折叠。 */
const SHOWN = 3;
const CLOSE = 0.55;
/** 一页最多列出几节；一次最多列出几页。 */
const SECTIONS = 8;
const PAGES = 30;

/**
 * 按页分组。主题的规矩：第一项的得分是门槛，得分更低的节折叠起来；回车打开得分最高的一项。
 * 所以每组先放这一页本身，得分恰在要显示的各节之下。
 * @param {import("./engine.js").Engine} engine @param {string} query
 */
export function results(engine, query) {
  const hits = engine.search(query);
  /** @type {Map<number, import("./engine.js").Hit[]>} */
  const pages = new Map();
  for (const hit of hits) {
    const known = pages.get(hit.entry.page);
    if (!known) pages.set(hit.entry.page, [hit]);
    else if (known.length < SECTIONS) known.push(hit);
  }
  const best = hits[0]?.score ?? 0;
  return [...pages].slice(0, PAGES).map(([page, found]) => group(engine.pages[page], found, best));
}

/** @param {{ url: string, title: string }} page @param {import("./engine.js").Hit[]} found @param {number} best */
function group(page, found, best) {
  const top = found.findIndex(({ entry }) => entry.location === page.url);
  const sections = found.filter((_, i) => i !== top).map(item);
  const whole = top === 0 ? item(found[0]) : { ...blank(page), terms: item(found[0]).terms };
  if (top === 0) {
    for (const section of sections) section.score = Math.min(section.score, whole.score - 1);
    return [whole, ...sections];
  }
  const enough = Math.max(CLOSE * found[0].score, 0.3 * best) * 100;
  const shown = Math.max(1, Math.min(SHOWN, sections.filter(({ score }) => score >= enough).length));
  whole.score = sections[shown - 1].score - 0.01;
  for (const section of sections.slice(shown)) section.score = Math.min(section.score, whole.score - 0.01);
  return [whole, ...sections];
}

/** @param {{ url: string, title: string }} page */
function blank({ url, title }) {
  return { location: url, title: mark(title, []), text: "", score: 0, terms: {} };
}

/** @param {import("./engine.js").Hit} hit */
function item({ entry, score, terms }) {
  const words = highlights(`${entry.title}\n${entry.prose}\n${entry.code}`, terms);
  return {
    location: entry.location,
    title: mark(entry.title, terms),
    text: teaser(entry, terms),
    score: score * 100,
    /** @type {Record<string, boolean>} */
    terms: Object.fromEntries(words.map((word) => [word, true])),
  };
}
