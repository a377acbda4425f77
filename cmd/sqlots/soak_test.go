package main

import (
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestSoak runs the soak benchmark in small; it fails when an answer is wrong.
func TestSoak(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	addr := startServer(t).Addr()
	code, out, errs := sqlots("bench", "soak", "-dsn", "root@tcp("+addr+")/soak", "-rows", "20000", "-duration", "2s", "-every", "1s", "-rate", "200", "-questions", "40")
	if code != 0 || !strings.Contains(out, "20 answers of the index and of the table are the same") {
		t.Fatalf("code %d: %s\n%s", code, errs, out)
	}
	code, out, errs = sqlots("sql", "-dsn", "root@tcp("+addr+")/soak", "-batch", "-e",
		"EXPLAIN FORMAT=TREE SELECT id, owner FROM docs WHERE ST_Distance_Sphere(place, POINT(11, 48)) < 20000")
	if code != 0 || !strings.Contains(out, "search on docs@s") {
		t.Errorf("a place is not asked of the index: code %d: %s\n%s", code, errs, out)
	}
}
