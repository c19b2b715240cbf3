// 打包时由 build.mjs 填入的常量。
declare const __WORKER__: string;
declare const __PYODIDE__: string;
declare const __PYODIDE_RAW__: number;
declare const __PYODIDE_GZIP__: number;
declare module "*.py" {
  const text: string;
  export default text;
}
declare const __PYODIDE_ASM__: number;
declare const __PYODIDE_LOCK__: string;
