// 打包前端：node build.mjs <输出文件夹>。在那里写出带散列的文件和 manifest.json。
// 由 livedocs.web 在构建网站时调用；输出按内容缓存，不提交。
import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const outdir = process.argv[2];
if (!outdir) throw new Error("用法：node build.mjs <输出文件夹>");

/** 解释器的文件：从 npm 包原样放进网站。 */
const INTERPRETER = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"];
const interpreter = join(here, "node_modules", "pyodide");
const { version } = JSON.parse(await readFile(join(interpreter, "package.json"), "utf8"));

/** 读者要下载多少：原来的字节数，与压缩传输时的字节数。 */
async function interpreterSize() {
  let raw = 0;
  let gzip = 0;
  for (const name of INTERPRETER) {
    const data = await readFile(join(interpreter, name));
    raw += data.length;
    gzip += name.endsWith(".zip") ? data.length : gzipSync(data, { level: 6 }).length;
  }
  return { raw, gzip };
}

const common = /** @satisfies {import("esbuild").BuildOptions} */ ({
  absWorkingDir: here,
  outdir,
  bundle: true,
  format: /** @type {const} */ ("esm"),
  target: "es2022",
  charset: /** @type {const} */ ("utf8"),
  minify: true,
  legalComments: /** @type {const} */ ("none"),
  logLevel: /** @type {const} */ ("warning"),
  metafile: /** @type {const} */ (true),
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".py": /** @type {const} */ ("text") },
});

/** @typedef {import("esbuild").Metafile} Metafile */

/** 入口 → 输出的文件名。 @param {Metafile} metafile */
function outputs(metafile) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const [path, output] of Object.entries(metafile.outputs)) {
    if (output.entryPoint) found[basename(output.entryPoint)] = basename(path);
  }
  return found;
}

const size = await interpreterSize();
// worker 先打包：主程序要知道它的文件名。
const { info } = JSON.parse(await readFile(join(interpreter, "pyodide-lock.json"), "utf8"));
const { size: asm } = await stat(join(interpreter, "pyodide.asm.mjs"));
const workers = await build({
  ...common,
  entryPoints: ["src/py-block/worker.js"],
  define: {
    __PYODIDE_ASM__: String(asm),
    // 只要标准库，不装别的包，所以清单是空的。
    __PYODIDE_LOCK__: JSON.stringify(JSON.stringify({ info, packages: {} })),
  },
});
const worker = outputs(workers.metafile)["worker.js"];
// 主题用 new Worker(网址) 启动它，所以不是模块。
const search = await build({ ...common, format: "iife", entryPoints: { search: "src/search/worker.js" } });
const main = await build({
  ...common,
  entryPoints: ["src/main.js", "src/main.css"],
  splitting: true,
  define: {
    __WORKER__: JSON.stringify(`./${worker}`),
    __PYODIDE__: JSON.stringify(`../pyodide/${version}/`),
    __PYODIDE_RAW__: String(size.raw),
    __PYODIDE_GZIP__: String(size.gzip),
  },
});
const entries = outputs(main.metafile);
const files = (await readdir(outdir)).filter((name) => /\.(js|css)$/.test(name)).sort();
await writeFile(
  join(outdir, "manifest.json"),
  JSON.stringify(
    {
      script: entries["main.js"],
      style: entries["main.css"],
      search: outputs(search.metafile)["worker.js"],
      files,
      // 打开一页就会取的脚本：入口和它静态引入的部分。
      eager: eager(main.metafile, entries["main.js"]),
      pyodide: { version, files: INTERPRETER, ...size },
    },
    null,
    1,
  ),
);

/** @param {Metafile} metafile @param {string} entry */
function eager(metafile, entry) {
  const byName = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const seen = new Set();
  const visit = (/** @type {string} */ name) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const { path, kind } of byName.get(name)?.imports ?? []) {
      if (kind === "import-statement") visit(basename(path));
    }
  };
  visit(entry);
  return [...seen].sort();
}
