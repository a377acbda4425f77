import { assert } from './harness.mjs';

export const steps = [
	['overview', async (t) => {
		await t.go('#/overview');
		await t.page.waitForSelector('.badge.good:has-text("ready")');
		await t.page.waitForSelector('.chart canvas');
		for (let i = 0; i < 40; i++) await t.sql('SELECT * FROM calls LIMIT 10', 'tour');
		await t.page.waitForTimeout(3000);
		await t.look('overview');
		assert.match(await t.text('.overview-head'), /version\s+8\.4/);
	}],
	['the values of a chart as a table', async (t) => {
		await t.page.click('button[aria-label="Show the values: Statements"]');
		assert.match(await t.text('.chart table thead'), /time.*all.*select.*changes/s);
		await t.page.click('button[aria-label="Show the chart: Statements"]');
	}],
	['the range is in the address', async (t) => {
		await t.page.selectOption('.page-head select', '3600');
		await t.page.waitForFunction(() => location.hash === '#/overview?range=3600');
		await t.page.waitForTimeout(500);
	}],
	['a hidden window does nothing', async (t) => {
		await t.go('#/overview');
		await t.page.waitForSelector('.chart canvas');
		await t.page.evaluate(() => {
			Object.defineProperty(document, 'hidden', { get: () => window.away ?? false, configurable: true });
			window.away = true;
			document.dispatchEvent(new Event('visibilitychange'));
		});
		await t.page.waitForTimeout(1500);
		let n = 0;
		const count = () => { n++; };
		t.page.on('request', count);
		await t.page.waitForTimeout(2500);
		assert.equal(n, 0);
		await t.page.evaluate(() => {
			window.away = false;
			document.dispatchEvent(new Event('visibilitychange'));
		});
		await t.page.waitForTimeout(2500);
		t.page.off('request', count);
		assert.ok(n >= 2, `${n} requests after it came back`);
	}],
];
