package server_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestTmpLimitOfSorts: the temporary files of bulk loads and index builds count
// in --tmp-limit; what needs more ends with 1114 and leaves nothing.
func TestTmpLimitOfSorts(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	tmp, memory := int64(1<<20), int64(16<<20)
	start := func() (*client, func()) {
		s, dsn := startOnce(t, func(c *server.Config) { c.InMemory, c.DataDir, c.Memory, c.TempBytes = false, dir, memory, tmp })
		return dial(t, dsn), func() {
			if err := s.Stop(0); err != nil {
				t.Error(err)
			}
		}
	}
	var text strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&text, "%d\t%0500d\n", i, i*7919%6000)
	}
	mysql.RegisterReaderHandler("tmplimit", func() io.Reader { return strings.NewReader(text.String()) })
	defer mysql.DeregisterReaderHandler("tmplimit")
	load := "LOAD DATA LOCAL INFILE 'Reader::tmplimit' INTO TABLE b"
	c, stop := start()
	c.exec("CREATE TABLE b (id INT PRIMARY KEY, v VARCHAR(600) COLLATE utf8mb4_bin)")
	c.fails(1114, load)
	c.rows("0", "SELECT COUNT(*) FROM b")
	stop()
	// So does the copy of the file, which a load that finds duplicates reads
	// again, where there is memory enough for sorting.
	memory = 512 << 20
	c, stop = start()
	c.fails(1114, load)
	c.rows("0", "SELECT COUNT(*) FROM b")
	stop()
	tmp, memory = 64<<20, 16<<20
	c, stop = start()
	c.exec(load)
	c.rows("6000", "SELECT COUNT(*) FROM b")
	stop()
	tmp = 1 << 20
	c, stop = start()
	defer stop()
	c.fails(1114, "CREATE INDEX x ON b (v, id)")
	c.rows("0", "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 't' AND INDEX_NAME = 'x'")
	c.rows("t.b,check,status,OK", "CHECK TABLE b")
}
