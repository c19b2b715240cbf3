// 互动图示共用的外壳：影子树、静态图、网址里的状态、复原与复制链接、读给读屏软件听的一句话。
import { h, render } from "./dom.js";
import { StateError, address, excerpt, format, parse, read } from "./state.js";
import style from "./style.js";

/**
 * @template {Record<string, any>} S
 * @typedef {object} Tools 给 `view` 用的工具。
 * @property {(change: Partial<S>, focus?: string) => void} set 改状态；`focus` 是改完之后要得到焦点的 `data-cell`。
 * @property {(message: string, field?: string) => void} refuse 不合格的输入：说清原因，状态不变；`field` 是哪一格。
 * @property {string} refused 刚才被拒绝的那一格，没有就是空字符串。
 * @property {import("./dom.js").Node[]} said 那一句话与出错的话，由 `view` 放在图的旁边。
 */

/**
 * @template {Record<string, any>} S
 * @typedef {object} Plan
 * @property {string} name 元素名，也是网址参数的名字。
 * @property {string} title 给读屏软件的名字。
 * @property {string} css
 * @property {S} initial 课文里的例子。
 * @property {Record<string, import("./state.js").Parser<any>>} parsers
 * @property {(state: S) => void} [check] 抛出 RangeError：单个的值都合格，合起来不合格。
 * @property {(state: S) => S} [settle] 让选中的位置落在范围里。
 * @property {(state: S, tools: Tools<S>) => import("./dom.js").Child[]} view
 * @property {(state: S) => string} say 这一刻的一句话，写进 aria-live。
 */

/** @type {Map<string, CSSStyleSheet>} */
const sheets = new Map();

/** @param {string} text */
function sheet(text) {
  let found = sheets.get(text);
  if (!found) {
    found = new CSSStyleSheet();
    found.replaceSync(text);
    sheets.set(text, found);
  }
  return found;
}

/**
 * 在 `host` 里装上一个互动图示；返回的函数把它拆下。
 * @template {Record<string, any>} S
 * @param {HTMLElement} host
 * @param {Plan<S>} plan
 */
export function mount(host, plan) {
  const looks = [sheet(style), sheet(plan.css)]; // 太旧的浏览器在这里抛出错误，静态图还在
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = looks;
  const settle = plan.settle ?? ((/** @type {S} */ state) => state);
  const standard = format(plan.initial);
  let state = settle({ ...plan.initial });
  let message = "";
  let field = "";
  let copied = "";
  let mounted = true;
  const page = location.pathname;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {Partial<S>} change @param {string} [focus] */
  function set(change, focus) {
    const next = settle({ ...state, ...change });
    try {
      plan.check?.(next);
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof StateError)) throw error;
      return refuse(error.message, Object.keys(change)[0]);
    }
    state = next;
    [message, field, copied] = ["", "", ""];
    draw();
    if (focus) /** @type {HTMLElement | null} */ (root.querySelector(`[data-cell="${focus}"]`))?.focus();
    clearTimeout(timer);
    timer = setTimeout(remember, 200);
  }

  /** @param {string} text @param {string} [where] */
  function refuse(text, where = "") {
    [message, field, copied] = [text, where, ""];
    draw();
  }

  /** 带着现在的状态的网址；与课文的例子相同时什么也不带。 */
  function here() {
    const text = format(state);
    return address(plan.name, text === standard ? null : text);
  }

  /** 点了链接，网址马上就是下一页的，这一页还要留一会儿：那时不写。 */
  function remember() {
    if (mounted && location.pathname === page && here() !== location.href) history.replaceState(history.state, "", here());
  }

  function restore() {
    const text = read(plan.name);
    if (text === null) return;
    try {
      const next = settle({ ...plan.initial, ...parse(text, plan.parsers) });
      plan.check?.(next);
      state = next;
    } catch (error) {
      if (!(error instanceof StateError || error instanceof RangeError)) throw error;
      message = `网址里的状态不能用，已换成课文里的例子：${error.message}。收到的是“${excerpt(text)}”。`;
    }
  }

  async function copy() {
    remember();
    try {
      await navigator.clipboard.writeText(here());
      copied = "链接已复制，别人打开就看到同样的状态。";
    } catch {
      copied = "浏览器不许复制；网址栏里的地址就带着现在的状态。";
    }
    if (mounted) draw();
  }

  function draw() {
    const said = [
      h("p", { class: "error", role: "alert" }, message),
      h("p", { class: "say", role: "status", "aria-live": "polite" }, plan.say(state)),
    ];
    render(root, [
      h(
        "section",
        { class: "see", "aria-label": plan.title },
        h("p", { class: "head" }, plan.title),
        plan.view(state, { set, refuse, refused: field, said }),
        h(
          "div",
          { class: "foot" },
          h("button", { type: "button", class: "reset", onclick: () => set({ ...plan.initial }) }, "复原"),
          h("button", { type: "button", class: "copy", onclick: copy }, "复制链接"),
          h("span", { class: "copied", role: "status" }, copied),
        ),
      ),
      h("details", { class: "still" }, h("summary", null, "看静态图"), h("slot", null)),
    ]);
  }

  restore();
  draw();
  return () => {
    mounted = false;
    clearTimeout(timer);
  };
}
