package value

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// randomJSON writes a random document, mostly valid, and what ParseJSON makes of it,
// by way of JSONArray and JSONObject.
func randomJSON(rnd *rand.Rand, text *strings.Builder, depth int) []byte {
	kind := rnd.IntN(8)
	if depth == 0 {
		kind = rnd.IntN(6)
	}
	switch kind {
	case 0:
		n := rnd.Int64() >> rnd.IntN(64)
		fmt.Fprint(text, n)
		return JSONInt(n)
	case 1:
		text.WriteString("1.5e3")
		return JSONDouble(1500)
	case 2:
		text.WriteString("null")
		return JSONNull()
	case 3:
		text.WriteString("true")
		return JSONBool(true)
	case 4, 5:
		s := strings.Repeat("é", rnd.IntN(3)) + "x"
		text.WriteString(`"` + s + `\n"`)
		return JSONString([]byte(s + "\n"))
	case 6:
		var list [][]byte
		text.WriteByte('[')
		for i := range rnd.IntN(6) {
			if i > 0 {
				text.WriteString(" , ")
			}
			list = append(list, randomJSON(rnd, text, depth-1))
		}
		text.WriteByte(']')
		return JSONArray(list...)
	}
	var keys, vals [][]byte
	text.WriteByte('{')
	for i := range rnd.IntN(6) {
		if i > 0 {
			text.WriteByte(',')
		}
		k := strings.Repeat(string(rune('a'+rnd.IntN(3))), rnd.IntN(3))
		text.WriteString(`"` + k + `" :`)
		keys, vals = append(keys, []byte(k)), append(vals, randomJSON(rnd, text, depth-1))
	}
	text.WriteByte('}')
	return JSONObject(keys, vals)
}

// TestParseJSONAgainstBuilders: documents that are read are those that are built.
func TestParseJSONAgainstBuilders(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testflag.AnySeed(t), 1))
	for range testflag.Rounds(700, 20_000, 200_000) {
		var text strings.Builder
		want := randomJSON(rnd, &text, 5)
		got, err := ParseJSON([]byte(text.String()))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %x, %v; want %x", text.String(), got, err, want)
		}
		if err := ValidateJSON([]byte(text.String()), nil); err != nil {
			t.Fatalf("%s: %v", text.String(), err)
		}
		broken := []byte(text.String())
		broken[rnd.IntN(len(broken))] = "[]{}\",:1e\\"[rnd.IntN(10)]
		_, err = ParseJSON(broken)
		if other := ValidateJSON(broken, nil); fmt.Sprint(other) != fmt.Sprint(err) {
			t.Fatalf("%s: %v and %v", broken, err, other)
		}
	}
}

