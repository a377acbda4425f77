// The tokens of SQL, as far as is needed to find statements and clauses.

const token = /\s+|--(?=\s|$)[^\n]*|#[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|"(?:[^"\\]|\\[\s\S]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|[\p{L}\p{N}_$@]+|[\s\S]/gyu;

/** The tokens of a text: {from, to, text, kind}; kind is 'space', 'string', 'name', 'word' or 'sign'. */
export function* tokens(sql) {
	token.lastIndex = 0;
	for (let m; (m = token.exec(sql));) {
		const text = m[0], c = text[0];
		const kind = /^(\s|--\s|--$|#|\/\*)/.test(text) && !(text.startsWith('/*!') || text.startsWith('/*+')) ? 'space'
			: c === "'" || c === '"' ? 'string' : c === '`' ? 'name' : /[\p{L}\p{N}_$@]/u.test(c) ? 'word' : 'sign';
		yield { from: m.index, to: m.index + text.length, text, kind };
	}
}

/** The statements of a text: [{from, to, text}], without their semicolons. */
export function statements(sql) {
	const list = [];
	let from = -1, to = 0;
	const end = () => {
		if (from >= 0) list.push({ from, to, text: sql.slice(from, to) });
		from = -1;
	};
	for (const t of tokens(sql)) {
		if (t.kind === 'sign' && t.text === ';') end();
		else if (t.kind !== 'space') {
			if (from < 0) from = t.from;
			to = t.to;
		}
	}
	end();
	return list;
}

/** The statement at a position: the one around it, or the last one before it. */
export function statementAt(sql, at) {
	const list = statements(sql);
	return list.find((s) => at >= s.from && at <= s.to + 1) ?? list.findLast((s) => s.to <= at) ?? list[0];
}

/** The first word of a statement, in capitals. */
export function verb(sql) {
	for (const t of tokens(sql)) if (t.kind === 'word') return t.text.toUpperCase();
	return '';
}

/** Whether a statement only reads, so that it may be run again. */
export function readOnly(sql) {
	const v = verb(sql);
	if (['SHOW', 'TABLE', 'VALUES', 'DESC', 'DESCRIBE'].includes(v)) return true;
	if (!['SELECT', 'WITH', 'EXPLAIN'].includes(v)) return false;
	for (const t of tokens(sql)) if (t.kind === 'word' && /^(INSERT|UPDATE|DELETE|REPLACE|INTO|ANALYZE)$/i.test(t.text)) return false;
	return true;
}

/** Tables that are named after FROM, JOIN, UPDATE and INTO: names without their databases. */
export function tablesIn(sql) {
	const list = [...tokens(sql)].filter((t) => t.kind !== 'space');
	const name = (t) => t?.kind === 'name' ? t.text.slice(1, -1).replaceAll('``', '`') : t?.kind === 'word' ? t.text : null;
	const found = new Set();
	for (let i = 0; i < list.length; i++) {
		if (list[i].kind !== 'word' || !/^(FROM|JOIN|UPDATE|INTO|TABLE)$/i.test(list[i].text)) continue;
		for (let k = i + 1; ; k++) {
			if (list[k + 1]?.text === '.') k += 2;
			const n = name(list[k]);
			if (n === null) break;
			found.add(n);
			let c = k + 1; // FROM a AS x, b
			while (list[c] && list[c].text !== ',' && list[c].kind !== 'sign' && c < k + 3) c++;
			if (list[c]?.text !== ',' || !/^FROM$/i.test(list[i].text)) break;
			k = c;
		}
	}
	return [...found];
}

/** A statement with one more condition for its rows. */
export function withCondition(sql, condition) {
	let depth = 0, where = null, end = sql.length;
	for (const t of tokens(sql)) {
		if (t.text === '(') depth++;
		else if (t.text === ')') depth--;
		else if (depth === 0 && t.kind === 'word') {
			if (!where && /^WHERE$/i.test(t.text)) where = t;
			else if (/^(GROUP|HAVING|WINDOW|ORDER|LIMIT|FOR|UNION|INTERSECT|EXCEPT)$/i.test(t.text)) {
				end = t.from;
				break;
			}
		}
	}
	const head = sql.slice(0, end).trimEnd(), tail = sql.slice(end);
	const rest = tail && '\n' + tail;
	if (!where) return `${head}\nWHERE ${condition}${rest}`;
	const old = head.slice(where.to).trim();
	return `${head.slice(0, where.to)} ${/\bOR\b|\|\|/i.test(old) ? `(${old})` : old}\n  AND ${condition}${rest}`;
}
