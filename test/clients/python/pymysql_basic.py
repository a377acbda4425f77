"""PyMySQL and mysqlclient (DRIVER=mysqldb) through the DB-API."""
import datetime as dt
import decimal
import importlib
import os
import tempfile

from common import DATABASE, HOST, PASSWORD, PORT, USER, equal, raises, run, skip, test

NAME = {"mysqldb": "MySQLdb"}.get(os.environ.get("DRIVER", "pymysql"), "pymysql")
try:
    driver = importlib.import_module(NAME)
    cursors = importlib.import_module(NAME + ".cursors")
except ImportError as e:
    skip(str(e))


def connect(**options):
    return driver.connect(**dict(dict(host=HOST, port=PORT, user=USER, passwd=PASSWORD, db=DATABASE, charset="utf8mb4"), **options))


@test
def types():
    c = connect()
    cur = c.cursor()
    cur.execute("DROP TABLE IF EXISTS every")
    cur.execute("""CREATE TABLE every (id INT AUTO_INCREMENT PRIMARY KEY, ti TINYINT, bu BIGINT UNSIGNED, dc DECIMAL(20,4), f FLOAT, d DOUBLE, b BIT(9), c CHAR(5), vc VARCHAR(100), tx TEXT, bl BLOB,
        da DATE, dt DATETIME(6), ts TIMESTAMP NULL, t TIME(6), y YEAR, e ENUM('x','y'), s SET('p','q'), j JSON)""")
    row = (-128, 2**64 - 1, decimal.Decimal("1234567890123456.1234"), 1.5, -2.5e100, b"\x01\x03", "ab", "žluť 🐎", "x" * 60000, bytes(range(256)), dt.date(2024, 2, 29),
           dt.datetime(2024, 2, 29, 23, 59, 59, 123456), dt.datetime(2024, 1, 2, 3, 4, 5), dt.timedelta(hours=700, seconds=5), 2024, "y", "p,q", '{"a": [1, null]}')
    sql = "INSERT INTO every (ti, bu, dc, f, d, b, c, vc, tx, bl, da, dt, ts, t, y, e, s, j) VALUES (" + ", ".join(["%s"] * 18) + ")"
    cur.execute(sql, row)
    equal(cur.lastrowid, 1)
    equal(cur.executemany(sql, [row] * 3 + [(None,) * 18]), 4)
    c.commit()
    cur.execute("SELECT * FROM every WHERE id <= %s ORDER BY id", (5,))
    equal(cur.rowcount, 5)
    equal([d[0] for d in cur.description][:3], ["id", "ti", "bu"])
    got = cur.fetchone()
    want = (1,) + row
    if "s" and isinstance(got[17], set):
        want = want[:17] + ({"p", "q"},) + want[18:]
    equal(got[:18], want[:18])
    equal(cur.fetchmany(2)[1][0], 3)
    equal(cur.fetchall()[-1][1:], (None,) * 18)


@test
def cursors_of_all_kinds():
    c = connect()
    cur = c.cursor(cursors.DictCursor)
    cur.execute("SELECT id, vc FROM every WHERE id = %(id)s", {"id": 2})
    equal(cur.fetchone(), {"id": 2, "vc": "žluť 🐎"})
    ss = c.cursor(cursors.SSCursor)
    ss.execute("SELECT a.id FROM every a, every b, every d")
    equal(sum(1 for _ in ss), 125)
    ss.close()
    cur = c.cursor()
    cur.execute("SELECT %s, %s, %s", ("it's", None, b"\x00'\\"))
    equal(cur.fetchone()[:2], ("it's", None))
    cur.execute("SELECT COUNT(*) FROM every WHERE id IN %s", ([1, 2, 3],))
    equal(cur.fetchone(), (3,))
    cur.execute("SELECT '100%'")
    equal(cur.fetchone(), ("100%",))


@test
def errors_and_transactions():
    c, d = connect(), connect(autocommit=True)
    cur = c.cursor()
    for number, sql in [(1062, "INSERT INTO every (id) VALUES (1)"), (1146, "SELECT * FROM nowhere"), (1064, "SELEC"), (1054, "SELECT nothing"), (1264, "INSERT INTO every (ti) VALUES (1000)"), (1406, "INSERT INTO every (c) VALUES ('123456')")]:
        raises(number, cur.execute, sql)
    equal(issubclass(driver.IntegrityError, driver.DatabaseError), True)
    try:
        cur.execute("INSERT INTO every (id) VALUES (1)")
    except driver.IntegrityError:
        pass
    c.rollback()
    c.begin()
    cur.execute("DELETE FROM every WHERE id > 1")
    e = d.cursor()
    e.execute("SELECT COUNT(*) FROM every")
    equal(e.fetchone(), (5,))
    c.rollback()
    cur.execute("SELECT COUNT(*) FROM every")
    equal(cur.fetchone(), (5,))
    c.select_db("information_schema")
    c.select_db(DATABASE)
    c.ping()
    equal(len(c.get_server_info()) > 3, True)
    c.close()


@test
def several_results_and_files():
    c = connect(local_infile=True, client_flag=1 << 16)
    cur = c.cursor()
    cur.execute("SELECT 1; SELECT 2, 3")
    equal(cur.fetchall(), ((1,),))
    equal(bool(cur.nextset()), True)
    equal(cur.fetchall(), ((2, 3),))
    while cur.nextset():
        pass
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
        f.write('100,"a, b"\n101,"c"\n')
        f.flush()
        cur.execute("LOAD DATA LOCAL INFILE '%s' INTO TABLE every FIELDS TERMINATED BY ',' ENCLOSED BY '\"' (id, vc)" % f.name)
    equal(cur.rowcount, 2)
    cur.execute("SELECT vc FROM every WHERE id = 100")
    equal(cur.fetchone(), ("a, b",))
    c.rollback()


run()
