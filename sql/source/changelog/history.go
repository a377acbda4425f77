package changelog

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// historyReader shows the rows of a table as they were at a time, or all their
// versions as rows of bind.VersionsTable. It merges the rows with their history.
type historyReader struct {
	kv    storage.Reader // of one state
	of    *table.Codec
	own   *table.Codec
	at    int64 // microseconds since 1970 (AS OF)
	all   bool  // versions
	width int   // columns of the table
}

// historyTime is the time of AS OF.
type historyTime struct {
	micros int64          // since 1970
	loc    *time.Location // for messages
}

// asOf is the time of AS OF.
func (s *ChangeLog) asOf(ec *expr.Ctx, n *physical.TableRead) (h historyTime, err error) {
	t, err := expr.EvalConst(ec, n.Args[0])
	if err != nil {
		return h, err
	}
	if t.Kind() != value.KindTime {
		return h, sqlerr.AsOf("the time is NULL")
	}
	if h.loc = s.env.Loc; h.loc == nil {
		h.loc = time.UTC
	}
	at, ok := t.Time().Go(h.loc)
	if !ok {
		return h, sqlerr.AsOf("%s is not a time", t.Time())
	}
	if at.After(time.Now()) {
		return h, sqlerr.AsOf("%s lies in the future", t.Time())
	}
	h.micros = at.UnixMicro()
	return h, nil
}

func (s *ChangeLog) newHistoryReader(ctx context.Context, kv storage.Reader, k *decode.Table, n *physical.TableRead, at historyTime) (*historyReader, error) {
	d := n.Table.Derived
	of, err := s.env.Codecs.Table(d.Of)
	if err != nil {
		return nil, err
	}
	h := &historyReader{kv: kv, of: of.Codec, own: k.Codec, at: at.micros, all: d.Kind == schema.DerivedVersions, width: len(d.Of.Columns)}
	if h.all {
		return h, nil
	}
	begin, err := table.HistoryBegin(ctx, kv, d.Of.ID)
	if err != nil {
		return nil, err
	}
	if h.at < begin {
		return nil, sqlerr.AsOf("the versions of table %s are kept since %s", d.Of.Name, value.FromGo(time.UnixMicro(begin).In(at.loc)))
	}
	return h, nil
}

// isRow reports whether a key is that of a row.
func (h *historyReader) isRow(key []byte) bool { return bytes.HasPrefix(key, h.of.Prefix()) }

// Get implements storage.Reader.
func (h *historyReader) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if !h.isRow(key) {
		return h.kv.Get(ctx, key, dst)
	}
	return getByScan(ctx, h, key, dst)
}

// BatchGet implements storage.Reader.
func (h *historyReader) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	return batchGetByScan(ctx, h, keys, fn)
}

// rowKey is the part of a key, without the table's prefix, that is the key of a
// row; the rest is what follows it in a version's key.
func (h *historyReader) rowKey(key []byte) (row, rest []byte) {
	rest = key
	for i := range h.of.Key {
		var err error
		if rest, err = h.of.Key[i].Skip(rest); err != nil {
			return key, nil
		}
	}
	return key[:len(key)-len(rest)], rest
}

