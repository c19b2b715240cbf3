// 打印：页面末尾的“打印本页”按钮，和只在打印时才有的几件事——用浅色，长的代码可以断开，
// 链接编号并列在最后。折叠的由主题自己展开。样子在 docs/assets/stylesheets/print.css。
import { button, el } from "../shared/dom.js";

/** 这些链接不编号：按钮、标题的锚点、脚注的来回、术语的解释、证明与工具。 */
const SKIPPED =
  ".md-button, .headerlink, .footnote-ref, .footnote-backref, .term, .proof-badge a, .page-pack a, .page-tools a";

/** 比这更长的代码放不进半页：从中间断开，好过留下大片空白。 */
const LONG_CODE = 30;

/** 打印之后要复原的。 @type {(() => void)[]} */
let undo = [];

function prepare() {
  restore();
  useLightScheme();
  for (const article of document.querySelectorAll("article.md-content__inner")) {
    markLongCode(article);
    loadImages(article);
    listLinks(article);
  }
}

function restore() {
  for (const act of undo) act();
  undo = [];
}

/** 插图的颜色写在图自己的样式里，跟着页面的明暗走；纸上总是浅色。 */
function useLightScheme() {
  const scheme = document.body.getAttribute("data-md-color-scheme");
  if (!scheme || scheme === "default") return;
  document.body.setAttribute("data-md-color-scheme", "default");
  undo.push(() => document.body.setAttribute("data-md-color-scheme", scheme));
}

/** @param {Element} article */
function markLongCode(article) {
  for (const block of article.querySelectorAll("pre")) {
    block.classList.toggle("print-long", (block.textContent?.split("\n").length ?? 0) > LONG_CODE);
  }
}

/**
 * 还没有滚动到的图也要印。
 * @param {Element} article
 */
function loadImages(article) {
  const images = [...article.querySelectorAll("img")];
  for (const image of images) image.loading = "eager";
  return Promise.allSettled(images.map((image) => image.decode()));
}

/**
 * 每个链接后面加一个编号，正文末尾列出网址；同一个网址只列一次。
 * @param {Element} article
 */
function listLinks(article) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  for (const link of article.querySelectorAll("a[href]")) {
    if (link.matches(SKIPPED) || link.closest("nav, [hidden]")) continue;
    const target = new URL(link.getAttribute("href") ?? "", location.href);
    if (target.origin + target.pathname === location.origin + location.pathname) continue; // 本页之内
    const address = addressOf(target.href);
    if (link.textContent?.trim() === address) continue;
    const number = numbers.get(address) ?? numbers.size + 1;
    numbers.set(address, number);
    const mark = el("sup", { class: "print-link" }, `[${number}]`);
    link.after(mark);
    undo.push(() => mark.remove());
  }
  if (!numbers.size) return;
  const items = [...numbers.keys()].map((address) => el("li", {}, address));
  const list = el("section", { class: "print-links" }, el("h2", {}, "本页的链接"), el("ol", {}, ...items));
  article.append(list);
  undo.push(() => list.remove());
}

/**
 * 印在纸上的网址：有正式地址的网站用正式地址，读的是本机的拷贝也一样；汉字不写成 %XX。
 * @param {string} address
 */
function addressOf(address) {
  const { here, official } = roots();
  const shown = here && address.startsWith(here) ? official + address.slice(here.length) : address;
  try {
    return decodeURI(shown);
  } catch {
    return shown; // 不是 UTF-8 的 %XX，照原样
  }
}

/** 这里的网址与正式网址不同的开头；没有正式网址、或两者对不上时是空的。 */
function roots() {
  const official = document.querySelector('link[rel="canonical"]')?.getAttribute("href") ?? "";
  const here = location.origin + location.pathname;
  let same = 0;
  while (same < Math.min(here.length, official.length) && here.at(-1 - same) === official.at(-1 - same)) same++;
  if (!same) return { here: "", official: "" };
  return { here: here.slice(0, here.length - same), official: official.slice(0, official.length - same) };
}

/** 没有脚本时，元素里原有的一句话告诉读者用浏览器的打印。 */
class PrintPage extends HTMLElement {
  connectedCallback() {
    const print = async () => {
      await loadImages(document.body);
      window.print();
    };
    this.replaceChildren(button("打印本页", print));
  }
}

/** 登记按钮，并在打印前后收拾页面。 */
export function registerPrint() {
  customElements.define("print-page", PrintPage);
  addEventListener("beforeprint", prepare);
  addEventListener("afterprint", restore);
}
