// Tables of any length: only the rows that are visible are in the page.
import { html, useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from './vendor/preact.js';
import { Icon } from './icons.js';

const rowHeight = 25; // as in style.css
const around = 8; // rows above and below the visible ones

const numeric = /^(tinyint|smallint|mediumint|int|bigint|decimal|float|double|year|bit)/i;

/** Whether values of a column of query are numbers. */
export const isNumber = (column) => numeric.test(column.type ?? '');

/** Compares two values; NULL first. Long numbers are compared exactly. */
export function compare(a, b, number) {
	if (a === null || a === undefined) return b === null || b === undefined ? 0 : -1;
	if (b === null || b === undefined) return 1;
	if (number) {
		const x = Number(a), y = Number(b);
		if (x !== y || Number.isSafeInteger(x) && Number.isSafeInteger(y)) return x - y;
		if (/^-?\d+$/.test(a) && /^-?\d+$/.test(b)) {
			const p = BigInt(a), q = BigInt(b);
			return p < q ? -1 : p > q ? 1 : 0;
		}
		return 0;
	}
	if (typeof a === 'number' && typeof b === 'number') return a - b;
	a = String(a);
	b = String(b);
	return a < b ? -1 : a > b ? 1 : 0;
}

/** A value of query as text. */
export function plain(v) {
	if (v === null || v === undefined) return 'NULL';
	return typeof v === 'object' ? JSON.stringify(v) : String(v);
}

// cell is a value as it is shown. It is no component: a table has hundreds of cells.
function cell(value, column) {
	if (value === null || value === undefined) return html`<i class="null">NULL</i>`;
	if (column.encoding === 'base64') return html`<span class="bytes">${hex(value, 24)}</span>`;
	const s = plain(value);
	return s === '' ? html`<i class="null">empty</i>` : s.length > 300 ? s.slice(0, 300) + '…' : s;
}

/** The first bytes of a base64 text in hexadecimal, with the length of all. */
export function hex(base64, most = Infinity) {
	const n = base64.length / 4 * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
	const head = atob(most === Infinity ? base64 : base64.slice(0, Math.ceil(most / 3) * 4));
	const shown = Math.min(head.length, most);
	let s = '';
	for (let i = 0; i < shown; i++) s += head.charCodeAt(i).toString(16).padStart(2, '0');
	return (n ? '0x' + s : '') + (n > shown ? '…' : '') + (most === Infinity ? '' : ` (${n} B)`);
}

/**
 * A table.
 *   label      what it is, for screen readers
 *   columns    those of query ({name, type, …}), or {title, get(row), cell(value, row), number,
 *              width (in characters), hint}
 *   rows       arrays as of query, or anything that get reads
 *   onOpen     called with (row, column index) at Enter or a double click
 *   sort, onSort   {column, down}, where the sorting is kept outside; else it is kept here
 *   selected   a row that is marked; onSelect(row): the active row has changed
 *   empty      the text for no rows
 *   height     CSS height; 'fill' for the rest of the page; without it as high as its rows, at
 *              most 24 of them
 *   rowClass(row)
 */
export function Table({ label, columns, rows, onOpen, onSelect, sort: outer, onSort, selected, empty = 'Nothing here.', height, rowClass, types = false }) {
	const uid = useId();
	const box = useRef(null);
	const [inner, setInner] = useState(null);
	const sort = onSort ? outer : inner;
	const [view, setView] = useState({ top: 0, height: 600 });
	const [active, setActive] = useState({ row: 0, col: 0 });
	const [resized, setResized] = useState({});

	const cols = useMemo(() => (columns ?? []).map((c, i) => ({
		...c, title: c.title ?? c.name, get: c.get ?? ((row) => row[i]), number: c.number ?? isNumber(c),
	})), [columns]);

	const sorted = useMemo(() => {
		if (!rows) return [];
		const c = sort && cols[sort.column];
		if (!c) return rows;
		const sign = sort.down ? -1 : 1;
		return rows.map((row, i) => [c.get(row), i]).sort((a, b) => sign * compare(a[0], b[0], c.number) || a[1] - b[1]).map(([, i]) => rows[i]);
	}, [rows, rows?.length, cols, sort?.column, sort?.down]);

	const known = Math.min(sorted.length, 100);
	const widths = useMemo(() => cols.map((c, i) => {
		if (resized[i]) return resized[i];
		if (c.width) return c.width * 7.4 + 18;
		let n = Math.max(c.title.length + 2, types && c.type ? typeName(c).length * 0.85 : 0);
		for (const row of sorted.slice(0, known)) {
			const v = c.text ? c.text(c.get(row), row) : c.get(row);
			n = Math.max(n, c.encoding === 'base64' && v ? Math.min(hex(v, 24).length, 40) : width(plain(v)));
		}
		return Math.min(Math.max(n, 5), 44) * 7.4 + 18;
	}), [cols, known, resized, sort]);

	const measure = useCallback(() => {
		const b = box.current;
		if (b) setView((v) => v.top === b.scrollTop && v.height === b.clientHeight ? v : { top: b.scrollTop, height: b.clientHeight });
	}, []);
	useLayoutEffect(() => {
		measure();
		const o = new ResizeObserver(measure);
		o.observe(box.current);
		return () => o.disconnect();
	}, []);

	const n = sorted.length;
	const first = Math.max(0, Math.floor(view.top / rowHeight) - around);
	const last = Math.min(n, Math.ceil((view.top + view.height) / rowHeight) + around);
	const at = { row: Math.min(active.row, n - 1), col: Math.min(active.col, cols.length - 1) };

	const activate = (row, col, scroll) => {
		row = Math.max(0, Math.min(n - 1, row));
		col = Math.max(0, Math.min(cols.length - 1, col));
		setActive({ row, col });
		if (n) onSelect?.(sorted[row], row);
		if (!scroll) return;
		const b = box.current, head = b.querySelector('thead').offsetHeight;
		const y = row * rowHeight;
		if (y < b.scrollTop) b.scrollTop = y;
		else if (y + rowHeight > b.scrollTop + b.clientHeight - head) b.scrollTop = y + rowHeight - b.clientHeight + head;
		const left = widths.slice(0, col).reduce((a, w) => a + w, 0);
		if (left < b.scrollLeft) b.scrollLeft = left;
		else if (left + widths[col] > b.scrollLeft + b.clientWidth) b.scrollLeft = left + widths[col] - b.clientWidth;
		measure();
	};
	const keys = (e) => {
		if (e.target !== box.current) return;
		const page = Math.max(1, Math.floor(view.height / rowHeight) - 2);
		const { row, col } = at;
		const ctrl = e.ctrlKey || e.metaKey;
		switch (e.key) {
		case 'ArrowDown': activate(row + 1, col, true); break;
		case 'ArrowUp': activate(row - 1, col, true); break;
		case 'ArrowRight': activate(row, col + 1, true); break;
		case 'ArrowLeft': activate(row, col - 1, true); break;
		case 'PageDown': activate(row + page, col, true); break;
		case 'PageUp': activate(row - page, col, true); break;
		case 'Home': activate(ctrl ? 0 : row, 0, true); break;
		case 'End': activate(ctrl ? n - 1 : row, cols.length - 1, true); break;
		case 'Enter': if (!n || !onOpen) return; onOpen(sorted[row], col, row); break;
		case 'c':
			if (!ctrl || !n || String(getSelection())) return;
			navigator.clipboard?.writeText(plain(cols[col].get(sorted[row]))).catch(() => {});
			break;
		default: return;
		}
		e.preventDefault();
	};
	// cellAt finds the cell of an event. Rows have no keys: their elements are used again.
	const cellAt = (e, f) => {
		const td = e.target.closest('td');
		if (td) f(Number(td.parentNode.getAttribute('aria-rowindex')) - 2, td.cellIndex);
	};
	const order = (i) => {
		const next = !sort || sort.column !== i ? { column: i, down: false } : !sort.down ? { column: i, down: true } : null;
		if (onSort) onSort(next);
		else setInner(next);
	};
	const drag = (e, i) => {
		e.preventDefault();
		e.stopPropagation();
		const from = e.clientX, w = widths[i];
		const move = (m) => setResized((r) => ({ ...r, [i]: Math.max(40, w + m.clientX - from) }));
		const up = () => {
			removeEventListener('pointermove', move);
			removeEventListener('pointerup', up);
		};
		addEventListener('pointermove', move);
		addEventListener('pointerup', up);
	};

	const total = widths.reduce((a, w) => a + w, 0);
	const fill = height === 'fill';
	return html`<div class=${'table' + (fill ? ' fill' : '')} style=${fill ? undefined : { height, maxHeight: height ? undefined : rowHeight * 24 + 44 + 'px' }}
			ref=${box} tabindex="0" role="group" aria-label=${label} aria-activedescendant=${n ? `${uid}-${at.row}-${at.col}` : undefined}
			onScroll=${measure} onKeyDown=${keys}>
		<table role="grid" aria-label=${label} aria-rowcount=${n + 1} aria-colcount=${cols.length} style=${{ width: total + 'px' }}>
			<colgroup>${widths.map((w, i) => html`<col key=${i} style=${{ width: w + 'px' }} />`)}</colgroup>
			<thead><tr aria-rowindex="1">${cols.map((c, i) => html`<th key=${i} scope="col" class=${c.number ? 'number' : ''}
				aria-sort=${sort?.column === i ? (sort.down ? 'descending' : 'ascending') : 'none'} title=${c.hint}>
				<button type="button" onClick=${() => order(i)}><span>${c.title}</span>${sort?.column === i && html`<${Icon} name=${sort.down ? 'down' : 'up'} />`}
				${types && c.type && html`<small>${typeName(c)}</small>`}</button>
				<span class="grip" onPointerDown=${(e) => drag(e, i)}></span>
			</th>`)}</tr></thead>
			<tbody onPointerDown=${(e) => cellAt(e, (row, col) => activate(row, col, false))} onDblClick=${(e) => cellAt(e, (row, col) => onOpen?.(sorted[row], col, row))}>
				${first > 0 && html`<tr aria-hidden="true" class="space" style=${{ height: first * rowHeight + 'px' }}></tr>`}
				${sorted.slice(first, last).map((row, k) => {
					const r = first + k;
					return html`<tr aria-rowindex=${r + 2} aria-selected=${selected === undefined ? undefined : String(row === selected)} class=${(r % 2 ? 'odd ' : '') + (rowClass?.(row) ?? '')}>
						${cols.map((c, i) => {
							const v = c.get(row);
							return html`<td key=${i} id=${`${uid}-${r}-${i}`} class=${(c.number ? 'number' : '') + (r === at.row && i === at.col ? ' active' : '')}>${c.cell ? c.cell(v, row) : cell(v, c)}</td>`;
						})}
					</tr>`;
				})}
				${last < n && html`<tr aria-hidden="true" class="space" style=${{ height: (n - last) * rowHeight + 'px' }}></tr>`}
			</tbody>
		</table>
		${rows && n === 0 && html`<p class="empty">${empty}</p>`}
		${!rows && html`<p class="empty">…</p>`}
	</div>`;
}

/** The type of a column of query: "decimal(10,2) unsigned". */
export function typeName(c) {
	const size = c.length === undefined ? c.scale : c.scale === undefined ? c.length : `${c.length},${c.scale}`;
	return c.type.toLowerCase() + (size === undefined ? '' : `(${size})`) + (c.unsigned ? ' unsigned' : '');
}

// The width of a text in cells: letters of East Asia and the like take two.
function width(s) {
	let n = 0;
	for (const c of s.slice(0, 60)) n += c.codePointAt(0) >= 0x1100 ? 2 : 1;
	return n;
}
