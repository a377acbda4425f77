package ddl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// server is a store with what schema changes need.
type server struct {
	t     *testing.T
	store storage.Store
	cat   *catalog.Catalog
	locks *mdl.Locks
	r     *Runner
	pool  *parser.Pool
	mode  types.SQLMode
	warns []sqlerr.Warning
	// runRows is the number of rows of a run of an index build; 0 for 7.
	runRows int
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, store: memkv.New(memkv.Options{}), pool: parser.NewPool(), mode: types.DefaultSQLMode}
	s.open()
	s.must("CREATE DATABASE d")
	return s
}

// open makes a Runner over the store, as after a start.
func (s *server) open() {
	s.t.Helper()
	cat, err := catalog.Open(context.Background(), s.store)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.r != nil {
		s.r.Close()
	}
	s.cat, s.locks = cat, &mdl.Locks{}
	binder := bind.NewBinder(parser.NewPool())
	s.r = New(Config{Store: s.store, Catalog: cat, Locks: s.locks, Codecs: decode.NewCodecs(binder), Sequences: table.NewSequences(s.store), Binder: binder, Start: inPlace})
	s.r.runRows = cmp.Or(s.runRows, 7)
}

// inPlace runs a job in the statement that starts it, once.
func inPlace(_ string, run func(ctx context.Context, turn Turn)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	run(ctx, func(ctx context.Context, work func(ctx context.Context) error) error {
		err := work(ctx)
		cancel()
		return err
	})
}

func (s *server) env() Env {
	return Env{Owner: 1, LockTimeout: 10 * time.Second, Types: types.Env{Mode: s.mode, Loc: time.UTC, Now: time.Unix(1700000000, 0)},
		Warn: func(w sqlerr.Warning) { s.warns = append(s.warns, w) },
		Eval: func(context.Context, string, schema.Type) (value.Datum, schema.Type, error) {
			return value.Int(7), types.BigInt, nil
		}}
}

func (s *server) exec(sql string) (uint64, error) {
	s.t.Helper()
	s.warns = nil
	return s.execIn(s.env(), sql)
}

func (s *server) execIn(env Env, sql string) (uint64, error) {
	s.t.Helper()
	return s.execCtx(context.Background(), env, sql)
}

func (s *server) execCtx(ctx context.Context, env Env, sql string) (uint64, error) {
	s.t.Helper()
	st, err := s.pool.Parse(sql, s.mode)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	stmt, err := bind.Bind(&bind.Env{Catalog: s.cat.Snapshot(), Database: "d", Mode: s.mode}, st)
	if err != nil {
		return 0, err
	}
	return s.r.Run(ctx, stmt, env)
}

