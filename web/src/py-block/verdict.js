/**
 * 一次运行的结论：与 livedocs/verdict.py 同样的规则，只是说给读者听。
 *
 * @typedef {import("./session.js").PythonError} PythonError
 * @typedef {{ documented: string, raises: string, rtol: number | null, atol: number | null,
 *   edited: boolean, editedAbove: boolean }} Expected
 * @typedef {{ tone: "same" | "different" | "error", text: string, printed: string, matches: boolean,
 *   unexpected: boolean }} Verdict
 */
import { same } from "../shared/compare.js";

/**
 * 应当写进文档的输出；预期的异常只留最后一行。
 * @param {string} stdout
 * @param {PythonError | null} error
 * @param {string} raises
 */
export function printedBy(stdout, error, raises) {
  if (!error || !raises) return stdout;
  return `${stdout}${stdout === "" || stdout.endsWith("\n") ? "" : "\n"}${error.last}\n`;
}

/**
 * @param {Expected} expected
 * @param {{ stdout: string, stderr: string, error: PythonError | null, dropped: number }} ran
 * @returns {Verdict}
 */
export function judge(expected, ran) {
  const raised = Boolean(ran.error && expected.raises && ran.error.bases.includes(expected.raises));
  const unexpected = Boolean(ran.error) && !raised;
  const printed = raised ? printedBy(ran.stdout, ran.error, expected.raises) : ran.stdout;
  const { rtol, atol } = expected;
  const matches =
    !unexpected &&
    raised === Boolean(expected.raises) &&
    ran.stderr === "" &&
    ran.dropped === 0 &&
    same(expected.documented, printed, { rtol, atol }) &&
    Boolean(printed) === Boolean(expected.documented);
  return { printed, matches, unexpected, ...conclusion(expected, ran, { matches, unexpected, printed }) };
}

/**
 * @param {Expected} expected
 * @param {{ error: PythonError | null }} ran
 * @param {{ matches: boolean, unexpected: boolean, printed: string }} found
 * @returns {{ tone: Verdict["tone"], text: string }}
 */
function conclusion(expected, ran, { matches, unexpected, printed }) {
  const changed = expected.edited ? "你改过这段代码" : expected.editedAbove ? "你改过上面的代码" : "";
  if (unexpected) {
    const kind = ran.error?.type === "AssertionError" ? "断言不成立" : "出错了";
    return { tone: "error", text: changed ? `${changed}：${kind}` : `${kind}，与文档不同` };
  }
  if (changed) {
    return matches
      ? { tone: "same", text: `${changed}：和原来的输出相比，没有变化` }
      : { tone: "different", text: `${changed}：和原来的输出相比，变了的在下面标出` };
  }
  if (matches) return { tone: "same", text: printed ? "与文档一致" : "与文档一致：运行完毕，没有输出" };
  return { tone: "different", text: "与文档不同，差别在下面标出" };
}
