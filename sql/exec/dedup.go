package exec

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// dedup finds the first of equal rows. When memory is short it spills the keys
// that it has met and all later rows, in partitions, and gives the first rows
// among these in the end. Its partitions keep the order of the rows.
type dedup struct {
	acct  *account
	sp    *spiller
	types []schema.Type // of the key: the first columns of a row
	kinds []value.Kind  // of a row
	// total, when set, are all bytes of acct: the owner accounts for them while
	// rows are added.
	total func() int64

	table keyTable
	words wordSet // the keys but NULL where they are words; table has none then
	// groups are the words of each group where keys are a group's number and a word that
	// is not NULL; table has none then. byGroup says so.
	byGroup bool
	groups  groupedWords
	hasher  keyHasher
	ids     []uint32
	fresh   []uint16

	depth      int
	seen, rows []*spill.Rows // by partition, after spilling
	// others are, by partition, keys that others have met, see addOthers.
	others    []*spill.Rows
	freshKeys func(col *vec.Vec, rows []uint16) error
	// whole: the owner accounts for the keys, and spills the groups that they are of.
	whole bool
	todo  []dedupPart
	part  dedupPart // that is read
	rd    *spill.Reader
}

type dedupPart struct {
	seen, rows, others *spill.Rows // others may be nil
	depth              int
}

func (env *Env) newDedup(acct *account, sp *spiller, key []schema.Type, kinds []value.Kind) *dedup {
	return &dedup{acct: acct, sp: sp, types: key, kinds: kinds, table: env.newKeyTable(key), hasher: env.newKeyHasher(key)}
}

func (d *dedup) held() int64 {
	if d.total != nil {
		return d.total()
	}
	return d.bytes()
}

func (d *dedup) bytes() int64 { return d.inMemory() + d.buffers() }

// buffers are the bytes by which rows are spilled and read again.
func (d *dedup) buffers() int64 {
	n := heldRows(d.seen, d.rows, d.others)
	if d.rd != nil {
		n += d.rd.Held()
	}
	return n
}

// inMemory are the bytes of the keys in memory.
func (d *dedup) inMemory() int64 { return d.table.size() + d.words.size() + d.groups.held }

// onDisk reports that rows are spilled.
func (d *dedup) onDisk() bool { return d.rows != nil }

// add gives those of rows that are the first of their kind; it is none when
// they are spilled. The result is valid until the next call.
func (d *dedup) add(cols []*vec.Vec, rows []uint16) ([]uint16, error) {
	apart := d.acct == nil || d.total != nil && d.rd == nil // its owner accounts for it
	if d.onDisk() {
		err := d.sp.scatter(d.rows, d.depth, cols, rows, d.hasher.hash(cols[:len(d.types)], rows))
		if !apart {
			d.acct.must(d.held())
		}
		return nil, err
	}
	fresh := d.insert(cols, rows)
	if apart {
		return fresh, nil
	}
	return fresh, d.fit(d.held())
}

// fit accounts for n bytes, or spills.
func (d *dedup) fit(n int64) error {
	ok, err := d.sp.room(d.acct, d.depth, n)
	if err != nil || ok {
		return err
	}
	if d.rd != nil && d.inMemory() < d.sp.worth() {
		d.acct.must(n) // cutting so little again would give nothing
		return nil
	}
	return d.spill()
}

func (d *dedup) insert(cols []*vec.Vec, rows []uint16) []uint16 {
	d.fresh = d.fresh[:0]
	if d.table.word {
		d.insertWords(cols[0], rows)
		return d.fresh
	}
	if d.byGroup {
		for _, i := range rows {
			if d.groups.insert(int(cols[0].I64[i]), cols[1].I64[i]) {
				d.fresh = append(d.fresh, i)
			}
		}
		return d.fresh
	}
	d.ids = d.table.insert(cols[:len(d.types)], rows, d.ids[:0], func(i uint16) { d.fresh = append(d.fresh, i) })
	return d.fresh
}

func (d *dedup) insertWords(v *vec.Vec, rows []uint16) {
	if !v.Nulls.Any() {
		d.fresh = d.words.insertRows(v.I64, rows, d.fresh)
		return
	}
	for _, i := range rows {
		isNew := false
		if !v.Nulls.IsNull(int(i)) {
			isNew = d.words.insert(v.I64[i])
		} else if isNew = d.table.null == none; isNew {
			d.table.null = 0
		}
		if isNew {
			d.fresh = append(d.fresh, i)
		}
	}
}

