package session

import (
	"context"
	"encoding/binary"
	"strings"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// prepared is a prepared statement. Its plan is kept in the engine's cache
// under the text and the types of the parameters.
type prepared struct {
	stmt   parser.Statement
	text   []byte
	mode   types.SQLMode // by which the text was read
	params int
	// keeps: the statement shows the diagnostics of the one before.
	keeps  bool
	limits []int // the parameters that are a LIMIT or OFFSET
	// database was the current one when the statement was prepared, and is it
	// again while it runs (MySQL 8.4, PREPARE Statement).
	database string
	// last is the plan of the last execution with its key, so that executing
	// again needs no look-up.
	last    *cachedPlan
	lastKey string
}

// prepare parses and binds a statement once, which finds its errors and the
// columns of its result.
func (s *Statement) prepare(text string) (*prepared, *mysqlwire.Header, error) {
	mode := s.vars.Mode
	stmt, err := s.engine.Parsers.Parse(text, mode)
	if err != nil {
		return nil, nil, err
	}
	_, _, restore := s.hintVars(context.Background(), &stmt)
	defer restore()
	p := &prepared{mode: mode, stmt: stmt, text: []byte(stmt.Text), params: len(stmt.Params), limits: stmt.LimitParams(), database: s.database, keeps: readsDiagnostics(stmt.Text)}
	ptypes := make([]schema.Type, p.params)
	for i := range ptypes {
		ptypes[i] = types.Null // taken from the context
	}
	bound, err := bind.Bind(s.bindEnv(ptypes), stmt)
	if err != nil {
		return nil, nil, err
	}
	switch x := bound.(type) {
	case *logical.Query:
		if len(x.Into) == 0 && x.File == nil {
			return p, queryHeader(x), nil
		}
	case *logical.Insert, *logical.Delete:
		return p, returningHeader(x), nil
	case *logical.Explain:
		if x.Into != "" {
			return p, nil, nil
		}
		return p, explainHeader(s.explainFormat(x.Format, x.Analyze), x.Analyze), nil
	case *logical.LoadData, *logical.Prepare, *logical.ExecutePrepared, *logical.Deallocate:
		return nil, nil, sqlerr.NotInPreparedProtocol()
	}
	return p, nil, nil
}

// execute runs a prepared statement, by its cached plan when there is one.
func (s *Statement) execute(ctx context.Context, p *prepared, params []mysqlwire.Param, more bool, w mysqlwire.ResultWriter) error {
	if len(params) != p.params {
		return sqlerr.WrongArguments("EXECUTE")
	}
	for _, i := range p.limits {
		if err := limitParam(&params[i]); err != nil {
			return err
		}
	}
	if now := s.database; now != p.database {
		s.database = p.database
		defer func() {
			if s.database == p.database { // the statement was not USE
				s.database = now
			}
		}()
	}
	ctx, warnings, restore := s.hintVars(ctx, &p.stmt)
	defer restore()
	vals := make([]value.Datum, len(params))
	s.key = s.key[:0]
	if p.mode != s.vars.Mode { // the text may mean something else now
		s.key = binary.BigEndian.AppendUint32(append(s.key, 0), uint32(p.mode))
	}
	s.key = s.planKey(s.key, p.text)
	for i := range params {
		vals[i] = params[i].D
		s.key = appendTypeKey(s.key, &params[i])
	}
	c := p.last
	if c == nil || p.lastKey != string(s.key) {
		c = s.shared.plans.get(s.key)
	}
	isVariant := false
	if c != nil && s.usable(c) {
		base := c
		c = s.variantOf(ctx, c, vals)
		isVariant = c != base
	} else {
		c = nil
	}
	if c != nil {
		s.engine.Counters.PlanHits.Add(1)
		if !isVariant {
			p.last = c
			if p.lastKey != string(s.key) {
				p.lastKey = string(s.key)
			}
		}
		s.begin(p.keeps)
		s.diag.warnAll(warnings)
		s.diag.warnAll(c.warnings)
		return s.runPlan(ctx, c, vals, more, w)
	}
	ptypes := s.paramTypes(params)
	s.begin(p.keeps)
	s.diag.warnAll(warnings)
	key := string(s.key)
	bound, warnings, err := s.bindParams(p.stmt, ptypes)
	s.diag.warnAll(warnings)
	if err != nil {
		return err
	}
	if !cacheable(bound) || strings.ContainsRune(p.stmt.Text, '@') {
		return s.dispatch(ctx, bound, rebindOwn(p.stmt, ptypes), vals, ptypes, more, w)
	}
	c, err = s.plan(ctx, bound, vals, ptypes)
	if err != nil {
		return err
	}
	c.rebind, c.warnings = rebindShared(p.stmt.Text, p.mode, ptypes), warnings
	s.engine.Counters.PlanMisses.Add(1)
	if !c.plan.ValuesMatter {
		s.shared.plans.put([]byte(key), c)
		if !isVariant {
			p.last, p.lastKey = c, key
		}
	}
	return s.runPlan(ctx, c, vals, more, w)
}

// paramTypes are the types with which parameters are bound. A NULL parameter
// is typed from its context.
func (cn *Connection) paramTypes(params []mysqlwire.Param) []schema.Type {
	out := make([]schema.Type, len(params))
	for i, p := range params {
		out[i] = p.Type
		if p.D.IsNull() {
			out[i] = types.Null
		}
		if out[i].IsCharacter() {
			out[i].Collation = cn.vars.Collation
		}
	}
	return out
}

// appendTypeKey appends what tells plans for different parameter types apart.
func appendTypeKey(dst []byte, p *mysqlwire.Param) []byte {
	id := byte(p.Type.ID)
	if p.D.IsNull() {
		id = 0
	}
	flags := byte(p.Type.Scale) << 1
	if p.Type.Unsigned {
		flags |= 1
	}
	dst = append(dst, id, flags)
	if p.Type.ID == schema.TypeDecimal {
		dst = append(dst, byte(p.Type.Len))
	}
	return dst
}

// prepareNamed is PREPARE name FROM text.
func (s *Statement) prepareNamed(x *logical.Prepare) error {
	text := x.Text
	if x.FromVar != "" {
		d, t := s.fn.UserVar(x.FromVar)
		if d.IsNull() {
			return sqlerr.Parse("", "NULL", 1)
		}
		text = string(types.AppendText(nil, t, d))
	}
	p, _, err := s.prepare(text)
	if err != nil {
		return err
	}
	s.named[strings.ToLower(x.Name)] = p
	return nil
}

// executeNamed is EXECUTE name USING @a, ….
func (s *Statement) executeNamed(ctx context.Context, x *logical.ExecutePrepared, more bool, w mysqlwire.ResultWriter) error {
	p := s.named[strings.ToLower(x.Name)]
	if p == nil {
		return sqlerr.UnknownStatementHandler(x.Name, "EXECUTE")
	}
	params := make([]mysqlwire.Param, len(x.Vars))
	for i, name := range x.Vars {
		d, t := s.fn.UserVar(name)
		params[i] = mysqlwire.Param{D: d, Type: t}
	}
	return s.execute(ctx, p, params, more, w)
}
