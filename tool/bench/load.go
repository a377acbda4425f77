package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

// loadOptions say how the table is filled.
type loadOptions struct {
	sizes  Sizes
	method string // infile or insert
	ddl    ddlForm
	batch  int64 // rows of one INSERT
	chunk  int64 // rows of one LOAD DATA, 0: all
	conns  int
}

const (
	methodInfile = "infile"
	methodInsert = "insert"
)

// loadResult is one load, as printed and as JSON.
type loadResult struct {
	Target        string  `json:"target"`
	Server        string  `json:"server"`
	Method        string  `json:"method"`
	Rows          int64   `json:"rows"`
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rows_per_second"`
	ServerCPU     float64 `json:"server_cpu_us_per_row,omitempty"`
}

func (r loadResult) String() string {
	s := fmt.Sprintf("%s: loaded %d rows by %s in %.2f s: %.0f rows/s",
		r.Target, r.Rows, r.Method, r.Seconds, r.RowsPerSecond)
	if r.ServerCPU > 0 {
		s += fmt.Sprintf(", %.2f µs of server CPU per row", r.ServerCPU)
	}
	return s
}

// load creates and fills the tables, and checks the result.
func load(ctx context.Context, t *target, opts loadOptions) (loadResult, error) {
	d := newDataset(opts.sizes)
	if err := createTables(ctx, t.db, t.form(opts.ddl)); err != nil {
		return loadResult{}, err
	}
	if err := writeStations(ctx, t.db, d); err != nil {
		return loadResult{}, err
	}
	cpu0, _ := processCPU(t.pid)
	start := time.Now()
	if err := loadCalls(ctx, t, d, opts); err != nil {
		return loadResult{}, err
	}
	elapsed := time.Since(start)
	cpu1, cpuKnown := processCPU(t.pid)
	if err := checkLoad(ctx, t, d); err != nil {
		return loadResult{}, err
	}
	if err := writeInfo(ctx, t.db, opts.sizes); err != nil {
		return loadResult{}, err
	}
	r := loadResult{
		Target: t.name, Server: t.version, Method: opts.method, Rows: opts.sizes.Rows,
		Seconds: elapsed.Seconds(), RowsPerSecond: float64(opts.sizes.Rows) / elapsed.Seconds(),
	}
	if cpuKnown {
		r.ServerCPU = float64((cpu1 - cpu0).Microseconds()) / float64(opts.sizes.Rows)
	}
	return r, nil
}

// checkLoad compares count and sums with what was sent.
func checkLoad(ctx context.Context, t *target, d *dataset) error {
	same, err := pristine(ctx, t, d)
	if err != nil {
		return fmt.Errorf("checking the load: %w", err)
	}
	if !same {
		return errors.New("checking the load: the table does not hold the rows that were sent")
	}
	return nil
}

// loadCalls spreads the rows over opts.conns connections, one part each.
func loadCalls(ctx context.Context, t *target, d *dataset, opts loadOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	step := opts.chunk
	if opts.method == methodInsert {
		step = opts.batch
	}
	perConn := (d.Rows + int64(opts.conns) - 1) / int64(opts.conns)
	if step == 0 {
		step = perConn
	}
	errs := make(chan error, opts.conns)
	for w := range int64(opts.conns) {
		go func() {
			err := loadRange(ctx, t, d, opts.method, w*perConn, min((w+1)*perConn, d.Rows), step)
			if err != nil {
				cancel()
			}
			errs <- err
		}()
	}
	var first error
	for range opts.conns {
		if err := <-errs; err != nil && (first == nil || errors.Is(first, context.Canceled)) {
			first = err
		}
	}
	return first
}

func loadRange(ctx context.Context, t *target, d *dataset, method string, from, to, step int64) error {
	conn, err := t.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("loading calls: %w", err)
	}
	defer func() { _ = conn.Close() }()
	var buf []byte
	for ; from < to; from += step {
		end := min(from+step, to)
		if method == methodInsert {
			buf = appendInsert(buf[:0], d, from, end)
			_, err = conn.ExecContext(ctx, string(buf))
		} else {
			err = loadInfile(ctx, conn.ExecContext, d, from, end)
		}
		if err != nil {
			return fmt.Errorf("loading calls: %w", err)
		}
	}
	return nil
}

// readerNumber makes the names unique that the driver knows readers by: its
// registry is global, so this is too.
var readerNumber atomic.Int64

func loadInfile[R any](ctx context.Context, exec func(context.Context, string, ...any) (R, error), d *dataset, from, to int64) error {
	name := "sqlots-bench-" + strconv.FormatInt(readerNumber.Add(1), 10)
	mysql.RegisterReaderHandler(name, func() io.Reader { return &rowReader{d: d, next: from, end: to} })
	defer mysql.DeregisterReaderHandler(name)
	_, err := exec(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+name+"' INTO TABLE calls FIELDS TERMINATED BY ','"+
		" (cell, start, called, duration, station, created_at)")
	return err
}

// rowReader gives rows as CSV, made as they are read.
type rowReader struct {
	d         *dataset
	next, end int64
	buf       []byte
	pos       int
}

// Read fills p with as many bytes as there are.
func (r *rowReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if r.pos == len(r.buf) {
			if r.next == r.end {
				break
			}
			r.buf, r.pos = appendFields(r.buf[:0], r.d.row(r.next), ""), 0
			r.buf = append(r.buf, '\n')
			r.next++
		}
		m := copy(p[n:], r.buf[r.pos:])
		n += m
		r.pos += m
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// appendFields appends the columns, the date in the given quotes.
func appendFields(dst []byte, c call, quote string) []byte {
	for _, v := range [...]int64{c.cell, c.start, c.called, c.duration, c.station} {
		dst = append(strconv.AppendInt(dst, v, 10), ',')
	}
	dst = append(dst, quote...)
	dst = c.createdAt(dst)
	return append(dst, quote...)
}

// appendInsert appends an INSERT of the rows [from, to).
func appendInsert(dst []byte, d *dataset, from, to int64) []byte {
	dst = append(dst, "INSERT INTO calls (cell, start, called, duration, station, created_at) VALUES "...)
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		dst = append(dst, '(')
		dst = appendFields(dst, d.row(i), "'")
		dst = append(dst, ')')
	}
	return dst
}