// isEmpty reports that no key is in memory.
func (d *dedup) isEmpty() bool {
	return d.table.n == 0 && d.words.len() == 0 && d.groups.held == 0 && d.table.null == none
}

func (d *dedup) reset() {
	d.table.reset()
	d.words, d.groups = wordSet{}, groupedWords{}
}

// keys calls fn with all keys in memory.
func (d *dedup) keys(fn func(col *vec.Vec, n int) error) error {
	if d.byGroup {
		return d.groups.keys(fn)
	}
	if !d.table.word {
		return d.table.keys(func(col *vec.Vec, ids []uint32) error { return fn(col, len(ids)) })
	}
	col, n := vec.New(value.KindInt), 0
	if d.table.null != none {
		col.Nulls.Set(0)
		n++
	}
	put := func() error {
		err := fn(col, n)
		n = 0
		col.Init(col.Kind, vec.MaxRows)
		return err
	}
	err := d.words.each(func(k int64) error {
		col.I64[n] = k
		if n++; n < vec.MaxRows {
			return nil
		}
		return put()
	})
	if err != nil || n == 0 {
		return err
	}
	return put()
}

// insertKey makes an encoded key one that was met.
func (d *dedup) insertKey(key []byte) error {
	if d.onDisk() {
		col := vec.NewSized(value.KindBytes, 1)
		col.Bytes[0] = key
		return d.addSeen(col, 1)
	}
	if d.byGroup {
		d.groups.insertKey(key)
	} else if _, fresh := d.table.bytes.insert(key); fresh {
		d.table.n++
	}
	return nil
}

// addSeen spills n keys.
func (d *dedup) addSeen(col *vec.Vec, n int) error {
	rows := identity[:n]
	return d.sp.scatter(d.seen, d.depth, []*vec.Vec{col}, rows, d.hasher.keys(col, rows))
}

// spill spills the keys that were met; later keys and rows follow them.
func (d *dedup) spill() error {
	f, err := d.sp.begin()
	if err != nil {
		return err
	}
	d.seen = d.sp.partitionIn(f, []value.Kind{d.table.keyKind()})
	d.rows = make([]*spill.Rows, len(d.seen))
	for i := range d.rows {
		d.rows[i] = f.NewRows(d.kinds, d.sp.block)
	}
	if err = d.keys(d.addSeen); err != nil {
		return err
	}
	d.reset()
	d.acct.kept(d.held())
	return nil
}

// relieve is account.relief.
func (d *dedup) relieve() (bool, error) {
	if d.onDisk() || d.rd != nil || d.isEmpty() {
		return false, nil
	}
	return true, d.spill()
}

// next gives, after the last add, the rows that were spilled: a batch and
// those of its rows that are the first of their kind; no batch at the end.
func (d *dedup) next(ctx context.Context) (*vec.Batch, []uint16, error) {
	for {
		if err := interrupted(ctx); err != nil {
			return nil, nil, err
		}
		if d.rd == nil {
			if more, err := d.open(ctx); err != nil || !more {
				return nil, nil, err
			}
		}
		b, err := d.rd.Next()
		if err != nil {
			return nil, nil, err
		}
		if b == nil {
			d.rd = nil
			d.part.rows.Close()
			continue
		}
		fresh, err := d.add(b.Cols, liveRows(b))
		if err != nil {
			return nil, nil, err
		}
		if len(fresh) > 0 {
			return b, fresh, nil
		}
	}
}

// open begins with the next partition.
func (d *dedup) open(ctx context.Context) (bool, error) {
	for i, rows := range d.rows {
		p := dedupPart{seen: d.seen[i], rows: rows, depth: d.depth + 1}
		if d.others != nil {
			p.others = d.others[i]
			if err := p.others.Finish(); err != nil {
				return false, err
			}
		}
		d.todo = append(d.todo, p)
		if err := d.seen[i].Finish(); err != nil {
			return false, err
		}
		if err := rows.Finish(); err != nil {
			return false, err
		}
	}
	d.sp.count()
	d.seen, d.rows, d.others = nil, nil, nil
	d.reset()
	for {
		n := len(d.todo)
		if n == 0 {
			d.acct.kept(d.held())
			return false, nil
		}
		d.part = d.todo[n-1]
		d.todo = d.todo[:n-1]
		d.depth = d.part.depth
		if d.part.rows.Len() > 0 || d.part.others != nil && d.part.others.Len() > 0 {
			break
		}
		d.part.close()
	}
	d.rd = d.part.rows.NewReader()
	d.acct.kept(d.held())
	if err := d.loadSeen(ctx); err != nil {
		return false, err
	}
	return true, d.loadOthers(ctx)
}

