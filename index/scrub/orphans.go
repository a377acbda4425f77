package scrub

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// Orphans calls fn with the key of each row that has no parent under a foreign
// key, until fn fails. parent is the codec of r.Parent, nil where there is no
// such table: then no row has a parent.
func Orphans(ctx context.Context, kv storage.Reader, child, parent *table.Codec, r *schema.Reference, fn func(key []byte) error) error {
	scan, err := kv.Scan(ctx, table.IndexSpan(child.Table.ID, schema.PrimaryIndexID), storage.ScanOptions{Cold: true})
	if err != nil {
		return err
	}
	defer scan.Close()
	rd := child.NewRowReader()
	row := make([]value.Datum, len(child.Columns))
	var other []value.Datum
	if parent != nil {
		other = make([]value.Datum, len(parent.Columns))
	}
	var bad error
	var buf []byte
	hasParent := func() (bool, error) {
		for i, at := range r.ChildColumns {
			if row[at].IsNull() {
				return true, nil
			}
			if parent != nil {
				other[r.ParentColumns[i]] = row[at]
			}
		}
		if parent == nil {
			return false, nil
		}
		if r.Loose {
			buf = parent.AppendKeyStart(buf[:0], r.ParentIndex, len(r.ParentColumns), other)
			return hasPrefix(ctx, kv, buf)
		}
		buf = parent.AppendUniqueKey(buf[:0], r.ParentIndex, other)
		_, err := kv.Get(ctx, buf, nil)
		if errors.Is(err, storage.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		if bad = rd.Fetch(ctx, kv, key, val, row); bad != nil {
			return false
		}
		ok, err := hasParent()
		if bad = err; bad == nil && !ok {
			bad = fn(key)
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

// hasPrefix reports whether a key starts with start.
func hasPrefix(ctx context.Context, kv storage.Reader, start []byte) (found bool, err error) {
	scan, err := kv.Scan(ctx, storage.Span{Start: start, End: keyenc.PrefixEnd(start)}, storage.ScanOptions{KeyOnly: true, Limit: 1})
	if err != nil {
		return false, err
	}
	defer scan.Close()
	_, err = scan.Visit(ctx, func([]byte, []byte) bool {
		found = true
		return false
	})
	return found, err
}

// AddOrphan notes a row without a parent.
func (r *Report) AddOrphan(key []byte, foreignKey string) {
	r.add("", key, "foreign key %s: there is no such parent", foreignKey)
}
