package statement

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/querylog"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// runSet is SET. All values are computed before the first takes effect.
func (s *Statement) runSet(ctx context.Context, x *logical.Set, vals []value.Datum) error {
	exprs := make([]expr.Expr, len(x.Items))
	for i, it := range x.Items {
		exprs[i] = it.Value
	}
	computed, err := s.EvalAll(ctx, exprs, &x.Reads, vals)
	if err != nil {
		return err
	}
	for i, it := range x.Items {
		var val *value.Datum
		t := types.Null
		if it.Value != nil {
			val, t = &computed[i], it.Value.Type()
		}
		set := s.setItem
		switch it.Scope {
		case logical.SetGlobal, logical.SetPersist, logical.SetPersistOnly:
			set = s.setGlobal
		}
		if err := set(ctx, it, val, t); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statement) setItem(ctx context.Context, it logical.SetItem, val *value.Datum, t schema.Type) error {
	switch it.Scope {
	case logical.SetUserVar:
		return s.Functions.SetUserVar(it.Name, *val, t)
	case logical.SetPersist, logical.SetPersistOnly:
		return s.persist(ctx, it, val, t)
	case logical.SetNextTransaction:
		return s.setNextTransaction(it.Name, *val, t)
	}
	name := strings.ToLower(it.Name)
	if it.Scope == logical.SetGlobal && name != "autocommit" {
		if err := s.checkGlobal(name, val); err != nil {
			return err
		}
		return s.Vars.Set(true, it.Name, val, t)
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
		env := s.TypesEnv()
		id, err := types.ToUint(&env, *val, t)
		s.Functions.mu.Lock()
		s.Functions.lastInsertID = id
		s.Functions.mu.Unlock()
		return err
	case "names":
		return s.setNames(*val)
	}
	return s.Vars.Set(it.Scope == logical.SetGlobal, it.Name, val, t)
}

// setAutocommit: switching it on ends the open transaction with a commit.
func (s *Statement) setAutocommit(ctx context.Context, it logical.SetItem, val *value.Datum, t schema.Type) error {
	before := s.Vars.Autocommit
	if err := s.Vars.Set(it.Scope == logical.SetGlobal, it.Name, val, t); err != nil {
		return err
	}
	if !before && s.Vars.Autocommit {
		return s.Tx.Commit(ctx)
	}
	return nil
}

func (s *Statement) setTimestamp(val *value.Datum, t schema.Type) error {
	if val == nil {
		s.Vars.FixedTime = time.Time{}
		return nil
	}
	env := s.TypesEnv()
	f, err := types.ToFloat(&env, *val, t)
	if err != nil {
		return err
	}
	if f == 0 {
		s.Vars.FixedTime = time.Time{}
		return nil
	}
	if f < 0 || f > 32536771199 {
		return sqlerr.WrongValueForVariable("timestamp", string(types.AppendText(nil, t, *val)))
	}
	s.Vars.FixedTime = time.UnixMicro(int64(f * 1e6))
	return nil
}

// setNextTransaction is SET TRANSACTION without a scope.
func (s *Statement) setNextTransaction(name string, val value.Datum, t schema.Type) error {
	if s.Tx.open != nil {
		return sqlerr.CannotChangeTransactionCharacteristics()
	}
	d := s.Vars.Globals.Defs.Lookup(name)
	if d == nil {
		return sqlerr.UnknownSystemVariable(name)
	}
	val, err := d.Check(val, t)
	if err != nil {
		return err
	}
	switch name {
	case "transaction_isolation":
		s.Tx.nextIsolation = strings.Clone(val.Str())
	case "transaction_read_only":
		ro := val.Bits() != 0
		s.Tx.nextReadOnly = &ro
	}
	return nil
}

// setNames is SET NAMES where the collation is given by number.
func (s *Statement) setNames(val value.Datum) error {
	c, ok := collate.DefaultForCharset(val.Str())
	if !ok {
		return sqlerr.UnknownCharset(val.Str())
	}
	s.Vars.SetConnectionCollation(c.ID)
	return nil
}

// EvalOne computes an expression that reads no table.
func (s *Statement) EvalOne(ctx context.Context, e expr.Expr, vals []value.Datum) (value.Datum, error) {
	out, err := s.EvalAll(ctx, []expr.Expr{e}, &logical.Reads{}, vals)
	if err != nil {
		return value.Null, err
	}
	return out[0], nil
}

// EvalAll computes expressions (nil ones are left out) that may contain
// the subqueries of reads. ErrStale: the statement has to be bound again.
func (s *Statement) EvalAll(ctx context.Context, list []expr.Expr, reads *logical.Reads, vals []value.Datum) ([]value.Datum, error) {
	c, err := s.MakePlan(ctx, reads.Query(), vals, nil)
	if err != nil {
		return nil, err
	}
	out := make([]value.Datum, len(list))
	err = s.read(ctx, c, vals, func(env *exec.Env) error {
		exec.BindSubqueries(ctx, env, c.Plan)
		for i, e := range list {
			if e == nil {
				continue
			}
			d, err := expr.EvalConst(env.Ctx, e)
			if err != nil {
				return err
			}
			if out[i], err = env.Ctx.Own(d); err != nil {
				return err
			}
		}
		s.Functions.applyInsertID()
		return nil
	})
	return out, err
}

// runDo is DO expr, ….
func (s *Statement) runDo(ctx context.Context, x *logical.Do, vals []value.Datum) error {
	_, err := s.EvalAll(ctx, x.Exprs, &x.Reads, vals)
	return err
}

// selectInto is SELECT … INTO @a, @b: at most one row.
func (s *Statement) selectInto(ctx context.Context, q *logical.Query, c *Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	cols := q.Root.Columns()
	if len(cols) != len(q.Into) {
		return sqlerr.WrongNumberOfSelectColumns()
	}
	rows := 0
	var first []value.Datum
	err := s.EachRow(ctx, c, vals, func(row []value.Datum) error {
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
		s.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: sqlerr.NoData()})
	}
	for i := range first {
		if err := s.Functions.SetUserVar(q.Into[i], first[i], cols[i].T); err != nil {
			return err
		}
	}
	s.Functions.Rows = int64(rows)
	return s.OK(w, mysqlwire.OK{AffectedRows: uint64(rows)}, more)
}

