package testutil

import (
	"reflect"
	"testing"
)

type dumped struct {
	A     int
	b     []byte
	M     map[string]float64
	Next  *dumped
	Other any
	F     func()
}

func TestDump(t *testing.T) {
	x := &dumped{A: 1, b: []byte("x"), M: map[string]float64{"b": 1.5, "a": 0}, F: func() {}}
	x.Next = &dumped{Next: x, Other: []any{nil, uint8(3), true, "left out"}}
	got := Dump(x, func(v reflect.Value) (string, bool) {
		return "…", v.Kind() == reflect.String && v.String() == "left out"
	})
	want := `&dumped{A:1 b:"x" M:map["a":0 "b":1.5 ] Next:&dumped{Next:^0 Other:[nil 3 true … ] } }`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if Digest(got) == Digest(want+" ") || len(Digest("")) != 4 {
		t.Error("digests are not what they are to be")
	}
}

func TestDiffering(t *testing.T) {
	texts := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	line := Digests(texts)
	if got := Differing(line, texts); got != "" {
		t.Errorf("%q differ", got)
	}
	texts[1], texts[10] = "x", "y"
	if got := Differing(line, append(texts, "more")); got != "x\ny\nmore" {
		t.Errorf("%q differ", got)
	}
}
