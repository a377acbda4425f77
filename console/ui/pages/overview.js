import { html } from '../vendor/preact.js';
import { useQuery } from '../data.js';
import { Table } from '../table.js';
import { Failure, Page } from '../ui.js';

export default function Placeholder() {
	const { data, error } = useQuery('SHOW GLOBAL STATUS', [], { every: 2000 });
	return html`<${Page} title="overview" fill><${Failure} error=${error} /><${Table} label="Status" height="fill" types columns=${data?.columns} rows=${data?.rows} /><//>`;
}
