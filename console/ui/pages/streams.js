// Streams: the change logs of tables, their consumers, and the last changes.
import { html, useMemo, useState } from '../vendor/preact.js';
import { query, text } from '../api.js';
import { bytes, count, duration, number } from '../format.js';
import { Link, go, setParams } from '../router.js';
import { Table } from '../table.js';
import { usePoll } from '../data.js';
import { Badge, Button, Dialog, Empty, Facts, Field, Menu, Page, Section } from '../ui.js';
import { Detail, Search, Split, Trouble, has, sorting, useAct, useRows } from '../ops/ops.js';

const every = 3000;
const records = 50;

const logs = `SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tab, STREAM_ID AS id, STATE AS state, RETENTION_SECONDS AS retention, MAX_BYTES AS most, FIRST_SEQ AS first, LAST_SEQ AS last, PURGED_SEQ AS purged, FIRST_TIME AS first_time, LAST_TIME AS last_time, TIMESTAMPDIFF(SECOND, LAST_TIME, NOW()) AS ago, BYTES AS bytes FROM information_schema.SQLOTS_STREAMS ORDER BY TABLE_SCHEMA, TABLE_NAME, STREAM_ID DESC LIMIT 10000`;
const readers = `SELECT CONSUMER_NAME AS name, TABLE_SCHEMA AS db, TABLE_NAME AS tab, SEQ AS seq, ORDINAL AS ordinal, CHECKPOINT_TIME AS at, LAG_SECONDS AS late, STATE AS state FROM information_schema.SQLOTS_STREAM_CONSUMERS ORDER BY LAG_SECONDS DESC LIMIT 10000`;

const ago = (v) => v === null ? '' : Number(v) < 1 ? 'now' : duration(v) + ' ago';
const name = (s) => `${s.db}.${s.tab}`;

const columns = [
	{ key: 'table', title: 'table', get: name, width: 30, cell: (v, s) => html`<${Link} to=${['streams', s.db, s.tab]} tabindex="-1">${v}<//>` },
	{ key: 'state', title: 'state', get: (s) => s.state, width: 8, cell: (v) => html`<${Badge} kind=${v === 'live' ? 'good' : ''}>${v}<//>` },
	{ key: 'consumers', title: 'consumers', get: (s) => s.consumers.length, number: true, width: 10, cell: (v) => v || '' },
	{ key: 'lag', title: 'most behind', get: (s) => s.lag, number: true, width: 16, cell: (v, s) => s.lost ? html`<${Badge} kind="bad">lost records<//>` : v === null ? '' : v > 0 ? duration(v) : 'none' },
	{ key: 'last', title: 'last record', get: (s) => s.last_time, width: 16, cell: (v, s) => ago(s.ago) },
	{ key: 'bytes', title: 'size', get: (s) => s.bytes, number: true, width: 18, cell: (v, s) => bytes(v) + (s.most ? ' of ' + bytes(s.most) : '') },
	{ key: 'retention', title: 'kept for', get: (s) => s.retention, number: true, width: 12, cell: (v) => duration(v) },
	{ key: 'from', title: 'first sequence', get: (s) => s.first, number: true, width: 14, cell: (v) => v ?? '' },
	{ key: 'to', title: 'last sequence', get: (s) => s.last, number: true, width: 14, cell: (v) => v ?? '' },
];

