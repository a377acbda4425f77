// The structure of a table: its columns, foreign keys, and definition.
import { html, useMemo } from '../vendor/preact.js';
import { query } from '../api.js';
import { usePoll } from '../data.js';
import { number } from '../format.js';
import { Link } from '../router.js';
import { Table } from '../table.js';
import { Button, Failure, Section, copy } from '../ui.js';

const word = (v) => v ?? '';

/** Why an account sees no definition, in words. */
export const denied = (error, what) => error?.code === 1142 || error?.code === 1227 || error?.code === 1044 ? `Your account may not see ${what}.` : undefined;

async function load({ db, table, name, stored }, signal) {
	const of = [db, table], opts = { signal };
	// The definition needs another privilege than the columns.
	const settled = async (p) => {
		try {
			return { rows: (await p).rows };
		} catch (error) {
			if (error.name === 'AbortError') throw error;
			return { rows: [], error };
		}
	};
	const none = { rows: [] };
	const [create, distinct, out, into, rules] = await Promise.all([
		settled(query(`SHOW CREATE TABLE ${name}`, [], opts)),
		stored ? settled(query('SELECT COLUMN_NAME, CARDINALITY FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND SEQ_IN_INDEX = 1 AND COLUMN_NAME IS NOT NULL', of, opts)) : none,
		stored ? settled(query(`SELECT CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE
			WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION`, of, opts)) : none,
		stored ? settled(query(`SELECT CONSTRAINT_NAME, REFERENCED_COLUMN_NAME, TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE
			WHERE REFERENCED_TABLE_SCHEMA = ? AND REFERENCED_TABLE_NAME = ? ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`, of, opts)) : none,
		stored ? settled(query('SELECT CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ? AND TABLE_NAME = ?', of, opts)) : none,
	]);
	return { create, distinct: new Map(distinct.rows), out: grouped(out.rows), into: grouped(into.rows), rules: new Map(rules.rows.map(([n, d, u]) => [n, `ON DELETE ${d} ON UPDATE ${u}`])) };
}

// grouped makes one of the rows of a foreign key: {name, own, db, table, other}.
function grouped(rows) {
	const list = [];
	for (const [name, own, db, table, other] of rows) {
		let k = list[list.length - 1];
		if (k?.name !== name || k.db !== db || k.table !== table) list.push(k = { name, own: [], db, table, other: [] });
		k.own.push(own);
		k.other.push(other);
	}
	return list;
}

/** The tab Structure. */
export function Structure({ shape }) {
	const { data, error } = usePoll((signal) => load(shape, signal), 0, [shape]);
	const create = data?.create.rows[0];
	const columns = useMemo(() => [
		{ title: 'column', get: (r) => r[0] }, { title: 'type', get: (r) => r[1] }, { title: 'NULL', get: (r) => r[2] === 'YES' ? 'yes' : 'no', width: 6 },
		{ title: 'key', hint: 'PRI: of the primary key, UNI: unique, MUL: begins an index', get: (r) => r[3], cell: word, width: 6 },
		{ title: 'default', get: (r) => r[4], cell: word, text: word }, { title: 'extra', get: (r) => [r[5], r[6]].filter(Boolean).join(' '), cell: word },
		...(data?.distinct.size ? [{ title: 'values', hint: 'different values, estimated, of columns that begin an index', get: (r) => data.distinct.get(r[0]), number: true, cell: number, text: number, width: 12 }] : []),
		{ title: 'collation', get: (r) => r[7], cell: word, text: word }, { title: 'comment', get: (r) => r[8], cell: word },
	], [data]);
	const foreign = (k, incoming) => html`<tr key=${[k.db, k.table, k.name].join('.')}><td>${k.name}</td><td><code>${k.own.join(', ')}</code></td>
		<td><${Link} to=${['tables', k.db, k.table]}>${k.db === shape.db ? '' : k.db + '.'}${k.table}<//> <code>(${k.other.join(', ')})</code></td><td>${incoming ? '' : data.rules.get(k.name)}</td></tr>`;
	const keys = (title, list, incoming) => list?.length > 0 && html`<${Section} title=${title}><table class="plain"><thead><tr><th scope="col">name</th><th scope="col">columns</th><th scope="col">${incoming ? 'of' : 'refers to'}</th><th scope="col">${incoming ? html`<span class="hidden">rules</span>` : 'rules'}</th></tr></thead>
		<tbody>${list.map((k) => foreign(k, incoming))}</tbody></table><//>`;
	return html`<div class="scroll">
		<${Failure} error=${error} />
		<${Table} label="Columns" columns=${columns} rows=${shape.columns} />
		${keys('Foreign keys', data?.out)}
		${keys('Referred to by', data?.into, true)}
		<${Section} title="Definition" tools=${create && html`<${Button} icon="copy" onClick=${() => copy(create[1])}>Copy<//>`}>
			<${Failure} error=${data?.create.error} hint=${denied(data?.create.error, 'the definition: it needs a privilege on the table as a whole, for a view SELECT and SHOW VIEW')} />
			${create && html`<pre class="sql" tabindex="0">${create[1]}</pre>`}
		<//>
	</div>`;
}
