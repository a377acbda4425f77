package session

import (
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/derive"
	"github.com/sqlots/sqlots/sql/expr"
)

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
