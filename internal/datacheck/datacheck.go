package datacheck

import (
	"context"
	"errors"
	"fmt"
	"github.com/sqlots/sqlots/internal/datadir"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/table"
)

// Result is what was found in one table.
type Result struct {
	Table *schema.Table
	// Report is never nil.
	Report *scrub.Report
	// Search lists the search indexes; what is wrong with them is in Report.
	Search []Search
	// Err is set when the table could not be read to its end.
	Err error
}

// Search is what was found of a search index.
type Search struct {
	Name string
	Docs int64
	// Unchecked is why it was not checked: a server will build it again, or go on
	// building it. "" where it was.
	Unchecked string
}

// OK reports that nothing is wrong with the table.
func (r Result) OK() bool { return r.Err == nil && r.Report.OK() }

// formatFile is what every store has, see package pebblekv.
const formatFile = "FORMAT"

// Dir checks all tables of a directory, by database and name, and calls each with the
// result of one. ok reports that nothing is wrong. The error is one of opening
// (storage.ErrLocked, storage.ErrFormat, storage.ErrCorruption, os.ErrNotExist) or of
// ctx.
func Dir(ctx context.Context, dir string, each func(Result)) (ok bool, err error) {
	return DirAndFiles(ctx, dir, nil, each)
}

// exists refuses a directory without a store: opening would make one.
func exists(dir string) error {
	if o, ok, err := datadir.ReadOwner(dir); err == nil && ok {
		return fmt.Errorf("%s has only local files of the store %s, which is in a cluster", dir, o.Address)
	}
	if _, err := os.Stat(filepath.Join(dir, formatFile)); err != nil {
		return fmt.Errorf("%s is not a data directory: %w", dir, err)
	}
	return nil
}

// Logs reports what a start would leave out of the logs, or refuse to, and changes
// nothing. To open the store, as Dir does, is such a start.
func Logs(dir string) (pebblekv.LogReport, error) {
	if err := exists(dir); err != nil {
		return pebblekv.LogReport{}, err
	}
	return pebblekv.CheckLogs(pebblekv.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
}

// DirAndFiles is Dir that before compares the checksums of all files, and calls
// damaged, unless that is nil, with each that is wrong.
func DirAndFiles(ctx context.Context, dir string, damaged func(pebblekv.Damage), each func(Result)) (ok bool, err error) {
	if err := exists(dir); err != nil {
		return false, err
	}
	store, err := pebblekv.Open(pebblekv.Options{Dir: dir, DiskReserveBytes: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	whole := true
	err = store.Verify(ctx, func(d pebblekv.Damage) {
		whole = false
		if damaged != nil {
			damaged(d)
		}
	})
	if err != nil {
		return false, err
	}
	ok, err = check(ctx, store, filepath.Join(dir, searchDir), each)
	return ok && whole, err
}

// searchDir is where a server has its search indexes, see package server.
const searchDir = "search"

// Store checks all tables of an open store in one snapshot, without their search
// indexes; see Dir.
func Store(ctx context.Context, store storage.Store, each func(Result)) (ok bool, err error) {
	return check(ctx, store, "", each)
}

func check(ctx context.Context, store storage.Store, searchDir string, each func(Result)) (ok bool, err error) {
	c, err := catalog.Open(ctx, store)
	if err != nil {
		return false, fmt.Errorf("reading the catalog: %w", err)
	}
	view, err := store.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	codecs, snapshot := decode.NewCodecs(bind.NewBinder(parser.NewPool())), c.Snapshot()
	documents := &searchdoc.Documents{Codecs: codecs, Eval: func() *expr.Ctx { return derive.ReadCtx(time.UTC, time.Now()) }}
	ok = true
	for _, db := range snapshot.Databases() {
		for _, t := range snapshot.Tables(db.Name) {
			r := checkTable(ctx, view, codecs, t)
			if r.Err == nil {
				r.Err = findOrphans(ctx, view, codecs, snapshot, r)
			}
			if r.Err == nil && searchDir != "" {
				r.Err = checkSearch(ctx, search.Config{Store: store, Dir: searchDir, Rows: documents}, view, &r)
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			ok = ok && r.OK()
			each(r)
		}
	}
	return ok, nil
}

// findOrphans adds the rows whose foreign keys refer to nothing.
func findOrphans(ctx context.Context, view storage.Reader, codecs *decode.Codecs, s *catalog.Snapshot, r Result) error {
	for i := range r.Table.ForeignKeys {
		k := &r.Table.ForeignKeys[i]
		parent, _ := s.Table(k.Database, k.Table)
		ref, ok := schema.NewReference(r.Table, k, parent)
		if !ok {
			return fmt.Errorf("foreign key %s has no index", k.Name)
		}
		child, err := codecs.Get(r.Table)
		if err != nil {
			return err
		}
		var other *table.Codec
		if ref.Parent != nil {
			if other, err = codecs.Get(ref.Parent); err != nil {
				return err
			}
		}
		err = scrub.Orphans(ctx, view, child, other, ref, func(key []byte) error {
			r.Report.AddOrphan(key, k.Name)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSearch compares the search indexes of a table with its rows.
func checkSearch(ctx context.Context, cfg search.Config, view storage.Snapshot, r *Result) error {
	for i := range r.Table.Search {
		x := &r.Table.Search[i]
		n, err := search.CheckFiles(ctx, cfg, view, r.Table, x, func(key []byte, text string) { r.Report.Add(x.Name, key, text) })
		s := Search{Name: x.Name, Docs: n}
		if errors.Is(err, search.ErrUnavailable) {
			s.Unchecked = err.Error()
		} else if err != nil {
			return fmt.Errorf("search index %s: %w", x.Name, err)
		}
		r.Search = append(r.Search, s)
	}
	return nil
}

func checkTable(ctx context.Context, view storage.Reader, codecs *decode.Codecs, t *schema.Table) Result {
	codec, err := codecs.Get(t)
	if err != nil {
		return Result{Table: t, Report: &scrub.Report{}, Err: err}
	}
	report, err := scrub.Check(ctx, view, codec)
	return Result{Table: t, Report: report, Err: err}
}
