package expr

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Session is what functions may need of the session. It may be called by the
// parallel parts of one statement at once.
type Session interface {
	ConnectionID() uint64
	// User is user@host as the client gave it; CurrentUser the matched account.
	User() string
	CurrentUser() string
	Database() string // "" when none is selected
	LastInsertID() uint64
	SetLastInsertID(id uint64)
	RowCount() int64
	FoundRows() int64
	// UserVar is a @variable with its type; NULL when it is not set.
	UserVar(name string) (value.Datum, schema.Type)
	// SetUserVar keeps a copy of d. It fails with 3170.
	SetUserVar(name string, d value.Datum, t schema.Type) error
	// SysVar is a @@variable; scope is "", "session" or "global".
	SysVar(scope, name string) (value.Datum, schema.Type, error)
}

// SubqueryRows is the materialised result of a subquery.
type SubqueryRows interface {
	// Len is the number of rows, capped at 2 for scalar subqueries.
	Len() int
	// Row is row i, in the subquery's own types.
	Row(i int) ([]value.Datum, error)
	// Contains is the three-valued answer of key IN rows, with the values
	// compared in the subquery's CmpTypes: 1, 0 or NULL as KindInt.
	Contains(key []value.Datum) (value.Datum, error)
	// Release says that the caller is done with the rows, for now.
	Release()
}

// Ctx is the state of one evaluation. It belongs to one goroutine; Fork makes
// one for another goroutine of the same statement.
type Ctx struct {
	types.Env
	// Context of the statement, for functions that wait (SLEEP).
	Context context.Context
	Params  []value.Datum
	Session Session
	// Memory counts large values; nil counts none.
	Memory Memory
	// Subqueries runs subquery id, once for the same outer values, and gives
	// its rows. outer belongs to the caller.
	Subqueries func(id int, outer []value.Datum) (SubqueryRows, error)
	// Outer are the values of the query around, by Outer.Slot.
	Outer []value.Datum

	free    []*vec.Vec                 // scratch vectors that are not in use
	live    []*vec.Vec                 // scratch vectors that are in use
	selFree [][]uint16                 // scratch selections that are not in use
	batches []*vec.Batch               // scratch batches that are not in use
	row     []value.Datum              // stack of arguments of the calls under way
	arena   []byte                     // bytes of values that functions make
	cache   map[*Func]any              // what functions prepared from constant arguments
	seen    atomic.Pointer[seenConsts] // shared with forks
	extra   *ctxExtras                 // nil until it is needed

	failed    error // of a comparison of long texts, for takeFailure
	work      int   // done since the context was looked at
	maxPacket int64 // 0 until it is read
	reserved  int64 // in Memory, for the call under way
	small     int   // bytes of values since the last sample
	fresh     *byte // of the large value that the last call made
}

// ctxExtras is what few statements need. Each operator has a Ctx, which is small without it.
type ctxExtras struct {
	now    nowState
	locale *locale                // of lc_time_names, nil until it is read
	vars   map[string]value.Datum // session variables that functions have read
	warned map[int]bool           // subqueries about which IGNORE has warned
	rands  map[*Func]*randState
	lets   map[*letSlot]value.Datum
	step   step
	folded int // bytes of the long values that Fold has made
}

// extras makes c's extras when they are first needed.
func (c *Ctx) extras() *ctxExtras {
	if c.extra == nil {
		c.extra = &ctxExtras{}
	}
	return c.extra
}

// Reset prepares c for another execution with other parameters or session
// values: what functions remembered from constant arguments is forgotten. It
// must be called when Params or Now change.
func (c *Ctx) Reset() {
	clear(c.cache)
	c.seen.Store(nil)
	if f := c.extra; f != nil {
		clear(f.warned)
		clear(f.rands)
		clear(f.vars)
		f.now, f.locale = nowState{}, nil
	}
	c.maxPacket = 0
}

// setting is the session's value of a system variable, remembered for the
// statement; NULL without a session.
func (c *Ctx) setting(name string) value.Datum {
	n := c.extras()
	d, ok := n.vars[name]
	if ok || c.Session == nil {
		return d
	}
	d, _, err := c.Session.SysVar("", name)
	if err != nil {
		d = value.Null
	}
	if n.vars == nil {
		n.vars = map[string]value.Datum{}
	}
	n.vars[name] = d
	return d
}

// context is Context, or one without an end.
func (c *Ctx) context() context.Context {
	if c.Context == nil {
		return context.Background()
	}
	return c.Context
}

// Fork makes a Ctx for another goroutine of the same statement. Warn,
// Session and Subqueries must be safe for concurrent use.
func (c *Ctx) Fork() *Ctx {
	f := &Ctx{Env: c.Env, Context: c.Context, Params: c.Params, Session: c.Session, Memory: c.Memory, Subqueries: c.Subqueries, Outer: c.Outer}
	f.Env.Work = nil // that of c
	f.seen.Store(c.consts())
	return f
}

