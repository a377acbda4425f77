package mysqlwire

import (
	"context"
	"errors"
	"io"
)

// localReader is the client's file of LOAD DATA LOCAL: the payloads of the
// packets that the client sends, up to an empty one.
type localReader struct {
	c    *conn
	left int  // of the present packet
	full bool // it is a full part: the next one continues it
	done bool
	err  error
	ctx  context.Context // see Endless
}

var _ Endless = (*localReader)(nil)

// Read implements io.Reader.
func (r *localReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.read(p)
	r.c.setPhase(phaseBusy)
	if err != nil && err != io.EOF {
		r.err, r.done = err, true
		// What follows in the stream is unknown now.
		r.c.result.broken = true
		if errors.Is(err, errClientGone) {
			r.c.cancel(errClientGone)
		}
	}
	return n, err
}

func (r *localReader) read(p []byte) (int, error) {
	for r.left == 0 {
		if r.done {
			if r.err != nil {
				return 0, r.err
			}
			return 0, io.EOF
		}
		n, err := r.c.header()
		if err != nil {
			return 0, truncated(err)
		}
		r.done = n == 0 && !r.full
		r.left, r.full = n, n == maxPayload
	}
	n, err := r.c.readSome(p[:min(len(p), r.left)])
	r.left -= n
	if n > 0 {
		return n, nil
	}
	if err == nil {
		return 0, nil
	}
	return 0, readError(err, true)
}

// EndWith implements Endless.
func (r *localReader) EndWith(ctx context.Context) { r.ctx = ctx }

// mostAfterKill is how much of a file is read away after KILL.
const mostAfterKill = 16 << 20

// Close implements io.Closer: it reads to the end, since the client sends all
// of its file before it listens. After KILL a longer file ends the connection.
func (r *localReader) Close() error {
	var sink [16 << 10]byte
	for left := mostAfterKill; ; {
		n, err := r.Read(sink[:])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if r.ctx.Err() == nil {
			continue
		}
		if left -= n; left < 0 {
			r.err, r.done, r.c.result.broken = context.Cause(r.ctx), true, true
			return r.err
		}
	}
}
