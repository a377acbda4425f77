package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sqlots/sqlots/internal/invariants"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/stream"
)

// ErrUnavailable: the index cannot answer for this view of the store; another way
// to read the table has to be taken.
var ErrUnavailable = errors.New("search index is not available")

// View is an index as a statement sees it.
type View struct {
	*seg.Snapshot
	// Changed are the keys of rows, without the table's prefix, ascending, about
	// which the documents say nothing: the rows themselves have to be looked at.
	Changed [][]byte
	// Waited is how long the view was waited for.
	Waited time.Duration
	steps  step.Hook
}

// At says that the reader of the view has come to a step.
func (v *View) At(p step.Point) { v.steps.At(p) }

// A view that would leave too many rows to be looked at is waited for, but not
// for ever.
const (
	maxChanged = 10_000
	maxWait    = 2 * time.Second
)

// maxOverlay is the most changes that a view may have after its files. With more, which
// are not even read, the table is the better choice.
var maxOverlay = 200_000

// errTooMany: there are more changes than that.
var errTooMany = fmt.Errorf("%w: too many rows were changed", ErrUnavailable)

// open is a snapshot of the files, ready ones or any, and what they cover; those
// that are closed are opened.
func (x *Index) open(ctx context.Context, any bool) (snap *seg.Snapshot, covers [2]uint64, err error) {
	x.used.Store(time.Now().UnixNano())
	for {
		x.mu.Lock()
		files, state, asleep, news := x.seg, x.now, x.asleep, x.changed
		covers = x.covers
		x.mu.Unlock()
		if state != Ready && !any || files == nil && !asleep {
			return nil, covers, ErrUnavailable
		}
		if files != nil && !asleep {
			snap, err := files.Snapshot()
			if err == nil {
				return snap, covers, nil
			}
			if !errors.Is(err, seg.ErrClosed) || x.m.ctx.Err() != nil {
				return nil, covers, errors.Join(ErrUnavailable, err)
			}
			// it is being closed, or the next turn finds the damage
		}
		x.wake()
		select {
		case <-news:
		case <-ctx.Done():
			return nil, covers, context.Cause(ctx)
		case <-x.m.ctx.Done():
			return nil, covers, ErrUnavailable
		}
	}
}

// Newest is the current state of the index: rows that were changed since may be
// missing from it, or have other values. The caller closes it.
func (x *Index) Newest(ctx context.Context) (*View, error) {
	snap, _, err := x.open(ctx, false)
	if err != nil {
		return nil, err
	}
	return &View{Snapshot: snap}, nil
}

// Moment is a state of the store.
type Moment struct {
	// Seq and Settled are those of storage.Snapshot. Changes up to Settled are all in the
	// state, those after Seq are not, and of those between some may be.
	Seq, Settled uint64
}

// MomentOf is the state that a snapshot shows.
func MomentOf(ctx context.Context, kv storage.Snapshot) (Moment, error) {
	settled, err := kv.Settled(ctx)
	return Moment{Seq: kv.Seq(), Settled: settled}, err
}

// View is the index for a reader of a state of the store; own are the keys that
// the reader's transaction has written, ascending. The caller closes it.
func (x *Index) View(ctx context.Context, at Moment, own [][]byte) (*View, error) {
	x.m.cfg.Steps.At(step.SearchNumbered)
	return x.await(ctx, at, own, maxChanged)
}

// CatchUp waits, as View does, until the files have all changes of a state.
func (x *Index) CatchUp(ctx context.Context, at Moment) error {
	v, err := x.await(ctx, at, nil, 0)
	if err != nil {
		return err
	}
	return v.Close()
}

// await is View with so many changed rows.
func (x *Index) await(ctx context.Context, at Moment, own [][]byte, most int) (*View, error) {
	start := time.Now()
	for {
		news := x.news()
		v, grows, err := x.view(ctx, at)
		waited := time.Since(start)
		// The number of changes after an old view does not shrink.
		enough := waited > maxWait || !grows
		if err != nil && (enough || !errors.Is(err, errTooMany)) {
			return nil, err
		}
		if err == nil {
			if v.Waited = waited; enough || len(v.Changed) <= most {
				if len(own) > 0 {
					v.Changed = append(v.Changed, own...)
					slices.SortFunc(v.Changed, bytes.Compare)
					v.Changed = slices.CompactFunc(v.Changed, bytes.Equal)
				}
				return v, nil
			}
			if err := v.Close(); err != nil {
				return nil, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-news:
		case <-time.After(maxWait):
		}
	}
}

// view is the index for a state now; grows: the files come nearer to it.
func (x *Index) view(ctx context.Context, at Moment) (v *View, grows bool, err error) {
	snap, covers, err := x.open(ctx, false)
	if err != nil {
		return nil, false, err
	}
	v = &View{Snapshot: snap, steps: x.m.cfg.Steps}
	v.At(step.SearchOpened)
	grows = at.Settled > snap.Checkpoint()
	low, high := bounds(snap)
	if covers[0] == low {
		until := covers[1]
		if at.Seq > until && x.desc.Load().unchanged(until) {
			until = at.Seq
		}
		v.At(step.SearchAsked)
		low, high = max(low, until), max(high, until)
		if at.Settled >= covers[0] && at.Seq <= until && high <= until {
			return v, grows, nil // nothing has changed in between
		}
	}
	knobs := x.m.cfg.Knobs
	if v.Changed, err = x.between(ctx, min(low, at.Settled), max(high, knobs.until(at.Seq))); err != nil {
		return nil, grows, errors.Join(err, snap.Close())
	}
	v.Changed = knobs.changed(v.Changed)
	v.At(step.SearchOverlaid)
	return v, grows, nil
}

// between are the keys that were changed between two sequences. It is called for more
// than two states differ in where not all is settled: files and reader have all changes
// up to the first, and none after the second.
func (x *Index) between(ctx context.Context, after, upTo uint64) ([][]byte, error) {
	if after == upTo {
		return nil, nil
	}
	d := x.desc.Load()
	if d.table.Stream == nil {
		return nil, ErrUnavailable
	}
	// The log is read at the store's newest sequence, not at the statement's, as the
	// files may be ahead of that.
	kv, err := x.m.cfg.Store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer kv.Close()
	if seq := kv.Seq(); seq < upTo {
		invariants.Violated("the change log is read at %d for the changes up to %d", seq, upTo)
		return nil, ErrUnavailable
	}
	keys, _, done, err := changedKeys(ctx, kv, d.table.Stream.ID, after, upTo, maxOverlay)
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, errTooMany
	}
	mark, err := stream.Mark(ctx, kv, d.table.Stream.ID)
	if err != nil {
		return nil, err
	}
	if mark > after { // some were removed
		return nil, ErrUnavailable
	}
	return keys, nil
}

// Read calls fn with the newest state of the files; ErrUnavailable when there are
// none.
func (x *Index) Read(ctx context.Context, fn func(s *seg.Snapshot) error) error {
	snap, _, err := x.open(ctx, true)
	if err != nil {
		return err
	}
	return errors.Join(seg.Guard(func() error { return fn(snap) }), snap.Close())
}
