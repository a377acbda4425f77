package changelog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/stream"
	"github.com/sqlots/sqlots/value"
)

// The columns of bind.StreamTable.
const (
	streamSeq = iota
	streamOrdinal
	streamTime
	streamKind
	streamPK
	streamBefore
	streamAfter
	streamVersion
	streamColumns
)

// streamReader shows the records of a change log as rows of bind.StreamTable.
type streamReader struct {
	kv    storage.Reader
	id    schema.StreamID
	from  stream.Position
	upTo  uint64 // what is settled in kv
	own   *decode.Table
	codec *decode.LoggedCodecs
	zone  decode.Zone
	want  [streamColumns]bool
	name  string
}

func (s *ChangeLog) newStreamReader(ctx context.Context, ec *expr.Ctx, kv storage.Reader, k *decode.Table, n *physical.TableRead) (*streamReader, error) {
	if s.env.FindStream == nil {
		return nil, sqlerr.Internal("no change logs here")
	}
	d := n.Table.Derived
	id, err := s.env.FindStream(ctx, d.Database, d.Table)
	if err != nil {
		return nil, err
	}
	r := &streamReader{kv: kv, id: id, own: k, codec: &s.env.Codecs.Logged, zone: decode.NewZone(s.env.Loc), name: d.Database + "." + d.Table}
	for _, pos := range n.Read {
		r.want[pos] = true
	}
	if r.upTo, err = settledIn(ctx, kv); err != nil {
		return nil, err
	}
	mark, err := stream.Mark(ctx, kv, id)
	if err != nil {
		return nil, err
	}
	if mark > 0 {
		r.from = stream.Behind(mark)
	}
	if len(n.Args) == 0 {
		return r, nil
	}
	after, err := r.position(ctx, ec, n.Args)
	if err != nil {
		return nil, err
	}
	last, err := s.env.Store.Settled(ctx)
	if err == nil && after.Seq > last {
		err = sqlerr.StreamPosition(r.name, after.Seq, last)
	}
	if err != nil {
		return nil, err
	}
	err = stream.Check(ctx, kv, id, after)
	if purged, ok := errors.AsType[*stream.PurgedError](err); ok {
		return nil, sqlerr.StreamPurged(r.name, purged.Asked, purged.Purged)
	}
	if r.from.Less(after) {
		r.from = after
	}
	return r, err
}

// settledIn is up to where the records of change logs are read in a view.
func settledIn(ctx context.Context, kv storage.Reader) (uint64, error) {
	view, ok := kv.(storage.Snapshot)
	if txn, inTxn := kv.(storage.Txn); inTxn {
		bare, err := txn.BareView(ctx)
		if err != nil {
			return 0, err
		}
		view, ok = bare, true
	}
	if !ok {
		return 0, sqlerr.Internal("a change log is read in no view of the store")
	}
	return view.Settled(ctx)
}

// position evaluates the arguments that follow the table's name.
func (r *streamReader) position(ctx context.Context, ec *expr.Ctx, args []expr.Expr) (stream.Position, error) {
	var nums [2]uint64
	for i, a := range args {
		d, err := expr.EvalConst(ec, a)
		if err != nil {
			return stream.Position{}, err
		}
		switch {
		case d.Kind() == value.KindBytes && len(args) == 1:
			return r.checkpoint(ctx, d.Str())
		case d.Kind() == value.KindUint, d.Kind() == value.KindInt && d.Int() >= 0:
			nums[i] = d.Bits()
		default:
			return stream.Position{}, sqlerr.WrongArguments("stream")
		}
	}
	if len(args) == 1 {
		return stream.Behind(nums[0]), nil
	}
	return stream.Position{Seq: nums[0], Ordinal: uint32(min(nums[1], 1<<32-1))}, nil
}

func (r *streamReader) checkpoint(ctx context.Context, name string) (stream.Position, error) {
	c, err := stream.FindConsumer(ctx, r.kv, name)
	if err != nil {
		return stream.Position{}, err
	}
	if c == nil || c.Stream != r.id {
		return stream.Position{}, sqlerr.NoSuchConsumer(name, r.name)
	}
	return c.Position(), nil
}

