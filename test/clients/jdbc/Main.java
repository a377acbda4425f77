import java.io.*;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.*;
import java.sql.Date;
import java.time.*;
import java.util.*;

/** Tries a server as programs with JDBC do. Driver: MariaDB Connector/J. */
public class Main {
  interface Test {
    void run() throws Exception;
  }

  static String url(String options) {
    String host = env("DB_HOST", "127.0.0.1"), port = env("DB_PORT", "4000"), db = env("DB_NAME", "test");
    return "jdbc:mariadb://" + host + ":" + port + "/" + db + "?user=" + env("DB_USER", "root") + "&password=" + env("DB_PASSWORD", "") + "&" + options;
  }

  static String env(String name, String otherwise) {
    String v = System.getenv(name);
    return v == null ? otherwise : v;
  }

  static Connection open(String options) throws SQLException {
    return DriverManager.getConnection(url(options));
  }

  static void equal(Object got, Object want) {
    if (!Objects.deepEquals(got, want)) throw new AssertionError("got " + got + ", want " + want);
  }

  static void raises(int number, String state, Test t) throws Exception {
    try {
      t.run();
    } catch (SQLException e) {
      equal(e.getErrorCode(), number);
      equal(e.getSQLState(), state);
      return;
    }
    throw new AssertionError("no error, want " + number);
  }

  static void exec(Connection c, String... sql) throws SQLException {
    try (Statement s = c.createStatement()) {
      for (String q : sql) s.execute(q);
    }
  }

  /** The rows of a result: the named columns joined by blanks. */
  static List<String> rows(ResultSet r, String... columns) throws SQLException {
    List<String> out = new ArrayList<>();
    while (r.next()) {
      StringJoiner j = new StringJoiner(" ");
      for (String c : columns) j.add(String.valueOf(r.getObject(c)));
      out.add(j.toString());
    }
    r.close();
    return out;
  }

  static final String EVERY =
      "CREATE TABLE every (id INT AUTO_INCREMENT PRIMARY KEY, ti TINYINT, su SMALLINT UNSIGNED, i INT, bi BIGINT, bu BIGINT UNSIGNED, dc DECIMAL(20,4), f FLOAT, d DOUBLE, b BIT(9), b1 BIT(1), bo BOOLEAN,"
          + " c CHAR(5), vc VARCHAR(100), tx TEXT, vb VARBINARY(20), bl BLOB, da DATE, dt DATETIME(6), ts TIMESTAMP NULL, t TIME, y YEAR, e ENUM('x','y'), s SET('p','q'), j JSON)";

