// 旋转位置编码，与 code/03-attention-demo.py 的 precompute_freqs_cis、apply_rotary_pos_emb 对应。
// 没有 DOM，没有依赖。
import { dot } from "./attention.js";

/** @typedef {"half" | "interleaved"} Layout 前后配对，或相邻配对。 */

/**
 * 每一对通道走一个位置转过的弧度：base ** (-2i / D)。
 * @param {number} headDim
 * @param {number} [base]
 */
export function thetas(headDim, base = 10000) {
  if (!Number.isInteger(headDim) || headDim < 1) throw new RangeError(`head_dim 应是正整数，得到 ${headDim}`);
  if (headDim % 2) throw new RangeError(`head_dim = ${headDim} 是奇数：RoPE 要把通道两两配对`);
  if (!(base > 0 && base < Infinity)) throw new RangeError(`rope_base 应是有限的正数，得到 ${base}`);
  return Array.from({ length: headDim / 2 }, (_, i) => base ** -((2 * i) / headDim));
}

/**
 * 第 i 对是哪两个通道。
 * @param {number} headDim
 * @param {Layout} layout
 * @returns {[number, number][]}
 */
export function pairs(headDim, layout) {
  const half = headDim / 2;
  return Array.from({ length: half }, (_, i) => (layout === "half" ? [i, i + half] : [2 * i, 2 * i + 1]));
}

/**
 * 把向量转到某个位置：每一对 (a, b) 变成 (a cos − b sin, b cos + a sin)。
 * @param {number[]} x
 * @param {number} position
 * @param {Layout} [layout]
 * @param {number} [base]
 */
export function rotate(x, position, layout = "half", base = 10000) {
  const angles = thetas(x.length, base);
  const out = [...x];
  pairs(x.length, layout).forEach(([first, second], i) => {
    const [cos, sin] = [Math.cos(position * angles[i]), Math.sin(position * angles[i])];
    out[first] = x[first] * cos - x[second] * sin;
    out[second] = x[second] * cos + x[first] * sin;
  });
  return out;
}

/**
 * 查询在位置 m、键在位置 n 时，每一对通道对点积的贡献；加起来就是点积。
 * @param {number[]} q
 * @param {number} m
 * @param {number[]} k
 * @param {number} n
 * @param {Layout} [layout]
 * @param {number} [base]
 */
export function contributions(q, m, k, n, layout = "half", base = 10000) {
  const [turnedQ, turnedK] = [rotate(q, m, layout, base), rotate(k, n, layout, base)];
  return pairs(q.length, layout).map(([a, b]) => turnedQ[a] * turnedK[a] + turnedQ[b] * turnedK[b]);
}

/**
 * 旋转以后的点积，只取决于 m − n。
 * @param {number[]} q
 * @param {number} m
 * @param {number[]} k
 * @param {number} n
 * @param {Layout} [layout]
 * @param {number} [base]
 */
export function score(q, m, k, n, layout = "half", base = 10000) {
  return dot(rotate(q, m, layout, base), rotate(k, n, layout, base));
}

/**
 * 让前后的一对变成相邻的一对：0, D/2, 1, D/2 + 1, …
 * @param {number[]} x
 */
export function reorder(x) {
  return pairs(x.length, "half").flatMap(([a, b]) => [x[a], x[b]]);
}
