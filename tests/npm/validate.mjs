// 检查 HTML 是否合乎标准：node validate.mjs <文件夹>。一个进程检查其中全部网页；规则与例外见 html-rules.mjs。
// 标准输出是 JSON：faults 是 [{ file, line, rule, message, selector }]，unused 是没有用上的例外。
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { HtmlValidate } from "html-validate";
import { config, exceptions } from "./html-rules.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("用法：node validate.mjs <文件夹>");
const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".html")).sort();
if (names.length === 0) throw new Error(`${folder} 里没有网页`);

const validator = new HtmlValidate(config);
const faults = [];
const used = new Set();
for (const name of names) {
  const report = await validator.validateString(await readFile(join(folder, name), "utf8"), name);
  for (const { ruleId: rule, message, line, selector } of report.results.flatMap((result) => result.messages)) {
    const exception = exceptions.find((one) => one.rule === rule && one.selector.test(selector ?? ""));
    if (exception) used.add(exception);
    else faults.push({ file: name.replaceAll("\\", "/"), line, rule, message, selector });
  }
}
const unused = exceptions.filter((one) => !used.has(one)).map(({ rule, selector }) => `${rule} ${selector}`);
process.stdout.write(JSON.stringify({ faults, unused }));
