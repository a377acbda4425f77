package schema

// StreamID names the change log of a table. It stays when the table gets
// another id, and is never given out again.
type StreamID uint32

// Stream is the change log of a table. It is not changed in place.
type Stream struct {
	// ID is given out with the descriptor that first has the stream.
	ID StreamID `json:"id"`
	// Retention is how many seconds records are kept at least.
	Retention int64 `json:"retention"`
	// MaxBytes bounds what records take on disk, roughly; 0 for no bound.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// Internal: no statement turned the stream on; a search index reads it.
	Internal bool `json:"internal,omitempty"`
}

// KeepsVersions reports whether earlier versions of rows are kept.
func (t *Table) KeepsVersions() bool { return t.MaxVersions > 1 }

// IsLogged reports whether changes of rows leave more than the rows: records
// or earlier versions.
func (t *Table) IsLogged() bool { return t.Stream != nil || t.KeepsVersions() }
