/**
 * 文档写的输出与实际输出是否一致：规则与 livedocs/compare.py 相同，由测试用同一组例子核对。
 */

// Python 的 \w 与 str.strip() 认的字符。
const WORD = "[\\p{L}\\p{N}_]";
const BLANK = /^[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/u;
const NUMBER = new RegExp(
  `(?<!${WORD}|\\.)[-+]?(?:\\p{Nd}+\\.?\\p{Nd}*|\\.\\p{Nd}+)(?:[eE][-+]?\\p{Nd}+)?(?!(?:${WORD}|\\.)*${WORD})` +
    `|[-+]?(?<!${WORD})(?:inf|nan)(?!${WORD})`,
  "gu",
);

/**
 * 网页能显示的样子：制表符成空格，只有空白的行成空行，末尾恰有一个换行。
 * @param {string} text
 */
export function asShown(text) {
  const lines = text.replaceAll("\r\n", "\n").split("\n").map((line) => {
    const expanded = expandTabs(line);
    return BLANK.test(expanded) ? "" : expanded;
  });
  const shown = lines.join("\n");
  return shown === "" || shown.endsWith("\n") ? shown : shown + "\n";
}

/** @param {string} line */
function expandTabs(line) {
  if (!line.includes("\t")) return line;
  let column = 0;
  let out = "";
  for (const char of line) {
    if (char === "\t") {
      const width = 4 - (column % 4);
      out += " ".repeat(width);
      column += width;
    } else {
      out += char;
      column = char === "\r" ? 0 : column + 1;
    }
  }
  return out;
}

/**
 * 不给容差时逐字比较；给了时，数以外的文字仍逐字比较，每一对数要满足 |a − b| ≤ atol + rtol·|b|。
 * @param {string} documented
 * @param {string} actual
 * @param {{ rtol?: number | null, atol?: number | null }} [tolerance]
 */
export function same(documented, actual, { rtol = null, atol = null } = {}) {
  const wanted = asShown(documented);
  const found = asShown(actual);
  if (wanted === found) return true;
  if (rtol === null && atol === null) return false;
  if (wanted.replace(NUMBER, "#") !== found.replace(NUMBER, "#")) return false;
  const a = found.match(NUMBER) ?? [];
  const b = wanted.match(NUMBER) ?? [];
  return a.every((text, index) => close(parse(text), parse(b[index]), rtol ?? 0, atol ?? 0));
}

/** @param {string} text */
function parse(text) {
  const bare = text.replace(/^[-+]/, "");
  const value = bare === "inf" ? Infinity : Number(bare);
  return text.startsWith("-") ? -value : value;
}

/** @param {number} a @param {number} b @param {number} rtol @param {number} atol */
function close(a, b, rtol, atol) {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  return a === b || Math.abs(a - b) <= atol + rtol * Math.abs(b);
}
