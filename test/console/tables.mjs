import { assert } from './harness.mjs';

const rows = (t) => t.page.$$eval('.table tbody tr[aria-rowindex]', (list) => list.map((r) => r.innerText.split('\n').join(' ').replace(/\t/g, ' | ')));
const hash = (t) => t.page.evaluate(() => location.hash);

export const steps = [
	['tables are made', async (t) => {
		await t.sql(`CREATE DATABASE stock; USE stock; SET cte_max_recursion_depth = 1000000;
			CREATE TABLE shops (id INT PRIMARY KEY, name VARCHAR(50) COMMENT 'as on the door', town VARCHAR(40) DEFAULT 'Bonn', KEY by_town (town), KEY by_name (name));
			CREATE TABLE goods (id BIGINT PRIMARY KEY, shop INT, name VARCHAR(100), price DECIMAL(8,2), bin VARBINARY(20), long_text TEXT, seen DATETIME, KEY by_shop (shop, price) INCLUDE (name), CONSTRAINT of_shop FOREIGN KEY (shop) REFERENCES shops (id) ON DELETE CASCADE)
				SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true,"stream":true}' TTL = seen + INTERVAL 7 DAY;
			INSERT INTO shops VALUES (1, 'Corner', 'Bonn'), (2, '<script>alert(6)</script> 🛒', 'Köln');
			CREATE VIEW dear AS SELECT id, name FROM goods WHERE price > 100;
			CREATE TABLE plain_rows (v INT); INSERT INTO plain_rows VALUES (1), (NULL);
			GRANT SELECT ON stock.shops TO reader`);
		for (let from = 0; from < 60_000; from += 15_000) {
			await t.sql(`SET cte_max_recursion_depth = 100000; INSERT INTO goods (id, shop, name, price, bin, long_text, _attributes) WITH RECURSIVE n(i) AS (SELECT ${from} + 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${from} + 15000)
				SELECT i, 1 + i % 2, CONCAT('good ', i), i / 7, 0x00FF, REPEAT('x', 600), JSON_OBJECT('color', IF(i % 2, 'red', NULL), 'weight', IF(i % 3, CAST(i AS JSON), CAST('"heavy"' AS JSON))) FROM n`, 'stock');
		}
		await t.sql('SELECT name FROM goods WHERE shop = 1 LIMIT 3; SELECT name FROM goods WHERE shop = 1 AND price < 5', 'stock');
	}],
	['databases with their sizes', async (t) => {
		await t.go('#/tables');
		await t.page.waitForSelector('.table tbody tr[aria-rowindex]');
		const list = await rows(t);
		assert.ok(list.some((r) => /^stock \| 3 \| 1 \|/.test(r)), list.join('\n'));
		assert.ok(list.some((r) => r.startsWith('<script>alert(5)</script>')));
		await t.look('tables');
		await t.page.fill('input[aria-label="Filter databases"]', 'stoc');
		await t.page.waitForFunction(() => document.querySelectorAll('.table tbody tr[aria-rowindex]').length === 1);
		await t.page.focus('.table');
		await t.page.keyboard.press('Enter');
		await t.page.waitForFunction(() => location.hash === '#/tables/stock');
	}],
	['tables of a database, sorted in the address', async (t) => {
		await t.page.waitForSelector('.table tbody tr:has-text("plain_rows")');
		await t.page.click('th button:has-text("rows")');
		await t.page.click('th button:has-text("rows")');
		assert.equal(await hash(t), '#/tables/stock?sort=-3');
		await t.page.reload();
		await t.page.waitForSelector('.table tbody tr:has-text("plain_rows")');
		const list = await rows(t);
		assert.match(list[0], /^goods \| table \| .*ttl="seen \+ INTERVAL 7 DAY", dynamic columns, stream/);
		await t.look('tables-database');
	}],
	['the structure of a table', async (t) => {
		await t.page.click('.table a:has-text("goods")');
		await t.page.waitForSelector('pre.sql');
		const text = await t.text('.page');
		assert.match(text, /CREATE TABLE `goods`/);
		assert.match(text, /Foreign keys.*of_shop.*shops \(id\).*ON DELETE CASCADE/s);
		await t.look('tables-structure');
		await t.page.click('.plain a:has-text("shops")');
		await t.page.waitForSelector('h2:has-text("Referred to by")');
	}],
	['indexes with reads, and one that is not used', async (t) => {
		await t.go('#/tables/stock/goods?tab=indexes');
		await t.page.waitForSelector('.plain');
		const text = await t.text('.plain');
		assert.match(text, /by_shop/);
		assert.match(text, /INCLUDE \(name\)/);
		await t.look('tables-indexes');
		await t.go('#/tables/stock/shops?tab=indexes');
		await t.page.waitForSelector('tr:has-text("by_name") .badge:has-text("not used")');
	}],
	['dropping an index shows the statement first', async (t) => {
		await t.page.click('button[aria-label="Drop the index by_name"]');
		assert.match(await t.text('dialog pre'), /^ALTER TABLE `stock`.`shops` DROP INDEX `by_name`$/);
		await t.page.keyboard.press('Escape');
		assert.equal((await t.sql("SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'stock' AND INDEX_NAME = 'by_name'"))[0].rows[0][0], 1);
		await t.page.click('button[aria-label="Drop the index by_name"]');
		await t.page.click('dialog button.danger');
		await t.page.waitForFunction(() => !document.querySelector('.plain').innerText.includes('by_name'));
	}],
	['the first rows, from places of the key, and one row', async (t) => {
		await t.go('#/tables/stock/goods?tab=samples');
		await t.page.waitForSelector('.table tbody tr[aria-rowindex]');
		await t.look('tables-samples');
		await t.page.selectOption('.bar-line select', 'spread');
		await t.page.waitForFunction(() => /from \d+ places/.test(document.querySelector('.bar-line [role=status]').innerText));
		const list = await rows(t);
		assert.ok(new Set(list.map((r) => r.split(' | ')[1].length)).size > 1, 'rows from one place');
		await t.page.focus('.table');
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('button:has-text("All rows")');
		assert.match(await hash(t), /row=%5B%22?1%22?%5D/);
		await t.page.waitForSelector('.table:has-text("attribute")');
		assert.match((await rows(t)).join('\n'), /color \| attribute \| red/);
		await t.look('tables-row');
		await t.page.goBack();
		await t.page.waitForSelector('.bar-line select');
	}],
	['dynamic columns of a sample', async (t) => {
		await t.go('#/tables/stock/goods?tab=attributes');
		await t.page.waitForSelector('.table tbody tr[aria-rowindex]');
		const list = await rows(t);
		assert.match(list[0], /^weight \| 1,?000 \| 100 % \| (integer|text) [\d.]+ %, (integer|text) [\d.]+ % /);
		assert.match(list[1], /^color \| \d+ \| (49|50|51)[.\d]* % \| text/);
		await t.look('tables-attributes');
	}],
	['sizes and heat of key ranges', async (t) => {
		const ids = Array.from({ length: 500 }, (_, i) => 30_001 + i % 300).join(',');
		const many = Array.from({ length: 40 }, () => `SELECT COUNT(name) FROM goods WHERE id IN (${ids})`).join(';');
		for (let i = 0; i < 12; i++) await t.sql(many, 'stock');
		await t.go('#/tables/stock/goods?tab=keys');
		await t.page.waitForSelector('.heat canvas');
		await t.page.waitForSelector('.keys-tab .table tbody tr[aria-rowindex]');
		assert.match(await t.text('.hot'), /hot.*Range \d+/s);
		await t.page.focus('.heat-box');
		await t.page.keyboard.press('ArrowDown');
		assert.match(await t.text('.heat-note'), /range 2 from \d+/);
		await t.look('tables-keys');
		await t.page.selectOption('.bar-line select', 'by_shop');
		await t.page.waitForFunction(() => !document.querySelector('.heat') && document.querySelector('.keys-tab .table tbody tr[aria-rowindex]'));
	}],
	['a view, and a table without a key', async (t) => {
		await t.go('#/tables/stock/dear');
		await t.page.waitForSelector('pre.sql:has-text("CREATE")');
		assert.equal(await t.page.locator('[role=tab]').count(), 2);
		await t.go('#/tables/stock/plain_rows?tab=samples');
		await t.page.waitForSelector('.table tbody tr[aria-rowindex]');
		await t.page.focus('.table');
		await t.page.keyboard.press('ArrowDown');
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('button:has-text("All rows")');
		await t.page.waitForFunction(() => /row=1(&|$)/.test(location.hash));
	}],
	['4,000 columns, 60,000 attributes, many tables (TABLES says how many)', async (t) => {
		await t.sql(`USE stock; CREATE TABLE wide (${Array.from({ length: 4000 }, (_, i) => `c${i} INT DEFAULT ${i}`).join(', ')}, PRIMARY KEY (c0)); INSERT INTO wide () VALUES ();
			CREATE TABLE many (id INT PRIMARY KEY) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}'`);
		await t.sql(`INSERT INTO many (id, _attributes) VALUES (1, '${JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => ['attribute_' + i, i])))}')`, 'stock');
		await t.sql('CREATE DATABASE crowd');
		for (let i = 0; i < Number(process.env.TABLES ?? 2000); i += 500) await t.sql(Array.from({ length: 500 }, (_, k) => `CREATE TABLE t${i + k} (id INT PRIMARY KEY, v INT, KEY (v))`).join(';'), 'crowd');
		for (const [address, ready] of [['stock/wide?tab=samples', '.table tbody tr[aria-rowindex]'], [`stock/wide?tab=samples&row=${encodeURIComponent('["0"]')}`, '.table td:has-text("c12")'], ['stock/many?tab=samples', '.table tbody tr[aria-rowindex]'],
			[`stock/many?tab=samples&row=${encodeURIComponent('["1"]')}`, '.table td:has-text("attribute_2")'], ['stock/many?tab=attributes', '.table td:has-text("attribute_1")'], ['crowd', '.table td:has-text("t100")'], ['', '.table td:has-text("crowd")']]) {
			await t.go('#/overview');
			await t.page.waitForSelector('.overview-head');
			const began = Date.now();
			await t.go('#/tables/' + address);
			await t.page.waitForSelector(ready);
			console.log(`\t${address || 'databases'}: ${Date.now() - began} ms, ${await t.page.evaluate(() => document.querySelectorAll('*').length)} elements`);
		}
		await t.go('#/tables/stock/wide?tab=samples');
		await t.page.waitForSelector('.table tbody tr[aria-rowindex]');
		await t.page.selectOption('.bar-line select >> nth=1', '3960');
		await t.page.waitForSelector('.table th:has-text("c3999")');
	}],
];

/** As reader, who may read one table. */
export const last = [
	['a small account sees what it may', async (t) => {
		t.expected.push(/400|403/);
		await t.go('#/tables/stock');
		await t.page.waitForSelector('.table td:has-text("shops")');
		assert.equal((await rows(t)).length, 1);
		await t.go('#/tables/stock/shops?tab=indexes');
		await t.page.waitForSelector('.plain');
		assert.match(await t.text('.failure'), /1142.*needs SELECT on performance_schema/s);
		await t.go('#/tables/stock/goods');
		await t.page.waitForSelector('.empty:has-text("There is no such table")');
	}],
];