func (s *server) must(sql string) uint64 {
	s.t.Helper()
	n, err := s.exec(sql)
	if err != nil {
		s.t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (s *server) fails(sql string, number uint16, text string) {
	s.t.Helper()
	_, err := s.exec(sql)
	e, ok := errors.AsType[*sqlerr.Error](err)
	if !ok || e.Number != number || !strings.Contains(e.Message, text) {
		s.t.Errorf("%s: got %v, want %d %s", sql, err, number, text)
	}
}

func (s *server) table(name string) *schema.Table {
	s.t.Helper()
	t, ok := s.cat.Snapshot().Table("d", name)
	if !ok {
		s.t.Fatalf("no table %s", name)
	}
	return t
}

func (s *server) codec(t *schema.Table) *table.Codec {
	s.t.Helper()
	c, err := table.NewCodec(t, decode.AddedDefault)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// insert adds rows of texts: "NULL" is NULL; a hidden key is numbered.
func (s *server) insert(name string, rows ...string) {
	s.t.Helper()
	t := s.table(name)
	txn, err := s.store.Begin(s.t.Context(), storage.TxnOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer txn.Rollback()
	w := s.codec(t).NewWriter(txn, s.store.Caps())
	for _, line := range rows {
		fields := strings.Split(line, ",")
		row := make([]value.Datum, len(t.Columns))
		j := 0
		for i := range t.Columns {
			c := &t.Columns[i]
			if isHiddenKey(c) {
				n, err := s.r.Sequences.Next(context.Background(), t, table.HiddenKey, 1)
				if err != nil {
					s.t.Fatal(err)
				}
				row[i] = value.Int(int64(n))
				continue
			}
			if t.IsPartitionColumn(c.ID) {
				row[i] = s.partition(t, row)
				continue
			}
			f := fields[j]
			j++
			if f == "NULL" {
				continue
			}
			d, err := types.Store(&types.Env{Loc: time.UTC}, value.String(f), types.Text(schema.CollationUTF8MB4Bin), c, 1)
			if err != nil {
				s.t.Fatal(err)
			}
			row[i] = d
		}
		if conflict, err := w.Insert(context.Background(), row); err != nil || conflict != nil {
			s.t.Fatalf("inserting %s: %v %v", line, conflict, err)
		}
	}
	if _, err := txn.Commit(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// partition is the number of a row's partition.
func (s *server) partition(t *schema.Table, row []value.Datum) value.Datum {
	s.t.Helper()
	p, err := define.Partitioner(s.r.Binder, t)
	if err != nil {
		s.t.Fatal(err)
	}
	vals := make([]value.Datum, len(p.Reads))
	for i, pos := range p.Reads {
		vals[i] = row[pos]
	}
	if vals, err = p.Values(&expr.Ctx{}, vals); err != nil {
		s.t.Fatal(err)
	}
	return value.Int(p.Numbers[p.At(vals)])
}

func (s *server) rows(name string) string {
	s.t.Helper()
	return s.rowsOf(s.table(name))
}

// rowsOf are the rows of a table as text, in key order.
func (s *server) rowsOf(t *schema.Table) string {
	s.t.Helper()
	var out []string
	err := readRows(context.Background(), s.store, s.codec(t), func(row []value.Datum) error {
		var f []string
		for i, d := range row {
			switch {
			case isHiddenKey(&t.Columns[i]), t.IsPartitionColumn(t.Columns[i].ID):
			case d.IsNull():
				f = append(f, "NULL")
			default:
				f = append(f, string(types.AppendText(nil, t.Columns[i].Type, d)))
			}
		}
		out = append(out, strings.Join(f, ","))
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.checkIndexes(t, len(out))
	return strings.Join(out, ";")
}

// checkIndexes compares the number of entries with that of the rows.
func (s *server) checkIndexes(t *schema.Table, rows int) {
	s.t.Helper()
	for _, x := range t.Indexes {
		if n := s.keys(table.IndexSpan(t.ID, x.ID)); n != rows && x.Where == 0 {
			s.t.Errorf("index %s has %d entries, want %d", x.Name, n, rows)
		}
	}
}

func (s *server) keys(span storage.Span) int {
	s.t.Helper()
	scan, err := s.store.Latest().Scan(context.Background(), span, storage.ScanOptions{KeyOnly: true})
	if err != nil {
		s.t.Fatal(err)
	}
	defer scan.Close()
	n := 0
	if _, err := scan.Visit(context.Background(), func(_, _ []byte) bool { n++; return true }); err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *server) wantRows(name, want string) {
	s.t.Helper()
	if got := s.rows(name); got != want {
		s.t.Errorf("rows of %s:\n got %s\nwant %s", name, got, want)
	}
}

// wantTable compares SHOW CREATE TABLE without the first and last line.
func (s *server) wantTable(name string, want ...string) {
	s.t.Helper()
	text := infoschema.CreateTable(s.table(name))
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(strings.TrimSpace(lines[i]), ",")
	}
	if got := strings.Join(lines[1:len(lines)-1], "\n"); got != strings.Join(want, "\n") {
		s.t.Errorf("table %s:\n got %s\nwant %s", name, got, strings.Join(want, "\n"))
	}
}

// wantClean checks that the store holds no job and no data but of the tables.
func (s *server) wantClean() {
	s.t.Helper()
	s.r.background.Wait()
	jobs, err := s.r.jobs(context.Background())
	if err != nil || len(jobs) > 0 {
		s.t.Errorf("jobs left: %v %v", jobs, err)
	}
	if builds, err := s.r.storedBuilds(context.Background()); err != nil || len(builds) > 0 {
		s.t.Errorf("builds left: %v %v", builds, err)
	}
	known := 0
	snap := s.cat.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			known += s.keys(table.IndexSpan(t.ID, schema.PrimaryIndexID)) + s.keys(table.IndexSpan(t.ID, table.CellIndexID))
			for _, x := range t.Indexes {
				known += s.keys(table.IndexSpan(t.ID, x.ID))
			}
		}
	}
	if all := s.keys(storage.Span{Start: []byte{table.SpaceTable}, End: []byte{table.SpaceTable + 1}}); all != known {
		s.t.Errorf("%d keys of tables, %d of them known", all, known)
	}
}

func TestDatabases(t *testing.T) {
	s := newServer(t)
	s.fails("CREATE DATABASE d", 1007, "Can't create database 'd'; database exists")
	s.must("CREATE DATABASE IF NOT EXISTS d")
	if len(s.warns) != 1 || s.warns[0].Err.Number != 1007 || s.warns[0].Level != sqlerr.LevelNote {
		t.Errorf("warnings %v", s.warns)
	}
	s.fails("CREATE DATABASE mysql", 1007, "exists")
	s.fails("DROP DATABASE nope", 1008, "Can't drop database 'nope'; database doesn't exist")
	s.must("CREATE DATABASE e CHARACTER SET latin1")
	s.must("ALTER DATABASE e COLLATE latin1_bin")
	s.must("CREATE TABLE e.a (id INT PRIMARY KEY)")
	s.must("CREATE TABLE e.b (id INT PRIMARY KEY)")
	if n := s.must("DROP DATABASE e"); n != 2 {
		t.Errorf("dropped %d tables", n)
	}
	s.wantClean()
}

func TestTables(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10), KEY k (v))")
	s.fails("CREATE TABLE t (id INT)", 1050, "Table 't' already exists")
	s.must("CREATE TABLE IF NOT EXISTS t (id INT)")
	if len(s.warns) != 1 || s.warns[0].Err.Number != 1050 {
		t.Errorf("warnings %v", s.warns)
	}
	s.insert("t", "1,a", "2,b")
	s.must("CREATE TABLE u LIKE t")
	s.wantTable("u", "`id` int NOT NULL", "`v` varchar(10) DEFAULT NULL", "PRIMARY KEY (`id`)", "KEY `k` (`v`)")
	s.must("RENAME TABLE t TO x, u TO t, x TO u")
	s.wantRows("t", "")
	s.wantRows("u", "1,a;2,b")
	s.fails("RENAME TABLE t TO u", 1050, "Table 'u' already exists")
	s.fails("RENAME TABLE zz TO y", 1146, "Table 'd.zz' doesn't exist")
	s.must("CREATE DATABASE e")
	s.must("RENAME TABLE u TO e.u")
	s.must("ALTER TABLE e.u RENAME TO d.u")
	s.wantRows("u", "1,a;2,b")
	s.must("TRUNCATE TABLE u")
	s.wantRows("u", "")
	s.fails("DROP TABLE t, nope, none", 1051, "Unknown table 'd.nope,d.none'")
	s.table("t")
	s.must("DROP TABLE IF EXISTS t, nope")
	if len(s.warns) != 1 || s.warns[0].Err.Message != "Unknown table 'd.nope'" {
		t.Errorf("warnings %v", s.warns)
	}
	s.wantClean()
}

func TestInstantColumns(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))")
	s.insert("t", "1,a", "2,NULL")
	id := s.table("t").ID
	s.must("ALTER TABLE t ADD COLUMN n INT NOT NULL, ADD d DECIMAL(5,2) DEFAULT 1.5 FIRST, ADD s VARCHAR(3) NOT NULL AFTER id, ADD x INT")
	s.wantRows("t", "1.50,1,,a,0,NULL;1.50,2,,NULL,0,NULL")
	s.must("ALTER TABLE t ADD e ENUM('p','q') NOT NULL, ADD dt DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3), ADD b BIT(4) DEFAULT b'101', ADD h VARBINARY(4) DEFAULT 0xFF01")
	if got := s.rows("t"); !strings.HasPrefix(got, "1.50,1,,a,0,NULL,p,2023-11-14 22:13:20.000,\x05,\xff\x01;") {
		t.Errorf("rows %q", got)
	}
	s.must("ALTER TABLE t DROP COLUMN dt, DROP COLUMN b, DROP h, DROP COLUMN e, DROP s")
	s.must("ALTER TABLE t RENAME COLUMN v TO x, RENAME COLUMN x TO v")
	s.must("ALTER TABLE t MODIFY id BIGINT NOT NULL, CHANGE x w VARCHAR(30) COMMENT 'c', ALTER n SET DEFAULT 5, ALTER d DROP DEFAULT")
	s.wantTable("t", "`d` decimal(5,2) DEFAULT NULL", "`id` bigint NOT NULL", "`w` varchar(30) DEFAULT NULL COMMENT 'c'", "`n` int NOT NULL DEFAULT '5'",
		"`v` int DEFAULT NULL", "PRIMARY KEY (`id`)")
	s.insert("t", "2.25,9,long enough text,5,6")
	s.wantRows("t", "1.50,1,a,0,NULL;1.50,2,NULL,0,NULL;2.25,9,long enough text,5,6")
	if s.table("t").ID != id {
		t.Error("the table was copied")
	}
	s.must("ALTER TABLE t DROP COLUMN v, ADD COLUMN v INT DEFAULT 3")
	s.wantRows("t", "1.50,1,a,0,3;1.50,2,NULL,0,3;2.25,9,long enough text,5,3")
}

func TestColumnErrors(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT, KEY k (a))")
	s.fails("ALTER TABLE t ADD a INT", 1060, "Duplicate column name 'a'")
	s.fails("ALTER TABLE t DROP nope", 1091, "Can't DROP 'nope'; check that column/key exists")
	s.fails("ALTER TABLE t RENAME COLUMN nope TO x", 1054, "Unknown column 'nope' in 't'")
	s.fails("ALTER TABLE t MODIFY nope INT", 1054, "Unknown column 'nope' in 't'")
	s.fails("ALTER TABLE t ADD x INT AFTER nope", 1054, "Unknown column 'nope' in 't'")
	s.fails("ALTER TABLE t DROP id, DROP a, DROP b", 1090, "You can't delete all columns with ALTER TABLE; use DROP TABLE instead")
	s.fails("ALTER TABLE t ADD KEY k (b(3))", 1061, "Duplicate key name 'k'")
	s.fails("ALTER TABLE t ADD KEY (nope)", 1072, "Key column 'nope' doesn't exist in table")
	s.fails("ALTER TABLE t ADD KEY (b)", 1170, "used in key specification without a key length")
	s.fails("ALTER TABLE t ADD PRIMARY KEY (a)", 1068, "Multiple primary key defined")
	s.fails("ALTER TABLE t MODIFY a INT AUTO_INCREMENT, ADD c INT AUTO_INCREMENT UNIQUE", 1075, "there can be only one auto column")
	s.fails("ALTER TABLE t ADD c INT AUTO_INCREMENT", 1075, "there can be only one auto column")
	s.fails("ALTER TABLE t MODIFY a JSON", 3152, "JSON column 'a'")
	s.fails("ALTER TABLE t DROP KEY nope", 1091, "Can't DROP 'nope'")
	s.fails("ALTER TABLE t RENAME KEY nope TO x", 1176, "Key 'nope' doesn't exist in table 't'")
	s.fails("ALTER TABLE t RENAME TO t2, ADD a INT", 1060, "Duplicate column name 'a'")
	s.fails("ALTER TABLE nope ADD a INT", 1146, "Table 'd.nope' doesn't exist")
	s.wantClean()
}

