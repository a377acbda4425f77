'use strict';
require('reflect-metadata');
const { DataSource, EntitySchema, In, Like, MoreThan, Between, IsNull, Raw, Table, TableColumn, TableIndex, TableForeignKey, TableCheck } = require('typeorm');
const { assert, config, test, run } = require('./lib');

const User = new EntitySchema({
  name: 'User', tableName: 'users',
  columns: {
    id: { type: 'bigint', unsigned: true, primary: true, generated: true },
    name: { type: 'varchar', length: 80 },
    email: { type: 'varchar', length: 100, unique: true, nullable: true },
    age: { type: 'int', default: 18 },
    balance: { type: 'decimal', precision: 12, scale: 2, default: '0.00' },
    doc: { type: 'json', nullable: true },
    tags: { type: 'simple-array', nullable: true },
    kind: { type: 'enum', enum: ['admin', 'user'], default: 'user' },
    flags: { type: 'set', enum: ['x', 'y'], nullable: true },
    active: { type: 'boolean', default: true },
    seen: { type: 'datetime', precision: 6, nullable: true },
    full: { type: 'varchar', length: 200, asExpression: "concat(`name`, '/', `age`)", generatedType: 'STORED', nullable: true },
    token: { type: 'char', length: 36, nullable: true },
    photo: { type: 'blob', nullable: true },
    createdAt: { type: 'datetime', precision: 6, createDate: true },
    updatedAt: { type: 'datetime', precision: 6, updateDate: true },
    deletedAt: { type: 'datetime', precision: 6, deleteDate: true },
    version: { type: 'int', version: true },
  },
  indices: [{ name: 'by_name', columns: ['name', 'age'] }],
  relations: {
    posts: { type: 'one-to-many', target: 'Post', inverseSide: 'author', cascade: true },
    profile: { type: 'one-to-one', target: 'Profile', inverseSide: 'user', cascade: true },
    groups: { type: 'many-to-many', target: 'Group', joinTable: { name: 'user_groups' }, cascade: true },
  },
});
const Profile = new EntitySchema({ name: 'Profile', tableName: 'profiles', columns: { id: { type: 'int', primary: true, generated: true }, bio: { type: 'text' } },
  relations: { user: { type: 'one-to-one', target: 'User', joinColumn: true, inverseSide: 'profile', onDelete: 'CASCADE' } } });
const Post = new EntitySchema({ name: 'Post', tableName: 'posts', columns: { id: { type: 'int', primary: true, generated: 'increment' }, title: { type: 'varchar' }, views: { type: 'int', default: 0 } },
  relations: { author: { type: 'many-to-one', target: 'User', inverseSide: 'posts', onDelete: 'CASCADE' } } });
const Group = new EntitySchema({ name: 'Group', tableName: 'groups', columns: { id: { type: String, primary: true, generated: 'uuid' }, name: { type: 'varchar', length: 30 } },
  uniques: [{ name: 'group_name', columns: ['name'] }] });
const Category = new EntitySchema({ name: 'Category', tableName: 'categories', columns: { id: { type: 'int', primary: true, generated: true }, name: { type: 'varchar', length: 30 } },
  trees: undefined, relations: { parent: { type: 'many-to-one', target: 'Category', nullable: true, inverseSide: 'children' }, children: { type: 'one-to-many', target: 'Category', inverseSide: 'parent' } } });
const Rich = new EntitySchema({ name: 'Rich', expression: 'SELECT `name`, `balance` FROM `users` WHERE `balance` > 100', type: 'view', columns: { name: { type: String }, balance: { type: String } } });

test('synchronize twice changes nothing', async ({ ds }) => {
  await ds.synchronize(true);
  const again = await ds.driver.createSchemaBuilder().log();
  assert.deepStrictEqual(again.upQueries.map((q) => q.query), []);
});

