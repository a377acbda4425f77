'use strict';
const knexLib = require('knex');
const { assert, config, test, run, rejects } = require('./lib');

const plain = (x) => JSON.parse(JSON.stringify(x));

const migrations = {
  '1_users': {
    up: (k) => k.schema
      .createTable('companies', (t) => { t.increments(); t.string('name', 100).notNullable().unique(); t.timestamps(true, true); })
      .createTable('users', (t) => {
        t.bigIncrements('id');
        t.string('name').notNullable().index('by_name');
        t.integer('company_id').unsigned().references('id').inTable('companies').onDelete('CASCADE');
        t.decimal('balance', 14, 4).defaultTo(0);
        t.float('ratio', 8, 2);
        t.double('d');
        t.boolean('active').defaultTo(true);
        t.enu('kind', ['a', 'b']).defaultTo('a');
        t.json('doc');
        t.date('born');
        t.datetime('seen', { precision: 6 });
        t.timestamp('stamp').defaultTo(k.fn.now());
        t.time('clock');
        t.binary('photo', 500);
        t.text('bio', 'mediumtext');
        t.uuid('token');
        t.specificType('flags', "SET('x','y')");
        t.comment('people');
        t.unique(['name', 'born'], { indexName: 'once' });
        t.check('?? >= ?', ['balance', -100], 'not_too_deep');
      }),
    down: (k) => k.schema.dropTable('users').dropTable('companies'),
  },
  '2_change': {
    up: async (k) => {
      await k.schema.alterTable('users', (t) => {
        t.string('nick', 20).after('name').comment('short');
        t.string('name', 60).notNullable().defaultTo('nobody').alter();
        t.renameColumn('ratio', 'proportion');
        t.dropColumn('flags');
        t.index(['nick', 'company_id'], 'by_nick');
        t.dropUnique(['name', 'born'], 'once');
        t.setNullable('token');
      });
      await k.schema.raw('CREATE VIEW active_users AS SELECT id, name FROM users WHERE active');
    },
    down: async (k) => {
      await k.schema.dropViewIfExists('active_users');
      await k.schema.alterTable('users', (t) => {
        t.dropColumn('nick');
        t.renameColumn('proportion', 'ratio');
      });
    },
  },
};

const source = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (m) => m,
  getMigration: async (m) => migrations[m],
};

test('migrations', async ({ knex }) => {
  await knex.raw('SET FOREIGN_KEY_CHECKS = 0');
  for (const t of ['users', 'companies', 'knex_migrations', 'knex_migrations_lock']) await knex.schema.dropTableIfExists(t);
  await knex.schema.dropViewIfExists('active_users');
  await knex.raw('SET FOREIGN_KEY_CHECKS = 1');
  const [, applied] = await knex.migrate.latest();
  assert.deepStrictEqual(applied, ['1_users', '2_change']);
  await knex.migrate.rollback(null, true);
  assert.strictEqual(await knex.schema.hasTable('users'), false);
  await knex.migrate.up();
  await knex.migrate.up();
  const [done, pending] = await knex.migrate.list();
  assert.deepStrictEqual([done.length, pending.length], [2, 0]);
  assert.strictEqual(await knex.migrate.currentVersion(), '2');
  assert.strictEqual(await knex.schema.hasColumn('users', 'nick'), true);
  const info = await knex('users').columnInfo();
  assert.deepStrictEqual(plain(info.name), { defaultValue: info.name.defaultValue, type: 'varchar', maxLength: 60, nullable: false });
  assert.deepStrictEqual([info.balance.type, info.proportion.type, 'flags' in info], ['decimal', 'float', false]);
});

