// Package console is the web console of the server: pages in console/ui that are embedded
// and served unchanged.
//
// The server gives pages and nothing more: all data comes to them by the HTTP API, with the
// account that has logged in. So the console needs no rights of its own, and what it shows
// can be had with curl as well. One thing is added to the API: GET /v1/history, the last
// hour of about 40 numbers of the server (history.go), for charts.
//
// # How a page is made
//
// The code is ES modules without a build. Pages are drawn by preact with templates of htm:
// html`<b>${text}</b>`. A page is one file, ui/pages/NAME.js:
//
//	import { html } from '../vendor/preact.js';
//	import { useQuery } from '../data.js';
//	import { Table } from '../table.js';
//	import { Page, Failure } from '../ui.js';
//
//	export default function Sessions({ path, params }) {
//		const { data, error } = useQuery('SHOW PROCESSLIST', [], { every: 2000 });
//		return html`<${Page} title="Sessions">
//			<${Failure} error=${error} />
//			<${Table} label="Sessions" columns=${data?.columns} rows=${data?.rows} />
//		<//>`;
//	}
//
// and one line in ui/pages.js: its name, title, icon, and route. A page is loaded when it is
// first opened. Its address is the part after #: "#/sessions/12?sort=Time" opens the page of
// the route "/sessions" with path ["12"] and params {sort: "Time"}; what the user chooses on
// a page goes into params (router.js, setParams), so that the address restores it. That part
// of an address never reaches the server.
//
// What there is for pages:
//
//	api.js     query(sql, params, {db, signal, onColumns, onRows, onRow, maxRows, multi}),
//	           get(path), id(name) and text(value) for SQL, SQLError
//	data.js    useQuery, usePoll: asked again every so often while the page is visible
//	router.js  go, href, setParams, Link
//	ui.js      Page, Failure, Tabs, Button, Field, Menu, Facts, Empty, Progress, Badge,
//	           notify(text), confirm({title, text, sql, action, danger}), copy(text)
//	table.js   Table: sorted, virtual, by keyboard; columns as of query, or {title, get, cell}
//	chart.js   Chart: lines, bars or points over time or numbers, with its values as a table
//	format.js  numbers, bytes, durations, times
//	icons.js   Icon
//	ops/ops.js for pages about the running server: Trouble (which privilege a part lacks),
//	           useRows, useAct (asks, runs, shows the error), Split and Detail, sorting
//	pages      a page's own modules are in a folder of its name: import/guess.js, help/markdown.js
//	style.css  colours are custom properties; light and dark; a page's own styles are in a file
//	           of its own: await stylesheet('pages/NAME.css') at the top of its module
//
// # Rules
//
//	R1  What comes from the database reaches a page as text, never as markup: templates
//	    escape; innerHTML and the like are forbidden, by a test.
//	R2  Nothing is loaded from another host; the policy of content (CSP) forbids it.
//	R3  64-bit integers and decimals are strings: JavaScript's numbers would round them.
//	R4  A page does nothing while it is not visible.
//	R5  All is done by keyboard too, and nothing is said by colour alone.
//
// Libraries are in ui/vendor, made by "go -C tools run ./uivendor"; SOURCES.json says what
// they are. test/console tests the pages in a browser.
package console
