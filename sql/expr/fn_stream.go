package expr

import (
	"context"
	"math"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Streams is what the functions of change logs need of a session that has such; a
// Session may implement it. Statements may call it from several goroutines.
type Streams interface {
	// SnapshotSeq is a position of change logs: the statement sees all changes up to
	// it, and those that it does not see come after it.
	SnapshotSeq(ctx context.Context) (uint64, error)
	// StreamWait waits until the change log of a table has a record after a
	// sequence; false when the timeout passes.
	StreamWait(ctx context.Context, table string, after uint64, timeout time.Duration) (bool, error)
}

func streamDefs() []entry {
	return []entry{
		fn("snapshot_seq", "", retUint, func(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
			s, ok := ability[Streams](c)
			if !ok {
				return value.Null, sqlerr.Internal("%s() without a session", f.Name)
			}
			seq, err := s.SnapshotSeq(c.Context)
			return value.Uint(seq), err
		}, volatile|notNull|ofSession),
		fn("stream_wait", "suf", retInt(1), rowStreamWait, volatile|loose|ofSession),
	}
}

func rowStreamWait(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, ok := ability[Streams](c)
	if !ok {
		return value.Null, sqlerr.Internal("%s() without a session", f.Name)
	}
	if a[0].IsNull() || a[1].IsNull() || a[2].IsNull() || !(a[2].Float() >= 0) {
		return value.Null, sqlerr.WrongArguments("stream_wait")
	}
	wait := time.Duration(math.MaxInt64)
	if sec := a[2].Float(); sec < 9e9 {
		wait = time.Duration(sec * float64(time.Second))
	}
	ok, err := s.StreamWait(c.context(), a[0].Str(), a[1].Uint(), wait)
	return value.Bool(ok), err
}
