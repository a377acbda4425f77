// Databases and tables: how many and how large they are, and one table with its columns,
// indexes, rows and keys.
import { html, useMemo } from '../vendor/preact.js';
import { id, query } from '../api.js';
import { usePoll, useQuery } from '../data.js';
import { bytes, count, number } from '../format.js';
import { Link, go, setParams } from '../router.js';
import { Table } from '../table.js';
import { Badge, Button, Empty, Failure, Facts, Page, Tabs, stylesheet } from '../ui.js';
import { Attributes } from '../tables/attributes.js';
import { Indexes } from '../tables/indexes.js';
import { Keys } from '../tables/keys.js';
import { Samples } from '../tables/samples.js';
import { Structure } from '../tables/structure.js';

await stylesheet('pages/tables.css');

export default function Tables({ path: [db, table], params }) {
	if (table !== undefined) return html`<${OneTable} key=${JSON.stringify([db, table])} db=${db} table=${table} params=${params} />`;
	if (db !== undefined) return html`<${Database} key=${db} db=${db} params=${params} />`;
	return html`<${Databases} params=${params} />`;
}

// The order of a table is in the address: "2" is by the second column, "-2" downwards.
const sortOf = ({ sort }) => Number(sort) ? { column: Math.abs(sort) - 1, down: sort < 0 } : null;
const onSort = (s) => setParams({ sort: s ? (s.down ? -1 : 1) * (s.column + 1) : undefined });

const size = { number: true, cell: bytes, text: bytes, width: 10 };
const quantity = { number: true, cell: number, text: number, width: 12 };

function Filter({ params, what }) {
	return html`<input type="search" placeholder="Filter" aria-label=${'Filter ' + what} value=${params.filter ?? ''} onInput=${(e) => setParams({ filter: e.target.value })} />`;
}

// useFilter keeps the rows whose texts at some places have the filter's.
function useFilter(rows, filter, places) {
	return useMemo(() => {
		const f = filter?.toLowerCase();
		return f ? rows?.filter((r) => places.some((i) => String(r[i] ?? '').toLowerCase().includes(f))) : rows;
	}, [rows, filter]);
}

const databasesQuery = `SELECT s.SCHEMA_NAME, t.tables, t.views, t.n, t.bytes, t.indexed, s.DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA s LEFT JOIN (
	SELECT TABLE_SCHEMA, SUM(TABLE_TYPE = 'BASE TABLE') AS tables, SUM(TABLE_TYPE <> 'BASE TABLE') AS views, SUM(TABLE_ROWS) AS n, SUM(DATA_LENGTH) AS bytes, SUM(INDEX_LENGTH) AS indexed
	FROM information_schema.TABLES GROUP BY TABLE_SCHEMA) t ON t.TABLE_SCHEMA = s.SCHEMA_NAME
	ORDER BY s.SCHEMA_NAME IN ('information_schema', 'mysql', 'performance_schema', 'sys'), 1`;

const system = ['information_schema', 'mysql', 'performance_schema', 'sys'];
const known = (r, i) => system.includes(r[0]) ? null : r[i] ?? '0';

const databaseColumns = [
	{ title: 'database', get: (r) => r[0], cell: (v) => html`<${Link} to=${['tables', v]} tabindex="-1">${v}<//>` },
	{ title: 'tables', get: (r) => r[1] ?? '0', ...quantity, width: 9 },
	{ title: 'views', get: (r) => r[2] ?? '0', ...quantity, width: 9 },
	{ title: 'rows', hint: 'about', get: (r) => known(r, 3), ...quantity, width: 14 },
	{ title: 'data', hint: 'bytes of the rows, about, compressed', get: (r) => known(r, 4), ...size },
	{ title: 'indexes', hint: 'bytes, about, compressed', get: (r) => known(r, 5), ...size },
	{ title: 'collation', get: (r) => r[6] },
];

