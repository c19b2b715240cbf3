/**
 * 键盘操作的说明：按 `?`，或者点页脚的“键盘操作”，打开一张表。
 * 表里只写真的有的键；每个键都由 tests/reader/test_keyboard.py 按过。
 */
import { el } from "../shared/dom.js";

/** 组名 → [键, 做什么]；键之间用空格隔开，`+` 是一起按。 */
export const KEYS = /** @type {[string, [string, string][]][]} */ ([
  [
    "每一页",
    [
      ["/ S F", "搜索"],
      ["N .", "下一页"],
      ["P ,", "上一页"],
      ["?", "打开这张表"],
      ["Esc", "关闭搜索、这张表、术语的解释"],
    ],
  ],
  [
    "搜索框里",
    [
      ["↑ ↓", "选择结果"],
      ["Enter", "打开选中的结果"],
    ],
  ],
  [
    "能运行的代码",
    [
      ["Enter", "光标移到代码上时，开始编辑"],
      ["Ctrl+Enter ⌘+Enter", "编辑时，运行"],
      ["Esc Tab", "先后按，离开编辑框"],
    ],
  ],
  [
    "带点线的术语",
    [
      ["Tab", "移到术语上，显示解释"],
      ["Enter", "打开术语表里的那一行"],
    ],
  ],
]);

/** @param {string} combination */
const key = (combination) => combination.split("+").flatMap((name, index) => [index ? "+" : "", el("kbd", {}, name)]);

/** @returns {HTMLDialogElement} */
function build() {
  const close = el("button", { type: "button", class: "web-button" }, "关闭");
  const groups = KEYS.flatMap(([group, rows]) => [
    el("h3", {}, group),
    el(
      "dl",
      {},
      ...rows.flatMap(([keys, meaning]) => [
        el("dt", {}, ...keys.split(" ").flatMap((one, index) => [index ? " " : "", ...key(one)])),
        el("dd", {}, meaning),
      ]),
    ),
  ]);
  const dialog = el(
    "dialog",
    { class: "keys-help md-typeset", "aria-labelledby": "keys-help-title" },
    el("h2", { id: "keys-help-title" }, "键盘操作"),
    ...groups,
    close,
  );
  close.addEventListener("click", () => dialog.close());
  // 点在框外的暗处也关闭。
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  // 主题在 window 上听 N、P、/ 这些键：表打开时不换页、不跳到搜索框。
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}

export function open() {
  if (document.querySelector(".keys-help")) return;
  const dialog = build();
  document.body.append(dialog);
  dialog.showModal();
}
