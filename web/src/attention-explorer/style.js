export default `
.title { display: block; margin-bottom: 0.35rem; font-size: 0.66rem; color: var(--soft); }
.title code { font-family: var(--mono); font-size: 0.92em; }
.editors { display: flex; flex-wrap: wrap; gap: 0.8rem 1.6rem; }
.editor.q { --tone: var(--q); } .editor.k { --tone: var(--k); } .editor.v { --tone: var(--v); }
.editor .title { color: var(--tone); font-weight: 700; }
.inputs { display: grid; grid-template-columns: auto repeat(var(--n), minmax(2.2em, 3.4em)); gap: 3px; align-items: center; font-family: var(--mono); font-size: 0.66rem; }
.row-name { padding-right: 0.35em; color: var(--soft); }
.inputs input {
  width: 100%;
  min-height: 1.65rem;
  padding: 0.1em;
  text-align: center;
  background: color-mix(in srgb, var(--tone) 5%, transparent);
  border: 1px solid color-mix(in srgb, var(--tone) 30%, transparent);
  border-radius: 0.2rem;
  transition: background-color 0.2s;
}
.inputs input.lit { background: color-mix(in srgb, var(--tone) 20%, transparent); border-color: var(--tone); }
.inputs input[aria-invalid] { border-color: var(--x); outline: 1px solid var(--x); }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
.picture { min-width: 0; max-width: 100%; }
.picture.live .title { color: var(--md-default-fg-color); font-weight: 700; }
.extra { align-self: center; text-align: center; color: var(--soft); }
.extra.wrong { color: var(--x); font-weight: 700; }
sup { font-size: 0.8em; line-height: 0; }
@media (max-width: 34em) { .editors { gap: 0.7rem; } .inputs { grid-template-columns: auto repeat(var(--n), 2.5em); } }
.sizes summary { cursor: pointer; color: var(--soft); }
.sizes .bar { margin-top: 0.5rem; }
`;
