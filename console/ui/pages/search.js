// Search indexes: their state, their fields, and values that fields cannot take.
import { html, useMemo, useState } from '../vendor/preact.js';
import { id, query, text } from '../api.js';
import { useQuery } from '../data.js';
import { bytes, count, duration, number } from '../format.js';
import { Link, go, setParams } from '../router.js';
import { tokens } from '../sql/split.js';
import { Table } from '../table.js';
import { Badge, Button, Empty, Failure, Facts, Field, Page, Section, Select, confirm, notify, stylesheet } from '../ui.js';

await stylesheet('pages/search.css');

const every = 2000;
const fields = 'TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, GENERATION, STATE, DOCUMENTS, REJECTED, LAG_COMMITS, LAG_MILLISECONDS, SEGMENTS, DISK_BYTES, MEMORY_BYTES, LAST_ERROR, DEFINITION';
const listQuery = `SELECT ${fields} FROM information_schema.SQLOTS_SEARCH_INDEXES`;
const oneQuery = `${listQuery} WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME = ?`;
const rejectedQuery = 'SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, FIELD, PRIMARY_KEY_VALUE, VALUE, REASON FROM information_schema.SQLOTS_SEARCH_REJECTED';

const read = (r) => {
	const x = Object.fromEntries(['db', 'table', 'name', 'generation', 'state', 'documents', 'rejected', 'lag', 'behind', 'segments', 'disk', 'memory', 'error', 'definition'].map((k, i) => [k, r[i]]));
	return { ...x, ...parse(x.definition), label: `${x.db}.${x.table}.${x.name}` };
};

/** parse takes a definition as SHOW CREATE TABLE has it apart: its kind, the list of fields
 * as {text, name, isText}, and what follows them. */
function parse(definition) {
	const list = [], words = [];
	let depth = 0, rest = '', field = '', ended = false;
	for (const t of tokens(definition ?? '')) {
		if (ended) rest += t.text;
		else if (t.text === '(' && depth++ === 0) continue;
		else if (t.text === ')' && --depth === 0) ended = true;
		else if (depth === 0) words.push(t);
		else if (depth === 1 && t.text === ',') {
			list.push(field.trim());
			field = '';
		} else field += t.text;
	}
	if (field.trim()) list.push(field.trim());
	const kind = /^(FULLTEXT|SPATIAL)/.exec(words[0]?.text ?? '')?.[1]?.toLowerCase() ?? 'search';
	return { kind, rest: rest.trim(), fields: list.map((f) => {
		const [first, ...more] = tokens(f);
		const name = first.kind === 'name' ? first.text.slice(1, -1).replaceAll('``', '`') : null;
		const kindOf = more.map((t) => t.text).join('').trim();
		return { text: f, name: name !== null && !/^->/.test(kindOf) ? name : null, as: kindOf, isText: name !== null && (kind === 'fulltext' || /^TEXT\b/.test(kindOf)) };
	}) };
}

const stateBadge = (x) => html`<${Badge} kind=${{ ready: 'good', building: 'warn', failed: 'bad' }[x.state] ?? ''}>${x.state}<//>`;
const lagOf = (x) => x.behind === null ? null : Number(x.behind);

