// The pages, in the order of the navigation. A page is loaded when it is first opened; its
// module exports the component as default. A new page is one line here.
export const pages = [
	{ name: 'overview', title: 'Overview', icon: 'gauge', route: '/overview', load: () => import('./pages/overview.js') },
	{ name: 'sql', title: 'SQL', icon: 'terminal', route: '/sql', load: () => import('./pages/sql.js') },
	{ name: 'plan', title: 'Plan', icon: 'tree', route: '/plan', load: () => import('./pages/plan.js') },
	{ name: 'tables', title: 'Tables', icon: 'table', route: '/tables', load: () => import('./pages/tables.js') },
	{ name: 'search', title: 'Search indexes', icon: 'search', route: '/search', load: () => import('./pages/search.js') },
	{ name: 'import', title: 'Import', icon: 'upload', route: '/import', load: () => import('./pages/import.js') },
	{ name: 'sessions', title: 'Sessions', icon: 'users', route: '/sessions', load: () => import('./pages/sessions.js') },
	{ name: 'statements', title: 'Statements', icon: 'list', route: '/statements', load: () => import('./pages/statements.js') },
	{ name: 'streams', title: 'Streams', icon: 'stream', route: '/streams', load: () => import('./pages/streams.js') },
	{ name: 'jobs', title: 'Jobs', icon: 'jobs', route: '/jobs', load: () => import('./pages/jobs.js') },
	{ name: 'server', title: 'Server', icon: 'sliders', route: '/server', load: () => import('./pages/server.js') },
	{ name: 'help', title: 'Help', icon: 'help', route: '/help', load: () => import('./pages/help.js') },
];

/** The page of a place, the first one if none is named. */
export function pageOf({ path }) {
	return path.length === 0 ? pages[0] : pages.find((p) => p.route === '/' + path[0]);
}
