package types

import (
	"strings"
	"testing"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// TestCompareUntilMixed: a long text has an order to values of other kinds too.
func TestCompareUntilMixed(t *testing.T) {
	long := value.String(strings.Repeat("a", collate.LongText))
	as := Text(schema.CollationUTF8MB40900AICI)
	for _, other := range []value.Datum{value.Int(1), value.Float(1), value.JSONOf([]byte{0})} {
		for _, pair := range [][2]value.Datum{{long, other}, {other, long}} {
			got, err := CompareUntil(pair[0], pair[1], as, func(int) error { return nil })
			if want := Compare(pair[0], pair[1], as); err != nil || got != want {
				t.Errorf("%s and %s: %d, not %d (%v)", pair[0].Kind(), pair[1].Kind(), got, want, err)
			}
		}
	}
}
