// The login page.
import { html, useState } from './vendor/preact.js';
import { login, reason } from './api.js';
import { Button, Failure, Field } from './ui.js';

export function Login() {
	const [error, setError] = useState(null);
	const [busy, setBusy] = useState(false);
	const submit = async (e) => {
		e.preventDefault();
		const f = new FormData(e.target);
		setBusy(true);
		setError(null);
		try {
			await login(f.get('user'), f.get('password'));
		} catch (err) {
			setError(err);
			setBusy(false);
		}
	};
	return html`<main class="login">
		<form onSubmit=${submit}>
			<h1><img src="/console/icon.svg" alt="" width="28" height="28" /> sqlots</h1>
			<p class="muted">${location.host}</p>
			${reason.value && html`<p class="reason" role="status">${reason.value}</p>`}
			<${Field} label="User"><input name="user" autocomplete="username" required autofocus spellcheck=${false} autocapitalize="none" /><//>
			<${Field} label="Password"><input name="password" type="password" autocomplete="current-password" /><//>
			<${Failure} error=${error} />
			<${Button} kind="main" type="submit" disabled=${busy}>Log in<//>
		</form>
	</main>`;
}
