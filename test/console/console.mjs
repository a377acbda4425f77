// Goes through the console: node console.mjs http://127.0.0.1:4080 DIRECTORY. ONLY=plan,overview
// leaves out other parts than these.
import { open } from './harness.mjs';
import * as frame from './frame.mjs';
import * as help from './help.mjs';
import * as load from './import.mjs';
import * as overview from './overview.mjs';
import * as plan from './plan.mjs';
import * as search from './search.mjs';
import * as sql from './sql.mjs';
import * as sessions from './sessions.mjs';
import * as statements from './statements.mjs';
import * as streams from './streams.mjs';
import * as jobs from './jobs.mjs';
import * as server from './server.mjs';
import * as tables from './tables.mjs';

const [base, pictures] = process.argv.slice(2);
const t = await open(base, pictures);
const parts = { sql, plan, overview, tables, search, import: load, sessions, statements, streams, jobs, server, help };
const only = process.env.ONLY?.split(',') ?? Object.keys(parts);
await t.run(frame.steps);
for (const name of only) await t.run(parts[name].steps);
await t.run(frame.last.slice(0, -1));
for (const name of only) if (parts[name].last) await t.run(parts[name].last); // as an account with few privileges
await t.run(frame.last.slice(-1));
await t.browser.close();
console.log('all steps are done');
