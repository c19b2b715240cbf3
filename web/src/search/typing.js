/**
 * 没有按键也算键入：输入法里用鼠标选字、用鼠标粘贴、语音输入都不产生按键，而主题的搜索框只听按键。
 *
 * 搜索框里的字一变，就替主题补一次按键。输入法正在拼写时反过来，真的按键也不让主题听见：那时框里是拼音，不是要找的字。
 * 监听挂在 document 的捕获阶段，所以先于主题；补的按键不冒泡，别处的快捷键听不到。
 */

/** @param {EventTarget | null} target @returns {target is HTMLInputElement} */
const isBox = (target) => target instanceof HTMLInputElement && target.matches(".md-search__input");

/** @param {Event} event */
function typed({ target }) {
  if (!isBox(target)) return;
  // 补全看按下，查询看松开。
  for (const type of ["keydown", "keyup"]) target.dispatchEvent(new KeyboardEvent(type));
}

export function watchTyping() {
  let composing = false;
  document.addEventListener("compositionstart", ({ target }) => (composing = isBox(target)), true);
  document.addEventListener(
    "compositionend",
    (event) => {
      composing = false;
      typed(event);
    },
    true,
  );
  document.addEventListener("input", (event) => composing || typed(event), true);
  document.addEventListener("keyup", (event) => composing && isBox(event.target) && event.stopPropagation(), true);
}
