package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// plainPatch and plainPreserve are the definitions of the two merges.
func plainPatch(a, b any) any {
	patch, ok := b.(map[string]any)
	if !ok {
		return b
	}
	out := map[string]any{}
	if was, ok := a.(map[string]any); ok {
		for k, v := range was {
			out[k] = v
		}
	}
	for k, v := range patch {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = plainPatch(out[k], v)
		}
	}
	return out
}

func plainPreserve(a, b any) any {
	x, isObject := a.(map[string]any)
	y, areObjects := b.(map[string]any)
	if !isObject || !areObjects {
		return append(append([]any{}, plainArray(a)...), plainArray(b)...)
	}
	out := map[string]any{}
	for k, v := range x {
		out[k] = v
	}
	for k, v := range y {
		if old, ok := out[k]; ok {
			v = plainPreserve(old, v)
		}
		out[k] = v
	}
	return out
}

func plainArray(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func randomPlain(rng *rand.Rand, depth int) any {
	switch n := rng.IntN(6); {
	case n < 3 && depth > 0:
		out := map[string]any{}
		for range rng.IntN(5) {
			out[strings.Repeat("k", 1+rng.IntN(2))+fmt.Sprint(rng.IntN(4))] = randomPlain(rng, depth-1)
		}
		return out
	case n == 3 && depth > 0:
		out := []any{}
		for range rng.IntN(3) {
			out = append(out, randomPlain(rng, depth-1))
		}
		return out
	case n == 4:
		return nil
	}
	return float64(rng.IntN(3))
}

// TestMerges: both merges do what their definitions say.
func TestMerges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		a, b := randomPlain(rng, 3), randomPlain(rng, 3)
		for name, c := range map[string]struct {
			fn    func(a, b []byte, work func(int) error) ([]byte, error)
			plain func(a, b any) any
		}{"patch": {JSONMergePatch, plainPatch}, "preserve": {JSONMergePreserve, plainPreserve}} {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			doc, err := c.fn(mustJSON(t, string(x)), mustJSON(t, string(y)), nil)
			if err == nil {
				err = CheckJSON(doc)
			}
			var got any
			if e := json.Unmarshal(AppendJSONText(nil, doc), &got); err != nil || e != nil || !reflect.DeepEqual(got, c.plain(a, b)) {
				t.Fatalf("%s of %s and %s: %s, %v, %v", name, x, y, AppendJSONText(nil, doc), err, e)
			}
		}
	}
}

// TestMergesEnd: the time of a merge grows with the length of the documents, and it ends
// when work says so.
func TestMergesEnd(t *testing.T) {
	object := func(first, n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%d":1`, first+2*i)
		}
		return mustJSON(t, "{"+b.String()[1:]+"}")
	}
	stop := errors.New("stop")
	for name, fn := range map[string]func(a, b []byte, work func(int) error) ([]byte, error){"patch": JSONMergePatch, "preserve": JSONMergePreserve} {
		done, most := 0, 1<<30
		work := func(n int) error {
			if done += n; done > most {
				return stop
			}
			return nil
		}
		a, b := object(1_000_000, 100_000), object(1_000_001, 100_000)
		if doc, err := fn(a, b, work); err != nil || JSONLen(doc) != 200_000 || done > 1<<25 {
			t.Errorf("%s: %v, %d members after %d", name, err, JSONLen(doc), done)
		}
		done, most = 0, 1<<20
		if _, err := fn(a, b, work); !errors.Is(err, stop) {
			t.Errorf("%s is not stopped: %v", name, err)
		}
	}
}
