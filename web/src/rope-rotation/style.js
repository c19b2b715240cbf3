export default `
.positions { display: grid; gap: 0.2rem; }
.positions .slider { display: grid; grid-template-columns: 7.5em 1fr 2em; }
.positions .slider input { width: 100%; }
.slider.q { --tone: var(--q); } .slider.k { --tone: var(--k); }
.layouts { display: grid; gap: 0.8rem; }
.caption { display: flex; gap: 1rem; align-items: baseline; margin: 0 0 0.3rem; font-size: 0.7rem; font-weight: 700; }
.caption output { font-family: var(--mono); color: var(--md-accent-fg-color); }
.circles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.4rem; max-width: 28rem; }
.circle { margin: 0; text-align: center; }
svg { display: block; width: 100%; height: auto; }
.circle circle { fill: none; stroke: var(--line); stroke-width: 1.5; }
.grab { cursor: grab; touch-action: none; }
.grab circle { fill: transparent; stroke: var(--md-accent-fg-color); stroke-dasharray: 3 3; }
.arrow { fill: none; stroke-width: 3; stroke-linecap: round; stroke-linejoin: round; transition: transform 0.25s ease-out; }
.arrow.q { stroke: var(--q); } .arrow.k { stroke: var(--k); }
figcaption { display: grid; font-size: 0.54rem; line-height: 1.5; color: var(--soft); }
figcaption b { font-family: var(--mono); font-size: 0.62rem; color: var(--md-default-fg-color); }
.hint, .curve p { font-size: 0.62rem; color: var(--soft); }
.key { margin-right: 0.9em; }
.key::before { content: ""; display: inline-block; width: 1.1em; height: 0; margin-right: 0.35em; vertical-align: 0.28em; border-top: 2.5px solid currentcolor; }
.key.q { color: var(--q); } .key.k { color: var(--k); }
.curve .key { margin-left: 0.9em; margin-right: 0; }
.half { --hue: var(--v); } .interleaved { --hue: var(--w); }
.key.half, .key.interleaved { color: var(--hue); }
.key.interleaved::before { border-top-style: dashed; }
.line { fill: none; stroke: var(--hue); stroke-width: 1.8; }
.line.interleaved { stroke-dasharray: 6 4; }
.axis { fill: none; stroke: var(--line); }
.dot { fill: var(--hue); transition: transform 0.25s ease-out; }
`;