// seenConsts are the constants that a statement has evaluated. It is safe for
// concurrent use.
type seenConsts struct {
	mu   sync.Mutex
	list []*Func // few, or else
	many map[*Func]bool
}

const fewConsts = 32

// first notes a constant, and reports whether it is new.
func (s *seenConsts) first(f *Func) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.many[f] || slices.Contains(s.list, f) {
		return false
	}
	if s.list = append(s.list, f); len(s.list) < fewConsts {
		return true
	}
	if s.many == nil {
		s.many = map[*Func]bool{}
	}
	for _, f := range s.list {
		s.many[f] = true
	}
	s.list = s.list[:0]
	return true
}

func (c *Ctx) consts() *seenConsts {
	if s := c.seen.Load(); s != nil {
		return s
	}
	c.seen.CompareAndSwap(nil, &seenConsts{})
	return c.seen.Load()
}

// getVec takes a scratch vector of kind k and length n.
func (c *Ctx) getVec(k value.Kind, n int) *vec.Vec {
	var v *vec.Vec
	// One that served the same storage class has its memory already.
	class := vec.ClassOf(k)
	for i := len(c.free) - 1; i >= 0 && v == nil; i-- {
		if vec.ClassOf(c.free[i].Kind) == class {
			v = c.free[i]
			c.free = append(c.free[:i], c.free[i+1:]...)
		}
	}
	if v == nil {
		v = vec.NewSized(k, max(n, 1))
	} else {
		v.Init(k, n)
	}
	c.live = append(c.live, v)
	return v
}

// Release gives the result of Eval back. Columns of the input may be passed
// too; for them it does nothing.
func (c *Ctx) Release(v *vec.Vec) {
	for i := len(c.live) - 1; i >= 0; i-- {
		if c.live[i] == v {
			c.live = append(c.live[:i], c.live[i+1:]...)
			c.free = append(c.free, v)
			return
		}
	}
}

// Take makes a result of Eval the caller's own: Release does nothing to it from
// then on, so that expressions over it can be evaluated. It reports false for a
// column of the input. Put gives it back.
func (c *Ctx) Take(v *vec.Vec) bool {
	for i := len(c.live) - 1; i >= 0; i-- {
		if c.live[i] == v {
			c.live = append(c.live[:i], c.live[i+1:]...)
			return true
		}
	}
	return false
}

// Put gives back what Take took.
func (c *Ctx) Put(v *vec.Vec) { c.free = append(c.free, v) }

// ReleaseAll gives all results of Eval back, also those left over after an error.
func (c *Ctx) ReleaseAll() {
	c.free = append(c.free, c.live...)
	c.live = c.live[:0]
}

func (c *Ctx) getSel() []uint16 {
	if n := len(c.selFree); n > 0 {
		s := c.selFree[n-1]
		c.selFree = c.selFree[:n-1]
		return s[:0]
	}
	return make([]uint16, 0, vec.MaxRows)
}

func (c *Ctx) putSel(s []uint16) { c.selFree = append(c.selFree, s) }

// subBatch is in with another selection; it shares the columns.
func (c *Ctx) subBatch(in *vec.Batch, sel []uint16) *vec.Batch {
	var b *vec.Batch
	if n := len(c.batches); n > 0 {
		b = c.batches[n-1]
		c.batches = c.batches[:n-1]
	} else {
		b = &vec.Batch{}
	}
	b.N, b.Cols = in.N, in.Cols
	b.SetSel(sel)
	return b
}

func (c *Ctx) putBatch(b *vec.Batch) {
	b.Cols, b.Sel = nil, nil
	c.batches = append(c.batches, b)
}

// arenaChunk is the least memory that the arena takes.
const arenaChunk = 2 << 10

// alloc is a slice of n bytes for a value that a function makes. It lives
// until the row is done with: the vector loop copies results and takes the
// arena back; values of EvalRow keep their chunk alive. Large values have chunks of
// their own, which are not used again.
func (c *Ctx) alloc(n int) []byte {
	if n >= largeValue {
		return make([]byte, n)
	}
	if len(c.arena)+n > cap(c.arena) {
		c.arena = make([]byte, 0, max(n, arenaChunk))
		c.small += cap(c.arena)
	}
	start := len(c.arena)
	c.arena = c.arena[:start+n]
	return c.arena[start : start+n : start+n]
}

// scratch is an empty slice with room for n bytes to append to.
func (c *Ctx) scratch(n int) []byte { return c.alloc(n)[:0] }

// cached is what make computes from constant arguments of f, computed once
// for this Ctx.
func cached[T any](c *Ctx, f *Func, compute func() (T, error)) (T, error) {
	if v, ok := c.cache[f]; ok {
		if t, ok := v.(T); ok {
			return t, nil
		}
	}
	t, err := compute()
	if c.failed != nil {
		err = c.takeFailure(err)
	}
	if err != nil {
		return t, err
	}
	if c.cache == nil {
		c.cache = map[*Func]any{}
	}
	c.cache[f] = t
	return t, nil
}
