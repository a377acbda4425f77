package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// loadData is LOAD DATA: the file's lines are the rows of a virtual table from
// which an INSERT … SELECT is made. A large file goes into the store as sorted
// runs; where that meets a duplicate key, all is done again row by row, as a
// small file is from the start.
func (s *Session) loadData(ctx context.Context, x *logical.LoadData, more bool, w mysqlwire.ResultWriter) error {
	if s.open == nil && !s.vars.autocommit {
		if err := s.begin(s.startsReadOnly()); err != nil {
			return err
		}
	}
	c, src, err := s.loadPlan(x)
	if err != nil {
		return err
	}
	insert := c.plan.Change.(*physical.Insert)
	if err := s.checkLocked(c.plan.Tables[:c.plan.Named], c.plan.Writes); err != nil {
		return err
	}
	file, err := s.openLoadFile(x, w)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := loadText(file, x.Charset)
	if err != nil {
		return err
	}
	r, err := s.load(ctx, x, c, src, in)
	if err != nil {
		return err
	}
	var deleted, skipped uint64
	if insert.Replace {
		deleted = r.Affected - min(r.Affected, r.Records)
	} else {
		skipped = r.Duplicates
	}
	info := "Records: " + itoa(uint64(src.rows)) + "  Deleted: " + itoa(deleted) + "  Skipped: " + itoa(skipped) + "  Warnings: " + strconv.Itoa(s.warningCount)
	return s.ok(w, mysqlwire.OK{AffectedRows: r.Affected, Info: info}, more)
}

// bulkFrom is the size in bytes from which a file is loaded in bulk.
const bulkFrom = 1 << 20

// load chooses between the roads of loadData.
func (s *Session) load(ctx context.Context, x *logical.LoadData, c *cachedPlan, src *loadSource, file io.Reader) (exec.Result, error) {
	head := make([]byte, bulkFrom)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return exec.Result{}, err
	}
	all := io.MultiReader(bytes.NewReader(head[:n]), file)
	if err != nil || !s.canBulk(x.Insert.Table, x) {
		return s.loadRows(ctx, x, c, src, all)
	}
	copied, err := os.CreateTemp(s.engine.tempDir, "sqlots-load-*.tmp")
	if err != nil {
		return exec.Result{}, fmt.Errorf("copying the file: %w", err)
	}
	defer copied.Close()
	if err := os.Remove(copied.Name()); err != nil {
		return exec.Result{}, fmt.Errorf("copying the file: %w", err)
	}
	r, err := s.loadBulk(ctx, x, c, src, io.TeeReader(all, copied))
	if !errors.Is(err, table.ErrBulkDuplicate) {
		return r, err
	}
	// What the bulk load did not read any more.
	if _, err := io.Copy(copied, all); err != nil {
		return exec.Result{}, err
	}
	if _, err := copied.Seek(0, io.SeekStart); err != nil {
		return exec.Result{}, err
	}
	s.clearDiagnostics()
	src.rows = 0
	return s.loadRows(ctx, x, c, src, copied)
}

// canBulk reports whether the table may be loaded in bulk now.
func (s *Session) canBulk(t *schema.Table, x *logical.LoadData) bool {
	if s.open != nil || s.startsReadOnly() || x.Insert.Replace || len(t.ForeignKeys) > 0 && s.foreignKeyChecks() {
		return false
	}
	for _, ix := range t.Indexes {
		if ix.State != schema.IndexPublic {
			return false
		}
	}
	return true
}

// loadRows loads as INSERT does.
func (s *Session) loadRows(ctx context.Context, x *logical.LoadData, c *cachedPlan, src *loadSource, in io.Reader) (exec.Result, error) {
	src.reader = newFieldReader(in, x)
	r, stale, err := s.change(ctx, c, nil)
	if stale {
		err = sqlerr.New(1412, "HY000", "Table definition has changed, please retry transaction")
	}
	return r, err
}

// bulkLockWait is how long a bulk load waits for the table to be free of
// transactions.
const bulkLockWait = time.Second

