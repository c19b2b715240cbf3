/**
 * <py-block>：能在网页里运行、修改的一段 Python。
 *
 * 里面是构建时就高亮好的代码；没有脚本时它就是那样。这个文件在每一页都载入，所以只有按钮；
 * 运行（run.js）与编辑（editor.js）在第一次用到时才载入。
 */
import { el, button, megabytes, pageOf } from "../shared/dom.js";
import { read, write } from "../shared/store.js";
import { Edits } from "./edits.js";

/** 一页的代码块与修改，按正文元素找到。 @type {WeakMap<Element, Page>} */
const pages = new WeakMap();

class Page {
  /** @param {Element} root */
  constructor(root) {
    this.root = root;
    /** @type {PyBlock[]} */
    this.blocks = [...root.querySelectorAll("py-block")].filter((item) => item instanceof PyBlock);
    this.edits = new Edits(this.blocks.map((block) => block.source));
  }
}

/** 浏览器够新，页面又是从网站打开的，才能运行。 */
const able =
  location.protocol.startsWith("http") && typeof WebAssembly === "object" && typeof Worker === "function";

/** 这个浏览器里已经下载过这一版解释器，就不再提下载。 */
let told = read("python", (value) => (value === __PYODIDE__ ? true : null)).value === true;

export class PyBlock extends HTMLElement {
  #set = false;
  #code = "";
  /** @type {Page} */
  // @ts-expect-error 在 connectedCallback 里设
  page;
  index = -1;
  source = "";
  running = false;
  /** @type {ReturnType<typeof import("./editor.js")["openEditor"]> | null} */
  editor = null;
  /** @type {HTMLElement | null} */
  result = null;

