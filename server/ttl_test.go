package server_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestUniqueBesideExpiry: unique indexes are built while writers use the values
// of rows that have just expired again.
func TestUniqueBesideExpiry(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	for name, change := range map[string]func(*server.Config){
		"memory": func(*server.Config) {},
		"disk":   func(c *server.Config) { c.InMemory, c.DataDir = false, t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			uniqueBesideExpiry(t, change)
		})
	}
}

func uniqueBesideExpiry(t *testing.T, change func(*server.Config)) {
	_, dsn := startServer(t, change)
	c := dial(t, dsn)
	c.exec("CREATE TABLE q (id INT AUTO_INCREMENT PRIMARY KEY, u INT, at TIMESTAMP(6) NULL) TTL = at + INTERVAL 1 SECOND TTL_JOB_INTERVAL = '24h'")
	const writers, values = 4, 50
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		conn := dial(t, dsn)
		wg.Go(func() {
			used := make([]time.Time, values)
			for i := 0; ; i = (i + 1) % values {
				select {
				case <-stop:
					return
				case <-time.After(time.Until(used[i].Add(1100 * time.Millisecond))):
				}
				if _, err := conn.c.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO q (u, at) VALUES (%d, NOW(6))", w*values+i)); err != nil {
					t.Error(err)
					return
				}
				used[i] = time.Now()
			}
		})
	}
	for until := time.Now().Add(testflag.Pick(2*time.Second, 4*time.Second, 4*time.Second)); time.Now().Before(until); {
		c.exec("CREATE UNIQUE INDEX u ON q (u)")
		c.rows("t.q,check,status,OK", "CHECK TABLE q")
		c.exec("DROP INDEX u ON q")
	}
	close(stop)
	wg.Wait()
}
