package session

import (
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/statement"
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
func (s *Session) ResultCollation() schema.CollationID { return s.Vars.Charsets.Results }

// fromClient is the text of a statement in UTF-8.
func (s *Session) fromClient(text string) string {
	c := s.Vars.Charsets.Client
	if c == nil || !c.NeedsConversion([]byte(text), sysvar.UTF8Collation()) {
		return text
	}
	out, _ := c.Convert(make([]byte, 0, len(text)+len(text)/2), []byte(text), sysvar.UTF8Collation())
	return string(out)
}

// convertParams gives the texts among the parameters the connection's
// collation and character set.
func (s *Session) convertParams(params []mysqlwire.Param) {
	from, to := s.Vars.Charsets.Client, s.Vars.Charsets.Connection
	for i := range params {
		p := &params[i]
		if !p.Type.IsCharacter() {
			continue
		}
		p.Type.Collation = s.Vars.Collation
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
		p.D = statement.ConvertDatum(p.D, source, target)
	}
}