// bound is the key of records that stands for a bound of row keys.
func (r *streamReader) bound(row []byte) []byte {
	prefix := r.own.Prefix()
	span := stream.Span(r.id)
	if row == nil {
		return span.End
	}
	if bytes.Compare(row, prefix) <= 0 {
		return span.Start
	}
	if !bytes.HasPrefix(row, prefix) {
		return span.End
	}
	var words [16]byte
	rest := row[len(prefix):]
	copy(words[:], rest)
	seq, ordinal := binary.BigEndian.Uint64(words[:]), binary.BigEndian.Uint64(words[8:])
	if len(rest) > len(words) {
		ordinal++ // after the key
	}
	if ordinal > 1<<32-1 {
		if seq++; seq == 0 {
			return span.End
		}
		ordinal = 0
	}
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(span.Start, seq), uint32(ordinal))
}

// Scan implements storage.Reader.
func (r *streamReader) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	at := storage.Span{Start: r.bound(span.Start), End: r.bound(span.End)}
	if len(span.Start) == 0 {
		at.Start = stream.Span(r.id).Start
	}
	if r.from != (stream.Position{}) {
		if start := stream.SpanAfter(r.id, r.from).Start; bytes.Compare(at.Start, start) < 0 {
			at.Start = start
		}
	}
	if end := stream.SpanUpTo(r.id, r.upTo).End; bytes.Compare(at.End, end) > 0 {
		at.End = end
	}
	if bytes.Compare(at.Start, at.End) > 0 {
		at.End = at.Start
	}
	c, err := stream.OpenSpan(ctx, r.kv, at, stream.Options{Reverse: opts.Reverse, Limit: opts.Limit})
	if err != nil {
		return nil, err
	}
	return &streamScanner{r: r, c: c, keyOnly: opts.KeyOnly, row: make([]value.Datum, streamColumns)}, nil
}

// Get implements storage.Reader.
func (r *streamReader) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	return getByScan(ctx, r, key, dst)
}

// BatchGet implements storage.Reader.
func (r *streamReader) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	return batchGetByScan(ctx, r, keys, fn)
}

// getByScan is Get of a reader that scans.
func getByScan(ctx context.Context, r storage.Reader, key, dst []byte) ([]byte, error) {
	scan, err := r.Scan(ctx, storage.Span{Start: key, End: append(slices.Clone(key), 0)}, storage.ScanOptions{Limit: 1})
	if err != nil {
		return dst, err
	}
	found := false
	_, err = scan.Visit(ctx, func(_, val []byte) bool {
		dst, found = append(dst, val...), true
		return false
	})
	if err := errors.Join(err, scan.Close()); err != nil {
		return dst, err
	}
	if !found {
		return dst, storage.ErrNotFound
	}
	return dst, nil
}

