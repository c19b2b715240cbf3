/**
 * 逐行的差别。
 * @typedef {{ kind: "same" | "removed" | "added", text: string }} Line
 */

const LIMIT = 400; // 更长的只比较开头这么多行

/**
 * `before` → `after`，按最长公共子序列。
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function diffLines(before, after) {
  const a = rows(before);
  const b = rows(after);
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  /** @type {Line[]} */
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] });
      i++;
      j++;
    } else if (i < a.length && (j === b.length || table[i + 1][j] >= table[i][j + 1])) {
      lines.push({ kind: "removed", text: a[i++] });
    } else {
      lines.push({ kind: "added", text: b[j++] });
    }
  }
  return lines;
}

/** @param {string} text */
function rows(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const kept = lines.slice(0, LIMIT);
  if (lines.length > LIMIT) kept.push(`…… 另有 ${lines.length - LIMIT} 行没有比较`);
  return text === "" ? [] : kept;
}

/**
 * 只留下变化和它前后 `context` 行。
 * @param {Line[]} lines
 * @param {number} context
 */
export function around(lines, context = 1) {
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some((line) => line.kind !== "same"),
  );
  return lines.filter((_, index) => near[index]);
}

/**
 * 给读者看的差别；颜色之外，减号与加号也说明同一件事。
 * @param {Line[]} lines
 * @param {string} label
 */
export function renderDiff(lines, label) {
  const box = document.createElement("div");
  box.className = "web-diff";
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  box.tabIndex = 0; // 横向滚动时，键盘也能滚
  const mark = { same: " ", removed: "−", added: "+" };
  const word = { same: "", removed: "原来：", added: "现在：" };
  for (const line of lines) {
    const row = document.createElement("div");
    row.className = `web-diff__line web-diff__line--${line.kind}`;
    const sign = document.createElement("span");
    sign.className = "web-diff__sign";
    sign.setAttribute("aria-hidden", "true");
    sign.textContent = mark[line.kind];
    const spoken = document.createElement("span");
    spoken.className = "web-hidden";
    spoken.textContent = word[line.kind];
    const text = document.createElement("code");
    text.textContent = line.text;
    row.append(sign, spoken, text);
    box.append(row);
  }
  return box;
}
