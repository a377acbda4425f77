package exec

import (
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/value"
)

func memoRows(size int64) *subqueryRows {
	return &subqueryRows{rowBuffer: &rowBuffer{store: rowStore{size: size}}}
}

// TestMemoGives: what a memo holds is given to whoever needs memory, also by another
// goroutine and of another statement, before an operator spills.
func TestMemoGives(t *testing.T) {
	server := NewTracker("server", 1<<20)
	query, other := server.Child(QueryTracker, 0), server.Child(QueryTracker, 0)
	var m memo
	m.start(query)
	fill := func() {
		t.Helper()
		for i := 0; m.size < 800<<10; i++ {
			m.put(fmt.Append(nil, i), memoRows(1000))
		}
	}
	fill()
	acct := account{t: query, operator: "JSON_TABLE", thread: &thread{}}
	if err := acct.to(500 << 10); err != nil || len(m.rows) > 0 {
		t.Errorf("%v with %d results", err, len(m.rows))
	}
	acct.close()
	fill()
	spills := 0
	s := spillingAccount(other, &thread{}, &spills)
	if ok, err := s.room(500 << 10); !ok || err != nil || spills > 0 || len(m.rows) > 0 {
		t.Errorf("%v %v with %d results and %d spills", ok, err, len(m.rows), spills)
	}
	s.close()
	fill()
	m.mu.Lock() // in use
	if err := acct.to(500 << 10); err != nil {
		t.Error(err)
	}
	m.mu.Unlock()
	if m.get([]byte("1")) != nil || server.Used() != 512<<10 {
		t.Errorf("%d results, %d bytes", len(m.rows), server.Used())
	}
	acct.close()
	fill()
	query.Close()
	m.put([]byte("1"), memoRows(1000))
	other.Close()
	if server.Used() != 0 || len(server.spillers) > 0 || len(m.rows) > 0 {
		t.Errorf("%d bytes, %d accounts", server.Used(), len(server.spillers))
	}
}

// TestMemo: results are found by their exact outer values, are forgotten
// together when they grow too large for the memo or the query, and are not kept
// when they are of no use.
func TestMemo(t *testing.T) {
	key := func(list ...value.Datum) []byte { return appendValues(nil, list) }
	var m memo
	one := memoRows(10)
	m.put(key(value.Int(1), value.String("a")), one)
	for _, other := range [][]byte{key(value.Int(1), value.String("A")), key(value.Int(1), value.Null), key(value.Uint(1), value.String("a")), key(value.String("1a"))} {
		if m.get(other) != nil {
			t.Errorf("%q is found as another key", other)
		}
	}
	if m.get(key(value.Int(1), value.String("a"))) != one {
		t.Error("the rows are not found")
	}
	m.put(key(value.Int(2)), memoRows(memoBytes))
	if len(m.rows) > 1 || m.size > memoBytes {
		t.Errorf("%d results of %d bytes", len(m.rows), m.size)
	}

	var limited memo
	limited.start(NewTracker("query", 100<<10))
	for i := range 1000 {
		limited.put(key(value.Int(int64(i))), memoRows(1000))
	}
	if used := limited.acct.t.Used(); used > 100<<10 || len(limited.rows) == 0 || len(limited.rows) > 60 {
		t.Errorf("%d bytes, %d results", used, len(limited.rows))
	}

	var useless memo
	for i := range memoTrial + 5 {
		k := key(value.Int(int64(i)))
		if useless.get(k) == nil {
			useless.put(k, memoRows(8))
		}
	}
	if !useless.off || len(useless.rows) > 0 {
		t.Error("a memo without hits is kept")
	}
	var useful memo
	for i := range memoTrial + 5 {
		k := []byte(fmt.Sprint(i % 50))
		if useful.get(k) == nil {
			useful.put(k, memoRows(8))
		}
	}
	if useful.off || len(useful.rows) != 50 {
		t.Error("a memo with hits is given up")
	}
}
