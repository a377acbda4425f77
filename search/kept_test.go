package search

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// TestKeptFiles: a table that was copied, or has lost columns, goes on with the
// files of the index that it had; those of a table without rows do not.
func TestKeptFiles(t *testing.T) {
	t.Parallel()
	eachStore(t, func(w *world) {
		w.table.Columns = append(w.table.Columns, schema.Column{ID: 2, Name: "u"})
		w.table.Search[0].Fields = append(w.table.Search[0].Fields, schema.SearchField{ID: 2, Column: 2})
		w.fill(300)
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		n := len(w.rows.asked())
		name := w.m.Files(w.table, &w.table.Search[0])
		copied := w.table.Clone()
		copied.ID = 9
		copied.Columns = copied.Columns[:1]
		copied.Search[0].Fields = copied.Search[0].Fields[:1]
		copied.Search[0].Files = &schema.SearchFiles{Name: name, Table: 9}
		old := w.table
		w.table = copied
		txn, err := w.store.Begin(t.Context(), storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(300) { // without records
			if err := errors.Join(txn.Put(t.Context(), rowKey(copied, number(i)), number(i*3+1)), txn.Delete(t.Context(), rowKey(old, number(i)))); err != nil {
				t.Fatal(err)
			}
		}
		w.m.Update([]*schema.Table{copied})
		if _, err := txn.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if w.m.Index(copied, 2) == nil {
			t.Fatal("it does not serve")
		}
		w.exact()
		w.change(map[uint64]uint64{5: 77, 6: 0})
		w.caughtUp()
		w.exact()
		w.restart()
		w.exact()
		if got := len(w.rows.asked()) - n; got > 10 {
			t.Errorf("%d rows were read", got)
		}
		snap := w.snapshot()
		defer snap.Close()
		docs, err := w.m.Check(t.Context(), snap, copied, &copied.Search[0], func(key []byte, text string) { t.Errorf("%x: %s", key, text) })
		if err != nil || docs != 299 {
			t.Errorf("%d documents were compared: %v", docs, err)
		}
		emptied := copied.Clone()
		emptied.ID = 10
		w.table = emptied
		w.m.Update([]*schema.Table{emptied})
		w.exact()
		if docs := w.index().Docs(); docs != 0 {
			t.Errorf("%d documents of a table without rows", docs)
		}
	})
}

// TestCopiedMeanwhile: a table is copied while its index, which keeps its files, is at a
// step between the state of the store that it reads and the files. It never reads a table
// in a state in which that was not filled yet, or not there any more.
func TestCopiedMeanwhile(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	const all = 300
	for _, build := range []bool{false, true} {
		for _, at := range []step.Point{step.FollowTaken, step.FollowRead, step.FollowMade} {
			if build && at == step.FollowRead {
				continue // it reads no change log
			}
			t.Run(fmt.Sprint(at, " build ", build), func(t *testing.T) {
				eachStore(t, func(w *world) {
					reached, goOn := make(chan struct{}), make(chan struct{})
					var stop atomic.Bool
					w.steps = func(p step.Point) {
						if p == at && stop.CompareAndSwap(true, false) {
							reached <- struct{}{}
							<-goOn
						}
					}
					if !build {
						w.start()
						defer func() { w.m.Close() }()
						w.fill(all)
						w.caughtUp()
						stop.Store(true)
						w.change(map[uint64]uint64{3: 77, 5: 0, all: 78})
					} else {
						w.fill(all + 1)
						w.change(map[uint64]uint64{3: 77, 5: 0, all: 78})
						stop.Store(true)
						w.start()
						defer func() { w.m.Close() }()
					}
					<-reached
					copied := w.table.Clone()
					copied.ID = 9
					copied.Search[0].Files = &schema.SearchFiles{Name: w.m.Files(w.table, &w.table.Search[0]), Table: 9}
					put := func(to *schema.Table, remove bool) {
						txn, err := w.store.Begin(t.Context(), storage.TxnOptions{})
						if err != nil {
							t.Fatal(err)
						}
						for i := range uint64(all + 1) { // without records
							k, v := rowKey(to, number(i)), i*3+1
							switch i {
							case 3:
								v = 77
							case all:
								v = 78
							}
							if i == 5 || remove {
								err = txn.Delete(t.Context(), k)
							} else {
								err = txn.Put(t.Context(), k, number(v))
							}
							if err != nil {
								t.Fatal(err)
							}
						}
						if _, err := txn.Commit(t.Context()); err != nil {
							t.Fatal(err)
						}
					}
					put(copied, false)
					old := w.table
					w.table = copied
					w.m.Update([]*schema.Table{copied})
					put(old, true)
					close(goOn)
					w.change(map[uint64]uint64{7: 79})
					w.caughtUp()
					w.exact()
					if docs := w.index().Docs(); docs != all {
						t.Errorf("%d documents", docs)
					}
				})
			})
		}
	}
}
