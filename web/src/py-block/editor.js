/**
 * 编辑器：CodeMirror 6。第一次要编辑时才载入。
 *
 * 放在 shadow root 里：那里它用 adoptedStyleSheets，而不是内容安全策略不许的 <style>。
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** 颜色与 Material 的高亮用同样的变量，所以跟着明暗主题走。 */
const colors = HighlightStyle.define([
  { tag: [tags.comment, tags.docComment], color: "var(--md-code-hl-comment-color)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--md-code-hl-string-color)" },
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--md-code-hl-keyword-color)" },
  { tag: [tags.number], color: "var(--md-code-hl-number-color)" },
  { tag: [tags.bool, tags.null, tags.self], color: "var(--md-code-hl-constant-color)" },
  { tag: tags.function(tags.definition(tags.variableName)), color: "var(--md-code-hl-function-color)" },
  { tag: tags.definition(tags.className), color: "var(--md-code-hl-function-color)" },
  { tag: [tags.operator, tags.punctuation, tags.bracket], color: "var(--md-code-hl-operator-color)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--md-code-fg-color)", backgroundColor: "var(--md-code-bg-color)", fontSize: "inherit" },
  "&.cm-focused": { outline: "2px solid var(--md-accent-fg-color)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--md-code-font-family)", lineHeight: "1.65" },
  ".cm-content": { padding: "0.9em 0", caretColor: "var(--md-accent-fg-color)" },
  ".cm-line": { padding: "0 1.15em" },
  ".cm-cursor": { borderLeftColor: "var(--md-accent-fg-color)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--md-accent-fg-color--transparent)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--md-accent-fg-color--transparent)",
    outline: "1px solid var(--md-accent-fg-color)",
  },
  ".cm-fault": {
    backgroundColor: "color-mix(in srgb, #d03a2b 16%, transparent)",
    boxShadow: "inset 3px 0 0 #d03a2b",
  },
});

/** @type {import("@codemirror/state").StateEffectType<number | null>} */
const setFault = StateEffect.define();
const fault = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setFault)) continue;
      const line = effect.value;
      if (line === null || line < 1 || line > transaction.state.doc.lines) return Decoration.none;
      const { from } = transaction.state.doc.line(line);
      return Decoration.set([Decoration.line({ class: "cm-fault" }).range(from)]);
    }
    return transaction.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * @param {HTMLElement} host
 * @param {{ code: string, label: string, change: (code: string) => void, run: () => void }} options
 */
export function openEditor(host, { code, label, change, run }) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: code,
      extensions: [
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        indentUnit.of("    "),
        python(),
        syntaxHighlighting(colors),
        look,
        fault,
        EditorView.contentAttributes.of({
          "aria-label": `${label}，可以编辑。按 Esc 再按 Tab 离开，按 Ctrl 或 ⌘ 加 Enter 运行`,
          autocapitalize: "off",
          spellcheck: "false",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) change(update.state.doc.toString());
        }),
        keymap.of([
          { key: "Mod-Enter", preventDefault: true, run: () => (run(), true) },
          // Esc 之后的 Tab 由 CodeMirror 放行，键盘不会困在里面。
          indentWithTab,
          ...defaultKeymap.filter((binding) => binding.key !== "Mod-Enter"),
          ...historyKeymap,
        ]),
      ],
    }),
  });
  return {
    /** @param {string} text */
    set(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    /** @param {number | null} line 从 1 数起 */
    mark(line) {
      view.dispatch({ effects: setFault.of(line) });
    },
    /** @param {number} [offset] 光标放到第几个字符 */
    focus(offset) {
      if (offset !== undefined) {
        view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) } });
      }
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
