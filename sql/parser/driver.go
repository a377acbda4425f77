package parser

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// LiteralKind distinguishes literals of equal datums.
type LiteralKind uint8

// Kinds of literals.
const (
	LiteralNull LiteralKind = iota
	LiteralBool
	LiteralNumber
	LiteralString
	LiteralHex
	LiteralBit
)

// Literal is a literal in the AST. Numbers without exponent are KindInt,
// KindUint or KindDecimal, the others KindFloat; strings, hexadecimal and bit
// literals are KindBytes.
type Literal struct {
	ast.TexprNode
	Datum value.Datum
	Kind  LiteralKind
	// Digits is how many digits a decimal has, with all zeros that were
	// written before the point.
	Digits int
	// TooLong is the text of a decimal of more digits than MySQL reads; the
	// value is the largest DECIMAL then.
	TooLong string
	// AfterKeyword is set for the text of DATE '…', TIME '…' and TIMESTAMP '…',
	// and for other text that is no expression. The grammar makes the same
	// calls of {d '…'}, {t '…'} and {ts '…'}, of any expression.
	AfterKeyword bool
	// raw is what the grammar reads back: int64, uint64, string.
	raw        any
	projection int
	// JSONTable is set where the literal stands for one, see JSONTableFunc.
	JSONTable *JSONTable
}

// DecimalType is the type of a decimal literal, whose value may have more
// digits.
func (l *Literal) DecimalType() schema.Type {
	return literalDecimal(l.Digits, l.Datum.Decimal().Scale())
}

// writtenDigits is the precision of a decimal literal: MySQL counts the zeros
// before the point, so that 0.5 is a DECIMAL(2,1) and .5 a DECIMAL(1,1).
func writtenDigits(s []byte, d value.Decimal) int {
	n := d.Scale()
	for _, c := range s {
		if c == '.' {
			break
		}
		if isDigit(c) {
			n++
		}
	}
	return n
}

// Introducer is the character set that precedes a string or hexadecimal literal
// (_utf8mb4'x'), "" if none.
func (l *Literal) Introducer() string {
	if l.Type.GetFlag()&mysql.UnderScoreCharsetFlag == 0 {
		return ""
	}
	return l.Type.GetCharset()
}

// FirstString is the first of adjacent string literals, which names a column
// of the select list.
func (l *Literal) FirstString() string {
	s := l.GetString()
	if l.projection >= 0 && l.projection <= len(s) {
		return s[:l.projection]
	}
	return s
}

// Param is a ? in the AST.
type Param struct {
	Literal
	// Offset is the position of the ? in the text.
	Offset int
	// Index counts the parameters of the statement from 0 by position.
	Index int
}

var (
	_ ast.ValueExpr       = (*Literal)(nil)
	_ ast.ParamMarkerExpr = (*Param)(nil)
)

// SetValue implements ast.ValueExpr.
func (l *Literal) SetValue(v any) { l.set(v) }

// GetValue implements ast.ValueExpr: the grammar wants int64 for positions in
// ORDER BY.
func (l *Literal) GetValue() any { return l.raw }

// GetDatumString implements ast.ValueExpr.
func (l *Literal) GetDatumString() string { return l.GetString() }

// GetString implements ast.ValueExpr.
func (l *Literal) GetString() string {
	if l.Datum.Kind() == value.KindBytes {
		return l.Datum.Str()
	}
	return ""
}

// GetProjectionOffset implements ast.ValueExpr.
func (l *Literal) GetProjectionOffset() int { return l.projection }

// SetProjectionOffset implements ast.ValueExpr.
func (l *Literal) SetProjectionOffset(offset int) { l.projection = offset }

// Accept implements ast.Node.
func (l *Literal) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(l)
	return v.Leave(n)
}

// Restore implements ast.Node.
func (l *Literal) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain(l.text())
	return nil
}

// Format implements ast.ExprNode.
func (l *Literal) Format(w io.Writer) { _, _ = io.WriteString(w, l.text()) }

func (l *Literal) text() string {
	switch l.Datum.Kind() {
	case value.KindNull:
		return "NULL"
	case value.KindInt:
		if l.Kind == LiteralBool {
			return strings.ToUpper(strconv.FormatBool(l.Datum.Int() != 0))
		}
		return strconv.FormatInt(l.Datum.Int(), 10)
	case value.KindUint:
		return strconv.FormatUint(l.Datum.Uint(), 10)
	case value.KindFloat:
		return strconv.FormatFloat(l.Datum.Float(), 'e', -1, 64)
	case value.KindDecimal:
		return l.Datum.Decimal().String()
	}
	if l.Kind == LiteralHex || l.Kind == LiteralBit {
		return "x'" + hex.EncodeToString(l.Datum.Bytes()) + "'"
	}
	s := "'" + QuoteBody(l.Datum.Str()) + "'"
	if cs := l.Introducer(); cs != "" {
		s = "_" + cs + s
	}
	return s
}

