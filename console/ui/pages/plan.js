// The plan of a statement: its operators, what was estimated and what was measured, and the
// ways to the rows that were weighed.
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { query } from '../api.js';
import { bytes, count, duration, number, percent, short } from '../format.js';
import { Link, setParams } from '../router.js';
import { Badge, Button, Empty, Failure, Facts, Section, Select, stylesheet } from '../ui.js';
import { usePoll } from '../data.js';
import { analyze } from '../sql/analyze.js';
import { readOnly } from '../sql/split.js';

await stylesheet('pages/plan.css');

const far = 10; // a factor between estimate and actual rows that is marked

// flatten lists the operators of a plan, the top one first.
function flatten(doc) {
	const list = [];
	const add = (node, rails, last, title) => {
		const i = list.length;
		list.push({ i, node, title: title ?? node.operation, details: node.details ?? [], actual: node.actual, rows: node.estimated_rows, cost: node.estimated_cost_ns, rails, last, inputs: [] });
		const children = node.inputs ?? [];
		children.forEach((c, k) => {
			list[i].inputs.push(add(c, [...rails, k < children.length - 1], k === children.length - 1));
		});
		return i;
	};
	for (const [key, value] of Object.entries(doc)) {
		for (const root of Array.isArray(value) ? value : [value]) {
			if (!root || typeof root !== 'object') continue;
			if (root.operation) add(root, [], true);
			else for (const v of Object.values(root)) if (v?.operation) add(v, [], true, `${key}: ${v.operation}`);
		}
	}
	// The time of an operator includes that of its inputs.
	const root = list[0]?.actual?.Seconds;
	for (const x of list) {
		if (!x.actual) continue;
		const inner = x.inputs.reduce((a, k) => a + (list[k].actual?.Seconds ?? 0), 0);
		x.own = Math.max(0, x.actual.Seconds - inner);
		x.share = root ? x.own / root : 0;
	}
	const cost = list[0]?.cost;
	for (const x of list) {
		const inner = x.inputs.reduce((a, k) => a + (list[k].cost ?? 0), 0);
		x.costShare = cost ? Math.max(0, (x.cost ?? 0) - inner) / cost : 0;
	}
	return list;
}

