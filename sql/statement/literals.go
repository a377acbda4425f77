package statement

import (
	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/value"
)

// convertLiterals brings the texts of a template into the character set of
// the connection.
func (s *Statement) convertLiterals(t *parser.Template) {
	to := s.Vars.Charsets.Connection
	if to == nil {
		return
	}
	for i := range t.Vals {
		if t.Vals[i].Kind() == value.KindBytes && t.Types[i].IsCharacter() {
			t.Vals[i] = ConvertDatum(t.Vals[i], sysvar.UTF8Collation(), to)
		}
	}
}

// ConvertDatum brings a text from one character set into another.
func ConvertDatum(d value.Datum, from, to *collate.Collation) value.Datum {
	if !from.NeedsConversion(d.Bytes(), to) {
		return d
	}
	out, _ := from.Convert(nil, d.Bytes(), to)
	return value.Bytes(out)
}
