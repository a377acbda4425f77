package session

import (
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Text on its way from and to the client. A statement arrives in
// character_set_client and becomes UTF-8, in which everything below works; its
// literals and the parameters become strings of character_set_connection;
// results leave in character_set_results (MySQL manual 12.4). What is UTF-8
// anyway is not touched.

var _ mysqlwire.ResultCollationer = (*Session)(nil)

// charsets are the three character sets; nil ones are UTF-8 or binary.
type charsets struct {
	client, connection *collate.Collation
	// results is the collation that column definitions name; CollationNone
	// when results are not converted.
	results schema.CollationID
}

// foreign is the default collation of a character set, nil if its texts need
// no conversion.
func foreign(charset string) *collate.Collation {
	c, ok := collate.DefaultForCharset(charset)
	if !ok || c.Charset == "binary" || strings.HasPrefix(c.Charset, "utf8") {
		return nil
	}
	return c
}

func utf8Collation() *collate.Collation { return collate.Must(schema.CollationUTF8MB40900AICI) }

// deriveCharsets reads the variables. The collation of the handshake stays the one of
// results while their character set is the same.
func (v *vars) deriveCharsets() {
	v.charsets.client = foreign(v.text("character_set_client"))
	v.charsets.connection = foreign(v.text("character_set_connection"))
	before := collate.Must(v.charsets.results)
	name := v.text("character_set_results")
	c, ok := collate.DefaultForCharset(name)
	switch {
	case !ok:
		v.charsets.results = schema.CollationNone
	case v.charsets.results == schema.CollationNone || before.Charset != c.Charset:
		v.charsets.results = c.ID
	}
}

// ResultCollation implements mysqlwire.ResultCollationer.
func (s *Session) ResultCollation() schema.CollationID { return s.vars.charsets.results }

// fromClient is the text of a statement in UTF-8.
func (s *Session) fromClient(text string) string {
	c := s.vars.charsets.client
	if c == nil || !c.NeedsConversion([]byte(text), utf8Collation()) {
		return text
	}
	out, _ := c.Convert(make([]byte, 0, len(text)+len(text)/2), []byte(text), utf8Collation())
	return string(out)
}

// clientCollation is that of character_set_client, CollationNone for UTF-8.
func (s *Session) clientCollation() schema.CollationID {
	if c := s.vars.charsets.client; c != nil {
		return c.ID
	}
	return schema.CollationNone
}

// convertLiterals brings the texts of a template into the character set of
// the connection.
func (s *Session) convertLiterals(t *parser.Template) {
	to := s.vars.charsets.connection
	if to == nil {
		return
	}
	for i := range t.Vals {
		if t.Vals[i].Kind() == value.KindBytes && t.Types[i].IsCharacter() {
			t.Vals[i] = convertDatum(t.Vals[i], utf8Collation(), to)
		}
	}
}

// convertParams gives the texts among the parameters the connection's
// collation and character set.
func (s *Session) convertParams(params []mysqlwire.Param) {
	from, to := s.vars.charsets.client, s.vars.charsets.connection
	for i := range params {
		p := &params[i]
		if !p.Type.IsCharacter() {
			continue
		}
		p.Type.Collation = s.vars.collation
		if p.D.Kind() != value.KindBytes || from == nil && to == nil {
			continue
		}
		source, target := from, to
		if source == nil {
			source = utf8Collation()
		}
		if target == nil {
			target = utf8Collation()
		}
		p.D = convertDatum(p.D, source, target)
	}
}

func convertDatum(d value.Datum, from, to *collate.Collation) value.Datum {
	if !from.NeedsConversion(d.Bytes(), to) {
		return d
	}
	out, _ := from.Convert(nil, d.Bytes(), to)
	return value.Bytes(out)
}

// checkConnectionCharset refuses the character sets that a variable cannot
// have. Errors: 1231 for clients with characters of which a byte below 128 is
// a part, as in MySQL, 1235 for such connections.
func checkConnectionCharset(name string, v value.Datum) error {
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
