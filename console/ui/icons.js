// Icons: strokes on a grid of 24.
import { html } from './vendor/preact.js';

const paths = {
	gauge: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
	terminal: 'M4 5h16v14H4zM7.5 9.5l3 2.5-3 2.5M12.5 15h4',
	tree: 'M5 5h6v4H5zM13 15h6v4h-6zM13 9h6v3M8 9v8h5',
	table: 'M4 5h16v14H4zM4 10h16M10 10v9',
	database: 'M5 6c0-3.3 14-3.3 14 0v12c0 3.3-14 3.3-14 0zM5 6c0 3.3 14 3.3 14 0M5 12c0 3.3 14 3.3 14 0',
	users: 'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM3 20c0-7 12-7 12 0M16 4.5a3.5 3.5 0 0 1 0 6.5M17.5 14c2.4.8 3.5 3 3.5 6',
	list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
	stream: 'M3 8c3-4 6 4 9 0s6 4 9 0M3 15c3-4 6 4 9 0s6 4 9 0',
	jobs: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M18.4 5.6l-2.2 2.2M7.8 16.2l-2.2 2.2',
	upload: 'M12 15V4M7.5 8.5L12 4l4.5 4.5M4 15v5h16v-5',
	download: 'M12 4v11M7.5 10.5L12 15l4.5-4.5M4 15v5h16v-5',
	archive: 'M4 8h16v12H4zM3 4h18v4H3zM10 12h4',
	sliders: 'M4 7h10M18 7h2M16 5v4M4 17h2M10 17h10M8 15v4',
	help: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5c0-3.4 5-3.2 5 0 0 2-2.5 2.2-2.5 4M12 16.8v.01',
	play: 'M7 4.5v15l12-7.5z',
	stop: 'M6 6h12v12H6z',
	sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M19 5l-1.4 1.4M6.4 17.6L5 19',
	moon: 'M20 14A8.5 8.5 0 0 1 10 4a8.5 8.5 0 1 0 10 10z',
	screen: 'M3 4h18v12H3zM9 20h6M12 16v4',
	logout: 'M14 4H5v16h9M10 12h11M17.5 8.5L21 12l-3.5 3.5',
	close: 'M6 6l12 12M18 6L6 18',
	check: 'M5 12.5l4.5 4.5L19 7.5',
	warning: 'M12 4L2.5 20h19zM12 10v4.5M12 17.3v.01',
	info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v6M12 7.5v.01',
	copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
	chart: 'M4 4v16h16M8 15l4-5 3 3 5-7',
	map: 'M9 4L3 6.5v13L9 17l6 3 6-2.5v-13L15 7zM9 4v13M15 7v13',
	history: 'M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5M12 7.5V12l3 2',
	star: 'M12 4l2.5 5.2 5.7.8-4.1 4 1 5.7-5.1-2.7-5.1 2.7 1-5.7-4.1-4 5.7-.8z',
	plus: 'M12 5v14M5 12h14',
	minus: 'M5 12h14',
	refresh: 'M20 12a8 8 0 1 1-2.5-5.8L20 8.5M20 4v4.5h-4.5',
	trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
	up: 'M6 14.5l6-6 6 6',
	down: 'M6 9.5l6 6 6-6',
	right: 'M9.5 6l6 6-6 6',
	circle: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z',
	polygon: 'M5 8l8-4 7 7-5 9-9-3z',
	menu: 'M4 7h16M4 12h16M4 17h16',
	key: 'M8 15a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 11h9v4M17 11v3',
	search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5',
	lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
};

/** <${Icon} name="play" />: it says nothing to screen readers, so its button needs a label. */
export function Icon({ name }) {
	return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${paths[name] ?? paths.circle} /></svg>`;
}
