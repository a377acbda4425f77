package value

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// naiveContains and naiveOverlaps compare every element with every other.
func naiveContains(target, candidate []byte) bool {
	anyOf := func(doc []byte, fn func(e []byte) bool) bool {
		for i := range JSONLen(doc) {
			if fn(JSONElem(doc, i)) {
				return true
			}
		}
		return false
	}
	switch jsonTag(target) {
	case jsonArray:
		if jsonTag(candidate) != jsonArray {
			return anyOf(target, func(e []byte) bool { return naiveContains(e, candidate) })
		}
		return !anyOf(candidate, func(c []byte) bool {
			return !anyOf(target, func(e []byte) bool { return naiveContains(e, c) })
		})
	case jsonObject:
		for i := range JSONLen(candidate) {
			v, ok := JSONMember(target, JSONKey(candidate, i))
			if !ok || !naiveContains(v, JSONElem(candidate, i)) {
				return false
			}
		}
		return jsonTag(candidate) == jsonObject
	}
	return JSONCompare(target, candidate) == 0
}

func naiveOverlaps(a, b []byte) bool {
	for i := range JSONLen(a) {
		for k := range JSONLen(b) {
			if JSONCompare(JSONElem(a, i), JSONElem(b, k)) == 0 {
				return true
			}
		}
	}
	return false
}

// TestMatchesOfLongArrays: whether parts are looked up or compared makes no difference.
func TestMatchesOfLongArrays(t *testing.T) {
	r := rand.New(rand.NewPCG(testflag.AnySeed(t), 2))
	array := func(n int) []byte {
		list := make([][]byte, n)
		for i := range list {
			list[i] = JSONInt(int64(r.IntN(20)))
			if r.IntN(4) == 0 {
				list[i] = randJSON(r, 2)
			}
		}
		return JSONArray(list...)
	}
	yes := 0
	for range testflag.Rounds(300, 3000, 30_000) {
		a, b := array(10+r.IntN(50)), array(r.IntN(30))
		if r.IntN(2) == 0 && JSONLen(a) > 0 { // of parts that a has
			var list [][]byte
			for range r.IntN(30) {
				list = append(list, JSONElem(a, r.IntN(JSONLen(a))))
			}
			b = JSONArray(list...)
		}
		got, err := JSONContains(a, b, nil)
		if want := naiveContains(a, b); got != want || err != nil {
			t.Fatalf("%s contains %s: %v, %v", AppendJSONText(nil, a), AppendJSONText(nil, b), got, err)
		}
		if got {
			yes++
		}
		got, err = JSONOverlaps(a, b, nil)
		if want := naiveOverlaps(a, b); got != want || err != nil {
			t.Fatalf("%s overlaps %s: %v, %v", AppendJSONText(nil, a), AppendJSONText(nil, b), got, err)
		}
	}
	if yes == 0 {
		t.Error("none is contained")
	}
}

// TestMatchesEnd: comparing long documents ends when work says so, and takes a time
// that grows with their length, but for objects in arrays.
func TestMatchesEnd(t *testing.T) {
	testflag.Normal(t)
	const n = 100_000
	long := func(e, last string) []byte { return mustJSON(t, "["+strings.Repeat(e+",", n)+last+"]") }
	for _, c := range []struct {
		name string
		call func(work func(int) error) (bool, error)
		slow bool
	}{
		{"overlaps", func(w func(int) error) (bool, error) { return JSONOverlaps(long("1", "2"), long("3", "4"), w) }, false},
		{"contains", func(w func(int) error) (bool, error) { return JSONContains(long("1", "2"), long("2", "2"), w) }, false},
		{"objects", func(w func(int) error) (bool, error) {
			return JSONContains(long(`{"b":1}`, `{"a":1,"b":1}`), long(`{"a":1}`, `{"a":1}`), w)
		}, true},
	} {
		done := 0
		stop := errors.New("stop")
		_, err := c.call(func(n int) error {
			if done += n; done > 1<<27 {
				return stop
			}
			return nil
		})
		if slow := errors.Is(err, stop); slow != c.slow {
			t.Errorf("%s: %v after %d", c.name, err, done)
		}
	}
}
