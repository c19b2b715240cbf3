// 几个图示共用的样式，放进影子树。颜色与插图相同：q 蓝、k 橙、v 绿、w 紫、x 红；其余用 Material 的变量。
export default `
:host {
  --q: light-dark(#1d5bb8, #8ab4ff);
  --k: light-dark(#9a4a08, #f0ab6c);
  --v: light-dark(#166a3a, #6fd09a);
  --w: light-dark(#6840bd, #bfa8ff);
  --x: light-dark(#b3261e, #ff9d93);
  --line: var(--site-line, #ddd);
  --soft: var(--md-default-fg-color--light);
  --mono: var(--md-code-font-family, monospace);
  display: block;
  margin: 1.6em 0;
  color: var(--md-default-fg-color);
}
*, ::before, ::after { box-sizing: border-box; }
.see {
  padding: 1rem 1.1rem 0.7rem;
  font-size: 0.7rem;
  line-height: 1.6;
  border: 1px solid var(--line);
  border-radius: 0.4rem;
}
p { margin: 0; }
.see > * + * { margin-block: 0.9rem 0; }
.head { font-weight: 700; }
button, input, select, output { font: inherit; color: inherit; }
:focus-visible { outline: 2px solid var(--md-accent-fg-color); outline-offset: 1px; }

button {
  min-height: 1.8rem;
  padding: 0.1rem 0.75rem;
  cursor: pointer;
  background: none;
  border: 1px solid var(--line);
  border-radius: 0.3rem;
  transition: border-color 0.15s, color 0.15s;
}
button:hover { color: var(--md-accent-fg-color); border-color: currentcolor; }
button[aria-disabled] { color: var(--soft); cursor: default; opacity: 0.55; border-color: var(--line); }

.bar { display: flex; flex-wrap: wrap; gap: 0.5rem 1.1rem; align-items: center; }
.segments { display: flex; flex-wrap: wrap; gap: 0.3rem; align-items: center; min-width: 0; margin: 0; padding: 0; border: 0; }
.segments legend { float: left; padding: 0 0.5rem 0 0; color: var(--soft); }
.segments label {
  position: relative;
  min-height: 1.8rem;
  padding: 0.25rem 0.7rem;
  cursor: pointer;
  border: 1px solid var(--line);
  border-radius: 0.3rem;
}
.segments input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; cursor: pointer; opacity: 0; }
.segments .on { color: var(--md-accent-fg-color); border-color: currentcolor; background: var(--md-accent-fg-color--transparent); }
.segments label:focus-within { outline: 2px solid var(--md-accent-fg-color); outline-offset: 1px; }
.steps legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }

.toggle { display: inline-flex; gap: 0.4rem; align-items: center; min-height: 1.8rem; cursor: pointer; }
.toggle input { width: 0.95rem; height: 0.95rem; margin: 0; accent-color: var(--md-accent-fg-color); }
.slider { display: inline-flex; gap: 0.5rem; align-items: center; min-height: 1.8rem; }
.slider input { width: 8rem; max-width: 100%; min-width: 4rem; height: 1.4rem; margin: 0; accent-color: var(--tone, var(--md-accent-fg-color)); }
.slider output { min-width: 2.2em; font-family: var(--mono); }
.spinner { display: inline-flex; gap: 0.3rem; align-items: center; font-family: var(--mono); }
.spinner button { min-width: 1.7rem; min-height: 1.7rem; padding: 0; }
.spinner output { min-width: 1.3em; text-align: center; }
.stepper { display: flex; gap: 0.5rem; }
fieldset.box { min-width: 0; margin: 0; padding: 0; border: 0; }

.map {
  display: grid;
  grid-template-columns: minmax(1.5em, max-content) repeat(var(--n), minmax(0, 4.2em));
  gap: 2px;
  font-family: var(--mono);
  font-size: 0.62rem;
  font-variant-numeric: tabular-nums;
}
.map [role="row"] { display: contents; }
.map [role="columnheader"], .map [role="rowheader"] { color: var(--soft); text-align: center; align-self: center; padding: 0 0.3em; }
.map .on { color: var(--md-accent-fg-color); font-weight: 700; }
.cell {
  --hue: light-dark(#6840bd, #8d6fe0);
  overflow: hidden;
  padding: 0.42em 0.1em;
  text-align: center;
  white-space: nowrap;
  border-radius: 0.2rem;
  background: color-mix(in srgb, var(--hue) calc(var(--heat, 0%) + 4%), transparent);
  transition: background-color 0.2s;
}
.cell.cold { --hue: light-dark(#9a4a08, #b06c33); }
.cell[tabindex] { cursor: pointer; }
.cell.off { color: var(--soft); background: repeating-linear-gradient(-45deg, transparent 0 4px, var(--line) 4px 5px); }
.cell.lit { box-shadow: inset 0 0 0 1px var(--md-accent-fg-color); }
.cell.at { box-shadow: inset 0 0 0 2px var(--md-accent-fg-color); font-weight: 700; }

.sum { padding: 0.7rem 0.8rem; overflow-x: auto; font-family: var(--mono); font-size: 0.66rem; line-height: 1.9; background: var(--md-code-bg-color); border-radius: 0.3rem; }
.sum .q { color: var(--q); } .sum .k { color: var(--k); } .sum .v { color: var(--v); } .sum .w { color: var(--w); }
.sum b { color: var(--md-accent-fg-color); }
.say { min-height: 1.6em; text-wrap: pretty; }
.error { padding: 0.4rem 0.7rem; color: var(--x); overflow-wrap: anywhere; border-left: 3px solid currentcolor; }
.error:empty { display: none; }
.foot { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; padding-top: 0.7rem; border-top: 1px solid var(--line); }
.foot button { min-height: 1.6rem; font-size: 0.64rem; color: var(--soft); }
.foot button:hover { color: var(--md-accent-fg-color); }
.copied { font-size: 0.64rem; color: var(--soft); }
.still { margin: 0.4rem 0 0 0.2rem; font-size: 0.66rem; color: var(--soft); }
.still summary { cursor: pointer; }
.still ::slotted(*) { color: var(--md-default-fg-color); }
@media (max-width: 34em) { .see { padding: 0.8rem 0.7rem 0.6rem; } .say { min-height: 3.2em; } .segments label { padding: 0.25rem 0.5rem; } .steps .segments { gap: 0.2rem; font-size: 0.63rem; } .steps .segments label { padding: 0.3rem 0.37rem; } }
@media (prefers-reduced-motion: reduce) { *, ::before, ::after { transition: none !important; animation: none !important; } }
@media print { .foot, .stepper, .still { display: none; } }
`;
