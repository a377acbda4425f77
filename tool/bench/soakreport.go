package bench

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func ms(h *hdrhistogram.Histogram, q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1000 }

// look reads the server's figures of the index.
func (b *soak) look(ctx context.Context) error {
	var lag sql.NullFloat64
	err := b.target.db.QueryRowContext(ctx, "SELECT LAG_MILLISECONDS, SEGMENTS, DISK_BYTES, MEMORY_BYTES FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'docs'").
		Scan(&lag, &b.segments, &b.disk, &b.memory)
	if err != nil {
		return err
	}
	if !lag.Valid {
		lag.Float64 = math.Inf(1)
	}
	if b.lag != nil {
		us := int64(min(lag.Float64*1000, float64(maxLatency/time.Microsecond)))
		b.mu.Lock()
		err = errors.Join(b.lag.RecordValue(us), b.lagWhole.RecordValue(us))
		b.mu.Unlock()
	}
	return err
}

// line prints the figures of an interval.
func (b *soak) line(start time.Time, d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := d.Seconds()
	b.say("%8.0f %9.0f %9.0f %9.2f %9.2f %9.1f %9.1f %9d %9.0f %9.0f %9.0f", time.Since(start).Seconds(), float64(b.changes.Swap(0))/s, float64(b.all.TotalCount())/s,
		ms(b.all, 50), ms(b.all, 99), ms(b.lag, 50), ms(b.lag, 99), b.segments, float64(b.disk)/1e6, float64(b.memory)/1e6, float64(residentBytes(b.target.pid))/1e6)
	b.all.Reset()
	b.lag.Reset()
}

// residentBytes is the memory of a process; 0 when that cannot be known.
func residentBytes(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(data)
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return n * int64(os.Getpagesize())
}

// compare runs the same queries by the index and by the table.
func (b *soak) compare(ctx context.Context) error {
	r := &dice{uint64(time.Now().UnixNano())}
	same := 0
	kinds := slices.DeleteFunc(slices.Clone(b.kinds), func(k soakQuestion) bool { return !k.scan })
	for i := range b.verify {
		q := kinds[i%len(kinds)].sql(r)
		var answers [2]string
		for j, use := range []string{"docs FORCE INDEX (s)", "docs USE INDEX ()"} {
			rows, err := b.target.db.QueryContext(ctx, strings.Replace(q, "docs", use, 1))
			if err != nil {
				return err
			}
			if answers[j], err = allRows(rows); err != nil {
				return err
			}
		}
		if answers[0] != answers[1] {
			return fmt.Errorf("%s: the index says %s, the table %s", q, answers[0], answers[1])
		}
		same++
	}
	b.say("\n%d answers of the index and of the table are the same", same)
	return nil
}

// allRows is an answer, its rows in the order of their texts.
func allRows(rows *sql.Rows) (string, error) {
	cols, err := rows.Columns()
	if err != nil {
		return "", errors.Join(err, rows.Close())
	}
	var out []string
	vals, ptrs := make([]sql.RawBytes, len(cols)), make([]any, len(cols))
	for i := range vals {
		ptrs[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(ptrs...); err != nil {
			return "", errors.Join(err, rows.Close())
		}
		out = append(out, string(bytes.Join(asBytes(vals), []byte(" "))))
	}
	slices.Sort(out)
	return strings.Join(out, "; "), errors.Join(rows.Err(), rows.Close())
}

func asBytes(in []sql.RawBytes) [][]byte {
	out := make([][]byte, len(in))
	for i := range in {
		out[i] = in[i]
	}
	return out
}
