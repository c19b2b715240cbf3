// 搜索 worker：与主题原来的 worker 说同样的话（SetupMessage 等，见 Material 的 search/worker），换了里面的引擎。
//
// 主题在打开网页时就把设置送来；真的索引到第一次查询才取，取过就留着。
import { Engine } from "./engine.js";
import { results } from "./results.js";

const SETUP = 0;
const READY = 1;
const QUERY = 2;
const RESULT = 3;

/** 过了这么多毫秒还没有取到索引，就告诉读者在等什么。 */
const PATIENCE = 600;

/** @type {string} */
let address = "";
/** @type {Promise<Engine> | null} */
let loading = null;
let newest = 0;

/** 取索引。没有取到时下次查询再试。 */
function engine() {
  loading ??= fetch(address)
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(`HTTP ${answer.status}`))))
    .then((data) => new Engine(data))
    .catch((error) => {
      loading = null;
      throw error;
    });
  return loading;
}

self.addEventListener("message", async ({ data: message }) => {
  if (message.type === SETUP) {
    // 这个文件在 assets/web/，索引在 search/。
    address = new URL(`../../search/${message.data.config.index}`, self.location.href).href;
    postMessage({ type: READY });
  } else if (message.type === QUERY) {
    const turn = ++newest;
    // 取索引的时候读者又键入了字：只答最新的。
    const reply = (/** @type {object} */ data) => turn === newest && postMessage({ type: RESULT, data });
    const slow = setTimeout(() => reply(notice("正在取搜索索引……", "网络慢时要等几秒，只取这一次。")), PATIENCE);
    const result = await answer(message.data);
    clearTimeout(slow);
    reply(result);
  }
});

/** @param {string} query */
async function answer(query) {
  if (!query.trim()) return { items: [] };
  try {
    const found = await engine();
    return { items: results(found, query), suggest: found.complete(query) };
  } catch (error) {
    console.warn("搜索索引没有取到", address, error);
    return notice("搜索索引没有取到", "检查网络，再键入一次；网站更新过的话，先刷新这一页。");
  }
}

/** 占一条结果的位置对读者说一句话。 @param {string} title @param {string} text */
function notice(title, text) {
  return { items: [[{ location: "", title, text: `<p>${text}</p>`, score: 1, terms: {} }]] };
}
