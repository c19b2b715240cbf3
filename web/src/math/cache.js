// 键值缓存的账：每一步算了什么、读了什么、占多少字节；没有 DOM，没有依赖。

/**
 * @typedef {object} Step 生成中的一步：预填充，或解码一个词元。
 * @property {"prefill" | "decode"} phase
 * @property {number} from 这一步送进来的第一个词元的位置。
 * @property {number} length 这一步之后，序列的长度。
 * @property {{ cached: number, uncached: number }} projected 这一步算了几个词元的 K 与 V。
 * @property {{ cached: number, uncached: number }} scores 这一步每层每头算了几个分数（没有缓存时按整个方阵计）。
 * @property {number} read 有缓存时，从缓存里读出几个词元的 K 与 V。
 */

/**
 * 先预填充 `prompt` 个词元，再解码 `steps` 步。
 * @param {number} prompt
 * @param {number} steps
 * @returns {Step[]}
 */
export function generation(prompt, steps) {
  for (const [name, size, least] of /** @type {const} */ ([
    ["prompt", prompt, 1],
    ["steps", steps, 0],
  ])) {
    if (!Number.isInteger(size) || size < least)
      throw new RangeError(`${name} 应是不小于 ${least} 的整数，得到 ${size}`);
  }
  return Array.from({ length: steps + 1 }, (_, s) => {
    const length = prompt + s;
    const fresh = s ? 1 : prompt;
    return {
      phase: s ? "decode" : "prefill",
      from: length - fresh,
      length,
      projected: { cached: fresh, uncached: length },
      scores: { cached: fresh * length, uncached: length * length },
      read: length - fresh,
    };
  });
}

/**
 * 从第一步到每一步为止的合计。
 * @param {Step[]} steps
 * @returns {{ projected: Step["projected"], scores: Step["scores"] }[]}
 */
export function running(steps) {
  const total = { projected: { cached: 0, uncached: 0 }, scores: { cached: 0, uncached: 0 } };
  return steps.map(({ projected, scores }) => {
    for (const way of /** @type {const} */ (["cached", "uncached"])) {
      total.projected[way] += projected[way];
      total.scores[way] += scores[way];
    }
    return { projected: { ...total.projected }, scores: { ...total.scores } };
  });
}

/**
 * 一段文本的键值缓存占多少字节：K 与 V 各一份，所以乘 2。
 * @param {{ length: number, kvHeads: number, headDim: number, layers: number, bytesEach: number }} shape
 */
export function cacheBytes({ length, kvHeads, headDim, layers, bytesEach }) {
  return 2 * length * kvHeads * headDim * layers * bytesEach;
}