const columns = [
	{ title: 'index', get: (x) => x.name, cell: (v, x) => html`<${Link} tabindex="-1" to=${['search', x.db, x.table, x.name]}>${v}<//>` },
	{ title: 'table', get: (x) => `${x.db}.${x.table}`, cell: (v, x) => html`<${Link} tabindex="-1" to=${['tables', x.db, x.table]}>${v}<//>` },
	{ title: 'kind', get: (x) => x.definition ? x.kind : '', cell: (v) => v, width: 9 },
	{ title: 'state', get: (x) => x.state, cell: (v, x) => html`${stateBadge(x)}${x.generation === 'next' && html` <${Badge}>next<//>`}`, width: 16 },
	{ title: 'last error', get: (x) => x.error, cell: (v) => v ?? '', text: (v) => v ?? '' },
	{ title: 'lag', hint: 'how long the first commit that it does not have has waited, at most', number: true, get: lagOf, cell: (v) => v === null ? '–' : duration(v / 1000), text: (v) => v === null ? '' : duration(v / 1000), width: 9 },
	{ title: 'documents', number: true, get: (x) => x.documents, cell: number, text: number, width: 12 },
	{ title: 'rejected', hint: 'rows with a value that a field cannot take', number: true, get: (x) => x.rejected, cell: (v) => Number(v) ? html`<${Badge} kind="warn">${number(v)}<//>` : '0', width: 9 },
	{ title: 'segments', number: true, get: (x) => x.segments, cell: number, width: 9 },
	{ title: 'size', number: true, get: (x) => Number(x.disk) + Number(x.memory), cell: bytes, text: bytes, width: 10 },
	{ title: 'fields', get: (x) => x.fields.map((f) => f.text.replaceAll('`', '')).join(', '), cell: (v) => v, width: 40 },
];

const plainColumns = columns.filter((c) => c.title !== 'last error');

export default function Search({ path, params }) {
	if (path.length >= 3) return html`<${One} key=${JSON.stringify(path)} db=${path[0]} table=${path[1]} name=${path[2]} params=${params} />`;
	return html`<${All} params=${params} />`;
}

function All({ params }) {
	const { data, error } = useQuery(listQuery, [], { every });
	const f = (params.filter ?? '').toLowerCase();
	const list = useMemo(() => data?.rows.map(read), [data]);
	const shown = useMemo(() => f ? list?.filter((x) => x.label.toLowerCase().includes(f)) : list, [list, f]);
	const sum = (k) => list.reduce((a, x) => a + Number(x[k]), 0);
	return html`<${Page} fill title="Search indexes" tools=${html`<input type="search" placeholder="Filter" aria-label="Filter indexes" value=${params.filter ?? ''} onInput=${(e) => setParams({ filter: e.target.value })} />`}>
		<${Failure} error=${error} />
		${list?.length > 0 && html`<div class="search-facts"><${Facts} list=${[['indexes', number(list.length)], ['not ready', number(list.filter((x) => x.state !== 'ready').length)], ['documents', number(sum('documents'))],
			['greatest lag', duration(Math.max(0, ...list.map((x) => lagOf(x) ?? 0)) / 1000)], ['rows with rejected values', number(sum('rejected'))], ['files', bytes(sum('disk'))], ['memory', bytes(sum('memory'))]]} /></div>`}
		<${Table} label="Search indexes" height="fill" columns=${list?.some((x) => x.error) ? columns : plainColumns} rows=${shown} onOpen=${(x) => go(['search', x.db, x.table, x.name])}
			empty=${list?.length ? 'No index has this in its name.' : 'No search index, or none of a table that your account may see. CREATE SEARCH INDEX makes one.'} />
	<//>`;
}

function One({ db, table, name, params }) {
	const { data, error, refresh } = useQuery(oneQuery, [db, table, name], { every });
	const list = data?.rows.map(read), x = list?.find((o) => o.generation === 'current'), next = list?.find((o) => o.generation === 'next');
	const change = async (title, text, sql, action, danger) => {
		if (!await confirm({ title, text, sql, action, danger })) return false;
		notify('It runs. This page shows how far it is.');
		try {
			await query(sql, [], { multi: true });
			notify('Done.');
		} catch (e) {
			notify(e.message);
		}
		refresh();
		return true;
	};
	const of = `${id(db)}.${id(table)}`;
	const drop = async () => { if (await change(`Drop the search index ${name}?`, 'Queries will do without it. Building it again reads the whole table.', `ALTER TABLE ${of} DROP INDEX ${id(name)}`, 'Drop', true)) go('/search'); };
	const rebuild = () => change(`Build ${name} again?`, 'Queries do without the index until the new one is complete. Keep this page open: a build that is interrupted leaves no index.', `ALTER TABLE ${of} DROP INDEX ${id(name)};\nALTER TABLE ${of} ADD ${x.definition}`, 'Build', true);
	return html`<${Page} title=${html`<${Link} to="/search">Search indexes<//> / ${name}`} tools=${x && html`
			<${Link} class="button" to=${['tables', db, table]}>Table<//>
			<${Button} icon="refresh" onClick=${rebuild}>Build again<//><${Button} icon="trash" onClick=${drop}>Drop<//>`}>
		<${Failure} error=${error} />
		${data && !x && html`<${Empty}>There is no such search index, or your account may not see its table.<//>`}
		${x && html`<${Facts} list=${[
			['table', html`<${Link} to=${['tables', db, table]}>${db}.${table}<//>`], ['kind', x.kind], ['state', stateBadge(x)], ['documents', number(x.documents)],
			['lag', lagOf(x) === null ? '–' : `${duration(lagOf(x) / 1000)}, ${count(x.lag, 'commit')}`], ['segments', number(x.segments)], ['files', bytes(x.disk)], ['memory', bytes(x.memory)], ['rows with rejected values', number(x.rejected)],
		]} />
		${x.error && html`<${Failure} error=${{ message: x.error }} hint="The last failure since the server has started, even if it was overcome." />`}
		${next && html`<p class="search-next">${stateBadge(next)} The next generation, which an ALTER builds, has ${number(next.documents)} of about ${number(x.documents)} documents. <progress max="1" value=${Math.min(1, next.documents / Math.max(1, x.documents))} aria-label="Next generation"></progress></p>`}
		<${Try} x=${x} params=${params} />
		<${Section} title="Fields"><table class="search-fields"><thead><tr><th scope="col">field</th><th scope="col">held as</th></tr></thead>
			<tbody>${x.fields.map((f) => html`<tr key=${f.text}><td><code>${f.name ?? f.text}</code></td><td><code>${f.name === null ? '' : f.as || (x.kind === 'search' ? 'values' : x.kind)}</code></td></tr>`)}</tbody></table>
			<pre class="sql" tabindex="0">${x.definition}</pre><//>
		<${Rejected} x=${x} />`}
	<//>`;
}

