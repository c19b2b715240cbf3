// 搜索结果里显示的字：标题与摘要，查询的词加亮。
import { fold } from "./text.js";

/** @typedef {import("./text.js").Term} Term */

/** 摘要最多这么多字；汉字与字母都算一个。 */
const WIDTH = 120;

/** @param {string} text */
const escape = (text) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** 把 `text` 里的词加亮；返回 HTML。 @param {string} text @param {Term[]} wanted */
export function mark(text, wanted) {
  const spans = places(text, wanted);
  let html = "";
  let at = 0;
  for (const [start, end] of spans) {
    html += `${escape(text.slice(at, start))}<mark>${escape(text.slice(start, end))}</mark>`;
    at = end;
  }
  return html + escape(text.slice(at));
}

/** 各个词出现的地方，相接的并成一段。 @param {string} text @param {Term[]} wanted @returns {[number, number][]} */
export function places(text, wanted) {
  const folded = fold(text);
  /** @type {[number, number][]} */
  const spans = [];
  for (const term of wanted) {
    for (let at = folded.indexOf(term.text); at >= 0; at = folded.indexOf(term.text, at + 1)) {
      spans.push([at, at + term.text.length]);
    }
  }
  spans.sort((one, other) => one[0] - other[0] || other[1] - one[1]);
  /** @type {[number, number][]} */
  const merged = [];
  for (const [start, end] of spans) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/**
 * 最能说明问题的一行，词加亮：正文里的，或者排查表里指向这一节的现象；都没有时取代码里的。返回 HTML。
 * @param {{ prose: string, code: string, observed: string }} entry @param {Term[]} wanted
 */
export function teaser({ prose, code, observed }, wanted) {
  const line = best(prose, wanted);
  const seen = best(observed, wanted);
  const because = seen.value > line.value ? `<p>现象：${mark(cut(seen.text, wanted), wanted)}</p>` : "";
  if (line.value > 0) return because + `<p>${mark(cut(line.text, wanted), wanted)}</p>`;
  const source = best(code, wanted);
  if (source.value > 0) return because + `<p><code>${mark(cut(source.text.trim(), wanted), wanted)}</code></p>`;
  const first = prose.split("\n", 1)[0];
  return because + (first ? `<p>${escape(cut(first, []))}</p>` : "");
}

/** 找到的词最多的一行；定义那个名字的一行更好。 @param {string} text @param {Term[]} wanted */
function best(text, wanted) {
  let found = { text: "", value: 0 };
  for (const line of text.split("\n")) {
    const value = places(line, wanted).reduce(
      (sum, [start, end]) => sum + (end - start) ** 1.5 * (/^\s*(?:def|class) $/.test(line.slice(0, start)) ? 4 : 1),
      0,
    );
    if (value > found.value) found = { text: line, value };
  }
  return found;
}

/** 截到 `WIDTH` 个字，第一处找到的词留在里面。 @param {string} line @param {Term[]} wanted */
function cut(line, wanted) {
  if (line.length <= WIDTH) return line;
  const longest = places(line, wanted).sort((one, other) => other[1] - other[0] - (one[1] - one[0]))[0]?.[0] ?? 0;
  const start = longest < WIDTH * 0.7 ? 0 : longest - Math.round(WIDTH * 0.3);
  const end = Math.min(line.length, start + WIDTH);
  return (start ? "…" : "") + line.slice(start, end) + (end < line.length ? "…" : "");
}

/** 打开那一页以后要加亮的词：这一节里实际出现的最长的几段。 @param {string} text @param {Term[]} wanted */
export function highlights(text, wanted) {
  const found = new Set(places(text, wanted).map(([start, end]) => text.slice(start, end)));
  return [...found].filter((word) => word.length > 1).slice(0, 8);
}
