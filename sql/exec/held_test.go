package exec

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// TestHeldIsTrue: what rows and sorters say that they hold is what they hold: the
// memory budget depends on it.
func TestHeldIsTrue(t *testing.T) {
	testflag.Normal(t)
	for _, length := range []int{0, 9, 300, 1100, 40_000} {
		rows := 40 << 20 / (length + 60)
		b := vec.NewBatch([]value.Kind{value.KindInt, value.KindBytes})
		rng := rand.New(rand.NewPCG(1, uint64(length)))
		text := bytes.Repeat([]byte("x"), length+1)
		acct := &account{t: NewTracker("server", 0)}
		s := &sorter{enc: sortEncoder{parts: []keyPart{{kind: value.KindBytes}}, notNull: []bool{true}}, acct: acct,
			kinds: []value.Kind{value.KindInt, value.KindBytes}, store: newRowStore([]value.Kind{value.KindInt, value.KindBytes}), run: &sortRun{}}
		before := liveHeap()
		for n := 0; n < rows; {
			part := 1 + rng.IntN(vec.MaxRows)
			if length > 10_000 {
				part = 1 + rng.IntN(50)
			}
			b.Cols[0].Init(value.KindInt, part)
			b.Cols[1].Init(value.KindBytes, part)
			for i := range part {
				b.Cols[0].I64[i] = rng.Int64()
				b.Cols[1].Bytes[i] = text[:rng.IntN(length+1)]
			}
			if err := s.add(context.Background(), b.Cols, identity[:part], b.Cols[1:]); err != nil {
				t.Fatal(err)
			}
			n += part
		}
		held, used := s.held(), liveHeap()-before
		t.Logf("values of up to %d bytes: %d held, %d used", length, held, used)
		if used > held*115/100+1<<20 || held > used*115/100+1<<20 {
			t.Errorf("values of up to %d bytes: %d held, %d used", length, held, used)
		}
		runtime.KeepAlive(s)
		runtime.KeepAlive(b)
		runtime.KeepAlive(text)
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestNoMoreThanPromised: an account that holds much does not go far beyond the
// limit because another has promised to spill.
func TestNoMoreThanPromised(t *testing.T) {
	server := NewTracker("server", 64<<20)
	var spills int
	big, other := spillingAccount(server, &thread{}, &spills), spillingAccount(server, &thread{}, &spills)
	if ok, err := big.room(40 << 20); !ok || err != nil {
		t.Fatal(ok, err)
	}
	n := int64(0)
	for {
		ok, err := other.room(n + 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		n += 1 << 20
	}
	if !big.wanted() || server.Used() > 64<<20*9/8 || n < 16<<20 {
		t.Fatalf("%d held, %d in all", n, server.Used())
	}
}
