package rowenc

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// read reads attributes as table.Codec does, and returns them and the number of bytes.
func read(t testing.TB, a Attributes, names []string) ([]byte, int) {
	t.Helper()
	r := NewAttributeReader(names)
	if err := r.Reset(a.Block); err != nil {
		t.Fatal(err)
	}
	n := len(a.Block)
	for len(r.Cells) > 0 {
		want := append([]AttributeWant(nil), r.Cells...)
		r.Cells = r.Cells[:0]
		for _, w := range want {
			found := false
			for _, c := range a.Cells {
				if bytes.Equal(c.Suffix, w.Suffix) {
					found = true
					n += len(c.Value)
					if err := r.Give(w, c.Value); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !found {
				t.Fatalf("no cell %q", w.Suffix)
			}
		}
	}
	return r.Object(), n
}

func randomAttributes(r *rand.Rand, n int) []byte {
	var keys, vals [][]byte
	seen := map[string]bool{}
	for i := range n {
		name := fmt.Sprintf("a%d", r.IntN(10*n+1))
		if i%7 == 0 {
			name = "Größe" + strings.Repeat("x", r.IntN(40))
		}
		if r.IntN(3) == 0 {
			name = strings.ToUpper(name[:1]) + name[1:]
		}
		if seen[strings.ToLower(name)] {
			continue
		}
		seen[strings.ToLower(name)] = true
		d := randomScalar(r)
		if r.IntN(n+20) == 0 {
			d = value.JSONString(bytes.Repeat([]byte("v"), 4000+r.IntN(300)))
		}
		keys, vals = append(keys, []byte(name)), append(vals, d)
	}
	return value.JSONObject(keys, vals)
}

func randomScalar(r *rand.Rand) []byte {
	word := r.Uint64() >> r.IntN(64)
	switch r.IntN(9) {
	case 0:
		return value.JSONInt(int64(word) * int64(1-2*r.IntN(2)))
	case 1:
		return value.JSONUint(word)
	case 2:
		return value.JSONDouble([]float64{0, 1.5, 0.1, -3, float64(word)}[r.IntN(5)])
	case 3:
		return value.JSONDate(value.MakeTime(2024, 1, 2, 0, 0, 0, 0))
	case 4:
		return value.JSONDatetime(value.MakeTime(2024, 1, 2, r.IntN(24), r.IntN(60), 3, r.IntN(2)*r.IntN(1000000)))
	case 5:
		return value.JSONTime(value.Duration(int64(word>>10) * int64(1-2*r.IntN(2))))
	case 6:
		return value.JSONBool(r.IntN(2) == 0)
	case 7:
		return value.JSONArray(value.JSONInt(1), value.JSONString([]byte("x")))
	}
	return value.JSONString(bytes.Repeat([]byte("s"), r.IntN(60)))
}

func TestAttributesRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range testflag.InShort(150, 600) {
		n := r.IntN(30)
		if round%10 == 0 {
			n = r.IntN(3000)
		}
		doc := randomAttributes(r, n)
		a := EncodeAttributes(doc)
		if len(a.Block) > MaxInlineAttributes && a.Block[0] == attributeLeaf {
			t.Fatal("a large leaf in the row")
		}
		got, _ := read(t, a, nil)
		if !bytes.Equal(got, doc) {
			t.Fatalf("round %d: %s, not %s", round, value.AppendJSONText(nil, got), value.AppendJSONText(nil, doc))
		}
		if again := EncodeAttributes(got); fmt.Sprint(again) != fmt.Sprint(a) {
			t.Fatal("not a function of the values")
		}
		for i := range value.JSONLen(doc) {
			if i%17 != 0 {
				continue
			}
			name := value.JSONKey(doc, i)
			one, _ := read(t, a, []string{strings.ToUpper(string(name)), "no such"})
			if bytes.Equal(value.FoldName([]byte(strings.ToUpper(string(name)))), value.FoldName(name)) &&
				!bytes.Equal(one, value.JSONObject([][]byte{name}, [][]byte{value.JSONElem(doc, i)})) {
				t.Fatalf("%s: %s", name, value.AppendJSONText(nil, one))
			}
		}
	}
}

// One attribute of very many, and next to a very large one, is read alone; and a
// change of one changes little.
func TestAttributesReadLittle(t *testing.T) {
	var keys, vals [][]byte
	for i := range 20000 {
		keys, vals = append(keys, []byte(fmt.Sprintf("attribute_%05d", i))), append(vals, value.JSONInt(int64(i)))
	}
	keys, vals = append(keys, []byte("blob")), append(vals, value.JSONString(make([]byte, 2<<20)))
	a := EncodeAttributes(value.JSONObject(keys, vals))
	got, n := read(t, a, []string{"attribute_12345"})
	if s := string(value.AppendJSONText(nil, got)); s != `{"attribute_12345": 12345}` {
		t.Fatal(s)
	}
	if n > 40<<10 {
		t.Fatalf("%d bytes read", n)
	}
	for i := range keys {
		if string(keys[i]) == "attribute_12345" {
			vals[i] = value.JSONString([]byte("changed"))
		}
	}
	b := EncodeAttributes(value.JSONObject(keys, vals))
	same := map[string]string{}
	for _, c := range a.Cells {
		same[string(c.Suffix)] = string(c.Value)
	}
	changed := 0
	for _, c := range b.Cells {
		if same[string(c.Suffix)] != string(c.Value) {
			changed++
		}
	}
	if changed != 1 {
		t.Fatalf("%d cells changed", changed)
	}
}

// Attributes that are on disk: these bytes are read for ever.
func TestAttributesGolden(t *testing.T) {
	doc, _ := value.ParseJSON([]byte(`{"color": "red", "Size": -3, "w": 0.5, "n": 300, "ok": true, "tags": ["a"]}`))
	got := hex.EncodeToString(EncodeAttributes(doc).Block)
	want := "01" + "0600" + "0500" + "0600" + "0800" + "0c00" + "1000" + "1100" +
		"0400" + "0700" + "0800" + "0a00" + "1500" + "1800" +
		"636f6c6f72" + "6e" + "6f6b" + "53697a65" + "74616773" + "77" +
		"17726564" + "132c01" + "12" + "13fd" + "1c01000000" + "0b000000" + "1761" + "15e03f"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzAttributes(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 5, 3000} {
		f.Add(EncodeAttributes(randomAttributes(r, n)).Block)
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		for _, names := range [][]string{nil, {"a1", "b"}} {
			rd := NewAttributeReader(names)
			if err := rd.Reset(block); err != nil {
				if !errors.Is(err, storage.ErrCorruption) {
					t.Fatal(err)
				}
				continue
			}
			for _, w := range rd.Cells {
				_ = rd.Give(w, block)
			}
		}
	})
}

func BenchmarkAttribute(b *testing.B) {
	doc, _ := value.ParseJSON([]byte(`{"color": "red", "size": 3, "weight": 0.5, "country": "de", "stock": 17, "price": 1250, "brand": "x", "year": 2024}`))
	a := EncodeAttributes(doc)
	rd := NewAttributeReader([]string{"stock"})
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		_ = rd.Reset(a.Block)
		dst = rd.AppendObject(dst[:0])
	}
}
