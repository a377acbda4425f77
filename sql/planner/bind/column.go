package bind

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// maxIdentifier is the longest name, in characters.
const maxIdentifier = 64

// columnDef is a bound column definition with its inline keys.
type columnDef struct {
	col             schema.Column
	primary, unique bool
	notNull, null   bool
	fromAttributes  bool
	checks          []checkDef
}

// checkName checks the name of a column, index or table: 1059.
func checkName(name string) error {
	if utf8.RuneCountInString(name) > maxIdentifier {
		return sqlerr.IdentifierTooLong(name)
	}
	return nil
}

func checkColumnName(name string) error {
	if name == "" || strings.HasSuffix(name, " ") || strings.EqualFold(name, schema.HiddenKeyColumn) {
		return sqlerr.WrongColumnName(name)
	}
	return checkName(name)
}

// column binds a column definition; coll is the collation of the table.
func (b *binder) column(n *ast.ColumnDef, coll schema.CollationID) (*columnDef, error) {
	name := n.Name.Name.O
	if err := checkColumnName(name); err != nil {
		return nil, err
	}
	collateName := ""
	for _, o := range n.Options {
		if o.Tp == ast.ColumnOptionCollate {
			collateName = o.StrValue
		}
	}
	t, err := b.columnType(name, n.Tp, coll, collateName)
	if err != nil {
		return nil, err
	}
	d := &columnDef{col: schema.Column{Name: name, Type: t, Nullable: true}}
	var def ast.ExprNode
	for _, o := range n.Options {
		switch o.Tp {
		case ast.ColumnOptionNoOption, ast.ColumnOptionCollate:
		case ast.ColumnOptionPrimaryKey:
			if o.PrimaryKeyTp == ast.PrimaryKeyTypeNonClustered {
				return nil, sqlerr.NotSupported("NONCLUSTERED primary key")
			}
			if o.SecondaryEngineAttr != "" {
				return nil, sqlerr.NotSupported("SECONDARY_ENGINE_ATTRIBUTE of a primary key")
			}
			d.primary = true
		case ast.ColumnOptionUniqKey:
			d.unique = true
		case ast.ColumnOptionNotNull:
			d.notNull, d.null, d.col.Nullable = true, false, false
		case ast.ColumnOptionNull:
			d.null, d.notNull, d.col.Nullable = true, false, true
		case ast.ColumnOptionAutoIncrement:
			d.col.AutoIncrement = true
		case ast.ColumnOptionDefaultValue:
			def = o.Expr
		case ast.ColumnOptionOnUpdate:
			if err := onUpdate(&d.col, o.Expr); err != nil {
				return nil, err
			}
		case ast.ColumnOptionComment:
			if err := d.comment(o.Expr); err != nil {
				return nil, err
			}
		case ast.ColumnOptionGenerated:
			if err := b.generatedColumn(d, o.Expr, o.Stored); err != nil {
				return nil, err
			}
		case ast.ColumnOptionCheck:
			c, err := newCheck(o.ConstraintName, o.Expr, o.Enforced)
			if err != nil {
				return nil, err
			}
			c.column = name
			d.checks = append(d.checks, c)
		case ast.ColumnOptionSecondaryEngineAttribute:
			switch o.StrValue {
			case parser.InvisibleColumn:
				d.col.Invisible = true
			case parser.FromAttributes:
				d.fromAttributes = true
			default:
				return nil, unsupportedColumnOption(o)
			}
		case ast.ColumnOptionColumnFormat, ast.ColumnOptionStorage: // for NDB; InnoDB ignores them too
		case ast.ColumnOptionReference: // MySQL 8.4 reads it and does nothing
		default:
			return nil, unsupportedColumnOption(o)
		}
	}
	return d, b.finishColumn(d, def)
}

func unsupportedColumnOption(o *ast.ColumnOption) error {
	switch o.Tp {
	case ast.ColumnOptionFulltext:
		return sqlerr.NotSupported("FULLTEXT index")
	case ast.ColumnOptionAutoRandom:
		return sqlerr.NotSupported("AUTO_RANDOM")
	case ast.ColumnOptionSecondaryEngineAttribute:
		return sqlerr.NotSupported("SECONDARY_ENGINE_ATTRIBUTE of a column")
	}
	return sqlerr.NotSupported("column option")
}

const maxColumnComment = 1024

func (d *columnDef) comment(n ast.ExprNode) error {
	if l, ok := n.(*parser.Literal); ok {
		d.col.Comment = l.GetString()
	}
	if utf8.RuneCountInString(d.col.Comment) > maxColumnComment {
		return sqlerr.CommentTooLong(1629, "field", d.col.Name, maxColumnComment)
	}
	return nil
}

// finishColumn checks AUTO_INCREMENT and the default.
func (b *binder) finishColumn(d *columnDef, def ast.ExprNode) error {
	c := &d.col
	if err := checkGeneratedOptions(d, def != nil); err != nil {
		return err
	}
	if d.primary {
		if d.null {
			return sqlerr.PrimaryCantHaveNull()
		}
		c.Nullable = false
	}
	if c.AutoIncrement {
		if !c.Type.IsInteger() && !c.Type.IsFloat() {
			return sqlerr.IncorrectColumnSpecifier(c.Name)
		}
		if def != nil {
			return sqlerr.InvalidDefault(c.Name)
		}
		if d.null {
			return sqlerr.PrimaryCantHaveNull()
		}
		c.Nullable = false
	}
	if def == nil {
		return nil
	}
	var err error
	c.Default, err = b.bindDefault(c, def)
	return err
}

