/** 一次运行：进度、输出、结论、差别、出错的那一行。第一次点“运行”时才载入。 */
import { asShown } from "../shared/compare.js";
import { around, diffLines, renderDiff } from "../shared/diff.js";
import { button, el, megabytes } from "../shared/dom.js";
import { PyBlock } from "./element.js";
import { help } from "./help.js";
import { blockOf, isLoaded, pythonVersion, run } from "./program.js";
import { OUTPUT_LIMIT, SessionError } from "./session.js";
import { judge } from "./verdict.js";

/**
 * `py-result` 事件带着的东西。
 * @typedef {{ index: number, code: string, edited: boolean, passed: boolean, verdict: string, printed: string,
 *   error: string, python: string, held: boolean }} Result
 *
 * `held`：断言都成立，该抛出的异常也抛出了；`passed`：而且与文档一致。
 */

/** @param {PyBlock} block */
export async function start(block) {
  block.running = true;
  const view = new View(block);
  try {
    const report = await run(block.page.root, block.page.blocks, block, {
      progress: (loaded) => view.progress(loaded),
      above: (done, total) => view.above(done, total),
      began: () => view.began(),
      out: (name, text) => view.out(text),
    });
    PyBlock.downloaded();
    if ("above" in report) view.showAbove(report.above, report.ran);
    else view.show(report.ran);
  } catch (error) {
    view.failed(error instanceof SessionError ? error : new SessionError("died", String(error)));
  } finally {
    block.running = false;
    view.finish();
  }
}

class View {
  #shown = 0;
  #stalled = 0;

  /** @param {PyBlock} block */
  constructor(block) {
    this.block = block;
    block.result?.remove();
    this.code = el("code");
    this.pre = el("pre", { class: "py-block__output", tabindex: "0", "aria-label": "运行的输出", hidden: true }, this.code);
    this.box = el("div", { class: "py-block__result", "data-search-exclude": true });
    this.box.append(el("span", { class: "py-block__label" }, "你的结果"), this.pre);
    this.box.hidden = true;
    block.bar?.after(this.box);
    block.result = this.box;
    block.editor?.mark(null);
    this.bar = el("progress", { max: String(__PYODIDE_RAW__), value: "0", "aria-label": "载入 Python 的进度" });
    if (block.runButton) block.runButton.hidden = true;
    if (block.stopButton) block.stopButton.hidden = false;
    block.setAttribute("data-running", "");
    if (isLoaded()) block.say("正在运行……");
    else {
      block.hint?.remove();
      block.say("正在载入 Python……");
      block.status?.before(this.bar);
      this.#watch();
    }
  }

