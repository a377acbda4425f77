package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

func stringCodecDefs() []entry {
	return []entry{
		special("hex", bindHex, def{b: Builtin{Row: rowHex, impl: impl{strict: true}}}),
		fn("unhex", "s", retUnhex, rowUnhex, nullable),
		fn("bin", "x", retConv, rowBase(2), nullable),
		fn("oct", "x", retConv, rowBase(8), nullable),
		fn("conv", "xii", retConv, rowConv, nullable),
		fn("to_base64", "s", retASCII(longText), rowToBase64, 0),
		fn("from_base64", "s", retBinary(longText), rowFromBase64, nullable),
		fn("md5", "s", retASCII(32), rowMD5, 0),
		fn("sha sha1", "s", retASCII(40), rowSHA1, 0),
		fn("sha2", "si", retASCII(128), rowSHA2, nullable),
		fn("crc32", "s", retCRC, rowCRC32, 0),
	}
}

// retConv types CONV and its kin: a BIT is its number, other values are texts
// that begin with one.
func retConv(b *binding) (schema.Type, error) {
	a := b.args[0]
	if a.Type().ID == schema.TypeBit {
		a = bitsDef(a)
	}
	var err error
	b.args[0], err = convertArg(b.env, 's', a)
	return textType(64, b.env.collation()), err
}

func retCRC(*binding) (schema.Type, error) {
	t := uintType()
	t.Len = 10
	return t, nil
}

// bindHex types HEX: of the bytes of a text, or of a number as 64 bits.
func bindHex(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 1 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	a := args[0]
	var err error
	n := 16
	switch {
	case a.Type().IsNumeric():
		if k := numClassOf(a.Type()); k != numInt {
			if a, err = NewCast(env, a, doubleType(), false); err != nil {
				return nil, err
			}
		}
	default:
		if a, err = convertArg(env, 's', a); err != nil {
			return nil, err
		}
		n = min(8*textLen(a), longText)
	}
	return d.call(name, []Expr{a}, textType(n, env.collation()), a.Nullable(), nil), nil
}

// halfUp is a number as 64 bits, halves rounded away from zero; all bits beyond
// the range.
func halfUp(v float64) uint64 {
	switch {
	case v <= math.MinInt64 || v >= math.MaxUint64:
		return math.MaxUint64
	case v < 0:
		return uint64(int64(v - 0.5))
	}
	return uint64(v + 0.5)
}

func rowHex(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindBytes:
	case value.KindFloat:
		return value.String(strings.ToUpper(strconv.FormatUint(halfUp(a[0].Float()), 16))), nil
	default:
		return value.String(strings.ToUpper(strconv.FormatUint(a[0].Bits(), 16))), nil
	}
	const digits = "0123456789ABCDEF"
	s := a[0].Bytes()
	out := c.alloc(2 * len(s))
	for i, b := range s {
		out[2*i], out[2*i+1] = digits[b>>4], digits[b&15]
	}
	return value.Bytes(out), nil
}

func retUnhex(b *binding) (schema.Type, error) {
	return textType((textLen(b.args[0])+1)/2, schema.CollationBinary), nil
}

func rowUnhex(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s := a[0].Bytes()
	if len(s)%2 != 0 {
		s = append([]byte{'0'}, s...)
	}
	out := make([]byte, len(s)/2)
	if _, err := hex.Decode(out, s); err != nil {
		return value.Null, nil
	}
	return value.Bytes(out), nil
}

// rowBase is CONV(n, 10, base), as BIN and OCT are.
func rowBase(base int64) rowFunc {
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		return rowConv(c, f, []value.Datum{a[0], value.Int(10), value.Int(base)})
	}
}

// rowConv is CONV(n, from, to). A negative base means signed numbers.
func rowConv(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	from, to := asInt(a[1]), asInt(a[2])
	if abs64(from) < 2 || abs64(from) > 36 || abs64(to) < 2 || abs64(to) > 36 {
		return value.Null, nil
	}
	s := strings.TrimLeft(a[0].Str(), " \t\n\v\f\r")
	if s == "" {
		return value.Null, nil
	}
	neg := false
	if s[0] == '-' || s[0] == '+' {
		neg = s[0] == '-'
		s = s[1:]
	}
	mag := prefixUint(s, uint64(abs64(from)))
	v := mag
	if from < 0 {
		switch {
		case neg && mag > 1<<63:
			v = 1 << 63
		case neg:
			v = -mag
		case mag > math.MaxInt64:
			v = math.MaxInt64
		}
	} else if neg {
		v = -mag
	}
	var text string
	if to < 0 {
		text = strconv.FormatInt(int64(v), int(-to))
	} else {
		text = strconv.FormatUint(v, int(to))
	}
	return value.String(strings.ToUpper(text)), nil
}

