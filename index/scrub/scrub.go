package scrub

import (
	"bytes"
	"context"
	"fmt"
	"sort"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/rowenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// MaxProblems is the most problems that a Report lists; all are counted.
const MaxProblems = 100

// Problem is something that is wrong.
type Problem struct {
	// Index is the name of the index, "" for the rows and cells.
	Index string
	// Key is the stored key at which it was found.
	Key  []byte
	Text string
}

// String is a line about the problem.
func (p Problem) String() string {
	where := "row"
	if p.Index != "" {
		where = "index " + p.Index
	}
	if len(p.Key) == 0 {
		return where + ": " + p.Text
	}
	return fmt.Sprintf("%s, key %x: %s", where, p.Key, p.Text)
}

// Report is the result of a check.
type Report struct {
	Rows, Entries, Cells int64
	// Count is the number of problems; Problems are the first of them.
	Count    int64
	Problems []Problem
}

// OK reports that nothing is wrong.
func (r *Report) OK() bool { return r.Count == 0 }

func (r *Report) add(index string, key []byte, format string, args ...any) {
	r.Count++
	if len(r.Problems) < MaxProblems {
		r.Problems = append(r.Problems, Problem{Index: index, Key: bytes.Clone(key), Text: fmt.Sprintf(format, args...)})
	}
}

// Add notes what another check has found.
func (r *Report) Add(index string, key []byte, text string) { r.add(index, key, "%s", text) }

const chunkRows = 1000

// Check compares all of a table in one snapshot. Indexes that are not Public
// are left out: they need not be complete. The error is one of reading, or of
// ctx; damage is in the Report.
func Check(ctx context.Context, kv storage.Reader, codec *table.Codec) (*Report, error) {
	c := &checker{kv: kv, c: codec, report: &Report{}, rd: codec.NewEntryReader(), row: make([]value.Datum, len(codec.Columns))}
	if err := c.rows(ctx); err != nil {
		return c.report, fmt.Errorf("checking %s.%s: %w", codec.Table.Database, codec.Table.Name, err)
	}
	for _, x := range codec.Indexes {
		if x.Desc.State != schema.IndexPublic {
			continue
		}
		if err := c.entries(ctx, x); err != nil {
			return c.report, fmt.Errorf("checking index %s of %s.%s: %w", x.Desc.Name, codec.Table.Database, codec.Table.Name, err)
		}
	}
	if err := c.cells(ctx); err != nil {
		return c.report, fmt.Errorf("checking %s.%s: %w", codec.Table.Database, codec.Table.Name, err)
	}
	return c.report, nil
}

type checker struct {
	kv     storage.Reader
	c      *table.Codec
	report *Report
	rd     *table.RowReader
	row    []value.Datum
	b      rowenc.Builder
	// want are the keys that the rows of the chunk require.
	want []expected
	// cellKeys are the cells of the row cellsOf.
	cellsOf  []byte
	cellKeys map[string]bool
}

// expected is a pair that must be there.
type expected struct {
	index    string
	key, val []byte
	cell     bool
	length   int
}

// visit calls fn for chunks of the pairs of an index.
func (c *checker) visit(ctx context.Context, x schema.IndexID, add func(key, val []byte), flush func() error) error {
	scan, err := c.kv.Scan(ctx, table.IndexSpan(c.c.Table.ID, x), storage.ScanOptions{Cold: true})
	if err != nil {
		return err
	}
	defer scan.Close()
	for {
		n := 0
		done, err := scan.Visit(ctx, func(key, val []byte) bool {
			add(key, val)
			n++
			return n < chunkRows
		})
		if err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
		if done {
			return nil
		}
	}
}

// rows checks each row, and that all its entries and cells are there.
func (c *checker) rows(ctx context.Context) error {
	return c.visit(ctx, schema.PrimaryIndexID, func(key, val []byte) { c.checkRow(ctx, key, val) }, func() error { return c.flush(ctx) })
}

func (c *checker) checkRow(ctx context.Context, key, val []byte) {
	c.report.Rows++
	if err := c.rd.Decode(key, val, c.row); err != nil {
		c.report.add("", key, "%v", err)
		return
	}
	attributes := false
	for i, pos := range c.rd.Cells {
		if c.c.Columns[pos].Attributes {
			attributes = true
			continue
		}
		c.want = append(c.want, expected{key: c.c.AppendCellKey(nil, key, pos), cell: true, length: c.rd.Lengths[i]})
	}
	if len(c.rd.Cells) > 0 || c.c.Virtual != nil {
		switch err := c.rd.Fetch(ctx, c.kv, key, bytes.Clone(val), c.row); {
		case err != nil && len(c.rd.Cells) > 0 && !attributes:
			return // the cell is reported by flush
		case err != nil:
			c.report.add("", key, "%v", err)
			return
		}
	}
	if again := c.c.AppendKey(nil, c.row); !bytes.Equal(again, key) {
		c.report.add("", key, "the row's values make another key: %x", again)
	}
	for _, x := range c.c.Indexes {
		if x.Desc.State != schema.IndexPublic {
			continue
		}
		_ = x.Each(c.row, func(row []value.Datum) error { // of no error but ours
			out, at := x.AppendEntry(nil, &c.b, key, row)
			c.want = append(c.want, expected{index: x.Desc.Name, key: out[:at:at], val: out[at:]})
			return nil
		})
	}
}

// flush looks the expected pairs up.
func (c *checker) flush(ctx context.Context) error {
	sort.Slice(c.want, func(i, j int) bool { return bytes.Compare(c.want[i].key, c.want[j].key) < 0 })
	keys := make([][]byte, len(c.want))
	for i := range c.want {
		keys[i] = c.want[i].key
	}
	err := c.kv.BatchGet(ctx, keys, func(i int, val []byte) error {
		w := &c.want[i]
		switch {
		case val == nil && w.cell:
			c.report.add("", w.key, "the cell is missing")
		case val == nil:
			c.report.add(w.index, w.key, "the entry is missing")
		case w.cell && len(val) != w.length:
			c.report.add("", w.key, "the cell has %d bytes, its row says %d", len(val), w.length)
		case !w.cell && !bytes.Equal(val, w.val):
			c.report.add(w.index, w.key, "the entry differs from its row: %x, not %x", val, w.val)
		}
		return nil
	})
	c.want = c.want[:0]
	return err
}

// entries checks that each entry of x is that of its row.
func (c *checker) entries(ctx context.Context, x *table.Index) error {
	type entry struct{ key, row []byte }
	var list []entry
	return c.visit(ctx, x.Desc.ID, func(key, val []byte) {
		c.report.Entries++
		row, err := x.AppendRowKey(nil, key, val)
		if err != nil {
			c.report.add(x.Desc.Name, key, "%v", err)
			return
		}
		list = append(list, entry{bytes.Clone(key), row})
	}, func() error {
		sort.Slice(list, func(i, j int) bool { return bytes.Compare(list[i].row, list[j].row) < 0 })
		keys := make([][]byte, len(list))
		for i := range list {
			keys[i] = list[i].row
		}
		err := c.kv.BatchGet(ctx, keys, func(i int, val []byte) error {
			if val == nil {
				c.report.add(x.Desc.Name, list[i].key, "the entry has no row")
				return nil
			}
			if c.rd.Fetch(ctx, c.kv, list[i].row, bytes.Clone(val), c.row) != nil {
				return nil // reported with the row
			}
			found, any := false, false
			_ = x.Each(c.row, func(row []value.Datum) error { // of no error but ours
				out, at := x.AppendEntry(nil, &c.b, list[i].row, row)
				any, found = true, found || bytes.Equal(out[:at], list[i].key)
				return nil
			})
			switch {
			case !any:
				c.report.add(x.Desc.Name, list[i].key, "the row should have no entry")
			case !found:
				c.report.add(x.Desc.Name, list[i].key, "the row has other values")
			}
			return nil
		})
		list = list[:0]
		return err
	})
}

// cells checks that each cell belongs to a row that marks it.
func (c *checker) cells(ctx context.Context) error {
	type cell struct {
		key, row []byte
		id       uint16
		attrs    bool
	}
	var list []cell
	return c.visit(ctx, table.CellIndexID, func(key, _ []byte) {
		c.report.Cells++
		row, id, err := c.c.SplitCellKey(key)
		if err != nil {
			c.report.add("", key, "malformed key of a cell")
			return
		}
		col := c.c.Table.Column(id)
		if col == nil {
			return // of a dropped column: never read again
		}
		list = append(list, cell{bytes.Clone(key), row, uint16(id), col.Attributes})
	}, func() error {
		keys := make([][]byte, len(list))
		for i := range list {
			keys[i] = list[i].row
		}
		err := c.kv.BatchGet(ctx, keys, func(i int, val []byte) error {
			if val == nil {
				c.report.add("", list[i].key, "the cell has no row")
				return nil
			}
			if list[i].attrs {
				if !c.hasCell(ctx, list[i].row, val, list[i].key) {
					c.report.add("", list[i].key, "the row's attributes have no such cell")
				}
				return nil
			}
			r := rowenc.NewReader([]uint16{list[i].id})
			if r.Reset(val) != nil {
				return nil // reported with the row
			}
			if _, st := r.Field(0); st != rowenc.External {
				c.report.add("", list[i].key, "the row keeps the value itself")
			}
			return nil
		})
		list = list[:0]
		return err
	})
}

// hasCell reports whether a row has the cell of attributes at a key; also true if the
// row cannot be read, which is reported with the row. Calls for the cells of one row
// are consecutive.
func (c *checker) hasCell(ctx context.Context, key, val, cell []byte) bool {
	if !bytes.Equal(c.cellsOf, key) {
		c.cellsOf, c.cellKeys = append(c.cellsOf[:0], key...), nil
		if c.rd.Fetch(ctx, c.kv, key, bytes.Clone(val), c.row) == nil {
			c.cellKeys = map[string]bool{}
			c.c.EachCell(key, c.row, func(k []byte, _ int) { c.cellKeys[string(k)] = true })
		}
	}
	return c.cellKeys == nil || c.cellKeys[string(cell)]
}
