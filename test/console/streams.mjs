import { assert } from './harness.mjs';
import { agree, line } from './ops.mjs';

const hostile = '<script>alert(7)</script>';

export const steps = [
	['streams, and where their consumers are', async (t) => {
		await t.sql(`CREATE TABLE orders (id BIGINT PRIMARY KEY, state VARCHAR(40), total DECIMAL(10,2), note TEXT) SECONDARY_ENGINE_ATTRIBUTE='{"stream": {"retention": "24h", "max_bytes": "1G"}}';
			CREATE TABLE audit (id INT PRIMARY KEY) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true}';
			CALL sqlots.stream_consumer('billing', 'orders');
			CALL sqlots.stream_consumer('${hostile}', 'orders');
			INSERT INTO orders WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i, 'new', i * 1.25, IF(i % 2, NULL, '${hostile}') FROM n`, 'tour');
		for (let i = 1; i <= 20; i++) await t.sql(`UPDATE orders SET state = 'paid ${i}' WHERE id = ${i}`, 'tour');
		await t.sql(`SET @half = (SELECT seq FROM stream('orders') WHERE kind = 'update' ORDER BY seq LIMIT 1 OFFSET 9); CALL sqlots.stream_checkpoint('billing', @half)`, 'tour');
		await t.go('#/streams');
		await line(t, 'Streams', 'tour.orders').waitFor();
		await t.look('streams');
		await line(t, 'Streams', 'tour.orders').dblclick();
		await t.page.waitForFunction(() => document.querySelectorAll('.lanes svg[role=img]').length === 2);
		assert.match(await t.text('.lanes'), /<script>alert\(7\)<\/script>/);
		assert.equal(await t.page.locator('#app script').count(), 0);
		const at = await t.page.$$eval('.lanes circle', (list) => list.map((c) => parseFloat(c.getAttribute('cx'))).sort((a, b) => a - b));
		assert.ok(at[0] < 20 && at[1] > 20 && at[1] < 90, String(at));
	}],
	['a change, before and after next to each other', async (t) => {
		await line(t, 'Records', 'state: new → paid 20').dblclick();
		await t.page.waitForSelector('.images tr.changed');
		assert.deepEqual(await t.page.locator('.images tr.changed').allInnerTexts().then((l) => l.map((x) => x.replace(/\s+/g, ' ').trim())), ['state new paid 20']);
		assert.equal(await t.page.locator('table[aria-label="Records"] tbody tr[aria-rowindex]').count() > 5, true);
		await t.look('stream');
		await t.page.reload();
		await t.page.waitForSelector('.images tr.changed');
	}],
	['a consumer is moved and dropped after questions', async (t) => {
		await t.page.click('button[aria-label="Move or drop billing"]');
		await t.page.click('[role=menuitem]:has-text("To the end")');
		await agree(t, /^CALL sqlots\.stream_checkpoint\('billing', \d+\)$/);
		await t.page.waitForFunction(() => /up to date/.test(document.querySelector('.lanes').innerText));
		await t.page.click('button[aria-label="Move or drop billing"]');
		await t.page.click('[role=menuitem]:has-text("To the first record")');
		await agree(t, /^CALL sqlots\.stream_checkpoint\('billing', \d+\)$/);
		await t.page.waitForFunction(() => !/up to date/.test(document.querySelector('.lanes').innerText));
		assert.equal(await t.page.locator('.failure').count(), 0);
		await t.page.click(`button[aria-label="Move or drop ${hostile}"]`);
		await t.page.click('[role=menuitem]:has-text("Drop it")');
		await agree(t, `CALL sqlots.stream_drop_consumer('${hostile}')`);
		await t.page.waitForFunction(() => document.querySelectorAll('.lanes svg[role=img]').length === 1);
	}],
];
