// 网址里的状态：`?元素名=键:值~键:值`。只当数据读：键、长度、每个值都查过才用，不合格的整个拒绝。

const LONGEST = 600;
const SHOWN = 60;

/** 网址里的状态不能用；消息是给人看的一句话。 */
export class StateError extends Error {}

/** @template T @typedef {(text: string, key: string) => T} Parser */

/**
 * 有界的整数。
 * @param {number} least
 * @param {number} most
 * @returns {Parser<number>}
 */
export const integer = (least, most) => (text, key) => {
  const value = /^\d{1,7}$/.test(text) ? Number(text) : NaN;
  if (!(value >= least && value <= most)) throw new StateError(`${key} 应是 ${least} 到 ${most} 的整数`);
  return value;
};

/**
 * 几个词里的一个。
 * @template {string} T
 * @param {readonly T[]} words
 * @returns {Parser<T>}
 */
export const word =
  (...words) =>
  (text, key) => {
    const found = words.find((each) => each === text);
    if (found === undefined) throw new StateError(`${key} 只能是 ${words.join("、")}`);
    return found;
  };

/** @type {Parser<boolean>} */
export const flag = (text, key) => word("0", "1")(text, key) === "1";

/** 数的范围：再大，格子里就写不下了。 */
export const LARGEST = 100;

/**
 * 写成十进制的一个数，绝对值不超过 100，至多 4 位小数；不是就返回 NaN。
 * @param {string} text
 */
export function decimal(text) {
  const plain = text
    .trim()
    .replace(/^[−－]/, "-")
    .replace("。", ".");
  const value = /^[-+]?(\d{1,3}(\.\d{0,4})?|\.\d{1,4})$/.test(plain) ? Number(plain) + 0 : NaN;
  return Math.abs(value) <= LARGEST ? value : NaN;
}

/**
 * 矩阵：`1,0;0,1`。
 * @param {number} rows
 * @param {number} columns
 * @returns {Parser<number[][]>}
 */
export const matrix = (rows, columns) => (text, key) => {
  const found = text.split(";").map((row) => row.split(",").map(decimal));
  const width = found[0].length;
  if (found.length > rows || width > columns) throw new StateError(`${key} 至多 ${rows} 行 ${columns} 列`);
  if (found.some((row) => row.length !== width)) throw new StateError(`${key} 的行宽不一`);
  if (found.flat().some(Number.isNaN)) throw new StateError(`${key} 里有不是 −${LARGEST} 到 ${LARGEST} 的数`);
  return found;
};

/**
 * 按 `parsers` 读一串状态；没有写的键不出现在结果里。
 * @template {Record<string, Parser<any>>} P
 * @param {string} text
 * @param {P} parsers
 * @returns {{ [K in keyof P]?: ReturnType<P[K]> }}
 */
export function parse(text, parsers) {
  if (text.length > LONGEST) throw new StateError(`太长：${text.length} 个字符，至多 ${LONGEST} 个`);
  /** @type {Map<string, any>} */
  const found = new Map();
  for (const part of text.split("~")) {
    const [, key, value] = /^([a-z]+):(.+)$/i.exec(part) ?? [];
    if (!key || !Object.hasOwn(parsers, key)) throw new StateError("有看不懂的部分");
    if (found.has(key)) throw new StateError(`${key} 写了两次`);
    found.set(key, parsers[key](value, key));
  }
  return /** @type {any} */ (Object.fromEntries(found));
}

/**
 * 状态 → 一串字；与 `parse` 相反。
 * @param {Record<string, any>} state
 */
export function format(state) {
  const written = Object.entries(state).map(([key, value]) => {
    if (typeof value === "boolean") return `${key}:${value ? 1 : 0}`;
    if (Array.isArray(value)) return `${key}:${value.map((row) => [row].flat().join(",")).join(";")}`;
    return `${key}:${value}`;
  });
  return written.join("~");
}

/** 要显示给人看的一段来历不明的文字：截短。 @param {string} text */
export function excerpt(text) {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}……` : text;
}

/** @param {string} name @param {string} [search] */
export function read(name, search = location.search) {
  return new URLSearchParams(search).get(name);
}

/**
 * 带上这个状态的网址；别的参数与锚点不变。手写而不用 URLSearchParams，是为了让逗号、分号保持原样，好读。
 * @param {string} name
 * @param {string | null} text
 * @param {string} [address]
 */
export function address(name, text, address = location.href) {
  const url = new URL(address);
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((part) => part && part.split("=")[0] !== name);
  if (text !== null) kept.push(`${name}=${text}`);
  url.search = kept.join("&");
  return url.href;
}
