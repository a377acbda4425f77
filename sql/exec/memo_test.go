package exec

import (
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/value"
)

func memoRows(size int64) *subqueryRows {
	return &subqueryRows{rowBuffer: &rowBuffer{store: rowStore{size: size}}}
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

	limited := memo{acct: account{t: NewTracker("query", 100<<10), operator: "subquery"}}
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