// Scan implements storage.Reader.
func (h *historyReader) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if !h.isRow(span.Start) {
		return h.kv.Scan(ctx, span, opts)
	}
	prefix := h.of.Prefix()
	start := span.Start[len(prefix):]
	var end []byte // nil: all
	if span.End != nil && bytes.HasPrefix(span.End, prefix) {
		end = span.End[len(prefix):]
	}
	sc := &historyScanner{h: h, span: span, reverse: opts.Reverse, keyOnly: opts.KeyOnly}
	// The keys of a row's versions begin with its own, so bounds go around whole
	// rows. A bound after a row's key means the row's versions (show sees to the
	// rest), or else the row after it.
	if row, rest := h.rowKey(start); len(rest) > 0 {
		if start = row; !h.all {
			start = afterVersions(row)
		}
	}
	if row, rest := h.rowKey(end); len(rest) > 0 {
		end = afterVersions(row)
	}
	if h.all {
		sc.rows, sc.row = h.of.NewRowReader(), make([]value.Datum, len(h.own.Columns))
	}
	rows := storage.Span{Start: append(slices.Clone(prefix), start...), End: table.IndexSpan(h.of.Table.ID, schema.PrimaryIndexID).End}
	if end != nil {
		rows.End = append(slices.Clone(prefix), end...)
	}
	at := storage.ScanOptions{Reverse: opts.Reverse, Cold: opts.Cold}
	if opts.Limit > 0 {
		at.Limit = min(opts.Limit, pullPairs)
	}
	var err error
	if sc.cur.scan, err = h.kv.Scan(ctx, rows, at); err != nil {
		return nil, err
	}
	if sc.old.scan, err = h.kv.Scan(ctx, table.HistorySpan(h.of.Table.ID, start, end), at); err != nil {
		return nil, errors.Join(err, sc.cur.scan.Close())
	}
	sc.cur.most, sc.old.most = at.Limit, at.Limit
	return sc, nil
}

// afterVersions is a bound after a row's key and the keys of its versions.
func afterVersions(row []byte) []byte {
	return append(slices.Clone(row), 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF)
}

// puller turns a scan round: its user pulls the next pair.
type puller struct {
	scan  storage.Scanner
	pairs []pulled
	mem   []byte
	next  int
	most  int // pairs that are fetched at once, 0 for pullPairs
	done  bool
}

type pulled struct{ key, val []byte }

// pullPairs and pullBytes bound what a puller fetches at once.
const (
	pullPairs = 128
	pullBytes = 256 << 10
)

// peek is the next pair, nil at the end. It is valid until the fetch after the
// one that follows.
func (p *puller) peek(ctx context.Context) (*pulled, error) {
	if p.next < len(p.pairs) {
		return &p.pairs[p.next], nil
	}
	if p.done {
		return nil, nil
	}
	p.pairs, p.next, p.mem = p.pairs[:0], 0, nil
	most := pullPairs
	if p.most > 0 {
		most, p.most = p.most, min(4*p.most, pullPairs)
	}
	var err error
	p.done, err = p.scan.Visit(ctx, func(key, val []byte) bool {
		at := len(p.mem)
		p.mem = append(append(p.mem, key...), val...)
		k := at + len(key)
		p.pairs = append(p.pairs, pulled{p.mem[at:k:k], p.mem[k:len(p.mem):len(p.mem)]})
		return len(p.pairs) < most && len(p.mem) < pullBytes
	})
	if err != nil || len(p.pairs) == 0 {
		return nil, err
	}
	return &p.pairs[0], nil
}

// historyScanner merges rows and history, row by row.
type historyScanner struct {
	h                *historyReader
	span             storage.Span
	cur, old         puller
	reverse, keyOnly bool
	out              []pulled // what the row met last shows, from outAt on
	outAt            int
	versions         []table.Version
	key              []byte
	// For versions:
	rows *table.RowReader
	row  []value.Datum
	b    rowenc.Builder
}

// Close implements storage.Scanner.
func (s *historyScanner) Close() error { return errors.Join(s.cur.scan.Close(), s.old.scan.Close()) }

// Visit implements storage.Scanner.
func (s *historyScanner) Visit(ctx context.Context, fn func(key, val []byte) bool) (bool, error) {
	for {
		for s.outAt < len(s.out) {
			p := s.out[s.outAt]
			s.outAt++
			if s.keyOnly {
				p.val = nil
			}
			if !fn(p.key, p.val) {
				return false, nil
			}
		}
		if more, err := s.nextRow(ctx); err != nil || !more {
			return err == nil, err
		}
	}
}

