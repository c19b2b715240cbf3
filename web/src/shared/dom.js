/** 造元素的小工具：文字一律用 textContent，所以数据永远不会变成标记。 */

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | boolean>} [attributes] `true` 是没有值的属性，`false` 是没有这个属性
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/**
 * @param {string} label
 * @param {() => void} act
 * @param {string} [kind]
 */
export function button(label, act, kind = "") {
  const element = el("button", { type: "button", class: `web-button ${kind}`.trim() }, label);
  element.addEventListener("click", act);
  return element;
}

/**
 * 这一页的正文：同一页的部件从它找到彼此。
 * @param {Element} element
 * @returns {Element}
 */
export function pageOf(element) {
  return element.closest("article") ?? element.ownerDocument.body;
}

/** @param {number} bytes */
export function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}

/**
 * 让浏览器存下一个文件。
 * @param {string} name
 * @param {string} text
 */
export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown;charset=utf-8" }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
