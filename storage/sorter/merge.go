package sorter

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// run is a temporary file: for each group its pairs in order, each as two
// varints, the lengths of key and value, and then both.
type run struct {
	file  File
	parts []part
}

// part is where a group is in the file.
type part struct {
	off, size   int64
	first, last []byte // keys; nil when the group is empty
}

func (r *run) write(s *Sorter) error {
	w := bufio.NewWriterSize(r.file, 1<<20)
	var head [2 * binary.MaxVarintLen32]byte
	off := int64(0)
	pairs := 0
	for gi := range r.parts {
		p := &r.parts[gi]
		p.off = off
		cs, err := s.cursors(gi, false)
		if err != nil {
			return err
		}
		err = merge(cs, func(key, val []byte) error {
			n := binary.PutUvarint(head[:], uint64(len(key)))
			n += binary.PutUvarint(head[n:], uint64(len(val)))
			_, _ = w.Write(head[:n]) // Flush returns the error
			_, _ = w.Write(key)
			_, _ = w.Write(val)
			off += int64(n + len(key) + len(val))
			if p.first == nil {
				p.first = bytes.Clone(key)
			}
			p.last = append(p.last[:0], key...)
			if pairs++; s.opts.Pause != nil && pairs%pausedPairs == 0 {
				return s.opts.Pause()
			}
			return nil
		})
		if err != nil {
			return err
		}
		p.size = off - p.off
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("spilling sorted rows: %w", err)
	}
	return nil
}

// cursor is at a pair of a sorted sequence, of a chunk or a run.
type cursor struct {
	prefix   uint64
	key, val []byte
	skip     int // bytes that all keys of the merge begin with

	c    *chunk
	left []pair

	r *bufio.Reader
}

// cursors are the sequences of a group, each before its first pair.
func (s *Sorter) cursors(gi int, runs bool) ([]*cursor, error) {
	var cs []*cursor
	var low, high []byte
	note := func(first, last []byte) {
		if low == nil || bytes.Compare(first, low) < 0 {
			low = first
		}
		if high == nil || bytes.Compare(last, high) > 0 {
			high = last
		}
	}
	for _, c := range s.sealed {
		if g := c.groups[gi].pairs; len(g) > 0 {
			cs = append(cs, &cursor{c: c, left: g})
			note(c.key(g[0]), c.key(g[len(g)-1]))
		}
	}
	if runs {
		for _, r := range s.runs {
			if p := r.parts[gi]; p.first != nil {
				cs = append(cs, &cursor{r: bufio.NewReaderSize(io.NewSectionReader(r.file, p.off, p.size), 256<<10)})
				note(p.first, p.last)
			}
		}
	}
	for _, c := range cs {
		c.skip = commonPrefix(low, high)
	}
	return cs, nil
}

// advance goes to the next pair; false at the end.
func (c *cursor) advance() (bool, error) {
	if c.r == nil {
		if len(c.left) == 0 {
			return false, nil
		}
		p := c.left[0]
		c.left = c.left[1:]
		c.key, c.val = c.c.key(p), c.c.val(p)
		c.prefix = prefixAt(c.key, c.skip)
		return true, nil
	}
	klen, err := binary.ReadUvarint(c.r)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	var vlen uint64
	if err == nil {
		vlen, err = binary.ReadUvarint(c.r)
	}
	if err == nil {
		c.key = slices.Grow(c.key[:0], int(klen))[:klen]
		c.val = slices.Grow(c.val[:0], int(vlen))[:vlen]
		if _, err = io.ReadFull(c.r, c.key); err == nil {
			_, err = io.ReadFull(c.r, c.val)
		}
	}
	if err != nil {
		return false, fmt.Errorf("reading a sorted run: %w", err)
	}
	c.prefix = prefixAt(c.key, c.skip)
	return true, nil
}

func (c *cursor) less(d *cursor) bool {
	if c.prefix != d.prefix {
		return c.prefix < d.prefix
	}
	return bytes.Compare(c.key, d.key) < 0
}

// merge calls fn with the pairs of all cursors in order.
func merge(cs []*cursor, fn func(key, val []byte) error) error {
	h := cs[:0]
	for _, c := range cs {
		ok, err := c.advance()
		if err != nil {
			return err
		}
		if ok {
			h = append(h, c)
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		down(h, i)
	}
	several := len(h) > 1
	var last []byte
	for len(h) > 0 {
		c := h[0]
		if several {
			if last != nil && bytes.Equal(last, c.key) {
				return duplicate(c.key, c.val)
			}
			last = append(last[:0], c.key...)
		}
		if err := fn(c.key, c.val); err != nil {
			return err
		}
		ok, err := c.advance()
		if err != nil {
			return err
		}
		if !ok {
			h[0] = h[len(h)-1]
			h = h[:len(h)-1]
		}
		down(h, 0)
	}
	return nil
}

// down restores the order of a heap below i.
func down(h []*cursor, i int) {
	for {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && h[right].less(h[least]) {
			least = right
		}
		if !h[least].less(h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
