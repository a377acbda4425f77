// The theme: that of the system, or the one that was chosen.
import { signal } from './vendor/preact.js';

const key = 'sqlots.theme';
const media = matchMedia('(prefers-color-scheme: dark)');

/** The choice: 'system', 'light' or 'dark'. */
export const choice = signal(localStorage.getItem(key) || 'system');

/** Whether dark colours are shown. */
export const dark = signal(false);

function apply() {
	dark.value = choice.value === 'dark' || choice.value === 'system' && media.matches;
	document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
}

/** Chooses a theme. */
export function choose(theme) {
	choice.value = theme;
	localStorage.setItem(key, theme);
	apply();
}

/** A colour of the style sheet, for canvases: colour('accent'). */
export function colour(name) {
	const probe = document.createElement('i');
	probe.style.color = `var(--${name})`;
	document.body.append(probe);
	const c = getComputedStyle(probe).color;
	probe.remove();
	return c;
}

media.addEventListener('change', apply);
apply();
