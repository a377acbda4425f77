package txn

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// inTheWay is a transaction that has written in a span.
type inTheWay struct {
	of      *owner
	turn    uint64
	in      storage.Span
	commits bool
}

// writerIn returns another transaction that has written in one of the spans and has
// not ended.
func (m *Manager) writerIn(t *Txn, spans []storage.Span) inTheWay {
	for i := range m.writers {
		for _, x := range m.writers[i].list() {
			if x == t {
				continue
			}
			if in, commits, ok := x.writtenIn(spans); ok {
				if turn, ended := x.own.gate.state(); !ended {
					return inTheWay{&x.own, turn, in, commits}
				}
			}
		}
	}
	return inTheWay{}
}

// writtenIn returns a span in which there is a write, or, while they are committed,
// may be one.
func (t *Txn) writtenIn(spans []storage.Span) (in storage.Span, commits, ok bool) {
	t.writing.Lock()
	defer t.writing.Unlock()
	for _, s := range spans {
		if t.last == nil && t.buf.hasIn(s) || t.last != nil && meets(s, t.first, t.last) {
			return s, t.last != nil, true
		}
	}
	return storage.Span{}, false, false
}

// meets reports whether a span has keys from first to last.
func meets(s storage.Span, first, last []byte) bool {
	return bytes.Compare(s.Start, last) <= 0 && (s.End == nil || bytes.Compare(first, s.End) < 0)
}

// noteHull is called before the engine gets the buffer, which it may empty: from now on
// others compare their spans with the first and the last key.
func (t *Txn) noteHull() {
	t.writing.Lock()
	defer t.writing.Unlock()
	t.first, t.last = t.buf.hull()
}

// hull is the first and the last key; nil without any.
func (b *Buffer) hull() (first, last []byte) {
	if b.tree != nil {
		x, _ := b.tree.Min()
		y, _ := b.tree.Max()
		return x.key(), y.key()
	}
	if len(b.small) == 0 {
		return nil, nil
	}
	return b.small[0].key(), b.small[len(b.small)-1].key()
}

// hasIn reports whether there is a write in a span.
func (b *Buffer) hasIn(s storage.Span) bool {
	if b.tree == nil {
		i, _ := searchSmall(b.small, s.Start)
		return i < len(b.small) && contains(s, b.small[i].key())
	}
	found := false
	b.tree.Ascend(entry{b: s.Start, klen: len(s.Start)}, func(e entry) bool {
		found = contains(s, e.key())
		return false
	})
	return found
}

// write buffers a pair, or a deletion, when no other transaction has a range with the
// key.
func (t *Txn) write(ctx context.Context, key, value []byte, grow int64) error {
	n := int64(len(key) + len(value))
	if t.since += n; t.since >= noteStep {
		if err := t.note(grow); err != nil {
			return err
		}
	}
	if !t.listed {
		t.listed = true
		t.m.writersOf(t).add(t)
	}
	var deadline time.Time
	for {
		of, turn := t.tryWrite(key, value, grow)
		if of == nil {
			return nil
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(t.opts.LockTimeout)
		}
		if err := t.waitAt(ctx, of, turn, storage.Span{Start: key}, storage.LockExclusive, deadline); err != nil {
			return err
		}
	}
}

// tryWrite buffers a pair, or returns the transaction that is in the way.
func (t *Txn) tryWrite(key, value []byte, grow int64) (of *owner, turn uint64) {
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.m.ranges.count.Load() > 0 {
		if of, turn = t.m.ranges.holder(&t.own, key, t.buf.hasIn); of != nil {
			return of, turn
		}
	}
	t.put(key, value, grow)
	return nil, 0
}

// writerShards is few, as who locks a range looks at all.
const writerShards = 16

// writers are transactions that have written.
type writers struct {
	mu    sync.Mutex
	first *Txn
	_     [64]byte // keeps the mutexes of neighbours on different cache lines
}

func (m *Manager) writersOf(t *Txn) *writers { return &m.writers[t.own.id%uint64(len(m.writers))] }

func (w *writers) add(t *Txn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.next = w.first; t.next != nil {
		t.next.prev = t
	}
	w.first = t
}

func (w *writers) remove(t *Txn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.next != nil {
		t.next.prev = t.prev
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		w.first = t.next
	}
	t.prev, t.next = nil, nil
}

func (w *writers) list() (out []*Txn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t := w.first; t != nil; t = t.next {
		out = append(out, t)
	}
	return out
}
