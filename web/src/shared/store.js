/**
 * 存在浏览器里的状态（localStorage）。只在本机，从不发送。
 *
 * 读出来的东西不可信：别的脚本、别的标签页、读者自己都可能改过它。读的一方要给出 `check`，
 * 只有合格的才用；太大的、不是 JSON 的、形状不对的，一律当作没有。
 */

export const PREFIX = "livedocs:";
export const LARGEST = 200_000; // 一项最多这么多字符

/**
 * @template T
 * @param {string} key
 * @param {(value: unknown) => T | null} check
 * @returns {{ value: T | null, refused: boolean }} `refused`：有东西，但不合格
 */
export function read(key, check) {
  let text = null;
  try {
    text = localStorage.getItem(PREFIX + key);
  } catch {
    // 浏览器不许用：像没有存过一样
  }
  if (text === null) return { value: null, refused: false };
  if (text.length > LARGEST) return { value: null, refused: true };
  try {
    const value = check(JSON.parse(text));
    return { value, refused: value === null };
  } catch {
    return { value: null, refused: true };
  }
}

/**
 * 存下；存不下（太大、已满、不许用）时返回 false。
 * @param {string} key
 * @param {unknown} value
 */
export function write(key, value) {
  const text = JSON.stringify(value);
  if (text.length > LARGEST) return false;
  try {
    localStorage.setItem(PREFIX + key, text);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} key */
export function remove(key) {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // 没有存过
  }
}

/**
 * 以 `prefix` 开头的全部键（不含共同的前缀）。
 * @param {string} prefix
 */
export function keys(prefix) {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX + prefix))
      .map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/**
 * 53 位散列：用来认出“同一版页面”，不用来保密。
 * @param {string} text
 */
export function fingerprint(text) {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}

/** 这个网站里这一页的路径；同一个主机上的别的网站不会混进来。 */
export function pagePath() {
  return location.pathname;
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
