// <rope-rotation>：两个向量按位置旋转；点积只随距离变。算术全在 math/rope.js。
import { contributions, pairs, reorder, rotate, score, thetas } from "../math/rope.js";
import { h } from "../see/dom.js";
import { segments, show, slider, toggle } from "../see/parts.js";
import { flag, integer, word } from "../see/state.js";
import { mount as install } from "../see/widget.js";
import css from "./style.js";

/** @typedef {import("../math/rope.js").Layout} Layout */
/**
 * @typedef {object} State
 * @property {number} m 查询的位置
 * @property {number} n 键的位置
 * @property {boolean} lock 一起移动
 * @property {boolean} order 相邻配对之前先重排通道
 * @property {"100" | "10000" | "1000000"} base
 */

/** 第 3 章“示例 3”之后那段代码里的两个向量。 */
export const Q = [0.5, -1, 2, 0, 1, 1.5, -0.5, 1];
export const K = [1, 0.5, -1, 2, 0, -0.5, 1.5, 1];
const FAR = 31;
const RADIUS = 42;
const LONGEST = Math.max(
  ...[Q, K].flatMap((x) =>
    ["half", "interleaved"].flatMap((layout) =>
      pairs(8, /** @type {Layout} */ (layout)).map(([a, b]) => Math.hypot(x[a], x[b])),
    ),
  ),
);
const initial = /** @type {State} */ ({ m: 5, n: 2, lock: false, order: false, base: "10000" });
const LAYOUTS = /** @type {const} */ ([
  ["half", "前后配对"],
  ["interleaved", "相邻配对"],
]);

/** @param {State} state @param {Layout} layout */
function vectors(state, layout) {
  return layout === "interleaved" && state.order ? [reorder(Q), reorder(K)] : [Q, K];
}

/** @param {State} state @param {Layout} layout */
function product(state, layout, m = state.m, n = state.n) {
  const [q, k] = vectors(state, layout);
  return score(q, m, k, n, layout, Number(state.base));
}

/** @param {State} state */
function say(state) {
  const { m, n, order, base } = state;
  const [half, interleaved] = LAYOUTS.map(([layout]) => show(product(state, layout), 3));
  const same = half === interleaved ? `两种配对的点积都是 ${half}` : `点积：前后配对 ${half}，相邻配对 ${interleaved}`;
  const why = order
    ? "先重排通道，两种配对就完全相同。"
    : m === n
      ? "位置相同，两边转得一样多，点积与不转时一样。"
      : "只要 m − n 不变，这两个数就不变。";
  return `查询在位置 ${m}，键在位置 ${n}，m − n = ${show(m - n)}。${same}。${why}${base === "10000" ? "" : `（base = ${base}）`}`;
}

/** 从圆心到 (x, y) 的箭头，转过 angle 弧度。 @param {"q" | "k"} kind @param {number} x @param {number} y @param {number} angle */
function arrow(kind, x, y, angle) {
  const length = (Math.hypot(x, y) / LONGEST) * RADIUS;
  const start = (Math.atan2(y, x) * 180) / Math.PI;
  const head = Math.min(7, length);
  // SVG 的 y 轴朝下，所以角度取负。
  return h(
    "g",
    { class: `arrow ${kind}`, vars: { transform: `rotate(${-(start + (angle * 180) / Math.PI)}deg)` } },
    h("path", { d: `M0 0H${length}M${length - head} ${-head / 2}L${length} 0L${length - head} ${head / 2}` }),
  );
}

/** @param {State} state @param {Layout} layout @param {number} i @param {import("../see/widget.js").Tools<State>} tools */
function circle(state, layout, i, tools) {
  const { m, n, order } = state;
  const base = Number(state.base);
  const [q, k] = vectors(state, layout);
  const [a, b] = pairs(q.length, layout)[i];
  const theta = thetas(q.length, base)[i];
  const part = contributions(q, m, k, n, layout, base)[i];
  const [first, second] = layout === "interleaved" && order ? pairs(q.length, "half")[i] : [a, b];
  return h(
    "figure",
    { class: "circle" },
    h(
      "svg",
      {
        viewBox: "-50 -50 100 100",
        role: "img",
        "aria-label": `第 ${i} 对，通道 ${first} 与 ${second}：查询转了 ${show(m * theta, 3)} 弧度，键转了 ${show(n * theta, 3)} 弧度，贡献 ${show(part, 3)}`,
        onpointerdown: i === 0 ? (/** @type {PointerEvent} */ event) => drag(event, state, layout, tools) : null,
        class: i === 0 ? "grab" : null,
      },
      h("circle", { r: RADIUS + 3 }),
      arrow("k", k[a], k[b], n * theta),
      arrow("q", q[a], q[b], m * theta),
    ),
    h(
      "figcaption",
      null,
      h("span", null, `通道 ${first}, ${second}`),
      h("span", null, `${show(theta, 6)} 弧度/位`),
      h("b", null, show(part, 3)),
    ),
  );
}

