/** 判题：纯函数。 */

/** 全角的数字与符号 → 半角。 @param {string} text */
function plain(text) {
  return text
    .normalize("NFKC")
    .replace(/[−–—]/g, "-")
    .replace(/^约\s*/, "")
    .replace(/[\s`。]/g, "")
    .toLowerCase();
}

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?%?$/;

/**
 * 填空的一空：数按答案写出的位数比（差不超过末位的一半），整数要恰好；shape 只看各维，怎样写都行；其余逐字比。
 * @param {string} expected
 * @param {string} given
 */
export function fits(expected, given) {
  const wanted = plain(expected);
  const found = plain(given);
  if (found === "" || found.length > 200) return false;
  if (wanted === found) return true;
  if (NUMBER.test(wanted)) {
    if (!NUMBER.test(found) || wanted.endsWith("%") !== found.endsWith("%")) return false;
    const half = decimals(wanted) === 0 ? 0 : 0.5 * 10 ** -decimals(wanted);
    const [a, b] = [wanted, found].map((text) => Number(text.replace("%", "")));
    return Math.abs(a - b) <= half * (1 + 1e-9);
  }
  const shape = sizes(wanted);
  const other = sizes(found);
  return shape !== null && other !== null && shape.join() === other.join();
}

/** 写出的小数位数，指数也算。 @param {string} text */
function decimals(text) {
  const [mantissa, exponent = "0"] = text.replace("%", "").split("e");
  return Math.max(0, (mantissa.split(".")[1] ?? "").length - Number(exponent));
}

/**
 * `[2, 5, 4]`、`[2][5][4]`、`(2,5,4)`、`2×5×4` → 各维；不像 shape 就是 null。字母也可以：`[B, T, C]`。
 * @param {string} text
 */
function sizes(text) {
  if (!/^[[(]?[\w]+(?:(?:[,，x×*]|\]\[)[\w]+)+[\])]?$/.test(text)) return null;
  return text.replace(/^[[(]|[\])]$/g, "").split(/[,，×*]|\]\[|(?<=\d)x(?=\d)/);
}

/**
 * @param {string[]} answers
 * @param {string[]} chosen
 */
export function sameChoice(answers, chosen) {
  return [...answers].sort().join() === [...chosen].sort().join();
}
