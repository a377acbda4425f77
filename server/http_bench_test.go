package server_test

import (
	"database/sql"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// BenchmarkHTTPResult reads the same rows by the MySQL protocol and by HTTP, each by a
// client that looks at the bytes only as far as it must.
func BenchmarkHTTPResult(b *testing.B) {
	dir := b.TempDir()
	s, dsn := startServer(b, func(c *server.Config) {
		c.InMemory, c.DataDir, c.HTTP.Listen = false, dir, "127.0.0.1:0"
	})
	c := dial(b, dsn)
	c.exec("SET cte_max_recursion_depth = 1000000")
	rows := testflag.Rounds(100_000, 1_000_000, 10_000_000)
	c.exec("CREATE TABLE big (id BIGINT PRIMARY KEY, station INT, name VARCHAR(40), price DECIMAL(12,2), at DATETIME(3), note VARCHAR(100))")
	for from := 0; from < rows; from += 100_000 {
		c.exec("INSERT INTO big WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i, i % 977, CONCAT('station ', i % 977), i / 100, TIMESTAMPADD(SECOND, i, '2024-01-01'), CONCAT('a note about the row ', i, ', é') FROM n", from, from+100_000-1)
	}
	const query = "SELECT * FROM big"
	b.Run("wire", func(b *testing.B) {
		for b.Loop() {
			r, err := c.c.QueryContext(b.Context(), query)
			if err != nil {
				b.Fatal(err)
			}
			cells, to := make([]sql.RawBytes, 6), make([]any, 6)
			for i := range cells {
				to[i] = &cells[i]
			}
			n := 0
			for r.Next() {
				if err := r.Scan(to...); err != nil {
					b.Fatal(err)
				}
				n++
			}
			if r.Close() != nil || n != rows {
				b.Fatalf("%d rows", n)
			}
		}
		b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	})
	for _, format := range []string{"ndjson", "ndjson&rows=objects", "json", "csv", "tsv", "ndjson&gzip=1"} {
		b.Run(format, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			var size int64
			for b.Loop() {
				req, err := http.NewRequestWithContext(b.Context(), "POST", "http://"+s.HTTPAddr()+"/v1/query?db=t&format="+format, strings.NewReader(query))
				if err != nil {
					b.Fatal(err)
				}
				req.SetBasicAuth("root", "")
				res, err := client.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				if size, err = io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 200 {
					b.Fatal(res.Status, err)
				}
				_ = res.Body.Close()
			}
			b.SetBytes(size)
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
