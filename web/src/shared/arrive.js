/**
 * 带 `#` 的链接要真的到那个标题。
 *
 * 主题的即时跳转先改网址，再去取正文，正文到了才转到 `#` 指的地方。等正文的时候读者滚动一下，主题就把滚动的位置
 * 记进 history.state，又按旧页的目录改掉网址里的 `#`；正文到了，它便当作后退，停在页首或那个位置。
 */

/** 点过的、还没有到的链接。 @type {URL | null} */
let wanted = null;

export function watchArrival() {
  document.addEventListener(
    "click",
    ({ target }) => {
      const link = target instanceof Element ? target.closest("a") : null;
      wanted = link?.hash ? new URL(link.href) : null;
    },
    { capture: true },
  );
  addEventListener("popstate", () => (wanted = null)); // 后退与前进：主题回到离开时的位置
}

/** 换好了一页。主题自己转到标题也在这时，所以等它做完再看。 */
export function arrive() {
  const link = wanted;
  wanted = null;
  if (!link || link.pathname !== location.pathname) return;
  setTimeout(() => {
    const there = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (there && !there.matches(":target")) location.replace(link.hash);
  });
}
