// Charts. uPlot draws them; the values behind are a table at the press of a button.
import { html, useEffect, useMemo, useRef, useState } from './vendor/preact.js';
import { bytes, short, time } from './format.js';
import { colour, dark } from './theme.js';
import { Button } from './ui.js';

let library = null;

/** uPlot, which is loaded with the first chart. */
const load = () => library ??= import('./vendor/uplot.js').then((m) => m.default);

/** The colours of series, in order: names of style.css. */
const colours = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];

/**
 * A chart.
 *   title    its heading
 *   x        numbers, ascending unless kind is 'points'; seconds since 1970 if isTime
 *   series   [{title, values, area}], null where a value is missing
 *   kind     'lines', 'bars' or 'points'
 *   format   how values are written; labels: texts of x instead of numbers
 *   height   in pixels
 *   group    charts of one group share the cursor
 *   max      the end of the scale, at least
 */
export function Chart({ title, x, series, kind = 'lines', isTime = true, format = short, formatX, labels, height = 150, group, note, max = 0, binary = format === bytes }) {
	const host = useRef(null), plot = useRef(null), legend = useRef(null);
	const [asTable, setAsTable] = useState(null); // the component Table, which is loaded when it is needed
	const data = useMemo(() => [x, ...series.map((s) => s.values)], [x, series]);
	const latest = useRef({});
	latest.current = { series, format, max };
	const shape = [kind, isTime, height, group, dark.value, !!asTable, series.map((s) => s.title).join('\n'), labels?.join('\n')].join('\0');

	const show = (idx) => {
		const i = idx ?? latest.current.series[0]?.values.length - 1;
		legend.current?.querySelectorAll('b').forEach((b, k) => {
			const v = latest.current.series[k]?.values[i];
			b.textContent = v === null || v === undefined ? '–' : latest.current.format(v);
		});
	};

	useEffect(() => {
		if (asTable) return undefined;
		let ended = false, observer = null;
		load().then((uPlot) => {
			if (ended || !host.current) return;
			const grid = colour('line'), text = colour('muted');
			const paths = kind === 'bars' ? uPlot.paths.bars({ size: [0.8, 60], align: 0 }) : kind === 'points' ? () => null : undefined;
			const axis = { stroke: text, font: '11px system-ui', grid: { stroke: grid, width: 1 }, ticks: { show: false } };
			const opts = {
				width: Math.max(60, host.current.clientWidth), height, padding: [8, 10, 0, 0],
				legend: { show: false },
				cursor: { drag: { x: kind !== 'points', y: false, setScale: true }, points: { size: 6 }, sync: group ? { key: group, setSeries: false } : undefined },
				scales: {
					x: { time: isTime, range: kind === 'bars' ? (u, lo, hi) => [lo - 0.6 * step(u.data[0]), hi + 0.6 * step(u.data[0])] : undefined },
					y: { range: (u, lo, hi) => kind === 'points' ? pad(lo, hi) : [Math.min(0, lo ?? 0), top(hi ?? 0, latest.current.max, binary)] },
				},
				axes: [
					{ ...axis, size: 24, space: labels || isTime ? 84 : 60, values: labels ? (u, list) => list.map((v) => labels[v] ?? '') : isTime ? (u, list, i, space, by) => list.map((v) => tick(v, by)) : (u, list) => list.map(formatX ?? short) },
					{ ...axis, size: 58, space: 26, incrs: binary ? powers : undefined, values: (u, list) => list.map((v) => latest.current.format(v)) },
				],
				series: [{}, ...series.map((s, i) => {
					const c = colour(colours[i % colours.length]);
					return {
						label: s.title, stroke: c, width: kind === 'bars' ? 0 : 1.5, paths, spanGaps: false,
						fill: kind === 'bars' ? c : s.area ? alpha(c, 0.15) : kind === 'points' ? alpha(c, 0.6) : undefined,
						points: kind === 'points' ? { show: true, size: 5, stroke: c, fill: alpha(c, 0.5) } : { show: false },
					};
				})],
				hooks: { setCursor: [(u) => show(u.cursor.idx)], setData: [() => show(null)] },
			};
			plot.current = new uPlot(opts, data, host.current);
			show(null);
			observer = new ResizeObserver(() => host.current && plot.current?.setSize({ width: Math.max(60, host.current.clientWidth), height }));
			observer.observe(host.current);
		});
		return () => {
			ended = true;
			observer?.disconnect();
			plot.current?.destroy();
			plot.current = null;
		};
	}, [shape]);

	useEffect(() => { plot.current?.setData(data); }, [data]);

	const name = labels ? (v) => labels[v] : isTime ? (v) => time(new Date(v * 1000)) : (v) => (formatX ?? String)(v);
	const rows = useMemo(() => asTable ? Array.from(x, (_, i) => i).filter((i) => series.some((s) => s.values[i] !== null && s.values[i] !== undefined)).reverse() : null, [asTable, data]);
	return html`<figure class="chart" aria-label=${title}>
		<figcaption><span class="chart-title">${title}</span>
			<span class="legend" ref=${legend}>${series.map((s, i) => html`<span key=${s.title}><i class=${'key ' + colours[i % colours.length]}></i>${series.length > 1 || s.title !== title ? s.title + ' ' : ''}<b></b></span>`)}</span>
			${note && html`<small>${note}</small>`}
			<${Button} kind="bare" icon=${asTable ? 'chart' : 'table'} label=${(asTable ? 'Show the chart: ' : 'Show the values: ') + title} onClick=${() => asTable ? setAsTable(null) : import('./table.js').then((m) => setAsTable(() => m.Table))} />
		</figcaption>
		${asTable
			? html`<${asTable} label=${title} height=${height + 'px'} rows=${rows} columns=${[
				{ title: isTime ? 'time' : 'x', get: (i) => x[i], cell: name, text: name, number: !isTime && !labels },
				...series.map((s) => ({ title: s.title, number: true, get: (i) => s.values[i], cell: (v) => v === null || v === undefined ? '–' : format(v), text: format })),
			]} />`
			: html`<div ref=${host} class="plot" style=${{ height: height + 'px' }} aria-hidden="true"></div>`}
	</figure>`;
}

const step = (xs) => xs.length > 1 ? (xs[xs.length - 1] - xs[0]) / (xs.length - 1) : 1;

const pad = (lo, hi) => {
	const d = (hi - lo) * 0.05 || Math.abs(hi) * 0.1 || 1;
	return [lo - d, hi + d];
};

// top is the end of a scale: a round number not below the values.
function top(hi, max, binary) {
	if (hi <= max) return max || 1;
	if (binary) return powers.find((p) => p * 4 >= hi) * Math.ceil(hi / powers.find((p) => p * 4 >= hi));
	const p = 10 ** Math.floor(Math.log10(hi));
	return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((m) => m * p >= hi * 1.0001) * p;
}

const powers = Array.from({ length: 60 }, (_, i) => 2 ** i);

// tick is a time on an axis whose ticks are so many seconds apart.
function tick(v, by) {
	const t = time(new Date(v * 1000));
	return by < 60 ? t.slice(11) : by < 86400 && t.slice(11, 16) !== '00:00' ? t.slice(11, 16) : t.slice(0, 10);
}

function alpha(c, a) {
	return c.replace(/^rgb\((.*)\)$/, (_, list) => `rgba(${list}, ${a})`);
}

