package infoschema

import "time"

// Load is a piece of a file that was loaded under a token.
type Load struct {
	Token          string
	Time           time.Time
	Rows, Rejected uint64
	Rejects        string // JSON
}

// ownTables are those that MySQL does not have.
func ownTables() []*table {
	return []*table{
		newTable(infoDB, "SQLOTS_LOADS", "TOKEN s200, LOADED_AT d, ROWS_LOADED u, ROWS_REJECTED u, REJECTS t", loads),
	}
}

func loads(q *query) error {
	list, err := q.server.Loads()
	if err != nil {
		return err
	}
	for _, l := range list {
		if err := q.emit(l.Token, l.Time, l.Rows, l.Rejected, l.Rejects); err != nil {
			return err
		}
	}
	return nil
}
