package console

import (
	"compress/gzip"
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The history is a ring: one value a second of each series.
const (
	historyStep = time.Second
	historySize = 3600
	leastZip    = 4 << 10 // bytes of an answer from which it is compressed
)

// unknown is a value that was not given.
const unknown = math.MinInt64

// series are the status variables that are kept. Counters are kept as they are: whoever
// draws them takes differences.
var series = []string{
	"Uptime", "Queries", "Slow_queries", "Com_select", "Com_insert", "Com_update", "Com_delete", "Com_commit", "Com_rollback",
	"Sqlots_errors", "Sqlots_rows_sent", "Sqlots_rows_examined", "Sqlots_rows_affected", "Sqlots_reads_by_index", "Sqlots_reads_of_all",
	"Bytes_sent", "Bytes_received", "Threads_connected", "Threads_running", "Connections", "Select_scan", "Sqlots_plan_cache_hits", "Sqlots_plan_cache_misses",
	"Sqlots_memory_used", "Sqlots_memory_limit", "Sqlots_spilled_bytes", "Sqlots_search_lag_ms",
	"Sqlots_storage_block_cache_bytes", "Sqlots_storage_block_cache_hits", "Sqlots_storage_block_cache_misses", "Sqlots_storage_memtable_bytes", "Sqlots_storage_wal_bytes",
	"Sqlots_storage_wal_written_bytes", "Sqlots_storage_disk_bytes", "Sqlots_storage_seq", "Sqlots_storage_compaction_debt_bytes", "Sqlots_storage_compactions",
	"Sqlots_storage_read_amp", "Sqlots_storage_lock_waits", "Sqlots_storage_deadlocks",
}

// History keeps the last hour of the server's numbers. Its methods may be called
// concurrently.
type History struct {
	mu     sync.Mutex
	values [][]int64 // by series: a ring
	last   int64     // second of the newest sample, 0 for none
	n      int       // samples, at most historySize; the one of second t is at t % historySize
}

// NewHistory makes an empty one.
func NewHistory() *History {
	h := &History{values: make([][]int64, len(series))}
	for i := range h.values {
		h.values[i] = make([]int64, historySize)
	}
	return h
}

// Run takes a sample each second until ctx ends, in the middle of the second, so that a late
// one misses none. read gives status variables by name.
func (h *History) Run(ctx context.Context, read func() map[string]string) {
	h.add(time.Now().Unix(), read())
	for {
		now := time.Now()
		t := time.NewTimer(now.Truncate(historyStep).Add(3 * historyStep / 2).Sub(now))
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
			h.add(time.Now().Unix(), read())
		}
	}
}

// add keeps a sample. Seconds without one are unknown; a clock that was set back begins
// the history again.
func (h *History) add(now int64, status map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now == h.last {
		return
	}
	if now < h.last || now-h.last >= historySize {
		h.n = 0
	}
	if h.n > 0 {
		for t := h.last + 1; t < now; t++ {
			h.n++
			for i := range h.values {
				h.values[i][t%historySize] = unknown
			}
		}
	}
	h.n = min(h.n+1, historySize)
	h.last = now
	for i, name := range series {
		v, err := strconv.ParseInt(status[name], 10, 64)
		if err != nil {
			v = unknown
		}
		h.values[i][now%historySize] = v
	}
}

// ServeHTTP answers GET /v1/history?after=SECOND&step=N: the samples after a second whose
// second is a multiple of step. In "values", each series begins with its first value, and
// goes on with differences to the known one before; null is unknown.
func (h *History) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	after, step := int64(0), int64(1)
	for name, to := range map[string]*int64{"after": &after, "step": &step} {
		if v := q.Get(name); v != "" {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil || n < 0 || n > math.MaxInt32<<8 {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":{"code":0,"state":"HY000","message":"parameter ` + name + ` is not valid"}}` + "\n"))
				return
			}
			*to = n
		}
	}
	body := h.answer(after, max(step, 1))
	w.Header().Set("Content-Type", "application/json")
	if len(body) >= leastZip && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is one
		_, _ = z.Write(body)
		_ = z.Close()
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func (h *History) answer(after, step int64) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := max(after+1, h.last-int64(h.n)+1)
	if rest := first % step; rest != 0 {
		first += step - rest
	}
	count := int64(0)
	if first <= h.last && h.n > 0 {
		count = (h.last-first)/step + 1
	}
	b := append([]byte(`{"first":`), strconv.FormatInt(first, 10)...)
	b = append(b, `,"step":`...)
	b = strconv.AppendInt(b, step, 10)
	b = append(b, `,"count":`...)
	b = strconv.AppendInt(b, count, 10)
	b = append(b, `,"values":{`...)
	for i, name := range series {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '\n', '"')
		b = append(b, name...)
		b = append(b, `":[`...)
		before := int64(0)
		for k := range count {
			if k > 0 {
				b = append(b, ',')
			}
			v := h.values[i][(first+k*step)%historySize]
			if v == unknown {
				b = append(b, "null"...)
				continue
			}
			b = strconv.AppendInt(b, v-before, 10)
			before = v
		}
		b = append(b, ']')
	}
	return append(b, "\n}}\n"...)
}
