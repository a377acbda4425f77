package exec

import (
	"context"

	"github.com/sqlots/sqlots/value"
)

// Rows that wait for their locks: at most so many, and about so many bytes.
const (
	gatherRows  = 1000
	gatherBytes = 1 << 20
)

// newRow is a row that waits, and its generated AUTO_INCREMENT value, 0 without.
type newRow struct {
	row       []value.Datum
	generated uint64
}

// simple reports rows that do not depend on how the ones before them went in.
func (in *Inserter) simple() bool {
	return !in.x.Replace && !in.x.Ignore && len(in.x.OnDuplicate) == 0 && in.env.Reject == nil && !in.inKey && in.returned == nil
}

// wait keeps the row until its locks are taken with those of others.
func (in *Inserter) wait(ctx context.Context, generated uint64) error {
	row := make([]value.Datum, len(in.row))
	for i, d := range in.row {
		row[i] = d.Clone()
		in.waiting += d.Size()
	}
	in.gathered = append(in.gathered, newRow{row, generated})
	if generated == 0 && in.auto >= 0 {
		in.explicit(row[in.auto]) // the next generated value is greater
	}
	if len(in.gathered) < gatherRows && in.waiting < gatherBytes {
		return nil
	}
	return in.flush(ctx)
}

// flush inserts the rows that wait.
func (in *Inserter) flush(ctx context.Context) error {
	if len(in.gathered) == 0 {
		return nil
	}
	list := in.gathered
	in.gathered, in.waiting = in.gathered[:0], 0
	rows := make([][]value.Datum, len(list))
	for i := range list {
		rows[i] = list[i].row
	}
	if err := in.env.Sink.Reserve(ctx, in.t, nil, rows); err != nil {
		return err
	}
	last := in.row
	defer func() { in.row = last }()
	for i := range list {
		in.row = list[i].row
		if err := in.insert(ctx, list[i].generated); err != nil {
			return err
		}
	}
	return nil
}

// failed is the first error of rows that wait, or err, which came after them.
func (in *Inserter) failed(ctx context.Context, err error) error {
	if first := in.flush(ctx); first != nil {
		return first
	}
	return err
}
