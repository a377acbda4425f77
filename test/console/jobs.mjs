import { assert } from './harness.mjs';
import { agree, line, start } from './ops.mjs';

export const steps = [
	['an index build with its progress, cancelled', async (t) => {
		await t.sql('SET GLOBAL sqlots_index_build_rate = 3000');
		const build = start(t, 'CREATE INDEX slow_one ON calls (note)', 'tour');
		await t.go('#/jobs');
		await t.page.waitForFunction(() => /%.* of about 1\d\d,\d{3} rows.*rows\/s.* to go/s.test(document.querySelector('.work')?.innerText ?? ''));
		assert.match(await t.text('.work'), /Index slow_one on tour\.calls/);
		await t.look('jobs');
		await t.page.click('.work button:has-text("Cancel")');
		await agree(t, /^KILL QUERY \d+$/);
		assert.equal((await build).error.code, 1317);
		await t.sql('SET GLOBAL sqlots_index_build_rate = DEFAULT');
		await t.page.click('[role=tab]:has-text("Index builds")');
		await line(t, 'Index builds', 'rolled back').waitFor();
	}],
	['a backup is made, and the command that restores it is ready', async (t) => {
		await t.go('#/jobs?tab=backups');
		await t.page.waitForSelector('.badge:has-text("no backup")');
		await t.page.fill('.form input[required]', "mon'day");
		await t.page.click('.form button:has-text("Make a backup")');
		await agree(t, "BACKUP DATABASE * TO 'local://mon''day'");
		await t.page.waitForSelector('.badge.good:has-text("last backup")');
		assert.match(await t.text('.commands'), /sqlots restore --from '.*mon'\\''day' --data \.\/new/);
		await t.look('jobs-backups');
	}],
	['loads, with the records that were left out', async (t) => {
		const r = await fetch(`${t.base}/v1/load?table=tour.stations&format=csv&columns=id,name,city&header=0&max_rejects=10`, { method: 'PUT', body: `900,a,b\n<script>alert(1)</script>,a,b\n`, headers: { Authorization: 'Basic ' + Buffer.from('root:').toString('base64'), 'Idempotency-Key': 'monday-1' } });
		assert.equal(r.status, 200, await r.text());
		await t.go('#/jobs?tab=loads');
		await line(t, 'Loads', 'monday-1').dblclick();
		await t.page.waitForSelector('dialog');
		assert.match(await t.text('dialog'), /<script>alert\(1\)<\/script>/);
		assert.equal(await t.page.locator('#app script').count(), 0);
		await t.look('jobs-rejects');
		await t.page.keyboard.press('Escape');
		await t.page.click('[role=tab]:has-text("Background")');
		await line(t, 'Work in the background', 'removing expired rows').waitFor();
		await t.look('jobs-background');
	}],
];