func TestRebuild(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10), b INT, UNIQUE KEY u (b), KEY k (a, b))")
	s.insert("t", "1,10,3", "2,20,2", "3,NULL,1")
	if n := s.must("ALTER TABLE t MODIFY a INT"); n != 3 {
		t.Errorf("%d rows affected, want 3", n)
	}
	s.wantRows("t", "1,10,3;2,20,2;3,NULL,1")
	s.fails("ALTER TABLE t MODIFY a INT NOT NULL", 1138, "Invalid use of NULL value")
	s.fails("ALTER TABLE t MODIFY a TINYINT UNSIGNED NOT NULL DEFAULT 1, MODIFY b VARCHAR(0)", 1167, "")
	s.must("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (b DESC)")
	s.wantRows("t", "1,10,3;2,20,2;3,NULL,1")
	s.must("ALTER TABLE t DROP PRIMARY KEY")
	s.wantRows("t", "1,10,3;2,20,2;3,NULL,1")
	s.insert("t", "4,5,9")
	s.must("ALTER TABLE t MODIFY a BIGINT UNSIGNED")
	s.insert("t", "5,6,8")
	s.wantRows("t", "1,10,3;2,20,2;3,NULL,1;4,5,9;5,6,8")
	s.must("ALTER TABLE t ADD PRIMARY KEY (id), ADD n INT DEFAULT (1+6)")
	s.wantClean()
}

