// Jobs: work that takes long, with what is known of its progress; backups; what has ended.
import { html, signal, useMemo, useRef, useState } from '../vendor/preact.js';
import { query, text } from '../api.js';
import { bytes, count, duration, number, percent, short } from '../format.js';
import { Link, setParams } from '../router.js';
import { Table } from '../table.js';
import { Badge, Button, Dialog, Empty, Failure, Field, Page, Progress, Section, Select, Tabs, confirm, copy, notify } from '../ui.js';
import { Trouble, has, Search, oneLine, shell, sorting, useAct, useRows } from '../ops/ops.js';

const every = 2000;
const since = (column) => `TIMESTAMPDIFF(SECOND, ${column}, NOW()) AS ${column.toLowerCase()}_ago`;

const background = `SELECT JOB_ID AS id, NAME AS name, STATE AS state, TURN_STARTED_AT AS turn, ${since('TURN_STARTED_AT')}, TURNS AS turns, FAILED AS failed, ERROR AS error FROM information_schema.SQLOTS_JOBS ORDER BY STATE DESC, NAME LIMIT 5000`;
const builds = `SELECT JOB_ID AS id, TABLE_SCHEMA AS db, TABLE_NAME AS tab, GROUP_CONCAT(INDEX_NAME SEPARATOR ', ') AS indexes, STATE AS state, ROWS_DONE AS done, ROWS_ESTIMATE AS total, MIN(STARTED_AT) AS started, TIMESTAMPDIFF(SECOND, MIN(STARTED_AT), NOW()) AS ago, MAX(ENDED_AT) AS ended, TIMESTAMPDIFF(SECOND, MIN(STARTED_AT), MAX(ENDED_AT)) AS took, MAX(RESUMED) AS resumed, MAX(STATEMENT) AS statement, MAX(ERROR) AS error FROM information_schema.SQLOTS_DDL_JOBS GROUP BY JOB_ID, TABLE_SCHEMA, TABLE_NAME, STATE, ROWS_DONE, ROWS_ESTIMATE ORDER BY MIN(STARTED_AT) DESC`;
const backups = `SELECT BACKUP_ID AS id, DESTINATION AS destination, PREVIOUS AS previous, STATE AS state, STARTED_AT AS started, TIMESTAMPDIFF(SECOND, STARTED_AT, NOW()) AS ago, TIMESTAMPDIFF(SECOND, ENDED_AT, NOW()) AS ended_ago, TIMESTAMPDIFF(SECOND, STARTED_AT, ENDED_AT) AS took, FILES AS files, FILES_DONE AS files_done, BYTES AS total, BYTES_DONE AS done, BYTES_COPIED AS copied, ERROR AS error FROM information_schema.SQLOTS_BACKUPS ORDER BY BACKUP_ID DESC`;
const expiries = `SELECT TABLE_SCHEMA AS db, TABLE_NAME AS tab, STARTED_AT AS started, TIMESTAMPDIFF(SECOND, STARTED_AT, NOW()) AS ago, ENDED_AT AS ended, TIMESTAMPDIFF(SECOND, STARTED_AT, ENDED_AT) AS took, ROWS_REMOVED AS done, ERROR AS error FROM information_schema.SQLOTS_TTL_JOBS ORDER BY STARTED_AT DESC LIMIT 1000`;
const loads = `SELECT TOKEN AS token, LOADED_AT AS at, ROWS_LOADED AS done, ROWS_REJECTED AS rejected FROM information_schema.SQLOTS_LOADS ORDER BY LOADED_AT DESC LIMIT 1000`;
// Statements that have a progress, or take long by their nature.
const running = `SELECT ID AS id, USER AS user, DB AS db, TIME AS ago, STATE AS state, LEFT(INFO, 2000) AS info FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Sleep' AND (INFO LIKE 'LOAD DATA%' OR INFO LIKE 'BACKUP%' OR STATE LIKE 'creating index%' OR STATE LIKE 'copy to tmp%' OR STATE LIKE 'copying%' OR STATE LIKE 'checking%' OR STATE LIKE 'removing%' OR STATE LIKE 'loading%' OR STATE LIKE 'backup:%' OR STATE = 'altering table') ORDER BY TIME DESC LIMIT 200`;

