package metrics

import (
	"sync"
	"sync/atomic"
	"time"
)

// digestStripes is how many parts the numbers of a digest have at most, so that
// connections that run the same statement rarely meet.
const digestStripes = 4

// Digest is a normalised statement in a database, with what its executions did.
type Digest struct {
	// Schema is the current database, "" for none. Hash is the SHA-256 of Text in
	// hexadecimal.
	Schema, Hash, Text string
	stripes            [digestStripes]atomic.Pointer[digestStripe]
	gone               atomic.Bool
}

type digestStripe struct {
	mu sync.Mutex
	DigestNumbers
}

// DigestNumbers are what is known of the executions of a digest.
type DigestNumbers struct {
	Totals      Totals
	Times       Histogram
	First, Last time.Time // when one ended
	// Sample is the text of one of the executions, with secrets, and SampleMode the
	// sql_mode by which it is read.
	Sample     string
	SampleMode uint32
	SampleSeen time.Time
	SampleTime time.Duration
}

// Gone reports that the digest is no longer among those of its server; also nil is none.
func (d *Digest) Gone() bool { return d == nil || d.gone.Load() }

// sampleAge is after how long a sample is replaced by any execution; before, only by
// a slower one.
const sampleAge = time.Minute

func (d *Digest) add(session uint64, e *Event) {
	slot := &d.stripes[session%digestStripes]
	s := slot.Load()
	if s == nil {
		slot.CompareAndSwap(nil, &digestStripe{})
		s = slot.Load()
	}
	end := e.Start.Add(e.Duration)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Totals.Add(e)
	s.Times.Add(e.Duration)
	if s.First.IsZero() {
		s.First = end
	}
	s.Last = end
	if e.Duration > s.SampleTime || end.Sub(s.SampleSeen) > sampleAge {
		s.Sample, s.SampleMode, s.SampleSeen, s.SampleTime = sampleText(e.Text), e.Mode, end, e.Duration
	}
}

// MaxText is how much of a text is kept, in bytes: MySQL's default of
// performance_schema_max_sql_text_length.
const MaxText = 1024

// sampleText is a text or the beginning of a long one, of which it keeps nothing else
// in memory.
func sampleText(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return string([]byte(text[:MaxText]))
}

// Numbers adds up the stripes.
func (d *Digest) Numbers() DigestNumbers {
	var out DigestNumbers
	for i := range d.stripes {
		s := d.stripes[i].Load()
		if s == nil {
			continue
		}
		s.mu.Lock()
		out.Totals.Merge(&s.Totals)
		out.Times.Merge(&s.Times)
		if out.First.IsZero() || s.First.Before(out.First) {
			out.First = s.First
		}
		if s.Last.After(out.Last) {
			out.Last = s.Last
		}
		if s.SampleTime > out.SampleTime || out.SampleSeen.IsZero() {
			out.Sample, out.SampleMode, out.SampleSeen, out.SampleTime = s.Sample, s.SampleMode, s.SampleSeen, s.SampleTime
		}
		s.mu.Unlock()
	}
	return out
}

// Digests are the digests of a server. Its methods may be called concurrently.
type Digests struct {
	mu   sync.RWMutex
	max  int
	list map[digestKey]*Digest
	rest *Digest // of all that have no place
	lost atomic.Int64
}

type digestKey struct{ schema, hash string }

func newDigests(most int) *Digests {
	return &Digests{max: most, list: map[digestKey]*Digest{}, rest: &Digest{}}
}

// Get finds or makes the digest of a normalised text. When there are as many as the
// server keeps, it is the one without a text, which counts the rest.
func (d *Digests) Get(schema, hash, text string) *Digest {
	k := digestKey{schema, hash}
	d.mu.RLock()
	x := d.list[k]
	d.mu.RUnlock()
	if x != nil {
		return x
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if x = d.list[k]; x != nil {
		return x
	}
	if len(d.list) >= d.max {
		d.lost.Add(1)
		return d.rest
	}
	x = &Digest{Schema: schema, Hash: hash, Text: text}
	d.list[k] = x
	return x
}

// List are all digests that have run; the one that counts the rest has no hash.
func (d *Digests) List() []*Digest {
	d.mu.RLock()
	defer d.mu.RUnlock()
	out := make([]*Digest, 0, len(d.list)+1)
	for _, x := range d.list {
		out = append(out, x)
	}
	return append(out, d.rest)
}

// Len is how many digests are kept.
func (d *Digests) Len() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.list)
}

// Lost is how often a digest had no place: Performance_schema_digest_lost.
func (d *Digests) Lost() int64 { return d.lost.Load() }

// Reset forgets all digests.
func (d *Digests) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.list {
		x.gone.Store(true)
	}
	d.rest.gone.Store(true)
	d.list, d.rest = map[digestKey]*Digest{}, &Digest{}
	d.lost.Store(0)
}
