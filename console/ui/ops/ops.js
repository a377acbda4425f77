// What the pages about the running server share.
import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { objects, query } from '../api.js';
import { usePoll } from '../data.js';
import { Icon } from '../icons.js';
import { setParams } from '../router.js';
import { Button, Failure, confirm, notify, stylesheet } from '../ui.js';

await stylesheet('ops/ops.css');

const refusals = new Set([1044, 1095, 1142, 1143, 1227, 1356, 1370]);

/** Whether an error says that the account lacks a privilege. */
export const isRefusal = (error) => refusals.has(error?.code);

/** The error of a part of a page. A refusal is no alarm: needs is the sentence that says which
 * privilege the part needs. */
export function Trouble({ error, needs }) {
	if (!isRefusal(error) || !needs) return html`<${Failure} error=${error} />`;
	return html`<p class="refused"><${Icon} name="lock" /><span>${needs} <small class="muted">${error.code}: ${error.message}</small></span></p>`;
}

/** As useQuery, with rows as objects, and no further requests after a refusal. sql null: nothing
 * is done. */
export function useRows(sql, params = [], every = 0) {
	const [refused, setRefused] = useState(null);
	const key = sql + '\0' + JSON.stringify(params);
	const r = usePoll((signal) => sql === null ? undefined : objects(sql, params, { signal }), refused === key ? 0 : every, [key]);
	const no = isRefusal(r.error);
	useEffect(() => { if (no) setRefused(key); }, [no]);
	return r;
}

/**
 * Statements that change something. run({sql, db, title, text, action, danger, done}) asks, with
 * the statement, runs it, and calls after(); the value is its result, or null. view shows the
 * error.
 */
export function useAct(after) {
	const [error, setError] = useState(null);
	const latest = useRef(after);
	latest.current = after;
	const run = async ({ sql, db, done, danger = true, ...question }) => {
		if (!await confirm({ sql, danger, ...question })) return null;
		setError(null);
		try {
			const r = await query(sql, [], { db });
			notify(done ?? 'Done.');
			return r;
		} catch (e) {
			setError(e);
			return null;
		} finally {
			latest.current?.();
		}
	};
	return { run, view: error && html`<div class="acted"><${Failure} error=${error} /><${Button} kind="bare" icon="close" label="Close the message" onClick=${() => setError(null)} /></div>` };
}

/** The sort of a Table, kept in the address: columns have a key; otherwise is the key that it is
 * sorted by without a choice, '-' before it for downwards. */
export function sorting(params, columns, otherwise, name = 'sort') {
	const text = params[name] ?? otherwise;
	const column = text ? columns.findIndex((c) => c.key === text.replace(/^-/, '')) : -1;
	return {
		sort: column < 0 ? null : { column, down: text[0] === '-' },
		onSort: (s) => {
			const to = s ? (s.down ? '-' : '') + columns[s.column].key : undefined;
			setParams({ [name]: to === otherwise ? undefined : to });
		},
	};
}

/** A list, with the details of what is chosen on its right. */
export function Split({ children, detail }) {
	return html`<div class=${'ops-split' + (detail ? ' open' : '')}><div class="ops-list">${children}</div>${detail}</div>`;
}

/** Details: title, and what they are. */
export function Detail({ title, onClose, children }) {
	const root = useRef(null);
	useEffect(() => root.current.scrollIntoView({ block: 'nearest' }), [title]); // in a narrow window it is below the list
	return html`<aside class="ops-detail" ref=${root} aria-label=${title} onKeyDown=${(e) => { if (e.key === 'Escape' && !document.querySelector('dialog')) onClose(); }}>
		<header><h2>${title}</h2><${Button} kind="bare" icon="close" label="Close the details" onClick=${onClose} /></header>
		${children}
	</aside>`;
}

/** A text with white space shortened, for a cell. */
export const oneLine = (s) => s === null || s === undefined ? s : s.slice(0, 400).replace(/\s+/g, ' ').trim();

/** Whether one of the texts has the searched one. */
export const has = (search, ...texts) => !search || texts.some((t) => t !== null && t !== undefined && String(t).toLowerCase().includes(search.toLowerCase()));

/** A search field, whose text is in the address. */
export function Search({ value, name = 'find', label = 'Search' }) {
	return html`<input type="search" aria-label=${label} placeholder=${label} value=${value ?? ''} onInput=${(e) => setParams({ [name]: e.target.value })} />`;
}

/** A word of a shell. */
export const shell = (s) => /^[\w@%+=:,./-]+$/.test(s) ? s : `'${s.replaceAll("'", "'\\''")}'`;
