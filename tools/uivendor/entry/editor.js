export { EditorState, EditorSelection, Compartment, Prec } from '@codemirror/state';
export { EditorView, keymap, lineNumbers, drawSelection, highlightActiveLine, highlightSpecialChars, placeholder } from '@codemirror/view';
export { defaultKeymap, history, historyKeymap, indentWithTab, toggleComment } from '@codemirror/commands';
export { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap, snippet, acceptCompletion } from '@codemirror/autocomplete';
export { searchKeymap, highlightSelectionMatches, search } from '@codemirror/search';
export { bracketMatching, HighlightStyle, syntaxHighlighting, syntaxTree, indentOnInput } from '@codemirror/language';
export { sql, SQLDialect, MySQL } from '@codemirror/lang-sql';
export { tags } from '@lezer/highlight';
