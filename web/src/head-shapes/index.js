// <head-shapes>：跟着一个元素走过投影、拆头、相乘、合并。下标与序号全由 math/heads.js 算出。
import { checkSizes, follow, indexOf, offset, strides } from "../math/heads.js";
import { h } from "../see/dom.js";
import { segments, stepper, toggle } from "../see/parts.js";
import { StateError, flag, integer } from "../see/state.js";
import { mount as install } from "../see/widget.js";
import css from "./style.js";

/**
 * @typedef {object} State
 * @property {number} B
 * @property {number} T
 * @property {number} C
 * @property {number} H
 * @property {number} n 跟着的元素：投影结果里的编号
 * @property {number} step
 * @property {boolean} bug 合并时漏掉转置
 */
/** @typedef {import("../math/heads.js").Place} Place */

const MOST = { B: 3, T: 6, C: 12, H: 12 };
const NAMES = ["投影", "reshape", "transpose", "相乘", "合并"];
const AXES = ["B, T, C", "B, T, H, D", "B, H, T, D", "B, H, T, D", "B, T, C"];
const initial = /** @type {State} */ ({ B: 1, T: 4, C: 8, H: 2, n: 21, step: 0, bug: false });

/** @param {State} state @param {number} [n] */
function places(state, n = state.n) {
  const { B, T, C } = state;
  return follow(state, /** @type {[number, number, number]} */ (indexOf([B, T, C], n)), !state.bug);
}

/** @param {number[]} index */
const written = (index) => `[${index.join(", ")}]`;

/** 能整除 C 的头数。 @param {number} C */
const divisors = (C) => Array.from({ length: C }, (_, i) => i + 1).filter((H) => C % H === 0);

/** @param {State} state */
function check(state) {
  try {
    checkSizes(state);
  } catch (error) {
    if (!(error instanceof RangeError) || state.C % state.H === 0) throw error;
    const D = Math.floor(state.C / state.H);
    throw new RangeError(
      `${error.message}：每个头 ${D} 个通道，会剩下 ${state.C - D * state.H} 个没有头要。C = ${state.C} 时，H 可以是 ${divisors(state.C).join("、")}`,
    );
  }
}

/** @param {State} state */
function say(state) {
  const { T, C, H, n, step, bug } = state;
  const D = C / H;
  const path = places(state);
  const here = path[step];
  const [b, t, c] = path[0].index;
  const [, head, , d] = path[2].index;
  if (step === 0)
    return `投影：编号 ${n} 在 ${written(here.index)}，由词元 ${t} 的 ${C} 个输入通道与权重的第 ${c} 行算出；别的词元没有参与。`;
  if (step === 1)
    return `reshape：通道 ${c} 分给头 ${head}，在头里是通道 ${d}（${c} = ${head} × ${D} + ${d}）。读取的次序不变，它还是第 ${here.position} 个。`;
  if (step === 2) {
    const stride = strides([state.B, T, H, D]);
    return `transpose：头换到词元前面，下标从 ${written(path[1].index)} 变成 ${written(here.index)}。数没有搬动，沿头走一步跨 ${stride[2]} 个，沿词元走一步跨 ${stride[1]} 个；按新的次序读，它是第 ${here.position} 个。`;
  }
  if (step === 3) {
    const range = t ? `词元 0 到 ${t}` : "词元 0";
    return `相乘：heads${written(here.index)} 是头 ${head} 里${range} 的通道 ${d}，按词元 ${t} 的权重加起来。只读同一个头、同一个通道；位置不变，数换了新的。`;
  }
  const right = follow(state, [b, t, c])[4];
  if (!bug)
    return `合并：先换回来，再首尾相接，回到 ${written(here.index)}，通道 ${head} × ${D} + ${d} = ${c}。编号 ${n} 回到原位。`;
  if (here.position === right.position)
    return `合并时漏掉转置：这个元素碰巧还在 ${written(here.index)}，shape 也对。换一个元素再看。`;
  const [, wrongT, wrongC] = here.index;
  const moved = wrongT === t ? `词元没有变，通道却从 ${c} 变成 ${wrongC}` : `词元 ${t} 的数进了词元 ${wrongT}`;
  return `合并时漏掉转置：应在 ${written(right.index)}，却到了 ${written(here.index)}，${moved}。shape 仍是 ${written(here.shape)}，所以不报错。`;
}

