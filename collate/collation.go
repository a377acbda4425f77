package collate

import (
	"bytes"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"vitess.io/vitess/go/mysql/collations"
	"vitess.io/vitess/go/mysql/collations/charset"
	"vitess.io/vitess/go/mysql/collations/colldata"
)

// class is how a collation is computed.
type class uint8

const (
	classBytes   class = iota // order of the bytes, no padding
	classPadByte              // order of the bytes, PAD SPACE
	class8Bit                 // one weight byte per byte, PAD SPACE
	classGeneral              // utf8 general_ci, PAD SPACE
	class0900                 // UCA 9.0.0, NO PAD
	classOther                // vitess, PAD SPACE
)

// Collation is a collation with its character set. It is immutable and safe
// for concurrent use; there is one per id.
type Collation struct {
	// ID is MySQL's number.
	ID schema.CollationID
	// Name is MySQL's name, such as utf8mb4_0900_ai_ci.
	Name string
	// Charset is the name of the character set, such as utf8mb4.
	Charset string

	class class
	utf8  bool // the character set is utf8mb4 or utf8mb3 (or ascii subset of it)
	mb3   bool
	ascii bool
	caseS bool
	isDef bool
	// standIn: the order is that of another collation.
	standIn bool
	v       colldata.Collation
	cs      charset.Charset
	w8      *[256]byte   // the weights of class8Bit
	w16     *[128]uint16 // the weights of ASCII, where they are used; 0 is ignorable
	pad     []byte       // the key of a space, which PAD SPACE keys do not end in
	levels  int          // of weights, at most
	// japanese: marks of length and iteration have the weight of what comes before.
	japanese bool
}

type table struct {
	byID   map[schema.CollationID]*Collation
	byName map[string]*Collation
	def    map[string]*Collation
	list   []*Collation
	css    []Charset
}

// Charset is a character set as SHOW CHARACTER SET lists it.
type Charset struct {
	Name             string
	Description      string
	DefaultCollation string
	// MaxLen is the most bytes of a character.
	MaxLen int
}

// The table is built on first use: programs that never touch a string do not
// pay for it.
var tables = sync.OnceValue(build)

// environment of MySQL 8.
var environment = sync.OnceValue(func() *collations.Environment { return collations.MySQL8() })

func build() *table {
	env := environment()
	t := &table{byID: map[schema.CollationID]*Collation{}, byName: map[string]*Collation{}, def: map[string]*Collation{}}
	all := colldata.All(env)
	for _, v := range append(all, eastAsian(colldata.Lookup)...) {
		c := newCollation(v)
		if c == nil {
			continue
		}
		t.byID[c.ID] = c
		t.byName[c.Name] = c
		t.list = append(t.list, c)
	}
	sort.Slice(t.list, func(i, j int) bool { return t.list[i].ID < t.list[j].ID })
	for _, c := range t.list {
		if schema.CollationID(env.DefaultCollationForCharset(c.Charset)) == c.ID || isEastAsianDefault(c.Name) {
			c.isDef = true
			t.def[c.Charset] = c
		}
	}
	for name, c := range t.def {
		t.css = append(t.css, Charset{Name: name, Description: describe(name), DefaultCollation: c.Name, MaxLen: c.MaxLen()})
	}
	sort.Slice(t.css, func(i, j int) bool { return t.css[i].Name < t.css[j].Name })
	return t
}

// Lookup finds a collation by its number.
func Lookup(id schema.CollationID) (*Collation, bool) {
	c, ok := tables().byID[id]
	return c, ok
}

// Must is Lookup of an id that is known to exist; unknown ids give the binary
// collation.
func Must(id schema.CollationID) *Collation {
	if c, ok := tables().byID[id]; ok {
		return c
	}
	return tables().byID[schema.CollationBinary]
}

