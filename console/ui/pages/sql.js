// SQL: an editor, and the results of what was run.
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { SQLError, post, query } from '../api.js';
import { usePoll } from '../data.js';
import { clock, count, duration, number, time } from '../format.js';
import { go, place, setParams } from '../router.js';
import { Editor } from '../sql/editor.js';
import { Result } from '../sql/result.js';
import { readOnly, statementAt, statements, verb, withCondition } from '../sql/split.js';
import { draft, past, saved } from '../sql/store.js';
import { Button, Dialog, Empty, Failure, Field, Select, Tabs, confirm, notify, stylesheet } from '../ui.js';
import { analyze } from '../sql/analyze.js';

await stylesheet('sql/sql.css');

const longestAddress = 4000;
const limits = [['1000', '1,000 rows'], ['10000', '10,000 rows'], ['100000', '100,000 rows']];

// loadSchema is what completion knows: databases, and the tables of one with their columns.
async function loadSchema(db, signal) {
	const databases = (await query('SHOW DATABASES', [], { signal })).rows.map((r) => r[0]);
	const tables = new Map();
	if (db) {
		await query('SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? ORDER BY TABLE_NAME, ORDINAL_POSITION', [db], {
			signal, maxRows: 50_000,
			onRow: ([t, name, type]) => {
				if (!tables.has(t)) tables.set(t, []);
				tables.get(t).push({ name, type });
			},
		});
	}
	return { databases, tables };
}

const noSchema = { databases: [], tables: new Map() };