/**
 * 某一步的一个位置上，放的是编号几。
 * @param {State} state
 * @param {number} step
 * @returns {number[]} 位置 → 编号
 */
function numbers(state, step) {
  const out = new Array(state.B * state.T * state.C);
  for (let n = 0; n < out.length; n++) out[places(state, n)[step].position] = n;
  return out;
}

/** @param {State} state @param {import("../see/widget.js").Tools<State>} tools */
function grids(state, { set }) {
  const { B, T, C, H, step } = state;
  const D = C / H;
  const path = places(state);
  const at = path[step];
  const [b, t] = path[0].index;
  const label = numbers(state, step);
  const headOf = (/** @type {number} */ number) => Math.floor((number % C) / D);
  /** 一块：rows 行，每行 width 个；start 是块里第一个位置，jump 是一行的跨度。 */
  const block = (
    /** @type {string} */ title,
    /** @type {number} */ start,
    /** @type {number} */ width,
    /** @type {number} */ jump,
  ) =>
    h(
      "div",
      { class: "block", role: "group", "aria-label": title || `${NAMES[step]}，${T} 个词元` },
      title && h("span", { class: "name" }, title),
      h(
        "div",
        { class: "cells", vars: { "--n": String(width) } },
        Array.from({ length: T }, (_, row) => [
          h("span", { class: "row" }, `t${row}`),
          Array.from({ length: width }, (_, column) => {
            const position = start + row * jump + column;
            const number = label[position];
            const chosen = position === at.position;
            const [, head, , d] = path[2].index;
            const read = step === 3 && headOf(number) === head && number % D === d && Math.floor(number / C) % T <= t;
            const gap = step === 1 && column % D === 0 && column ? "gap" : "";
            return h(
              "button",
              {
                type: "button",
                class: `cell h${headOf(number) % 4} ${chosen ? "at" : ""} ${read ? "read" : ""} ${gap}`,
                tabindex: chosen ? 0 : -1,
                "aria-pressed": String(chosen),
                "aria-label": `编号 ${number}`,
                "data-cell": `p-${position}`,
                onclick: () => set({ n: number }, `p-${position}`),
                onkeydown: (/** @type {KeyboardEvent} */ event) =>
                  move(event, position, start, row, column, width, jump),
              },
              String(number),
            );
          }),
        ]),
      ),
    );
  /** @type {(event: KeyboardEvent, position: number, start: number, row: number, column: number, width: number, jump: number) => void} */
  function move(event, position, start, row, column, width, jump) {
    const next = {
      ArrowLeft: column > 0 ? position - 1 : step === 2 || step === 3 ? position - T * D + D - 1 : -1,
      ArrowRight: column < width - 1 ? position + 1 : step === 2 || step === 3 ? position + T * D - D + 1 : -1,
      ArrowUp: row > 0 ? position - jump : -1,
      ArrowDown: row < T - 1 ? position + jump : -1,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const least = b * T * C;
    if (next >= least && next < least + T * C) set({ n: label[next] }, `p-${next}`);
  }
  const first = offset([B, T, C], [step === 4 ? at.index[0] : b, 0, 0]);
  if (step === 2 || step === 3) {
    return h(
      "div",
      { class: "blocks" },
      Array.from({ length: H }, (_, head) => block(`头 ${head}`, first + head * T * D, D, D)),
    );
  }
  return h("div", { class: "blocks" }, block(step === 1 ? `每行分成 ${H} 段，一段一个头` : "", first, C, C));
}

/** @param {State} state @param {import("../see/widget.js").Tools<State>} tools */
function view(state, tools) {
  const { B, T, C, H, step, n, bug } = state;
  const { set, refuse, refused } = tools;
  const path = places(state);
  const batch = path[0].index[0];
  /** @param {"B" | "T" | "C" | "H"} key @param {string} text */
  function resize(key, text) {
    const value = /^\d{1,3}$/.test(text.trim()) ? Number(text) : NaN;
    if (!(value >= 1 && value <= MOST[key])) {
      return refuse(`${key} 应是 1 到 ${MOST[key]} 的整数，得到“${text.slice(0, 20)}”。`, key);
    }
    const sizes = { B, T, C, H, [key]: value };
    // 跟着的元素尽量留在原来的下标上。
    const index = path[0].index.map((x, axis) => Math.min(x, [sizes.B, sizes.T, sizes.C][axis] - 1));
    set({ [key]: value, n: offset([sizes.B, sizes.T, sizes.C], index) });
  }
  const field = (/** @type {"B" | "T" | "C" | "H"} */ key, /** @type {string} */ name) =>
    h(
      "label",
      { class: "size" },
      h("b", null, key),
      h("input", {
        type: "text",
        inputmode: "numeric",
        autocomplete: "off",
        value: String(state[key]),
        "aria-label": `${key}，${name}`,
        "aria-invalid": refused === key ? "true" : null,
        onchange: (/** @type {any} */ event) => resize(key, event.target.value),
        onfocus: (/** @type {any} */ event) => event.target.select(),
        onkeydown: (/** @type {any} */ event) => {
          const delta = { ArrowUp: 1, ArrowDown: -1 }[/** @type {string} */ (event.key)];
          if (event.key === "Enter") resize(key, event.target.value);
          if (!delta) return;
          event.preventDefault();
          event.target.value = String(Math.max(0, (Number(event.target.value) || 0) + delta));
          resize(key, event.target.value);
        },
      }),
      h("small", null, name),
    );
  return [
    h(
      "div",
      { class: "bar" },
      field("B", "文本"),
      field("T", "词元"),
      field("C", "通道"),
      field("H", "头"),
      h("span", { class: "d" }, h("b", null, "D"), ` = C ÷ H = ${C / H}`),
    ),
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
    h(
      "div",
      { class: "shape" },
      h("code", null, `[${AXES[step]}] = ${written(path[step].shape)}`),
      B > 1 && h("span", null, `只画第 ${batch} 段文本`),
    ),
    grids(state, tools),
    tools.said,
    h(
      "ol",
      { class: "path", "aria-label": `编号 ${n} 的下标` },
      path.map(({ index }, at) =>
        h("li", { class: at === step ? "on" : null }, h("span", null, NAMES[at]), h("code", null, written(index))),
      ),
    ),
    h(
      "div",
      { class: "bar" },
      stepper(step, 4, (at) => set({ step: at })),
      toggle("合并时漏掉转置", bug, (on) => set({ bug: on, ...(on ? { step: 4 } : {}) })),
    ),
  ];
}

/** @param {HTMLElement} host */
export function mount(host) {
  return install(host, {
    name: "head-shapes",
    title: "跟着一个元素走：拆头与合并",
    css,
    initial,
    parsers: {
      B: integer(1, MOST.B),
      T: integer(1, MOST.T),
      C: integer(1, MOST.C),
      H: integer(1, MOST.H),
      n: integer(0, MOST.B * MOST.T * MOST.C - 1),
      step: integer(0, 4),
      bug: flag,
    },
    check: (state) => {
      check(state);
      if (state.n >= state.B * state.T * state.C) throw new StateError(`n 应小于 ${state.B * state.T * state.C}`);
    },
    view,
    say,
  });
}
