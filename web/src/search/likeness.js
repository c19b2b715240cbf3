// 整句有多像：查询与一节的名字、标题、锚点、现象。
import { squeeze } from "./text.js";

/** @typedef {import("./text.js").Term} Term */
/** @typedef {import("./entry.js").Entry} Entry */

/** 整句像名字、像标题……各占多少。 */
export const WHOLE = { name: 1, title: 0.9, symptom: 0.9, text: 0.15, mention: 0.3 };
/** 名字与标题都像，再加一点。 */
const BOTH = 0.3;

/** @typedef {{ whole: string, wanted: Term[], rarity: number[], all: number }} Query */

/** 整句与这一节有多像，0 到 1 多一点。 @param {Entry} entry @param {Query} query */
export function likeness(entry, query) {
  const name = Math.max(0, ...entry.names.map((one) => alike(one, query)));
  const symptom = Math.max(0, ...entry.symptoms.map((one) => alike(one, query)));
  const numbered = entry.number === query.whole ? 1 : 0;
  const title = Math.max(alike(entry.heading, query), alike(entry.slug, query), numbered) * entry.share;
  const inside = query.whole.length > 1 && entry.tight.includes(query.whole) ? 1 : 0;
  return (
    Math.max(WHOLE.name * name, WHOLE.title * title, WHOLE.symptom * symptom) +
    BOTH * Math.min(name, title) +
    WHOLE.text * inside +
    WHOLE.mention * mention(entry, query)
  );
}

/** 查询里提到了这一节的名字：“模型有多少参数”里的“参数”。占查询的几分之几。 @param {Entry} entry @param {Query} query */
function mention({ names, heading, share }, { whole }) {
  const called = share === 1 ? [...names, heading] : names;
  const longest = called.reduce((most, name) => (name.length > most && whole.includes(name) ? name.length : most), 0);
  return longest / whole.length;
}

/** 查询与一个短的说法有多像：相同是 1；否则看查询有多少在里面，它又有多少是查询里的。 @param {string} one @param {Query} query */
function alike(one, { whole, wanted, rarity, all }) {
  if (one === whole) return 1;
  let inside = 0;
  let letters = 0;
  wanted.forEach((term, i) => {
    if (!rarity[i] || !one.includes(squeeze(term.text))) return;
    inside += rarity[i];
    letters += term.word ? term.text.length : 1;
  });
  const recall = inside / all;
  if (!(recall >= 0.5)) return 0;
  return 0.85 * recall ** 1.5 * (0.4 + 0.6 * Math.min(1, letters / Math.max(1, one.length - 1)));
}
