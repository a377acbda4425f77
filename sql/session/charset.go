package session

import (
	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/value"
)

// Text on its way from and to the client. A statement arrives in
// character_set_client and becomes UTF-8, in which everything below works; its
// literals and the parameters become strings of character_set_connection;
// results leave in character_set_results (MySQL manual 12.4). What is UTF-8
// anyway is not touched.

var _ mysqlwire.ResultCollationer = (*Session)(nil)

// ResultCollation implements mysqlwire.ResultCollationer.
func (s *Session) ResultCollation() schema.CollationID { return s.vars.Charsets.Results }

// fromClient is the text of a statement in UTF-8.
func (s *Session) fromClient(text string) string {
	c := s.vars.Charsets.Client
	if c == nil || !c.NeedsConversion([]byte(text), sysvar.UTF8Collation()) {
		return text
	}
	out, _ := c.Convert(make([]byte, 0, len(text)+len(text)/2), []byte(text), sysvar.UTF8Collation())
	return string(out)
}

// clientCollation is that of character_set_client, CollationNone for UTF-8.
func (cn *Connection) clientCollation() schema.CollationID {
	if c := cn.vars.Charsets.Client; c != nil {
		return c.ID
	}
	return schema.CollationNone
}

// convertLiterals brings the texts of a template into the character set of
// the connection.
func (s *Statement) convertLiterals(t *parser.Template) {
	to := s.vars.Charsets.Connection
	if to == nil {
		return
	}
	for i := range t.Vals {
		if t.Vals[i].Kind() == value.KindBytes && t.Types[i].IsCharacter() {
			t.Vals[i] = convertDatum(t.Vals[i], sysvar.UTF8Collation(), to)
		}
	}
}

// convertParams gives the texts among the parameters the connection's
// collation and character set.
func (s *Session) convertParams(params []mysqlwire.Param) {
	from, to := s.vars.Charsets.Client, s.vars.Charsets.Connection
	for i := range params {
		p := &params[i]
		if !p.Type.IsCharacter() {
			continue
		}
		p.Type.Collation = s.vars.Collation
		if p.D.Kind() != value.KindBytes || from == nil && to == nil {
			continue
		}
		source, target := from, to
		if source == nil {
			source = sysvar.UTF8Collation()
		}
		if target == nil {
			target = sysvar.UTF8Collation()
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
