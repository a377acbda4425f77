package infoschema

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// fake is a server and a session, of root unless as has changed that.
type fake struct {
	t       testing.TB
	cat     *catalog.Catalog
	p       *Provider
	pool    *parser.Pool
	name    priv.Name
	roles   []priv.Name
	id      uint64
	metrics *metrics.Server
}

// as makes f a session of another account.
func (f *fake) as(user string, id uint64, roles ...priv.Name) *fake {
	g := *f
	g.name, g.roles, g.id = priv.Name{User: user, Host: "%"}, roles, id
	return &g
}

var started = time.Unix(1700000000, 0).UTC()

func (*fake) Streams(context.Context) ([]stream.Info, error)                 { return nil, nil }
func (*fake) StreamConsumers(context.Context) ([]stream.ConsumerInfo, error) { return nil, nil }
func (f *fake) Catalog() *catalog.Snapshot                                   { return f.cat.Snapshot() }
func (f *fake) Processes() []Process {
	return []Process{{ID: 7, User: "root", Host: "127.0.0.1:5", Command: "Query", State: "executing", Info: strings.Repeat("x", 120), Since: time.Now()}}
}
func (f *fake) GlobalVariables() []Variable { return []Variable{{"port", "4000"}, {"version", "8"}} }
func (f *fake) VariablesInfo() []VariableInfo {
	return []VariableInfo{{Name: "port", Source: "COMPILED"}}
}
func (f *fake) GlobalStatus() []Variable {
	return []Variable{{"Performance_schema_accounts_lost", "0"}, {"Performance_schema_digest_lost", "3"}, {"Uptime", "5"}}
}
func (f *fake) Started() time.Time                                                   { return started }
func (f *fake) TableRows(context.Context, *schema.Table) float64                     { return 3 }
func (f *fake) TableSize(context.Context, *schema.Table) (int64, int64)              { return 300, 30 }
func (f *fake) PartitionSize(context.Context, *schema.Table, int64) (float64, int64) { return 3, 300 }
func (f *fake) NextAutoIncrement(t *schema.Table) uint64                             { return 42 }
func (f *fake) Jobs() []Job                                                          { return nil }
func (f *fake) IndexBuilds() []IndexBuild                                            { return nil }
func (f *fake) Expiries() []Expiry                                                   { return nil }
func (f *fake) SearchIndexes() []SearchIndex                                         { return nil }

func (f *fake) SearchRejected(context.Context, func(db, table, index string) bool, func(*SearchRejected) error) error {
	return nil
}
func (f *fake) SlowLog() []SlowStatement    { return nil }
func (f *fake) GeneralLog() []LoggedCommand { return nil }
func (f *fake) Backups() []Backup           { return nil }

func (f *fake) Loads() ([]Load, error) { return nil, nil }

func (f *fake) KeyRanges(context.Context, *schema.Table, *schema.Index) ([]KeyRange, error) {
	return nil, nil
}

func (f *fake) KeyHeat(context.Context, *schema.Table) ([]string, []HeatMinute, error) {
	return nil, nil, nil
}

func (f *fake) RowLocks() []LockedKey { return nil }

func (f *fake) LastDeadlock() *Deadlock { return nil }

func (f *fake) Metrics() *metrics.Server { return f.metrics }
func (f *fake) HideSecrets(text string, mode uint32) string {
	return parser.HideSecrets(text, types.SQLMode(mode))
}
func (f *fake) MetadataLocks() []MetadataLock           { return nil }
func (f *fake) PreparedStatements() []PreparedStatement { return nil }
func (f *fake) MemoryParts() []MemoryPart               { return nil }
func (f *fake) LogLines() []LogLine                     { return nil }

func (f *fake) Transactions() []Transaction {
	return []Transaction{{ID: 1, State: "RUNNING", Started: started}}
}
func (f *fake) Distinct(context.Context, *schema.Table, []schema.ColumnID) float64 {
	return 2
}
func (f *fake) ConnectionID() uint64      { return f.id }
func (f *fake) Database() string          { return "d" }
func (f *fake) Account() (string, string) { return f.name.User, f.name.Host }
func (f *fake) ClientHost() string        { return "localhost" }

