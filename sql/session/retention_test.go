package session

import (
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/stream"
)

func TestRetention(t *testing.T) {
	s := testSession(t)
	e := s.Engine
	ctx := t.Context()
	s.rowsOf(t, "CREATE DATABASE d")
	s.rowsOf(t, "USE d")
	s.rowsOf(t, `CREATE TABLE t (id INT PRIMARY KEY, v INT) SECONDARY_ENGINE_ATTRIBUTE='{"stream": {"retention": "60s"}, "max_versions": 10, "version_retention": "60s"}'`)
	s.rowsOf(t, "INSERT INTO t VALUES (1, 1), (2, 2)")
	s.rowsOf(t, "UPDATE t SET v = 3 WHERE id = 1")
	s.rowsOf(t, "DELETE FROM t WHERE id = 2")
	at := s.rowsOf(t, "SELECT NOW(6)")
	s.rowsOf(t, "CALL sqlots.stream_consumer('c', 't')")
	now := time.Now()
	trim := func(after time.Duration) {
		e.TrimStreams(ctx, now.Add(after))
		e.TrimVersions(ctx, now.Add(after))
	}
	want := func(sql, want string) {
		t.Helper()
		if got := s.rowsOf(t, sql); got != want {
			t.Fatalf("%s: %s, want %s", sql, got, want)
		}
	}
	trim(50 * time.Second)
	want("SELECT COUNT(*) FROM stream('t', 'c')", "5")
	want("SELECT COUNT(*) FROM versions('t')", "3")
	want("SELECT COUNT(*) FROM t AS OF TIMESTAMP '"+at+"'", "1")
	trim(70 * time.Second)
	want("SELECT COUNT(*) FROM stream('t')", "0")
	if n := s.errorOf("SELECT COUNT(*) FROM stream('t', 'c')"); n != 1789 {
		t.Fatalf("error %d for a consumer that fell behind", n)
	}
	want("SELECT state FROM information_schema.sqlots_stream_consumers", "purged")
	want("SELECT first_seq IS NULL, purged_seq IS NULL FROM information_schema.sqlots_streams", "1 0")
	want("SELECT id, v FROM versions('t')", "1 3")
	if n := s.errorOf("SELECT * FROM t AS OF TIMESTAMP '" + at + "'"); n != 8135 {
		t.Fatalf("error %d for a time before the history", n)
	}
	// What comes later is kept, with its descriptor.
	s.rowsOf(t, "UPDATE t SET v = 4")
	want("SELECT before_image, after_image FROM stream('t')", `{"v": 3, "id": 1} {"v": 4, "id": 1}`)
	want("SELECT id, v FROM versions('t') ORDER BY _until IS NULL", "1 3/1 4")

	// A log that ended goes when its last record goes.
	s.rowsOf(t, "DROP TABLE t")
	trim(50 * time.Second)
	want("SELECT state FROM information_schema.sqlots_streams", "ended")
	trim(200 * time.Second)
	want("SELECT COUNT(*) FROM information_schema.sqlots_streams", "0")
	want("SELECT COUNT(*) FROM information_schema.sqlots_stream_consumers", "0")
	if n := s.errorOf("SELECT * FROM stream('t')"); n != 1146 {
		t.Fatalf("error %d for a log that is gone", n)
	}
	// Of the two streams nothing is left in the store.
	if n, err := e.Store.EstimateSize(ctx, storage.Span{Start: []byte{stream.Space}, End: []byte{stream.Space + 1}}); err != nil || n != 0 {
		t.Fatalf("%d bytes are left (%v)", n, err)
	}
}
