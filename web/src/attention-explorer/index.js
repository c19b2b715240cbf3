// <attention-explorer>：改 Q、K、V，一步一步看一次注意力读取。算术全在 math/attention.js。
import { attention, checkShapes, visible } from "../math/attention.js";
import { h } from "../see/dom.js";
import { brief, factor, heatmap, segments, show, slider, spinner, stepper, toggle } from "../see/parts.js";
import { LARGEST, StateError, decimal, flag, integer, matrix, word } from "../see/state.js";
import { mount as install } from "../see/widget.js";
import css from "./style.js";

/** @typedef {number[][]} Matrix */
/** @typedef {"q" | "k" | "v"} Name */
/**
 * @typedef {object} State
 * @property {Matrix} q
 * @property {Matrix} k
 * @property {Matrix} v
 * @property {boolean} mask
 * @property {boolean} scale
 * @property {"rows" | "columns"} axis
 * @property {number} t 温度
 * @property {number} step
 * @property {number} i 选中的行
 * @property {number} j 选中的列
 */

const ROWS = 6;
const WIDTH = 4;
const STEPS = /** @type {const} */ (["dots", "scaled", "masked", "weights", "output"]);
const NAMES = ["点积", "缩放", "掩码", "权重", "输出"];
const SHAPES = ["[Tq][Tk]", "[Tq][Tk]", "[Tq][Tk]", "[Tq][Tk]", "[Tq][Dv]"];

/** @type {import("../see/state.js").Parser<number>} */
const temperature = (text, key) => {
  const value = decimal(text);
  if (!(value >= 0.1 && value <= 5)) throw new StateError(`${key}（温度）应是 0.1 到 5 的数`);
  return Math.round(value * 10) / 10;
};

const initial = /** @type {State} */ ({
  q: [
    [1, 0],
    [0, 1],
  ],
  k: [
    [1, 0],
    [0, 1],
  ],
  v: [
    [2, 0],
    [0, 4],
  ],
  mask: true,
  scale: true,
  axis: "rows",
  t: 1,
  step: 0,
  i: 1,
  j: 0,
});

/** 改行数、列数：多出来的格子补 0，对角线补 1。 @param {Matrix} rows @param {number} height @param {number} width */
function resize(rows, height, width) {
  return Array.from({ length: height }, (_, i) =>
    Array.from({ length: width }, (_, j) => rows[i]?.[j] ?? (i < rows.length ? 0 : Number(i % width === j))),
  );
}

/** @param {State} state */
function stages({ q, k, v, mask, scale, axis, t }) {
  return attention(q, k, v, { mask, scale, axis, temperature: t });
}

/** @param {number} n */
const names = (n, /** @type {string} */ letter) => Array.from({ length: n }, (_, i) => `${letter}${i}`);

/** 分母怎样写。 @param {State} state */
function divisor({ scale, t, q }) {
  const parts = [scale && `√${q[0].length}`, t !== 1 && show(t)].filter(Boolean);
  return parts.length > 1 ? `(${parts.join(" × ")})` : parts[0] || "1";
}

