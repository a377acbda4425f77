'use strict';
const mysql = require('mysql2/promise');
const { assert, config, test, run, rejects } = require('./lib');

const types = `CREATE TABLE types (id INT PRIMARY KEY AUTO_INCREMENT, ti TINYINT, su SMALLINT UNSIGNED, mi MEDIUMINT, bi BIGINT, bu BIGINT UNSIGNED,
  dc DECIMAL(20,6), f FLOAT, d DOUBLE, b BIT(9), c CHAR(5), vc VARCHAR(100), tx TEXT, bn BINARY(4), vb VARBINARY(20), bl BLOB,
  da DATE, dt DATETIME(6), ts TIMESTAMP NULL, t TIME(3), y YEAR, e ENUM('x','y','z'), s SET('p','q','r'), j JSON, bo BOOLEAN)`;

test('types by both protocols', async ({ pool }) => {
  await pool.query('DROP TABLE IF EXISTS types');
  await pool.query(types);
  const row = { ti: -128, su: 65535, mi: -8388608, bi: '-9223372036854775808', bu: '18446744073709551615', dc: '12345678901234.123456', f: 1.5, d: -2.25e100,
    b: Buffer.from([1, 3]), c: 'ab', vc: 'žluťoučký 🐎', tx: 'x'.repeat(5000), bn: Buffer.from('ab'), vb: Buffer.from([0, 255, 1]), bl: Buffer.alloc(3000, 7),
    da: '2024-02-29', dt: '2024-02-29 23:59:59.123456', ts: '2024-01-01 00:00:00', t: '-838:59:59.000', y: 2024, e: 'y', s: 'p,r', j: JSON.stringify({ a: [1, 2.5, null, 'x'] }), bo: true };
  const [inserted] = await pool.query('INSERT INTO types SET ?', row);
  assert.strictEqual(inserted.insertId, 1);
  const keys = Object.keys(row);
  await pool.execute(`INSERT INTO types (${keys.join(',')}) VALUES (${keys.map(() => '?').join(',')})`, Object.values(row));
  await pool.execute(`INSERT INTO types (${keys.join(',')}) VALUES (${keys.map(() => '?').join(',')})`, keys.map(() => null));
  for (const how of ['query', 'execute']) {
    const [rows, fields] = await pool[how]({ sql: 'SELECT * FROM types ORDER BY id', dateStrings: true, supportBigNumbers: true, bigNumberStrings: true });
    assert.strictEqual(rows.length, 3);
    assert.strictEqual(fields.length, 25);
    for (const got of rows.slice(0, 2)) {
      assert.strictEqual(got.ti, -128);
      assert.strictEqual(got.su, 65535);
      assert.strictEqual(got.bi, '-9223372036854775808');
      assert.strictEqual(got.bu, '18446744073709551615');
      assert.strictEqual(got.dc, '12345678901234.123456');
      assert.strictEqual(got.f, 1.5);
      assert.strictEqual(got.d, -2.25e100);
      assert.deepStrictEqual(got.b, Buffer.from([1, 3]));
      assert.strictEqual(got.vc, row.vc);
      assert.strictEqual(got.tx, row.tx);
      assert.deepStrictEqual(got.bn, Buffer.from([97, 98, 0, 0]));
      assert.deepStrictEqual(got.vb, row.vb);
      assert.deepStrictEqual(got.bl, row.bl);
      assert.strictEqual(got.da, row.da);
      assert.strictEqual(got.dt, row.dt);
      assert.strictEqual(got.ts, row.ts);
      assert.ok(got.t.startsWith('-838:59:59'), got.t);
      assert.strictEqual(got.y, 2024);
      assert.strictEqual(got.e, 'y');
      assert.strictEqual(got.s, 'p,r');
      assert.deepStrictEqual(typeof got.j === 'string' ? JSON.parse(got.j) : got.j, { a: [1, 2.5, null, 'x'] });
      assert.strictEqual(got.bo, 1);
    }
    assert.strictEqual(rows[2].dt, null);
  }
  const [[dates]] = await pool.execute('SELECT dt, da FROM types WHERE id = ?', [1]);
  assert.ok(dates.dt instanceof Date);
});

test('prepared statements', async ({ pool }) => {
  const [[a]] = await pool.execute('SELECT ? + ? AS sum, ? AS s, ? AS n, ? AS d, ? AS o', [1, 2.5, 'text', null, new Date('2024-01-02T03:04:05Z'), { k: 1 }]);
  assert.strictEqual(a.sum, 3.5);
  assert.strictEqual(a.s, 'text');
  assert.strictEqual(a.n, null);
  await rejects(pool.execute('SELECT * FROM missing_table'), 1146);
  await rejects(pool.execute('SELEC 1'), 1064);
  for (let i = 0; i < 50; i++) {
    const [[r]] = await pool.execute('SELECT ? AS i', [i]);
    assert.equal(r.i, i);
  }
  const [limited] = await pool.execute('SELECT id FROM types ORDER BY id LIMIT ? OFFSET ?', ['2', '1']);
  assert.strictEqual(limited.length, 2);
});

