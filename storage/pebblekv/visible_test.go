package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// Groups of the store of a visibleTest: one with an image, one without.
const (
	withImage = iota + 1
	withoutImage
)

// visibleKey is too short to be of a group, and to get an image, where there is to
// be none.
func visibleKey(g byte, n byte) []byte {
	if g == withImage {
		return imageKey(g, uint64(n))
	}
	return []byte{9, n}
}

// visibleTest has a store whose commits write the same value to both groups.
type visibleTest struct {
	t     *testing.T
	s     *Store
	hook  func(step.Point)
	count int
}

func newVisibleTest(t *testing.T) *visibleTest {
	v := &visibleTest{t: t}
	var err error
	v.s, err = Open(Options{Dir: "store", FS: vfs.NewMem(), DiskReserveBytes: -1, EagerImages: true,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Steps: func(p step.Point) {
			if v.hook != nil {
				v.hook(p)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.s.Close() })
	for range 20 {
		v.must(v.commit(storage.DurabilitySync))
	}
	for !v.hasImage() { // made in the background
		v.scan(v.s.Latest(), withImage)
	}
	return v
}

func (v *visibleTest) must(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatal(err)
	}
}

func (v *visibleTest) hasImage() bool {
	v.s.images.mu.Lock()
	defer v.s.images.mu.Unlock()
	im := v.s.images.by[group(visibleKey(withImage, 0))]
	return im != nil && im.ready
}

// commit writes the next number everywhere.
func (v *visibleTest) commit(d storage.Durability) error {
	v.count++
	tx, err := v.s.Begin(bg, storage.TxnOptions{Durability: d})
	v.must(err)
	val := fmt.Appendf(nil, "%d", v.count)
	for _, g := range []byte{withImage, withoutImage} {
		v.must(tx.Put(v.t.Context(), visibleKey(g, 0), val))
		v.must(tx.Put(v.t.Context(), visibleKey(g, 1), val))
	}
	_, err = tx.Commit(v.t.Context())
	return err
}

// load is commit by sorted runs. They must not overlap with what is there.
func (v *visibleTest) load() error {
	v.count++
	b, err := v.s.BulkLoad(v.t.Context())
	v.must(err)
	for _, g := range []byte{withImage, withoutImage} {
		r, err := b.Run()
		v.must(err)
		v.must(r.Add(visibleKey(g, 0), fmt.Appendf(nil, "%d", v.count)))
		v.must(r.Add(visibleKey(g, 1), fmt.Appendf(nil, "%d", v.count)))
		v.must(r.Close())
	}
	_, err = b.Finish(v.t.Context())
	return err
}

func (v *visibleTest) get(r storage.Reader, g byte) string {
	val, err := r.Get(context.Background(), visibleKey(g, 1), nil)
	v.must(err)
	return string(val)
}

func (v *visibleTest) scan(r storage.Reader, g byte) string {
	key := visibleKey(g, 0)
	prefix := key[:min(len(key)-1, groupLen)]
	sc, err := r.Scan(context.Background(), storage.Span{Start: prefix, End: keyenc.PrefixEnd(prefix)}, storage.ScanOptions{})
	v.must(err)
	got := collect(v.t, sc, 0)
	if len(got) != 2 || got[0].val != got[1].val {
		v.t.Fatalf("group %d: %v", g, got)
	}
	return got[0].val
}

func (v *visibleTest) batch(r storage.Reader, g byte) (out string) {
	v.must(r.BatchGet(context.Background(), [][]byte{visibleKey(g, 0)}, func(_ int, value []byte) error {
		out = string(value)
		return nil
	}))
	return out
}

// show reads in all ways and returns what all of them show.
func (v *visibleTest) show() string {
	v.t.Helper()
	sn, err := v.s.Snapshot(bg)
	v.must(err)
	defer sn.Close()
	want := v.get(sn, withoutImage)
	for _, g := range []byte{withImage, withoutImage} {
		for _, r := range []storage.Reader{sn, v.s.Latest()} {
			if a, b, c := v.get(r, g), v.scan(r, g), v.batch(r, g); a != want || b != want || c != want {
				v.t.Fatalf("%T of group %d: a look-up shows %s, a scan %s, look-ups %s; a snapshot %s", r, g, a, b, c, want)
			}
		}
		if val, err := v.s.GetPresumedAbsent(context.Background(), visibleKey(g, 0), nil); err != nil || string(val) != want {
			v.t.Fatalf("group %d: a presumed absent key has %s, %v; a snapshot %s", g, val, err, want)
		}
	}
	if got := v.s.Seq(); got != sn.Seq() {
		v.t.Fatalf("the store is at %d, a snapshot at %d", got, sn.Seq())
	}
	return want
}

// At each step of a commit all readers show the same state.
func TestVisibleSteps(t *testing.T) {
	v := newVisibleTest(t)
	for _, d := range []storage.Durability{storage.DurabilitySync, storage.DurabilityWrite, storage.DurabilityNone} {
		var taken []string
		v.hook = func(p step.Point) {
			if p >= step.CommitMarked && p <= step.CommitSynced {
				before := v.hook
				v.hook = nil
				taken = append(taken, fmt.Sprint(p, " ", v.show() == fmt.Sprint(v.count)))
				v.hook = before
			}
		}
		v.must(v.commit(d))
		v.hook = nil
		const want = "[CommitMarked false CommitStarted false CommitNoted false CommitApplied true CommitStored true CommitReleased true CommitSynced true]"
		if got := fmt.Sprint(taken); got != want {
			t.Errorf("the commit can be seen at\n%s, want\n%s", got, want)
		}
	}
}

// So they do at each step of a bulk load, which drops images.
func TestVisibleLoad(t *testing.T) {
	v := newVisibleTest(t)
	steps := 0
	v.hook = func(p step.Point) {
		before := v.hook
		v.hook = nil
		if visible := v.show() == fmt.Sprint(v.count); visible != (p >= step.CommitApplied) {
			t.Errorf("visible at %s: %v", p, visible)
		}
		v.hook = before
		steps++
	}
	v.must(v.load())
	if steps != 4 {
		t.Errorf("%d steps", steps)
	}
}

// A commit that fails is shown to all or to none.
func TestVisibleFailure(t *testing.T) {
	for _, at := range []step.Point{step.CommitStarted, step.CommitNoted, step.CommitApplied, step.CommitStored} {
		v := newVisibleTest(t)
		v.hook = func(p step.Point) {
			if p == at {
				v.s.disk.freeze("test", errors.New("planted"))
			}
		}
		if err := v.commit(storage.DurabilityNone); at <= step.CommitNoted && !errors.Is(err, storage.ErrUndetermined) {
			t.Errorf("frozen at %s: %v", at, err)
		}
		v.hook = nil
		v.show()
		if err := v.commit(storage.DurabilityNone); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("frozen at %s: the next commit gave %v", at, err)
		}
		v.show()
	}
}
