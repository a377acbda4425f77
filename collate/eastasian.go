package collate

import (
	_ "embed"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"vitess.io/vitess/go/mysql/collations"
	"vitess.io/vitess/go/mysql/collations/charset"
	"vitess.io/vitess/go/mysql/collations/colldata"
)

// gbk and big5, which vitess lacks: characters of one byte (ASCII) or of two.
// Their mappings to Unicode are those of golang.org/x/text.

// doubleByte is such a character set. Its tables are made on first use.
type doubleByte struct {
	name   string
	first  byte // lowest first byte of two
	enc    encoding.Encoding
	tables func() *doubleByteTables
}

type doubleByteTables struct {
	toRune map[uint16]rune
	toCode map[rune]uint16
}

var _ charset.Charset = (*doubleByte)(nil)

func newDoubleByte(name string, first byte, enc encoding.Encoding) *doubleByte {
	d := &doubleByte{name: name, first: first, enc: enc}
	d.tables = sync.OnceValue(d.build)
	return d
}

func (d *doubleByte) build() *doubleByteTables {
	t := &doubleByteTables{map[uint16]rune{}, map[rune]uint16{}}
	dec := d.enc.NewDecoder()
	for hi := int(d.first); hi <= 0xFE; hi++ {
		for lo := 0x40; lo <= 0xFE; lo++ {
			out, err := dec.Bytes([]byte{byte(hi), byte(lo)})
			if r, n := utf8.DecodeRune(out); err == nil && n == len(out) && r != utf8.RuneError && r >= 0x80 {
				code := uint16(hi<<8 | lo)
				t.toRune[code] = r
				if _, dup := t.toCode[r]; !dup {
					t.toCode[r] = code
				}
			}
		}
	}
	return t
}

// Name implements charset.Charset.
func (d *doubleByte) Name() string { return d.name }

// SupportsSupplementaryChars implements charset.Charset.
func (d *doubleByte) SupportsSupplementaryChars() bool { return false }

// IsSuperset implements charset.Charset.
func (d *doubleByte) IsSuperset(o charset.Charset) bool { return o.Name() == "ascii" }

// MaxWidth implements charset.Charset.
func (d *doubleByte) MaxWidth() int { return 2 }

// EncodeRune implements charset.Charset.
func (d *doubleByte) EncodeRune(dst []byte, r rune) int {
	if r < 0x80 {
		dst[0] = byte(r)
		return 1
	}
	code, ok := d.tables().toCode[r]
	if !ok {
		return -1
	}
	dst[0], dst[1] = byte(code>>8), byte(code)
	return 2
}

// DecodeRune implements charset.Charset.
func (d *doubleByte) DecodeRune(src []byte) (rune, int) {
	switch {
	case len(src) == 0:
		return utf8.RuneError, 0
	case src[0] < 0x80:
		return rune(src[0]), 1
	case len(src) >= 2:
		if r, ok := d.tables().toRune[uint16(src[0])<<8|uint16(src[1])]; ok {
			return r, 2
		}
	}
	return utf8.RuneError, 1
}

// gbkWeights are the weights of gbk_chinese_ci, two bytes for each pair of a
// first byte from 81 to FE and a second one from 40 to FE without 7F.
//
//go:embed gbk_weights.bin
var gbkWeights string

// doubleByteCollation orders by weights of two bytes for each character. It
// has the rest of the interface from another collation; what would be wrong
// for it is not called by this package.
type doubleByteCollation struct {
	colldata.Collation
	id     collations.ID
	name   string
	cs     charset.Charset
	weight func(code uint16) uint16
}

// ID implements colldata.Collation.
func (c *doubleByteCollation) ID() collations.ID { return c.id }

// Name implements colldata.Collation.
func (c *doubleByteCollation) Name() string { return c.name }

// Charset implements colldata.Collation.
func (c *doubleByteCollation) Charset() colldata.Charset { return c.cs }

// IsBinary implements colldata.Collation.
func (c *doubleByteCollation) IsBinary() bool { return c.weight == nil }

// WeightString implements colldata.Collation.
func (c *doubleByteCollation) WeightString(dst, src []byte, chars int) []byte {
	if c.weight == nil {
		dst = append(dst, src...)
		for n := charset.Length(c.cs, src); n < chars; n++ {
			dst = append(dst, ' ')
		}
		return dst
	}
	n := 0
	for ; len(src) > 0; n++ {
		r, width := c.cs.DecodeRune(src)
		w := uint16(src[0])
		switch {
		case width == 2:
			w = c.weight(uint16(src[0])<<8 | uint16(src[1]))
		case r == utf8.RuneError:
			w |= 0xFF00
		case r >= 'a' && r <= 'z':
			w -= 'a' - 'A'
		}
		dst = append(dst, byte(w>>8), byte(w))
		src = src[max(width, 1):]
	}
	for ; n < chars; n++ {
		dst = append(dst, 0, ' ')
	}
	return dst
}

// Collate implements colldata.Collation.
func (c *doubleByteCollation) Collate(a, b []byte, isPrefix bool) int {
	return sign(cmpBytes(c.WeightString(nil, a, 0), c.WeightString(nil, b, 0)))
}

func cmpBytes(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

func gbkWeight(code uint16) uint16 {
	hi, lo := int(code>>8), int(code&0xFF)
	if lo > 0x7F {
		lo--
	}
	at := 2 * ((hi-0x81)*190 + lo - 0x40)
	return uint16(gbkWeights[at])<<8 | uint16(gbkWeights[at+1])
}

// eastAsian are the collations that vitess lacks. byID finds those of vitess.
func eastAsian(byID func(collations.ID) colldata.Collation) []colldata.Collation {
	base := byID(collations.ID(63))
	gbk := newDoubleByte("gbk", 0x81, simplifiedchinese.GBK)
	big5 := newDoubleByte("big5", 0xA1, traditionalchinese.Big5)
	list := []colldata.Collation{
		&doubleByteCollation{base, 28, "gbk_chinese_ci", gbk, gbkWeight},
		&doubleByteCollation{base, 87, "gbk_bin", gbk, nil},
		&doubleByteCollation{base, 1, "big5_chinese_ci", big5, func(code uint16) uint16 { return code }},
		&doubleByteCollation{base, 84, "big5_bin", big5, nil},
	}
	if u := byID(250); u != nil {
		list = append(list, &doubleByteCollation{base, 249, "gb18030_bin", u.Charset(), nil},
			&renamed{u, 248, "gb18030_chinese_ci"})
	}
	return list
}

// isEastAsianDefault reports the defaults of the character sets of eastAsian.
func isEastAsianDefault(name string) bool {
	return name == "gbk_chinese_ci" || name == "big5_chinese_ci" || name == "gb18030_chinese_ci"
}

// renamed is a collation under the name of another one of its character set, whose order
// is not known here (see Collation.IsStandIn).
type renamed struct {
	colldata.Collation
	id   collations.ID
	name string
}

// ID implements colldata.Collation.
func (c *renamed) ID() collations.ID { return c.id }

// Name implements colldata.Collation.
func (c *renamed) Name() string { return c.name }
