package session

import (
	"context"
	"encoding/binary"
	"time"
	"unsafe"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
)

// queryTemplate runs a statement by its template: the plan comes from the
// cache, the literals become parameters. handled is false when the text has to
// go the long way.
func (s *Statement) queryTemplate(ctx context.Context, text string, w mysqlwire.ResultWriter) (handled bool, err error) {
	s.fn.scores = nil
	t := &s.template
	if len(text) > 1<<16 {
		return false, nil
	}
	// The text is not changed while the template shares its bytes.
	if !parser.TemplateOf(unsafe.Slice(unsafe.StringData(text), len(text)), s.vars.Mode, t) {
		return false, nil
	}
	s.convertLiterals(t)
	s.key = s.planKey(s.key[:0], t.Text)
	s.key = t.AppendKey(s.key)
	c := s.shared.plans.get(s.key)
	if c != nil && s.usable(c) {
		c = s.variantOf(ctx, c, t.Vals)
	} else {
		c = nil
	}
	if c == nil {
		for i := range t.Types {
			if t.Types[i].IsString() {
				t.Types[i].Collation = s.vars.Collation
			}
		}
		if c, err = s.planTemplate(ctx, t); err != nil || c == nil {
			return false, err // the long way makes errors: they quote the text
		}
		s.shared.plans.put(s.key, c)
		s.engine.Counters.PlanMisses.Add(1)
	} else {
		s.engine.Counters.PlanHits.Add(1)
	}
	s.begin(false)
	s.diag.warnAll(c.warnings) // of a prepared statement without parameters
	return true, s.runPlan(ctx, c, t.Vals, false, w)
}

// planKey starts the cache key of a text with what its meaning depends on.
func (cn *Connection) planKey(dst, text []byte) []byte {
	dst = append(dst, text...)
	dst = append(dst, 0)
	dst = append(dst, cn.database...)
	dst = append(dst, 0, byte(cn.vars.Mode), byte(cn.vars.Mode>>8), byte(cn.vars.Mode>>16), byte(cn.vars.Mode>>24),
		byte(cn.vars.Collation), byte(cn.vars.Collation>>8), byte(cn.vars.Parallelism), byte(cn.vars.Parallelism>>8), byte(cn.vars.DivDigits))
	dst = append(dst, cn.vars.Switches...)
	if cn.vars.Disabled != nil {
		dst = append(dst, cn.vars.Text("sqlots_disabled_rules")...)
	}
	if cn.vars.ShowExpired {
		dst = append(dst, 'x')
	}
	if cn.temps.snapshot() != nil {
		dst = binary.BigEndian.AppendUint64(append(dst, 't'), cn.process.ID)
		dst = binary.BigEndian.AppendUint64(dst, cn.temps.version)
	}
	return append(dst, 0)
}

// usable reports whether a cached plan may run: its tables are unchanged and
// its estimates not too old.
func (cn *Connection) usable(c *cachedPlan) bool {
	if !cn.current(c.plan) {
		return false
	}
	return time.Since(c.made) < planMaxAge
}

// planTemplate makes the plan of a template; nil when the statement is none
// that plans are kept of.
func (s *Statement) planTemplate(ctx context.Context, t *parser.Template) (*cachedPlan, error) {
	stmt, err := s.engine.Parsers.ParseTemplate(t, s.vars.Mode)
	if err != nil {
		return nil, err
	}
	bound, warnings, err := s.bindParams(stmt, t.Types)
	if err != nil {
		return nil, err
	}
	if len(warnings) > 0 || !cacheable(bound) { // they may quote the text
		return nil, nil
	}
	ptypes := append([]schema.Type(nil), t.Types...)
	c, err := s.plan(ctx, bound, t.Vals, ptypes)
	if err != nil {
		return nil, err
	}
	if s.literalsMatter(c) {
		return nil, nil
	}
	c.rebind = rebindShared(stmt.Text, s.vars.Mode, ptypes)
	return c, nil
}

// literalsMatter reports whether another plan might be better if literals were
// known: an index may be on an expression that has one, such as
// JSON_VALUE(doc, '$.id').
func (cn *Connection) literalsMatter(c *cachedPlan) bool {
	if c.plan.Root == nil || c.plan.ValuesMatter {
		return c.plan.ValuesMatter
	}
	for _, t := range c.plan.Tables {
		if rewrite.ReplacesLiterals(t, cn.engine.Codecs.TableExprs) {
			return true
		}
	}
	return false
}

// cacheable reports whether runPlan runs the statement and its plan may be
// kept.
func cacheable(stmt logical.Statement) bool {
	switch q := stmt.(type) {
	case *logical.Query:
		return len(q.Into) == 0 && q.File == nil
	case *logical.Insert, *logical.Update, *logical.Delete, *logical.MultiUpdate, *logical.MultiDelete:
		return true
	}
	return false
}
