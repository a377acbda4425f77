package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// newRandom makes the generator of one connection: it depends on nothing that
// differs between two targets (I1).
func newRandom(seed uint64, workload string, conn int) *random {
	h := fnv.New64a()
	_, _ = h.Write([]byte(workload)) // never fails
	return &random{state: mix(seed ^ h.Sum64() ^ mix(uint64(conn)))}
}

const updateSQL = "UPDATE calls SET duration = duration + 1 WHERE cell = ? AND start = ?"

// worker runs operations of one workload on one connection.
type worker struct {
	w        *world
	wl       *workload
	cl       *client
	rnd      *random
	nextRow  *atomic.Int64 // the next row to insert, shared by all workers of a target
	pristine bool

	read, update statement // prepared
	args         []int64
	want         []byte

	hist   *hdrhistogram.Histogram
	ops    int64
	rows   int64
	errors int64
	err    error // the first one
}

// maxLatency bounds the histogram; longer operations count as this long.
const maxLatency = 10 * time.Minute

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency/time.Microsecond), 3)
}

// prepare makes the statements that the workload needs.
func (k *worker) prepare() (err error) {
	if k.wl.prepared {
		if k.read, err = k.cl.prepare(k.wl.sql); err != nil {
			return fmt.Errorf("preparing %s: %w", k.wl.name, err)
		}
	}
	if k.wl.name == "mixed_95_5" {
		if k.update, err = k.cl.prepare(updateSQL); err != nil {
			return fmt.Errorf("preparing %s: %w", k.wl.name, err)
		}
	}
	return nil
}

// operate runs one operation and returns the number of rows that it read or
// wrote.
func (k *worker) operate() (int64, error) {
	switch k.wl.name {
	case "insert1", "insert_batch":
		n := k.wl.perOp
		from := k.nextRow.Add(n) - n
		k.cl.begin(comQuery)
		k.cl.out = appendInsert(k.cl.out, k.w.dataset, from, from+n)
		_, err := k.cl.query()
		return n, err
	case "update1":
		k.args = drawPoint(k.w, k.rnd, k.args[:0])
		k.cl.begin(comQuery)
		k.cl.out = fill(k.cl.out, updateSQL, k.args)
		_, err := k.cl.query()
		return 1, err
	case "mixed_95_5":
		if k.rnd.below(20) == 0 {
			k.args = drawPoint(k.w, k.rnd, k.args[:0])
			_, err := k.cl.execute(k.update, k.args)
			return 1, err
		}
	}
	return k.query()
}

func (k *worker) query() (int64, error) {
	k.args = k.wl.draw(k.w, k.rnd, k.args[:0])
	var a answer
	var err error
	if k.wl.prepared {
		a, err = k.cl.execute(k.read, k.args)
	} else {
		k.cl.begin(comQuery)
		k.cl.out = fill(k.cl.out, k.wl.sql, k.args)
		a, err = k.cl.query()
	}
	if err != nil {
		return 0, err
	}
	return a.rows, k.check(a)
}

// wrongAnswer is an operation that succeeded with something else than it
// should have returned.
type wrongAnswer struct{ message string }

func (e *wrongAnswer) Error() string { return "wrong answer: " + e.message }

func (k *worker) check(a answer) error {
	if k.wl.rows != nil {
		want := k.wl.rows(k.w, k.args)
		if a.rows < want || k.pristine && a.rows != want {
			return &wrongAnswer{fmt.Sprintf("%d rows instead of %d for %v", a.rows, want, k.args)}
		}
	}
	if !k.wl.point || !k.pristine {
		return nil
	}
	c := k.w.row(k.args[1] - firstStart)
	k.want = appendRow(k.want[:0], k.wl.prepared, c.called, c.duration, c.station)
	if !bytes.Equal(k.want, a.first) {
		return &wrongAnswer{fmt.Sprintf("row % x instead of % x for %v", a.first, k.want, k.args)}
	}
	return nil
}

// appendRow appends the payload of a row of BIGINT columns (fewer than 7),
// none NULL.
//
//	text:   length:1 digits, for each column
//	binary: 0x00 | null bitmap:1 | 8 bytes little endian for each column
func appendRow(dst []byte, binaryRow bool, values ...int64) []byte {
	if binaryRow {
		dst = append(dst, 0, 0)
		for _, v := range values {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
		}
		return dst
	}
	for _, v := range values {
		at := len(dst)
		dst = strconv.AppendInt(append(dst, 0), v, 10)
		dst[at] = byte(len(dst) - at - 1)
	}
	return dst
}

// runUntil repeats operations until ctx ends, the time has come, or the
// budget of operations is used up; at least one is run. Nothing is recorded
// without a histogram.
func (k *worker) runUntil(ctx context.Context, end time.Time, budget *atomic.Int64) error {
	for first := true; first || time.Now().Before(end); first = false {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if budget != nil && budget.Add(-1) < 0 {
			return nil
		}
		start := time.Now()
		rows, err := k.operate()
		if err != nil {
			if err := k.failed(err); err != nil {
				return err
			}
			continue
		}
		if k.hist != nil {
			k.ops++
			k.rows += rows
			_ = k.hist.RecordValue(min(max(1, time.Since(start).Microseconds()), int64(maxLatency/time.Microsecond)))
		}
	}
	return nil
}

// failed notes an error of one operation; it returns those after which the
// connection cannot go on.
func (k *worker) failed(err error) error {
	var fromServer *serverError
	var wrong *wrongAnswer
	if !errors.As(err, &fromServer) && !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", k.wl.name, err)
	}
	k.errors++
	if k.err == nil {
		k.err = err
	}
	return nil
}
