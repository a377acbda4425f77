package tikvkv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/storagetest"
	"github.com/sqlots/sqlots/storage/tikvkv"
	"github.com/sqlots/sqlots/storage/tikvkv/tikvtest"
)

// TestMain has client-go give up commits within a second, not after forty.
func TestMain(m *testing.M) {
	transaction.CommitMaxBackoff = 1000
	testflag.MainWaits(m, 8)
}

// shake splits regions and moves leaders until the test ends.
func shake(t *testing.T, c *tikvtest.Cluster) {
	ctx, stop := context.WithCancel(bg)
	var wg sync.WaitGroup
	wg.Go(func() { c.Shake(ctx, 5*time.Millisecond) })
	t.Cleanup(func() {
		stop()
		wg.Wait()
	})
}

// TestConformanceShaken runs the suite while regions split and move; its long form loses 2 % of
// the calls, and delays those of a quarter of the tests.
func TestConformanceShaken(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	// A lost call costs the client a tenth of a second: half of them take effect.
	lost := testflag.Pick(0, 0, 0.01)
	storagetest.Run(t, func(t *testing.T) storage.Store {
		t.Parallel() // most of the time is waits
		c := cluster(t)
		s, n := open(t, c, tikvkv.Options{Prefix: []byte("p/")})
		n.Lose(lost, lost)
		if lost > 0 && rand.N(4) == 0 {
			n.Delay(time.Millisecond)
		}
		shake(t, c)
		return s
	})
}

const (
	accounts = 8
	initial  = 1000
)

// bank is a load whose transactions move money between accounts, and leave a record each.
type bank struct {
	t    *testing.T
	mu   sync.Mutex
	ends map[string]error // of the transactions, by their records
}

func account(i int) []byte { return fmt.Appendf(nil, "a%d", i) }