/** 算出选中那一格的算式，一行一段。 @param {State} state */
function sum(state) {
  const { q, k, v, i, j, step, axis, mask } = state;
  const { dots, scaled, masked, weights, output } = stages(state);
  const seen = visible(i, q.length, k.length, mask);
  const b = (/** @type {number} */ x) => h("b", null, show(x));
  if (step === 0) {
    const terms = q[i].flatMap((x, d) => [
      d ? " + " : "",
      h("span", { class: "q" }, factor(x)),
      "×",
      h("span", { class: "k" }, factor(k[j][d])),
    ]);
    return [`q${i} · k${j} = `, terms, " = ", b(dots[i][j])];
  }
  if (step === 1) return [`${show(dots[i][j])} ÷ ${divisor(state)} = `, b(scaled[i][j])];
  if (step === 2) {
    if (j < seen) return [`j = ${j} ${mask ? `≤ ${seen - 1}` : "，没有掩码"}：不变，还是 `, b(masked[i][j])];
    return [`j = ${j} > ${seen - 1}：未来，${show(scaled[i][j])} 换成 `, b(masked[i][j])];
  }
  if (step === 3) {
    const line = axis === "rows" ? masked[i] : masked.map((row) => row[j]);
    const own = masked[i][j];
    // 分数大的时候先减去最大值，免得写出天文数字；结果一样。
    const peak = Math.max(...line.map((s) => (s === -Infinity ? 0 : Math.abs(s)))) > 20 ? Math.max(...line) : 0;
    const power = (/** @type {number} */ s) => h("span", null, "e", h("sup", null, show(s - peak)));
    const total = line.reduce((all, s) => all + Math.exp(s - peak), 0);
    return [
      h(
        "div",
        null,
        power(own),
        " ÷ (",
        line.flatMap((s, n) => [n ? " + " : "", power(s)]),
        ")",
        peak ? `　已减去最大值 ${show(peak)}` : null,
      ),
      h("div", null, `= ${show(Math.exp(own - peak))} ÷ ${show(total)} = `, b(weights[i][j])),
    ];
  }
  const terms = weights[i].flatMap((w, n) => [
    n ? " + " : "",
    h("span", { class: "w" }, show(w)),
    "×",
    h("span", { class: "v" }, factor(v[n][j])),
  ]);
  return [`o${i}[${j}] = `, terms, " = ", b(output[i][j])];
}

/** @param {State} state */
function say(state) {
  const { q, k, step, i, j, axis, mask, scale, t } = state;
  const { dots, scaled, masked, weights, output } = stages(state);
  const head = `第 ${step + 1} 步，${NAMES[step]}。`;
  const pair = `查询 q${i} 与键 k${j}`;
  if (step === 0) return `${head}${pair} 的点积是 ${show(dots[i][j])}。`;
  if (step === 1) {
    if (!scale && t === 1) return `${head}缩放关着，分数还是 ${show(scaled[i][j])}。`;
    return `${head}${pair} 的分数从 ${show(dots[i][j])} 变成 ${show(scaled[i][j])}；同一行里谁大谁小不变。`;
  }
  if (step === 2) {
    if (!mask) return `${head}掩码关着，每个查询看得到全部 ${k.length} 个键。`;
    const seen = visible(i, q.length, k.length, mask);
    const range = seen === 1 ? "k0" : `k0 到 k${seen - 1}`;
    return `${head}查询 q${i} 看得到 ${range}；k${j} ${j < seen ? "看得到，分数不变" : "在未来，分数换成 −∞"}。`;
  }
  if (step === 3) {
    const rowSum = weights[i].reduce((a, w) => a + w, 0);
    const row = `第 ${i} 行的和是 ${show(rowSum)}`;
    if (axis === "columns")
      return `${head}softmax 按列做：shape 没有变，可是${row}${Math.abs(rowSum - 1) < 1e-9 ? "，恰好看不出错" : "，不是 1"}。`;
    const leak = mask ? 0 : weights[i].slice(visible(i, q.length, k.length, true)).reduce((a, w) => a + w, 0);
    return `${head}q${i} 给 k${j} 的权重是 ${show(weights[i][j])}；${row}${leak > 0 ? `，其中 ${show(leak * 100, 1)} % 给了未来` : ""}。${masked[i][j] === -Infinity ? "被屏蔽的位置恰好是 0。" : ""}`;
  }
  return `${head}第 ${i} 行输出的第 ${j} 个分量是 ${show(output[i][j])}：各行值的第 ${j} 个分量，按 q${i} 的权重加起来。`;
}

