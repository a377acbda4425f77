// Server: variables, accounts, and the log.
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { account as login, text } from '../api.js';
import { count, number } from '../format.js';
import { setParams } from '../router.js';
import { Table } from '../table.js';
import { Badge, Button, Facts, Field, Page, Section, Select, Tabs, copy } from '../ui.js';
import { Detail, Search, Split, Trouble, has, isRefusal, oneLine, sorting, useAct, useRows } from '../ops/ops.js';

export default function Server({ params }) {
	const tab = params.tab ?? 'variables';
	return html`<${Page} title="Server" tools=${html`<${Search} value=${params.find} label=${{ variables: 'Search all variables', accounts: 'Search accounts', log: 'Search the log' }[tab] ?? 'Search'} />`}>
		<${Tabs} label="What is shown" open=${tab} onOpen=${(t) => setParams({ tab: t === 'variables' ? undefined : t, sort: undefined, find: undefined })}
			list=${[{ id: 'variables', title: 'Variables' }, { id: 'accounts', title: 'Accounts and roles' }, { id: 'log', title: 'Log' }]}>
			${tab === 'variables' && html`<${Variables} params=${params} />`}
			${tab === 'accounts' && html`<${Accounts} params=${params} />`}
			${tab === 'log' && html`<${Log} params=${params} />`}
		<//>
	<//>`;
}

const known = `SELECT g.VARIABLE_NAME AS name, g.VARIABLE_VALUE AS value, i.VARIABLE_SOURCE AS source, i.MIN_VALUE AS least, i.MAX_VALUE AS most, i.SET_TIME AS at, i.SET_USER AS user, i.SET_HOST AS host, p.VARIABLE_VALUE AS persisted
	FROM performance_schema.global_variables g LEFT JOIN performance_schema.variables_info i ON i.VARIABLE_NAME = g.VARIABLE_NAME LEFT JOIN performance_schema.persisted_variables p ON p.VARIABLE_NAME = g.VARIABLE_NAME ORDER BY g.VARIABLE_NAME`;
const bare = 'SELECT VARIABLE_NAME AS name, VARIABLE_VALUE AS value FROM information_schema.GLOBAL_VARIABLES ORDER BY VARIABLE_NAME';

const sources = { DYNAMIC: ['warn', 'changed until a restart'], PERSISTED: ['good', 'persisted'] };
const same = (a, b) => a?.toUpperCase() === b?.toUpperCase() || Number(a) === Number(b) || /^(ON|1)$/i.test(a) && /^(ON|1)$/i.test(b) || /^(OFF|0)$/i.test(a) && /^(OFF|0)$/i.test(b);

