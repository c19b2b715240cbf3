// 每一页都会载入的脚本：只登记元素与键盘、术语、搜索框的监听。别的都按需载入（动态 import），不超过 25 KB（gzip 后）。
import { reachScrollers } from "./keys/scrollers.js";
import { keepPlace, quietCodeButtons, reachSections, watchKeys } from "./keys/watch.js";
import { PyBlock } from "./py-block/element.js";
import { registerPrint } from "./print/index.js";
import { watchTyping } from "./search/typing.js";
import { arrive, watchArrival } from "./shared/arrive.js";
import { register } from "./shared/register.js";
import { keys } from "./shared/store.js";
import { watchTerms } from "./terms/index.js";

customElements.define("py-block", PyBlock);
registerPrint();
register("lab-record", () => import("./lab-record/index.js"), { eager: true });
register("self-test", () => import("./self-test/index.js"), { eager: true });
register("near-pages", () => import("./near-pages/index.js"), { eager: true });

// 互动图示：一行一个。
register("attention-explorer", () => import("./attention-explorer/index.js"));
register("head-shapes", () => import("./head-shapes/index.js"));
register("kv-cache", () => import("./kv-cache/index.js"));
register("rope-rotation", () => import("./rope-rotation/index.js"));

watchArrival();
watchTerms();
watchKeys();
watchTyping();
quietCodeButtons();

// 目录每次换页都是新的：窄屏上的各节要够得着；自测进度要重新写上，没有做过自测就什么也不载入。
const turned = () => {
  arrive();
  keepPlace();
  reachSections();
  reachScrollers();
  if (keys("quiz:").length > 0) import("./self-test/nav.js").then(({ decorate }) => decorate(), () => {});
};
/** Material 的“换了一页”；预览与没有即时跳转时也有。 @type {{ subscribe(act: () => void): void } | undefined} */
const pageChanges = Reflect.get(globalThis, "document$");
if (pageChanges) pageChanges.subscribe(turned);
else turned();