func TestRebuildErrors(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10), b INT)")
	s.insert("t", "1,abc,300", "2,abc,2")
	s.fails("ALTER TABLE t MODIFY b TINYINT", 1264, "Out of range value for column 'b' at row 1")
	s.fails("ALTER TABLE t MODIFY a VARCHAR(2)", 1406, "Data too long for column 'a' at row 1")
	s.fails("ALTER TABLE t MODIFY a INT", 1366, "Incorrect integer value: 'abc' for column 'a' at row 1")
	s.fails("ALTER TABLE t MODIFY a ENUM('x')", 1265, "Data truncated for column 'a' at row 1")
	s.fails("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a)", 1062, "Duplicate entry 'abc' for key 't.PRIMARY'")
	s.fails("ALTER TABLE t ADD UNIQUE (a)", 1062, "Duplicate entry 'abc' for key 't.a'")
	s.fails("ALTER TABLE t ADD c INT, ADD UNIQUE (a)", 1062, "Duplicate entry 'abc' for key 't.a'")
	s.fails("ALTER TABLE t ADD c DATE NOT NULL", 1292, "Incorrect date value: '0000-00-00' for column 'c' at row 1")
	s.wantRows("t", "1,abc,300;2,abc,2")
	s.mode = 0
	s.must("ALTER TABLE t MODIFY b TINYINT")
	if len(s.warns) != 1 || s.warns[0].Err.Number != 1264 {
		t.Errorf("warnings %v", s.warns)
	}
	s.wantRows("t", "1,abc,127;2,abc,2")
	s.wantClean()
}

