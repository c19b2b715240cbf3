/**
 * 一个运行着 Python 的 worker。结束了就不能再用：要停下正在运行的代码，只有结束它这一种办法。
 *
 * @typedef {import("./worker.js").Answer} Answer
 * @typedef {import("./worker.js").PythonError} PythonError
 * @typedef {{ error: PythonError | null, dropped: number, died: string }} Outcome
 */

/** 一段代码最多保留这么多字符的输出。 */
export const OUTPUT_LIMIT = 100_000;

/** 载入失败，或 worker 中途没了。`reason` 是 load（载入）、died（运行时）、stopped（读者按了停止）。 */
export class SessionError extends Error {
  /** @param {"load" | "died" | "stopped"} reason @param {string} [detail] */
  constructor(reason, detail = "") {
    super(detail);
    this.reason = reason;
  }
}

export class Session {
  /** Python 的版本，载入后才有。 */
  python = "";
  /** @type {Promise<string>} */
  ready;
  ended = false;
  /** @type {(loaded: number) => void} */
  onprogress = () => {};
  /** @type {Worker} */
  #worker;
  /** @type {{ resolve: (value: any) => void, reject: (error: SessionError) => void } | null} */
  #waiting = null;
  /** @type {(name: "stdout" | "stderr", text: string) => void} */
  #out = () => {};

  constructor() {
    this.#worker = new Worker(new URL(__WORKER__, import.meta.url), { type: "module", name: "python" });
    this.#worker.addEventListener("message", (event) => this.#receive(event.data));
    this.#worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#end(new SessionError(this.python ? "died" : "load", event.message ?? ""));
    });
    const base = new URL(__PYODIDE__, import.meta.url).href;
    this.ready = this.#ask({ do: "load", base, limit: OUTPUT_LIMIT }).then((version) => (this.python = version));
    this.ready.catch(() => {});
  }

  /** 从头来：新的命名空间。 */
  reset() {
    return this.#ask({ do: "reset" });
  }

  /**
   * @param {string} code
   * @param {string} filename
   * @param {(name: "stdout" | "stderr", text: string) => void} out
   * @returns {Promise<Outcome>}
   */
  run(code, filename, out) {
    this.#out = out;
    return this.#ask({ do: "run", code, filename });
  }

  stop() {
    this.#end(new SessionError("stopped"));
  }

  /** @param {import("./worker.js").Request} request */
  #ask(request) {
    return new Promise((resolve, reject) => {
      if (this.ended) return reject(new SessionError("died"));
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(request);
    });
  }

  /** @param {Answer} answer */
  #receive(answer) {
    if (this.ended) return;
    if (answer.is === "progress") this.onprogress(answer.loaded);
    else if (answer.is === "out") this.#out(answer.name, answer.text);
    else if (answer.is === "failed") this.#end(new SessionError("load", answer.why));
    else if (answer.is === "died") this.#end(new SessionError("died", answer.why));
    else {
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting?.resolve(answer.is === "ready" ? answer.python : answer.is === "done" ? { ...answer, died: "" } : null);
    }
  }

  /** @param {SessionError} error */
  #end(error) {
    if (this.ended) return;
    this.ended = true;
    this.#worker.terminate();
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