// batchGetByScan is BatchGet of a reader that scans.
func batchGetByScan(ctx context.Context, r storage.Reader, keys [][]byte, fn func(i int, value []byte) error) error {
	var buf []byte
	for i, key := range keys {
		val, err := r.Get(ctx, key, buf[:0])
		if err == nil {
			buf = val
			err = fn(i, val)
		} else if errors.Is(err, storage.ErrNotFound) {
			err = fn(i, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// streamScanner makes rows of records.
type streamScanner struct {
	r        *streamReader
	c        *stream.Cursor
	keyOnly  bool
	row      []value.Datum
	key, val []byte
	b        rowenc.Builder
	// codec and reader are of the version met last.
	version uint32
	codec   *table.Codec
	reader  *table.RowReader
}

// Visit implements storage.Scanner.
func (s *streamScanner) Visit(ctx context.Context, fn func(key, val []byte) bool) (bool, error) {
	var bad error
	done, err := s.c.Visit(ctx, func(rec *stream.Record) bool {
		if bad = s.fill(ctx, rec); bad != nil {
			return false
		}
		return fn(s.key, s.val)
	})
	if bad != nil {
		return false, bad
	}
	return done, err
}

// Close implements storage.Scanner.
func (s *streamScanner) Close() error { return s.c.Close() }

// fill makes key and value of the row of a record.
func (s *streamScanner) fill(ctx context.Context, rec *stream.Record) (err error) {
	row, want := s.row, &s.r.want
	row[streamSeq], row[streamOrdinal] = value.Uint(rec.Seq), value.Uint(uint64(rec.Ordinal))
	s.key = s.r.own.AppendKey(s.key[:0], row)
	if s.keyOnly {
		s.val = nil
		return nil
	}
	row[streamTime] = value.TimeOf(value.FromGo(time.UnixMicro(rec.Time).UTC()))
	row[streamKind], row[streamVersion] = value.String(rec.Kind.String()), value.Uint(uint64(rec.Version))
	row[streamPK], row[streamBefore], row[streamAfter] = value.Null, value.Null, value.Null
	if want[streamPK] || want[streamBefore] || want[streamAfter] {
		if rec.Kind.OfTable() {
			err = s.tableImages(ctx, rec)
		} else {
			err = s.rowImages(ctx, rec)
		}
		if err != nil {
			return err
		}
	}
	s.val = s.r.own.AppendImage(s.val[:0], &s.b, row)
	return nil
}

// use loads the codec of a version.
func (s *streamScanner) use(ctx context.Context, version uint32) error {
	if s.codec != nil && s.version == version {
		return nil
	}
	codec, err := s.r.codec.Version(ctx, s.r.kv, s.r.id, version)
	if err != nil {
		return err
	}
	s.version, s.codec, s.reader = version, codec, codec.NewRowReader()
	return nil
}

func (s *streamScanner) rowImages(ctx context.Context, rec *stream.Record) error {
	if err := s.use(ctx, rec.Version); err != nil {
		return err
	}
	oldKey := rec.Key
	if rec.OldKey != nil {
		oldKey = rec.OldKey
	}
	want := &s.r.want
	if rec.Before != nil && (want[streamBefore] || want[streamPK] && rec.After == nil) {
		row, err := s.decode(ctx, oldKey, rec.Before)
		if err != nil {
			return err
		}
		if s.row[streamBefore], err = s.object(row, false); err != nil {
			return err
		}
		if rec.After == nil {
			if s.row[streamPK], err = s.object(row, true); err != nil {
				return err
			}
		}
	}
	if rec.After == nil || !want[streamAfter] && !want[streamPK] {
		return nil
	}
	row, err := s.decode(ctx, rec.Key, rec.After)
	if err != nil {
		return err
	}
	if s.row[streamAfter], err = s.object(row, false); err != nil {
		return err
	}
	s.row[streamPK], err = s.object(row, true)
	return err
}

func (s *streamScanner) decode(ctx context.Context, key, image []byte) ([]value.Datum, error) {
	row := make([]value.Datum, len(s.codec.Columns))
	full := append(slices.Clone(s.codec.Prefix()), key...)
	return row, s.reader.Fetch(ctx, s.r.kv, full, image, row)
}

// object is a row as JSON: its columns that SQL sees, or its primary key.
func (s *streamScanner) object(row []value.Datum, key bool) (value.Datum, error) {
	t := s.codec.Table
	var names, vals [][]byte
	for i := range t.Columns {
		c := &t.Columns[i]
		if t.IsPartitionColumn(c.ID) || key && !t.IsPrimaryKeyPart(c.ID) || !key && c.Hidden {
			continue
		}
		d := row[i]
		if c.Type.ID == schema.TypeTimestamp && d.Kind() == value.KindTime {
			d = value.TimeOf(s.r.zone.Local(d.Time()))
		}
		doc, err := types.ToJSON(&s.r.zone.Env, d, c.Type)
		if err != nil {
			return value.Null, err
		}
		names, vals = append(names, []byte(c.Name)), append(vals, doc)
	}
	return value.JSONOf(value.JSONObject(names, vals)), nil
}

// tableImages describes the table before and after the change.
func (s *streamScanner) tableImages(ctx context.Context, rec *stream.Record) error {
	for _, side := range [...]struct {
		col     int
		version uint32
		none    bool
	}{
		{streamBefore, rec.OldVersion, rec.OldVersion == 0},
		{streamAfter, rec.Version, rec.Kind == stream.Drop},
	} {
		if side.none || !s.r.want[side.col] {
			continue
		}
		if err := s.use(ctx, side.version); err != nil {
			return err
		}
		s.row[side.col] = tableObject(s.codec.Table)
	}
	return nil
}

// tableObject is a table's name, columns and primary key as JSON.
func tableObject(t *schema.Table) value.Datum {
	text := func(s string) []byte { return value.JSONString([]byte(s)) }
	var cols, key [][]byte
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Hidden {
			continue
		}
		cols = append(cols, value.JSONObject([][]byte{[]byte("name"), []byte("type"), []byte("nullable")},
			[][]byte{text(c.Name), text(c.Type.String()), value.JSONBool(c.Nullable)}))
	}
	for _, p := range t.DeclaredKey() {
		key = append(key, text(t.Column(p.Column).Name))
	}
	return value.JSONOf(value.JSONObject([][]byte{[]byte("database"), []byte("table"), []byte("columns"), []byte("primary_key")},
		[][]byte{text(t.Database), text(t.Name), value.JSONArray(cols...), value.JSONArray(key...)}))
}