  /** 载入停住时告诉读者，而不是一直转圈。 */
  #watch() {
    clearTimeout(this.#stalled);
    this.#stalled = window.setTimeout(() => {
      this.block.say("下载停住了。可以再等一等，或者按“停止”，检查网络后再运行。", "error");
    }, 20_000);
  }

  /** @param {number} loaded */
  progress(loaded) {
    this.bar.value = loaded;
    clearTimeout(this.#stalled);
    if (loaded >= __PYODIDE_RAW__) {
      this.block.say("下载完了，正在启动 Python……");
      return;
    }
    this.#watch();
    this.block.say(`正在载入 Python：${megabytes(loaded)} / ${megabytes(__PYODIDE_RAW__)} MB（解压后）`);
  }

  /** @param {number} done @param {number} total */
  above(done, total) {
    this.#loaded();
    if (done === 0 || done === total - 1) this.block.say(`先运行上面的 ${total} 段……`);
  }

  #loaded() {
    clearTimeout(this.#stalled);
    this.bar.remove();
  }

  began() {
    this.#loaded();
    this.block.say("正在运行……");
  }

  /** @param {string} text */
  out(text) {
    this.box.hidden = false;
    this.pre.hidden = false;
    this.code.append(text);
    this.#shown += text.length;
    if (this.#shown >= OUTPUT_LIMIT) this.block.say(`正在运行……输出到了 ${OUTPUT_LIMIT} 字的上限，后面的不再显示`);
  }

  /** @param {import("./program.js").Ran} ran */
  show(ran) {
    const { block } = this;
    const { error, dropped } = ran.outcome;
    const expected = block.expected;
    const verdict = judge(expected, { stdout: ran.stdout, stderr: ran.stderr, error, dropped });
    this.box.hidden = !verdict.printed && !verdict.unexpected && !ran.stderr && verdict.matches;
    this.pre.hidden = !verdict.printed && !ran.stderr;
    if (error && !verdict.unexpected) this.code.append(verdict.printed.slice(ran.stdout.length));
    if (dropped) {
      this.box.append(el("p", { class: "web-note" }, `输出超过 ${OUTPUT_LIMIT} 字，后面的 ${dropped} 字没有显示。`));
    }
    if (error && verdict.unexpected) this.#fault(error);
    const clean = !verdict.unexpected || verdict.printed !== "";
    if (!verdict.matches && clean && !dropped && (expected.documented || verdict.printed)) {
      const lines = diffLines(asShown(expected.documented), asShown(verdict.printed));
      if (lines.some((line) => line.kind !== "same")) {
        this.box.hidden = false;
        this.box.append(renderDiff(around(lines), "和文档里的输出相比"));
      }
    }
    if (expected.raises && !error) {
      this.box.hidden = false;
      this.box.append(el("p", { class: "web-note" }, `文档说这段代码会抛出 ${expected.raises}，现在它正常结束了。`));
    }
    this.box.dataset.tone = verdict.tone;
    block.nameDocumented(this.box.hidden ? "输出" : "文档里的输出");
    block.say(`${verdict.text} · ${ran.ms < 1 ? "不到 1" : Math.round(ran.ms)} 毫秒`, verdict.tone);
    /** @type {Result} */
    const detail = {
      index: block.index,
      code: block.code,
      edited: expected.edited || expected.editedAbove,
      passed: verdict.matches,
      verdict: verdict.text,
      printed: verdict.printed,
      error: error?.last ?? "",
      python: pythonVersion(),
      held: !verdict.unexpected && Boolean(error) === Boolean(expected.raises),
    };
    block.dispatchEvent(new CustomEvent("py-result", { bubbles: true, detail }));
  }

  /**
   * 没有预料到的异常：最后一行、在哪里、一句话，标出那一行。
   * @param {import("./session.js").PythonError} error
   */
  #fault(error) {
    const { block } = this;
    const frames = error.frames
      .map(([file, line, name]) => ({ index: blockOf(file), line, name }))
      .filter((frame) => frame.index >= 0);
    const here = frames.findLast((frame) => frame.index === block.index);
    const fault = el("div", { class: "py-block__fault", role: "group", "aria-label": "出错" });
    fault.append(el("p", { class: "py-block__last" }, el("code", {}, error.last)), el("p", {}, help(error)));
    const places = frames.map(({ index, line, name }) => {
      const where = index === block.index ? `这一段第 ${line} 行` : `第 ${index + 1} 段第 ${line} 行`;
      return name === "<module>" ? where : `${where}（${name} 里）`;
    });
    if (places.length) {
      const shown = places.length > 6 ? [...places.slice(0, 3), "……", ...places.slice(-2)] : places;
      fault.append(el("p", { class: "web-note" }, `经过：${shown.join(" → ")}`));
    }
    this.box.hidden = false;
    this.box.append(fault);
    if (here) block.open(false).then(() => block.editor?.mark(here.line));
  }

  /**
   * @param {PyBlock} above
   * @param {import("./program.js").Ran} ran
   */
  showAbove(above, ran) {
    const { error } = ran.outcome;
    this.box.hidden = false;
    const jump = button(`到${above.label}`, () => {
      above.closest("details")?.setAttribute("open", "");
      above.scrollIntoView({ block: "center" });
      above.runButton?.focus({ preventScroll: true });
    });
    const text = `上面的${above.label}先出错了，这一段没有运行。`;
    this.box.append(el("div", { class: "py-block__fault" }, el("p", {}, text, " "), jump));
    if (error) this.box.append(el("p", { class: "py-block__last" }, el("code", {}, error.last)), el("p", { class: "web-note" }, help(error)));
    this.box.dataset.tone = "error";
    this.block.say("上面的代码出错了", "error");
  }

  /** @param {SessionError} error */
  failed(error) {
    const { block } = this;
    if (error.reason === "stopped") {
      block.say("已停止。再运行时，会先从头恢复这一页的状态。", "error");
      return;
    }
    this.box.hidden = false;
    this.box.dataset.tone = "error";
    const text =
      error.reason === "load"
        ? "Python 没有载入。请检查网络，再点“运行”；如果浏览器或扩展禁止了 WebAssembly 或 worker，请允许本站使用，或者换一个浏览器。也可以下载脚本，在自己的电脑上运行。"
        : "Python 中途停了：多半是内存用完，或者函数调用得太深。再点“运行”会换一个新的，从头恢复这一页的状态。";
    this.box.append(el("div", { class: "py-block__fault" }, el("p", {}, text)));
    if (error.message) this.box.append(el("p", { class: "web-note" }, `原因：${error.message.slice(0, 300)}`));
    block.say(error.reason === "load" ? "没有载入" : "Python 中途停了", "error");
  }

  finish() {
    this.#loaded();
    const { runButton, stopButton } = this.block;
    this.block.removeAttribute("data-running");
    if (runButton) runButton.hidden = false;
    if (stopButton) {
      if (stopButton.getRootNode() instanceof Document && document.activeElement === stopButton) runButton?.focus();
      stopButton.hidden = true;
    }
  }
}
