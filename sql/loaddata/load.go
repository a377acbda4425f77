package loaddata

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// load runs one of the statements.
type load struct{ *statement.Statement }

// Run is LOAD DATA. Errors: 13, 29, 1290 for its file, and those of an INSERT.
func Run(ctx context.Context, st *statement.Statement, x *logical.LoadData, more bool, w mysqlwire.ResultWriter) error {
	return (&load{st}).run(ctx, x, more, w)
}

// IntoFile is SELECT … INTO OUTFILE and DUMPFILE of the plan c. Errors: 1086,
// 1290. A failure leaves no file.
func IntoFile(ctx context.Context, st *statement.Statement, q *logical.Query, c *statement.Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	return (&load{st}).selectIntoFile(ctx, q, c, vals, more, w)
}

// run is LOAD DATA: the file's lines are the rows of a virtual table from
// which an INSERT … SELECT is made. A large file goes into the store as sorted
// runs; where that meets a duplicate key, all is done again row by row, as a
// small file is from the start.
func (s *load) run(ctx context.Context, x *logical.LoadData, more bool, w mysqlwire.ResultWriter) error {
	c, src, err := s.loadPlan(ctx, x)
	if err != nil {
		return err
	}
	insert := c.Plan.Change.(*physical.Insert)
	if err := s.Admit(ctx, c.Plan); err != nil { // before the client sends its file
		return err
	}
	if src.job != nil {
		done, err := src.job.done(s.Engine.Store)
		if err != nil {
			return err
		}
		if done {
			return s.loadedBefore(src.job, more, w)
		}
	}
	file, err := s.openLoadFile(x, w)
	if err != nil {
		return err
	}
	defer file.Close()
	if f, ok := file.(mysqlwire.Endless); ok {
		f.EndWith(ctx)
	}
	in, err := loadText(file, x.Charset)
	if err != nil {
		return err
	}
	r, err := s.insert(ctx, x, c, src, in)
	if errors.Is(err, errLoadedBefore) {
		return s.loadedBefore(src.job, more, w)
	}
	if err != nil {
		return err
	}
	var deleted, skipped uint64
	if insert.Replace {
		deleted = r.Affected - min(r.Affected, r.Records)
	} else {
		skipped = r.Duplicates
	}
	if src.job != nil {
		skipped += uint64(len(src.job.rejects))
	}
	info := "Records: " + strconv.FormatUint(uint64(src.rows), 10) + "  Deleted: " + strconv.FormatUint(deleted, 10) + "  Skipped: " + strconv.FormatUint(skipped, 10) + "  Warnings: " + strconv.Itoa(s.Diagnostics.WarningCount)
	return s.OK(w, mysqlwire.OK{AffectedRows: r.Affected, Info: info}, more)
}

// BulkFrom is the size in bytes from which a file is loaded in bulk.
const BulkFrom = 1 << 20

// killable is a file that may have no end: reading it ends with the statement.
type killable struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (k *killable) Read(p []byte) (int, error) {
	if k.ctx.Err() != nil {
		return 0, context.Cause(k.ctx)
	}
	return k.Reader.Read(p)
}

// insert chooses between the ways of run.
func (s *load) insert(ctx context.Context, x *logical.LoadData, c *statement.Plan, src *loadSource, file io.Reader) (exec.Result, error) {
	file = &killable{ctx, file}
	head := make([]byte, BulkFrom)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return exec.Result{}, err
	}
	all := io.MultiReader(bytes.NewReader(head[:n]), file)
	if err != nil || s.Engine.Spill == nil || !s.CanBulk(x.Insert.Table, x.Insert.Replace) {
		return s.loadRows(ctx, x, c, src, all)
	}
	copied, err := s.Engine.Spill.NewFile()
	if err != nil {
		return exec.Result{}, err
	}
	defer copied.Close()
	src.reader = newFieldReader(io.TeeReader(all, copied), x, s.Engine.Values)
	r, err := s.ChangeInBulk(ctx, c, src.also(s.Engine.Store))
	if !errors.Is(err, table.ErrBulkDuplicate) {
		return r, err
	}
	// What the bulk load did not read any more.
	if _, err := io.Copy(copied, all); err != nil {
		return exec.Result{}, err
	}
	s.Diagnostics.Clear()
	src.again()
	return s.loadRows(ctx, x, c, src, io.NewSectionReader(copied, 0, copied.Size()))
}

