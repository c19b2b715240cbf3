// 把一棵描述（h）与页面上已有的节点对齐：只改不同的地方，所以焦点、光标、正在拖动的滑块都不会丢。

/**
 * @typedef {object} Node 一个元素的描述。
 * @property {string} tag
 * @property {Record<string, any>} props
 * @property {Child[]} children
 */
/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */

/** 上一次用的属性。 @type {WeakMap<Element, Record<string, any>>} */
const applied = new WeakMap();

/**
 * @param {string} tag
 * @param {Record<string, any> | null} [props] 属性；`on…` 是监听；`vars` 是 CSS 变量；`value`、`checked` 按 DOM 属性设置。
 * @param {...Child} children
 * @returns {Node}
 */
export function h(tag, props, ...children) {
  return { tag, props: props ?? {}, children };
}

/**
 * 让 `parent` 的内容与 `children` 一致。
 * @param {Element | ShadowRoot} parent
 * @param {Child[]} children
 * @param {string | null} [namespace]
 */
export function render(parent, children, namespace = null) {
  const wanted = flatten(children);
  wanted.forEach((child, index) => {
    const current = parent.childNodes[index];
    if (typeof child !== "object") {
      const text = String(child);
      if (!(current instanceof Text)) put(parent, current, document.createTextNode(text));
      else if (current.data !== text) current.data = text;
      return;
    }
    const space = child.tag === "svg" ? "http://www.w3.org/2000/svg" : namespace;
    let element = /** @type {any} */ (current);
    if (!(element instanceof Element) || element.localName !== child.tag) {
      element = space ? document.createElementNS(space, child.tag) : document.createElement(child.tag);
      put(parent, current, element);
    }
    render(element, child.children, space);
    apply(element, child.props);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild?.remove();
}

/** 摊平，去掉空的。 @param {Child[]} children @returns {(Node | string | number)[]} */
function flatten(children) {
  return children.flatMap((child) =>
    Array.isArray(child) ? flatten(child) : child || child === 0 || child === "" ? [child] : [],
  );
}

/** @param {Element | ShadowRoot} parent @param {ChildNode | undefined} current @param {ChildNode} next */
function put(parent, current, next) {
  if (current) current.replaceWith(next);
  else parent.append(next);
}

/** @param {any} element @param {Record<string, any>} props */
function apply(element, props) {
  const before = applied.get(element) ?? {};
  applied.set(element, props);
  for (const name of new Set([...Object.keys(before), ...Object.keys(props)])) {
    const value = props[name];
    if (name.startsWith("on")) element[name] = value ?? null;
    else if (name === "vars") for (const [key, x] of Object.entries(value ?? {})) element.style.setProperty(key, x);
    else if (name === "checked") element.checked = value;
    else if (name === "value") setValue(element, String(value ?? ""));
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value === true ? "" : value);
  }
}

/** 正在输入的那一格不动。 @param {any} element @param {string} value */
function setValue(element, value) {
  const typing = element.type === "text" && element.getRootNode().activeElement === element;
  if (!typing && element.value !== value) element.value = value;
}