// considered reads the paths that were weighed from the text of FORMAT='trace': by operator,
// in the order of the tree.
function considered(text) {
	const at = text.lastIndexOf('\n\n->');
	const nodes = [];
	for (const line of text.slice(at < 0 ? 0 : at).split('\n')) {
		const op = line.match(/^\s*-> (.*?)  \((?:cost|rows)=/);
		if (op) {
			nodes.push({ title: op[1], paths: [] });
			continue;
		}
		const p = line.match(/^\s*considered: (\S+) ?(.*)$/);
		if (p && nodes.length) {
			const facts = Object.fromEntries([...p[2].matchAll(/(\w+)=([-+\d.e]+)/g)].map((m) => [m[1], Number(m[2])]));
			nodes[nodes.length - 1].paths.push({ key: p[1], how: p[2].replace(/ ?\w+=[-+\d.e]+/g, '').trim(), entries: facts.entries, rows: facts.rows, cost: facts.cost ?? null });
		}
	}
	return { nodes, rules: at < 0 ? '' : text.slice(0, at).trim() };
}

async function load(sql, db, measure, signal) {
	const opts = { db, signal };
	const doc = JSON.parse((await query(`EXPLAIN ${measure ? 'ANALYZE ' : ''}FORMAT=JSON ${sql}`, [], opts)).rows[0][0]);
	let trace = { nodes: [], rules: '' };
	try {
		trace = considered((await query(`EXPLAIN FORMAT='trace' ${sql}`, [], opts)).rows[0][0]);
	} catch (e) {
		if (e.name === 'AbortError') throw e; // some statements have no trace
	}
	const list = flatten(doc);
	let k = 0;
	for (const x of list) { // both are in the order of the tree
		const found = trace.nodes.findIndex((n, i) => i >= k && n.title === x.title.replace(/^\w+: /, ''));
		if (found < 0) continue;
		x.paths = trace.nodes[found].paths;
		k = found + 1;
	}
	return { list, doc, rules: trace.rules, measured: measure };
}

// off is the factor between estimated and actual rows, of one loop.
function off(x) {
	if (!x.actual || x.rows === undefined) return null;
	const actual = x.actual.Rows / Math.max(1, x.actual.Loops);
	const a = Math.max(1, actual), b = Math.max(1, x.rows);
	return a > b ? a / b : b / a;
}

export default function Plan({ params }) {
	const db = params.db ?? '', sql = params.q ?? '';
	const [measured, setMeasured] = useState(() => {
		const a = analyze.peek();
		analyze.value = null;
		return a && a.sql === sql && a.db === db ? { sql, db } : null;
	});
	const [text, setText] = useState(sql);
	useEffect(() => setText(sql), [sql]);
	const measure = measured?.sql === sql && measured?.db === db;
	const plan = usePoll((signal) => sql ? load(sql, db, measure, signal) : null, 0, [sql, db, measured]);
	const databases = usePoll(async (signal) => (await query('SHOW DATABASES', [], { signal })).rows.map((r) => r[0]), 0);
	const [chosen, setChosen] = useState(0);
	useEffect(() => setChosen(0), [sql, db]);
	const show = (ev) => {
		ev?.preventDefault();
		setMeasured(null);
		if (text === sql) plan.refresh();
		else setParams({ q: text }, { push: true });
	};
	const safe = readOnly(text);
	const list = plan.data?.list ?? [];
	const top = list[0];
	const total = top?.actual?.Seconds;
	const worst = list.filter((x) => off(x) > far).length;
	return html`<div class="page">
		<header class="page-head"><h1>Plan</h1>
			<${Select} label="Database" value=${db} options=${[['', '(none)'], ...(db && !databases.data?.includes(db) ? [db] : []), ...(databases.data ?? [])]} onChange=${(v) => setParams({ db: v })} />
			<div class="tools">
				<${Link} class="button" to="/sql" params=${{ db, q: text }}>Open in SQL<//>
				<${Button} icon="gauge" disabled=${!text.trim() || !safe} title=${safe ? 'Runs the statement, and measures each operator' : 'It changes data: measure it from the page SQL'}
					onClick=${() => { if (text !== sql) setParams({ q: text }, { push: true }); setMeasured({ sql: text, db }); }}>Analyze<//>
				<${Button} kind="main" icon="tree" disabled=${!text.trim()} onClick=${show}>Explain<//>
			</div>
		</header>
		<textarea class="plan-input" aria-label="Statement" spellcheck="false" rows=${Math.min(12, text.split('\n').length + 1)} value=${text} onInput=${(e) => setText(e.target.value)}
			onKeyDown=${(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) show(e); }}></textarea>
		<${Failure} error=${plan.error} />
		${!sql && html`<${Empty}>Write a statement, and see how it would run.<//>`}
		${plan.loading && sql && html`<p class="running" role="status"><progress aria-label="Running"></progress> ${measure ? 'Measuring…' : 'Planning…'}</p>`}
		${top && html`<${Section} title="Operators" tools=${plan.data.measured && html`<${Facts} list=${[['time', duration(total)], ['rows', number(top.actual?.Rows)], ['keys read', short(list.reduce((a, x) => a + (x.actual?.Keys ?? 0), 0))]]} />`}>
			${worst > 0 && html`<p class="plan-note"><${Badge} kind="bad">${count(worst, 'estimate')} off by more than ${far}×<//> <span class="muted">ANALYZE TABLE renews the statistics that estimates are made from.</span></p>`}
			<div class="plan-main">
				<${Tree} list=${list} measured=${plan.data.measured} chosen=${chosen} onChoose=${setChosen} />
				<${Detail} x=${list[Math.min(chosen, list.length - 1)]} />
			</div>
		<//>
		${plan.data.rules && html`<details class="section"><summary>How the statement was rewritten</summary><pre class="text" tabindex="0">${steps(plan.data.rules)}</pre></details>`}
		<details class="section"><summary>As JSON</summary><pre class="text" tabindex="0">${JSON.stringify(plan.data.doc, null, 2)}</pre></details>`}
	</div>`;
}

// steps leaves out the rules that changed nothing.
function steps(text) {
	let before = '';
	return text.split('\n\n').filter((part) => {
		const body = part.slice(part.indexOf('\n'));
		const keep = body !== before;
		before = body;
		return keep;
	}).join('\n\n');
}

function Tree({ list, measured, chosen, onChoose }) {
	const root = useRef(null);
	const keys = (e) => {
		const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1, Home: 0, End: list.length - 1 }[e.key];
		if (to === undefined) return;
		e.preventDefault();
		const i = Math.max(0, Math.min(list.length - 1, to));
		onChoose(i);
		root.current.querySelectorAll('[role=row][data-i]')[i].focus();
	};
	return html`<div class="plan-tree" role="treegrid" aria-label="Operators" ref=${root} onKeyDown=${keys}>
		<div class="plan-row plan-head" role="row"><span role="columnheader">operator</span><span role="columnheader">${measured ? 'own time' : 'own cost'}</span>
			<span class="number" role="columnheader">est. rows</span><span class="number" role="columnheader">rows</span><span class="number" role="columnheader">loops</span><span class="number" role="columnheader">keys read</span><span class="number" role="columnheader">memory</span></div>
		${list.map((x) => {
			const f = off(x), share = measured ? x.share ?? 0 : x.costShare, a = x.actual;
			return html`<div class="plan-row" role="row" key=${x.i} data-i=${x.i} tabindex=${x.i === chosen ? 0 : -1} aria-level=${x.rails.length + 1} aria-selected=${String(x.i === chosen)} onClick=${() => onChoose(x.i)}>
				<div class="plan-name" role="gridcell">
					${x.rails.map((more, k) => html`<span class=${'rail ' + (k === x.rails.length - 1 ? (more ? 'line tee' : 'elbow') : more ? 'line' : '')}></span>`)}
					<div><b>${x.title}</b>${x.details[0] && html`<small title=${x.details[0]}>${x.details[0]}</small>`}</div>
				</div>
				<div class="share" role="gridcell"><i style=${{ width: Math.round(share * 60) + 'px' }}></i>${percent(share)}</div>
				<div class="number" role="gridcell">${short(x.rows)}</div>
				<div class="number" role="gridcell">${measured ? a ? short(a.Rows) : html`<span class="muted">never</span>` : ''}${f > far ? html` <${Badge} kind="bad">${short(f)}×<//>` : ''}</div>
				<div class="number" role="gridcell">${a ? short(a.Loops) : ''}</div>
				<div class="number" role="gridcell">${a?.Keys ? short(a.Keys) : ''}</div>
				<div class="number" role="gridcell">${a?.Memory ? bytes(a.Memory) : ''}${a?.Spilled ? html` <${Badge} kind="warn">spilled<//>` : ''}</div>
			</div>`;
		})}
	</div>`;
}

const measures = [['Keys', 'keys read', number], ['Bytes', 'bytes read', bytes], ['Seeks', 'seeks', number], ['Segments', 'segments', number], ['Candidates', 'candidates', number], ['Hits', 'hits', number],
	['Overlay', 'from recent changes', number], ['Waited', 'waited for the index', (v) => duration(v / 1e9)], ['Aggregated', 'aggregated in the index', number], ['Memory', 'memory', bytes], ['Spilled', 'spilled', bytes], ['Files', 'files', number], ['Partitions', 'partitions', number]];

function Detail({ x }) {
	const a = x.actual;
	return html`<aside class="plan-detail" aria-label="The chosen operator">
		<h3>${x.title}</h3>
		${x.details.length > 0 && html`<ul>${x.details.map((d) => html`<li key=${d}>${d}</li>`)}</ul>`}
		<${Facts} list=${[
			x.rows !== undefined && ['estimated rows', number(x.rows)], x.cost !== undefined && ['estimated cost', duration(x.cost / 1e9)],
			a && ['rows', number(a.Rows)], a && ['loops', number(a.Loops)], a?.Seconds > 0 && ['time with inputs', duration(a.Seconds)], x.own > 0 && ['own time', duration(x.own)],
			...measures.map(([k, name, f]) => a?.[k] ? [name, f(a[k])] : null),
		]} />
		${x.paths?.length > 0 && html`<${Paths} list=${x.paths} />`}
	</aside>`;
}

function Paths({ list }) {
	const best = useMemo(() => Math.min(...list.map((p) => p.cost ?? Infinity)), [list]);
	return html`<div><h3>Why not another way?</h3>
		<table class="paths"><thead><tr><th scope="col">key</th><th scope="col" class="number">entries</th><th scope="col" class="number">cost</th><th scope="col" class="number"><span class="hidden">compared with the cheapest</span></th></tr></thead>
		<tbody>${list.map((p, i) => html`<tr key=${i}><td>${p.key}<small>${p.how}</small></td><td class="number">${short(p.entries)}</td><td class="number">${p.cost === null ? '–' : duration(p.cost / 1e9)}</td>
			<td class="number">${p.cost === null ? '' : p.cost === best ? html`<${Badge} kind="good">cheapest<//>` : `${short(p.cost / best)}×`}</td></tr>`)}</tbody></table>
	</div>`;
}
