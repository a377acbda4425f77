package collate

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
)

// contractions are characters that have weights of their own when they are together in
// some collation, with others that have several levels, or none.
var contractions = []string{
	"c", "h", "C", "H", "ch", "l", "ll", "j", "lj", "n", "nj", "d", "z", "dz", "dž", "a", "A", "aa", "AA", "s", "sz", "g", "gy", "gb", "t", "ty", "r",
	"ä", "Ä", "e", "\u0302", "\u0300", "\u0301", "\u030C", "\u0304", "\u0323", "m", "E", "ê\u0300", "ŋ", "ß", "·", "l·", "ŀ",
	"あ", "か", "カ", "ー", "ゝ", "ゞ", "ヽ", "ヾ", "ｶ", "ﾞ", "한", "글", "日", "本", "\u0E40", "\u0E01", "\u0E48", "\u0EC0", "\u0E81", "\u09CB", "\u0CC6", "\u0CC2", "\u0CD5",
	"\u0FB2", "\u0F71", "\u0F80", "и", "й", "\u0306", "\u0418", "क", "्", "ष", "𠀀", "\x00", "\u00AD", " ", "  ", "0", "9", "-",
}

func textOfContractions(r *rand.Rand, c *Collation) []byte {
	var s []byte
	utf8mb4 := Must(255)
	few := 1 + r.Intn(len(contractions))
	from := r.Intn(len(contractions))
	for n := r.Intn(60); n > 0; n-- {
		part, _ := utf8mb4.Convert(nil, []byte(contractions[(from+r.Intn(few))%len(contractions)]), c)
		s = append(s, part...)
	}
	return s
}

// TestParts makes keys and compares in parts of a few bytes.
func TestParts(t *testing.T) {
	goOn := func(int) error { return nil }
	for _, c := range List() {
		r := rand.New(rand.NewSource(int64(c.ID)))
		for i := range testflag.InShort(12, 100) {
			a, b := textOfContractions(r, c), textOfContractions(r, c)
			if i%3 == 0 {
				b = append(bytes.Clone(a[:len(a)/2]), b...)
			}
			part := 1 + r.Intn(12)
			if !c.inParts(a) || !c.inParts(b) {
				continue
			}
			key, err := c.appendKeyParts(nil, a, part, goOn)
			if want := c.AppendKey(nil, a); err != nil || !bytes.Equal(key, want) {
				t.Fatalf("%s: key of %q in parts of %d is %x, not %x", c.Name, a, part, key, want)
			}
			if got, err := c.compareParts(a, b, part, goOn); err != nil || got != c.Compare(a, b) {
				t.Fatalf("%s: %q and %q in parts of %d compare as %d, not %d", c.Name, a, b, part, got, c.Compare(a, b))
			}
		}
	}
}

// TestPartsAreShort: a long text is read in parts of a bounded length, whatever it is
// made of.
func TestPartsAreShort(t *testing.T) {
	testflag.Normal(t)
	const part = 1000
	for _, c := range List() {
		if c.class == classBytes {
			continue
		}
		for _, s := range []string{"a", "A", "ä", "ー", "aー", "ch", "ll", "あ", " ", "e\u0302"} {
			text, _ := Must(255).Convert(nil, []byte(strings.Repeat(s, 4_000)), c)
			if !c.inParts(text) {
				continue
			}
			rest := text
			for len(rest) > 0 {
				n := c.cut(rest, part)
				if n > 3*part {
					t.Errorf("%s: a part of %q has %d bytes", c.Name, s, n)
				}
				rest = rest[n:]
			}
		}
	}
}