/** 在第一个圆上拖箭头：转 1 弧度就是走一个位置。 @param {PointerEvent} event @param {State} state @param {Layout} layout @param {import("../see/widget.js").Tools<State>} tools */
function drag(event, state, layout, { set }) {
  const svg = /** @type {SVGElement} */ (event.currentTarget);
  const box = svg.getBoundingClientRect();
  const angleAt = (/** @type {PointerEvent} */ { clientX, clientY }) =>
    Math.atan2(box.top + box.height / 2 - clientY, clientX - box.left - box.width / 2);
  const [q, k] = vectors(state, layout);
  const base = Number(state.base);
  const [a, b] = pairs(q.length, layout)[0];
  const away = (/** @type {number[]} */ x, /** @type {number} */ position) => {
    const turned = rotate(x, position, layout, base);
    return Math.abs(wrap(angleAt(event) - Math.atan2(turned[b], turned[a])));
  };
  const key = away(q, state.m) <= away(k, state.n) ? "m" : "n";
  let last = angleAt(event);
  let exact = state[key];
  event.preventDefault();
  svg.setPointerCapture(event.pointerId);
  const move = (/** @type {any} */ next) => {
    const angle = angleAt(next);
    exact = Math.min(FAR, Math.max(0, exact + wrap(angle - last)));
    last = angle;
    set(moved(state, key, Math.round(exact)));
  };
  svg.addEventListener("pointermove", move);
  for (const end of ["pointerup", "pointercancel"])
    svg.addEventListener(end, () => svg.removeEventListener("pointermove", move), { once: true });
}

/** 弧度折到 −π 到 π。 @param {number} angle */
function wrap(angle) {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}

/** 移动一个位置；锁住距离时另一个跟着走。 @param {State} state @param {"m" | "n"} key @param {number} to @returns {Partial<State>} */
function moved(state, key, to) {
  if (!state.lock) return { [key]: to };
  const gap = state.m - state.n;
  const n = Math.min(FAR - Math.max(gap, 0), Math.max(Math.max(-gap, 0), key === "n" ? to : to - gap));
  return { n, m: n + gap };
}

/** 点积随距离的曲线，标出现在在哪里。 @param {State} state */
function curve(state) {
  const { m, n } = state;
  const [width, height] = [620, 130];
  const gaps = Array.from({ length: 8 * FAR + 1 }, (_, i) => i / 4 - FAR);
  const at = (/** @type {number} */ gap, /** @type {Layout} */ layout) =>
    product(state, layout, Math.max(gap, 0), Math.max(-gap, 0));
  const lines = LAYOUTS.map(([layout]) => gaps.map((gap) => at(gap, layout)));
  const top = Math.max(...lines.flat().map(Math.abs));
  const x = (/** @type {number} */ gap) => ((gap + FAR) / (2 * FAR)) * (width - 20) + 10;
  const y = (/** @type {number} */ value) => height / 2 - (value / top) * (height / 2 - 8);
  return h(
    "div",
    { class: "curve" },
    h(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": "两种配对的点积随 m − n 变化的曲线；位置一起移动时，标记不动",
      },
      h("path", { class: "axis", d: `M10 ${height / 2}H${width - 10}M${x(0)} 4V${height - 4}` }),
      lines.map((line, l) =>
        h("path", {
          class: `line ${LAYOUTS[l][0]}`,
          d: `M${line.map((value, i) => `${x(gaps[i]).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`,
        }),
      ),
      LAYOUTS.map(([layout]) =>
        h("circle", {
          class: `dot ${layout}`,
          r: 5,
          vars: { transform: `translate(${x(m - n)}px, ${y(at(m - n, layout))}px)` },
        }),
      ),
    ),
    h(
      "p",
      null,
      `横轴 m − n，从 −${FAR} 到 ${FAR}；现在是 ${show(m - n)}。`,
      h("span", { class: "key half" }, "前后配对"),
      h("span", { class: "key interleaved" }, "相邻配对"),
    ),
  );
}

/** @param {State} state @param {import("../see/widget.js").Tools<State>} tools */
function view(state, tools) {
  const { m, n, lock, order, base } = state;
  const { set } = tools;
  return [
    h(
      "div",
      { class: "positions" },
      slider("查询的位置 m", { value: m, min: 0, max: FAR, kind: "q" }, (to) => set(moved(state, "m", to))),
      slider("键的位置 n", { value: n, min: 0, max: FAR, kind: "k" }, (to) => set(moved(state, "n", to))),
      toggle("一起移动（距离不变）", lock, (on) => set({ lock: on })),
    ),
    h(
      "div",
      { class: "layouts" },
      LAYOUTS.map(([layout, name]) =>
        h(
          "section",
          { class: layout, "aria-label": name },
          h("p", { class: "caption" }, name, h("output", null, `点积 ${show(product(state, layout), 3)}`)),
          h(
            "div",
            { class: "circles" },
            [0, 1, 2, 3].map((i) => circle(state, layout, i, tools)),
          ),
        ),
      ),
    ),
    h(
      "p",
      { class: "hint" },
      h("span", { class: "key q" }, "查询"),
      h("span", { class: "key k" }, "键"),
      "在第一个圆上可以直接拖箭头。圆下的数是这一对对点积的贡献，四个加起来就是点积。",
    ),
    tools.said,
    curve(state),
    h(
      "div",
      { class: "bar" },
      segments(
        "base",
        [
          { value: "100", text: "100" },
          { value: "10000", text: "10000" },
          { value: "1000000", text: "1000000" },
        ],
        base,
        (to) => set({ base: /** @type {any} */ (to) }),
        "base",
      ),
      toggle("相邻配对之前先重排通道", order, (on) => set({ order: on })),
    ),
  ];
}

/** @param {HTMLElement} host */
export function mount(host) {
  return install(host, {
    name: "rope-rotation",
    title: "拖一拖：点积只随距离变",
    css,
    initial,
    parsers: { m: integer(0, FAR), n: integer(0, FAR), lock: flag, order: flag, base: word("100", "10000", "1000000") },
    view,
    say,
  });
}