// EachRow runs a query and gives its rows to fn; they are valid during the
// call. ErrStale: fn was not called.
func (s *Statement) EachRow(ctx context.Context, c *Plan, vals []value.Datum, fn func(row []value.Datum) error) error {
	row := make([]value.Datum, len(c.Plan.Root.Columns()))
	return s.read(ctx, c, vals, func(env *exec.Env) error {
		return exec.RunQuery(ctx, env, c.Plan, func(b *vec.Batch) error {
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

// checkGlobal refuses values of variables that depend on the server: log files outside of
// the directory of logs, those that cannot be written, and files that are no query logs;
// mandatory roles that are no text (1232), or that have SYSTEM_USER. 1231.
func (s *Statement) checkGlobal(name string, val *value.Datum) error {
	if val == nil || val.IsNull() {
		return nil
	}
	ok := true
	switch name {
	case "slow_query_log_file", "general_log_file":
		path := querylog.InDir(s.Engine.LogDir, val.Str())
		ok = path != "" && querylog.CanWrite(path)
	case "mandatory_roles":
		if val.Kind() != value.KindBytes {
			return sqlerr.WrongTypeForVariable(name)
		}
		roles, err := priv.ParseNames(val.Str())
		ok = err == nil && !slices.ContainsFunc(roles, s.Engine.Catalog.Snapshot().Privileges().MakesSystem)
	}
	if !ok {
		return sqlerr.WrongValueForVariable(name, val.Str())
	}
	return nil
}