const inFlight = new Set(['starting', 'backfill', 'merge', 'ready', 'rolling back']);

// useRate is how much is done in a second: of the last 20 s, else of all.
function useRate() {
	const known = useRef(new Map());
	return (key, done, age) => {
		const now = performance.now() / 1000;
		const list = known.current.get(key) ?? [];
		if (!list.length || list[list.length - 1].done !== done) list.push({ at: now, done });
		while (list.length > 2 && now - list[0].at > 20) list.shift();
		known.current.set(key, list);
		const [a, b] = [list[0], list[list.length - 1]];
		if (b.at - a.at > 3) return (b.done - a.done) / (now - a.at);
		return age > 0 ? done / age : null;
	};
}

const remaining = (done, total, rate) => rate > 0 && total > done ? (total - done) / rate : null;

export default function Jobs({ params }) {
	const tab = params.tab ?? 'running';
	const at = (t) => tab === t || tab === 'running';
	const works = useRows(running, [], every);
	const built = useRows(at('indexes') ? builds : null, [], every);
	const made = useRows(at('backups') ? backups : null, [], every);
	const expired = useRows(at('ttl') ? expiries : null, [], every);
	const jobs = useRows(background, [], every);
	const act = useAct(() => {
		works.refresh();
		jobs.refresh();
	});
	const rate = useRate();
	const list = useMemo(() => work({ works: works.data ?? [], builds: built.data ?? [], backups: made.data ?? [], expiries: expired.data ?? [], jobs: jobs.data ?? [] }, rate), [works.data, built.data, made.data, expired.data, jobs.data]);
	const tabs = [['running', 'Running', tab === 'running' && works.data ? list.length : undefined], ['backups', 'Backups'], ['indexes', 'Index builds'], ['loads', 'Loads'], ['ttl', 'Expired rows'], ['background', 'Background']];
	return html`<${Page} title="Jobs" tools=${['indexes', 'loads', 'ttl', 'background'].includes(tab) && html`<${Search} value=${params.find} label="Search jobs" />`}>
		${act.view}
		<${Tabs} label="What is shown" open=${tab} onOpen=${(t) => setParams({ tab: t === 'running' ? undefined : t, sort: undefined })} list=${tabs.map(([id, title, badge]) => ({ id, title, badge }))}>
			${tab === 'running' && html`
				<${Trouble} error=${works.error} />
				<${Trouble} error=${jobs.error} needs="Work in the background and backups need the privilege PROCESS." />
				${works.data && list.length === 0 && html`<${Empty}>No index build, load, backup or removal of rows runs now.<//>`}
				<div class="works">${list.map((w) => html`<${Work} key=${w.key} w=${w} act=${act} />`)}</div>
				${jobs.data?.some((j) => j.error) && html`<${Section} title="Jobs that failed last"><${Background} rows=${jobs.data.filter((j) => j.error)} params=${params} act=${act} /><//>`}`}
			${tab === 'backups' && html`<${Backups} list=${made} running=${list.find((w) => w.kind === 'backup')} act=${act} />`}
			${tab === 'indexes' && html`<${Trouble} error=${built.error} />${built.data && html`<${Table} label="Index builds" columns=${buildColumns} rows=${built.data.filter((b) => has(params.find, b.db, b.tab, b.indexes, b.statement))} ...${sorting(params, buildColumns)} empty="No index was built since the server began." />`}`}
			${tab === 'loads' && html`<${Loads} params=${params} />`}
			${tab === 'ttl' && html`<${Trouble} error=${expired.error} />${expired.data && html`<${Table} label="Removals of expired rows" columns=${ttlColumns} rows=${expired.data.filter((e) => has(params.find, e.db, e.tab, e.error))} ...${sorting(params, ttlColumns)} empty="No expired rows were removed since the server began." />`}`}
			${tab === 'background' && html`<${Trouble} error=${jobs.error} needs="Work in the background needs the privilege PROCESS." />${jobs.data && html`<${Background} rows=${jobs.data.filter((j) => has(params.find, j.name, j.error))} params=${params} act=${act} />`}`}
		<//>
	<//>`;
}

