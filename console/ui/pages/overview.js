// Overview: what the server is, whether it is ready, and its last hour.
import { html, useMemo, useRef } from '../vendor/preact.js';
import { get, objects } from '../api.js';
import { Chart } from '../chart.js';
import { usePoll } from '../data.js';
import { bytes, duration, number, percent, short } from '../format.js';
import { setParams } from '../router.js';
import { Badge, Facts, Failure, Page, Select } from '../ui.js';

const ranges = [['300', '5 minutes'], ['900', '15 minutes'], ['3600', '1 hour']];
const points = 300; // of a chart

// useHistory keeps the samples of the last seconds, and adds to them: {x, of(name)}.
function useHistory(range) {
	const step = Math.max(1, range / points);
	const kept = useRef({ key: 0, x: [], values: {} });
	return usePoll(async (signal) => {
		if (kept.current.key !== range) kept.current = { key: range, x: [], values: {} };
		const k = kept.current;
		const after = k.x.length ? k.x[k.x.length - 1] : Math.floor(Date.now() / 1000) - range;
		let h = await get(`/v1/history?step=${step}&after=${Math.max(0, after)}`, { signal });
		if (k.x.length && h.first > after + range) { // too long ago, or the server has begun again
			k.x = [];
			k.values = {};
		}
		for (let i = 0; i < h.count; i++) k.x.push(h.first + i * step);
		for (const [name, list] of Object.entries(h.values)) {
			let before = 0;
			const to = k.values[name] ??= [];
			for (const d of list) to.push(d === null ? null : before += d);
		}
		const drop = k.x.length - points - 1;
		if (drop > 0) {
			k.x = k.x.slice(drop);
			for (const name in k.values) k.values[name] = k.values[name].slice(drop);
		}
		return { x: k.x.slice(), values: { ...k.values } };
	}, step * 1000, [range]);
}

// rate is the change by second since the last known value; a counter that went down has
// begun again.
function rate(x, list) {
	let known = -1;
	return list && brief(list.map((v, i) => {
		if (v === null) return null;
		const k = known;
		known = i;
		return k < 0 || v < list[k] || x[i] - x[k] > 4 * (x[1] - x[0]) ? null : (v - list[k]) / (x[i] - x[k]);
	}));
}

// brief takes the mark of a gap off short ones: a busy machine may miss a second.
function brief(list) {
	let run = 0;
	list.forEach((v, i) => {
		if (v === null) {
			run++;
			return;
		}
		if (run && run <= 3 && run < i) list.fill(undefined, i - run, i);
		run = 0;
	});
	return list;
}

const ready = async (signal) => {
	try {
		const r = await fetch('/readyz', { signal, cache: 'no-store' });
		return { ok: r.ok, text: (await r.text()).trim() };
	} catch (e) {
		if (e.name === 'AbortError') throw e;
		return { ok: false, text: 'the server does not answer' };
	}
};

const facts = `SELECT VERSION() AS version, @@version_comment AS comment, @@hostname AS host, @@port AS port, @@datadir AS datadir, @@max_connections AS connections`;

export default function Overview({ params }) {
	const range = Number(params.range) || 300;
	const { data, error } = useHistory(ranges.some(([r]) => Number(r) === range) ? range : 300);
	const server = usePoll(async (signal) => (await objects(facts, [], { signal }))[0], 0);
	const state = usePoll(ready, 5000);
	const x = data?.x ?? [], values = data?.values ?? {};
	const last = (name) => values[name]?.[x.length - 1];
	const charts = useMemo(() => data && list(data), [data]);
	const limit = last('Sqlots_memory_limit');
	return html`<${Page} title="Overview" tools=${html`<${Select} label="The last" value=${String(range)} options=${ranges} onChange=${(v) => setParams({ range: v === '300' ? undefined : v })} />`}>
		<div class="overview-head">
			<p class="ready">${state.data && (state.data.ok ? html`<${Badge} kind="good">ready<//>` : html`<${Badge} kind="bad">not ready<//> ${state.data.text}`)}</p>
			<${Facts} list=${[
				server.data && ['version', server.data.version], last('Uptime') !== undefined && ['up', duration(last('Uptime'))],
				server.data && ['host', `${server.data.host}:${server.data.port}`],
				last('Threads_connected') !== undefined && ['connections', `${number(last('Threads_connected'))}${server.data ? ' of ' + number(server.data.connections) : ''}`],
				limit && ['memory of statements', `${bytes(last('Sqlots_memory_used'))} of ${bytes(limit)}`],
				last('Sqlots_storage_disk_bytes') !== undefined && ['on disk', bytes(last('Sqlots_storage_disk_bytes'))],
				last('Sqlots_search_lag_ms') !== null && last('Sqlots_search_lag_ms') !== undefined && ['search lag', duration(last('Sqlots_search_lag_ms') / 1000)],
			]} />
		</div>
		<${Failure} error=${error} hint=${error?.code === 1227 ? 'The charts need the privilege PROCESS.' : undefined} />
		${charts && html`<div class="charts">${charts.map((c) => html`<${Chart} key=${c.title} x=${x} group="overview" height=${140} ...${c} />`)}</div>`}
	<//>`;
}

