package session

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

var _ expr.ServerInfo = (*functions)(nil)

// Connected implements expr.ServerInfo.
func (f *functions) Connected(id uint64) bool { return f.engine.Processes.Get(id) != nil }

// MayReadFiles implements expr.ServerInfo: every account may read what
// secure_file_priv opens, as LOAD DATA does.
func (f *functions) MayReadFiles() bool { return true }

// StatementDigest implements expr.ServerInfo. Errors: 3676 for a text that is
// no statement.
func (f *functions) StatementDigest(sql string) (digest, text string, err error) {
	if _, err := f.engine.Parsers.Parse(sql, f.vars.Mode); err != nil {
		return "", "", sqlerr.DigestArgument(err)
	}
	digest, text = parser.Digest(sql, f.vars.Mode)
	return digest, text, nil
}
