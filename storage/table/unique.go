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

// AppendKeyStart appends what the keys of all entries of an index, or of all rows
// (nil), begin with that have the first n parts of row, none of which is NULL.
func (c *Codec) AppendKeyStart(dst []byte, x *schema.Index, n int, row []value.Datum) []byte {
	if x == nil {
		return AppendParts(append(dst, c.prefix...), c.Key[:n], row)
	}
	ix := c.Index(x.ID)
	return AppendParts(append(dst, ix.prefix...), ix.Parts[:n], row)
}
