// 标准输入是一个 JSON：{ folder, calls: [[模块, 函数, 参数表], …] }；标准输出是结果的 JSON 数组，与之一一对应。
// JSON 里没有无穷大，写成字符串 "-inf"；抛出的错写成 { error: 消息 }。
import { pathToFileURL } from "node:url";

let text = "";
for await (const chunk of process.stdin) text += chunk;
const { folder, calls } = JSON.parse(text, (_, value) => (value === "-inf" ? -Infinity : value));
const modules = {};
for (const [name] of calls) modules[name] ??= await import(pathToFileURL(`${folder}/${name}.js`));
const results = calls.map(([module, name, args]) => {
  try {
    return modules[module][name](...args);
  } catch (error) {
    return { error: error.message };
  }
});
process.stdout.write(JSON.stringify(results, (_, value) => (value === -Infinity ? "-inf" : value)));
