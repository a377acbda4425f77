package kvread

import "github.com/sqlots/sqlots/sql/source/decode"

// Reader reads the rows of tables for one statement.
type Reader struct{ state *decode.State }

// New makes a Reader.
func New(state *decode.State) Reader { return Reader{state} }
