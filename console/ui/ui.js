// Parts of pages.
import { Fragment, html, signal, useEffect, useId, useLayoutEffect, useRef, useState } from './vendor/preact.js';
import { Icon } from './icons.js';

/** Loads the style sheet of a page, once: await stylesheet('pages/NAME.css') at the top of its module. */
export function stylesheet(path) {
	return new Promise((resolve, reject) => {
		const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: '/console/' + path, onload: resolve, onerror: () => reject(new Error(path)) });
		document.head.append(link);
	});
}

/** A page: its heading, the tools on the right of it, and its content. */
export function Page({ title, tools, fill, children }) {
	return html`<div class=${'page' + (fill ? ' fill' : '')}>
		<header class="page-head"><h1>${title}</h1><div class="tools">${tools}</div></header>
		${children}
	</div>`;
}

/** A part of a page with a heading. */
export function Section({ title, tools, children, ...rest }) {
	return html`<section class="section" ...${rest}>
		<header><h2>${title}</h2><div class="tools">${tools}</div></header>
		${children}
	</section>`;
}

/** An error, if there is one: its number and state, its text, and a hint. */
export function Failure({ error, hint }) {
	if (!error) return null;
	return html`<div class="failure" role="alert">
		<${Icon} name="warning" />
		<div>
			${error.code ? html`<b class="code">${error.code}${error.state && ` (${error.state})`}</b> ` : null}<span class="message">${error.message}</span>
			${hint && html`<p class="hint">${hint}</p>`}
		</div>
	</div>`;
}

/** A button. kind: '' (plain), 'main', 'danger' or 'bare' (an icon alone; label is needed). */
export function Button({ icon, label, kind = '', pressed, children, class: more = '', ...rest }) {
	return html`<button type="button" class=${`button ${kind} ${more}`} aria-label=${label} title=${rest.title ?? label}
		aria-pressed=${pressed === undefined ? undefined : String(!!pressed)} ...${rest}>
		${icon && html`<${Icon} name=${icon} />`}${children && html`<span>${children}</span>`}
	</button>`;
}

/** A labelled control: <${Field} label="User"><input …/><//>. */
export function Field({ label, children, inline }) {
	return html`<label class=${'field' + (inline ? ' inline' : '')}><span>${label}</span>${children}</label>`;
}

/** A choice: options are texts or [value, text]. */
export function Select({ label, value, options, onChange, ...rest }) {
	return html`<${Field} label=${label} inline><select value=${value} onChange=${(e) => onChange(e.target.value)} ...${rest}>
		${options.map((o) => {
			const [v, t] = Array.isArray(o) ? o : [o, o];
			return html`<option value=${v} selected=${v === value}>${t}</option>`;
		})}
	</select><//>`;
}

/** Tabs: list is [{id, title, badge}]; children belong to the one that is open. */
export function Tabs({ label, list, open, onOpen, children }) {
	const uid = useId();
	const move = (e) => {
		const i = list.findIndex((t) => t.id === open);
		const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: list.length - 1 }[e.key];
		if (to === undefined) return;
		e.preventDefault();
		const t = list[(to + list.length) % list.length];
		onOpen(t.id);
		document.getElementById(uid + t.id)?.focus();
	};
	return html`<div class="tabs">
		<div role="tablist" aria-label=${label} onKeyDown=${move}>
			${list.map((t) => html`<button type="button" role="tab" key=${t.id} id=${uid + t.id} aria-selected=${String(t.id === open)}
				aria-controls=${t.id === open ? uid + '-panel' : undefined} tabindex=${t.id === open ? 0 : -1} onClick=${() => onOpen(t.id)}>${t.title}${t.badge !== undefined && html` <small>${t.badge}</small>`}</button>`)}
		</div>
		<div role="tabpanel" class="tabpanel" id=${uid + '-panel'} aria-labelledby=${uid + open}>${children}</div>
	</div>`;
}

