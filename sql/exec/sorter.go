package exec

import (
	"cmp"
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// runRows and runBytes (of keys) are the length of a sorted run: runs are sorted
// as rows come, so that no step takes long, and merged in the end. The memory of
// a run grows by copying.
const (
	runRows  = 32 << 10
	runBytes = 8 << 20
)

// sortEntry is a row under its key. Rows are numbered as they come, which
// makes the order stable.
type sortEntry struct {
	prefix uint64
	off    uint32 // of the key in the run's arena, after its length
	row    uint32
}

// sortRun is a sorted run: entries and their keys.
type sortRun struct {
	entries []sortEntry
	arena   []byte
	at      int
}

func (r *sortRun) key(e sortEntry) []byte {
	n := binary.LittleEndian.Uint32(r.arena[e.off:])
	return r.arena[e.off+4:][:n]
}

// sorter orders rows: those that fit in memory, the others in sorted runs on
// disk, which are merged when they are read. Equal rows keep their order.
type sorter struct {
	enc   sortEncoder
	kinds []value.Kind
	size  int // rows of a batch
	acct  *account
	sp    *spiller

	store    rowStore
	run      *sortRun // that grows
	runs     []*sortRun
	keyBytes int64
	merge    runHeap
	disk     []*spill.Rows
	file     *spill.File // of the first runs
	merged   *diskMerge
	finished bool
	out      *vec.Batch
	rows     []uint32
}

func (b *builder) newSorter(node physical.Node, enc sortEncoder, kinds []value.Kind, acct *account) *sorter {
	return &sorter{enc: enc, kinds: kinds, size: b.env.batchSize(), acct: acct, sp: b.spiller(node),
		store: newRowStore(kinds), run: &sortRun{}, out: newOut(kinds)}
}

// newOrder is a sorter by numbers of rows. acct becomes its account.
func (b *builder) newOrder(node physical.Node, kinds []value.Kind, acct *account) *sorter {
	acct.t, acct.operator, acct.stat, acct.thread = b.env.Memory, "order", b.env.Stats.node(node), b.thread
	enc := sortEncoder{parts: []keyPart{{kind: value.KindInt}}, notNull: []bool{true}}
	s := b.newSorter(node, enc, kinds, acct)
	s.sp.attach(acct, func() (bool, error) { return false, nil })
	return s
}

// newKeySorter is a sorter of keys: rows of one column of bytes.
func (b *builder) newKeySorter(node physical.Node, acct *account) *sorter {
	acct.t, acct.operator, acct.stat, acct.thread = b.env.Memory, "keys", b.env.Stats.node(node), b.thread
	enc := sortEncoder{parts: []keyPart{{kind: value.KindBytes}}, notNull: []bool{true}}
	s := b.newSorter(node, enc, []value.Kind{value.KindBytes}, acct)
	s.sp.attach(acct, func() (bool, error) { return false, nil })
	return s
}

// held are the bytes of the rows in memory.
func (s *sorter) held() int64 {
	return s.store.size + s.keyBytes + int64(cap(s.run.arena)+cap(s.run.entries)*16)
}

// add takes rows of cols under the keys of the same rows.
func (s *sorter) add(ctx context.Context, cols []*vec.Vec, rows []uint16, keys []*vec.Vec) error {
	first := s.store.n
	s.store.add(cols, rows)
	for r, i := range rows {
		s.addKey(uint32(first+r), keys, int(i))
	}
	ok, err := s.acct.room(s.held())
	if err != nil {
		return err
	}
	if !ok {
		return s.spill(ctx)
	}
	if len(s.run.entries) >= runRows || len(s.run.arena) > runBytes {
		full := s.run
		s.endRun()
		// The next run is like this one: it need not grow.
		s.run.arena = make([]byte, 0, len(full.arena)+len(full.arena)/16)
		s.run.entries = make([]sortEntry, 0, len(full.entries)+len(full.entries)/16)
	}
	return nil
}

func (s *sorter) addKey(row uint32, keys []*vec.Vec, i int) {
	run := s.run
	off := len(run.arena)
	run.arena = append(run.arena, 0, 0, 0, 0)
	run.arena = s.enc.append(run.arena, keys, i)
	key := run.arena[off+4:]
	binary.LittleEndian.PutUint32(run.arena[off:], uint32(len(key)))
	run.entries = append(run.entries, sortEntry{prefix: s.enc.prefix(key), off: uint32(off), row: row})
}

// endRun sorts the run that grows and begins the next.
func (s *sorter) endRun() {
	run := s.run
	if len(run.entries) == 0 {
		return
	}
	s.run = &sortRun{}
	s.keyBytes += int64(cap(run.arena) + cap(run.entries)*16)
	run.sort(&s.enc)
	s.runs = append(s.runs, run)
}

// radixRows is the length from which a run is sorted by the digits of prefixes.
const radixRows = 512

var radixRoom = sync.Pool{New: func() any { return new([]sortEntry) }}

// sort orders the entries, which come in the order of their rows.
func (r *sortRun) sort(enc *sortEncoder) {
	compare := func(a, b sortEntry) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := enc.compare(r.key(a), r.key(b)); c != 0 {
			return c
		}
		return cmp.Compare(a.row, b.row)
	}
	if len(r.entries) < radixRows {
		slices.SortFunc(r.entries, compare)
		return
	}
	sortByPrefix(r.entries)
	for from := 0; from < len(r.entries); {
		to := from + 1
		for to < len(r.entries) && r.entries[to].prefix == r.entries[from].prefix {
			to++
		}
		if to > from+1 {
			slices.SortFunc(r.entries[from:to], compare)
		}
		from = to
	}
}

