// 404 页：把全部页面里网址最像的几页列在后面。没有脚本时，读者看到的是全部页面的列表。
import { el } from "../shared/dom.js";
import { nearest } from "./score.js";

/** @param {HTMLElement} host */
export function mount(host) {
  const base = new URL(host.getAttribute("base") ?? "/", location.href).pathname;
  /** 去掉子路径，否则每一页都因为它而相像。 @param {string} path */
  const inside = (path) => decode(path.startsWith(base) ? path.slice(base.length) : path);
  /** @type {Map<string, HTMLAnchorElement>} */
  const links = new Map();
  for (const link of host.querySelectorAll("a")) links.set(inside(link.pathname), link);
  const found = nearest(inside(location.pathname), [...links.keys()]);
  if (!found.length) return;
  const items = found.map((path) => {
    const link = links.get(path);
    return el("li", {}, el("a", { href: link?.getAttribute("href") ?? "" }, link?.textContent ?? ""));
  });
  const near = el("div", { class: "near-pages" }, el("p", {}, "你要找的也许是："), el("ul", {}, ...items));
  host.append(near);
  return () => near.remove();
}

/** @param {string} path */
function decode(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // 不成对的 %
  }
}
