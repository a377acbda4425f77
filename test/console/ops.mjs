// What the tests of the pages about the running server share.
import { assert } from './harness.mjs';

const basic = (user, password) => ({ Authorization: 'Basic ' + Buffer.from(`${user}:${password}`).toString('base64') });

/** A session of HTTP, past the browser: run(sql) gives {results} or {error}. */
export async function session(t, db = '', user = 'root', password = '') {
	const headers = { ...basic(user, password), 'Content-Type': 'application/json' };
	const { session: id } = await (await fetch(`${t.base}/v1/session`, { method: 'POST', headers, body: JSON.stringify({ db }) })).json();
	return {
		run: async (sql) => (await fetch(`${t.base}/v1/query?format=json`, { method: 'POST', headers: { ...headers, 'Content-Type': 'text/plain', 'X-Sqlots-Session': id }, body: sql })).json(),
		end: () => fetch(`${t.base}/v1/session/${id}`, { method: 'DELETE', headers }),
	};
}

/** Runs SQL in a session of its own, and gives what came, also an error. */
export async function start(t, sql, db = '') {
	return (await fetch(`${t.base}/v1/query?format=json&db=${encodeURIComponent(db)}`, { method: 'POST', headers: basic('root', ''), body: sql })).json();
}

/** Calls f with a page on which another account has logged in. */
export async function as(t, user, password, f) {
	const context = await t.browser.newContext({ viewport: { width: 1400, height: 860 } });
	const page = await context.newPage();
	page.setDefaultTimeout(15_000);
	const failed = [];
	page.on('pageerror', (e) => failed.push(e.message));
	await page.goto(`${t.base}/#/sessions`);
	await page.fill('input[name=user]', user);
	await page.fill('input[name=password]', password);
	await page.keyboard.press('Enter');
	await page.waitForSelector('.nav');
	await f(page);
	assert.deepEqual(failed, []);
	await context.close();
}

/** Says yes to a question that shows a statement. */
export async function agree(t, sql) {
	await t.page.waitForSelector('dialog pre.sql');
	const text = await t.text('dialog pre.sql');
	if (sql instanceof RegExp) assert.match(text, sql);
	else assert.equal(text, sql);
	await t.page.locator('dialog footer button').last().click();
	await t.page.waitForSelector('dialog', { state: 'detached' });
}

/** The line of a table with a text. */
export const line = (t, table, text) => t.page.locator(`table[aria-label="${table}"] tbody tr`, { hasText: text }).first();