  static void types(String options) throws Exception {
    try (Connection c = open(options)) {
      exec(c, "DROP TABLE IF EXISTS every", EVERY);
      String insert = "INSERT INTO every (ti, su, i, bi, bu, dc, f, d, b, b1, bo, c, vc, tx, vb, bl, da, dt, ts, t, y, e, s, j) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
      byte[] bytes = {0, 1, (byte) 255, '\'', '\\'};
      LocalDateTime moment = LocalDateTime.of(2024, 2, 29, 23, 59, 59, 123456000);
      try (PreparedStatement p = c.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
        for (int n = 0; n < 2; n++) {
          Object[] v = {(byte) -128, 65535, Integer.MIN_VALUE, Long.MIN_VALUE, new BigDecimal("18446744073709551615"), new BigDecimal("1234567890123456.1234"), 1.5f, -2.5e100, new byte[] {1, 3}, true, false,
            "ab", "žluť 🐎", "x".repeat(60000), bytes, bytes, Date.valueOf("2024-02-29"), moment, Timestamp.valueOf("2024-01-02 03:04:05"), Time.valueOf("12:34:56"), 2024, "y", "p,q", "{\"a\": [1, null]}"};
          for (int i = 0; i < v.length; i++) p.setObject(i + 1, v[i]);
          equal(p.executeUpdate(), 1);
          ResultSet keys = p.getGeneratedKeys();
          keys.next();
          equal(keys.getLong(1), (long) n + 1);
        }
        for (int i = 1; i <= 24; i++) p.setNull(i, Types.VARCHAR);
        p.executeUpdate();
      }
      try (PreparedStatement p = c.prepareStatement("SELECT * FROM every WHERE id <= ? ORDER BY id")) {
        p.setInt(1, 3);
        ResultSet r = p.executeQuery();
        r.next();
        equal(r.getByte("ti"), (byte) -128);
        equal(r.getInt("su"), 65535);
        equal(r.getInt("i"), Integer.MIN_VALUE);
        equal(r.getLong("bi"), Long.MIN_VALUE);
        equal(r.getObject("bu").toString(), "18446744073709551615");
        equal(r.getBigDecimal("dc"), new BigDecimal("1234567890123456.1234"));
        equal(r.getFloat("f"), 1.5f);
        equal(r.getDouble("d"), -2.5e100);
        equal(r.getBytes("b"), new byte[] {1, 3});
        equal(r.getBoolean("b1"), true);
        equal(r.getObject("bo"), false);
        equal(r.getString("vc"), "žluť 🐎");
        equal(r.getString("tx").length(), 60000);
        equal(r.getBytes("vb"), bytes);
        equal(r.getBlob("bl").getBytes(1, 5), bytes);
        equal(r.getDate("da"), Date.valueOf("2024-02-29"));
        equal(r.getTimestamp("dt").toLocalDateTime(), moment);
        equal(r.getObject("dt", LocalDateTime.class), moment);
        equal(r.getTimestamp("ts"), Timestamp.valueOf("2024-01-02 03:04:05"));
        equal(r.getTime("t"), Time.valueOf("12:34:56"));
        equal(r.getShort("y"), (short) 2024);
        equal(r.getString("e") + r.getString("s"), "yp,q");
        equal(r.getString("j"), "{\"a\": [1, null]}");
        r.next();
        r.next();
        r.getInt("i");
        equal(r.wasNull(), true);
        ResultSetMetaData m = r.getMetaData();
        equal(m.getColumnCount(), 25);
        equal(m.isAutoIncrement(1), true);
        equal(m.isNullable(1), ResultSetMetaData.columnNoNulls);
        equal(m.isSigned(3), false);
        equal(m.getPrecision(7) + " " + m.getScale(7), "20 4");
        equal(m.getColumnDisplaySize(14), 100);
        equal(m.getColumnTypeName(5), "BIGINT");
        equal(m.getTableName(1) + m.getCatalogName(1), "every" + env("DB_NAME", "test"));
      }
    }
  }

  static void batch(String options) throws Exception {
    try (Connection c = open(options)) {
      exec(c, "DROP TABLE IF EXISTS bat", "CREATE TABLE bat (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20) UNIQUE, n INT)");
      c.setAutoCommit(false);
      try (PreparedStatement p = c.prepareStatement("INSERT INTO bat (v, n) VALUES (?, ?)", Statement.RETURN_GENERATED_KEYS)) {
        for (int i = 0; i < 1000; i++) {
          p.setString(1, "v" + i);
          p.setInt(2, i);
          p.addBatch();
        }
        equal(p.executeBatch().length, 1000);
        ResultSet k = p.getGeneratedKeys();
        k.next();
        equal(k.getInt(1), 1);
      }
      c.commit();
      try (PreparedStatement p = c.prepareStatement("UPDATE bat SET n = n + ? WHERE id = ?")) {
        for (int i = 1; i <= 100; i++) {
          p.setInt(1, i);
          p.setInt(2, i);
          p.addBatch();
        }
        p.executeBatch();
      }
      c.rollback();
      try (Statement s = c.createStatement()) {
        s.addBatch("INSERT INTO bat (v, n) VALUES ('x', 1)");
        s.addBatch("DELETE FROM bat WHERE v = 'x'");
        equal(s.executeBatch(), new int[] {1, 1});
        ResultSet r = s.executeQuery("SELECT COUNT(*), SUM(n) FROM bat");
        r.next();
        equal(r.getInt(1) + " " + r.getInt(2), "1000 499500");
      }
      try (PreparedStatement p = c.prepareStatement("INSERT INTO bat (v, n) VALUES (?, 0)")) {
        for (String v : new String[] {"new1", "v5", "new2"}) {
          p.setString(1, v);
          p.addBatch();
        }
        try {
          p.executeBatch();
          throw new AssertionError("no error");
        } catch (BatchUpdateException e) {
          equal(e.getErrorCode(), 1062);
        }
      }
      c.rollback();
    }
  }

