package kvread

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Lookup opens the inner side of a lookup join in what reader shows.
func (s *Reader) Lookup(ec *expr.Ctx, k *decode.Table, n physical.TableNode, nkeys int, reader storage.Reader) (_ exec.Lookup, err error) {
	leaf := n.Leaf()
	index := leaf.Key().Index
	l := &lookup{src: s, reader: reader, leaf: leaf, nkeys: nkeys}
	l.join, l.byEntry = n.(*physical.IndexJoin)
	if l.space, err = newKeySpace(k.Codec, index); err != nil {
		return nil, err
	}
	if leaf.Spread != nil {
		nkeys++
		l.nkeys = nkeys
		if l.numbers, err = spreadOver(ec, leaf.Spread); err != nil {
			return nil, err
		}
	}
	if nkeys < 1 || nkeys > len(l.space.parts) {
		return nil, sqlerr.Internal("a look-up by %d of %d key columns", nkeys, len(l.space.parts))
	}
	l.zone = decode.NewZone(s.state.Loc)
	l.used = nkeys
	if l.space.unique && nkeys > l.space.own {
		// Keys of unique entries end after their own parts.
		l.used = l.space.own
	}
	l.points = l.space.unique && l.used == l.space.own
	for _, p := range l.space.parts[:l.used] {
		if p.Prefix > 0 {
			// Equal prefixes say nothing about the values.
			return nil, sqlerr.Internal("a look-up by a prefix part of %s", leaf.Table.Name)
		}
	}
	if leaf.Latest {
		if s.state.Txn == nil {
			return nil, sqlerr.Internal("a locking read outside of a transaction")
		}
		l.reader = s.state.Txn.Latest()
		if wait, ok := s.locksRanges(n); ok {
			l.reader = s.state.Txn.Locking(wait)
		}
		l.locker.init(s, k, n.Reads(), index)
		l.locks = true
	}
	if index != nil {
		l.x = k.Index(index.ID)
	}
	l.setWithin(ec)
	s.state.Watch(&l.accesses, leaf.Table)
	return l, l.plans(ec, k)
}

// lookup finds the rows of many keys. Keys are sorted, those of points are
// read in one sweep, others by a short scan each.
type lookup struct {
	src    *Reader
	reader storage.Reader
	leaf   *physical.Scan
	join   *physical.IndexJoin // nil for none
	nkeys  int
	// used is the number of key columns by which entries are found; the others
	// are compared with what is found.
	used  int
	space keySpace
	zone  decode.Zone
	x     *table.Index
	// points: a key is that of one row or unique entry.
	points bool
	// byEntry: entries lead to rows.
	byEntry bool
	locks   bool
	ordered bool
	locker  locker
	// numbers are, with leaf.Spread, the values of the first key column, number a vector
	// that has one of them for each outer row.
	numbers []int64
	number  *vec.Vec
	// first decodes and filters entries (with byEntry), out the result.
	first, out decode.Sieve
	hasFirst   bool
	// within are the spans after each key that may have rows; see setWithin.
	within    []storage.Span
	hasWithin bool
	keySpans  []storage.Span

	arena []byte
	keys  []outerKey
	rows  []foundRow // rows to be fetched
	of    []uint16   // key of each row in out
	emit  func(rows *vec.Batch, key []uint16) error
	ofBuf []uint16
	// count is of rows, found of the entries that lead to rows, of which so many
	// passed.
	count, found exec.Counters
	passed       int64
	// accesses are to rows.
	accesses metrics.Accesses
}

// outerKey is the encoded key of an outer row.
type outerKey struct {
	key []byte
	// rest are the parts of the primary key after those used.
	rest []byte
	of   uint16
}

// foundRow is a row that belongs to an outer row.
type foundRow struct {
	key []byte
	of  uint16
}

