package expr

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// String implements Expr: the literal as SQL.
func (e *Const) String() string {
	if e.Text != "" {
		return e.Text
	}
	if e.D.IsNull() {
		return "NULL"
	}
	text := string(types.AppendText(nil, e.T, e.D))
	switch e.D.Kind() {
	case value.KindBytes:
		if e.T.Collation == schema.CollationBinary && !isASCII(e.D.Bytes()) {
			return "0x" + upperHex(e.D.Bytes())
		}
		if c, ok := collate.Lookup(e.T.Collation); ok && e.T.IsCharacter() {
			shown, _ := c.Convert(nil, []byte(text), collate.Must(schema.CollationUTF8MB4Bin))
			text = string(shown)
		}
		return quoteSQL(text)
	case value.KindTime, value.KindDuration, value.KindJSON:
		return quoteSQL(text)
	}
	if e.T.ID == schema.TypeEnum || e.T.ID == schema.TypeSet {
		return quoteSQL(text)
	}
	return text
}

func quoteSQL(s string) string {
	return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'").Replace(s) + "'"
}

func upperHex(b []byte) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, 2*len(b))
	for _, x := range b {
		out = append(out, digits[x>>4], digits[x&15])
	}
	return string(out)
}

// infixString is the text of an operator between operands. A chain such as
// a + b + c is read in a loop: it may be long.
func (e *Func) infixString() string {
	chain := []*Func{e}
	left := e.Args[0]
	for {
		f, ok := left.(*Func)
		if !ok || f.Op != e.Op {
			break
		}
		chain, left = append(chain, f), f.Args[0]
	}
	var b strings.Builder
	b.WriteString(strings.Repeat("(", len(chain)) + left.String())
	for _, f := range slices.Backward(chain) {
		for _, a := range f.Args[1:] {
			b.WriteString(" " + f.Name + " " + a.String())
		}
		b.WriteByte(')')
	}
	return b.String()
}

// String implements Expr: the call as SQL, in the form that MySQL prints in
// warnings and EXPLAIN.
func (e *Func) String() string {
	a := func(i int) string { return e.Args[i].String() }
	switch e.Op {
	case OpPlus, OpMinus, OpTimes, OpDivide, OpIntDiv, OpMod, OpEQ, OpNullEQ, OpLT, OpLE, OpGT, OpGE, OpNE, OpAnd, OpOr, OpXor, OpBitAnd, OpBitOr, OpBitXor, OpShiftLeft, OpShiftRight:
		return e.infixString()
	case OpNot:
		return "(not(" + a(0) + "))"
	case OpNeg:
		return "-(" + a(0) + ")"
	case OpBitNot:
		return "~(" + a(0) + ")"
	case OpIsNull:
		return "(" + a(0) + " is null)"
	case OpIsTrue:
		return "(" + a(0) + " is true)"
	case OpIsFalse:
		return "(" + a(0) + " is false)"
	case OpIn:
		return "(" + a(0) + " in (" + joinExprs(e.Args[1:]) + "))"
	case OpRow:
		return "(" + joinExprs(e.Args) + ")"
	case OpLike:
		s := "(" + a(0) + " like " + a(1)
		if len(e.Args) > 2 {
			s += " escape " + a(2)
		}
		return s + ")"
	case OpMemberOf:
		return "(" + a(0) + " member of (" + a(1) + "))"
	case OpCase:
		return e.caseString()
	case OpNullIf:
		if eq, ok := e.Args[0].(*Func); ok && len(eq.Args) == 2 {
			return "nullif(" + joinExprs(eq.Args) + ")"
		}
	case OpTrim, OpLTrim, OpRTrim:
		if len(e.Args) == 2 {
			side := map[Op]string{OpTrim: "both", OpLTrim: "leading", OpRTrim: "trailing"}[e.Op]
			return "trim(" + side + " " + a(1) + " from " + a(0) + ")"
		}
	case OpJSONDoc, OpJSONOf, OpJSONScalar, OpElementOf, OpAsBits, OpFullYear, OpFullDate, OpFullDateTime, OpPadChar, OpShown:
		return a(0) // conversions without a syntax of their own
	case OpAttribute:
		if c, ok := e.Args[0].(*Col); ok && c.Table != "" {
			return c.Table + "." + e.attributeName()
		}
		return e.attributeName()
	case OpAttributeAs:
		if spec, ok := e.Extra.(*castSpec); ok && spec.explicit {
			return "cast(" + a(0) + " as " + castTarget(e.T) + ")"
		}
		return a(0)
	case OpAttributeDocument, OpAttributeNumber:
		return a(0)
	case OpAttributeArith:
		return "(" + a(0) + " " + e.arith().op.String() + " " + a(1) + ")"
	case OpPartitionOf:
		return "partition(" + joinExprs(e.Args) + ")"
	case OpPartitionIn:
		return "partition(" + a(0) + ")"
	case OpComputed:
		return e.computed().name + "(" + joinExprs(e.Args) + ")"
	case OpAttributeOrder:
		return "compare(" + a(0) + "," + a(1) + ")"
	case OpLimitRows:
		return a(0) + " + " + a(1)
	case OpLet:
		return a(1)
	case OpLetValue:
		return e.let().operand.String()
	case OpCast:
		return "cast(" + a(0) + " as " + castTarget(e.T) + ")"
	case OpConvertUsing:
		return "convert(" + a(0) + " using " + charsetName(e.T.Collation) + ")"
	case OpCollate:
		return "(" + a(0) + " collate " + collationName(e.T.Collation) + ")"
	case OpDateAdd, OpDateSub:
		op := " + interval "
		if e.Op == OpDateSub {
			op = " - interval "
		}
		unit, _ := e.Extra.(unitSpec)
		return "(" + a(0) + op + a(1) + " " + unit.name() + ")"
	case OpExtract:
		unit, _ := e.Extra.(unitSpec)
		return "extract(" + unit.name() + " from " + a(0) + ")"
	case OpTimestampAdd, OpTimestampDiff:
		unit, _ := e.Extra.(unitSpec)
		return e.Name + "(" + unit.name() + "," + joinExprs(e.Args) + ")"
	case OpGetVar:
		return "@" + a(0)
	case OpSetVar:
		return "(@" + a(0) + ":=" + a(1) + ")"
	case OpSysVar:
		v := e.sysVar()
		if v.scope != "" {
			return "@@" + v.scope + "." + v.name
		}
		return "@@" + v.name
	}
	return e.Name + "(" + joinExprs(e.Args) + ")"
}

func (e *Func) caseString() string {
	var b strings.Builder
	b.WriteString("(case")
	i := 0
	for ; i+1 < len(e.Args); i += 2 {
		b.WriteString(" when " + e.Args[i].String() + " then " + e.Args[i+1].String())
	}
	if i < len(e.Args) {
		b.WriteString(" else " + e.Args[i].String())
	}
	b.WriteString(" end)")
	return b.String()
}

func joinExprs(list []Expr) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = e.String()
	}
	return strings.Join(parts, ",")
}

func castTarget(t schema.Type) string {
	switch {
	case t.ID == schema.TypeBigInt && t.Unsigned:
		return "unsigned"
	case t.ID == schema.TypeBigInt:
		return "signed"
	case t.IsCharacter():
		return "char"
	case t.IsBinary():
		return "binary"
	}
	return t.String()
}
