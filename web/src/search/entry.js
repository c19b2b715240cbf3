// 一节：索引里的一行，连同搜索要用的各种写法。
import { fold, gist, squeeze } from "./text.js";

/** @typedef {import("./engine.js").Data} Data */
/**
 * @typedef {object} Entry 一节
 * @property {number} page 第几页
 * @property {string} location
 * @property {string} title
 * @property {string} prose
 * @property {string} code
 * @property {string} observed 现象，一行一个
 * @property {string[]} names 已折叠、去空白
 * @property {string[]} symptoms 同上
 * @property {string[]} defined 这里给出定义的词，同上
 * @property {Record<Field, string>} text 已折叠
 * @property {string} heading 标题去掉编号，已折叠、去空白
 * @property {string} number 整页的编号：“第3章”“3.2”“实验01”；别的节是空的
 * @property {string} slug 锚点：作者给这一节起的英文短名；已折叠、去连字符
 * @property {string} tight 正文与代码，已折叠、去空白
 * @property {boolean} intro 一页的开头
 * @property {number} boost 这一页的作者给的倍数
 * @property {number} share 三页以上共用的标题（“自测”）小于 1，越多页越小
 */
/** @typedef {"names" | "defines" | "symptoms" | "title" | "prose" | "code"} Field */

/** @param {number} page @param {string} url @param {string} top @param {Data["pages"][0][2][0]} row @returns {Entry} */
export function entry(page, url, top, [anchor, given, prose = "", code = "", names = [], symptoms = [], defined = []]) {
  const title = given || top;
  const text = {
    names: fold(names.join("\n")),
    symptoms: fold(symptoms.join("\n")),
    title: fold(title),
    prose: fold(prose),
    code: fold(code),
    defines: fold([...code.matchAll(/^(?:def|class) (\w+)/gm)].map(([, name]) => name).join("\n")),
  };
  return {
    page,
    location: anchor ? `${url}#${anchor}` : url,
    title,
    prose,
    code,
    observed: symptoms.join("\n"),
    text,
    names: names.map((name) => squeeze(fold(name))),
    symptoms: symptoms.map((symptom) => gist(fold(symptom))),
    defined: defined.map((word) => squeeze(fold(word))),
    heading: gist(fold(plain(title))),
    number: anchor ? "" : gist(fold(title.slice(0, title.length - plain(title).length))),
    slug: squeeze(fold(anchor)),
    tight: squeeze(`${text.title}\n${text.prose}\n${text.code}`),
    intro: !anchor,
    boost: 1,
    share: 1,
  };
}

const NUMBERING =
  /^(?:[一二三四五六七八九十]+、|第 ?\d+ ?[章步](?:[：:]| )?|\d+(?:\.\d+)* |(?:示例|例|练习|小实验|命题|实验|自测) ?\d+ ?(?:[：:]| )?|不同[一二三]：|相同：)/;

/** 标题去掉编号：“三、MHA……”“示例 2：repeat_kv”。 @param {string} title */
export function plain(title) {
  const rest = title.replace(NUMBERING, "").trim();
  return rest || title;
}
