package table

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// AppendUniqueKey appends the key under which a row is found by the columns of a
// unique index none of which is NULL, or of the primary key (nil). Other columns
// of row are not looked at.
func (c *Codec) AppendUniqueKey(dst []byte, x *schema.Index, row []value.Datum) []byte {
	if x == nil {
		return c.AppendKey(dst, row)
	}
	ix := c.Index(x.ID)
	return AppendParts(append(dst, ix.prefix...), ix.Parts[:ix.Own], row)
}
