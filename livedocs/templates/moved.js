// 旧网址上的网页：带着 # 后面的部分去新网址。由 livedocs/redirects.py 发布。
const link = document.querySelector("a");
const anchors = JSON.parse(document.querySelector("script").dataset.anchors);
const wanted = decodeURIComponent(location.hash.slice(1));
const target = new URL(Object.hasOwn(anchors, wanted) ? anchors[wanted] : link.href, location.href);
target.search = location.search;
// 整页搬进了另一页的一节时，去那一节；否则旧的锚点在新页里还是那个名字。
if (!target.hash) target.hash = location.hash;
location.replace(target);
