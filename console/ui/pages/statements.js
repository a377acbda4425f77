// Statements: what was run, by digest; slow statements; errors.
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { Chart } from '../chart.js';
import { bytes, count, duration, number, percent, short } from '../format.js';
import { Link, go, setParams } from '../router.js';
import { Table } from '../table.js';
import { Badge, Button, Empty, Facts, Page, Section, Tabs, copy } from '../ui.js';
import { readOnly, verb } from '../sql/split.js';
import { Search, Trouble, has, oneLine, sorting, useAct, useRows } from '../ops/ops.js';

const every = 10_000;
const most = 500; // digests that are shown
const digests = 'performance_schema.events_statements_summary_by_digest';
const needsPerformance = 'This needs SELECT on performance_schema.';

const ps = (v) => duration(Number(v) / 1e12);
const ago = (v) => v === null ? '' : Number(v) < 1 ? 'now' : duration(v) + ' ago';
const warns = (v) => Number(v) > 0;

// The columns of the list: key, expression, and how it is shown.
const columns = [
	{ key: 'text', sql: 'LEFT(DIGEST_TEXT, 400)', title: 'statement', width: 50, cell: (v, d) => d.digest === null ? html`<i class="null">all others</i>` : html`<${Link} to=${['statements', d.digest]} params=${{ db: d.db }} tabindex="-1">${oneLine(v)}<//>` },
	{ key: 'db', sql: 'SCHEMA_NAME', title: 'database', width: 12, cell: (v) => v ?? '' },
	{ key: 'calls', sql: 'COUNT_STAR', title: 'calls', number: true, width: 8, cell: short },
	{ key: 'total', sql: 'SUM_TIMER_WAIT', title: 'total', hint: 'The sum of all times', number: true, width: 9, cell: ps },
	{ key: 'share', title: 'of all', hint: 'The share of the sum of the times of all that are listed', width: 14, number: true, cell: (v) => html`<i class="bar" style=${{ width: Math.round(v * 48) + 'px' }}></i><span class="share-text">${percent(v)}</span>` },
	{ key: 'mean', sql: 'AVG_TIMER_WAIT', title: 'mean', number: true, width: 9, cell: ps },
	{ key: 'p95', sql: 'LEAST(QUANTILE_95, MAX_TIMER_WAIT)', title: '95 %', hint: '95 % of the calls took no longer', number: true, width: 9, cell: ps },
	{ key: 'p99', sql: 'LEAST(QUANTILE_99, MAX_TIMER_WAIT)', title: '99 %', hint: '99 % of the calls took no longer', number: true, width: 9, cell: ps },
	{ key: 'examined', sql: 'SUM_ROWS_EXAMINED', title: 'examined', hint: 'Rows that were read', number: true, width: 9, cell: short },
	{ key: 'sent', sql: 'SUM_ROWS_SENT', title: 'sent', hint: 'Rows that were sent', number: true, width: 8, cell: short },
	{ key: 'changed', sql: 'SUM_ROWS_AFFECTED', title: 'changed', hint: 'Rows that were changed', number: true, width: 8, cell: (v) => warns(v) ? short(v) : '' },
	{ key: 'errors', sql: 'SUM_ERRORS', title: 'errors', number: true, width: 7, cell: (v) => warns(v) ? html`<${Badge} kind="bad">${short(v)}<//>` : '' },
	{ key: 'noindex', sql: 'SUM_NO_INDEX_USED', title: 'no index', hint: 'Calls that read a whole table or index', number: true, width: 9, cell: (v) => warns(v) ? html`<${Badge} kind="warn">${short(v)}<//>` : '' },
	{ key: 'seen', sql: 'TIMESTAMPDIFF(SECOND, LAST_SEEN, NOW())', title: 'last run', number: true, width: 15, cell: ago },
].map((c) => ({ ...c, get: (d) => d[c.key] }));
const selects = columns.filter((c) => c.sql).map((c) => `${c.sql} AS ${c.key}`).join(', ');