const modes = { words: 'any of the words', boolean: 'boolean operators', phrase: 'the phrase', value: 'a value' };

// statementOf is a statement that searches.
function statementOf(x, field, mode, words) {
	const names = x.kind === 'fulltext' ? x.fields.map((f) => id(f.name)).join(', ') : id(field.name);
	const from = `FROM ${id(x.table)}`, limit = 'LIMIT 20';
	if (mode === 'value') return `SELECT *\n${from}\nWHERE ${names} = ${text(words)}\n${limit}`;
	const match = mode === 'phrase' ? x.kind === 'fulltext' ? `MATCH (${names}) AGAINST (${text(`"${words.replaceAll('"', ' ')}"`)} IN BOOLEAN MODE)` : `TEXT_MATCH_PHRASE(${names}, ${text(words)})`
		: `MATCH (${names}) AGAINST (${text(words)}${mode === 'boolean' ? ' IN BOOLEAN MODE' : ''})`;
	return `SELECT *, ${match} AS score\n${from}\nWHERE ${match}\nORDER BY score DESC\n${limit}`;
}

/** A search box: it makes a statement, which the page SQL shows. */
function Try({ x, params }) {
	const named = x.fields.filter((f) => f.name !== null && !/^(NESTED|GEO_POINT|IP|DATE)\b/.test(f.as));
	const usable = x.kind === 'spatial' ? [] : x.kind === 'fulltext' ? named.slice(0, 1) : named;
	const [chosen, setChosen] = useState('');
	const [mode, setMode] = useState('words');
	const words = params.q ?? '';
	if (!usable.length) return null;
	const field = usable.find((f) => f.text === chosen) ?? usable.find((f) => f.isText) ?? usable[0];
	const now = field.isText ? mode === 'value' ? 'words' : mode : 'value';
	const sql = statementOf(x, field, now, words);
	const open = (e) => {
		e.preventDefault();
		if (words) go('/sql', { db: x.db, q: sql });
	};
	return html`<${Section} title="Search">
		<form class="search-box" onSubmit=${open}>
			${x.kind === 'search' && html`<${Select} label="Field" value=${field.text} options=${usable.map((f) => [f.text, f.text.replaceAll('`', '')])} onChange=${setChosen} />`}
			${field.isText && html`<${Select} label="Rows with" value=${now} options=${['words', 'boolean', 'phrase'].map((m) => [m, modes[m]])} onChange=${setMode} />`}
			<${Field} label=${field.isText ? 'Words' : 'Value'} inline><input type="search" value=${words} onInput=${(e) => setParams({ q: e.target.value })} /><//>
			<${Button} kind="main" icon="search" type="submit" disabled=${!words}>Open in SQL<//>
		</form>
		${words && html`<pre class="sql" tabindex="0">${sql}</pre>`}
	<//>`;
}

const rejectedColumns = [
	{ title: 'field', get: (r) => r[3] }, { title: 'primary key', get: (r) => r[4] }, { title: 'value', get: (r) => r[5] }, { title: 'reason', get: (r) => r[6] },
];

function Rejected({ x }) {
	const some = Number(x.rejected) > 0;
	const { data, error } = useQuery(some ? `${rejectedQuery} WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND INDEX_NAME = ?` : null, [x.db, x.table, x.name]);
	if (!some) return null;
	return html`<${Section} title="Values that fields cannot take">
		<${Failure} error=${error} />
		<p class="muted">The rows are stored; the field is NULL there. Of the first 1,000 rows with such values:</p>
		<${Table} label="Rejected values" columns=${rejectedColumns} rows=${data?.rows} empty="None that your account may see: it needs SELECT on the table." />
	<//>`;
}
