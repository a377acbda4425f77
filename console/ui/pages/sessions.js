// Sessions: what connections do, their transactions and locks, and who waits for whom.
import { html, useMemo, useState } from '../vendor/preact.js';
import { query, text } from '../api.js';
import { count, duration, number } from '../format.js';
import { Link, go, setParams } from '../router.js';
import { Table } from '../table.js';
import { Badge, Button, Empty, Facts, Page, Section, Select, Tabs } from '../ui.js';
import { Detail, Search, Split, Trouble, has, isRefusal, oneLine, sorting, useAct, useRows } from '../ops/ops.js';

const every = 2000;
const most = 2000; // characters of a statement in a list

const processes = `SELECT ID AS id, USER AS user, HOST AS host, DB AS db, COMMAND AS command, TIME AS time, STATE AS state, LEFT(INFO, ${most}) AS info, ID = CONNECTION_ID() AS own, USER = SUBSTRING_INDEX(USER(), '@', 1) AS mine FROM information_schema.PROCESSLIST ORDER BY COMMAND = 'Sleep', TIME DESC LIMIT 10000`;
const attributes = (table) => `SELECT PROCESSLIST_ID AS id, ATTR_NAME AS name, ATTR_VALUE AS value FROM performance_schema.${table} WHERE ATTR_NAME IN ('program_name', '_client_name') LIMIT 20000`;
const transactions = `SELECT trx_id AS id, trx_mysql_thread_id AS thread, trx_state AS state, TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS age, trx_rows_locked AS locked, trx_rows_modified AS changed, trx_isolation_level AS isolation, trx_is_read_only AS readonly, LEFT(trx_query, ${most}) AS info FROM information_schema.INNODB_TRX ORDER BY trx_started LIMIT 10000`;
const rowWaits = `SELECT waiting_pid AS waiter, blocking_pid AS blocker, wait_age_secs AS age, locked_table_schema AS db, locked_table_name AS tab, locked_index AS part, waiting_lock_mode AS mode, blocking_lock_mode AS held FROM sys.innodb_lock_waits LIMIT 5000`;
const tableWaits = `SELECT waiting_pid AS waiter, blocking_pid AS blocker, waiting_query_secs AS age, object_schema AS db, object_name AS tab, 'the whole table' AS part, waiting_lock_type AS mode, blocking_lock_type AS held FROM sys.schema_table_lock_waits LIMIT 5000`;
const locks = `SELECT THREAD_ID AS thread, ENGINE_TRANSACTION_ID AS trx, CONCAT_WS('.', OBJECT_SCHEMA, OBJECT_NAME) AS tab, INDEX_NAME AS part, LOCK_MODE AS mode, LOCK_STATUS AS status, LOCK_DATA AS data FROM performance_schema.data_locks ORDER BY LOCK_STATUS DESC LIMIT 1000`;
const metadata = `SELECT OWNER_THREAD_ID AS thread, CONCAT_WS('.', OBJECT_SCHEMA, OBJECT_NAME) AS tab, LOCK_TYPE AS mode, LOCK_STATUS AS status FROM performance_schema.metadata_locks ORDER BY LOCK_STATUS DESC LIMIT 1000`;

const shows = [['running', 'running or in a transaction'], ['all', 'all'], ['mine', 'of this account'], ['http', 'over HTTP']];

