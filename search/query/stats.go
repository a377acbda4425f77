package query

import (
	"context"
	"sync"

	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// Stats are the figures of some text fields of an index, for the scores of one
// statement: of the newest documents, whatever the statement sees. They are counted
// when they are first needed and then do not change. When the statement's context ends
// they are wrong, and must not be used.
type Stats struct {
	ctx    context.Context
	index  *search.Index
	path   uint16
	fields []seg.FieldID

	mu     sync.Mutex
	loaded bool
	docs   int64
	avgLen float64
	freq   map[string]int64
}

var _ text.Stats = (*Stats)(nil)

// NewStats makes the figures of fields of an index for a statement: of its documents
// or, with a path, of the nested documents of that.
func NewStats(ctx context.Context, x *search.Index, path uint16, fields []uint16) *Stats {
	s := &Stats{ctx: ctx, index: x, path: path, freq: map[string]int64{}}
	for _, f := range fields {
		s.fields = append(s.fields, seg.FieldID(f))
	}
	return s
}

// Docs implements text.Stats.
func (s *Stats) Docs() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return s.docs
}

// AvgLen implements text.Stats.
func (s *Stats) AvgLen() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	return s.avgLen
}

// load counts documents and lengths. Without an index all is as with one
// document.
func (s *Stats) load() {
	if s.loaded {
		return
	}
	s.loaded, s.docs = true, 1
	_ = s.index.Read(s.ctx, func(snap *seg.Snapshot) error {
		length, docs := int64(0), int64(snap.Docs())
		if s.path != 0 {
			docs = 0
		}
		for _, g := range snap.Segments() {
			if s.path != 0 {
				n, err := g.Nested()
				if err != nil {
					return err
				}
				docs += int64(n.Count(s.path))
			}
			for _, f := range s.fields {
				t, err := g.Text(f)
				if err != nil {
					return err
				}
				_, n := t.Total()
				length += n
			}
		}
		s.docs = max(docs, 1)
		s.avgLen = float64(length) / float64(s.docs)
		return nil
	})
}

func (s *Stats) stop() error {
	if s.ctx.Err() == nil {
		return nil
	}
	return context.Cause(s.ctx)
}

// DocFreq implements text.Stats. Documents that have several of a prefix's words,
// or a word in several fields, count for each.
func (s *Stats) DocFreq(leaf text.Query) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load()
	key := leaf.String()
	if n, ok := s.freq[key]; ok {
		return n
	}
	n := int64(0)
	_ = s.index.Read(s.ctx, func(snap *seg.Snapshot) error {
		for _, g := range snap.Segments() {
			for _, f := range s.fields {
				t, err := g.Text(f)
				if err != nil {
					return err
				}
				terms, err := t.Terms()
				if err != nil {
					return err
				}
				list, err := expand(terms, leaf, s.stop)
				if err != nil {
					return err
				}
				var p *seg.Postings
				for _, term := range list {
					if p, err = terms.Postings(term, p); err != nil {
						return err
					}
					n += int64(p.Count())
				}
			}
		}
		return nil
	})
	s.freq[key] = min(n, s.docs)
	return s.freq[key]
}