test('save and find', async ({ ds }) => {
  const users = ds.getRepository('User');
  const u = await users.save({ name: 'ann', email: 'ann@example.org', age: 30, balance: '12.50', doc: { a: [1, null] }, tags: ['p', 'q'], flags: ['x', 'y'], seen: new Date('2024-02-29T10:11:12.345Z'), photo: Buffer.from([0, 255]),
    posts: [{ title: 'one' }, { title: 'two' }], profile: { bio: 'long' }, groups: [{ name: 'g1' }, { name: 'g2' }] });
  assert.strictEqual(String(u.id), '1');
  const got = await users.findOne({ where: { name: 'ann' }, relations: { posts: true, profile: true, groups: true }, order: { posts: { title: 'DESC' } } });
  assert.deepStrictEqual(got.posts.map((p) => p.title), ['two', 'one']);
  assert.strictEqual(got.profile.bio, 'long');
  assert.strictEqual(got.groups.length, 2);
  assert.deepStrictEqual([got.balance, got.tags, got.flags, got.full, got.version, got.active], ['12.50', ['p', 'q'], ['x', 'y'], 'ann/30', 1, true]);
  assert.deepStrictEqual(typeof got.doc === 'string' ? JSON.parse(got.doc) : got.doc, { a: [1, null] });
  assert.strictEqual(got.seen.toISOString(), '2024-02-29T10:11:12.345Z');
  got.age = 31;
  await users.save(got);
  assert.deepStrictEqual([(await users.findOneBy({ id: got.id })).version, (await users.findOneBy({ id: got.id })).full], [2, 'ann/31']);
  await users.softDelete({ id: got.id });
  assert.strictEqual(await users.count(), 0);
  await users.restore({ id: got.id });
  await assert.rejects(users.insert({ name: 'x', email: 'ann@example.org' }), (e) => e.driverError.errno === 1062);
});

test('query builder', async ({ ds }) => {
  const users = ds.getRepository('User');
  await users.insert(Array.from({ length: 300 }, (_, i) => ({ name: `u${i}`, age: i % 30, balance: String(i) })));
  const [page, total] = await users.findAndCount({ where: [{ age: Between(3, 4) }, { name: Like('u29%'), age: MoreThan(20) }], take: 5, skip: 2, order: { id: 'ASC' } });
  assert.deepStrictEqual([page.length, total], [5, 30]);
  assert.strictEqual(await users.countBy({ name: In(['u1', 'u2']), email: IsNull() }), 2);
  assert.strictEqual(await users.countBy({ age: Raw((a) => `${a} % 10 = 3`) }), 30);
  const groups = await users.createQueryBuilder('u').select('u.age', 'age').addSelect('COUNT(*)', 'n').addSelect('SUM(u.balance)', 's').groupBy('u.age').having('COUNT(*) > :n', { n: 9 }).orderBy('age').limit(2).getRawMany();
  assert.deepStrictEqual(groups.map((g) => [g.age, Number(g.n), g.s]), [[0, 10, '1350.00'], [1, 10, '1360.00']]);
  // take with a join makes a DISTINCT subquery.
  const joined = await users.createQueryBuilder('u').leftJoinAndSelect('u.posts', 'p').innerJoinAndSelect('u.groups', 'g').where('p.title IN (:...t)', { t: ['one', 'two'] }).orderBy('u.name').addOrderBy('p.id').take(1).skip(0).getMany();
  assert.deepStrictEqual([joined.length, joined[0].posts.length, joined[0].groups.length], [1, 2, 2]);
  const sub = await users.createQueryBuilder('u').where((qb) => 'u.id IN ' + qb.subQuery().select('p.authorId').from('Post', 'p').getQuery()).getCount();
  assert.strictEqual(sub, 1);
  await users.createQueryBuilder().update().set({ balance: () => 'balance + 1' }).where('age = :a', { a: 5 }).execute();
  await users.createQueryBuilder().insert().values({ id: 1, name: 'up', email: 'ann@example.org' }).orUpdate(['name'], ['email']).execute();
  assert.strictEqual((await users.findOneBy({ id: 1 })).name, 'up');
  await users.upsert([{ name: 'ups', email: 'ann@example.org' }], ['email']);
  await users.createQueryBuilder().insert().values({ id: 1, name: 'no' }).orIgnore().execute();
  await users.increment({ id: 1 }, 'age', 3);
  assert.strictEqual((await users.delete({ age: 7 })).affected, 10);
  assert.strictEqual(await users.sum('age', { age: 6 }), 60);
  assert.strictEqual((await ds.getRepository('Rich').find()).length > 100, true);
  assert.strictEqual(await users.existsBy({ name: 'nobody' }), false);
  let n = 0;
  for await (const row of await users.createQueryBuilder('u').stream()) n += 1;
  assert.strictEqual(n, 291);
  const locked = await ds.transaction((m) => m.findOne('User', { where: { id: 1 }, lock: { mode: 'pessimistic_write', onLocked: 'skip_locked' } }));
  assert.ok(locked);
});

