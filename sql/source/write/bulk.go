package write

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// BulkSink is an exec.Sink for INSERT that collects the rows of one table for a
// bulk load. Duplicates show at Finish (table.ErrBulkDuplicate); it changes and
// removes nothing.
type BulkSink struct {
	*Sink
	Bulk *table.Bulk
	w    *writer
}

var _ exec.Sink = (*BulkSink)(nil)

// Bulk makes a BulkSink. The caller excludes other writers of t and closes
// Bulk.
func (s *Sink) Bulk(t *schema.Table, opts table.BulkOptions) (*BulkSink, error) {
	w, err := s.writer(t)
	if err != nil {
		return nil, err
	}
	opts.Limits = s.env.Limits
	return &BulkSink{Sink: s, Bulk: w.codec.NewBulk(s.env.Store, opts), w: w}, nil
}

// Insert implements exec.Sink; conflict is never called.
func (b *BulkSink) Insert(_ context.Context, _ *schema.Table, row []value.Datum, _ exec.ConflictFunc) error {
	row = b.w.stored(row, &b.w.row)
	b.w.note(row)
	return b.Bulk.Add(row)
}

// Update implements exec.Sink.
func (b *BulkSink) Update(context.Context, *schema.Table, []value.Datum, []value.Datum) error {
	return sqlerr.Internal("a bulk load changes no rows")
}

// Delete implements exec.Sink.
func (b *BulkSink) Delete(context.Context, *schema.Table, []value.Datum) error {
	return sqlerr.Internal("a bulk load removes no rows")
}