test('insert, batch and returning ids', async ({ knex }) => {
  const [id] = await knex('companies').insert({ name: 'Acme' });
  assert.strictEqual(id, 1);
  await knex.batchInsert('users', Array.from({ length: 1000 }, (_, i) => ({ name: `u${i}`, company_id: 1, balance: i / 4, kind: i % 2 ? 'a' : 'b', doc: JSON.stringify({ i, tags: ['x', i] }), born: '2000-01-01', seen: new Date(Date.UTC(2024, 0, 1, 0, 0, i)) })), 77);
  const [{ n }] = await knex('users').count('* as n');
  assert.strictEqual(n, 1000);
  await rejects(knex('companies').insert({ name: 'Acme' }), 1062);
  await rejects(knex('users').insert({ name: 'x', company_id: 77 }), 1452);
  await rejects(knex('users').insert({ name: 'x', balance: -1000 }), Number(process.env.CHECK_ERRNO || 3819));
});

test('queries', async ({ knex }) => {
  const rows = await knex('users as u').join('companies as c', 'c.id', 'u.company_id').leftJoin('users as v', function () { this.on('v.id', '=', 'u.id').andOnVal('v.balance', '>', 100); })
    .where('u.balance', '<', 2).andWhere((b) => b.where('u.kind', 'a').orWhereIn('u.name', ['u2', 'u4'])).whereNotNull('u.doc').whereNull('v.id').select('u.name', 'c.name as company').orderBy('u.id');
  assert.deepStrictEqual(rows.map((r) => r.name + r.company), ['u1Acme', 'u2Acme', 'u3Acme', 'u4Acme', 'u5Acme', 'u7Acme']);
  const groups = await knex('users').select('kind').count({ n: 'id' }).sum({ s: 'balance' }).avg({ a: 'balance' }).min({ lo: 'balance' }).max({ hi: 'balance' }).groupBy('kind').having(knex.raw('count(id) > ?', [10])).orderBy('kind');
  assert.deepStrictEqual(groups.map((g) => [g.kind, g.n, Number(g.s), Number(g.a), Number(g.lo), Number(g.hi)]), [['a', 500, 62500, 125, 0.25, 249.75], ['b', 500, 62375, 124.75, 0, 249.5]]);
  const cte = await knex.with('rich', knex('users').where('balance', '>', 249)).withRecursive('seq', ['n'], (q) => q.select(knex.raw('1')).from(knex.raw('dual')).unionAll((r) => r.select(knex.raw('n + 1')).from('seq').where('n', '<', 3))).select('n', knex('rich').count('*').as('c')).from('seq');
  assert.deepStrictEqual(plain(cte), [{ n: 1, c: 3 }, { n: 2, c: 3 }, { n: 3, c: 3 }]);
  const union = await knex('users').where('id', 1).select('id').union([knex('users').where('id', 2).select('id'), knex('users').where('id', 1).select('id')]);
  assert.strictEqual(union.length, 2);
  const win = await knex('users').select('name').rowNumber('rn', (w) => w.orderBy('balance', 'desc').partitionBy('kind')).rank('rk', 'id').orderBy('rn').orderBy('kind').limit(2);
  assert.deepStrictEqual(win.map((w) => [w.name, w.rn]), [['u999', 1], ['u998', 1]]);
  const json = await knex('users').jsonExtract('doc', '$.tags[1]', 't').whereJsonPath('doc', '$.i', '<', 3).orderBy('id');
  assert.deepStrictEqual(json.map((j) => Number(j.t)), [0, 1, 2]);
  assert.strictEqual((await knex('users').whereExists(knex('companies').whereRaw('companies.id = users.company_id'))).length, 1000);
  assert.deepStrictEqual(await knex('users').where('id', '<', 4).pluck('name'), ['u0', 'u1', 'u2']);
  assert.strictEqual((await knex('users').where('id', 3).first()).name, 'u2');
  const distinct = await knex('users').countDistinct({ k: 'kind', });
  assert.strictEqual(distinct[0].k, 2);
  const raw = await knex.raw('SELECT ?? FROM ?? WHERE ?? = :id'.replace(':id', '?'), ['name', 'users', 'id', 5]);
  assert.strictEqual(raw[0][0].name, 'u4');
  const named = await knex.raw('SELECT :a AS a, :b: FROM users LIMIT 1', { a: 3, b: 'name' });
  assert.strictEqual(named[0][0].a, 3);
});

