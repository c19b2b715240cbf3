import { diffLines } from "../shared/diff.js";

/**
 * 实验记录：纯数据，不碰页面，好单独测试。
 *
 * @typedef {{ label: string, code: string, printed: string, error: string, edited: boolean, passed: boolean,
 *   held: boolean }} Observed 一段代码的一次运行
 * @typedef {{ name: string, condition: string, observed: (Observed | null)[] }} Row 一行：一个实验
 */

/**
 * 一行的判定。改过的代码不与文档比，只看断言与预期的异常。
 * @param {Row} row
 */
export function judgeRow(row) {
  const done = row.observed.filter((item) => item !== null);
  const fits = (/** @type {Observed} */ item) => (item.edited ? item.held : item.passed);
  if (done.some((item) => !fits(item))) return "没有通过";
  if (done.length < row.observed.length) return done.length === 0 ? "还没有运行" : `运行了 ${done.length} / ${row.observed.length} 段`;
  return done.some((item) => item.edited) ? "通过（代码改过）" : "通过";
}

/**
 * 观察到的：各段打印的内容，或者异常的最后一行。
 * @param {Row} row
 */
export function observedText(row) {
  return row.observed
    .filter((item) => item !== null)
    .map((item) => {
      const text = item.printed.trimEnd();
      return item.error && !text.includes(item.error) ? `${text}\n${item.error}`.trim() : text;
    })
    .filter((text) => text !== "")
    .join("\n");
}

/**
 * 实验与原来的代码差在哪里。说明文字、注释和空行不算。
 *
 * 实验没有重新定义的函数不算“去掉了”，所以先从原来的代码里拿走函数定义；
 * 原来的代码只是一个函数、实验也写了一个函数时（例如拿掉一步），就逐行比较这两个函数。
 * @param {string} base
 * @param {string} code
 */
export function changeOf(base, code) {
  const whole = /^def /.test(base) && /^def /m.test(code);
  return diffLines(bare(whole ? base : withoutDefinitions(base)), bare(code));
}

/** @param {string} code */
function bare(code) {
  return code
    .replace(/^ *"""[\s\S]*?"""\n/gm, "")
    .split("\n")
    .map((line) => line.replace(/ {2,}#.*$/, ""))
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("#"))
    .join("\n");
}

/** @param {string} code */
function withoutDefinitions(code) {
  const kept = [];
  let inside = false;
  for (const line of code.split("\n")) {
    if (/^def /.test(line)) inside = true;
    else if (/^\S/.test(line)) inside = false;
    if (!inside) kept.push(line);
  }
  return kept.join("\n");
}

/**
 * 能写进报告的 Markdown。代码里有反引号也不会把围栏提前结束。
 * @param {{ title: string, url: string, date: string, python: string, rows: Row[],
 *   shared: { label: string, code: string, edited: boolean }[] }} record `shared`：各行之外的代码，按页面的次序
 */
export function toMarkdown({ title, url, date, python, rows, shared }) {
  const lines = [`# 实验记录：${inline(title)}`, ""];
  lines.push(`- 页面：${inline(url)}`, `- 日期：${date}`);
  lines.push(`- Python：${python === "" ? "还没有运行" : `${inline(python)}（在浏览器里，Pyodide）`}`, "");
  lines.push("| 实验 | 通过条件 | 判定 |", "| --- | --- | --- |");
  for (const row of rows) lines.push(`| ${cell(row.name)} | ${cell(row.condition)} | ${judgeRow(row)} |`);
  for (const row of rows) {
    const done = row.observed.filter((item) => item !== null);
    if (done.length === 0) continue;
    lines.push("", `## ${inline(row.name)}`, "", `判定：${judgeRow(row)}`);
    for (const item of done) {
      lines.push("", `${item.label}${item.edited ? "（改过）" : ""}：`, "", ...fenced(item.code, "python"));
      const text = item.error && !item.printed.includes(item.error) ? `${item.printed}${item.error}\n` : item.printed;
      lines.push("", text === "" ? "没有输出。" : "输出：");
      if (text !== "") lines.push("", ...fenced(text, "text"));
    }
  }
  if (shared.length > 0) lines.push("", "## 各实验共用的代码");
  for (const { label, code, edited } of shared) {
    lines.push("", `${label}${edited ? "（改过）" : ""}：`, "", ...fenced(code, "python"));
  }
  return lines.join("\n") + "\n";
}

/** @param {string} text @param {string} language */
function fenced(text, language) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return [fence + language, text.replace(/\n$/, ""), fence];
}

/** @param {string} text */
function inline(text) {
  return text.replace(/\s+/g, " ").trim();
}

/** @param {string} text */
function cell(text) {
  return inline(text).replaceAll("|", "\\|");
}
