// 排公式：标准输入每行一个 JSON 数组 [[tex, display], …]，标准输出每行一个 JSON 数组，与之一一对应。
// 结果是 {html} 或 {html, error}：出错的公式也给出能显示的 HTML（原文标红），由调用者决定是否算失败。
import { createInterface } from "node:readline";
import katex from "katex";

// 未放进 \text{} 的汉字、缺字形等“不规范”一律算错误；多行公式里的 \\ 是正当写法。
const strict = (code) => (code === "newLineInDisplayMode" ? "ignore" : "error");

function typeset(tex, displayMode) {
  try {
    return { html: katex.renderToString(tex, { displayMode, strict, output: "htmlAndMathml", trust: false }) };
  } catch (error) {
    const html = katex.renderToString(tex, { displayMode, strict: "ignore", throwOnError: false, trust: false });
    return { html, error: String(error.message) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const results = JSON.parse(line).map(([tex, display]) => typeset(tex, display));
  process.stdout.write(JSON.stringify(results) + "\n");
}
