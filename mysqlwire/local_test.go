package mysqlwire

import (
	"context"
	"errors"
	"testing"
)

// endlessFile is packets of a file without an end.
type endlessFile struct {
	seq  uint8
	read int
}

// Read implements io.Reader.
func (f *endlessFile) Read(p []byte) (int, error) {
	const n = 1000
	if len(p) < headerLen+n {
		return 0, errors.New("a small buffer")
	}
	clear(p[:headerLen+n])
	putHeader(p, n, f.seq)
	f.seq++
	f.read += n
	return headerLen + n, nil
}

// TestLoadLocalKilled: a file without an end is not read away for long after its statement
// has ended.
func TestLoadLocalKilled(t *testing.T) {
	w := rowWriter(NewHeader([]Column{{Name: "a"}}), false)
	file := &endlessFile{}
	w.c.src, w.c.buf = file, make([]byte, 16<<10)
	ctx, cancel := context.WithCancelCause(t.Context())
	w.local = &localReader{c: w.c, ctx: w.c.ctx}
	w.local.EndWith(ctx)
	if n, err := w.local.Read(make([]byte, 100)); n != 100 || err != nil {
		t.Fatal(n, err)
	}
	killed := errors.New("killed")
	cancel(killed)
	if err := w.endLocal(); !errors.Is(err, killed) || !w.c.result.broken {
		t.Errorf("%v, broken is %v", err, w.c.result.broken)
	}
	if file.read < mostAfterKill || file.read > mostAfterKill+1<<20 {
		t.Errorf("%d bytes were read", file.read)
	}
}