func (f *fake) Privileges() *priv.Set {
	return f.cat.Snapshot().Privileges().Set(f.name, f.roles)
}

// DescribeView implements ViewDescriber.
func (f *fake) DescribeView(v *schema.View) ([]schema.Column, bool, error) {
	cols, updatable, _, err := bind.DescribeView(&bind.Env{Catalog: f.cat.Snapshot(), Virtual: f.p.For(f), Parser: f.pool, Database: "d", Mode: types.DefaultSQLMode}, v)
	return cols, updatable, err
}

func (f *fake) Variables() []Variable           { return []Variable{{"sql_mode", ""}} }
func (f *fake) Status() map[string]string       { return map[string]string{"Uptime": "5"} }
func (f *fake) NameQuotes() (ansi, always bool) { return false, true }
func (f *fake) Location() *time.Location        { return time.UTC }
func (f *fake) Warnings() []sqlerr.Warning {
	return []sqlerr.Warning{{Level: sqlerr.LevelNote, Err: sqlerr.UnknownTable("d.x")}, {Level: sqlerr.LevelError, Err: sqlerr.UnknownDatabase("y")}}
}

func newFake(t testing.TB, ddl ...string) *fake {
	t.Helper()
	cat, err := catalog.Open(context.Background(), memkv.New(memkv.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, cat: cat, pool: parser.NewPool(), name: priv.Name{User: "root", Host: "%"}, id: 7, metrics: metrics.NewServer(metrics.Config{})}
	f.p = New(f)
	f.change(func(ch *catalog.Change) {
		ch.PutDatabase(schema.Database{Name: "d", Collation: schema.CollationUTF8MB40900AICI})
	})
	f.create(ddl...)
	return f
}

// create makes tables.
func (f *fake) create(ddl ...string) {
	f.t.Helper()
	for _, sql := range ddl {
		c, ok := f.bind(sql).(*logical.CreateTable)
		if !ok {
			f.t.Fatalf("%s is no CREATE TABLE", sql)
		}
		f.change(func(ch *catalog.Change) {
			c.Table.ID, c.Table.CreatedUnix = ch.NextTableID(), started.Unix()
			for _, k := range c.ForeignKeys {
				x := schema.ForeignKey{Name: k.Name, Database: k.Table.DB, Table: k.Table.Name, References: k.References}
				for _, name := range k.Columns {
					x.Columns = append(x.Columns, c.Table.Columns[c.Table.ColumnByName(name)].ID)
				}
				c.Table.ForeignKeys = append(c.Table.ForeignKeys, x)
			}
			ch.PutTable(c.Table)
		})
	}
}

func (f *fake) change(fn func(ch *catalog.Change)) {
	f.t.Helper()
	err := f.cat.Change(context.Background(), func(ch *catalog.Change) error { fn(ch); return nil })
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) bind(sql string) logical.Statement {
	f.t.Helper()
	out, err := f.tryBind(sql)
	if err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (f *fake) tryBind(sql string) (logical.Statement, error) {
	f.t.Helper()
	st, err := f.pool.Parse(sql, types.DefaultSQLMode)
	if err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return bind.Bind(&bind.Env{Catalog: f.cat.Snapshot(), Virtual: f.p.For(f), Parser: f.pool, Database: "d", Mode: types.DefaultSQLMode}, st)
}

// read is the virtual table below a query: its columns and its rows as text.
func (f *fake) read(sql string) (names []string, rows []string) {
	f.t.Helper()
	names, rows, err := f.tryRead(sql)
	if err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return names, rows
}

func (f *fake) tryRead(sql string) (names []string, rows []string, err error) {
	f.t.Helper()
	bound, err := f.tryBind(sql)
	if err != nil {
		return nil, nil, err
	}
	q, ok := bound.(*logical.Query)
	if !ok {
		f.t.Fatalf("%s is no query", sql)
	}
	for _, c := range q.Root.Columns() {
		names = append(names, c.Name)
	}
	n := q.Root
	for len(n.Inputs()) > 0 {
		n = n.Inputs()[0]
	}
	v, ok := n.(*logical.Virtual)
	if !ok {
		f.t.Fatalf("%s reads %T", sql, n)
	}
	rows, err = f.rows(v.Key, v.Cols)
	return names, rows, err
}

func (f *fake) rows(key any, cols []logical.Column) (out []string, err error) {
	err = f.p.Rows(context.Background(), f, key, nil, func(row []value.Datum) error {
		text, err := rowText(cols, row)
		out = append(out, text)
		return err
	})
	return out, err
}

// rowText is a row as text; an error if it does not fit the columns.
func rowText(cols []logical.Column, row []value.Datum) (string, error) {
	if len(row) != len(cols) {
		return "", fmt.Errorf("%d values for %d columns: %v", len(row), len(cols), row)
	}
	var text []string
	for i, d := range row {
		if d.IsNull() {
			if !cols[i].Null {
				return "", fmt.Errorf("NULL in column %s", cols[i].Name)
			}
			text = append(text, "NULL")
			continue
		}
		want := types.KindOf(cols[i].T)
		got := d.Kind()
		if got != want && !(got == value.KindInt && want == value.KindUint) && !(got == value.KindUint && want == value.KindInt) {
			return "", fmt.Errorf("column %s has a value of kind %v, want %v", cols[i].Name, got, want)
		}
		switch got {
		case value.KindInt:
			text = append(text, fmt.Sprint(d.Int()))
		default:
			text = append(text, string(types.AppendText(nil, cols[i].T, d)))
		}
	}
	return strings.Join(text, "|"), nil
}

const everything = `CREATE TABLE t (
	id INT UNSIGNED NOT NULL AUTO_INCREMENT,
	v VARCHAR(20) NOT NULL DEFAULT 'it''s',
	l VARCHAR(5) CHARACTER SET latin1 DEFAULT NULL COMMENT 'a\\b',
	g VARCHAR(5) COLLATE utf8mb4_general_ci,
	bi BIGINT UNSIGNED ZEROFILL,
	bo BOOL DEFAULT TRUE,
	de DECIMAL(10,2) NOT NULL DEFAULT 1.5,
	fl FLOAT, db DOUBLE(8,3),
	bt BIT(8) DEFAULT b'101',
	y YEAR, d DATE, dt DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),
	ts TIMESTAMP NULL, ts2 TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
	ti TIME(6), tx TEXT, lb LONGBLOB, bn BINARY(4) DEFAULT 0x61, e ENUM('a','b''c') DEFAULT 'a', s SET('x','y'), j JSON,
	u CHAR(36) DEFAULT (uuid()),
	PRIMARY KEY (id), KEY k (v(10), d DESC) COMMENT 'c', UNIQUE KEY uk (l), UNIQUE KEY un (v), KEY inv (bi) INVISIBLE
) COMMENT 'the table'`

const wantCreate = "CREATE TABLE `t` (\n" +
	"  `id` int unsigned NOT NULL AUTO_INCREMENT,\n" +
	"  `v` varchar(20) NOT NULL DEFAULT 'it''s',\n" +
	"  `l` varchar(5) CHARACTER SET latin1 DEFAULT NULL COMMENT 'a\\\\b',\n" +
	"  `g` varchar(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci DEFAULT NULL,\n" +
	"  `bi` bigint(20) unsigned zerofill DEFAULT NULL,\n" +
	"  `bo` tinyint(1) DEFAULT '1',\n" +
	"  `de` decimal(10,2) NOT NULL DEFAULT '1.50',\n" +
	"  `fl` float DEFAULT NULL,\n" +
	"  `db` double(8,3) DEFAULT NULL,\n" +
	"  `bt` bit(8) DEFAULT b'101',\n" +
	"  `y` year DEFAULT NULL,\n" +
	"  `d` date DEFAULT NULL,\n" +
	"  `dt` datetime(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),\n" +
	"  `ts` timestamp NULL DEFAULT NULL,\n" +
	"  `ts2` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,\n" +
	"  `ti` time(6) DEFAULT NULL,\n" +
	"  `tx` text,\n" +
	"  `lb` longblob,\n" +
	"  `bn` binary(4) DEFAULT 'a\\0\\0\\0',\n" +
	"  `e` enum('a','b''c') DEFAULT 'a',\n" +
	"  `s` set('x','y') DEFAULT NULL,\n" +
	"  `j` json DEFAULT NULL,\n" +
	"  `u` char(36) DEFAULT (uuid()),\n" +
	"  PRIMARY KEY (`id`),\n" +
	"  UNIQUE KEY `un` (`v`),\n" +
	"  UNIQUE KEY `uk` (`l`),\n" +
	"  KEY `k` (`v`(10),`d` DESC) COMMENT 'c',\n" +
	"  KEY `inv` (`bi`) /*!80000 INVISIBLE */\n" +
	") ENGINE=InnoDB AUTO_INCREMENT=42 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='the table'"

func TestShowCreateTable(t *testing.T) {
	f := newFake(t, everything)
	names, rows := f.read("SHOW CREATE TABLE t")
	if !slices.Equal(names, []string{"Table", "Create Table"}) || len(rows) != 1 {
		t.Fatalf("%v %v", names, rows)
	}
	if want := "t|" + wantCreate; rows[0] != want {
		t.Errorf("got\n%s\nwant\n%s", rows[0], want)
	}
	// The text makes the same table again.
	again, ok := f.bind(strings.Replace(wantCreate, "`t`", "`t2`", 1)).(*logical.CreateTable)
	if !ok {
		t.Fatal("no CREATE TABLE")
	}
	again.Table.Name = "t"
	if got := createTable(again.Table, 42); got != wantCreate {
		t.Errorf("the second time\n%s", got)
	}
}

func TestExtensionsRoundTrip(t *testing.T) {
	f := newFake(t, "CREATE TABLE t (a INT, b TEXT, `c``*/d` INT, KEY k (a) INCLUDE (b, `c``*/d`)) ENGINE=MyISAM CHARSET=latin1 COLLATE=latin1_bin")
	tab, _ := f.cat.Snapshot().Table("d", "t")
	text := CreateTable(tab)
	want := "CREATE TABLE `t` (\n  `a` int DEFAULT NULL,\n  `b` text COLLATE latin1_bin,\n  `c``*/d` int DEFAULT NULL,\n" +
		"  KEY `k` (`a`) /*!99999 sqlots SECONDARY_ENGINE_ATTRIBUTE='{\"include\":[\"b\",\"c`*\\\\/d\"]}' */\n) ENGINE=MyISAM DEFAULT CHARSET=latin1 COLLATE=latin1_bin"
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	again, ok := f.bind(strings.Replace(text, "`t`", "t2", 1)).(*logical.CreateTable)
	if !ok {
		t.Fatal("no CREATE TABLE")
	}
	again.Table.Name = "t"
	if got := CreateTable(again.Table); got != want {
		t.Errorf("the second time\n%s", got)
	}
}

func TestShow(t *testing.T) {
	f := newFake(t, "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(10) NOT NULL UNIQUE, b INT, KEY ab (b, a DESC))", "CREATE TABLE u (x INT NOT NULL, y INT, UNIQUE KEY (x))")
	for _, c := range []struct{ sql, names, rows string }{
		{"SHOW TABLES", "Tables_in_d", "t;u"},
		{"SHOW FULL TABLES", "Tables_in_d,Table_type", "t|BASE TABLE;u|BASE TABLE"},
		{"SHOW COLUMNS FROM t", "Field,Type,Null,Key,Default,Extra", "id|int|NO|PRI|NULL|auto_increment;a|varchar(10)|NO|UNI|NULL|;b|int|YES|MUL|NULL|"},
		{"DESCRIBE u", "Field,Type,Null,Key,Default,Extra", "x|int|NO|PRI|NULL|;y|int|YES||NULL|"},
		{"SHOW FULL COLUMNS FROM u", "Field,Type,Collation,Null,Key,Default,Extra,Privileges,Comment",
			"x|int|NULL|NO|PRI|NULL||select,insert,update,references|;y|int|NULL|YES||NULL||select,insert,update,references|"},
		{"SHOW INDEX FROM t", "Table,Non_unique,Key_name,Seq_in_index,Column_name,Collation,Cardinality,Sub_part,Packed,Null,Index_type,Comment,Index_comment,Visible,Expression",
			"t|0|PRIMARY|1|id|A|3|NULL|NULL||BTREE|||YES|NULL;t|0|a|1|a|A|3|NULL|NULL||BTREE|||YES|NULL;" +
				"t|1|ab|1|b|A|2|NULL|NULL|YES|BTREE|||YES|NULL;t|1|ab|2|a|D|2|NULL|NULL||BTREE|||YES|NULL"},
		{"SHOW CREATE DATABASE IF NOT EXISTS d", "Database,Create Database",
			"d|CREATE DATABASE /*!32312 IF NOT EXISTS*/ `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */"},
		{"SHOW GLOBAL VARIABLES", "Variable_name,Value", "port|4000;version|8"},
		{"SHOW VARIABLES", "Variable_name,Value", "sql_mode|"},
		{"SHOW WARNINGS", "Level,Code,Message", "Note|1051|Unknown table 'd.x';Error|1049|Unknown database 'y'"},
		{"SHOW ERRORS", "Level,Code,Message", "Error|1049|Unknown database 'y'"},
		{"SHOW COUNT(*) WARNINGS", "@@session.warning_count", "2"},
		{"SHOW CREATE USER root", "CREATE USER for root@%", "CREATE USER `root`@`%` IDENTIFIED WITH 'caching_sha2_password' REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"},
		{"SHOW PROCESSLIST", "Id,User,Host,db,Command,Time,State,Info", "7|root|127.0.0.1:5|NULL|Query|0|executing|" + strings.Repeat("x", 100)},
		{"SHOW TABLE STATUS LIKE 't'", "Name,Engine,Version,Row_format,Rows,Avg_row_length,Data_length,Max_data_length,Index_length,Data_free,Auto_increment,Create_time,Update_time,Check_time,Collation,Checksum,Create_options,Comment",
			"t|InnoDB|10|Dynamic|3|100|300|0|30|0|42|2023-11-14 22:13:20|NULL|NULL|utf8mb4_0900_ai_ci|NULL||;u|InnoDB|10|Dynamic|3|100|300|0|30|0|NULL|2023-11-14 22:13:20|NULL|NULL|utf8mb4_0900_ai_ci|NULL||"},
		{"SHOW TRIGGERS", "Trigger,Event,Table,Statement,Timing,Created,sql_mode,Definer,character_set_client,collation_connection,Database Collation", ""},
		{"SHOW FUNCTION STATUS WHERE Db = 'd'", "Db,Name,Type,Definer,Modified,Created,Security_type,Comment,character_set_client,collation_connection,Database Collation", ""},
	} {
		names, rows := f.read(c.sql)
		if got := strings.Join(names, ","); got != c.names {
			t.Errorf("%s: columns\n got %s\nwant %s", c.sql, got, c.names)
		}
		if got := strings.Join(rows, ";"); got != c.rows {
			t.Errorf("%s: rows\n got %s\nwant %s", c.sql, got, c.rows)
		}
	}
}

func TestColumnsTable(t *testing.T) {
	f := newFake(t, everything)
	_, rows := f.read("SELECT * FROM information_schema.columns")
	var got []string
	for _, r := range rows {
		if strings.HasPrefix(r, "def|d|t|") {
			got = append(got, strings.TrimPrefix(r, "def|d|t|"))
		}
	}
	const p = "|select,insert,update,references|"
	want := []string{
		"id|1|NULL|NO|int|NULL|NULL|10|0|NULL|NULL|NULL|int unsigned|PRI|auto_increment" + p + "||NULL",
		"v|2|it's|NO|varchar|20|80|NULL|NULL|NULL|utf8mb4|utf8mb4_0900_ai_ci|varchar(20)|UNI|" + p + "||NULL",
		`l|3|NULL|YES|varchar|5|5|NULL|NULL|NULL|latin1|latin1_swedish_ci|varchar(5)|UNI|` + p + `a\b||NULL`,
	}
	for i, w := range want {
		if got[i] != w {
			t.Errorf("got\n%s\nwant\n%s", got[i], w)
		}
	}
	for _, part := range []string{
		"dt|13|CURRENT_TIMESTAMP(3)|YES|datetime|NULL|NULL|NULL|NULL|3|NULL|NULL|datetime(3)||DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)" + p,
		"u|23|uuid()|YES|char|36|144|NULL|NULL|NULL|utf8mb4|utf8mb4_0900_ai_ci|char(36)||DEFAULT_GENERATED" + p,
		"bt|10|b'101'|YES|bit|NULL|NULL|8|NULL|NULL|NULL|NULL|bit(8)||" + p,
		"s|21|NULL|YES|set|3|12|NULL|NULL|NULL|utf8mb4|utf8mb4_0900_ai_ci|set('x','y')||" + p,
		"tx|17|NULL|YES|text|65535|65535|NULL|NULL|NULL|utf8mb4|utf8mb4_0900_ai_ci|text||" + p,
	} {
		if !slices.ContainsFunc(got, func(r string) bool { return strings.HasPrefix(r, part) }) {
			t.Errorf("no row %s in\n%s", part, strings.Join(got, "\n"))
		}
	}
}

// TestAllTables reads every virtual table: rows fit their columns, and no
// column is NULL that is said not to be.
func TestAllTables(t *testing.T) {
	f := newFake(t, everything, "CREATE TABLE u (x INT)")
	n := 0
	for db, m := range f.p.dbs {
		for _, tab := range m {
			v, ok, err := f.p.For(f).Virtual(strings.ToUpper(db), strings.ToLower(tab.name))
			if !ok || err != nil {
				t.Fatalf("%s.%s: %v %v", db, tab.name, ok, err)
			}
			seen := map[string]bool{}
			for _, c := range v.Cols {
				if seen[strings.ToLower(c.Name)] {
					t.Errorf("%s.%s: column %s twice", db, tab.name, c.Name)
				}
				seen[strings.ToLower(c.Name)] = true
			}
			if _, err := f.rows(v.Key, v.Cols); err != nil {
				t.Errorf("%s.%s: %v", db, tab.name, err)
			}
			n++
		}
	}
	for _, sql := range []string{"SHOW ENGINES", "SHOW PLUGINS", "SHOW PRIVILEGES", "SHOW CHARACTER SET", "SHOW COLLATION", "SHOW DATABASES", "SHOW STATUS",
		"SHOW EVENTS", "SHOW OPEN TABLES", "SHOW PROCEDURE STATUS", "SHOW PROFILES", "SHOW CREATE TABLE information_schema.tables", "SHOW COLUMNS FROM mysql.user",
		"SHOW INDEX FROM mysql.user", "SHOW TABLE STATUS FROM information_schema", "SHOW CREATE DATABASE mysql", "SHOW FULL PROCESSLIST"} {
		f.read(sql)
	}
	if n < 80 {
		t.Errorf("%d tables", n)
	}
	if f.p.IsVirtual("d") || !f.p.IsVirtual("INFORMATION_SCHEMA") {
		t.Error("IsVirtual")
	}
}

// TestClientQueries binds the queries of dump programs and drivers.
func TestClientQueries(t *testing.T) {
	f := newFake(t, "CREATE TABLE t (id INT PRIMARY KEY)")
	for _, sql := range []string{
		"SELECT LOGFILE_GROUP_NAME, FILE_NAME, TOTAL_EXTENTS, INITIAL_SIZE, ENGINE, EXTRA FROM INFORMATION_SCHEMA.FILES WHERE ENGINE = 'ndbcluster' AND FILE_TYPE = 'UNDO LOG' AND FILE_NAME IS NOT NULL AND LOGFILE_GROUP_NAME IS NOT NULL GROUP BY LOGFILE_GROUP_NAME, FILE_NAME, ENGINE, TOTAL_EXTENTS, INITIAL_SIZE, EXTRA ORDER BY LOGFILE_GROUP_NAME",
		"SELECT DISTINCT TABLESPACE_NAME, FILE_NAME, LOGFILE_GROUP_NAME, EXTENT_SIZE, INITIAL_SIZE, ENGINE FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'DATAFILE' ORDER BY TABLESPACE_NAME, LOGFILE_GROUP_NAME",
		"SELECT COLUMN_NAME, JSON_EXTRACT(HISTOGRAM, '$.\"number-of-buckets-specified\"') FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'd' AND TABLE_NAME = 't'",
		"SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSION_VARIABLES WHERE VARIABLE_NAME LIKE 'rocksdb\\_skip\\_fill\\_cache'",
		"SELECT DEFAULT_COLLATION_NAME, DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'd'",
		"SELECT table_name, table_comment, engine, table_collation FROM information_schema.tables WHERE table_schema = 'd'",
		"SELECT column_name, column_default, is_nullable = 'YES', data_type, character_maximum_length, column_type, column_key, extra, column_comment, numeric_precision, numeric_scale, datetime_precision FROM information_schema.columns WHERE table_schema = 'd' AND table_name = 't' ORDER BY ORDINAL_POSITION",
		"SELECT count(*) FROM information_schema.statistics WHERE table_schema = 'd' AND table_name = 't' AND index_name = 'PRIMARY'",
		"SELECT kcu.column_name, kcu.referenced_table_name, rc.update_rule FROM information_schema.key_column_usage kcu INNER JOIN information_schema.referential_constraints rc USING (constraint_schema, constraint_name) WHERE kcu.table_schema = 'd'",
		"SELECT variable_value FROM performance_schema.session_variables WHERE variable_name = 'sql_mode'",
		"SELECT user, host, plugin FROM mysql.user WHERE user = 'root'",
		"SHOW VARIABLES LIKE 'gtid\\_mode'",
		"SHOW STATUS LIKE 'Ssl_cipher'",
		"SHOW TABLES LIKE 't'",
		"SHOW TRIGGERS LIKE 't'",
		"SHOW SESSION VARIABLES LIKE 'character_set_results'",
	} {
		f.bind(sql)
	}
}

func TestErrors(t *testing.T) {
	f := newFake(t)
	for _, c := range []struct {
		sql  string
		want uint16
	}{
		{"SHOW GRANTS FOR nobody", 1141},
		{"SHOW CREATE TABLE nope", 1146},
		{"SHOW TABLES FROM nope", 1049},
	} {
		st, err := f.pool.Parse(c.sql, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = bind.Bind(&bind.Env{Catalog: f.cat.Snapshot(), Virtual: f.p.For(f), Database: "d"}, st)
		if e, ok := err.(*sqlerr.Error); !ok || e.Number != c.want {
			t.Errorf("%s: %v, want %d", c.sql, err, c.want)
		}
	}
}

// TestEqual: rows of other databases and tables need not be made; what a
// collation might find equal is made.
func TestEqual(t *testing.T) {
	f := newFake(t, "CREATE TABLE aa (x INT)", "CREATE TABLE ab (x INT)", "CREATE TABLE `\u00e4` (x INT)")
	v, ok, err := f.p.For(f).Virtual("information_schema", "TABLES")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	pos := map[string]int{}
	for i, c := range v.Cols {
		pos[c.Name] = i
	}
	for _, c := range []struct {
		db, name string
		want     int
	}{{"d", "aa", 2}, {"D", "AA ", 2}, {"d", "nothing", 1}, {"nothing", "aa", 0}, {"d", "\u00e4", 3}} {
		n := 0
		err := f.p.Rows(context.Background(), f, v.Key, map[int]string{pos["TABLE_SCHEMA"]: c.db, pos["TABLE_NAME"]: c.name}, func([]value.Datum) error { n++; return nil })
		if err != nil || n != c.want {
			t.Errorf("%s.%s: %d rows (%v), want %d", c.db, c.name, n, err, c.want)
		}
	}
}
