package session

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/storage/memkv"
)

var benchDocs = flag.Int("docs", 100_000, "rows of the table of BenchmarkSearch")

// searchQueries are run over a search index. Those of aggregates are run once
// more with the columns streamed out of the index.
var searchQueries = []struct{ name, sql string }{
	{"count/term", "SELECT COUNT(*) FROM docs FORCE INDEX (s) WHERE kind = 'kind3'"},
	{"count/and3", "SELECT COUNT(*) FROM docs FORCE INDEX (s) WHERE kind = 'kind3' AND wide < 500000 AND narrow > 300"},
	{"count/range30", "SELECT COUNT(*) FROM docs FORCE INDEX (s) WHERE wide BETWEEN 100000 AND 400000"},
	{"sum/all", "SELECT SUM(narrow), AVG(narrow) FROM docs FORCE INDEX (s)"},
	{"sum/decimal", "SELECT SUM(price) FROM docs FORCE INDEX (s)"},
	{"min-max/all", "SELECT MIN(wide), MAX(narrow), COUNT(price) FROM docs FORCE INDEX (s)"},
	{"group/10-of-30%", "SELECT kind, COUNT(*) FROM docs FORCE INDEX (s) WHERE wide < 300000 GROUP BY kind"},
	{"group/1000-of-30%", "SELECT narrow, COUNT(*) FROM docs FORCE INDEX (s) WHERE wide < 300000 GROUP BY narrow"},
	{"group/sums", "SELECT kind, SUM(price), AVG(narrow) FROM docs FORCE INDEX (s) GROUP BY kind"},
	{"group/two", "SELECT kind, narrow, COUNT(*) FROM docs FORCE INDEX (s) WHERE wide < 300000 GROUP BY kind, narrow"},
	{"group/month", "SELECT DATE_FORMAT(day, '%Y-%m'), COUNT(*) FROM docs FORCE INDEX (s) GROUP BY DATE_FORMAT(day, '%Y-%m')"},
	{"distinct/narrow", "SELECT COUNT(DISTINCT narrow) FROM docs FORCE INDEX (s)"},
	{"distinct/user", "SELECT COUNT(DISTINCT user) FROM docs FORCE INDEX (s)"},
	{"top/10-of-10%", "SELECT id FROM docs FORCE INDEX (s) WHERE kind = 'kind3' ORDER BY narrow DESC LIMIT 10"},
	{"top/10-of-all", "SELECT id FROM docs FORCE INDEX (s) ORDER BY wide DESC, id LIMIT 10"},
	{"top/offset", "SELECT id FROM docs FORCE INDEX (s) ORDER BY wide, id LIMIT 10 OFFSET %d"},
	{"keyset", "SELECT id FROM docs FORCE INDEX (s) WHERE (narrow, id) > (500, 5000) ORDER BY narrow, id LIMIT 10"},
	{"keys/10%", "SELECT id FROM docs FORCE INDEX (s) WHERE kind = 'kind3'"},
	{"small", "SELECT id FROM docs FORCE INDEX (s) WHERE wide = 77 AND kind = 'kind3'"},
}

// BenchmarkSearch queries a search index over eight columns through SQL, in one
// session.
func BenchmarkSearch(b *testing.B) {
	e, err := engine.New(context.Background(), engine.Config{Store: memkv.New(memkv.Options{}), SearchDir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close(context.Background()) })
	s, err := New(context.Background(), sharedOf(b, e), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	w := &sink{}
	for _, q := range []string{"CREATE DATABASE b", "USE b", "SET sqlots_parallelism = 1",
		"CREATE TABLE docs (id INT PRIMARY KEY, kind VARCHAR(20), user VARCHAR(20), wide INT, narrow INT, price DECIMAL(10,2), score DOUBLE, day DATE, about TEXT)"} {
		s.mustQuery(b, q, w)
	}
	n := *benchDocs
	for from := 0; from < n; from += 10_000 {
		var rows strings.Builder
		for i := from; i < min(from+10_000, n); i++ {
			h := uint64(i) * 0x9E3779B97F4A7C15
			if i > from {
				rows.WriteByte(',')
			}
			fmt.Fprintf(&rows, "(%d,'kind%d','user%06d',%d,%d,%d.%02d,%d/7,'2024-01-01' + INTERVAL %d DAY,'word%d word%d')", i, h>>40%10, h>>20%200_000, h>>24%1_000_000, h>>33%1000, h>>45%500, h%100, i, h>>50%365, h>>30%50_000, h>>31%1000)
		}
		s.mustQuery(b, "INSERT INTO docs VALUES "+rows.String(), w)
	}
	s.mustQuery(b, "CREATE SEARCH INDEX s ON docs (id, kind, user, wide, narrow, price, score, day)", w)
	for _, q := range searchQueries {
		text := q.sql
		if strings.Contains(text, "%d") && !strings.Contains(text, "%Y") {
			text = fmt.Sprintf(text, n*9/100)
		}
		ask := func(b *testing.B) {
			for b.Loop() {
				s.mustQuery(b, text, w)
			}
		}
		b.Run(q.name, ask)
		switch strings.Split(q.name, "/")[0] {
		case "top", "keyset", "keys", "small":
			continue
		}
		s.mustQuery(b, "SET sqlots_disabled_rules = 'SearchAggregate'", w)
		b.Run(q.name+"/streamed", ask)
		s.mustQuery(b, "SET sqlots_disabled_rules = ''", w)
	}
}
