package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// columnDef is a bound column definition with its constraints.
type columnDef struct {
	define.Column
	fromAttributes bool
	checks         []checkDef
}

// column binds a column definition; coll is the collation of the table.
func (b *binder) column(n *ast.ColumnDef, coll schema.CollationID) (*columnDef, error) {
	name := n.Name.Name.O
	if err := define.CheckColumnName(name); err != nil {
		return nil, err
	}
	collateName := ""
	for _, o := range n.Options {
		if o.Tp == ast.ColumnOptionCollate {
			collateName = o.StrValue
		}
	}
	t, err := columnType(name, n.Tp, coll, collateName)
	if err != nil {
		return nil, err
	}
	d := &columnDef{Column: define.Column{Column: schema.Column{Name: name, Type: t, Nullable: true}}}
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
			d.Primary = true
		case ast.ColumnOptionUniqKey:
			d.Unique = true
		case ast.ColumnOptionNotNull:
			d.Null, d.Nullable = false, false
		case ast.ColumnOptionNull:
			d.Null, d.Nullable = true, true
		case ast.ColumnOptionAutoIncrement:
			d.AutoIncrement = true
		case ast.ColumnOptionDefaultValue:
			def, d.HasDefault = o.Expr, true
		case ast.ColumnOptionOnUpdate:
			if err := onUpdate(&d.Column.Column, o.Expr); err != nil {
				return nil, err
			}
		case ast.ColumnOptionComment:
			if l, ok := o.Expr.(*parser.Literal); ok {
				if err := define.SetComment(&d.Column.Column, l.GetString()); err != nil {
					return nil, err
				}
			}
		case ast.ColumnOptionGenerated:
			// Its columns are resolved when all of the table are known.
			text, err := b.storedText(define.Owner{Kind: define.OfGenerated, Name: name}, o.Expr)
			if err != nil {
				return nil, err
			}
			d.Generated = &schema.Generated{Expr: text, Stored: o.Stored}
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
				d.Invisible = true
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
	if err := d.Finish(); err != nil || def == nil {
		return d, err
	}
	d.Default, err = b.bindDefault(&d.Column.Column, def)
	return d, err
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

// onUpdate is ON UPDATE CURRENT_TIMESTAMP[(n)]: 1294.
func onUpdate(c *schema.Column, n ast.ExprNode) error {
	fsp, ok := nowCall(n)
	if !ok {
		return sqlerr.InvalidOnUpdate(c.Name)
	}
	return define.SetOnUpdateNow(c, fsp)
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
		return define.NowDefault(c, fsp)
	}
	e, err := b.value(&scope{b: b, clause: clauseField}, n)
	if err != nil {
		return nil, err
	}
	k, ok := e.(*expr.Const)
	if !ok {
		return nil, sqlerr.InvalidDefault(c.Name)
	}
	return define.ConstDefault(b.env.Mode, c, k, b.warn)
}

// exprDefault is DEFAULT (expr). Its columns are resolved when all of the table
// are known.
func (b *binder) exprDefault(c *schema.Column, n ast.ExprNode) (*schema.Default, error) {
	text, err := b.storedText(define.Owner{Kind: define.OfDefault, Name: c.Name}, n)
	return &schema.Default{Expr: "(" + text + ")"}, err
}
