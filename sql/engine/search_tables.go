package engine

import (
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
)

// searchTables gives the search indexes the list of tables that have some.
func (e *Engine) searchTables(s *catalog.Snapshot) {
	if e.Search == nil {
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
	e.Search.Update(list)
}

// EvalDocuments is where the virtual columns of documents are computed.
func EvalDocuments() *expr.Ctx { return derive.ReadCtx(time.UTC, time.Now()) }
