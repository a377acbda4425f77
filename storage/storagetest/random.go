package storagetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// testTransfers moves money between accounts from many goroutines, locking in
// random order so that deadlocks happen; each snapshot must show the same sum.
func testTransfers(t *testing.T, s storage.Store) {
	const accounts, workers, rounds, each = 12, 8, 60, 100
	x := begin(t, s)
	for i := range accounts {
		put(t, x, kv{key(i), strconv.Itoa(each)})
	}
	commit(t, x)
	stop := make(chan struct{})
	var readers, wg sync.WaitGroup
	readers.Add(1)
	go func() {
		defer readers.Done()
		for {
			select {
			case <-stop:
				return
			default:
			}
			sn, err := s.Snapshot(bg)
			if err != nil {
				t.Error(err)
				return
			}
			sum := 0
			for _, p := range collect(t, sn, storage.Span{}, storage.ScanOptions{}) {
				n, _ := strconv.Atoi(p.v)
				sum += n
			}
			if sum != accounts*each {
				t.Errorf("the sum is %d", sum)
			}
			_ = sn.Close()
		}
	}()
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for done := 0; done < rounds; {
				err := transfer(s, rng, accounts)
				switch {
				case err == nil:
					done++
				case !errors.Is(err, storage.ErrDeadlock):
					t.Error(err)
					return
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	if n := len(s.Locks()); n != 0 {
		t.Fatalf("%d locks left", n)
	}
}

func transfer(s storage.Store, rng *rand.Rand, accounts int) error {
	x, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone, LockTimeout: patience})
	if err != nil {
		return err
	}
	defer x.Rollback()
	from := rng.IntN(accounts)
	to := (from + 1 + rng.IntN(accounts-1)) % accounts
	for i, account := range []int{from, to} {
		k := []byte(key(account))
		if rng.IntN(3) == 0 {
			if _, err := x.Lock(bg, [][]byte{k}, storage.LockOptions{Mode: storage.LockShared}); err != nil {
				return err
			}
		}
		got, err := x.Lock(bg, [][]byte{k}, storage.LockOptions{})
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(got[0].Value))
		if err != nil {
			return err
		}
		if err := x.Put(bg, k, []byte(strconv.Itoa(n-1+2*i))); err != nil {
			return err
		}
	}
	_, err = x.Commit(bg)
	return err
}

// modelTxn is a transaction next to what it must see.
type modelTxn struct {
	x     storage.Txn
	view  map[string]string // nil before the first read
	own   map[string]string // "" is a deletion
	marks []modelMark
}

type modelMark struct {
	sp  storage.Savepoint
	own map[string]string
}