func TestAutoIncrement(t *testing.T) {
	s := newServer(t)
	ctx := context.Background()
	s.must("CREATE TABLE t (a VARCHAR(10), b INT) AUTO_INCREMENT = 5")
	s.insert("t", "x,1", "y,0", "z,NULL")
	s.must("ALTER TABLE t ADD id INT AUTO_INCREMENT PRIMARY KEY FIRST")
	s.wantRows("t", "1,x,1;2,y,0;3,z,NULL")
	if n, err := s.r.Sequences.Peek(ctx, s.table("t"), table.AutoIncrement); n != 4 && n != 5 || err != nil {
		t.Errorf("next is %d, %v", n, err)
	}
	s.must("ALTER TABLE t AUTO_INCREMENT = 100")
	if n, err := s.r.Sequences.Next(ctx, s.table("t"), table.AutoIncrement, 1); n != 100 || err != nil {
		t.Errorf("next is %d, %v", n, err)
	}
	s.must("ALTER TABLE t MODIFY a VARCHAR(20) CHARACTER SET latin1")
	if n, err := s.r.Sequences.Next(ctx, s.table("t"), table.AutoIncrement, 1); n != 101 || err != nil {
		t.Errorf("next after a copy is %d, %v", n, err)
	}
	s.must("TRUNCATE t")
	if n, err := s.r.Sequences.Next(ctx, s.table("t"), table.AutoIncrement, 1); n != 1 || err != nil {
		t.Errorf("next after TRUNCATE is %d, %v", n, err)
	}
	s.must("ALTER TABLE t MODIFY id INT NOT NULL, MODIFY b INT AUTO_INCREMENT UNIQUE")
	s.wantClean()
}

func TestIndexes(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20))")
	for i := range 50 {
		s.insert("t", fmt.Sprintf("%d,%d,%d,c%d", i, i%5, i, i))
	}
	s.must("CREATE INDEX ka ON t (a)")
	s.must("CREATE UNIQUE INDEX ub ON t (b DESC)")
	s.must("ALTER TABLE t ADD KEY (a, b), ADD KEY kc (c(2)) INCLUDE (b)")
	s.wantTable("t", "`id` int NOT NULL", "`a` int DEFAULT NULL", "`b` int DEFAULT NULL", "`c` varchar(20) DEFAULT NULL", "PRIMARY KEY (`id`)",
		"UNIQUE KEY `ub` (`b` DESC)", "KEY `ka` (`a`)", "KEY `a` (`a`,`b`)", "KEY `kc` (`c`(2)) /*!99999 sqlots SECONDARY_ENGINE_ATTRIBUTE='{\"include\":[\"b\"]}' */")
	s.rows("t")
	s.fails("CREATE UNIQUE INDEX ua ON t (a)", 1062, "Duplicate entry '0' for key 't.ua'")
	s.must("ALTER TABLE t RENAME INDEX ka TO kb, ALTER INDEX ub INVISIBLE")
	s.must("ALTER TABLE t DROP COLUMN b")
	s.wantTable("t", "`id` int NOT NULL", "`a` int DEFAULT NULL", "`c` varchar(20) DEFAULT NULL", "PRIMARY KEY (`id`)",
		"KEY `kb` (`a`)", "KEY `a` (`a`)", "KEY `kc` (`c`(2))")
	s.rows("t")
	s.must("DROP INDEX kb ON t")
	s.must("ALTER TABLE t DROP KEY a, ADD KEY a (c)")
	s.rows("t")
	s.wantClean()
	s.fails("ALTER TABLE t DROP COLUMN id, ADD UNIQUE (a)", 1062, "Duplicate entry '0' for key 't.a_2'")
	s.must("ALTER TABLE t DROP COLUMN id")
	s.rows("t")
	s.wantClean()
}

