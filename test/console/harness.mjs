// What the tests of pages share. A test file exports steps: [[title, async (t) => {…}], …];
// each gets t: {page, base, sql(text, db), step helpers}.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const require = createRequire(import.meta.url);

export { assert };

const axeSource = await readFile(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Opens a browser on a server. */
export async function open(base, pictures) {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
	// axe is put into the page by the test, which its policy would forbid: a second check
	// looks at the policy.
	const context = await browser.newContext({ viewport: { width: 1400, height: 860 }, bypassCSP: false, permissions: ['clipboard-read', 'clipboard-write'] });
	const page = await context.newPage();
	page.setDefaultTimeout(15_000);
	const problems = [];
	const expected = []; // patterns of errors that a step causes
	page.on('console', (m) => {
		if ((m.type() === 'error' || m.type() === 'warning') && !expected.some((re) => re.test(m.text()))) problems.push(`console: ${m.text()}`);
	});
	page.on('pageerror', (e) => problems.push(`page: ${e.message}`));
	page.on('dialog', (d) => {
		problems.push(`a dialog: ${d.message()}`);
		d.dismiss();
	});
	page.on('request', (r) => {
		if (!r.url().startsWith(base + '/') && !/^(data|blob):/.test(r.url())) problems.push(`a request to ${r.url()}`);
	});

	const t = {
		page, base, browser, context, expected,
		/** Runs SQL as root, past the browser. */
		async sql(text, db = '') {
			const r = await fetch(`${base}/v1/query?multi=1&format=json${db && '&db=' + db}`, { method: 'POST', body: text, headers: { Authorization: 'Basic ' + Buffer.from('root:').toString('base64') } });
			const body = await r.text();
			assert.equal(r.status, 200, body);
			return JSON.parse(body).results;
		},
		/** Opens an address of the console. */
		async go(hash) {
			await page.goto(`${base}/${hash}`);
		},
		async theme(name) {
			await page.emulateMedia({ colorScheme: name });
		},
		/** Keeps a picture. */
		async picture(name) {
			await page.screenshot({ path: join(pictures, name + '.png') });
		},
		/** Looks for what keeps people out, in both themes, and keeps a picture of each. */
		async look(name) {
			for (const theme of ['light', 'dark']) {
				await t.theme(theme);
				await page.waitForTimeout(300);
				await t.picture(`${name}-${theme}`);
				await page.evaluate(axeSource); // by the protocol of the debugger: no script element
				const r = await page.evaluate(() => axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
				const bad = r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical');
				assert.deepEqual(bad.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).slice(0, 4).join(', ')}`), [], `${name}, ${theme}`);
			}
			await t.theme('light');
		},
		async text(selector) {
			return (await page.locator(selector).first().innerText()).trim();
		},
	};

	let n = 0;
	t.run = async (steps) => {
		for (const [title, f] of steps) {
			n++;
			try {
				await f(t);
				expected.length = 0;
				assert.deepEqual(problems.splice(0), []);
			} catch (e) {
				await t.picture('failed').catch(() => {});
				console.error(`not ok ${n} ${title}\n${e.stack}`);
				await browser.close();
				process.exit(1);
			}
			console.log(`ok ${n} ${title}`);
		}
	};
	return t;
}
