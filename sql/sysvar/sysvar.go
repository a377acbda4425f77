package sysvar

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	gmstypes "github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/go-mysql-server/sql/variables"

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
	return string(types.AppendText(nil, d.Type, v))
}

// Table is the set of definitions by lower-case name.
type Table struct {
	defs  map[string]*Def
	names []string
}

// Lookup finds a definition, ignoring case; nil if there is none.
func (t *Table) Lookup(name string) *Def { return t.defs[strings.ToLower(name)] }

// Names are all names in order.
func (t *Table) Names() []string { return t.names }

var load = sync.OnceValue(build)

// Definitions is the table of all variables.
func Definitions() *Table { return load() }

func build() *Table {
	t := &Table{defs: map[string]*Def{}}
	variables.InitSystemVariables()
	for name := range gms.SystemVariables.GetAllGlobalVariables() {
		v, _, ok := gms.SystemVariables.GetGlobal(name)
		if !ok {
			continue
		}
		if mv, ok := v.(*gms.MysqlSystemVariable); ok {
			if d := fromGMS(mv); d != nil {
				t.defs[strings.ToLower(d.Name)] = d
			}
		}
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

// fromGMS converts a definition; nil for the library's own variables.
func fromGMS(v *gms.MysqlSystemVariable) *Def {
	if strings.HasPrefix(v.Name, "dolt") || strings.HasPrefix(v.Name, "gms_") || v.ValueFunction != nil {
		return nil
	}
	d := &Def{Name: v.Name, Dynamic: v.Dynamic}
	switch v.Scope.Type {
	case gms.SystemVariableScope_Global:
		d.Scope = ScopeGlobal
	case gms.SystemVariableScope_Session:
		d.Scope = ScopeSession
	}
	_, d.Bool = v.Type.(gmstypes.SystemBoolType)
	d.Default, d.Type = fromGo(v.Default)
	if d.Bool {
		d.Type = types.BigInt
	}
	d.Check = func(val value.Datum, t schema.Type) (value.Datum, error) { return checkGMS(d, v.Type, val, t) }
	return d
}

// checkGMS lets the library's type convert and check a value.
func checkGMS(d *Def, typ gms.Type, val value.Datum, t schema.Type) (value.Datum, error) {
	var in any
	switch val.Kind() {
	case value.KindNull:
		if d.Type.IsString() && d.Default.IsNull() {
			return value.Null, nil
		}
		return value.Null, sqlerr.WrongValueForVariable(d.Name, "NULL")
	case value.KindInt:
		in = val.Int()
	case value.KindUint:
		in = val.Uint()
	case value.KindFloat:
		in = val.Float()
	case value.KindDecimal:
		in = val.Decimal().Float64()
		if !d.Type.IsFloat() {
			return value.Null, sqlerr.WrongTypeForVariable(d.Name)
		}
	case value.KindBytes:
		in = val.Str()
		if d.Type.IsInteger() && !d.Bool {
			return value.Null, sqlerr.WrongTypeForVariable(d.Name)
		}
	default:
		return value.Null, sqlerr.WrongTypeForVariable(d.Name)
	}
	if d.Type.IsString() && val.Kind() != value.KindBytes && val.Kind() != value.KindInt && val.Kind() != value.KindUint {
		return value.Null, sqlerr.WrongTypeForVariable(d.Name)
	}
	out, _, err := typ.Convert(context.Background(), in)
	if err != nil {
		return value.Null, sqlerr.WrongValueForVariable(d.Name, string(types.AppendText(nil, t, val)))
	}
	conv, _ := fromGo(out)
	return asType(conv, d.Type), nil
}

// fromGo makes a Datum of the library's Go values.
func fromGo(v any) (value.Datum, schema.Type) {
	switch v := v.(type) {
	case nil:
		return value.Null, text
	case bool:
		return value.Bool(v), types.BigInt
	case int8:
		return value.Int(int64(v)), types.BigInt
	case int:
		return value.Int(int64(v)), types.BigInt
	case int64:
		return value.Int(v), types.BigInt
	case uint64:
		return value.Uint(v), types.UBigInt
	case float64:
		return value.Float(v), types.Double
	case string:
		return value.String(v), text
	}
	return value.String(fmt.Sprint(v)), text
}

// asType brings numbers to the kind of t.
func asType(d value.Datum, t schema.Type) value.Datum {
	switch {
	case d.Kind() == value.KindUint && types.KindOf(t) == value.KindInt:
		return value.Int(int64(min(d.Uint(), math.MaxInt64)))
	case d.Kind() == value.KindInt && types.KindOf(t) == value.KindUint:
		return value.Uint(uint64(max(d.Int(), 0)))
	case d.Kind() == value.KindInt && t.IsString():
		return value.String(strconv.FormatInt(d.Int(), 10))
	}
	return d
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
