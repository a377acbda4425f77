package expr

import (
	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// workOfWeight is the work of weighing a byte of a text.
const workOfWeight = 5

// weigh is collate.Stop: it counts the work of read bytes of a long text.
func (c *Ctx) weigh(read int) error { return c.Work(workOfWeight * read) }

// Compare is types.Compare that ends with the statement if the values are long texts.
func (c *Ctx) Compare(a, b value.Datum, t schema.Type) (int, error) {
	if a.Size() < collate.LongText && b.Size() < collate.LongText {
		return types.Compare(a, b, t), nil
	}
	return types.CompareUntil(a, b, t, c.weigh)
}

// HashKey is types.HashKey that ends with the statement if d is a long text.
func (c *Ctx) HashKey(dst []byte, d value.Datum, t schema.Type) ([]byte, error) {
	if d.Size() < collate.LongText {
		return types.HashKey(dst, d, t), nil
	}
	return types.HashKeyUntil(dst, d, t, c.weigh)
}

// compare is compareDatums that ends with the statement if the values are long texts:
// its result is then wrong, and takeFailure has the error.
func (c *Ctx) compare(a, b value.Datum, t schema.Type) int {
	if a.Size() < collate.LongText && b.Size() < collate.LongText {
		return compareDatums(a, b, t)
	}
	d, err := types.CompareUntil(a, b, t, c.weigh)
	c.fail(err)
	return d
}

// compareText is compare of two texts.
func (c *Ctx) compareText(coll *collate.Collation, a, b []byte) int {
	if len(a) < collate.LongText && len(b) < collate.LongText {
		return coll.Compare(a, b)
	}
	d, err := coll.CompareUntil(a, b, c.weigh)
	c.fail(err)
	return d
}

// hashKey is HashKey with its error in takeFailure.
func (c *Ctx) hashKey(dst []byte, d value.Datum, t schema.Type) []byte {
	dst, err := c.HashKey(dst, d, t)
	c.fail(err)
	return dst
}

// fail keeps err for takeFailure.
func (c *Ctx) fail(err error) {
	if err != nil {
		c.failed = err
	}
}

// takeFailure is err, or the error of a comparison since the last call. What evaluates
// a call looks at it before the result is used.
func (c *Ctx) takeFailure(err error) error {
	if err == nil {
		err = c.failed
	}
	c.failed = nil
	return err
}
