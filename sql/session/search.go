package session

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/infoschema"
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

// evalDocuments is where the virtual columns of documents are computed.
func (e *Engine) evalDocuments() *expr.Ctx { return derive.ReadCtx(time.UTC, time.Now()) }