// work is all that runs, as {key, kind, title, note, part, left, cancel}.
function work({ works, builds, backups, expiries, jobs }, rate) {
	const out = [], taken = new Set();
	const by = (p) => p && { title: `End the statement of connection ${p.id}?`, sql: `${p.user === 'ddl' ? 'KILL' : 'KILL QUERY'} ${p.id}`, action: 'Cancel it', done: 'It was cancelled.' };
	for (const b of builds) {
		if (b.ended !== null || !inFlight.has(b.state)) continue;
		const mine = works.filter((p) => p.info === b.statement.slice(0, 2000) && !taken.has(p.id));
		const p = mine.length === 1 ? mine[0] : undefined;
		if (p) taken.add(p.id);
		const done = Number(b.done), total = Number(b.total), filling = b.state === 'backfill';
		const r = rate('build' + b.id, done, Number(b.resumed) ? 0 : b.ago);
		out.push({
			key: 'build' + b.id, kind: 'build', title: `Index ${b.indexes} on ${b.db}.${b.tab}`, statement: b.statement, state: b.state,
			note: [`${number(done)} of about ${number(total)} rows`, r !== null && filling && `${short(r)} rows/s`, `for ${duration(b.ago)}`, Number(b.resumed) > 0 && `resumed ${count(b.resumed, 'time')}`],
			part: filling && total > 0 ? Math.min(1, done / total) : null, left: filling ? remaining(done, total, r) : null,
			cancel: p && { ...by(p), title: `Cancel the build of ${b.indexes}?`, text: 'Nothing is left of the index.' },
		});
	}
	for (const b of backups) {
		if (b.state !== 'running') continue;
		const p = works.find((x) => /^backup/i.test(x.info ?? '') && !taken.has(x.id));
		if (p) taken.add(p.id);
		const done = Number(b.done), total = Number(b.total), r = rate('backup' + b.id, done, b.ago);
		out.push({
			key: 'backup' + b.id, kind: 'backup', title: `Backup to ${b.destination}`, state: 'running',
			note: [`${bytes(done)} of ${bytes(total)}`, `${number(b.files_done)} of ${count(b.files, 'file')}`, r > 0 && `${bytes(r)}/s`, `for ${duration(b.ago)}`],
			part: total > 0 ? done / total : null, left: remaining(done, total, r), cancel: p && { ...by(p), title: 'Cancel the backup?', text: 'A backup that ends early leaves nothing.' },
		});
	}
	const remover = jobs.find((j) => j.name === 'removing expired rows');
	for (const e of expiries) {
		if (e.ended !== null) continue;
		const r = rate('ttl' + e.db + '.' + e.tab, Number(e.done), e.ago);
		out.push({
			key: 'ttl' + e.db + '.' + e.tab, kind: 'ttl', title: `Expired rows of ${e.db}.${e.tab}`, state: 'removing', note: [`${number(e.done)} rows removed`, r > 0 && `${short(r)} rows/s`, `for ${duration(e.ago)}`], part: null, left: null,
			cancel: remover?.state === 'running' && { title: 'Stop removing expired rows?', text: 'The job goes on in its next turn.', sql: `KILL ${remover.id}`, action: 'Stop this turn', done: 'The turn was ended.' },
		});
	}
	for (const p of works) {
		if (taken.has(p.id)) continue;
		const m = p.state?.match(/(\d+) of (?:about )?(\d+)/), n = p.state?.match(/: (\d+) rows/);
		const done = Number(m?.[1] ?? n?.[1] ?? 0), r = m || n ? rate('p' + p.id, done, Number(p.ago)) : null;
		out.push({
			key: 'p' + p.id, kind: 'statement', title: oneLine(p.info ?? p.state).slice(0, 120), statement: p.info, id: p.id, state: p.state ?? '', note: [p.user, p.db, r > 0 && `${short(r)} rows/s`, `for ${duration(p.ago)}`],
			part: m ? Math.min(1, m[1] / Math.max(1, m[2])) : null, left: m ? remaining(done, Number(m[2]), r) : null, cancel: by(p),
		});
	}
	for (const j of jobs) {
		// What waits for changes has a turn that never ends.
		if (j.state !== 'running' || j === remover || /^backup to |^changes of /.test(j.name)) continue;
		out.push({
			key: 'job' + j.id, kind: 'job', title: j.name, state: 'running', note: [`for ${duration(j.turn_started_at_ago)}`, `turn ${number(j.turns)}`], part: null, left: null,
			cancel: { title: `Stop this turn of ${j.name}?`, text: 'A job that loops goes on in its next turn.', sql: `KILL ${j.id}`, action: 'Stop this turn', done: 'The turn was ended.' },
		});
	}
	return out;
}