test('transactions', async ({ ds }) => {
  const groups = ds.getRepository('Group');
  await assert.rejects(ds.transaction(async (m) => { await m.insert('Group', { name: 'g9' }); throw new Error('back'); }), /back/);
  assert.strictEqual(await groups.countBy({ name: 'g9' }), 0);
  await ds.transaction('READ COMMITTED', async (m) => {
    await m.insert('Group', { name: 'outer' });
    await assert.rejects(m.transaction(async (inner) => { await inner.insert('Group', { name: 'inner' }); throw new Error('x'); }));
  });
  assert.deepStrictEqual([await groups.countBy({ name: 'outer' }), await groups.countBy({ name: 'inner' })], [1, 0]);
});

test('query runner', async ({ ds }) => {
  const q = ds.createQueryRunner();
  await q.dropTable('things', true);
  await q.createTable(new Table({ name: 'things', columns: [{ name: 'id', type: 'int', isPrimary: true, isGenerated: true, generationStrategy: 'increment' }, { name: 'name', type: 'varchar', length: '20', default: "'x'", comment: 'it' }, { name: 'user_id', type: 'bigint', unsigned: true, isNullable: true }],
    indices: [{ name: 'by_name', columnNames: ['name'] }], checks: [{ name: 'ck', expression: '`id` > 0' }] }));
  await q.addColumn('things', new TableColumn({ name: 'price', type: 'decimal', precision: 8, scale: 3, default: 1.5 }));
  await q.changeColumn('things', 'name', new TableColumn({ name: 'title', type: 'varchar', length: '20', default: "'x'", isNullable: true }));
  await q.createIndex('things', new TableIndex({ name: 'both', columnNames: ['title', 'price'], isUnique: true }));
  await q.createForeignKey('things', new TableForeignKey({ name: 'fk_user', columnNames: ['user_id'], referencedTableName: 'users', referencedColumnNames: ['id'], onDelete: 'SET NULL' }));
  const t = await q.getTable('things');
  assert.deepStrictEqual(t.columns.map((c) => c.name), ['id', 'title', 'user_id', 'price']);
  assert.deepStrictEqual([t.findColumnByName('price').scale, t.findColumnByName('id').isGenerated, t.findColumnByName('user_id').unsigned], [3, true, true]);
  assert.deepStrictEqual(t.indices.map((i) => i.name).filter((n) => n !== 'fk_user').sort(), ['both', 'by_name']);
  assert.deepStrictEqual(t.foreignKeys.map((f) => [f.name, f.referencedTableName, f.onDelete]), [['fk_user', 'users', 'SET NULL']]);
  await q.dropForeignKey('things', 'fk_user');
  await q.dropIndex('things', 'both');
  await q.dropColumn('things', 'price');
  await q.renameTable('things', 'gadgets');
  assert.strictEqual(await q.hasTable('gadgets'), true);
  assert.strictEqual(await q.hasColumn('gadgets', 'price'), false);
  await q.dropTable('gadgets');
  await q.release();
});

run(
  async () => {
    const ds = new DataSource({ type: process.env.TYPEORM_TYPE || 'mysql', host: config.host, port: config.port, username: config.user, password: config.password, database: config.database, entities: [User, Profile, Post, Group, Category, Rich], logging: process.env.SQL_LOG ? true : ['error'].slice(1), connectorPackage: 'mysql2' });
    await ds.initialize();
    return { ds };
  },
  ({ ds }) => ds.destroy(),
);