func (l *lookup) plans(ec *expr.Ctx, k *decode.Table) error {
	z := decode.NewZone(l.src.state.Loc)
	index, n := l.leaf.Key().Index, &l.leaf.TableRead
	var again []expr.Expr
	if l.byEntry {
		p, err := k.Plan(index, n.Read, nil, n.Attributes)
		if err != nil {
			return err
		}
		l.hasFirst = len(n.Filter) > 0
		l.first.Init(ec, p, z, n.Filter)
		index, n, again = nil, &l.join.TableRead, l.join.Again
	}
	p, err := k.Plan(index, n.Read, nil, n.Attributes)
	if err != nil {
		return err
	}
	l.out.Init(ec, p, z, again, n.Filter)
	return nil
}

// Find implements exec.Lookup.
func (l *lookup) Find(ctx context.Context, keys []*vec.Vec, live []uint16, ordered bool, emit func(rows *vec.Batch, key []uint16) error) error {
	if l.leaf.Spread != nil {
		for most := max(spreadKeys/max(len(l.numbers), 1), 1); len(live) > most; live = live[most:] {
			if err := l.find(ctx, keys, live[:most], ordered, emit); err != nil {
				return err
			}
		}
	}
	return l.find(ctx, keys, live, ordered, emit)
}

// spreadKeys is the most keys that are made at a time of rows that are looked up in each
// partition.
const spreadKeys = 1 << 14

// spreadOver are the numbers of a set of points.
func spreadOver(ec *expr.Ctx, set *ranges.Set) ([]int64, error) {
	spans, err := set.Spans(ec)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(spans))
	for i := range spans {
		out[i] = spans[i].Low[0].Int()
	}
	return out, nil
}

