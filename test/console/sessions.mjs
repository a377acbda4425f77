import { assert } from './harness.mjs';
import { agree, as, line, session, start } from './ops.mjs';

const hostile = '<script>alert(5)</script>';

export const steps = [
	['a statement that runs is shown and ended', async (t) => {
		const sleep = start(t, 'SELECT SLEEP(100) AS zzz', hostile);
		await t.go('#/sessions');
		await line(t, 'Sessions', 'SLEEP(100)').dblclick();
		await t.page.waitForSelector('.ops-detail');
		assert.match(await t.page.evaluate(() => location.hash), /^#\/sessions\/\d+/);
		assert.match(await t.text('.ops-detail'), /<script>alert\(5\)<\/script>/);
		assert.equal(await t.page.locator('#app script').count(), 0);
		assert.match(await t.text('table[aria-label="Sessions"]'), /this page/);
		await t.look('sessions-detail');
		await t.page.click('.ops-detail button:has-text("End statement")');
		await agree(t, /^KILL QUERY \d+$/);
		assert.equal((await sleep).error.code, 1317);
		await t.page.waitForFunction(() => document.querySelector('.ops-detail')?.innerText.includes('has ended'));
	}],
	['who waits for whom is a tree', async (t) => {
		const [a, b, c] = [await session(t, 'tour'), await session(t, 'tour'), await session(t, 'tour')];
		await a.run('START TRANSACTION');
		await a.run("UPDATE stations SET name = 'a' WHERE id = 5");
		await b.run('START TRANSACTION');
		await b.run("UPDATE stations SET name = 'b' WHERE id = 6");
		const second = b.run("UPDATE stations SET name = 'b' WHERE id = 5");
		await t.page.waitForTimeout(100);
		const third = c.run("UPDATE stations SET name = 'c' WHERE id = 6");
		await t.go('#/sessions');
		await t.page.waitForFunction(() => document.querySelectorAll('.waits ul ul .wait').length === 1);
		const text = await t.text('.waits');
		assert.match(text, /blocks 2/);
		assert.match(text, /waits .*for tour\.stations/s);
		assert.match(text, /1 row changed, idle for/);
		await t.look('sessions-waits');
		await t.page.click('.wait.root button:has-text("Close connection")');
		await agree(t, /^KILL \d+$/);
		assert.equal((await second).error, undefined);
		await b.run('COMMIT');
		assert.equal((await third).error, undefined);
		await t.page.waitForSelector('.waits', { state: 'detached' });
		await Promise.all([b.end(), c.end()]);
	}],
	['a wait for a table, transactions and locks', async (t) => {
		const a = await session(t, 'tour');
		await a.run('START TRANSACTION');
		await a.run("UPDATE stations SET name = 'a' WHERE id = 7");
		const alter = start(t, 'ALTER TABLE stations ADD COLUMN w INT', 'tour');
		await t.go('#/sessions?tab=transactions');
		await t.page.waitForFunction(() => /the whole table/.test(document.querySelector('.waits')?.innerText ?? ''));
		await t.page.waitForSelector('table[aria-label="Transactions"] tbody td');
		await t.page.click('[role=tab]:has-text("Locks")');
		await line(t, 'Locks of rows', 'tour.stations').waitFor();
		await line(t, 'Locks of tables', 'tour.stations').waitFor();
		await t.look('sessions-locks');
		await a.run('ROLLBACK');
		assert.equal((await alter).error, undefined);
		await a.end();
	}],
	['the address restores the filter', async (t) => {
		const a = await session(t, 'tour');
		await t.go('#/sessions');
		await t.page.selectOption('.toolbar select', 'http');
		await t.page.fill('input[type=search]', 'tour');
		await t.page.waitForFunction(() => location.hash === '#/sessions?show=http&find=tour');
		await t.page.reload();
		await line(t, 'Sessions', 'tour').waitFor();
		assert.equal(await t.page.inputValue('input[type=search]'), 'tour');
		await a.end();
	}],
	['a small account sees its own, and what the rest needs', async (t) => {
		await start(t, "CREATE USER small IDENTIFIED BY 'secret'");
		await start(t, 'GRANT SELECT ON tour.* TO small');
		await as(t, 'small', 'secret', async (page) => {
			const has = async (hash, ...texts) => {
				await page.goto(`${t.base}/${hash}`);
				for (const text of texts) await page.waitForFunction((s) => document.querySelector('main').innerText.includes(s), text);
			};
			await has('#/sessions', 'this page');
			await has('#/sessions?tab=transactions', 'Transactions need the privilege PROCESS.', '1227');
			await has('#/sessions?tab=locks', 'Locks need SELECT on performance_schema.');
			await has('#/statements', 'This needs SELECT on performance_schema.');
			await has('#/statements?tab=slow', 'Slow statements are not logged.');
			await has('#/streams', 'No table that you see keeps a log');
			await has('#/jobs', 'need the privilege PROCESS', 'No index build');
			await has('#/jobs?tab=backups', 'The list of backups needs the privilege PROCESS.');
			await has('#/server?find=max_conn', 'Which variables were changed needs SELECT on performance_schema.', 'max_connections');
			await has('#/server?tab=accounts', 'The list of accounts needs SELECT on mysql.user.', 'GRANT SELECT ON `tour`.* TO `small`@`%`');
			assert.doesNotMatch(await page.locator('main').innerText(), /\$A\$005/);
			await has('#/server?tab=log', 'The log needs SELECT on performance_schema');
		});
	}],
];