// loadBulk loads by sorted runs, with writers locked out. It fails with
// table.ErrBulkDuplicate, nothing written, where rows have to be looked at one
// by one or the table is in use.
func (s *Session) loadBulk(ctx context.Context, x *logical.LoadData, c *cachedPlan, src *loadSource, in io.Reader) (exec.Result, error) {
	t := x.Insert.Table
	key := mdl.Key(t.Database, t.Name)
	if err := s.engine.locks.Exclusive(ctx, s.owner(), key, bulkLockWait); err != nil {
		if errors.Is(err, mdl.ErrTimeout) {
			return exec.Result{}, table.ErrBulkDuplicate
		}
		return exec.Result{}, err
	}
	defer s.engine.locks.ReleaseExclusive(s.owner(), key)
	if !s.current(c.plan) {
		return exec.Result{}, table.ErrBulkDuplicate
	}
	txn, err := s.newTxn(false)
	if err != nil {
		return exec.Result{}, err
	}
	defer txn.Rollback()
	env := s.execEnv(ctx, view{Reader: txn, Txn: txn}, nil)
	defer env.Memory.Close()
	env.Ctx.Write, env.Ctx.Ignore = true, c.plan.Change.(*physical.Insert).Ignore
	sink, err := env.Source.(bulkSource).Bulk(t, table.BulkOptions{Memory: s.bulkMemory(), TempDir: s.engine.tempDir})
	if err != nil {
		return exec.Result{}, err
	}
	defer sink.Bulk.Close()
	env.Sink = sink
	src.reader = newFieldReader(in, x)
	r, err := exec.RunChange(ctx, env, c.plan)
	if err != nil {
		return exec.Result{}, err
	}
	s.process.SetState("loading sorted runs")
	if err := sink.Bulk.Finish(ctx); err != nil {
		return exec.Result{}, s.commitFailed(err)
	}
	s.changed(c, r)
	return r, nil
}

// bulkSource is the ability of the source to load in bulk.
type bulkSource interface {
	Bulk(t *schema.Table, opts table.BulkOptions) (*source.BulkSink, error)
}

// bulkMemory is the memory of one bulk load: half of what a query may have.
func (s *Session) bulkMemory() int64 { return s.vars.memoryLimit / 2 }

// openLoadFile opens the client's file, or one of the server within
// secure_file_priv.
func (s *Session) openLoadFile(x *logical.LoadData, w mysqlwire.ResultWriter) (io.ReadCloser, error) {
	if !x.Local {
		return s.openServerFile(x.Path)
	}
	if s.engine.globals.Get(s.engine.globals.defs.Lookup("local_infile")).Int() == 0 {
		return nil, sqlerr.New(3948, "42000", "Loading local data is disabled; this must be enabled on both the client and server sides")
	}
	return w.LoadLocal(x.Path)
}

// loadSource is the virtual table of a LOAD DATA: one text column a field.
type loadSource struct {
	node   *physical.Virtual
	reader *fieldReader
	fields int
	nulls  []bool // fields that are NULL where a line ends early, else empty
	rows   int
	strict bool // lines with too few or too many fields are errors
	warn   func(sqlerr.Warning)
}

