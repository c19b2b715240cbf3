/**
 * <self-test data-kind="single|multiple|fill|open" data-answers='["B"]'>：一道自测题。
 *
 * 里面是题目与折叠的答案；没有脚本时读者自己对照。题型与答案由 livedocs/self_test.py 在构建时从 Markdown 得到。
 */
import { button, el, pageOf } from "../shared/dom.js";
import { fingerprint } from "../shared/store.js";
import { fits, sameChoice } from "./check.js";
import { decorate } from "./nav.js";
import { load, rightOf, save } from "./progress.js";

const BLANK = "______";

/** @type {WeakMap<Element, Sheet>} */
const sheets = new WeakMap();

/** 一页的全部题目。 */
class Sheet {
  /** @param {Element} page */
  constructor(page) {
    this.hosts = [...page.querySelectorAll("self-test")];
    const version = fingerprint(this.hosts.map((host) => host.textContent).join("\0"));
    this.progress = load(version, this.hosts.length);
    this.status = el("span", { role: "status" });
    this.bar = el("div", { class: "self-test__bar", "data-search-exclude": true }, this.status);
    this.reset = button("清除进度", () => this.clear());
    this.bar.append(this.reset);
    this.hosts[0]?.before(this.bar);
    this.show();
  }

  /** @param {number} index @param {boolean} right */
  mark(index, right) {
    this.progress.done[index] = right ? "right" : "wrong";
    save(this.progress);
    this.show();
  }

  clear() {
    this.progress.done = {};
    save(this.progress);
    this.show();
    for (const host of this.hosts) host.dispatchEvent(new CustomEvent("self-test-clear"));
    this.status.textContent = "进度已清除";
  }

  show() {
    const { done, total } = this.progress;
    const right = rightOf(this.progress);
    const count = Object.keys(done).length;
    this.reset.hidden = count === 0;
    this.status.textContent = count === 0 ? `共 ${total} 题，作答后马上看到解释；进度只存在这个浏览器里` : `答对 ${right} / ${total} 题`;
    decorate();
  }
}

/** @param {HTMLElement} host */
export function mount(host) {
  const box = host.querySelector(".admonition");
  const details = box?.querySelector(":scope > details");
  if (!box || !(details instanceof HTMLDetailsElement)) return;
  const page = pageOf(host);
  const sheet = sheets.get(page) ?? new Sheet(page);
  sheets.set(page, sheet);
  const index = sheet.hosts.indexOf(host);
  const kind = host.dataset.kind ?? "open";
  const answers = answersOf(host);
  const controls = kind === "single" || kind === "multiple" ? choices(box, kind, index) : kind === "fill" ? blanks(box) : points(box, details, index);

  const status = el("span", { role: "status", class: "self-test__status" });
  const say = (/** @type {boolean} */ right) => {
    status.dataset.tone = right ? "same" : "different";
    if (kind === "open") status.textContent = right ? "要点都说到了" : "还有要点没有说到：对照参考回答，补上再勾选";
    else status.textContent = right ? "答对了" : "不对：读一读解释，按“回看”的链接找到那一段，再答一次";
  };
  const check = button(kind === "open" ? "对照参考回答" : "检查", () => {
    if (kind !== "open" && controls.value().every((text) => text === "")) {
      status.dataset.tone = "";
      status.textContent = kind === "fill" ? "先填上你的答案" : "先选一项";
      return;
    }
    details.open = true;
    if (kind === "open") {
      status.textContent = "写下自己的回答，再逐条对照";
      return;
    }
    const given = controls.value();
    const right =
      kind === "fill" ? answers.every((answer, at) => fits(answer, given[at] ?? "")) : sameChoice(answers, given.filter((text) => text !== ""));
    say(right);
    sheet.mark(index, right);
  }, "web-button--main");
  const bar = el("div", { class: "self-test__actions", "data-search-exclude": true }, check, status);
  details.before(bar);
  controls.onchange = (right) => {
    if (kind === "open") {
      say(right);
      sheet.mark(index, right);
    } else {
      status.textContent = "";
    }
  };
  const before = sheet.progress.done[index];
  if (before) {
    status.dataset.tone = before === "right" ? "same" : "different";
    status.textContent = before === "right" ? "上次答对了" : "上次没有答对";
  }
  host.addEventListener("self-test-clear", () => {
    controls.clear();
    details.open = false;
    status.textContent = "";
  });
}

