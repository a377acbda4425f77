// Import: a file of rows is looked at here, and loaded into a table by the server.
import { effect, html, signal, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { account, id, query } from '../api.js';
import { usePoll } from '../data.js';
import { bytes, count, duration, number, short } from '../format.js';
import { Icon } from '../icons.js';
import { canBeKey, compression, createTable, decode, grows, guess, mapping, misfit, sampleSize, tableName } from '../import/guess.js';
import { address, beginning, pick, send } from '../import/load.js';
import { Link, place, setParams } from '../router.js';
import { save } from '../sql/export.js';
import { Table } from '../table.js';
import { Button, Empty, Facts, Failure, Field, Page, Progress, Section, Select, confirm, copy, notify, stylesheet } from '../ui.js';

await stylesheet('import/import.css');

const mostColumns = 200; // that have a line each on the page
const mostShown = 100; // columns of the preview
const mostChoices = 60; // of columns in a list

// What stays while another page is open: the file and the load.
const source = signal(null); // {user, file, compressed, text, whole, error}
const job = signal(null); // {user, file, form, db, table, url, token, made, sent, started, control, answer, error}
const changes = signal(0); // counts changes of the schema by this page

const runs = (j) => !!j && !j.answer && !j.error;

// Another account sees nothing of them.
effect(() => {
	const user = account.value?.user;
	if (source.peek() && source.peek().user !== user) source.value = null;
	if (job.peek() && job.peek().user !== user) {
		job.peek().control.abort();
		job.value = null;
	}
});

async function open(file) {
	const s = { user: account.value?.user, file, compressed: '', text: '', whole: false, error: null };
	try {
		const b = await beginning(file, sampleSize, compression);
		Object.assign(s, { compressed: b.compressed, whole: b.whole });
		if (!file.size) throw new Error('The file is empty.');
		if (b.head) s.text = decode(b.head, b.whole);
	} catch (e) {
		s.error = e.name === 'NotReadableError' ? new Error('The browser cannot read the file.') : e;
	}
	job.value = null;
	source.value = s;
}

const delimiterNames = [[',', 'comma'], ['\t', 'tab'], [';', 'semicolon'], ['|', 'bar']];

export default function Import({ params }) {
	const src = source.value, running = runs(job.value);
	const [over, setOver] = useState(false);
	const drop = (e) => {
		e.preventDefault();
		setOver(false);
		if (e.dataTransfer.files.length && !running) open(e.dataTransfer.files[0]);
	};
	useEffect(() => {
		const leave = (e) => { if (runs(job.peek())) e.preventDefault(); };
		addEventListener('beforeunload', leave);
		return () => removeEventListener('beforeunload', leave);
	}, []);
	return html`<div class=${'import' + (over ? ' over' : '')} onDragOver=${(e) => { e.preventDefault(); setOver(true); }} onDragLeave=${(e) => { if (!e.currentTarget.contains(e.relatedTarget)) setOver(false); }} onDrop=${drop}>
		<${Page} title="Import" tools=${src && !running && html`<${Chooser}>Another file<//>`}>
			${!src && html`<div class="drop"><${Icon} name="upload" /><p>Drop a file of CSV, TSV or JSON lines here</p><${Chooser} main>Choose a file<//>
				<p class="muted">Also compressed by gzip or zstd. Its beginning is shown before anything is loaded.</p></div>`}
			${src?.error && html`<${Failure} error=${src.error} />`}
			${job.value && html`<${Job} />`}
			${src && !src.error && html`<${Work} key=${src.file.name + src.file.size + src.file.lastModified} src=${src} params=${params} running=${running} />`}
		<//>
	</div>`;
}

function Chooser({ main, children }) {
	const input = useRef(null);
	return html`<input ref=${input} type="file" class="hidden" tabindex="-1" aria-label="File" accept=".csv,.tsv,.tab,.txt,.json,.jsonl,.ndjson,.gz,.zst" onChange=${(e) => { if (e.target.files[0]) open(e.target.files[0]); e.target.value = ''; }} />
		<${Button} icon="upload" kind=${main ? 'main' : ''} onClick=${() => input.current.click()}>${children}<//>`;
}

async function loadTables(signal, db) {
	const databases = (await query('SHOW DATABASES', [], { signal })).rows.map((r) => r[0]).filter((d) => !['information_schema', 'performance_schema', 'sys', 'mysql'].includes(d));
	const tables = db ? (await query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME LIMIT 1000", [db], { signal })).rows.map((r) => r[0]) : [];
	return { databases, tables };
}

async function loadColumns(signal, db, table) {
	const { rows } = await query('SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_KEY FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION', [db, table], { signal });
	return rows.map(([name, type, nullable, def, extra, key]) => {
		const generated = /(VIRTUAL|STORED) GENERATED/i.test(extra), counts = /auto_increment/i.test(extra);
		return { name, type: String(type), nullable: nullable === 'YES', generated, counts, key: key === 'PRI', needed: nullable !== 'YES' && def === null && !counts && !generated && !/DEFAULT_GENERATED/i.test(extra) };
	});
}

function Work({ src, params, running }) {
	const { file, text, whole } = src;
	const [set, setSet] = useState({}); // what was chosen rather than guessed
	const g = useMemo(() => {
		if (!text) return null;
		try {
			return guess(text, { name: file.name, whole, ...set });
		} catch (error) {
			return { error };
		}
	}, [text, set]);
	const db = params.db ?? '', table = params.table ?? tableName(file.name);
	const lists = usePoll((signal) => loadTables(signal, db), 0, [db]);
	const of = `${db}.${table}`;
	const target = usePoll(async (signal) => db ? { of, columns: await loadColumns(signal, db, table) } : null, 0, [of, changes.value]);
	const columns = target.data?.of === of ? target.data.columns : null; // not those of the table before
	const exists = columns?.length > 0;
	// What was changed of a new table: {types, key, sql}.
	const [draft, setDraft] = useState({});
	const change = (patch) => {
		setSet((s) => ({ ...s, ...patch }));
		setDraft({});
	};
	const list = lists.data?.databases ?? [];
	useEffect(() => { // the only database is the one
		if (!db && list.length === 1) setParams({ db: list[0] });
	}, [db, list.length]);
	const blind = { format: 'csv', delimiter: set.format === 'tsv' ? '\t' : ',', header: false, emptyNull: false, names: [], rows: [], columns: [], bad: new Map(), key: -1, newline: '\n', ...set };
	const form = g && !g.error ? g : blind;
	return html`
		<${Section} title=${file.name} tools=${html`<${Facts} list=${[['size', bytes(file.size)], src.compressed && ['compressed', src.compressed], g && !g.error && ['fields', number(form.names.length)]]} />`}>
			<div class="options">
				<${Select} label="Format" value=${form.format} options=${[['csv', 'CSV'], ['tsv', 'TSV, with backslashes'], ['ndjson', 'JSON lines']]} onChange=${(v) => { setSet({ format: v }); setDraft({}); }} />
				${form.format !== 'ndjson' && html`
					<${Select} label="Delimiter" value=${form.delimiter} options=${delimiterNames.some(([d]) => d === form.delimiter) ? delimiterNames : [...delimiterNames, [form.delimiter, form.delimiter]]} onChange=${(v) => change({ format: form.format, delimiter: v })} />
					${g && html`<${Check} label="The first line has names" value=${form.header} onChange=${(v) => change({ header: v })} />`}
					<${Check} label="Empty fields are NULL" value=${form.emptyNull} onChange=${(v) => change({ emptyNull: v })} />`}
			</div>
			<${Failure} error=${g?.error} />
			${src.compressed === 'zstd' && html`<p class="note"><${Icon} name="info" /> The browser cannot look into zstd. Choose a table that exists, and the form of the file${form.format === 'ndjson' ? '' : '; its first line may have the names of columns, else fields go into them in their order'}. For a new table, open a part of the file that is not compressed first.</p>`}
		<//>
		<${Section} title="Table">
			<div class="options">
				<${Select} label="Database" value=${db} options=${[['', '(choose one)'], ...(db && !list.includes(db) ? [db] : []), ...list]} onChange=${(v) => setParams({ db: v })} />
				<${Field} label="Table" inline><input value=${table} list="import-tables" spellcheck="false" onChange=${(e) => setParams({ table: e.target.value.trim() || undefined })} /><//>
				<datalist id="import-tables">${(lists.data?.tables ?? []).map((t) => html`<option value=${t} />`)}</datalist>
				<span role="status">${!db ? '' : target.loading ? '…' : exists ? 'It exists: rows are added.' : columns ? 'It does not exist: it is created.' : ''}</span>
			</div>
			<${Failure} error=${lists.error ?? target.error} />
			${!db && !lists.loading && !list.length && html`<${Empty}>There is no database in which this account may see something. CREATE DATABASE makes one.<//>`}
		<//>
		${db && columns && !g?.error && (exists
			? html`<${Existing} key=${`${of}.${form.header}.${form.names.length}`} src=${src} form=${form} db=${db} table=${table} columns=${columns} running=${running} />`
			: g && html`<${New} key=${`${of}.${form.format}.${form.header}.${form.delimiter}`} src=${src} form=${form} db=${db} table=${table} draft=${draft} onDraft=${(patch) => setDraft((d) => ({ ...d, ...patch }))} running=${running} />`)}`;
}

const Check = ({ label, value, onChange, ...rest }) => html`<label class="check"><input type="checkbox" checked=${value} onChange=${(e) => onChange(e.target.checked)} ...${rest} /> ${label}</label>`;

const typeList = ['INT', 'BIGINT', 'BIGINT UNSIGNED', 'DECIMAL(12,2)', 'DOUBLE', 'BOOLEAN', 'DATE', 'DATETIME', 'DATETIME(6)', 'VARCHAR(50)', 'VARCHAR(255)', 'TEXT', 'LONGTEXT', 'JSON', 'BINARY(16)', 'POINT'];

// examples are the first different values of a field.
function examples(rows, i) {
	const out = new Set();
	for (const r of rows) {
		if (r[i]) out.add(r[i].length > 40 ? r[i].slice(0, 40) + '…' : r[i]);
		if (out.size === 3) break;
	}
	return [...out].join(' · ');
}

function New({ src, form, db, table, draft, onDraft, running }) {
	const [error, setError] = useState(null);
	const key = draft.key ?? (form.key >= 0 ? [form.key] : []);
	const edited = draft.sql ?? null; // the statement, if it was written by hand
	const columns = form.columns.map((c, i) => ({ ...c, type: draft.types?.[i] ?? c.type, nullable: !key.includes(i) }));
	const sql = edited ?? createTable(db, table, columns, key.map((i) => columns[i].name));
	const first = columns[key[0]];
	const growing = !key.length || first && grows(form.rows.map((r) => r[key[0]] ?? null), first.type);
	const toggle = (i, on) => onDraft({ key: on ? [...key, i] : key.filter((x) => x !== i) });
	const target = columns.map((c) => c.name);
	const start = async (opts) => {
		setError(null);
		try {
			await query(sql, [], { db });
			const made = await loadColumns(undefined, db, table);
			// After edits of the statement the fields may have to be chosen by hand.
			if (made.length && !mapping(target, made, true).includes(-1)) await load({ ...opts, src, form, db, table, target, made: true });
			else notify('The table was created. Choose the columns of the fields.');
			changes.value++;
		} catch (e) {
			setError(e);
		}
	};
	return html`
		<${Section} title="Columns">
			<div class="import-scroll"><table class="import-columns"><thead><tr><th scope="col">key</th><th scope="col">column</th><th scope="col">type</th><th scope="col">values</th></tr></thead>
				<tbody>${columns.slice(0, mostColumns).map((c, i) => html`<tr key=${i}>
					<td><input type="checkbox" aria-label=${`${c.name} is part of the primary key`} checked=${key.includes(i)} disabled=${edited !== null || !canBeKey(c.type)} onChange=${(e) => toggle(i, e.target.checked)} />${key.length > 1 && key.includes(i) ? html` <small>${key.indexOf(i) + 1}</small>` : ''}</td>
					<td><b>${c.name}</b></td>
					<td><input aria-label=${`Type of ${c.name}`} list="import-types" spellcheck="false" value=${c.type} disabled=${edited !== null} onChange=${(e) => onDraft({ types: { ...draft.types, [i]: e.target.value.trim() || undefined } })} /></td>
					<td><code>${examples(form.rows, i)}</code>${c.note && html` <small class="muted">${c.note}</small>`}${key.includes(i) && c.nulls && html` <small class="warn">has NULL, which no key can have</small>`}</td>
				</tr>`)}</tbody></table></div>
			<datalist id="import-types">${typeList.map((t) => html`<option value=${t} />`)}</datalist>
			${columns.length > mostColumns && html`<p class="muted">${count(columns.length - mostColumns, 'more column')}: see the statement.</p>`}
			<p class="note"><${Icon} name=${growing ? 'warning' : 'key'} /> <span>${!key.length ? 'No column is the key: an id that counts up is added. ' : key.length === 1 ? html`The key is <b>${first.name}</b>. ` : html`The key is <b>${key.map((i) => columns[i].name).join(', ')}</b>, in this order. `}
				${growing ? html`New rows then all come to one end of the table. If many are written at once, <${Link} to=${['help', 'ddl']} params=${{ at: 'keys-that-spread-the-load' }}>begin the key with a column that spreads them<//>.` : 'Rows are stored in its order: those that are read together belong side by side.'}</span></p>
			<${Field} label="Statement"><textarea class="mono" rows=${Math.min(16, sql.split('\n').length)} spellcheck="false" value=${sql} onInput=${(e) => onDraft({ sql: e.target.value })}></textarea><//>
			${edited !== null && html`<p><${Button} onClick=${() => onDraft({ sql: undefined })}>Undo the edits<//></p>`}
		<//>
		<${Preview} form=${form} columns=${columns} src=${src} />
		<${Failure} error=${error} hint=${error?.code === 1142 || error?.code === 1044 ? `The account needs the privileges CREATE and INSERT on ${db}.` : error?.code === 1050 ? 'Choose another name, or load into that table.' : undefined} />
		<${Start} title="Create the table and load" onStart=${start} disabled=${running} to=${{ src, form, db, table, target }} fresh />`;
}

function Existing({ src, form, db, table, columns, running }) {
	const blind = !form.names.length; // a file that cannot be looked into
	const named = form.header || form.format === 'ndjson';
	const able = columns.map((c, i) => ({ name: c.name, i })).filter((c) => !columns[c.i].generated);
	const [where, setWhere] = useState(() => mapping(form.names, columns, named));
	const taken = new Set(where);
	const missing = columns.filter((c, i) => !c.generated && !taken.has(i));
	const choose = (i, c) => setWhere((w) => w.map((x, k) => k === i ? c : x));
	const failing = missing.filter((c) => c.needed);
	const out = form.names.filter((_, i) => where[i] < 0);
	const target = blind ? null : where.map((c) => c < 0 ? '' : columns[c].name);
	const used = where.filter((c) => c >= 0), twice = new Set(used).size < used.length;
	const start = async (opts) => {
		if (opts.replace && !await confirm({ title: `Replace rows of ${table}?`, text: 'Rows with the same primary or unique key are deleted, and the new ones take their place.', sql: `LOAD DATA … REPLACE INTO TABLE ${id(db)}.${id(table)}`, action: 'Load', danger: true })) return;
		await load({ ...opts, src, form, db, table, target });
	};
	return html`
		${!blind && html`<${Section} title="Fields">
			<div class="import-scroll"><table class="import-columns"><thead><tr><th scope="col">field</th><th scope="col">column</th><th scope="col">type</th><th scope="col">values</th></tr></thead>
				<tbody>${form.names.slice(0, mostColumns).map((n, i) => html`<tr key=${i}>
					<td><b>${n}</b></td>
					<td>${able.length > mostChoices
						? html`<input aria-label=${`Column of ${n}`} placeholder="(left out)" spellcheck="false" value=${columns[where[i]]?.name ?? ''} onChange=${(e) => choose(i, able.find((c) => c.name.toLowerCase() === e.target.value.trim().toLowerCase())?.i ?? -1)} />`
						: html`<select aria-label=${`Column of ${n}`} value=${String(where[i])} onChange=${(e) => choose(i, Number(e.target.value))}>
							<option value="-1" selected=${where[i] < 0}>(left out)</option>${able.map((c) => html`<option value=${String(c.i)} selected=${c.i === where[i]}>${c.name}</option>`)}</select>`}</td>
					<td><code>${columns[where[i]]?.type ?? ''}</code>${columns[where[i]]?.key && html` <small class="muted">key</small>`}</td>
					<td><code>${examples(form.rows, i)}</code></td>
				</tr>`)}</tbody></table></div>
			${out.length > 0 && html`<p class="note"><${Icon} name="info" /> <span>${count(out.length, 'field')} without a column: <b>${out.slice(0, 20).join(', ')}</b>${out.length > 20 ? '…' : ''}. ${out.length === 1 ? 'Its values are' : 'Their values are'} left out.</span></p>`}
			${missing.length > failing.length && html`<p class="note"><${Icon} name="info" /> <span>Columns without a field: <b>${missing.filter((c) => !c.needed).slice(0, 20).map((c) => c.name).join(', ')}</b>. They get their defaults${missing.some((c) => c.counts) ? ', and numbers that count up' : ''}.</span></p>`}
			${failing.length > 0 && html`<p class="note"><${Icon} name="warning" /> <span>No field for <b>${failing.slice(0, 20).map((c) => c.name).join(', ')}</b>, which ${failing.length === 1 ? 'has' : 'have'} no default.</span></p>`}
			${twice && html`<p class="note"><${Icon} name="warning" /> Two fields go into the same column.</p>`}
		<//>
		<${Preview} form=${form} columns=${where.map((c) => c < 0 ? null : columns[c])} src=${src} />`}
		<${Start} title="Load" onStart=${start} to=${{ src, form, db, table, target }} disabled=${running || twice || !blind && where.every((c) => c < 0)} />`;
}

const oneLine = (s) => s.replace(/\r?\n/g, ' ↵ ');

// Preview is the first rows, with what does not fit its column.
function Preview({ form, columns, src }) {
	const why = (v, i) => columns[i] ? misfit(columns[i].type, v === '' && form.emptyNull ? null : v, { nullable: columns[i].nullable || columns[i].counts, booleans: true }) : '';
	const wrong = useMemo(() => {
		const list = [...form.bad].map(([r, text]) => ({ row: r, text }));
		form.rows.forEach((row, r) => {
			if (form.bad.has(r)) return;
			for (let i = 0; i < columns.length; i++) {
				const text = i < row.length && why(row[i], i);
				if (text) return void list.push({ row: r, text: `${form.names[i]}: ${row[i] === null ? '' : `“${String(row[i]).slice(0, 60)}” `}${row[i] === null ? 'NULL in a column that has none' : text}` });
			}
		});
		return list.sort((a, b) => a.row - b.row);
	}, [form, JSON.stringify(columns.map((c) => c && [c.type, c.nullable]))]);
	const cols = form.names.slice(0, mostShown).map((name, i) => ({
		title: name, get: (r) => r[i], number: /^(INT|BIGINT|DECIMAL|DOUBLE)/i.test(columns[i]?.type ?? ''),
		cell: (v) => {
			if (v === undefined) return '';
			const bad = why(v, i);
			const shownValue = v === null || v === '' && form.emptyNull ? html`<i class="null">NULL</i>` : v === '' ? html`<i class="null">empty</i>` : oneLine(v.length > 200 ? v.slice(0, 200) + '…' : v);
			return bad ? html`<span class="misfit" title=${bad}><${Icon} name="warning" /> ${shownValue}</span>` : !columns[i] ? html`<span class="muted">${shownValue}</span>` : shownValue;
		},
	}));
	return html`<${Section} title="The first rows" tools=${html`<span class="muted">${count(form.rows.length, 'row')} ${src.whole ? 'in all' : `in the first ${bytes(sampleSize)}`}</span>`}>
		${form.rows.length ? wrong.length
			? html`<div class="note"><${Icon} name="warning" /><div>${wrong.length === 1 ? 'One of them does not fit:' : `${number(wrong.length)} of them do not fit:`}<ul>${wrong.slice(0, 5).map((w) => html`<li>row ${w.row + 1}: ${w.text}</li>`)}</ul></div></div>`
			: html`<p class="note"><${Icon} name="check" /> All of them fit.</p>` : ''}
		<${Table} label="The first rows" columns=${cols} rows=${form.rows} empty="The file has no rows." />
		${form.format === 'ndjson' && !src.whole && html`<p class="note"><${Icon} name="info" /> Keys that come only later in the file are left out.</p>`}
	<//>`;
}

function Start({ title, onStart, disabled, fresh, to }) {
	const [rejects, setRejects] = useState('0');
	const [replace, setReplace] = useState(false);
	const [busy, setBusy] = useState(false);
	const start = async () => {
		setBusy(true);
		await onStart({ rejects, replace });
		setBusy(false);
	};
	return html`<div class="options start">
		<${Button} kind="main" icon="upload" disabled=${disabled || busy} onClick=${start}>${title}<//>
		<${Select} label="If records do not fit" value=${rejects} options=${[['0', 'load nothing'], ['100', 'leave out up to 100'], ['10000', 'leave out up to 10,000']]} onChange=${setRejects} />
		${!fresh && html`<${Check} label="Replace rows with the same key" value=${replace} onChange=${setReplace} />`}
	</div>
	<details class="section"><summary>The same by curl</summary><pre class="text" tabindex="0">${`curl -u ${shell((account.value?.user ?? '').replace(/@.*/, ''))} -T ${shell(to.src.file.name)} ${shell(location.origin + addressOf({ ...to, rejects, replace }))}`}</pre></details>`;
}

const shell = (s) => /^[\w.-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`;

const addressOf = ({ form, db, table, target, rejects, replace }) => address({ db, table, form, names: form.names, target, rejects, replace });

// load sends the file; what becomes of it is in job.
function load({ src, form, db, table, target, made, ...opts }) {
	return attempt({ user: account.peek().user, file: src.file, compressed: src.compressed, form, db, table, made, token: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`, url: addressOf({ form, db, table, target, ...opts }) });
}

