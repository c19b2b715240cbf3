/**
 * <lab-record>：包着记录表。表里第一列的链接说明一行是哪一节的实验，那一节里的代码块就是这个实验。
 *
 * 没有脚本时它就是那张表。有脚本时：每个实验的前面出现“改动”（与 `base` 那一节的代码相比）和“运行这个实验”，
 * 点一下依次运行；结果自己填进表里；“导出实验记录”存成 Markdown。作者只写链接：
 *
 *     <lab-record base="#baseline" markdown="block">
 *     | 实验 | 需要记录 | 通过条件 |
 *     | [小实验 3：很大的分数](#exp-large-logits){ data-base="#stable-softmax" } | … | … |
 *     </lab-record>
 */
import { renderDiff } from "../shared/diff.js";
import { button, download, el, pageOf } from "../shared/dom.js";
import { PyBlock } from "../py-block/element.js";
import { changeOf, judgeRow, observedText, toMarkdown } from "./record.js";

/**
 * @typedef {import("./record.js").Row & { blocks: PyBlock[], base: PyBlock | null, seen: HTMLElement,
 *   verdict: HTMLElement, buttons: HTMLButtonElement[] }} Experiment
 */

/** @param {HTMLElement} host */
export function mount(host) {
  const page = pageOf(host);
  const rows = [...host.querySelectorAll("table")].flatMap((table) => experimentsOf(host, table, page));
  if (rows.length === 0) return;
  let python = "";

  const status = el("span", { role: "status", class: "lab-record__status" });
  const bar = el("div", { class: "lab-record__bar", "data-search-exclude": true });
  bar.append(
    button("依次运行全部实验", async () => {
      for (const row of rows) await runAll(row);
      status.textContent = `运行完毕：${rows.filter((row) => judgeRow(row).startsWith("通过")).length} / ${rows.length} 行通过`;
    }, "web-button--main"),
    button("导出实验记录", () => {
      const title = page.querySelector("h1")?.firstChild?.textContent ?? document.title;
      const date = new Date().toISOString().slice(0, 10);
      // 各行之外的代码（函数的定义等），复现时也要用到。
      const used = new Set(rows.flatMap((row) => row.blocks));
      const last = Math.max(...[...used].map((block) => block.index));
      const [one] = used;
      const shared = one.page.blocks
        .filter((block) => block.index < last && !used.has(block))
        .map(({ label, code, edited }) => ({ label, code, edited }));
      const url = location.origin + location.pathname;
      download(`实验记录-${date}.md`, toMarkdown({ title, url, date, python, rows, shared }));
      status.textContent = "已导出";
    }),
    status,
  );
  host.append(bar);
  for (const row of rows) if (row.base) addPanel(row);

  const listener = (/** @type {Event} */ event) => {
    const { target } = event;
    if (!(target instanceof PyBlock) || !(event instanceof CustomEvent)) return;
    /** @type {import("../py-block/run.js").Result} */
    const result = event.detail;
    python = result.python;
    for (const row of rows) {
      const at = row.blocks.indexOf(target);
      if (at < 0) continue;
      row.observed[at] = { label: target.label, ...result };
      fill(row);
    }
  };
  page.addEventListener("py-result", listener);
  return () => page.removeEventListener("py-result", listener);
}

/**
 * 表里的每一行 → 一个实验；加两列。
 * @param {HTMLElement} host
 * @param {HTMLTableElement} table
 * @param {Element} page
 * @returns {Experiment[]}
 */
function experimentsOf(host, table, page) {
  const found = [];
  for (const line of table.tBodies[0]?.rows ?? []) {
    const links = [...line.cells[0].querySelectorAll("a[href*='#']")];
    const blocks = links.flatMap((link) => blocksOf(page, anchorOf(link.getAttribute("href"))));
    if (blocks.length === 0) continue;
    const base = anchorOf(links[0].getAttribute("data-base") ?? host.getAttribute("base"));
    const own = links.map((link) => anchorOf(link.getAttribute("href")));
    const seen = el("pre", { class: "lab-record__seen" });
    const verdict = el("span", { class: "lab-record__verdict" }, "还没有运行");
    /** @type {Experiment} */
    const row = {
      name: line.cells[0].textContent ?? "",
      condition: line.cells[line.cells.length - 1].textContent ?? "",
      observed: blocks.map(() => null),
      blocks,
      base: own.includes(base) ? null : (blocksOf(page, base).find((block) => block.dataset.kind !== "evidence") ?? null),
      seen,
      verdict,
      buttons: [],
    };
    const start = button("运行", () => runAll(row));
    start.setAttribute("aria-label", `运行：${row.name}`);
    row.buttons.push(start);
    line.append(el("td", {}, seen), el("td", {}, verdict, start));
    found.push(row);
  }
  if (found.length > 0) table.tHead?.rows[0].append(el("th", {}, "你观察到的"), el("th", {}, "判定"));
  return found;
}

/** @param {string | null} href */
function anchorOf(href) {
  return decodeURIComponent((href ?? "").split("#")[1] ?? "");
}

/**
 * 一节里的代码块：从这个标题到下一个同级或更高的标题。
 * @param {Element} page
 * @param {string} id
 * @returns {PyBlock[]}
 */
function blocksOf(page, id) {
  const heading = [...page.querySelectorAll("h1, h2, h3, h4, h5, h6")].find((item) => item.id === id);
  if (!heading) return [];
  const blocks = [];
  for (let next = heading.nextElementSibling; next; next = next.nextElementSibling) {
    if (/^H[1-6]$/.test(next.tagName) && next.tagName <= heading.tagName) break;
    for (const item of [next, ...next.querySelectorAll("py-block")]) if (item instanceof PyBlock) blocks.push(item);
  }
  return blocks;
}

/**
 * 实验的前面：改了什么，点一下就运行。
 * @param {Experiment} row
 */
function addPanel(row) {
  const [first] = row.blocks;
  const panel = el("div", { class: "lab-experiment", role: "group", "aria-label": row.name, "data-search-exclude": true });
  const draw = () => {
    panel.querySelector(".web-diff")?.replaceWith(renderDiff(changeOf(row.base?.code ?? "", first.code), "这个实验的改动"));
  };
  const start = button(row.blocks.length > 1 ? `运行这个实验（${row.blocks.length} 段）` : "运行这个实验", () => runAll(row), "web-button--main");
  row.buttons.push(start);
  const details = el("details", {}, el("summary", {}, "这个实验的改动（− 原来的代码，+ 实验的代码）"), el("div", { class: "web-diff" }));
  details.open = true;
  panel.append(details, start);
  // 代码块可能在折叠框里：放在它最外层的容器之前。
  let place = /** @type {Element} */ (first);
  while (place.parentElement && !place.parentElement.matches("article, .md-content__inner")) place = place.parentElement;
  place.before(panel);
  draw();
  first.addEventListener("py-result", draw);
}

/** @param {Experiment} row */
async function runAll(row) {
  for (const item of row.buttons) item.disabled = true;
  row.observed.fill(null);
  row.verdict.textContent = "正在运行……";
  for (const [index, block] of row.blocks.entries()) {
    await block.run();
    if (row.observed[index] === null) break; // 没有运行成：原因写在那一段下面
  }
  for (const item of row.buttons) item.disabled = false;
  fill(row);
}

/** @param {Experiment} row */
function fill(row) {
  row.seen.textContent = observedText(row);
  row.verdict.textContent = judgeRow(row);
  row.verdict.dataset.tone = judgeRow(row).startsWith("通过") ? "same" : "different";
}
