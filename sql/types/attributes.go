package types

import (
	"unicode/utf8"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Default limits of the attributes of a row.
const (
	DefaultMaxAttributes    = 65535
	DefaultMaxAttributeSize = 2 << 20
	maxAttributeName        = 64 // characters
)

// attributes is an object of attributes in its stored form: without members that
// are null. Errors: 1059, 1060, 1117, 1166, 3140, and 1118 for a value that is
// too large.
func (s *storer) attributes(d value.Datum) (value.Datum, error) {
	doc := d.Bytes()
	if value.JSONType(doc) != "OBJECT" {
		return value.Null, sqlerr.InvalidJSON("The document is no object.", 0, s.col.Name)
	}
	most, size := DefaultMaxAttributes, DefaultMaxAttributeSize
	if s.env != nil && s.env.MaxAttributes > 0 {
		most = s.env.MaxAttributes
	}
	if s.env != nil && s.env.MaxAttributeSize > 0 {
		size = s.env.MaxAttributeSize
	}
	n := value.JSONLen(doc)
	keys, vals := make([][]byte, 0, n), make([][]byte, 0, n)
	seen := make(map[string]bool, n)
	for i := range n {
		key, val := value.JSONKey(doc, i), value.JSONElem(doc, i)
		if value.JSONType(val) == "NULL" {
			continue
		}
		switch {
		case len(key) == 0 || key[len(key)-1] == ' ':
			return value.Null, sqlerr.WrongColumnName(string(key))
		case len(key) > maxAttributeName && utf8.RuneCount(key) > maxAttributeName:
			return value.Null, sqlerr.IdentifierTooLong(string(key))
		}
		fold := string(value.FoldName(key))
		if seen[fold] {
			return value.Null, sqlerr.DuplicateColumn(string(key))
		}
		seen[fold] = true
		if len(val)-1 > size {
			return value.Null, sqlerr.AttributeTooLarge(string(key), size)
		}
		keys, vals = append(keys, key), append(vals, val)
	}
	if len(keys) > most {
		return value.Null, sqlerr.TooManyAttributes(most)
	}
	if len(keys) == n {
		return d, nil
	}
	return value.JSONOf(value.JSONObject(keys, vals)), nil
}
