'use strict';
const { Sequelize, DataTypes, Model, Op, QueryTypes, Transaction } = require('sequelize');
const { assert, config, test, run, rejects } = require('./lib');

const plain = (x) => JSON.parse(JSON.stringify(x));

function define(sequelize) {
  const options = { underscored: true };
  class User extends Model {}
  User.init({
    name: { type: DataTypes.STRING(80), allowNull: false },
    email: { type: DataTypes.STRING(120), unique: true, validate: { isEmail: true } },
    age: { type: DataTypes.INTEGER.UNSIGNED, defaultValue: 18 },
    balance: DataTypes.DECIMAL(12, 2),
    big: DataTypes.BIGINT,
    ratio: DataTypes.DOUBLE,
    active: { type: DataTypes.BOOLEAN, defaultValue: true },
    kind: DataTypes.ENUM('admin', 'user', "o'neil"),
    profile: DataTypes.JSON,
    born: DataTypes.DATEONLY,
    seen: DataTypes.DATE(6),
    clock: DataTypes.TIME,
    bio: DataTypes.TEXT('medium'),
    photo: DataTypes.BLOB,
    token: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
    upper: { type: DataTypes.VIRTUAL, get() { return (this.name || '').toUpperCase(); } },
  }, { ...options, sequelize, modelName: 'user', paranoid: true, indexes: [{ fields: ['name', { name: 'age', order: 'DESC' }] }, { unique: true, fields: ['token'] }, { fields: [{ name: 'bio', length: 20 }] }] });
  const Company = sequelize.define('company', { name: DataTypes.STRING, seats: { type: DataTypes.INTEGER, defaultValue: 0 } }, { ...options, timestamps: false });
  const Post = sequelize.define('post', { title: DataTypes.STRING, views: { type: DataTypes.INTEGER, defaultValue: 0 }, score: DataTypes.FLOAT }, { ...options, version: true });
  const Tag = sequelize.define('tag', { name: { type: DataTypes.STRING(50), primaryKey: true } }, { ...options, timestamps: false });
  const PostTag = sequelize.define('post_tag', { weight: DataTypes.INTEGER }, { ...options, timestamps: false });
  const Comment = sequelize.define('comment', { text: DataTypes.STRING, subjectId: DataTypes.INTEGER, subjectType: DataTypes.STRING(20) }, options);
  const Node = sequelize.define('node', { label: DataTypes.STRING }, { ...options, timestamps: false });
  Company.hasMany(User); User.belongsTo(Company);
  User.hasMany(Post, { onDelete: 'CASCADE' }); Post.belongsTo(User);
  Post.belongsToMany(Tag, { through: PostTag }); Tag.belongsToMany(Post, { through: PostTag });
  Post.hasMany(Comment, { foreignKey: 'subjectId', constraints: false, scope: { subjectType: 'post' } });
  Node.hasMany(Node, { as: 'children', foreignKey: 'parentId' }); Node.belongsTo(Node, { as: 'parent', foreignKey: 'parentId' });
  return { User, Company, Post, Tag, PostTag, Comment, Node };
}

test('sync', async ({ sequelize }) => {
  await sequelize.authenticate();
  await sequelize.sync({ force: true });
  await sequelize.sync();
  await sequelize.sync({ alter: true });
  await sequelize.sync({ alter: { drop: false } });
});

