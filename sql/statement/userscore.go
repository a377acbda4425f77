package statement

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
)

// scoreFigures are the figures of an index for the scores of a statement: all
// that ask for the same fields have the same, whatever becomes of the index.
type scoreFigures struct {
	table  schema.TableID
	index  schema.IndexID
	fields []uint16
	stats  *query.Stats
}
