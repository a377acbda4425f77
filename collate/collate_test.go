package collate

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
)

// names are the collations that the properties are tested for.
var names = []string{
	"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_bin", "utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci",
	"utf8mb4_de_pb_0900_ai_ci", "utf8mb3_general_ci", "utf8mb4_spanish2_ci", "latin1_swedish_ci", "latin1_bin", "gbk_chinese_ci", "gbk_bin", "big5_chinese_ci", "gb18030_bin", "ascii_general_ci", "ascii_bin", "binary",
}

// runes are characters that collations treat in special ways.
var runes = []rune("aAbBcChzZ  \t\x01\x00!0_éÉèßäÄæÆœøåñ\u0301\u00a0\u2003ŞşıİΑαΣσςжЖ中文字ひヒ가각กา\u200b\uffff😀🚀ﬁ①")

func randText(r *rand.Rand, c *Collation) []byte {
	var s []byte
	for range r.IntN(7) {
		x := runes[r.IntN(len(runes))]
		switch r.IntN(12) {
		case 0:
			x = rune(r.IntN(0x3000))
		case 1:
			x = rune(r.IntN(0x110000))
		case 2, 3, 4:
			x = rune("ab c\t"[r.IntN(5)])
		}
		if !utf8.ValidRune(x) {
			continue
		}
		if c.Charset == "binary" {
			s = utf8.AppendRune(s, x)
			continue
		}
		if out, ok := c.AppendRune(s, x); ok {
			s = out
		}
	}
	return s
}

func TestKeysOrderAsCompare(t *testing.T) {
	for _, name := range names {
		c, ok := ByName(name)
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		r := rand.New(rand.NewPCG(1, uint64(c.ID)))
		failed := 0
		for range testflag.InShort(1_000, 20_000) {
			a, b := randText(r, c), randText(r, c)
			if r.IntN(3) == 0 {
				b = append(append([]byte{}, a...), b...)
			}
			if !c.Valid(a) {
				t.Fatalf("%s: %q is not valid", name, a)
			}
			cmp := c.Compare(a, b)
			ka, kb := c.AppendKey(nil, a), c.AppendKey(nil, b)
			ha, hb := c.AppendHashKey(nil, a), c.AppendHashKey(nil, b)
			if bytes.Compare(ka, kb) != cmp || c.Compare(b, a) != -cmp || bytes.Equal(ha, hb) != (cmp == 0) {
				if failed++; failed < 4 {
					t.Errorf("%s: %q %q: compare %d, reversed %d, keys %d (%x %x), hashes equal %v", name, a, b, cmp, c.Compare(b, a), bytes.Compare(ka, kb), ka, kb, bytes.Equal(ha, hb))
				}
			}
			if p, ok := c.AppendKeyPrefix(nil, a); ok {
				s := append(append([]byte{}, a...), b...)
				if k := c.AppendKey(nil, s); !bytes.HasPrefix(k, p) {
					t.Fatalf("%s: key %x of %q does not begin with prefix %x of %q", name, k, s, p, a)
				}
			}
			if c.PadSpace() && c.Compare(a, append(append([]byte{}, a...), "  "...)) != 0 && c.Charset != "utf16" {
				t.Fatalf("%s: trailing spaces of %q matter", name, a)
			}
		}
	}
}

// TestFastPathsAgainstVitess compares what is computed here with vitess.
func TestFastPathsAgainstVitess(t *testing.T) {
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_bin", "binary"} {
		c, _ := ByName(name)
		r := rand.New(rand.NewPCG(2, uint64(c.ID)))
		for range 20000 {
			a, b := randText(r, c), randText(r, c)
			if got, want := c.Compare(a, b), sign(c.v.Collate(a, b, false)); got != want {
				t.Fatalf("%s: %q %q: %d, vitess %d", name, a, b, got, want)
			}
			if got, want := c.AppendKey(nil, a), c.v.WeightString(nil, a, 0); !bytes.Equal(got, want) {
				t.Fatalf("%s: key of %q is %x, vitess %x", name, a, got, want)
			}
		}
	}
}