// listing is the statement of the list, with its parameters.
function listing({ find, db, sort = '-total', system }) {
	const where = [], values = [];
	if (!system) where.push("(DIGEST IS NULL OR COALESCE(SCHEMA_NAME, '') NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys') AND DIGEST_TEXT NOT LIKE '%performance\\\\_schema%' AND DIGEST_TEXT NOT LIKE '%information\\\\_schema%' AND DIGEST_TEXT NOT LIKE 'SELECT @@%')");
	if (find) {
		where.push('LOCATE(?, DIGEST_TEXT) > 0');
		values.push(find);
	}
	if (db) {
		where.push('SCHEMA_NAME = ?');
		values.push(db);
	}
	const by = columns.find((c) => c.key === sort.replace(/^-/, '')) ?? columns[3];
	return [`SELECT DIGEST AS digest, ${selects}, SUM_TIMER_WAIT / SUM(SUM_TIMER_WAIT) OVER () AS share, COUNT(*) OVER () AS every_one FROM ${digests}${where.length ? ' WHERE ' + where.join(' AND ') : ''} ORDER BY ${by.sql} ${sort[0] === '-' ? 'DESC' : 'ASC'} LIMIT ${most}`, values];
}

const settings = 'SELECT @@GLOBAL.performance_schema AS counts, @@GLOBAL.slow_query_log AS slow, @@GLOBAL.long_query_time AS longest, @@GLOBAL.log_output AS output, @@GLOBAL.log_queries_not_using_indexes AS noindex, @@GLOBAL.min_examined_row_limit AS least';

export default function Statements({ path, params }) {
	if (path.length) return html`<${Digest} digest=${path[0]} db=${params.db} />`;
	const tab = params.tab ?? 'digests';
	return html`<${Page} title="Statements" tools=${html`<${Search} value=${params.find} label="Search statements" />`}>
		<${Tabs} label="What is shown" open=${tab} onOpen=${(t) => setParams({ tab: t === 'digests' ? undefined : t, sort: undefined })}
			list=${[{ id: 'digests', title: 'By digest' }, { id: 'slow', title: 'Slow' }, { id: 'errors', title: 'Errors' }]}>
			${tab === 'digests' && html`<${Digests} params=${params} />`}
			${tab === 'slow' && html`<${Slow} params=${params} />`}
			${tab === 'errors' && html`<${Errors} params=${params} />`}
		<//>
	<//>`;
}

// Off says why nothing is counted.
const Off = ({ setting }) => setting && Number(setting.counts) === 0 ? html`<p class="refused">The server counts nothing, since it runs with --performance-schema=false.</p>` : null;