export default function Streams({ path, params }) {
	const list = useRows(logs, [], every), consumers = useRows(readers, [], every);
	const refresh = () => {
		list.refresh();
		consumers.refresh();
	};
	const all = useMemo(() => {
		const of = new Map();
		for (const c of consumers.data ?? []) of.set(name(c), [...of.get(name(c)) ?? [], c]);
		return list.data?.map((s, i) => {
			const mine = list.data.findIndex((o) => name(o) === name(s)) === i ? of.get(name(s)) ?? [] : []; // of several logs of a name the newest
			return { ...s, consumers: mine, lag: mine.length ? Math.max(...mine.map((c) => Number(c.late))) : null, lost: mine.some((c) => c.state === 'purged') };
		});
	}, [list.data, consumers.data]);
	if (path.length === 2) {
		const s = all?.find((x) => x.db === path[0] && x.tab === path[1]);
		return html`<${Page} title=${`Stream ${path.join('.')}`} tools=${html`<${Link} class="button" to="/streams">All streams<//>`}>
			<${Trouble} error=${list.error ?? consumers.error} />
			${all && !s && html`<${Empty}>This table has no change log, or you may not see it. <code>ALTER TABLE … SECONDARY_ENGINE_ATTRIBUTE='{"stream": {"retention": "24h"}}'</code> turns one on.<//>`}
			${s && html`<${Stream} key=${s.id} s=${s} params=${params} refresh=${refresh} />`}
		<//>`;
	}
	const shown = all?.filter((s) => has(params.find, name(s), ...s.consumers.map((c) => c.name)));
	return html`<${Page} title="Streams" tools=${html`<${Search} value=${params.find} label="Search streams" />`}>
		<${Trouble} error=${list.error ?? consumers.error} />
		${all?.length === 0 ? html`<${Empty}>No table that you see keeps a log of its changes. <code>ALTER TABLE … SECONDARY_ENGINE_ATTRIBUTE='{"stream": {"retention": "24h"}}'</code> turns one on.<//>`
			: html`<${Table} label="Streams" columns=${columns} rows=${shown} ...${sorting(params, columns)} onOpen=${(s) => go(['streams', s.db, s.tab])} empty="No stream is found." /><p class="note">Enter or a double click on a line shows consumers and records.</p>`}
	<//>`;
}

// place is where a sequence is between the first and last one, from 0 to 1.
function place(seq, s) {
	const first = BigInt(s.first ?? 0) - 1n, last = BigInt(s.last ?? 0), at = BigInt(seq);
	if (last <= first || at >= last) return 1;
	if (at <= first) return 0;
	return Number((at - first) * 10000n / (last - first)) / 10000;
}