func TestFacts(t *testing.T) {
	for _, f := range []struct {
		coll, a, b string
		want       int
	}{
		{"utf8mb4_0900_ai_ci", "a", "A", 0}, {"utf8mb4_0900_ai_ci", "e", "é", 0}, {"utf8mb4_0900_ai_ci", "ss", "ß", 0}, {"utf8mb4_0900_ai_ci", "a", "a ", -1},
		{"utf8mb4_0900_as_cs", "a", "A", -1}, {"utf8mb4_0900_ai_ci", "中", "中", 0}, {"utf8mb4_0900_ai_ci", "😀", "🚀", 1 - 2},
		{"utf8mb4_general_ci", "ß", "s", 0}, {"utf8mb4_general_ci", "a ", "a", 0}, {"utf8mb4_general_ci", "a\t", "a", -1}, {"utf8mb4_general_ci", "😀", "🚀", 0},
		{"utf8mb4_unicode_ci", "ß", "ss", 0}, {"utf8mb4_unicode_ci", "a  ", "A", 0}, {"utf8mb4_bin", "a", "A", 1}, {"utf8mb4_bin", "a ", "a", 0},
		{"latin1_swedish_ci", "a", "A ", 0}, {"binary", "a ", "a", 1},
	} {
		c, _ := ByName(f.coll)
		if got := c.Compare([]byte(f.a), []byte(f.b)); got != f.want {
			t.Errorf("%s: %q %q = %d, want %d", f.coll, f.a, f.b, got, f.want)
		}
	}
	for _, f := range []struct{ charset, coll string }{{"utf8mb4", "utf8mb4_0900_ai_ci"}, {"UTF8", "utf8mb3_general_ci"}, {"latin1", "latin1_swedish_ci"}, {"binary", "binary"}, {"ascii", "ascii_general_ci"}} {
		if c, ok := DefaultForCharset(f.charset); !ok || c.Name != f.coll || !c.IsDefault() {
			t.Errorf("default of %s: %v", f.charset, c)
		}
	}
	for _, id := range []schema.CollationID{8, 11, 33, 45, 46, 63, 224, 255} {
		if c, ok := Lookup(id); !ok || c.ID != id {
			t.Errorf("no collation %d", id)
		}
	}
}

func TestLike(t *testing.T) {
	for _, f := range []struct {
		coll, pattern, s string
		want             bool
	}{
		{"utf8mb4_0900_ai_ci", "a%", "ABC", true}, {"utf8mb4_0900_ai_ci", "%é%", "cafe!", true}, {"utf8mb4_bin", "a%", "ABC", false},
		{"utf8mb4_bin", "a_c", "a中c", true}, {"utf8mb4_bin", "a_c", "a中文c", false}, {"utf8mb4_0900_ai_ci", "a\\%", "a%", true}, {"utf8mb4_0900_ai_ci", "a\\%", "ab", false},
		{"utf8mb4_0900_ai_ci", "%", "", true}, {"utf8mb4_0900_ai_ci", "", "", true}, {"utf8mb4_0900_ai_ci", "", "a", false}, {"utf8mb4_0900_ai_ci", "_%_", "a", false},
		{"utf8mb4_0900_ai_ci", "a ", "a", false}, {"utf8mb4_general_ci", "a", "a ", false}, {"utf8mb4_0900_ai_ci", "%a%b%c", "xxaxxbxxc", true}, {"utf8mb4_0900_ai_ci", "%a%b%c", "xxaxxbxxcd", false},
		{"latin1_swedish_ci", "A_c%", "abCd", true}, {"binary", "%\xff%", "a\xffb", true}, {"utf8mb4_bin", "%abc", "abcabc", true}, {"utf8mb4_bin", "abc\\", "abc\\", true},
		{"utf8mb4_0900_ai_ci", "ß", "ss", false}, {"utf8mb4_general_ci", "%Ж", "абж", true}, {"utf8mb4_unicode_ci", "%É_", "xxeY", true},
	} {
		c, _ := ByName(f.coll)
		if got := isLike(c.NewLike([]byte(f.pattern), '\\'), []byte(f.s)); got != f.want {
			t.Errorf("%s: %q LIKE %q = %v", f.coll, f.s, f.pattern, got)
		}
	}
	c, _ := ByName("utf8mb4_bin")
	if isLike(c.NewLike([]byte("a|%"), '|'), []byte("ab")) || !isLike(c.NewLike([]byte("a\\%"), 0), []byte("a\\b")) {
		t.Error("escape characters")
	}
}

