package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
)

// SequenceKind distinguishes the sequences of a table.
type SequenceKind byte

// The sequences of a table.
const (
	AutoIncrement SequenceKind = 'a'
	HiddenKey     SequenceKind = 'h'
)

// ErrSequenceExhausted: there is no number left.
var ErrSequenceExhausted = errors.New("sequence exhausted")

// Numbers are reserved on disk in batches that double from one to the other
// bound while they are used up.
const (
	minReserve = 64
	maxReserve = 1 << 13
)

// sequences are stored under 01 's' table(u32 BE) kind: the first number that has not
// been reserved, u64 BE.
const sequenceKey = 's'

// Sequences gives out numbers that grow and are never given out twice, also
// after a crash; a restart leaves a gap. It is safe for concurrent use. Its
// writes are transactions of their own.
type Sequences struct {
	store storage.Store
	mu    sync.Mutex
	seqs  map[seqID]*sequence
}

type seqID struct {
	table schema.TableID
	kind  SequenceKind
}

type sequence struct {
	mu      sync.Mutex
	loaded  bool
	next    uint64 // the next number; 0 when exhausted
	limit   uint64 // numbers below are reserved on disk
	reserve uint64
}

// NewSequences makes the sequences of a store; in a process there must be one only.
func NewSequences(store storage.Store) *Sequences {
	return &Sequences{store: store, seqs: map[seqID]*sequence{}}
}

func (s *Sequences) get(t schema.TableID, kind SequenceKind) *sequence {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.seqs[seqID{t, kind}]
	if q == nil {
		q = &sequence{}
		s.seqs[seqID{t, kind}] = q
	}
	return q
}

func seqKey(t schema.TableID, kind SequenceKind) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{SpaceSystem, sequenceKey}, uint32(t)), byte(kind))
}

// load reads the stored number of the sequence; a new one starts at
// schema.Table.AutoIncrement, at least 1.
func (s *Sequences) load(ctx context.Context, q *sequence, t *schema.Table, kind SequenceKind) error {
	if q.loaded {
		return nil
	}
	v, err := s.store.Latest().Get(ctx, seqKey(t.ID, kind), nil)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		q.next = 1
		if kind == AutoIncrement {
			q.next = max(t.AutoIncrement, 1)
		}
		q.limit = q.next
	case err != nil:
		return fmt.Errorf("sequence of table %s: %w", t.Name, err)
	case len(v) != 8:
		return fmt.Errorf("%w: sequence of table %s", storage.ErrCorruption, t.Name)
	default:
		q.next = binary.BigEndian.Uint64(v)
		q.limit = q.next
	}
	q.loaded = true
	return nil
}

// Next reserves n > 0 consecutive numbers and returns the first.
func (s *Sequences) Next(ctx context.Context, t *schema.Table, kind SequenceKind, n int) (uint64, error) {
	q := s.get(t.ID, kind)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := s.load(ctx, q, t, kind); err != nil {
		return 0, err
	}
	if !s.store.Caps().Sole && q.next != 0 && q.limit-q.next < uint64(n) {
		if err := s.claim(ctx, q, t, kind, 0, uint64(n)); err != nil {
			return 0, err
		}
	}
	first := q.next
	if first == 0 || uint64(n-1) > math.MaxUint64-first {
		return 0, fmt.Errorf("table %s: %w", t.Name, ErrSequenceExhausted)
	}
	end := first + uint64(n) // 0 when the last number is taken
	if err := s.ensure(ctx, q, t, kind, end); err != nil {
		return 0, err
	}
	q.next = end
	return first, nil
}

