// What a file of rows is: its form, its columns and their types, by its beginning. Nothing
// here needs a browser.

/** How much of a file is looked at, in bytes. */
export const sampleSize = 64 << 10;

const kinds = [
	[/^PK\x03\x04/, 'a ZIP archive or a spreadsheet: save the sheet as CSV'],
	[/^PAR1/, 'a Parquet file: write it as CSV or JSON lines'],
	[/^SQLite format 3/, 'a database of SQLite: export a table as CSV'],
	[/^(\xff\xfe|\xfe\xff)/, 'a text in UTF-16: save it in UTF-8'],
	[/^%PDF/, 'a PDF'],
	[/^(BZh|7z\xbc|\xfd7zXZ)/, 'compressed in a way that is not known here: gzip and zstd are'],
];

/** How the first bytes of a file are compressed: 'gzip', 'zstd' or ''. */
export function compression(head) {
	if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
	return head[0] === 0x28 && head[1] === 0xb5 && head[2] === 0x2f && head[3] === 0xfd ? 'zstd' : '';
}

/** The text of a file's first bytes. Throws an Error that says why they are no text. */
export function decode(head, whole) {
	const first = String.fromCharCode(...head.subarray(0, 16));
	const kind = kinds.find(([re]) => re.test(first));
	if (kind) throw new Error(`This is ${kind[1]}.`);
	let text;
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !whole });
	} catch {
		throw new Error('The file is not in UTF-8. Convert it, such as by: iconv -f WINDOWS-1252 -t UTF-8');
	}
	if (text.includes('\0')) throw new Error('The file has bytes that are no text.');
	return text;
}

/**
 * Cuts a text into records, as LOAD DATA does: in CSV a field that begins with a quote goes on
 * to the quote before the next delimiter. push takes pieces of the text, the last one with last
 * set, and calls take(record) for each record that is complete.
 */
export class Splitter {
	constructor(form, take) {
		Object.assign(this, { form, take, rest: '' });
	}

	push(text, last = false) {
		text = this.rest + text;
		const { format, delimiter, newline = '\n' } = this.form;
		let from = 0;
		while (from < text.length) {
			let end = from;
			if (format === 'csv') {
				// Field by field: only its start says whether quotes count.
				for (;;) {
					if (text[end] === '"') end = closing(text, end + 1, delimiter, newline);
					while (end < text.length && text[end] !== delimiter && !text.startsWith(newline, end)) end++;
					if (end >= text.length || text[end] !== delimiter) break;
					end++;
				}
			} else {
				for (;;) {
					end = text.indexOf(newline, end);
					if (end < 0) end = text.length;
					if (format !== 'tsv' || end >= text.length || !escaped(text, end, from)) break;
					end += newline.length;
				}
			}
			if (end >= text.length) break;
			this.take(text.slice(from, end));
			from = end + newline.length;
		}
		this.rest = text.slice(from);
		if (!last) return;
		if (this.rest) this.take(this.rest);
		this.rest = '';
	}
}

// escaped reports whether the newline at i belongs to a field: a backslash is before it.
function escaped(text, i, from) {
	let n = 0;
	while (i - n > from && text[i - n - 1] === '\\') n++;
	return n % 2 === 1;
}

// closing is the place after the quote that ends a field.
function closing(text, i, delimiter, newline) {
	for (;;) {
		i = text.indexOf('"', i);
		if (i < 0) return text.length;
		if (text[i + 1] === '"') i += 2;
		else if (i + 1 >= text.length || text[i + 1] === delimiter || text.startsWith(newline, i + 1)) return i + 1;
		else i++;
	}
}

const escapes = { n: '\n', t: '\t', r: '\r', 0: '\0', b: '\b', Z: '\x1a' };

