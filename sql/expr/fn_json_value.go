package expr

import (
	"math"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// jsonValueDefs is JSON_VALUE (MySQL manual 14.17.3).
func jsonValueDefs() []entry {
	return []entry{
		special("json_value", bindJSONValue, def{}),
		special("json_value_as", unboundUnit, def{b: Builtin{Row: rowJSONValue}}),
	}
}

// JSONValueClause is what JSON_VALUE gives ON EMPTY or ON ERROR: Kind is null,
// error or default.
type JSONValueClause struct {
	Kind    string
	Default Expr
}

// jsonValueSpec is the Extra of JSON_VALUE; the defaults are its arguments 2
// and 3.
type jsonValueSpec struct{ onEmpty, onError string }

func bindJSONValue(_ *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	null := JSONValueClause{Kind: "null", Default: &Const{T: nullType()}}
	return NewJSONValue(env, args[0], args[1], textType(512, schema.CollationUTF8MB40900AICI), null, null)
}

// NewJSONValue is JSON_VALUE(doc, path RETURNING t onEmpty ON EMPTY onError ON
// ERROR). Errors: 1210 for a path that is no literal, those of the path, 1235
// for types that have no place here.
func NewJSONValue(env *BindEnv, doc, path Expr, t schema.Type, onEmpty, onError JSONValueClause) (Expr, error) {
	const name = "json_value"
	if err := rejectRows([]Expr{doc, path, onEmpty.Default, onError.Default}); err != nil {
		return nil, err
	}
	d, err := convertArg(env, 'j', doc)
	if d, err = namedJSON(d, err, 1, name); err != nil {
		return nil, err
	}
	p, err := convertArg(env, 'p', path)
	if err != nil {
		return nil, err
	}
	args := []Expr{d, p}
	for _, c := range []JSONValueClause{onEmpty, onError} {
		x, err := NewCast(env, c.Default, t, false)
		if err != nil {
			return nil, err
		}
		if c.Default.Type().ID == schema.TypeNull {
			x = &Const{T: t, Text: "NULL"}
		}
		args = append(args, x)
	}
	return mustLookup("json_value_as").call(name, args, t, true, &jsonValueSpec{onEmpty.Kind, onError.Kind}), nil
}

func rowJSONValue(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return value.Null, nil
	}
	spec := f.jsonValue()
	p, err := c.path(f, a[1])
	if err != nil {
		return value.Null, err
	}
	found, err := c.extract(p, nil, a[0].Bytes())
	if err != nil {
		return value.Null, err
	}
	switch len(found) {
	case 0:
		if spec.onEmpty == "error" {
			return value.Null, sqlerr.MissingJSONValue(f.Name)
		}
		return a[2], nil // NULL without a default
	case 1:
	default:
		if spec.onError == "error" {
			return value.Null, sqlerr.MultipleJSONValues(f.Name)
		}
		return a[3], nil
	}
	d, err := c.jsonValueAs(f, found[0])
	if err != nil && spec.onError != "error" {
		return a[3], nil
	}
	return d, err
}

// jsonValueAs is a part of a document in the type of f. What does not fit is
// an error.
func (c *Ctx) jsonValueAs(f *Func, doc []byte) (value.Datum, error) {
	kind := value.JSONType(doc)
	switch {
	case f.T.ID == schema.TypeJSON:
		return value.JSONOf(doc), nil
	case kind == "NULL":
		return value.Null, nil
	case kind == "ARRAY" || kind == "OBJECT":
		if !f.T.IsString() {
			return value.Null, sqlerr.InvalidJSONCast(castTarget(f.T), f.Name, 1)
		}
	}
	if f.T.IsString() {
		return c.jsonValueText(f, doc)
	}
	env := c.Env
	bad := false
	env.Warn = func(sqlerr.Warning) { bad = true }
	d, err := types.Cast(&env, value.JSONOf(doc), jsonType(), f.T)
	if err != nil {
		return value.Null, err
	}
	if bad && f.T.ID == schema.TypeDecimal {
		bad = false
		wide := types.DecimalOf(value.MaxDecimalDigits, f.T.Scale)
		if d, err := types.Cast(&env, value.JSONOf(doc), jsonType(), wide); err == nil && !bad && !d.IsNull() {
			return value.Null, sqlerr.ValueOutOfRange("DECIMAL", "json_value")
		}
		bad = true
	}
	if bad || d.IsNull() {
		return value.Null, sqlerr.InvalidJSONCast(castTarget(f.T), f.Name, 1)
	}
	if f.T.ID == schema.TypeBigInt && !c.isInteger(doc, f.T.Unsigned) {
		return value.Null, sqlerr.ValueOutOfRange(strings.ToUpper(castTarget(f.T)), "json_value")
	}
	if d.Kind() == value.KindDecimal {
		v := d.Decimal().Round(f.T.Scale).Rescale(f.T.Scale)
		if v.Digits() > f.T.Len {
			return value.Null, sqlerr.ValueOutOfRange("DECIMAL", "json_value")
		}
		d = value.Dec(v)
	}
	return d, nil
}

// isInteger reports a value that is in the range of BIGINT; casts wrap around.
func (c *Ctx) isInteger(doc []byte, unsigned bool) bool {
	env := c.Env
	env.Warn = nil
	d, err := types.Cast(&env, value.JSONOf(doc), jsonType(), types.DecimalOf(value.MaxDecimalDigits, 0))
	if err != nil || d.IsNull() {
		return true // a date
	}
	low, high := value.DecimalFromInt(math.MinInt64), value.DecimalFromInt(math.MaxInt64)
	if unsigned {
		low, high = value.DecimalFromInt(0), value.DecimalFromUint(math.MaxUint64)
	}
	return d.Decimal().Cmp(low) >= 0 && d.Decimal().Cmp(high) <= 0
}

// jsonValueText is the text of a string, or of a document; longer than the
// type says is an error.
func (c *Ctx) jsonValueText(f *Func, doc []byte) (value.Datum, error) {
	text, err := value.AppendJSONUnquotedUntil(nil, doc, c.Work)
	if err != nil {
		return value.Null, err
	}
	d := c.fromUTF8(f, text)
	if f.T.Len > 0 && charCount(d.Bytes(), f.T.Collation) > f.T.Len {
		return value.Null, sqlerr.DataTooLong(f.Name, 1)
	}
	return d, nil
}

// NewAtTimeZone is x AT TIME ZONE zone within a CAST: a TIMESTAMP in UTC, the
// one zone that MySQL takes (MySQL manual 14.10).
func NewAtTimeZone(env *BindEnv, x, zone Expr) (Expr, error) {
	k, ok := zone.(*Const)
	if !ok || k.D.Str() != "+00:00" && k.D.Str() != "UTC" {
		text := zone.String()
		if ok {
			text = k.D.Str()
		}
		return nil, sqlerr.UnknownTimeZone(text)
	}
	if x.Type().ID != schema.TypeTimestamp {
		return nil, sqlerr.InvalidCast(x.Type().String(), "TIMESTAMP WITH TIME ZONE")
	}
	session := NewSysVar("", "time_zone", types.VarcharOf(64, schema.CollationUTF8MB40900AICI))
	return NewFunc(env, "convert_tz", x, session, zone)
}