// ByName finds a collation by its name, ignoring case; utf8_... is an alias of
// utf8mb3_....
func ByName(name string) (*Collation, bool) {
	name = strings.ToLower(name)
	if rest, ok := strings.CutPrefix(name, "utf8_"); ok {
		name = "utf8mb3_" + rest
	}
	c, ok := tables().byName[name]
	return c, ok
}

// DefaultForCharset is the default collation of a character set, ignoring
// case; utf8 is an alias of utf8mb3.
func DefaultForCharset(name string) (*Collation, bool) {
	name = strings.ToLower(name)
	if name == "utf8" {
		name = "utf8mb3"
	}
	c, ok := tables().def[name]
	return c, ok
}

// BinaryForCharset is the _bin collation of a character set.
func BinaryForCharset(name string) (*Collation, bool) {
	name = strings.ToLower(name)
	if name == "utf8" {
		name = "utf8mb3"
	}
	if name == "binary" {
		return DefaultForCharset(name)
	}
	return ByName(name + "_bin")
}

// List is all collations in the order of their numbers. Not to be changed.
func List() []*Collation { return tables().list }

// Charsets is all character sets in the order of their names. Not to be
// changed.
func Charsets() []Charset { return tables().css }

func newCollation(v colldata.Collation) *Collation {
	cs := v.Charset()
	c := &Collation{ID: schema.CollationID(v.ID()), Name: v.Name(), Charset: cs.Name(), v: v, cs: cs, class: classOther}
	if c.Charset == "utf8" {
		c.Charset = "utf8mb3"
	}
	c.mb3 = c.Charset == "utf8mb3"
	c.utf8 = c.Charset == "utf8mb4" || c.mb3
	c.ascii = c.Charset == "ascii"
	c.caseS = v.IsBinary() || strings.HasSuffix(c.Name, "_bin") || strings.HasSuffix(c.Name, "_cs") || strings.Contains(c.Name, "_as_cs")
	switch v := v.(type) {
	case *colldata.Collation_binary, *colldata.Collation_utf8mb4_0900_bin:
		c.class = classBytes
	case *colldata.Collation_unicode_bin:
		if c.utf8 {
			c.class = classPadByte // UTF-8 bytes sort as code points
		}
	case *colldata.Collation_8bit_bin:
		c.class = classPadByte
	case *doubleByteCollation:
		if v.weight == nil {
			c.class = classPadByte
		}
	case *renamed:
		c.standIn = true
	case *colldata.Collation_8bit_simple_ci:
		c.class = class8Bit
		c.w8 = new([256]byte)
		for i := range c.w8 {
			c.w8[i] = v.WeightString(nil, []byte{byte(i)}, 0)[0]
		}
	case *colldata.Collation_unicode_general_ci:
		if c.utf8 {
			c.class = classGeneral
			c.w16 = new([128]uint16)
			for i := range c.w16 {
				w := v.WeightString(nil, []byte{byte(i)}, 0)
				c.w16[i] = uint16(w[0])<<8 | uint16(w[1])
			}
		}
	case *colldata.Collation_utf8mb4_uca_0900:
		c.class = class0900
		if c.Name == "utf8mb4_0900_ai_ci" {
			c.w16 = asciiWeights(v)
		}
	case *colldata.Collation_uca_legacy:
		if c.Name == "utf8mb4_unicode_ci" || c.Name == "utf8mb3_unicode_ci" {
			c.w16 = asciiWeights(v)
		}
	}
	switch c.class {
	case classBytes, class0900:
	case classPadByte:
		c.pad = []byte{' '}
	default:
		c.pad = c.spaceKey()
	}
	c.levels = 1
	if c.class == class0900 {
		c.japanese = strings.HasPrefix(c.Name, "utf8mb4_ja_")
		c.levels = 1 + bytes.Count(v.WeightString(nil, []byte("あ"), 0), levelEnd)
	}
	return c
}

