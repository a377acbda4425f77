package session

import (
	"time"

	"github.com/sqlots/sqlots/sql/expr"
)

var _ expr.Streams = (*functions)(nil)

// streamPoll is how often StreamWait looks for records, when there are commits.
const streamPoll = 5 * time.Millisecond
