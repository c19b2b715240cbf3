// 在 Firefox 里用一遍网站：node firefox.mjs <firefox 的路径> <网站的网址>。
// 标准输出每行一个 JSON：{ step, ok, detail }；最后一行的 step 是 "errors"，detail 是页面里的错误与出站的请求。
import puppeteer from "puppeteer-core";

const [executablePath, site] = process.argv.slice(2);
if (!site) throw new Error("用法：node firefox.mjs <firefox 的路径> <网站的网址>");

/** @param {string} step @param {boolean} ok @param {unknown} [detail] */
const report = (step, ok, detail) => process.stdout.write(`${JSON.stringify({ step, ok, detail })}\n`);

const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath,
  headless: true,
  // 不更新、不报告、不查证书与门户：测试里的浏览器只访问本站。
  extraPrefsFirefox: {
    "app.update.enabled": false,
    "network.captive-portal-service.enabled": false,
    "network.connectivity-service.enabled": false,
    "datareporting.policy.dataSubmissionEnabled": false,
  },
});
const errors = [];
try {
  const tab = await browser.newPage();
  tab.setDefaultTimeout(20_000);
  await tab.setViewport({ width: 1280, height: 900 });
  // 网页还没有收完时，Firefox 已经在排版，写到一半的 MathML 少一个子元素，它就报错；收完以后对不对，由 typeset 检查。
  const halfway = /^Invalid markup: Incorrect number of children for <m\w+\/> tag\.$/;
  tab.on("pageerror", (error) => halfway.test(error.message) || errors.push(`异常 ${error.message}`));
  tab.on("console", (message) => message.type() === "error" && errors.push(`控制台 ${message.text()}`));
  tab.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(site) && !/^(data|blob):/.test(url)) errors.push(`请求 ${url}`);
  });

  /** @param {string} step @param {() => Promise<unknown>} act 返回 false 或抛出错误就是没有成功 */
  const check = async (step, act) => {
    try {
      const detail = await act();
      report(step, detail !== false, detail);
    } catch (error) {
      report(step, false, String(error));
    }
  };
  const typeset = () =>
    tab.evaluate(async () => {
      await document.fonts.ready;
      const formula = document.querySelector(".katex-html .mord");
      const wanted = { msub: 2, msup: 2, mfrac: 2, mover: 2, munder: 2, mroot: 2, msubsup: 3, munderover: 3 };
      for (const [tag, count] of Object.entries(wanted)) {
        for (const element of document.getElementsByTagName(tag)) {
          if (element.children.length !== count) throw new Error(`<${tag}> 有 ${element.children.length} 个子元素`);
        }
      }
      const loaded = [...document.fonts].filter((font) => font.status === "loaded").map((font) => font.family);
      return Boolean(formula) && loaded.some((family) => family.includes("KaTeX"));
    });

  await check("公式排好了", async () => {
    await tab.goto(`${site}chapters/03-attention/`);
    return typeset();
  });
  await check("图示载入了", async () => {
    await tab.$eval("rope-rotation", (element) => element.scrollIntoView());
    await tab.waitForFunction(() => document.querySelector("rope-rotation")?.shadowRoot?.querySelector("button, input"));
  });
  await check("搜得到", async () => {
    await tab.click(".md-search__input");
    await tab.type(".md-search__input", "因果掩码");
    await tab.waitForSelector(".md-search-result__item a");
    const first = await tab.$eval(".md-search-result__item a", (link) => link.textContent);
    await tab.keyboard.press("Escape");
    return first;
  });
  await check("即时跳转到实验", async () => {
    await tab.evaluate(() => Object.assign(window, { stayed: true }));
    await tab.$eval('.md-nav a[href$="labs/01-single-head-attention/"]', (link) => link.click());
    await tab.waitForFunction(() => location.pathname.endsWith("/labs/01-single-head-attention/"));
    await tab.waitForSelector("py-block[data-ready]");
    return (await tab.evaluate(() => Reflect.get(window, "stayed"))) && typeset();
  });
  await check("一段代码运行了，输出与文档相同", async () => {
    const block = 'py-block:has(+ .code-output)';
    await tab.$eval(`${block} .web-button--main`, (button) => button.click());
    await tab.waitForSelector(`${block} .py-block__status[data-tone="same"]`, { timeout: 60_000 });
    return tab.$eval(`${block} .py-block__status`, (status) => status.textContent);
  });
  await check("后退以后还在", async () => {
    await tab.goBack();
    await tab.waitForFunction(() => location.pathname.endsWith("/chapters/03-attention/"));
    await tab.waitForSelector("rope-rotation");
    return (await tab.evaluate(() => Reflect.get(window, "stayed"))) && typeset();
  });
  await check("notebook 页", async () => {
    await tab.goto(`${site}labs/02-causal-attention/`);
    return typeset();
  });
  await check("标签页换得动", async () => {
    await tab.goto(`${site}start/`);
    await tab.$eval(".tabbed-labels label:nth-child(2)", (label) => label.click());
    return tab.$eval(".tabbed-block:nth-child(2)", (block) => getComputedStyle(block).display !== "none");
  });
  await check("首页", async () => {
    await tab.goto(site);
    return tab.$eval("h1", (title) => title.textContent);
  });
} finally {
  await browser.close();
}
report("errors", errors.length === 0, errors);
