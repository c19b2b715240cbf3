// 两个网址的路径有多像：共有的相邻两字占几成（0 到 1），写错一两个字母、少一层文件夹都还认得出。

/** @param {string} path */
function pairs(path) {
  const text = path.toLowerCase().replace(/(?:index)?\.html?$|\.md$|\.ipynb$/, "").replace(/[^\p{L}\p{N}]+/gu, " ").trim();
  /** @type {Map<string, number>} */
  const found = new Map();
  for (let i = 0; i + 1 < text.length; i += 1) {
    const pair = text.slice(i, i + 2);
    found.set(pair, (found.get(pair) ?? 0) + 1);
  }
  return found;
}

/**
 * @param {string} asked
 * @param {string} path
 */
export function likeness(asked, path) {
  const [a, b] = [pairs(asked), pairs(path)];
  let common = 0;
  let total = 0;
  for (const [pair, count] of a) common += Math.min(count, b.get(pair) ?? 0);
  for (const count of [...a.values(), ...b.values()]) total += count;
  return total ? (2 * common) / total : 0;
}

/**
 * 最像的几个，从最像的开始；都不像时是空的。
 * @param {string} asked
 * @param {string[]} paths
 */
export function nearest(asked, paths, count = 3, least = 0.5) {
  const scored = paths.map((path) => ({ path, score: likeness(asked, path) }));
  return scored
    .filter(({ score }) => score >= least)
    .sort((a, b) => b.score - a.score)
    .slice(0, count)
    .map(({ path }) => path);
}