/** The fields of a record of CSV or TSV: texts, and null for NULL. */
export function fields(record, { format, delimiter, newline = '\n' }) {
	const list = [];
	if (format === 'tsv') {
		const parts = [];
		let from = 0;
		for (let i = 0; i <= record.length; i++) {
			if (record[i] === '\\') i++;
			else if (i === record.length || record[i] === delimiter) {
				parts.push(record.slice(from, i));
				from = i + 1;
			}
		}
		if (from <= record.length && parts.length === 0) parts.push(record.slice(from));
		return parts.map((p) => p === '\\N' ? null : p.replace(/\\([^])/g, (_, c) => escapes[c] ?? c));
	}
	for (let i = 0; ;) {
		if (record[i] === '"') {
			const end = closing(record, i + 1, delimiter, newline);
			const next = record.indexOf(delimiter, end);
			const to = record[end - 1] === '"' && end > i + 1 ? end - 1 : end;
			list.push(record.slice(i + 1, to).replaceAll('""', '"'));
			if (end >= record.length || next < 0) return list;
			i = next + 1;
		} else {
			const end = record.indexOf(delimiter, i);
			const v = record.slice(i, end < 0 ? undefined : end);
			list.push(v === 'NULL' ? null : v);
			if (end < 0) return list;
			i = end + 1;
		}
	}
}

// object reads a line of JSON: a Map of texts by key. Numbers keep their digits; what is no
// text is marked in `shapes`: number, boolean, json.
function object(line, shapes) {
	const sources = new Map(); // of numbers, by the object that they are in
	const v = JSON.parse(line, function (key, x, context) {
		if (typeof x === 'number') {
			if (!sources.has(this)) sources.set(this, {});
			sources.get(this)[key] = context?.source ?? String(x);
		}
		return x;
	});
	if (v === null || typeof v !== 'object' || Array.isArray(v)) throw new Error('not an object');
	const out = new Map();
	for (const [key, x] of Object.entries(v)) {
		const shape = x === null ? '' : typeof x === 'object' ? 'json' : typeof x;
		if (shape) (shapes.get(key) ?? shapes.set(key, new Set()).get(key)).add(shape);
		out.set(key, x === null ? null : shape === 'json' ? JSON.stringify(x) : shape === 'number' ? sources.get(v)?.[key] ?? String(x) : String(x));
	}
	return out;
}

/** Records of the beginning of a text; whole: it is all of it. An incomplete one is left out. */
export function split(text, form, whole, most = Infinity) {
	const records = [];
	new Splitter(form, (r) => { if (records.length < most) records.push(r); }).push(text, whole);
	return records;
}

const delimiters = [',', '\t', ';', '|'];