const columns = [
	{ key: 'name', title: 'variable', get: (v) => v.name, width: 36 },
	{ key: 'value', title: 'value', get: (v) => v.value, width: 38, cell: (v, x) => html`${oneLine(v)}${x.persisted !== null && x.persisted !== undefined && !same(x.persisted, v) ? html` <${Badge} kind="warn">${oneLine(x.persisted)} at the next start<//>` : ''}` },
	{ key: 'source', title: 'set', get: (v) => v.source ?? null, width: 24, cell: (v) => sources[v] ? html`<${Badge} kind=${sources[v][0]}>${sources[v][1]}<//>` : v === null ? '' : 'default or flag' },
	{ key: 'user', title: 'by', get: (v) => v.user ?? null, width: 14, cell: (v) => v ?? '' },
	{ key: 'at', title: 'on', get: (v) => v.at ?? null, width: 20, cell: (v, x) => x.user ? v : '' },
];

function Variables({ params }) {
	const info = useRows(known), plain = useRows(isRefusal(info.error) ? bare : null);
	const list = info.data ?? plain.data;
	const refresh = () => {
		if (info.data) info.refresh();
		else plain.refresh();
	};
	const act = useAct(refresh);
	const changed = useMemo(() => list?.filter((v) => v.source && v.source !== 'COMPILED' || v.persisted), [list]);
	const all = !!params.all || !!params.find || !info.data;
	const shown = useMemo(() => (all ? list : changed)?.filter((v) => has(params.find, v.name, v.value)), [list, all, params.find]);
	const chosen = params.name && list?.find((v) => v.name === params.name);
	return html`
		<${Trouble} error=${info.error} needs="Which variables were changed needs SELECT on performance_schema. All have their values here." />
		<${Trouble} error=${plain.error} />
		${act.view}
		<div class="toolbar">${info.data && html`<${Select} label="Show" value=${all ? 'all' : 'changed'} options=${[['changed', `changed from their default (${changed.length})`], ['all', `all (${list.length})`]]} onChange=${(v) => setParams({ all: v === 'all' ? '1' : undefined, find: v === 'all' ? params.find : undefined })} />`}</div>
		<${Split} detail=${chosen && html`<${Variable} key=${chosen.name} v=${chosen} act=${act} />`}>
			${list && html`<${Table} label="Variables" columns=${columns} rows=${shown} ...${sorting(params, columns)} selected=${chosen || undefined} onOpen=${(v) => setParams({ name: v.name })} empty=${all ? 'No variable is found.' : 'No variable was changed by SET GLOBAL or SET PERSIST.'} />
				<p class="note">Enter or a double click on a line changes a variable. What the flags of sqlots serve set counts as a default.</p>`}
		<//>`;
}

// literal is a value as SET takes it.
const literal = (v) => /^[-+]?\d+(\.\d+)?$/.test(v) || /^(ON|OFF|DEFAULT|TRUE|FALSE)$/i.test(v) ? v : text(v);

function Variable({ v, act }) {
	const [value, setValue] = useState(v.value), [scope, setScope] = useState('GLOBAL');
	useEffect(() => setValue(v.value), [v.value]);
	const sql = `SET ${scope} ${v.name} = ${literal(value)}`;
	const run = (statement, title, done) => act.run({ title, sql: statement, text: /^SET PERSIST|^RESET/.test(statement) ? undefined : 'It lasts until the server stops.', action: 'Set', danger: false, done });
	return html`<${Detail} title=${v.name} onClose=${() => setParams({ name: undefined })}>
		<${Facts} list=${[['value', html`<code>${v.value === '' ? html`<i class="null">empty</i>` : v.value}</code>`], v.source && ['set', sources[v.source]?.[1] ?? 'default or flag'], v.user && ['by', `${v.user}@${v.host}`], v.user && v.at && ['on', v.at],
			v.persisted !== null && v.persisted !== undefined && ['persisted', v.persisted], v.most && v.most !== '0' && ['from', number(v.least)], v.most && v.most !== '0' && ['to', number(v.most)]]} />
		<form class="stack" onSubmit=${(e) => { e.preventDefault(); run(sql, `Set ${v.name}?`, `${v.name} was set.`); }}>
			<${Field} label="New value"><input value=${value} onInput=${(e) => setValue(e.target.value)} /><//>
			<${Field} label="For how long"><select value=${scope} onChange=${(e) => setScope(e.target.value)}><option value="GLOBAL">until the server stops: GLOBAL</option><option value="PERSIST">for ever: PERSIST</option><option value="PERSIST_ONLY">from the next start: PERSIST_ONLY</option></select><//>
			<pre class="sql" tabindex="0">${sql}</pre>
			<div class="buttons"><${Button} kind="main" type="submit">Set<//>
				<${Button} onClick=${() => run(`SET GLOBAL ${v.name} = DEFAULT`, `Set ${v.name} to its default?`, `${v.name} has its default.`)}>To the default<//>
				${v.persisted !== null && v.persisted !== undefined && html`<${Button} onClick=${() => run(`RESET PERSIST ${v.name}`, `Forget the persisted value of ${v.name}?`, 'It is persisted no longer.')}>No longer persisted<//>`}</div>
		</form>
		<p class="note">Sessions that are open keep their own value. It needs SYSTEM_VARIABLES_ADMIN.</p>
	<//>`;
}

const users = `SELECT User AS user, Host AS host, plugin, account_locked AS locked, password_expired AS expired, password_last_changed AS changed, ssl_type AS tls, LENGTH(authentication_string) = 0 AS bare, max_user_connections AS most, Super_priv AS super, Create_user_priv AS creates, Grant_priv AS grants FROM mysql.user ORDER BY User, Host LIMIT 20000`;
const edges = 'SELECT FROM_USER AS role, FROM_HOST AS role_host, TO_USER AS user, TO_HOST AS host, WITH_ADMIN_OPTION AS admin FROM mysql.role_edges LIMIT 50000';
const me = "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', -1) AS host, LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) - 1) AS user, CURRENT_ROLE() AS roles";

const nameOf = (a) => `${a.user}@${a.host}`;
const sqlName = (a) => `${text(a.user)}@${text(a.host)}`;
const isRole = (a) => a.locked === 'Y' && a.expired === 'Y' && Number(a.bare) === 1;

const accountColumns = [
	{ key: 'user', title: 'account', get: nameOf, width: 30, cell: (v, a) => a.user === '' ? html`<i class="null">anyone</i>@${a.host}` : v },
	{ key: 'kind', title: 'kind', get: (a) => a.role ? 'role' : 'account', width: 9 },
	{ key: 'state', title: 'state', get: (a) => a.role ? '' : a.locked + a.expired, width: 26, cell: (v, a) => a.role ? '' : html`${a.locked === 'Y' ? html`<${Badge} kind="bad">locked<//> ` : ''}${a.expired === 'Y' ? html`<${Badge} kind="warn">expired<//> ` : ''}${Number(a.bare) === 1 ? html`<${Badge} kind="bad">no password<//> ` : ''}${a.locked !== 'Y' && a.expired !== 'Y' && Number(a.bare) !== 1 ? html`<${Badge} kind="good">open<//>` : ''}` },
	{ key: 'power', title: 'power', hint: 'SUPER, CREATE USER, or GRANT OPTION on everything', get: (a) => [a.super === 'Y' && 'super', a.creates === 'Y' && 'accounts', a.grants === 'Y' && 'grants'].filter(Boolean).join(', '), width: 23, cell: (v) => v },
	{ key: 'roles', title: 'roles', get: (a) => a.roles.join(', '), width: 24, cell: (v) => v },
	{ key: 'tls', title: 'TLS', get: (a) => a.tls, width: 12, cell: (v) => ({ '': '', ANY: 'needed', X509: 'certificate', SPECIFIED: 'certificate of …' })[v] ?? v },
	{ key: 'plugin', title: 'plugin', get: (a) => a.plugin, width: 22, cell: (v, a) => a.role ? '' : v },
	{ key: 'changed', title: 'password of', get: (a) => a.changed, width: 20, cell: (v, a) => a.role ? '' : v ?? '' },
];

function Accounts({ params }) {
	const list = useRows(users), roles = useRows(edges), self = useRows(me);
	const refresh = () => {
		list.refresh();
		roles.refresh();
	};
	const act = useAct(refresh);
	const mine = self.data?.[0];
	const all = useMemo(() => {
		const of = new Map();
		for (const e of roles.data ?? []) of.set(nameOf(e), [...of.get(nameOf(e)) ?? [], e.role_host === '%' ? e.role : `${e.role}@${e.role_host}`]);
		const granted = new Set((roles.data ?? []).map((e) => `${e.role}@${e.role_host}`));
		return list.data?.map((a) => ({ ...a, roles: of.get(nameOf(a)) ?? [], role: isRole(a) || granted.has(nameOf(a)) && a.locked === 'Y' }));
	}, [list.data, roles.data]);
	const shown = all?.filter((a) => has(params.find, nameOf(a), a.plugin, ...a.roles));
	const chosen = params.user !== undefined && params.host !== undefined ? all?.find((a) => a.user === params.user && a.host === params.host) : undefined;
	const noPassword = all?.filter((a) => !a.role && a.locked !== 'Y' && Number(a.bare) === 1) ?? [];
	return html`
		${act.view}
		<${Trouble} error=${list.error} needs="The list of accounts needs SELECT on mysql.user. This is what your own may do." />
		${noPassword.length > 0 && html`<p class="reason toolbar"><span>${count(noPassword.length, 'account')} without a password: ${noPassword.slice(0, 5).map(nameOf).join(', ')}${noPassword.length > 5 ? ', …' : ''}. Every program on the server's machine can log in as ${noPassword.length === 1 ? 'it' : 'them'}.</span></p>`}
		<${Split} detail=${chosen && html`<${Account} key=${nameOf(chosen)} a=${chosen} own=${mine && nameOf(mine) === nameOf(chosen)} act=${act} />`}>
			${list.data && html`<${Table} label="Accounts and roles" columns=${accountColumns} rows=${shown} ...${sorting(params, accountColumns)} selected=${chosen} onOpen=${(a) => setParams({ user: a.user, host: a.host })} empty="No account is found." />
				<p class="note">Enter or a double click on a line shows what an account may do.</p>`}
		<//>
		${list.error && mine && html`<${Section} title=${`Your account: ${nameOf(mine)}`}>${mine.roles !== 'NONE' && html`<p class="note">Active roles: ${mine.roles}</p>`}<${Rights} own a=${mine} /><//>`}`;
}

// hide takes the hash out of SHOW CREATE USER.
const hide = (s) => s.replace(/(\bIDENTIFIED WITH '[^']*' AS )('(?:[^'\\]|\\.|'')*'|0x[0-9a-f]+)/i, "$1'<secret>'");

function Rights({ a, own }) {
	const grants = useRows(own ? 'SHOW GRANTS' : `SHOW GRANTS FOR ${sqlName(a)}`), made = useRows(`SHOW CREATE USER ${own ? 'CURRENT_USER()' : sqlName(a)}`);
	const lines = grants.data?.map((r) => Object.values(r)[0]), create = made.data && hide(Object.values(made.data[0] ?? { x: '' })[0]);
	return html`<div><h3>May do</h3><${Trouble} error=${grants.error} needs="It needs SELECT on mysql." />${lines && html`<pre class="sql" tabindex="0">${lines.join(';\n')}</pre><p class="buttons"><${Button} class="small" icon="copy" onClick=${() => copy(lines.join(';\n') + ';')}>Copy<//></p>`}</div>
		<div><h3>Made by</h3><${Trouble} error=${made.error} needs="It needs SELECT on mysql." />${create && html`<pre class="sql" tabindex="0">${create}</pre>`}</div>`;
}

function Account({ a, own, act }) {
	const warning = own ? 'This is your own account.' : undefined;
	const alter = (what, title, danger, done) => act.run({ title, text: warning, sql: `ALTER USER ${sqlName(a)} ${what}`, action: 'Alter', danger, done });
	return html`<${Detail} title=${nameOf(a)} onClose=${() => setParams({ user: undefined, host: undefined })}>
		${!a.role && html`<div class="buttons">
			${a.locked === 'Y' ? html`<${Button} icon="lock" onClick=${() => alter('ACCOUNT UNLOCK', `Let ${nameOf(a)} log in again?`, false, 'The account is open.')}>Unlock<//>` : html`<${Button} icon="lock" onClick=${() => alter('ACCOUNT LOCK', `Refuse logins of ${nameOf(a)}?`, true, 'The account is locked. Its open connections go on.')}>Lock<//>`}
			${a.expired !== 'Y' && html`<${Button} icon="key" onClick=${() => alter('PASSWORD EXPIRE', `Let the password of ${nameOf(a)} expire?`, true, 'The password has expired.')}>Expire password<//>`}
		</div>`}
		${own && html`<p><${Badge} kind="good">your account<//></p>`}
		<${Facts} list=${[!a.role && ['plugin', a.plugin], a.roles.length && ['roles', a.roles.join(', ')], a.changed && !a.role && ['password of', a.changed], Number(a.most) > 0 && ['connections at most', number(a.most)]]} />
		<${Rights} a=${a} />
	<//>`;
}

const log = 'SELECT LOGGED AS at, PRIO AS level, SUBSYSTEM AS part, DATA AS text FROM performance_schema.error_log ORDER BY LOGGED DESC LIMIT 1000';
const logColumns = [
	{ key: 'at', title: 'time', get: (l) => l.at, width: 24, cell: (v) => v.slice(0, 23) },
	{ key: 'level', title: 'level', get: (l) => l.level, width: 10, cell: (v) => html`<${Badge} kind=${{ Error: 'bad', Warning: 'warn' }[v] ?? ''}>${v.toLowerCase()}<//>` },
	{ key: 'text', title: 'line', get: (l) => l.text, width: 130, cell: (v) => oneLine(v) },
];
const levels = [['', 'all'], ['Warning', 'warnings and errors'], ['Error', 'errors']];

function Log({ params }) {
	const list = useRows(log, [], 5000);
	const level = params.level ?? '';
	const shown = useMemo(() => list.data?.filter((l) => (!level || l.level === 'Error' || level === 'Warning' && l.level === 'Warning') && has(params.find, l.text)), [list.data, level, params.find]);
	const chosen = params.line && list.data?.find((l) => l.at === params.line);
	return html`
		<div class="toolbar"><${Select} label="Show" value=${level} options=${levels} onChange=${(v) => setParams({ level: v })} /></div>
		<${Trouble} error=${list.error} needs=${`The log needs SELECT on performance_schema, which ${login.value?.user} does not have.`} />
		${list.data && html`<${Table} label="Log" columns=${logColumns} rows=${shown} ...${sorting(params, logColumns)} selected=${chosen || undefined} onOpen=${(l) => setParams({ line: l.at })} empty="Nothing was logged, or nothing like it." /><p class="note">The last 1,000 lines that the server keeps, since it began.</p>`}
		${chosen && html`<${Section} title=${chosen.at}><pre class="text" tabindex="0">${chosen.text}</pre><//>`}`;
}