// execAs runs a statement of another session, which does not wait for locks.
func (s *server) execAs(o mdl.Owner, sql string) error {
	s.t.Helper()
	env := s.env()
	env.Owner, env.LockTimeout = o, time.Millisecond
	_, err := s.execIn(env, sql)
	return err
}

// TestLikeDuringBuild: a table like one whose indexes are being built has those that
// are there, and nothing of the others.
func TestLikeDuringBuild(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY kb (b))")
	for i := range 20 {
		s.insert("t", fmt.Sprintf("%d,%d,%d", i, i%3, 100-i))
	}
	made := 0
	s.r.step = func(name string) {
		if name != "building" {
			return
		}
		made++
		if err := s.execAs(2, "CREATE TABLE u LIKE t"); err != nil {
			t.Error(err)
		}
	}
	s.must("ALTER TABLE t ADD KEY ka (a), ADD UNIQUE KEY ke ((b + 1)), ADD n INT DEFAULT 3, ADD KEY kn (n)")
	s.r.step = func(string) {}
	if made != 1 {
		t.Fatalf("%d builds", made)
	}
	s.wantTable("u", "`id` int NOT NULL", "`a` int DEFAULT NULL", "`b` int DEFAULT NULL", "PRIMARY KEY (`id`)", "KEY `kb` (`b`)")
	if u := s.table("u"); len(u.Indexes) != 1 || len(u.Columns) != 3 || u.Indexes[0].State != schema.IndexPublic {
		t.Errorf("%d indexes and %d columns", len(u.Indexes), len(u.Columns))
	}
	s.insert("u", "1,2,3")
	s.wantRows("u", "1,2,3")
	s.must("CREATE TABLE w LIKE t")
	if w := s.table("w"); len(w.Indexes) != 4 {
		t.Errorf("%d indexes after the build", len(w.Indexes))
	}
	s.wantClean()
}

// TestChangesWait: a schema change waits for those of all tables that it reads or
// writes the definition of, and for no others.
func TestChangesWait(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE p (id INT PRIMARY KEY, x INT)")
	s.must("CREATE TABLE c (id INT PRIMARY KEY, x INT, KEY (x))")
	s.must("CREATE TABLE e (id INT PRIMARY KEY, x INT, FOREIGN KEY (x) REFERENCES p (id))")
	for _, c := range []struct {
		busy, sql string
		waits     bool
	}{
		{"p", "ALTER TABLE c ADD FOREIGN KEY (x) REFERENCES p (id)", true},
		{"p", "ALTER TABLE c ADD y INT, ADD FOREIGN KEY (x) REFERENCES p (id)", true},
		{"e", "ALTER TABLE c ADD FOREIGN KEY (x) REFERENCES p (id)", false},
		{"p", "ALTER TABLE c ADD z INT", false},
		{"c", "ALTER TABLE c ADD w INT", true},
		{"c2", "ALTER TABLE e RENAME TO c2", true},
		{"c", "ALTER TABLE p RENAME COLUMN id TO i", true}, // a child, since the third statement
		{"e", "ALTER TABLE p RENAME COLUMN id TO i", true},
		{"c2", "ALTER TABLE p RENAME COLUMN id TO i", false},
	} {
		key := mdl.ChangeKey("d", c.busy)
		if err := s.locks.Exclusive(t.Context(), 7, key, time.Minute); err != nil {
			t.Fatal(err)
		}
		err := s.execAs(2, c.sql)
		s.locks.ReleaseExclusive(7, key)
		if waits := errors.Is(err, mdl.ErrTimeout); waits != c.waits || err != nil && !waits {
			t.Errorf("%s while %s is changed: %v", c.sql, c.busy, err)
		}
	}
	s.wantClean()
}

