/**
 * 一页是一个程序：运行一段之前，先悄悄运行它上面还没有运行、或者改过的各段。
 *
 * 状态总是“从头到某一段”：要运行的段已经在状态里了（它自己或它下面的运行过），或者上面改过，就从头再来。
 * 所以读者看到的，永远是这一页从上到下运行到这里的结果，与测试核对的一样。
 *
 * @typedef {import("./session.js").Outcome} Outcome
 * @typedef {import("./element.js").PyBlock} PyBlock
 * @typedef {{ outcome: Outcome, ms: number, stdout: string, stderr: string }} Ran
 * @typedef {{ ran: Ran } | { above: PyBlock, ran: Ran }} Report `above`：上面的这一段先出错了
 */
import { Session, SessionError } from "./session.js";

/** 整个网站共用一个解释器：换页时不必再载入，只是从头来。 @type {Session | null} */
let session = null;
/** 解释器里现在是哪一页、运行过哪些代码。 @type {{ page: Element | null, done: string[], clean: boolean }} */
let state = { page: null, done: [], clean: false };
/** 排队：同一时刻只运行一段。 @type {Promise<unknown>} */
let queue = Promise.resolve();
/** 正在运行的一段。 @type {PyBlock | null} */
let current = null;
/** 在排队的各段，和取消它们的办法。 @type {Map<PyBlock, (error: SessionError) => void>} */
const waiting = new Map();

/** 解释器是否已经载入。 */
export function isLoaded() {
  return session !== null && !session.ended && session.python !== "";
}

export function pythonVersion() {
  return session?.python ?? "";
}

/**
 * 停下这一段：正在运行就结束解释器，还在排队就不再排。
 * @param {PyBlock} block
 */
export function stop(block) {
  if (current === block) end();
  else waiting.get(block)?.(new SessionError("stopped"));
}

function end() {
  session?.stop();
  session = null;
  state = { page: null, done: [], clean: false };
}

/**
 * 运行 `block`，先补上它上面的。
 *
 * @param {Element} page
 * @param {PyBlock[]} blocks 这一页的全部代码块，从上到下
 * @param {PyBlock} block
 * @param {{ progress: (loaded: number) => void, began: () => void, above: (done: number, total: number) => void,
 *   out: (name: "stdout" | "stderr", text: string) => void }} on
 * @returns {Promise<Report>}
 */
export function run(page, blocks, block, on) {
  return new Promise((resolve, reject) => {
    let cancelled = false;
    waiting.set(block, (error) => {
      cancelled = true;
      waiting.delete(block);
      reject(error);
    });
    queue = queue.then(async () => {
      if (cancelled) return;
      waiting.delete(block);
      current = block;
      await runNow(page, blocks, block, on).then(resolve, reject);
      current = null;
    });
  });
}

/** @type {typeof run} */
async function runNow(page, blocks, block, on) {
  const active = (session ??= new Session());
  try {
    active.onprogress = on.progress;
    await active.ready;
    const index = blocks.indexOf(block);
    const program = blocks.slice(0, index + 1).map((item) => item.code);
    const kept = state.done.length <= index && state.done.every((code, i) => code === program[i]);
    if (!state.clean || state.page !== page || !kept) {
      state = { page, done: [], clean: false };
      await active.reset();
      state.clean = true;
    }
    for (let i = state.done.length; i < index; i++) {
      on.above(i, index);
      const ran = await one(active, blocks[i], program[i], i, () => {});
      if (ran.outcome.error && !blocks[i].expects(ran.outcome.error)) return { above: blocks[i], ran };
    }
    on.began();
    return { ran: await one(active, block, program[index], index, on.out) };
  } catch (error) {
    if (active.ended && session === active) end();
    throw error;
  }
}

/**
 * @param {Session} active
 * @param {PyBlock} block
 * @param {string} code
 * @param {number} index
 * @param {(name: "stdout" | "stderr", text: string) => void} out
 * @returns {Promise<Ran>}
 */
async function one(active, block, code, index, out) {
  const texts = { stdout: "", stderr: "" };
  state.clean = false;
  const before = performance.now();
  const outcome = await active.run(code, filename(index), (name, text) => {
    texts[name] += text;
    out(name, text);
  });
  const ms = performance.now() - before;
  if (!outcome.error || block.expects(outcome.error)) {
    state.done.push(code);
    state.clean = true;
  }
  return { outcome, ms, ...texts };
}

/** @param {number} index 从 0 数起 */
export function filename(index) {
  return `block-${index + 1}.py`;
}

/**
 * 栈帧的文件名 → 第几段（从 0 数起）；不是这一页的返回 -1。
 * @param {string} name
 */
export function blockOf(name) {
  const match = /^block-(\d+)\.py$/.exec(name);
  return match ? Number(match[1]) - 1 : -1;
}