/** 可以改的矩阵。 @param {Name} name @param {State} state @param {import("../see/widget.js").Tools<State>} tools */
function editor(name, state, { set, refuse, refused }) {
  const rows = state[name];
  const { step, i, j, axis } = state;
  const lit = (/** @type {number} */ row, /** @type {number} */ column) =>
    (name === "q" && step === 0 && row === i) ||
    (name === "k" && step === 0 && row === j) ||
    (name === "v" && step === 4 && column === j) ||
    (name === "q" && step === 3 && axis === "rows" && row === i);
  /** @param {number} r @param {number} c @param {string} text */
  function change(r, c, text) {
    const cell = `${name}-${r}-${c}`;
    const value = decimal(text);
    if (Number.isNaN(value)) {
      return refuse(
        `${name.toUpperCase()}[${r}][${c}] 应是 −${LARGEST} 到 ${LARGEST} 的数，至多 4 位小数；得到“${text.slice(0, 20)}”。`,
        cell,
      );
    }
    set(
      /** @type {Partial<State>} */ ({
        [name]: rows.map((row, y) => (y === r ? row.map((x, z) => (z === c ? value : x)) : row)),
      }),
    );
  }
  /** @param {KeyboardEvent} event @param {number} r @param {number} c */
  function key(event, r, c) {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const delta = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Enter") change(r, c, input.value);
    if (!delta) return;
    event.preventDefault();
    const next = Math.max(-LARGEST, Math.min(LARGEST, Math.round((rows[r][c] + delta) * 1e4) / 1e4));
    input.value = String(next);
    change(r, c, input.value);
  }
  return h(
    "div",
    {
      class: `editor ${name}`,
      role: "group",
      "aria-label": `${name.toUpperCase()}，${rows.length} 行 ${rows[0].length} 列`,
    },
    h("span", { class: "title" }, { q: "Q 查询", k: "K 键", v: "V 值" }[name]),
    h(
      "div",
      { class: "inputs", vars: { "--n": String(rows[0].length) } },
      rows.map((row, r) => [
        h("span", { class: "row-name" }, `${name}${r}`),
        row.map((x, c) =>
          h("input", {
            type: "text",
            autocomplete: "off",
            spellcheck: "false",
            enterkeyhint: "done",
            value: String(x),
            class: lit(r, c) ? "lit" : null,
            "aria-label": `${name.toUpperCase()}[${r}][${c}]`,
            "aria-invalid": refused === `${name}-${r}-${c}` ? "true" : null,
            "data-cell": `${name}-${r}-${c}`,
            onchange: (/** @type {any} */ event) => change(r, c, event.target.value),
            onkeydown: (/** @type {any} */ event) => key(event, r, c),
            onfocus: (/** @type {any} */ event) => event.target.select(),
          }),
        ),
      ]),
    ),
  );
}

/** @param {number} at @param {State} state @param {import("../see/widget.js").Tools<State>} tools @param {boolean} live */
function picture(at, state, { set }, live) {
  const result = stages(state)[STEPS[at]];
  const { q, k, v, i, j, step, axis } = state;
  const finite = result.flat().filter(Number.isFinite).map(Math.abs);
  const top = at === 3 ? 1 : Math.max(...finite, 1e-12);
  const lit = (/** @type {number} */ r, /** @type {number} */ c) => {
    if (live || at !== step - 1) return false;
    if (step === 4) return r === i;
    return step === 3 ? (axis === "rows" ? r === i : c === j) : r === i && c === j;
  };
  const letter = at === 4 ? "o" : "q";
  const columns = at === 4 ? names(v[0].length, "") : names(k.length, "k");
  const sums = at === 3 ? result.map((row) => row.reduce((a, w) => a + w, 0)) : null;
  return h(
    "div",
    { class: `picture ${live ? "live" : ""}` },
    h("span", { class: "title" }, `${at + 1} ${NAMES[at]} `, h("code", null, SHAPES[at])),
    heatmap({
      id: live ? "now" : "before",
      label: `${NAMES[at]}，${q.length} 行 ${columns.length} 列`,
      rows: names(q.length, letter),
      columns,
      at: live ? [i, j] : null,
      choose: live ? (r, c, focus) => set({ i: r, j: c }, focus) : undefined,
      cell: (r, c) => ({
        text: brief(result[r][c], columns.length),
        name: `${NAMES[at]} 第 ${r} 行第 ${c} 列：${result[r][c] === -Infinity ? "负无穷，已屏蔽" : show(result[r][c])}`,
        heat: Number.isFinite(result[r][c]) ? result[r][c] / top : 0,
        kind: `${result[r][c] === -Infinity ? "off" : ""} ${lit(r, c) ? "lit" : ""}`,
      }),
      extra: sums
        ? {
            name: "行和",
            cells: sums.map((x, r) => ({
              text: brief(x, columns.length),
              name: `第 ${r} 行的和 ${show(x)}`,
              kind: Math.abs(x - 1) < 1e-9 ? "" : "wrong",
            })),
          }
        : undefined,
    }),
  );
}

