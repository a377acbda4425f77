// The keys of a table: sizes of ranges, and how often they were read and written in the last
// hour.
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { query } from '../api.js';
import { usePoll } from '../data.js';
import { bytes, clock, count, number, percent, short } from '../format.js';
import { setParams } from '../router.js';
import { Table } from '../table.js';
import { colour, dark } from '../theme.js';
import { Badge, Empty, Failure, Select } from '../ui.js';
import { denied } from './structure.js';

const minutes = 60, every = 10_000;
const sample = 1024; // accesses for each that the server notes

async function load({ db, table }, index, signal) {
	const of = [db, table], opts = { signal };
	const [ranges, heat] = await Promise.all([
		query('SELECT RANGE_NO, FIRST_KEY, BYTES FROM information_schema.SQLOTS_KEY_RANGES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME = ? ORDER BY RANGE_NO', [...of, index], opts),
		index === 'PRIMARY' ? query('SELECT UNIX_TIMESTAMP(MINUTE), RANGE_NO, READS, WRITES FROM information_schema.SQLOTS_KEY_HEAT WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?', of, opts) : { rows: [] },
	]);
	const now = Math.floor(Date.now() / 60_000), list = ranges.rows.map(([n, first, size]) => ({ n: Number(n), first, bytes: Number(size), reads: 0, writes: 0 }));
	const cells = { reads: new Map(), writes: new Map() }, hot = new Map(), byMinute = new Map();
	for (const [at, n, reads, writes] of heat.rows) {
		const m = minutes - 1 - (now - Math.floor(Number(at) / 60)), r = Number(n) - 1;
		if (m < 0 || m >= minutes || !list[r]) continue;
		for (const [kind, v] of [['reads', Number(reads)], ['writes', Number(writes)]]) {
			if (!v) continue;
			cells[kind].set(r * minutes + m, v);
			list[r][kind] += v;
		}
		if (!byMinute.has(m)) byMinute.set(m, []);
		byMinute.get(m).push([r, Number(reads) + Number(writes)]);
	}
	// A range is hot where it has more than a quarter of a minute's accesses, if these are
	// enough to say so.
	for (const accesses of list.length >= 8 ? byMinute.values() : []) {
		const all = accesses.reduce((a, [, v]) => a + v, 0);
		if (all < 32 * sample) continue;
		for (const [r, v] of accesses) {
			if (v <= all / 4) continue;
			const h = hot.get(r) ?? { r, share: 0, n: 0 };
			hot.set(r, { r, share: Math.max(h.share, v / all), n: h.n + 1 });
		}
	}
	return { list, cells, now, hot: [...hot.values()].sort((a, b) => b.n - a.n || b.share - a.share).slice(0, 5) };
}

const from = (x) => x.first ?? '(unknown)';

function Heat({ title, kind, name, data }) {
	const canvas = useRef(null), box = useRef(null);
	const [at, setAt] = useState(null); // {r, m}
	const [width, setWidth] = useState(0);
	const cells = data.cells[kind], n = data.list.length;
	const most = useMemo(() => Math.max(0, ...cells.values()), [cells]);
	useEffect(() => {
		const o = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
		o.observe(canvas.current);
		return () => o.disconnect();
	}, []);
	useEffect(() => {
		const c = canvas.current, scale = devicePixelRatio || 1;
		c.width = Math.max(1, Math.round(c.clientWidth * scale));
		c.height = Math.round(c.clientHeight * scale);
		const g = c.getContext('2d'), w = c.width / minutes, h = c.height / n;
		g.fillStyle = colour(name);
		for (const [place, v] of cells) {
			const r = Math.floor(place / minutes), m = place % minutes;
			g.globalAlpha = 0.12 + 0.88 * Math.sqrt(v / most);
			const x = Math.floor(m * w), y = Math.floor(r * h);
			g.fillRect(x, y, Math.max(1, Math.floor((m + 1) * w) - x), Math.max(1, Math.floor((r + 1) * h) - y));
		}
		if (at) {
			g.globalAlpha = 1;
			g.strokeStyle = colour('text');
			g.lineWidth = scale;
			g.strokeRect(Math.floor(at.m * w) + 0.5, Math.floor(at.r * h) + 0.5, Math.ceil(w), Math.max(2, Math.ceil(h)));
		}
	}, [cells, n, at, width, dark.value]);
	const point = (e) => {
		const b = canvas.current.getBoundingClientRect();
		setAt({ m: Math.max(0, Math.min(minutes - 1, Math.floor((e.clientX - b.left) / b.width * minutes))), r: Math.max(0, Math.min(n - 1, Math.floor((e.clientY - b.top) / b.height * n))) });
	};
	const keys = (e) => {
		const [dm, dr] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key] ?? [];
		if (dm === undefined) return;
		e.preventDefault();
		const p = at ?? { m: minutes - 1, r: 0 };
		setAt({ m: Math.max(0, Math.min(minutes - 1, p.m + dm)), r: Math.max(0, Math.min(n - 1, p.r + dr)) });
	};
	const time = (m) => clock(new Date((data.now - (minutes - 1 - m)) * 60_000)).slice(0, 5);
	const all = data.list.reduce((a, x) => a + x[kind], 0);
	return html`<figure class="heat">
		<figcaption><b>${title}</b><span class="muted">${all ? `about ${short(all)} in the last hour` : 'none noted in the last hour'}</span>
			${most > 0 && html`<span class="heat-scale" aria-hidden="true">0 <i style=${{ '--heat': `var(--${name})` }}></i> ${short(most)} a minute</span>`}</figcaption>
		<div class="heat-box" ref=${box} tabindex="0" role="group" aria-label=${`${title} by range and minute: the arrow keys move over it`} onKeyDown=${keys} onBlur=${() => setAt(null)}>
			<canvas ref=${canvas} aria-hidden="true" onPointerMove=${point} onPointerLeave=${() => setAt(null)}></canvas>
		</div>
		<div class="heat-axis" aria-hidden="true"><span>${time(0)}</span><span>${time(20)}</span><span>${time(40)}</span><span>${time(minutes - 1)}</span></div>
		<p class="heat-note muted" role="status">${at && data.list[at.r] ? `${time(at.m)}, range ${at.r + 1} from ${from(data.list[at.r])}: ${cells.has(at.r * minutes + at.m) ? 'about ' + short(cells.get(at.r * minutes + at.m)) : 'none noted'}` : ''}</p>
	</figure>`;
}

