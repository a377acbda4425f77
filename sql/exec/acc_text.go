package exec

import (
	"slices"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// concatAcc is GROUP_CONCAT. Without ORDER BY the text grows as rows come;
// with it the rows are kept and put together in the end.
type concatAcc struct {
	ec    *expr.Ctx
	sep   []byte
	limit int
	coll  *collate.Collation
	enc   *sortEncoder // nil without ORDER BY
	state []concatState
	held  int64
}

type concatState struct {
	text []byte
	rows int
	cut  int // the row at which the text was cut, 0 for none
	list []concatRow
	// pruneAt is the number of rows of list at which those are dropped that can
	// not come before the cut.
	pruneAt int
}

// minPrune is the least number of rows that are worth pruning.
const minPrune = 1024

type concatRow struct{ key, text []byte }

func (r *concatRow) size() int64 { return int64(len(r.key)+len(r.text)) + 48 }

func newConcatAcc(env *Env, ec *expr.Ctx, a *expr.Agg) *concatAcc {
	c := &concatAcc{ec: ec, limit: env.groupConcatMaxLen(), sep: []byte(",")}
	if a.T.Collation != schema.CollationBinary && a.T.Collation != schema.CollationNone {
		c.coll = collate.Must(a.T.Collation)
	}
	if g := a.GroupConcat(); g != nil {
		c.sep = []byte(g.Separator)
		if len(g.Order) > 0 {
			c.enc = &sortEncoder{}
			for _, o := range g.Order {
				c.enc.addPart(o.Expr, o.Desc)
			}
		}
	}
	return c
}

func (c *concatAcc) grow(n int) { c.state = growTo(c.state, n) }

func (c *concatAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		if args[0].Nulls.IsNull(int(i)) {
			continue
		}
		st, text := &c.state[groupOf(groups, r)], args[0].Bytes[i]
		if c.enc == nil {
			c.append(st, text)
			continue
		}
		row := concatRow{key: c.enc.append(nil, args[1:], int(i)), text: append([]byte(nil), text...)}
		c.held += row.size()
		st.list = append(st.list, row)
		if st.pruneAt = max(st.pruneAt, minPrune); len(st.list) >= st.pruneAt {
			c.prune(st)
		}
	}
	return nil
}

// prune keeps the first rows of the order, up to the one at which the text is
// cut.
func (c *concatAcc) prune(st *concatState) {
	c.sort(st)
	text := 0
	for i := range st.list {
		if text += len(st.list[i].text); text > c.limit {
			for j := range st.list[i+1:] {
				c.held -= st.list[i+1+j].size()
			}
			st.list = slices.Clone(st.list[:i+1])
			break
		}
		text += len(c.sep)
	}
	st.pruneAt = 2 * len(st.list)
}

// sort orders the rows; equal ones stay as they came.
func (c *concatAcc) sort(st *concatState) {
	slices.SortStableFunc(st.list, func(a, b concatRow) int { return c.enc.compare(a.key, b.key) })
}

// append adds one value until the text is full.
func (c *concatAcc) append(st *concatState, text []byte) {
	st.rows++
	if st.cut > 0 {
		return
	}
	before := cap(st.text)
	if st.rows > 1 {
		st.text = append(st.text, c.sep...)
	}
	st.text = append(st.text, text...)
	if len(st.text) > c.limit {
		st.cut = st.rows
		n := c.limit
		if c.coll != nil {
			n = c.coll.ValidPrefix(st.text[:n])
		}
		st.text = st.text[:n]
	}
	c.held += int64(cap(st.text) - before)
}

func (c *concatAcc) merge(o accumulator, to []uint32) error {
	from := o.(*concatAcc)
	for g := range from.state {
		f := &from.state[g]
		if to[g] == none || f.rows == 0 && len(f.list) == 0 {
			continue
		}
		st := &c.state[to[g]]
		if st.rows != 0 || len(st.list) != 0 {
			return sqlerr.Internal("merge of two GROUP_CONCAT results")
		}
		*st = *f
		c.held += int64(cap(f.text))
		for i := range f.list {
			c.held += f.list[i].size()
		}
	}
	return nil
}