function Work({ w, act }) {
	return html`<article class="work" aria-label=${w.title}>
		<p><b>${w.title}</b> ${w.state && html`<${Badge}>${w.state}<//>`} ${w.id && html`<${Link} to=${['sessions', w.id]}>connection ${w.id}<//>`}</p>
		${w.cancel ? html`<${Button} class="small" icon="stop" onClick=${() => act.run(w.cancel)}>Cancel<//>` : html`<span></span>`}
		<${Progress} value=${w.part} label=${`Progress of ${w.title}`} />
		<p class="muted">${[w.part !== null && percent(w.part), ...w.note, w.left !== null && `${duration(w.left)} to go`].filter(Boolean).join(' · ')}</p>
	</article>`;
}

const buildColumns = [
	{ key: 'state', title: 'state', get: (b) => b.state, width: 13, cell: (v) => html`<${Badge} kind=${v === 'public' ? 'good' : v === 'rolled back' ? 'bad' : ''}>${v}<//>` },
	{ key: 'table', title: 'table', get: (b) => `${b.db}.${b.tab}`, width: 24 }, { key: 'index', title: 'index', get: (b) => b.indexes, width: 20 },
	{ key: 'rows', title: 'rows', get: (b) => b.done, number: true, width: 12, cell: number },
	{ key: 'took', title: 'took', get: (b) => b.took, number: true, width: 11, cell: (v, b) => v === null ? `${duration(b.ago)} so far` : Number(v) === 0 ? '< 1 s' : duration(v) },
	{ key: 'started', title: 'began', get: (b) => b.started, width: 20 }, { key: 'error', title: 'error', get: (b) => b.error, width: 40, cell: (v) => v ?? '' },
	{ key: 'statement', title: 'statement', get: (b) => b.statement, width: 60, cell: (v) => oneLine(v) },
];
const ttlColumns = [
	{ key: 'table', title: 'table', get: (e) => `${e.db}.${e.tab}`, width: 30 }, { key: 'started', title: 'began', get: (e) => e.started, width: 20 },
	{ key: 'took', title: 'took', get: (e) => e.took, number: true, width: 11, cell: (v) => v === null ? 'runs' : Number(v) === 0 ? '< 1 s' : duration(v) },
	{ key: 'rows', title: 'rows removed', get: (e) => e.done, number: true, width: 12, cell: number }, { key: 'error', title: 'error', get: (e) => e.error, width: 60, cell: (v) => v ?? '' },
];
const jobColumns = [
	{ key: 'name', title: 'job', get: (j) => j.name, width: 40 }, { key: 'state', title: 'state', get: (j) => j.state, width: 9, cell: (v) => html`<${Badge} kind=${v === 'running' ? 'good' : ''}>${v}<//>` },
	{ key: 'turn', title: 'this turn', get: (j) => j.turn_started_at_ago, number: true, width: 11, cell: (v) => v === null ? '' : duration(v) },
	{ key: 'turns', title: 'turns', get: (j) => j.turns, number: true, width: 9, cell: number }, { key: 'failed', title: 'failed', get: (j) => j.failed, number: true, width: 8, cell: (v) => Number(v) ? html`<${Badge} kind="bad">${number(v)}<//>` : '' },
	{ key: 'error', title: 'last error', get: (j) => j.error, width: 70, cell: (v) => v ?? '' },
];