// loadPlan makes the INSERT of a LOAD DATA: fields go to their columns and
// user variables, then SET assigns.
func (s *Session) loadPlan(x *logical.LoadData) (*cachedPlan, *loadSource, error) {
	// SET may have subqueries: a query without rows plans them.
	c, err := s.plan(&logical.Query{Root: &logical.Values{Rows: [][]expr.Expr{{}}}, Subqueries: x.Insert.Subqueries}, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	src := &loadSource{fields: len(x.Fields), nulls: make([]bool, len(x.Fields)), warn: s.warn}
	src.strict = s.vars.mode.Strict() && !x.Insert.Ignore && !x.Local
	text := types.Text(schema.CollationUTF8MB40900AICI)
	if x.Charset == "binary" {
		text = types.Text(schema.CollationBinary)
	}
	t := x.Insert.Table
	ins := &physical.Insert{Table: t, Defaults: x.Insert.Defaults, Replace: x.Insert.Replace, Ignore: x.Insert.Ignore || x.Local}
	var cols []physical.Column
	for i, f := range x.Fields {
		cols = append(cols, physical.Column{Name: "field" + strconv.Itoa(i+1), T: text, Null: true})
		ins.Columns = append(ins.Columns, f.Column)
		ins.Vars = append(ins.Vars, f.Var)
		src.nulls[i] = f.Column < 0
	}
	for _, a := range x.Set {
		ins.Set = append(ins.Set, physical.Assignment{Column: a.Column, Value: a.Value, Default: a.Default})
	}
	src.node = &physical.Virtual{Base: physical.Base{Cols: cols}, Name: "LOAD DATA", Key: src}
	for i := range x.Fields {
		src.node.Read = append(src.node.Read, i)
	}
	p := c.plan
	p.Root, p.Change, p.Tables = src.node, ins, append(p.Tables, t)
	p.Writes = []*schema.Table{t}
	s.addKeys(p)
	return c, src, nil
}

// loadOperator reads rows of a loadSource.
type loadOperator struct {
	src   *loadSource
	batch *vec.Batch
}

func (s *loadSource) open() exec.Operator {
	kinds := make([]value.Kind, s.fields)
	for i := range kinds {
		kinds[i] = value.KindBytes
	}
	return &loadOperator{src: s, batch: vec.NewBatch(kinds)}
}

// Next implements exec.Operator.
func (o *loadOperator) Next(ctx context.Context) (*vec.Batch, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	b := o.batch
	b.Reset()
	for _, c := range b.Cols {
		c.Init(value.KindBytes, vec.MaxRows)
	}
	for b.N < vec.MaxRows {
		n, err := o.src.reader.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		o.src.rows++
		if err := o.src.check(n); err != nil {
			return nil, err
		}
		for i, c := range b.Cols {
			if i >= n {
				// A line that ends early leaves the type's empty value.
				c.Bytes[b.N] = []byte{}
				c.Nulls.Unset(b.N)
				if o.src.nulls[i] {
					c.Nulls.Set(b.N)
				}
				continue
			}
			f := o.src.reader.field(i)
			if f == nil {
				c.Nulls.Set(b.N)
				continue
			}
			c.Bytes[b.N] = c.Own(f)
		}
		b.N++
	}
	if b.N == 0 {
		return nil, nil
	}
	return b, nil
}

// Close implements exec.Operator.
func (o *loadOperator) Close() error { return nil }

// check tells of lines with too few fields, once for each column that gets
// none, and of lines with too many.
func (s *loadSource) check(n int) error {
	if n > s.fields {
		return s.tell(sqlerr.New(1262, "01000", "Row %d was truncated; it contained more data than there were input columns", s.rows))
	}
	for i := n; i < s.fields; i++ {
		if s.nulls[i] {
			continue
		}
		if err := s.tell(sqlerr.New(1261, "01000", "Row %d doesn't contain data for all columns", s.rows)); err != nil {
			return err
		}
	}
	return nil
}

func (s *loadSource) tell(e *sqlerr.Error) error {
	if s.strict {
		return e
	}
	s.warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: e})
	return nil
}

// maxField bounds one field, in bytes.
const maxField = 64 << 20

// fieldReader splits a file into lines and fields by MySQL's rules.
type fieldReader struct {
	in                  *bufio.Reader
	term, line, start   []byte
	enclosed, escaped   byte
	hasEnclosed, hasEsc bool
	skip                int
	fields              int // of a line without terminator
	buf                 []byte
	ends                []int  // end of each field in buf
	nulls               []bool // NULL fields
}

func newFieldReader(in io.Reader, x *logical.LoadData) *fieldReader {
	// buf is never nil: a nil field is NULL.
	r := &fieldReader{buf: []byte{}, in: bufio.NewReaderSize(in, 1<<18), term: []byte(x.FieldsTerminated), line: []byte(x.LinesTerminated), start: []byte(x.LinesStarting), skip: x.IgnoreLines, fields: len(x.Fields)}
	if x.FieldsEnclosed != "" {
		r.enclosed, r.hasEnclosed = x.FieldsEnclosed[0], true
	}
	if x.FieldsEscaped != "" {
		r.escaped, r.hasEsc = x.FieldsEscaped[0], true
	}
	return r
}

// field is field i of the current line; nil is NULL.
func (r *fieldReader) field(i int) []byte {
	if r.nulls[i] {
		return nil
	}
	from := 0
	if i > 0 {
		from = r.ends[i-1]
	}
	return r.buf[from:r.ends[i]:r.ends[i]]
}

