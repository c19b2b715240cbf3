// <kv-cache>：预填充与解码，一步一步看算了什么、读了什么；再算缓存的字节数。账全由 math/cache.js 算出。
import { cacheBytes, generation, running } from "../math/cache.js";
import { h } from "../see/dom.js";
import { count, segments, show, slider, spinner, stepper } from "../see/parts.js";
import { StateError, integer, word } from "../see/state.js";
import { mount as install } from "../see/widget.js";
import css from "./style.js";

/**
 * @typedef {object} State
 * @property {number} prompt
 * @property {number} steps
 * @property {number} at 第几步：0 是预填充
 * @property {"cached" | "uncached"} way
 * @property {number} length
 * @property {number} layers
 * @property {number} dim
 * @property {"2" | "4" | "1"} bytes 每个数的字节
 */

const MOST = { prompt: 8, steps: 8 };
const HEADS = 8;
const LENGTH = { min: 128, max: 32768 };
const WAYS = /** @type {const} */ ([
  { value: "cached", text: "有缓存" },
  { value: "uncached", text: "没有缓存" },
]);
const initial = /** @type {State} */ ({
  prompt: 4,
  steps: 3,
  at: 0,
  way: "cached",
  length: 2048,
  layers: 8,
  dim: 96,
  bytes: "2",
});

/** @param {number} from @param {number} to */
const span = (from, to) => (from === to ? `t${from}` : `t${from} 到 t${to}`);

/** 字节数 → 好读的单位。 @param {number} bytes */
function size(bytes) {
  for (const [unit, name] of /** @type {const} */ ([
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
  ])) {
    if (bytes >= unit) return `${show(bytes / unit, 2)} ${name}`;
  }
  return `${bytes} 字节`;
}

/** @param {State} state */
function say({ prompt, steps, at, way }) {
  const all = generation(prompt, steps);
  const { from, length, projected, scores } = all[at];
  const total = running(all)[at];
  const last = length - 1;
  const name = at === 0 ? `预填充：一次送进 ${prompt} 个词元` : `解码第 ${at} 步：只送进 t${last}`;
  const sums = `到此合计，投影 ${total.projected.cached} 个词元（没有缓存 ${total.projected.uncached} 个），分数 ${total.scores.cached} 个（没有缓存 ${total.scores.uncached} 个）`;
  if (way === "uncached") {
    return `${at === 0 ? name : `解码第 ${at} 步`}。没有缓存：${span(0, last)} 的 K、V 全部${at ? "重" : ""}算，${projected.uncached} 个查询对 ${length} 个键，${scores.uncached} 个分数。${sums}。`;
  }
  const rest = at === 0 ? "，存进缓存" : `，接到缓存末尾；${span(0, from - 1)} 的从缓存读`;
  const queries = `${projected.cached} 个查询对 ${length} 个键，${scores.cached} 个分数`;
  return `${name}。算 ${span(from, last)} 的 K、V${rest}。${queries}。${sums}。`;
}

/** 一行词元：新算、从缓存读、还没有。 @param {"K" | "V"} name @param {State} state */
function strip(name, { prompt, steps, at, way }) {
  const { from, length } = generation(prompt, steps)[at];
  const first = way === "cached" ? from : 0;
  const cells = Array.from({ length: prompt + steps }, (_, t) =>
    t >= length ? "none" : t >= first ? "fresh" : "kept",
  );
  const words = { none: "还没有", fresh: "这一步算", kept: "从缓存读" };
  return h(
    "div",
    {
      class: "strip",
      role: "group",
      "aria-label": `${name}：${cells.map((kind, t) => `t${t} ${words[kind]}`).join("，")}`,
    },
    h("b", null, name),
    cells.map((kind, t) => h("span", { class: `token ${kind}`, "aria-hidden": "true" }, `t${t}`)),
  );
}

/** 分数的方阵：这一步算哪几格。 @param {State} state */
function square({ prompt, steps, at, way }) {
  const { from, length } = generation(prompt, steps)[at];
  const total = prompt + steps;
  const first = way === "cached" ? from : 0;
  const kind = (/** @type {number} */ i, /** @type {number} */ j) => {
    if (i >= length || j >= length) return "none";
    if (i < first) return "kept";
    return j > i ? "fresh masked" : "fresh";
  };
  const cells = Array.from({ length: total }, (_, i) => Array.from({ length: total }, (_, j) => kind(i, j)));
  return h(
    "div",
    { class: "square" },
    h("span", { class: "name" }, "分数：一行一个查询，一列一个键"),
    h(
      "svg",
      {
        viewBox: `-12 -12 ${total * 10 + 13} ${total * 10 + 13}`,
        role: "img",
        "aria-label": `分数方阵，${length} 行 ${length} 列，这一步算第 ${first} 到第 ${length - 1} 行`,
      },
      Array.from({ length: total }, (_, t) => [
        h("text", { x: t * 10 + 5, y: -3 }, String(t)),
        h("text", { x: -5, y: t * 10 + 7 }, String(t)),
      ]),
      cells.map((row, i) =>
        row.map((each, j) =>
          h("rect", { class: each, x: j * 10 + 0.5, y: i * 10 + 0.5, width: 9, height: 9, rx: 1.2 }),
        ),
      ),
    ),
  );
}