// sortByPrefix orders entries by the bits in which their prefixes differ, equal ones
// as they were.
func sortByPrefix(list []sortEntry) {
	const digit = 11
	differ := uint64(0)
	for _, e := range list {
		differ |= e.prefix ^ list[0].prefix
	}
	room := radixRoom.Get().(*[]sortEntry)
	*room = slices.Grow((*room)[:0], len(list))
	from, to := list, (*room)[:len(list)]
	for shift, end := bits.TrailingZeros64(differ), bits.Len64(differ); shift < end; shift += digit {
		var places [1 << digit]uint32
		for _, e := range from {
			places[e.prefix>>shift&(1<<digit-1)]++
		}
		at := uint32(0)
		for i, n := range places {
			places[i], at = at, at+n
		}
		for _, e := range from {
			p := &places[e.prefix>>shift&(1<<digit-1)]
			to[*p] = e
			*p++
		}
		from, to = to, from
	}
	if len(list) > 0 && &from[0] != &list[0] {
		copy(list, from)
	}
	radixRoom.Put(room)
}

// startMerge makes the heap of the runs in memory.
func (s *sorter) startMerge() {
	s.endRun()
	s.merge = runHeap{enc: &s.enc}
	for _, r := range s.runs {
		if r.at < len(r.entries) {
			s.merge.runs = append(s.merge.runs, r)
		}
	}
	for i := len(s.merge.runs)/2 - 1; i >= 0; i-- {
		s.merge.down(i)
	}
}

// pop takes the next n rows in memory, with their keys if fn is set.
func (s *sorter) pop(n int, fn func(key []byte)) {
	s.rows = s.rows[:0]
	for len(s.rows) < n && len(s.merge.runs) > 0 {
		r := s.merge.runs[0]
		e := r.entries[r.at]
		s.rows = append(s.rows, e.row)
		if fn != nil {
			fn(r.key(e))
		}
		r.at++
		s.merge.next()
	}
}

// spill writes the rows in memory that were not read yet as a run to disk.
func (s *sorter) spill(ctx context.Context) error {
	if !s.finished { // otherwise the heap is already at the next row
		s.startMerge()
	}
	kinds := append([]value.Kind{value.KindBytes}, s.kinds...)
	if s.file == nil {
		var err error
		if s.file, err = s.sp.begin(); err != nil {
			return err
		}
	}
	rows := s.file.NewRows(kinds, s.sp.block)
	s.disk = append(s.disk, rows)
	b := newOut(kinds)
	own := &vec.Batch{Cols: b.Cols[1:]}
	for len(s.merge.runs) > 0 {
		if err := interrupted(ctx); err != nil {
			return err
		}
		key := b.Cols[0]
		key.Init(value.KindBytes, vec.MaxRows)
		n := 0
		s.pop(vec.MaxRows, func(k []byte) {
			key.Bytes[n] = k
			n++
		})
		s.store.gatherAll(s.rows, own)
		if err := rows.Append(b.Cols, identity[:n]); err != nil {
			return err
		}
	}
	if err := rows.Finish(); err != nil {
		return err
	}
	s.sp.count()
	s.store, s.runs, s.keyBytes, s.run = newRowStore(s.kinds), nil, 0, &sortRun{}
	if s.finished && s.merged == nil {
		if err := s.openMerge(ctx); err != nil {
			return err
		}
	}
	s.acct.kept(s.diskHeld())
	return nil
}

// diskHeld are the bytes of what is on disk that are held in memory.
func (s *sorter) diskHeld() int64 {
	n := heldRows(s.disk)
	if s.merged != nil {
		n += s.merged.held()
	}
	return n
}

