// 每一页都会载入的脚本：只登记元素。别的都按需载入（动态 import），不超过 25 KB（gzip 后）。
import { PyBlock } from "./py-block/element.js";
import { register } from "./shared/register.js";
import { keys } from "./shared/store.js";

customElements.define("py-block", PyBlock);
register("lab-record", () => import("./lab-record/index.js"), { eager: true });
register("self-test", () => import("./self-test/index.js"), { eager: true });

// 互动图示：一行一个。
register("attention-explorer", () => import("./attention-explorer/index.js"));
register("head-shapes", () => import("./head-shapes/index.js"));
register("kv-cache", () => import("./kv-cache/index.js"));
register("rope-rotation", () => import("./rope-rotation/index.js"));

// 目录里的自测进度：每次换页都要重新写上；没有做过自测就什么也不载入。
const showProgress = () => {
  if (keys("quiz:").length > 0) import("./self-test/nav.js").then(({ decorate }) => decorate(), () => {});
};
/** Material 的“换了一页”；预览与没有即时跳转时也有。 @type {{ subscribe(act: () => void): void } | undefined} */
const pageChanges = Reflect.get(globalThis, "document$");
if (pageChanges) pageChanges.subscribe(showProgress);
else showProgress();