function Stream({ s, params, refresh }) {
	const act = useAct(refresh);
	const [adding, setAdding] = useState(false);
	const [limit, setLimit] = useState(30);
	const full = text(name(s));
	const before = s.first === null ? '0' : String(BigInt(s.first) - 1n);
	const call = (sql, more) => act.run({ sql, action: 'Run', ...more });
	const actions = (c) => [
		{ title: 'To the end: skip what is there', icon: 'right', run: () => call(`CALL sqlots.stream_checkpoint(${text(c.name)}, ${s.last ?? 0})`, { title: `Move ${c.name} to the end?`, text: 'It will not read the records that are there now.', done: 'The consumer is at the end.' }) },
		{ title: 'To the first record', icon: 'history', run: () => call(`CALL sqlots.stream_checkpoint(${text(c.name)}, ${before})`, { title: `Move ${c.name} to the first record?`, text: 'It will read again what it has read.', done: 'The consumer is at the first record.' }) },
		null,
		{ title: 'Drop it', icon: 'trash', run: () => call(`CALL sqlots.stream_drop_consumer(${text(c.name)})`, { title: `Drop the consumer ${c.name}?`, text: 'Its position is lost.', action: 'Drop', done: 'The consumer was dropped.' }) },
	];
	const shown = s.consumers.slice(0, limit);
	return html`
		${act.view}
		<${Facts} list=${[['state', html`<${Badge} kind=${s.state === 'live' ? 'good' : ''}>${s.state}<//>`], ['first sequence', s.first ?? 'none'], ['last sequence', s.last ?? 'none'], ['last record', ago(s.ago) || 'none'], ['first record', s.first_time ?? 'none'],
			['size', bytes(s.bytes) + (s.most ? ' of ' + bytes(s.most) : '')], ['kept for', duration(s.retention)], s.purged && ['removed up to', s.purged]]} />
		<${Section} title="Consumers" tools=${html`<${Button} class="small" icon="plus" onClick=${() => setAdding(true)}>New consumer<//>`}>
			${s.consumers.length === 0 ? html`<${Empty}>No consumer has a position in this log.<//>` : html`<div class="lanes" role="group" aria-label="Positions of consumers">
				<span></span><span class="ends"><span>${s.first ?? ''}</span><span>${s.last ?? ''}</span></span><span></span><span></span>
				${shown.map((c) => html`<${Lane} key=${c.name} c=${c} s=${s} actions=${actions(c)} />`)}
			</div>`}
			${s.consumers.length > limit && html`<${Button} onClick=${() => setLimit(limit + 200)}>Show more of ${number(s.consumers.length)}<//>`}
		<//>
		<${Records} s=${s} params=${params} onPurge=${(seq) => call(`CALL sqlots.stream_purge(${full}, ${seq})`, { title: `Remove the records up to ${seq}?`, text: 'Consumers that have not read them lose them.', action: 'Remove', done: 'The records were removed.' })} />
		${adding && html`<${Adding} s=${s} onClose=${() => setAdding(false)} run=${async (sql) => { setAdding(false); await call(sql, { title: 'Make a consumer?', danger: false, action: 'Make it', done: 'The consumer was made.' }); }} />`}`;
}

// Lane is a consumer as a line from the first to the last record, with a dot where it is.
function Lane({ c, s, actions }) {
	const x = place(c.seq, s), lag = Number(c.late), purged = c.state === 'purged';
	const at = `${(x * 100).toFixed(2)}%`;
	return html`<b>${c.name}</b>
		<svg class=${purged ? 'purged' : ''} role="img" aria-label=${`${c.name} is at ${Math.round(x * 100)} % of the log`}><title>${`Commit ${c.seq}, since ${c.at}`}</title>
			<line class="track" x1="0" x2="100%" y1="9" y2="9" /><line class="done" x1="0" x2=${at} y1="9" y2="9" /><circle cx=${at} cy="9" r="6" /></svg>
		<span>${purged ? html`<${Badge} kind="bad">lost records<//>` : lag > 0 ? html`<${Badge} kind="warn">${duration(lag)} behind<//>` : html`<${Badge} kind="good">up to date<//>`} <small class="muted">${c.seq === '0' ? 'not begun' : `commit ${c.seq}`}</small></span>
		<${Menu} kind="bare" icon="menu" label=${`Move or drop ${c.name}`} items=${actions} />`;
}

function Adding({ s, onClose, run }) {
	const [called, setCalled] = useState(''), [from, setFrom] = useState('first');
	const sql = `CALL sqlots.stream_consumer(${text(called)}, ${text(name(s))}${from === 'end' ? `, ${s.last ?? 0}` : ''})`;
	return html`<${Dialog} title="New consumer" onClose=${onClose} foot=${html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" disabled=${!called} onClick=${() => run(sql)}>Go on<//>`}>
		<${Field} label="Name"><input value=${called} onInput=${(e) => setCalled(e.target.value)} autofocus /><//>
		<${Field} label="Begins"><select value=${from} onChange=${(e) => setFrom(e.target.value)}><option value="first">with the first record that is kept</option><option value="end">after the last record</option></select><//>
		<pre class="sql" tabindex="0">${sql}</pre>
	<//>`;
}

const show = (v) => v === undefined ? '' : v === null ? 'NULL' : typeof v === 'string' ? v : JSON.stringify(v);
const parse = (v) => typeof v === 'string' ? JSON.parse(v) : v;

// fields are the columns of a record: [name, before, after, whether they differ].
function fields(r) {
	const a = r.before ?? {}, b = r.after ?? {};
	return [...new Set([...Object.keys(a), ...Object.keys(b)])].map((k) => [k, a[k], b[k], !!r.before && !!r.after && show(a[k]) !== show(b[k])]);
}

