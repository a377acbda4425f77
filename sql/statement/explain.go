package statement

import (
	"context"
	"strings"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// explainHeader describes the result of EXPLAIN.
func explainHeader(format string, analyze bool) *mysqlwire.Header {
	name := map[string]string{"tree": "EXPLAIN", "json": "EXPLAIN", "trace": "EXPLAIN"}[strings.ToLower(format)]
	long := types.Text(schema.CollationUTF8MB40900AICI)
	if name != "" || analyze {
		return mysqlwire.NewHeader([]mysqlwire.Column{{Name: "EXPLAIN", Type: long}})
	}
	varchar := types.VarcharOf(64, schema.CollationUTF8MB40900AICI)
	cols := []mysqlwire.Column{{Name: "id", Type: types.BigInt}, {Name: "select_type", Type: varchar}, {Name: "table", Type: varchar},
		{Name: "partitions", Type: long}, {Name: "type", Type: varchar}, {Name: "possible_keys", Type: long}, {Name: "key", Type: varchar},
		{Name: "key_len", Type: varchar}, {Name: "ref", Type: long}, {Name: "rows", Type: types.BigInt}, {Name: "filtered", Type: types.Double},
		{Name: "Extra", Type: long}}
	return mysqlwire.NewHeader(cols)
}

// explainFormat is the format of an EXPLAIN: what the statement says, else the
// variable explain_format. The traditional one has no place for measurements.
func (cn *Connection) explainFormat(said string, analyze bool) string {
	if said == "" {
		said = strings.ToLower(cn.Vars.Text("explain_format"))
		if analyze && said == "traditional" {
			said = "tree"
		}
	}
	return said
}

// explainConnection is EXPLAIN FOR CONNECTION: the plan that runs there now.
// 1094, 3012.
func (s *Statement) explainConnection(x *logical.ExplainConnection, more bool, w mysqlwire.ResultWriter) error {
	p := s.Engine.Processes.Get(x.ID)
	if p == nil {
		return sqlerr.NoSuchThread(x.ID)
	}
	if p.Account != s.AccountName() && !s.Privileges().Has(priv.Process, 0) {
		return s.Refusal(&priv.Denied{Global: true})
	}
	plan := p.Plan.Load()
	if plan == nil || p.Describe().Secret { // the plan has the literals
		return sqlerr.ExplainNotRunning()
	}
	if err := s.maySee(plan); err != nil {
		return err
	}
	return s.writePlan(w, s.explainFormat(x.Format, false), false, &physical.Printer{}, plan, "", more)
}

// maySee refuses the plan of another statement that reads views whose tables the account
// may not see: 1345.
func (s *Statement) maySee(plan *physical.Plan) error {
	if len(plan.Views) == 0 {
		return nil
	}
	n := &priv.Needs{}
	for _, v := range plan.Views {
		n.Explained = append(n.Explained, priv.TableNeed{DB: v.Database, Table: v.Name, Mask: priv.ShowView, AnyColumn: priv.Select})
	}
	for _, t := range plan.Tables[:plan.Named] {
		if s.Temps.Find(t.Database, t.Name) != t {
			n.Explained = append(n.Explained, priv.TableNeed{DB: t.Database, Table: t.Name, AnyColumn: priv.Select})
		}
	}
	return s.Refusal(s.Privileges().Check(n))
}

// explain is EXPLAIN and EXPLAIN ANALYZE.
func (s *Statement) explain(ctx context.Context, x *logical.Explain, vals []value.Datum, ptypes []schema.Type, more bool, w mysqlwire.ResultWriter) error {
	format := s.explainFormat(x.Format, x.Analyze)
	opts := s.planOptions(ctx, vals)
	var trace strings.Builder
	if format == "trace" {
		opts.Trace = func(rule string, n logical.Node) {
			trace.WriteString("after " + rule + ":\n" + logical.Format(n) + "\n")
		}
	}
	plan, err := planner.Plan(ctx, x.Stmt, opts)
	if err != nil {
		return err
	}
	plan.ParamTypes = ptypes
	s.AddKeys(plan)
	if err := s.Tx.checkLocked(plan.Tables[:plan.Named], plan.Writes); err != nil {
		return err
	}
	printer := &physical.Printer{Ctx: s.exprCtx(ctx, vals), Why: format == "trace"}
	if x.Analyze {
		if format != "tree" && format != "json" {
			return sqlerr.NotSupported("EXPLAIN ANALYZE with FORMAT=" + x.Format)
		}
		analyze := s.analyze
		if plan.Change != nil {
			analyze = s.analyzeChange
		}
		if err := analyze(ctx, plan, vals, printer); err != nil {
			return err
		}
	}
	if x.Into != "" {
		if err := s.Functions.SetUserVar(x.Into, value.String(printer.JSON(plan)), types.Text(schema.CollationUTF8MB40900AICI)); err != nil {
			return err
		}
		return s.OK(w, mysqlwire.OK{}, more)
	}
	return s.writePlan(w, format, x.Analyze, printer, plan, trace.String(), more)
}

// writePlan answers with a plan.
func (s *Statement) writePlan(w mysqlwire.ResultWriter, format string, analyze bool, printer *physical.Printer, plan *physical.Plan, trace string, more bool) error {
	err := w.Header(explainHeader(format, analyze))
	if err != nil {
		return err
	}
	switch format {
	case "tree":
		err = w.Row([]value.Datum{value.String(printer.Tree(plan))})
	case "json":
		err = w.Row([]value.Datum{value.String(printer.JSON(plan))})
	case "trace":
		err = w.Row([]value.Datum{value.String(trace + printer.Tree(plan))})
	default:
		err = writeExplainRows(w, printer.Rows(plan))
	}
	if err != nil {
		return err
	}
	return w.End(mysqlwire.End{Warnings: s.Diagnostics.WarningCount, More: more})
}

func writeExplainRows(w mysqlwire.ResultWriter, rows []physical.Row) error {
	text := func(v string) value.Datum {
		if v == "" {
			return value.Null
		}
		return value.String(v)
	}
	for _, r := range rows {
		err := w.Row([]value.Datum{value.Int(int64(r.ID)), text(r.SelectType), text(r.Table), text(r.Partitions), text(r.Type), text(r.PossibleKeys),
			text(r.Key), text(r.KeyLen), text(r.Ref), value.Int(r.Rows), value.Float(r.Filtered), text(r.Extra)})
		if err != nil {
			return err
		}
	}
	return nil
}

// analyze runs a query and gives the printer what was measured.
func (s *Statement) analyze(ctx context.Context, plan *physical.Plan, vals []value.Datum, printer *physical.Printer) error {
	return s.read(ctx, &Plan{Plan: plan}, vals, func(env *exec.Env) error {
		env.Stats = exec.NewStats()
		if err := exec.RunQuery(ctx, env, plan, func(*vec.Batch) error { return nil }); err != nil {
			return err
		}
		printer.Actual = env.Stats.Actual
		return nil
	})
}

// analyzeChange makes a change and gives the printer what was measured.
func (s *Statement) analyzeChange(ctx context.Context, plan *physical.Plan, vals []value.Datum, printer *physical.Printer) error {
	stats, start := exec.NewStats(), time.Now()
	r, err := s.Change(ctx, &Plan{Plan: plan, stats: stats}, vals)
	if err != nil {
		return err
	}
	r.Returned.Close()
	printer.Actual = stats.Actual
	printer.Change = &physical.Actual{Rows: int64(r.Affected), Loops: 1, Seconds: time.Since(start).Seconds()}
	return nil
}