func (l *lookup) find(ctx context.Context, keys []*vec.Vec, live []uint16, ordered bool, emit func(rows *vec.Batch, key []uint16) error) error {
	l.emit, l.ordered = emit, ordered
	if err := l.encode(keys, live); err != nil {
		return err
	}
	if !ordered {
		slices.SortStableFunc(l.keys, func(a, b outerKey) int { return bytes.Compare(a.key, b.key) })
	}
	l.begin()
	switch {
	case l.byEntry || l.locks:
		if err := l.findRows(ctx); err != nil {
			return err
		}
		l.passed += int64(len(l.rows))
		if err := l.fetch(ctx); err != nil {
			return err
		}
	default:
		if err := l.read(ctx, func(key, val []byte, of []outerKey) error {
			for _, k := range of {
				if ok, err := l.restMatches(key, val, k.rest); !ok || err != nil {
					if err != nil {
						return err
					}
					continue
				}
				if err := l.add(ctx, key, val, k.of); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return l.flush(ctx)
}

// encode makes the keys of the outer rows. Those that no row can have are left
// out.
func (l *lookup) encode(keys []*vec.Vec, live []uint16) error {
	numbers := []int64{0}
	if l.leaf.Spread != nil {
		if numbers = l.numbers; l.number == nil {
			l.number = vec.New(value.KindInt)
		}
		if len(live) > 0 {
			l.number.Init(value.KindInt, int(slices.Max(live))+1)
		}
		keys = append([]*vec.Vec{l.number}, keys...)
	}
	if len(keys) != l.nkeys {
		return sqlerr.Internal("a look-up with %d key columns instead of %d", len(keys), l.nkeys)
	}
	l.keys = l.keys[:0]
	// Keys point into the arena, so it is not moved: a new one when it is full.
	l.arena = l.arena[:0]
	encode := func(i uint16) error { return l.encodeRow(keys, i, nil) }
	if l.space.stamp != nil && !l.zone.UTC {
		encode = func(i uint16) error { return l.encodeTimes(keys, i) }
	}
	for _, i := range live {
		for _, n := range numbers {
			if l.leaf.Spread != nil {
				l.number.I64[i] = n
			}
			if err := encode(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// encodeTimes makes the keys of an outer row in a zone whose clocks change: one for each
// choice of the UTC times that show as its TIMESTAMPs.
func (l *lookup) encodeTimes(keys []*vec.Vec, i uint16) error {
	chosen := make([]value.Time, l.nkeys)
	var choose func(j int) error
	choose = func(j int) error {
		for ; j < l.nkeys; j++ {
			if !l.space.stamp[j] || keys[j].Kind != value.KindTime || keys[j].Nulls.IsNull(int(i)) {
				continue
			}
			for _, t := range l.zone.All(nil, keys[j].Datum(int(i)).Time()) {
				chosen[j] = t
				if err := choose(j + 1); err != nil {
					return err
				}
			}
			return nil
		}
		return l.encodeRow(keys, i, chosen)
	}
	return choose(0)
}

// encodeRow makes a key of an outer row; stored are its TIMESTAMPs, nil for those of UTC.
func (l *lookup) encodeRow(keys []*vec.Vec, i uint16, stored []value.Time) error {
	start := len(l.arena)
	b := append(l.arena[start:], l.space.prefix...)
	rest := 0
	for j, v := range keys {
		d, fits, err := l.keyDatum(v, int(i), j)
		if !fits || err != nil {
			return err
		}
		if stored != nil && l.space.stamp[j] {
			d = value.TimeOf(stored[j])
		}
		if j == l.used {
			rest = len(b)
		}
		b = l.space.parts[j].Append(b, d)
	}
	if l.used == l.nkeys {
		rest = len(b)
	}
	if cap(b) == cap(l.arena)-start {
		l.arena = l.arena[:start+len(b)]
	} else {
		l.arena = make([]byte, 0, max(2*cap(l.arena), 4096))
	}
	l.keys = append(l.keys, outerKey{key: b[:rest:rest], rest: b[rest:len(b):len(b)], of: i})
	return nil
}

// keyDatum is key column j of outer row i in the form of the key part; false
// when no row can have it.
func (l *lookup) keyDatum(v *vec.Vec, i, j int) (value.Datum, bool, error) {
	d := v.Datum(i)
	p := &l.space.parts[j]
	if d.IsNull() {
		return d, false, nil
	}
	if d.Kind() != p.Kind {
		switch {
		case d.Kind() == value.KindInt && p.Kind == value.KindUint:
			return value.Uint(uint64(d.Int())), d.Int() >= 0, nil
		case d.Kind() == value.KindUint && p.Kind == value.KindInt:
			return value.Int(int64(d.Uint())), int64(d.Uint()) >= 0, nil
		}
		return d, false, sqlerr.Internal("a look-up of a %s by a key of %s", d.Kind(), p.Kind)
	}
	return d, true, nil
}

// restMatches reports whether the row of an entry has the further parts of the
// primary key that the outer row requires.
func (l *lookup) restMatches(key, val, rest []byte) (bool, error) {
	if len(rest) == 0 {
		return true, nil
	}
	row, err := l.x.AppendRowKey(nil, key, val)
	if err != nil {
		return false, err
	}
	pk := row[decode.KeyPrefix:]
	parts := l.x.Codec().Key
	next := l.used
	for i := range parts {
		after, err := parts[i].Skip(pk)
		if err != nil {
			return false, err
		}
		if next < l.nkeys && l.space.parts[next].Pos == parts[i].Pos {
			part := pk[:len(pk)-len(after)]
			if !bytes.HasPrefix(rest, part) {
				return false, nil
			}
			rest = rest[len(part):]
			next++
		}
		pk = after
	}
	return len(rest) == 0, nil
}

// group is the keys from i on that are equal; one alone when the keys' order
// matters.
func (l *lookup) group(i int) []outerKey {
	j := i + 1
	for !l.ordered && j < len(l.keys) && bytes.Equal(l.keys[j].key, l.keys[i].key) {
		j++
	}
	return l.keys[i:j]
}

// read calls fn with the pairs of each distinct key.
func (l *lookup) read(ctx context.Context, fn func(key, val []byte, of []outerKey) error) error {
	if l.points {
		return l.readPoints(ctx, fn)
	}
	if l.src.state.Store.Caps().Remote {
		return l.readTogether(ctx, fn)
	}
	for i := 0; i < len(l.keys); {
		of := l.group(i)
		i += len(of)
		if err := l.readRange(ctx, of, fn); err != nil {
			return err
		}
	}
	return nil
}

// readTogether is read of ranges where each scan would wait for another machine.
func (l *lookup) readTogether(ctx context.Context, fn func(key, val []byte, of []outerKey) error) error {
	var spans []storage.Span
	var groups [][]outerKey
	for i := 0; i < len(l.keys); {
		of := l.group(i)
		i += len(of)
		for _, span := range l.spansOf(of[0].key) {
			spans, groups = append(spans, span), append(groups, of)
		}
	}
	if len(spans) == 0 {
		return nil
	}
	scan, err := storage.ScanMany(ctx, l.reader, spans, storage.ScanOptions{})
	if err != nil {
		return err
	}
	l.reads().Seeks += int64(len(spans))
	return storage.VisitAll(ctx, scan, func(i int, key, val []byte) error { return l.pair(key, val, groups[i], fn) })
}

// pair counts a pair that was read and passes it on.
func (l *lookup) pair(key, val []byte, of []outerKey, fn func(key, val []byte, of []outerKey) error) error {
	if l.x == nil && l.accesses.Next() {
		l.accesses.Note(key, false)
	}
	count := l.reads()
	count.Pairs++
	count.Bytes += int64(len(key) + len(val))
	return fn(key, val, of)
}

// reads counts what is read by the keys.
func (l *lookup) reads() *exec.Counters {
	if l.byEntry {
		return &l.found
	}
	return &l.count
}

func (l *lookup) readPoints(ctx context.Context, fn func(key, val []byte, of []outerKey) error) error {
	var keys [][]byte
	var groups [][]outerKey
	for i := 0; i < len(l.keys); {
		of := l.group(i)
		i += len(of)
		keys, groups = append(keys, of[0].key), append(groups, of)
	}
	count := l.reads()
	count.Seeks += int64(len(keys))
	if l.x == nil {
		l.accesses.Keys(keys, false)
	}
	return l.reader.BatchGet(ctx, keys, func(i int, val []byte) error {
		if val == nil {
			return nil
		}
		count.Pairs++
		count.Bytes += int64(len(keys[i]) + len(val))
		return fn(keys[i], val, groups[i])
	})
}

func (l *lookup) readRange(ctx context.Context, of []outerKey, fn func(key, val []byte, of []outerKey) error) error {
	for _, span := range l.spansOf(of[0].key) {
		if err := l.readSpan(ctx, span, of, fn); err != nil {
			return err
		}
	}
	return nil
}

func (l *lookup) readSpan(ctx context.Context, span storage.Span, of []outerKey, fn func(key, val []byte, of []outerKey) error) error {
	scan, err := l.reader.Scan(ctx, span, storage.ScanOptions{})
	if err != nil {
		return err
	}
	defer scan.Close()
	l.reads().Seeks++
	var bad error
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		bad = l.pair(key, val, of, fn)
		return bad == nil
	})
	if bad != nil {
		return bad
	}
	return err
}

func (l *lookup) begin() {
	l.out.Begin(l.src.state.BatchSize)
	l.of = l.of[:0]
}

// add decodes a pair for an outer row into the result.
func (l *lookup) add(ctx context.Context, key, val []byte, of uint16) error {
	if err := l.out.Add(key, val); err != nil {
		return err
	}
	l.of = append(l.of, of)
	if l.out.Full() {
		return l.flush(ctx)
	}
	return nil
}

// flush filters the result and hands it out.
func (l *lookup) flush(ctx context.Context) error {
	b, err := l.out.Finish(ctx, l.reader)
	if err != nil {
		return err
	}
	if b != nil {
		keys := l.of
		if b.HasSel {
			keys = l.ofBuf[:0]
			for _, i := range b.Sel {
				keys = append(keys, l.of[i])
			}
			l.ofBuf = keys
		}
		if err := l.emit(b, keys); err != nil {
			return err
		}
	}
	l.begin()
	return nil
}

// findRows collects the keys of the rows of all outer keys.
func (l *lookup) findRows(ctx context.Context) error {
	l.rows = l.rows[:0]
	if !l.byEntry && l.points {
		for _, k := range l.keys {
			l.rows = append(l.rows, foundRow{k.key, k.of})
		}
		return nil
	}
	var pending []foundRow
	if l.hasFirst {
		l.first.Begin(vec.MaxRows)
	}
	flush := func() error {
		b, err := l.first.Finish(ctx, l.reader)
		if err != nil {
			return err
		}
		if b != nil {
			for r := range b.Live() {
				l.rows = append(l.rows, pending[b.Row(r)])
			}
		}
		pending = pending[:0]
		l.first.Begin(vec.MaxRows)
		return nil
	}
	err := l.read(ctx, func(key, val []byte, of []outerKey) error {
		row := bytes.Clone(key)
		if l.byEntry {
			var err error
			if row, err = l.x.AppendRowKey(nil, key, val); err != nil {
				return err
			}
		}
		for _, k := range of {
			if ok, err := l.restMatches(key, val, k.rest); !ok || err != nil {
				if err != nil {
					return err
				}
				continue
			}
			if !l.hasFirst {
				l.rows = append(l.rows, foundRow{row, k.of})
				continue
			}
			if err := l.first.Add(key, val); err != nil {
				return err
			}
			pending = append(pending, foundRow{row, k.of})
			if l.first.Full() {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil || !l.hasFirst {
		return err
	}
	return flush()
}

// fetch reads the rows that were found.
func (l *lookup) fetch(ctx context.Context) error {
	if !l.ordered {
		slices.SortStableFunc(l.rows, func(a, b foundRow) int { return bytes.Compare(a.key, b.key) })
	}
	const sweep = 4 * vec.MaxRows
	for rows := l.rows; len(rows) > 0; {
		part := rows[:min(len(rows), sweep)]
		rows = rows[len(part):]
		keys := make([][]byte, len(part))
		for i := range part {
			keys[i] = part[i].key
		}
		if l.x != nil {
			l.accesses.Keys(keys, false)
		}
		if l.locks {
			if err := l.fetchLocked(ctx, part, keys); err != nil {
				return err
			}
			continue
		}
		l.count.Seeks += int64(len(keys))
		err := l.reader.BatchGet(ctx, keys, func(i int, val []byte) error {
			if val == nil {
				return missingRow(l.x, keys[i])
			}
			l.count.Pairs++
			l.count.Bytes += int64(len(keys[i]) + len(val))
			return l.add(ctx, keys[i], val, part[i].of)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fetchLocked locks rows and gives those that still belong to their outer keys.
func (l *lookup) fetchLocked(ctx context.Context, part []foundRow, keys [][]byte) error {
	outer := map[uint16][]byte{}
	if l.x != nil {
		for _, k := range l.keys {
			outer[k.of] = k.key
		}
	}
	distinct := slices.CompactFunc(slices.Clone(keys), bytes.Equal)
	l.count.Seeks += int64(len(distinct))
	vals := map[string][]byte{}
	err := l.locker.lockAll(ctx, distinct, func(i int, val []byte) { vals[string(distinct[i])] = val })
	if err != nil {
		return err
	}
	for i, r := range part {
		val, ok := vals[string(keys[i])]
		if !ok {
			continue
		}
		l.count.Pairs++
		l.count.Bytes += int64(len(keys[i]) + len(val))
		if l.x != nil {
			l.locker.spans = []storage.Span{{Start: outer[r.of], End: keyenc.PrefixEnd(outer[r.of])}}
			belongs, err := l.locker.belongs(ctx, keys[i], val)
			if err != nil {
				return fmt.Errorf("reading a locked row: %w", err)
			}
			if !belongs {
				continue
			}
		}
		if err := l.add(ctx, keys[i], val, r.of); err != nil {
			return err
		}
	}
	return nil
}

// lockAll locks keys and calls fn for those that hold a row.
func (l *locker) lockAll(ctx context.Context, keys [][]byte, fn func(i int, val []byte)) error {
	x := l.x
	l.x = nil
	defer func() { l.x = x }()
	return l.lock(ctx, keys, func(i int, val []byte) error {
		fn(i, val)
		return nil
	})
}

// Counters implements exec.Counted.
func (l *lookup) Counters() exec.Counters { return l.count.Plus(l.out.Count) }

// EntryCounters implements exec.EntryCounted.
func (l *lookup) EntryCounters() (int64, exec.Counters) { return l.passed, l.found.Plus(l.first.Count) }

// Close implements exec.Lookup.
func (l *lookup) Close() error { return nil }
