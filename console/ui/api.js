// The HTTP API of the server.
import { signal } from './vendor/preact.js';

/** An error of the server: code and state are those of SQL; code 0 is none of SQL. */
export class SQLError extends Error {
	constructor({ code = 0, state = '', message = '', statement = 0 }, status = 0) {
		super(message);
		Object.assign(this, { name: 'SQLError', code, state, statement, status });
	}
}

const flag = 'sqlots.account';

/** Who has logged in: {user, expired}, or null. */
export const account = signal(load());

/** Why the login page is shown, if not at the user's wish. */
export const reason = signal('');

function load() {
	try {
		return JSON.parse(localStorage.getItem(flag));
	} catch {
		return null;
	}
}

function setAccount(a) {
	account.value = a;
	if (a) localStorage.setItem(flag, JSON.stringify(a));
	else localStorage.removeItem(flag);
}

// Another window may log out or in.
addEventListener('storage', (e) => { if (e.key === flag) account.value = load(); });

async function send(method, path, { body, signal, headers } = {}) {
	let r;
	try {
		r = await fetch(path, { method, body, signal, headers, credentials: 'same-origin', cache: 'no-store' });
	} catch (e) {
		if (e.name === 'AbortError') throw e;
		throw new SQLError({ message: 'The server does not answer.' });
	}
	if (r.ok) return r;
	let error = { message: `HTTP status ${r.status}` };
	try {
		error = (await r.json()).error ?? error;
	} catch { /* it has no more to say */ }
	if (r.status === 401 && path !== '/v1/login') {
		reason.value = 'Your login has ended. Log in again to go on where you were.';
		setAccount(null);
	}
	throw new SQLError(error, r.status);
}

/** Logs in. */
export async function login(user, password) {
	const r = await send('POST', '/v1/login', { body: JSON.stringify({ user, password }), headers: { 'Content-Type': 'application/json' } });
	const a = await r.json();
	reason.value = '';
	setAccount({ user: a.user, expired: a.password_expired });
}

/** Logs out. */
export async function logout() {
	reason.value = '';
	try {
		await send('POST', '/v1/logout');
	} finally {
		setAccount(null);
	}
}

/** GET of a path that answers JSON. */
export async function get(path, opts) {
	return (await send('GET', path, opts)).json();
}

/** POST or another method with a JSON body; the answer is JSON or nothing. */
export async function post(path, value, { method = 'POST', ...opts } = {}) {
	const r = await send(method, path, { ...opts, body: value === undefined ? undefined : JSON.stringify(value), headers: { 'Content-Type': 'application/json' } });
	return r.status === 204 ? null : r.json();
}

// exact keeps numbers inside of JSON values that JavaScript would round, where the browser can.
const exact = (_, v, context) => typeof v === 'number' && context?.source && !Number.isSafeInteger(v) && String(v) !== context.source ? JSON.rawJSON(context.source) : v;

// bigint is written as a number: JSON.stringify refuses it.
const encodeParam = (p) => typeof p === 'bigint' ? String(p) : JSON.stringify(p ?? null);

/**
 * Runs SQL. Numbers of 64 bits and decimals come as strings, bytes as base64, geometries as
 * WKT. Options:
 *   db                     database
 *   signal                 AbortSignal: cancels the statement
 *   onColumns(columns, i)  a result set begins: [{name, type, unsigned, nullable, table, encoding}]
 *   onRows(rows, i)        some rows have come, each an array; onRow(row, i): one
 *   onEnd(end, i)          result i is complete: {rows | affected_rows, warnings, elapsed_ms, …}
 *   maxRows                rows of a result at most; end.truncated says that more are there
 *   multi                  sql is several statements
 *   session                of POST /v1/session
 *   timeout                in ms
 * Without onRows and onRow the rows are kept. The value is the last result:
 * {columns, rows, end}, columns null for a statement without a result set.
 */
export async function query(sql, params, opts = {}) {
	const { db, signal, onColumns, onRows, onRow, onEnd, maxRows, multi, session, timeout } = opts;
	const fields = [`"sql":${JSON.stringify(sql)}`, '"format":"ndjson"', '"numbers":"string"'];
	if (params?.length) fields.push(`"params":[${params.map(encodeParam).join(',')}]`);
	if (db) fields.push(`"db":${JSON.stringify(db)}`);
	if (maxRows) fields.push(`"max_rows":${maxRows}`);
	if (multi) fields.push('"multi":true');
	if (session) fields.push(`"session":${JSON.stringify(session)}`);
	if (timeout) fields.push(`"timeout_ms":${timeout}`);
	const r = await send('POST', '/v1/query', { signal, body: `{${fields.join(',')}}`, headers: { 'Content-Type': 'application/json' } });

	const keep = !onRows && !onRow;
	let reviver, i = 0, result = { columns: null, rows: [], end: null }, more = true;
	const lines = (text) => {
		const rows = [];
		const flush = () => {
			if (!rows.length) return;
			const part = rows.splice(0);
			if (keep) for (const row of part) result.rows.push(row);
			onRows?.(part, i);
			if (onRow) for (const row of part) onRow(row, i);
		};
		for (const line of text.split('\n')) {
			if (!line) continue;
			const v = line[0] === '[' && reviver ? JSON.parse(line, reviver) : JSON.parse(line);
			if (Array.isArray(v)) {
				rows.push(v);
				continue;
			}
			flush();
			if (v.error) throw new SQLError(v.error, 200);
			if (v.columns) {
				result = { columns: v.columns, rows: [], end: null };
				reviver = JSON.rawJSON && v.columns.some((c) => c.type === 'json') ? exact : undefined;
				onColumns?.(v.columns, i);
			} else if (v.end) {
				if (result.end) result = { columns: null, rows: [], end: null };
				result.end = v.end;
				onEnd?.(v.end, i++);
				more = !!v.end.more;
			}
		}
		flush();
	};

	const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = '';
	try {
		for (;;) {
			const { value, done } = await reader.read();
			if (done) break;
			const cut = value.lastIndexOf('\n');
			if (cut < 0) {
				rest += value;
				continue;
			}
			const text = rest + value.slice(0, cut);
			rest = value.slice(cut + 1);
			lines(text);
		}
		if (rest) lines(rest);
	} catch (e) {
		reader.cancel().catch(() => {});
		if (e.name === 'AbortError' || e instanceof SQLError) throw e;
		throw new SQLError({ message: 'The connection was cut before the result was complete.' });
	}
	if (more) throw new SQLError({ message: 'The result is not complete.' });
	return result;
}

/** Runs SQL and gives rows as objects by column name. */
export async function objects(sql, params, opts) {
	const { columns, rows } = await query(sql, params, opts);
	return rows.map((row) => Object.fromEntries(columns.map((c, i) => [c.name, row[i]])));
}

/** A name as an identifier of SQL. */
export const id = (name) => '`' + String(name).replaceAll('`', '``') + '`';

/** A value as a literal of SQL. */
export function text(value) {
	if (value === null || value === undefined) return 'NULL';
	if (typeof value === 'number' || typeof value === 'bigint') return String(value);
	return "'" + String(value).replace(/[\0\n\r\x1a'\\]/g, (c) => ({ '\0': '\\0', '\n': '\\n', '\r': '\\r', '\x1a': '\\Z', "'": "''", '\\': '\\\\' })[c]) + "'";
}
