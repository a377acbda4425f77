package expr

import (
	"bytes"
	"cmp"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// vecAttribute is attribute over a column, with whose bytes the result shares
// its own.
func vecAttribute(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	col, ok := f.Args[0].(*Col)
	if !ok {
		return evalGeneric(c, f, in)
	}
	docs, err := Eval(c, col, in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(value.KindJSON, in.N)
	name := []byte(f.attributeName())
	for r := range in.Live() {
		i := in.Row(r)
		if docs.Nulls.IsNull(i) {
			out.Nulls.Set(i)
			continue
		}
		doc := docs.Bytes[i]
		if v, ok := value.JSONMember(doc, name); ok {
			out.Bytes[i] = v
		} else if at := findFolded(doc, f.attributeName()); at >= 0 {
			out.Bytes[i] = value.JSONElem(doc, at)
		} else {
			out.Nulls.Set(i)
		}
	}
	return out, nil
}

// vecAttributeNumber is attribute_number: what is a number already, as most
// are, stays where it is.
func vecAttributeNumber(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if _, name, ok := AsAttribute(f.Args[0]); !ok || name == "" {
		return evalGeneric(c, f, in)
	}
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	var arg [1]value.Datum
	for r := range in.Live() {
		i := in.Row(r)
		if v.Nulls.IsNull(i) {
			continue
		}
		if value.JSONIsNumber(v.Bytes[i]) {
			continue
		}
		arg[0] = value.JSONOf(v.Bytes[i])
		keep := c.arena
		d, err := rowAttributeNumber(c, f, arg[:])
		if err != nil {
			return nil, err
		}
		if err := c.store(v, i, d, f); err != nil {
			return nil, err
		}
		c.rewind(keep)
	}
	return v, nil
}

// vecAttributeOrder is attribute_order against one text.
func vecAttributeOrder(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	x := f.order()
	if _, _, ok := AsAttribute(f.Args[0]); !ok || x.nullSafe || !IsConst(f.Args[1]) || x.coll == schema.CollationBinary {
		return evalGeneric(c, f, in)
	}
	text, err := EvalRow(c, f.Args[1], nil)
	if err != nil || text.IsNull() {
		return nullsOr(c, f, in, err)
	}
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(kindOf(f), in.N)
	as, args := types.Text(x.coll), [2]value.Datum{1: text}
	for r := range in.Live() {
		i := in.Row(r)
		if v.Nulls.IsNull(i) {
			out.Nulls.Set(i)
			continue
		}
		if s, ok := value.JSONText(v.Bytes[i]); ok {
			if bytes.Equal(s, text.Bytes()) {
				out.I64[i] = 0
			} else {
				out.I64[i] = int64(c.compare(value.Bytes(s), text, as))
			}
			continue
		}
		args[0] = value.JSONOf(v.Bytes[i])
		keep := c.arena
		d, err := rowAttributeOrder(c, f, args[:])
		if err != nil {
			return nil, err
		}
		if err := c.store(out, i, d, f); err != nil {
			return nil, err
		}
		c.rewind(keep)
	}
	c.Release(v)
	return out, nil
}

// nullsOr is NULL for all rows, unless there is an error.
func nullsOr(c *Ctx, f *Func, in *vec.Batch, err error) (*vec.Vec, error) {
	if err != nil {
		return nil, err
	}
	out := c.getVec(kindOf(f), in.N)
	for r := range in.Live() {
		out.Nulls.Set(in.Row(r))
	}
	return out, nil
}

// compareJSONTo compares with a document that is an integer, otherwise as
// compareDatums does.
func compareJSONTo(c *Ctx, k value.Datum, t schema.Type) func(doc []byte) int {
	n, isInt := value.JSONInteger(k.Bytes())
	return func(doc []byte) int {
		if isInt {
			if x, ok := value.JSONInteger(doc); ok {
				return cmp.Compare(x, n)
			}
		}
		return c.compare(value.JSONOf(doc), k, t)
	}
}