// asciiWeights is the weights of the ASCII characters, 0 for ignorable ones; nil
// when one has several. It is for collations without levels and without
// contractions of ASCII letters: the root ones.
func asciiWeights(v colldata.Collation) *[128]uint16 {
	t := new([128]uint16)
	for i := range t {
		switch w := v.WeightString(nil, []byte{byte(i)}, 0); len(w) {
		case 0:
		case 2:
			t[i] = uint16(w[0])<<8 | uint16(w[1])
		default:
			return nil
		}
	}
	return t
}

// spaceKey is the weight string of one space.
func (c *Collation) spaceKey() []byte {
	var b [4]byte
	n := c.cs.EncodeRune(b[:], ' ')
	if n <= 0 {
		return nil
	}
	return c.v.WeightString(nil, b[:n], 0)
}

// WeightString is MySQL's WEIGHT_STRING of s. With chars > 0 PAD SPACE
// collations fill it as if s had so many characters.
func (c *Collation) WeightString(s []byte, chars int) []byte {
	if !c.PadSpace() {
		chars = 0
	}
	return c.v.WeightString(nil, s, chars)
}

// IsDefault reports whether c is the default of its character set.
func (c *Collation) IsDefault() bool { return c.isDef }

// IsStandIn reports a collation whose order is not known: it serves as the
// default of its character set on connections and in conversions, and compares
// as gb18030_unicode_520_ci does. Columns may not have it.
func (c *Collation) IsStandIn() bool { return c.standIn }

// IsBinary reports that keys are the strings themselves: AppendKey copies.
// It does not hold for PAD SPACE _bin collations.
func (c *Collation) IsBinary() bool { return c.class == classBytes }

// IsCaseSensitive reports that 'a' and 'A' differ.
func (c *Collation) IsCaseSensitive() bool { return c.caseS }

// PadSpace reports PAD SPACE: trailing spaces do not matter in comparisons.
func (c *Collation) PadSpace() bool { return c.class != classBytes && c.class != class0900 }

// MaxLen is the most bytes of a character of the character set.
func (c *Collation) MaxLen() int { return c.cs.MaxWidth() }

// CharLen is the number of characters of s. A byte that is not part of a valid
// character counts as one.
func (c *Collation) CharLen(s []byte) int {
	switch {
	case c.cs.MaxWidth() == 1:
		return len(s)
	case c.utf8:
		return utf8.RuneCount(s)
	}
	return charset.Length(c.cs, s)
}

// Valid reports whether s is valid in the character set.
func (c *Collation) Valid(s []byte) bool {
	switch {
	case c.mb3:
		return utf8.Valid(s) && !hasSupplementary(s)
	case c.utf8:
		return utf8.Valid(s)
	case c.ascii:
		return isASCII(s)
	case c.cs.MaxWidth() == 1:
		return true
	case c.Charset == "utf32":
		return validUTF32(s)
	}
	return charset.Validate(c.cs, s)
}

// validUTF32 is for texts that vitess takes for valid, and panics on: its runes may be
// below 0 or above the last code point.
func validUTF32(s []byte) bool {
	if len(s)%4 != 0 {
		return false
	}
	for i := 0; i < len(s); i += 4 {
		if s[i] != 0 || s[i+1] > 0x10 {
			return false
		}
	}
	return true
}

// hasSupplementary reports a four-byte character in valid UTF-8.
func hasSupplementary(s []byte) bool {
	for _, b := range s {
		if b >= 0xF0 {
			return true
		}
	}
	return false
}

func isASCII(s []byte) bool {
	for _, b := range s {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// Compare orders a and b: -1, 0 or +1.
func (c *Collation) Compare(a, b []byte) int {
	switch c.class {
	case classBytes:
		return bytes.Compare(a, b)
	case classPadByte:
		return comparePadBytes(a, b)
	case class8Bit:
		return c.compare8Bit(a, b)
	case class0900:
		if c.w16 != nil {
			return c.compare0900(a, b)
		}
		return sign(c.v.Collate(a, b, false))
	case classGeneral:
		return c.compareGeneral(a, b)
	}
	return c.compareKeys(a, b)
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
