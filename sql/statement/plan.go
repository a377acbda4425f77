package statement

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// MakePlan makes the plan of a bound statement, with its result header.
func (cn *Connection) MakePlan(ctx context.Context, stmt logical.Statement, vals []value.Datum, ptypes []schema.Type) (*Plan, error) {
	opts := cn.planOptions(ctx, vals)
	p, err := planner.Plan(ctx, stmt, opts)
	if err != nil {
		return nil, err
	}
	p.ParamTypes = ptypes
	cn.AddKeys(p)
	c := &Plan{Plan: p, made: time.Now(), work: workOf(p), readsAll: readsAll(p)}
	if d, ok := stmt.(interface{ Dependencies() *logical.Deps }); ok {
		c.needs = d.Dependencies().Needs
	}
	switch x := stmt.(type) {
	case *logical.Query:
		c.header, c.limited = queryHeader(x), x.Limited
		if cn.Engine.FastPaths {
			if c.point = cn.pointOf(p); c.point == nil {
				c.page = cn.pageOf(p)
			}
		}
	default:
		c.header = returningHeader(x)
	}
	if c.point != nil || c.page != nil {
		p.Guards = nil
	}
	if len(p.Guards) > 0 {
		c.sizes = string(cn.sizesOf(ctx, nil, c, vals))
		if ctx.Err() != nil { // they may be wrong
			return nil, context.Cause(ctx)
		}
	}
	return c, nil
}

func (cn *Connection) planOptions(ctx context.Context, vals []value.Datum) planner.Options {
	ec := cn.exprCtx(ctx, vals)
	ec.Warn = nil
	return planner.Options{
		Est: cn.Engine.Stats, Ctx: ec, Bind: &expr.BindEnv{Collation: cn.Vars.Collation, Mode: cn.Vars.Mode},
		TableExprs:  cn.Engine.Codecs.TableExprs,
		Parallelism: cn.Vars.Parallelism, Disabled: cn.Vars.Disabled, Invisible: cn.Vars.Invisible, Check: cn.Engine.CheckPlans,
	}
}

// queryHeader describes the result of a query to clients.
func queryHeader(q *logical.Query) *mysqlwire.Header {
	return headerOf(q.Root.Columns(), outputs(q.Root))
}

// returningHeader describes the rows of RETURNING; nil without.
func returningHeader(stmt logical.Statement) *mysqlwire.Header {
	var r *logical.Returning
	switch x := stmt.(type) {
	case *logical.Insert:
		r = x.Returning
	case *logical.Delete:
		r = x.Returning
	}
	if r == nil {
		return nil
	}
	return headerOf(r.Cols, r.Exprs)
}

func headerOf(cols []logical.Column, exprs []expr.Expr) *mysqlwire.Header {
	out := make([]mysqlwire.Column, len(cols))
	for i, c := range cols {
		out[i] = mysqlwire.Column{Database: c.DB, Table: c.Table, OrgTable: c.OrgTable, Name: c.Name, OrgName: c.OrgName, Type: c.T, NotNull: !c.Null, Role: c.Role}
	}
	for i, e := range exprs {
		if expr.IsDecimalVar(e) {
			out[i].Type.Scale = schema.UnspecifiedLength
		}
	}
	return mysqlwire.NewHeader(out)
}

// outputs are the expressions of a select list.
func outputs(n logical.Node) []expr.Expr {
	switch x := n.(type) {
	case *logical.Project:
		return x.Exprs
	case *logical.Limit:
		return outputs(x.Input)
	case *logical.Distinct:
		return outputs(x.Input)
	case *logical.Sort:
		return outputs(x.Input)
	}
	return nil
}

// replan binds and plans the statement of a stale plan again.
func (cn *Connection) replan(ctx context.Context, c *Plan, vals []value.Datum) (*Plan, error) {
	if c.rebind == nil {
		return nil, sqlerr.TableChanged()
	}
	bound, err := c.rebind(ctx, cn)
	if err != nil {
		return nil, err
	}
	n, err := cn.MakePlan(ctx, bound, vals, c.Plan.ParamTypes)
	if err == nil {
		n.rebind = c.rebind
	}
	return n, err
}

// current reports whether all tables of a plan are as they were.
func (cn *Connection) current(p *physical.Plan) bool {
	return cn.Tx.currentTables(p.Tables) && cn.currentKeys(p) && cn.currentViews(p.Views)
}

func (cn *Connection) currentViews(views []*schema.View) bool {
	snap := cn.Engine.Catalog.Snapshot()
	for _, v := range views {
		if snap.ViewByID(v.ID) != v {
			return false
		}
	}
	return true
}
