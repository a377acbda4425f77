package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Rows that wait for their locks: at most so many, and about so many bytes.
const (
	gatherRows  = 1000
	gatherBytes = 1 << 20
)

// newRow is a row that waits.
type newRow struct {
	row       []value.Datum
	extra     []value.Datum // Inserter.extra
	generated uint64        // its AUTO_INCREMENT value, 0 without
	number    uint64
	warnings  []sqlerr.Warning // that came before its own
}

// startGather has rows wait where the store is on other machines.
func (in *Inserter) startGather() {
	in.gather = in.env.Sink.Remote() && !in.single && in.returned == nil && !in.inKey && !ordersMatter(in.x)
	if in.unsure = !in.simple(); in.gather && in.unsure {
		in.warn = in.ec.Warn
		in.hold()
	}
}

// simple reports rows of which one that is wrong ends the statement: they raise no warnings
// when they are written.
func (in *Inserter) simple() bool {
	return !in.x.Replace && !in.x.Ignore && len(in.x.OnDuplicate) == 0 && in.env.Reject == nil
}

// ordersMatter reports whether ON DUPLICATE KEY UPDATE may do something else when rows
// that follow are computed before.
func ordersMatter(x *physical.Insert) bool {
	found := false
	for _, a := range x.OnDuplicate {
		if a.Value == nil {
			continue
		}
		expr.Walk(a.Value, func(e expr.Expr) bool {
			switch e := e.(type) {
			case *expr.Subquery:
				found = true
			case *expr.Func:
				found = found || e.Op == expr.OpGetVar || e.Op == expr.OpSetVar
			}
			return !found
		})
	}
	return found
}

// hold keeps warnings until the rows before them are written.
func (in *Inserter) hold() {
	if in.warn != nil {
		in.ec.Warn = func(w sqlerr.Warning) { in.held = append(in.held, w) }
	}
}

// say gives out warnings, and those that follow at once.
func (in *Inserter) say(list []sqlerr.Warning) {
	if in.warn == nil {
		return
	}
	in.ec.Warn = in.warn
	for _, w := range list {
		in.warn(w)
	}
}

// wait keeps the row until its locks are taken with those of others. Where it is not known
// whether it will be there, a value that was given for the AUTO_INCREMENT column says
// nothing of the next one: then it does not wait.
func (in *Inserter) wait(ctx context.Context, generated uint64) error {
	given := generated == 0 && in.auto >= 0
	if given && in.unsure {
		if err := in.flush(ctx); err != nil {
			return err
		}
		in.say(in.held)
		in.held = nil
		defer in.hold()
		return in.insert(ctx, generated)
	}
	n := newRow{row: in.own(in.row), generated: generated, number: in.records, warnings: in.held}
	if len(in.x.OnDuplicate) > 0 {
		n.extra = in.own(in.extra)
	}
	in.gathered, in.held = append(in.gathered, n), nil
	if given {
		in.explicit(n.row[in.auto]) // the next generated value is greater
	}
	if len(in.gathered) < gatherRows && in.waiting < gatherBytes {
		return nil
	}
	return in.flush(ctx)
}

// own copies values of a row that waits.
func (in *Inserter) own(row []value.Datum) []value.Datum {
	out := make([]value.Datum, len(row))
	for i, d := range row {
		out[i] = d.Clone()
		in.waiting += d.Size()
	}
	return out
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
	if err := in.env.Sink.Reserve(ctx, in.t, nil, rows, in.x.Replace); err != nil {
		return err
	}
	row, extra, records := in.row, in.extra, in.records
	defer func() { in.row, in.extra, in.records = row, extra, records }()
	defer in.hold()
	for i := range list {
		n := &list[i]
		in.row, in.extra, in.records = n.row, n.extra, n.number
		in.say(n.warnings)
		if err := in.rejected(in.insert(ctx, n.generated)); err != nil {
			return err
		}
	}
	return nil
}

// endGather inserts the rows that still wait, and gives out all warnings. The first error of
// these rows is that of the statement: err came after them.
func (in *Inserter) endGather(ctx context.Context, err error) error {
	if first := in.flush(ctx); first != nil {
		err = first
	}
	in.say(in.held)
	in.held = nil
	return err
}
