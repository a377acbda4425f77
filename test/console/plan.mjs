import { assert } from './harness.mjs';

const q = "SELECT s.city, COUNT(*) AS n, SUM(c.cost) FROM calls c JOIN stations s ON s.id = c.station\nWHERE c.start BETWEEN '2026-01-02' AND '2026-01-05' AND c.duration > 100 GROUP BY s.city ORDER BY n DESC";

export const steps = [
	['Explain opens the plan', async (t) => {
		await t.go(`#/sql?db=tour&q=${encodeURIComponent(q)}`);
		await t.page.waitForTimeout(300);
		await t.page.click('button:has-text("Explain")');
		await t.page.waitForSelector('.plan-row[data-i]');
		assert.match(await t.page.evaluate(() => location.hash), /^#\/plan\?/);
		assert.match(await t.text('.plan-head'), /own cost/);
		await t.look('plan-estimated');
	}],
	['Analyze measures', async (t) => {
		await t.page.click('button:has-text("Analyze")');
		await t.page.waitForSelector('.plan-head:has-text("own time")');
		await t.look('plan');
	}],
	['the operators by keyboard, with why not', async (t) => {
		await t.page.focus('.plan-row[data-i="0"]');
		for (let i = 0; i < 20 && !(await t.text('.plan-detail')).includes('Why not another way?'); i++) await t.page.keyboard.press('ArrowDown');
		const text = await t.text('.plan-detail');
		assert.match(text, /PRIMARY/);
		assert.match(text, /cheapest/);
		assert.match(text, /×/);
	}],
	['the address restores the plan', async (t) => {
		await t.page.reload();
		await t.page.waitForSelector('.plan-row[data-i]');
		assert.match(await t.text('.plan-head'), /own cost/);
	}],
	['an estimate that is far off is marked', async (t) => {
		await t.go(`#/plan?db=tour&q=${encodeURIComponent('SELECT COUNT(*) FROM calls WHERE CHAR_LENGTH(note) > 1000')}`);
		await t.page.waitForSelector('.plan-row[data-i]');
		await t.page.click('button:has-text("Analyze")');
		await t.page.waitForSelector('.plan-head:has-text("own time")');
		assert.match(await t.text('.plan-note'), /1 estimate off by more than 10×/);
		await t.picture('plan-off');
	}],
	['a change is not measured from here, but planned', async (t) => {
		await t.page.fill('.plan-input', 'DELETE FROM stations WHERE id = 1');
		assert.ok(await t.page.isDisabled('button:has-text("Analyze")'));
		await t.page.keyboard.press('Control+Enter');
		await t.page.waitForFunction(() => /stations/.test(document.querySelector('.plan-tree')?.innerText ?? ''));
	}],
	['Analyze of a change is confirmed', async (t) => {
		await t.go(`#/sql?db=tour&q=${encodeURIComponent('DELETE FROM stations WHERE id = 1')}`);
		await t.page.waitForTimeout(300);
		await t.page.click('button:has-text("Analyze")');
		await t.page.waitForSelector('dialog');
		await t.look('confirm');
		await t.page.keyboard.press('Escape');
		assert.equal((await t.sql('SELECT COUNT(*) FROM stations', 'tour'))[0].rows[0][0], 37);
	}],
	['an error of a plan', async (t) => {
		t.expected.push(/400/);
		await t.go('#/plan?db=tour&q=SELECT%20*%20FROM%20nowhere');
		assert.match(await t.text('.failure'), /1146/);
	}],
];