test('update, delete, upsert', async ({ knex }) => {
  assert.strictEqual(await knex('users').where('id', '<=', 10).update({ nick: 'n', balance: knex.raw('balance + ?', [1]) }), 10);
  await knex('users').where('id', 1).increment('balance', 5).decrement('proportion', 1);
  await knex('users').where('id', 2).update(knex.jsonSet ? { doc: knex.jsonSet('doc', '$.new', 1) } : {});
  await knex('companies').insert([{ name: 'Acme' }, { name: 'Other' }]).onConflict('name').merge();
  await knex('companies').insert({ name: 'Other' }).onConflict().ignore();
  await knex('companies').insert({ id: 1, name: 'Renamed' }).onConflict('id').merge(['name']);
  assert.deepStrictEqual(await knex('companies').orderBy('name').pluck('name'), ['Other', 'Renamed']);
  assert.strictEqual(await knex('users').where('name', 'like', 'u99_').del(), 10);
  assert.strictEqual(await knex('users').join('companies', 'companies.id', 'users.company_id').where('users.id', 5).update({ 'users.nick': 'joined' }), 1);
});

test('transactions', async ({ knex }) => {
  await assert.rejects(knex.transaction(async (trx) => {
    await trx('users').del();
    throw new Error('back');
  }), /back/);
  await knex.transaction(async (trx) => {
    await trx('companies').insert({ name: 'outer' });
    await assert.rejects(trx.transaction(async (sp) => {
      await sp('companies').insert({ name: 'inner' });
      throw new Error('inner');
    }), /inner/);
    assert.strictEqual((await trx('companies').where('name', 'outer').forUpdate()).length, 1);
    await trx('users').where('id', 1).forUpdate().skipLocked();
  }, { isolationLevel: 'read committed' });
  assert.strictEqual((await knex('companies').whereIn('name', ['outer', 'inner'])).length, 1);
  const trx = await knex.transaction();
  await trx('companies').where('name', 'outer').del();
  await trx.rollback();
  assert.strictEqual((await knex('companies').where('name', 'outer')).length, 1);
});

test('stream', async ({ knex }) => {
  let n = 0;
  for await (const row of knex('users').select('id', 'doc').stream()) n += row.id > 0;
  assert.strictEqual(n, 990);
});

test('schema builder', async ({ knex }) => {
  await knex.schema.dropTableIfExists('copy');
  await knex.schema.createTableLike('copy', 'users', (t) => t.integer('extra'));
  await knex.schema.renameTable('copy', 'copied');
  await knex.schema.alterTable('copied', (t) => { t.dropIndex([], 'by_nick'); t.dropPrimary ? t.integer('more').unsigned().notNullable().defaultTo(7) : 0; t.text('long'); t.index([knex.raw('`long`(10)')], 'by_long'); });
  await knex.schema.createView('v', (v) => { v.columns(['a', 'b']); v.as(knex('copied').select('id', 'name')); });
  await knex.schema.createViewOrReplace('v', (v) => { v.columns(['a']); v.as(knex('copied').select('id')); });
  await knex.schema.dropView('v');
  assert.strictEqual(await knex.schema.hasColumn('copied', 'extra'), true);
  await knex('copied').truncate();
  await knex.schema.dropTable('copied');
});

run(
  async () => ({ knex: knexLib({ client: process.env.KNEX_CLIENT || 'mysql2', connection: { ...config, charset: 'utf8mb4' }, pool: { min: 1, max: 1 }, migrations: { migrationSource: source }, log: { warn() {} } }) }),
  ({ knex }) => knex.destroy(),
);
