// Numbers, sizes, durations and times for people. Values may be strings, as query gives them.

const grouping = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** 1234567.891: "1,234,567.89". Long integers stay exact. */
export function number(v) {
	if (v === null || v === undefined || v === '') return '';
	if (typeof v === 'string' && /^-?\d+$/.test(v)) return grouping.format(BigInt(v));
	const n = Number(v);
	return Number.isFinite(n) ? grouping.format(n) : String(v);
}

function scaled(n, base, units) {
	let i = 0;
	while (Math.abs(n) >= base && i < units.length - 1) {
		n /= base;
		i++;
	}
	const digits = Math.abs(n) >= 100 || i === 0 && Number.isInteger(n) ? 0 : Math.abs(n) >= 10 ? 1 : 2;
	return n.toFixed(digits).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') + units[i];
}

/** 1234567: "1.23M". */
export const short = (v) => v === null || v === undefined ? '' : scaled(Number(v), 1000, ['', 'k', 'M', 'G', 'T', 'P', 'E']);

/** 1234567: "1.18 MiB". */
export const bytes = (v) => v === null || v === undefined ? '' : scaled(Number(v), 1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB']);

/** A duration in seconds: "340 µs", "12.3 ms", "4.2 s", "3 min 20 s", "2 d 3 h". */
export function duration(s) {
	if (s === null || s === undefined || s === '') return '';
	s = Number(s);
	const a = Math.abs(s);
	if (a === 0) return '0 s';
	if (a < 1e-3) return scaled(s * 1e6, 1e9, [' µs']);
	if (a < 1) return scaled(s * 1e3, 1e9, [' ms']);
	if (a < 60) return scaled(s, 1e9, [' s']);
	const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
	const i = parts.findIndex(([n]) => a >= n);
	const [big, bigName] = parts[i], [small, smallName] = parts[i + 1];
	const rest = Math.floor(a % big / small);
	return Math.floor(a / big) + ' ' + bigName + (rest ? ' ' + rest + ' ' + smallName : '');
}

/** A share from 0 to 1: "12.3 %". */
export const percent = (v) => v === null || v === undefined || !Number.isFinite(Number(v)) ? '' : scaled(Number(v) * 100, 1e9, [' %']);

const two = (n) => String(n).padStart(2, '0');

/** A Date: "2026-11-28 08:15:02", in local time. */
export const time = (d) => `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock(d)}`;

/** A Date: "08:15:02". */
export const clock = (d) => `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;

/** "1 row", "2 rows". */
export const count = (n, one, many = one + 's') => `${number(n)} ${String(n) === '1' ? one : many}`;
