// History and saved statements: in this browser, by account.
import { signal } from '../vendor/preact.js';
import { account } from '../api.js';

const most = 200, longest = 20000;

function store(kind) {
	const value = signal([]);
	let owner;
	const key = () => `sqlots.${kind}.${account.peek()?.user}`;
	const load = () => {
		if (owner === key()) return;
		owner = key();
		try {
			value.value = JSON.parse(localStorage.getItem(owner)) ?? [];
		} catch {
			value.value = [];
		}
	};
	const save = (list) => {
		value.value = list;
		try {
			localStorage.setItem(owner, JSON.stringify(list));
		} catch { /* the store of the browser is full: it stays in this window */ }
	};
	return {
		get list() { load(); return value.value; },
		add(item) {
			load();
			if (item.sql.length > longest) return;
			save([item, ...value.peek().filter((x) => x.sql !== item.sql || x.name !== item.name)].slice(0, most));
		},
		remove(item) { save(value.peek().filter((x) => x !== item)); },
		clear() { save([]); },
	};
}

/** Statements that were run: {sql, db, at, seconds, rows, error}. */
export const past = store('history');

/** Statements that were saved: {name, sql, db}. */
export const saved = store('saved');

/** The text of the editor. */
export const draft = {
	get: () => sessionStorage.getItem('sqlots.draft.' + account.peek()?.user) ?? '',
	set: (text) => sessionStorage.setItem('sqlots.draft.' + account.peek()?.user, text.length < 1e6 ? text : ''),
};
