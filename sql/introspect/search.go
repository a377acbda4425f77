package introspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/searchdoc"
)

// SearchIndexes implements infoschema.Server.
func (e *Server) SearchIndexes() []infoschema.SearchIndex {
	if e.engine.Search == nil {
		return nil
	}
	var out []infoschema.SearchIndex
	for _, i := range e.engine.Search.Infos() {
		x := infoschema.SearchIndex{Database: i.Table.Database, Table: i.Table.Name, Name: i.Index.Name, Next: i.Next, State: i.State.String(), Docs: uint64(i.Docs), Rejected: uint64(i.Rejected),
			Lag: i.Lag, Behind: i.Behind, Segments: uint64(i.Segments), Disk: uint64(i.Bytes), Memory: uint64(i.Memory)}
		if i.Err != nil {
			x.Error = i.Err.Error()
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b infoschema.SearchIndex) int {
		return cmp.Or(cmp.Compare(a.Database, b.Database), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Name, b.Name), cmp.Compare(strconv.FormatBool(a.Next), strconv.FormatBool(b.Next)))
	})
	return out
}

// maxRejected is how many rows with rejected values are looked at in an index.
const maxRejected = 1000

// SearchRejected implements infoschema.Server.
func (e *Server) SearchRejected(ctx context.Context, wants func(db, table, index string) bool, emit func(r *infoschema.SearchRejected) error) error {
	if e.engine.Search == nil {
		return nil
	}
	snap, err := e.engine.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	at, err := search.MomentOf(ctx, snap)
	if err != nil {
		return err
	}
	for _, x := range e.engine.Search.Indexes() {
		t, d, next := x.Of()
		if next || !wants(t.Database, t.Name, d.Name) {
			continue
		}
		// Who has written a value finds it here.
		if err := x.CatchUp(ctx, at); err != nil && !errors.Is(err, search.ErrUnavailable) {
			return err
		}
		var ids [][]byte
		err := x.Read(ctx, func(s *seg.Snapshot) error {
			return search.EachRejected(s, d, func(id []byte, _ []seg.FieldID) bool {
				ids = append(ids, bytes.Clone(id))
				return len(ids) < maxRejected
			})
		})
		if errors.Is(err, search.ErrUnavailable) || errors.Is(err, seg.ErrDamaged) || len(ids) == 0 {
			continue
		}
		if err != nil {
			return err
		}
		if err := e.rejectedRows(ctx, t, d, ids, emit); err != nil {
			return err
		}
	}
	return nil
}

// rejectedRows gives the values of some rows that fields of an index cannot take.
func (e *Server) rejectedRows(ctx context.Context, t *schema.Table, d *schema.SearchIndex, ids [][]byte, emit func(r *infoschema.SearchRejected) error) error {
	snap, err := e.engine.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	slices.SortFunc(ids, bytes.Compare)
	list, err := (&searchdoc.Documents{Codecs: e.engine.Codecs, Eval: engine.EvalDocuments}).Rejected(ctx, snap, t, d, ids)
	if err != nil {
		return err
	}
	for _, r := range list {
		f := &d.Fields[r.Field]
		out := infoschema.SearchRejected{Database: t.Database, Table: t.Name, Index: d.Name, Key: shortened(r.Key, 1000), Value: shortened(r.Value, 200), Reason: rejectedReason(f)}
		id := f.Source
		if id == 0 {
			id = f.Column
		}
		if c := t.Column(id); c != nil && c.Hidden && c.Generated != nil {
			if out.Field = c.Generated.Expr; f.Attribute {
				out.Field = strings.ReplaceAll(strings.Trim(out.Field, "`"), "``", "`")
			}
		} else if c != nil {
			out.Field = c.Name
		} else if c = t.Column(f.Column); c != nil {
			if out.Field = c.Name; c.Hidden && c.Generated != nil {
				out.Field = shortened(c.Generated.Expr, 64)
			}
		}
		out.Field = shortened(out.Field, 64)
		if err := emit(&out); err != nil {
			return err
		}
	}
	return nil
}

func rejectedReason(f *schema.SearchField) string {
	switch {
	case f.Kind == schema.SearchPath && f.Many:
		return "no array of " + f.ElemName()
	case f.Kind == schema.SearchNested:
		return shortened("no array of objects of "+strings.TrimPrefix(f.ElemName(), "NESTED "), 200)
	case f.Kind == schema.SearchPath:
		return "no " + f.ElemName()
	}
	switch f.As {
	case schema.AsIP:
		return "no IP address"
	case schema.AsDate:
		return shortened("no time of the format "+strings.Join(f.Formats, " or "), 200)
	case schema.AsGeoPoint:
		return "no 'latitude,longitude'"
	}
	return "no " + f.ElemName()
}

// shortened is a text of at most so many characters.
func shortened(s string, most int) string {
	s = strings.ToValidUTF8(s, "?")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-3]) + "..."
}
