package expr

import (
	"errors"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/xpath"
	"github.com/sqlots/sqlots/value"
)

// xmlDefs are EXTRACTVALUE and UPDATEXML (MySQL manual 14.11).
func xmlDefs() []entry {
	extract := fn("extractvalue", "ss", retText(lenOf(0), 0, 1), rowExtractValue, nullable)
	update := fn("updatexml", "sss", retText(lenUpdateXML), rowUpdateXML, nullable)
	for _, e := range []entry{extract, update} {
		e.d.custom = bindXML(*e.d)
	}
	return []entry{extract, update}
}

// bindXML requires a path that is the same for all rows. A path may read user variables,
// so that plans do not hold its value.
func bindXML(plain def) bindFunc {
	return func(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
		common := plain
		common.b = d.b
		if len(args) == d.lo {
			if !IsConst(args[1]) {
				return nil, sqlerr.Unknown("Only constant XPATH queries are supported")
			}
			k, ok := args[1].(*Const)
			common.b.Settings = ok && strings.Contains(k.D.Str(), "$@")
		}
		return common.bind(env, name, args)
	}
}

func lenUpdateXML(b *binding) int {
	return min(textLen(b.args[0])+textLen(b.args[2]), longText)
}

// xmlQuery parses the document and evaluates the path; ok is false when the
// document is not well-formed, which warns.
func xmlQuery(c *Ctx, f *Func, a []value.Datum) (d *xpath.Document, v xpath.Value, ok bool, err error) {
	path, err := cached(c, f, func() (*xpath.Expr, error) { return xpath.Compile(a[1].Str()) })
	if err != nil {
		return nil, v, false, sqlerr.Unknown("%s", err.Error())
	}
	d, err = xpath.Parse(a[0].Str(), c.Work)
	var bad *xpath.ParseError
	if errors.As(err, &bad) {
		c.Warning(sqlerr.WrongValue("XML", bad.Error()))
		return nil, v, false, nil
	}
	if err != nil {
		return nil, v, false, err
	}
	v, err = path.Eval(d, c.xmlVariable)
	var compared *xpath.CompareError
	if errors.As(err, &compared) {
		return nil, v, false, sqlerr.Unknown("%s", err.Error())
	}
	return d, v, err == nil, err
}

// xmlVariable is the value of $@name: a user variable.
func (c *Ctx) xmlVariable(name string) (string, bool) {
	if c.Session == nil {
		return "", false
	}
	d, t := c.Session.UserVar(name)
	if d.IsNull() {
		return "", false
	}
	return string(types.AppendText(nil, t, d)), true
}

func rowExtractValue(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	d, v, ok, err := xmlQuery(c, f, a)
	if err != nil || !ok || v.IsNull() {
		return value.Null, err
	}
	if n, isNum := v.Number(); isNum {
		return value.Bytes(types.AppendText(nil, types.Double, value.Float(n))), nil
	}
	text, err := v.Text(d)
	return value.String(text), err
}

func rowUpdateXML(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	d, v, ok, err := xmlQuery(c, f, a)
	if err != nil || !ok {
		return value.Null, err
	}
	set, isSet := v.Nodes()
	if !isSet {
		return a[0], nil
	}
	text, _ := d.Replace(set, a[2].Str())
	return value.String(text), nil
}
