// The indexes of a table: their columns, sizes, and whether they are used.
import { html } from '../vendor/preact.js';
import { id, query } from '../api.js';
import { usePoll } from '../data.js';
import { bytes, number } from '../format.js';
import { Link } from '../router.js';
import { Badge, Button, Empty, Failure, confirm, notify } from '../ui.js';

const parts = `SELECT INDEX_NAME, NON_UNIQUE, INDEX_TYPE, COLUMN_NAME, EXPRESSION, SUB_PART, COLLATION, CARDINALITY, IS_VISIBLE, INDEX_COMMENT
	FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? ORDER BY INDEX_NAME <> 'PRIMARY', INDEX_NAME, SEQ_IN_INDEX`;
const uses = 'SELECT INDEX_NAME, COUNT_READ FROM performance_schema.table_io_waits_summary_by_index_usage WHERE OBJECT_SCHEMA = ? AND OBJECT_NAME = ?';
const sizes = 'SELECT INDEX_NAME, SUM(BYTES) FROM information_schema.SQLOTS_KEY_RANGES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? GROUP BY INDEX_NAME';
const searches = "SELECT INDEX_NAME, DISK_BYTES + MEMORY_BYTES FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND GENERATION = 'current'";
const extensions = 'SELECT CONSTRAINT_NAME, SECONDARY_ENGINE_ATTRIBUTE FROM information_schema.TABLE_CONSTRAINTS_EXTENSIONS WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ?';

async function load({ db, table }, signal) {
	const get = (sql) => query(sql, [db, table], { signal });
	let refused = null;
	const [list, used, size, search, more] = await Promise.all([get(parts), get(uses).catch((e) => {
		if (e.name === 'AbortError') throw e;
		refused = e;
		return null;
	}), get(sizes), get(searches), get(extensions)]);
	const reads = used && new Map(used.rows), known = new Map([...size.rows, ...search.rows]), attributes = new Map(more.rows);
	const out = [];
	for (const [name, notUnique, type, column, expression, sub, order, cardinality, visible, comment] of list.rows) {
		let x = out[out.length - 1];
		if (x?.name !== name) {
			let a = {};
			try {
				a = JSON.parse(attributes.get(name)) ?? {};
			} catch { /* it has none */ }
			out.push(x = { name, type, unique: notUnique === '0' || notUnique === 0, visible: visible === 'YES', comment, columns: [], bytes: known.get(name), reads: reads?.get(name), include: a.include, where: a.where });
		}
		x.columns.push((column ?? `(${expression})`) + (sub && type === 'BTREE' ? `(${sub})` : '') + (order === 'D' ? ' DESC' : ''));
		x.cardinality = cardinality;
	}
	return { list: out, refused, without: reads?.get(null) };
}

/** The tab Indexes. */
export function Indexes({ shape, refresh: all }) {
	const { data, error, refresh } = usePoll((signal) => load(shape, signal), 0, [shape]);
	const change = async (title, text, sql, action, danger) => {
		if (!await confirm({ title, text, sql, action, danger })) return;
		try {
			await query(sql);
			notify('Done.');
		} catch (e) {
			notify(e.message);
		}
		refresh();
		all();
	};
	const drop = (x) => change(`Drop the index ${x.name}?`, x.reads !== undefined && Number(x.reads) > 0 ? 'It was read since the server has started. Statements that use it will take another way to their rows.' : 'Building it again reads the whole table.',
		`ALTER TABLE ${shape.name} DROP INDEX ${id(x.name)}`, 'Drop', true);
	const hide = (x) => change(x.visible ? `Hide the index ${x.name}?` : `Show the index ${x.name}?`, x.visible ? 'It is kept up to date, but not used: a test of what happens without it.' : '', `ALTER TABLE ${shape.name} ALTER INDEX ${id(x.name)} ${x.visible ? 'INVISIBLE' : 'VISIBLE'}`, x.visible ? 'Hide' : 'Show');
	return html`<div class="scroll">
		<${Failure} error=${error} />
		<${Failure} error=${data?.refused} hint="How often indexes are read needs SELECT on performance_schema." />
		${data && !data.list.length && html`<${Empty}>No index: rows are found by reading the table. Without a primary key they have a hidden one.<//>`}
		${data?.list.length > 0 && html`<table class="plain"><thead><tr><th scope="col">index</th><th scope="col">columns</th><th scope="col" class="number">size</th><th scope="col" class="number">values</th>
			<th scope="col" class="number" title="entries or rows that were read by it since the server has started">read</th><th scope="col"><span class="hidden">actions</span></th></tr></thead>
			<tbody>${data.list.map((x) => html`<tr key=${x.name}>
				<td><b>${x.name}</b> ${x.unique && x.name !== 'PRIMARY' && html`<${Badge}>unique<//> `}${x.type !== 'BTREE' && html`<${Link} to=${['search', shape.db, shape.table, x.name]}><${Badge}>${x.type === 'INVERTED' ? 'search' : x.type.toLowerCase()}<//><//> `}${!x.visible && html`<${Badge} kind="warn">invisible<//> `}
					${x.reads !== undefined && Number(x.reads) === 0 && x.name !== 'PRIMARY' && html`<${Badge} kind="warn">not used<//>`}${x.comment && html`<small>${x.comment}</small>`}</td>
				<td><code>${x.columns.join(', ')}</code>${x.include && html`<small>INCLUDE (${x.include.join(', ')})</small>`}${x.where && html`<small>WHERE ${x.where}</small>`}</td>
				<td class="number">${x.bytes === undefined ? '–' : bytes(x.bytes)}</td><td class="number">${number(x.cardinality)}</td><td class="number">${x.reads === undefined ? '–' : number(x.reads)}</td>
				<td class="number">${x.name !== 'PRIMARY' && html`<${Button} kind="bare" onClick=${() => hide(x)}>${x.visible ? 'Hide' : 'Show'}<//><${Button} kind="bare" icon="trash" label=${`Drop the index ${x.name}`} onClick=${() => drop(x)} />`}</td>
			</tr>`)}</tbody></table>
		${data.without !== undefined && html`<p class="muted">Without an index ${number(data.without)} rows were read. Numbers count from the start of the server, or from TRUNCATE of performance_schema.table_io_waits_summary_by_index_usage.</p>`}`}
	</div>`;
}
