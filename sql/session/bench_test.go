package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/value"
)

// sink is a ResultWriter that counts rows and serves LOAD DATA LOCAL.
type sink struct {
	rows int
	file []byte
}

func (*sink) ColumnFlags(mysqlwire.Status)   {}
func (*sink) Binary() bool                   { return false }
func (*sink) Header(*mysqlwire.Header) error { return nil }
func (s *sink) Batch(b *vec.Batch) error     { s.rows += b.Live(); return nil }
func (s *sink) Row([]value.Datum) error      { s.rows++; return nil }
func (*sink) End(mysqlwire.End) error        { return nil }
func (*sink) OK(mysqlwire.OK) error          { return nil }
func (s *sink) LoadLocal(string) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s.file)), nil
}

func benchSession(b *testing.B) *Session {
	b.Helper()
	store, err := pebblekv.Open(pebblekv.Options{Dir: b.TempDir(), CacheBytes: 512 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	e, err := engine.New(context.Background(), engine.Config{Store: store})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(context.Background(), sharedOf(b, e), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, LocalFiles: true, Kill: func() {}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

// testSession is a session on a store in memory.
func testSession(tb testing.TB) *Session {
	tb.Helper()
	e, err := engine.New(context.Background(), engine.Config{Store: memkv.New(memkv.Options{}), CheckPlans: true})
	if err != nil {
		tb.Fatal(err)
	}
	s, err := New(context.Background(), sharedOf(tb, e), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, LocalFiles: true, Kill: func() {}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

func (s *Session) mustQuery(b testing.TB, sql string, w *sink) {
	b.Helper()
	if err := s.Query(context.Background(), sql, w); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
}

const callsDDL = "CREATE TABLE calls (cell BIGINT, start BIGINT, called BIGINT, duration BIGINT, station BIGINT, PRIMARY KEY (cell, start), KEY by_called (called), KEY by_station (station, start, duration))"

// BenchmarkLoadData loads 200,000 rows with two indexes; the time is per row.
func BenchmarkLoadData(b *testing.B) {
	const rows = 200_000
	r := rand.New(rand.NewSource(1))
	var file bytes.Buffer
	for i := 0; i < rows; i++ {
		fmt.Fprintf(&file, "%d,%d,%d,%d,%d\n", r.Intn(1_000_000), 1_500_000_000+i, r.Intn(1_000_000), r.Intn(3600), r.Intn(1000))
	}
	s := benchSession(b)
	s.mustQuery(b, "CREATE DATABASE d", &sink{})
	s.mustQuery(b, "USE d", &sink{})
	for b.Loop() {
		b.StopTimer()
		s.mustQuery(b, "DROP TABLE IF EXISTS calls", &sink{})
		s.mustQuery(b, callsDDL, &sink{})
		b.StartTimer()
		s.mustQuery(b, "LOAD DATA LOCAL INFILE 'x' INTO TABLE calls FIELDS TERMINATED BY ','", &sink{file: file.Bytes()})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkPointSelect is a point query by its template, without the wire.
func BenchmarkPointSelect(b *testing.B) {
	s := benchSession(b)
	s.mustQuery(b, "CREATE DATABASE d", &sink{})
	s.mustQuery(b, "USE d", &sink{})
	s.mustQuery(b, callsDDL, &sink{})
	for i := 0; i < 1000; i++ {
		s.mustQuery(b, fmt.Sprintf("INSERT INTO calls VALUES (%d,1,2,3,4)", i), &sink{})
	}
	w := &sink{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.mustQuery(b, fmt.Sprintf("SELECT called, duration FROM calls WHERE cell=%d AND start=1", i%1000), w)
	}
	if w.rows != b.N {
		b.Fatalf("%d rows for %d queries", w.rows, b.N)
	}
}

// BenchmarkSelect1 is a query without tables, without the wire.
func BenchmarkSelect1(b *testing.B) {
	s := benchSession(b)
	w := &sink{}
	b.ReportAllocs()
	for b.Loop() {
		s.mustQuery(b, "SELECT 1", w)
	}
}

// BenchmarkInsert is a single-row insert in autocommit, not waiting for the
// disk.
func BenchmarkInsert(b *testing.B) {
	s := benchSession(b)
	s.mustQuery(b, "SET GLOBAL innodb_flush_log_at_trx_commit=0", &sink{})
	s.Vars.Refresh()
	s.mustQuery(b, "CREATE DATABASE d", &sink{})
	s.mustQuery(b, "USE d", &sink{})
	s.mustQuery(b, callsDDL, &sink{})
	w := &sink{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.mustQuery(b, fmt.Sprintf("INSERT INTO calls VALUES (%d,1,2,3,4)", i), w)
	}
}

// BenchmarkPage is a page of a queue by its template, without the wire.
func BenchmarkPage(b *testing.B) {
	s := benchSession(b)
	s.mustQuery(b, "CREATE DATABASE d", &sink{})
	s.mustQuery(b, "USE d", &sink{})
	s.mustQuery(b, "CREATE TABLE q (id BIGINT, seq BIGINT, sender BIGINT NOT NULL, body VARCHAR(100) NOT NULL, PRIMARY KEY (id, seq))", &sink{})
	for id := range 100 {
		for seq := range 60 {
			s.mustQuery(b, fmt.Sprintf("INSERT INTO q VALUES (%d,%d,7,'message %d to %d')", id, seq, seq, id), &sink{})
		}
	}
	w := &sink{}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.mustQuery(b, fmt.Sprintf("SELECT seq, sender, body FROM q WHERE id=%d AND seq>%d ORDER BY seq LIMIT 30", i%100, i%29), w)
	}
	if w.rows != 30*b.N {
		b.Fatalf("%d rows for %d queries", w.rows, b.N)
	}
}