export default function SQL({ params }) {
	const db = params.db ?? '';
	const handle = useRef(null);
	const initial = useMemo(() => params.q ?? draft.get(), []);
	const [results, setResults] = useState([]);
	const [open, setOpen] = useState(0);
	const [view, setView] = useState('table');
	const [run, setRun] = useState(null); // {control, started}
	const [side, setSide] = useState(null);
	const [saving, setSaving] = useState(false);
	const [limit, setLimit] = useState('1000');
	const schema = usePoll((signal) => loadSchema(db, signal), 0, [db]);

	// The address follows the text, and the text the address, which Back and links change.
	const latest = useRef(initial);
	const timer = useRef(0);
	const known = useRef(params.q); // in the address
	useEffect(() => {
		known.current = params.q;
		if (params.q !== undefined && params.q !== latest.current) {
			clearTimeout(timer.current); // what it would write is of the previous text
			latest.current = params.q;
			draft.set(params.q);
			handle.current?.set(params.q);
		}
	}, [params.q]);
	const changed = (text) => {
		latest.current = text;
		clearTimeout(timer.current);
		timer.current = setTimeout(() => {
			if (place.peek().params.q !== known.current) return; // another address was opened meanwhile
			draft.set(text);
			known.current = text.length <= longestAddress ? text || undefined : undefined;
			setParams({ q: known.current });
		}, 400);
	};
	useEffect(() => () => clearTimeout(timer.current), []);

	const current = useRef(null);
	useEffect(() => () => current.current?.abort(), []);

	const execute = async (list, maxRows = Number(limit)) => {
		if (!list.length || current.current) return;
		const control = current.current = new AbortController();
		const started = Date.now();
		setRun({ started });
		setOpen(0);
		const made = [];
		let frame = 0;
		const show = () => { frame ||= setTimeout(() => { frame = 0; setResults([...made]); }, 80); };
		const at = (i) => made[i] ??= { sql: list[i]?.text ?? '', columns: null, rows: [], end: null, error: null, running: true };
		at(0);
		setResults([...made]);
		let error = null, session = null;
		try {
			// Several statements share a session, and each is a request: so what ran before an
			// error has its result.
			if (list.length > 1) session = (await post('/v1/session', { db }, { signal: control.signal })).session;
			for (const [i, s] of list.entries()) {
				at(i);
				show();
				await query(s.text, [], {
					db: session ? undefined : db, session, maxRows, signal: control.signal,
					onColumns: (columns) => { Object.assign(made[i], { columns }); show(); },
					onRows: (rows) => {
						const to = made[i].rows;
						for (const r of rows) to.push(r);
						show();
					},
					onEnd: (end) => { Object.assign(made[i], { end, running: false }); show(); },
				});
			}
		} catch (e) {
			error = e.name === 'AbortError' ? new SQLError({ code: 1317, state: '70100', message: 'Cancelled.' }) : e;
			Object.assign(made[made.length - 1], { error, running: false, statement: list.length > 1 ? made.length : 0 });
		}
		if (session) post('/v1/session/' + session, undefined, { method: 'DELETE' }).catch(() => {});
		clearTimeout(frame);
		current.current = null;
		const done = [...made];
		setResults(done);
		if (error) setOpen(done.length - 1);
		setRun(null);
		const last = done[done.length - 1];
		past.add({ sql: list.map((s) => s.text).join(';\n'), db, at: started, seconds: (Date.now() - started) / 1000, rows: last?.columns ? last.rows.length : last?.end?.affected_rows, error: error?.message });
		const used = list.map((s) => s.text.match(/^\s*USE\s+(?:`([^`]+)`|([^\s;]+))/i)).findLast(Boolean);
		if (used && !error) setParams({ db: used[1] ?? used[2] });
		else if (list.some((s) => /^(CREATE|ALTER|DROP|RENAME)$/.test(verb(s.text)))) schema.refresh();
	};
	const target = () => {
		const text = handle.current.text(), sel = handle.current.selection();
		if (!sel.empty) return statements(text.slice(sel.from, sel.to));
		const s = statementAt(text, sel.head);
		return s ? [s] : [];
	};
	const onRun = (all) => execute(all ? statements(handle.current.text()) : target());
	const explain = (measure) => {
		const [s] = target();
		if (!s) return;
		const sql = s.text.replace(/^EXPLAIN\s+(ANALYZE\s+)?(FORMAT\s*=\s*'?\w+'?\s+)?/i, '');
		const show = () => {
			if (measure) analyze.value = { sql, db };
			go('/plan', { db, q: sql });
		};
		if (!measure || readOnly(sql)) return show();
		confirm({ title: 'Run the statement to measure it?', text: 'EXPLAIN ANALYZE runs it, and its changes stay.', sql, action: 'Run', danger: true }).then((yes) => yes && show());
	};
	const result = results[Math.min(open, results.length - 1)];
	const condition = (text) => {
		const all = handle.current.text();
		const s = statements(all).find((x) => x.text === result.sql);
		if (s) handle.current.replace(s.from, s.to, withCondition(s.text, text));
		else handle.current.insert(text);
		notify('The condition is in the statement.');
		handle.current.focus();
	};
	const list = (schema.data ?? noSchema).databases;
	return html`<div class="page fill sql-page">
		<header class="page-head"><h1>SQL</h1>
			<${Select} label="Database" value=${db} options=${[['', '(none)'], ...(db && !list.includes(db) ? [db] : []), ...list]} onChange=${(v) => setParams({ db: v })} />
			<div class="tools">
				<${Select} label="At most" value=${limit} options=${limits} onChange=${setLimit} />
				<${Button} icon="star" onClick=${() => setSaving(true)}>Save<//>
				<${Button} icon="history" pressed=${side === 'open'} onClick=${() => setSide(side ? null : 'open')}>History<//>
				<${Button} icon="tree" title="The plan of the statement, without running it" onClick=${() => explain(false)}>Explain<//>
				<${Button} icon="gauge" title="Run the statement, and measure each step of its plan" onClick=${() => explain(true)}>Analyze<//>
				${run ? html`<${Button} kind="danger" icon="stop" onClick=${() => current.current?.abort()}>Cancel<//>`
					: html`<${Button} kind="main" icon="play" title="Ctrl-Enter: the statement at the cursor, or what is selected. Shift-Ctrl-Enter: all." onClick=${() => onRun(false)}>Run<//>`}
			</div>
		</header>
		<${Failure} error=${schema.error} />
		<div class="sql-split">
			<div class="sql-main">
				<${Editor} initial=${initial} schema=${schema.data ?? noSchema} onRun=${onRun} onChange=${changed} handle=${handle} />
				<div class="results">
					${run && html`<${Running} started=${run.started} results=${results} />`}
					${results.length > 1 ? html`<${Tabs} label="Results" open=${String(Math.min(open, results.length - 1))} onOpen=${(v) => setOpen(Number(v))}
						list=${results.map((r, i) => ({ id: String(i), title: `${i + 1}: ${verb(r.sql).toLowerCase()}`, badge: r.error ? 'error' : r.columns ? number(r.rows.length) : r.running ? '…' : 'ok' }))}>
						<${Result} key=${open} result=${result} db=${db} view=${view} onView=${setView} onMore=${(n) => execute([{ text: result.sql }], n)} onCondition=${condition} /><//>`
						: result ? html`<${Result} result=${result} db=${db} view=${view} onView=${setView} onMore=${(n) => execute([{ text: result.sql }], n)} onCondition=${condition} />`
						: html`<${Empty}><kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the statement at the cursor, <kbd>Shift</kbd> <kbd>Ctrl</kbd> <kbd>Enter</kbd> all of them. <kbd>Ctrl</kbd> <kbd>Space</kbd> completes.<//>`}
				</div>
			</div>
			${side && html`<${Side} onPick=${(item) => { handle.current.set(item.sql); setParams({ db: item.db || undefined }); handle.current.focus(); }} onClose=${() => setSide(null)} />`}
		</div>
		${saving && html`<${Save} sql=${handle.current.text()} db=${db} onClose=${() => setSaving(false)} />`}
	</div>`;
}

/** How long, and how many rows so far. */
function Running({ started, results }) {
	const [, tick] = useState(0);
	useEffect(() => {
		const t = setInterval(() => tick((n) => n + 1), 200);
		return () => clearInterval(t);
	}, []);
	const rows = results[results.length - 1]?.rows.length ?? 0;
	return html`<p class="running" role="status"><progress aria-label="Running"></progress> ${duration((Date.now() - started) / 1000) || '0 s'}${rows ? `, ${count(rows, 'row')} so far` : ''}</p>`;
}

function Side({ onPick, onClose }) {
	const [tab, setTab] = useState('history');
	const [filter, setFilter] = useState('');
	const which = tab === 'history' ? past : saved;
	const list = which.list.filter((x) => (x.name + ' ' + x.sql).toLowerCase().includes(filter.toLowerCase()));
	return html`<aside class="side" aria-label="History and saved statements">
		<${Button} kind="bare" icon="close" label="Close" onClick=${onClose} class="side-close" />
		<${Tabs} label="Statements" open=${tab} onOpen=${setTab} list=${[{ id: 'history', title: 'History' }, { id: 'saved', title: 'Saved' }]}>
			<input type="search" placeholder="Filter" aria-label="Filter" value=${filter} onInput=${(e) => setFilter(e.target.value)} />
			<ul>${list.map((x) => html`<li key=${(x.at ?? '') + x.name + x.sql}>
				<button type="button" class="pick" onClick=${() => onPick(x)} title=${x.sql.slice(0, 1000)}>
					${x.name && html`<b>${x.name}</b>`}<code>${x.sql.slice(0, 200)}</code>
					<small>${x.db || 'no database'}${x.at ? ` · ${new Date(x.at).toDateString() === new Date().toDateString() ? clock(new Date(x.at)) : time(new Date(x.at))} · ${duration(x.seconds)}` : ''}${x.error ? ' · error' : x.rows !== undefined ? ` · ${count(x.rows, 'row')}` : ''}</small>
				</button>
				<${Button} kind="bare" icon="trash" label="Remove" onClick=${() => which.remove(x)} />
			</li>`)}</ul>
			${!list.length && html`<${Empty}>${tab === 'history' ? 'What you run is kept here, in this browser.' : 'Nothing is saved.'}<//>`}
		<//>
	</aside>`;
}

function Save({ sql, db, onClose }) {
	const submit = (e) => {
		e.preventDefault();
		saved.add({ name: new FormData(e.target).get('name'), sql, db });
		onClose();
		notify('Saved in this browser.');
	};
	return html`<${Dialog} title="Save the statement" onClose=${onClose}>
		<form class="stack" onSubmit=${submit}><${Field} label="Name"><input name="name" required autofocus /><//>
		<pre class="sql" tabindex="0">${sql}</pre><div><${Button} kind="main" type="submit">Save<//></div></form>
	<//>`;
}
