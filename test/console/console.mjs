// Goes through the console: node console.mjs http://127.0.0.1:14711 DIRECTORY
import { open } from './harness.mjs';
import * as frame from './frame.mjs';
import * as overview from './overview.mjs';
import * as plan from './plan.mjs';
import * as sql from './sql.mjs';

const [base, pictures] = process.argv.slice(2);
const t = await open(base, pictures);
for (const { steps } of [frame, sql, plan, overview]) await t.run(steps);
await t.run(frame.last);
await t.browser.close();
console.log('all steps are done');
