package introspect

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// longestKey is the most characters of a key as text; a longer one has none.
const longestKey = 500

// KeyRanges implements infoschema.Server. The ranges of rows are those in which accesses
// are counted, if these are known.
func (e *Server) KeyRanges(ctx context.Context, t *schema.Table, x *schema.Index) ([]infoschema.KeyRange, error) {
	id := schema.PrimaryIndexID
	if x != nil {
		id = x.ID
	}
	var cuts [][]byte
	known := false
	if x == nil {
		heat := &e.engine.Metrics.Heat
		if _, known = heat.Cuts(uint64(t.ID)); known {
			e.engine.ChooseRanges(ctx, t.ID) // the table may have grown
			cuts, known = heat.Cuts(uint64(t.ID))
		}
	}
	if !known {
		cuts = e.engine.Cuts(ctx, t.ID, id)
	}
	out := make([]infoschema.KeyRange, len(cuts)+1)
	some := false
	for i, span := range spansOf(table.IndexSpan(t.ID, id), cuts) {
		var err error
		var found bool
		if out[i].First, found, err = e.firstKey(ctx, t, span, x == nil); err != nil {
			return nil, err
		}
		some = some || found
		if out[i].Bytes, err = e.engine.Store.EstimateSize(ctx, span); err != nil {
			return nil, err
		}
	}
	if !some && len(out) == 1 { // the size of an empty range may be that of a block
		return nil, nil
	}
	return out, e.scale(ctx, out, table.IndexSpan(t.ID, id))
}

// scale makes the sizes of ranges add up to that of the index, which is a better estimate
// than those of small ranges.
func (e *Server) scale(ctx context.Context, list []infoschema.KeyRange, span storage.Span) error {
	whole, err := e.engine.Store.EstimateSize(ctx, span)
	if err != nil {
		return err
	}
	sum := 0.0
	for i := range list {
		sum += float64(list[i].Bytes)
	}
	for i := range list {
		if list[i].Bytes > 0 {
			list[i].Bytes = int64(float64(list[i].Bytes) * float64(whole) / sum)
		}
	}
	return nil
}

// KeyHeat implements infoschema.Server.
func (e *Server) KeyHeat(ctx context.Context, t *schema.Table) (first []string, list []infoschema.HeatMinute, err error) {
	heat := &e.engine.Metrics.Heat
	if _, ok := heat.Cuts(uint64(t.ID)); !ok {
		e.engine.ChooseRanges(ctx, t.ID)
	}
	cuts, list := heat.Last(uint64(t.ID))
	if len(list) == 0 {
		return nil, nil, nil
	}
	for _, span := range spansOf(table.IndexSpan(t.ID, schema.PrimaryIndexID), cuts) {
		text, _, err := e.firstKey(ctx, t, span, true)
		if err != nil {
			return nil, nil, err
		}
		first = append(first, text)
	}
	return first, list, nil
}

// spansOf divides a span at the cuts.
func spansOf(span storage.Span, cuts [][]byte) []storage.Span {
	out := make([]storage.Span, len(cuts)+1)
	for i := range out {
		out[i] = span
		if i > 0 {
			out[i].Start = cuts[i-1]
		}
		if i < len(cuts) {
			out[i].End = cuts[i]
		}
	}
	return out
}

// firstKey is the first key of a span as a list of literals of SQL; "" where there is no
// key, or where it has no such form. isRows: keys of entries may be in another form.
func (e *Server) firstKey(ctx context.Context, t *schema.Table, span storage.Span, isRows bool) (text string, found bool, err error) {
	scan, err := e.engine.Store.Latest().Scan(ctx, span, storage.ScanOptions{Limit: 1, KeyOnly: !isRows})
	if err != nil {
		return "", false, err
	}
	defer scan.Close()
	var key, val []byte
	_, err = scan.Visit(ctx, func(k, v []byte) bool {
		key, val = bytes.Clone(k), bytes.Clone(v)
		return false
	})
	if err != nil || key == nil {
		return "", false, err
	}
	if !isRows {
		text := e.lockedKey(e.engine.Catalog.Snapshot(), key).Data
		return shortened(text, longestKey), true, nil
	}
	codec, err := e.engine.Codecs.Get(t)
	if err != nil {
		return "", true, err
	}
	row := make([]value.Datum, len(codec.Columns))
	if err := codec.NewRowReader().Decode(key, val, row); err != nil {
		return "", true, err
	}
	var list []string
	for _, p := range codec.Key {
		c := &t.Columns[p.Pos]
		if t.IsPartitionColumn(c.ID) {
			continue
		}
		text, ok := literal(c.Type, row[p.Pos])
		if !ok {
			return "", true, nil
		}
		list = append(list, text)
	}
	if text = strings.Join(list, ", "); utf8.RuneCountInString(text) > longestKey {
		text = ""
	}
	return text, true, nil
}

// literal is a value as SQL has it, whatever the sql_mode; ok is false for text that is
// not UTF-8.
func literal(t schema.Type, d value.Datum) (text string, ok bool) {
	if d.IsNull() {
		return "NULL", true
	}
	b := types.AppendText(nil, t, d)
	switch {
	case t.IsNumeric() && t.ID != schema.TypeBit:
		return string(b), true
	case t.ID == schema.TypeTimestamp: // stored in UTC
		return "'" + string(b) + "+00:00'", true
	case t.IsBinary():
		return fmt.Sprintf("0x%X", b), len(b) > 0
	case !utf8.Valid(b):
		return "", false
	case bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' || r == '\\' }):
		return fmt.Sprintf("_utf8mb4 0x%X", b), true
	}
	return "'" + strings.ReplaceAll(string(b), "'", "''") + "'", true
}
