package search

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/search/seg"
)

// A query reads all segments of an index, a merge writes all their documents. The files
// are merged into one segment after mergeAfter without a change, if all but the largest
// segment have at least 1/mergeShare of the documents; after lateMerge times as long in
// any case. So a change from time to time does not have the whole index written again.
const (
	mergeAfter = 30 * time.Second
	mergeShare = 8
	lateMerge  = 8
)

// quiet merges the segments of files that have not been changed for a while, next to the
// loop that follows the change log.
type quiet struct {
	x       *Index
	files   *seg.Index
	timer   *time.Timer
	batches int           // at the last call of begins; -1 before the first
	late    bool          // the timer runs for the second time since a change
	done    chan struct{} // closed when the last merge has ended; nil before the first
	stop    context.CancelFunc
}

func (x *Index) newQuiet(files *seg.Index) *quiet {
	q := &quiet{x: x, files: files, timer: time.NewTimer(x.m.mergeAfter), batches: -1, stop: func() {}}
	q.timer.Stop()
	return q
}

// begins notes that there is nothing to follow for now. The time counts from the last
// change: where others write to the store, the index looks for changes all the time.
func (q *quiet) begins() {
	if q.batches == q.x.batches {
		return
	}
	q.batches, q.late = q.x.batches, false
	q.timer.Reset(q.x.m.mergeAfter)
}

// lasts is called when the timer has fired.
func (q *quiet) lasts(ctx context.Context) {
	late := q.late
	if !late {
		q.late = true
		q.timer.Reset((lateMerge - 1) * q.x.m.mergeAfter)
	}
	if q.runs() {
		return
	}
	s, err := q.files.Scattered()
	if err != nil || !isWorthMerging(s, late) {
		return // what is wrong with the files shows where they are used
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	q.stop, q.done = stop, done
	go func() {
		defer close(done)
		defer stop()
		guard.Do(q.x.m.cfg.Log, "merging a search index", func() { q.merge(ctx) })
	}()
}

func isWorthMerging(s seg.Scattering, late bool) bool {
	return s.Segments > 1 && (late || mergeShare*s.Small >= s.Docs)
}

// merge takes its turn among the indexes.
func (q *quiet) merge(ctx context.Context) {
	select {
	case q.x.m.merging <- struct{}{}:
		defer func() { <-q.x.m.merging }()
	case <-ctx.Done():
		return
	}
	if err := q.files.Merge(ctx); err != nil && ctx.Err() == nil {
		d := q.x.desc.Load()
		q.x.m.cfg.Log.Warn("merging a search index", "event", "search.merge", "table", d.table.Database+"."+d.table.Name, "index", d.index.Name, "error", err)
	}
}

// runs reports a merge that has not ended.
func (q *quiet) runs() bool {
	if q.done == nil {
		return false
	}
	select {
	case <-q.done:
		return false
	default:
		return true
	}
}

// end ends a merge that runs.
func (q *quiet) end() {
	q.timer.Stop()
	q.stop()
	if q.done != nil {
		<-q.done
	}
}
