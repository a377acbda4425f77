package infoschema

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
)

// columnType is COLUMN_TYPE: the type as DESCRIBE prints it.
func columnType(t schema.Type) string {
	if t.ID != schema.TypeEnum && t.ID != schema.TypeSet {
		return t.String()
	}
	var b strings.Builder
	b.WriteString(t.ID.String())
	b.WriteByte('(')
	for i, e := range t.Elems {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(memberText(t, e)))
	}
	b.WriteByte(')')
	return b.String()
}

// memberText is a member of an ENUM or SET, which is in the character set of
// its type, in UTF-8.
func memberText(t schema.Type, e string) string {
	text, _ := collate.Must(t.Collation).Convert(nil, []byte(e), collate.Must(schema.CollationUTF8MB40900AICI))
	return string(text)
}

// quote is a string literal as SHOW CREATE TABLE prints it.
func quote(s string) string { return schema.QuoteText(s) }

// quoteName is an identifier in back-ticks.
func quoteName(s string) string { return schema.QuoteName(s) }

// collationName is the name of a collation, "" for none.
func collationName(id schema.CollationID) string {
	if c, ok := collate.Lookup(id); ok {
		return c.Name
	}
	return ""
}

// charsetName is the character set of a collation, "" for none.
func charsetName(id schema.CollationID) string {
	if c, ok := collate.Lookup(id); ok {
		return c.Charset
	}
	return ""
}

func hasCharset(t schema.Type) bool {
	return t.IsCharacter() || t.ID == schema.TypeEnum || t.ID == schema.TypeSet
}

// columnCollation is COLLATION_NAME, nil for types without.
func columnCollation(t schema.Type) any {
	if !hasCharset(t) {
		return nil
	}
	return orNull(collationName(t.Collation))
}

// isNowDefault reports DEFAULT CURRENT_TIMESTAMP, which is no expression
// default in MySQL's sense although both are DEFAULT_GENERATED.
func isNowDefault(expr string) bool {
	u := strings.ToUpper(expr)
	return strings.HasPrefix(u, "CURRENT_TIMESTAMP") || strings.HasPrefix(u, "NOW(")
}

// nowText is CURRENT_TIMESTAMP with the fractional digits of the type.
func nowText(t schema.Type) string {
	if t.Scale > 0 {
		return "CURRENT_TIMESTAMP(" + strconv.Itoa(t.Scale) + ")"
	}
	return "CURRENT_TIMESTAMP"
}

// columnDefault is COLUMN_DEFAULT.
func columnDefault(c *schema.Column) any {
	d := c.Default
	switch {
	case d == nil || d.Null:
		return nil
	case d.Expr == "":
		if c.Type.ID == schema.TypeBit {
			return bitLiteral(d.Literal)
		}
		if c.Type.IsBinary() && d.Literal != "" {
			return "0x" + strings.ToUpper(hex.EncodeToString([]byte(d.Literal)))
		}
		return d.Literal
	case isNowDefault(d.Expr):
		return nowText(c.Type)
	}
	if !isGenerated(d) {
		return d.Expr
	}
	return escapedText(d.Expr[1 : len(d.Expr)-1])
}

// isGenerated reports a default that is computed for each row: not a literal,
// among which b'…' and 0x… are kept as expressions too.
func isGenerated(d *schema.Default) bool {
	return d != nil && d.Expr != "" && (d.Expr[0] == '(' || isNowDefault(d.Expr))
}

// bitLiteral is the default of a BIT column: b'101'. Descriptors hold it as a
// number, as b'…' or as bytes.
func bitLiteral(s string) string {
	if strings.HasPrefix(s, "b'") || strings.HasPrefix(s, "B'") {
		return "b" + s[1:]
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		for i := 0; i < len(s) && i < 8; i++ {
			n = n<<8 | uint64(s[i])
		}
	}
	return "b'" + strconv.FormatUint(n, 2) + "'"
}

// columnExtra is EXTRA.
func columnExtra(c *schema.Column) string {
	var parts []string
	if c.AutoIncrement {
		parts = append(parts, "auto_increment")
	}
	if isGenerated(c.Default) {
		parts = append(parts, "DEFAULT_GENERATED")
	}
	switch g := c.Generated; {
	case g == nil:
	case g.Stored:
		parts = append(parts, "STORED GENERATED")
	default:
		parts = append(parts, "VIRTUAL GENERATED")
	}
	if c.Invisible {
		parts = append(parts, "INVISIBLE")
	}
	if c.OnUpdateNow {
		parts = append(parts, "on update "+nowText(c.Type))
	}
	return strings.Join(parts, " ")
}