  connectedCallback() {
    if (this.#set || !able) return;
    const pre = this.querySelector("pre");
    if (!pre) return;
    this.#set = true;
    this.pre = pre;
    this.source = textOf(pre);
    this.#code = this.source;
    this.#buildBar();
    // 同一页的元素由浏览器逐个升级；等全部升级好，才认得出这一页有几段。
    queueMicrotask(() => this.#join());
  }

  disconnectedCallback() {
    if (this.running) this.stop();
  }

  #join() {
    const root = pageOf(this);
    let page = pages.get(root);
    if (!page) {
      page = new Page(root);
      pages.set(root, page);
    }
    this.page = page;
    this.index = page.blocks.indexOf(this);
    this.bar?.setAttribute("aria-label", this.label);
    this.pre?.setAttribute("aria-label", `${this.label}，按 Enter 编辑`);
    const stored = page.edits.changed.get(this.index);
    if (stored !== undefined && stored !== this.source) {
      this.#code = stored;
      this.open(false).then(() => this.#showEdited());
      this.say("这是你上次改过的代码，存在这个浏览器里");
    } else if (page.edits.refused && this.index === 0) {
      this.say("存下的修改读不出来，没有使用");
    }
    this.dispatchEvent(new CustomEvent("py-ready", { bubbles: true }));
  }

  get label() {
    return `第 ${this.index + 1} 段代码`;
  }

  /** 现在的代码：改过的，或者原文。 */
  get code() {
    return this.#code;
  }

  get edited() {
    return this.#code !== this.source;
  }

  get raises() {
    return this.dataset.raises ?? "";
  }

  /** 文档写的输出所在的元素；没有输出就是 null。 @returns {HTMLElement | null} */
  get documentedBox() {
    /** @type {HTMLElement} */
    const outer = this.closest("details.evidence") ?? this;
    const next = outer.nextElementSibling;
    return next instanceof HTMLElement && next.matches(".code-output") ? next : null;
  }

  /** @returns {import("./verdict.js").Expected} */
  get expected() {
    const box = this.documentedBox;
    const number = (/** @type {string | undefined} */ text) => (text === undefined ? null : Number(text));
    return {
      documented: box ? textOf(/** @type {HTMLElement} */ (box.querySelector("pre"))) : "",
      raises: this.raises,
      rtol: number(box?.dataset.rtol),
      atol: number(box?.dataset.atol),
      edited: this.edited,
      editedAbove: this.page.blocks.slice(0, this.index).some((block) => block.edited),
    };
  }

  /** 有了自己的结果，文档的输出要说清是文档的。 @param {string} name */
  nameDocumented(name) {
    const label = this.documentedBox?.querySelector(".code-output__label");
    if (label) label.textContent = name;
  }

  /** 这个异常是不是文档说会抛出的。 @param {{ bases: string[] }} error */
  expects(error) {
    return this.raises !== "" && error.bases.includes(this.raises);
  }

  #buildBar() {
    this.runButton = button("运行", () => this.run(), "web-button--main");
    this.stopButton = button("停止", () => this.stop());
    this.editButton = button("编辑", () => this.open(true));
    this.resetButton = button("复原", () => this.restore());
    this.copyButton = button("复制", () => this.#copy());
    this.runButton.title = "Ctrl 或 ⌘ 加 Enter";
    this.stopButton.hidden = true;
    this.resetButton.hidden = true;
    this.status = el("span", { class: "py-block__status", role: "status" });
    this.bar = el("div", { class: "py-block__bar", role: "group", "data-search-exclude": true });
    this.bar.append(this.runButton, this.stopButton, this.editButton, this.resetButton, this.copyButton, this.status);
    this.querySelector(".highlight")?.after(this.bar);
    this.setAttribute("data-ready", "");
    if (!told) this.hint = el("span", { class: "py-block__hint" }, `首次运行要下载约 ${megabytes(__PYODIDE_GZIP__)} MB`);
    if (this.hint) this.bar.append(this.hint);
    const { pre } = this;
    if (!pre) return;
    pre.tabIndex = 0;
    pre.setAttribute("role", "group");
    pre.addEventListener("focus", () => import("./editor.js").catch(() => {}));
    pre.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target !== pre) return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) this.run();
      else this.open(true);
    });
    pre.addEventListener("click", (event) => {
      const precise = matchMedia("(pointer: fine)").matches;
      const inside = event.target instanceof Element && event.target.closest("code");
      if (precise && inside && getSelection()?.isCollapsed) this.open(true, offsetAt(pre, event));
    });
  }

  /** 不再提下载的大小。 */
  static downloaded() {
    if (!told) write("python", __PYODIDE__);
    told = true;
    for (const hint of document.querySelectorAll(".py-block__hint")) hint.remove();
  }

  /** @param {string} text @param {string} [tone] */
  say(text, tone = "") {
    if (!this.status) return;
    this.status.textContent = text;
    this.status.dataset.tone = tone;
  }

  /**
   * 换成编辑器。
   * @param {boolean} focus
   * @param {number} [offset]
   */
  async open(focus, offset) {
    if (!this.editor) {
      let openEditor;
      try {
        ({ openEditor } = await import("./editor.js"));
      } catch {
        this.say("编辑器没有载入。请检查网络，再重新载入本页。", "error");
        return;
      }
      if (!this.isConnected || !this.pre) return;
      if (!this.editor) {
        const host = el("div", { class: "py-block__editor" });
        this.pre.hidden = true;
        this.pre.after(host);
        this.editorHost = host;
        this.editor = openEditor(host, {
          code: this.#code.replace(/\n$/, ""),
          label: this.label,
          change: (code) => this.#changed(code),
          run: () => this.run(),
        });
        if (this.editButton) this.editButton.hidden = true;
      }
    }
    if (focus) this.editor.focus(offset);
  }

  /** @param {string} code */
  #changed(code) {
    const text = code.endsWith("\n") ? code : code + "\n";
    this.#code = text === this.source ? this.source : text;
    const kept = this.page.edits.set(this.index, this.edited ? this.#code : null);
    this.#showEdited();
    if (!kept) this.say("这次修改太大，或浏览器不许保存：重新载入后不会保留");
    else if (this.edited) this.say("已修改，存在这个浏览器里；按“运行”看结果");
    else this.say("与原文相同");
  }

  #showEdited() {
    if (this.resetButton) this.resetButton.hidden = !this.edited;
    this.toggleAttribute("data-edited", this.edited);
  }

  /** 换成别的代码（实验的一步改动）。 @param {string} code */
  async replace(code) {
    await this.open(false);
    this.editor?.set(code.replace(/\n$/, ""));
  }

  /** 恢复原文，收起结果。 */
  restore() {
    this.editor?.set(this.source.replace(/\n$/, ""));
    this.editor?.mark(null);
    this.#code = this.source;
    this.page.edits.set(this.index, null);
    this.#showEdited();
    this.result?.remove();
    this.result = null;
    this.nameDocumented("输出");
    this.say("已恢复原文");
    (this.editor ? this.runButton : this.pre)?.focus();
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.#code);
      this.say("已复制");
    } catch {
      this.say("浏览器不许复制：请选中代码，按 Ctrl 或 ⌘ 加 C", "error");
    }
  }

  /** 运行这一段（先补上它上面的）。结果以 `py-result` 事件报告。 */
  async run() {
    if (this.running) return;
    let start;
    try {
      start = (await import("./run.js")).start;
    } catch {
      this.say("运行的程序没有载入：网站可能刚刚更新，或网络断了。请重新载入本页。", "error");
      return;
    }
    await start(this);
  }

  async stop() {
    const { stop } = await import("./program.js");
    stop(this);
  }
}

/**
 * 读者看到的代码。行号与折叠按钮不算。
 * @param {HTMLElement} pre
 */
function textOf(pre) {
  const text = (pre.querySelector("code") ?? pre).textContent ?? "";
  return text === "" || text.endsWith("\n") ? text : text + "\n";
}

/**
 * 点在第几个字符上。
 * @param {HTMLElement} pre
 * @param {MouseEvent} event
 */
function offsetAt(pre, event) {
  const position = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  if (!position || !pre.contains(position.offsetNode)) return 0;
  const range = document.createRange();
  range.setStart(pre.querySelector("code") ?? pre, 0);
  range.setEnd(position.offsetNode, position.offset);
  return range.toString().length;
}