test('placeholders of objects, arrays and identifiers', async ({ pool }) => {
  const [rows] = await pool.query('SELECT ?? FROM ?? WHERE ?? IN (?) ORDER BY 1', [['id', 'vc'], 'types', 'id', [1, 2, 3]]);
  assert.strictEqual(rows.length, 3);
  const [named] = await pool.query({ sql: 'SELECT :a AS a, :b AS b', namedPlaceholders: true, values: { a: 1, b: "it's" } });
  assert.deepStrictEqual({ ...named[0] }, { a: 1, b: "it's" });
  const [arrays] = await pool.query({ sql: 'SELECT 1, 2', rowsAsArray: true });
  assert.deepStrictEqual(arrays, [[1, 2]]);
  const [nested] = await pool.query({ sql: 'SELECT t.id, u.id FROM types t JOIN types u ON u.id = t.id WHERE t.id = 1', nestTables: true });
  assert.deepStrictEqual(JSON.parse(JSON.stringify(nested[0])), { t: { id: 1 }, u: { id: 1 } });
});

test('bulk insert, changed and affected rows', async ({ pool }) => {
  await pool.query('DROP TABLE IF EXISTS bulk');
  await pool.query('CREATE TABLE bulk (id INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL DEFAULT 0)');
  const rows = [];
  for (let i = 0; i < 3000; i++) rows.push([i, `v${i}`, i % 7]);
  const [res] = await pool.query('INSERT INTO bulk (id, v, n) VALUES ?', [rows]);
  assert.strictEqual(res.affectedRows, 3000);
  assert.match(res.info, /Records: 3000 {2}Duplicates: 0 {2}Warnings: 0/);
  const [up] = await pool.query('UPDATE bulk SET n = 1 WHERE id < 14');
  assert.deepStrictEqual([up.affectedRows, up.changedRows], [14, 12]);
  assert.match(up.info, /Rows matched: 14 {2}Changed: 12/);
  const [upsert] = await pool.query('INSERT INTO bulk VALUES (1, "x", 1), (9999, "y", 2) ON DUPLICATE KEY UPDATE v = VALUES(v)');
  assert.strictEqual(upsert.affectedRows, 3);
  await rejects(pool.query('INSERT INTO bulk VALUES (1, "x", 1)'), 1062);
  try {
    await pool.query('INSERT INTO bulk VALUES (1, "x", 1)');
  } catch (e) {
    assert.strictEqual(e.code, 'ER_DUP_ENTRY');
    assert.strictEqual(e.sqlState, '23000');
    assert.match(e.sqlMessage, /Duplicate entry '1' for key/);
  }
});

test('transactions', async ({ pool }) => {
  const conn = await pool.getConnection();
  await conn.beginTransaction();
  await conn.query('DELETE FROM bulk');
  await conn.rollback();
  const [[{ n }]] = await conn.query('SELECT COUNT(*) AS n FROM bulk');
  assert.strictEqual(n, 3001);
  await conn.beginTransaction();
  await conn.query('UPDATE bulk SET v = "t" WHERE id = 5');
  const [[other]] = await pool.query('SELECT v FROM bulk WHERE id = 5');
  assert.strictEqual(other.v, 'v5');
  await conn.commit();
  const [[after]] = await pool.query('SELECT v FROM bulk WHERE id = 5');
  assert.strictEqual(after.v, 't');
  await conn.changeUser({ database: config.database });
  await conn.ping();
  conn.release();
});

test('streams', async ({ raw }) => {
  const conn = raw.createConnection(config);
  let n = 0;
  await new Promise((resolve, reject) => {
    conn.query('SELECT * FROM bulk').stream({ highWaterMark: 5 }).on('data', () => n++).on('end', resolve).on('error', reject);
  });
  assert.strictEqual(n, 3001);
  conn.end();
});

test('several statements and results', async () => {
  const conn = await mysql.createConnection({ ...config, multipleStatements: true });
  const [results] = await conn.query('SELECT 1 AS a; SELECT 2 AS b; DO 1; SELECT 3 AS c');
  assert.strictEqual(results.length, 4);
  assert.strictEqual(results[3][0].c, 3);
  await rejects(conn.query('SELECT 1; SELECT nothing; SELECT 2'), 1054);
  await conn.end();
});

test('load data from the client', async () => {
  const { Readable } = require('stream');
  const conn = await mysql.createConnection(config);
  await conn.query('DROP TABLE IF EXISTS loaded');
  await conn.query('CREATE TABLE loaded (id INT, v VARCHAR(20))');
  const [res] = await conn.query({ sql: "LOAD DATA LOCAL INFILE 'stream' INTO TABLE loaded FIELDS TERMINATED BY ',' (id, v)", infileStreamFactory: () => Readable.from([Buffer.from('1,a\n2,b\n'), Buffer.from('3,c\n')]) });
  assert.strictEqual(res.affectedRows, 3);
  await conn.end();
});

test('options of connections', async () => {
  const c = await mysql.createConnection({ ...config, timezone: 'Z', charset: 'utf8mb4_unicode_ci', flags: ['FOUND_ROWS'], decimalNumbers: true, typeCast: (field, next) => (field.type === 'TINY' && field.length === 1 ? field.string() === '1' : next()) });
  const [[r]] = await c.query('SELECT @@collation_connection AS c, 1.50 AS d, CONVERT_TZ("2024-01-01 12:00:00", "+00:00", "+02:00") AS t');
  assert.strictEqual(r.c, 'utf8mb4_unicode_ci');
  assert.strictEqual(r.d, 1.5);
  const [same] = await c.query('UPDATE bulk SET n = n WHERE id < 10');
  assert.strictEqual(same.affectedRows, 10);
  const [[b]] = await c.query('SELECT bo FROM types WHERE id = 1');
  assert.strictEqual(b.bo, true);
  await c.end();
  await rejects(mysql.createConnection({ ...config, database: 'no_such_database_at_all' }), 1049);
});

run(
  async () => ({ pool: mysql.createPool({ ...config, connectionLimit: 4 }), raw: require('mysql2') }),
  ({ pool }) => pool.end(),
);
