// The editor: CodeMirror with the two languages, diagnostics, completion, hover, and a mark under what an instruction was made of.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { qasm, wgsl, WGSL_FUNCTIONS, WGSL_TYPES } from "./languages.js";
import { ask } from "./model.js";

const colors = HighlightStyle.define([
  { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.meta], color: "var(--keyword)" },
  { tag: tags.typeName, color: "var(--type)" },
  { tag: [tags.function(tags.variableName), tags.standard(tags.variableName)], color: "var(--function)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: tags.labelName, color: "var(--label)" },
  { tag: tags.attributeName, color: "var(--keyword)" },
]);

const setMark = StateEffect.define();
const mark = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    marks = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(setMark)) continue;
      const { from, to } = effect.value;
      const end = Math.min(to, transaction.newDoc.length);
      marks = from < end ? Decoration.set([Decoration.mark({ class: "made-of" }).range(from, end)]) : Decoration.none;
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

let qasmWords;

async function complete(context) {
  const word = context.matchBefore(/\.?\w+/);
  if (!word && !context.explicit) return null;
  let options;
  if (language === "qasm") {
    qasmWords ??= (await ask({ ask: "words" })).words;
    options = qasmWords.map(({ label, kind }) => ({ label, type: TYPES[kind] ?? "text", detail: kind }));
    // What the source declares: macros, functions, names, labels.
    const declared = context.state.doc.toString().matchAll(/^\s*(?:\.(?:macro|func|set|uniform|varying|attribute|texture|lmacro|lfunc|const)\s+|:)([A-Za-z_]\w*)/gm);
    const own = new Set([...declared].map(([, name]) => name));
    options.push(...[...own].map((label) => ({ label, type: "variable", detail: "of this source" })));
  } else {
    const own = new Set(context.state.doc.toString().match(/[A-Za-z_]\w{2,}/g));
    own.delete(word?.text);
    options = [
      ...[...WGSL_FUNCTIONS].map((label) => ({ label, type: "function" })),
      ...[...WGSL_TYPES].map((label) => ({ label, type: "type" })),
      ...[...own].filter((label) => !WGSL_FUNCTIONS.has(label) && !WGSL_TYPES.has(label)).map((label) => ({ label, type: "variable" })),
    ];
  }
  return { from: word ? word.from : context.pos, options, validFor: /^\.?\w*$/ };
}

const TYPES = { instruction: "function", signal: "keyword", register: "variable", suffix: "property", directive: "keyword", function: "method" };

// The word at a position of a line, as it is asked for: `@location`, `vec4f`, `.setf`.
function wordAt(text, at) {
  const isBefore = language === "qasm" ? /[\w.]/ : /[\w@]/;
  let [start, end] = [at, at];
  while (start > 0 && isBefore.test(text[start - 1])) start -= 1;
  if (language !== "qasm" && text[end] === "@") end += 1;
  while (end < text.length && /\w/.test(text[end])) end += 1;
  const word = text.slice(start, end);
  if (language !== "qasm") return { start, end, word };
  const parts = word.split(".");
  return { start, end, word: at - start > parts[0].length && parts.length > 1 ? `.${parts[1]}` : parts[0] || word };
}

const explained = hoverTooltip(async (view, position) => {
  const { from, text } = view.state.doc.lineAt(position);
  const { start, end, word } = wordAt(text, position - from);
  if (!word) return null;
  const { text: meaning } = await ask({ ask: "explain", language, word });
  if (!meaning) return null;
  return {
    pos: from + start,
    end: from + end,
    create: () => {
      const dom = document.createElement("pre");
      dom.className = "explained";
      dom.textContent = meaning;
      return { dom };
    },
  };
});

let view;
let language = "wgsl";
const languages = new Compartment();

export function createEditor(parent, { onChange, onCursor }) {
  const tellOf = EditorView.updateListener.of((update) => {
    if (update.docChanged) onChange(update.state.doc.toString());
    if (update.selectionSet) onCursor(update.state.selection.main.head);
  });
  view = new EditorView({
    parent,
    state: EditorState.create({
      doc: "",
      extensions: [
        lineNumbers(), highlightActiveLine(), highlightActiveLineGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(),
        highlightSelectionMatches(), autocompletion({ override: [complete] }), lintGutter(), explained, mark, tellOf,
        languages.of(wgsl), syntaxHighlighting(colors), EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "Source of the shader" }),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab]),
      ],
    }),
  });
  return view;
}

export function setLanguage(name) {
  language = name;
  view.dispatch({ effects: languages.reconfigure(name === "qasm" ? qasm : wgsl) });
}

export const source = () => view.state.doc.toString();

export function setSource(text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
}

export function showDiagnostics(diagnostics) {
  const length = view.state.doc.length;
  const shown = diagnostics.map(({ from, to, error, code, message, help }) => ({
    from: Math.min(from, length),
    to: Math.min(Math.max(to, from), length),
    severity: error ? "error" : "warning",
    source: code || undefined,
    message,
    renderMessage: () => {
      const dom = document.createElement("div");
      dom.append(message);
      if (help) dom.append(Object.assign(document.createElement("p"), { className: "help", textContent: help }));
      return dom;
    },
  }));
  view.dispatch(setDiagnostics(view.state, shown));
}

export function showPlace(place) {
  view.dispatch({ effects: setMark.of(place ? { from: place[0], to: place[1] } : { from: 0, to: 0 }) });
}

export function select(from, to) {
  view.dispatch({ selection: { anchor: from, head: Math.min(to, view.state.doc.length) }, scrollIntoView: true });
  view.focus();
}