func TestConvert(t *testing.T) {
	u, _ := ByName("utf8mb4_bin")
	l, _ := ByName("latin1_swedish_ci")
	if out, lost := u.Convert(nil, []byte("é€"), l); lost >= 0 || !bytes.Equal(out, []byte{0xE9, 0x80}) {
		t.Errorf("é€ in latin1: %x %v", out, lost)
	}
	if out, lost := u.Convert(nil, []byte("ä中b文"), l); lost != 2 || string(out) != "\xe4?b?" {
		t.Errorf("ä中b文 in latin1: %q %v", out, lost)
	}
	if out, lost := l.Convert(nil, []byte{0xE9}, u); lost >= 0 || string(out) != "é" {
		t.Errorf("back: %q", out)
	}
	if string(u.ToUpper(nil, []byte("aéß中"))) != "AÉß中" || !bytes.Equal(l.ToUpper(nil, []byte{'a', 0xE9}), []byte{'A', 0xC9}) {
		t.Error("capitals", string(u.ToUpper(nil, []byte("aéß中"))))
	}
	m, _ := ByName("utf8_general_ci")
	if m.Valid([]byte("😀")) || !m.Valid([]byte("中")) || u.Valid([]byte{0xFF}) || u.ValidPrefix([]byte("ab\xff")) != 2 || u.CharLen([]byte("a中")) != 2 || u.PrefixLen([]byte("a中b"), 2) != 4 {
		t.Error("validity")
	}
}

func TestFastPathsDoNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 256)
	a, b := []byte("The quick brown fox 1"), []byte("The quick brown fox 2")
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_bin", "utf8mb4_general_ci", "latin1_swedish_ci", "binary"} {
		c, _ := ByName(name)
		if n := testing.AllocsPerRun(100, func() { c.Compare(a, b); buf = c.AppendKey(buf[:0], a); buf = c.AppendHashKey(buf[:0], a) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestConvertWide writes characters below 128 at once, and others one by one.
func TestConvertWide(t *testing.T) {
	u, _ := ByName("utf8mb4_bin")
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"ucs2_bin", "utf16_bin", "utf16le_bin", "utf32_bin"} {
		wide, _ := ByName(name)
		for range 300 {
			var text, want []byte
			for range r.IntN(40) {
				one := utf8.AppendRune(nil, []rune{'a', '\x00', '\x7f', 'é', '中'}[min(r.IntN(12), 4)])
				text = append(text, one...)
				want, _ = wide.AppendRune(want, []rune(string(one))[0])
			}
			out, lost := u.Convert([]byte("x"), text, wide)
			if string(out) != "x"+string(want) || lost >= 0 {
				t.Fatalf("%s: %q is %x, not %x", name, text, out, want)
			}
			if back, _ := wide.Convert(nil, out[1:], u); !bytes.Equal(back, text) {
				t.Fatalf("%s: %q came back as %q", name, text, back)
			}
		}
	}
}

func BenchmarkCollations(b *testing.B) {
	ascii, ascii2 := []byte("customer-name 0012345"), []byte("customer-name 0012346")
	cjk := []byte("北京市朝阳区建国路八十八号")
	var buf [512]byte
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_bin"} {
		c, _ := ByName(name)
		b.Run(name+"/key", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.AppendKey(buf[:0], ascii)
			}
		})
		b.Run(name+"/key-cjk", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.AppendKey(buf[:0], cjk)
			}
		})
		b.Run(name+"/compare", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Compare(ascii, ascii2)
			}
		})
	}
}

func isLike(l Like, s []byte) bool { return l.Match(s) }