  static void streaming() throws Exception {
    try (Connection c = open("")) {
      try (Statement s = c.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
        s.setFetchSize(10);
        ResultSet r = s.executeQuery("SELECT a.id, b.v FROM bat a JOIN bat b ON b.id <= 20");
        int n = 0;
        while (r.next()) n++;
        equal(n, 20000);
      }
      try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
        ResultSet r = s.executeQuery("SELECT id FROM bat ORDER BY id");
        r.absolute(500);
        equal(r.getInt(1), 500);
        r.last();
        equal(r.getRow(), 1000);
        r.previous();
        equal(r.getInt(1), 999);
        s.setMaxRows(7);
        r = s.executeQuery("SELECT id FROM bat");
        int n = 0;
        while (r.next()) n++;
        equal(n, 7);
      }
      try (Statement s = c.createStatement()) {
        s.setQueryTimeout(1);
        long began = System.nanoTime();
        try {
          s.executeQuery("SELECT SLEEP(20)").next();
        } catch (SQLException e) {
          // MariaDB's statement timer and MySQL's answer differently; both stop.
        }
        equal(System.nanoTime() - began < 10_000_000_000L, true);
      }
    }
  }

  static void transactions() throws Exception {
    try (Connection c = open(""); Connection d = open("")) {
      c.setAutoCommit(false);
      c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      equal(c.getTransactionIsolation(), Connection.TRANSACTION_READ_COMMITTED);
      exec(c, "UPDATE bat SET n = -1 WHERE id = 1");
      Savepoint sp = c.setSavepoint("sp");
      exec(c, "UPDATE bat SET n = -1 WHERE id = 2");
      c.rollback(sp);
      c.commit();
      try (Statement s = d.createStatement()) {
        equal(rows(s.executeQuery("SELECT n FROM bat WHERE id IN (1, 2) ORDER BY id"), "n"), List.of("-1", "1"));
      }
      exec(c, "SELECT * FROM bat WHERE id = 3 FOR UPDATE");
      exec(d, "SET innodb_lock_wait_timeout = 1");
      raises(1205, "HY000", () -> exec(d, "UPDATE bat SET n = 9 WHERE id = 3"));
      c.rollback();
      exec(c, "START TRANSACTION READ ONLY");
      raises(1792, "25006", () -> exec(c, "UPDATE bat SET n = 9 WHERE id = 3"));
      c.rollback();
      raises(1062, "23000", () -> exec(c, "INSERT INTO bat (v) VALUES ('v1')"));
      raises(1146, "42S02", () -> exec(c, "SELECT * FROM nowhere"));
      raises(1064, "42000", () -> exec(c, "SELEC"));
      equal(c.isValid(2), true);
      c.setCatalog("information_schema");
      equal(c.getCatalog(), "information_schema");
      equal(c.nativeSQL("SELECT {fn NOW()}"), "SELECT NOW()");
    }
  }

  static void metadata() throws Exception {
    try (Connection c = open("")) {
      String db = c.getCatalog();
      exec(c, "DROP VIEW IF EXISTS young", "DROP TABLE IF EXISTS child", "DROP TABLE IF EXISTS parent",
          "CREATE TABLE parent (a INT NOT NULL, b VARCHAR(20) NOT NULL, extra DECIMAL(9,2) DEFAULT 1.50 COMMENT 'it''s', g INT AS (a + 1) STORED, PRIMARY KEY (a, b), UNIQUE KEY one (extra), KEY both_ (b, a DESC)) COMMENT 'parents'",
          "CREATE TABLE child (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, pa INT, pb VARCHAR(20), made TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3), CONSTRAINT of_parent FOREIGN KEY (pa, pb) REFERENCES parent (a, b) ON DELETE CASCADE ON UPDATE SET NULL)",
          "CREATE VIEW young AS SELECT a, b FROM parent");
      DatabaseMetaData m = c.getMetaData();
      equal(m.getDatabaseMajorVersion() >= 8, true);
      equal(m.supportsTransactions(), true);
      equal(m.getIdentifierQuoteString(), "`");
      equal(rows(m.getTables(db, null, "%", new String[] {"TABLE", "VIEW"}), "TABLE_NAME", "TABLE_TYPE"), List.of("bat TABLE", "child TABLE", "every TABLE", "parent TABLE", "young VIEW").stream().map(x -> x.replace("TABLE", rowsType(m, db))).toList());
      equal(rows(m.getColumns(db, null, "parent", null), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "NULLABLE", "REMARKS", "ORDINAL_POSITION", "IS_AUTOINCREMENT"),
          List.of("a 4 INT 10 0 0  1 NO", "b 12 VARCHAR 20 null 0  2 NO", "extra 3 DECIMAL 9 2 1 it's 3 NO", "g 4 INT 10 0 1  4 NO"));
      equal(rows(m.getColumns(db, null, "child", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "IS_AUTOINCREMENT").get(0), "id BIGINT UNSIGNED 20 YES");
      equal(rows(m.getPrimaryKeys(db, null, "parent"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"), List.of("a 1 PRIMARY", "b 2 PRIMARY"));
      List<String> ix = rows(m.getIndexInfo(db, null, "parent", false, true), "INDEX_NAME", "COLUMN_NAME", "NON_UNIQUE", "ORDINAL_POSITION");
      Collections.sort(ix);
      equal(ix.toString().replaceAll("true", "1").replaceAll("false", "0"), "[PRIMARY a 0 1, PRIMARY b 0 2, both_ a 1 2, both_ b 1 1, one extra 0 1]");
      String key = "[pa parent a 1 0 2 of_parent, pb parent b 2 0 2 of_parent]";
      equal(rows(m.getImportedKeys(db, null, "child"), "FKCOLUMN_NAME", "PKTABLE_NAME", "PKCOLUMN_NAME", "KEY_SEQ", "DELETE_RULE", "UPDATE_RULE", "FK_NAME").toString(), key);
      equal(rows(m.getExportedKeys(db, null, "parent"), "FKCOLUMN_NAME", "PKTABLE_NAME", "PKCOLUMN_NAME", "KEY_SEQ", "DELETE_RULE", "UPDATE_RULE", "FK_NAME").toString(), key);
      equal(rows(m.getCrossReference(db, null, "parent", db, null, "child"), "FK_NAME").size(), 2);
      equal(rows(m.getBestRowIdentifier(db, null, "parent", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"), List.of("a", "b"));
      equal(rows(m.getCatalogs(), "TABLE_CAT").contains(db), true);
      equal(rows(m.getTableTypes(), "TABLE_TYPE").size() > 1, true);
      equal(rows(m.getTypeInfo(), "TYPE_NAME").contains("BIGINT"), true);
      equal(rows(m.getProcedures(db, null, "%"), "PROCEDURE_NAME"), List.of());
      equal(rows(m.getFunctions(db, null, "%"), "FUNCTION_NAME"), List.of());
      rows(m.getTablePrivileges(db, null, "parent"), "PRIVILEGE");
      rows(m.getColumnPrivileges(db, null, "parent", "%"), "PRIVILEGE");
      rows(m.getVersionColumns(db, null, "parent"), "COLUMN_NAME");
      rows(m.getClientInfoProperties(), "NAME");
      equal(m.getSQLKeywords().isEmpty() || m.getNumericFunctions().isEmpty(), false);
      try (PreparedStatement p = c.prepareStatement("SELECT a, b AS bb FROM parent WHERE a = ? AND b LIKE ?")) {
        equal(p.getMetaData().getColumnLabel(2), "bb");
        equal(p.getParameterMetaData().getParameterCount(), 2);
      }
    }
  }

  /** The name that this driver gives base tables; it changed between versions. */
  static String rowsType(DatabaseMetaData m, String db) {
    try {
      return rows(m.getTables(db, null, "parent", null), "TABLE_TYPE").get(0);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  static void updatable() throws Exception {
    try (Connection c = open(""); Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE)) {
      ResultSet r = s.executeQuery("SELECT id, v, n FROM bat WHERE id BETWEEN 10 AND 12 ORDER BY id");
      r.next();
      r.updateInt("n", 777);
      r.updateRow();
      r.next();
      r.deleteRow();
      r.moveToInsertRow();
      r.updateString("v", "inserted");
      r.updateInt("n", 5);
      r.insertRow();
      ResultSet q = c.createStatement().executeQuery("SELECT n FROM bat WHERE id IN (10, 11) OR v = 'inserted' ORDER BY id");
      equal(rows(q, "n"), List.of("777", "5"));
    }
  }

  static void large() throws Exception {
    try (Connection c = open("")) {
      exec(c, "DROP TABLE IF EXISTS big", "CREATE TABLE big (id INT PRIMARY KEY, b LONGBLOB, t LONGTEXT)");
      byte[] b = new byte[3_000_000];
      new Random(1).nextBytes(b);
      try (PreparedStatement p = c.prepareStatement("INSERT INTO big VALUES (1, ?, ?)")) {
        p.setBinaryStream(1, new ByteArrayInputStream(b));
        p.setCharacterStream(2, new StringReader("ü".repeat(500_000)));
        p.executeUpdate();
      }
      try (Statement s = c.createStatement()) {
        ResultSet r = s.executeQuery("SELECT b, t FROM big");
        r.next();
        equal(r.getBinaryStream(1).readAllBytes(), b);
        equal(r.getClob(2).length(), 500_000L);
      }
      try (Statement s = c.createStatement()) {
        equal(s.executeUpdate("UPDATE big SET t = 'x'"), 1);
        equal(s.execute("SELECT 1"), true);
      }
    }
  }

  static void several() throws Exception {
    try (Connection c = open("allowMultiQueries=true"); Statement s = c.createStatement()) {
      equal(s.execute("SELECT 1; UPDATE bat SET n = 1 WHERE id = 1; SELECT 3"), true);
      s.getResultSet();
      equal(s.getMoreResults(), false);
      equal(s.getUpdateCount(), 1);
      equal(s.getMoreResults(), true);
      ResultSet r = s.getResultSet();
      r.next();
      equal(r.getInt(1), 3);
    }
    try (Connection c = open("allowLocalInfile=true"); Statement s = c.createStatement()) {
      File f = File.createTempFile("jdbc", ".tsv");
      try (Writer w = new FileWriter(f, StandardCharsets.UTF_8)) {
        w.write("90001\tl1\t1\n90002\tl2\t\\N\n");
      }
      equal(s.executeUpdate("LOAD DATA LOCAL INFILE '" + f.getPath() + "' INTO TABLE bat"), 2);
      f.delete();
      s.execute("SET sql_mode = ''");
      s.execute("INSERT INTO bat (v, n) VALUES ('w', 'abc')");
      equal(s.getWarnings().getErrorCode(), 1366);
    }
  }

  public static void main(String[] args) throws Exception {
    Map<String, Test> tests = new LinkedHashMap<>();
    tests.put("types, text", () -> types(""));
    tests.put("types, binary", () -> types("useServerPrepStmts=true"));
    tests.put("batch", () -> batch(""));
    tests.put("batch, rewritten", () -> batch("rewriteBatchedStatements=true"));
    tests.put("batch, binary", () -> batch("useServerPrepStmts=true"));
    tests.put("streaming", Main::streaming);
    tests.put("transactions", Main::transactions);
    tests.put("metadata", Main::metadata);
    tests.put("updatable results", Main::updatable);
    tests.put("large values", Main::large);
    tests.put("several statements", Main::several);
    int failed = 0;
    for (Map.Entry<String, Test> t : tests.entrySet()) {
      try {
        t.getValue().run();
      } catch (Throwable e) {
        failed++;
        System.out.println("FAIL " + t.getKey() + ": " + e);
        for (StackTraceElement f : e.getStackTrace()) if (f.getClassName().equals("Main")) System.out.println("    " + f);
      }
    }
    System.out.println(tests.size() - failed + " of " + tests.size() + " passed");
    System.exit(failed > 0 ? 1 : 0);
  }
}
