import { assert } from './harness.mjs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

// open gives the page a file.
async function open(t, name, body) {
	await t.page.setInputFiles('.import input[type=file]', { name, mimeType: 'application/octet-stream', buffer: Buffer.from(body) });
	await t.page.waitForFunction((n) => document.querySelector('.import h2')?.innerText === n || document.querySelector('.import .failure'), name);
}

const page = async (t, params = '') => {
	await t.go('#/overview'); // so that the page begins again
	await t.go('#/import' + params);
	await t.page.waitForSelector('.import h1');
};

async function load(t, button = 'Load') {
	await t.page.waitForSelector(`.start button:has-text("${button}"):not([disabled])`);
	await t.page.click(`.start button:has-text("${button}")`);
}

const orders = 'order_id,customer,placed,total,paid,note\n' + Array.from({ length: 300 }, (_, i) =>
	`${1000 + i},"Customer, ${i % 40}",2026-03-${String(i % 28 + 1).padStart(2, '0')} 10:${String(i % 60).padStart(2, '0')}:00,${(i * 7.25).toFixed(2)},${i % 3 ? 'true' : 'false'},${i % 5 ? 'ok' : '"<script>alert(1)</script> ""quoted"" 😀"'}`).join('\n') + '\n';

export const steps = [
	['import: nothing is chosen', async (t) => {
		await t.sql('CREATE DATABASE shop');
		await page(t, '?db=shop');
		await t.page.waitForSelector('.drop');
		await t.look('import-empty');
	}],
	['import: the chooser opens by keyboard', async (t) => {
		await t.page.focus('.drop button');
		const opened = t.page.waitForEvent('filechooser');
		await t.page.waitForTimeout(300); // until the browser knows that it is awaited
		await t.page.keyboard.press('Enter');
		await (await opened).setFiles({ name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from(orders) });
		await t.page.waitForSelector('h2:has-text("orders.csv")');
	}],
	['import: types, key and statement are guessed', async (t) => {
		await t.page.waitForSelector('.import-columns');
		const sql = await t.page.inputValue('.import textarea');
		assert.equal(sql, 'CREATE TABLE `shop`.`orders` (\n  `order_id` BIGINT NOT NULL,\n  `customer` VARCHAR(20),\n  `placed` DATETIME,\n  `total` DECIMAL(10,2),\n  `paid` BOOLEAN,\n  `note` VARCHAR(100),\n  PRIMARY KEY (`order_id`)\n)');
		assert.match(await t.text('.import'), /New rows then all come to one end/);
		assert.match(await t.text('.import'), /All of them fit/);
		assert.equal(await t.page.locator('.import script, .import img').count(), 0);
		await t.look('import-new');
	}],
	['import: a key of two columns, a type that does not fit, an edited statement', async (t) => {
		await t.page.check('input[aria-label="customer is part of the primary key"]');
		await t.page.uncheck('input[aria-label="order_id is part of the primary key"]');
		await t.page.check('input[aria-label="order_id is part of the primary key"]');
		assert.match(await t.page.inputValue('.import textarea'), /PRIMARY KEY \(`customer`, `order_id`\)/);
		await t.page.fill('input[aria-label="Type of customer"]', 'VARCHAR(11)');
		await t.page.keyboard.press('Tab');
		await t.page.waitForSelector('.misfit');
		assert.match(await t.text('.import .note:has(li)'), /row 11: customer: “Customer, 10” longer than 11/);
		await t.look('import-misfits');
		await t.page.fill('input[aria-label="Type of customer"]', 'VARCHAR(30)');
		await t.page.keyboard.press('Tab');
		await t.page.waitForSelector('.misfit', { state: 'detached' });
	}],
	['import: a new table', async (t) => {
		await load(t, 'Create the table and load');
		await t.page.waitForSelector('.done-load');
		assert.match(await t.text('.done-load'), /300 rows loaded into orders/);
		const [r] = await t.sql('SELECT COUNT(*), SUM(paid), SUM(total), MAX(note) FROM orders', 'shop');
		assert.deepEqual(r.rows[0].map(String), ['300', '200', '325162.5', 'ok']);
		await t.page.waitForSelector('h2:has-text("Fields")'); // it exists now
	}],
	['import: the same rows again are an error, with its reason', async (t) => {
		t.expected.push(/400/);
		await load(t);
		await t.page.waitForSelector('.failure');
		assert.match(await t.text('.failure'), /1062 .*Duplicate entry.*Nothing was loaded/s);
		await t.look('import-existing');
	}],
	['import: replacing is confirmed', async (t) => {
		await t.page.check('label:has-text("Replace rows") input');
		await load(t);
		await t.page.waitForSelector('dialog pre:has-text("REPLACE")');
		await t.page.click('dialog button:has-text("Load")');
		await t.page.waitForSelector('.done-load');
	}],
	['import: other columns, records that are left out, and a download of them', async (t) => {
		await t.sql('CREATE TABLE items (id INT PRIMARY KEY, `na"me<b>` VARCHAR(5) NOT NULL, qty INT NOT NULL, at DATETIME DEFAULT CURRENT_TIMESTAMP, twice INT AS (qty * 2) STORED)', 'shop');
		await page(t, '?db=shop&table=items');
		await open(t, 'items.csv.gz', gzipSync('ID,title,qty,extra\n1,one,5,x\n2,"too\nlong",6,y\n3,three,many,z\n1,dup,1,\n4,four,9,w\n'));
		await t.page.waitForSelector('.import-columns');
		let text = await t.text('.import');
		assert.match(text, /2 fields without a column: title, extra/);
		assert.match(text, /No field for na"me<b>, which has no default/);
		await t.page.selectOption('select[aria-label="Column of title"]', { label: 'na"me<b>' });
		await t.page.waitForFunction(() => !/No field for/.test(document.querySelector('.import').innerText));
		text = await t.text('.import');
		assert.match(text, /Columns without a field: at\./);
		assert.match(text, /qty: “many” no integer/);
		await t.page.selectOption('.start select', '100');
		await load(t);
		await t.page.waitForSelector('.done-load');
		assert.match(await t.text('.done-load'), /2 rows loaded/);
		await t.page.waitForFunction(() => document.querySelectorAll('table[aria-label="Records that were left out"] tbody tr').length === 3);
		assert.match(await t.text('table[aria-label="Records that were left out"]'), /1406.*1366.*many.*1062/s);
		await t.look('import-rejects');
		await t.page.waitForSelector('button:has-text("Records"):not([disabled])');
		const [download] = await Promise.all([t.page.waitForEvent('download'), t.page.click('button:has-text("Records")')]);
		assert.equal(await readFile(await download.path(), 'utf8'), 'ID,title,qty,extra\n2,"too\nlong",6,y\n3,three,many,z\n1,dup,1,\n');
	}],
	['import: JSON lines, semicolons, what is no table', async (t) => {
		await page(t, '?db=shop');
		await open(t, 'events.jsonl', Array.from({ length: 50 }, (_, i) => JSON.stringify({ id: i * 17 % 50, at: `2026-01-0${i % 9 + 1}T08:00:00`, tags: ['a', i], ok: i % 2 === 0, big: 1 })).join('\n').replaceAll('"big":1', '"big":18446744073709551615'));
		await t.page.waitForSelector('.import-columns');
		assert.match(await t.page.inputValue('.import textarea'), /`at` DATETIME,\n {2}`tags` JSON,\n {2}`ok` BOOLEAN,\n {2}`big` BIGINT UNSIGNED/);
		await load(t, 'Create the table and load');
		await t.page.waitForSelector('.done-load');
		assert.deepEqual((await t.sql('SELECT COUNT(*), SUM(ok), MAX(big) = 18446744073709551615 FROM events', 'shop'))[0].rows[0].map(String), ['50', '25', '1']);
		await open(t, 'prices.csv', 'Straße;Preis\nA;1,50\nB;2,75\n');
		await t.page.waitForFunction(() => /comma is no decimal point/.test(document.querySelector('.import').innerText));
		for (const [name, body, want] of [['a.csv', '', /empty/], ['b.json', '[{"a":1}]', /one array of JSON/], ['c.xlsx', 'PK\x03\x04xx', /ZIP archive/], ['d.csv', Buffer.from([97, 0xe9, 10]), /not in UTF-8/]]) {
			await open(t, name, body);
			await t.page.waitForFunction((s) => new RegExp(s).test(document.querySelector('.import .failure')?.innerText ?? ''), want.source);
		}
	}],
	['import: zstd goes into a table that exists', async (t) => {
		await page(t, '?db=shop&table=orders');
		await open(t, 'more.csv.zst', Buffer.from('KLUv/QRYSQEAY3VzdG9tZXIsb3JkZXJfaWQscGFpZApDdXN0b21lciA5LDcsdHJ1ZQpFq1xY', 'base64'));
		await load(t);
		await t.page.waitForSelector('.done-load');
	}],
	['import: 10,000 columns, and a table that fails is dropped', async (t) => {
		t.expected.push(/400/);
		await page(t, '?db=shop');
		await open(t, 'wide.csv', Array.from({ length: 10_000 }, (_, i) => `c${i}`).join(',') + '\n');
		await t.page.waitForSelector('.import-columns');
		assert.ok(await t.page.locator('.import-columns tbody tr').count() <= 200);
		await open(t, 'late.csv', 'id,n\n' + Array.from({ length: 20_000 }, (_, i) => `${i},${i}`).join('\n') + '\n20000,late\n');
		await load(t, 'Create the table and load');
		await t.page.waitForSelector('.failure');
		assert.match(await t.text('.failure'), /1366 .*late/s);
		await t.page.click('button:has-text("Drop it")');
		await t.page.click('dialog button:has-text("Drop")');
		await t.page.waitForFunction(() => /It does not exist/.test(document.querySelector('.import').innerText));
	}],
	['import: an account without the privilege sees which', async (t) => {
		t.expected.push(/403/, /400/);
		await t.page.click('button[aria-label^=Account]');
		await t.page.click('text=Log out');
		await t.page.fill('input[name=user]', 'reader');
		await t.page.fill('input[name=password]', 'secret');
		await t.page.keyboard.press('Enter');
		await page(t, '?db=tour');
		await t.page.waitForSelector('.drop'); // nothing of the other account is left
		await open(t, 'x.csv', 'id,n\n1,2\n');
		await load(t, 'Create the table and load');
		assert.match(await t.text('.failure'), /1142 .*CREATE.*privileges CREATE and INSERT on tour/s);
		await t.page.fill('.import input[list="import-tables"]', 'stations');
		await t.page.keyboard.press('Tab');
		await t.page.waitForSelector('h2:has-text("Fields")');
		await load(t);
		await t.page.waitForFunction(() => /INSERT command denied.*privilege INSERT/s.test(document.querySelector('.failure')?.innerText ?? ''));
		await t.page.click('button[aria-label^=Account]');
		await t.page.click('text=Log out');
		await t.page.fill('input[name=user]', 'root');
		await t.page.fill('input[name=password]', '');
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('.nav');
	}],
	['import: a big file has progress and can be cancelled', async (t) => {
		await t.sql('CREATE TABLE big (id INT PRIMARY KEY, v VARCHAR(200))', 'shop');
		await page(t, '?db=shop&table=big');
		const row = 'x'.repeat(180);
		const folder = await mkdtemp(join(tmpdir(), 'console-')), file = join(folder, 'big.csv');
		await writeFile(file, 'id,v\n' + Array.from({ length: 200_000 }, (_, i) => `${i},${row}`).join('\n'));
		await t.page.setInputFiles('.import input[type=file]', file);
		await load(t);
		await t.page.waitForSelector('.job progress');
		await t.go('#/sql'); // it goes on
		await t.go('#/import?db=shop&table=big');
		await t.page.waitForSelector('.job, .done-load');
		await t.page.waitForSelector('.done-load', { timeout: 60_000 });
		await t.page.check('label:has-text("Replace rows") input');
		await load(t);
		await t.page.click('dialog button:has-text("Load")');
		await t.page.waitForSelector('.job');
		await t.page.click('.job button:has-text("Cancel")');
		await t.page.waitForSelector('.failure:has-text("Cancelled")');
		assert.equal(String((await t.sql('SELECT COUNT(*) FROM big', 'shop'))[0].rows[0][0]), '200000');
		// An error that comes while the file is being sent is seen.
		t.expected.push(/400/, /ERR_/);
		await writeFile(file, 'id,v\nwrong,x\n' + Array.from({ length: 400_000 }, (_, i) => `${i},${row}`).join('\n'));
		await t.page.setInputFiles('.import input[type=file]', file);
		await t.page.waitForFunction(() => /wrong/.test(document.querySelector('.import').innerText));
		await load(t);
		await t.page.waitForSelector('.failure');
		assert.match(await t.text('.failure'), /1366 .*wrong/s);
		await rm(folder, { recursive: true });
	}],
];
