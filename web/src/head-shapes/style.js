export default `
.size { display: inline-flex; gap: 0.35rem; align-items: center; }
.size b, .d b { font-family: var(--mono); }
.size small, .d, .shape span { font-size: 0.62rem; color: var(--soft); }
.size input { width: 2.6em; min-height: 1.7rem; text-align: center; font-family: var(--mono); background: var(--md-code-bg-color); border: 1px solid var(--line); border-radius: 0.25rem; }
.size input[aria-invalid] { border-color: var(--x); outline: 1px solid var(--x); }
.shape { display: flex; flex-wrap: wrap; gap: 0.3rem 1rem; align-items: baseline; }
code { font-family: var(--mono); }
.blocks { display: flex; flex-wrap: wrap; gap: 0.8rem 1.2rem; }
.block .name { display: block; margin: 0 0 0.25rem 1.7em; font-size: 0.62rem; color: var(--soft); }
.cells { display: grid; grid-template-columns: 1.7em repeat(var(--n), minmax(0, 1.9rem)); gap: 2px; font-family: var(--mono); font-size: 0.6rem; font-variant-numeric: tabular-nums; }
.row { align-self: center; color: var(--soft); }
.cell { min-height: 1.55rem; padding: 0; border: 0; background: color-mix(in srgb, var(--hue) 14%, transparent); transition: background-color 0.2s; }
.cell:hover { color: inherit; background: color-mix(in srgb, var(--hue) 30%, transparent); }
.h0 { --hue: var(--q); } .h1 { --hue: var(--k); } .h2 { --hue: var(--v); } .h3 { --hue: var(--w); }
.gap { margin-left: 3px; border-left: 0; }
.cell.read { box-shadow: inset 0 0 0 1px var(--hue); background: color-mix(in srgb, var(--hue) 28%, transparent); }
.cell.at { color: var(--md-default-bg-color); font-weight: 700; background: var(--hue); box-shadow: none; }
.path { display: flex; flex-wrap: wrap; gap: 0.3rem 0.5rem; padding: 0; list-style: none; font-size: 0.62rem; color: var(--soft); }
.path li { display: inline-flex; gap: 0.35rem; align-items: center; }
.path li + li::before { content: "→"; margin-right: 0.15rem; }
.path .on { color: var(--md-accent-fg-color); font-weight: 700; }
@media (max-width: 34em) { .blocks { gap: 0.8rem 0.6rem; } .cells { grid-template-columns: 1.5em repeat(var(--n), minmax(0, 1.52rem)); gap: 1px; font-size: 0.56rem; } }
`;
