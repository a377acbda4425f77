import { assert } from './harness.mjs';

export const steps = [
	['help: the first page', async (t) => {
		await t.go('#/help');
		await t.page.waitForSelector('.help-page h2');
		assert.equal(await t.text('.help-page h2'), 'Documentation');
		await t.look('help');
	}],
	['help: links lead to pages and sections', async (t) => {
		await t.page.click('.help-page a:has-text("Tables and indexes")');
		await t.page.waitForFunction(() => location.hash === '#/help/ddl');
		await t.page.click('.help-toc a:has-text("Keys that spread the load")');
		await t.page.waitForFunction(() => document.activeElement?.id === 'at-keys-that-spread-the-load');
		await t.look('help-page');
		await t.page.goBack();
		await t.page.waitForFunction(() => location.hash === '#/help/ddl');
	}],
	['help: the address restores page and section', async (t) => {
		await t.go('#/help/search/operation?at=memory-and-files');
		await t.page.reload();
		await t.page.waitForFunction(() => {
			const r = document.getElementById('at-memory-and-files')?.getBoundingClientRect();
			return r && r.top >= 0 && r.top < innerHeight / 2;
		});
		assert.equal(await t.page.getAttribute('.help-contents a[aria-current]', 'href'), '#/help/search/operation');
	}],
	['help: a statement opens in SQL, and does not run', async (t) => {
		await t.go('#/help/ddl');
		await t.page.click('.help-code a:has-text("Open in SQL") >> nth=0');
		await t.page.waitForSelector('.cm-content');
		await t.page.waitForFunction(() => /CREATE TABLE calls/.test(document.querySelector('.cm-content').innerText));
		await t.page.waitForTimeout(300);
		assert.equal(await t.page.locator('.result, .failure').count(), 0);
	}],
	['help: search over titles and texts', async (t) => {
		await t.go('#/help');
		await t.page.fill('.help-search', 'spread load key');
		await t.page.waitForSelector('.help-hits li');
		assert.match(await t.text('.help-hits li'), /Keys that spread the load/);
		await t.page.waitForFunction(() => location.hash === '#/help?q=spread+load+key');
		await t.look('help-search');
		await t.page.fill('.help-search', '<img src=x> ((');
		await t.page.waitForFunction(() => /Nothing has all/.test(document.querySelector('.help-hits').innerText));
		await t.page.fill('.help-search', '');
		await t.page.waitForSelector('.help-page');
	}],
	['help: no page of it breaks, and none is wider than the window', async (t) => {
		const links = await t.page.$$eval('.help-contents a', (list) => list.map((a) => a.getAttribute('href')));
		assert.ok(links.length > 40);
		for (const link of links) {
			await t.go(link);
			await t.page.waitForFunction((to) => document.querySelector('.help-contents a[aria-current]')?.getAttribute('href') === to, link);
			assert.ok(await t.page.locator('.help-page > *').count() > 2, link);
			assert.ok(await t.page.evaluate(() => document.getElementById('main').scrollWidth <= document.getElementById('main').clientWidth), link);
			assert.doesNotMatch(await t.page.$eval('.help-page', (e) => [...e.querySelectorAll('p, li, td, h2, h3')].map((x) => x.innerText).join('\n')), /\*\*|\]\(/, link);
		}
		await t.go('#/help/no/such');
		await t.page.waitForSelector('.empty');
	}],
	['help: narrow windows', async (t) => {
		await t.go('#/help/types');
		await t.page.setViewportSize({ width: 640, height: 700 });
		await t.page.waitForTimeout(200);
		assert.ok(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		await t.picture('help-narrow');
		await t.page.setViewportSize({ width: 1400, height: 860 });
	}],
];
