package seg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"

	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v16"
)

// zapFooter is the length of what zap appends to a segment: numbers of documents and
// offsets, at the end the checksum of everything before.
const zapFooter = zap.FooterSize

var zapPlugin zap.ZapPlugin

// zapDoc is a document as zap takes it: its texts, and an empty _id, which zap
// insists on.
type zapDoc struct{ fields []zapField }

type zapField struct {
	name    string
	options index.FieldIndexingOptions
	terms   index.TokenFrequencies
}

const zapTextOptions = index.IndexField | index.IncludeTermVectors

var zapID = zapField{name: "_id", options: index.StoreField}

func zapName(f FieldID) string { return strconv.Itoa(int(f)) }

func (d *zapDoc) VisitFields(visit index.FieldVisitor) {
	visit(&zapID)
	for i := range d.fields {
		visit(&d.fields[i])
	}
}

func (d *zapDoc) ID() string                                 { return "" }
func (d *zapDoc) Size() int                                  { return 0 }
func (d *zapDoc) VisitComposite(index.CompositeFieldVisitor) {}
func (d *zapDoc) HasComposite() bool                         { return false }
func (d *zapDoc) NumPlainTextBytes() uint64                  { return 0 }
func (d *zapDoc) AddIDField()                                {}
func (d *zapDoc) StoredFieldsBytes() uint64                  { return 0 }
func (d *zapDoc) Indexed() bool                              { return true }

func (f *zapField) Name() string                                     { return f.name }
func (f *zapField) Value() []byte                                    { return nil }
func (f *zapField) ArrayPositions() []uint64                         { return nil }
func (f *zapField) EncodedFieldType() byte                           { return 't' }
func (f *zapField) Analyze()                                         {}
func (f *zapField) Options() index.FieldIndexingOptions              { return f.options }
func (f *zapField) AnalyzedLength() int                              { return 1 }
func (f *zapField) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.terms }
func (f *zapField) NumPlainTextBytes() uint64                        { return 0 }

// invert writes the terms of the batch's texts as a zap segment.
func invert(b *Batch, l liveRows, w *bytes.Buffer) (int64, error) {
	docs := make([]zapDoc, len(l.rows))
	intern := map[string]string{}
	for _, c := range b.byIndex {
		if c.field.Kind == KindText {
			c.invert(l, docs, intern)
		}
	}
	return writeZap(docs, w)
}

func writeZap(docs []zapDoc, w *bytes.Buffer) (int64, error) {
	list := make([]index.Document, len(docs))
	for i := range docs {
		list[i] = &docs[i]
	}
	s, _, err := zapPlugin.New(list)
	if err != nil {
		return 0, fmt.Errorf("invert: %w", err)
	}
	return s.(*zap.SegmentBase).WriteTo(w)
}

// invert groups the tokens of each text by term.
func (c *batchCol) invert(l liveRows, docs []zapDoc, intern map[string]string) {
	name := zapName(c.field.ID)
	locs := make([]index.TokenLocation, len(c.tokens))
	ptrs := make([]*index.TokenLocation, len(c.tokens))
	next := make([]int32, len(c.tokens)) // next token of the same term and text
	from := uint32(0)
	for i, r := range c.rows {
		start, end := from, c.tokEnd[i]
		from = end
		doc := l.docOf[r]
		if doc == dropped {
			continue
		}
		type chain struct{ first, last, n int32 }
		chains := make(map[string]chain, end-start)
		for t := start; t < end; t++ {
			tok := c.tokens[t]
			locs[t] = index.TokenLocation{Start: int(tok.Start), End: int(tok.End), Position: int(tok.Pos)}
			next[t] = -1
			term := c.get(c.terms[t])
			ch, ok := chains[string(term)]
			if !ok {
				s, ok := intern[string(term)]
				if !ok {
					s = string(term)
					intern[s] = s
				}
				chains[s] = chain{int32(t), int32(t), 1}
				continue
			}
			next[ch.last] = int32(t)
			ch.last = int32(t)
			ch.n++
			chains[string(term)] = ch
		}
		freqs := make([]index.TokenFreq, len(chains))
		terms := make(index.TokenFrequencies, len(chains))
		at := start
		n := 0
		for term, ch := range chains {
			f := &freqs[n]
			n++
			f.SetFrequency(int(ch.n))
			begin := at
			for t := ch.first; t >= 0; t = next[t] {
				ptrs[at] = &locs[t]
				at++
			}
			f.Locations = ptrs[begin:at:at]
			terms[term] = f
		}
		docs[doc].fields = append(docs[doc].fields, zapField{name: name, options: zapTextOptions, terms: terms})
	}
}

// openZap makes zap's view of the inverted part, whose checksum holds.
func openZap(f *file) (*zap.SegmentBase, error) {
	s, err := f.section(0, partInverted)
	if err != nil || s == nil {
		return nil, err
	}
	foot := s.data[len(s.data)-zapFooter:]
	docs := binary.BigEndian.Uint64(foot)
	stored := binary.BigEndian.Uint64(foot[8:])
	sections := binary.BigEndian.Uint64(foot[24:])
	chunk := binary.BigEndian.Uint32(foot[40:])
	if v := binary.BigEndian.Uint32(foot[44:]); v != zap.Version || int(docs) != f.docs {
		return nil, damaged(f.name, "inverted part of version %d has %d documents instead of %d", v, docs, f.docs)
	}
	crc := binary.BigEndian.Uint32(foot[48:])
	return zap.InitSegmentBase(f.data[:len(s.data)-zapFooter], crc, chunk, docs, stored, sections)
}

// emptyZap makes a segment without terms, for documents that had no field of
// texts when they were written.
func emptyZap(docs int) (segment.Segment, error) {
	list := make([]index.Document, docs)
	for i := range list {
		list[i] = &zapDoc{}
	}
	s, _, err := zapPlugin.New(list)
	return s, err
}