// loadRows loads as INSERT does.
func (s *load) loadRows(ctx context.Context, x *logical.LoadData, c *statement.Plan, src *loadSource, in io.Reader) (exec.Result, error) {
	src.reader = newFieldReader(in, x, s.Engine.Values)
	r, err := s.Change(ctx, c, nil)
	if errors.Is(err, statement.ErrStale) {
		err = sqlerr.TableChanged()
	}
	return r, err
}

// also is what a load in bulk writes with its rows: the record of its token, nil
// without one.
func (s *loadSource) also(store storage.Store) func() (key, val []byte, err error) {
	if s.job == nil || s.job.token == "" {
		return nil
	}
	return func() (key, val []byte, err error) {
		done, err := s.job.done(store)
		if err != nil {
			return nil, nil, err
		}
		if done {
			return nil, nil, errLoadedBefore
		}
		return s.job.pair(s.rows)
	}
}

// openLoadFile opens the client's file, or one of the server within
// secure_file_priv.
func (s *load) openLoadFile(x *logical.LoadData, w mysqlwire.ResultWriter) (io.ReadCloser, error) {
	if !x.Local {
		f, _, err := s.OpenServerFile(x.Path)
		return f, err
	}
	if s.Engine.Globals.Get(s.Engine.Globals.Defs.Lookup("local_infile")).Int() == 0 {
		return nil, sqlerr.LocalInfileDisabled()
	}
	return w.LoadLocal(x.Path)
}

// loadSource is the virtual table of a LOAD DATA: one text column a field.
type loadSource struct {
	node   *physical.Virtual
	reader *fieldReader
	fields int
	nulls  []bool // fields that are NULL where a line ends early, else empty
	rows   int    // that the executor has got
	strict bool   // lines with too few or too many fields are errors
	warn   func(sqlerr.Warning)
	memory expr.Memory
	job    *loadJob // nil: neither token nor rejects
}

// again is for a second run over the file.
func (s *loadSource) again() {
	s.rows = 0
	if s.job != nil {
		s.job.rejects, s.job.dropped = nil, nil
	}
}

// loadPlan makes the INSERT of a LOAD DATA: fields go to their columns and
// user variables, then SET assigns.
func (s *load) loadPlan(ctx context.Context, x *logical.LoadData) (*statement.Plan, *loadSource, error) {
	// SET may have subqueries: a query without rows plans them.
	c, err := s.MakePlan(ctx, (&logical.Reads{Deps: x.Insert.Deps, Subqueries: x.Insert.Subqueries}).Query(), nil, nil)
	if err != nil {
		return nil, nil, err
	}
	src := &loadSource{fields: len(x.Fields), nulls: make([]bool, len(x.Fields)), warn: s.Diagnostics.Warn, memory: s.Engine.Values}
	src.job = s.newLoadJob()
	// LOCAL implies IGNORE, except for strict jobs.
	ignore := (x.Local || x.Insert.Ignore) && (src.job == nil || !src.job.strict)
	src.strict = s.Vars.Mode.Strict() && !ignore
	text := types.Text(schema.CollationUTF8MB40900AICI)
	if x.Charset == "binary" {
		text = types.Text(schema.CollationBinary)
	}
	t := x.Insert.Table
	ins := &physical.Insert{Table: t, Defaults: x.Insert.Defaults, Replace: x.Insert.Replace, Ignore: ignore}
	var cols []physical.Column
	for i, f := range x.Fields {
		cols = append(cols, physical.Column{Name: "field" + strconv.Itoa(i+1), T: text, Null: true})
		ins.Columns = append(ins.Columns, f.Column)
		ins.Vars, ins.Attributes = append(ins.Vars, f.Var), append(ins.Attributes, f.Attribute)
		src.nulls[i] = f.Column < 0
	}
	for _, a := range x.Set {
		ins.Set = append(ins.Set, physical.Assignment{Column: a.Column, Value: a.Value, Default: a.Default})
	}
	src.node = &physical.Virtual{Base: physical.Base{Cols: cols}, Name: "LOAD DATA", Key: src}
	for i := range x.Fields {
		src.node.Read = append(src.node.Read, i)
	}
	p := c.Plan
	p.Root, p.Change, p.Tables = src.node, ins, append(p.Tables, t)
	p.Writes = []*schema.Table{t}
	s.AddKeys(p)
	if j := src.job; j != nil {
		if j.max > 0 {
			c.Reject = j.reject
		}
		if j.token != "" {
			c.Also = func(ctx context.Context, txn storage.Txn) error {
				key, val, err := j.pair(src.rows)
				if err != nil {
					return err
				}
				err = txn.Insert(ctx, key, val)
				if errors.Is(err, storage.ErrKeyExists) {
					return errLoadedBefore
				}
				return err
			}
		}
	}
	return c, src, nil
}
