import { assert } from './harness.mjs';
import { agree, line } from './ops.mjs';

export const steps = [
	['variables that were changed, and a change', async (t) => {
		await t.sql('SET PERSIST max_connections = 1234');
		await t.go('#/server');
		await line(t, 'Variables', 'max_connections').waitFor();
		assert.match(await line(t, 'Variables', 'max_connections').innerText(), /1234.*persisted.*root/s);
		await t.page.fill('input[type=search]', 'long_query');
		await line(t, 'Variables', 'long_query_time').dblclick();
		await t.page.fill('.ops-detail input', '7.5');
		await t.look('server-variables');
		await t.page.click('.ops-detail button:has-text("Set"):not(:has-text("default"))');
		await agree(t, 'SET GLOBAL long_query_time = 7.5');
		await t.page.waitForFunction(() => /until a restart/.test(document.querySelector('table[aria-label="Variables"]').innerText));
		assert.equal((await t.sql('SELECT @@GLOBAL.long_query_time'))[0].rows[0][0], 7.5);
		await t.page.click('.ops-detail button:has-text("To the default")');
		await agree(t, 'SET GLOBAL long_query_time = DEFAULT');
		await t.sql('RESET PERSIST max_connections; SET GLOBAL max_connections = DEFAULT');
	}],
	['accounts, without hashes', async (t) => {
		await t.sql("CREATE USER \"o'<b>x</b>\"@'10.0.0.0/8' IDENTIFIED BY 'secret'; CREATE ROLE helper; GRANT SELECT ON tour.* TO helper; GRANT helper TO \"o'<b>x</b>\"@'10.0.0.0/8'");
		await t.go('#/server?tab=accounts');
		await line(t, 'Accounts and roles', "o'<b>x</b>@10.0.0.0/8").dblclick();
		await t.page.waitForFunction(() => /GRANT `helper`@`%`/.test(document.querySelector('.ops-detail')?.innerText ?? ''));
		await t.page.waitForFunction(() => /IDENTIFIED WITH .* AS '<secret>'/.test(document.querySelector('.ops-detail')?.innerText ?? ''));
		const html = await t.page.content();
		assert.doesNotMatch(html, /\$A\$005/);
		assert.equal(await t.page.locator('#app table b').count(), 0);
		assert.match(await line(t, 'Accounts and roles', 'helper@%').innerText(), /role/);
		await t.look('server-accounts');
		await t.page.click('.ops-detail button:has-text("Lock")');
		await agree(t, "ALTER USER 'o''<b>x</b>'@'10.0.0.0/8' ACCOUNT LOCK");
		await t.page.waitForSelector('.ops-detail button:has-text("Unlock")');
		await t.page.reload();
		await t.page.waitForSelector('.ops-detail button:has-text("Unlock")');
	}],
	['the log of the server', async (t) => {
		await t.go('#/server?tab=log');
		await line(t, 'Log', 'root').waitFor();
		await t.look('server-log');
	}],
];
