import { assert } from './harness.mjs';
import { readFile } from 'node:fs/promises';

const address = (q, db = 'tour') => `#/sql?db=${db}&q=${encodeURIComponent(q)}`;

async function run(t, q, { all = false, db } = {}) {
	await t.go(address(q, db));
	await t.page.waitForSelector('.cm-content');
	await t.page.waitForFunction((s) => document.querySelector('.cm-content').innerText.includes(s), q.split('\n')[0].slice(0, 30));
	await t.page.click('.cm-content');
	await t.page.keyboard.press(all ? 'Control+Shift+Enter' : 'Control+Enter');
	await t.page.waitForSelector('button:has-text("Run"):not([disabled])');
	await t.page.waitForTimeout(100);
}

async function cells(t, row) {
	const list = t.page.locator(`table[role=grid] tr[aria-rowindex="${row + 1}"] td`);
	await t.page.waitForTimeout(80);
	await list.first().waitFor();
	return list.allInnerTexts();
}

export const steps = [
	['a statement, with exact values', async (t) => {
		await run(t, "SELECT 18446744073709551615 AS big, 0.1000000000000000000001 AS exact, NULL AS nothing, '' AS blank, JSON_OBJECT('n', 9007199254740993) AS j, x'00ff10' AS b");
		assert.deepEqual(await cells(t, 1), ['18446744073709551615', '0.1000000000000000000001', 'NULL', 'empty', '{"n":9007199254740993}', '0x00ff10 (3 B)']);
		assert.match(await t.text('table[role=grid] thead'), /bigint unsigned/);
	}],
	['the statement at the cursor runs', async (t) => {
		await t.go(address('SELECT 1 AS one;\nSELECT 2 AS two;\nSELECT 3 AS three'));
		await t.page.click('.cm-content');
		await t.page.keyboard.press('Control+Home');
		await t.page.keyboard.press('ArrowDown');
		await t.page.keyboard.press('Control+Enter');
		await t.page.waitForSelector('th:has-text("two")');
		assert.deepEqual(await cells(t, 1), ['2']);
	}],
	['several statements share a session; an error names its own', async (t) => {
		t.expected.push(/400/);
		await run(t, 'SET @a = 5; SELECT @a + 1 AS six; SELECT * FROM nowhere; SELECT 9', { all: true });
		await t.page.waitForSelector('.failure');
		assert.match(await t.text('.failure'), /1146.*nowhere.*In statement 3/s);
		await t.page.click('[role=tab]:has-text("2: select")');
		assert.deepEqual(await cells(t, 1), ['6']);
	}],
	['a change says what it did', async (t) => {
		await run(t, "UPDATE stations SET name = 'x' WHERE id < 3");
		assert.match(await t.text('.done'), /3 rows affected/);
	}],
	['texts of the database are no markup', async (t) => {
		t.expected.push(/400/);
		await run(t, 'SELECT t.*, DATABASE() FROM `t"<b onclick=alert(3)>` t');
		assert.match((await cells(t, 1))[0], /^<img src=x onerror="alert\(1\)"><script>/);
		assert.equal(await t.page.locator('#app img[src=x], #app script, #app b[onclick]').count(), 0);
		await t.page.locator('table[role=grid] td').first().dblclick();
		await t.page.waitForSelector('dialog');
		assert.equal(await t.page.locator('#app img[src=x], #app script').count(), 0);
		await t.page.keyboard.press('Escape');
		await run(t, "SELECT `<img src=x onerror=alert(6)>`");
		assert.match(await t.text('.failure'), /<img src=x onerror=alert\(6\)>/);
		await t.page.click('button:has-text("History")');
		await t.page.waitForTimeout(200);
		assert.equal(await t.page.locator('#app img[src=x], #app script').count(), 0);
		await t.page.click('button:has-text("History")');
	}],
	['a long result stops, and more is loaded', async (t) => {
		await run(t, 'SELECT * FROM calls');
		assert.match(await t.text('.result-bar'), /1,000 rows, more are there/);
		await t.page.click('button:has-text("Load 100,000")');
		await t.page.waitForFunction(() => /100,000 rows/.test(document.querySelector('.result-bar')?.innerText ?? ''), null, { timeout: 60_000 });
		await t.look('sql');
	}],
	['100,000 rows: only what is visible is in the page, and scrolling is smooth', async (t) => {
		const r = await t.page.evaluate(async () => {
			const box = document.querySelector('.result .table');
			const times = [];
			for (let i = 1; i <= 60; i++) {
				const from = performance.now();
				box.scrollTop = box.scrollHeight * i / 61;
				await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
				times.push(performance.now() - from);
			}
			return { rows: box.querySelectorAll('tbody tr').length, times: times.sort((a, b) => a - b) };
		});
		console.log(`  a frame takes ${r.times[30].toFixed(1)} ms, the slowest tenth ${r.times[54].toFixed(1)} ms; ${r.rows} rows are in the page`);
		assert.ok(r.rows < 100);
	}],
	['the keyboard goes to the last row and column', async (t) => {
		await t.page.focus('.result .table');
		await t.page.keyboard.press('Control+End');
		await t.page.waitForSelector('tr[aria-rowindex="100001"] td.active');
		await t.page.keyboard.press('Control+c');
		assert.match(await t.page.evaluate(() => navigator.clipboard.readText()), /^POINT/);
	}],
	['a cell opens, and its JSON folds', async (t) => {
		await t.page.keyboard.press('Control+Home');
		for (let i = 0; i < 6; i++) await t.page.keyboard.press('ArrowRight');
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('dialog .json');
		assert.match(await t.text('dialog h2'), /attrs, row 1/);
		await t.look('sql-cell');
		await t.page.keyboard.press('Escape');
		assert.equal(await t.page.locator('dialog').count(), 0);
	}],
	['bytes are dumped', async (t) => {
		await t.page.focus('.result .table');
		await t.page.keyboard.press('ArrowRight');
		await t.page.keyboard.press('Enter');
		assert.match(await t.text('dialog pre'), /^000000 {2}00 00 00 01/);
		await t.page.keyboard.press('Escape');
	}],
	['a click on a header sorts, exactly', async (t) => {
		await run(t, 'SELECT 9007199254740993 AS n UNION ALL SELECT 9007199254740992 UNION ALL SELECT 10');
		await t.page.click('th button:has-text("n")');
		await t.page.click('th button:has-text("n")');
		assert.deepEqual([...await cells(t, 1), ...await cells(t, 2), ...await cells(t, 3)], ['9007199254740993', '9007199254740992', '10']);
		assert.equal(await t.page.getAttribute('th', 'aria-sort'), 'descending');
	}],
	['a chart with guessed axes', async (t) => {
		await run(t, 'SELECT DATE(start) AS day, SUM(cost) AS cost FROM calls GROUP BY day ORDER BY day');
		await t.page.click('.result-bar >> text=Chart');
		await t.page.waitForSelector('.plot canvas');
		assert.match(await t.text('.chart-title'), /cost by day/);
		await t.look('sql-chart');
		await t.page.click('.chart figcaption button');
		assert.match(await t.text('.chart table thead'), /time.*cost/s);
	}],
	['bars and a histogram', async (t) => {
		await run(t, 'SELECT city, COUNT(*) AS n FROM calls JOIN stations s ON s.id = station GROUP BY city');
		await t.page.waitForSelector('.chart-title');
		assert.match(await t.text('.chart-title'), /n by city/);
		await t.page.selectOption('.result-chart select', 'histogram');
		assert.match(await t.text('.chart-title'), /Rows by n/);
	}],
	['a map, and a circle that becomes a condition', async (t) => {
		await run(t, 'SELECT id, lat, lon FROM calls WHERE id < 2000 OR id = 5 ORDER BY id');
		await t.page.click('.result-bar >> text=Map');
		await t.page.waitForSelector('.map canvas');
		await t.page.waitForTimeout(500);
		await t.page.click('button:has-text("Circle")');
		const b = await t.page.locator('.map canvas').boundingBox();
		await t.page.mouse.move(b.x + b.width / 2, b.y + b.height / 2);
		await t.page.mouse.down();
		await t.page.mouse.move(b.x + b.width / 2 + 60, b.y + b.height / 2, { steps: 4 });
		await t.page.mouse.up();
		await t.look('sql-map');
		await t.page.click('text=Insert into the SQL');
		await t.page.waitForTimeout(100);
		assert.match(await t.page.locator('.cm-content').innerText(), /WHERE \(id < 2000 OR id = 5\)\s+AND ST_Distance_Sphere\(POINT\(`lon`, `lat`\), .* <= \d+\s+ORDER BY id/s);
		await t.page.keyboard.press('Control+Enter');
		await t.page.waitForFunction(() => /^\d+ rows\b/.test(document.querySelector('.result-bar')?.innerText ?? '') && !/1,000/.test(document.querySelector('.result-bar').innerText));
	}],
	['a polygon by keyboard', async (t) => {
		await run(t, 'SELECT id, pos FROM calls WHERE id < 500');
		await t.page.waitForSelector('.map canvas');
		await t.page.focus('button:has-text("Polygon")');
		await t.page.keyboard.press('Enter');
		await t.page.keyboard.press('Enter');
		await t.page.click('text=Insert into the SQL');
		await t.page.keyboard.press('Control+Enter');
		await t.page.waitForTimeout(500);
		assert.equal(await t.page.locator('.failure').count(), 0);
		await t.page.click('.result-bar >> text=Table');
	}],
	['completion: tables, columns of the tables in FROM, functions', async (t) => {
		await t.go(address('SELECT  FROM calls c JOIN stations s ON s.id = c.station'));
		await t.page.waitForTimeout(500);
		await t.page.click('.cm-content');
		await t.page.keyboard.press('Home');
		for (let i = 0; i < 7; i++) await t.page.keyboard.press('ArrowRight');
		await t.page.keyboard.type('dura');
		await t.page.waitForSelector('.cm-tooltip-autocomplete');
		assert.match(await t.text('.cm-tooltip-autocomplete'), /duration\s*int/);
		await t.page.waitForTimeout(150);
		await t.page.keyboard.press('Enter');
		await t.page.keyboard.type(', s.ci');
		await t.page.waitForSelector('.cm-tooltip-autocomplete >> text=city');
		await t.look('sql-completion');
		await t.page.keyboard.press('Enter');
		await t.page.keyboard.type(', json_ext');
		await t.page.waitForSelector('.cm-tooltip-autocomplete >> text=JSON_EXTRACT');
		assert.match(await t.text('.cm-tooltip-autocomplete'), /\(json, path\)/);
		await t.page.keyboard.press('Escape');
		assert.match(await t.page.locator('.cm-content').innerText(), /SELECT duration, s\.city, json_ext/);
	}],
	['cancel ends the statement in the server', async (t) => {
		await t.go(address('SELECT SLEEP(100)'));
		await t.page.waitForTimeout(300);
		await t.page.click('.cm-content');
		await t.page.keyboard.press('Control+Enter');
		await t.page.waitForSelector('.running');
		await t.page.waitForTimeout(500);
		await t.page.click('button:has-text("Cancel")');
		assert.match(await t.text('.failure'), /1317 .*Cancelled/s);
		for (let i = 0; ; i++) {
			const [r] = await t.sql("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(100%'");
			if (r.rows[0][0] === 0) break;
			assert.ok(i < 50, 'it still runs');
			await t.page.waitForTimeout(100);
		}
	}],
	['exports', async (t) => {
		await run(t, "SELECT id, note, raw, cost FROM calls WHERE id <= 1500 ORDER BY id");
		await t.page.evaluate(() => { delete window.showSaveFilePicker; window.showSaveFilePicker = undefined; });
		for (const [title, check] of [['CSV', /^id,note,raw,cost\n1,note 1,AAAAAQ==,0\.1429\n/], ['JSON lines', /^\{"id":"1","note":"note 1"/], ['Markdown', /^\| id \| note \|/], ['INSERT statements', /^INSERT INTO `calls` \(`id`, `note`, `raw`, `cost`\) VALUES\n {2}\(1, 'note 1', 0x00000001, 0\.1429\),/]]) {
			await t.page.click('button[aria-label="Export or copy"]');
			const [download] = await Promise.all([t.page.waitForEvent('download'), t.page.click(`[role=menuitem]:has-text("${title}") >> nth=0`)]);
			const body = await readFile(await download.path(), 'utf8');
			assert.match(body, check);
			assert.match(body, /note 1500/); // all rows, not those of the table
		}
	}],
	['history and saved statements', async (t) => {
		await t.page.click('button:has-text("Save")');
		await t.page.keyboard.type('My statement');
		await t.page.keyboard.press('Enter');
		await t.page.click('button:has-text("History")');
		assert.ok(await t.page.locator('.side li').count() > 5);
		await t.look('sql-history');
		await t.page.click('.side [role=tab]:has-text("Saved")');
		assert.match(await t.text('.side li'), /My statement/);
		await t.page.click('.side .pick');
		await t.page.click('button:has-text("History")');
	}],
	['USE changes the database, and the address', async (t) => {
		await run(t, 'USE mysql');
		await t.page.waitForFunction(() => location.hash.includes('db=mysql'));
	}],
	['an address runs nothing by itself', async (t) => {
		await t.go(address('DROP TABLE stations'));
		await t.page.waitForTimeout(500);
		assert.equal((await t.sql('SELECT COUNT(*) FROM stations', 'tour'))[0].rows[0][0], 37);
	}],
];