const columns = [
	{ key: 'id', title: 'id', get: (p) => p.id, number: true, width: 15, cell: (v, p) => html`${p.own === 1 || p.own === '1' ? html`<${Badge} kind="good">this page<//> ` : ''}${v}` },
	{ key: 'user', title: 'account', get: (p) => p.user, width: 14 },
	{ key: 'host', title: 'host', get: (p) => p.host, width: 16 },
	{ key: 'db', title: 'database', get: (p) => p.db, width: 13, cell: (v) => v ?? '' },
	{ key: 'command', title: 'command', get: (p) => p.command, width: 9 },
	{ key: 'time', title: 'for', get: (p) => p.time, number: true, width: 11, cell: (v) => duration(v) },
	{ key: 'state', title: 'state', get: (p) => p.state, width: 18, cell: (v) => v ?? '' },
	{ key: 'trx', title: 'transaction', hint: 'How long it is open', get: (p) => p.trx?.age ?? null, number: true, width: 14, cell: (v, p) => v === null ? '' : html`${p.trx.state === 'LOCK WAIT' ? html`<${Badge} kind="bad">waits<//> ` : ''}${duration(v)}` },
	{ key: 'program', title: 'program', get: (p) => p.program, width: 18, cell: (v, p) => html`${p.http ? html`<${Badge}>HTTP<//> ` : ''}${v ?? ''}` },
	{ key: 'info', title: 'statement', get: (p) => p.info, width: 70, cell: (v) => oneLine(v) ?? '' },
];

const narrow = columns.filter((c) => c.key !== 'host' && c.key !== 'program'); // with details next to them

const trxColumns = [
	{ key: 'thread', title: 'connection', get: (t) => t.thread, number: true, width: 10 },
	{ key: 'age', title: 'open for', get: (t) => t.age, number: true, width: 11, cell: (v) => duration(v) },
	{ key: 'state', title: 'state', get: (t) => t.state, width: 12, cell: (v) => v === 'LOCK WAIT' ? html`<${Badge} kind="bad">waits for a lock<//>` : v.toLowerCase() },
	{ key: 'locked', title: 'rows locked', get: (t) => t.locked, number: true, width: 11, cell: number },
	{ key: 'changed', title: 'rows changed', get: (t) => t.changed, number: true, width: 12, cell: number },
	{ key: 'isolation', title: 'isolation', get: (t) => t.isolation, width: 17, cell: (v, t) => v.toLowerCase() + (Number(t.readonly) ? ', read only' : '') },
	{ key: 'user', title: 'account', get: (t) => t.process?.user, width: 14 },
	{ key: 'info', title: 'statement', get: (t) => t.info, width: 70, cell: (v) => oneLine(v) ?? html`<i class="null">idle</i>` },
];

const lockColumns = [
	{ title: 'connection', get: (l) => l.thread, number: true, width: 10 }, { title: 'table', get: (l) => l.tab, width: 26 }, { title: 'index', get: (l) => l.part, width: 16 },
	{ title: 'mode', get: (l) => l.mode, width: 20 }, { title: 'status', get: (l) => l.status, width: 10, cell: (v) => v === 'WAITING' ? html`<${Badge} kind="bad">waits<//>` : v.toLowerCase() },
	{ title: 'key', get: (l) => l.data, width: 40 },
];
const metadataColumns = [
	{ title: 'connection', get: (l) => l.thread, number: true, width: 10 }, { title: 'table', get: (l) => l.tab, width: 32 },
	{ title: 'mode', get: (l) => l.mode, width: 26 }, { title: 'status', get: (l) => l.status, width: 10, cell: (v) => v === 'PENDING' ? html`<${Badge} kind="bad">waits<//>` : v.toLowerCase() },
];

// killing are the questions before a KILL.
const killing = (p) => ({
	query: { title: `End the statement of connection ${p.id}?`, text: 'The connection stays.', sql: `KILL QUERY ${p.id}`, action: 'End the statement', done: 'The statement was ended.' },
	connection: { title: `Close connection ${p.id}${p.user ? ' of ' + p.user : ''}?`, text: 'Its statement ends, and its transaction is rolled back.', sql: `KILL ${p.id}`, action: 'Close the connection', done: 'The connection was closed.' },
});

export default function Sessions({ path, params }) {
	const tab = params.tab ?? 'sessions', show = params.show ?? 'running';
	const list = useRows(processes, [], every);
	const trx = useRows(transactions, [], every);
	const allAttributes = useRows(attributes('session_connect_attrs'), [], 10_000);
	const ownAttributes = useRows(isRefusal(allAttributes.error) ? attributes('session_account_connect_attrs') : null, [], 10_000);
	const waiting = isRefusal(trx.error) ? list.data?.some((p) => p.command !== 'Sleep' && !Number(p.own)) : trx.data?.some((t) => t.state === 'LOCK WAIT');
	const rows = useRows(waiting ? rowWaits : null, [], every);
	const tables = useRows(list.data?.some((p) => p.state?.startsWith('Waiting for table')) ? tableWaits : null, [], every);
	const refresh = () => {
		list.refresh();
		trx.refresh();
		if (waiting) rows.refresh();
	};
	const act = useAct(refresh);

	const all = useMemo(() => {
		const programs = new Map(), http = new Set(), open = new Map();
		for (const a of allAttributes.data ?? ownAttributes.data ?? []) {
			if (a.name === 'program_name') programs.set(a.id, a.value);
			else if (a.value === 'http') http.add(a.id);
		}
		for (const t of trx.data ?? []) open.set(t.thread, t);
		return list.data?.map((p) => ({ ...p, program: programs.get(p.id) ?? null, http: http.has(p.id) || Number(p.own) === 1, trx: open.get(p.id) }));
	}, [list.data, trx.data, allAttributes.data, ownAttributes.data]);
	const byId = useMemo(() => new Map(all?.map((p) => [p.id, p])), [all]);
	const shown = useMemo(() => all?.filter((p) => (show === 'all' || (show === 'mine' ? Number(p.mine) : show === 'http' ? p.http : p.command !== 'Sleep' || p.trx))
		&& has(params.find, p.id, p.user, p.host, p.db, p.state, p.info, p.program)), [all, show, params.find]);
	const openTrx = useMemo(() => trx.data?.map((t) => ({ ...t, process: byId.get(t.thread) })).filter((t) => has(params.find, t.thread, t.process?.user, t.info)), [trx.data, byId, params.find]);

	const waits = useMemo(() => [...rows.data ?? [], ...tables.data ?? []], [rows.data, tables.data]);
	const id = path[0];
	const choose = (i) => go(i === undefined ? ['sessions'] : ['sessions', i], params);
	const kill = (p, what) => act.run(killing(p)[what]);
	const detail = id !== undefined && all && html`<${Connection} key=${id} id=${id} p=${byId.get(id)} onClose=${() => choose()} kill=${kill} />`;
	const wide = detail ? narrow : columns;
	return html`<${Page} title="Sessions" tools=${html`<${Search} value=${params.find} label="Search sessions" />`}>
		<${Trouble} error=${list.error} />
		${act.view}
		<${Trouble} error=${rows.error} needs="Who waits for whom needs SELECT on sys." />
		<${Trouble} error=${tables.error} needs="Who waits for a table needs SELECT on sys and performance_schema." />
		${waits.length > 0 && html`<${Waits} list=${waits} byId=${byId} kill=${kill} />`}
		<${Tabs} label="What is shown" open=${tab} onOpen=${(t) => setParams({ tab: t === 'sessions' ? undefined : t })}
			list=${[{ id: 'sessions', title: 'Sessions', badge: all && number(all.length) }, { id: 'transactions', title: 'Transactions', badge: trx.data && number(trx.data.length) }, { id: 'locks', title: 'Locks' }]}>
			${tab === 'sessions' && html`<div class="toolbar"><${Select} label="Show" value=${show} options=${shows} onChange=${(v) => setParams({ show: v === 'running' ? undefined : v })} />
				${all && shown.length < all.length && html`<span class="muted">${count(all.length - shown.length, 'other')} not shown</span>`}</div>`}
			${tab === 'transactions' && html`<${Trouble} error=${trx.error} needs="Transactions need the privilege PROCESS." />`}
			<${Split} detail=${detail}>
				${tab === 'sessions' && html`<${Table} label="Sessions" columns=${wide} rows=${shown} ...${sorting(params, wide)} onOpen=${(p) => choose(p.id)} selected=${byId.get(id)} empty="No session." />`}
				${tab === 'transactions' && trx.data && html`<${Table} label="Transactions" columns=${trxColumns} rows=${openTrx} ...${sorting(params, trxColumns)} onOpen=${(t) => choose(t.thread)} empty="No transaction is open." />`}
				${tab === 'locks' && html`<${Locks} onOpen=${(l) => l.thread && choose(l.thread)} />`}
				<p class="note">Enter or a double click on a line shows the connection.</p>
			<//>
		<//>
	<//>`;
}

// forest is the waits as trees: {id, wait, also, children}. Who waits for several is below one
// that does not wait itself, if there is such a one.
function forest(list) {
	const of = new Map(); // waiter: its waits
	for (const w of list) {
		if (!of.has(w.waiter)) of.set(w.waiter, []);
		of.get(w.waiter).push(w);
	}
	const below = new Map(); // blocker: nodes
	for (const [id, waits] of of) {
		const wait = waits.find((w) => !of.has(w.blocker)) ?? waits[0];
		const also = [...new Set(waits.map((w) => w.blocker))].filter((b) => b !== wait.blocker);
		if (!below.has(wait.blocker)) below.set(wait.blocker, []);
		below.get(wait.blocker).push({ id, wait, also });
	}
	const seen = new Set();
	const grow = (node) => {
		seen.add(node.id);
		return { ...node, children: (below.get(node.id) ?? []).filter((c) => !seen.has(c.id)).map(grow) };
	};
	const roots = [...below.keys()].filter((b) => !of.has(b)).map((id) => grow({ id }));
	for (const [b] of below) if (!seen.has(b)) roots.push(grow({ id: b })); // a circle that is about to be broken
	return roots;
}

const size = (n) => n.children.reduce((a, c) => a + 1 + size(c), 0);

function Waits({ list, byId, kill }) {
	const roots = useMemo(() => forest(list).sort((a, b) => size(b) - size(a)), [list]);
	const [limit, setLimit] = useState(50);
	let left = limit;
	const draw = (n) => {
		if (left-- <= 0) return null;
		const p = byId.get(n.id) ?? { id: n.id };
		const name = n.id === null || n.id === '0' ? 'a job of the server' : html`<${Link} to=${['sessions', n.id]}>${n.id}<//>`;
		return html`<li key=${n.id}>
			<div class=${'wait' + (n.wait ? '' : ' root')}>
				<b>${name}</b> <span>${p.user ?? ''}</span>
				${n.wait ? html`<${Badge} kind="warn">waits ${duration(n.wait.age ?? 0)}<//><span>for <b>${n.wait.db}.${n.wait.tab}</b>, ${n.wait.part} <small class="muted">${n.wait.mode}, held as ${n.wait.held}</small></span>` : html`<${Badge} kind="bad">blocks ${number(size(n))}<//>`}
				${n.also?.length > 0 && html`<small class="muted">also for ${n.also.slice(0, 5).join(', ')}${n.also.length > 5 ? '…' : ''}</small>`}
				${!n.wait && p.trx && html`<span class="muted">transaction for ${duration(p.trx.age)}, ${count(p.trx.changed, 'row')} changed${p.command === 'Sleep' ? `, idle for ${duration(p.time)}` : ''}</span>`}
				<span class="buttons">
					${p.command && p.command !== 'Sleep' && html`<${Button} class="small" icon="stop" onClick=${() => kill(p, 'query')}>End statement<//>`}
					${!n.wait && p.command && html`<${Button} class="small" icon="close" onClick=${() => kill(p, 'connection')}>Close connection<//>`}
				</span>
				${p.info && html`<code title=${p.info}>${oneLine(p.info)}</code>`}
			</div>
			${n.children.length > 0 && html`<ul>${n.children.map(draw)}</ul>`}
		</li>`;
	};
	const drawn = roots.map(draw), all = roots.reduce((a, n) => a + 1 + size(n), 0);
	return html`<${Section} title="Who waits for whom" class="section waits-section">
		<ul class="waits">${drawn}</ul>
		${all > limit && html`<${Button} onClick=${() => setLimit(limit + 200)}>Show more of ${number(all)}<//>`}
	<//>`;
}

function Locks({ onOpen }) {
	const rows = useRows(locks, [], 5000), tables = useRows(metadata, [], 5000);
	const needs = 'Locks need SELECT on performance_schema.';
	return html`<h3>Rows and ranges of keys</h3>
		<${Trouble} error=${rows.error} needs=${needs} />
		${rows.data && html`<${Table} label="Locks of rows" columns=${lockColumns} rows=${rows.data} onOpen=${onOpen} empty="No row is locked." height=${rows.data.length > 12 ? '340px' : undefined} />${rows.data.length === 1000 && html`<p class="note">The first 1,000.</p>`}`}
		<h3>Tables</h3>
		${!isRefusal(rows.error) && html`<${Trouble} error=${tables.error} needs=${needs} />`}
		${tables.data && html`<${Table} label="Locks of tables" columns=${metadataColumns} rows=${tables.data} onOpen=${onOpen} empty="No table is locked." height=${tables.data.length > 12 ? '340px' : undefined} />`}`;
}

const pastColumns = [
	{ title: 'time', get: (e) => e.took, number: true, width: 9, cell: (v) => duration(v / 1e12) },
	{ title: 'rows', get: (e) => e.sent, number: true, width: 6, cell: (v, e) => number(Number(v) || e.affected) },
	{ title: 'statement', get: (e) => e.info, width: 44, cell: (v, e) => html`${e.errno ? html`<${Badge} kind="bad">${e.errno}<//> ` : ''}${oneLine(v) ?? ''}` },
];

function Connection({ id, p, onClose, kill }) {
	const past = useRows(/^\d+$/.test(id) ? `SELECT SQL_TEXT AS info, TIMER_WAIT AS took, ROWS_SENT AS sent, ROWS_AFFECTED AS affected, MYSQL_ERRNO AS errno, MESSAGE_TEXT AS message FROM performance_schema.events_statements_history WHERE THREAD_ID = ${id} ORDER BY EVENT_ID DESC` : null, [], p ? 5000 : 0);
	const [plan, setPlan] = useState(null);
	const [error, setError] = useState(null);
	const ask = async (sql, then) => {
		setError(null);
		try {
			then((await query(sql)).rows[0]?.[0]);
		} catch (e) {
			setError(e);
		}
	};
	const open = () => p.info.length < most ? go('/sql', { db: p.db, q: p.info })
		: ask(`SELECT INFO FROM information_schema.PROCESSLIST WHERE ID = ${text(Number(id))}`, (s) => go('/sql', { db: p.db, q: s ?? p.info }));
	return html`<${Detail} title=${`Connection ${id}`} onClose=${onClose}>
		${!p && html`<${Empty}>This connection has ended.<//>`}
		${p && html`${Number(p.own) !== 1 && html`<div class="buttons">
			<${Button} icon="stop" disabled=${p.command === 'Sleep'} onClick=${() => kill(p, 'query')}>End statement<//>
			<${Button} icon="close" onClick=${() => kill(p, 'connection')}>Close connection<//>
		</div>`}
		<${Facts} list=${[['account', p.user], ['host', p.host], p.db && ['database', p.db], ['command', p.command], ['for', duration(p.time)], p.state && ['state', p.state],
			p.program && ['program', p.program], p.http && ['over', 'HTTP'], Number(p.own) === 1 && ['it is', 'this page']]} />
		${p.trx && html`<div><h3>Transaction</h3><${Facts} list=${[['open for', duration(p.trx.age)], ['rows changed', number(p.trx.changed)], ['rows locked', number(p.trx.locked)], ['isolation', p.trx.isolation.toLowerCase()]]} /></div>`}
		${p.info && html`<div><h3>Statement</h3><pre class="sql" tabindex="0">${p.info}${p.info.length === most ? '…' : ''}</pre>
			<p class="buttons"><${Button} class="small" icon="terminal" onClick=${open}>Open in SQL<//>
			<${Button} class="small" icon="tree" onClick=${() => ask(`EXPLAIN FORMAT=TREE FOR CONNECTION ${id}`, setPlan)}>Plan of what runs<//></p></div>`}
		<${Trouble} error=${error} needs="The plan of a statement of others needs what the statement needs, and PROCESS." />
		${plan && html`<pre class="text" tabindex="0">${plan}</pre>`}
		`}
		<div><h3>Its last statements</h3>
			<${Trouble} error=${past.error} needs="They need SELECT on performance_schema." />
			${past.data && html`<${Table} label="Last statements" columns=${pastColumns} rows=${past.data} empty="None is known." />`}
			${past.data?.some((e) => e.message) && html`<p class="note">Last error: ${past.data.find((e) => e.message).message}</p>`}</div>
	<//>`;
}
