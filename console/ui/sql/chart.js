// A chart of a result.
import { html, useMemo, useState } from '../vendor/preact.js';
import { Chart } from '../chart.js';
import { number, short } from '../format.js';
import { isNumber } from '../table.js';
import { Empty, Select } from '../ui.js';

const most = 50_000; // rows that are drawn
const bins = 40;

const isTime = (c) => /^(date|datetime|timestamp)/i.test(c.type);
const seconds = (v) => Date.parse(String(v).replace(' ', 'T')) / 1000;
const num = (v) => v === null ? null : Number(v);

/** The columns that a chart most probably shows: {kind, x, y, by}. */
export function guess(columns, rows) {
	const numbers = columns.map((c, i) => isNumber(c) && !/(^|_)id$/i.test(c.name) ? i : -1).filter((i) => i >= 0);
	const all = columns.map((c, i) => isNumber(c) ? i : -1).filter((i) => i >= 0);
	const time = columns.findIndex(isTime);
	const word = columns.findIndex((c) => !isNumber(c) && !isTime(c) && !c.encoding && c.type !== 'json');
	const y = numbers.find((i) => i !== 0) ?? numbers[0] ?? all[0];
	if (y === undefined) return null;
	if (time >= 0) return { kind: 'line', x: time, y, by: word >= 0 && new Set(rows.slice(0, 2000).map((r) => r[word])).size <= 8 ? word : -1 };
	if (word >= 0 && rows.length <= 200) return { kind: 'bar', x: word, y, by: -1 };
	if (rows.length > 1 && all.length > 1 && columns.length === 2) return { kind: 'line', x: all[0], y: all[1], by: -1 };
	if (numbers.length > 1) return { kind: 'scatter', x: numbers[0], y: numbers[1], by: -1 };
	return { kind: rows.length <= 60 && columns.length > 1 ? 'bar' : 'histogram', x: all[0] === y ? 0 : all[0] ?? 0, y, by: -1 };
}

/** Which columns may be x or y. */
export const chartable = (columns, rows) => rows.length > 0 && columns.some(isNumber);

// prepare makes {x, series, …} for Chart.
function prepare({ kind, x, y, by }, columns, rows) {
	const part = rows.length > most ? rows.slice(0, most) : rows;
	const name = columns[y].name;
	if (kind === 'histogram') {
		const list = part.map((r) => num(r[y])).filter((v) => v !== null && Number.isFinite(v));
		if (!list.length) return null;
		let lo = Infinity, hi = -Infinity;
		for (const v of list) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
		const width = (hi - lo) / bins || 1;
		const counts = new Array(bins).fill(0);
		for (const v of list) counts[Math.min(bins - 1, Math.floor((v - lo) / width))]++;
		return { kind: 'bars', isTime: false, x: counts.map((_, i) => lo + (i + 0.5) * width), series: [{ title: 'rows', values: counts }], title: `Rows by ${name}` };
	}
	if (kind === 'bar') {
		const groups = new Map();
		for (const r of part) {
			const k = r[x] === null ? 'NULL' : String(r[x]);
			groups.set(k, (groups.get(k) ?? 0) + (num(r[y]) ?? 0));
			if (groups.size > 500) break;
		}
		const labels = [...groups.keys()];
		return { kind: 'bars', isTime: false, labels, x: labels.map((_, i) => i), series: [{ title: name, values: [...groups.values()] }], title: `${name} by ${columns[x].name}` };
	}
	const time = isTime(columns[x]);
	const value = (r) => r[x] === null ? NaN : time ? seconds(r[x]) : Number(r[x]);
	const points = part.map((r) => [value(r), num(r[y]), by < 0 ? name : String(r[by] ?? 'NULL')]).filter((p) => Number.isFinite(p[0])).sort((a, b) => a[0] - b[0]);
	if (!points.length) return null;
	const names = [...new Set(points.map((p) => p[2]))].slice(0, 8);
	const xs = kind === 'scatter' ? points.map((p) => p[0]) : [...new Set(points.map((p) => p[0]))];
	const at = kind === 'scatter' ? null : new Map(xs.map((v, i) => [v, i]));
	const series = names.map((title) => ({ title, values: new Array(xs.length).fill(null) }));
	points.forEach((p, i) => {
		const k = names.indexOf(p[2]);
		if (k >= 0) series[k].values[at ? at.get(p[0]) : i] = p[1];
	});
	return { kind: kind === 'scatter' ? 'points' : 'lines', isTime: time, x: xs, series, title: `${name} by ${columns[x].name}` };
}

/** The chart, and what it shows. */
export function ResultChart({ columns, rows }) {
	const first = useMemo(() => guess(columns, rows), [columns, rows.length]);
	const [own, setOwn] = useState({});
	const choice = { ...first, ...own };
	const set = (patch) => setOwn((o) => ({ ...o, ...patch }));
	const data = useMemo(() => first && prepare(choice, columns, rows), [columns, rows.length, choice.kind, choice.x, choice.y, choice.by]);
	if (!first) return html`<${Empty}>No column has numbers.<//>`;
	const list = columns.map((c, i) => [String(i), c.name]);
	const numbers = list.filter((_, i) => isNumber(columns[i]));
	return html`<div class="result-chart">
		<div class="tools">
			<${Select} label="Chart" value=${choice.kind} options=${['line', 'bar', 'scatter', 'histogram']} onChange=${(kind) => set({ kind })} />
			${choice.kind !== 'histogram' && html`<${Select} label="x" value=${String(choice.x)} options=${choice.kind === 'bar' ? list : list.filter((_, i) => isNumber(columns[i]) || isTime(columns[i]))} onChange=${(v) => set({ x: Number(v) })} />`}
			<${Select} label=${choice.kind === 'histogram' ? 'of' : 'y'} value=${String(choice.y)} options=${numbers} onChange=${(v) => set({ y: Number(v) })} />
			${(choice.kind === 'line' || choice.kind === 'scatter') && html`<${Select} label="by" value=${String(choice.by)} options=${[['-1', '(one line)'], ...list]} onChange=${(v) => set({ by: Number(v) })} />`}
			${rows.length > most && html`<small class="muted">the first ${number(most)} rows</small>`}
		</div>
		${data ? html`<${Chart} ...${data} height=${300} format=${short} />` : html`<${Empty}>No values to draw.<//>`}
	</div>`;
}