// list is the charts of the history.
function list({ x, values }) {
	const by = (name) => rate(x, values[name]);
	const sum = (...names) => names.map(by).filter(Boolean).reduce((a, b) => a.map((v, i) => v === null || v === undefined ? v : v + b[i]));
	const share = (hits, misses) => {
		const h = by(hits), m = by(misses);
		return h?.map((v, i) => v === null || v === undefined ? v : v + m[i] === 0 ? null : v / (v + m[i]));
	};
	const has = (name) => values[name]?.some((v) => v !== null);
	const perSecond = (v) => short(v) + '/s', bytesPerSecond = (v) => bytes(v) + '/s', time = (ms) => duration(ms / 1000);
	const line = (title, name, more = {}) => ({ title, values: by(name), ...more });
	const level = (title, name) => ({ title, values: brief(values[name].slice()) });
	return [
		{ title: 'Statements', format: perSecond, series: [line('all', 'Queries', { area: true }), line('select', 'Com_select'), { title: 'changes', values: sum('Com_insert', 'Com_update', 'Com_delete') }] },
		{ title: 'Errors and slow statements', format: perSecond, series: [line('errors', 'Sqlots_errors'), line('slow', 'Slow_queries')] },
		{ title: 'Rows', format: perSecond, series: [line('sent', 'Sqlots_rows_sent', { area: true }), has('Sqlots_rows_examined') && line('examined', 'Sqlots_rows_examined'), has('Sqlots_rows_affected') && line('changed', 'Sqlots_rows_affected')].filter(Boolean) },
		{ title: 'Connections', format: short, series: [{ ...level('open', 'Threads_connected'), area: true }, level('running', 'Threads_running')] },
		{ title: 'Memory', format: bytes, series: [{ ...level('statements', 'Sqlots_memory_used'), area: true }, level('block cache', 'Sqlots_storage_block_cache_bytes'), level('memtables', 'Sqlots_storage_memtable_bytes')] },
		{ title: 'Hit rate of caches', format: percent, max: 1, series: [{ title: 'blocks', values: share('Sqlots_storage_block_cache_hits', 'Sqlots_storage_block_cache_misses') }, { title: 'plans', values: share('Sqlots_plan_cache_hits', 'Sqlots_plan_cache_misses') }] },
		{ title: 'Commits', format: perSecond, series: [line('commits', 'Sqlots_storage_seq', { area: true }), line('lock waits', 'Sqlots_storage_lock_waits'), line('deadlocks', 'Sqlots_storage_deadlocks')] },
		{ title: 'Log written', format: bytesPerSecond, binary: true, series: [line('log', 'Sqlots_storage_wal_written_bytes', { area: true }), line('spilled by statements', 'Sqlots_spilled_bytes')] },
		{ title: 'Disk', format: bytes, series: [{ ...level('all', 'Sqlots_storage_disk_bytes'), area: true }, level('log', 'Sqlots_storage_wal_bytes'), level('to be compacted', 'Sqlots_storage_compaction_debt_bytes')] },
		has('Sqlots_reads_of_all') && { title: 'Reads by access path', format: perSecond, series: [line('by index', 'Sqlots_reads_by_index'), line('of all rows', 'Sqlots_reads_of_all')] },
		has('Sqlots_search_lag_ms') && { title: 'Search lag', format: time, series: [level('behind', 'Sqlots_search_lag_ms')] },
		(has('Bytes_sent') && values.Bytes_sent.some((v) => v > 0)) && { title: 'Network', format: bytesPerSecond, binary: true, series: [line('sent', 'Bytes_sent', { area: true }), line('received', 'Bytes_received')] },
	].filter(Boolean);
}