/** A button that opens a list of actions: [{title, icon, run, checked}], or null for a line. */
export function Menu({ icon, label, kind, items, children }) {
	const [open, setOpen] = useState(false);
	const root = useRef(null);
	useEffect(() => {
		if (!open) return undefined;
		const outside = (e) => { if (!root.current?.contains(e.target)) setOpen(false); };
		addEventListener('pointerdown', outside);
		root.current.querySelector('[role^=menuitem]')?.focus();
		return () => removeEventListener('pointerdown', outside);
	}, [open]);
	const close = () => {
		setOpen(false);
		root.current.querySelector('button').focus();
	};
	const keys = (e) => {
		if (!open) return;
		const list = [...root.current.querySelectorAll('[role^=menuitem]')];
		const i = list.indexOf(document.activeElement);
		if (e.key === 'Escape') close();
		else if (e.key === 'ArrowDown') list[(i + 1) % list.length].focus();
		else if (e.key === 'ArrowUp') list[(i - 1 + list.length) % list.length].focus();
		else return;
		e.preventDefault();
	};
	return html`<div class="menu" ref=${root} onKeyDown=${keys} onFocusOut=${(e) => { if (open && e.relatedTarget && !root.current.contains(e.relatedTarget)) setOpen(false); }}>
		<${Button} icon=${icon} label=${label} kind=${kind} aria-haspopup="menu" aria-expanded=${String(open)} onClick=${() => setOpen(!open)}>${children}<//>
		${open && html`<div role="menu" aria-label=${label}>
			${items.map((it) => it === null ? html`<hr />` : html`<button type="button" role=${it.checked === undefined ? 'menuitem' : 'menuitemradio'} aria-checked=${it.checked === undefined ? undefined : String(it.checked)} tabindex="-1"
				onClick=${() => { close(); it.run(); }}>${html`<${Icon} name=${it.checked ? 'check' : it.icon ?? 'right'} />`}<span>${it.title}</span></button>`)}
		</div>`}
	</div>`;
}

/** Names and values: list is [[name, value], …]. */
export function Facts({ list }) {
	return html`<dl class="facts">${list.filter(Boolean).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A short mark. kind: '', 'good', 'warn' or 'bad'. */
export const Badge = ({ kind = '', children }) => html`<span class=${'badge ' + kind}>${children}</span>`;

/** What is shown where nothing is. */
export const Empty = ({ children }) => html`<p class="empty">${children}</p>`;

/** A share from 0 to 1 as a bar; null: unknown. */
export function Progress({ value, label }) {
	return html`<progress max="1" value=${value ?? undefined} aria-label=${label}></progress>`;
}

const notice = signal(null);
let noticeTimer = 0;

/** Shows a text for some seconds. */
export function notify(text) {
	clearTimeout(noticeTimer);
	notice.value = text;
	noticeTimer = setTimeout(() => { notice.value = null; }, 5000);
}

/** Puts a text on the clipboard. */
export async function copy(text, what = 'Copied') {
	try {
		await navigator.clipboard.writeText(text);
		notify(what);
	} catch {
		notify('The browser does not let this page use the clipboard.');
	}
}

const question = signal(null);

/** Asks before something is done; sql is shown as it will run. The value is true or false. */
export function confirm({ title, text, sql, action = 'OK', danger = false }) {
	return new Promise((resolve) => { question.value = { title, text, sql, action, danger, resolve }; });
}

/** A dialog; onClose is called when it was closed by Escape or its button. */
export function Dialog({ title, children, foot, onClose, wide }) {
	const dialog = useRef(null);
	const uid = useId();
	useLayoutEffect(() => {
		const before = document.activeElement;
		dialog.current.showModal();
		return () => { if (before?.isConnected) before.focus(); };
	}, []);
	return html`<dialog ref=${dialog} class=${wide ? 'wide' : ''} aria-labelledby=${uid} onCancel=${(e) => { e.preventDefault(); onClose(); }}>
		<header><h2 id=${uid}>${title}</h2><${Button} kind="bare" icon="close" label="Close" onClick=${onClose} /></header>
		<div class="dialog-body">${children}</div>
		${foot && html`<footer>${foot}</footer>`}
	</dialog>`;
}

/** The dialogs and notices of the application. */
export function Overlays() {
	const q = question.value;
	const answer = (v) => {
		question.value = null;
		q.resolve(v);
	};
	return html`<${Fragment}>
		${q && html`<${Dialog} title=${q.title} onClose=${() => answer(false)} foot=${html`
			<${Button} onClick=${() => answer(false)} autofocus=${q.danger}>Cancel<//>
			<${Button} kind=${q.danger ? 'danger' : 'main'} onClick=${() => answer(true)} autofocus=${!q.danger}>${q.action}<//>`}>
			${q.text && html`<p>${q.text}</p>`}
			${q.sql && html`<pre class="sql">${q.sql}</pre>`}
		<//>`}
		<div class="notice" role="status" aria-live="polite">${notice.value && html`<p>${notice.value}</p>`}</div>
	<//>`;
}