func (d *dedup) loadSeen(ctx context.Context) error {
	rd := d.part.seen.NewReader()
	for {
		b, err := rd.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := interrupted(ctx); err != nil {
			return err
		}
		if d.onDisk() {
			if err := d.addSeen(b.Cols[0], b.N); err != nil {
				return err
			}
			continue
		}
		d.insertKeys(b.Cols[0], liveRows(b), (*bytesTable).own)
		if err := d.fit(d.held() + rd.Held()); err != nil {
			return err
		}
	}
	d.part.seen.Close()
	return nil
}

// insertKeys makes keys those that were met and gives the rows of new ones, whose bytes
// are kept by keep.
func (d *dedup) insertKeys(col *vec.Vec, rows []uint16, keep func(*bytesTable, []byte) []byte) []uint16 {
	d.fresh = d.fresh[:0]
	switch {
	case d.table.word:
		d.insertWords(col, rows)
	case d.byGroup:
		for _, i := range rows {
			if d.groups.insertKey(col.Bytes[i]) {
				d.fresh = append(d.fresh, i)
			}
		}
	default:
		for _, i := range rows {
			if _, isNew := d.table.bytes.insertBy(col.Bytes[i], keep); isNew {
				d.table.n++
				d.fresh = append(d.fresh, i)
			}
		}
	}
	return d.fresh
}

// addOthers takes n keys that another dedup has met. Those that are new go to freshKeys,
// once: at once, or where keys are spilled, before the rows.
func (d *dedup) addOthers(col *vec.Vec, n int, keep func(*bytesTable, []byte) []byte) error {
	rows := identity[:n]
	if !d.onDisk() {
		if err := d.freshKeys(col, d.insertKeys(col, rows, keep)); err != nil {
			return err
		}
		return d.fitMerged()
	}
	if d.others == nil {
		f, err := d.sp.begin()
		if err != nil {
			return err
		}
		d.others = d.sp.partitionIn(f, []value.Kind{d.table.keyKind()})
	}
	return d.sp.scatter(d.others, d.depth, []*vec.Vec{col}, rows, d.hasher.keys(col, rows))
}

// fitMerged accounts for keys of others.
func (d *dedup) fitMerged() error {
	if d.acct == nil || d.whole {
		return nil
	}
	return d.fit(d.held())
}

// loadOthers goes through the keys of others, after those of d.
func (d *dedup) loadOthers(ctx context.Context) error {
	if d.part.others == nil {
		return nil
	}
	rd := d.part.others.NewReader()
	for {
		if err := interrupted(ctx); err != nil {
			return err
		}
		b, err := rd.Next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := d.addOthers(b.Cols[0], b.N, (*bytesTable).own); err != nil {
			return err
		}
	}
	d.part.others.Close()
	return nil
}

// merge takes what o has met and, where it was spilled, its rows; o is given up. Keys and
// the first columns of rows are changed by renumber before.
func (d *dedup) merge(o *dedup, renumber func(keys, groups *vec.Vec, n int)) error {
	if !o.onDisk() {
		return o.keys(func(col *vec.Vec, n int) error {
			renumber(col, nil, n)
			return d.addOthers(col, n, (*bytesTable).take)
		})
	}
	if !d.onDisk() {
		if err := d.spill(); err != nil {
			return err
		}
	}
	for i := range o.rows {
		for _, list := range []*spill.Rows{o.seen[i], o.rows[i]} {
			if err := list.Finish(); err != nil {
				return err
			}
			err := eachAside(d.sp.context(), list, func(b *vec.Batch) error {
				if list == o.seen[i] {
					renumber(b.Cols[0], nil, b.N)
					return d.addOthers(b.Cols[0], b.N, (*bytesTable).own)
				}
				renumber(nil, b.Cols[0], b.N)
				_, err := d.add(b.Cols, liveRows(b))
				return err
			})
			if err != nil {
				return err
			}
			list.Close()
		}
	}
	return nil
}

func (p dedupPart) close() {
	p.seen.Close()
	p.rows.Close()
	p.others.Close()
}

func (d *dedup) close() {
	closeRows(d.seen, d.rows, d.others)
	for _, p := range d.todo {
		p.close()
	}
	d.part.close()
	d.seen, d.rows, d.others, d.todo, d.rd = nil, nil, nil, nil, nil
	d.table, d.words, d.groups = keyTable{}, wordSet{}, groupedWords{}
}
