package session

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// runSet is SET. All values are computed before the first takes effect.
func (s *Statement) runSet(ctx context.Context, x *logical.Set, vals []value.Datum) error {
	exprs := make([]expr.Expr, len(x.Items))
	for i, it := range x.Items {
		exprs[i] = it.Value
	}
	computed, err := s.evalAll(ctx, exprs, &x.Reads, vals)
	if err != nil {
		return err
	}
	for i, it := range x.Items {
		var val *value.Datum
		t := types.Null
		if it.Value != nil {
			val, t = &computed[i], it.Value.Type()
		}
		if err := s.setItem(ctx, it, val, t); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) setItem(ctx context.Context, it logical.SetItem, val *value.Datum, t schema.Type) error {
	switch it.Scope {
	case logical.SetUserVar:
		s.fn.SetUserVar(it.Name, *val, t)
		return nil
	case logical.SetPersist, logical.SetPersistOnly:
		return s.persist(ctx, it, val, t)
	case logical.SetNextTransaction:
		return s.setNextTransaction(it.Name, *val, t)
	}
	name := strings.ToLower(it.Name)
	if it.Scope == logical.SetGlobal && name != "autocommit" {
		if err := s.checkLogFile(name, val); err != nil {
			return err
		}
		return s.vars.Set(true, it.Name, val, t)
	}
	switch name {
	case "autocommit":
		return s.setAutocommit(ctx, it, val, t)
	case "timestamp":
		return s.setTimestamp(val, t)
	case "last_insert_id", "identity":
		if val == nil {
			return sqlerr.NoDefaultForVariable(it.Name)
		}
		env := s.typesEnv()
		id, err := types.ToUint(&env, *val, t)
		s.fn.mu.Lock()
		s.fn.lastInsertID = id
		s.fn.mu.Unlock()
		return err
	case "names":
		return s.setNames(*val)
	}
	return s.vars.Set(it.Scope == logical.SetGlobal, it.Name, val, t)
}

// setAutocommit: switching it on ends the open transaction with a commit.
func (s *Statement) setAutocommit(ctx context.Context, it logical.SetItem, val *value.Datum, t schema.Type) error {
	before := s.vars.Autocommit
	if err := s.vars.Set(it.Scope == logical.SetGlobal, it.Name, val, t); err != nil {
		return err
	}
	if !before && s.vars.Autocommit {
		return s.tx.commit(ctx)
	}
	return nil
}

func (s *Statement) setTimestamp(val *value.Datum, t schema.Type) error {
	if val == nil {
		s.vars.FixedTime = time.Time{}
		return nil
	}
	env := s.typesEnv()
	f, err := types.ToFloat(&env, *val, t)
	if err != nil {
		return err
	}
	if f == 0 {
		s.vars.FixedTime = time.Time{}
		return nil
	}
	if f < 0 || f > 32536771199 {
		return sqlerr.WrongValueForVariable("timestamp", string(types.AppendText(nil, t, *val)))
	}
	s.vars.FixedTime = time.UnixMicro(int64(f * 1e6))
	return nil
}

// setNextTransaction is SET TRANSACTION without a scope.
func (s *Statement) setNextTransaction(name string, val value.Datum, t schema.Type) error {
	if s.tx.open != nil {
		return sqlerr.CannotChangeTransactionCharacteristics()
	}
	d := s.vars.Globals.Defs.Lookup(name)
	if d == nil {
		return sqlerr.UnknownSystemVariable(name)
	}
	val, err := d.Check(val, t)
	if err != nil {
		return err
	}
	switch name {
	case "transaction_isolation":
		if err := sysvar.CheckSupported(name, val); err != nil {
			return err
		}
		s.tx.nextIsolation = strings.Clone(val.Str())
	case "transaction_read_only":
		ro := val.Bits() != 0
		s.tx.nextReadOnly = &ro
	}
	return nil
}

// setNames is SET NAMES where the collation is given by number.
func (s *Statement) setNames(val value.Datum) error {
	c, ok := collate.DefaultForCharset(val.Str())
	if !ok {
		return sqlerr.UnknownCharset(val.Str())
	}
	s.vars.SetConnectionCollation(c.ID)
	return nil
}

// evalOne computes an expression that reads no table.
func (s *Statement) evalOne(ctx context.Context, e expr.Expr, vals []value.Datum) (value.Datum, error) {
	out, err := s.evalAll(ctx, []expr.Expr{e}, &logical.Reads{}, vals)
	if err != nil {
		return value.Null, err
	}
	return out[0], nil
}

// evalAll computes expressions (nil ones are left out) that may contain
// the subqueries of reads. errStale: the statement has to be bound again.
func (s *Statement) evalAll(ctx context.Context, list []expr.Expr, reads *logical.Reads, vals []value.Datum) ([]value.Datum, error) {
	c, err := s.plan(ctx, reads.Query(), vals, nil)
	if err != nil {
		return nil, err
	}
	out := make([]value.Datum, len(list))
	err = s.read(ctx, c, vals, func(env *exec.Env) error {
		exec.BindSubqueries(ctx, env, c.plan)
		for i, e := range list {
			if e == nil {
				continue
			}
			d, err := expr.EvalConst(env.Ctx, e)
			if err != nil {
				return err
			}
			out[i] = d.Clone()
		}
		s.fn.applyInsertID()
		return nil
	})
	return out, err
}

// runDo is DO expr, ….
func (s *Statement) runDo(ctx context.Context, x *logical.Do, vals []value.Datum) error {
	_, err := s.evalAll(ctx, x.Exprs, &x.Reads, vals)
	return err
}

// selectInto is SELECT … INTO @a, @b: at most one row.
func (s *Statement) selectInto(ctx context.Context, q *logical.Query, c *cachedPlan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	cols := q.Root.Columns()
	if len(cols) != len(q.Into) {
		return sqlerr.WrongNumberOfSelectColumns()
	}
	rows := 0
	var first []value.Datum
	err := s.eachRow(ctx, c, vals, func(row []value.Datum) error {
		if rows++; rows > 1 {
			return sqlerr.TooManyRows()
		}
		for _, d := range row {
			first = append(first, d.Clone())
		}
		return nil
	})
	if err != nil {
		return err
	}
	if rows == 0 {
		s.diag.warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: sqlerr.NoData()})
	}
	for i := range first {
		s.fn.SetUserVar(q.Into[i], first[i], cols[i].T)
	}
	s.fn.rowCount = int64(rows)
	return s.ok(w, mysqlwire.OK{AffectedRows: uint64(rows)}, more)
}

// eachRow runs a query and gives its rows to fn; they are valid during the
// call. errStale: fn was not called.
func (s *Statement) eachRow(ctx context.Context, c *cachedPlan, vals []value.Datum, fn func(row []value.Datum) error) error {
	row := make([]value.Datum, len(c.plan.Root.Columns()))
	return s.read(ctx, c, vals, func(env *exec.Env) error {
		return exec.RunQuery(ctx, env, c.plan, func(b *vec.Batch) error {
			for i := 0; i < b.Live(); i++ {
				for j, col := range b.Cols {
					row[j] = col.Datum(b.Row(i))
				}
				if err := fn(row); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
