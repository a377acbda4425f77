// Hooks that fetch data, again every so often, and only while the page is visible.
import { useCallback, useEffect, useRef, useState } from './vendor/preact.js';
import { account, query } from './api.js';

/**
 * Calls load(signal) at once, when deps change and every so many ms after its end; every 0:
 * not again. While the window is hidden it is not called. The value is {data, error, loading,
 * refresh}; data stays that of the last success.
 */
export function usePoll(load, every, deps = []) {
	const [state, setState] = useState({ data: undefined, error: null, loading: true });
	const latest = useRef(load);
	latest.current = load;
	const again = useRef(() => {});
	useEffect(() => {
		let timer = 0, ended = false, control = null;
		const run = async () => {
			clearTimeout(timer);
			timer = 0;
			control?.abort();
			const mine = control = new AbortController();
			try {
				const data = await latest.current(mine.signal);
				if (!ended && mine === control) setState({ data, error: null, loading: false });
			} catch (error) {
				if (ended || mine !== control || error.name === 'AbortError') return;
				setState((s) => ({ data: s.data, error, loading: false }));
			}
			if (!ended && mine === control) {
				control = null;
				if (every && !document.hidden) timer = setTimeout(run, every);
			}
		};
		const visible = () => {
			if (!every) return;
			if (document.hidden) {
				clearTimeout(timer);
				timer = 0;
			} else if (!timer && !control) {
				run();
			}
		};
		again.current = run;
		setState((s) => ({ ...s, loading: true }));
		run();
		document.addEventListener('visibilitychange', visible);
		return () => {
			ended = true;
			clearTimeout(timer);
			control?.abort();
			document.removeEventListener('visibilitychange', visible);
		};
	}, [every, account.value?.user, ...deps]);
	const refresh = useCallback(() => again.current(), []);
	return { ...state, refresh };
}

/** As usePoll, for a statement: data is {columns, rows, end}. Options are those of query, and
 * every. sql null: nothing is done. */
export function useQuery(sql, params = [], { every = 0, ...opts } = {}) {
	return usePoll((signal) => sql === null ? undefined : query(sql, params, { ...opts, signal }), every, [sql, JSON.stringify(params), opts.db]);
}
