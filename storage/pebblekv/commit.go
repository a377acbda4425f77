package pebblekv

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// Bytes that a batch needs in addition to keys and values: its header, and kind and
// lengths of each operation at their longest.
const (
	batchHeader = 12 + 1 + 1 + 1 + 1 + 8
	opOverhead  = 11
)

// Apply implements txn.Engine.
func (s *Store) Apply(ctx context.Context, b *txn.Buffer, d storage.Durability, visible func(uint64)) (uint64, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.exit()
	freed := s.frees(b)
	if freed > 0 {
		ctx = storage.FreeingSpace(ctx)
	}
	if err := s.writableFor(ctx); err != nil {
		return 0, err
	}
	batch := s.db.NewBatchWithSize(int(b.Size()) + b.Len()*opOverhead + batchHeader)
	b.Each(func(key, value []byte) bool {
		if value == nil {
			op := batch.DeleteDeferred(len(key))
			copy(op.Key, key)
			_ = op.Finish() // fails only for indexed batches
			return true
		}
		op := batch.SetDeferred(len(key), len(value))
		copy(op.Key, key)
		copy(op.Value, value)
		_ = op.Finish()
		return true
	})
	holes := stamp(batch, b)
	b.Drop() // before the log and the write buffer take their copies
	seq, err := s.commit(ctx, batch, holes, d, visible)
	if err == nil && freed > 0 {
		s.deleted.Add(freed) // now a flush finds them
	}
	return seq, err
}

// frees is the size of a commit on a full disk that is nothing but deletions, 0
// for another one.
func (s *Store) frees(b *txn.Buffer) int64 {
	if !s.disk.full.Load() || b.Stamped() > 0 {
		return 0
	}
	all := true
	b.Each(func(_, value []byte) bool {
		all = value == nil
		return all
	})
	if !all {
		return 0
	}
	return b.Size()
}

// hole is a stamped pair in the memory of a batch.
type hole struct {
	key, value int // where they start
	ends       int // where value ends
	at         storage.Stamp
}

// stamp adds the stamped writes of b, with their holes open.
func stamp(batch *pebble.Batch, b *txn.Buffer) []hole {
	if b.Stamped() == 0 {
		return nil
	}
	holes := make([]hole, 0, b.Stamped())
	b.EachStamped(func(key, value []byte, at storage.Stamp) bool {
		op := batch.SetDeferred(len(key), len(value))
		copy(op.Key, key)
		copy(op.Value, value)
		_ = op.Finish()
		// The batch now ends with the value, which follows its length as a varint.
		end := batch.Len()
		h := hole{value: end - len(value), ends: end, at: at}
		h.key = h.value - uvarintLen(len(value)) - len(key)
		holes = append(holes, h)
		return true
	})
	return holes
}

func uvarintLen(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}

// seqValue appends the value of seqKey.
func (s *Store) seqValue(dst []byte, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, seq), uint64(s.clock.Last))
}

// commit gives the batch the next sequence number, applies it and waits until it has
// the durability d. It owns the batch. holes are the stamped pairs in it; visible may
// be nil.
func (s *Store) commit(ctx context.Context, batch *pebble.Batch, holes []hole, d storage.Durability, visible func(uint64)) (uint64, error) {
	op := batch.SetDeferred(len(seqKey), seqValueLen)
	copy(op.Key, seqKey[:])
	_ = op.Finish()
	if d == storage.DurabilitySync {
		// Before the record is written: a sync that comes after it must be real.
		s.disk.syncWanted.Add(1)
		defer s.disk.syncWanted.Add(-1)
	}
	seq, err := s.sequence(ctx, batch, op.Value, holes, d)
	if err != nil {
		return 0, err
	}
	if visible != nil {
		visible(seq)
	}
	s.opts.Steps.At(step.CommitReleased)
	if d != storage.DurabilitySync {
		s.unsynced.Store(true)
	}
	if d != storage.DurabilityNone {
		if err := batch.SyncWait(); err != nil {
			return 0, fmt.Errorf("%w: %w", storage.ErrUndetermined, err)
		}
		if err := s.disk.frozen(); err != nil {
			return 0, fmt.Errorf("%w: %w", storage.ErrUndetermined, err)
		}
		if d == storage.DurabilitySync {
			s.isDurable(seq)
		}
	}
	s.opts.Steps.At(step.CommitSynced)
	_ = batch.Close() // always nil
	return seq, nil
}

