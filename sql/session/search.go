package session

import (
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/derive"
	"github.com/sqlots/sqlots/sql/expr"
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
	return query.NewStats(x, m.Fields)
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

// evalDocuments is where the virtual columns of documents are computed.
func (e *Engine) evalDocuments() *expr.Ctx { return derive.ReadCtx(time.UTC, time.Now()) }
