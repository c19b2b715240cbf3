/** 键盘：`?` 打开说明，窄屏上的目录与搜索两个图标也能用键盘按。说明本身按下时才载入。 */

const show = () => import("./index.js").then(({ open }) => open(), () => {});

/** 正在写字的地方：那里的 `?` 就是一个问号。 @param {EventTarget | null} target */
const writing = (target) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));

/** 主题在这个宽度以下把目录收进抽屉。 */
const narrow = matchMedia("(max-width: 76.234375em)");
const drawer = () => /** @type {HTMLInputElement | null} */ (document.getElementById("__drawer"));

/** 抽屉打开后，键盘接着在抽屉里走。 */
function focusDrawer() {
  if (document.activeElement?.matches("label[for=__drawer]")) {
    /** @type {HTMLElement | null} */ (document.querySelector(".md-sidebar--primary a[href]"))?.focus();
  }
}

/** @param {boolean} open */
function toggleDrawer(open) {
  const box = drawer();
  if (box) box.checked = open;
  /** @type {HTMLElement | null} */ (document.querySelector(".md-header label[for=__drawer]"))?.focus();
}

/** 键盘接着从这里走。 @param {string} id */
function focusPlace(id) {
  const place = document.getElementById(id);
  if (place && !place.matches("a[href], button, input, [tabindex]")) place.setAttribute("tabindex", "-1");
  place?.focus({ preventScroll: true });
}

/** 抽屉里的各节点一下才展开：窄屏上要能用键盘移到；宽屏上它们总是展开着，不该多停一下。 */
export function reachSections() {
  for (const label of document.querySelectorAll(".md-nav--primary label.md-nav__link[for^=__nav]")) {
    if (label instanceof HTMLElement) label.tabIndex = narrow.matches ? 0 : -1;
  }
}

/** 用键盘点的、通向页内一节的链接。 @type {URL | null} */
let sought = null;

/** 正文换成了新的：这一页的第一次页内跳转，主题会重新取来正文。读者还没有走开，键盘就再到那一节。 */
export function keepPlace() {
  if (sought?.pathname === location.pathname && sought.hash === location.hash && document.activeElement === document.body) {
    focusPlace(decodeURIComponent(sought.hash.slice(1)));
  }
}

export function watchKeys() {
  document.addEventListener("keydown", (event) => {
    const target = event.composedPath()[0] ?? null;
    if (event.key === "?" && !event.ctrlKey && !event.metaKey && !event.altKey && !writing(target)) {
      event.preventDefault();
      show();
    } else if (event.key === " " && target instanceof HTMLElement && target.matches("label[tabindex='0']")) {
      event.preventDefault(); // 回车由主题变成点击，空格它没有管
      target.click();
    } else if (event.key === "Escape" && drawer()?.checked) {
      toggleDrawer(false);
    }
  });
  document.addEventListener("change", ({ target }) => {
    if (target === drawer() && drawer()?.checked) focusDrawer();
  });
  narrow.addEventListener("change", reachSections);
  // 页内的链接：主题自己滚动过去，键盘却留在原处；让键盘也过去，下一个 Tab 才从那里接着走。
  document.addEventListener("click", ({ target, detail }) => {
    const link = target instanceof Element && detail === 0 ? target.closest("a") : null;
    sought = link?.hash && link.pathname === location.pathname ? new URL(link.href) : null;
    if (sought) focusPlace(decodeURIComponent(sought.hash.slice(1)));
  });
  // 捕获阶段：主题的即时跳转在 body 上听点击，这里要先拦下。
  document.addEventListener(
    "click",
    (event) => {
      const link = event.target instanceof Element ? event.target.closest("a.keys-link") : null;
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      show();
    },
    { capture: true },
  );
}

/**
 * 主题给每段代码的按钮套了一个没有名字的 `<nav>`：一页几十个“导航”，读屏软件的地标列表就没法用了。
 * 它们出现一个，就改成普通的一组。
 */
export function quietCodeButtons() {
  const quiet = () => {
    for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) nav.setAttribute("role", "none");
  };
  new MutationObserver(quiet).observe(document.body, { childList: true, subtree: true });
  quiet();
}
