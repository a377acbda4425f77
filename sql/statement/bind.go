package statement

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/ddl"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// BindStatement binds a statement without parameters.
func (cn *Connection) BindStatement(ctx context.Context, stmt parser.Statement) (logical.Statement, error) {
	return bind.Bind(cn.bindEnv(ctx, nil), stmt)
}

// bindParams binds a statement with parameters of the given types; what it
// warns of is returned.
func (cn *Connection) bindParams(ctx context.Context, stmt parser.Statement, ptypes []schema.Type) (bound logical.Statement, warnings []sqlerr.Warning, err error) {
	env := cn.bindEnv(ctx, ptypes)
	env.Warn = func(x sqlerr.Warning) { warnings = append(warnings, x) }
	bound, err = bind.Bind(env, stmt)
	return bound, warnings, err
}

// bindEnv is what binding sees of the session.
func (cn *Connection) bindEnv(ctx context.Context, params []schema.Type) *bind.Env {
	digits := cn.Vars.DivDigits
	cn.Privileges() // those of now, for what virtual tables show
	return &bind.Env{
		Context: ctx, Catalog: cn.Temps.Visible(), Virtual: cn.Shared.info.For((*introspected)(cn)), Database: cn.DB, Mode: cn.Vars.Mode,
		Collation: cn.Vars.Collation, ServerCollation: cn.Vars.ServerCollation(), ParamTypes: params,
		SysVar: func(scope, name string) (schema.Type, error) {
			_, t, err := cn.Functions.SysVar(scope, name)
			return t, err
		},
		UserVar: func(name string) schema.Type {
			_, t := cn.Functions.UserVar(name)
			return t
		},
		Account:      cn.AccountName(),
		Check:        cn.require,
		Parser:       cn.Engine.Parsers,
		ShowExpired:  cn.Vars.ShowExpired,
		Warn:         cn.Diagnostics.Warn,
		DivIncrement: &digits,
		Client:       cn.clientCollation(),
	}
}

// bindExpr binds the expression of a SELECT without FROM.
func (cn *Connection) bindExpr(ctx context.Context, sql string) (expr.Expr, error) {
	stmt, err := cn.Engine.Parsers.Parse(sql, cn.Vars.Mode)
	if err != nil {
		return nil, err
	}
	bound, err := cn.BindStatement(ctx, stmt)
	if err != nil {
		return nil, err
	}
	if q, ok := bound.(*logical.Query); ok {
		if p, ok := q.Root.(*logical.Project); ok && len(p.Exprs) == 1 {
			return p.Exprs[0], nil
		}
	}
	return nil, sqlerr.Internal("%s is not an expression", sql)
}

// evalDefault computes the expression of a column default.
func (cn *Connection) evalDefault(ctx context.Context, sql string, _ schema.Type) (value.Datum, schema.Type, error) {
	e, err := cn.bindExpr(ctx, "SELECT "+sql)
	if err != nil {
		return value.Null, types.Null, err
	}
	d, err := expr.EvalConst(cn.exprCtx(ctx, nil), e)
	return d, e.Type(), err
}

// DDLEnv is what a schema change sees of the session.
func (cn *Connection) DDLEnv() ddl.Env {
	env := cn.TypesEnv()
	env.Write = true
	return ddl.Env{
		Account:    cn.AccountName(),
		MaxIndexes: int(cn.Vars.Number("sqlots_max_indexes")),
		Owner:      cn.Tx.owner(), LockTimeout: cn.Vars.MdlTimeout, Types: env, Collation: cn.Vars.ServerCollation(),
		ShowExpired:      cn.Vars.ShowExpired,
		AutoStep:         cn.Vars.Number("auto_increment_increment"),
		AutoOffset:       cn.Vars.Number("auto_increment_offset"),
		ForeignKeyChecks: cn.foreignKeyChecks(), RestrictForeignKeys: cn.Vars.Number("restrict_fk_on_non_standard_key") != 0,
		Eval: cn.evalDefault, Warn: cn.Diagnostics.Warn, SetState: cn.Process.SetState, Statement: cn.Process.Describe().Info,
	}
}

// PlanText plans a statement with parameters of the given types.
func (cn *Connection) PlanText(ctx context.Context, text string, params []schema.Type) (*Plan, error) {
	stmt, err := cn.Engine.Parsers.ParseContext(ctx, text, cn.Vars.Mode)
	if err != nil {
		return nil, err
	}
	bound, err := bind.Bind(cn.bindEnv(ctx, params), stmt)
	if err != nil {
		return nil, err
	}
	return cn.MakePlan(ctx, bound, nil, params)
}
