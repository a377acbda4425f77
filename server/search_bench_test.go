package server_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/server"
)

// BenchmarkSearchLag changes rows at a rate that does not depend on the machine, if it
// can, and reports the lag of a search index over them, in milliseconds.
func BenchmarkSearchLag(b *testing.B) {
	const (
		table   = 50_000
		writers = 4
		perTxn  = 10
		perSec  = 5000
	)
	dir := b.TempDir()
	_, dsn := startServer(b, func(c *server.Config) { c.InMemory, c.DataDir, c.Durability = false, dir, 0 })
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	exec := func(q string, args ...any) {
		if _, err := db.ExecContext(context.Background(), q, args...); err != nil {
			b.Fatalf("%s: %v", q, err)
		}
	}
	exec(`CREATE TABLE lagging (id INT PRIMARY KEY, k VARCHAR(20), n INT, d DECIMAL(10,2), f DOUBLE, at DATETIME, a BIGINT, c INT, w TEXT,
		SEARCH INDEX s (k, n, d, f, at, a, c, w TEXT))`)
	for from := 0; from < table; from += 5000 {
		var rows []string
		for i := range 5000 {
			rows = append(rows, fmt.Sprintf("(%d, 'key %d', %d, %d.25, %d / 7, '2024-01-01' + INTERVAL %d MINUTE, %d, %d, 'the text of row %d')", from+i, i%500, i, i, i, i, i, i%10, i))
		}
		exec("INSERT INTO lagging VALUES " + strings.Join(rows, ", "))
	}
	const question = "SELECT lag_milliseconds FROM information_schema.SQLOTS_SEARCH_INDEXES"
	b.ResetTimer()
	var wg sync.WaitGroup
	began, changes := time.Now(), b.N*perSec // a second of changes each
	for g := range writers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for i := g; i*perTxn < changes; i += writers {
				time.Sleep(time.Until(began.Add(time.Duration(i*perTxn) * time.Second / perSec)))
				from := r.IntN(table/perTxn) * perTxn // no two of a batch are the same
				if _, err := db.Exec("UPDATE lagging SET n = n + 1, d = d + 1, w = CONCAT('the text ', ?) WHERE id BETWEEN ? AND ?", i, from, from+perTxn-1); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	var lags []float64
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		case <-time.After(5 * time.Millisecond):
			var ms sql.NullFloat64
			if err := db.QueryRow(question).Scan(&ms); err != nil {
				b.Fatal(err)
			}
			if ms.Valid {
				lags = append(lags, ms.Float64)
			}
		}
	}
	took := time.Since(began).Seconds()
	if len(lags) == 0 {
		b.Fatal("the index is not ready")
	}
	slices.Sort(lags)
	b.ReportMetric(lags[len(lags)/2], "lag-ms-p50")
	b.ReportMetric(lags[len(lags)*99/100], "lag-ms-p99")
	b.ReportMetric(lags[len(lags)-1], "lag-ms-max")
	b.ReportMetric(float64(changes)/took, "changes/s")
}
