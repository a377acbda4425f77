// Results as files. The statement runs again without a limit, and what comes is written on.
import { id, query, text } from '../api.js';
import { hex, isNumber, plain } from '../table.js';

const csv = (v) => v === null ? 'NULL' : /[",\r\n]|^NULL$|^$/.test(v = plain(v)) ? '"' + v.replaceAll('"', '""') + '"' : v;

const markdown = (v) => v === null ? 'NULL' : plain(v).replace(/[\\|`*_<>[\]]/g, '\\$&').replace(/\r?\n/g, '<br>');

const literal = (v, c) => {
	if (v === null) return 'NULL';
	if (c.encoding === 'base64') return v === '' ? "''" : hex(v);
	if (c.encoding === 'wkt') return `ST_GeomFromText(${text(v)})`;
	return isNumber(c) ? String(v) : text(plain(v));
};

/** The forms: how the head, some rows and the end are written. */
export const forms = {
	csv: { title: 'CSV', type: 'text/csv', head: (cols) => cols.map((c) => csv(c.name)).join(',') + '\n', rows: (rows) => rows.map((r) => r.map(csv).join(',') + '\n').join('') },
	json: {
		title: 'JSON lines', type: 'application/x-ndjson', ending: 'jsonl', head: () => '',
		rows: (rows, cols) => rows.map((r) => JSON.stringify(Object.fromEntries(cols.map((c, i) => [c.name, r[i]]))) + '\n').join(''),
	},
	markdown: {
		title: 'Markdown', type: 'text/markdown', ending: 'md',
		head: (cols) => `| ${cols.map((c) => markdown(c.name)).join(' | ')} |\n|${cols.map((c) => isNumber(c) ? '--:' : '---').join('|')}|\n`,
		rows: (rows) => rows.map((r) => `| ${r.map(markdown).join(' | ')} |\n`).join(''),
	},
	insert: {
		title: 'INSERT statements', type: 'application/sql', ending: 'sql', head: () => '',
		rows: (rows, cols) => {
			const into = `INSERT INTO ${id(cols.find((c) => c.table)?.table ?? 't')} (${cols.map((c) => id(c.name)).join(', ')}) VALUES\n`;
			let out = '';
			for (let i = 0; i < rows.length; i += 500) out += into + rows.slice(i, i + 500).map((r) => `  (${r.map((v, k) => literal(v, cols[k])).join(', ')})`).join(',\n') + ';\n';
			return out;
		},
	},
};

/** Rows that are there as text. */
export const format = (form, columns, rows) => forms[form].head(columns) + forms[form].rows(rows, columns);

/** Gives a file to the user. */
export function save(parts, name, type) {
	const a = document.createElement('a');
	a.href = URL.createObjectURL(new Blob(parts, { type }));
	a.download = name;
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}

/** Runs a statement, and saves all of its rows. */
export async function exportAll(form, sql, { db, signal, onProgress }) {
	const f = forms[form];
	const name = `result-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${f.ending ?? form}`;
	let columns, n = 0, writer = null;
	const parts = [];
	if (window.showSaveFilePicker) {
		try {
			writer = await (await showSaveFilePicker({ suggestedName: name })).createWritable();
		} catch (e) {
			if (e.name === 'AbortError') return;
		}
	}
	let chain = Promise.resolve();
	const write = (t) => {
		if (writer) chain = chain.then(() => writer.write(t));
		else parts.push(new Blob([t]));
	};
	await query(sql, [], {
		db, signal,
		onColumns: (c) => { columns = c; write(f.head(c)); },
		onRows: (rows) => { write(f.rows(rows, columns)); onProgress(n += rows.length); },
	});
	await chain;
	if (writer) await writer.close();
	else save(parts, name, f.type);
}
