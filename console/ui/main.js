// The frame: login, navigation, and the page that is open.
import { html, render, useEffect, useErrorBoundary, useState } from './vendor/preact.js';
import { account, logout } from './api.js';
import { Icon } from './icons.js';
import { Login } from './login.js';
import { pageOf, pages } from './pages.js';
import { href, place } from './router.js';
import { choice, choose } from './theme.js';
import { Empty, Failure, Menu, Overlays } from './ui.js';

const loaded = new Map(); // page: component

/** The page that is open. A change of params keeps it. */
function Open() {
	const page = pageOf(place.value);
	const [state, setState] = useState({ page: null, error: null });
	const [error, reset] = useErrorBoundary((e) => console.error(e));
	useEffect(() => {
		document.title = (page ? page.title + ' · ' : '') + 'sqlots';
		reset();
		if (!page || loaded.has(page)) {
			setState({ page, error: null });
			return;
		}
		page.load().then((m) => {
			loaded.set(page, m.default);
			setState({ page, error: null });
		}, (e) => setState({ page, error: { message: `The page could not be loaded: ${e.message}` } }));
	}, [page]);
	if (!page) return html`<div class="page"><h1>No such page</h1><${Empty}>Choose one on the left.<//></div>`;
	if (error || state.error) return html`<div class="page"><${Failure} error=${state.error ?? { message: 'This page failed: ' + error.message }} /></div>`;
	const Component = loaded.get(page);
	if (!Component) return html`<div class="page" aria-busy="true"></div>`;
	return html`<${Component} key=${page.name} path=${place.value.path.slice(1)} params=${place.value.params} />`;
}

function App() {
	if (!account.value) return html`<${Login} /><${Overlays} />`;
	const now = pageOf(place.value);
	return html`
		<a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.getElementById('main').focus(); }}>Skip to the page</a>
		<nav class="nav" aria-label="Pages">
			<a class="brand" href=${href('/')}><img src="/console/icon.svg" alt="" width="22" height="22" /><span>sqlots</span></a>
			<ul>${pages.map((p) => html`<li key=${p.name}><a href=${href(p.route)} title=${p.title} aria-current=${p === now ? 'page' : undefined}><${Icon} name=${p.icon} /><span>${p.title}</span></a></li>`)}</ul>
			<div class="nav-foot">
				<${Menu} kind="bare" icon=${{ system: 'screen', light: 'sun', dark: 'moon' }[choice.value]} label="Theme" items=${[['system', 'As the system'], ['light', 'Light'], ['dark', 'Dark']].map(([v, title]) => ({ title, checked: choice.value === v, run: () => choose(v) }))} />
				<${Menu} icon="users" kind="bare" label=${`Account: ${account.value.user}`} items=${[{ title: 'Log out', icon: 'logout', run: logout }]}>${account.value.user}<//>
			</div>
		</nav>
		<main id="main" tabindex="-1">
			${account.value.expired && html`<div class="failure" role="alert"><${Icon} name="warning" /><div>Your password has expired. Set a new one with a client: <code>ALTER USER USER() IDENTIFIED BY '…'</code></div></div>`}
			<${Open} />
		</main>
		<${Overlays} />`;
}

render(html`<${App} />`, document.getElementById('app'));