/** The tab Keys. */
export function Keys({ shape, params }) {
	const index = params.index ?? 'PRIMARY';
	const { data, error } = usePoll((signal) => load(shape, index, signal), every, [shape, index]);
	const names = usePoll(async (signal) => (await query("SELECT DISTINCT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_TYPE = 'BTREE' AND INDEX_NAME <> 'PRIMARY' ORDER BY 1", [shape.db, shape.table], { signal })).rows.map((r) => r[0]), 0, [shape]);
	const largest = data ? Math.max(1, ...data.list.map((x) => x.bytes)) : 1;
	const rows = index === 'PRIMARY';
	const heat = data && data.list.some((x) => x.reads || x.writes);
	const columns = useMemo(() => [
		{ title: 'range', get: (x) => x.n, number: true, width: 6 }, { title: 'from key', get: (x) => x.first, width: 34 },
		{ title: 'size', get: (x) => x.bytes, width: 36, cell: (v) => html`<span class="range-bar"><i style=${{ width: Math.round(v / largest * 150) + 'px' }}></i>${bytes(v)}</span>` },
		...(heat ? [{ title: 'read', hint: 'rows in the last hour, about', get: (x) => x.reads, number: true, cell: (v) => v ? short(v) : '', width: 10 }, { title: 'written', hint: 'rows in the last hour, about', get: (x) => x.writes, number: true, cell: (v) => v ? short(v) : '', width: 10 }] : []),
	], [largest, heat]);
	const total = data?.list.reduce((a, x) => a + x.bytes, 0);
	return html`<div class="bar-line">
			<${Select} label="Ranges of" value=${index} options=${[['PRIMARY', shape.key.length ? 'the primary key' : 'the rows'], ...(index !== 'PRIMARY' && !names.data?.includes(index) ? [index] : []), ...(names.data ?? [])]} onChange=${(v) => setParams({ index: v === 'PRIMARY' ? undefined : v })} />
			<span class="muted">${data ? `${count(data.list.length, 'range')}, ${bytes(total)} in all${rows && heat ? `. One access in ${number(sample)} is noted` : ''}.` : '…'}</span>
		</div>
		<${Failure} error=${error} hint=${denied(error, 'the keys')} />
		${data && !data.list.length ? html`<${Empty}>No keys, or your account may not read the table: keys of rows are shown with SELECT on it.<//>` : data && html`<div class="keys-tab">
			${rows && data.hot.length > 0 && html`<ul class="hot">${data.hot.map((h) => html`<li key=${h.r}><${Badge} kind="warn">hot<//> Range ${h.r + 1}, from <code>${from(data.list[h.r])}</code>, had up to ${percent(h.share)} of a minute's accesses, in ${count(h.n, 'minute')} more than a quarter.</li>`)}</ul>`}
			${rows && html`<div class="heats"><${Heat} title="Reads" kind="reads" name="c1" data=${data} /><${Heat} title="Writes" kind="writes" name="c2" data=${data} /></div>`}
			<${Table} label="Ranges" columns=${columns} rows=${data.list} />
		</div>`}`;
}
