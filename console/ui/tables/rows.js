// Statements that read some rows of a table.
import { id, query } from '../api.js';

const longest = 300; // characters of a value in a list

const long = ([, type, , , , , , , , kind, octets]) => /text|blob|json/.test(kind) || Number(octets) > 4 * longest;

/** Columns as they are selected for a list: long values only in part. */
export const select = (columns) => columns.map((c) => {
	const name = id(c[0]);
	return !long(c) ? name : c[9] === 'json' ? `LEFT(CAST(${name} AS CHAR), ${longest}) AS ${name}` : `LEFT(${name}, ${longest}) AS ${name}`;
}).join(', ');

/** The columns of the primary key as a list; NULL for a table without. */
export const keyOf = (shape) => shape.key.length ? shape.key.map(id).join(', ') : 'NULL';

/** First keys of up to n ranges of about equal size, as literals of SQL; none where the table
 * has no key that can be named. */
export async function starts(shape, n, signal) {
	if (!shape.stored || !shape.key.length) return [];
	const { rows } = await query("SELECT FIRST_KEY FROM information_schema.SQLOTS_KEY_RANGES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME = 'PRIMARY' AND FIRST_KEY IS NOT NULL ORDER BY RANGE_NO", [shape.db, shape.table], { signal });
	const keys = rows.map((r) => r[0]);
	return keys.length <= n ? keys : Array.from({ length: n }, (_, i) => keys[Math.floor(i * keys.length / n)]);
}

/** A statement that reads some rows from each of these keys on. */
export function spread(shape, list, from, each) {
	const key = keyOf(shape), of = shape.key.length > 1 ? `(${key})` : key;
	return from.map((first) => `(SELECT ${list} FROM ${shape.name} WHERE ${of} >= ${shape.key.length > 1 ? `(${first})` : first} ORDER BY ${key} LIMIT ${each})`).join('\nUNION ALL\n');
}
