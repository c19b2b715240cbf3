/**
 * 放不下的公式与表格在自己的框里横向滚动；给它们焦点，键盘的左右键才滚得动。
 * Chromium 与 Firefox 自己会给，Safari 不会；代码块由主题给。
 */

const BOXES = "div.arithmatex, .md-typeset__scrollwrap, .web-diff";

/** @param {Element} article */
function mark(article) {
  for (const box of article.querySelectorAll(BOXES)) {
    if (box.scrollWidth > box.clientWidth + 1) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

/** @type {ResizeObserver | undefined} */
let watch;

/** 换了一页之后调用：这一页的大小一变，就重新看哪些框在滚动。 */
export function reachScrollers() {
  watch?.disconnect();
  const article = document.querySelector("article");
  if (!article) return;
  watch = new ResizeObserver(() => mark(article));
  watch.observe(article);
}
