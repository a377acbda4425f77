package collate

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestInvalidStrings checks that bytes that are no characters neither panic and
// that keys agree with Compare for them too.
func TestInvalidStrings(t *testing.T) {
	for _, name := range names {
		c, _ := ByName(name)
		r := rand.New(rand.NewPCG(3, uint64(c.ID)))
		for range testflag.InShort(1_000, 20_000) {
			a, b := randText(r, c), randText(r, c)
			a = append(a, byte(r.IntN(256)))
			if r.IntN(2) == 0 {
				b = append(b, byte(r.IntN(256)), 'x')
			}
			ka, kb := c.AppendKey(nil, a), c.AppendKey(nil, b)
			if bytes.Compare(ka, kb) != c.Compare(a, b) {
				t.Fatalf("%s: %q %q: keys %x %x", name, a, b, ka, kb)
			}
			isLike(c.NewLike(a, '\\'), b)
			c.CharLen(a)
			c.ToUpper(nil, a)
		}
	}
}

// TestInvalidUTF32: code points that do not exist are not valid; vitess panics on them.
func TestInvalidUTF32(t *testing.T) {
	c, _ := ByName("utf32_general_ci")
	for s, valid := range map[string]bool{"\x00\x00\x00A": true, "\x00\x10\xFF\xFF": true, "\x00\x11\x00\x00": false, "\xFF\xFF\xFF\xFF": false, "\x00\x00A": false} {
		if c.Valid([]byte(s)) != valid {
			t.Errorf("%q: valid is %t", s, !valid)
		}
	}
}
