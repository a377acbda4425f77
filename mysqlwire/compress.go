package mysqlwire

import (
	"bytes"
	"compress/zlib"
	"io"
	"sync"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// With CLIENT_COMPRESS the stream of packets travels in frames:
//
//	length     3 bytes, of what follows the header
//	sequence   1 byte
//	original   3 bytes, length before compression; 0 if not compressed
const (
	frameHeaderLen = 7
	// minCompressed is the length below which compression does not pay.
	minCompressed = 50
)

// zlibWriters holds *zlib.Writer, which are too large for one per connection.
type zlibWriters struct{ pool sync.Pool }

func (z *zlibWriters) get(w io.Writer) *zlib.Writer {
	if zw, ok := z.pool.Get().(*zlib.Writer); ok {
		zw.Reset(w)
		return zw
	}
	zw, _ := zlib.NewWriterLevel(w, zlib.BestSpeed) // the level is valid
	return zw
}

// compressed puts frames under the packets of a connection. It belongs to the
// connection's goroutine.
type compressed struct {
	src  io.Reader
	dst  io.Writer
	pool *zlibWriters
	seq  uint8

	frame io.LimitedReader // rest of the frame on the wire
	body  io.Reader        // the frame's content, nil between frames
	zr    io.ReadCloser
	left  int // of the content, when compressed
	out   bytes.Buffer
}

// startCompression goes over to frames, after the handshake.
func (c *conn) startCompression() {
	src := c.src
	if c.r < c.w {
		src = io.MultiReader(bytes.NewReader(bytes.Clone(c.buf[c.r:c.w])), src)
		c.r, c.w = 0, 0
	}
	z := &compressed{src: src, dst: c.dst, pool: &c.srv.pools.zlib}
	c.src, c.dst = z, z
}

// Read implements io.Reader.
func (z *compressed) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if z.body == nil {
			if err := z.next(); err != nil {
				return 0, err
			}
		}
		n, err := z.body.Read(p)
		if z.body == io.Reader(&z.frame) {
			z.left = int(z.frame.N)
		} else if z.left -= n; z.left < 0 {
			return 0, sqlerr.MalformedPacket()
		}
		if err == io.EOF && z.left > 0 {
			return n, io.ErrUnexpectedEOF
		}
		if err == io.EOF || z.left == 0 {
			err = z.endFrame(err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// next reads a frame header.
func (z *compressed) next() error {
	var h [frameHeaderLen]byte
	if _, err := io.ReadFull(z.src, h[:]); err != nil {
		return err
	}
	n := int64(h[0]) | int64(h[1])<<8 | int64(h[2])<<16
	z.seq = h[3] + 1
	z.frame = io.LimitedReader{R: z.src, N: n}
	z.left = int(h[4]) | int(h[5])<<8 | int(h[6])<<16
	if z.left == 0 {
		z.body, z.left = &z.frame, int(n)
		return nil
	}
	if z.zr == nil {
		zr, err := zlib.NewReader(&z.frame)
		if err != nil {
			return err
		}
		z.zr = zr
	} else if err := z.zr.(zlib.Resetter).Reset(&z.frame, nil); err != nil {
		return err
	}
	z.body = z.zr
	return nil
}

// endFrame checks the end of a frame's content and skips what is left of it.
func (z *compressed) endFrame(err error) error {
	if err == nil && z.body != io.Reader(&z.frame) {
		// The checksum follows the last byte.
		var more [1]byte
		if n, zerr := z.body.Read(more[:]); n > 0 || zerr != io.EOF {
			return sqlerr.MalformedPacket()
		}
	}
	z.body = nil
	_, err = io.Copy(io.Discard, &z.frame)
	return err
}

// Write implements io.Writer. The frames leave in one write per part of
// 2^24-1 bytes.
func (z *compressed) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		part := p[:min(len(p), maxPayload)]
		p = p[len(part):]
		if err := z.writeFrame(part); err != nil {
			return written, err
		}
		written += len(part)
	}
	return written, nil
}

func (z *compressed) writeFrame(part []byte) error {
	z.out.Reset()
	var h [frameHeaderLen]byte
	z.out.Write(h[:])
	original := len(part)
	if len(part) >= minCompressed {
		zw := z.pool.get(&z.out)
		_, _ = zw.Write(part) // a bytes.Buffer takes all
		_ = zw.Close()
		z.pool.pool.Put(zw)
	}
	if n := z.out.Len() - frameHeaderLen; n == 0 || n >= len(part) {
		z.out.Truncate(frameHeaderLen)
		z.out.Write(part)
		original = 0
	}
	frame := z.out.Bytes()
	putHeader(frame, len(frame)-frameHeaderLen, z.seq)
	frame[4], frame[5], frame[6] = byte(original), byte(original>>8), byte(original>>16)
	z.seq++
	_, err := z.dst.Write(frame)
	if z.out.Cap() > maxPooled {
		z.out = bytes.Buffer{}
	}
	return err
}
