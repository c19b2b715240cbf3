/**
 * 自测的进度：存在本机，一页一项，页面的题目改了就作废。
 *
 * @typedef {{ version: string, total: number, done: Record<string, "right" | "wrong"> }} Progress
 */
import { isRecord, keys, pagePath, read, remove, write } from "../shared/store.js";

const MOST = 200; // 一页最多这么多题

/** @param {unknown} value @returns {Progress | null} */
export function checkProgress(value) {
  if (!isRecord(value) || typeof value.version !== "string" || value.version.length > 40) return null;
  const { version, total, done } = value;
  if (typeof total !== "number" || !Number.isInteger(total) || total < 1 || total > MOST || !isRecord(done)) return null;
  /** @type {Progress["done"]} */
  const kept = {};
  for (const [key, state] of Object.entries(done)) {
    if (!/^\d{1,3}$/.test(key) || Number(key) >= total || (state !== "right" && state !== "wrong")) return null;
    kept[key] = state;
  }
  return { version, total, done: kept };
}

/** @param {string} version @param {number} total @returns {Progress} */
export function load(version, total) {
  const { value } = read(`quiz:${pagePath()}`, checkProgress);
  return value && value.version === version && value.total === total ? value : { version, total, done: {} };
}

/** @param {Progress} progress */
export function save(progress) {
  if (Object.keys(progress.done).length === 0) remove(`quiz:${pagePath()}`);
  else write(`quiz:${pagePath()}`, progress);
}

/** @param {Progress} progress */
export function rightOf(progress) {
  return Object.values(progress.done).filter((state) => state === "right").length;
}

/** 全站：路径 → 进度。 */
export function everywhere() {
  /** @type {Map<string, Progress>} */
  const found = new Map();
  for (const key of keys("quiz:")) {
    const { value } = read(key, checkProgress);
    if (value) found.set(key.slice("quiz:".length), value);
  }
  return found;
}