/** @param {State} state @param {import("../see/widget.js").Tools<State>} tools */
function view(state, tools) {
  const { q, k, v, mask, scale, axis, t, step } = state;
  const { set } = tools;
  const [Tq, Tk, D, Dv] = [q.length, k.length, q[0].length, v[0].length];
  return [
    h("div", { class: "editors" }, editor("q", state, tools), editor("k", state, tools), editor("v", state, tools)),
    h(
      "div",
      { class: "bar" },
      h(
        "div",
        { class: "steps" },
        segments(
          "步骤",
          NAMES.map((text, value) => ({ value, text: `${value + 1} ${text}` })),
          step,
          (at) => set({ step: at }),
          "step",
        ),
      ),
      stepper(step, STEPS.length - 1, (at) => set({ step: at })),
    ),
    h(
      "div",
      { class: "pictures" },
      step > 0 && picture(step - 1, state, tools, false),
      picture(step, state, tools, true),
    ),
    h("div", { class: "sum" }, sum(state)),
    tools.said,
    h(
      "div",
      { class: "bar" },
      toggle("因果掩码", mask, (on) => set({ mask: on })),
      toggle("除以 √D", scale, (on) => set({ scale: on })),
      segments(
        "softmax",
        [
          { value: "rows", text: "按行" },
          { value: "columns", text: "按列（错）" },
        ],
        axis,
        (x) => set({ axis: x }),
        "axis",
      ),
      slider("温度", { value: t, min: 0.1, max: 5, step: 0.1, shown: show(t) }, (x) =>
        set({ t: Math.round(x * 10) / 10 }),
      ),
    ),
    h(
      "details",
      { class: "sizes" },
      h("summary", null, `改尺寸：Tq = ${Tq}，Tk = ${Tk}，D = ${D}，Dv = ${Dv}`),
      h(
        "div",
        { class: "bar" },
        spinner("Tq", Tq, 1, ROWS, (n) => set({ q: resize(q, n, D) })),
        spinner("Tk", Tk, 1, ROWS, (n) => set({ k: resize(k, n, D), v: resize(v, n, Dv) })),
        spinner("D", D, 1, WIDTH, (n) => set({ q: resize(q, Tq, n), k: resize(k, Tk, n) })),
        spinner("Dv", Dv, 1, WIDTH, (n) => set({ v: resize(v, Tk, n) })),
      ),
    ),
  ];
}

/** @param {HTMLElement} host */
export function mount(host) {
  return install(host, {
    name: "attention-explorer",
    title: "改一改：一次读取的五步",
    css,
    initial,
    parsers: {
      q: matrix(ROWS, WIDTH),
      k: matrix(ROWS, WIDTH),
      v: matrix(ROWS, WIDTH),
      mask: flag,
      scale: flag,
      axis: word("rows", "columns"),
      t: temperature,
      step: integer(0, 4),
      i: integer(0, ROWS - 1),
      j: integer(0, ROWS - 1),
    },
    check: ({ q, k, v, mask }) => checkShapes(q, k, v, mask),
    settle: (state) => ({
      ...state,
      i: Math.min(state.i, state.q.length - 1),
      j: Math.min(state.j, (state.step === 4 ? state.v[0].length : state.k.length) - 1),
    }),
    view,
    say,
  });
}