function Databases({ params }) {
	const { data, error, refresh } = useQuery(databasesQuery);
	const rows = useFilter(data?.rows, params.filter, [0]);
	return html`<${Page} fill title="Tables" tools=${html`<${Filter} params=${params} what="databases" /><${Button} icon="refresh" label="Refresh" onClick=${refresh} />`}>
		<${Failure} error=${error} />
		<${Table} label="Databases" height="fill" columns=${databaseColumns} rows=${rows} sort=${sortOf(params)} onSort=${onSort} empty="No database has this in its name."
			onOpen=${(row) => go(['tables', row[0]])} />
	<//>`;
}

const tablesQuery = `SELECT TABLE_NAME, TABLE_TYPE, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH, CREATE_TIME, CREATE_OPTIONS, TABLE_COMMENT, TABLE_COLLATION, AUTO_INCREMENT
	FROM information_schema.TABLES WHERE TABLE_SCHEMA = ?`;
const attributesQuery = 'SELECT TABLE_NAME, SECONDARY_ENGINE_ATTRIBUTE FROM information_schema.TABLES_EXTENSIONS WHERE TABLE_SCHEMA = ?';

// optionsOf are in words what a table has beyond those of MySQL.
function optionsOf(create, attribute) {
	const list = [];
	let a = {};
	try {
		a = JSON.parse(attribute) ?? {};
	} catch { /* none, or of another engine */ }
	if (create) list.push(create);
	if (a.dynamic_columns) list.push('dynamic columns');
	if (a.stream) list.push('stream');
	if (a.max_versions) list.push(count(a.max_versions, 'version'));
	return { text: list.join(', '), list, dynamic: !!a.dynamic_columns };
}

const kinds = { 'BASE TABLE': 'table', VIEW: 'view', 'SYSTEM VIEW': 'system view' };

// loadTables is the tables of a database, or one of them: rows of tablesQuery, with what
// optionsOf says at the end.
async function loadTables(db, table, signal) {
	const one = table === undefined ? '' : ' AND TABLE_NAME = ?', of = table === undefined ? [db] : [db, table];
	const [tables, attributes] = await Promise.all([query(tablesQuery + one + ' ORDER BY TABLE_NAME', of, { signal }), query(attributesQuery + one, of, { signal })]);
	const known = new Map(attributes.rows);
	for (const r of tables.rows) r.push(optionsOf(r[6], known.get(r[0])));
	return tables.rows;
}

const tableColumns = (db) => [
	{ title: 'table', get: (r) => r[0], cell: (v) => html`<${Link} to=${['tables', db, v]} tabindex="-1">${v}<//>` },
	{ title: 'kind', get: (r) => kinds[r[1]] ?? r[1], width: 11 },
	{ title: 'rows', hint: 'about', get: (r) => r[2], ...quantity },
	{ title: 'data', hint: 'bytes of the rows, about, compressed', get: (r) => r[3], ...size },
	{ title: 'indexes', hint: 'bytes, about, compressed', get: (r) => r[4], ...size },
	{ title: 'created', get: (r) => r[5], cell: (v) => v ?? '', text: (v) => v ?? '', width: 19 },
	{ title: 'options', get: (r) => r[10].text, cell: (v) => v },
	{ title: 'comment', get: (r) => r[1] === 'VIEW' ? '' : r[7], cell: (v) => v },
];

function Database({ db, params }) {
	const { data, error, refresh } = usePoll((signal) => loadTables(db, undefined, signal), 0, [db]);
	const rows = useFilter(data, params.filter, [0, 7]);
	const columns = useMemo(() => tableColumns(db), [db]);
	const total = useMemo(() => data && [3, 4].map((i) => data.reduce((a, r) => a + Number(r[i] ?? 0), 0)), [data]);
	return html`<${Page} fill title=${html`<${Link} to="/tables">Tables<//> / ${db}`} tools=${html`
			${data && html`<span class="muted">${params.filter ? `${number(rows.length)} of ` : ''}${count(data.length, 'table')}, ${bytes(total[0])} of rows, ${bytes(total[1])} of indexes</span>`}
			<${Filter} params=${params} what="tables" /><${Button} icon="refresh" label="Refresh" onClick=${refresh} /><${Link} class="button" to="/sql" params=${{ db }}>SQL<//>`}>
		<${Failure} error=${error} />
		<${Table} label=${'Tables of ' + db} height="fill" columns=${columns} rows=${rows} sort=${sortOf(params)} onSort=${onSort}
			empty=${data?.length ? 'No table has this in its name.' : 'No tables, or none that your account may see.'} onOpen=${(row) => go(['tables', db, row[0]])} />
	<//>`;
}

