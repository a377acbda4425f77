// One result: its rows as a table, a chart or a map, and what can be done with them.
import { Fragment, html, useMemo, useState } from '../vendor/preact.js';
import { count, duration, number } from '../format.js';
import { Table, hex, plain, typeName } from '../table.js';
import { Button, Dialog, Empty, Failure, Menu, copy, notify } from '../ui.js';
import { chartable, ResultChart } from './chart.js';
import { exportAll, format, forms, save } from './export.js';
import { placesOf, ResultMap } from './map.js';
import { readOnly } from './split.js';

/** JSON that can be folded. */
export function Json({ value, name }) {
	const label = name === undefined ? null : html`<span class="json-name">${name}: </span>`;
	const [all, setAll] = useState(false);
	if (value !== null && typeof value === 'object' && !JSON.isRawJSON?.(value)) {
		const list = Array.isArray(value) ? value.map((v, i) => [i, v]) : Object.entries(value);
		const [open, close] = Array.isArray(value) ? '[]' : '{}';
		if (!list.length) return html`<div>${label}${open}${close}</div>`;
		return html`<details open=${list.length <= 20}><summary>${label}${open} <small class="muted">${list.length}</small> ${close}</summary>
			${(all ? list : list.slice(0, 200)).map(([k, v]) => html`<${Json} key=${k} name=${k} value=${v} />`)}
			${!all && list.length > 200 && html`<${Button} kind="bare" onClick=${() => setAll(true)}>${number(list.length - 200)} more<//>`}
		</details>`;
	}
	const kind = typeof value === 'string' ? 'string' : typeof value === 'boolean' || value === null ? 'keyword' : 'figure';
	return html`<div>${label}<span class=${'json-' + kind}>${JSON.stringify(value)}</span></div>`;
}

// dump is bytes as lines of offset, hexadecimal and ASCII.
function dump(base64) {
	const h = hex(base64).slice(2), lines = [];
	for (let i = 0; i < h.length && lines.length < 4096; i += 32) {
		const part = h.slice(i, i + 32);
		const ascii = part.replace(/../g, (b) => { const n = parseInt(b, 16); return n >= 32 && n < 127 ? String.fromCharCode(n) : '.'; });
		lines.push((i / 2).toString(16).padStart(6, '0') + '  ' + part.replace(/../g, '$& ').padEnd(49) + ' ' + ascii);
	}
	return lines.join('\n');
}

function Value({ value, column }) {
	if (value === null) return html`<p><i class="null">NULL</i></p>`;
	if (column.type === 'json' && typeof value === 'object') return html`<div class="json"><${Json} value=${value} /></div>`;
	if (column.encoding === 'base64') return html`<pre class="text" tabindex="0">${dump(value)}</pre>`;
	return html`<pre class="text" tabindex="0">${plain(value)}</pre>`;
}

function Cell({ row, index, column, columns, onClose }) {
	const c = columns[column];
	return html`<${Dialog} wide title=${`${c.name}, row ${number(index + 1)}`} onClose=${onClose} foot=${html`<${Button} icon="copy" onClick=${() => copy(c.encoding === 'base64' ? hex(row[column]) : plain(row[column]))}>Copy<//>`}>
		<p class="muted">${typeName(c)}${c.nullable ? '' : ' not null'}${c.table ? `, of ${c.table}` : ''}${c.encoding === 'base64' && row[column] ? `, ${count((hex(row[column]).length - 2) / 2, 'byte')}` : ''}</p>
		<${Value} value=${row[column]} column=${c} />
		<details><summary>The whole row</summary>
			<table class="row-facts"><tbody>${columns.map((o, i) => html`<tr key=${i}><th scope="row">${o.name}</th><td>${row[i] === null ? html`<i class="null">NULL</i>` : o.encoding === 'base64' ? hex(row[i], 64) : plain(row[i])}</td></tr>`)}</tbody></table>
		</details>
	<//>`;
}

/**
 * A result: {sql, columns, rows, end, error, running}. view is 'table', 'chart' or 'map';
 * onMore(n) runs the statement with more rows.
 */
export function Result({ result, db, view, onView, onMore, onCondition }) {
	const { sql, columns, rows, end, error, running } = result;
	const [open, setOpen] = useState(null);
	const [exporting, setExporting] = useState(null);
	const places = useMemo(() => columns && placesOf(columns, rows), [columns, rows.length]);
	if (!columns) {
		return html`<div class="result"><${Failure} error=${error} hint=${error && result.statement ? `In statement ${result.statement}.` : undefined} />
			${end && html`<p class="done" role="status">Done. ${end.affected_rows !== undefined && count(end.affected_rows, 'row') + ' affected. '}${end.last_insert_id ? `Last inserted id ${end.last_insert_id}. ` : ''}${end.info ?? ''} <span class="muted">${duration(end.elapsed_ms / 1000)}${end.warnings ? `, ${count(end.warnings, 'warning')}` : ''}</span></p>`}
			${!error && !end && html`<${Empty}>${running ? 'Running…' : 'No result.'}<//>`}</div>`;
	}
	const again = readOnly(sql);
	const runExport = async (form) => {
		if (!again || end && !end.truncated) {
			save([format(form, columns, rows)], `result.${forms[form].ending ?? form}`, forms[form].type);
			return;
		}
		const control = new AbortController();
		setExporting({ n: 0, stop: () => control.abort() });
		try {
			await exportAll(form, sql, { db, signal: control.signal, onProgress: (n) => setExporting((e) => e && { ...e, n }) });
		} catch (e) {
			if (e.name !== 'AbortError') notify('The export failed: ' + e.message);
		}
		setExporting(null);
	};
	const now = view === 'map' && places ? 'map' : view === 'chart' && chartable(columns, rows) ? 'chart' : 'table';
	const mode = (v, icon, title) => html`<${Button} icon=${icon} pressed=${now === v} onClick=${() => onView(v)}>${title}<//>`;
	return html`<div class="result">
		<div class="result-bar">
			<span role="status">${count(rows.length, 'row')}${end?.truncated ? ', more are there' : ''}</span>
			${end && html`<span class="muted">${duration(end.elapsed_ms / 1000)}${end.warnings ? `, ${count(end.warnings, 'warning')}` : ''}</span>`}
			${end?.truncated && again && [10_000, 100_000].filter((n) => n > rows.length).map((n) => html`<${Button} key=${n} onClick=${() => onMore(n)}>Load ${number(n)}<//>`)}
			<div class="tools">
				${exporting && html`<${Fragment}><small>${number(exporting.n)} rows saved</small><${Button} onClick=${exporting.stop}>Stop<//><//>`}
				${mode('table', 'table', 'Table')}
				${chartable(columns, rows) && mode('chart', 'chart', 'Chart')}
				${places && mode('map', 'map', 'Map')}
				<${Menu} icon="download" label="Export or copy" items=${[
					...Object.entries(forms).map(([k, f]) => ({ title: f.title + (again && end?.truncated ? ', all rows' : ''), icon: 'download', run: () => runExport(k) })), null,
					...['csv', 'markdown'].map((k) => ({ title: `Copy as ${forms[k].title}`, icon: 'copy', run: () => copy(format(k, columns, rows), `${count(rows.length, 'row')} copied`) })),
				]} />
			</div>
		</div>
		<${Failure} error=${error} />
		${now === 'table' && html`<${Table} label="Result" height="fill" types columns=${columns} rows=${rows} empty="No rows." onOpen=${(row, column, index) => setOpen({ row, column, index })} />`}
		${now === 'chart' && html`<${ResultChart} columns=${columns} rows=${rows} />`}
		${now === 'map' && html`<${ResultMap} columns=${columns} rows=${rows} onCondition=${onCondition} />`}
		${open && html`<${Cell} ...${open} columns=${columns} onClose=${() => setOpen(null)} />`}
	</div>`;
}
