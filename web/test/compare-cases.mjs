// 标准输入：[[文档, 实际, rtol, atol], …]；标准输出：[{same, shown}, …]。由 tests/play 与 livedocs/compare.py 比较。
import { readFileSync } from "node:fs";
import { asShown, same } from "../src/shared/compare.js";

const cases = JSON.parse(readFileSync(0, "utf8"));
const results = cases.map((/** @type {[string, string, number | null, number | null]} */ [documented, actual, rtol, atol]) => ({
  same: same(documented, actual, { rtol, atol }),
  shown: asShown(actual),
}));
process.stdout.write(JSON.stringify(results));
