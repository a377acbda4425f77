package searchscan

import (
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/source/kvread"
)

// Env is what a Searcher needs.
type Env struct {
	*decode.State
	// Rows reads rows that the index does not have, or not as a whole.
	Rows *kvread.Reader
	// Search is where the search indexes are; nil if none exists.
	Search *search.Manager
	// Eventual: search indexes are read in their present state, without the
	// changes that they do not have yet, unless there is a transaction.
	Eventual bool
}

// Searcher opens the searches of one statement.
type Searcher struct{ env Env }

// New makes a Searcher.
func New(env Env) Searcher { return Searcher{env} }
