package mysqlwire

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// maxMessage is the length of an error message, as in MySQL.
const maxMessage = 512

// errorOf translates an error to the client's. It is the only place where
// that happens: a *sqlerr.Error stays, the end of the context becomes what
// ended it, all else is 1105.
func errorOf(ctx context.Context, err error) *sqlerr.Error {
	var e, cause *sqlerr.Error
	interrupted := errors.Is(err, context.Canceled)
	if errors.As(err, &e) {
		if !sqlerr.IsQueryInterrupted(e) {
			return e
		}
		interrupted = true
	}
	if interrupted && errors.As(context.Cause(ctx), &cause) {
		return cause
	}
	switch {
	case e != nil:
		return e
	case interrupted:
		return sqlerr.QueryInterrupted()
	case errors.Is(err, context.DeadlineExceeded):
		return sqlerr.QueryTimeout()
	}
	return sqlerr.Unknown("%s", err)
}

// inResultCharset is a message in the character set of results.
func (c *conn) inResultCharset(message string) string {
	if c.sess == nil {
		return message
	}
	to, ok := collate.Lookup(c.resultCollation())
	if !ok || to.Charset == "binary" {
		return message
	}
	return inCharset(message, to)
}

// writeError appends an error packet:
//
//	ff, number (2), '#', SQLSTATE (5), message
func (c *conn) writeError(e *sqlerr.Error) {
	state := e.State
	if len(state) != 5 {
		state = "HY000"
	}
	message := e.Message
	if len(message) > maxMessage {
		n := maxMessage
		for n > 0 && !utf8.RuneStart(message[n]) {
			n--
		}
		message = message[:n]
	}
	start := c.begin()
	out := append(c.out, 0xff, byte(e.Number), byte(e.Number>>8), '#')
	out = append(out, state...)
	c.out = append(out, c.inResultCharset(message)...)
	c.end(start)
}
