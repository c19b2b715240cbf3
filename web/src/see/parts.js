// 几个图示共用的零件：数的写法、分段按钮、开关、滑块、热力图。
import { h } from "./dom.js";

/** @typedef {import("./dom.js").Node} Node */

/**
 * 数 → 显示的文字：至多 4 位小数，不留末尾的 0。
 * @param {number} x
 * @param {number} [digits]
 */
export function show(x, digits = 4) {
  if (x === -Infinity) return "−∞";
  const text = Math.abs(x) >= 1e6 ? x.toExponential(2) : String(Number(x.toFixed(digits)) + 0);
  return text.replace(/^-/, "−");
}

/**
 * 格子里写得下的数：整数部分长，小数就短。全部的位数在格子的名字里。
 * @param {number} x
 * @param {number} columns 这张表有几列
 */
export function brief(x, columns) {
  const whole = String(Math.trunc(Math.abs(x))).length;
  return show(x, Math.max(0, Math.min(columns > 4 ? 2 : 4, 5 - whole)));
}

/** 放进乘式里的数：负数加括号。 @param {number} x */
export function factor(x) {
  return x < 0 ? `(${show(x)})` : show(x);
}

/** 1234567 → 1,234,567。 @param {number} x */
export function count(x) {
  return x.toLocaleString("en-US");
}

/**
 * 一排互斥的按钮（原生的单选，方向键可用）。
 * @template {string | number} T
 * @param {string} label
 * @param {readonly { value: T, text: string }[]} options
 * @param {T} current
 * @param {(value: T) => void} choose
 * @param {string} name 在这个元素里唯一
 * @returns {Node}
 */
export function segments(label, options, current, choose, name) {
  return h(
    "fieldset",
    { class: "segments" },
    h("legend", null, label),
    options.map(({ value, text }) =>
      h(
        "label",
        { class: value === current ? "on" : null },
        h("input", {
          type: "radio",
          name,
          value: String(value),
          checked: value === current,
          onchange: () => choose(value),
        }),
        h("span", null, text),
      ),
    ),
  );
}

/**
 * 上一步、下一步。
 * @param {number} at
 * @param {number} last
 * @param {(at: number) => void} go
 * @returns {Node}
 */
export function stepper(at, last, go) {
  const button = (/** @type {string} */ text, /** @type {number} */ to) =>
    h(
      "button",
      {
        type: "button",
        "aria-disabled": to < 0 || to > last ? "true" : null,
        onclick: () => to >= 0 && to <= last && go(to),
      },
      text,
    );
  return h("div", { class: "stepper" }, button("上一步", at - 1), button("下一步", at + 1));
}

/**
 * @param {string} text
 * @param {boolean} checked
 * @param {(checked: boolean) => void} change
 * @returns {Node}
 */
export function toggle(text, checked, change) {
  return h(
    "label",
    { class: "toggle" },
    h("input", { type: "checkbox", checked, onchange: (/** @type {any} */ event) => change(event.target.checked) }),
    h("span", null, text),
  );
}

/**
 * 滑块，右边写着它的值。
 * @param {string} text
 * @param {{ value: number, min: number, max: number, step?: number, shown?: string, kind?: string }} range
 * @param {(value: number) => void} change
 * @returns {Node}
 */
export function slider(text, { value, min, max, step = 1, shown = String(value), kind = "" }, change) {
  return h(
    "label",
    { class: `slider ${kind}` },
    h("span", null, text),
    h("input", {
      type: "range",
      min,
      max,
      step,
      value,
      "aria-label": text,
      "aria-valuetext": shown,
      oninput: (/** @type {any} */ event) => change(Number(event.target.value)),
    }),
    h("output", { "aria-hidden": "true" }, shown),
  );
}

/**
 * 一个小整数：− 值 ＋。
 * @param {string} text
 * @param {number} value
 * @param {number} min
 * @param {number} max
 * @param {(value: number) => void} change
 * @returns {Node}
 */
export function spinner(text, value, min, max, change) {
  const button = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {number} */ to) =>
    h(
      "button",
      {
        type: "button",
        "aria-label": `${text} ${name}`,
        "aria-disabled": to < min || to > max ? "true" : null,
        onclick: () => to >= min && to <= max && change(to),
      },
      sign,
    );
  return h(
    "span",
    { class: "spinner", role: "group", "aria-label": text },
    h("span", null, text),
    button("−", "减 1", value - 1),
    h("output", null, String(value)),
    button("+", "加 1", value + 1),
  );
}

/**
 * @typedef {object} Cell 热力图的一格。
 * @property {string} text
 * @property {string} [name] 给读屏软件的全名
 * @property {number} [heat] 颜色的深浅，从 −1 到 1；负数换一种颜色
 * @property {string} [kind] 另加的类
 */

/**
 * 带数字的热力图：方向键移动，点按选中。
 * @param {object} options
 * @param {string} options.id 在这个元素里唯一
 * @param {string} options.label
 * @param {string[]} options.rows 行名
 * @param {string[]} options.columns 列名
 * @param {(i: number, j: number) => Cell} options.cell
 * @param {[number, number] | null} options.at 选中的格子
 * @param {(i: number, j: number, focus: string) => void} [options.choose]
 * @param {{ name: string, cells: Cell[] }} [options.extra] 右边另加的一列
 * @returns {Node}
 */
export function heatmap({ id, label, rows, columns, cell, at, choose, extra }) {
  const name = (/** @type {number} */ i, /** @type {number} */ j) => `${id}-${i}-${j}`;
  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const from = /** @type {HTMLElement} */ (event.target).dataset.cell?.split("-").slice(-2).map(Number);
    if (!move || !from || !choose) return;
    event.preventDefault();
    const i = Math.min(rows.length - 1, Math.max(0, from[0] + move[0]));
    const j = Math.min(columns.length - 1, Math.max(0, from[1] + move[1]));
    choose(i, j, name(i, j));
  }
  return h(
    "div",
    {
      class: "map",
      role: "grid",
      "aria-label": label,
      vars: { "--n": String(columns.length + (extra ? 1 : 0)) },
      onkeydown,
    },
    h(
      "div",
      { role: "row" },
      h("span", { "aria-hidden": "true" }),
      columns.map((column, j) => h("span", { role: "columnheader", class: at?.[1] === j ? "on" : null }, column)),
      extra && h("span", { role: "columnheader" }, extra.name),
    ),
    rows.map((row, i) =>
      h(
        "div",
        { role: "row" },
        h("span", { role: "rowheader", class: at?.[0] === i ? "on" : null }, row),
        columns.map((_, j) => {
          const { text, name: full, heat = 0, kind = "" } = cell(i, j);
          const chosen = at !== null && at[0] === i && at[1] === j;
          return h(
            "span",
            {
              role: "gridcell",
              class: `cell ${kind} ${heat < 0 ? "cold" : ""} ${chosen ? "at" : ""}`,
              "aria-label": full,
              "aria-selected": choose ? String(chosen) : null,
              tabindex: choose ? (chosen ? 0 : -1) : null,
              "data-cell": name(i, j),
              vars: { "--heat": `${Math.round(Math.min(1, Math.abs(heat)) * 55)}%` },
              onclick: choose ? () => choose(i, j, name(i, j)) : null,
            },
            text,
          );
        }),
        extra &&
          h(
            "span",
            { role: "gridcell", class: `extra ${extra.cells[i].kind ?? ""}`, "aria-label": extra.cells[i].name },
            extra.cells[i].text,
          ),
      ),
    ),
  );
}