// claim reserves n numbers from least on where other processes reserve some too, under
// a lock. The range begins elsewhere if another one has taken what follows. Where so many
// are not left it reserves none.
func (s *Sequences) claim(ctx context.Context, q *sequence, t *schema.Table, kind SequenceKind, least, n uint64) error {
	txn, err := s.store.Begin(ctx, storage.TxnOptions{Label: "sequence"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	key := seqKey(t.ID, kind)
	got, err := txn.Lock(ctx, [][]byte{key}, storage.LockOptions{})
	if err != nil {
		return err
	}
	switch stored := got[0].Value; {
	case stored == nil: // nothing was reserved yet
		q.limit = q.next
	case len(stored) != 8:
		return fmt.Errorf("%w: sequence of table %s", storage.ErrCorruption, t.Name)
	default:
		if limit := binary.BigEndian.Uint64(stored); limit != q.limit {
			q.next, q.limit = limit, limit
		}
	}
	if q.next == 0 {
		return nil
	}
	q.next = max(q.next, least)
	if n > math.MaxUint64-q.next {
		return nil // the last number, or none: ensure sees to it
	}
	q.reserve = min(max(2*q.reserve, minReserve), maxReserve)
	limit := q.next + n
	if limit < math.MaxUint64-q.reserve {
		limit += q.reserve
	}
	if err := txn.Put(ctx, key, binary.BigEndian.AppendUint64(nil, limit)); err != nil {
		return err
	}
	// As in save.
	if _, err := txn.Commit(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("sequence of table %s: %w", t.Name, err)
	}
	q.limit = limit
	return nil
}

// ensure makes all numbers below end reserved on disk.
func (s *Sequences) ensure(ctx context.Context, q *sequence, t *schema.Table, kind SequenceKind, end uint64) error {
	if end != 0 && end <= q.limit || q.limit == 0 && q.loaded && end == 0 {
		return nil
	}
	q.reserve = min(max(2*q.reserve, minReserve), maxReserve)
	limit := end
	if end != 0 && end < math.MaxUint64-q.reserve {
		limit += q.reserve
	}
	if err := s.save(ctx, t.ID, kind, limit); err != nil {
		return fmt.Errorf("sequence of table %s: %w", t.Name, err)
	}
	q.limit = limit
	return nil
}

func (s *Sequences) save(ctx context.Context, t schema.TableID, kind SequenceKind, limit uint64) error {
	txn, err := s.store.Begin(ctx, storage.TxnOptions{Label: "sequence"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := txn.Put(ctx, seqKey(t, kind), binary.BigEndian.AppendUint64(nil, limit)); err != nil {
		return err
	}
	// Half-done is worse than late: an unknown outcome would lose the sequence.
	_, err = txn.Commit(context.WithoutCancel(ctx))
	return err
}

// Bump makes later numbers greater than v.
func (s *Sequences) Bump(ctx context.Context, t *schema.Table, kind SequenceKind, v uint64) error {
	q := s.get(t.ID, kind)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := s.load(ctx, q, t, kind); err != nil {
		return err
	}
	if q.next == 0 || v < q.next {
		return nil
	}
	end := v + 1
	if end != 0 && end > q.limit && !s.store.Caps().Sole {
		return s.claim(ctx, q, t, kind, end, 0)
	}
	if err := s.ensure(ctx, q, t, kind, end); err != nil {
		return err
	}
	q.next = end
	return nil
}

// Peek is the number that Next would give; 0 if no number is left.
func (s *Sequences) Peek(ctx context.Context, t *schema.Table, kind SequenceKind) (uint64, error) {
	q := s.get(t.ID, kind)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := s.load(ctx, q, t, kind); err != nil {
		return 0, err
	}
	return q.next, nil
}

// Drop forgets the sequences of a table that is dropped or emptied: they start
// again. The caller excludes concurrent use.
func (s *Sequences) Drop(ctx context.Context, t schema.TableID) error {
	txn, err := s.store.Begin(ctx, storage.TxnOptions{Label: "sequence"})
	if err != nil {
		return err
	}
	defer txn.Rollback()
	if err := storage.LockOutside(ctx, s.store, txn, seqKey(t, AutoIncrement), seqKey(t, HiddenKey)); err != nil {
		return err
	}
	for _, kind := range []SequenceKind{AutoIncrement, HiddenKey} {
		if err := txn.Delete(ctx, seqKey(t, kind)); err != nil {
			return err
		}
	}
	if _, err := txn.Commit(ctx); err != nil {
		return fmt.Errorf("dropping sequences: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seqs, seqID{t, AutoIncrement})
	delete(s.seqs, seqID{t, HiddenKey})
	return nil
}

// Save writes exactly the next numbers of the sequences, so that a clean
// shutdown leaves no gap. No number may be taken afterwards. Where other processes take
// numbers too it does nothing: what follows may be theirs.
func (s *Sequences) Save(ctx context.Context) error {
	if !s.store.Caps().Sole {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, q := range s.seqs {
		q.mu.Lock()
		if q.loaded && q.next != q.limit {
			if err := s.save(ctx, id.table, id.kind, q.next); err != nil {
				q.mu.Unlock()
				return err
			}
			q.limit = q.next
		}
		q.mu.Unlock()
	}
	return nil
}
