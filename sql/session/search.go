package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/storage"
)

var _ expr.MatchStats = (*Session)(nil)

// MatchStats implements expr.MatchStats.
func (s *Session) MatchStats(m *expr.Match) text.Stats {
	if s.engine.search == nil {
		return nil
	}
	t := s.engine.catalog.Snapshot().TableByID(m.Table)
	if t == nil {
		return nil
	}
	x := s.engine.search.Index(t, m.Index)
	if x == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.scores {
		if f.table == m.Table && f.index == m.Index && slices.Equal(f.fields, m.Fields) {
			return f.stats
		}
	}
	f := scoreFigures{m.Table, m.Index, m.Fields, query.NewStats(x, m.Path, m.Fields)}
	s.scores = append(s.scores, f)
	return f.stats
}

// scoreFigures are the figures of an index for the scores of a statement: all
// that ask for the same fields have the same, whatever becomes of the index.
type scoreFigures struct {
	table  schema.TableID
	index  schema.IndexID
	fields []uint16
	stats  *query.Stats
}

// searchTables tells the search indexes which tables there are.
func (e *Engine) searchTables(s *catalog.Snapshot) {
	if e.search == nil {
		return
	}
	var list []*schema.Table
	for _, d := range s.Databases() {
		for _, t := range s.Tables(d.Name) {
			if len(t.Search) > 0 {
				list = append(list, t)
			}
		}
	}
	e.search.Update(list)
}

// SearchIndexes implements infoschema.Server.
func (e *introspection) SearchIndexes() []infoschema.SearchIndex {
	if e.search == nil {
		return nil
	}
	var out []infoschema.SearchIndex
	for _, i := range e.search.Infos() {
		x := infoschema.SearchIndex{Database: i.Table.Database, Table: i.Table.Name, Name: i.Index.Name, Next: i.Next, State: i.State.String(), Docs: uint64(i.Docs), Rejected: uint64(i.Rejected),
			Lag: i.Lag, Behind: i.Behind, Segments: uint64(i.Segments), Disk: uint64(i.Bytes), Memory: uint64(i.Memory)}
		if i.Err != nil {
			x.Error = i.Err.Error()
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b infoschema.SearchIndex) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name), cmp.Compare(strconv.FormatBool(a.Next), strconv.FormatBool(b.Next)))
	})
	return out
}

// maxRejected is how many rows with rejected values are looked at in an index.
const maxRejected = 1000

// SearchRejected implements infoschema.Server.
func (e *introspection) SearchRejected(ctx context.Context, wants func(db, table, index string) bool, emit func(r *infoschema.SearchRejected) error) error {
	if e.search == nil {
		return nil
	}
	snap, err := e.store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	for _, x := range e.search.Indexes() {
		t, d, next := x.Of()
		if next || !wants(t.Database, t.Name, d.Name) {
			continue
		}
		// Who has written a value finds it here.
		if err := x.CatchUp(ctx, snap.Seq()); err != nil && !errors.Is(err, search.ErrUnavailable) {
			return err
		}
		var ids [][]byte
		err := x.Read(ctx, func(s *seg.Snapshot) error {
			return search.EachRejected(s, d, func(id []byte, _ []seg.FieldID) bool {
				ids = append(ids, bytes.Clone(id))
				return len(ids) < maxRejected
			})
		})
		if errors.Is(err, search.ErrUnavailable) || errors.Is(err, seg.ErrDamaged) || len(ids) == 0 {
			continue
		}
		if err != nil {
			return err
		}
		if err := e.rejectedRows(ctx, t, d, ids, emit); err != nil {
			return err
		}
	}
	return nil
}

// rejectedRows gives the values of some rows that fields of an index cannot take.
func (e *introspection) rejectedRows(ctx context.Context, t *schema.Table, d *schema.SearchIndex, ids [][]byte, emit func(r *infoschema.SearchRejected) error) error {
	snap, err := e.store.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Close()
	slices.SortFunc(ids, bytes.Compare)
	list, err := (&source.Documents{Codecs: e.codecs, Eval: (*Engine)(e).evalDocuments}).Rejected(ctx, snap, t, d, ids)
	if err != nil {
		return err
	}
	for _, r := range list {
		f := &d.Fields[r.Field]
		out := infoschema.SearchRejected{Database: t.Database, Table: t.Name, Index: d.Name, Key: shortened(r.Key, 1000), Value: shortened(r.Value, 200), Reason: rejectedReason(f)}
		id := f.Source
		if id == 0 {
			id = f.Column
		}
		if c := t.Column(id); c != nil && c.Hidden && c.Generated != nil {
			if out.Field = c.Generated.Expr; f.Attribute {
				out.Field = strings.ReplaceAll(strings.Trim(out.Field, "`"), "``", "`")
			}
		} else if c != nil {
			out.Field = c.Name
		} else if c = t.Column(f.Column); c != nil {
			if out.Field = c.Name; c.Hidden && c.Generated != nil {
				out.Field = shortened(c.Generated.Expr, 64)
			}
		}
		out.Field = shortened(out.Field, 64)
		if err := emit(&out); err != nil {
			return err
		}
	}
	return nil
}

func rejectedReason(f *schema.SearchField) string {
	switch {
	case f.Kind == schema.SearchPath && f.Many:
		return "no array of " + f.ElemName()
	case f.Kind == schema.SearchNested:
		return shortened("no array of objects of "+strings.TrimPrefix(f.ElemName(), "NESTED "), 200)
	case f.Kind == schema.SearchPath:
		return "no " + f.ElemName()
	}
	switch f.As {
	case schema.AsIP:
		return "no IP address"
	case schema.AsDate:
		return shortened("no time of the format "+strings.Join(f.Formats, " or "), 200)
	case schema.AsGeoPoint:
		return "no 'latitude,longitude'"
	}
	return "no " + f.ElemName()
}

// shortened is a text of at most so many characters.
func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "?")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-3]) + "..."
}

// checkSearch adds to a report what is wrong with the documents of search indexes,
// and gives notes about those that cannot be checked.
func (s *Session) checkSearch(ctx context.Context, snap storage.Snapshot, t *schema.Table, report *scrub.Report) (notes [][2]string, err error) {
	if s.engine.search == nil {
		return nil, nil
	}
	for i := range t.Search {
		x := &t.Search[i]
		_, err := s.engine.search.Check(ctx, snap, t, x, func(key []byte, text string) { report.Add(x.Name, key, text) })
		if errors.Is(err, search.ErrUnavailable) {
			notes = append(notes, [2]string{"note", "search index " + x.Name + " is not ready, and was not checked"})
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// evalDocuments is where the virtual columns of documents are computed.
func (e *Engine) evalDocuments() *expr.Ctx { return derive.ReadCtx(time.UTC, time.Now()) }