// columnKey is COLUMN_KEY: PRI, UNI, MUL or "".
func columnKey(t *schema.Table, c *schema.Column) string {
	if !hasPrimaryKey(t) {
		if x := promotedKey(t); x != nil {
			for _, p := range x.Parts {
				if p.Column == c.ID {
					return "PRI"
				}
			}
		}
	} else if t.IsPrimaryKeyPart(c.ID) {
		return "PRI"
	}
	key := ""
	for i := range t.Search {
		if x := &t.Search[i]; !x.Form.IsOwn() && x.Fields[0].Column == c.ID {
			key = "MUL"
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State != schema.IndexPublic || len(x.Parts) == 0 || x.Parts[0].Column != c.ID {
			continue
		}
		if x.Unique && t.HoldsAll(x) && len(x.Parts) == 1 {
			return "UNI"
		}
		key = "MUL"
	}
	return key
}

// promotedKey is the unique index that MySQL shows as the primary key of a
// table without one: the first whose columns are all NOT NULL.
func promotedKey(t *schema.Table) *schema.Index {
next:
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if !x.Unique || x.State != schema.IndexPublic || !t.HoldsAll(x) {
			continue
		}
		for _, p := range x.Parts {
			if c := t.Column(p.Column); c == nil || c.Nullable || p.Prefix > 0 {
				continue next
			}
		}
		return x
	}
	return nil
}

// hasPrimaryKey reports whether the user gave the table a primary key.
func hasPrimaryKey(t *schema.Table) bool {
	c := t.Column(t.DeclaredKey()[0].Column)
	return c != nil && !isInternal(c)
}

// publicIndexes are the indexes that SQL sees, in MySQL's order: unique ones
// without NULL, unique ones, the others.
func publicIndexes(t *schema.Table) []*schema.Index {
	var out []*schema.Index
	for class := range schema.IndexClasses {
		for i := range t.Indexes {
			if x := &t.Indexes[i]; x.State == schema.IndexPublic && t.IndexClass(x) == class {
				out = append(out, x)
			}
		}
	}
	return out
}

// isInternal reports the columns that sqlots itself adds: the key of a table
// without primary key, and those for expressions of indexes. No statement shows
// them.
func isInternal(c *schema.Column) bool { return c.Hidden }

// keyExpression is the expression of a key part; false for a column.
func keyExpression(c *schema.Column) (string, bool) {
	if !c.Hidden || c.Generated == nil {
		return "", false
	}
	return c.Generated.Expr, true
}

// shownColumns calls fn for the columns that exist for SQL, with their ordinal
// position from 1.
func shownColumns(t *schema.Table, fn func(c *schema.Column, pos int) error) error {
	pos := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		if isInternal(c) {
			continue
		}
		pos++
		if err := fn(c, pos); err != nil {
			return err
		}
	}
	return nil
}

// charLengths are CHARACTER_MAXIMUM_LENGTH and CHARACTER_OCTET_LENGTH.
func charLengths(t schema.Type) (chars, octets any) {
	width := 1
	if c, ok := collate.Lookup(t.Collation); ok && hasCharset(t) {
		width = c.MaxLen()
	}
	switch t.ID {
	case schema.TypeTinyText, schema.TypeTinyBlob:
		return 255, 255
	case schema.TypeText, schema.TypeBlob:
		return 65535, 65535
	case schema.TypeMediumText, schema.TypeMediumBlob:
		return 16777215, 16777215
	case schema.TypeLongText, schema.TypeLongBlob:
		return int64(4294967295), int64(4294967295)
	case schema.TypeChar, schema.TypeVarchar, schema.TypeBinary, schema.TypeVarbinary:
		return t.Len, t.Len * width
	case schema.TypeEnum, schema.TypeSet:
		n := 0
		for i, e := range t.Elems {
			l := len([]rune(memberText(t, e)))
			switch {
			case t.ID == schema.TypeEnum:
				n = max(n, l)
			case i > 0:
				n += l + 1
			default:
				n = l
			}
		}
		return n, n * width
	}
	return nil, nil
}

// precisions are NUMERIC_PRECISION, NUMERIC_SCALE and DATETIME_PRECISION.
func precisions(t schema.Type) (prec, scale, fsp any) {
	switch t.ID {
	case schema.TypeTinyInt:
		return 3, 0, nil
	case schema.TypeSmallInt:
		return 5, 0, nil
	case schema.TypeMediumInt:
		return 7, 0, nil
	case schema.TypeInt:
		return 10, 0, nil
	case schema.TypeBigInt:
		if t.Unsigned {
			return 20, 0, nil
		}
		return 19, 0, nil
	case schema.TypeFloat, schema.TypeDouble:
		if t.Len > 0 && t.Scale >= 0 {
			return t.Len, t.Scale, nil
		}
		if t.ID == schema.TypeFloat {
			return 12, nil, nil
		}
		return 22, nil, nil
	case schema.TypeDecimal:
		return t.Len, t.Scale, nil
	case schema.TypeBit:
		return max(t.Len, 1), nil, nil
	case schema.TypeDatetime, schema.TypeTimestamp, schema.TypeTime:
		return nil, nil, t.Scale
	}
	return nil, nil, nil
}
