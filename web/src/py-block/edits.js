/** 读者改过的代码：存在本机，按页面的版本；页面一改，旧的修改就不再套用。 */
import { fingerprint, isRecord, keys, pagePath, read, remove, write } from "../shared/store.js";

const LONGEST = 20_000; // 一段代码最多这么多字符

/**
 * 读出来的东西是不是合格的修改。编号要在这一页之内，代码要是不太长的文字。
 *
 * @param {unknown} value
 * @param {number} count 这一页有几段
 * @returns {Map<number, string> | null}
 */
export function checkEdits(value, count) {
  if (!isRecord(value)) return null;
  const found = new Map();
  for (const [key, code] of Object.entries(value)) {
    if (!/^\d{1,4}$/.test(key) || Number(key) >= count) return null;
    if (typeof code !== "string" || code.length > LONGEST) return null;
    found.set(Number(key), code);
  }
  return found;
}

export class Edits {
  /** @param {string[]} sources 这一页的原文，从上到下 */
  constructor(sources) {
    this.key = `edits:${pagePath()}:${fingerprint(sources.join("\0"))}`;
    const { value, refused } = read(this.key, (stored) => checkEdits(stored, sources.length));
    /** @type {Map<number, string>} */
    this.changed = value ?? new Map();
    /** 有存下的东西，但读不懂，没有使用。 */
    this.refused = refused;
  }

  /**
   * 记下第 `index` 段的新代码；`null` 是恢复原文。存不下时返回 false。
   * @param {number} index
   * @param {string | null} code
   */
  set(index, code) {
    if (code === null) this.changed.delete(index);
    else this.changed.set(index, code);
    if (this.changed.size === 0) {
      remove(this.key);
      return true;
    }
    for (const old of keys(`edits:${pagePath()}:`)) {
      if (old !== this.key) remove(old);
    }
    return ![...this.changed.values()].some((text) => text.length > LONGEST) && write(this.key, Object.fromEntries(this.changed));
  }
}
