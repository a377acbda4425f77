package dict

import (
	"runtime"
	"slices"
	"testing"
	"unicode/utf8"
)

func load(t testing.TB) *Words {
	t.Helper()
	w, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWords(t *testing.T) {
	w := load(t)
	for _, s := range []string{"中华人民共和国", "国歌", "花茶", "長江"} {
		if !w.Has(s) {
			t.Errorf("%s is missing", s)
		}
	}
	for _, s := range []string{"", "中", "民共", "花花茶茶", "abc"} {
		if w.Has(s) {
			t.Errorf("%s is a word", s)
		}
	}
	longest := 0
	for i := range w.Len() {
		longest = max(longest, utf8.RuneCount(w.text[w.off[i]:w.off[i+1]]))
	}
	if longest != MaxLen {
		t.Errorf("the longest word has %d characters, MaxLen is %d", longest, MaxLen)
	}
	if w.Bytes() > 12<<20 {
		t.Errorf("the list takes %d bytes", w.Bytes())
	}
}

// TestPrefixes compares the narrowing search with one lookup for each length.
func TestPrefixes(t *testing.T) {
	w := load(t)
	check := func(s string) {
		var want []int
		for n := range s {
			if n > 0 && w.Has(s[:n]) {
				want = append(want, n)
			}
		}
		if s != "" && w.Has(s) {
			want = append(want, len(s))
		}
		if got := w.Prefixes(nil, s); !slices.Equal(got, want) {
			t.Fatalf("%s: got %v, want %v", s, got, want)
		}
	}
	for i := 0; i+1 < w.Len(); i += 97 {
		a, b := string(w.text[w.off[i]:w.off[i+1]]), string(w.text[w.off[i+1]:w.off[i+2]])
		check(a)
		check(b + a)
	}
	check("")
	check("中")
	check("𠀀中")
	check("中\xff")
}

func TestDamagedList(t *testing.T) {
	if _, err := unpack(packed[:len(packed)/2]); err == nil {
		t.Error("half a list is read")
	}
	if _, err := unpack(nil); err == nil {
		t.Error("no list is read")
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		w, err := unpack(packed)
		if err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(w)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(load(b).Bytes())/1e6, "MB-kept")
}
