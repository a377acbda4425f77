// Dynamic columns: the attributes that a sample of the rows has.
import { html, useMemo } from '../vendor/preact.js';
import { id, query, text } from '../api.js';
import { usePoll } from '../data.js';
import { bytes, count, number, percent } from '../format.js';
import { Link, setParams } from '../router.js';
import { Table, plain } from '../table.js';
import { Failure } from '../ui.js';
import { spread, starts } from './rows.js';
import { denied } from './structure.js';

const most = 1000, mostBytes = 16 << 20; // rows and about bytes of a sample
const ranges = 20;

const typeOf = (v) => v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v === 'number' || JSON.isRawJSON?.(v) ? Number.isInteger(Number(v)) && !/[.e]/i.test(plain(v)) ? 'integer' : 'number' : typeof v === 'string' ? 'text' : typeof v;

async function load(shape, signal) {
	const keys = await starts(shape, ranges, signal);
	const control = new AbortController(), stop = () => control.abort();
	signal.addEventListener('abort', stop);
	const sql = keys.length > 1 ? spread(shape, '_attributes', keys, Math.ceil(most / keys.length)) : `SELECT _attributes FROM ${shape.name} LIMIT ${most}`;
	const found = new Map();
	let rows = 0, size = 0;
	try {
		await query(sql, [], {
			signal: control.signal, maxRows: most,
			onRow: ([doc]) => {
				if (size > mostBytes) return;
				rows++;
				for (const [name, v] of Object.entries(doc ?? {})) {
					let a = found.get(name);
					if (!a) found.set(name, a = { name, n: 0, types: new Map(), example: v });
					a.n++;
					const t = typeOf(v);
					a.types.set(t, (a.types.get(t) ?? 0) + 1);
					size += name.length + 4 + (typeof v === 'string' ? v.length : typeof v === 'object' ? JSON.stringify(v).length : 8);
				}
				if (size > mostBytes) stop();
			},
		});
	} catch (e) {
		if (e.name !== 'AbortError' || signal.aborted) throw e;
	} finally {
		signal.removeEventListener('abort', stop);
	}
	return { rows, size, list: [...found.values()].sort((a, b) => b.n - a.n || (a.name < b.name ? -1 : 1)) };
}

// The type of a column that takes the values of an attribute.
const columnType = (a) => {
	const t = [...a.types.keys()];
	if (t.every((x) => x === 'integer')) return 'BIGINT';
	if (t.every((x) => x === 'integer' || x === 'number')) return 'DOUBLE';
	if (t.every((x) => x === 'boolean')) return 'BOOL';
	return t.every((x) => x === 'text') ? 'VARCHAR(200)' : 'JSON';
};

/** The tab Dynamic columns. */
export function Attributes({ shape, params }) {
	const { data, error } = usePoll((signal) => load(shape, signal), 0, [shape]);
	const f = (params.filter ?? '').toLowerCase();
	const list = useMemo(() => f ? data?.list.filter((a) => a.name.toLowerCase().includes(f)) : data?.list, [data, f]);
	const columns = useMemo(() => data && [
		{ title: 'attribute', get: (a) => a.name },
		{ title: 'rows', get: (a) => a.n, number: true, width: 8 },
		{ title: 'share', get: (a) => a.n, number: true, cell: (v) => percent(v / data.rows), text: (v) => percent(v / data.rows), width: 9 },
		{ title: 'types', get: (a) => [...a.types].map(([t, n]) => a.types.size > 1 ? `${t} ${percent(n / a.n)}` : t).join(', ') },
		{ title: 'example', get: (a) => plain(a.example).slice(0, 300), width: 40 },
		{ title: 'statement', width: 12, get: columnType, cell: (v, a) => html`<${Link} tabindex="-1" to="/sql" params=${{ db: shape.db, q: `ALTER TABLE ${id(shape.table)} ADD COLUMN ${id(a.name)} ${v} FROM ATTRIBUTES` }} title=${`A statement that makes a column of the attribute ${text(a.name)}`}>as a column<//>` },
	], [data]);
	return html`<div class="bar-line">
			<span role="status" class="muted">${data ? `${count(data.list.length, 'attribute')} in a sample of ${count(data.rows, 'row')}, about ${bytes(data.size)}.` : 'Reading a sample…'}</span>
			<div class="tools"><input type="search" placeholder="Filter" aria-label="Filter attributes" value=${params.filter ?? ''} onInput=${(e) => setParams({ filter: e.target.value })} /></div>
		</div>
		<${Failure} error=${error} hint=${denied(error, 'the rows: it needs SELECT on the table')} />
		${!error && html`<${Table} label="Attributes" height="fill" columns=${columns} rows=${list} empty="No row of the sample has attributes." />`}`;
}
