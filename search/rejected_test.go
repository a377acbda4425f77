package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/search/seg"
)

// rejected are the numbers of the rows that are marked, of all and for a field.
func (w *world) rejected(x *Index, f seg.FieldID) (all, of, estimate int) {
	w.Helper()
	err := x.Read(context.Background(), func(s *seg.Snapshot) error {
		n, err := CountMarked(s, []Mark{{Field: f}})
		estimate = int(n + .5)
		if err != nil {
			return err
		}
		if all, err = countRejected(s, x.desc.Load().index); err != nil {
			return err
		}
		each := 0
		err = EachRejected(s, x.desc.Load().index, func(_ []byte, fields []seg.FieldID) bool {
			each++
			for _, g := range fields {
				if g == f {
					of++
				}
			}
			return true
		})
		if each != all {
			w.Errorf("%d are counted, there are %d", all, each)
		}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return all, of, estimate
}

// TestRejected: rows with a value that a field cannot take are looked at
// themselves, whatever becomes of them; those of other fields are not.
func TestRejected(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	eachStore(t, func(w *world) {
		w.rows.rejects = true
		w.fill(2*buildRows + 100) // 3*i+1: every fifth
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		const want = (2*buildRows + 100) / 5
		if all, of, about := w.rejected(w.index(), 1); all != want || of != want || about != want {
			t.Errorf("%d, %d and about %d are rejected, want %d", all, of, about, want)
		}
		if _, of, about := w.rejected(w.index(), 2); of != 0 || about != 0 {
			t.Errorf("%d and about %d are rejected of a field without", of, about)
		}
		if i := w.index().Info(); i.Rejected != want {
			t.Errorf("Info tells %d", i.Rejected)
		}
		// One is mended, one goes, one comes, one was good.
		w.change(map[uint64]uint64{3: 11, 8: 0, 1 << 30: 25, 4: 10})
		w.exact()
		w.caughtUp()
		w.exact()
		if all, _, _ := w.rejected(w.index(), 1); all != want {
			t.Errorf("%d are rejected, want %d", all, want)
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		for round := range 30 {
			rows := map[uint64]uint64{}
			for range 200 {
				rows[rnd.Uint64N(500)] = rnd.Uint64N(100)
			}
			w.change(rows)
			w.exact()
			if round%10 == 9 {
				w.caughtUp()
				if err := w.index().seg.Merge(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.exact()
				w.restart()
			}
		}
		w.exact()
	})
}

// TestNothingRejected: a view without marks costs nothing more.
func TestNothingRejected(t *testing.T) {
	t.Parallel()
	eachStore(t, func(w *world) {
		w.rows.rejects = true
		w.change(map[uint64]uint64{1: 1, 2: 2})
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		w.caughtUp()
		v, err := w.index().View(context.Background(), settledAt(w.store.Seq()), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Except([]Mark{{Field: 1}, {Field: 2}}); err != nil || len(v.Changed) > 0 {
			t.Errorf("%d rows are looked at, %v", len(v.Changed), err)
		}
		if err := errors.Join(v.Close()); err != nil {
			t.Fatal(err)
		}
	})
}