func TestCells(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b TEXT)")
	big := strings.Repeat("x", 10000)
	s.insert("t", "1,"+big+",small", "2,NULL,b")
	s.must("ALTER TABLE t DROP COLUMN b")
	s.must("ALTER TABLE t CONVERT TO CHARACTER SET latin1")
	s.wantRows("t", "1,"+big+";2,NULL")
	s.wantTable("t", "`id` int NOT NULL", "`a` text", "PRIMARY KEY (`id`)")
	s.must("ALTER TABLE t DROP COLUMN a")
	s.wantRows("t", "1;2")
	s.wantClean()
	if n := s.keys(table.IndexSpan(s.table("t").ID, table.CellIndexID)); n > 0 {
		t.Errorf("%d cells left", n)
	}
	// Writers are not kept waiting, and what others keep is not touched.
	s.must("CREATE TABLE u (id INT PRIMARY KEY, a TEXT, b TEXT, v INT)")
	for i := range 2100 {
		s.insert("u", fmt.Sprintf("%d,%s,%s,%d", i, big, big[:5000], i%7))
	}
	online := false
	s.r.step = func(name string) { online = online || name == "building" }
	s.must("ALTER TABLE u DROP COLUMN a, ADD KEY (v)")
	if !online {
		t.Error("the index was built while others wait")
	}
	s.wantClean()
	if n := s.keys(table.IndexSpan(s.table("u").ID, table.CellIndexID)); n != 2100 {
		t.Errorf("%d cells, want 2100", n)
	}
}

// TestCellsPaced: the removal of cells leaves others their time, as the build of
// an index does.
func TestCellsPaced(t *testing.T) {
	testflag.Normal(t)
	s := newServer(t)
	s.r.BuildRate = func() int64 { return 2000 }
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a TEXT)")
	big := strings.Repeat("x", 5000)
	for i := range 1000 {
		s.insert("t", fmt.Sprintf("%d,%s", i, big))
	}
	start := time.Now()
	s.must("ALTER TABLE t DROP COLUMN a")
	s.wantClean()
	if took := time.Since(start); took < 100*time.Millisecond {
		t.Errorf("1000 cells went in %v, at 2000 a second", took)
	}
}

// TestCellsAcrossCrashes: the cells of a dropped column go, whenever the server
// dies.
func TestCellsAcrossCrashes(t *testing.T) {
	big := strings.Repeat("x", 10000)
	for _, sql := range []string{"ALTER TABLE t DROP COLUMN a", "ALTER TABLE t DROP COLUMN a, ADD KEY (v)"} {
		for n, crashed := 0, true; crashed; n++ {
			s := newServer(t)
			s.must("CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b TEXT, v INT)")
			s.insert("t", "1,"+big+","+big+",7", "2,"+big+",b,8")
			crashed = s.runUntil(sql, n)
			s.resume(noCrash)
			s.wantClean()
			want := 1
			if s.table("t").ColumnByName("a") >= 0 {
				want = 3
			}
			if got := s.keys(table.IndexSpan(s.table("t").ID, table.CellIndexID)); got != want {
				t.Errorf("%s, crash at step %d: %d cells, want %d", sql, n, got, want)
			}
		}
	}
}

func TestCharset(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a TEXT, b VARCHAR(5), KEY (b)) CHARACTER SET latin1")
	s.insert("t", "1,é,ü")
	s.must("ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4")
	s.wantRows("t", "1,é,ü")
	s.wantTable("t", "`id` int NOT NULL", "`a` mediumtext", "`b` varchar(5) DEFAULT NULL", "PRIMARY KEY (`id`)", "KEY `b` (`b`)")
	s.must("ALTER TABLE t DEFAULT CHARACTER SET latin1, COMMENT 'hello', ENGINE = MyISAM")
	if got := s.table("t"); got.Comment != "hello" || got.Engine != "MyISAM" {
		t.Errorf("table %+v", got)
	}
	s.must("ALTER TABLE t FORCE")
}

func TestTimestampsAreConverted(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, ts TIMESTAMP NULL)")
	s.insert("t", "1,2024-01-01 00:00:00")
	st, err := s.pool.Parse("ALTER TABLE t MODIFY ts DATETIME", s.mode)
	if err != nil {
		t.Fatal(err)
	}
	stmt, err := bind.Bind(&bind.Env{Catalog: s.cat.Snapshot(), Database: "d", Mode: s.mode}, st)
	if err != nil {
		t.Fatal(err)
	}
	env := s.env()
	env.Types.Loc = time.FixedZone("east", 8*3600)
	if _, err := s.r.Run(context.Background(), stmt, env); err != nil {
		t.Fatal(err)
	}
	s.wantRows("t", "1,2024-01-01 08:00:00")
}

