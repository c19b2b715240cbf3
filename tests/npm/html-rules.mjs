// 网页按哪些规则检查，哪些地方例外、为什么。

/**
 * `standard` 是 HTML 标准的要求，`document` 管整页的骨架。
 * `recommended` 多出来的只是写法（属性值为空、结束标记、行末空格），不用；读屏与键盘由 axe 检查。
 *
 * @type {import("html-validate").ConfigData}
 */
export const config = {
  root: true,
  extends: ["html-validate:standard", "html-validate:document"],
  elements: ["html5"],
};

/**
 * 例外，逐个写明理由。一个也没有用上的例外算错误：那里已经改好了，要删掉它。
 *
 * @type {{ rule: string, selector: RegExp, reason: string }[]}
 */
export const exceptions = [
  {
    rule: "valid-autocomplete",
    selector: /^#__(drawer|search)$/,
    reason: "主题用勾选框记着目录与搜索是否打开；Firefox 重新载入时会恢复勾选，autocomplete=off 是唯一的关法",
  },
  {
    rule: "input-missing-label",
    selector: /^html > body > header > nav > label:nth-child\(\d\)$/,
    reason: "那两个勾选框不显示；读屏软件见到的是标签本身，它有 role=button 与 aria-label",
  },
  {
    rule: "require-sri",
    selector: /./,
    reason: "样式与脚本都在本站，与网页一起发布；校验值防的是别的主机上的文件被换掉",
  },
];