// QuoteBody is s with backslashes and quotes escaped, to be put between single
// quotes.
func QuoteBody(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\'':
			b.WriteString("''")
		case '\\':
			b.WriteString(`\\`)
		case 0:
			b.WriteString(`\0`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case 0x1a:
			b.WriteString(`\Z`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Restore implements ast.Node.
func (p *Param) Restore(ctx *format.RestoreCtx) error {
	ctx.WritePlain("?")
	return nil
}

// Format implements ast.ExprNode.
func (p *Param) Format(w io.Writer) { _, _ = io.WriteString(w, "?") }

// Accept implements ast.Node.
func (p *Param) Accept(v ast.Visitor) (ast.Node, bool) {
	n, _ := v.Enter(p)
	return v.Leave(n)
}

// SetOrder implements ast.ParamMarkerExpr.
func (p *Param) SetOrder(order int) { p.Index = order }

// hexBytes and bitBytes are literals on their way through the lexer.
type (
	hexBytes []byte
	bitBytes []byte
)

// ToString implements ast.BinaryLiteral, for hashes of passwords and members of ENUM
// and SET.
func (b hexBytes) ToString() string { return string(b) }

// ToString implements ast.BinaryLiteral.
func (b bitBytes) ToString() string { return string(b) }

// number is a decimal literal on its way through the lexer.
type number struct {
	d       value.Decimal
	digits  int
	tooLong string
}

func (l *Literal) set(v any) {
	l.raw = v
	switch v := v.(type) {
	case nil:
		l.Datum, l.Kind = value.Null, LiteralNull
	case bool:
		l.Datum, l.Kind = value.Bool(v), LiteralBool
	case int:
		l.Datum, l.Kind = value.Int(int64(v)), LiteralNumber
	case int64:
		l.Datum, l.Kind = value.Int(v), LiteralNumber
	case uint64:
		l.Datum, l.Kind = value.Uint(v), LiteralNumber
		if v <= math.MaxInt64 {
			l.Datum = value.Int(int64(v))
		}
	case float64:
		l.Datum, l.Kind = value.Float(v), LiteralNumber
	case number:
		l.Datum, l.Kind, l.Digits, l.TooLong = value.Dec(v.d), LiteralNumber, v.digits, v.tooLong
	case string:
		l.Datum, l.Kind = value.String(v), LiteralString
	case []byte:
		l.Datum, l.Kind = value.Bytes(v), LiteralString
	case hexBytes:
		l.Datum, l.Kind = value.Bytes(v), LiteralHex
	case bitBytes:
		l.Datum, l.Kind = value.Bytes(v), LiteralBit
	default:
		// The grammar makes no others; a string keeps the text visible.
		l.Datum, l.Kind = value.String(fmt.Sprint(v)), LiteralString
	}
}

var driverOnce sync.Once

// installDriver sets the hooks through which TiDB's parser makes literals.
// They are globals of that package, so this happens once per process.
func installDriver() {
	driverOnce.Do(func() {
		ast.NewValueExpr = func(v any, cs, coll string) ast.ValueExpr {
			if l, ok := v.(*Literal); ok {
				return l
			}
			l := &Literal{projection: -1, AfterKeyword: cs == ""}
			l.set(v)
			l.Type.SetCharset(cs)
			l.Type.SetCollate(coll)
			return l
		}
		ast.NewParamMarkerExpr = func(offset int) ast.ParamMarkerExpr {
			return &Param{Literal: Literal{projection: -1}, Offset: offset}
		}
		ast.NewDecimal = func(s string) (any, error) {
			d, err := value.ParseDecimal(s)
			if errors.Is(err, value.ErrRange) {
				return number{d, d.Digits(), s}, nil
			}
			return number{d: d, digits: writtenDigits([]byte(s), d)}, err
		}
		ast.NewHexLiteral = func(s string) (any, error) { b, err := hexLiteral(s); return hexBytes(b), err }
		ast.NewBitLiteral = func(s string) (any, error) { b, err := bitLiteral(s); return bitBytes(b), err }
		addCharsets()
	})
}

// addCharsets makes TiDB's parser accept the names of all character sets and
// collations that package collate has; it checks them while it parses.
func addCharsets() {
	for _, c := range collate.Charsets() {
		if _, err := charset.GetCharsetInfo(c.Name); err != nil {
			charset.AddCharset(&charset.Charset{Name: c.Name, DefaultCollation: c.DefaultCollation,
				Collations: map[string]*charset.Collation{}, Desc: c.Description, Maxlen: c.MaxLen})
		}
	}
	for _, c := range collate.List() {
		if _, err := charset.GetCollationByName(c.Name); err != nil {
			charset.AddCollation(&charset.Collation{ID: int(c.ID), CharsetName: c.Charset, Name: c.Name, IsDefault: c.IsDefault()})
		}
	}
}

var errLiteral = errors.New("malformed literal")

// hexLiteral reads x'4D' and 0x4D; an odd count of digits gets a leading zero
// in the second form and is an error in the first.
func hexLiteral(s string) ([]byte, error) {
	switch {
	case len(s) >= 3 && (s[0] == 'x' || s[0] == 'X') && s[1] == '\'':
		s = s[2 : len(s)-1]
		if len(s)%2 != 0 {
			return nil, errLiteral
		}
	case len(s) >= 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'):
		s = s[2:]
		if len(s)%2 != 0 {
			s = "0" + s
		}
	default:
		return nil, errLiteral
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("reading hexadecimal literal: %w", err)
	}
	return b, nil
}

// bitLiteral reads b'101' and 0b101.
func bitLiteral(s string) ([]byte, error) {
	switch {
	case len(s) >= 3 && (s[0] == 'b' || s[0] == 'B') && s[1] == '\'':
		s = s[2 : len(s)-1]
	case len(s) >= 2 && s[0] == '0' && (s[1] == 'b' || s[1] == 'B'):
		s = s[2:]
	default:
		return nil, errLiteral
	}
	out := make([]byte, (len(s)+7)/8)
	for i := 0; i < len(s); i++ {
		c := s[len(s)-1-i]
		if c != '0' && c != '1' {
			return nil, errLiteral
		}
		if c == '1' {
			out[len(out)-1-i/8] |= 1 << (i % 8)
		}
	}
	return out, nil
}