func TestNamesMeanTheOldTable(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY ka (a), KEY kab (a, b))")
	s.insert("t", "1,2,3")
	s.fails("ALTER TABLE t ADD x INT, MODIFY x BIGINT", 1054, "Unknown column 'x' in 't'")
	s.fails("ALTER TABLE t ADD x INT, DROP x", 1091, "Can't DROP 'x'")
	s.fails("ALTER TABLE t ADD KEY kx (a), DROP KEY kx", 1091, "Can't DROP 'kx'")
	s.fails("ALTER TABLE t DROP a, MODIFY a BIGINT", 1054, "Unknown column 'a' in 't'")
	s.must("ALTER TABLE t ADD a VARCHAR(3) DEFAULT 'n' FIRST, DROP a, DROP KEY kab, ADD KEY kab (a)")
	s.wantTable("t", "`a` varchar(3) DEFAULT 'n'", "`id` int NOT NULL", "`b` int DEFAULT NULL", "PRIMARY KEY (`id`)", "KEY `kab` (`a`)")
	s.wantRows("t", "n,1,3")
	s.must("ALTER TABLE t RENAME KEY kab TO x, ADD KEY kab (b), RENAME COLUMN a TO b, RENAME COLUMN b TO a")
	s.wantTable("t", "`b` varchar(3) DEFAULT 'n'", "`id` int NOT NULL", "`a` int DEFAULT NULL", "PRIMARY KEY (`id`)", "KEY `x` (`b`)", "KEY `kab` (`a`)")
	s.wantClean()
}

// TestOnPebble runs what loads and deletes runs of keys on the engine that
// does it its own way, and opens the store again.
func TestOnPebble(t *testing.T) {
	dir := t.TempDir()
	open := func() storage.Store {
		store, err := pebblekv.Open(pebblekv.Options{Dir: dir, CacheBytes: 8 << 20, MemTableBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	s := &server{t: t, store: open(), pool: parser.NewPool(), mode: types.DefaultSQLMode, runRows: 900}
	defer func() { _ = s.store.Close() }()
	s.open()
	s.must("CREATE DATABASE d")
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20))")
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf("%d,%d,b%d", i, i%7, i))
	}
	s.insert("t", lines...)
	s.must("ALTER TABLE t ADD KEY ka (a)")
	s.must("ALTER TABLE t ADD n INT NOT NULL DEFAULT 4, ADD UNIQUE KEY ub (b), ADD KEY kn (n)")
	s.rows("t")
	s.must("ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (b), DROP KEY ub")
	s.must("ALTER TABLE t DROP KEY kn")
	s.wantClean()
	rows := s.rows("t")
	s.runUntil("ALTER TABLE t ADD KEY kab (a, id)", 2)
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	s.store = open()
	s.resume(noCrash)
	if s.table("t").IndexByName("kab") == nil {
		t.Error("the build did not go on")
	}
	if after := s.rows("t"); after != rows {
		t.Errorf("after a crash\n%.600s\nwant\n%.600s", after, rows)
	}
	s.wantClean()
	s.must("TRUNCATE TABLE t")
	s.wantRows("t", "")
	s.wantClean()
}

// TestImplicitDefaults adds a NOT NULL column of each type, at once and by a
// copy: old rows have the type's implicit default both times.
func TestImplicitDefaults(t *testing.T) {
	for _, c := range []struct{ typ, want string }{
		{"TINYINT", "0"}, {"BIGINT UNSIGNED", "0"}, {"INT(5) ZEROFILL", "00000"}, {"FLOAT", "0"}, {"DOUBLE(8,2)", "0.00"}, {"DECIMAL(6,3)", "0.000"},
		{"BIT(3)", "\x00"}, {"YEAR", "0000"}, {"TIME(2)", "00:00:00.00"}, {"CHAR(3)", ""}, {"VARCHAR(3)", ""}, {"TEXT", ""}, {"BINARY(2)", "\x00\x00"},
		{"VARBINARY(2)", ""}, {"BLOB", ""}, {"ENUM('x','y')", "x"}, {"SET('x','y')", ""}, {"JSON", "null"},
	} {
		s := newServer(t)
		s.must("CREATE TABLE t (id INT PRIMARY KEY)")
		s.insert("t", "1")
		s.must("ALTER TABLE t ADD c " + c.typ + " NOT NULL")
		s.wantRows("t", "1,"+c.want)
		s.must("ALTER TABLE t DROP c")
		s.must("ALTER TABLE t ADD c " + c.typ + " NOT NULL, DROP PRIMARY KEY")
		s.wantRows("t", "1,"+c.want)
	}
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY)")
	s.insert("t", "1")
	s.must("ALTER TABLE t ADD ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, ADD t2 TIMESTAMP DEFAULT '2020-01-02 03:04:05', ADD d DATE DEFAULT '2020-01-02', ADD y YEAR DEFAULT 1999, ADD e SET('a','b') DEFAULT 'a,b'")
	s.wantRows("t", "1,2023-11-14 22:13:20,2020-01-02 03:04:05,2020-01-02,1999,a,b")
}
