// A map of a result's points: the outlines of countries, without tiles. What is drawn on it
// becomes a condition.
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { number } from '../format.js';
import { id } from '../api.js';
import { colour, dark } from '../theme.js';
import { Button, Field } from '../ui.js';

const most = 10_000;
const point = /^POINT ?\(([-+\d.e]+) ([-+\d.e]+)\)$/i;
const limit = 85; // degrees of latitude that Mercator shows
const earth = 6370986; // metres, as ST_Distance_Sphere has it

/** Where a result has places: {column} of points, or {lat, lon} columns; null: nowhere. */
export function placesOf(columns, rows) {
	const g = columns.findIndex((c, i) => c.encoding === 'wkt' && rows.slice(0, 100).some((r) => r[i] !== null && point.test(r[i])));
	if (g >= 0) return { column: g };
	const find = (re) => columns.findIndex((c) => re.test(c.name));
	const lat = find(/^(.*_)?lat(itude)?$/i), lon = find(/^(.*_)?(lon|lng|long|longitude)$/i);
	return lat >= 0 && lon >= 0 ? { lat, lon } : null;
}

let outlines = null;
const world = () => outlines ??= Promise.all([import('../vendor/topojson.js'), fetch('/console/vendor/world.json').then((r) => r.json())])
	.then(([t, w]) => t.mesh(w, w.objects.countries).coordinates);

// Mercator: the world is the square from 0 to 1.
const project = (lon, lat) => {
	const s = Math.sin(Math.max(-limit, Math.min(limit, lat)) * Math.PI / 180);
	return [lon / 360 + 0.5, 0.5 - Math.log((1 + s) / (1 - s)) / (4 * Math.PI)];
};
const unproject = (x, y) => [(x - 0.5) * 360, Math.atan(Math.sinh((0.5 - y) * 2 * Math.PI)) * 180 / Math.PI];

function distance(a, b) {
	const r = Math.PI / 180;
	const h = Math.sin((b[1] - a[1]) * r / 2) ** 2 + Math.cos(a[1] * r) * Math.cos(b[1] * r) * Math.sin((b[0] - a[0]) * r / 2) ** 2;
	return 2 * earth * Math.asin(Math.min(1, Math.sqrt(h)));
}

// ring is a circle on the earth.
function ring([lon, lat], metres) {
	const d = metres / earth, p = lat * Math.PI / 180;
	return Array.from({ length: 65 }, (_, i) => {
		const a = i / 64 * 2 * Math.PI;
		const q = Math.asin(Math.sin(p) * Math.cos(d) + Math.cos(p) * Math.sin(d) * Math.cos(a));
		return [lon + Math.atan2(Math.sin(a) * Math.sin(d) * Math.cos(p), Math.cos(d) - Math.sin(p) * Math.sin(q)) * 180 / Math.PI, q * 180 / Math.PI];
	});
}

const round = (v, digits = 5) => Number(v.toFixed(digits));

/** The condition of a shape. swapped: the points have the latitude first (SRID 4326). */
export function condition(shape, places, columns, swapped) {
	const what = places.column !== undefined ? id(columns[places.column].name) : `POINT(${id(columns[places.lon].name)}, ${id(columns[places.lat].name)})`;
	const pair = ([lon, lat]) => swapped ? `${round(lat)} ${round(lon)}` : `${round(lon)} ${round(lat)}`;
	const srid = swapped ? ', 4326' : '';
	if (shape.kind === 'circle') return `ST_Distance_Sphere(${what}, ST_GeomFromText('POINT(${pair(shape.at)})'${srid})) <= ${Math.round(shape.metres)}`;
	const list = [...shape.points, shape.points[0]].map(pair).join(', ');
	return `ST_Contains(ST_GeomFromText('POLYGON((${list}))'${srid}), ${what})`;
}

