// 单头注意力的每一步，与 code/single_head_attention.py 的 attention 逐步对应；没有 DOM，没有依赖。
// 测试用随机输入把这里的每个函数与 Python 比较：两边算得不一样，测试就失败。

/** @typedef {number[]} Row */
/** @typedef {Row[]} Matrix */

/**
 * @typedef {object} Options
 * @property {boolean} [mask] 因果掩码，对齐末尾；缺省打开。
 * @property {boolean} [scale] 除以 √D；缺省打开。
 * @property {"rows" | "columns"} [axis] softmax 归一的方向；缺省按行，按列是课文里的反例。
 * @property {number} [temperature] 分数再除以它；缺省是 1。
 */

/**
 * @typedef {object} Stages 五步的结果，依次是：
 * @property {Matrix} dots 点积 [Tq][Tk]。
 * @property {Matrix} scaled 缩放之后 [Tq][Tk]。
 * @property {Matrix} masked 掩码之后 [Tq][Tk]，看不到的位置是 -Infinity。
 * @property {Matrix} weights 权重 [Tq][Tk]。
 * @property {Matrix} output 输出 [Tq][Dv]。
 */

/**
 * 两个等长向量的点积。
 * @param {Row} a
 * @param {Row} b
 */
export function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i] * b[i];
  return total;
}

/**
 * 行列互换。
 * @param {Matrix} rows
 * @returns {Matrix}
 */
export function transpose(rows) {
  return rows[0].map((_, j) => rows.map((row) => row[j]));
}

/**
 * 一行分数 → 一行权重；先减去最大值，所以不会上溢。-Infinity 的权重恰好是 0。
 * @param {Row} row
 * @returns {Row}
 */
export function softmax(row) {
  const peak = Math.max(...row);
  if (!Number.isFinite(peak)) {
    if (peak !== -Infinity) throw new RangeError("这一行里有 NaN 或无穷大");
    throw new RangeError(`这一行的 ${row.length} 个分数全是 -inf：没有合法的键，权重无从分配`);
  }
  const exps = row.map((score) => Math.exp(score - peak));
  const total = exps.reduce((sum, e) => sum + e, 0);
  return exps.map((e) => e / total);
}

/**
 * 第 i 个查询看得见几个键：掩码对齐末尾，最后一个查询对应最后一个键。
 * @param {number} i
 * @param {number} Tq
 * @param {number} Tk
 * @param {boolean} mask
 */
export function visible(i, Tq, Tk, mask) {
  return mask ? Tk - Tq + i + 1 : Tk;
}

/**
 * 尺寸合不合；不合就抛出说得清 shape 的错。
 * @param {Matrix} queries
 * @param {Matrix} keys
 * @param {Matrix} values
 * @param {boolean} mask
 */
export function checkShapes(queries, keys, values, mask) {
  const [Tq, Tk, D, Dv] = [queries.length, keys.length, queries[0].length, values[0].length];
  if (keys[0].length !== D) {
    throw new RangeError(`查询与键的宽度不同：queries 是 [${Tq}][${D}]，keys 是 [${Tk}][${keys[0].length}]`);
  }
  if (values.length !== Tk) {
    throw new RangeError(`键与值的行数不同：keys 是 [${Tk}][${D}]，values 是 [${values.length}][${Dv}]`);
  }
  if (mask && Tq > Tk) {
    throw new RangeError(`queries[0] 没有合法的键：Tq = ${Tq} 大于 Tk = ${Tk}，掩码盖住了整行`);
  }
}

/**
 * 一次读取的五步。
 * @param {Matrix} queries [Tq][D]
 * @param {Matrix} keys [Tk][D]
 * @param {Matrix} values [Tk][Dv]
 * @param {Options} [options]
 * @returns {Stages}
 */
export function attention(queries, keys, values, options = {}) {
  const { mask = true, scale = true, axis = "rows", temperature = 1 } = options;
  checkShapes(queries, keys, values, mask);
  const [Tq, Tk] = [queries.length, keys.length];
  const divisor = (scale ? Math.sqrt(queries[0].length) : 1) * temperature;
  const dots = queries.map((query) => keys.map((key) => dot(query, key)));
  const scaled = dots.map((row) => row.map((score) => score / divisor));
  const masked = scaled.map((row, i) => {
    const seen = visible(i, Tq, Tk, mask);
    return row.map((score, j) => (j < seen ? score : -Infinity));
  });
  const weights = axis === "rows" ? masked.map(softmax) : transpose(transpose(masked).map(softmax));
  const columns = transpose(values);
  const output = weights.map((row) => columns.map((column) => dot(row, column)));
  return { dots, scaled, masked, weights, output };
}
