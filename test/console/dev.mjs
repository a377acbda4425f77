// Serves the console's files from the repository, and the rest from a running server, so that
// a change of a page shows at the next reload:
//
//	node dev.mjs 127.0.0.1:4081 http://127.0.0.1:4080
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ui = fileURLToPath(new URL('../../console/ui/', import.meta.url));
const [listen = '127.0.0.1:4081', server = 'http://127.0.0.1:4080'] = process.argv.slice(2);
const media = { '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.html': 'text/html' };

createServer(async (q, r) => {
	const url = new URL(q.url, 'http://x');
	const name = url.pathname === '/' ? 'index.html' : url.pathname.startsWith('/console/') && url.pathname !== '/console/docs.json' ? url.pathname.slice(9) : null;
	if (name !== null) {
		try {
			let body = await readFile(join(ui, normalize('/' + name)));
			const nonce = randomBytes(16).toString('base64');
			if (name === 'index.html') {
				body = String(body).replaceAll('{{nonce}}', nonce);
				r.setHeader('Content-Security-Policy', `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`);
			}
			r.setHeader('Content-Type', media[extname(name)] + '; charset=utf-8');
			r.setHeader('Cache-Control', 'no-store');
			r.end(body);
		} catch {
			r.statusCode = 404;
			r.end('no such file');
		}
		return;
	}
	const p = request(new URL(q.url, server), { method: q.method, headers: q.headers }, (a) => {
		r.writeHead(a.statusCode, a.headers);
		a.pipe(r);
	});
	p.on('error', (e) => { r.statusCode = 502; r.end(String(e)); });
	r.on('close', () => p.destroy());
	q.pipe(p);
}).listen(listen.split(':')[1], listen.split(':')[0], () => console.log(`http://${listen}/`));
