package statement

import (
	"context"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Plan is a plan with what is needed to run it again.
type Plan struct {
	Plan   *physical.Plan
	header *mysqlwire.Header // nil for changes without RETURNING
	made   time.Time
	point  *pointPlan // the fast path, nil if none exists
	// command and digest are those of the statement, work what each run counts.
	command metrics.Command
	digest  *metrics.Digest
	work    metrics.Work
	page    *pagePlan // another one
	// needs are the privileges without which it does not run; allowed is the last set
	// that had them, so that most executions compare a pointer.
	needs   *priv.Needs
	allowed atomic.Pointer[priv.Set]
	// sizes are those of the plan's guards for the parameters with which it was
	// made.
	sizes string
	// limited: the query has a LIMIT, which goes before sql_select_limit.
	limited  bool
	readsAll bool // a whole table or index
	// rebind binds the statement again, for the session that runs it, for the
	// case that the schema changes between planning and running.
	rebind rebinder
	// warnings are those of binding, which every execution repeats.
	warnings []sqlerr.Warning
	// stats measures a change for EXPLAIN ANALYZE; nil otherwise, and always in
	// the cache.
	stats *exec.Stats
	// Of a LOAD DATA: reject is exec.Env.Reject, also writes in the same commit.
	Reject func(record uint64, err *sqlerr.Error) error
	Also   func(ctx context.Context, txn storage.Txn) error
}

// rebinder binds a statement, without the warnings that it had. One that is
// kept with a plan has nothing of the session that made it.
type rebinder func(ctx context.Context, c *Connection) (logical.Statement, error)

// rebindShared binds a statement that several sessions may bind at once.
func rebindShared(text string, mode types.SQLMode, ptypes []schema.Type) rebinder {
	return func(ctx context.Context, s *Connection) (logical.Statement, error) {
		stmt, err := s.Engine.Parsers.ParseContext(ctx, text, mode)
		if err != nil {
			return nil, err
		}
		return rebindOwn(stmt, ptypes)(ctx, s)
	}
}

// rebindOwn binds a statement that one session has.
func rebindOwn(stmt parser.Statement, ptypes []schema.Type) rebinder {
	return func(ctx context.Context, s *Connection) (logical.Statement, error) {
		env := s.bindEnv(ctx, ptypes)
		env.Warn = nil
		return bind.Bind(env, stmt)
	}
}

// planMaxAge is how long a plan is used before its estimates are made again.
const planMaxAge = time.Minute

// guardLeast is the number of entries up to which ranges are alike; beyond, those of
// which one has guardStep times as many bits are not.
const (
	guardLeast = 8 // bits
	guardStep  = 2
)

// sizesOf distinguishes ranges of other sizes: one byte for each guard of a plan.
func (cn *Connection) sizesOf(ctx context.Context, dst []byte, c *Plan, vals []value.Datum) []byte {
	ec := cn.exprCtx(ctx, vals)
	ec.Warn = nil
	for _, g := range c.Plan.Guards {
		size := byte(0)
		if spans, err := g.Ranges.Spans(ec); err == nil {
			if n, ok := cn.Engine.Stats.SpanSize(ctx, g.Table, g.Index, spans); ok {
				size = byte(max(bits.Len64(uint64(n))-guardLeast, 0) / guardStep)
			}
		}
		dst = append(dst, size)
	}
	return dst
}

// variantOf gives the cached plan for ranges of the size that the parameters make. c
// is the plan that is cached under s.key, the key of the statement. nil if the size
// has no plan yet: s.key, extended by the sizes, is then the key of the new one.
func (s *Statement) variantOf(ctx context.Context, c *Plan, vals []value.Datum) *Plan {
	if len(c.Plan.Guards) == 0 {
		return c
	}
	end := len(s.key)
	s.key = s.sizesOf(ctx, s.key, c, vals)
	if string(s.key[end:]) == c.sizes {
		s.key = s.key[:end]
		return c
	}
	if c = s.Shared.Plans.get(s.key); c != nil && s.usable(c) {
		return c
	}
	return nil
}

const (
	planShards   = 16
	plansInShard = 512
	// planCacheShare is the part of the memory of statements that plans may take.
	planCacheShare = 8
)

// planBytes is about what a plan takes, by the length of its key, which has the text of
// the statement.
func planBytes(key int) int64 { return 6<<10 + 48*int64(key) }

// PlanCache holds the plans of statement templates, shared by all sessions.
type PlanCache struct {
	seed   maphash.Seed
	limit  int64 // bytes in a shard
	shards [planShards]planShard
}

type planShard struct {
	sync.RWMutex
	plans map[string]*Plan
	bytes int64
}

// newPlanCache makes a cache for plans of limit bytes together.
func newPlanCache(limit int64) *PlanCache {
	c := &PlanCache{seed: maphash.MakeSeed(), limit: limit / planShards}
	for i := range c.shards {
		c.shards[i].plans = map[string]*Plan{}
	}
	return c
}

func (c *PlanCache) get(key []byte) *Plan {
	s := &c.shards[maphash.Bytes(c.seed, key)%planShards]
	s.RLock()
	p := s.plans[string(key)]
	s.RUnlock()
	return p
}

func (c *PlanCache) put(key []byte, p *Plan) {
	s := &c.shards[maphash.Bytes(c.seed, key)%planShards]
	s.Lock()
	defer s.Unlock()
	size := planBytes(len(key))
	if size > c.limit/2 {
		return
	}
	s.remove(string(key))
	for k := range s.plans { // any: the map's order is random
		if len(s.plans) < plansInShard && s.bytes+size <= c.limit {
			break
		}
		s.remove(k)
	}
	s.plans[string(key)] = p
	s.bytes += size
}

func (s *planShard) remove(key string) {
	if _, ok := s.plans[key]; ok {
		delete(s.plans, key)
		s.bytes -= planBytes(len(key))
	}
}

// Clear forgets all plans.
func (c *PlanCache) Clear() {
	for i := range c.shards {
		s := &c.shards[i]
		s.Lock()
		s.plans, s.bytes = map[string]*Plan{}, 0
		s.Unlock()
	}
}
