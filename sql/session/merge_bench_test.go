package session

import (
	"bytes"
	"fmt"
	"testing"
)

// BenchmarkOrderedMerge reads the same rows in the order of ts from a table
// whose key begins with it, and by a merge of sixteen ranges.
func BenchmarkOrderedMerge(b *testing.B) {
	const rows = 200_000
	var file bytes.Buffer
	for i := range rows {
		fmt.Fprintf(&file, "%d,10.0.%d.%d,%d\n", 1_700_000_000+i/20, i%7, i%20, i%100)
	}
	s := benchSession(b)
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d",
		"CREATE TABLE one (ts BIGINT, ip VARCHAR(15), cpu INT, PRIMARY KEY (ts, ip))",
		"CREATE TABLE many (bucket TINYINT AS (CRC32(ip) % 16) STORED, ts BIGINT, ip VARCHAR(15), cpu INT, PRIMARY KEY (bucket, ts, ip))",
		"LOAD DATA LOCAL INFILE 'x' INTO TABLE one FIELDS TERMINATED BY ',' (ts, ip, cpu)",
		"LOAD DATA LOCAL INFILE 'x' INTO TABLE many FIELDS TERMINATED BY ',' (ts, ip, cpu)",
	} {
		s.mustQuery(b, sql, &sink{file: file.Bytes()})
	}
	in := "bucket IN (0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15) AND "
	for _, limit := range []int{10, 100, 1000, 10000} {
		for _, q := range []struct{ name, table, where string }{{"one range", "one", ""}, {"named", "many", in}, {"found", "many", ""}} {
			b.Run(fmt.Sprintf("%d/%s", limit, q.name), func(b *testing.B) {
				w := &sink{}
				sql := fmt.Sprintf("SELECT ts, ip, cpu FROM %s WHERE %sts >= 1700005000 ORDER BY ts, ip LIMIT %d", q.table, q.where, limit)
				b.ReportAllocs()
				for b.Loop() {
					s.mustQuery(b, sql, w)
				}
				if w.rows != b.N*limit {
					b.Fatal(w.rows, "rows")
				}
			})
		}
	}
}