/** The map. onCondition(text) takes the condition of what was drawn. */
export function ResultMap({ columns, rows, onCondition }) {
	const canvas = useRef(null), state = useRef({ x: 0.5, y: 0.45, zoom: 1, fitted: false });
	const places = useMemo(() => placesOf(columns, rows), [columns, rows.length]);
	const [swap, setSwap] = useState(null);
	const [mode, setMode] = useState('move');
	const [shape, setShape] = useState(null);
	const [draft, setDraft] = useState(null);
	const [lines, setLines] = useState(null);
	const [, redraw] = useState(0);

	useEffect(() => { world().then(setLines, () => setLines([])); }, []);

	const pairs = useMemo(() => {
		if (!places) return [];
		const list = [];
		for (const r of rows) {
			if (list.length >= most) break;
			if (places.column !== undefined) {
				const m = point.exec(r[places.column] ?? '');
				if (m) list.push([Number(m[1]), Number(m[2])]);
			} else if (r[places.lat] !== null && r[places.lon] !== null) {
				list.push([Number(r[places.lon]), Number(r[places.lat])]);
			}
		}
		return list;
	}, [places, rows.length]);
	// A second coordinate beyond 90 degrees is no latitude.
	const swapped = places?.column === undefined ? false : swap ?? pairs.some((p) => Math.abs(p[1]) > 90);
	const points = useMemo(() => swapped ? pairs.map(([a, b]) => [b, a]) : pairs, [pairs, swapped]);

	const fit = () => {
		const s = state.current, c = canvas.current;
		if (!points.length || !c) return;
		let x0 = 1, x1 = 0, y0 = 1, y1 = 0;
		for (const p of points) {
			const [x, y] = project(...p);
			x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
		}
		const base = Math.max(c.clientWidth, c.clientHeight);
		s.x = (x0 + x1) / 2;
		s.y = (y0 + y1) / 2;
		s.zoom = Math.max(1, Math.min(4000, 0.9 / Math.max((x1 - x0) * base / c.clientWidth, (y1 - y0) * base / c.clientHeight, 1e-5)));
	};

	const size = () => Math.max(canvas.current.clientWidth, canvas.current.clientHeight) * state.current.zoom;
	const toScreen = ([lon, lat]) => {
		const [x, y] = project(lon, lat), c = canvas.current, k = size();
		return [(x - state.current.x) * k + c.clientWidth / 2, (y - state.current.y) * k + c.clientHeight / 2];
	};
	const toPlace = (px, py) => {
		const c = canvas.current, k = size();
		return unproject(state.current.x + (px - c.clientWidth / 2) / k, state.current.y + (py - c.clientHeight / 2) / k);
	};

	useEffect(() => {
		const c = canvas.current;
		if (!c) return undefined; // the map has gone meanwhile
		if (!state.current.fitted && points.length) {
			fit();
			state.current.fitted = true;
		}
		const draw = () => {
			if (!canvas.current) return;
			const ratio = devicePixelRatio || 1;
			c.width = c.clientWidth * ratio;
			c.height = c.clientHeight * ratio;
			const g = c.getContext('2d');
			g.scale(ratio, ratio);
			g.fillStyle = colour('panel');
			g.fillRect(0, 0, c.clientWidth, c.clientHeight);
			g.strokeStyle = colour('strong-line');
			g.lineWidth = 0.8;
			g.beginPath();
			for (const line of lines ?? []) {
				line.forEach((p, i) => {
					const [x, y] = toScreen(p);
					if (i && Math.abs(p[0] - line[i - 1][0]) < 180) g.lineTo(x, y); // not across the date line
					else g.moveTo(x, y);
				});
			}
			g.stroke();
			g.fillStyle = colour('accent');
			g.globalAlpha = points.length > 2000 ? 0.65 : 0.8;
			const r = points.length > 2000 ? 1.8 : 3;
			for (const p of points) {
				const [x, y] = toScreen(p);
				if (x < -5 || y < -5 || x > c.clientWidth + 5 || y > c.clientHeight + 5) continue;
				g.beginPath();
				g.arc(x, y, r, 0, 7);
				g.fill();
			}
			g.globalAlpha = 1;
			const s = draft ?? shape;
			if (s) {
				const outline = s.kind === 'circle' ? ring(s.at, s.metres) : s.points;
				g.strokeStyle = g.fillStyle = colour('c2');
				g.lineWidth = 2;
				g.beginPath();
				outline.forEach((p, i) => g[i ? 'lineTo' : 'moveTo'](...toScreen(p)));
				if (!draft || s.kind === 'circle') g.closePath();
				g.stroke();
				g.globalAlpha = 0.12;
				g.fill();
				g.globalAlpha = 1;
			}
		};
		draw();
		const o = new ResizeObserver(draw);
		o.observe(c);
		return () => o.disconnect();
	});

	const zoom = (factor, px, py) => {
		const s = state.current, c = canvas.current;
		px ??= c.clientWidth / 2;
		py ??= c.clientHeight / 2;
		const before = size();
		s.zoom = Math.max(1, Math.min(20000, s.zoom * factor));
		const after = size();
		s.x += (px - c.clientWidth / 2) * (1 / before - 1 / after);
		s.y += (py - c.clientHeight / 2) * (1 / before - 1 / after);
		redraw((n) => n + 1);
	};
	const at = (e) => {
		const b = canvas.current.getBoundingClientRect();
		return [e.clientX - b.left, e.clientY - b.top];
	};
	const down = (e) => {
		if (e.button) return;
		const from = at(e), s = state.current, x = s.x, y = s.y, start = toPlace(...from);
		if (mode === 'polygon') {
			setDraft((d) => ({ kind: 'polygon', points: [...(d?.points ?? []), start] }));
			return;
		}
		e.target.setPointerCapture(e.pointerId);
		let circle = null;
		const move = (m) => {
			const to = at(m);
			if (mode === 'circle') {
				circle = { kind: 'circle', at: start, metres: distance(start, toPlace(...to)) };
				setDraft(circle);
			} else {
				s.x = x - (to[0] - from[0]) / size();
				s.y = y - (to[1] - from[1]) / size();
				redraw((n) => n + 1);
			}
		};
		const up = () => {
			e.target.removeEventListener('pointermove', move);
			e.target.removeEventListener('pointerup', up);
			if (circle) {
				setShape(circle);
				setDraft(null);
				setMode('move');
			}
		};
		e.target.addEventListener('pointermove', move);
		e.target.addEventListener('pointerup', up);
	};
	const close = () => {
		if (!draft) return;
		// A double click has set its point twice.
		const list = draft.points.filter((p, i, all) => i === 0 || distance(p, all[i - 1]) > 1);
		if (list.length > 2) setShape({ kind: 'polygon', points: list });
		setDraft(null);
		setMode('move');
	};
	const keys = (e) => {
		const s = state.current, step = 0.1 / s.zoom, c = canvas.current;
		if (e.key === '+' || e.key === '=') zoom(1.5);
		else if (e.key === '-') zoom(1 / 1.5);
		else if (e.key === '0') { fit(); redraw((n) => n + 1); }
		else if (e.key === 'Enter' && mode === 'circle') {
			const centre = toPlace(c.clientWidth / 2, c.clientHeight / 2);
			setShape({ kind: 'circle', at: centre, metres: distance(centre, toPlace(c.clientWidth / 2, c.clientHeight / 4)) });
			setMode('move');
		} else if (e.key === 'Enter' && mode === 'polygon') {
			if (draft?.points.length > 2) close();
			else {
				setShape({ kind: 'polygon', points: [[0.25, 0.25], [0.75, 0.25], [0.75, 0.75], [0.25, 0.75]].map(([x, y]) => toPlace(x * c.clientWidth, y * c.clientHeight)) });
				setMode('move');
			}
		} else if (e.key === 'Escape') { setDraft(null); setMode('move'); }
		else if (e.key.startsWith('Arrow')) {
			s.x += { ArrowLeft: -step, ArrowRight: step }[e.key] ?? 0;
			s.y += { ArrowUp: -step, ArrowDown: step }[e.key] ?? 0;
			redraw((n) => n + 1);
		} else return;
		e.preventDefault();
	};
	const wheel = useRef(null);
	wheel.current = (e) => {
		e.preventDefault();
		zoom(Math.exp(-e.deltaY / 400), ...at(e));
	};
	useEffect(() => {
		const c = canvas.current, f = (e) => wheel.current(e);
		c.addEventListener('wheel', f, { passive: false });
		return () => c.removeEventListener('wheel', f);
	}, []);

	const text = shape && condition(shape, places, columns, swapped);
	const choose = (m) => {
		setDraft(null);
		setMode(mode === m ? 'move' : m);
		canvas.current.focus();
	};
	return html`<div class="map">
		<div class="tools">
			<${Button} icon="circle" pressed=${mode === 'circle'} onClick=${() => choose('circle')}>Circle<//>
			<${Button} icon="polygon" pressed=${mode === 'polygon'} onClick=${() => choose('polygon')}>Polygon<//>
			${places.column !== undefined && html`<${Field} label="latitude first" inline><input type="checkbox" checked=${swapped} onChange=${(e) => { setSwap(e.target.checked); state.current.fitted = false; }} /><//>`}
			<small class="muted">${mode === 'circle' ? 'Drag from the centre, or press Enter for one in the middle.' : mode === 'polygon' ? 'Click its corners; a double click or Enter closes it.'
				: `${number(points.length)} points${rows.length > most ? `, of the first ${number(most)} rows` : ''}`}</small>
		</div>
		<div class="map-box">
			<canvas ref=${canvas} tabindex="0" role="img" aria-label=${`Map of ${points.length} points. Arrow keys move it, plus and minus zoom, 0 shows all.`} class=${mode} onPointerDown=${down} onDblClick=${() => mode === 'polygon' && close()} onKeyDown=${keys}></canvas>
			<div class="map-zoom"><${Button} icon="plus" label="Zoom in" onClick=${() => zoom(1.6)} /><${Button} icon="minus" label="Zoom out" onClick=${() => zoom(1 / 1.6)} /><${Button} icon="map" label="Show all points" onClick=${() => { fit(); redraw((n) => n + 1); }} /></div>
		</div>
		${shape && html`<div class="map-condition"><code>${text}</code>
			<${Button} kind="main" onClick=${() => onCondition(text)}>Insert into the SQL<//>
			<${Button} kind="bare" icon="close" label="Remove the shape" onClick=${() => setShape(null)} /></div>`}
	</div>`;
}
