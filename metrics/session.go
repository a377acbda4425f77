package metrics

import (
	"sync"
	"sync/atomic"
)

// HistoryLength is how many statements of a session are kept: MySQL's default of
// performance_schema_events_statements_history_size.
const HistoryLength = 10

// Session has the numbers of one connection. Its methods may be called concurrently.
type Session struct {
	ID   uint64 // of the connection
	User string
	Host string

	// Prepared is how many prepared statements it has.
	Prepared atomic.Int64

	server  *Server
	account *account

	mu      sync.Mutex
	sums    sums
	history []Event // a ring: event n, counted from the forgotten ones, is at (n-1) % HistoryLength
	events  uint64
	// forgotten are the events before the history.
	forgotten uint64
	// watched are the events when Server.Busy was last called.
	watched uint64
}

// sums are what sessions and accounts count.
type sums struct {
	counters [NumCounters]uint64
	// commands are the kinds of statements that ran; nil for others.
	commands []*commandSums
}

type commandSums struct {
	started uint64 // for Com_ variables
	totals  Totals
	times   Histogram
}

func (s *sums) command(c Command) *commandSums {
	if s.commands == nil {
		s.commands = make([]*commandSums, NumCommands)
	}
	x := s.commands[c]
	if x == nil {
		x = &commandSums{}
		s.commands[c] = x
	}
	return x
}

func (s *sums) merge(o *sums) {
	for i, n := range o.counters {
		s.counters[i] += n
	}
	for c, x := range o.commands {
		if x != nil {
			to := s.command(Command(c))
			to.started += x.started
			to.totals.Merge(&x.totals)
			to.times.Merge(&x.times)
		}
	}
}

// Add raises a counter.
func (s *Session) Add(c Counter, n uint64) {
	s.mu.Lock()
	s.sums.counters[c] += n
	s.mu.Unlock()
}

// Start counts a statement for its Com_ variable that another event stands for.
func (s *Session) Start(c Command) {
	s.mu.Lock()
	s.sums.command(c).started++
	s.mu.Unlock()
}

// errTimeout is max_execution_time.
const errTimeout = 3024

// Record counts a statement that has ended, and keeps it in the history.
func (s *Session) Record(e *Event) {
	s.mu.Lock()
	s.events++
	e.ID = s.events
	x := &s.sums.counters
	for i, n := range e.Work {
		x[i] += n
	}
	x[Questions]++
	x[Queries]++
	x[RowsSent] += e.Sent
	x[RowsAffected] += e.Affected
	x[PlanCacheHits] += e.Hits
	x[PlanCacheMisses] += e.Misses
	x[BytesReceived] += e.ReceivedBytes
	x[BytesSent] += e.SentBytes
	if e.Errno != 0 {
		x[StatementErrors]++
		s.server.classes[ClassOf(e.Errno)].Add(1)
		if e.Errno == errTimeout {
			x[MaxExecutionTimeExceeded]++
		}
	}
	if e.Slow {
		x[SlowQueries]++
	}
	c := s.sums.command(e.Command)
	c.started++
	if s.server.off {
		s.mu.Unlock()
		return
	}
	c.totals.Add(e)
	c.times.Add(e.Duration)
	at := int((e.ID - s.forgotten - 1) % HistoryLength)
	if at < len(s.history) {
		s.history[at] = *e
	} else {
		s.history = append(s.history, *e)
	}
	if len(e.Text) > MaxText {
		s.history[at].Text = sampleText(e.Text)
	}
	s.mu.Unlock()
	if e.Digest != nil {
		e.Digest.add(s.ID, e)
	}
}

// Events is how many statements have ended.
func (s *Session) Events() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}

// forgetHistory empties the history; s.mu is held. Numbers of events go on.
func (s *Session) forgetHistory() { s.history, s.forgotten = nil, s.events }

// History are the last statements, oldest first.
func (s *Session) History() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Event, 0, len(s.history))
	for i := range uint64(len(s.history)) {
		out = append(out, s.history[(s.events-s.forgotten-uint64(len(s.history))+i)%HistoryLength])
	}
	return out
}

// Numbers are sums over statements and sessions.
type Numbers struct{ sums sums }

// Variables calls fn with each status variable.
func (n *Numbers) Variables(fn func(name string, v uint64) error) error {
	for c := range NumCounters {
		if err := fn(c.Variable(), n.Counter(c)); err != nil {
			return err
		}
	}
	for _, c := range Commands() {
		if v := c.Variable(); v != "" {
			if err := fn(v, n.Started(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

// All are the sums over the statements of all kinds.
func (n *Numbers) All() (out Totals) {
	for _, x := range n.sums.commands {
		if x != nil {
			out.Merge(&x.totals)
		}
	}
	return out
}

// Times is the histogram of the statements of all kinds.
func (n *Numbers) Times() (out Histogram) {
	for _, x := range n.sums.commands {
		if x != nil {
			out.Merge(&x.times)
		}
	}
	return out
}

// Counter is one of the counters.
func (n *Numbers) Counter(c Counter) uint64 { return n.sums.counters[c] }

// Started is how many statements of a kind ran.
func (n *Numbers) Started(c Command) uint64 {
	if x := n.of(c); x != nil {
		return x.started
	}
	return 0
}

// Totals are the sums over the statements of a kind, and the histogram of their times;
// nil where none ran.
func (n *Numbers) Totals(c Command) (*Totals, *Histogram) {
	if x := n.of(c); x != nil {
		return &x.totals, &x.times
	}
	return nil, nil
}

func (n *Numbers) of(c Command) *commandSums {
	if n.sums.commands == nil {
		return nil
	}
	return n.sums.commands[c]
}

// Numbers are those of the session since it began, or since FLUSH STATUS.
func (s *Session) Numbers() *Numbers {
	out := &Numbers{}
	s.mu.Lock()
	defer s.mu.Unlock()
	out.sums.merge(&s.sums)
	return out
}

// Close ends the session: its account keeps the numbers.
func (s *Session) Close() {
	s.server.remove(s)
}