// relieve is account.relief.
func (s *sorter) relieve(ctx context.Context) (bool, error) {
	if ctx == nil || s.store.n == 0 || s.merged != nil {
		return false, nil
	}
	return true, s.spill(ctx)
}

// finish ends the adding: from then on rows are read.
func (s *sorter) finish(ctx context.Context) error {
	if len(s.disk) > 0 && s.store.n > 0 {
		if err := s.spill(ctx); err != nil {
			return err
		}
	}
	s.finished = true
	if len(s.disk) > 0 {
		return s.openMerge(ctx)
	}
	s.startMerge()
	return nil
}

// openMerge merges runs until so few are left that they can be read at once.
func (s *sorter) openMerge(ctx context.Context) error {
	for s.sp.mergeable(s.disk) < len(s.disk) {
		if err := s.mergePass(ctx); err != nil {
			return err
		}
	}
	if len(s.disk) > 1 {
		s.sp.counters.Merges.Add(1)
	}
	var err error
	s.merged, err = newDiskMerge(&s.enc, s.disk)
	s.acct.must(s.diskHeld())
	return err
}

// mergePass merges neighbouring runs, so that equal rows keep their order.
func (s *sorter) mergePass(ctx context.Context) error {
	f, err := s.sp.begin()
	if err != nil {
		return err
	}
	var next []*spill.Rows
	defer func() {
		if err != nil {
			closeRows(next)
		}
	}()
	old := s.disk
	for len(old) > 0 {
		n := s.sp.mergeable(old)
		out := f.NewRows(old[0].Kinds(), s.sp.block)
		next = append(next, out)
		var m *diskMerge
		if m, err = newDiskMerge(&s.enc, old[:n]); err != nil {
			return err
		}
		s.sp.counters.Merges.Add(1)
		s.acct.must(heldRows(old, next) + m.held())
		b := newOut(out.Kinds())
		for {
			if err = interrupted(ctx); err != nil {
				return err
			}
			var rows int
			if rows, err = m.next(b.Cols, 0, vec.MaxRows); err != nil {
				return err
			}
			if rows == 0 {
				break
			}
			if err = out.Append(b.Cols, identity[:rows]); err != nil {
				return err
			}
		}
		if err = out.Finish(); err != nil {
			return err
		}
		closeRows(old[:n])
		old = old[n:]
		s.disk = append(slices.Clone(next), old...)
	}
	s.sp.count()
	return nil
}

// next is the next batch of rows in order, nil at the end.
func (s *sorter) next(ctx context.Context) (*vec.Batch, error) {
	if s.acct.wanted() {
		ok, err := s.relieve(ctx)
		if err != nil {
			return nil, err
		}
		if !ok { // nothing to give
			s.acct.kept(s.acct.held)
		}
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	if s.merged != nil {
		n, err := s.merged.next(s.out.Cols, 1, s.size)
		if err != nil || n == 0 {
			return nil, err
		}
		s.out.N, s.out.HasSel, s.out.Sel = n, false, nil
		return s.out, nil
	}
	s.pop(s.size, nil)
	if len(s.rows) == 0 {
		return nil, nil
	}
	s.store.gatherAll(s.rows, s.out)
	return s.out, nil
}

func (s *sorter) close() {
	closeRows(s.disk)
	s.disk, s.runs, s.merge.runs, s.merged = nil, nil, nil, nil
	s.store = rowStore{}
}

// runHeap has the run with the least next row on top.
type runHeap struct {
	enc  *sortEncoder
	runs []*sortRun
}

// less reports that the next row of a run comes before that of another.
func (h *runHeap) less(a, b *sortRun) bool {
	x, y := a.entries[a.at], b.entries[b.at]
	if x.prefix != y.prefix {
		return x.prefix < y.prefix
	}
	if c := h.enc.compare(a.key(x), b.key(y)); c != 0 {
		return c < 0
	}
	return x.row < y.row
}

// next finds the place of the run on top, whose next row is another, or none.
func (h *runHeap) next() {
	if r := h.runs[0]; r.at == len(r.entries) {
		last := len(h.runs) - 1
		h.runs[0] = h.runs[last]
		h.runs = h.runs[:last]
	}
	h.down(0)
}

// down moves a run after those whose next rows come before its own.
func (h *runHeap) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(h.runs) {
			return
		}
		if c+1 < len(h.runs) && h.less(h.runs[c+1], h.runs[c]) {
			c++
		}
		if !h.less(h.runs[c], h.runs[i]) {
			return
		}
		h.runs[i], h.runs[c] = h.runs[c], h.runs[i]
		i = c
	}
}
