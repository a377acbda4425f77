// Tests what needs no browser: node pure.mjs. The guesses of the page Import, and the Markdown
// of the page Help with all documents of the repository.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as g from '../../console/ui/import/guess.js';
import { anchor, parse, plain } from '../../console/ui/help/markdown.js';

const cases = [];
const test = (title, f) => cases.push([title, f]);
const types = (text, opts) => Object.fromEntries(g.guess(text, opts).columns.map((c) => [c.name, c.type]));

test('delimiters', () => {
	for (const [text, format, delimiter] of [
		['a,b\n1,2\n3,4\n', 'csv', ','], ['a;b\n1,5;2\n3,5;4\n', 'csv', ';'], ['a\tb\n1\t2\n', 'tsv', '\t'], ['a|b\n1|2\n', 'csv', '|'],
		['"x,y"\t"b"\n"1"\t"2"\n', 'csv', '\t'], ['one\ntwo\nthree\n', 'csv', ','], ['{"a": 1}\n{"a": 2}\n', 'ndjson', ''], ['a,"b;c;d"\n1,"x;y;z"\n', 'csv', ','],
	]) {
		const f = g.form(text);
		assert.deepEqual([f.format, f.delimiter], [format, delimiter], text);
	}
	assert.equal(g.form('a\nb\n', 'x.TSV.gz').format, 'tsv');
	assert.equal(g.form('a,b\r\n1,2\r\n').newline, '\r\n');
	assert.throws(() => g.form('[{"a": 1}]'), /array of JSON/);
	assert.throws(() => g.form('{\n "a": 1\n}\n', 'x.json'), /several lines/);
	assert.throws(() => g.form(''), /empty/);
});
test('records and fields of CSV', () => {
	const f = { format: 'csv', delimiter: ',', newline: '\n' };
	const rows = g.split('a,"b ""x"", y",""\n"one\ntwo",NULL,"NULL"\n5" disk,x"y,\nlast,"open', f, true).map((r) => g.fields(r, f));
	assert.deepEqual(rows, [['a', 'b "x", y', ''], ['one\ntwo', null, 'NULL'], ['5" disk', 'x"y', ''], ['last', 'open']]);
	assert.equal(g.split('a,b\n1,2\n3,', f, false).length, 2);
	// In pieces of any size.
	const text = 'a,"b\n""c""",d\r\n"x",y,"z\r\n"\r\n1,2,3\r\n', crlf = { ...f, newline: '\r\n' };
	const want = g.split(text, crlf, true);
	for (let n = 1; n < text.length; n++) {
		const got = [], s = new g.Splitter(crlf, (r) => got.push(r));
		for (let i = 0; i < text.length; i += n) s.push(text.slice(i, i + n));
		s.push('', true);
		assert.deepEqual(got, want, `pieces of ${n}`);
	}
});
test('fields of TSV', () => {
	const f = { format: 'tsv', delimiter: '\t', newline: '\n' };
	const rows = g.split('a\\tb\t\\N\t\nx\\\ny\t"q"\t\\\\\n', f, true).map((r) => g.fields(r, f));
	assert.deepEqual(rows, [['a\tb', null, ''], ['x\ny', '"q"', '\\']]);
	assert.deepEqual(g.fields('', f), ['']);
});
test('headers', () => {
	assert.equal(g.guess('id,name\n1,a\n2,b\n').header, true);
	assert.equal(g.guess('1,a\n2,b\n').header, false);
	assert.equal(g.guess('name,city\nAnna,Berlin\nBob,Paris\n').header, true);
	assert.equal(g.guess('Anna,Berlin\nBob,Paris\n').header, false);
	assert.equal(g.guess('a,a\n1,2\n').header, false);
	assert.deepEqual(g.guess('1,a\n2,b\n').names, ['column1', 'column2']);
	assert.deepEqual(g.guess('x,,x\n1,2,3\n', { header: true }).columns.map((c) => c.name), ['x', 'column2', 'x_2']);
	assert.deepEqual(g.guess('id,name\n1,a\n', { header: false }).rows.length, 2);
});
test('numbers', () => {
	const t = (...v) => g.typeOf(v).type;
	assert.equal(t('1', '-20', '0'), 'INT');
	assert.equal(t('2147483648'), 'BIGINT');
	assert.equal(t('9223372036854775807'), 'BIGINT');
	assert.equal(t('9223372036854775808'), 'BIGINT UNSIGNED');
	assert.equal(t('18446744073709551615', '1'), 'BIGINT UNSIGNED');
	assert.equal(t('18446744073709551615', '-1'), 'DECIMAL(20)');
	assert.equal(t('123456789012345678901234567890'), 'DECIMAL(30)');
	assert.equal(t('1'.repeat(66)), 'VARCHAR(100)');
	assert.equal(t('12.50', '3', '1000.5'), 'DECIMAL(10,2)');
	assert.equal(t('123456789.1234'), 'DECIMAL(17,4)');
	assert.equal(t('52.520008', '13.404954'), 'DOUBLE');
	assert.equal(t('0.1234567890123456789'), 'DECIMAL(24,19)');
	assert.equal(t('1e10', '2.5'), 'DOUBLE');
	assert.equal(t('007', '010'), 'VARCHAR(20)');
	assert.equal(t('+49 30'), 'VARCHAR(20)');
	assert.equal(t('1', 'x'), 'VARCHAR(20)');
	assert.equal(t('1,50', '2,75'), 'VARCHAR(20)');
	assert.equal(t('NaN'), 'VARCHAR(20)');
	assert.equal(g.typeOf(['1'], undefined, 'user_id').type, 'BIGINT');
});
test('dates, booleans, JSON, texts', () => {
	const t = (...v) => g.typeOf(v).type;
	assert.equal(t('2026-01-31', '2024-02-29'), 'DATE');
	assert.equal(t('2025-02-29'), 'VARCHAR(20)');
	assert.equal(t('2026-01-31 10:00'), 'DATETIME');
	assert.equal(t('2026-01-31T10:00:59.123', '2026-01-31'), 'DATETIME(3)');
	assert.equal(t('2026-01-31 25:00:00'), 'VARCHAR(50)');
	assert.equal(t('31.01.2026'), 'VARCHAR(20)');
	assert.equal(t('true', 'FALSE'), 'BOOLEAN');
	assert.equal(t('true', '1'), 'VARCHAR(20)');
	assert.equal(t('{"a":1}', '[]'), 'JSON');
	assert.equal(t('{"a":1', '[]'), 'VARCHAR(20)');
	assert.equal(t(null, null), 'VARCHAR(255)');
	assert.equal(t('x'.repeat(60)), 'VARCHAR(100)');
	assert.equal(t('李'.repeat(200)), 'VARCHAR(500)');
	assert.equal(t('x'.repeat(1500)), 'VARCHAR(4000)');
	assert.equal(t('x'.repeat(3000)), 'TEXT');
	assert.equal(t('x'.repeat(20000)), 'LONGTEXT');
});
test('NULL', () => {
	const a = g.guess('id,n\n1,\n2,5\n3,NULL\n');
	assert.equal(a.emptyNull, true);
	assert.equal(a.columns[1].type, 'INT');
	assert.equal(a.columns[1].nulls, true);
	assert.equal(g.guess('id,t\n1,\n2,x\n').emptyNull, false);
	assert.equal(g.guess('id\tn\n1\t\\N\n2\t5\n').columns[1].type, 'INT');
	assert.deepEqual(types('id,n\n1,\n2,5\n', { emptyNull: false }), { id: 'BIGINT', n: 'VARCHAR(20)' });
});
test('JSON lines', () => {
	const a = g.guess('{"id": 1, "ok": true, "tags": ["a"], "x": 1.5}\n\n{"id": 2, "ok": null, "more": "2026-01-01", "zip": "007"}\nno\n{"id": 3, "more": "2026-01-02"}\n');
	assert.deepEqual(Object.fromEntries(a.columns.map((c) => [c.name, c.type])), { id: 'BIGINT', ok: 'BOOLEAN', tags: 'JSON', x: 'DECIMAL(10,1)', more: 'DATE', zip: 'VARCHAR(20)' });
	assert.deepEqual([...a.bad.keys()], [2]);
	assert.equal(g.guess('{"a": "1"}\n{"a": "2"}\n').columns[0].type, 'VARCHAR(20)');
	assert.equal(g.guess('{"a": {"b": 1}}\n{"a": "text"}\n').columns[0].type, 'TEXT');
});
test('records that do not fit the others', () => {
	const a = g.guess('a,b\n1,2\n3\n4,5,6\n7,8\n');
	assert.deepEqual([...a.bad], [[1, '1 fields, not 2'], [2, '3 fields, not 2']]);
	assert.equal(a.columns[0].type, 'INT');
});
test('keys', () => {
	assert.equal(g.guess('name,user_id\na,1\nb,2\n').key, 1);
	assert.equal(g.guess('id,n\n1,1\n1,2\n').key, -1);
	assert.equal(g.guess('code,n\nx,1\ny,1\n').key, 0);
	assert.equal(g.guess('price,n\n1.5,1\n2.5,1\n').key, -1);
	assert.equal(g.grows(['1', '2', '5'], 'BIGINT'), true);
	assert.equal(g.grows(['9', '10', '11'], 'BIGINT'), true);
	assert.equal(g.grows(['1', '3', '2'], 'BIGINT'), false);
	assert.equal(g.grows(['1', '1', '1', '1', '2'], 'BIGINT'), false);
	assert.equal(g.grows(['2026-01-01', '2026-01-02', '2026-01-02'], 'DATE'), true);
	assert.equal(g.grows(['a', 'b', 'c'], 'VARCHAR(20)'), false);
});
test('what fits a column', () => {
	for (const [type, value, want] of [
		['INT', '5', ''], ['int unsigned', '-1', 'out of range'], ['INT', '2147483648', 'out of range'], ['INT', 'x', 'no integer'], ['INT', '', 'empty'], ['INT', '1.5', ''], ['tinyint', '300', 'out of range'],
		['BIGINT UNSIGNED', '18446744073709551615', ''], ['bigint unsigned', '18446744073709551616', 'out of range'], ['DECIMAL(5,2)', '999.999', ''], ['DECIMAL(5,2)', '1000', 'too many digits'], ['decimal(5,2)', 'a', 'no number'],
		['DOUBLE', '1e5', ''], ['DOUBLE', 'one', 'no number'], ['DATE', '2026-02-30', 'no date'], ['DATETIME(3)', '2026-02-28T10:00:00', ''], ['datetime', '2026-02-28 10:00:00+02:00', ''], ['datetime', 'now', 'no time'],
		['JSON', '{}', ''], ['JSON', '{', 'no JSON'], ['VARCHAR(3)', '李李李', ''], ['varchar(3)', 'abcd', 'longer than 3'], ['varbinary(3)', '李李', 'longer than 3'], ["enum('a','it''s')", "it's", ''], ["enum('a','b')", 'c', 'not in the list'],
		['BOOLEAN', 'true', 'no integer'], ['tinytext', 'x'.repeat(256), 'too long'], ['point', 'anything', ''], ['', 'x', ''],
	]) assert.equal(g.misfit(type, value), want, `${type} ${value}`);
	assert.equal(g.misfit('tinyint(1)', 'TRUE', { booleans: true }), '');
	assert.equal(g.misfit('INT', null), '');
	assert.equal(g.misfit('INT', null, { nullable: false }), 'NULL');
});
test('statements and names', () => {
	assert.equal(g.createTable('d', 't`x', [{ name: 'a', type: 'INT' }, { name: 'b"', type: 'TEXT' }], ['a']), 'CREATE TABLE `d`.`t``x` (\n  `a` INT NOT NULL,\n  `b"` TEXT,\n  PRIMARY KEY (`a`)\n)');
	assert.equal(g.createTable('d', 't', [{ name: 'ID', type: 'INT' }], []), 'CREATE TABLE `d`.`t` (\n  `id_` BIGINT NOT NULL AUTO_INCREMENT,\n  `ID` INT,\n  PRIMARY KEY (`id_`)\n)');
	assert.equal(g.tableName('C:\\data\\My Calls (2026).csv.gz'), 'my_calls_2026');
	assert.equal(g.tableName('.csv'), 'imported');
	const columns = [{ name: 'id' }, { name: 'total', generated: true }, { name: 'Name' }];
	assert.deepEqual(g.mapping(['NAME', 'x', ' id'], columns, true), [2, -1, 0]);
	assert.deepEqual(g.mapping(['1', '2', '3'], columns, false), [0, 2, -1]);
});
test('files that are no text', () => {
	const bytes = (s) => new TextEncoder().encode(s);
	assert.equal(g.compression(new Uint8Array([0x1f, 0x8b, 8])), 'gzip');
	assert.equal(g.compression(new Uint8Array([0x28, 0xb5, 0x2f, 0xfd])), 'zstd');
	assert.equal(g.compression(bytes('a,b')), '');
	assert.equal(g.decode(bytes('\ufeffa,b'), true), 'a,b');
	assert.equal(g.decode(bytes('a,é').subarray(0, 3), false), 'a,'); // a letter is cut
	assert.throws(() => g.decode(new Uint8Array([97, 0xe9, 98]), true), /UTF-8/);
	assert.throws(() => g.decode(bytes('PK\x03\x04...'), true), /ZIP/);
	assert.throws(() => g.decode(bytes('PAR1....'), true), /Parquet/);
	assert.throws(() => g.decode(new Uint8Array([0xff, 0xfe, 97, 0]), true), /UTF-16/);
});
test('nothing, one, many', () => {
	assert.deepEqual(g.guess('a,b\n').rows, []);
	assert.equal(g.guess('a\n').columns.length, 1);
	const wide = Array.from({ length: 10_000 }, (_, i) => `c${i}`).join(',');
	assert.equal(g.guess(`${wide}\n${wide.replaceAll('c', '')}\n`).columns.length, 10_000);
});