async function attempt(base) {
	const control = new AbortController();
	job.value = { ...base, control, sent: 0, started: Date.now(), answer: null, error: null };
	const set = (patch) => {
		if (job.peek()?.control !== control) return;
		job.value = { ...job.peek(), ...patch };
		if (!runs(job.peek()) && place.peek().path[0] !== 'import') notify(patch.error ? `The load into ${base.table} failed.` : `The load into ${base.table} is done.`);
	};
	try {
		const answer = await send(base.url, base.file, { token: base.token, signal: control.signal, onProgress: (sent) => set({ sent }) });
		set({ answer });
	} catch (error) {
		set({ error });
	}
}

function Job() {
	const j = job.value;
	const [, tick] = useState(0);
	const going = runs(j), size = j.file.size;
	const box = useRef(null);
	useEffect(() => {
		box.current?.scrollIntoView({ block: 'nearest' });
		if (!going) return undefined;
		const t = setInterval(() => tick((n) => n + 1), 500);
		return () => clearInterval(t);
	}, [going]);
	const seconds = (Date.now() - j.started) / 1000;
	const share = Math.min(1, j.sent / size);
	const speed = j.sent / Math.max(seconds, 0.1);
	if (going) {
		return html`<div class="job" ref=${box}>
			<b>Loading ${j.file.name} into ${j.table}</b>
			<div class="options"><${Progress} label="Sent" value=${share < 1 ? share : null} />
				<span role="status">${share < 1 ? `${bytes(j.sent)} of ${bytes(size)}, ${bytes(speed)} a second${seconds > 3 && speed ? `, ${duration(Math.ceil((size - j.sent) / speed))} left` : ''}` : `All is sent. The server checks keys and stores the rows: ${duration(Math.floor(seconds))}`}</span>
				<${Button} kind="danger" icon="stop" onClick=${() => j.control.abort()}>Cancel<//></div>
		</div>`;
	}
	if (j.error) {
		return html`<div ref=${box}><${Failure} error=${j.error} hint=${advice(j)} />
			${unsure(j) && html`<p><${Button} icon="refresh" onClick=${() => attempt(j)}>Try again<//> <span class="muted">What the server has loaded is not loaded twice.</span></p>`}
			${j.made && !unsure(j) && html`<p>The table <b>${j.table}</b> was created, and is empty. <${Button} icon="trash" onClick=${() => unmake(j)}>Drop it, to change its columns<//></p>`}</div>`;
	}
	const a = j.answer;
	return html`<div ref=${box}>
		<div class="done-load"><${Icon} name="check" /><span>${a.loaded_before ? 'This was loaded before: nothing was done.' : html`<b>${count(a.rows, 'row')}</b> loaded into ${j.table} in ${duration(a.elapsed_ms / 1000)}${a.rows > 1000 && a.elapsed_ms > 0 ? `, ${short(a.rows / a.elapsed_ms * 1000)} a second` : ''}.`}</span>
			<${Link} to="/sql" params=${{ db: j.db, q: `SELECT * FROM ${id(j.table)} LIMIT 100` }}>Look at them in SQL<//></div>
		${a.rejects.length > 0 && html`<${Rejects} j=${j} />`}
	</div>`;
}

// unsure: the load has failed, and may have been done all the same.
const unsure = (j) => !j.error.code || j.error.code === 1317 && j.sent >= j.file.size;

async function unmake(j) {
	const sql = `DROP TABLE ${id(j.db)}.${id(j.table)}`;
	if (!await confirm({ title: `Drop ${j.table}?`, sql, action: 'Drop', danger: true })) return;
	try {
		await query(sql);
		job.value = null;
		changes.value++;
	} catch (error) {
		job.value = { ...j, error };
	}
}

function advice(j) {
	switch (j.error.code) {
	case 1142: case 1044: return `The account needs the privilege INSERT on ${j.db}.${j.table}${/replace=1/.test(j.url) ? ', and DELETE to replace rows' : ''}.`;
	case 1317: return unsure(j) ? 'If the server was done before, the rows are there.' : 'Nothing was loaded.';
	case 0: return undefined;
	case 1062: case 1366: case 1292: case 1406: case 1264: case 1265: case 1261: case 1262: case 1048: case 3140: case 3819:
		return 'Nothing was loaded. Correct the record or the column, or let records that do not fit be left out.';
	default: return 'Nothing was loaded.';
	}
}

// Rejects are records that were left out, with their texts, which are read in the file again.
function Rejects({ j }) {
	const list = j.answer.rejects;
	const texts = usePoll(async () => j.compressed === 'zstd' ? new Map() : pick(j.file, j.compressed === 'gzip', j.form, list.map((r) => r.line)), 0, [j.token]);
	const record = (r) => texts.data?.get(r.line) ?? '';
	const name = j.file.name.replace(/\.(gz|zst|zstd|gzip)$/i, '');
	const rejected = () => {
		const head = j.form.header && texts.data.has(0) ? [texts.data.get(0)] : [];
		save([[...head, ...list.map(record)].map((r) => r + j.form.newline).join('')], 'rejected-' + name, 'text/plain');
	};
	const reasons = () => save([list.map((r) => [r.line, r.code, r.message].join('\t').replace(/\n/g, ' ') + '\n').join('')], 'rejected-' + name + '.reasons', 'text/tab-separated-values');
	const columns = [{ title: 'record', get: (r) => r.line, number: true, width: 8 }, { title: 'error', get: (r) => r.code, number: true, width: 6 }, { title: 'reason', get: (r) => r.message, width: 56 }, { title: 'text', get: record, width: 80, cell: oneLine }];
	return html`<${Section} title=${`${count(list.length, 'record')} left out`} tools=${html`
			<${Button} icon="download" disabled=${!texts.data?.size} onClick=${rejected}>Records<//><${Button} icon="download" onClick=${reasons}>Reasons<//>
			<${Button} icon="copy" onClick=${() => copy(list.map((r) => `${r.line}\t${r.code}\t${r.message}`).join('\n'))}>Copy<//>`}>
		<${Failure} error=${texts.error} />
		<${Table} label="Records that were left out" columns=${columns} rows=${list} />
	<//>`;
}
