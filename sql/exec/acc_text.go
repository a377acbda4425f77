package exec

import (
	"errors"
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
				c.enc.addPart(env, o.Expr, o.Desc)
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
			if err := c.append(st, text); err != nil {
				return err
			}
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

// largeConcat is the size of a text from which on it is counted while it moves.
const largeConcat = 256 << 10

// room makes room for n more bytes. A large text is there twice while it moves: 3170.
func (c *concatAcc) room(st *concatState, n int) error {
	need := len(st.text) + n
	if need <= cap(st.text) || need < largeConcat {
		return nil
	}
	size := max(need, min(2*cap(st.text), c.limit+n))
	release, err := c.ec.Hold(int64(size))
	if err != nil {
		return err
	}
	defer release()
	st.text = append(make([]byte, 0, size), st.text...)
	return nil
}

// holdMove takes memory for bytes that append moves, of a capacity, when need of them do
// not fit and are many: they are there twice for a moment, 3170.
func holdMove(ec *expr.Ctx, capacity, need int) (release func(), err error) {
	if need <= capacity || need < largeConcat {
		return func() {}, nil
	}
	return ec.Hold(int64(need + need/4))
}

// append adds one value until the text is full: 3170.
func (c *concatAcc) append(st *concatState, text []byte) error {
	st.rows++
	if st.cut > 0 {
		return nil
	}
	before := cap(st.text)
	if err := c.room(st, len(c.sep)+len(text)); err != nil {
		return err
	}
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
	return nil
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
		return c.ordered(st, dst, i)
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

// ordered puts the rows of a group together, and gives them up: 3170.
func (c *concatAcc) ordered(st *concatState, dst *vec.Vec, i int) (err error) {
	c.sort(st)
	size := -len(c.sep)
	for n, r := range st.list {
		if size += len(c.sep) + len(r.text); size > c.limit {
			st.cut = n + 1
			break
		}
	}
	size = min(size, c.limit)
	dst.Bytes[i], err = c.ec.Large(size, func() ([]byte, error) {
		text := make([]byte, 0, size)
		for n, r := range st.list {
			if n > 0 {
				text = append(text, c.sep[:min(len(c.sep), size-len(text))]...)
			}
			if text = append(text, r.text[:min(len(r.text), size-len(text))]...); n+1 == st.cut {
				break
			}
		}
		if st.cut > 0 && c.coll != nil {
			text = text[:c.coll.ValidPrefix(text)]
		}
		return text, nil
	})
	if st.cut > 0 && err == nil {
		c.ec.Warning(sqlerr.CutByGroupConcat(st.cut))
	}
	for _, r := range st.list {
		c.held -= r.size()
	}
	st.list = nil
	return err
}

func (c *concatAcc) size() int64 { return c.held + int64(cap(c.state))*64 }

// addPart adds an ORDER BY expression.
func (e *sortEncoder) addPart(env *Env, x expr.Expr, desc bool) {
	p := env.newKeyPart(x.Type())
	p.desc = desc
	e.parts = append(e.parts, p)
	e.notNull = append(e.notNull, !x.Nullable())
	e.hasJSON = e.hasJSON || types.KindOf(x.Type()) == value.KindJSON
}

// items are byte strings, one after the other.
type items struct {
	data []byte
	ends []uint32
}

func (l *items) len() int { return len(l.ends) }

func (l *items) at(i int) []byte {
	if i == 0 {
		return l.data[:l.ends[0]]
	}
	return l.data[l.ends[i-1]:l.ends[i]]
}

// add appends a copy of b, and returns how much memory more they take. The error is
// 1301.
func (l *items) add(b []byte, function string) (int64, error) {
	if len(l.data)+len(b) > value.MaxJSONSize {
		return 0, sqlerr.PacketOverflow(function, value.MaxJSONSize)
	}
	before := l.size()
	l.data = append(l.data, b...)
	l.ends = append(l.ends, uint32(len(l.data)))
	return l.size() - before, nil
}

func (l *items) size() int64 { return int64(cap(l.data)) + 4*int64(cap(l.ends)) }

// listAcc keeps byte strings of a group.
type listAcc struct {
	ec       *expr.Ctx
	list     []items
	held     int64
	function string
}

func (l *listAcc) grow(n int) { l.list = growTo(l.list, n) }

func (l *listAcc) put(g uint32, b []byte) error {
	st := &l.list[g]
	release, err := holdMove(l.ec, cap(st.data), len(st.data)+len(b))
	if err != nil {
		return err
	}
	defer release()
	n, err := st.add(b, l.function)
	l.held += n
	return err
}

func (l *listAcc) mergeLists(o *listAcc, to []uint32) error {
	for g := range o.list {
		if to[g] == none {
			continue
		}
		for i := range o.list[g].len() {
			if err := l.put(to[g], o.list[g].at(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *listAcc) size() int64 { return l.held + int64(cap(l.list))*48 }

// jsonArrayAcc is JSON_ARRAYAGG; a NULL is an element.
type jsonArrayAcc struct{ listAcc }

func (j *jsonArrayAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		doc := value.JSONNull()
		if !args[0].Nulls.IsNull(int(i)) {
			doc = args[0].Bytes[i]
		}
		if err := j.put(groupOf(groups, r), doc); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonArrayAcc) merge(o accumulator, to []uint32) error {
	return j.mergeLists(&o.(*jsonArrayAcc).listAcc, to)
}

func (j *jsonArrayAcc) result(g int, dst *vec.Vec, i int) error {
	l := &j.list[g]
	if l.len() == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	var err error
	dst.Bytes[i], err = j.ec.Large(value.JSONArraySize(l.data, l.ends), func() ([]byte, error) {
		doc, err := value.JSONArrayOf(l.data, l.ends)
		if err != nil {
			return nil, sqlerr.PacketOverflow(j.function, value.MaxJSONSize)
		}
		return doc, nil
	})
	return err
}

// jsonObjectAcc is JSON_OBJECTAGG; the last value of a key wins.
type jsonObjectAcc struct {
	ec   *expr.Ctx
	list []jsonObjectState
	held int64
}

// jsonObjectState is the members of a group as they came. Those whose key comes again
// are left out when the list has doubled.
type jsonObjectState struct {
	members value.JSONMembers
	next    int64 // the size at which they are looked for
}

func (j *jsonObjectAcc) grow(n int) { j.list = growTo(j.list, n) }

func (j *jsonObjectAcc) put(g uint32, key, doc []byte) error {
	st := &j.list[g]
	capacity, need := st.members.Fits(len(key), len(doc))
	release, err := holdMove(j.ec, capacity, need)
	if err != nil {
		return err
	}
	defer release()
	before := st.members.Size()
	if before >= st.next && before > 1<<10 {
		if err := st.members.Compact(j.ec.Work); err != nil {
			return err
		}
		st.next = 2 * st.members.Size()
	}
	err = st.members.Add(key, doc)
	j.held += st.members.Size() - before
	if err != nil {
		return sqlerr.PacketOverflow("json_objectagg", value.MaxJSONSize)
	}
	return nil
}

func (j *jsonObjectAcc) add(args []*vec.Vec, rows []uint16, groups []uint32) error {
	for r, i := range rows {
		if args[0].Nulls.IsNull(int(i)) {
			return sqlerr.JSONNullKey()
		}
		doc := value.JSONNull()
		if !args[1].Nulls.IsNull(int(i)) {
			doc = args[1].Bytes[i]
		}
		if err := j.put(groupOf(groups, r), args[0].Bytes[i], doc); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonObjectAcc) merge(o accumulator, to []uint32) error {
	for g := range o.(*jsonObjectAcc).list {
		if to[g] == none {
			continue
		}
		for key, doc := range o.(*jsonObjectAcc).list[g].members.All() {
			if err := j.put(to[g], key, doc); err != nil {
				return err
			}
		}
	}
	return nil
}

func (j *jsonObjectAcc) result(g int, dst *vec.Vec, i int) error {
	m := &j.list[g].members
	if m.Len() == 0 {
		dst.Nulls.Set(i)
		return nil
	}
	err := m.Compact(j.ec.Work)
	if err != nil {
		return err
	}
	dst.Bytes[i], err = j.ec.Large(m.ObjectSize(), func() ([]byte, error) {
		doc, err := m.Object(j.ec.Work)
		if errors.Is(err, value.ErrJSONSize) {
			return nil, sqlerr.PacketOverflow("json_objectagg", value.MaxJSONSize)
		}
		return doc, err
	})
	return err
}

func (j *jsonObjectAcc) size() int64 { return j.held + int64(cap(j.list))*80 }
