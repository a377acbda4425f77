package metrics

import "time"

// Event is a statement: what it was and what it did. It is filled by one goroutine,
// but for Work.
type Event struct {
	Command Command
	Digest  *Digest // nil: of no digest
	// Text is as the client sent it, with secrets; Schema is the current database.
	Text, Schema string
	Mode         uint32 // the sql_mode by which Text is read
	Start        time.Time
	Duration     time.Duration
	// Lock is how long it waited for locks.
	Lock time.Duration
	// Errno is 0 for success.
	Errno           uint16
	State, Message  string
	Warnings        uint64
	Affected, Sent  uint64
	NoIndex, NoGood bool // NO_INDEX_USED, NO_GOOD_INDEX_USED
	// Memory is the most that it held, in bytes.
	Memory uint64
	Work   Work
	// ReceivedBytes and SentBytes are of the connection since the statement before.
	ReceivedBytes, SentBytes uint64
	// Hits and Misses are of the plan cache.
	Hits, Misses uint64
	Slow         bool // it took longer than long_query_time
	// ID numbers the events of a session from 1; Record sets it.
	ID uint64
}

// Work is what a statement did inside, by Counter.
type Work [numWork]uint64

// Totals are sums over statements: the columns that the summary tables of
// performance_schema share. Min is 0 where Count is.
type Totals struct {
	Count            uint64
	Sum, Min, Max    time.Duration
	Lock             time.Duration
	Errors, Warnings uint64
	Affected, Sent   uint64
	NoIndex, NoGood  uint64
	MaxMemory        uint64
	work             [numSummed]uint64
}

// Add counts a statement.
func (t *Totals) Add(e *Event) {
	if t.Count == 0 || e.Duration < t.Min {
		t.Min = e.Duration
	}
	t.Count++
	t.Sum += e.Duration
	t.Max = max(t.Max, e.Duration)
	t.Lock += e.Lock
	if e.Errno != 0 {
		t.Errors++
	}
	t.Warnings += e.Warnings
	t.Affected += e.Affected
	t.Sent += e.Sent
	if e.NoIndex {
		t.NoIndex++
	}
	if e.NoGood {
		t.NoGood++
	}
	t.MaxMemory = max(t.MaxMemory, e.Memory)
	for i := range t.work {
		t.work[i] += e.Work[i]
	}
}

// Merge adds other sums.
func (t *Totals) Merge(o *Totals) {
	if o.Count == 0 {
		return
	}
	if t.Count == 0 || o.Min < t.Min {
		t.Min = o.Min
	}
	t.Count += o.Count
	t.Sum += o.Sum
	t.Max = max(t.Max, o.Max)
	t.Lock += o.Lock
	t.Errors += o.Errors
	t.Warnings += o.Warnings
	t.Affected += o.Affected
	t.Sent += o.Sent
	t.NoIndex += o.NoIndex
	t.NoGood += o.NoGood
	t.MaxMemory = max(t.MaxMemory, o.MaxMemory)
	for i, n := range o.work {
		t.work[i] += n
	}
}

// Of is the sum of one of the counters up to SortScan.
func (t *Totals) Of(c Counter) uint64 { return t.work[c] }
