package statement

import (
	"context"
	"encoding/binary"
	"time"
	"unsafe"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
)

// QueryTemplate runs a statement by its template: the plan comes from the
// cache, the literals become parameters. handled is false when the text has to
// go the long way.
func (s *Statement) QueryTemplate(ctx context.Context, text string, w mysqlwire.ResultWriter) (handled bool, err error) {
	s.Functions.scores = nil
	t := &s.template
	if len(text) > 1<<16 || !s.isAdmitted() {
		return false, nil
	}
	// The text is not changed while the template shares its bytes.
	if !parser.TemplateOf(unsafe.Slice(unsafe.StringData(text), len(text)), s.Vars.Mode, t) {
		return false, nil
	}
	s.convertLiterals(t)
	s.parsed()
	s.key = s.planKey(s.key[:0], t.Text)
	s.key = t.AppendKey(s.key)
	c := s.Shared.Plans.get(s.key)
	if c != nil && s.usable(c) {
		c = s.variantOf(ctx, c, t.Vals)
	} else {
		c = nil
	}
	if c == nil {
		for i := range t.Types {
			if t.Types[i].IsString() {
				t.Types[i].Collation = s.Vars.Collation
			}
		}
		if c, err = s.planTemplate(ctx, t); err != nil || c == nil {
			return false, err // the long way makes errors: they quote the text
		}
		c.digest = s.digestOf(text, s.Vars.Mode)
		s.Shared.Plans.put(s.key, c)
		s.event.Misses++
	} else {
		s.event.Hits++
	}
	digest := c.digest
	if digest.Gone() {
		digest = s.digestOf(text, s.Vars.Mode)
	}
	s.identify(c.command, digest)
	s.begin(false)
	s.Diagnostics.warnAll(c.warnings) // of a prepared statement without parameters
	return true, s.runPlan(ctx, c, t.Vals, false, w)
}

// planKey starts the cache key of a text with what its meaning depends on.
func (cn *Connection) planKey(dst, text []byte) []byte {
	dst = append(dst, text...)
	dst = append(dst, 0)
	dst = append(dst, cn.DB...)
	dst = append(dst, 0, byte(cn.Vars.Mode), byte(cn.Vars.Mode>>8), byte(cn.Vars.Mode>>16), byte(cn.Vars.Mode>>24),
		byte(cn.Vars.Collation), byte(cn.Vars.Collation>>8), byte(cn.Vars.Parallelism), byte(cn.Vars.Parallelism>>8), byte(cn.Vars.DivDigits))
	dst = append(dst, cn.Vars.Switches...)
	if cn.Vars.Disabled != nil {
		dst = append(dst, cn.Vars.Text("sqlots_disabled_rules")...)
	}
	if cn.Vars.ShowExpired {
		dst = append(dst, 'x')
	}
	if cn.Vars.ClocksChange {
		dst = append(dst, 'c')
	}
	if cn.Temps.snapshot() != nil {
		dst = binary.BigEndian.AppendUint64(append(dst, 't'), cn.Process.ID)
		dst = binary.BigEndian.AppendUint64(dst, cn.Temps.version)
	}
	return append(dst, 0)
}

// usable reports whether a cached plan may run: its tables are unchanged and
// its estimates not too old.
func (cn *Connection) usable(c *Plan) bool {
	if !cn.current(c.Plan) {
		return false
	}
	return time.Since(c.made) < planMaxAge
}

// planTemplate makes the plan of a template; nil when the statement is none
// that plans are kept of.
func (s *Statement) planTemplate(ctx context.Context, t *parser.Template) (*Plan, error) {
	stmt, err := s.Engine.Parsers.ParseTemplate(ctx, t, s.Vars.Mode)
	if err != nil {
		return nil, err
	}
	s.parsed()
	bound, warnings, err := s.bindParams(ctx, stmt, t.Types)
	if err != nil {
		return nil, err
	}
	if len(warnings) > 0 || !cacheable(bound) { // they may quote the text
		return nil, nil
	}
	ptypes := append([]schema.Type(nil), t.Types...)
	c, err := s.MakePlan(ctx, bound, t.Vals, ptypes)
	if err != nil {
		return nil, err
	}
	if s.literalsMatter(c) {
		return nil, nil
	}
	c.rebind, c.command = rebindShared(stmt.Text, s.Vars.Mode, ptypes), metrics.CommandOf(stmt.Command())
	return c, nil
}

// literalsMatter reports whether another plan might be better if literals were
// known: an index may be on an expression that has one, such as
// JSON_VALUE(doc, '$.id').
func (cn *Connection) literalsMatter(c *Plan) bool {
	if c.Plan.Root == nil || c.Plan.ValuesMatter {
		return c.Plan.ValuesMatter
	}
	for _, t := range c.Plan.Tables {
		if rewrite.ReplacesLiterals(t, cn.Engine.Codecs.TableExprs) {
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