function Digests({ params }) {
	const [sql, values] = listing(params);
	const [many, setMany] = useState(false); // then a list costs the server some tenths of a second
	const list = useRows(sql, values, many ? 6 * every : every);
	const setting = useRows(settings);
	const act = useAct(list.refresh);
	const total = list.data?.length ? Number(list.data[0].every_one) : 0;
	useEffect(() => setMany(total > 2000), [total > 2000]);
	return html`<div class="toolbar">
			<label class="field inline"><input type="checkbox" checked=${!!params.system} onChange=${(e) => setParams({ system: e.target.checked ? '1' : undefined })} /><span>with those that read the server's own tables</span></label>
			${params.db && html`<span><${Badge}>${params.db}<//> <${Button} kind="bare" icon="close" label="All databases" onClick=${() => setParams({ db: undefined })} /></span>`}
			<div class="tools"><${Button} icon="refresh" onClick=${list.refresh}>Refresh<//><${Button} icon="trash" onClick=${() => act.run({ title: 'Count from zero?', text: 'The numbers of all statements are lost.', sql: `TRUNCATE ${digests}`, action: 'Reset', done: 'The numbers begin again.' })}>Reset<//></div>
		</div>
		${act.view}
		<${Off} setting=${setting.data?.[0]} />
		<${Trouble} error=${list.error} needs=${needsPerformance} />
		${list.data && html`<${Table} label="Statements" columns=${columns} rows=${list.data} ...${sorting(params, columns, '-total')} empty="No statement has run, or none that is searched."
			onOpen=${(d) => d.digest && go(['statements', d.digest], { db: d.db })} />
			<p class="note">${total > most ? `The first ${number(most)} of ${number(total)}. ` : ''}Enter or a double click on a line shows all measurements.</p>`}`;
}

// steps puts a histogram into buckets of 1, 2 and 5.
function steps(rows) {
	const bounds = [];
	for (let e = -7; e <= 3; e++) for (const m of [1, 2, 5]) bounds.push(m * 10 ** e);
	const counts = bounds.map(() => 0);
	for (const r of rows) {
		const at = (Number(r.low) + Number(r.high)) / 2e12; // s
		const i = bounds.findIndex((b) => at <= b);
		counts[i < 0 ? bounds.length - 1 : i] += Number(r.n);
	}
	const first = counts.findIndex((n) => n > 0), last = counts.findLastIndex((n) => n > 0);
	if (first < 0) return null;
	const from = Math.max(0, first - 1), to = Math.min(bounds.length, last + 2);
	return { labels: bounds.slice(from, to).map((b) => '≤ ' + duration(Number(b.toPrecision(1)))), counts: counts.slice(from, to) };
}

function Digest({ digest, db }) {
	const list = useRows(`SELECT *, TIMESTAMPDIFF(SECOND, LAST_SEEN, NOW()) AS ago FROM ${digests} WHERE DIGEST = ? ORDER BY SUM_TIMER_WAIT DESC LIMIT 100`, [digest], every);
	const d = list.data?.find((x) => (x.SCHEMA_NAME ?? undefined) === db) ?? list.data?.[0];
	const times = useRows(d ? `SELECT BUCKET_TIMER_LOW AS low, BUCKET_TIMER_HIGH AS high, COUNT_BUCKET AS n FROM performance_schema.events_statements_histogram_by_digest WHERE DIGEST = ? AND SCHEMA_NAME <=> ?` : null, [digest, d?.SCHEMA_NAME ?? null], every);
	const bars = useMemo(() => times.data && steps(times.data), [times.data]);
	const sample = d?.QUERY_SAMPLE_TEXT;
	const plannable = sample && (readOnly(sample) || ['INSERT', 'UPDATE', 'DELETE', 'REPLACE', 'WITH'].includes(verb(sample))) && !['SHOW', 'EXPLAIN', 'DESC', 'DESCRIBE'].includes(verb(sample));
	const cut = sample && new TextEncoder().encode(sample).length >= 1000;
	const target = { db: d?.SCHEMA_NAME, q: sample };
	const at = (q) => ps(Math.min(d[`QUANTILE_${q}`], d.MAX_TIMER_WAIT)); // it is the end of a bucket
	const per = (v) => Number(v) / Math.max(1, Number(d.COUNT_STAR));
	return html`<${Page} title="Statement" tools=${html`<${Link} class="button" to="/statements">All statements<//>`}>
		<${Trouble} error=${list.error} needs=${needsPerformance} />
		${list.data && !d && html`<${Empty}>This digest is not known: it has not run since the start, or since the numbers were reset.<//>`}
		${d && html`
			<pre class="sql" tabindex="0">${d.DIGEST_TEXT}</pre>
			<div class="toolbar section">
				${list.data.length > 1 && html`<span class="buttons">in ${list.data.map((x) => html`<${Link} key=${x.SCHEMA_NAME} class="button small" aria-current=${x === d ? 'true' : undefined} to=${['statements', digest]} params=${{ db: x.SCHEMA_NAME }}>${x.SCHEMA_NAME ?? '(no database)'} · ${short(x.COUNT_STAR)}<//>`)}</span>`}
				<${Facts} list=${[['database', d.SCHEMA_NAME ?? 'none'], ['calls', number(d.COUNT_STAR)], ['total', ps(d.SUM_TIMER_WAIT)], ['mean', ps(d.AVG_TIMER_WAIT)], ['95 %', at('95')], ['99 %', at('99')], ['longest', ps(d.MAX_TIMER_WAIT)], ['last run', ago(d.ago)]]} />
			</div>
			${bars && html`<div class="section"><${Chart} title="Times of calls" kind="bars" isTime=${false} height=${150} format=${short} labels=${bars.labels} x=${bars.labels.map((_, i) => i)} series=${[{ title: 'calls', values: bars.counts }]} /></div>`}
			<${Section} title="A sample" tools=${sample && html`<${Button} class="small" icon="copy" onClick=${() => copy(sample)}>Copy<//><${Link} class="button small" to="/sql" params=${target}>Open in SQL<//>${plannable && !cut && html`<${Link} class="button small" to="/plan" params=${target}>Show plan<//>`}`}>
				${sample ? html`<pre class="sql" tabindex="0">${sample}</pre><p class="note">It took ${ps(d.QUERY_SAMPLE_TIMER_WAIT)}, on ${d.QUERY_SAMPLE_SEEN}.${cut ? ' Only its beginning is kept.' : ''}${/\?/.test(sample) ? ' Write values in place of the ? of a prepared statement.' : ''}</p>` : html`<${Empty}>No sample is kept.<//>`}
			<//>
			<${Section} title="Rows"><${Facts} list=${[
				['examined', number(d.SUM_ROWS_EXAMINED)], ['a call', short(per(d.SUM_ROWS_EXAMINED))], ['sent', number(d.SUM_ROWS_SENT)], ['sent a call', short(per(d.SUM_ROWS_SENT))],
				Number(d.SUM_ROWS_SENT) > 0 && ['examined for one that is sent', short(d.SUM_ROWS_EXAMINED / d.SUM_ROWS_SENT)], ['changed', number(d.SUM_ROWS_AFFECTED)],
			]} /><//>
			<${Section} title="How rows were found"><${Facts} list=${[
				['calls without an index', warns(d.SUM_NO_INDEX_USED) ? html`<${Badge} kind="warn">${number(d.SUM_NO_INDEX_USED)}<//>` : '0'], ['whole tables', number(d.SUM_SELECT_SCAN)], ['ranges', number(d.SUM_SELECT_RANGE)], ['joins without an index', number(d.SUM_SELECT_FULL_JOIN)],
				['waited for locks', ps(d.SUM_LOCK_TIME)],
			]} /><//>
			<${Section} title="Sorts, memory, errors"><${Facts} list=${[
				['rows sorted', number(d.SUM_SORT_ROWS)], ['merge passes', number(d.SUM_SORT_MERGE_PASSES)], ['temporary tables', number(d.SUM_CREATED_TMP_TABLES)], ['on disk', number(d.SUM_CREATED_TMP_DISK_TABLES)], ['most memory', bytes(d.MAX_TOTAL_MEMORY)],
				['errors', warns(d.SUM_ERRORS) ? html`<${Badge} kind="bad">${number(d.SUM_ERRORS)}<//>` : '0'], ['warnings', number(d.SUM_WARNINGS)],
				['shortest', ps(d.MIN_TIMER_WAIT)], ['99.9 %', at('999')], ['first run', d.FIRST_SEEN], ['last run', d.LAST_SEEN], ['digest', html`<code>${d.DIGEST}</code>`],
			]} /><//>`}
	<//>`;
}

const seconds = (t) => String(t).split(':').reduce((a, x) => a * 60 + Number(x), 0);

const slowColumns = [
	{ key: 'start', title: 'began', get: (s) => s.start, width: 20, cell: (v) => v.slice(0, 19) },
	{ key: 'took', title: 'time', get: (s) => seconds(s.took), number: true, width: 10, cell: (v) => duration(v) },
	{ key: 'locked', title: 'locks', hint: 'Waited for locks', get: (s) => seconds(s.locked), number: true, width: 9, cell: (v) => v ? duration(v) : '' },
	{ key: 'examined', title: 'examined', get: (s) => s.examined, number: true, width: 9, cell: short },
	{ key: 'sent', title: 'sent', get: (s) => s.sent, number: true, width: 8, cell: short },
	{ key: 'user', title: 'account', get: (s) => s.user, width: 18 },
	{ key: 'db', title: 'database', get: (s) => s.db, width: 12, cell: (v) => v ?? '' },
	{ key: 'text', title: 'statement', get: (s) => s.text, width: 80, cell: (v) => oneLine(v) },
];
const slow = "SELECT start_time AS start, query_time AS took, lock_time AS locked, rows_sent AS sent, rows_examined AS examined, db, SUBSTRING_INDEX(user_host, '[', 1) AS user, LEFT(sql_text, 4000) AS text, thread_id AS thread FROM mysql.slow_log ORDER BY start_time DESC LIMIT 1000";

const lineOf = (x) => `${x.start} ${x.thread} ${x.took}`;

function Slow({ params }) {
	const setting = useRows(settings);
	const s = setting.data?.[0];
	const on = s && Number(s.slow) === 1, table = s && /TABLE/i.test(s.output);
	const list = useRows(on && table ? slow : null, [], 5000);
	const act = useAct(setting.refresh);
	const shown = useMemo(() => list.data?.filter((x) => has(params.find, x.text, x.user, x.db)), [list.data, params.find]);
	const chosen = params.line && list.data?.find((x) => lineOf(x) === params.line);
	const turnOn = () => act.run({ title: 'Log slow statements to the table?', sql: `SET GLOBAL slow_query_log = ON, GLOBAL log_output = '${/FILE/i.test(s.output) ? 'FILE,TABLE' : 'TABLE'}'`, action: 'Turn on', danger: false, done: 'Slow statements are logged.' });
	return html`
		<${Trouble} error=${setting.error} />
		${act.view}
		${s && html`<div class="toolbar"><${Facts} list=${[['log', on ? `on, to ${s.output.toLowerCase().replace(',', ' and ')}` : 'off'], ['slower than', duration(s.longest)], Number(s.least) > 0 && ['with rows examined', number(s.least)], ['those without an index', Number(s.noindex) ? 'also' : 'not for that alone']]} />
			${on && table && Number(s.longest) > 0 && html`<div class="tools"><${Link} class="button small" to="/server" params=${{ all: '1', find: 'long_query_time', name: 'long_query_time' }}>Change the time<//></div>`}</div>`}
		${s && !(on && table) && html`<p class="refused"><span>${on ? 'Slow statements are logged to a file only. The table mysql.slow_log shows them here.' : 'Slow statements are not logged.'} <${Button} class="small" onClick=${turnOn}>Log them to the table<//><small class="muted">SET GLOBAL slow_query_log = ON, GLOBAL log_output = 'FILE,TABLE' needs SYSTEM_VARIABLES_ADMIN. It lasts until the server stops; SET PERSIST lasts longer.</small></span></p>`}
		<${Trouble} error=${list.error} needs="The table of slow statements needs SELECT on mysql." />
		${list.data && html`<${Table} label="Slow statements" columns=${slowColumns} rows=${shown} ...${sorting(params, slowColumns)} empty=${`No statement took longer than ${duration(s.longest)} since the server began.`} onOpen=${(x) => setParams({ line: lineOf(x) })} selected=${chosen || undefined} />`}
		${chosen && html`<${Section} title=${`Began ${chosen.start}`} tools=${html`<${Link} class="button small" to="/sql" params=${{ db: chosen.db, q: chosen.text }}>Open in SQL<//><${Link} class="button small" to="/plan" params=${{ db: chosen.db, q: chosen.text }}>Show plan<//>`}><pre class="sql" tabindex="0">${chosen.text}</pre><//>`}`;
}

const errorColumns = [
	{ key: 'number', title: 'number', get: (e) => e.number, number: true, width: 8, cell: (v) => v ?? '' },
	{ key: 'name', title: 'name', get: (e) => e.name, width: 38, cell: (v) => v ?? 'others' },
	{ key: 'state', title: 'state', get: (e) => e.state, width: 8, cell: (v) => v ?? '' },
	{ key: 'raised', title: 'times', get: (e) => e.raised, number: true, width: 9, cell: number },
	{ key: 'first', title: 'first', get: (e) => e.first, width: 20, cell: (v) => v ?? '' },
	{ key: 'last', title: 'last', get: (e) => e.last, width: 20, cell: (v) => v ?? '' },
];
const errors = 'SELECT ERROR_NUMBER AS number, ERROR_NAME AS name, SQL_STATE AS state, SUM_ERROR_RAISED AS raised, FIRST_SEEN AS first, LAST_SEEN AS last FROM performance_schema.events_errors_summary_global_by_error WHERE SUM_ERROR_RAISED > 0 ORDER BY SUM_ERROR_RAISED DESC';
const failedColumns = [
	{ title: 'connection', get: (e) => e.thread, number: true, width: 10, cell: (v) => html`<${Link} to=${['sessions', v]} tabindex="-1">${v}<//>` },
	{ title: 'message', get: (e) => e.message, width: 60, cell: (v) => oneLine(v) }, { title: 'statement', get: (e) => e.text, width: 70, cell: (v) => oneLine(v) },
];
const failed = 'SELECT THREAD_ID AS thread, MESSAGE_TEXT AS message, LEFT(SQL_TEXT, 2000) AS text FROM performance_schema.events_statements_history WHERE MYSQL_ERRNO = ? ORDER BY TIMER_START DESC LIMIT 50';

function Errors({ params }) {
	const list = useRows(errors, [], every);
	const act = useAct(list.refresh);
	const setting = useRows(settings);
	const shown = useMemo(() => list.data?.filter((e) => has(params.find, e.number, e.name, e.state)), [list.data, params.find]);
	const chosen = params.number && list.data?.find((e) => String(e.number) === params.number);
	const last = useRows(params.number ? failed : null, [Number(params.number) || 0], every);
	return html`
		<div class="toolbar"><${Off} setting=${setting.data?.[0]} /><div class="tools"><${Button} icon="refresh" onClick=${list.refresh}>Refresh<//><${Button} icon="trash" onClick=${() => act.run({ title: 'Count errors from zero?', sql: 'TRUNCATE performance_schema.events_errors_summary_global_by_error', action: 'Reset', done: 'The numbers begin again.' })}>Reset<//></div></div>
		${act.view}
		<${Trouble} error=${list.error} needs=${needsPerformance} />
		${list.data && html`<${Table} label="Errors" columns=${errorColumns} rows=${shown} ...${sorting(params, errorColumns, '-raised')} empty="No error." selected=${chosen || undefined} onOpen=${(e) => e.number && setParams({ number: e.number })} />`}
		${params.number && last.data && html`<${Section} title=${`The last statements with ${params.number}${chosen ? ' ' + chosen.name : ''}`}>
			<${Table} label="Statements with this error" columns=${failedColumns} rows=${last.data} empty="None of the last ten statements of the connections that are open." />
		<//>`}
		${list.data?.length > 0 && html`<p class="note">${count(list.data.length, 'kind')}. Enter or a double click on a line shows the last statements with that error.</p>`}`;
}