test('create, read, update, delete', async ({ User, Company }) => {
  const seen = new Date('2024-02-29T23:59:59.123Z');
  const u = await User.create({ name: 'ann', email: 'ann@example.org', balance: '12345.67', big: '9007199254740993', ratio: 0.1, kind: "o'neil", profile: { a: [1, { b: null }] }, born: '1990-05-17', seen, clock: '12:34:56', bio: 'ž'.repeat(1000), photo: Buffer.from([0, 1, 255]), company: { name: 'Acme' } }, { include: [Company] });
  const got = await User.findByPk(u.id, { include: Company });
  assert.strictEqual(got.balance, '12345.67');
  assert.strictEqual(String(got.big), '9007199254740993');
  assert.strictEqual(got.kind, "o'neil");
  assert.deepStrictEqual(typeof got.profile === 'string' ? JSON.parse(got.profile) : got.profile, { a: [1, { b: null }] });
  assert.strictEqual(got.born, '1990-05-17');
  assert.strictEqual(got.seen.toISOString(), seen.toISOString());
  assert.strictEqual(got.clock, '12:34:56');
  assert.deepStrictEqual(got.photo, Buffer.from([0, 1, 255]));
  assert.strictEqual(got.active, true);
  assert.strictEqual(got.upper, 'ANN');
  assert.strictEqual(got.company.name, 'Acme');
  await got.update({ age: 40 });
  await got.increment({ age: 2, balance: 1 });
  await got.decrement('age');
  await got.reload();
  assert.deepStrictEqual([got.age, got.balance], [41, '12346.67']);
  const [n] = await User.update({ age: 50 }, { where: { name: 'ann' } });
  assert.strictEqual(n, 1);
  await got.destroy();
  assert.strictEqual(await User.count(), 0);
  assert.strictEqual(await User.count({ paranoid: false }), 1);
  await got.restore();
  assert.strictEqual(await User.count(), 1);
  await assert.rejects(User.create({ name: 'x', email: 'nonsense' }), { name: 'SequelizeValidationError' });
  await assert.rejects(User.create({ name: 'x', email: 'ann@example.org' }), (e) => e.name === 'SequelizeUniqueConstraintError' && 'email' in e.fields);
  await assert.rejects(User.create({ name: 'x', companyId: 999 }), (e) => e.name === 'SequelizeForeignKeyConstraintError' && e.fields[0] === 'company_id' && e.table === 'companies');
});

test('bulk and upsert', async ({ User, Tag }) => {
  await User.bulkCreate(Array.from({ length: 500 }, (_, i) => ({ name: `u${i}`, age: i % 50, balance: i, email: `u${i}@example.org` })));
  await User.bulkCreate([{ id: 2, name: 'changed', email: 'u0@example.org', age: 1 }], { updateOnDuplicate: ['name', 'age'] });
  assert.strictEqual((await User.findOne({ where: { email: 'u0@example.org' } })).name, 'changed');
  await Tag.bulkCreate([{ name: 'a' }, { name: 'b' }]);
  await Tag.bulkCreate([{ name: 'a' }, { name: 'c' }], { ignoreDuplicates: true });
  assert.strictEqual(await Tag.count(), 3);
  const [, created] = await User.upsert({ id: 3, name: 'up', email: 'u1@example.org' });
  assert.ok(created === false || created === null);
  const [, made] = await Tag.findOrCreate({ where: { name: 'd' } });
  assert.strictEqual(made, true);
  assert.strictEqual(await User.destroy({ where: { age: 49 } }), 10);
});

test('queries', async ({ sequelize, User }) => {
  assert.strictEqual(await User.count({ where: { [Op.or]: [{ name: 'u5' }, { name: { [Op.like]: 'u49%' }, age: { [Op.lt]: 48 } }] } }), 9);
  assert.strictEqual(await User.count({ where: { age: { [Op.between]: [10, 12] }, email: { [Op.ne]: null } } }), 30);
  assert.strictEqual(await User.count({ where: { name: { [Op.in]: ['u7', 'u8', 'zz'] } } }), 2);
  assert.strictEqual(await User.count({ where: { name: { [Op.startsWith]: 'u1' }, [Op.not]: { age: 10 } } }), 105);
  assert.strictEqual(await User.count({ where: { name: { [Op.regexp]: '^u[0-9]$' } } }), 8);
  assert.strictEqual(await User.max('age'), 50);
  assert.strictEqual(await User.sum('balance', { where: { name: ['u10', 'u20'] } }), 30);
  const groups = await User.findAll({ attributes: ['age', [sequelize.fn('COUNT', sequelize.col('id')), 'n'], [sequelize.fn('AVG', sequelize.col('balance')), 'mean']], group: ['age'], having: sequelize.where(sequelize.fn('COUNT', sequelize.col('id')), '>', 9), order: [['age', 'DESC']], limit: 2, raw: true });
  assert.deepStrictEqual(groups.map((g) => [g.age, g.n, Number(g.mean)]), [[48, 10, 273], [47, 10, 272]]);
  const page = await User.findAndCountAll({ where: { age: 20 }, limit: 3, offset: 2, order: [['id', 'ASC']] });
  assert.strictEqual(page.count, 10);
  assert.strictEqual(page.rows.length, 3);
  const js = await User.findAll({ where: sequelize.where(sequelize.json('profile.a[0]'), 1) });
  assert.strictEqual(js.length, 1);
  const raw = await sequelize.query('SELECT name, age FROM users WHERE age = :age ORDER BY id LIMIT 2', { replacements: { age: 5 }, type: QueryTypes.SELECT });
  assert.strictEqual(raw.length, 2);
  const bound = await sequelize.query('SELECT $1 AS a, $2 AS b', { bind: [1, 'x'], type: QueryTypes.SELECT });
  assert.deepStrictEqual(plain(bound), [{ a: 1, b: 'x' }]);
  const modelled = await sequelize.query('SELECT * FROM users WHERE id = ?', { replacements: [1], model: User, mapToModel: true });
  assert.strictEqual(modelled[0].name, 'ann');
  const sub = await User.findAll({ where: { id: { [Op.in]: sequelize.literal('(SELECT MAX(id) FROM users GROUP BY age)') } } });
  assert.strictEqual(sub.length, 50);
});

