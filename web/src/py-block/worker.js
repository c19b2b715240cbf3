// 运行 Python 的 worker。页面的线程从不运行 Python，所以页面不会卡住；要停下，结束这个 worker 就行。
import source from "./interpreter.py";

/**
 * @typedef {{ do: "load", base: string, limit: number } | { do: "reset" } |
 *   { do: "run", code: string, filename: string }} Request
 * @typedef {{ type: string, bases: string[], last: string, frames: [string, number, string][] }} PythonError
 * @typedef {{ is: "progress", loaded: number } | { is: "ready", python: string } | { is: "failed", why: string } |
 *   { is: "out", name: "stdout" | "stderr", text: string } | { is: "reset" } |
 *   { is: "done", error: PythonError | null, dropped: number } | { is: "died", why: string }} Answer
 */

/** Python 最多能用的内存。到了上限是 Python 的 MemoryError，而不是整个浏览器被拖垮。 */
const MEMORY = 512 * 2 ** 20;
const PAGE = 2 ** 16;

/** @type {any} */
let interpreter;
/** @type {any} */
let python;

/** @param {Answer} message */
const answer = (message) => postMessage(message);

addEventListener("message", async (/** @type {MessageEvent<Request>} */ { data }) => {
  if (data.do === "load") {
    try {
      answer({ is: "ready", python: await load(data.base, data.limit) });
    } catch (error) {
      answer({ is: "failed", why: String(error) });
    }
    return;
  }
  try {
    if (data.do === "reset") {
      interpreter.reset();
      answer({ is: "reset" });
    } else {
      const result = interpreter.run(data.code, data.filename);
      const { error, dropped } = result.toJs({ dict_converter: Object.fromEntries });
      result.destroy();
      answer({ is: "done", error: error ?? null, dropped });
    }
  } catch (error) {
    // 不是 Python 的异常：解释器自己坏了（例如调用太深），只能换一个。
    answer({ is: "died", why: String(error) });
  }
});

/**
 * 载入解释器，返回 Python 的版本。
 * @param {string} base
 * @param {number} limit
 */
async function load(base, limit) {
  capMemory();
  const { count, broken } = countBytes(base);
  const modules = ["pyodide.mjs", "pyodide.asm.mjs"].map((name) => import(base + name));
  modules[1].then(() => count(__PYODIDE_ASM__), () => {});
  const { loadPyodide } = await modules[0];
  const loading = loadPyodide({
    indexURL: base,
    lockFileContents: __PYODIDE_LOCK__,
    packageBaseUrl: base,
    // 页面里的 Python 碰不到浏览器：`import js` 得到的是空的。
    jsglobals: {},
    checkAPIVersion: true,
  });
  loading.catch(() => {});
  // 有的文件取不到时，loadPyodide 会一直等下去；这里先说出来。
  python = await Promise.race([loading, broken]);
  const globals = python.globals.get("dict")();
  python.runPython(source, { globals, filename: "interpreter.py" });
  const send = (/** @type {"stdout" | "stderr"} */ name, /** @type {string} */ text) =>
    answer({ is: "out", name, text });
  interpreter = globals.get("Interpreter")(send, limit);
  return python.runPython("import platform; platform.python_version()");
}

/** 让 WebAssembly 的内存长到 `MEMORY` 为止。 */
function capMemory() {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (this.buffer.byteLength + pages * PAGE > MEMORY) throw new RangeError("内存到了上限");
    return grow.call(this, pages);
  };
}

/**
 * 边下载边报告字节数；大文件一开始就同时去取，不等解释器用到时才取。
 * @param {string} base
 * @returns {{ count: (bytes: number) => void, broken: Promise<never> }} `count`：另外加上这么多字节；
 *   `broken`：有文件取不到时失败，否则永远等待
 */
function countBytes(base) {
  let loaded = 0;
  let told = 0;
  const count = (/** @type {number} */ bytes) => {
    loaded += bytes;
    if (loaded - told > 50_000 || bytes > 50_000) {
      told = loaded;
      answer({ is: "progress", loaded });
    }
  };
  const original = self.fetch;
  const counted = async (/** @type {RequestInfo | URL} */ input, /** @type {RequestInit | undefined} */ init) => {
    const response = await original(input, init);
    if (!response.ok || !response.body) return response;
    const counter = new TransformStream({
      transform(chunk, controller) {
        count(chunk.byteLength);
        controller.enqueue(chunk);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(counter), { status, headers });
  };
  /** @type {Map<string, Promise<Response>>} */
  const early = new Map();
  /** @type {Promise<never>} */
  const broken = new Promise((_, reject) => {
    for (const name of ["pyodide.asm.wasm", "python_stdlib.zip"]) {
      const started = counted(base + name, { credentials: "same-origin" });
      started.then(
        ({ ok, status }) => ok || reject(new Error(`${name}：HTTP ${status}`)),
        (error) => reject(new Error(`${name}：${error.message}`)),
      );
      early.set(base + name, started);
    }
  });
  broken.catch(() => {});
  self.fetch = (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    const started = early.get(url);
    early.delete(url);
    return started ?? counted(input, init);
  };
  return { count, broken };
}
