package search

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage/memkv"
)

// files are those of the index, of a kind.
func (w *world) files(suffix string) []string {
	w.Helper()
	list, err := filepath.Glob(filepath.Join(w.dir, "*", "*"+suffix))
	if err != nil || len(list) == 0 {
		w.Fatalf("no files %s: %v", suffix, err)
	}
	return list
}

// TestDamagedFiles damages the files of an index that is not open: it answers
// right or not at all, and then is built again.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	flip := func(path string, r *rand.Rand) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for range 20 {
			b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		}
		return os.WriteFile(path, b, 0o600)
	}
	bit := func(path string, r *rand.Rand) error {
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return os.WriteFile(path, b, 0o600)
	}
	zero := func(path string, _ *rand.Rand) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, make([]byte, info.Size()), 0o600)
	}
	cases := []struct {
		name, suffix string
		damage       func(path string, r *rand.Rand) error
		rebuilt      bool // always
	}{
		{"flip segments", ".zap", flip, false},
		{"flip root", "root.bolt", flip, false},
		{"bit of segments", ".zap", bit, false},
		{"bit of root", "root.bolt", bit, false},
		{"zero segments", ".zap", zero, true},
		{"zero root", "root.bolt", zero, true},
		{"empty segments", ".zap", func(p string, _ *rand.Rand) error { return os.Truncate(p, 0) }, true},
		{"remove segments", ".zap", func(p string, _ *rand.Rand) error { return os.Remove(p) }, true},
		{"remove root", "root.bolt", func(p string, _ *rand.Rand) error { return os.Remove(p) }, true},
		{"cut segments", ".zap", func(p string, _ *rand.Rand) error { return os.Truncate(p, 100) }, true},
		{"cut root", "root.bolt", func(p string, _ *rand.Rand) error { return os.Truncate(p, 5000) }, true},
		{"empty root", "root.bolt", func(p string, _ *rand.Rand) error { return os.Truncate(p, 0) }, true},
	}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 1))
			store := memkv.New(memkv.Options{})
			defer store.Close()
			w := newWorld(t, store)
			w.fill(500)
			w.start()
			defer func() { w.m.Close() }()
			w.exact()
			for range 3 {
				w.m.Close()
				for _, path := range w.files(c.suffix) {
					if err := c.damage(path, r); err != nil {
						t.Fatal(err)
					}
				}
				n := len(w.rows.asked())
				w.start()
				w.exact()
				w.change(map[uint64]uint64{r.Uint64N(500): 1 + r.Uint64N(9)})
				w.caughtUp()
				w.exact()
				if got := len(w.rows.asked()) - n; c.rebuilt && got < 500 {
					t.Errorf("%d rows were read: not built anew", got)
				}
			}
		})
	}
}

// TestDamageIsSeen: damage that a query finds first takes the index out of
// service, and it is built again without any change of the table.
func TestDamageIsSeen(t *testing.T) {
	t.Parallel()
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.fill(2000)
	w.start()
	defer func() { w.m.Close() }()
	w.exact()
	w.m.Close()
	for _, path := range w.files(".zap") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[64] ^= 1 // of a section, which is verified at its first use
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := len(w.rows.asked())
	w.start()
	w.eventually("the damage is found", func() error {
		if len(w.rows.asked()) > n {
			return nil // built again, perhaps before the first look
		}
		x := w.m.Index(w.table, 2)
		if x == nil {
			return errors.New("not ready")
		}
		s := w.snapshot()
		defer s.Close()
		if err := w.compare(x, s); errors.Is(err, seg.ErrDamaged) {
			return nil
		}
		return errors.New("not found")
	})
	w.eventually("it is built anew", func() error {
		if len(w.rows.asked())-n < 2000 {
			return errors.New("not yet")
		}
		return nil
	})
	w.exact()
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.fill(10)
	orphan := filepath.Join(w.dir, "7-9-0123456789abcdef")
	if err := os.MkdirAll(filepath.Join(orphan, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	gone := func(path string) {
		t.Helper()
		w.eventually("the directory goes", func() error {
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				return errors.New("it is there")
			}
			return nil
		})
	}
	w.start()
	defer func() { w.m.Close() }()
	gone(orphan)
	w.exact()
	// Another list of fields is another directory; and an index that comes
	// again at once is built again.
	old := w.index().dir
	first, other := w.table, w.table.Clone()
	other.Columns = append(other.Columns, schema.Column{ID: 2, Name: "u"})
	other.Search[0].Fields = append(other.Search[0].Fields, schema.SearchField{ID: 2, Column: 2})
	w.table = other
	w.m.Update([]*schema.Table{other})
	w.exact()
	gone(old)
	for range 5 {
		w.m.Update(nil)
		w.m.Update([]*schema.Table{first})
		w.m.Update([]*schema.Table{other})
	}
	w.exact()
	now := w.index().dir
	w.m.Update(nil)
	gone(now)
	if list := w.m.Infos(); len(list) != 0 {
		t.Errorf("%d indexes", len(list))
	}
}

// damageFile changes a byte of a section.
func damageFile(t testing.TB, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[64] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