test('associations', async ({ User, Post, Tag, Comment, Node, Company, sequelize }) => {
  const u = await User.findByPk(1);
  const p = await u.createPost({ title: 'first', score: 1.5 });
  const q = await u.createPost({ title: 'second' });
  await p.addTags(['a', 'b'], { through: { weight: 3 } });
  await q.setTags(['b']);
  await p.createComment({ text: 'good' });
  assert.strictEqual(await p.countTags(), 2);
  assert.strictEqual(await p.hasTag('a'), true);
  const full = await User.findOne({ where: { id: 1 }, include: [{ model: Post, include: [Tag, { model: Comment, required: false }], where: { title: { [Op.like]: '%r%' } }, required: false }, Company], order: [[Post, 'title'], [Post, Tag, 'name', 'DESC']] });
  assert.deepStrictEqual(full.posts.map((x) => [x.title, x.tags.map((t) => [t.name, t.post_tag.weight]), x.comments.length]), [['first', [['b', 3], ['a', 3]], 1]]);
  // With a limit, the user is chosen in a subquery.
  const limited = await User.findAll({ include: [{ model: Post, required: true, include: [{ model: Tag, required: true }] }], limit: 2, order: [['id', 'ASC']] });
  assert.strictEqual(limited.length, 1);
  const separate = await User.findAll({ include: [{ model: Post, separate: true, order: [['id', 'DESC']] }], where: { id: [1, 4] }, order: ['id'] });
  assert.deepStrictEqual(separate.map((x) => x.posts.length), [2, 0]);
  const counted = await User.findAll({ attributes: { include: [[sequelize.literal('(SELECT COUNT(*) FROM posts WHERE posts.user_id = user.id)'), 'posts_n']] }, where: { id: 1 } });
  assert.strictEqual(counted[0].get('posts_n'), 2);
  const root = await Node.create({ label: 'root', children: [{ label: 'l' }, { label: 'r' }] }, { include: [{ model: Node, as: 'children' }] });
  const tree = await Node.findByPk(root.id, { include: [{ model: Node, as: 'children', include: [{ model: Node, as: 'parent' }] }] });
  assert.strictEqual(tree.children[0].parent.label, 'root');
  const stale = await Post.findByPk(p.id);
  await p.update({ views: 1 });
  await assert.rejects(stale.update({ views: 2 }), { name: 'SequelizeOptimisticLockError' });
  await u.destroy({ force: true });
  assert.strictEqual(await Post.count(), 0);
});

test('transactions', async ({ sequelize, Tag }) => {
  await assert.rejects(sequelize.transaction(async (t) => {
    await Tag.create({ name: 'gone' }, { transaction: t });
    throw new Error('back');
  }), /back/);
  assert.strictEqual(await Tag.findByPk('gone'), null);
  await sequelize.transaction({ isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED }, async (t) => {
    const row = await Tag.findByPk('a', { transaction: t, lock: t.LOCK.UPDATE });
    assert.ok(row);
    await Tag.findAll({ transaction: t, lock: true, skipLocked: true });
    await sequelize.transaction({ transaction: t }, async (inner) => {
      await Tag.create({ name: 'inner' }, { transaction: inner });
    });
  });
  assert.ok(await Tag.findByPk('inner'));
});