// nextRow gathers the next row with its history and fills out; false at the
// end.
func (s *historyScanner) nextRow(ctx context.Context) (bool, error) {
	s.out, s.outAt, s.versions = s.out[:0], 0, s.versions[:0]
	prefix := s.h.of.Prefix()
	cur, err := s.cur.peek(ctx)
	if err != nil {
		return false, err
	}
	old, err := s.old.peek(ctx)
	if err != nil {
		return false, err
	}
	if cur == nil && old == nil {
		return false, nil
	}
	var oldKey []byte
	if old != nil {
		if oldKey, _, err = table.ParseVersion(old.key, old.val); err != nil {
			return false, err
		}
	}
	var val []byte
	takeCur, takeOld := cur != nil, old != nil
	if cur != nil && old != nil {
		c := bytes.Compare(cur.key[len(prefix):], oldKey)
		if s.reverse {
			c = -c
		}
		takeCur, takeOld = c <= 0, c >= 0
	}
	s.key = append(s.key[:0], prefix...)
	if takeCur {
		s.key = append(s.key, cur.key[len(prefix):]...)
		val = cur.val
		s.cur.next++
	} else {
		s.key = append(s.key, oldKey...)
	}
	for takeOld && old != nil {
		k, v, err := table.ParseVersion(old.key, old.val)
		if err != nil {
			return false, err
		}
		if !bytes.Equal(k, s.key[len(prefix):]) {
			break
		}
		s.versions = append(s.versions, v)
		s.old.next++
		if old, err = s.old.peek(ctx); err != nil {
			return false, err
		}
	}
	if s.reverse {
		slices.Reverse(s.versions)
	}
	if s.h.all {
		return true, s.showAll(ctx, val)
	}
	return true, s.showAt(val)
}

// showAt finds the version of the time. versions are the latest first.
func (s *historyScanner) showAt(val []byte) error {
	i := len(s.versions) - 1
	for i >= 0 && s.versions[i].Ended <= s.h.at {
		i--
	}
	if i >= 0 {
		v := &s.versions[i]
		if v.Began > s.h.at {
			return sqlerr.AsOf("a row of table %s changed more than %d times since then", s.h.of.Table.Name, s.h.of.Table.MaxVersions-1)
		}
		val = v.Row
	}
	if val != nil {
		s.out = append(s.out, pulled{s.key, val})
	}
	return nil
}

// showAll shows the versions in the order of their keys, each with its times.
func (s *historyScanner) showAll(ctx context.Context, val []byte) error {
	began := int64(0)
	if len(s.versions) > 0 {
		began = s.versions[0].Ended
	}
	for i := len(s.versions) - 1; i >= 0; i-- {
		if v := &s.versions[i]; v.Row != nil {
			if err := s.show(ctx, v.Row, v.Seq, v.Began, v.Ended); err != nil {
				return err
			}
		}
	}
	if val != nil {
		if err := s.show(ctx, val, math.MaxUint64, began, 0); err != nil {
			return err
		}
	}
	if s.reverse {
		slices.Reverse(s.out)
	}
	return nil
}

// show adds a version, if its key is in the span.
func (s *historyScanner) show(ctx context.Context, image []byte, seq uint64, began, ended int64) error {
	n := s.h.width
	s.row[n] = value.Uint(seq)
	last := &s.h.own.Key[len(s.h.own.Key)-1]
	key := last.Append(slices.Clone(s.key), s.row[n])
	if bytes.Compare(key, s.span.Start) < 0 || s.span.End != nil && bytes.Compare(key, s.span.End) >= 0 {
		return nil
	}
	if s.keyOnly {
		s.out = append(s.out, pulled{key: key})
		return nil
	}
	if err := s.rows.Fetch(ctx, s.h.kv, s.key, image, s.row[:n]); err != nil {
		return err
	}
	for i, t := range [...]int64{began, ended} {
		s.row[n+1+i] = value.Null
		if t != 0 {
			s.row[n+1+i] = value.TimeOf(value.FromGo(time.UnixMicro(t).UTC()))
		}
	}
	s.out = append(s.out, pulled{key, s.h.own.AppendImage(nil, &s.b, s.row)})
	return nil
}
