package sysvar

import (
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Charsets are the three character sets; nil ones are UTF-8 or binary.
type Charsets struct {
	Client, Connection *collate.Collation
	// Results is the collation that column definitions name; CollationNone
	// when results are not converted.
	Results schema.CollationID
}

// Foreign is the default collation of a character set, nil if its texts need
// no conversion.
func Foreign(charset string) *collate.Collation {
	c, ok := collate.DefaultForCharset(charset)
	if !ok || c.Charset == "binary" || strings.HasPrefix(c.Charset, "utf8") {
		return nil
	}
	return c
}

// UTF8Collation is the collation of texts inside of the server.
func UTF8Collation() *collate.Collation { return collate.Must(schema.CollationUTF8MB40900AICI) }

// deriveCharsets reads the variables. The collation of the handshake stays the one of
// results while their character set is the same.
func (v *Values) deriveCharsets() {
	v.Charsets.Client = Foreign(v.Text("character_set_client"))
	v.Charsets.Connection = Foreign(v.Text("character_set_connection"))
	before := collate.Must(v.Charsets.Results)
	name := v.Text("character_set_results")
	c, ok := collate.DefaultForCharset(name)
	switch {
	case !ok:
		v.Charsets.Results = schema.CollationNone
	case v.Charsets.Results == schema.CollationNone || before.Charset != c.Charset:
		v.Charsets.Results = c.ID
	}
}

// CheckConnectionCharset refuses the character sets that a variable cannot
// have. Errors: 1231 for clients with characters of which a byte below 128 is
// a part, as in MySQL, 1235 for such connections.
func CheckConnectionCharset(name string, v value.Datum) error {
	if v.IsNull() {
		return nil
	}
	switch v.Str() {
	case "ucs2", "utf16", "utf16le", "utf32":
	default:
		return nil
	}
	switch name {
	case "character_set_client":
		return sqlerr.WrongValueForVariable(name, v.Str())
	case "character_set_connection":
		return sqlerr.NotSupported("character set " + v.Str() + " on the connection")
	}
	return nil
}

// SetConnectionCollation sets the three character sets of the client; those
// that no client can have leave the defaults.
func (v *Values) SetConnectionCollation(id schema.CollationID) {
	c, ok := collate.Lookup(id)
	if !ok || CheckConnectionCharset("character_set_client", value.String(c.Charset)) != nil {
		return
	}
	v.vals["collation_connection"] = value.String(c.Name)
	for _, n := range []string{"character_set_client", "character_set_connection", "character_set_results"} {
		v.vals[n] = value.String(c.Charset)
	}
	v.Charsets.Results = id
	v.Refresh()
}

// ServerCollation is collation_server.
func (v *Values) ServerCollation() schema.CollationID {
	if c, ok := collate.ByName(v.Text("collation_server")); ok {
		return c.ID
	}
	return schema.CollationUTF8MB40900AICI
}
