package server_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestDamagedTable: a statement that meets a damaged file ends with 1194, CHECK
// TABLE says Corrupt, and other tables can be read and written.
func TestDamagedTable(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	cfg := func(c *server.Config) { c.InMemory, c.DataDir = false, dir }
	s, dsn := startOnce(t, cfg)
	c := dial(t, dsn)
	const rows = 100_000 // enough for a bulk load
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, "%d\tvalue %d\n", i, i)
	}
	mysql.RegisterReaderHandler("damage", func() io.Reader { return strings.NewReader(text.String()) })
	defer mysql.DeregisterReaderHandler("damage")
	for _, table := range []string{"good", "bad"} {
		c.exec("CREATE TABLE " + table + " (id INT PRIMARY KEY, v VARCHAR(20))")
	}
	c.exec("INSERT INTO good VALUES (1, 'log only'), (2, 'log only')")
	c.exec("LOAD DATA LOCAL INFILE 'Reader::damage' INTO TABLE bad")
	for range 2 { // a start takes the files of a load over
		if err := s.Stop(0); err != nil {
			t.Fatal(err)
		}
		s, _ = startOnce(t, cfg)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "kv", "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 100_000 {
			continue // the sequence
		}
		b[100] ^= 0xff
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		damaged++
	}
	if damaged == 0 {
		t.Fatalf("no file of the table among %v", names)
	}
	s, dsn = startOnce(t, cfg)
	defer func() {
		if err := s.Stop(0); err != nil {
			t.Error(err)
		}
	}()
	c = dial(t, dsn)
	c.fails(1194, "SELECT * FROM bad")
	c.fails(1194, "SELECT v FROM bad WHERE id = 0")
	c.fails(1194, "UPDATE bad SET v = 'x' WHERE id = 0")
	got, err := c.query("CHECK TABLE bad")
	if err != nil || !strings.Contains(got, "t.bad,check,error,Table is marked as crashed") || !strings.HasSuffix(got, "t.bad,check,status,Corrupt") {
		t.Fatal(got, err)
	}
	c.rows("t.good,check,status,OK", "CHECK TABLE good")
	c.rows("2", "SELECT COUNT(*) FROM good")
	c.exec("UPDATE good SET v = 'x' WHERE id = 1")
	c.rows("1", "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Sqlots_storage_damaged_files'")
}
