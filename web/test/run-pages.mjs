// 标准输入：[[代码, …], …]，一页一组；标准输出：{python, pages: [[{stdout, stderr, error}, …], …]}。
// 与浏览器里同一个解释器、同一份 interpreter.py。
import { readFileSync } from "node:fs";
import { loadPyodide } from "pyodide";

// 先读完：Pyodide 会把标准输入改成不等待的。
const programs = JSON.parse(readFileSync(0, "utf8"));
const python = await loadPyodide({ jsglobals: {} });
const globals = python.globals.get("dict")();
python.runPython(readFileSync(new URL("../src/py-block/interpreter.py", import.meta.url), "utf8"), { globals });

/** @type {Record<string, string>} */
let texts = {};
const send = (/** @type {string} */ name, /** @type {string} */ text) => {
  texts[name] += text;
};
const interpreter = globals.get("Interpreter")(send, 100_000);
const pages = programs.map((/** @type {string[]} */ blocks) => {
  interpreter.reset();
  return blocks.map((code, index) => {
    texts = { stdout: "", stderr: "" };
    const result = interpreter.run(code, `block-${index + 1}.py`);
    const { error } = result.toJs({ dict_converter: Object.fromEntries });
    result.destroy();
    return { ...texts, error: error ?? null };
  });
});
process.stdout.write(
  JSON.stringify({ python: python.runPython("import platform; platform.python_version()"), pages }),
);
