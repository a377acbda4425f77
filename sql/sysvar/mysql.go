package sysvar

import (
	_ "embed"
	"math"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// variables are the system variables of MySQL 8.4 (Server System Variable
// Reference), one by line:
//
//	name scope type default …
//
// scope is g (global), s (session) or b (both), with ! when it cannot be set;
// type is B (ON and OFF), I (integer: default min max [step]), D (number:
// default min max), E (enumeration: default values…) or S (text: the rest of
// the line, NULL for none).
//
//go:embed mysql84.txt
var variables string

func mysqlVariables() []*Def {
	var out []*Def
	for _, line := range strings.Split(strings.TrimSpace(variables), "\n") {
		out = append(out, parseVariable(line))
	}
	return out
}

func parseVariable(line string) *Def {
	f := strings.SplitN(line, " ", 4)
	name, kind, rest := f[0], f[2], ""
	if len(f) > 3 {
		rest = f[3]
	}
	scope := map[byte]Scope{'g': ScopeGlobal, 's': ScopeSession, 'b': ScopeBoth}[f[1][0]]
	dynamic := !strings.HasSuffix(f[1], "!")
	words := strings.Fields(rest)
	var d *Def
	switch kind {
	case "B":
		d = boolean(name, scope, dynamic, rest == "ON")
	case "I":
		d = parseInteger(name, scope, words)
	case "D":
		d = number(name, scope, words)
	case "E":
		d = enum(name, scope, words[0], words[1:]...)
	default:
		d = stringVar(name, scope, rest, nil)
		if rest == "NULL" {
			d.Default = value.Null
			check := d.Check
			d.Check = func(v value.Datum, t schema.Type) (value.Datum, error) {
				if v.IsNull() {
					return v, nil
				}
				return check(v, t)
			}
		}
	}
	d.Dynamic = dynamic
	return d
}

func parseInteger(name string, scope Scope, words []string) *Def {
	step := uint64(1)
	if len(words) > 3 {
		step, _ = strconv.ParseUint(words[3], 10, 64)
	}
	if strings.HasPrefix(words[1], "-") {
		var n [3]int64
		for i := range n {
			n[i], _ = strconv.ParseInt(words[i], 10, 64)
		}
		return signed(name, scope, n[1], n[2], n[0])
	}
	var n [3]uint64
	for i := range n {
		n[i], _ = strconv.ParseUint(words[i], 10, 64)
	}
	return stepped(name, scope, n[1], n[2], n[0], step)
}

// stepped is an integer that is brought into its range and down to a multiple
// of step, as MySQL does.
func stepped(name string, s Scope, lo, hi, def, step uint64) *Def {
	return &Def{Name: name, Scope: s, Dynamic: true, Type: types.UBigInt, Default: value.Uint(def),
		Min: strconv.FormatUint(lo, 10), Max: strconv.FormatUint(hi, 10),
		Check: func(d value.Datum, _ schema.Type) (value.Datum, error) {
			var v uint64
			switch d.Kind() {
			case value.KindInt:
				if d.Int() > 0 {
					v = uint64(d.Int())
				}
			case value.KindUint:
				v = d.Uint()
			default:
				return value.Null, sqlerr.WrongTypeForVariable(name)
			}
			v = min(v, hi)
			return value.Uint(max(v-v%step, lo)), nil
		}}
}

// signed is an integer that may be negative.
func signed(name string, s Scope, lo, hi, def int64) *Def {
	return &Def{Name: name, Scope: s, Dynamic: true, Type: types.BigInt, Default: value.Int(def),
		Min: strconv.FormatInt(lo, 10), Max: strconv.FormatInt(hi, 10),
		Check: func(d value.Datum, _ schema.Type) (value.Datum, error) {
			switch d.Kind() {
			case value.KindInt:
				return value.Int(min(max(d.Int(), lo), hi)), nil
			case value.KindUint:
				return value.Int(max(int64(min(d.Uint(), uint64(math.MaxInt64))), lo)), nil
			}
			return value.Null, sqlerr.WrongTypeForVariable(name)
		}}
}

// number is a fraction that is brought into its range.
func number(name string, s Scope, words []string) *Def {
	var n [3]float64
	for i := range n {
		n[i], _ = strconv.ParseFloat(words[i], 64)
	}
	return &Def{Name: name, Scope: s, Dynamic: true, Type: types.Double, Default: value.Float(n[0]), Min: words[1], Max: words[2], fraction: true,
		Check: func(d value.Datum, _ schema.Type) (value.Datum, error) {
			var v float64
			switch d.Kind() {
			case value.KindInt:
				v = float64(d.Int())
			case value.KindUint:
				v = float64(d.Uint())
			case value.KindFloat:
				v = d.Float()
			case value.KindDecimal:
				v = d.Decimal().Float64()
			default:
				return value.Null, sqlerr.WrongTypeForVariable(name)
			}
			return value.Float(min(max(v, n[1]), n[2])), nil
		}}
}