// onUpdate is ON UPDATE CURRENT_TIMESTAMP[(n)]: 1294.
func onUpdate(c *schema.Column, n ast.ExprNode) error {
	fsp, ok := nowCall(n)
	if !ok || (c.Type.ID != schema.TypeTimestamp && c.Type.ID != schema.TypeDatetime) || fsp != c.Type.Scale {
		return sqlerr.InvalidOnUpdate(c.Name)
	}
	c.OnUpdateNow = true
	return nil
}

// nowCall reads CURRENT_TIMESTAMP[(n)].
func nowCall(n ast.ExprNode) (fsp int, ok bool) {
	f, ok := n.(*ast.FuncCallExpr)
	if !ok || f.FnName.L != "current_timestamp" {
		return 0, false
	}
	if len(f.Args) == 0 {
		return 0, true
	}
	l, ok := f.Args[0].(*parser.Literal)
	if !ok || len(f.Args) > 1 || l.Datum.Kind() != value.KindInt {
		return 0, false
	}
	return int(l.Datum.Int()), true
}

// bindDefault checks a DEFAULT clause: 1067, 1101.
func (b *binder) bindDefault(c *schema.Column, n ast.ExprNode) (*schema.Default, error) {
	if f, ok := n.(*ast.FuncCallExpr); ok && f.FnName.L == parser.DefaultExprFunc {
		if len(f.Args) != 1 {
			return nil, sqlerr.InvalidDefault(c.Name)
		}
		return b.exprDefault(c, f.Args[0])
	}
	if fsp, ok := nowCall(n); ok {
		if (c.Type.ID != schema.TypeTimestamp && c.Type.ID != schema.TypeDatetime) || fsp != c.Type.Scale {
			return nil, sqlerr.InvalidDefault(c.Name)
		}
		return &schema.Default{Expr: nowText(fsp)}, nil
	}
	e, err := b.value(&scope{b: b, clause: clauseField}, n)
	if err != nil {
		return nil, err
	}
	k, ok := e.(*expr.Const)
	if !ok {
		return nil, sqlerr.InvalidDefault(c.Name)
	}
	if k.D.IsNull() {
		if !c.Nullable {
			return nil, sqlerr.InvalidDefault(c.Name)
		}
		return &schema.Default{Null: true}, nil
	}
	if c.Type.IsBlobOrText() || c.Type.ID == schema.TypeJSON || c.Type.ID == schema.TypeGeometry {
		return nil, sqlerr.BlobCantHaveDefault(c.Name)
	}
	return b.constDefault(c, k)
}

func nowText(fsp int) string {
	if fsp > 0 {
		return "CURRENT_TIMESTAMP(" + itoa(fsp) + ")"
	}
	return "CURRENT_TIMESTAMP"
}

// constDefault converts a literal to the column's type, as strictly as a
// write in strict mode; zero dates follow sql_mode.
func (b *binder) constDefault(c *schema.Column, k *expr.Const) (*schema.Default, error) {
	env := &types.Env{Mode: b.env.Mode | types.ModeStrictTransTables | types.ModeStrictAllTables, Write: true}
	if (c.Type.ID == schema.TypeEnum || c.Type.ID == schema.TypeSet) && !types.IsMember(env, k.D, k.T, c.Type) {
		return nil, sqlerr.InvalidDefault(c.Name)
	}
	bad := false
	env.Warn = func(w sqlerr.Warning) { bad = bad || w.Level != sqlerr.LevelNote }
	d, err := types.Store(env, k.D, k.T, c, 1)
	if err != nil || bad && !c.Type.IsNumeric() {
		return nil, sqlerr.InvalidDefault(c.Name)
	}
	text := types.AppendText(nil, c.Type, d)
	switch {
	case c.Type.ID == schema.TypeBit:
		return &schema.Default{Expr: "b'" + bitText(d.Uint()) + "'"}, nil
	case !utf8.Valid(text) || c.Type.IsBinary():
		return &schema.Default{Expr: "0x" + strings.ToUpper(hex.EncodeToString(text))}, nil
	}
	return &schema.Default{Literal: string(text)}, nil
}

func bitText(v uint64) string {
	if v == 0 {
		return "0"
	}
	var out []byte
	for ; v > 0; v >>= 1 {
		out = append([]byte{'0' + byte(v&1)}, out...)
	}
	return string(out)
}

// exprDefault is DEFAULT (expr). Its columns are resolved when all of the table
// are known.
func (b *binder) exprDefault(c *schema.Column, n ast.ExprNode) (*schema.Default, error) {
	text, err := b.storedText(rule{kind: ruleDefault, owner: c.Name}, n)
	return &schema.Default{Expr: "(" + text + ")"}, err
}