/** The form of a text: {format, delimiter, newline}, by it and the name of its file. */
export function form(text, name = '', whole = true) {
	const start = text.trimStart();
	const newline = /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n';
	const bare = name.toLowerCase().replace(/\.(gz|gzip|zst|zstd)$/, '');
	if (start[0] === '[' && /^\[\s*[{\]]/.test(start)) throw new Error('This is one array of JSON. JSON lines have an object in each line, without commas between them: jq -c .[] FILE');
	const [line] = start.split('\n');
	if (start[0] === '{' && (/\.(jsonl|ndjson|json)$/.test(bare) || isObject(line))) {
		if (!isObject(line) && (whole || line.length < start.length)) throw new Error('An object of JSON goes over several lines. JSON lines have one in each line: jq -c . FILE');
		return { format: 'ndjson', delimiter: '', newline: '\n' };
	}
	let best = null;
	for (const delimiter of delimiters) {
		const format = delimiter === '\t' && !/(^|\t|\n)"[^"\t\n]*([^"]|"")*"(\t|\r?\n|$)/.test(text) ? 'tsv' : 'csv';
		const f = { format, delimiter, newline };
		const rows = split(text, f, whole, 200).filter((r) => r).map((r) => fields(r, f));
		const lengths = rows.map((r) => r.length);
		if (!lengths.length) continue;
		const common = mode(lengths);
		// Records of the same length, more than one field in them, and no quotes cut apart.
		const same = rows.filter((r) => r.length === common && !r.some((v) => v !== null && v.split('"').length % 2 === 0)).length / rows.length;
		const score = common === 1 ? 0 : same * 10 + Math.min(common, 20) / 10 + (delimiter === '\t' && /\.(tsv|tab)$/.test(bare) ? 5 : 0);
		if (!best || score > best.score) best = { ...f, score };
	}
	if (!best) throw new Error('The file is empty.');
	if (best.score === 0 && /\.(tsv|tab)$/.test(bare)) return { format: 'tsv', delimiter: '\t', newline };
	return { format: best.format, delimiter: best.delimiter, newline: best.newline };
}

function isObject(line) {
	try {
		const v = JSON.parse(line);
		return v !== null && typeof v === 'object' && !Array.isArray(v);
	} catch {
		return false;
	}
}

function mode(list) {
	const counts = new Map();
	for (const n of list) counts.set(n, (counts.get(n) ?? 0) + 1);
	return [...counts].sort((a, b) => b[1] - a[1] || b[0] - a[0])[0][0];
}

const isWord = (s) => s !== null && /^[\p{L}_][\p{L}\p{N}_ .:()/%$#-]*$/u.test(s.trim()) && !/^(true|false|null)$/i.test(s.trim());

// hasHeader guesses whether the first record has names: words, all different, over columns of
// which one at least has other values, such as numbers.
function hasHeader(rows) {
	const first = rows[0];
	if (!first || !first.every(isWord) || new Set(first.map((s) => s.toLowerCase().trim())).size < first.length) return false;
	if (rows.length === 1) return true;
	return first.some((name, i) => {
		const values = rows.slice(1, 101).map((r) => r[i]).filter((v) => v);
		return values.length > 0 && (values.every((v) => !isWord(v)) || !values.includes(name) && /(^|[_ ])(id|name|key|date|time|type|status|code|value|title|email|city|country|text)s?$/i.test(name.trim()));
	}) || first.every((name, i) => !rows.slice(1).some((r) => r[i] === name)) && rows.length > 20;
}

/**
 * All that a text says. Options that are set are taken rather than guessed: format,
 * delimiter, header, emptyNull (empty fields are NULL). The value has them, and
 *   names    of the fields, as they are in the file or made: column1, …
 *   rows     arrays of texts and null, as long as names or not
 *   columns  [{name, type, key, note, samples}]: name is one that a column can have
 *   bad      numbers of rows that cannot be read, with the reason
 */
export function guess(text, { name, whole = true, ...set } = {}) {
	const f = set.format === undefined ? form(text, name, whole) : {
		format: set.format, delimiter: { csv: ',', tsv: '\t', ndjson: '' }[set.format], newline: set.format !== 'ndjson' && /^[^\n]*\r\n/.test(text) ? '\r\n' : '\n',
	};
	if (set.delimiter !== undefined && f.format !== 'ndjson') f.delimiter = set.delimiter;
	const records = split(text, f, whole).filter((r) => f.format !== 'ndjson' || r.trim());
	const bad = new Map();
	let names, rows, header = false, shapes = new Map();
	if (f.format === 'ndjson') {
		names = [];
		const seen = new Map();
		const objects = records.map((r, i) => {
			try {
				const o = object(r, shapes);
				for (const k of o.keys()) if (!seen.has(k)) seen.set(k, names.push(k) - 1);
				return o;
			} catch (e) {
				bad.set(i, `no object of JSON: ${e.message}`);
				return new Map();
			}
		});
		rows = objects.map((o) => names.map((n) => o.get(n) ?? null));
	} else {
		rows = records.map((r) => fields(r, f));
		header = set.header ?? hasHeader(rows);
		const n = rows.length ? header ? rows[0].length : mode(rows.map((r) => r.length)) : 0;
		names = header ? rows[0].map((v) => v ?? 'NULL') : Array.from({ length: n }, (_, i) => `column${i + 1}`);
		if (header) rows = rows.slice(1);
		rows.forEach((r, i) => { if (r.length !== n) bad.set(i, `${r.length} fields, not ${n}`); });
	}
	const column = (i, from) => from.map((r) => r[i]).filter((v) => v !== undefined);
	const good = rows.filter((_, i) => !bad.has(i));
	// Empty fields are NULL where they are among numbers or dates.
	const emptyNull = set.emptyNull ?? (f.format !== 'ndjson' && names.some((_, i) => {
		const values = column(i, good);
		return values.includes('') && !/^(VARCHAR|TEXT)/.test(typeOf(values.filter((v) => v !== '')).type);
	}));
	const used = new Set();
	const columns = names.map((n, i) => {
		const values = column(i, good).map((v) => v === '' && emptyNull ? null : v);
		const t = typeOf(values, shapes.get(n), n);
		return { name: columnName(n, i, used), ...t, unique: isUnique(values), grows: grows(values, t.type), nulls: values.includes(null) };
	});
	return { ...f, header, emptyNull, names, rows, columns, bad, key: keyOf(columns) };
}

// columnName makes a name that a column can have, and no other has.
function columnName(name, i, used) {
	let n = [...name.trim().replace(/[\0-\x1f]/g, ' ')].slice(0, 60).join('').trim() || `column${i + 1}`;
	for (let k = 2, base = n; used.has(n.toLowerCase()); k++) n = `${base}_${k}`;
	used.add(n.toLowerCase());
	return n;
}

const integer = /^-?(0|[1-9]\d*)$/;
const decimal = /^-?\d*\.\d+$|^-?\d+\.?$/;
const float = /^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const datePattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const datetimePattern = /^(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/;

const isDate = (s) => {
	const m = datePattern.exec(s);
	if (!m || +m[1] === 0) return false;
	const d = new Date(Date.UTC(+m[1], m[2] - 1, +m[3]));
	return d.getUTCMonth() === m[2] - 1 && d.getUTCDate() === +m[3];
};

const isDatetime = (s) => {
	const m = datetimePattern.exec(s);
	return !!m && isDate(m[1]) && +m[2] < 24 && +m[3] < 60 && +(m[4] ?? 0) < 60;
};

function isJSON(s) {
	if (!/^\s*[[{]/.test(s)) return false;
	try {
		JSON.parse(s);
		return true;
	} catch {
		return false;
	}
}

const length = (s) => {
	let n = 0;
	for (const _ of s) n++;
	return n;
};

/** The narrowest type that has room for values like these, and what is worth a note. */
export function typeOf(values, shapes, name = '') {
	const list = values.filter((v) => v !== null && v !== undefined);
	const all = (test) => list.every(test);
	if (!list.length) return { type: 'VARCHAR(255)', note: 'no values in the sample' };
	if (shapes?.has('json')) {
		return shapes.has('string') ? { type: 'TEXT', note: 'objects among texts' } : { type: 'JSON', note: '' };
	}
	if (!shapes || !shapes.has('string')) {
		if (all((v) => /^(true|false)$/i.test(v)) && (!shapes || shapes.has('boolean'))) return { type: 'BOOLEAN', note: '' };
		if (shapes?.has('boolean')) return { type: 'VARCHAR(50)', note: 'true and false among numbers' };
		const n = number(list, name);
		if (n) return n;
	}
	if (all(isDate)) return { type: 'DATE', note: '' };
	if (all((v) => isDatetime(v) || isDate(v))) {
		const digits = Math.min(6, Math.max(0, ...list.map((v) => (datetimePattern.exec(v)?.[5] ?? '').length)));
		return { type: digits ? `DATETIME(${digits})` : 'DATETIME', note: '' };
	}
	const zone = all((v) => /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(v)) && 'times with a zone stay text';
	const foreign = all((v) => /^\d{1,2}[./]\d{1,2}[./]\d{4}\b/.test(v)) && 'dates are read as year-month-day only';
	if (!shapes && all(isJSON)) return { type: 'JSON', note: '' };
	const comma = all((v) => /^-?\d+,\d+$/.test(v)) && 'text, since a comma is no decimal point';
	const zeros = list.some((v) => /^0\d+$/.test(v)) && all((v) => /^\d+$/.test(v)) && 'text, since zeros lead';
	const longest = list.reduce((m, v) => Math.max(m, length(v)), 0);
	const note = zone || foreign || comma || zeros || '';
	if (longest > 2000) return { type: longest > 15_000 ? 'LONGTEXT' : 'TEXT', note };
	const room = [20, 50, 100, 255].find((n) => n >= longest * 1.5) ?? (longest <= 255 ? 500 : 4000);
	return { type: `VARCHAR(${room})`, note };
}

// number is the type of numbers, or null.
function number(list, name) {
	if (list.every((v) => integer.test(v))) {
		let least = 0n, most = 0n;
		for (const v of list) {
			if (v.length > 70) return null;
			const n = BigInt(v);
			if (n < least) least = n;
			if (n > most) most = n;
		}
		// The rest of the file may have more: INT only far from its end, and not for keys.
		if (most < 100_000_000n && least > -100_000_000n && !/(^|_|\b)id$|Id$|ID$|number$|bytes$/.test(name)) return { type: 'INT', note: '' };
		if (most < 1n << 63n && least >= -(1n << 63n)) return { type: 'BIGINT', note: '' };
		if (least >= 0n && most < 1n << 64n) return { type: 'BIGINT UNSIGNED', note: '' };
		const digits = Math.max(String(most).length, String(-least).length);
		return digits <= 65 ? { type: `DECIMAL(${digits})`, note: 'more digits than BIGINT' } : null;
	}
	if (list.some((v) => /^-?0\d/.test(v))) return null;
	if (list.every((v) => decimal.test(v))) {
		let whole = 1, scale = 0, significant = 0;
		for (const v of list) {
			const [a, b = ''] = v.replace('-', '').split('.');
			whole = Math.max(whole, a.length);
			scale = Math.max(scale, b.length);
			significant = Math.max(significant, (a + b).replace(/^0+/, '').length);
		}
		// Money and measured values of few digits stay exact; others of 15 digits at most are
		// what DOUBLE keeps.
		if (scale <= 4 || significant > 15) {
			if (whole + scale > 65 || scale > 30) return { type: 'DOUBLE', note: 'rounded to about 16 digits' };
			return { type: `DECIMAL(${Math.min(65, Math.max(10, whole + scale + 4))},${scale})`, note: '' };
		}
		return { type: 'DOUBLE', note: '' };
	}
	return list.every((v) => float.test(v)) ? { type: 'DOUBLE', note: '' } : null;
}

function isUnique(values) {
	return values.length > 0 && !values.includes(null) && !values.includes('') && new Set(values).size === values.length;
}

/** Whether values only grow, as numbers that count up and times of events do. */
export function grows(values, type) {
	const list = values.filter((v) => v !== null);
	if (list.length < 3) return false;
	const n = /^(INT|BIGINT|DECIMAL|DOUBLE)/.test(type);
	if (!n && !/^DATE/.test(type)) return false;
	let more = 0;
	for (let i = 1; i < list.length; i++) {
		const a = n ? Number(list[i - 1]) : list[i - 1], b = n ? Number(list[i]) : list[i];
		if (b < a) return false;
		if (b > a) more++;
	}
	return more * 2 >= list.length - 1;
}

/** Whether a column can be in a key. */
export const canBeKey = (type) => !/^(TEXT|LONGTEXT|JSON|BLOB|DOUBLE|FLOAT)/i.test(type.trim());

// keyOf guesses the primary key: the index of a column, or -1.
function keyOf(columns) {
	const able = columns.map((c, i) => ({ ...c, i })).filter((c) => c.unique && canBeKey(c.type) && !/^(DECIMAL\(\d+,|BOOLEAN|DATE$)/.test(c.type));
	const named = (re) => able.find((c) => re.test(c.name));
	const found = named(/^(id|_id|uuid|guid|key)$/i) ?? named(/(^|[_ ])(id|uuid|guid|key|code|no|number)$/i) ?? named(/Id$/) ?? (able[0]?.i === 0 ? able[0] : undefined);
	return found ? found.i : -1;
}

const limits = { tinyint: 8n, smallint: 16n, mediumint: 24n, int: 32n, integer: 32n, bigint: 64n };
const textSizes = { tinytext: 255, text: 65_535, mediumtext: 16_777_215, tinyblob: 255, blob: 65_535, mediumblob: 16_777_215 };
const utf8 = new TextEncoder();

/**
 * Why a value does not fit a column of a type, as SHOW COLUMNS or a CREATE TABLE writes it;
 * '' if it does, or if that is not known here. booleans: true and false are numbers.
 */
export function misfit(type, value, { nullable = true, booleans = false } = {}) {
	if (value === null || value === undefined) return nullable ? '' : 'NULL';
	const m = /^\s*([a-z]+)\s*(?:\(([^)]*)\))?(.*)$/i.exec(type);
	if (!m) return '';
	let [, base, args, rest] = m;
	base = base.toLowerCase();
	const v = value.trim();
	if (base === 'boolean' || base === 'bool' || base === 'tinyint' && args === '1') {
		if (booleans && /^(true|false)$/i.test(v)) return '';
		base = 'tinyint';
	}
	if (limits[base]) {
		if (!float.test(v.replace(/^\+/, ''))) return v === '' ? 'empty' : 'no integer';
		if (!/^[-+]?\d+$/.test(v)) return '';
		const n = BigInt(v.replace(/^\+/, '')), unsigned = /unsigned/i.test(rest), bits = limits[base];
		const least = unsigned ? 0n : -(1n << bits - 1n), most = unsigned ? (1n << bits) - 1n : (1n << bits - 1n) - 1n;
		return n < least || n > most ? 'out of range' : '';
	}
	switch (base) {
	case 'decimal': case 'numeric': case 'dec': {
		if (!float.test(v.replace(/^\+/, ''))) return v === '' ? 'empty' : 'no number';
		const [p, s = 0] = (args ?? '10,0').split(',').map(Number);
		const whole = v.replace(/^[-+]?0*/, '').split('.')[0].length;
		return !/e/i.test(v) && whole > p - s ? 'too many digits' : '';
	}
	case 'float': case 'double': case 'real':
		return float.test(v.replace(/^\+/, '')) ? '' : v === '' ? 'empty' : 'no number';
	case 'date':
		return isDate(v) || isDatetime(v) ? '' : v === '' ? 'empty' : 'no date';
	case 'datetime': case 'timestamp':
		return isDate(v) || isDatetime(v) || /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?[+-]\d\d:\d\d$/.test(v) ? '' : v === '' ? 'empty' : 'no time';
	case 'time':
		return /^-?\d{1,3}:\d\d(:\d\d(\.\d+)?)?$/.test(v) ? '' : v === '' ? 'empty' : 'no time';
	case 'year':
		return /^\d{4}$/.test(v) ? '' : 'no year';
	case 'json':
		try {
			JSON.parse(value);
			return '';
		} catch {
			return 'no JSON';
		}
	case 'char': case 'varchar': case 'nchar': case 'nvarchar':
		return args && length(value) > Number(args) ? `longer than ${args}` : '';
	case 'binary': case 'varbinary':
		return args && utf8.encode(value).length > Number(args) ? `longer than ${args}` : '';
	case 'enum':
		return args !== undefined && !items(type).some((x) => x.toLowerCase() === value.toLowerCase()) ? 'not in the list' : '';
	default:
		return textSizes[base] && utf8.encode(value).length > textSizes[base] ? 'too long' : '';
	}
}

const items = (type) => [...type.matchAll(/'((?:[^']|'')*)'/g)].map((m) => m[1].replaceAll("''", "'"));

const quote = (name) => '`' + name.replaceAll('`', '``') + '`';

/** The CREATE TABLE of columns [{name, type}]; key has names, none of them: an id that counts. */
export function createTable(db, table, columns, key) {
	const lines = [];
	let id = 'id';
	if (!key.length) {
		while (columns.some((c) => c.name.toLowerCase() === id)) id += '_';
		lines.push(`${quote(id)} BIGINT NOT NULL AUTO_INCREMENT`);
	}
	for (const c of columns) lines.push(`${quote(c.name)} ${c.type}${key.includes(c.name) ? ' NOT NULL' : ''}`);
	lines.push(`PRIMARY KEY (${(key.length ? key : [id]).map(quote).join(', ')})`);
	return `CREATE TABLE ${quote(db)}.${quote(table)} (\n  ${lines.join(',\n  ')}\n)`;
}

/** A name for the table of a file. */
export function tableName(file) {
	const base = file.replace(/^.*[/\\]/, '').replace(/\.(gz|gzip|zst|zstd)$/i, '').replace(/\.(csv|tsv|tab|txt|jsonl|ndjson|json)$/i, '');
	return [...base.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '')].slice(0, 60).join('') || 'imported';
}

/**
 * Which column each field goes into: its index in columns [{name, generated}], or -1. With
 * names by name, in any case of letters; else in the order of the columns.
 */
export function mapping(names, columns, named) {
	const able = columns.map((c, i) => i).filter((i) => !columns[i].generated);
	if (!named) return names.map((_, i) => able[i] ?? -1);
	const free = new Map(able.map((i) => [columns[i].name.toLowerCase(), i]));
	return names.map((n) => {
		const name = n.trim().toLowerCase(), i = free.get(name) ?? -1;
		free.delete(name);
		return i;
	});
}