func abs64(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// prefixUint is the number that the leading digits of s write; it saturates.
func prefixUint(s string, base uint64) uint64 {
	v := uint64(0)
	for i := 0; i < len(s); i++ {
		d := uint64(99)
		switch b := s[i]; {
		case b >= '0' && b <= '9':
			d = uint64(b - '0')
		case b >= 'a' && b <= 'z':
			d = uint64(b-'a') + 10
		case b >= 'A' && b <= 'Z':
			d = uint64(b-'A') + 10
		}
		if d >= base {
			break
		}
		if v > (math.MaxUint64-d)/base {
			return math.MaxUint64
		}
		v = v*base + d
	}
	return v
}

// rowToBase64 breaks lines after 76 characters, as MySQL does.
func rowToBase64(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	text := base64.StdEncoding.EncodeToString(a[0].Bytes())
	if ok, err := c.room("to_base64", int64(len(text)+len(text)/76)); !ok || err != nil {
		return value.Null, err
	}
	var b strings.Builder
	for len(text) > 76 {
		b.WriteString(text[:76] + "\n")
		text = text[76:]
	}
	b.WriteString(text)
	return value.String(b.String()), nil
}

func rowFromBase64(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	in := a[0].Bytes()
	if coll := argColl(f, 0); coll.MinLen() > 1 {
		in, _ = coll.Convert(nil, in, collate.Must(schema.CollationUTF8MB40900AICI))
	}
	text := make([]byte, 0, len(in))
	for i, b := range in {
		if i%writeStep == writeStep-1 {
			if err := c.Work(writeWork * writeStep); err != nil {
				return value.Null, err
			}
		}
		if b != ' ' && (b < '\t' || b > '\r') {
			text = append(text, b)
		}
	}
	// In steps of whole groups of 4; padding ends the last one.
	out := make([]byte, 0, base64.StdEncoding.DecodedLen(len(text)))
	for len(text) > 0 {
		if err := c.Work(writeWork * writeStep); err != nil {
			return value.Null, err
		}
		n := min(len(text), writeStep)
		part := text[:n]
		if text = text[n:]; len(text) > 0 && part[n-1] == '=' {
			return value.Null, nil
		}
		var err error
		if out, err = base64.StdEncoding.AppendDecode(out, part); err != nil {
			return value.Null, nil
		}
	}
	return value.Bytes(out), nil
}

// writeStep is how many bytes are written between two looks at the context.
const writeStep = 256 << 10

// write writes s to w, in steps.
func (c *Ctx) write(w io.Writer, s []byte) error {
	for len(s) > 0 {
		n := min(len(s), writeStep)
		if err := c.Work(writeWork * n); err != nil {
			return err
		}
		if _, err := w.Write(s[:n]); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		s = s[n:]
	}
	return nil
}

// writeWork is the work of hashing or compressing a byte.
const writeWork = 4

// digest is the hash of s as hexadecimal digits.
func (c *Ctx) digest(h hash.Hash, s []byte) (value.Datum, error) {
	if err := c.write(h, s); err != nil {
		return value.Null, err
	}
	return value.String(hex.EncodeToString(h.Sum(nil))), nil
}

func rowMD5(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return c.digest(md5.New(), a[0].Bytes())
}

func rowSHA1(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return c.digest(sha1.New(), a[0].Bytes())
}

func rowSHA2(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s := a[0].Bytes()
	switch asInt(a[1]) {
	case 224:
		return c.digest(sha256.New224(), s)
	case 256, 0:
		return c.digest(sha256.New(), s)
	case 384:
		return c.digest(sha512.New384(), s)
	case 512:
		return c.digest(sha512.New(), s)
	}
	return value.Null, nil
}

func rowCRC32(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.Uint(uint64(crc32.ChecksumIEEE(a[0].Bytes()))), nil
}
