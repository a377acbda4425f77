package main

import (
	"bytes"
	"testing"
)

func TestGrid(t *testing.T) {
	g := &grid{columns: []string{"id", "name"}, numeric: []bool{true, false}, rows: [][]cell{
		{{text: "1"}, {text: "北京"}},
		{{text: "-20"}, {isNull: true}},
		{{text: "3"}, {text: "a\tb\\"}},
	}}
	var out bytes.Buffer
	if err := g.table(&out); err != nil {
		t.Fatal(err)
	}
	want := "+-----+------+\n| id  | name |\n+-----+------+\n|   1 | 北京 |\n| -20 | NULL |\n|   3 | a\tb\\ |\n+-----+------+\n"
	if out.String() != want {
		t.Errorf("table:\n%s\nwant:\n%s", out.String(), want)
	}
	out.Reset()
	if err := g.tabs(&out); err != nil {
		t.Fatal(err)
	}
	if want := "id\tname\n1\t北京\n-20\tNULL\n3\ta\\tb\\\\\n"; out.String() != want {
		t.Errorf("tabs: %q, want %q", out.String(), want)
	}
	out.Reset()
	g.rows = g.rows[:1]
	if err := g.vertical(&out); err != nil {
		t.Fatal(err)
	}
	if want := "*************************** 1. row ***************************\n  id: 1\nname: 北京\n"; out.String() != want {
		t.Errorf("vertical: %q, want %q", out.String(), want)
	}
}

func TestFormatFloat(t *testing.T) {
	for _, test := range []struct {
		f    float64
		bits int
		want string
	}{{0, 64, "0"}, {1.5, 64, "1.5"}, {0.1, 32, "0.1"}, {1e14, 64, "100000000000000"}, {1e15, 64, "1e15"}, {-2.5e-20, 64, "-2.5e-20"}, {1.7976931348623157e308, 64, "1.7976931348623157e308"}} {
		if got := formatFloat(test.f, test.bits); got != test.want {
			t.Errorf("%v: got %s, want %s", test.f, got, test.want)
		}
	}
}

func TestByteSize(t *testing.T) {
	for in, want := range map[string]int64{"512MiB": 512 << 20, "2G": 2 << 30, "1.5gb": 3 << 29, "4096": 4096, "64 k": 64 << 10} {
		var b byteSize
		if err := b.Set(in); err != nil || int64(b) != want {
			t.Errorf("%s: got %d, %v", in, b, err)
		}
	}
	for _, in := range []string{"", "x", "12 apples", "-1", "MiB"} {
		var b byteSize
		if err := b.Set(in); err == nil {
			t.Errorf("%q was taken for %d", in, b)
		}
	}
}
