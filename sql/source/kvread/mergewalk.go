package kvread

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"unsafe"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/storage"
)

// maxOpen is how many streams of a merge are kept open. More are closed after
// each head and opened again after it.
const maxOpen = 128

// headSize is taken for the key and for the value of a head.
const headSize = 128

// mergeWalk brings the pairs of several streams in the order of their keys after
// a prefix, which each stream has of its own; equal ones in the order of the
// streams. It reads one pair of each stream ahead and no more, and passes those
// that follow each other in one stream on without a copy.
type mergeWalk struct {
	streams []*mergeStream // once it has begun, a heap; the first may have no head
	mem     *exec.Tracker
	begun   bool
	ended   bool
	many    bool // more than maxOpen

	// What the scan of top is read for: its first pair, or those that come
	// before the head of next; nil for all. full: the consumer has enough.
	w     *walker
	top   *mergeStream
	next  *mergeStream
	first bool
	full  bool
	visit func(key, val []byte) bool
}

// mergeStream is a stream of spans whose keys have the same first bytes.
type mergeStream struct {
	place  int // among the streams
	prefix int
	spans  []storage.Span // in the order of the walk; scan is of the first
	scan   storage.Scanner
	// key and val are the head, when has is set.
	key, val []byte
	has      bool
}

// add adds a stream of spans whose keys have the same prefix bytes, after the
// others.
func (m *mergeWalk) add(prefix int, spans []storage.Span) error {
	if len(spans) == 0 {
		return nil
	}
	if len(m.streams) >= maxOpen {
		size := int(unsafe.Sizeof(mergeStream{})) + 2*headSize
		for _, s := range spans {
			size += int(unsafe.Sizeof(s)) + len(s.Start) + len(s.End)
		}
		if err := m.mem.Grow(int64(size), "merge of ranges"); err != nil {
			return err
		}
	}
	m.streams = append(m.streams, &mergeStream{place: len(m.streams), prefix: prefix, spans: spans})
	return nil
}

// opensAtOnce reports whether all scans are opened before the first pair comes,
// so that the walk does not see what is written during it.
func (m *mergeWalk) opensAtOnce() bool {
	return len(m.streams) <= maxOpen && !slices.ContainsFunc(m.streams, func(s *mergeStream) bool { return len(s.spans) > 1 })
}

// fill brings pairs to w.visit until it returns false or all have been brought.
func (m *mergeWalk) fill(ctx context.Context, w *walker) error {
	m.w = w
	if !m.begun {
		if err := m.begin(ctx); err != nil {
			return err
		}
	}
	m.full = false
	for len(m.streams) > 0 {
		s := m.streams[0]
		if s.has {
			s.has = false
			w.count.Pairs--
			w.count.Bytes -= int64(len(s.key) + len(s.val))
			if !w.visit(s.key, s.val) {
				return nil
			}
		}
		m.next = m.second()
		if err := m.advance(ctx, s); err != nil || m.full {
			return err
		}
		if !s.has {
			last := len(m.streams) - 1
			m.streams[0] = m.streams[last]
			m.streams = m.streams[:last]
		}
		m.down(0)
	}
	m.ended = true
	return nil
}

// begin reads the head of each stream and makes a heap of them.
func (m *mergeWalk) begin(ctx context.Context) error {
	m.begun, m.visit, m.many = true, m.take, len(m.streams) > maxOpen
	heads := make([]*mergeStream, 0, len(m.streams))
	m.first = true
	for _, s := range m.streams {
		if m.w.opts.Reverse {
			slices.Reverse(s.spans)
		}
		if err := m.advance(ctx, s); err != nil {
			return err
		}
		if s.has {
			heads = append(heads, s)
		}
	}
	m.first = false
	m.streams = heads
	for i := len(m.streams)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return nil
}

// advance reads s to its next head. Without one it is exhausted, or the
// consumer has enough.
func (m *mergeWalk) advance(ctx context.Context, s *mergeStream) error {
	m.top = s
	for {
		if s.scan == nil {
			if len(s.spans) == 0 {
				return nil
			}
			var err error
			if s.scan, err = m.w.reader.Scan(ctx, s.spans[0], m.w.opts); err != nil {
				return err
			}
			m.w.count.Seeks++
		}
		done, err := s.scan.Visit(ctx, m.visit)
		if err != nil {
			return err
		}
		if !done && !(m.many && s.has) {
			return nil
		}
		scan := s.scan
		s.scan = nil
		if err := scan.Close(); err != nil {
			return err
		}
		switch {
		case done:
			s.spans = s.spans[1:]
		case m.w.opts.Reverse:
			s.spans[0].End = bytes.Clone(s.key)
			return nil
		default:
			s.spans[0].Start = append(bytes.Clone(s.key), 0)
			return nil
		}
	}
}

// take gets the pairs of top.
func (m *mergeWalk) take(key, val []byte) bool {
	s := m.top
	if m.first || m.next != nil && !m.before(s, key, m.next) {
		s.key, s.val, s.has = append(s.key[:0], key...), append(s.val[:0], val...), true
		m.w.count.Pairs++
		m.w.count.Bytes += int64(len(key) + len(val))
		return false
	}
	if !m.w.visit(key, val) {
		m.full = true
		return false
	}
	return true
}

// before reports whether key of s comes before the head of o.
func (m *mergeWalk) before(s *mergeStream, key []byte, o *mergeStream) bool {
	c := bytes.Compare(key[s.prefix:], o.key[o.prefix:])
	if c == 0 {
		c = s.place - o.place
	}
	return c < 0 != m.w.opts.Reverse
}

// second is the stream after the first one; nil if that is alone.
func (m *mergeWalk) second() *mergeStream {
	switch h := m.streams; {
	case len(h) < 2:
		return nil
	case len(h) > 2 && m.before(h[2], h[2].key, h[1]):
		return h[2]
	default:
		return h[1]
	}
}

// down moves the stream at i to its place in the heap.
func (m *mergeWalk) down(i int) {
	h := m.streams
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if r := least + 1; r < len(h) && m.before(h[r], h[r].key, h[least]) {
			least = r
		}
		if m.before(h[i], h[i].key, h[least]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

func (m *mergeWalk) close() error {
	var err error
	for _, s := range m.streams {
		if s.scan != nil {
			err = errors.Join(err, s.scan.Close())
			s.scan = nil
		}
	}
	m.streams, m.ended = nil, true
	return err
}
