package decode

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Codecs keeps the codecs of tables. It is safe for concurrent use.
type Codecs struct {
	Binder define.Binder
	byID   sync.Map // schema.TableID → *tableCodec
	marks  sync.Map // schema.TableID → *table.Marks, of all descriptors
	shared bool     // see Share
	Logged LoggedCodecs
	opened atomic.Int64
}

// Table is a codec with the read plans made for it.
type Table struct {
	*table.Codec
	Exprs *derive.Exprs // nil: none
	mu    sync.RWMutex
	plans map[string]*Plan
	alive expr.Expr // see aliveRow
	// derived are the codecs of the tables that are derived from this one.
	derived [2]*Table
}

// NewCodecs makes an empty cache. The binder binds what the descriptors of tables
// have of expressions; it may be nil for tables without any.
func NewCodecs(b define.Binder) *Codecs {
	c := &Codecs{Binder: b}
	c.Logged.of = c
	return c
}

// Get is the codec of t, which must not change any more. One descriptor of a
// table is kept: the one of the last call.
func (c *Codecs) Get(t *schema.Table) (*table.Codec, error) {
	k, err := c.Table(t)
	if err != nil {
		return nil, err
	}
	return k.Codec, nil
}

// Table is the codec of t with what is kept with it.
func (c *Codecs) Table(t *schema.Table) (*Table, error) {
	if t.Derived != nil {
		return c.getDerived(t)
	}
	if k, ok := c.byID.Load(t.ID); ok && k.(*Table).Table == t {
		return k.(*Table), nil
	}
	c.opened.Add(1)
	codec, exprs, err := c.newCodec(t)
	if err != nil {
		return nil, fmt.Errorf("table %s.%s: %w", t.Database, t.Name, err)
	}
	if !c.shared {
		marks, _ := c.marks.LoadOrStore(t.ID, &table.Marks{})
		codec.Marks = marks.(*table.Marks)
	}
	k := &Table{Codec: codec, Exprs: exprs, plans: map[string]*Plan{}}
	c.byID.Store(t.ID, k)
	return k, nil
}

// Share says that others write to the store too: then no marks know of all changes. It
// comes before any use.
func (c *Codecs) Share() { c.shared = true }

// Opened is how often a codec was made, and Len how many tables have one.
func (c *Codecs) Opened() int64 { return c.opened.Load() }

// Len is how many tables have a codec.
func (c *Codecs) Len() (n int64) {
	c.byID.Range(func(_, _ any) bool {
		n++
		return true
	})
	return n
}

// TableExprs are what rows of t must satisfy and what is computed from them; nil
// when there is nothing, or nothing that can be compiled.
func (c *Codecs) TableExprs(t *schema.Table) *derive.Exprs {
	if !t.HasExprs() {
		return nil
	}
	k, err := c.Table(t)
	if err != nil {
		return nil // shows when the table is read
	}
	return k.Exprs
}

// Uncached makes the codec of a table that need not be published, outside of the
// cache.
func (c *Codecs) Uncached(t *schema.Table) (*table.Codec, error) {
	codec, _, err := c.newCodec(t)
	return codec, err
}

func (c *Codecs) newCodec(t *schema.Table) (*table.Codec, *derive.Exprs, error) {
	codec, err := table.NewCodec(t, AddedDefault)
	if err != nil {
		return nil, nil, err
	}
	exprs, err := define.Compile(c.Binder, t)
	if err != nil {
		return nil, nil, err
	}
	if t.HasVirtual() {
		codec.Virtual = func() func(row []value.Datum) error { return exprs.NewStoredReader().Row }
		keyed := t.KeyedColumns()
		codec.Keyed = func() func(row []value.Datum) error { return exprs.NewEntryReader(keyed).Row }
		codec.KeyedAttributes = define.AttributesOnly(exprs)
	}
	return codec, exprs, nil
}

// Forget drops what is kept for a table that no longer exists.
func (c *Codecs) Forget(id schema.TableID) {
	c.byID.Delete(id)
	c.marks.Delete(id)
}

// AddedDefault evaluates schema.Column.AddedDefault, the value of rows that are
// older than the column. It is a literal; that of a TIMESTAMP column is in UTC.
func AddedDefault(c *schema.Column) (value.Datum, error) {
	d := c.AddedDefault
	from, val := types.Text(schema.CollationUTF8MB4Bin), value.String(d.Literal)
	switch {
	case d.Null:
		return value.Null, nil
	case strings.HasPrefix(d.Expr, "0x"):
		b, err := hex.DecodeString(d.Expr[2:])
		if err != nil {
			return value.Null, err
		}
		from, val = types.VarbinaryOf(len(b)), value.Bytes(b)
	case strings.HasPrefix(d.Expr, "b'"):
		n, err := strconv.ParseUint(strings.Trim(d.Expr[1:], "'"), 2, 64)
		if err != nil {
			return value.Null, err
		}
		from, val = types.UBigInt, value.Uint(n)
	case d.Expr != "":
		return value.Null, fmt.Errorf("default %s is not a literal", d.Expr)
	}
	out, err := types.Store(&types.Env{Loc: time.UTC}, val, from, c, 1)
	return out.Clone(), err
}

// AliveRow is the condition that a row of the table has not expired.
func (k *Table) AliveRow(b define.Binder) (expr.Expr, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.alive == nil {
		e, err := define.AliveRow(b, k.Table)
		if err != nil {
			return nil, err
		}
		k.alive = e
	}
	return k.alive, nil
}
