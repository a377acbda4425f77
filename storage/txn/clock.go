package txn

import "time"

// Clock gives the times of commits: microseconds since 1970, each later than
// the one before, also when the system's clock stops or goes back. The zero
// value is ready. It is not safe for concurrent use.
type Clock struct {
	// Last is the latest time given.
	Last int64
}

// Pass makes the following times later than one at which a reader reads.
func (c *Clock) Pass(micros int64) { c.Last = max(c.Last, micros) }

// Next is the time of the next commit.
func (c *Clock) Next() int64 {
	c.Last = max(time.Now().UnixMicro(), c.Last+1)
	return c.Last
}
