package kvread

import "github.com/sqlots/sqlots/sql/source/rows"

// Reader reads the rows of tables for one statement.
type Reader struct{ state *rows.State }

// New makes a Reader.
func New(state *rows.State) Reader { return Reader{state} }