// next reads a line and returns its number of fields.
func (r *fieldReader) next() (int, error) {
	for r.skip > 0 {
		r.skip--
		if err := r.skipLine(); err != nil {
			return 0, err
		}
	}
	if len(r.start) > 0 {
		if err := r.seekStart(); err != nil {
			return 0, err
		}
	}
	if _, err := r.in.Peek(1); err != nil {
		return 0, err
	}
	r.buf, r.ends, r.nulls = r.buf[:0], r.ends[:0], r.nulls[:0]
	for {
		lineEnd, err := r.readField()
		if err != nil {
			return 0, err
		}
		if lineEnd || len(r.line) == 0 && len(r.ends) == r.fields {
			return len(r.ends), nil
		}
	}
}

func (r *fieldReader) skipLine() error {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if r.matches(c, r.line) {
			return nil
		}
	}
}

func (r *fieldReader) seekStart() error {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return err
		}
		if r.matches(c, r.start) {
			return nil
		}
	}
}

// matches reports whether c and what follows is the separator, and consumes
// the rest of it then.
func (r *fieldReader) matches(c byte, sep []byte) bool {
	if len(sep) == 0 || c != sep[0] {
		return false
	}
	if len(sep) == 1 {
		return true
	}
	rest, err := r.in.Peek(len(sep) - 1)
	if err != nil || string(rest) != string(sep[1:]) {
		return false
	}
	_, _ = r.in.Discard(len(rest))
	return true
}

// readField reads one field into buf; lineEnd tells that the line ends with
// it.
func (r *fieldReader) readField() (lineEnd bool, err error) {
	start := len(r.buf)
	c, err := r.in.ReadByte()
	if errors.Is(err, io.EOF) {
		r.finish(start, false, false)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	quoted := r.hasEnclosed && c == r.enclosed
	null := false
	if !quoted {
		_ = r.in.UnreadByte()
	}
	for {
		if len(r.buf)-start > maxField {
			return false, sqlerr.New(1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")
		}
		c, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) {
			r.finish(start, null && !quoted, quoted)
			return true, nil
		}
		if err != nil {
			return false, err
		}
		switch {
		case r.hasEsc && c == r.escaped && (!r.hasEnclosed || r.escaped != r.enclosed):
			n, err := r.in.ReadByte()
			if errors.Is(err, io.EOF) {
				r.buf = append(r.buf, c)
				continue
			}
			if err != nil {
				return false, err
			}
			if n == 'N' && len(r.buf) == start {
				null = true
			}
			r.buf = append(r.buf, unescape(n))
		case quoted && c == r.enclosed:
			n, err := r.in.Peek(1)
			if err == nil && n[0] == r.enclosed {
				_, _ = r.in.Discard(1)
				r.buf = append(r.buf, c)
				continue
			}
			// The quote closes only before a separator or the end.
			if end, isEnd := r.separator(); isEnd {
				r.finish(start, false, true)
				return end, nil
			}
			r.buf = append(r.buf, c)
		// The end of a line may begin with that of a field.
		case !quoted && r.matches(c, r.line):
			r.finish(start, null, false)
			return true, nil
		case !quoted && r.matches(c, r.term):
			r.finish(start, null, false)
			return false, nil
		default:
			r.buf = append(r.buf, c)
		}
	}
}

// separator consumes a separator that stands here; lineEnd tells which.
func (r *fieldReader) separator() (lineEnd, found bool) {
	c, err := r.in.ReadByte()
	if err != nil {
		return true, true
	}
	if r.matches(c, r.line) {
		return true, true
	}
	if r.matches(c, r.term) {
		return false, true
	}
	_ = r.in.UnreadByte()
	return false, false
}

func (r *fieldReader) finish(start int, null, quoted bool) {
	text := r.buf[start:]
	if !quoted {
		null = null && len(text) == 1 && text[0] == 'N' || r.hasEnclosed && string(text) == "NULL"
	}
	r.ends = append(r.ends, len(r.buf))
	r.nulls = append(r.nulls, null)
}

// unescape is the byte that an escape sequence of LOAD DATA stands for.
func unescape(c byte) byte {
	switch c {
	case '0':
		return 0
	case 'b':
		return '\b'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'Z':
		return 26
	}
	return c
}

// virtual opens the virtual tables of this session: LOAD DATA's file, or those
// of information_schema and SHOW.
func (s *Session) virtual(ctx context.Context, ec *expr.Ctx, v *physical.Virtual) (exec.Operator, error) {
	if src, ok := v.Key.(*loadSource); ok {
		return src.open(), nil
	}
	return s.openVirtual(ctx, ec, v)
}