func (c *concatAcc) result(g int, dst *vec.Vec, i int) error {
	st := &c.state[g]
	if len(st.list) > 0 {
		c.sort(st)
		for _, r := range st.list {
			c.append(st, r.text)
		}
		st.list = nil
	}
	if st.rows == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	if st.cut > 0 {
		c.ec.Warning(sqlerr.CutByGroupConcat(st.cut))
	}
	dst.SetShared(i, st.text) // more text would be appended
	return nil
}

func (c *concatAcc) size() int64 { return c.held + int64(cap(c.state))*64 }

// addPart adds an ORDER BY expression.
func (e *sortEncoder) addPart(x expr.Expr, desc bool) {
	p := newKeyPart(x.Type())
	p.desc = desc
	e.parts = append(e.parts, p)
	e.notNull = append(e.notNull, !x.Nullable())
	e.hasJSON = e.hasJSON || types.KindOf(x.Type()) == value.KindJSON
}

// jsonArrayAcc is JSON_ARRAYAGG; a NULL is an element.
type jsonArrayAcc struct {
	list [][][]byte
	held int64
}

func (j *jsonArrayAcc) grow(n int) { j.list = growTo(j.list, n) }

func jsonAt(v *vec.Vec, i int) []byte {
	if v.Nulls.IsNull(i) {
		return value.JSONNull()
	}
	return append([]byte(nil), v.Bytes[i]...)
}

func (j *jsonArrayAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		g := groupOf(groups, r)
		doc := jsonAt(args[0], int(i))
		j.list[g] = append(j.list[g], doc)
		j.held += int64(len(doc)) + 24
	}
	return nil
}

func (j *jsonArrayAcc) merge(o accumulator, to []uint32) error {
	for g, l := range o.(*jsonArrayAcc).list {
		if t := to[g]; t != none {
			j.list[t] = append(j.list[t], l...)
			for _, d := range l {
				j.held += int64(len(d)) + 24
			}
		}
	}
	return nil
}

func (j *jsonArrayAcc) result(g int, dst *vec.Vec, i int) error {
	if len(j.list[g]) == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	dst.Bytes[i] = value.JSONArray(j.list[g]...)
	return nil
}

func (j *jsonArrayAcc) size() int64 { return j.held + int64(cap(j.list))*24 }

// jsonObjectAcc is JSON_OBJECTAGG; the last value of a key wins.
type jsonObjectAcc struct {
	maps []map[string][]byte
	held int64
}

func (j *jsonObjectAcc) grow(n int) { j.maps = growTo(j.maps, n) }

func (j *jsonObjectAcc) put(g uint32, key string, doc []byte) {
	if j.maps[g] == nil {
		j.maps[g] = map[string][]byte{}
	}
	j.maps[g][key] = doc
	j.held += int64(len(key)+len(doc)) + 64
}

func (j *jsonObjectAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		if args[0].Nulls.IsNull(int(i)) {
			return sqlerr.JSONNullKey()
		}
		j.put(groupOf(groups, r), string(args[0].Bytes[i]), jsonAt(args[1], int(i)))
	}
	return nil
}

func (j *jsonObjectAcc) merge(o accumulator, to []uint32) error {
	for g, m := range o.(*jsonObjectAcc).maps {
		if t := to[g]; t != none {
			for k, d := range m {
				j.put(t, k, d)
			}
		}
	}
	return nil
}

func (j *jsonObjectAcc) result(g int, dst *vec.Vec, i int) error {
	if len(j.maps[g]) == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	var keys, vals [][]byte
	for k := range j.maps[g] {
		keys = append(keys, []byte(k))
	}
	slices.SortFunc(keys, func(a, b []byte) int { return slices.Compare(a, b) })
	for _, k := range keys {
		vals = append(vals, j.maps[g][string(k)])
	}
	dst.Bytes[i] = value.JSONObject(keys, vals)
	return nil
}

func (j *jsonObjectAcc) size() int64 { return j.held + int64(cap(j.maps))*8 }
