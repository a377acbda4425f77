package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	_ "github.com/go-sql-driver/mysql" // connects to the server

	"github.com/sqlots/sqlots/server"
)

// batch is how many documents are written at once.
const batch = 1000

type bleveIndex struct {
	index       bleve.Index
	perDocument float64
}

func newBleve(dir string) (*bleveIndex, error) {
	im := bleve.NewIndexMapping()
	if err := im.AddCustomAnalyzer("words", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		return nil, err
	}
	d := bleve.NewDocumentStaticMapping()
	field := func(name string, f *mapping.FieldMapping) *mapping.FieldMapping {
		f.Store, f.IncludeInAll = false, false
		d.AddFieldMappingsAt(name, f)
		return f
	}
	field("kind", bleve.NewTextFieldMapping()).Analyzer = keyword.Name
	field("user", bleve.NewTextFieldMapping()).Analyzer = keyword.Name
	field("wide", bleve.NewNumericFieldMapping())
	field("narrow", bleve.NewNumericFieldMapping())
	field("place", bleve.NewGeoPointFieldMapping())
	words := field("words", bleve.NewTextFieldMapping())
	words.Analyzer, words.DocValues = "words", false
	im.DefaultMapping = d
	index, err := bleve.NewUsing(dir, im, scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, err
	}
	start := cpuTime()
	b := index.NewBatch()
	err = documents(func(i int, d *document) error {
		if err := b.Index(fmt.Sprintf("%09d", i), d); err != nil {
			return err
		}
		if b.Size() < batch && i < *docs-1 {
			return nil
		}
		defer b.Reset()
		return index.Batch(b)
	})
	if err != nil {
		return nil, err
	}
	settled()
	return &bleveIndex{index, float64((cpuTime() - start).Microseconds()) / float64(*docs)}, nil
}

// settled waits until merges in the background have ended: the process is idle.
func settled() {
	for quiet := 0; quiet < 3; {
		before := cpuTime()
		time.Sleep(300 * time.Millisecond)
		if quiet++; cpuTime()-before > 30*time.Millisecond {
			quiet = 0
		}
	}
}

func (x *bleveIndex) search(q *question) (uint64, error) {
	r, err := x.index.Search(q.request())
	if err != nil {
		return 0, err
	}
	if q.rows {
		return uint64(len(r.Hits)), nil
	}
	return r.Total, nil
}

func (x *bleveIndex) close() { _ = x.index.Close() }

type sqlServer struct {
	server      *server.Server
	db          *sql.DB
	conn        *sql.Conn
	perDocument float64
}

func newServer(dir string) (_ *sqlServer, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ctx := context.Background()
	s := &sqlServer{}
	if s.server, err = server.Start(ctx, server.Config{DataDir: dir, Listen: "127.0.0.1:0", Memory: 1 << 30}); err != nil {
		return nil, err
	}
	if s.db, err = sql.Open("mysql", "root@tcp("+s.server.Addr()+")/"); err != nil {
		return nil, err
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return nil, err
	}
	exec := func(text string) error {
		_, err := s.conn.ExecContext(ctx, text)
		return err
	}
	for _, text := range []string{"CREATE DATABASE b", "USE b", "SET sqlots_parallelism = 1",
		`CREATE TABLE d (id BIGINT PRIMARY KEY, kind VARCHAR(10) COLLATE utf8mb4_bin, user VARCHAR(10) COLLATE utf8mb4_bin, wide INT, narrow INT, words TEXT, place POINT)`} {
		if err := exec(text); err != nil {
			return nil, err
		}
	}
	var rows []string
	err = documents(func(i int, d *document) error {
		rows = append(rows, fmt.Sprintf("(%d, '%s', '%s', %d, %d, '%s', POINT(%v, %v))", i, d.Kind, d.User, d.Wide, d.Narrow, d.Words, d.Place[0], d.Place[1]))
		if len(rows) < batch && i < *docs-1 {
			return nil
		}
		defer func() { rows = rows[:0] }()
		return exec("INSERT INTO d VALUES " + strings.Join(rows, ", "))
	})
	if err != nil {
		return nil, err
	}
	settled()
	start := cpuTime()
	for _, text := range []string{"CREATE SEARCH INDEX s ON d (id, kind, user, wide, narrow, words TEXT ANALYZER 'split', place GEO_POINT)", "ANALYZE TABLE d"} {
		if err := exec(text); err != nil {
			return nil, err
		}
	}
	settled()
	s.perDocument = float64((cpuTime() - start).Microseconds()) / float64(*docs)
	return s, nil
}

func (s *sqlServer) search(q *question) (hits uint64, err error) {
	rows, err := s.conn.QueryContext(context.Background(), strings.Replace(q.sql, "FROM d", "FROM d FORCE INDEX (s)", 1))
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	vals := make([]sql.RawBytes, len(cols))
	to := make([]any, len(cols))
	for i := range vals {
		to[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return 0, err
		}
		if !q.counted {
			hits++
			continue
		}
		var n uint64
		if _, err := fmt.Sscan(string(vals[len(vals)-1]), &n); err != nil || n > math.MaxInt64 {
			return 0, fmt.Errorf("%q is no count: %w", vals[len(vals)-1], err)
		}
		hits += n
	}
	return hits, rows.Err()
}

func (s *sqlServer) close() {
	_ = s.conn.Close()
	_ = s.db.Close()
	_ = s.server.Stop(10 * time.Second)
}
