package session

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

var _ expr.ServerInfo = (*Session)(nil)

// Connected implements expr.ServerInfo.
func (s *Session) Connected(id uint64) bool { return s.engine.processes.Get(id) != nil }

// MayReadFiles implements expr.ServerInfo: every account may read what
// secure_file_priv opens, as LOAD DATA does.
func (s *Session) MayReadFiles() bool { return true }

// StatementDigest implements expr.ServerInfo. Errors: 3676 for a text that is
// no statement.
func (s *Session) StatementDigest(sql string) (digest, text string, err error) {
	if _, err := s.engine.parsers.Parse(sql, s.vars.mode); err != nil {
		return "", "", sqlerr.DigestArgument(err)
	}
	digest, text = parser.Digest(sql, s.vars.mode)
	return digest, text, nil
}