// TestParseJSONEnds: texts of every kind are given up soon after work says so.
func TestParseJSONEnds(t *testing.T) {
	testflag.Normal(t)
	stop := errors.New("stop")
	const n = 1 << 20
	for _, text := range []string{
		"[" + strings.Repeat("1,", n) + "1]",
		`"` + strings.Repeat("x", n) + `"`,
		`"` + strings.Repeat(`\n`, n) + `"`,
		"[" + strings.Repeat("[],", n) + "1]",
		"[" + strings.Repeat(" \n", n) + "]",
		"1" + strings.Repeat("0", n),
		"{" + strings.Repeat(`"b":1,"a":2,`, n/8) + `"c":1}`,
		strings.Repeat("[", 100) + strings.Repeat("1,", n) + "1" + strings.Repeat("]", 100),
	} {
		calls := 0
		if _, err := ParseJSONWith([]byte(text), func(int) error { calls++; return nil }); err != nil && text[0] != '1' {
			t.Fatalf("%.40s: %v", text, err)
		}
		// Blanks and digits in a row are passed in one go.
		if plain := strings.Contains(text, "0000") || strings.Contains(text, "\n \n"); calls < len(text)/jsonWorkStep/2 && !plain {
			t.Errorf("%.40s: work was called %d times", text, calls)
		}
		if _, err := ParseJSONWith([]byte(text), func(int) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// TestJSONTextEnds: texts of every kind are given up soon after work says so.
func TestJSONTextEnds(t *testing.T) {
	stop := errors.New("stop")
	const n = 1 << 18
	for _, text := range []string{
		"[" + strings.Repeat("1,", n) + "1]",
		`"` + strings.Repeat("x", n) + `"`,
		"[" + strings.Repeat(`{"a":[]},`, n) + "1]",
		`{"` + strings.Repeat("x", n) + `":1}`,
	} {
		doc, err := ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		got, err := AppendJSONTextUntil([]byte("x"), doc, func(int) error { calls++; return nil })
		if want := AppendJSONText([]byte("x"), doc); err != nil || string(got) != string(want) {
			t.Errorf("%.40s: %v, %.40s", text, err, got)
		}
		if calls < len(text)/jsonWorkStep/2 {
			t.Errorf("%.40s: work was called %d times", text, calls)
		}
		if got, err := AppendJSONTextUntil(nil, doc, func(int) error { return stop }); !errors.Is(err, stop) || len(got) > 3*jsonWorkStep {
			t.Errorf("%.40s: %v after %d bytes", text, err, len(got))
		}
	}
}

// TestJSONRoom: parsing takes no more than it says.
func TestJSONRoom(t *testing.T) {
	const n = 1 << 17
	for _, text := range []string{
		"[" + strings.Repeat("1,", n) + "1]",
		"[" + strings.Repeat("[],", n) + "1]",
		"{" + strings.Repeat(`"":1,`, n) + `"":2}`,
		"{" + strings.Repeat(`"b":1,"a":2,`, n) + `"c":1}`,
		`"` + strings.Repeat("x", 4*n) + `"`,
	} {
		doc, err := ParseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if room := JSONRoom([]byte(text)); int64(cap(doc)) > room {
			t.Errorf("%.40s: %d bytes, %d expected", text, cap(doc), room)
		}
	}
}

func BenchmarkParseJSON(b *testing.B) {
	for name, text := range map[string]string{
		"small":   `{"id": 17, "name": "somebody", "tags": ["a", "b"], "at": {"lat": 1.5, "lon": 2}}`,
		"numbers": "[" + strings.Repeat("1,", 100_000) + "1]",
		"objects": "[" + strings.Repeat(`{"b": 1, "a": "text"},`, 10_000) + "1]",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ParseJSON([]byte(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestJSONMembers: objects are those of JSONObject, whenever members whose key comes
// again are left out.
func TestJSONMembers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(testflag.AnySeed(t), 1))
	for range testflag.Rounds(500, 5000, 50_000) {
		var m JSONMembers
		var keys, vals [][]byte
		for range rnd.IntN(40) {
			k, v := []byte(strings.Repeat("k", rnd.IntN(3))+string(rune('a'+rnd.IntN(5)))), JSONString(bytes.Repeat([]byte{'v'}, rnd.IntN(5)))
			keys, vals = append(keys, k), append(vals, v)
			if err := m.Add(k, v); err != nil {
				t.Fatal(err)
			}
			if rnd.IntN(10) == 0 {
				if err := m.Compact(nil); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := m.Object(nil)
		if err != nil {
			t.Fatal(err)
		}
		size := m.ObjectSize()
		if want := JSONObject(keys, vals); !bytes.Equal(got, want) || size < len(got) {
			t.Fatalf("%x, want %x; size %d", got, want, size)
		}
		if err := m.Compact(nil); err != nil || m.ObjectSize() != len(got) {
			t.Fatalf("%d bytes, want %d", m.ObjectSize(), len(got))
		}
	}
}

// TestMembersWork: sorting members ends with the error of its work, and leaves them.
func TestMembersWork(t *testing.T) {
	var m JSONMembers
	for i := range 20_000 {
		if err := m.Add(fmt.Appendf(nil, "%d", i*7919%10_007), JSONNull()); err != nil {
			t.Fatal(err)
		}
	}
	size, total, killed := m.Len(), 0, errors.New("killed")
	work := func(n int) error {
		if total += n; total > 1_000_000 {
			return killed
		}
		return nil
	}
	if _, err := m.Object(work); err != killed || total > 1_100_000 {
		t.Errorf("%v after %d", err, total)
	}
	if err := m.Compact(work); err != killed || m.Len() != size {
		t.Errorf("%v, %d members, want %d", err, m.Len(), size)
	}
	if err := m.Compact(nil); err != nil || m.Len() != 10_007 {
		t.Errorf("%v, %d members", err, m.Len())
	}
}