// loadShape is what all tabs of a table know of it: its row of TABLES, its columns, and
// those of its primary key in their order.
async function loadShape(db, table, signal) {
	const of = [db, table];
	const [[row], columns, key] = await Promise.all([
		loadTables(db, table, signal),
		query(`SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY, COLUMN_DEFAULT, EXTRA, GENERATION_EXPRESSION, COLLATION_NAME, COLUMN_COMMENT, DATA_TYPE, CHARACTER_OCTET_LENGTH
			FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION`, of, { signal }),
		query(`SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND CONSTRAINT_NAME = 'PRIMARY' ORDER BY ORDINAL_POSITION`, of, { signal }),
	]);
	return {
		db, table, name: `${id(db)}.${id(table)}`, row, columns: columns.rows, key: key.rows.map((r) => r[0]),
		view: row?.[1] !== 'BASE TABLE', stored: row?.[1] === 'BASE TABLE' && row[2] !== null && !system.includes(db), dynamic: !!row?.[10].dynamic,
	};
}

function OneTable({ db, table, params }) {
	const { data: shape, error, refresh } = usePoll((signal) => loadShape(db, table, signal), 0, [db, table]);
	const row = shape?.row;
	const tabs = shape && [
		{ id: 'structure', title: 'Structure' }, shape.stored && { id: 'indexes', title: 'Indexes' }, { id: 'samples', title: 'Samples' },
		shape.dynamic && { id: 'attributes', title: 'Dynamic columns' }, shape.stored && { id: 'keys', title: 'Keys' },
	].filter(Boolean);
	const open = tabs?.find((t) => t.id === params.tab)?.id ?? 'structure';
	const Tab = { structure: Structure, indexes: Indexes, samples: Samples, attributes: Attributes, keys: Keys }[open];
	return html`<${Page} fill title=${html`<${Link} to="/tables">Tables<//> / <${Link} to=${['tables', db]}>${db}<//> / ${table}`} tools=${html`
			<${Button} icon="refresh" label="Refresh" onClick=${refresh} />
			<${Link} class="button" to="/sql" params=${{ db, q: `SELECT * FROM ${id(table)} LIMIT 100` }}>SQL<//>`}>
		<${Failure} error=${error} />
		${shape && !row && html`<${Empty}>There is no such table, or your account may not see it.<//>`}
		${row && html`<div class="table-facts"><${Facts} list=${[
			['kind', kinds[row[1]] ?? row[1]], shape.stored && ['rows, about', number(row[2])], shape.stored && ['bytes of rows', bytes(row[3])], shape.stored && ['bytes of indexes', bytes(row[4])],
			['columns', number(shape.columns.length)], row[5] && ['created', row[5]], row[8] && ['collation', row[8]], row[9] !== null && ['next AUTO_INCREMENT', number(row[9])],
			row[10].list.length > 0 && ['options', row[10].list.map((o) => html`<${Badge} key=${o}>${o}<//> `)], row[7] && row[1] !== 'VIEW' && ['comment', row[7]],
		]} /></div>
		<${Tabs} label="Parts of the table" list=${tabs} open=${open} onOpen=${(v) => setParams({ tab: v === 'structure' ? undefined : v, row: undefined, col: undefined, mode: undefined, filter: undefined, index: undefined }, { push: true })}>
			<${Tab} key=${open} shape=${shape} params=${params} refresh=${refresh} />
		<//>`}
	<//>`;
}
