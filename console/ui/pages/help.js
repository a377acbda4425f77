// Help: the documentation of this version, as it is in the binary.
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { get } from '../api.js';
import { usePoll } from '../data.js';
import { Markdown, anchor, parse, plain } from '../help/markdown.js';
import { Link, href, setParams } from '../router.js';
import { Button, Empty, Failure, Page, copy, stylesheet } from '../ui.js';

await stylesheet('help/help.css');

const start = 'README';
const mostHits = 60;

let known = null;

// load reads all pages, once, and takes their titles.
async function load(signal) {
	if (!known) {
		const list = await get('/console/docs.json', { signal });
		const pages = new Map(list.map((d) => [d.path, { path: d.path, text: d.text, title: plain(/^#\s+(.*)$/m.exec(d.text)?.[1] ?? d.path) }]));
		known = { pages, groups: groups(pages) };
	}
	return known;
}

// groups are the pages in the order of the table of the first one, then the others.
function groups(pages) {
	const first = pages.get(start);
	const order = [...(first?.text.matchAll(/^\| \[[^\]]*\]\(([^)#]+)\.md\)/gm) ?? [])].map((m) => m[1]).filter((p) => pages.has(p));
	const under = (dir) => [...pages.keys()].filter((p) => p.startsWith(dir + '/'));
	const lead = order.filter((p) => !p.includes('/'));
	return [
		{ title: 'Pages', list: [start, ...lead, ...[...pages.keys()].filter((p) => !p.includes('/') && p !== start && !lead.includes(p))] },
		{ title: 'Search indexes', list: under('search') },
		{ title: 'Decisions', list: under('decisions'), folded: true },
	].filter((g) => g.list.length);
}

/** The page and the section that a link leads to, from a page; null: none of these. */
export function follow(target, from, pages) {
	if (/^[a-z]+:/i.test(target)) return null;
	const [file, at = ''] = target.split('#');
	if (!file) return { path: from, at };
	const parts = from.split('/').slice(0, -1);
	for (const p of file.split('/')) {
		if (p === '..') {
			if (!parts.length) return null;
			parts.pop();
		} else if (p !== '.') parts.push(p);
	}
	const path = parts.join('/').replace(/\.md$/, '');
	return pages.has(path) ? { path, at } : pages.has(path + '/README') ? { path: path + '/README', at } : null;
}

// sections of a page: {at, title, text}; the first is what precedes the first heading.
function sections(page) {
	page.sections ??= (() => {
		const out = [{ at: '', title: page.title, text: '' }];
		let code = false;
		for (const line of page.text.split('\n')) {
			if (line.startsWith('```')) code = !code;
			const m = !code && /^#{2,6}\s+(.*)$/.exec(line);
			if (m) out.push({ at: anchor(m[1]), title: plain(m[1]), text: '' });
			else if (code || !/^#\s/.test(line)) out[out.length - 1].text += line + '\n';
		}
		for (const s of out) {
			s.plain = plain(s.text).replace(/^\|[-|: ]+\|$/gm, '').replace(/^```.*$/gm, '').replace(/\s*\|\s*/g, ' · ').replace(/\s+/g, ' ').trim();
			s.low = s.plain.toLowerCase();
		}
		return out;
	})();
	return page.sections;
}

/** The sections that have all words: first those that have them in titles. */
export function find(pages, words) {
	const list = words.toLowerCase().split(/\s+/).filter(Boolean);
	if (!list.length) return [];
	const hits = [];
	for (const page of pages.values()) {
		for (const s of sections(page)) {
			const title = `${s.title} ${s.at ? page.title : ''}`.toLowerCase();
			let score = page.path.startsWith('decisions/') ? -5 : 0;
			const all = list.every((w) => {
				if (s.title.toLowerCase().includes(w)) score += 10;
				else if (title.includes(w)) score += 4;
				else if (!s.low.includes(w)) return false;
				score += Math.min(3, s.low.split(w).length - 1);
				return true;
			});
			if (all) hits.push({ page, section: s, score });
		}
	}
	return hits.sort((a, b) => b.score - a.score);
}

// Extract is the text around the first word, with all words marked.
function Extract({ section, words }) {
	const list = words.toLowerCase().split(/\s+/).filter(Boolean);
	const at = Math.max(0, ...list.map((w) => section.low.indexOf(w)).filter((i) => i >= 0).slice(0, 1));
	const from = Math.max(0, at - 60);
	const text = (from ? '…' : '') + section.plain.slice(from, from + 220) + (section.plain.length > from + 220 ? '…' : '');
	const re = new RegExp(`(${list.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'gi');
	return html`<small>${text.split(re).map((p, i) => i % 2 ? html`<mark>${p}</mark>` : p)}</small>`;
}

export default function Help({ path, params }) {
	const docs = usePoll(load, 0);
	const [words, setWords] = useState(params.q ?? '');
	useEffect(() => setWords(params.q ?? ''), [params.q]);
	useEffect(() => {
		if (words === (params.q ?? '')) return undefined;
		const t = setTimeout(() => setParams({ q: words }), 200);
		return () => clearTimeout(t);
	}, [words]);
	const pages = docs.data?.pages;
	const name = path.join('/') || start;
	const page = pages?.get(name) ?? pages?.get(name + '/README');
	return html`<${Page} title="Help" tools=${html`<input type="search" class="help-search" placeholder="Search the documentation" aria-label="Search the documentation" value=${words} onInput=${(e) => setWords(e.target.value)} />`}>
		<${Failure} error=${docs.error} />
		${pages && html`<div class="help">
			<${Contents} groups=${docs.data.groups} pages=${pages} open=${page?.path} />
			${params.q ? html`<${Hits} pages=${pages} words=${params.q} />` : page ? html`<${Document} page=${page} pages=${pages} at=${params.at} />` : html`<${Empty}>There is no page “${name}”.<//>`}
		</div>`}
	<//>`;
}

function Contents({ groups, pages, open }) {
	return html`<nav class="help-contents" aria-label="Documentation">${groups.map((g) => {
		const list = html`<ul>${g.list.map((p) => html`<li key=${p}><${Link} to=${['help', ...p.split('/')]} aria-current=${p === open ? 'page' : undefined}>${pages.get(p).title}<//></li>`)}</ul>`;
		return g.folded ? html`<details open=${g.list.includes(open)}><summary>${g.title}</summary>${list}</details>` : html`<h2>${g.title}</h2>${list}`;
	})}</nav>`;
}

function Hits({ pages, words }) {
	const hits = useMemo(() => find(pages, words), [pages, words]);
	return html`<div class="help-hits"><p role="status">${hits.length ? `${hits.length} ${hits.length === 1 ? 'section' : 'sections'}${hits.length > mostHits ? `, the best ${mostHits} of them` : ''}` : 'Nothing has all of these words.'}</p>
		<ul>${hits.slice(0, mostHits).map(({ page, section }) => html`<li key=${page.path + '#' + section.at}>
			<${Link} to=${['help', ...page.path.split('/')]} params=${{ at: section.at }}>${section.at ? `${page.title}: ${section.title}` : page.title}<//>
			<${Extract} section=${section} words=${words} /></li>`)}</ul></div>`;
}

function Document({ page, pages, at }) {
	const root = useRef(null);
	const parts = useMemo(() => parse(page.text), [page]);
	useEffect(() => {
		const to = at && root.current.querySelector('#' + CSS.escape('at-' + at));
		if (to) {
			to.scrollIntoView();
			to.focus({ preventScroll: true });
		} else document.getElementById('main')?.scrollTo(0, 0);
	}, [page, at]);
	const link = (target, content) => {
		const to = follow(target, page.path, pages);
		const name = [content].flat().join(''); // of a file: the page has a better one
		if (to) return html`<a href=${href(['help', ...to.path.split('/')], { at: to.at })}>${/^[\w/]+(\.md)?$/.test(name) && target.startsWith(name) ? pages.get(to.path).title : content}</a>`;
		return /^https?:/.test(target) ? html`<a href=${target} target="_blank" rel="noopener noreferrer">${content}</a>` : html`<span title=${target}>${content}</span>`;
	};
	const code = (p, i) => html`<div class="help-code" key=${i}><pre tabindex="0">${p.text}</pre><div class="tools">
		${/^sql\b/.test(p.lang) && html`<${Link} class="button" to="/sql" params=${{ q: p.text }} title="Opens the page SQL with it; it runs when you say so">Open in SQL<//>`}
		${p.lang !== '' && !/^text/.test(p.lang) && html`<${Button} kind="bare" icon="copy" label="Copy" onClick=${() => copy(p.text)} />`}</div></div>`;
	const toc = parts.filter((p) => p.kind === 'heading' && p.level === 2);
	return html`<article class="help-page" ref=${root} aria-label=${page.title}>
		<${Markdown} parts=${parts} code=${code} link=${link} />
	</article>
	${toc.length > 2 && html`<nav class="help-toc" aria-label="On this page"><h2>On this page</h2><ul>${toc.map((h) => html`<li key=${h.id}><a href=${href(['help', ...page.path.split('/')], { at: h.id })} aria-current=${h.id === at ? 'location' : undefined}>${plain(h.text)}</a></li>`)}</ul></nav>`}`;
}
