package session

import (
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/index/scrub"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/storage"
)

var _ expr.MatchStats = (*functions)(nil)

// MatchStats implements expr.MatchStats.
func (f *functions) MatchStats(ctx context.Context, m *expr.Match) text.Stats {
	if f.engine.Search == nil {
		return nil
	}
	t := f.engine.Catalog.Snapshot().TableByID(m.Table)
	if t == nil {
		return nil
	}
	x := f.engine.Search.Index(t, m.Index)
	if x == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, known := range f.scores {
		if known.table == m.Table && known.index == m.Index && slices.Equal(known.fields, m.Fields) {
			return known.stats
		}
	}
	stats := query.NewStats(ctx, x, m.Path, m.Fields)
	f.scores = append(f.scores, scoreFigures{m.Table, m.Index, m.Fields, stats})
	return stats
}

// scoreFigures are the figures of an index for the scores of a statement: all
// that ask for the same fields have the same, whatever becomes of the index.
type scoreFigures struct {
	table  schema.TableID
	index  schema.IndexID
	fields []uint16
	stats  *query.Stats
}

// checkSearch adds to a report what is wrong with the documents of search indexes,
// and gives notes about those that cannot be checked.
func (s *commands) checkSearch(ctx context.Context, snap storage.Snapshot, t *schema.Table, report *scrub.Report) (notes [][2]string, err error) {
	if s.engine.Search == nil {
		return nil, nil
	}
	for i := range t.Search {
		x := &t.Search[i]
		_, err := s.engine.Search.Check(ctx, snap, t, x, func(key []byte, text string) { report.Add(x.Name, key, text) })
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
