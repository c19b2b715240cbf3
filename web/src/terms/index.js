/**
 * 术语的就地解释。构建时（livedocs/glossary.py）每个术语是一条指向术语表的链接，定义在 `data-note` 里。
 *
 * 鼠标停在上面、键盘移到上面，旁边就显示定义；点按或回车照常打开术语表。触摸时第一下显示定义，
 * 框里另有一条去术语表的链接。Esc 收起；鼠标可以移进框里（WCAG 1.4.13）。
 * 监听挂在 document 上，所以即时跳转换了正文也照样有效。
 */
import { el } from "../shared/dom.js";

const OPEN_AFTER = 150;
const CLOSE_AFTER = 250;
const ID = "term-note";

/** @type {{ term: HTMLAnchorElement, note: HTMLElement } | undefined} */
let shown;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let touch = false;

/** @param {EventTarget | null} target @returns {HTMLAnchorElement | null} */
const termAt = (target) => (target instanceof Element ? target.closest("a.term") : null);
/** @param {EventTarget | null} target */
const inNote = (target) => target instanceof Node && Boolean(shown?.note.contains(target));

function close() {
  clearTimeout(timer);
  shown?.note.remove();
  shown?.term.removeAttribute("aria-describedby");
  shown = undefined;
}

/** @param {HTMLAnchorElement} term @param {boolean} [withLink] */
function open(term, withLink = false) {
  clearTimeout(timer);
  if (shown?.term === term && shown.note.isConnected) return;
  close();
  const { name = "", english = "", note: definition = "" } = term.dataset;
  const note = el("div", { id: ID, class: "term-note" }, el("strong", {}, name), " ");
  if (english !== name) note.append(el("span", { lang: "en" }, english));
  note.append(el("span", { class: "term-note__text" }, definition));
  if (withLink) note.append(el("a", { href: term.href }, "打开术语表"));
  (term.closest("article") ?? document.body).append(note);
  term.setAttribute("aria-describedby", ID);
  shown = { term, note };
  place(term, note);
}

/** 放在术语下面；下面放不下就放在上面。折成两行的术语，以第一行为准。 @param {Element} term @param {HTMLElement} note */
function place(term, note) {
  const [line] = term.getClientRects();
  const frame = (note.offsetParent ?? document.documentElement).getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const { width, height } = note.getBoundingClientRect();
  const left = Math.max(8, Math.min(line.left, room - width - 8));
  const below = line.bottom + height + 12 < window.innerHeight;
  note.style.left = `${left - frame.left}px`;
  note.style.top = `${(below ? line.bottom + 6 : line.top - height - 6) - frame.top}px`;
}

/** @param {() => void} act @param {number} delay */
function later(act, delay) {
  clearTimeout(timer);
  timer = setTimeout(act, delay);
}

export function watchTerms() {
  document.addEventListener("pointerover", ({ target, pointerType }) => {
    const term = termAt(target);
    if (pointerType !== "mouse") return;
    if (term) later(() => open(term), OPEN_AFTER);
    else if (inNote(target)) clearTimeout(timer);
    else if (shown && shown.term !== document.activeElement) later(close, CLOSE_AFTER);
    else clearTimeout(timer);
  });
  document.addEventListener("focusin", ({ target }) => {
    const term = termAt(target);
    if (term?.matches(":focus-visible")) open(term);
  });
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (termAt(target) === shown?.term && !inNote(relatedTarget)) close();
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") close();
  });
  document.addEventListener("pointerdown", ({ target, pointerType }) => {
    touch = pointerType !== "mouse";
    if (shown && !inNote(target) && termAt(target) !== shown.term) close();
  });
  // 捕获阶段：主题的即时跳转在 body 上听点击。
  document.addEventListener(
    "click",
    (event) => {
      const term = termAt(event.target);
      if (!term || !touch || event.detail === 0) return;
      event.preventDefault();
      event.stopPropagation();
      if (shown?.term === term) close();
      else open(term, true);
    },
    { capture: true },
  );
}