func amount(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

func bytesOf(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func (b *bank) fill(s storage.Store) {
	x := begin(b.t, s)
	for i := range accounts {
		must(b.t, x.Put(bg, account(i), bytesOf(initial)))
	}
	_, err := x.Commit(bg)
	must(b.t, err)
}

// run makes transactions until stop ends.
func (b *bank) run(stop context.Context, s storage.Store, name string) {
	for i := 0; stop.Err() == nil; i++ {
		record := fmt.Sprintf("%s/%d", name, i)
		ctx, cancel := context.WithTimeout(bg, 2*time.Second)
		err := move(ctx, s, record)
		cancel()
		b.mu.Lock()
		b.ends[record] = err
		b.mu.Unlock()
	}
}

// move moves money between two accounts.
func move(ctx context.Context, s storage.Store, record string) error {
	from, to := rand.IntN(accounts), rand.IntN(accounts-1)
	if to >= from {
		to++
	}
	x, err := s.Begin(ctx, storage.TxnOptions{LockTimeout: 3 * time.Second})
	if err != nil {
		return err
	}
	defer x.Rollback()
	keys := [][]byte{account(from), account(to)}
	found, err := x.Lock(ctx, keys, storage.LockOptions{})
	if err != nil {
		return err
	}
	n := 1 + rand.Int64N(10)
	for i, d := range []int64{-n, n} {
		if err := x.Put(ctx, keys[i], bytesOf(amount(found[i].Value)+d)); err != nil {
			return err
		}
	}
	if err := x.PutStamped([]byte("q12345678"+record), []byte("12345678"), stamp); err != nil {
		return err
	}
	_, err = x.Commit(ctx)
	return err
}

// sum is the money in a view.
func (b *bank) sum(s storage.Store) int64 {
	ctx, cancel := context.WithTimeout(bg, 20*time.Second)
	defer cancel()
	snap, err := s.Snapshot(ctx)
	must(b.t, err)
	defer snap.Close()
	var keys [][]byte
	for i := range accounts {
		keys = append(keys, account(i))
	}
	var sum int64
	must(b.t, snap.BatchGet(ctx, keys, func(_ int, v []byte) error {
		sum += amount(v)
		return nil
	}))
	return sum
}

// check compares the ends of transactions with what is there.
func (b *bank) check(s storage.Store) {
	b.t.Helper()
	there := records(b.t, mustSnapshot(b.t, s))
	ends := map[string]int{}
	for record, err := range b.ends {
		switch {
		case err == nil:
			ends["acknowledged"]++
			if !there[record] {
				b.t.Errorf("%s was acknowledged and is lost", record)
			}
		case errors.Is(err, storage.ErrUndetermined):
			ends["unknown"]++
		default:
			ends["refused"]++
			if there[record] {
				b.t.Errorf("%s was refused and is there: %v", record, err)
			}
		}
	}
	b.t.Logf("ends %v, %d records", ends, len(there))
	if ends["acknowledged"] == 0 {
		b.t.Error("nothing was acknowledged")
	}
	if got := b.sum(s); got != accounts*initial {
		b.t.Errorf("the sum is %d", got)
	}
}

// TestBank: two nodes move money while regions move, calls get lost and one node is cut
// off for a while. No money is lost, nor an acknowledged transaction, and none that was
// refused is there. A follower of the records that goes up to what is settled misses none.
func TestBank(t *testing.T) {
	testflag.Normal(t) // runs for seconds
	impatient(t)
	c := cluster(t)
	a, an := open(t, c, tikvkv.Options{})
	z, zn := open(t, c, tikvkv.Options{})
	b := &bank{t: t, ends: make(map[string]error)}
	b.fill(a)
	for _, n := range []*tikvtest.Node{an, zn} {
		n.Lose(0.01, 0.01)
	}
	shake(t, c)
	stop, cancel := context.WithTimeout(bg, time.Duration(testflag.Pick(1, 2, 30))*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for i, s := range []storage.Store{a, z, a, z} {
		wg.Go(func() { b.run(stop, s, fmt.Sprintf("%c%d", 'a'+i%2*25, i)) })
	}
	for i := 0; stop.Err() == nil; i++ {
		if got := b.sum(a); got != accounts*initial {
			t.Errorf("the sum is %d", got)
		}
		if i%40 == 10 {
			zn.Cut(true)
			time.Sleep(1500 * time.Millisecond) // longer than locks live and commits are tried
			zn.Cut(false)
		}
		time.Sleep(10 * time.Millisecond)
	}
	wg.Wait()
	for _, s := range []*tikvkv.Store{a, z} {
		eventually(t, "all outcomes", func() bool { return s.Metrics()["in_flight"] == 0 })
	}
	b.check(a)
}

// TestFollow: a follower of stamped records that goes up to what is settled sees each of
// them, and those of one key in the order of its changes.
func TestFollow(t *testing.T) {
	t.Parallel()
	s, n := open(t, cluster(t), tikvkv.Options{})
	n.Delay(4 * time.Millisecond)
	stop, cancel := context.WithTimeout(bg, time.Duration(testflag.Pick(300, 1000, 20_000))*time.Millisecond)
	defer cancel()
	b := &bank{t: t, ends: make(map[string]error)}
	b.fill(s)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { b.run(stop, s, fmt.Sprint(i)) })
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	seen := make(map[string]bool)
	var pos uint64
	for last := false; !last; {
		select {
		case <-done:
			last = true
		default:
		}
		snap := mustSnapshot(t, s)
		upTo, err := snap.Settled(bg)
		must(t, err)
		sc, err := snap.Scan(bg, storage.Span{Start: after(pos), End: after(upTo)}, storage.ScanOptions{})
		must(t, err)
		_, err = sc.Visit(bg, func(key, _ []byte) bool {
			seen[string(key[9:])] = true
			return true
		})
		must(t, err)
		must(t, sc.Close())
		must(t, snap.Close())
		if upTo < pos {
			t.Fatalf("settled goes back from %d to %d", pos, upTo)
		}
		pos = upTo
	}
	acked := 0
	for record, err := range b.ends {
		if err == nil {
			if acked++; !seen[record] {
				t.Errorf("the follower missed %s", record)
			}
		}
	}
	t.Logf("%d acknowledged, %d seen", acked, len(seen))
}

// after is the first key behind the records of a stamp.
func after(stamp uint64) []byte { return binary.BigEndian.AppendUint64([]byte("q"), stamp+1) }
