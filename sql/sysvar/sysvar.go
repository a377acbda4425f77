package sysvar

import (
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Scope says where a variable has a value.
type Scope uint8

// Scopes.
const (
	ScopeBoth Scope = iota
	ScopeGlobal
	ScopeSession
)

// Def is the definition of a system variable.
type Def struct {
	Name    string
	Scope   Scope
	Dynamic bool // SET may change it
	Type    schema.Type
	Bool    bool // a switch, printed as ON and OFF
	Default value.Datum
	// Min and Max bound a number, as variables_info shows them; "0" for others.
	Min, Max string
	fraction bool // prints with six digits after the point
	// Check turns a new value into the stored one, or refuses it (1231, 1232).
	Check func(d value.Datum, t schema.Type) (value.Datum, error)
}

// Text is the value as SHOW VARIABLES prints it.
func (d *Def) Text(v value.Datum) string {
	if v.IsNull() {
		return ""
	}
	if d.Bool {
		if v.Int() != 0 {
			return "ON"
		}
		return "OFF"
	}
	if d.fraction {
		return strconv.FormatFloat(v.Float(), 'f', 6, 64)
	}
	return string(types.AppendText(nil, d.Type, v))
}

// Cut reports whether Check moved a number into its range: the statement warns
// with 1292, or fails with 1231 in strict mode.
func (d *Def) Cut(given, stored value.Datum) bool {
	if d.Bool || d.fraction || d.Min == d.Max || given.Kind() != value.KindInt && given.Kind() != value.KindUint {
		return false
	}
	return given.Bits() != stored.Bits() || given.Kind() != stored.Kind() && int64(given.Bits()) < 0
}

// Table is the set of definitions by lower-case name.
type Table struct {
	defs  map[string]*Def
	names []string
}

// Lookup finds a definition, ignoring case; nil if none exists.
func (t *Table) Lookup(name string) *Def { return t.defs[strings.ToLower(name)] }

// Names are all names in order.
func (t *Table) Names() []string { return t.names }

var load = sync.OnceValue(build)

// Definitions is the table of all variables.
func Definitions() *Table { return load() }

func build() *Table {
	t := &Table{defs: map[string]*Def{}}
	for _, d := range mysqlVariables() {
		t.defs[d.Name] = d
	}
	for _, d := range own() {
		t.defs[strings.ToLower(d.Name)] = d
	}
	for n := range t.defs {
		t.names = append(t.names, n)
	}
	sort.Strings(t.names)
	return t
}

var text = schema.Type{ID: schema.TypeVarchar, Len: 1024, Collation: schema.CollationUTF8MB40900AICI}

// ParseBool reads a switch: 1, 0, ON, OFF, TRUE, FALSE.
func ParseBool(name string, d value.Datum) (value.Datum, error) {
	switch d.Kind() {
	case value.KindInt, value.KindUint:
		if d.Bits() <= 1 {
			return value.Int(int64(d.Bits())), nil
		}
		return value.Null, sqlerr.WrongValueForVariable(name, strconv.FormatInt(int64(d.Bits()), 10))
	case value.KindBytes:
		switch strings.ToUpper(d.Str()) {
		case "ON", "TRUE", "1":
			return value.Int(1), nil
		case "OFF", "FALSE", "0":
			return value.Int(0), nil
		}
		return value.Null, sqlerr.WrongValueForVariable(name, d.Str())
	case value.KindNull:
		return value.Null, sqlerr.WrongValueForVariable(name, "NULL")
	}
	return value.Null, sqlerr.WrongTypeForVariable(name)
}
