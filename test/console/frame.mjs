import { assert } from './harness.mjs';

const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;

export const steps = [
	['data is made', async (t) => {
		await t.sql('CREATE DATABASE tour');
		await t.sql(`SET cte_max_recursion_depth = 1000000;
			CREATE TABLE calls (id BIGINT PRIMARY KEY, station INT NOT NULL, start DATETIME NOT NULL, duration INT, cost DECIMAL(12,4), note VARCHAR(100), attrs JSON, raw VARBINARY(16), lat DOUBLE, lon DOUBLE, pos POINT, KEY st (station, start), KEY begin (start));
			INSERT INTO calls WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)
				SELECT i, i % 37, '2026-01-01' + INTERVAL i MINUTE, (i * 7919) % 3600, (i % 1000) / 7, IF(i = 3, NULL, CONCAT('note ', i)), JSON_OBJECT('i', i, 'tags', JSON_ARRAY('a', 'b')), UNHEX(LPAD(HEX(i), 8, '0')),
					-50 + (i * 7919 % 11000) / 100.0, -170 + (i * 104729 % 34000) / 100.0, POINT(-170 + (i * 104729 % 34000) / 100.0, -50 + (i * 7919 % 11000) / 100.0) FROM n;
			CREATE TABLE stations (id INT PRIMARY KEY, name VARCHAR(50), city VARCHAR(50));
			INSERT INTO stations WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 36) SELECT i, CONCAT('Station ', i), ELT(i % 4 + 1, 'Berlin', 'Zürich', '東京', 'Paris') FROM n;
			CREATE TABLE \`t"<b onclick=alert(3)>\` (\`c<img src=x onerror=alert(4)>\` VARCHAR(200));
			INSERT INTO \`t"<b onclick=alert(3)>\` VALUES ('${hostile}');
			ANALYZE TABLE calls, stations`, 'tour');
		await t.sql("CREATE DATABASE `<script>alert(5)</script>`; CREATE USER reader IDENTIFIED BY 'secret'; GRANT SELECT ON tour.* TO reader");
	}],
	['the login page', async (t) => {
		await t.go('#/sql?db=tour');
		await t.page.waitForSelector('input[name=user]');
		await t.look('login');
	}],
	['the policy of content', async (t) => {
		const r = await fetch(t.base + '/');
		assert.match(r.headers.get('content-security-policy'), /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
	}],
	['a wrong password', async (t) => {
		t.expected.push(/401/);
		await t.page.fill('input[name=user]', 'reader');
		await t.page.fill('input[name=password]', 'wrong');
		await t.page.keyboard.press('Enter');
		assert.match(await t.text('.failure'), /1045 .*Access denied/s);
	}],
	['login by keyboard opens the address', async (t) => {
		await t.page.focus('input[name=user]');
		await t.page.fill('input[name=user]', 'root');
		await t.page.keyboard.press('Tab');
		await t.page.fill('input[name=password]', '');
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('.cm-content');
		assert.equal(await t.page.title(), 'SQL · sqlots');
	}],
	['the password is nowhere in the browser', async (t) => {
		const all = await t.page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie);
		assert.doesNotMatch(all, /secret|wrong/);
	}],
	['an unknown page', async (t) => {
		await t.go('#/nothing');
		assert.equal(await t.text('h1'), 'No such page');
	}],
	['the theme is kept', async (t) => {
		await t.page.click('button[aria-label=Theme]');
		await t.page.keyboard.press('ArrowDown');
		await t.page.keyboard.press('ArrowDown');
		await t.page.keyboard.press('Enter');
		await t.page.reload();
		await t.page.waitForSelector('.nav');
		assert.equal(await t.page.getAttribute('html', 'data-theme'), 'dark');
		await t.page.click('button[aria-label=Theme]');
		await t.page.click('text=As the system');
		assert.equal(await t.page.getAttribute('html', 'data-theme'), 'light');
	}],
	['skip link and narrow windows', async (t) => {
		await t.page.setViewportSize({ width: 640, height: 700 });
		assert.ok(await t.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
		await t.page.setViewportSize({ width: 1400, height: 860 });
		await t.page.reload();
		await t.page.waitForSelector('.nav');
		await t.page.keyboard.press('Tab');
		await t.page.keyboard.press('Enter');
		assert.equal(await t.page.evaluate(() => document.activeElement.id), 'main');
	}],
];

export const last = [
	['a login that ended goes on where it was', async (t) => {
		t.expected.push(/401/);
		await t.go('#/sql?db=tour&q=SELECT%2042');
		await t.page.waitForSelector('.cm-content');
		await t.context.clearCookies();
		await t.page.click('.cm-content');
		await t.page.keyboard.press('Control+Enter');
		assert.match(await t.text('.reason'), /has ended/);
		await t.page.fill('input[name=user]', 'reader');
		await t.page.fill('input[name=password]', 'secret');
		await t.page.keyboard.press('Enter');
		await t.page.waitForSelector('.cm-content');
		assert.match(await t.text('.cm-content'), /SELECT 42/);
	}],
	['who may not watch sees why', async (t) => {
		t.expected.push(/403/);
		await t.go('#/overview');
		assert.match(await t.text('.failure'), /PROCESS/);
	}],
	['logout', async (t) => {
		await t.page.click('button[aria-label^=Account]');
		await t.page.click('text=Log out');
		await t.page.waitForSelector('input[name=user]');
		assert.equal((await t.context.cookies()).length, 0);
	}],
];
