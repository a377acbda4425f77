'use strict';
// What the tests of all clients share: the server's address and a small runner.
const assert = require('assert');

const config = {
  host: process.env.DB_HOST || '127.0.0.1',
  port: Number(process.env.DB_PORT || 4000),
  user: process.env.DB_USER || 'root',
  password: process.env.DB_PASSWORD || '',
  database: process.env.DB_NAME || 'test',
};

const tests = [];
const test = (name, run) => tests.push({ name, run });

// run runs all tests in order and ends the process.
async function run(before, after) {
  let failed = 0;
  const context = await before();
  for (const { name, run } of tests) {
    try {
      await run(context);
    } catch (e) {
      failed++;
      console.log(`FAIL ${name}: ${String(e.stack || e).split('\n').filter((l) => !/node_modules|node:/.test(l)).slice(0, 25).join('\n')}`);
      if (e.sql) console.log(`     ${e.sql}`);
    }
  }
  await after(context);
  console.log(`${tests.length - failed} of ${tests.length} passed`);
  process.exit(failed ? 1 : 0);
}

// rejects checks that a promise fails with the error number.
async function rejects(promise, number) {
  let e;
  try {
    await promise;
  } catch (caught) {
    e = caught;
  }
  if (!e) assert.fail(`no error, want ${number}`);
  const got = e.errno || (e.parent && e.parent.errno) || (e.driverError && e.driverError.errno);
  assert.strictEqual(got, number, e.stack);
}

module.exports = { assert, config, test, run, rejects };
