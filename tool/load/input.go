package load

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// input is a file, decompressed. read counts the bytes of the file itself.
type input struct {
	name string
	r    *bufio.Reader
	all  []io.Closer
}

// counter counts what is read through it.
type counter struct {
	io.Reader
	n *atomic.Int64
}

func (c counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}

func openInput(name, compression string, read *atomic.Int64) (*input, error) {
	in := &input{name: name}
	var file io.Reader = os.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		in.all = append(in.all, f)
		file = f
	}
	raw := bufio.NewReaderSize(counter{file, read}, 1<<20)
	head, err := raw.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), in.close())
	}
	if compression == "auto" {
		switch {
		case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
			compression = "gzip"
		case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
			compression = "zstd"
		}
	}
	switch compression {
	case "gzip":
		z, err := gzip.NewReader(raw)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), in.close())
		}
		in.all = append(in.all, z)
		in.r = bufio.NewReaderSize(z, 1<<20)
	case "zstd":
		z, err := zstd.NewReader(raw)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), in.close())
		}
		in.all = append(in.all, z.IOReadCloser())
		in.r = bufio.NewReaderSize(z, 1<<20)
	default:
		in.r = raw
	}
	if b, err := in.r.Peek(3); err == nil && bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		_, _ = in.r.Discard(3) // a byte order mark
	}
	return in, nil
}

func (in *input) close() error {
	var err error
	for i := len(in.all) - 1; i >= 0; i-- {
		err = errors.Join(err, in.all[i].Close())
	}
	return err
}

// cutter finds the ends of records: newlines outside of quotes in CSV, without
// a backslash before them in TSV, every one in JSON lines.
type cutter struct {
	quote  byte // csv; 0: none
	escape byte // tsv; 0: none
	inside bool // of quotes
	odd    bool // the last byte is an escape that makes the next byte ordinary
}

// end is the number of bytes of p up to and with the first end of a record at or after
// from, 0 without one. It is called with the bytes of a stream in order; those up to
// the end that it found count as seen.
func (c *cutter) end(p []byte, from int) int {
	switch {
	case c.quote != 0:
		at := 0
		if from > 0 {
			at = min(from, len(p))
			if bytes.Count(p[:at], []byte{c.quote})%2 == 1 {
				c.inside = !c.inside
			}
		}
		for at < len(p) {
			i := bytes.IndexAny(p[at:], string([]byte{c.quote, '\n'}))
			if i < 0 {
				break
			}
			at += i + 1
			if p[at-1] == c.quote {
				c.inside = !c.inside
			} else if !c.inside {
				return at
			}
		}
	case c.escape != 0:
		for at := range p {
			b := p[at]
			switch {
			case c.odd:
				c.odd = false
			case b == c.escape:
				c.odd = true
			case b == '\n' && at >= from:
				return at + 1
			}
		}
	default:
		if from < len(p) {
			if i := bytes.IndexByte(p[from:], '\n'); i >= 0 {
				return from + i + 1
			}
		}
	}
	return 0
}

// maxRecord bounds a record that has no end.
const maxRecord = 64 << 20

// record reads one record; io.EOF at the end.
func (in *input) record(c cutter) ([]byte, error) {
	return in.piece(c, 0, nil)
}

// piece appends records to buf until it has at least size bytes; io.EOF when
// there are none.
func (in *input) piece(c cutter, size int, buf []byte) ([]byte, error) {
	buf = buf[:0]
	for {
		if _, err := in.r.Peek(1); err != nil {
			if !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("%s: %w", in.name, err)
			}
			if len(buf) == 0 {
				return nil, io.EOF
			}
			return buf, nil
		}
		b, _ := in.r.Peek(in.r.Buffered())
		if n := c.end(b, max(0, size-1-len(buf))); n > 0 {
			buf = append(buf, b[:n]...)
			_, _ = in.r.Discard(n)
			return buf, nil
		}
		buf = append(buf, b...)
		_, _ = in.r.Discard(len(b))
		if len(buf) > size+maxRecord {
			return nil, fmt.Errorf("%s: a record of more than %d bytes (a quote that is not closed?)", in.name, maxRecord)
		}
	}
}

// records calls fn with each record of a piece.
func records(data []byte, c cutter, fn func(line int, record []byte) bool) {
	for line := 1; len(data) > 0; line++ {
		n := c.end(data, 0)
		if n == 0 {
			n = len(data)
		}
		if !fn(line, data[:n]) {
			return
		}
		data = data[n:]
	}
}