function Background({ rows, params, act }) {
	const stop = (j) => j.state === 'running' ? act.run({ title: `Stop this turn of ${j.name}?`, text: 'A job that loops goes on in its next turn.', sql: `KILL ${j.id}`, action: 'Stop this turn', done: 'The turn was ended.' }) : notify('This job does nothing now.');
	return html`<${Table} label="Work in the background" columns=${jobColumns} rows=${rows} ...${sorting(params, jobColumns)} onOpen=${stop} empty="No job." />
		<p class="note">Enter or a double click on a job that runs ends its turn.</p>`;
}

const loadColumns = [
	{ key: 'at', title: 'loaded', get: (l) => l.at, width: 20 }, { key: 'token', title: 'token', get: (l) => l.token, width: 50 }, { key: 'rows', title: 'rows', get: (l) => l.done, number: true, width: 12, cell: number },
	{ key: 'rejected', title: 'left out', get: (l) => l.rejected, number: true, width: 10, cell: (v) => Number(v) ? html`<${Badge} kind="warn">${number(v)}<//>` : '' },
];
const rejectColumns = [{ title: 'line', get: (r) => r.line, number: true, width: 10 }, { title: 'error', get: (r) => r.code, number: true, width: 8 }, { title: 'message', get: (r) => r.message, width: 90 }];

// lower has the keys of an object in small letters.
const lower = (o) => Object.fromEntries(Object.entries(o ?? {}).map(([k, v]) => [k.toLowerCase(), v]));

function Loads({ params }) {
	const list = useRows(loads, [], 10_000);
	const [rejects, setRejects] = useState(null);
	const show = async (l) => {
		if (!Number(l.rejected)) return;
		try {
			const r = await query('SELECT REJECTS FROM information_schema.SQLOTS_LOADS WHERE TOKEN = ? LIMIT 1', [l.token]);
			setRejects({ token: l.token, rows: (JSON.parse(r.rows[0]?.[0] ?? '[]') ?? []).map(lower) });
		} catch (error) {
			setRejects({ token: l.token, error });
		}
	};
	return html`<${Trouble} error=${list.error} needs="The list of loads needs the privilege PROCESS." />
		<p class="note">Loads with a token, of sqlots load and of /v1/load with an Idempotency-Key: the last seven days.</p>
		${list.data && html`<${Table} label="Loads" columns=${loadColumns} rows=${list.data.filter((l) => has(params.find, l.token))} ...${sorting(params, loadColumns)} onOpen=${show} empty="No load with a token." />
			${list.data.some((l) => Number(l.rejected)) && html`<p class="note">Enter or a double click shows the records that were left out.</p>`}`}
		${rejects && html`<${Dialog} wide title=${`Left out by ${rejects.token}`} onClose=${() => setRejects(null)}><${Failure} error=${rejects.error} />${rejects.rows && html`<${Table} label="Records that were left out" columns=${rejectColumns} rows=${rejects.rows} height=${rejects.rows.length > 12 ? '360px' : undefined} />`}<//>`}`;
}

// A backup that this window has asked for: it goes on while other pages are open.
const making = signal(null); // {sql, result, error}

async function make(sql) {
	making.value = { sql };
	try {
		const { rows } = await query(sql);
		making.value = { sql, result: rows[0] };
	} catch (error) {
		making.value = { sql, error };
	}
}

const stamp = () => {
	const d = new Date(), two = (n) => String(n).padStart(2, '0');
	return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}_${two(d.getHours())}${two(d.getMinutes())}${two(d.getSeconds())}`;
};

const backupColumns = [
	{ title: 'state', get: (b) => b.state, width: 9, cell: (v) => html`<${Badge} kind=${{ done: 'good', failed: 'bad' }[v] ?? ''}>${v}<//>` },
	{ title: 'destination', get: (b) => b.destination, width: 44 }, { title: 'began', get: (b) => b.started, width: 20 },
	{ title: 'took', get: (b) => b.took, number: true, width: 10, cell: (v) => v === null ? '' : Number(v) === 0 ? '< 1 s' : duration(v) },
	{ title: 'size', get: (b) => b.total, number: true, width: 10, cell: bytes }, { title: 'copied', get: (b) => b.copied, number: true, width: 10, cell: bytes }, { title: 'files', get: (b) => b.files, number: true, width: 8, cell: number },
	{ title: 'after', hint: 'The previous backup that has the rest', get: (b) => b.previous, width: 34, cell: (v) => v ?? '' }, { title: 'error', get: (b) => b.error, width: 50, cell: (v) => v ?? '' },
];