/**
 * @typedef {{ value: () => string[], clear: () => void, onchange: (right: boolean) => void }} Controls
 */

/** 属性也当数据：读不懂就没有答案。 @param {HTMLElement} host @returns {string[]} */
function answersOf(host) {
  try {
    const value = JSON.parse(host.dataset.answers ?? "[]");
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  } catch {
    return [];
  }
}

/**
 * 列表的每一项变成一个选项。
 * @param {Element} box
 * @param {string} kind
 * @param {number} index
 * @returns {Controls}
 */
function choices(box, kind, index) {
  const list = box.querySelector(":scope > ul");
  /** @type {HTMLInputElement[]} */
  const inputs = [];
  /** @type {Controls} */
  const controls = {
    value: () => inputs.map((input) => (input.checked ? input.value : "")),
    clear: () => inputs.forEach((input) => (input.checked = false)),
    onchange: () => {},
  };
  list?.classList.add("self-test__options");
  list?.setAttribute("role", kind === "single" ? "radiogroup" : "group");
  list?.setAttribute("aria-label", box.querySelector(".admonition-title")?.textContent ?? "选项");
  for (const item of list?.querySelectorAll(":scope > li") ?? []) {
    const letter = /^\s*([A-H])/.exec(item.textContent ?? "")?.[1] ?? "";
    const input = el("input", { type: kind === "single" ? "radio" : "checkbox", name: `self-test-${index}`, value: letter });
    input.addEventListener("change", () => controls.onchange(false));
    const label = el("label", {}, input);
    const text = el("span");
    text.append(...item.childNodes);
    label.append(text);
    item.setAttribute("role", "none");
    item.append(label);
    inputs.push(input);
  }
  return controls;
}

/**
 * 题目里的 `______` 变成输入框。
 * @param {Element} box
 * @returns {Controls}
 */
function blanks(box) {
  /** @type {HTMLInputElement[]} */
  const inputs = [];
  /** @type {Controls} */
  const controls = {
    value: () => inputs.map((input) => input.value.trim()),
    clear: () => inputs.forEach((input) => (input.value = "")),
    onchange: () => {},
  };
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Text && node.data.includes(BLANK) && !node.parentElement?.closest("details")) texts.push(node);
  }
  for (const text of texts) {
    const parts = text.data.split(/_{6,}/);
    const nodes = parts.flatMap((part, at) => {
      if (at === 0) return [part];
      const input = el("input", {
        type: "text", class: "self-test__blank", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "60",
        "aria-label": `第 ${inputs.length + 1} 空`,
      });
      input.addEventListener("input", () => controls.onchange(false));
      inputs.push(input);
      return [input, part];
    });
    text.replaceWith(...nodes);
  }
  return controls;
}

/**
 * 开放题：写自己的回答，再按要点勾选。
 * @param {Element} box
 * @param {HTMLDetailsElement} details
 * @param {number} index
 * @returns {Controls}
 */
function points(box, details, index) {
  const area = el("textarea", { class: "self-test__answer", rows: "3", maxlength: "4000", "aria-label": "你的回答" });
  area.placeholder = "写下你的回答（不保存，也不发送）";
  details.before(area);
  const rubric = [...details.querySelectorAll(":scope > ul > li, :scope > ol > li")];
  /** @type {HTMLInputElement[]} */
  const inputs = [];
  /** @type {Controls} */
  const controls = {
    value: () => inputs.map((input) => (input.checked ? "x" : "")),
    clear: () => {
      area.value = "";
      for (const input of inputs) input.checked = false;
    },
    onchange: () => {},
  };
  const add = (/** @type {(Node | string)[]} */ content) => {
    const input = el("input", { type: "checkbox", name: `self-test-${index}` });
    input.addEventListener("change", () => controls.onchange(inputs.every((item) => item.checked)));
    inputs.push(input);
    const text = el("span");
    text.append(...content);
    return el("label", {}, input, text);
  };
  if (rubric.length === 0) details.append(el("p", { class: "self-test__point" }, add(["我的回答说到了上面的要点"])));
  else {
    rubric[0].parentElement?.classList.add("self-test__options");
    for (const item of rubric) item.append(add([...item.childNodes]));
  }
  return controls;
}
