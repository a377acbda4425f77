// The editor: CodeMirror with SQL.
import { html, useEffect, useRef } from '../vendor/preact.js';
import {
	EditorState, EditorView, HighlightStyle, MySQL, Prec, autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, completionKeymap, defaultKeymap,
	drawSelection, highlightActiveLine, highlightSelectionMatches, highlightSpecialChars, history, historyKeymap, keymap, lineNumbers, placeholder, searchKeymap, sql, syntaxHighlighting, tags,
} from '../vendor/editor.js';
import { functions, parameters } from './functions.js';
import { statementAt, tablesIn, tokens } from './split.js';

const v = (name) => `var(--${name})`;

const theme = EditorView.theme({
	'&': { height: '100%', fontSize: '13px', backgroundColor: v('raised'), color: v('text') },
	'.cm-scroller': { fontFamily: v('mono'), lineHeight: '1.55', overflow: 'auto' },
	'.cm-content': { padding: '8px 0', caretColor: v('text') },
	'.cm-gutters': { backgroundColor: v('panel'), color: v('muted'), borderRight: `1px solid ${v('line')}` },
	'.cm-activeLine': { backgroundColor: 'transparent' },
	'&.cm-focused .cm-activeLine': { backgroundColor: v('stripe') },
	'&.cm-focused': { outline: 'none' },
	'.cm-cursor': { borderLeftColor: v('text') },
	'&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: `${v('tint')} !important` },
	'.cm-selectionMatch, .cm-searchMatch': { backgroundColor: v('warn-tint') },
	'.cm-matchingBracket': { backgroundColor: `${v('tint')} !important`, outline: `1px solid ${v('accent')}` },
	'.cm-tooltip': { backgroundColor: v('raised'), border: `1px solid ${v('line')}`, borderRadius: '6px', boxShadow: '0 8px 26px rgb(0 0 0 / 0.16)' },
	'.cm-tooltip-autocomplete > ul': { fontFamily: v('mono'), fontSize: '12px', maxHeight: '16em' },
	'.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
	'.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: v('tint'), color: v('text') },
	'.cm-completionDetail': { color: v('muted'), fontStyle: 'normal', marginLeft: '1em' },
	'.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700', color: v('accent') },
	'.cm-panels': { backgroundColor: v('panel'), color: v('text') },
	'.cm-placeholder': { color: v('comment') },
});

const highlight = syntaxHighlighting(HighlightStyle.define([
	{ tag: [tags.keyword, tags.typeName, tags.bool, tags.null], color: v('keyword') },
	{ tag: [tags.string, tags.special(tags.string)], color: v('string') },
	{ tag: tags.number, color: v('figure') },
	{ tag: [tags.lineComment, tags.blockComment], color: v('comment'), fontStyle: 'italic' },
]));

const quoted = (name) => /^[a-z_][a-z0-9_$]*$/i.test(name) ? name : '`' + name.replaceAll('`', '``') + '`';

const byFunction = functions.map((name) => ({
	label: name, type: 'function', detail: parameters[name] ?? '()', boost: -1,
	apply: (view, c, from, to) => {
		const text = name + '()';
		view.dispatch({ changes: { from, to, insert: text }, selection: { anchor: from + text.length - (parameters[name] === '()' ? 0 : 1) } });
	},
}));

/** Completion: columns of the statement's tables, tables, functions; keywords come from the dialect. */
function complete(schema) {
	return (context) => {
		const word = context.matchBefore(/[\p{L}\p{N}_$]*/u);
		const before = context.state.sliceDoc(Math.max(0, word.from - 100), word.from);
		const text = context.state.doc.toString();
		const here = statementAt(text, context.pos);
		const s = schema();
		const columns = (t) => (s.tables.get(t) ?? []).map((c) => ({ label: c.name, apply: quoted(c.name), type: 'property', detail: c.type, boost: 2 }));
		const dot = before.match(/`?([\p{L}\p{N}_$]+)`?\.`?$/u);
		if (dot) {
			const name = here ? aliases(here.text)[dot[1].toLowerCase()] ?? dot[1] : dot[1];
			const list = columns(name);
			return list.length ? { from: word.from, options: list, validFor: /^[\p{L}\p{N}_$]*$/u } : null;
		}
		if (word.from === word.to && !context.explicit) return null;
		const options = [];
		if (here) for (const t of tablesIn(here.text)) options.push(...columns(t));
		for (const t of s.tables.keys()) options.push({ label: t, apply: quoted(t), type: 'class', detail: 'table', boost: /\b(from|join|update|into|table)\s+$/i.test(before) ? 9 : 1 });
		for (const d of s.databases) options.push({ label: d, apply: quoted(d), type: 'namespace', detail: 'database' });
		return { from: word.from, options: options.concat(byFunction), validFor: /^[\p{L}\p{N}_$]*$/u };
	};
}

// Aliases of a statement: the word after a table's name.
function aliases(text) {
	const list = [...tokens(text)].filter((t) => t.kind !== 'space');
	const map = {};
	for (const name of tablesIn(text)) {
		list.forEach((t, i) => {
			if (t.text.replaceAll('`', '') !== name) return;
			const next = /^as$/i.test(list[i + 1]?.text ?? '') ? list[i + 2] : list[i + 1];
			if (next && (next.kind === 'word' || next.kind === 'name')) map[next.text.replaceAll('`', '').toLowerCase()] = name;
		});
	}
	return map;
}

/**
 * The editor. handle gets {text(), selection(), insert(text), replace(from, to, text), set(text), focus()}.
 * onRun(all) is called by Ctrl-Enter and Shift-Ctrl-Enter.
 */
export function Editor({ initial, schema, onRun, onChange, handle }) {
	const host = useRef(null), latest = useRef({});
	latest.current = { schema, onRun, onChange };
	useEffect(() => {
		const nonce = document.querySelector('meta[name=nonce]').content;
		const run = (all) => () => {
			latest.current.onRun(all);
			return true;
		};
		const view = new EditorView({
			parent: host.current,
			state: EditorState.create({
				doc: initial,
				extensions: [
					EditorView.cspNonce.of(nonce), theme, highlight, lineNumbers(), history(), drawSelection(), highlightSpecialChars(), highlightActiveLine(), highlightSelectionMatches(), bracketMatching(), closeBrackets(),
					Prec.highest(keymap.of([{ key: 'Mod-Enter', run: run(false), shift: run(true) }])),
					keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap]),
					sql({ dialect: MySQL, upperCaseKeywords: true }),
					MySQL.language.data.of({ autocomplete: complete(() => latest.current.schema) }),
					autocompletion({ icons: false, maxRenderedOptions: 60 }),
					EditorView.lineWrapping, placeholder('SELECT …'),
					EditorView.contentAttributes.of({ 'aria-label': 'SQL', spellcheck: 'false' }),
					EditorView.updateListener.of((u) => { if (u.docChanged) latest.current.onChange(u.state.doc.toString()); }),
				],
			}),
		});
		handle.current = {
			text: () => view.state.doc.toString(),
			selection: () => view.state.selection.main,
			insert: (text) => view.dispatch(view.state.replaceSelection(text)),
			replace: (from, to, text) => view.dispatch({ changes: { from, to, insert: text } }),
			set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: text.length } }),
			focus: () => view.focus(),
		};
		view.focus();
		return () => view.destroy();
	}, []);
	return html`<div class="editor" ref=${host}></div>`;
}
