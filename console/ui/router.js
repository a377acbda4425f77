// Addresses. The part after # says which page is open and what it shows:
// #/tables/tour/calls?tab=keys is the path ['tables', 'tour', 'calls'] with params {tab: 'keys'}.
// That part is not sent to the server, so statements in it are in no log.
import { html, signal } from './vendor/preact.js';

function parse(hash) {
	const [path, search] = splitOnce(hash.replace(/^#/, ''), '?');
	return {
		path: path.split('/').filter(Boolean).map(decode),
		params: Object.fromEntries(new URLSearchParams(search)),
	};
}

function decode(part) {
	try {
		return decodeURIComponent(part);
	} catch {
		return part;
	}
}

function splitOnce(s, by) {
	const i = s.indexOf(by);
	return i < 0 ? [s, ''] : [s.slice(0, i), s.slice(i + 1)];
}

/** Where the user is: {path: [...], params: {...}}. */
export const place = signal(parse(location.hash));

addEventListener('hashchange', () => { place.value = parse(location.hash); });

/** The address of a path, which is a text such as '/sql' or a list of its parts, with params. */
export function href(path, params) {
	const list = Array.isArray(path) ? path : path.split('/').filter(Boolean);
	const search = new URLSearchParams();
	for (const [k, v] of Object.entries(params ?? {})) {
		if (v !== undefined && v !== null && v !== '') search.set(k, v);
	}
	const text = search.toString();
	return '#/' + list.map(encodeURIComponent).join('/') + (text && '?' + text);
}

/** Opens an address. */
export function go(path, params) {
	location.hash = href(path, params);
}

/** Changes params of the present address: undefined or '' removes one. It is no new entry of
 * the browser's history, unless push is set. */
export function setParams(patch, { push = false } = {}) {
	const { path, params } = place.peek();
	const to = href(path, { ...params, ...patch });
	if (to === location.hash) return;
	if (push) {
		location.hash = to;
		return;
	}
	history.replaceState(null, '', to);
	place.value = parse(to);
}

/** A link: <${Link} to=${['tables', db, name]} params=${{tab: 'keys'}}>…<//>. */
export function Link({ to, params, children, ...rest }) {
	return html`<a href=${href(to, params)} ...${rest}>${children}</a>`;
}
