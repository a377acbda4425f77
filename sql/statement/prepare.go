package statement

import (
	"context"
	"encoding/binary"
	"strings"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Prepared is a prepared statement. Its plan is kept in the engine's cache
// under the text and the types of the parameters.
type Prepared struct {
	Stmt   parser.Statement
	text   []byte
	mode   types.SQLMode // by which the text was read
	Params int
	// keeps: the statement shows the diagnostics of the one before.
	keeps  bool
	limits []int // the parameters that are a LIMIT or OFFSET
	// database was the current one when the statement was prepared, and is it
	// again while it runs (MySQL 8.4, PREPARE Statement).
	database string
	// last is the plan of the last execution with its key, so that executing
	// again needs no lookup.
	last    *Plan
	lastKey string
	held    int64 // bytes that the connection holds for it
	command metrics.Command
	digest  *metrics.Digest // nil before the first execution
	// Instance is what other connections see of it.
	Instance *engine.PreparedStatement
}

// Prepare parses and binds a statement once, which finds its errors and the
// columns of its result.
//
// The statement is counted among what the connection holds until Forget.
func (s *Statement) Prepare(ctx context.Context, text string) (*Prepared, *mysqlwire.Header, error) {
	begin := time.Now()
	held := preparedBytes + 2*int64(len(text)) + parser.TreeBytes(text)
	if err := s.hold(held, "prepared statements"); err != nil {
		s.Diagnostics.Clear()
		return nil, nil, err
	}
	p, header, err := s.prepare(ctx, text)
	if err != nil {
		s.Held.Shrink(held)
		return nil, nil, err
	}
	p.held = held
	p.Instance = s.Process.Prepared.Add(p.Stmt.Text, uint32(p.mode), time.Since(begin))
	return p, header, nil
}

// preparedBytes is about what a prepared statement takes in addition to its text and its tree.
const preparedBytes = 1 << 10

// Forget ends the counting of a prepared statement; nil is none.
func (cn *Connection) Forget(p *Prepared) {
	if p != nil {
		cn.Held.Shrink(p.held)
		p.held = 0
		cn.Process.Prepared.Remove(p.Instance)
	}
}

func (s *Statement) prepare(ctx context.Context, text string) (*Prepared, *mysqlwire.Header, error) {
	mode := s.Vars.Mode
	stmt, err := s.Engine.Parsers.ParseContext(ctx, text, mode)
	if !stmt.ReadsDiagnostics {
		s.Diagnostics.Clear()
	}
	if err != nil {
		return nil, nil, err
	}
	_, _, restore := s.hintVars(ctx, &stmt)
	defer restore()
	p := &Prepared{mode: mode, Stmt: stmt, text: []byte(stmt.Text), Params: len(stmt.Params), limits: stmt.LimitParams(), database: s.DB, keeps: stmt.ReadsDiagnostics, command: metrics.CommandOf(stmt.Command())}
	ptypes := make([]schema.Type, p.Params)
	for i := range ptypes {
		ptypes[i] = types.Null // taken from the context
	}
	bound, err := bind.Bind(s.bindEnv(ctx, ptypes), stmt)
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

// Execute runs a prepared statement, by its cached plan when there is one.
func (s *Statement) Execute(ctx context.Context, p *Prepared, params []mysqlwire.Param, more bool, w mysqlwire.ResultWriter) error {
	if len(p.text) >= longText {
		release, err := s.reserveTree(p.Stmt.Text)
		if err != nil {
			return err
		}
		defer release()
	}
	if len(params) != p.Params {
		return sqlerr.WrongArguments("EXECUTE")
	}
	if p.digest == nil || p.digest.Gone() {
		p.digest = s.digestOf(p.Stmt.Text, p.mode)
	}
	s.identify(p.command, p.digest)
	s.watch(&p.Stmt, p.mode)
	s.event.prepared = p
	if err := s.admit(&p.Stmt); err != nil {
		return err
	}
	for _, i := range p.limits {
		if err := limitParam(&params[i]); err != nil {
			return err
		}
	}
	if now := s.DB; now != p.database {
		s.DB = p.database
		defer func() {
			if s.DB == p.database { // the statement was not USE
				s.DB = now
			}
		}()
	}
	ctx, warnings, restore := s.hintVars(ctx, &p.Stmt)
	defer restore()
	vals := make([]value.Datum, len(params))
	s.key = s.key[:0]
	if p.mode != s.Vars.Mode { // the text may mean something else now
		s.key = binary.BigEndian.AppendUint32(append(s.key, 0), uint32(p.mode))
	}
	s.key = s.planKey(s.key, p.text)
	for i := range params {
		vals[i] = params[i].D
		s.key = appendTypeKey(s.key, &params[i])
	}
	c := p.last
	if c == nil || p.lastKey != string(s.key) {
		c = s.Shared.Plans.get(s.key)
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
		s.event.Hits++
		if !isVariant {
			p.last = c
			if p.lastKey != string(s.key) {
				p.lastKey = string(s.key)
			}
		}
		s.begin(p.keeps)
		s.Diagnostics.warnAll(warnings)
		s.Diagnostics.warnAll(c.warnings)
		return s.runPlan(ctx, c, vals, more, w)
	}
	ptypes := s.paramTypes(params)
	s.begin(p.keeps)
	s.Diagnostics.warnAll(warnings)
	key := string(s.key)
	bound, warnings, err := s.bindParams(ctx, p.Stmt, ptypes)
	s.Diagnostics.warnAll(warnings)
	if err != nil {
		return err
	}
	if !cacheable(bound) || strings.ContainsRune(p.Stmt.Text, '@') {
		return s.dispatch(ctx, bound, rebindOwn(p.Stmt, ptypes), vals, ptypes, more, w)
	}
	c, err = s.MakePlan(ctx, bound, vals, ptypes)
	if err != nil {
		return err
	}
	c.rebind, c.warnings = rebindShared(p.Stmt.Text, p.mode, ptypes), warnings
	c.command, c.digest = p.command, p.digest
	s.event.Misses++
	if !c.Plan.ValuesMatter {
		s.Shared.Plans.put([]byte(key), c)
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
			out[i].Collation = cn.Vars.Collation
		}
	}
	return out
}

// appendTypeKey appends what distinguishes plans for different parameter types.
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
func (s *Statement) prepareNamed(ctx context.Context, x *logical.Prepare) error {
	text := x.Text
	if x.FromVar != "" {
		d, t := s.Functions.UserVar(x.FromVar)
		if d.IsNull() {
			return sqlerr.Parse("", "NULL", 1)
		}
		text = string(types.AppendText(nil, t, d))
	}
	p, _, err := s.Prepare(ctx, text)
	if err != nil {
		return err
	}
	name := strings.ToLower(x.Name)
	if s.Named[name] == nil {
		s.Metrics.Prepared.Add(1)
	}
	s.Forget(s.Named[name])
	s.Named[name] = p
	p.Instance.SetName(name)
	return nil
}

// executeNamed is EXECUTE name USING @a, ….
func (s *Statement) executeNamed(ctx context.Context, x *logical.ExecutePrepared, more bool, w mysqlwire.ResultWriter) error {
	p := s.Named[strings.ToLower(x.Name)]
	if p == nil {
		return sqlerr.UnknownStatementHandler(x.Name, "EXECUTE")
	}
	params := make([]mysqlwire.Param, len(x.Vars))
	for i, name := range x.Vars {
		d, t := s.Functions.UserVar(name)
		params[i] = mysqlwire.Param{D: d, Type: t}
	}
	s.Metrics.Start(s.event.Command)
	return s.Execute(ctx, p, params, more, w)
}
