import { assert } from './harness.mjs';
import { agree, line, start } from './ops.mjs';

export const steps = [
	['statements by digest, sorted by the address', async (t) => {
		for (let i = 0; i < 20; i++) await t.sql(`SELECT COUNT(*) FROM calls WHERE duration > ${i}`, 'tour');
		await start(t, "SELECT `<script>alert(8)</script>` FROM calls", 'tour');
		await t.go('#/statements');
		await line(t, 'Statements', '`duration` > ?').waitFor();
		assert.equal(await t.page.locator('table[aria-label="Statements"] tbody tr', { hasText: 'performance_schema' }).count(), 0);
		assert.equal(await t.page.locator('#app script').count(), 0);
		await t.look('statements');
		await t.page.click('th button:has-text("calls")');
		await t.page.waitForFunction(() => location.hash === '#/statements?sort=calls');
		await t.page.click('th button:has-text("calls")');
		await t.page.waitForFunction(() => location.hash === '#/statements?sort=-calls');
		await t.page.reload();
		await t.page.waitForSelector('th[aria-sort=descending]:has-text("calls")');
	}],
	['a digest by keyboard, its measurements and its plan', async (t) => {
		await t.page.fill('input[type=search]', 'WHERE `duration` > ?');
		await t.page.waitForFunction(() => document.querySelectorAll('table[aria-label="Statements"] tbody tr').length === 1);
		await t.page.focus('.table');
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('.chart canvas');
		assert.match(await t.page.evaluate(() => location.hash), /^#\/statements\/[0-9a-f]{32,}\?db=tour/);
		assert.match(await t.text('.page'), /calls without an index\s+\d+/);
		await t.look('statement');
		await t.page.click('a:has-text("Show plan")');
		await t.page.waitForSelector('.plan-row[data-i]');
	}],
	['slow statements are turned on and shown', async (t) => {
		await t.go('#/statements?tab=slow');
		await t.page.click('button:has-text("Log them to the table")');
		await agree(t, /^SET GLOBAL slow_query_log = ON, GLOBAL log_output = '(FILE,)?TABLE'$/);
		await t.sql('SET long_query_time = 0.000001; SELECT COUNT(*), SLEEP(0.01) FROM stations', 'tour');
		await line(t, 'Slow statements', 'SLEEP(0.01)').dblclick();
		await t.page.waitForSelector('pre.sql');
		await t.look('statements-slow');
		await t.sql("SET GLOBAL slow_query_log = OFF, GLOBAL log_output = DEFAULT");
	}],
	['errors by number, with the texts of the last ones', async (t) => {
		const r = await fetch(`${t.base}/v1/session`, { method: 'POST', headers: { Authorization: 'Basic ' + Buffer.from('root:').toString('base64') } });
		const { session } = await r.json();
		const run = (sql) => fetch(`${t.base}/v1/query?db=tour`, { method: 'POST', headers: { Authorization: 'Basic ' + Buffer.from('root:').toString('base64'), 'X-Sqlots-Session': session }, body: sql });
		await run('SELECT * FROM `<script>alert(9)</script>`');
		await t.go('#/statements?tab=errors');
		await line(t, 'Errors', '1146').dblclick();
		await line(t, 'Statements with this error', '<script>alert(9)</script>').waitFor();
		assert.equal(await t.page.locator('#app script').count(), 0);
		assert.match(await t.page.evaluate(() => location.hash), /number=1146/);
		await t.look('statements-errors');
	}],
	['the numbers begin again after a question', async (t) => {
		await t.go('#/statements');
		await line(t, 'Statements', '`duration` > ?').waitFor();
		await t.page.click('button:has-text("Reset")');
		await agree(t, 'TRUNCATE performance_schema.events_statements_summary_by_digest');
		await t.page.waitForFunction(() => !/`duration` > \?/.test(document.querySelector('table[aria-label="Statements"]')?.innerText ?? '`duration` > ?'));
	}],
];