/** @param {State} state */
function ledger({ prompt, steps, at }) {
  const all = generation(prompt, steps);
  const total = running(all)[at];
  const rows = /** @type {const} */ ([
    ["这一步投影的词元", all[at].projected],
    ["这一步的分数", all[at].scores],
    ["合计投影的词元", total.projected],
    ["合计的分数", total.scores],
  ]);
  return h(
    "table",
    { class: "ledger" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "每层每头"),
        WAYS.map(({ text }) => h("th", { scope: "col" }, text)),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map(([name, { cached, uncached }], i) =>
        h(
          "tr",
          { class: i > 1 ? "total" : null },
          h("th", { scope: "row" }, name),
          h("td", null, count(cached)),
          h("td", null, count(uncached)),
        ),
      ),
    ),
  );
}

/** @param {State} state @param {import("../see/widget.js").Tools<State>} tools */
function bytes(state, { set, refuse, refused }) {
  const { length, layers, dim } = state;
  const each = Number(state.bytes);
  const of = (/** @type {number} */ kvHeads) => cacheBytes({ length, kvHeads, headDim: dim, layers, bytesEach: each });
  const kinds = /** @type {const} */ ([
    ["MHA", 8],
    ["GQA", 4],
    ["GQA", 2],
    ["MQA", 1],
  ]);
  /** @param {"layers" | "dim"} key @param {number} most @param {string} name @param {string} text */
  function change(key, most, name, text) {
    const value = /^\d{1,4}$/.test(text.trim()) ? Number(text) : NaN;
    if (!(value >= 1 && value <= most))
      return refuse(`${name}应是 1 到 ${most} 的整数，得到“${text.slice(0, 20)}”。`, key);
    set({ [key]: value });
  }
  const field = (/** @type {"layers" | "dim"} */ key, /** @type {number} */ most, /** @type {string} */ name) =>
    h(
      "label",
      { class: "field" },
      h("span", null, name),
      h("input", {
        type: "text",
        inputmode: "numeric",
        autocomplete: "off",
        value: String(state[key]),
        "aria-invalid": refused === key ? "true" : null,
        onchange: (/** @type {any} */ event) => change(key, most, name, event.target.value),
        onkeydown: (/** @type {any} */ event) => event.key === "Enter" && change(key, most, name, event.target.value),
        onfocus: (/** @type {any} */ event) => event.target.select(),
      }),
    );
  return h(
    "section",
    { class: "bytes", "aria-label": "缓存占多少字节" },
    h("p", { class: "caption" }, `缓存占多少字节：${HEADS} 个查询头`),
    h(
      "div",
      { class: "bar" },
      slider("长度 T", { value: Math.log2(length), min: 7, max: 15, shown: count(length) }, (x) =>
        set({ length: 2 ** x }),
      ),
      field("layers", 200, "层数"),
      field("dim", 1024, "head_dim"),
      segments(
        "每个数",
        [
          { value: "2", text: "bf16" },
          { value: "4", text: "fp32" },
          { value: "1", text: "int8" },
        ],
        state.bytes,
        (to) => set({ bytes: /** @type {any} */ (to) }),
        "bytes",
      ),
    ),
    h(
      "div",
      { class: "bars" },
      kinds.map(([name, heads]) => [
        h("span", null, `${name}，${heads} 个 KV 头`),
        h(
          "span",
          { class: "track", "aria-hidden": "true" },
          h("i", { vars: { "--share": `${(heads / HEADS) * 100}%` } }),
        ),
        h("output", null, size(of(heads))),
      ]),
    ),
    h(
      "p",
      { class: "formula" },
      `2 × ${count(length)} × KV 头 × ${dim} × ${layers} 层 × ${each} 字节；4 个 KV 头时是 ${count(of(4))} 字节`,
    ),
  );
}

/** @param {State} state @param {import("../see/widget.js").Tools<State>} tools */
function view(state, tools) {
  const { prompt, steps, at, way } = state;
  const { set } = tools;
  const to = (/** @type {number} */ x) => set({ at: x });
  return [
    h(
      "div",
      { class: "bar" },
      spinner("提示词", prompt, 1, MOST.prompt, (x) => set({ prompt: x })),
      spinner("解码步数", steps, 0, MOST.steps, (x) => set({ steps: x })),
      segments("看", WAYS, way, (x) => set({ way: x }), "way"),
    ),
    h(
      "div",
      { class: "walk" },
      slider("步骤", { value: at, min: 0, max: steps, shown: at === 0 ? "预填充" : `解码 ${at}` }, to),
      stepper(at, steps, to),
    ),
    h("div", { class: "strips" }, strip("K", state), strip("V", state)),
    h(
      "p",
      { class: "legend", "aria-hidden": "true" },
      h("span", { class: "fresh" }, "这一步算"),
      h("span", { class: "kept" }, "从缓存读，或不必再算"),
      h("span", { class: "fresh masked" }, "算了又被掩码屏蔽"),
    ),
    tools.said,
    h("div", { class: "two" }, square(state), ledger(state)),
    bytes(state, tools),
  ];
}

/** @param {HTMLElement} host */
export function mount(host) {
  return install(host, {
    name: "kv-cache",
    title: "走一走：预填充与解码",
    css,
    initial,
    parsers: {
      prompt: integer(1, MOST.prompt),
      steps: integer(0, MOST.steps),
      at: integer(0, MOST.steps),
      way: word("cached", "uncached"),
      length: (text, key) => {
        const value = integer(LENGTH.min, LENGTH.max)(text, key);
        if (Math.log2(value) % 1) throw new StateError(`${key} 应是 2 的幂`);
        return value;
      },
      layers: integer(1, 200),
      dim: integer(1, 1024),
      bytes: word("1", "2", "4"),
    },
    settle: (state) => ({ ...state, at: Math.min(state.at, state.steps) }),
    view,
    say,
  });
}
