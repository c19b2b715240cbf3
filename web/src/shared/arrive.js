/**
 * 点了链接，就要到那个链接：有 `#` 到那个标题，没有就在页首，网址也是它。
 *
 * 主题的即时跳转先改网址，再去取正文。等正文的时候读者滚动一下（或刚滚动过），主题就把滚动的位置记进
 * history.state，又按旧页的目录改掉网址里的 `#`；正文到了，它便当作后退，停在那个位置，网址里是旧页的一节。
 */

/** 点过的、还没有到的链接。 @type {URL | null} */
let wanted = null;

export function watchArrival() {
  document.addEventListener(
    "click",
    ({ target, ctrlKey, metaKey, shiftKey }) => {
      const link = target instanceof Element ? target.closest("a") : null;
      const stays = !link?.pathname || link.target || ctrlKey || metaKey || shiftKey; // 图里的 <a>、写坏的网址没有 pathname
      wanted = stays ? null : new URL(link.href);
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
    if (there) {
      if (!there.matches(":target")) location.replace(link.hash);
    } else if (location.hash !== link.hash || scrollY > 0) {
      const url = new URL(location.href); // 网址里别的部分可能已由图示写过
      url.hash = link.hash;
      history.replaceState(null, "", url);
      scrollTo(0, 0);
    }
  });
}