// sequence numbers and applies a batch; seqValue is where the number goes.
func (s *Store) sequence(ctx context.Context, batch *pebble.Batch, seqValue []byte, holes []hole, d storage.Durability) (uint64, error) {
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	if err := s.writableFor(ctx); err != nil {
		return 0, err
	}
	seq := s.seq.Load() + 1
	if len(holes) > 0 {
		now, mem, raise := s.clock.Next(), batch.Repr(), s.marks.Raise(seq)
		for _, h := range holes {
			txn.Fill(mem[h.key:h.value], mem[h.value:h.ends], h.at, seq, now)
			raise.Wrote(mem[h.key:h.value], h.at)
		}
	}
	s.opts.Steps.At(step.CommitMarked)
	s.seqValue(seqValue[:0], seq)
	s.started.Store(seq)
	s.opts.Steps.At(step.CommitStarted)
	s.images.touch(batch, seq)
	s.filters.touch(batch)
	s.opts.Steps.At(step.CommitNoted)
	var err error
	if d == storage.DurabilityNone {
		err = s.db.Apply(batch, pebble.NoSync)
	} else {
		err = s.db.ApplyNoSyncWait(batch, pebble.Sync)
	}
	if err == nil {
		// After what Pebble calls fatal it returns nil, and the state may be without
		// the batch. Then seq does not move, and readers take the sequence from the
		// state.
		err = s.disk.frozen()
	}
	if err != nil {
		// Part of it may be in the log.
		s.disk.freeze("commit", err)
		return 0, fmt.Errorf("%w: %w", storage.ErrUndetermined, err)
	}
	s.opts.Steps.At(step.CommitApplied)
	s.seq.Store(seq)
	s.opts.Steps.At(step.CommitStored)
	return seq, nil
}

// flushAfterBytes is the size of a deleted range from which it is worth a
// flush: before that its space cannot be reclaimed.
const flushAfterBytes = 16 << 20

// Discard implements storage.Store.
func (s *Store) Discard(ctx context.Context, span storage.Span) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.exit()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.writableFor(ctx); err != nil {
		return err
	}
	span, err := s.closeSpan(span)
	if err != nil {
		return err
	}
	size, _ := s.db.EstimateDiskUsage(span.Start, span.End) // a hint
	batch := s.db.NewBatch()
	if bytes.Compare(span.Start, span.End) < 0 {
		if err := batch.DeleteRange(span.Start, span.End, nil); err != nil {
			return fmt.Errorf("discarding a range: %w", err)
		}
	}
	_, err = s.commit(ctx, batch, nil, storage.DurabilitySync, nil)
	if err == nil && size > flushAfterBytes {
		s.sequencer.Lock()
		defer s.sequencer.Unlock()
		if _, ferr := s.db.AsyncFlush(); ferr != nil {
			s.opts.Logger.Error("flush after delete range", "error", ferr.Error())
		}
	}
	return err
}

// closeSpan ends a span without an end after the last key.
func (s *Store) closeSpan(span storage.Span) (storage.Span, error) {
	span = txn.UserSpan(span)
	if span.End != nil {
		return span, nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: span.Start})
	if err != nil {
		return span, mapError(err)
	}
	span.End = span.Start
	if it.Last() {
		span.End = append(bytes.Clone(it.Key()), 0)
	}
	if err := it.Close(); err != nil {
		return span, mapError(err)
	}
	return span, nil
}
