// Samples of the rows of a table or view, and one row with all of its values.
import { html, useMemo, useState } from '../vendor/preact.js';
import { id, query } from '../api.js';
import { usePoll } from '../data.js';
import { count, number } from '../format.js';
import { setParams } from '../router.js';
import { Table, hex, plain } from '../table.js';
import { Button, Dialog, Empty, Failure, Select, copy } from '../ui.js';
import { keyOf, select, spread, starts } from './rows.js';
import { denied } from './structure.js';

const page = 40; // columns of a list
const rows = 100, ranges = 20, each = 5;

// A value of a key as a parameter of query: bytes are marked.
const param = (v, c) => c.encoding === 'base64' && v !== null ? { base64: v } : v;

async function load(shape, mode, from, signal) {
	const columns = shape.columns.slice(from, from + page);
	const list = `${select(columns)}${shape.key.length ? ', ' + keyOf(shape) : ''}`;
	const keys = mode === 'spread' ? await starts(shape, ranges, signal) : [];
	const sql = keys.length ? spread(shape, list, keys, each) : `SELECT ${list} FROM ${shape.name} LIMIT ${rows}`;
	const r = await query(sql, [], { signal });
	const n = columns.length;
	return { columns: r.columns.slice(0, n), rows: r.rows, key: (row, i) => JSON.stringify(shape.key.length ? shape.key.map((_, k) => param(row[n + k], r.columns[n + k])) : i), ranges: keys.length };
}

/** The tab Samples. */
export function Samples({ shape, params }) {
	if (params.row) return html`<${Row} shape=${shape} row=${params.row} params=${params} />`;
	return html`<${List} shape=${shape} params=${params} />`;
}

function List({ shape, params }) {
	const mode = params.mode === 'spread' ? 'spread' : 'first';
	const from = Math.max(0, Math.min(Number(params.col) || 0, shape.columns.length - 1));
	const { data, error, loading, refresh } = usePoll((signal) => load(shape, mode, from, signal), 0, [shape, mode, from]);
	const parts = Math.ceil(shape.columns.length / page);
	const open = (row) => setParams({ row: data.key(row, data.rows.indexOf(row)) }, { push: true });
	const columns = useMemo(() => data && [{ title: '#', hint: 'the row alone', width: 5, get: (row) => data.rows.indexOf(row) + 1, cell: (v, row) => html`<a href="#" tabindex="-1" onClick=${(e) => { e.preventDefault(); open(row); }}>${v}</a>`, number: true }, ...data.columns.map((c, i) => ({ ...c, get: (row) => row[i] }))], [data]);
	return html`<div class="bar-line">
			<${Select} label="Rows" value=${mode} options=${[['first', `the first ${rows}`], ...(shape.key.length ? [['spread', `from ${ranges} places of the key`]] : [])]} onChange=${(v) => setParams({ mode: v === 'first' ? undefined : v })} />
			${parts > 1 && html`<${Select} label="Columns" value=${String(Math.floor(from / page) * page)} onChange=${(v) => setParams({ col: v === '0' ? undefined : v })}
				options=${Array.from({ length: parts }, (_, i) => [String(i * page), `${number(i * page + 1)} to ${number(Math.min((i + 1) * page, shape.columns.length))} of ${number(shape.columns.length)}`])} />`}
			<span role="status" class="muted">${data && !loading ? `${count(data.rows.length, 'row')}${mode === 'spread' && data.ranges ? ` from ${count(data.ranges, 'place')}` : ''}. Enter shows a row alone.` : '…'}</span>
			<div class="tools"><${Button} icon="refresh" onClick=${refresh}>Read again<//></div>
		</div>
		<${Failure} error=${error} hint=${denied(error, 'the rows: it needs SELECT on the table')} />
		${!error && html`<${Table} label="Rows" height="fill" columns=${columns} rows=${data?.rows} empty="No rows." onOpen=${(row) => open(row)} />`}`;
}

// loadRow is one row as a list of {name, type, value, column}, its attributes at the end.
async function loadRow(shape, place, signal) {
	const key = JSON.parse(place), of = Array.isArray(key) ? key : [];
	const where = Array.isArray(key) ? `WHERE ${shape.key.map((c) => `${id(c)} = ?`).join(' AND ')} LIMIT 1` : `LIMIT 1 OFFSET ${Number(key) || 0}`;
	const r = await query(`SELECT ${shape.columns.map((c) => id(c[0])).join(', ')} FROM ${shape.name} ${where}`, of, { signal });
	if (!r.rows.length) return null;
	const list = [];
	r.columns.forEach((column, i) => {
		const value = r.rows[0][i];
		if (shape.dynamic && column.name === '_attributes') {
			for (const [name, v] of Object.entries(value ?? {})) list.push({ name, type: 'attribute', value: v, column: { name, type: typeof v === 'object' ? 'json' : '' } });
		} else list.push({ name: column.name, type: shape.columns[i][1], value, column });
	});
	return list;
}

const shown = (x) => x.value === null ? 'NULL' : x.column.encoding === 'base64' ? hex(x.value, 64) : plain(x.value).slice(0, 1000);

const rowColumns = [
	{ title: 'column', get: (x) => x.name }, { title: 'type', get: (x) => x.type },
	{ title: 'value', get: shown, cell: (v, x) => x.value === null ? html`<i class="null">NULL</i>` : v === '' ? html`<i class="null">empty</i>` : v, width: 100 },
];

function Row({ shape, row, params }) {
	const { data, error } = usePoll((signal) => loadRow(shape, row, signal), 0, [shape, row]);
	const [open, setOpen] = useState(null);
	const f = (params.filter ?? '').toLowerCase();
	const list = useMemo(() => f ? data?.filter((x) => x.name.toLowerCase().includes(f)) : data, [data, f]);
	const text = open && (open.column.encoding === 'base64' ? hex(open.value ?? '') : open.column.type === 'json' ? JSON.stringify(open.value, null, 2) : plain(open.value));
	return html`<div class="bar-line">
			<${Button} icon="up" onClick=${() => setParams({ row: undefined, filter: undefined }, { push: true })}>All rows<//>
			<span role="status" class="muted">${data ? `${count(data.length, 'value')}. Enter shows one whole.` : ''}</span>
			<div class="tools"><input type="search" placeholder="Filter" aria-label="Filter columns" value=${params.filter ?? ''} onInput=${(e) => setParams({ filter: e.target.value })} /></div>
		</div>
		<${Failure} error=${error} hint=${denied(error, 'the row')} />
		${data === null ? html`<${Empty}>The row is not there any more.<//>` : !error && html`<${Table} label="One row" height="fill" columns=${rowColumns} rows=${list} empty="No column has this in its name." onOpen=${(x) => setOpen(x)} />`}
		${open && html`<${Dialog} wide title=${open.name} onClose=${() => setOpen(null)} foot=${html`<${Button} icon="copy" onClick=${() => copy(text)}>Copy<//>`}>
			<p class="muted">${open.type}, ${count(text.length, 'character')}</p><pre class="text" tabindex="0">${text.slice(0, 200_000)}</pre><//>`}`;
}
