package kvread

import (
	"bytes"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// maxWithin is the most spans into which each key of a lookup is split.
const maxWithin = 16

// makesRanges reports the functions of the filters that are looked at.
func makesRanges(op expr.Op) bool {
	switch op {
	case expr.OpEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpIn, expr.OpAnd, expr.OpOr:
		return true
	}
	return false
}

// setWithin finds the spans, after the key of a lookup, of the rows that the
// filters can accept: those of "c.start BETWEEN 5 AND 9" in a lookup by station
// in an index on (station, start). The filters stay: the spans only spare
// reading.
func (l *lookup) setWithin(ec *expr.Ctx) {
	n, space := l.leaf, &l.space
	end := len(space.parts)
	if l.x != nil && space.unique {
		end = space.own // what follows differs from entry to entry
	}
	if l.points || n.Latest || l.used != l.nkeys || l.used >= end {
		return
	}
	part := &space.parts[l.used]
	col := n.Table.Columns[part.Pos]
	if !col.Type.IsInteger() || space.stamp != nil {
		return
	}
	set, _ := ranges.Build([]ranges.Column{{Table: part.Pos, Type: col.Type, Desc: part.Desc, Null: col.Nullable}}, l.tableConds(part.Pos))
	if set == nil {
		return
	}
	list, err := set.Spans(ec)
	if err != nil || len(list) > maxWithin {
		return // the filters will report the error
	}
	following := keySpace{parts: space.parts[l.used : l.used+1], own: 1}
	spans, _ := following.spans(list, &l.zone)
	l.within, l.hasWithin = spans, true
}

// tableConds are the filters that depend on nothing but the column at pos, with
// columns by their positions in the table.
func (l *lookup) tableConds(pos int) []expr.Expr {
	var out []expr.Expr
	lists := []*physical.TableRead{&l.leaf.TableRead}
	if l.join != nil {
		lists = append(lists, &l.join.TableRead)
	}
	for _, n := range lists {
		for _, f := range n.Filter {
			only := true
			expr.Walk(f, func(e expr.Expr) bool {
				switch x := e.(type) {
				case *expr.Col:
					only = only && x.Index >= 0 && x.Index < len(n.Read) && n.Read[x.Index] == pos
				case *expr.Const, *expr.Param:
				case *expr.Func:
					// Nothing whose value may differ from call to call.
					only = only && makesRanges(x.Op)
				default:
					only = false
				}
				return only
			})
			if !only {
				continue
			}
			out = append(out, expr.Map(f, func(e expr.Expr) expr.Expr {
				if c, ok := e.(*expr.Col); ok {
					placed := *c
					placed.Index = pos
					return &placed
				}
				return e
			}))
		}
	}
	return out
}

// spansOf are the spans that are read for a key.
func (l *lookup) spansOf(key []byte) []storage.Span {
	l.keySpans = l.keySpans[:0]
	if !l.hasWithin {
		return append(l.keySpans, storage.Span{Start: key, End: keyenc.PrefixEnd(key)})
	}
	for _, s := range l.within {
		out := storage.Span{Start: append(bytes.Clone(key), s.Start...)}
		if s.End == nil {
			out.End = keyenc.PrefixEnd(key)
		} else {
			out.End = append(bytes.Clone(key), s.End...)
		}
		l.keySpans = append(l.keySpans, out)
	}
	return l.keySpans
}
