export default `
.walk { display: flex; flex-wrap: wrap; gap: 0.4rem 1rem; }
.walk .slider { flex: 1 1 14rem; }
.walk .slider input { flex: 1; }
.walk output { min-width: 3.6em; font-family: inherit; }
.strips { display: grid; gap: 3px; }
.strip { display: grid; grid-template-columns: 1.6em; grid-auto-flow: column; grid-auto-columns: minmax(0, 2.4rem); gap: 3px; align-items: center; font-family: var(--mono); font-size: 0.6rem; }
.strip b { color: var(--k); } .strip + .strip b { color: var(--v); }
.strip { --hue: var(--k); } .strip + .strip { --hue: var(--v); }
.token { padding: 0.35em 0; text-align: center; border: 1px solid transparent; border-radius: 0.2rem; transition: background-color 0.25s, border-color 0.25s, color 0.25s; }
.token.fresh { color: var(--md-default-bg-color); font-weight: 700; background: var(--hue); }
.token.kept { background: color-mix(in srgb, var(--hue) 14%, transparent); }
.token.none { color: var(--soft); border: 1px dashed var(--line); }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.62rem; color: var(--soft); }
.legend span::before { content: ""; display: inline-block; width: 0.75em; height: 0.75em; margin-right: 0.4em; border-radius: 0.15em; background: color-mix(in srgb, var(--w) 16%, transparent); }
.legend .fresh::before { background: var(--w); }
.legend .masked::before { background: color-mix(in srgb, var(--w) 45%, transparent); }
.two { display: grid; grid-template-columns: minmax(0, 12rem) minmax(0, 1fr); gap: 1.4rem; align-items: center; }
.name { display: block; font-size: 0.62rem; color: var(--soft); }
svg { display: block; width: 100%; height: auto; }
text { font-family: var(--mono); font-size: 5px; text-anchor: middle; fill: var(--soft); }
rect { stroke: none; transition: fill 0.25s; }
rect.none { fill: none; stroke: var(--line); stroke-width: 0.5; }
rect.kept { fill: color-mix(in srgb, var(--w) 16%, transparent); }
rect.fresh { fill: var(--w); }
rect.masked { fill: color-mix(in srgb, var(--w) 45%, transparent); }
.ledger { width: 100%; border-collapse: collapse; font-size: 0.64rem; }
.ledger :is(th, td) { padding: 0.3rem 0.5rem; font-weight: 400; text-align: right; border-top: 1px solid var(--line); }
.ledger thead :is(th) { color: var(--soft); border-top: 0; }
.ledger th:first-child { text-align: left; }
.ledger td { font-family: var(--mono); }
.ledger .total :is(th, td) { font-weight: 700; }
.bytes { padding-top: 0.7rem; border-top: 1px solid var(--line); }
.caption { margin: 0 0 0.4rem; font-size: 0.7rem; font-weight: 700; }
.field { display: inline-flex; gap: 0.4rem; align-items: center; }
.field input { width: 3.4em; min-height: 1.7rem; text-align: center; font-family: var(--mono); background: var(--md-code-bg-color); border: 1px solid var(--line); border-radius: 0.25rem; }
.field input[aria-invalid] { border-color: var(--x); outline: 1px solid var(--x); }
.bars { display: grid; grid-template-columns: max-content 1fr max-content; gap: 0.35rem 0.7rem; align-items: center; margin: 0.7rem 0 0.5rem; font-size: 0.66rem; }
.bars output { font-family: var(--mono); text-align: right; }
.track { height: 0.7rem; background: var(--md-code-bg-color); border-radius: 0.2rem; }
.track i { display: block; width: var(--share); height: 100%; background: color-mix(in srgb, var(--v) 70%, transparent); border-radius: 0.2rem; }
.formula { font-size: 0.62rem; color: var(--soft); }
@media (max-width: 34em) { .two { grid-template-columns: minmax(0, 1fr); } .square { max-width: 14rem; } .strip { grid-template-columns: 1.2em; gap: 2px; } }
`;
