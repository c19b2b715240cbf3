// 换一种说法：别处的叫法、英文、拼错的标识符。
import { fold, squeeze } from "./text.js";

/** @typedef {{ pattern: RegExp, to: string }} Rule 一种说法换成另一种 */

/** 长的在前；写的时候中间可以有空格，也可以没有。 @param {[string, string][]} rows @returns {Rule[]} */
export function rules(rows) {
  return [...rows]
    .sort(([one], [other]) => other.length - one.length)
    .map(([from, to]) => {
      const letters = [...squeeze(fold(from))].map((letter) => letter.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&"));
      // `split_heads` 里的 head 不是一个词。
      return { pattern: new RegExp(`(^|[^a-z0-9_])${letters.join("\\s*")}(?![a-z0-9_])`, "gu"), to: fold(to) };
    });
}

/** 查询里的说法换掉以后的样子；没有可换的是空。 @param {string} asked 已折叠 @param {Rule[]} all */
export function replace(asked, all) {
  let changed = asked;
  for (const { pattern, to } of all) {
    // “词嵌入”里的“嵌入”不是别处的叫法。
    if (!changed.includes(to)) changed = changed.replace(pattern, (_, before) => before + to);
  }
  return changed === asked ? "" : changed;
}

/** 短的词不猜；长的词可以错两处。 @param {string} word */
const allowed = (word) => (word.length < 5 ? 0 : word.length < 9 ? 1 : 2);

/**
 * 哪里也没有的词 → 网站里最像的词；没有够像的是空。同样像时取出现得多的。
 * @param {string} word @param {Map<string, number>} vocabulary 词 → 出现几次
 */
export function nearest(word, vocabulary) {
  let found = { word: "", steps: allowed(word) + 1, often: 0 };
  for (const [known, often] of vocabulary) {
    if (Math.abs(known.length - word.length) >= found.steps + 1) continue;
    const steps = distance(word, known, found.steps);
    if (steps < found.steps || (steps === found.steps && found.word && often > found.often)) {
      found = { word: known, steps, often };
    }
  }
  return found.word;
}

/** 改几处：增、删、换一个字母，或者相邻的两个对调。超过 `most` 就不再数。 @param {string} one @param {string} other @param {number} most */
function distance(one, other, most) {
  /** @type {number[]} */
  let before = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        row[j] = Math.min(row[j], before[j - 2] + 1);
      }
    }
    if (Math.min(...row) > most) return most + 1;
    before = last;
    last = row;
  }
  return last[other.length];
}
