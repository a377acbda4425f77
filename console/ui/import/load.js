// Sending a file to /v1/load, and finding the records in it that were left out.
import { SQLError, get } from '../api.js';
import { Splitter } from './guess.js';

/**
 * The address of a load, by what the page has chosen: target has the column of each field, ''
 * for none; null: the server finds them.
 */
export function address({ db, table, form, names, target, rejects, replace }) {
	const p = new URLSearchParams({ db, table, format: form.format, max_rejects: rejects });
	// Fields whose columns have their names need no list, which could be long for an address.
	const same = target?.every((c, i) => c === names[i].trim());
	if (form.format === 'ndjson') {
		p.set('ignore_unknown', '1');
		const used = names.map((n, i) => i).filter((i) => target?.[i]);
		if (target && !same) {
			p.set('fields', JSON.stringify(used.map((i) => names[i])));
			p.set('columns', JSON.stringify(used.map((i) => target[i])));
		}
	} else {
		if (target) p.set('header', form.header ? '1' : '0');
		if (target && !(same && form.header)) p.set('columns', JSON.stringify(target.map((c) => c || null)));
		p.set('booleans', '1');
		if (form.delimiter !== (form.format === 'csv' ? ',' : '\t')) p.set('delimiter', form.delimiter);
		if (form.emptyNull) p.set('null', '');
	}
	if (replace) p.set('replace', '1');
	return '/v1/load?' + p;
}

/**
 * Sends a file. onProgress(bytes) says how much has been sent. The value is the answer of the
 * server. token makes sure that a second attempt loads nothing twice.
 */
export function send(url, file, { token, onProgress, signal }) {
	return new Promise((resolve, reject) => {
		const x = new XMLHttpRequest(); // fetch has no progress of what is sent
		x.open('POST', url);
		x.setRequestHeader('Content-Type', 'application/octet-stream');
		x.setRequestHeader('Idempotency-Key', token);
		x.upload.onprogress = (e) => onProgress(e.loaded);
		x.onload = () => {
			let answer = {};
			try {
				answer = JSON.parse(x.responseText);
			} catch { /* the status says it */ }
			if (x.status === 200) return resolve(answer);
			if (x.status === 401) get('/v1/history').catch(() => {}); // shows the login
			reject(new SQLError(answer.error ?? { message: `HTTP status ${x.status}` }, x.status));
		};
		x.onerror = () => reject(new SQLError({ message: 'The connection was cut before the server had answered.' }));
		x.onabort = () => reject(new SQLError({ code: 1317, state: '70100', message: 'Cancelled.' }));
		signal.addEventListener('abort', () => x.abort());
		x.send(file);
	});
}

/**
 * The records of a file with these numbers, which count from 1 without the line of names: a
 * Map, and the line of names as number 0.
 */
export async function pick(file, gzip, form, numbers) {
	const found = new Map(), last = Math.max(...numbers), want = new Set(numbers);
	let n = form.header ? 0 : 1;
	if (form.header) want.add(0);
	const cut = new Splitter(form, (r) => {
		if (want.has(n)) found.set(n, r);
		n++;
	});
	let stream = file.stream();
	if (gzip) stream = stream.pipeThrough(new DecompressionStream('gzip'));
	const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
	for (;;) {
		const { value, done } = await reader.read();
		cut.push(value ?? '', done);
		if (done) return found;
		if (n > last) {
			reader.cancel().catch(() => {});
			return found;
		}
	}
}

/** The first bytes of a file, decompressed: {head, whole, compressed}. */
export async function beginning(file, size, compression) {
	const raw = new Uint8Array(await file.slice(0, size).arrayBuffer());
	const compressed = compression(raw);
	if (compressed !== 'gzip') return { head: compressed ? null : raw, whole: file.size <= size, compressed };
	const reader = new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
	const parts = [];
	let n = 0, whole = false;
	try {
		while (n < size) {
			const { value, done } = await reader.read();
			if (done) {
				whole = file.size <= size;
				break;
			}
			parts.push(value);
			n += value.length;
		}
		if (!whole) reader.cancel().catch(() => {});
	} catch { /* the end of the piece is not that of the file */ }
	return { head: new Uint8Array(await new Blob(parts).arrayBuffer()), whole, compressed };
}