func TestStop(t *testing.T) {
	testflag.Normal(t)
	stopped := errors.New("stopped")
	long, other := []byte(strings.Repeat("ä", 200_000)), []byte(strings.Repeat("Ä", 200_000))
	for _, c := range List() {
		if c.Charset != "utf8mb4" || c.class == classBytes {
			continue
		}
		read := 0
		stop := func(n int) error {
			if read += n; read > 3*partBytes {
				return stopped
			}
			return nil
		}
		if _, err := c.AppendKeyUntil(nil, long, stop); err != stopped {
			t.Errorf("%s: key: %v", c.Name, err)
		}
		read = 0
		if _, err := c.AppendHashKeyUntil(nil, long, stop); err != stopped {
			t.Errorf("%s: hash key: %v", c.Name, err)
		}
		read = 0
		d, err := c.CompareUntil(long, other, stop)
		if different := c.Compare([]byte("ä"), []byte("Ä")); err != stopped && (different == 0 || d != different) {
			t.Errorf("%s: comparison: %d, %v", c.Name, d, err)
		}
		if len(long) < LongText {
			t.Fatal("not a long text")
		}
	}
}

// TestLongTexts: with and without parts the keys are the same.
func TestLongTexts(t *testing.T) {
	goOn := func(int) error { return nil }
	for _, c := range List() {
		if c.ID%testflag.InShort[schema.CollationID](256, 8) != 0 && !testflag.InShort(false, c.IsDefault()) {
			continue
		}
		r := rand.New(rand.NewSource(int64(c.ID)))
		var s []byte
		for len(s) < LongText {
			s = append(s, textOfContractions(r, c)...)
		}
		key, err := c.AppendKeyUntil(nil, s, goOn)
		if err != nil || !bytes.Equal(key, c.AppendKey(nil, s)) {
			t.Errorf("%s: the key in parts differs (%v)", c.Name, err)
		}
		key, err = c.AppendHashKeyUntil(nil, s, goOn)
		if err != nil || !bytes.Equal(key, c.AppendHashKey(nil, s)) {
			t.Errorf("%s: the hash key in parts differs (%v)", c.Name, err)
		}
		weights, err := c.WeightStringUntil(s, goOn)
		if err != nil || !bytes.Equal(weights, c.WeightString(s, 0)) {
			t.Errorf("%s: the weights in parts differ (%v)", c.Name, err)
		}
	}
}

// TestJapaneseParts: marks of length and iteration, where they come first too, have the
// weights that they have in a text that is read at once.
func TestJapaneseParts(t *testing.T) {
	goOn := func(int) error { return nil }
	few := []string{"ー", "ゝ", "ゞ", "ヽ", "ヾ", "あ", "か", "カ", "ｶ", "ﾞ", "日", "a", " ", "\u0301", "龠"}
	for _, name := range []string{"utf8mb4_ja_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks"} {
		c, _ := ByName(name)
		r := rand.New(rand.NewSource(int64(c.ID)))
		text := func() []byte {
			var s []byte
			for n := r.Intn(20); n >= 0; n-- {
				s = append(s, few[r.Intn(len(few))]...)
			}
			return s
		}
		for range testflag.Pick(1_000, 8_000, 20_000) {
			a, b, part := text(), text(), 1+r.Intn(12)
			key, err := c.appendKeyParts(nil, a, part, goOn)
			if want := c.AppendKey(nil, a); err != nil || !bytes.Equal(key, want) {
				t.Fatalf("%s: key of %q in parts of %d is %x, not %x", name, a, part, key, want)
			}
			if got, err := c.compareParts(a, b, part, goOn); err != nil || got != c.Compare(a, b) {
				t.Fatalf("%s: %q and %q in parts of %d compare as %d, not %d", name, a, b, part, got, c.Compare(a, b))
			}
		}
	}
}

// TestFill: the weights of a text that is filled are those of the text and of spaces.
func TestFill(t *testing.T) {
	goOn := func(int) error { return nil }
	for _, c := range List() {
		r := rand.New(rand.NewSource(int64(c.ID)))
		for range 100 {
			s := textOfContractions(r, c)
			chars := c.CharLen(s) + r.Intn(3)
			space, n, err := c.FillUntil(s, chars, goOn)
			got := append(c.WeightString(s, 0), bytes.Repeat(space, n)...)
			if want := c.WeightString(s, chars); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: %q as %d characters: %x, %v, want %x", c.Name, s, chars, got, err, want)
			}
		}
	}
}