const Command = ({ label, text }) => html`<div class="command"><code>${text}</code><${Button} kind="bare" icon="copy" label=${label} onClick=${() => copy(text)} /></div>`;

function Backups({ list, running, act }) {
	const dir = useRows('SELECT @@GLOBAL.sqlots_backup_dir AS dir');
	const [name, setName] = useState(stamp);
	const [previous, setPrevious] = useState('');
	const [speed, setSpeed] = useState('');
	const [chosen, setChosen] = useState(null);
	const m = making.value, place = dir.data?.[0].dir;
	const done = (list.data ?? []).filter((b) => b.state === 'done');
	const sql = `BACKUP DATABASE * TO ${text('local://' + name)}${previous ? ` LAST_BACKUP = ${text('local://' + previous)}` : ''}${/^[1-9]\d*$/.test(speed) ? ` RATE_LIMIT = ${speed} MB/SECOND` : ''}`;
	const start = async (e) => {
		e.preventDefault();
		if (!await confirm({ title: 'Make a backup?', text: 'The server reads and writes meanwhile. Closing this window cancels it.', sql, action: 'Make it' })) return;
		setName(stamp());
		make(sql).then(list.refresh);
		setTimeout(list.refresh, 300);
	};
	const from = chosen ?? done[0];
	const dead = from && shell(from.destination);
	return html`
		<p class="toolbar">${done[0] ? html`<${Badge} kind=${Number(done[0].ended_ago) > 2 * 86400 ? 'bad' : 'good'}>last backup ${duration(done[0].ended_ago)} ago<//>` : list.data && html`<${Badge} kind="warn">no backup<//><span class="muted">since the server began. It does not know of earlier ones.</span>`}</p>
		<${Trouble} error=${list.error} needs="The list of backups needs the privilege PROCESS." />
		${running && html`<${Work} w=${running} act=${act} />`}
		${m?.error && html`<${Trouble} error=${m.error} needs="A backup needs the privileges BACKUP_ADMIN and RELOAD." />`}
		${m?.result && html`<p class="note" role="status">Done: ${m.result[0]}, ${bytes(m.result[1])}, ${duration(m.result[4])}.</p>`}
		${place === '' && html`<p class="refused">This server makes no backups: it was started without --backup-dir. The command sqlots backup needs it too.</p>`}
		${place && html`<${Section} title="Make a backup"><form class="form" onSubmit=${start}>
			<${Field} label=${`Name, in ${place}`}><input value=${name} required onInput=${(e) => setName(e.target.value)} /><//>
			${done.length > 0 && html`<${Field} label="Copy only what is new since"><select value=${previous} onChange=${(e) => setPrevious(e.target.value)}><option value="">(all is copied)</option>${done.map((b) => html`<option key=${b.id} value=${b.destination}>${b.destination.split('/').pop()}</option>`)}</select><//>`}
			<${Field} label="At most, in MB a second"><input inputmode="numeric" pattern="[0-9]*" placeholder="no limit" value=${speed} onInput=${(e) => setSpeed(e.target.value)} /><//>
			<${Button} kind="main" icon="archive" type="submit" disabled=${!!(m && !m.result && !m.error) || !!running || !name}>Make a backup<//>
		</form><pre class="sql section" tabindex="0">${sql}</pre><//>`}
		${list.data && html`<${Section} title="Backups since the server began"><${Table} label="Backups" columns=${backupColumns} rows=${list.data} selected=${from} onOpen=${setChosen} empty="None." /><//>`}
		${from && html`<${Section} title=${`To check and restore ${from.destination.split('/').pop()}`}><div class="commands">
			<${Command} label="Copy the command that verifies" text=${`sqlots backup verify ${dead}`} />
			<${Command} label="Copy the command that restores" text=${`sqlots restore --from ${dead} --data ./new`} />
			<${Command} label="Copy the command that checks" text="sqlots check --data ./new" />
		</div><p class="note">On the machine of the server. A restore makes a new directory, which sqlots serve --data ./new opens.</p><//>`}`;
}
