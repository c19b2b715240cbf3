// 拆头与合并，与 code/multi_head_shapes.py 对应。张量是一串数加一个 shape；没有 DOM，没有依赖。
import { dot, softmax } from "./attention.js";

/**
 * @typedef {object} Tensor 按行存放（最后一维相邻）的张量。
 * @property {number[]} shape
 * @property {number[]} data
 */

/** @typedef {{ B: number, T: number, C: number, H: number }} Sizes */

/**
 * 检查四个尺寸；不合就抛出说得清原因的错。
 * @param {Sizes} sizes
 */
export function checkSizes({ B, T, C, H }) {
  for (const [name, size] of Object.entries({ B, T, C, n_heads: H })) {
    if (!Number.isInteger(size) || size < 1) throw new RangeError(`${name} 应是正整数，得到 ${size}`);
  }
  if (C % H) throw new RangeError(`hidden_size = ${C} 不能被 n_heads = ${H} 整除`);
}

/**
 * 按行存放时，每个轴走一步跨过几个数。
 * @param {number[]} shape
 */
export function strides(shape) {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((product, size) => product * size, 1));
}

/**
 * 下标 → 在那串数里的序号。
 * @param {number[]} shape
 * @param {number[]} index
 */
export function offset(shape, index) {
  return dot(strides(shape), index);
}

/**
 * 序号 → 下标，`offset` 的逆。
 * @param {number[]} shape
 * @param {number} position
 */
export function indexOf(shape, position) {
  return strides(shape).map((stride, axis) => Math.floor(position / stride) % shape[axis]);
}

/**
 * 交换中间两个轴，数据随之重排：[B, X, Y, D] → [B, Y, X, D]。
 * @param {Tensor} x
 * @returns {Tensor}
 */
export function swapMiddle({ shape: [B, X, Y, D], data }) {
  const out = [];
  for (let b = 0; b < B; b++) {
    for (let y = 0; y < Y; y++) {
      for (let x = 0; x < X; x++) {
        const start = ((b * X + x) * Y + y) * D;
        for (let d = 0; d < D; d++) out.push(data[start + d]);
      }
    }
  }
  return { shape: [B, Y, X, D], data: out };
}

/**
 * [B, T, C] → [B, H, T, D]：先把最后一维拆成两个轴，再把头换到词元前面。
 * @param {Tensor} x
 * @param {number} H
 * @returns {Tensor}
 */
export function splitHeads({ shape: [B, T, C], data }, H) {
  checkSizes({ B, T, C, H });
  return swapMiddle({ shape: [B, T, H, C / H], data });
}

/**
 * [B, H, T, D] → [B, T, C]：`splitHeads` 的逆。
 * @param {Tensor} x
 * @returns {Tensor}
 */
export function mergeHeads(x) {
  const { shape, data } = swapMiddle(x);
  return { shape: [shape[0], shape[1], shape[2] * shape[3]], data };
}

/**
 * 反例：不转置就 reshape，shape 对，内容乱。
 * @param {Tensor} x
 * @returns {Tensor}
 */
export function mergeWithoutTranspose({ shape: [B, H, T, D], data }) {
  return { shape: [B, T, H * D], data };
}

/**
 * 没有偏置的线性层：y = x Wᵀ，`weight` 是 [输出, 输入]。
 * @param {Tensor} x
 * @param {number[][]} weight
 * @returns {Tensor}
 */
export function linear({ shape, data }, weight) {
  const width = shape[shape.length - 1];
  const out = [];
  for (let start = 0; start < data.length; start += width) {
    const row = data.slice(start, start + width);
    for (const line of weight) out.push(dot(line, row));
  }
  return { shape: [...shape.slice(0, -1), weight.length], data: out };
}

/**
 * 多头自注意力的每一步，名字与 MultiHeadAttention.forward(x, return_steps=True) 相同。
 * @param {Tensor} x [B, T, C]
 * @param {{ q: number[][], k: number[][], v: number[][], o: number[][] }} weight 四个 [C, C]
 * @param {number} H
 * @param {boolean} [causal]
 * @returns {Record<string, Tensor>}
 */
export function multiHead(x, weight, H, causal = true) {
  const qProj = linear(x, weight.q);
  const [q, k, v] = [qProj, linear(x, weight.k), linear(x, weight.v)].map((t) => splitHeads(t, H));
  const [B, , T, D] = q.shape;
  /** @type {Tensor} */
  const scores = { shape: [B, H, T, T], data: [] };
  /** @type {Tensor} */
  const weights = { shape: [B, H, T, T], data: [] };
  /** @type {Tensor} */
  const heads = { shape: [B, H, T, D], data: [] };
  for (let head = 0; head < B * H; head++) {
    const [qs, ks, vs] = [q, k, v].map((t) => rows(t.data, head * T, T, D));
    for (let i = 0; i < T; i++) {
      const line = ks.map((key, j) => (causal && j > i ? -Infinity : dot(qs[i], key) / Math.sqrt(D)));
      const share = softmax(line);
      scores.data.push(...line);
      weights.data.push(...share);
      for (let d = 0; d < D; d++) heads.data.push(share.reduce((sum, w, j) => sum + w * vs[j][d], 0));
    }
  }
  const merged = mergeHeads(heads);
  const output = linear(merged, weight.o);
  return { x, q_proj: qProj, q, k, v, scores, weights, heads, merged, output };
}

/**
 * @param {number[]} data
 * @param {number} first
 * @param {number} count
 * @param {number} width
 */
function rows(data, first, count, width) {
  return Array.from({ length: count }, (_, i) => data.slice((first + i) * width, (first + i + 1) * width));
}

/**
 * @typedef {object} Place 一个元素在某一步的位置。
 * @property {"project" | "reshape" | "transpose" | "matmul" | "merge"} step
 * @property {number[]} shape
 * @property {number[]} index
 * @property {number} position 这一步的数若按行存放，它是第几个（从 0 数起）。
 */

/**
 * 跟着投影结果里的一个元素 [b, t, c] 走完五步。
 * matmul 一步给出的是“权重乘值”以后，同一个头、同一个词元、同一个通道的那个数。
 * @param {Sizes} sizes
 * @param {[number, number, number]} start
 * @param {boolean} [transposed] false：合并时漏掉转置
 * @returns {Place[]}
 */
export function follow(sizes, [b, t, c], transposed = true) {
  checkSizes(sizes);
  const { B, T, C, H } = sizes;
  const D = C / H;
  const [h, d] = [Math.floor(c / D), c % D];
  /** @type {(step: Place["step"], shape: number[], index: number[]) => Place} */
  const place = (step, shape, index) => ({ step, shape, index, position: offset(shape, index) });
  const matmul = place("matmul", [B, H, T, D], [b, h, t, d]);
  return [
    place("project", [B, T, C], [b, t, c]),
    place("reshape", [B, T, H, D], [b, t, h, d]),
    place("transpose", [B, H, T, D], [b, h, t, d]),
    matmul,
    place("merge", [B, T, C], transposed ? [b, t, h * D + d] : indexOf([B, T, C], matmul.position)),
  ];
}
