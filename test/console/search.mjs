import { assert } from './harness.mjs';

const hash = (t) => t.page.evaluate(() => location.hash);

export const steps = [
	['indexes are made', async (t) => {
		await t.sql(`CREATE DATABASE press; USE press;
			CREATE TABLE news (id INT PRIMARY KEY, title VARCHAR(100), body TEXT, kind VARCHAR(20), ip VARCHAR(40), SEARCH INDEX s (title TEXT, body TEXT ANALYZER 'english', kind, ip IP), FULLTEXT KEY ft (title, body));
			INSERT INTO news VALUES (1, 'Red apples', 'An apple is sweet', 'food', '10.0.0.1'), (2, 'It''s "tea" <b>', 'Tea and apple pie', 'food', 'nowhere'), (3, 'Trees', 'Running water', 'nature', NULL);
			GRANT SELECT ON press.* TO reader`);
	}],
	['the list of search indexes', async (t) => {
		await t.go('#/search');
		await t.page.waitForSelector('.table td:has-text("news")');
		await t.page.waitForFunction(() => [...document.querySelectorAll('.table tbody tr')].some((r) => /^s\t.*ready.*\t3\t.*title TEXT, body TEXT ANALYZER 'english', kind, ip IP/.test(r.innerText)));
		await t.look('search');
		await t.page.fill('input[aria-label="Filter indexes"]', 'news.ft');
		await t.page.waitForFunction(() => document.querySelectorAll('.table tbody tr[aria-rowindex]').length === 1);
		await t.page.focus('.table');
		await t.page.keyboard.press('Enter');
		await t.page.waitForFunction(() => location.hash === '#/search/press/news/ft');
	}],
	['one index with its fields and rejected values', async (t) => {
		await t.go('#/search/press/news/s');
		await t.page.waitForSelector('h2:has-text("Values that fields cannot take")');
		await t.page.waitForSelector('.table td:has-text("no IP address")');
		assert.match(await t.text('.search-fields'), /body\s+TEXT ANALYZER 'english'/);
		await t.look('search-index');
	}],
	['a search becomes a statement', async (t) => {
		await t.page.fill('.search-box input', `it's "tea"`);
		await t.page.waitForFunction(() => document.querySelector('.search-box + pre')?.innerText.includes(`AGAINST ('it''s "tea"')`));
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('.cm-content');
		assert.match(await hash(t), /^#\/sql\?db=press/);
		await t.page.click('.cm-content');
		await t.page.keyboard.press('Control+Enter');
		await t.page.waitForSelector('.table td:has-text("nowhere")');
		for (const [index, field, mode, words, found] of [['s', '`body` TEXT ANALYZER \'english\'', 'boolean', '+apple -tea', 'Red apples'], ['s', '`title` TEXT', 'phrase', 'red apples', 'Red apples'], ['s', '`kind`', null, 'nature', 'Trees'], ['ft', null, 'phrase', 'apple pie', 'nowhere']]) {
			await t.go(`#/search/press/news/${index}?q=${encodeURIComponent(words)}`);
			await t.page.waitForSelector('.search-box input');
			if (field) await t.page.selectOption('.search-box select >> nth=0', field);
			if (mode) await t.page.selectOption(`.search-box select >> nth=${field ? 1 : 0}`, mode);
			const sql = await t.text('.search-box + pre');
			assert.match(JSON.stringify((await t.sql(sql, 'press'))[0].rows), new RegExp(found), sql);
		}
	}],
	['building again shows the statement first', async (t) => {
		await t.go('#/search/press/news/s');
		await t.page.click('button:has-text("Build again")');
		assert.match(await t.text('dialog pre'), /^ALTER TABLE `press`.`news` DROP INDEX `s`;\nALTER TABLE `press`.`news` ADD SEARCH INDEX `s` \(`title` TEXT,/);
		await t.page.click('dialog button.danger');
		await t.page.waitForSelector('.notice:has-text("Done.")');
		await t.page.waitForSelector('.facts .badge.good:has-text("ready")');
		await t.page.click('button:has-text("Drop")');
		assert.match(await t.text('dialog pre'), /^ALTER TABLE `press`.`news` DROP INDEX `s`$/);
		await t.page.keyboard.press('Escape');
	}],
];