const clip = (s) => s.length > 60 ? s.slice(0, 60) + '…' : s;

// summary is what a record changes, on one line.
function summary(r) {
	const list = fields(r);
	if (r.kind === 'update') return list.filter((f) => f[3]).map(([k, a, b]) => `${k}: ${clip(show(a))} → ${clip(show(b))}`).join(', ') || 'no column';
	return list.slice(0, 12).map(([k, a, b]) => `${k}: ${clip(show(b === undefined ? a : b))}`).join(', ');
}

const kinds = { insert: 'good', update: 'warn', delete: 'bad' };
const recordColumns = [
	{ title: 'commit', get: (r) => r.seq, number: true, width: 12 }, { title: 'record', get: (r) => r.ordinal, number: true, width: 8 }, { title: 'time', get: (r) => r.time, width: 24, cell: (v) => v?.slice(0, 23) ?? '' },
	{ title: 'kind', get: (r) => r.kind, width: 9, cell: (v) => html`<${Badge} kind=${kinds[v] ?? ''}>${v}<//>` }, { title: 'key', get: (r) => r.pk, width: 24, cell: (v) => v === null ? '' : Object.values(v).map(show).join(', ') },
	{ title: 'what changed', get: summary, width: 80, cell: (v) => v },
];

const narrowRecords = recordColumns.filter((c) => !['record', 'time'].includes(c.title)); // with details next to them

const idOf = (r) => `${r.seq}.${r.ordinal}`;

function Records({ s, params, onPurge }) {
	// A table name may have a dot: then the log cannot be named together with its database.
	const sql = `SELECT seq, ordinal, commit_time, kind, pk, before_image, after_image FROM stream(${text(s.tab.includes('.') ? s.tab : name(s))}) ORDER BY seq DESC, ordinal DESC LIMIT ${records}`;
	const list = usePoll(async (signal) => (await query(sql, [], { db: s.db, signal })).rows.map(([seq, ordinal, time, kind, pk, before, after]) => ({ seq, ordinal, time, kind, pk: parse(pk), before: parse(before), after: parse(after) })), 0, [sql, s.last, s.first]);
	const chosen = params.record && list.data?.find((r) => idOf(r) === params.record);
	return html`<${Section} title=${`The last ${records} records`} tools=${html`<${Link} class="button small" to="/sql" params=${{ db: s.db, q: sql }}>Open in SQL<//>`}>
		<${Trouble} error=${list.error} needs="Records need SELECT on the table." />
		<${Split} detail=${chosen && html`<${Detail} title=${`Commit ${chosen.seq}, record ${chosen.ordinal}`} onClose=${() => setParams({ record: undefined })}>
			<p><${Badge} kind=${kinds[chosen.kind] ?? ''}>${chosen.kind}<//> <span class="muted">${chosen.time}</span></p>
			<table class="images"><thead><tr><th scope="col">column</th><th scope="col">before</th><th scope="col">after</th></tr></thead>
				<tbody>${fields(chosen).map(([k, a, b, changed]) => html`<tr key=${k} class=${changed ? 'changed' : ''}><th scope="row">${k}</th><td>${show(a).slice(0, 2000)}</td><td>${show(b).slice(0, 2000)}</td></tr>`)}</tbody></table>
			<p class="note">${chosen.before && chosen.after ? count(fields(chosen).filter((f) => f[3]).length, 'column') + ' changed.' : ''}</p>
			<div class="buttons"><${Button} class="small" icon="trash" onClick=${() => onPurge(chosen.seq)}>Remove the records up to here<//></div>
		<//>`}>
			${list.data && html`<${Table} label="Records" columns=${chosen ? narrowRecords : recordColumns} rows=${list.data} selected=${chosen || undefined} onOpen=${(r) => setParams({ record: idOf(r) })} empty="The log has no records." />`}
		<//>
	<//>`;
}
