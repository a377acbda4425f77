package schema

// TTL is when the rows of a table expire. It is not changed in place.
type TTL struct {
	// Column is a DATE, DATETIME or TIMESTAMP column.
	Column ColumnID `json:"column"`
	// Value and Unit are those of INTERVAL, in SQL.
	Value string `json:"value"`
	Unit  string `json:"unit"`
	// Off: TTL_ENABLE = 'OFF', no row expires.
	Off bool `json:"off,omitempty"`
	// JobInterval is how many seconds after its start the removal of expired
	// rows starts again; 0 for an hour.
	JobInterval int64 `json:"job_interval,omitempty"`
}

// Expires reports whether rows of the table expire.
func (t *Table) Expires() bool { return t.TTL != nil && !t.TTL.Off }
