/** 在目录里，做过自测的课旁边写上“3/6”。 */
import { el } from "../shared/dom.js";
import { everywhere, rightOf } from "./progress.js";

export function decorate() {
  const progress = everywhere();
  for (const old of document.querySelectorAll(".quiz-count")) old.remove();
  for (const link of document.querySelectorAll(".md-nav--primary a.md-nav__link[href]")) {
    const href = link.getAttribute("href") ?? "";
    // 手机上，这一页的目录也在里面。
    if (href.includes("#") || link.closest(".md-nav--secondary")) continue;
    const found = progress.get(new URL(href, document.baseURI).pathname);
    if (!found) continue;
    const right = rightOf(found);
    const count = el("span", { class: "quiz-count", title: `自测答对 ${right} / ${found.total}` }, `${right}/${found.total}`);
    count.setAttribute("aria-label", `，自测答对 ${right} 题，共 ${found.total} 题`);
    count.setAttribute("role", "img");
    count.toggleAttribute("data-all", right === found.total);
    link.append(count);
  }
}
