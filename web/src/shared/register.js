/**
 * 登记自定义元素。登记的只是一个外壳：元素离眼前不到两屏时，才载入真正的程序；
 * 这样等读者看到它时，它已经换好了，正文不会在眼前移动。换好以前，元素上有 `data-loading`（`later`、`now`）。
 * 浏览器自己管元素何时出现、何时离开，所以 Material 的即时跳转、后退都不需要另外处理。
 */

/**
 * 一个部件的入口模块要导出的东西。`mount` 在元素第一次进入页面时调用一次；
 * 返回的函数在元素离开页面时调用（结束计时器、动画、监听）。元素里原有的内容是没有脚本时的样子。
 *
 * @typedef {{ mount: (host: HTMLElement) => void | (() => void) }} Widget
 */

/**
 * @param {string} name 元素名，例如 `rope-rotation`
 * @param {() => Promise<Widget>} load 通常是 `() => import("./rope-rotation/index.js")`
 * @param {{ eager?: boolean }} [options] `eager`：不等快滚动到，出现在页面上就载入
 */
export function register(name, load, { eager = false } = {}) {
  if (customElements.get(name)) return;
  customElements.define(
    name,
    class extends HTMLElement {
      /** @type {(() => void) | undefined} */
      #leave;
      /** @type {IntersectionObserver | undefined} */
      #watch;

      connectedCallback() {
        this.dataset.loading = "later";
        if (eager) {
          this.#start();
          return;
        }
        this.#watch = new IntersectionObserver(
          (entries) => {
            if (entries.some((entry) => entry.isIntersecting)) this.#start();
          },
          { rootMargin: "200% 0px" },
        );
        this.#watch.observe(this);
      }

      disconnectedCallback() {
        this.#watch?.disconnect();
        this.#leave?.();
        this.#leave = undefined;
      }

      async #start() {
        this.#watch?.disconnect();
        if (this.#leave) return;
        this.dataset.loading = "now";
        try {
          const widget = await load();
          if (this.isConnected && !this.#leave) this.#leave = widget.mount(this) || (() => {});
        } catch {
          // 载入不了（网站刚更新，或网络断了）：原有的内容留着。
          this.append(note("互动部分没有载入。请检查网络，再重新载入本页。"));
        } finally {
          delete this.dataset.loading;
        }
      }
    },
  );
}

/**
 * 一句说明。
 * @param {string} text
 */
export function note(text) {
  const element = document.createElement("p");
  element.className = "web-note";
  element.setAttribute("role", "status");
  element.textContent = text;
  return element;
}
