package table

import (
	"bufio"
	"bytes"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// ErrBulkDuplicate: two rows of a bulk load, or one and a stored row, have the
// same key. Nothing was written; which row it is, the ordinary way tells.
var ErrBulkDuplicate = errors.New("duplicate key in a bulk load")

// BulkOptions shape a bulk load.
type BulkOptions struct {
	// Memory is how many bytes are collected before they are sorted and
	// written to a temporary file; 0 for 256 MiB. Growing buffers may take as
	// much again for a moment.
	Memory int64
	// TempDir is the directory of these files, "" for the system's.
	TempDir string
}

// Bulk adds many rows to a table in one atomic step: rows and index entries are
// sorted, in memory or through temporary files, and handed to the store as
// sorted runs. The caller excludes writers of the table from the first Add to
// the end of Finish. It belongs to one goroutine.
type Bulk struct {
	store storage.Store
	opts  BulkOptions
	w     *Writer
	rows  int

	arena []byte
	// groups are the pairs of the rows, of each index, and the cells, in the
	// order of their key prefixes; spaces their index ids.
	spaces []schema.IndexID
	groups [][]bulkPair
	runs   []*bulkRun
}

// bulkPair is a pair in the arena: the key from at, klen bytes, then the value.
// prefix are the first bytes of the key behind its space, for a fast order.
type bulkPair struct {
	prefix     uint64
	at         int
	klen, vlen uint32
}

// NewBulk starts a bulk load.
func (c *Codec) NewBulk(store storage.Store, opts BulkOptions) *Bulk {
	if opts.Memory == 0 {
		opts.Memory = 256 << 20
	}
	b := &Bulk{store: store, opts: opts, w: c.NewWriter(nil, store.Caps())}
	b.spaces = append(b.spaces, schema.PrimaryIndexID)
	for _, x := range c.Indexes {
		if isWritten(x) {
			b.spaces = append(b.spaces, x.Desc.ID)
		}
	}
	b.spaces = append(b.spaces, CellIndexID)
	slices.Sort(b.spaces)
	b.groups = make([][]bulkPair, len(b.spaces))
	return b
}

// Rows is the number of rows added.
func (b *Bulk) Rows() int { return b.rows }

// Add collects a row; limits are checked (storage.LimitError).
func (b *Bulk) Add(row []value.Datum) error {
	w := b.w
	if err := w.encode(&w.new, row, true, isWritten); err != nil {
		return err
	}
	if err := w.check(&w.new, row); err != nil {
		return err
	}
	m := &w.new
	b.rows++
	b.add(schema.PrimaryIndexID, m.rowKey(), m.rowValue())
	for i := range m.entries {
		e := &m.entries[i]
		b.add(e.x.Desc.ID, m.entryKey(e), m.entryVal(e))
	}
	if w.c.hasCell {
		for pos := range w.c.Columns {
			if w.c.isCell(pos, row[pos]) {
				w.buf = w.c.AppendCellKey(w.buf[:0], m.rowKey(), pos)
				b.add(CellIndexID, w.buf, row[pos].Bytes())
			}
		}
	}
	if int64(len(b.arena))+b.pairBytes() > b.opts.Memory {
		return b.spill()
	}
	return nil
}

func (b *Bulk) pairBytes() int64 {
	n := 0
	for _, g := range b.groups {
		n += len(g)
	}
	const size = 24
	return int64(n) * size
}

func (b *Bulk) add(space schema.IndexID, key, val []byte) {
	i, _ := slices.BinarySearch(b.spaces, space)
	p := bulkPair{prefix: keyPrefix(key), at: len(b.arena), klen: uint32(len(key)), vlen: uint32(len(val))}
	b.arena = append(append(b.arena, key...), val...)
	b.groups[i] = append(b.groups[i], p)
}

// keyPrefix are eight bytes of the key behind its space.
func keyPrefix(key []byte) uint64 {
	if rest := key[prefixLen:]; len(rest) >= 8 {
		return binary.BigEndian.Uint64(rest)
	}
	var buf [8]byte
	copy(buf[:], key[prefixLen:])
	return binary.BigEndian.Uint64(buf[:])
}

func (b *Bulk) key(p bulkPair) []byte { return b.arena[p.at : p.at+int(p.klen)] }
func (b *Bulk) val(p bulkPair) []byte {
	return b.arena[p.at+int(p.klen) : p.at+int(p.klen)+int(p.vlen)]
}

func (b *Bulk) compare(x, y bulkPair) int {
	switch {
	case x.prefix < y.prefix:
		return -1
	case x.prefix > y.prefix:
		return 1
	}
	return bytes.Compare(b.key(x), b.key(y))
}

// sort orders the groups, each in a goroutine, and looks for equal keys.
func (b *Bulk) sort() error {
	var wg sync.WaitGroup
	errs := make([]error, len(b.groups))
	for i, g := range b.groups {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				// A bug here must not take the server down.
				if r := recover(); r != nil {
					errs[i] = fmt.Errorf("sorting a bulk load: %v", r)
				}
			}()
			errs[i] = b.sortGroup(g)
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// sortGroup orders one group; ErrBulkDuplicate when two keys are equal.
func (b *Bulk) sortGroup(g []bulkPair) error {
	if !slices.IsSortedFunc(g, b.compare) {
		slices.SortFunc(g, b.compare)
	}
	for j := 1; j < len(g); j++ {
		if g[j-1].prefix == g[j].prefix && bytes.Equal(b.key(g[j-1]), b.key(g[j])) {
			return ErrBulkDuplicate
		}
	}
	return nil
}

// spill sorts what is in memory and writes it to a temporary file.
func (b *Bulk) spill() (err error) {
	if err := b.sort(); err != nil {
		return err
	}
	f, err := os.CreateTemp(b.opts.TempDir, "sqlots-bulk-*.tmp")
	if err != nil {
		return fmt.Errorf("spilling a bulk load: %w", err)
	}
	run := &bulkRun{file: f}
	b.runs = append(b.runs, run)
	// The file has no name from here on: a crash leaves nothing behind.
	if err := os.Remove(f.Name()); err != nil {
		return fmt.Errorf("spilling a bulk load: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var head [2 * binary.MaxVarintLen32]byte
	for _, g := range b.groups {
		for _, p := range g {
			n := binary.PutUvarint(head[:], uint64(p.klen))
			n += binary.PutUvarint(head[n:], uint64(p.vlen))
			_, _ = w.Write(head[:n])
			_, _ = w.Write(b.arena[p.at : p.at+int(p.klen)+int(p.vlen)])
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("spilling a bulk load: %w", err)
	}
	b.arena = b.arena[:0]
	for i := range b.groups {
		b.groups[i] = b.groups[i][:0]
	}
	return nil
}

// bulkRun is a sorted run in a file, or in memory (pairs).
type bulkRun struct {
	file     *os.File
	r        *bufio.Reader
	key, val []byte
	b        *Bulk
	group    int
	next     int
	order    int
}

func (r *bulkRun) start() error {
	if r.file == nil {
		return nil
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("reading a spilled run: %w", err)
	}
	r.r = bufio.NewReaderSize(r.file, 1<<20)
	return nil
}

// advance reads the next pair; false at the end.
func (r *bulkRun) advance() (bool, error) {
	if r.file == nil {
		for r.group < len(r.b.groups) {
			if g := r.b.groups[r.group]; r.next < len(g) {
				r.key, r.val = r.b.key(g[r.next]), r.b.val(g[r.next])
				r.next++
				return true, nil
			}
			r.group, r.next = r.group+1, 0
		}
		return false, nil
	}
	klen, err := binary.ReadUvarint(r.r)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading a spilled run: %w", err)
	}
	vlen, err := binary.ReadUvarint(r.r)
	if err != nil {
		return false, fmt.Errorf("reading a spilled run: %w", err)
	}
	r.key = slices.Grow(r.key[:0], int(klen))[:klen]
	r.val = slices.Grow(r.val[:0], int(vlen))[:vlen]
	if _, err = io.ReadFull(r.r, r.key); err == nil {
		_, err = io.ReadFull(r.r, r.val)
	}
	if err != nil {
		return false, fmt.Errorf("reading a spilled run: %w", err)
	}
	return true, nil
}

// runHeap orders runs by their current keys.
type runHeap []*bulkRun

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	if c := bytes.Compare(h[i].key, h[j].key); c != 0 {
		return c < 0
	}
	return h[i].order < h[j].order
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*bulkRun)) }
func (h *runHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Finish makes all rows visible and durable at once. ErrBulkDuplicate says that
// a key exists already; after any error nothing is visible, unless it is
// storage.ErrUndetermined.
func (b *Bulk) Finish(ctx context.Context) error {
	if b.rows == 0 {
		return nil
	}
	if err := b.sort(); err != nil {
		return err
	}
	load, err := b.store.BulkLoad(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = load.Abort() }()
	exist, err := b.newExisting(ctx)
	if err != nil {
		return err
	}
	n := 0
	err = b.merge(func(key, val []byte) error {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := exist.check(ctx, key); err != nil {
			return err
		}
		return load.Add(key, val)
	})
	if err == nil {
		err = exist.flush(ctx)
	}
	if err != nil {
		return err
	}
	_, err = load.Finish(ctx)
	return err
}

// merge calls fn with all pairs in the order of their keys.
func (b *Bulk) merge(fn func(key, val []byte) error) error {
	runs := append(slices.Clone(b.runs), &bulkRun{b: b})
	h := runHeap{}
	for i, r := range runs {
		r.order = i
		if err := r.start(); err != nil {
			return err
		}
		ok, err := r.advance()
		if err != nil {
			return err
		}
		if ok {
			h = append(h, r)
		}
	}
	heap.Init(&h)
	var last []byte
	for len(h) > 0 {
		r := h[0]
		if len(runs) > 1 {
			if last != nil && bytes.Equal(last, r.key) {
				return ErrBulkDuplicate
			}
			last = append(last[:0], r.key...)
		}
		if err := fn(r.key, r.val); err != nil {
			return err
		}
		ok, err := r.advance()
		if err != nil {
			return err
		}
		if !ok {
			heap.Pop(&h)
			continue
		}
		if len(h) > 1 {
			heap.Fix(&h, 0)
		}
	}
	return nil
}

// existing looks for keys of the load in the store, in batches. Keys of spaces
// that are empty or cannot collide are not looked for.
type existing struct {
	b      *Bulk
	spaces map[schema.IndexID]bool
	keys   [][]byte
	buf    []byte
}

const existingBatch = 1024

func (b *Bulk) newExisting(ctx context.Context) (*existing, error) {
	e := &existing{b: b, spaces: map[schema.IndexID]bool{}}
	c := b.w.c
	for _, space := range b.spaces {
		unique := space == schema.PrimaryIndexID
		if x := c.Index(space); x != nil {
			unique = x.Desc.Unique
		}
		if !unique {
			continue
		}
		scan, err := b.store.Latest().Scan(ctx, IndexSpan(c.Table.ID, space), storage.ScanOptions{KeyOnly: true, Limit: 1})
		if err != nil {
			return nil, err
		}
		_, err = scan.Visit(ctx, func([]byte, []byte) bool {
			e.spaces[space] = true
			return false
		})
		if err := errors.Join(err, scan.Close()); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *existing) check(ctx context.Context, key []byte) error {
	if len(e.spaces) == 0 {
		return nil
	}
	if _, x, _, ok := SplitKey(key); !ok || !e.spaces[x] {
		return nil
	}
	if len(e.buf)+len(key) > cap(e.buf) {
		e.buf = make([]byte, 0, max(64<<10, len(key)))
	}
	start := len(e.buf)
	e.buf = append(e.buf, key...)
	e.keys = append(e.keys, e.buf[start:])
	if len(e.keys) == existingBatch {
		return e.flush(ctx)
	}
	return nil
}

func (e *existing) flush(ctx context.Context) error {
	if len(e.keys) == 0 {
		return nil
	}
	err := e.b.store.Latest().BatchGet(ctx, e.keys, func(_ int, val []byte) error {
		if val != nil {
			return ErrBulkDuplicate
		}
		return nil
	})
	e.keys, e.buf = e.keys[:0], e.buf[:0]
	return err
}

// Close frees memory and files. It is idempotent.
func (b *Bulk) Close() error {
	var err error
	for _, r := range b.runs {
		err = errors.Join(err, r.file.Close())
	}
	b.runs, b.arena, b.groups = nil, nil, nil
	return err
}
