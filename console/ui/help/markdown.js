// The Markdown of the documentation as elements: headings, paragraphs, lists, tables, code,
// quotes, links. What is nothing of these stays text.
import { html } from '../vendor/preact.js';

/** The name of a heading in addresses. */
export const anchor = (title) => [...title.replace(/\]\([^)]*\)/g, '')].filter((c) => /[\p{L}\p{Nd}_ -]/u.test(c)).join('').toLowerCase().trim().replaceAll(' ', '-');

/** A text without its marks. */
export const plain = (text) => text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/(`+)(.+?)\1/g, '$2').replace(/\*\*|\\(?=[^\w\s])/g, '');

const item = /^(\s*)([-*]|\d+\.)\s+(.*)$/;
const rule = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

// cells of a line of a table: a bar in code or after a backslash is text.
function cells(line) {
	const out = [''];
	let code = '';
	for (const part of line.trim().replace(/^\||\|$/g, '').match(/\\.|`+|[^\\`|]+|\||\\/g) ?? []) {
		if (part[0] === '`') code = code === part ? '' : code || part;
		if (part === '|' && !code) out.push('');
		else out[out.length - 1] += part === '\\|' ? '|' : part;
	}
	return out.map((s) => s.trim());
}

/**
 * The parts of a page: {kind: 'heading', level, text, id}, {kind: 'p', text}, {kind: 'code',
 * lang, text}, {kind: 'table', head, rows, numbers}, {kind: 'list', ordered, items: [parts]},
 * {kind: 'quote', parts}, {kind: 'line'}.
 */
export function parse(text) {
	const lines = text.replace(/<!--[^]*?-->/g, '').split(/\r?\n/), parts = [];
	const paragraph = [];
	const flush = () => { if (paragraph.length) parts.push({ kind: 'p', text: paragraph.splice(0).join(' ') }); };
	for (let i = 0; i < lines.length; i++) {
		const line = lines[i];
		let m;
		if ((m = /^(\s*)(```+|~~~+)\s*(.*)$/.exec(line))) {
			flush();
			const body = [];
			for (i++; i < lines.length && !lines[i].trim().startsWith(m[2]); i++) body.push(lines[i].startsWith(m[1]) ? lines[i].slice(m[1].length) : lines[i]);
			parts.push({ kind: 'code', lang: m[3].trim(), text: body.join('\n') });
		} else if ((m = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line))) {
			flush();
			parts.push({ kind: 'heading', level: m[1].length, text: m[2], id: anchor(m[2]) });
		} else if (line.includes('|') && rule.test(lines[i + 1] ?? '') && (lines[i + 1] ?? '').includes('|')) {
			flush();
			const head = cells(line), numbers = cells(lines[i + 1]).map((c) => /-:$/.test(c)), rows = [];
			for (i += 2; i < lines.length && lines[i].includes('|'); i++) rows.push(cells(lines[i]));
			i--;
			parts.push({ kind: 'table', head, rows, numbers });
		} else if ((m = item.exec(line)) && !(paragraph.length && /^\d/.test(m[2]) && m[2] !== '1.')) {
			flush();
			const ordered = /^\d/.test(m[2]), depth = m[1].length, items = [];
			const next = (l) => ((x) => x && x[1].length === depth && /^\d/.test(x[2]) === ordered ? x : null)(item.exec(l ?? ''));
			for (; i < lines.length; i++) {
				const n = next(lines[i]);
				if (n) items.push([n[3]]);
				else if (!lines[i].trim() ? /^\s/.test(lines[i + 1] ?? '') || next(lines[i + 1]) : lines[i].startsWith(' '.repeat(depth + 1)) || !/^[#`|>]/.test(lines[i]) && !item.test(lines[i]) && lines[i - 1].trim()) items[items.length - 1].push(lines[i].replace(new RegExp(`^\\s{0,${depth + m[2].length + 1}}`), ''));
				else break;
			}
			i--;
			parts.push({ kind: 'list', ordered, items: items.map((x) => parse(x.join('\n'))) });
		} else if (/^>\s?/.test(line)) {
			flush();
			const body = [];
			for (; i < lines.length && /^>/.test(lines[i]); i++) body.push(lines[i].replace(/^>\s?/, ''));
			i--;
			parts.push({ kind: 'quote', parts: parse(body.join('\n')) });
		} else if (/^\s*(-{3,}|\*{3,})\s*$/.test(line)) {
			flush();
			parts.push({ kind: 'line' });
		} else if (line.trim()) {
			paragraph.push(line.trim());
		} else {
			flush();
		}
	}
	flush();
	return parts;
}

const marks = /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*|(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])|!?\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)|<(https?:[^>\s]+)>|\\([!-/:-@[-`{-~])/;

/** The elements of a line; link(target, content) makes those of links. */
export function inline(text, link) {
	const out = [];
	for (let m; (m = marks.exec(text)); text = text.slice(m.index + m[0].length)) {
		if (m.index) out.push(text.slice(0, m.index));
		if (m[2] !== undefined) out.push(html`<code>${m[2].replace(/^ (.+) $/, '$1')}</code>`);
		else if (m[3] !== undefined) out.push(html`<b>${inline(m[3], link)}</b>`);
		else if (m[4] !== undefined) out.push(html`<em>${inline(m[4], link)}</em>`);
		else if (m[6] !== undefined) out.push(link(m[6], inline(m[5], link)));
		else if (m[7] !== undefined) out.push(link(m[7], m[7]));
		else out.push(m[8]);
	}
	if (text) out.push(text);
	return out;
}

/** The elements of parts; code(part) makes those of code, link those of links. */
export function Markdown({ parts, code, link }) {
	const line = (text) => inline(text, link);
	const inner = (list) => html`<${Markdown} parts=${list} code=${code} link=${link} />`;
	return parts.map((p, i) => {
		switch (p.kind) {
		case 'heading': return html`<${`h${Math.min(p.level + 1, 6)}`} key=${i} id=${'at-' + p.id} tabindex="-1">${line(p.text)}<//>`;
		case 'p': return html`<p key=${i}>${line(p.text)}</p>`;
		case 'code': return code(p, i);
		case 'table': return html`<div class="md-table" key=${i} tabindex="0" role="group" aria-label="Table"><table><thead><tr>${p.head.map((c) => html`<th scope="col">${line(c)}</th>`)}</tr></thead>
			<tbody>${p.rows.map((r) => html`<tr>${p.head.map((_, k) => html`<td class=${p.numbers[k] ? 'number' : ''}>${line(r[k] ?? '')}</td>`)}</tr>`)}</tbody></table></div>`;
		case 'list': {
			// A list of one line each has no paragraphs in it.
			const items = p.items.map((x, k) => html`<li key=${k}>${x.length && x[0].kind === 'p' ? [line(x[0].text), x.length > 1 && inner(x.slice(1))] : inner(x)}</li>`);
			return p.ordered ? html`<ol key=${i}>${items}</ol>` : html`<ul key=${i}>${items}</ul>`;
		}
		case 'quote': return html`<blockquote key=${i}>${inner(p.parts)}</blockquote>`;
		default: return html`<hr key=${i} />`;
		}
	});
}