// Markdown.
test('Markdown', () => {
	const p = parse('# A `b` c\n\ntext\nmore\n\n- one\n- two\n  - inner\n\n1. x\n2. y\n\n| a | b |\n|---|--:|\n| `x|y` | 1 |\n\n```sql\nSELECT *\n```\n> quote\n');
	assert.deepEqual(p.map((x) => x.kind), ['heading', 'p', 'list', 'list', 'table', 'code', 'quote']);
	assert.equal(p[0].id, 'a-b-c');
	assert.equal(p[2].items.length, 2);
	assert.equal(p[2].items[1][1].kind, 'list');
	assert.equal(p[3].ordered, true);
	assert.deepEqual(p[4].rows, [['`x|y`', '1']]);
	assert.deepEqual(p[4].numbers, [false, true]);
	assert.equal(p[5].text, 'SELECT *');
	assert.equal(plain('**a** [b `c`](d.md) `e_f` \\*'), 'a b c e_f *');
});
test('all documents: links lead to headings, and nothing is lost', () => {
	const root = fileURLToPath(new URL('../../docs/', import.meta.url));
	const files = ['.', 'search', 'decisions'].flatMap((d) => readdirSync(join(root, d)).filter((f) => f.endsWith('.md')).map((f) => normalize(join(d, f))));
	const read = (f) => readFileSync(join(root, f), 'utf8');
	const headings = new Map(files.map((f) => [f, new Set(parse(read(f)).filter((x) => x.kind === 'heading').map((x) => x.id))]));
	const words = (parts) => parts.map((p) => p.kind === 'list' ? p.items.map(words).join(' ') : p.kind === 'quote' ? words(p.parts) : p.kind === 'table' ? [p.head, ...p.rows].flat().join(' ') : p.text ?? '').join(' ');
	let links = 0;
	for (const f of files) {
		const text = read(f), parts = parse(text);
		for (const [, to] of text.replace(/```[^]*?```/g, '').matchAll(/\]\(([^)\s]+)\)/g)) {
			const [file, at] = to.split('#');
			if (!at || /^[a-z]+:/.test(to)) continue;
			const target = file ? normalize(join(dirname(f), file)) : f;
			if (!headings.has(target)) continue;
			assert.ok(headings.get(target).has(at), `${f}: ${to}`);
			links++;
		}
		const letters = (s) => s.replace(/```+.*|[^\p{L}\p{N}]/gu, '').length;
		const lost = letters(text.replace(/<!--[^]*?-->/g, '').replace(/^\s*\d+\. /gm, '')) - letters(words(parts));
		assert.ok(Math.abs(lost) <= 20, `${f}: ${lost} letters are lost`);
	}
	assert.ok(links > 30);
	assert.equal(anchor('Keys that spread the load'), 'keys-that-spread-the-load');
});

for (const [title, f] of cases) {
	try {
		f();
	} catch (e) {
		console.error(`not ok ${title}\n${e.stack}`);
		process.exit(1);
	}
}
console.log(`ok: ${cases.length} tests without a browser`);
