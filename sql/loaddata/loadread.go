package loaddata

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// loadOperator reads rows of a loadSource. A goroutine reads the file some
// batches ahead; warnings wait until the executor takes the batch that they
// belong to.
type loadOperator struct {
	src  *loadSource
	full chan *loadBatch // closed after the last one
	free chan *loadBatch
	stop chan struct{}
	cur  *loadBatch
	err  error // final
}

// loadBatch is a number of lines.
type loadBatch struct {
	batch    *vec.Batch
	rows     int // of the file, up to the end of this batch
	warnings []*sqlerr.Error
	rejects  []engine.LoadReject
	err      error // after the rows
	long     bool  // there are fields of longField
}

// loadAhead is the number of batches that exist at a time.
const loadAhead = 4

func (s *loadSource) Open() exec.Operator {
	kinds := make([]value.Kind, s.fields)
	for i := range kinds {
		kinds[i] = value.KindBytes
	}
	o := &loadOperator{src: s, full: make(chan *loadBatch, loadAhead), free: make(chan *loadBatch, loadAhead), stop: make(chan struct{})}
	for range loadAhead {
		o.free <- &loadBatch{batch: vec.NewBatch(kinds)}
	}
	go func() {
		defer close(o.full)
		_ = guard.Run(func() error { o.read(o.stop); return nil }) // fill keeps what goes wrong
	}()
	return o
}

// read fills batches until the file or the statement ends.
func (o *loadOperator) read(stop <-chan struct{}) {
	rows := 0
	for {
		var b *loadBatch
		select {
		case <-stop:
			return
		case b = <-o.free:
		}
		o.src.fill(b, rows)
		rows = b.rows
		o.full <- b // there is room for all
		if b.err != nil {
			return
		}
	}
}

// Next implements exec.Operator.
func (o *loadOperator) Next(ctx context.Context) (*vec.Batch, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if o.cur != nil {
		o.free <- o.cur
		o.cur = nil
	}
	if o.err == nil {
		// A client that stalls holds a killed statement no longer than before:
		// its connection's deadlines end the read.
		b := <-o.full
		o.src.rows = b.rows
		for _, e := range b.warnings {
			o.src.warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: e})
		}
		o.err = b.err
		for _, r := range b.rejects {
			o.src.job.dropped = append(o.src.job.dropped, r.Line)
			if err := o.src.job.add(r.Line, r.Err); err != nil {
				o.err = err
				return nil, err
			}
		}
		if b.batch.N > 0 {
			o.cur = b
			return b.batch, nil
		}
	}
	if errors.Is(o.err, io.EOF) {
		return nil, nil
	}
	return nil, o.err
}

// Close implements exec.Operator. The file is not read any more when it
// returns.
func (o *loadOperator) Close() error {
	if o.stop == nil {
		return nil
	}
	close(o.stop)
	o.stop = nil
	for range o.full {
		// It is closed when the goroutine ends.
	}
	return nil
}

// fill reads a batch; rows is the number of lines before it. io.EOF ends the
// file.
func (s *loadSource) fill(l *loadBatch, rows int) {
	b := l.batch
	b.Reset()
	for _, c := range b.Cols {
		c.Init(value.KindBytes, vec.MaxRows)
		if l.long { // it would keep fields of the batch before
			clear(c.Bytes)
		}
	}
	l.long = false
	l.rows, l.warnings, l.rejects, l.err = rows, l.warnings[:0], l.rejects[:0], nil
	if err := guard.Run(func() error { s.fillRows(l); return nil }); err != nil {
		l.err = fmt.Errorf("reading the lines of LOAD DATA: %w", err)
	}
}

// batchBytes are about the most bytes of the lines of a batch. A field of longField is
// counted.
const (
	batchBytes = 512 << 10
	longField  = 32 << 10
)

// fillRows is fill of a batch that is empty.
func (s *loadSource) fillRows(l *loadBatch) {
	b := l.batch
	for bytes := 0; b.N < vec.MaxRows && bytes < batchBytes; {
		n, err := s.reader.next()
		if err == nil {
			l.rows++
			if bad := s.check(l, n); bad != nil {
				if s.job == nil || s.job.max == 0 {
					l.err = bad
					return
				}
				l.rejects = append(l.rejects, engine.LoadReject{Line: l.rows, Err: bad})
				if len(l.rejects) > s.job.max {
					return
				}
				continue
			}
		}
		if err != nil {
			l.err = err
			return
		}
		for i, c := range b.Cols {
			if i >= n {
				// A line that ends early leaves the type's empty value.
				c.Bytes[b.N] = []byte{}
				c.Nulls.Unset(b.N)
				if s.nulls[i] {
					c.Nulls.Set(b.N)
				}
				continue
			}
			f := s.reader.field(i)
			if f == nil {
				c.Nulls.Set(b.N)
				continue
			}
			if bytes += len(f); len(f) < longField || s.memory == nil {
				c.Bytes[b.N] = c.Own(f)
				continue
			}
			if c.Bytes[b.N], l.err = s.memory.Copy(f); l.err != nil {
				return
			}
			l.long = true
		}
		b.N++
	}
}

// check reports lines with too few fields, once for each column that gets none,
// and lines with too many.
func (s *loadSource) check(l *loadBatch, n int) *sqlerr.Error {
	if n > s.fields {
		return s.report(l, sqlerr.TooManyRecords(l.rows))
	}
	for i := n; i < s.fields; i++ {
		if s.nulls[i] {
			continue
		}
		if err := s.report(l, sqlerr.TooFewRecords(l.rows)); err != nil {
			return err
		}
	}
	return nil
}

func (s *loadSource) report(l *loadBatch, e *sqlerr.Error) *sqlerr.Error {
	if s.strict {
		return e
	}
	l.warnings = append(l.warnings, e)
	return nil
}