func (m *modelTxn) see(base map[string]string) map[string]string {
	out := maps.Clone(base)
	for k, v := range m.own {
		if v == "" {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	return out
}

type modelSnap struct {
	sn   storage.Snapshot
	data map[string]string
	seq  uint64  // of the last commit before it
	next *uint64 // of the first after it
}

type model struct {
	t     *testing.T
	s     storage.Store
	rng   *rand.Rand
	data  map[string]string
	seq   uint64
	txns  []*modelTxn
	snaps []modelSnap
}

// testModel compares random operations with a plain map.
func testModel(t *testing.T, s storage.Store) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	m := &model{t: t, s: s, rng: rand.New(rand.NewPCG(seed, 0)), data: map[string]string{}}
	for range 4000 {
		m.step()
	}
	for _, sn := range m.snaps {
		must(t, sn.sn.Close())
	}
}

func (m *model) key() string { return fmt.Sprintf("k%03d", m.rng.IntN(150)) }

func (m *model) value() string {
	if m.rng.IntN(40) == 0 {
		return string(repeated(byte('a'+m.rng.IntN(26)), 1000+m.rng.IntN(3000)))
	}
	return strconv.Itoa(m.rng.IntN(1_000_000))
}

func (m *model) step() {
	switch n := m.rng.IntN(100); {
	case n < 4 || len(m.txns) == 0:
		if len(m.txns) < 4 {
			d := storage.Durability(m.rng.IntN(3))
			m.txns = append(m.txns, &modelTxn{x: beginOpts(m.t, m.s, storage.TxnOptions{Durability: d}), own: map[string]string{}})
		}
	case n < 8:
		if len(m.snaps) < 4 {
			sn, err := m.s.Snapshot(bg)
			must(m.t, err)
			m.snaps = append(m.snaps, modelSnap{sn: sn, data: maps.Clone(m.data), seq: m.seq})
		} else {
			must(m.t, m.snaps[0].sn.Close())
			m.snaps = m.snaps[1:]
		}
	case n < 16:
		m.check(m.s.Latest(), m.data)
		for _, sn := range m.snaps {
			m.check(sn.sn, sn.data)
			if at := sn.sn.Seq(); at < sn.seq || sn.next != nil && at >= *sn.next {
				m.t.Fatalf("snapshot %d of commit %d, the next one is %v", at, sn.seq, sn.next)
			}
		}
	case n == 16:
		m.deleteRange()
	case n == 17:
		m.bulk()
	default:
		m.txnStep(m.rng.IntN(len(m.txns)))
	}
}

// committed notes the sequence of a commit.
func (m *model) committed(seq uint64) {
	if seq <= m.seq || m.s.Seq() < seq {
		m.t.Fatalf("sequence %d after %d, the store is at %d", seq, m.seq, m.s.Seq())
	}
	m.seq = seq
	for i := range m.snaps {
		if m.snaps[i].next == nil {
			m.snaps[i].next = &seq
		}
	}
}

func (m *model) deleteRange() {
	a, b := m.key(), m.key()
	must(m.t, storage.Clear(bg, m.s, span(a, b)))
	maps.DeleteFunc(m.data, func(k, _ string) bool { return k >= a && k < b })
}

func (m *model) bulk() {
	bl, err := m.s.BulkLoad(bg)
	must(m.t, err)
	keys := map[string]string{}
	for range 1 + m.rng.IntN(20) {
		keys[m.key()] = m.value()
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		must(m.t, bl.Add([]byte(k), []byte(keys[k])))
	}
	if m.rng.IntN(4) == 0 {
		must(m.t, bl.Abort())
		return
	}
	seq, err := bl.Finish(bg)
	must(m.t, err)
	m.committed(seq)
	maps.Copy(m.data, keys)
}

func (m *model) txnStep(i int) {
	x := m.txns[i]
	switch n := m.rng.IntN(100); {
	case n < 45:
		k, v := m.key(), ""
		if m.rng.IntN(3) > 0 {
			v = m.value()
		}
		put(m.t, x.x, kv{k, v})
		x.own[k] = v
	case n < 60:
		if x.view == nil {
			x.view = maps.Clone(m.data)
		}
		m.check(x.x, x.see(x.view))
	case n < 68:
		m.check(x.x.Latest(), x.see(m.data))
	case n < 72:
		must(m.t, x.x.Refresh(bg))
		x.view = maps.Clone(m.data)
	case n < 80:
		x.marks = append(x.marks, modelMark{x.x.Savepoint(), maps.Clone(x.own)})
	case n < 87:
		if len(x.marks) > 0 {
			j := m.rng.IntN(len(x.marks))
			must(m.t, x.x.RollbackTo(x.marks[j].sp))
			x.own = maps.Clone(x.marks[j].own)
			x.marks = x.marks[:j+1]
		}
	case n < 90:
		if len(x.marks) > 0 {
			j := m.rng.IntN(len(x.marks))
			x.x.Release(x.marks[j].sp)
			x.marks = x.marks[:j]
		}
	case n < 97:
		m.end(i, true)
	default:
		m.end(i, false)
	}
}

func (m *model) end(i int, commits bool) {
	x := m.txns[i]
	m.txns = slices.Delete(m.txns, i, i+1)
	if !commits {
		x.x.Rollback()
		return
	}
	seq := commit(m.t, x.x)
	if len(x.own) > 0 {
		m.committed(seq)
	}
	m.data = x.see(m.data)
}

// check compares one random read of r with the data that it must see.
func (m *model) check(r storage.Reader, data map[string]string) {
	m.t.Helper()
	switch m.rng.IntN(3) {
	case 0:
		k := m.key()
		wantValue(m.t, r, k, data[k])
	case 1:
		var keys, want []string
		for range m.rng.IntN(30) {
			keys = append(keys, m.key())
		}
		if m.rng.IntN(2) == 0 {
			slices.Sort(keys)
		}
		for _, k := range keys {
			want = append(want, data[k])
		}
		if got := batch(m.t, r, keys...); !slices.Equal(got, want) {
			m.t.Fatalf("batch %q gave %q, want %q", keys, got, want)
		}
	default:
		a, b := m.key(), m.key()
		if m.rng.IntN(5) == 0 {
			a, b = "", ""
		}
		var want []kv
		for _, k := range slices.Sorted(maps.Keys(data)) {
			if k >= a && (b == "" || k < b) {
				want = append(want, kv{k, data[k]})
			}
		}
		wantScan(m.t, r, span(a, b), want...)
	}
}
