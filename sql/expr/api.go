package expr

import (
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// ServerVersion is what VERSION() and @@version say.
const ServerVersion = "8.4.3-sqlots"

// Builtin is the definition of a function or operator, immutable and shared.
type Builtin struct {
	Name string
	// Volatile: the value may differ from row to row without columns (RAND),
	// or the call has an effect (SLEEP, SET of a user variable).
	Volatile bool
	// Session: the value depends on more than the arguments: the session, the
	// statement's time or the time zone.
	Session bool
	// Settings: the value depends on session variables: lc_time_names,
	// default_week_format, block_encryption_mode; or on user variables.
	Settings bool
	// Row computes one value from evaluated arguments. Functions that do not
	// evaluate all arguments always have a lazy form instead. The result may
	// share bytes with the arguments and with the Ctx's arena.
	Row func(c *Ctx, f *Func, args []value.Datum) (value.Datum, error)
	impl
}

// BindEnv is what constructors need to know of the statement.
type BindEnv struct {
	// Collation of the connection: literals and conversions to text have it.
	Collation schema.CollationID
	ANSIMode  bool
	// Mode is the sql_mode as far as it decides result types
	// (NO_UNSIGNED_SUBTRACTION).
	Mode types.SQLMode
	// DivIncrement is div_precision_increment; a nil one is 4.
	DivIncrement *int
	// assignsVars: the statement assigns user variables, so that reading one
	// is not constant.
	assignsVars bool
}

func (env *BindEnv) collation() schema.CollationID {
	if env == nil || env.Collation == schema.CollationNone {
		return schema.CollationUTF8MB40900AICI
	}
	return env.Collation
}

func (env *BindEnv) mode() types.SQLMode {
	if env == nil {
		return types.DefaultSQLMode
	}
	return env.Mode
}

// divIncrement is how many digits a quotient has more than its dividend.
func (env *BindEnv) divIncrement() int {
	if env == nil || env.DivIncrement == nil {
		return defaultDivIncrement
	}
	return *env.DivIncrement
}

// NewConst makes a literal of value d, which is NULL or of the kind of t.
func NewConst(d value.Datum, t schema.Type) *Const { return &Const{D: d, T: t} }

// NewFunc makes a call of a function or operator by its lower-case name, with
// the conversions that its arguments need. Errors: 1305 for unknown names, 1582
// for a wrong number of arguments, 1241 for rows where values are needed, 1267
// for collations that do not mix, and those of constants that cannot be
// compared (1525).
func NewFunc(env *BindEnv, name string, args ...Expr) (Expr, error) {
	d := lookup(name)
	if d == nil {
		return nil, sqlerr.FunctionDoesNotExist(name)
	}
	if err := rejectGeometry(name, args); err != nil {
		return nil, err
	}
	if hasVariant(args) {
		e, converted, err := bindVariant(env, name, args)
		if e != nil || err != nil {
			return e, err
		}
		args = converted
	}
	return d.bind(env, d.checkedName(name), args)
}

// NewOp is NewFunc for a call that has an Op.
func NewOp(env *BindEnv, op Op, args ...Expr) (Expr, error) {
	return NewFunc(env, op.String(), args...)
}

// IsFunc reports whether name, in lower case, is a function that users can
// call by name. NewFunc also knows operators and parts of syntax, such as
// "neg" or "is_true", which are none: calling them by name is 1305.
func IsFunc(name string) bool {
	switch name {
	case "neg", "row", "is_null", "is_true", "is_false", "and", "or", "xor", "not", "in", "like", "regexp", "rlike", "case", "div", "cast",
		"convert_using", "collate", "getvar", "getvar_each", "setvar", "sysvar", "as_bits", "full_year", "full_date", "full_datetime", "json_doc", "json_of", "json_scalar", "member_of", "element_of",
		"set_last_insert_id", "sounds_like", "let", "let_value", "limit_rows", asShown, "pad_char", "json_value_as", "cast_array",
		"attribute", "attribute_as", "attribute_document", "attribute_number", "attribute_order", "attribute_arith", "attributes_with",
		"partition_of", "partition_in", "computed":
		return false
	}
	return lookup(name) != nil && name[0] >= 'a' && name[0] <= 'z' && !strings.Contains(name, " ")
}

// FuncNames lists the names that NewFunc knows, operators among them,
// unordered.
func FuncNames() []string {
	table := functions()
	names := make([]string, 0, len(table))
	for n := range table {
		names = append(names, n)
	}
	return names
}

// NewRow makes a row constructor of two or more operands. It is an operand of
// comparisons and IN only.
func NewRow(items ...Expr) (Expr, error) { return NewFunc(nil, "row", items...) }

func isRow(e Expr) (*Func, bool) {
	f, ok := e.(*Func)
	if ok && f.Op == OpRow {
		return f, true
	}
	return nil, false
}

// rejectRows is 1241 if an operand is a row.
func rejectRows(args []Expr) error {
	for _, a := range args {
		if _, ok := isRow(a); ok {
			return sqlerr.OperandColumns(1)
		}
	}
	return nil
}

// call makes the Func; constructors use it when types are settled.
func (d *def) call(name string, args []Expr, t schema.Type, null bool, extra any) *Func {
	f := Func{Name: name, Op: OpOf(name), B: &d.b, T: t, Null: null, Extra: extra}
	return f.With(args)
}

func (d *def) checkedName(name string) string {
	if d.rename != "" {
		return d.rename
	}
	return name
}

func wrongCount(name string) error { return sqlerr.WrongParamCount(strings.ToUpper(name)) }