test('query interface', async ({ sequelize }) => {
  const qi = sequelize.getQueryInterface();
  for (const t of ['things', 'gadgets', 'owners']) await qi.dropTable(t);
  await qi.createTable('owners', { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, name: DataTypes.STRING });
  await qi.createTable('things', { id: { type: DataTypes.BIGINT.UNSIGNED, primaryKey: true, autoIncrement: true }, name: { type: DataTypes.STRING(30), allowNull: false, defaultValue: 'n', comment: "it's a name" }, price: DataTypes.DECIMAL(10, 2) });
  await qi.addColumn('things', 'owner_id', { type: DataTypes.INTEGER, references: { model: 'owners', key: 'id' }, onDelete: 'SET NULL', onUpdate: 'CASCADE' });
  await qi.addColumn('things', 'early', { type: DataTypes.STRING(10), after: 'id' });
  await qi.changeColumn('things', 'price', { type: DataTypes.DECIMAL(14, 3), allowNull: false, defaultValue: 1, comment: "it's a price" });
  await qi.renameColumn('things', 'name', 'title');
  await qi.addIndex('things', ['title', 'price'], { name: 'by_title', unique: true });
  await qi.addConstraint('things', { type: 'unique', fields: ['early'], name: 'early_once' });
  await qi.addConstraint('things', { type: 'foreign key', fields: ['owner_id'], name: 'second_fk', references: { table: 'owners', field: 'id' } });
  const d = await qi.describeTable('things');
  assert.deepStrictEqual(Object.keys(d), ['id', 'early', 'title', 'price', 'owner_id']);
  assert.strictEqual(d.id.autoIncrement, true);
  assert.strictEqual(d.id.primaryKey, true);
  assert.match(d.id.type, /^BIGINT(\(20\))? UNSIGNED$/);
  assert.deepStrictEqual([d.title.type, d.title.allowNull, d.price.comment], ['VARCHAR(30)', false, "it's a price"]);
  assert.deepStrictEqual([d.price.type, String(d.price.defaultValue)], ['DECIMAL(14,3)', '1.000']);
  const idx = await qi.showIndex('things');
  const mine = idx.find((i) => i.name === 'by_title');
  assert.deepStrictEqual([mine.unique, mine.fields.map((f) => f.attribute)], [true, ['title', 'price']]);
  const fks = await qi.getForeignKeyReferencesForTable('things');
  assert.deepStrictEqual([...new Set(fks.map((f) => `${f.columnName}-${f.referencedTableName}.${f.referencedColumnName}`))], ['owner_id-owners.id']);
  await qi.removeConstraint('things', 'second_fk');
  await qi.removeConstraint('things', 'early_once');
  await qi.removeIndex('things', 'by_title');
  await qi.removeColumn('things', 'early');
  await qi.renameTable('things', 'gadgets');
  await qi.bulkInsert('gadgets', [{ title: 'a', price: 1 }, { title: 'b', price: 2 }]);
  await qi.bulkUpdate('gadgets', { price: 9 }, { title: 'a' });
  await qi.bulkDelete('gadgets', { title: 'b' });
  assert.deepStrictEqual((await sequelize.query('SELECT title, price FROM gadgets', { type: QueryTypes.SELECT })).map((r) => `${r.title} ${r.price}`), ['a 9.000']);
  assert.ok((await qi.showAllTables()).includes('gadgets'));
  assert.strictEqual(await qi.tableExists('gadgets'), true);
  await qi.dropTable('gadgets');
  assert.ok((await qi.databaseVersion()).length > 0);
});

run(
  async () => {
    const sequelize = new Sequelize(config.database, config.user, config.password, { host: config.host, port: config.port, dialect: process.env.SEQUELIZE_DIALECT || 'mysql', logging: process.env.SQL_LOG ? console.log : false, pool: { max: 5 } });
    return { sequelize, ...define(sequelize) };
  },
  ({ sequelize }) => sequelize.close(),
);
