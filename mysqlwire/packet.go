package mysqlwire

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// A packet is
//
//	length   3 bytes, little-endian
//	sequence 1 byte, counted from 0 through a command and its answer
//	payload  length bytes
//
// A payload of 2^24-1 bytes or more is split: parts of exactly 2^24-1 bytes,
// then one shorter, which may be empty.
const (
	headerLen  = 4
	maxPayload = 1<<24 - 1

	// readBufSize is what an idle connection keeps.
	readBufSize = 4 << 10
	// flushSize is the size of the out-buffer from which on it is written.
	flushSize = 32 << 10
	// outBufSize leaves room for a row after flushSize; a buffer that grew beyond
	// maxPooled is left to the garbage collector.
	outBufSize = 48 << 10
	maxPooled  = 1 << 20
)

// errClientGone marks errors of the socket: no client is left to answer.
var errClientGone = errors.New("client is gone")

// gone wraps an error of the socket.
func gone(what string, err error) error {
	return fmt.Errorf("%s: %w: %w", what, errClientGone, err)
}

// bufferPools are shared by the connections of a server.
type bufferPools struct {
	out  sync.Pool // *[]byte of outBufSize
	big  sync.Pool // *[]byte, payloads beyond readBufSize
	zlib zlibWriters
}

// wire is the packet layer of one connection. It belongs to the connection's
// goroutine.
type wire struct {
	src   io.Reader
	dst   io.Writer
	pools *bufferPools
	// memory counts held bytes for big.
	memory Memory
	held   int64
	// phase is called when the goroutine begins to wait for the client.
	phase func(phase)

	// flushed is how many bytes have been written.
	flushed uint64
	// received is how many bytes have been read.
	received uint64

	seq  uint8
	buf  []byte // read buffer; buf[r:w] is unread
	r, w int
	big  *[]byte // payload that did not fit buf

	out    []byte
	outBuf *[]byte // pooled backing of out, nil while idle
	err    error   // first write error
}

// fill makes at least n bytes, n <= len(buf), available in buf[r:w].
func (p *wire) fill(n int) error {
	if p.w-p.r >= n {
		return nil
	}
	if p.r+n > len(p.buf) || p.r == p.w {
		p.w = copy(p.buf, p.buf[p.r:p.w])
		p.r = 0
	}
	for empty := 0; p.w-p.r < n; {
		m, err := p.src.Read(p.buf[p.w:])
		p.w += m
		p.received += uint64(m)
		if p.w-p.r >= n {
			break
		}
		if err != nil {
			return readError(err, p.w > p.r)
		}
		if m == 0 {
			if empty++; empty > 100 {
				return gone("reading packet", io.ErrNoProgress)
			}
			continue
		}
		p.phase(phaseReading)
	}
	return nil
}

func readError(err error, inside bool) error {
	if err == io.EOF && inside {
		err = io.ErrUnexpectedEOF
	}
	return gone("reading packet", err)
}

// header reads a packet header, checks its sequence number and returns its
// length.
func (p *wire) header() (int, error) {
	if err := p.fill(headerLen); err != nil {
		return 0, err
	}
	h := p.buf[p.r : p.r+headerLen]
	n := int(h[0]) | int(h[1])<<8 | int(h[2])<<16
	if h[3] != p.seq {
		return 0, sqlerr.PacketsOutOfOrder()
	}
	p.seq++
	p.r += headerLen
	return n, nil
}

// readPacket reads a payload of at most limit bytes (1153). It is valid until
// the next read.
func (p *wire) readPacket(limit int) ([]byte, error) {
	n, err := p.header()
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, sqlerr.PacketTooLarge()
	}
	if n > len(p.buf) {
		return p.readLong(n, limit)
	}
	if err := p.fill(n); err != nil {
		return nil, truncated(err)
	}
	out := p.buf[p.r : p.r+n : p.r+n]
	p.r += n
	return out, nil
}

// truncated makes the end of the stream inside a packet an unexpected one.
func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return gone("reading packet", io.ErrUnexpectedEOF)
	}
	return err
}

// refusedPacket is the error of a packet that was read away for want of memory. The
// connection goes on.
type refusedPacket struct{ error }

// Unwrap is the error for the client.
func (r *refusedPacket) Unwrap() error { return r.error }

// largePacket is the length from which on packets and parameters are counted, and
// packetShare what they take, for each of their bytes: the text of a statement is a
// copy.
const (
	largePacket = 64 << 10
	packetShare = 2
)

// readLong reads a payload that does not fit the read buffer, and the parts
// that follow it. Memory grows with the bytes that arrive: an announced length
// costs nothing. One for which there is no memory is a refusedPacket, with its
// first bytes.
func (p *wire) readLong(n, limit int) ([]byte, error) {
	if p.big == nil {
		if p.big, _ = p.pools.big.Get().(*[]byte); p.big == nil {
			b := make([]byte, 0, 64<<10)
			p.big = &b
		}
	}
	big := (*p.big)[:0]
	for {
		var err error
		before := len(big)
		if big, err = p.readPart(big, n); err != nil {
			var refused *refusedPacket
			if !errors.As(err, &refused) {
				return nil, truncated(err)
			}
			if err := p.skip(n-(len(big)-before), n, limit-before); err != nil {
				return nil, err
			}
			return big, refused
		}
		*p.big = big
		if n < maxPayload {
			return big, nil
		}
		if n, err = p.header(); err != nil {
			return nil, truncated(err)
		}
		if len(big)+n > limit {
			return nil, sqlerr.PacketTooLarge()
		}
	}
}

// skip reads away n bytes of a part of size bytes, and the parts that follow it, of
// at most limit bytes together (1153).
func (p *wire) skip(n, size, limit int) error {
	pooled, _ := p.pools.big.Get().(*[]byte)
	if pooled == nil {
		b := make([]byte, 0, largePacket)
		pooled = &b
	}
	defer p.pools.big.Put(pooled)
	trash := (*pooled)[:min(cap(*pooled), largePacket)]
	for total := size; ; {
		for n > 0 {
			m, err := p.readSome(trash[:min(n, len(trash))])
			if n -= m; err != nil && n > 0 {
				return readError(err, true)
			}
		}
		if size < maxPayload {
			return nil
		}
		var err error
		if size, err = p.header(); err != nil {
			return truncated(err)
		}
		if total += size; total > limit {
			return sqlerr.PacketTooLarge()
		}
		n = size
	}
}

// hold makes what is counted for big fit n bytes.
func (p *wire) hold(n int) error {
	if n < largePacket {
		n = 0
	}
	more := packetShare*int64(n) - p.held
	if more > 0 {
		if err := p.memory.Reserve(more); err != nil {
			return &refusedPacket{err}
		}
	} else {
		p.memory.Release(-more)
	}
	p.held += more
	return nil
}

// readPart appends n bytes of the stream to dst.
func (p *wire) readPart(dst []byte, n int) ([]byte, error) {
	for n > 0 {
		if len(dst) == cap(dst) {
			size := cap(dst) + min(max(cap(dst), largePacket), n)
			if err := p.hold(size); err != nil {
				return dst, err
			}
			grown := make([]byte, len(dst), size)
			copy(grown, dst)
			dst = grown
		}
		room := dst[len(dst):min(cap(dst), len(dst)+n)]
		m, err := p.readSome(room)
		dst = dst[:len(dst)+m]
		n -= m
		if err != nil && n > 0 {
			return dst, readError(err, true)
		}
	}
	return dst, nil
}

// readSome reads buffered bytes, or else from the socket.
func (p *wire) readSome(dst []byte) (int, error) {
	if p.r < p.w {
		m := copy(dst, p.buf[p.r:p.w])
		p.r += m
		return m, nil
	}
	p.phase(phaseReading)
	if len(dst) >= len(p.buf) {
		m, err := p.src.Read(dst)
		p.received += uint64(m)
		return m, err
	}
	m, err := p.src.Read(p.buf)
	p.received += uint64(m)
	p.r, p.w = 0, m
	m = copy(dst, p.buf[:m])
	p.r = m
	return m, err
}

// begin starts a packet and returns its position for end.
func (p *wire) begin() int {
	if p.outBuf == nil {
		p.takeOut()
	}
	p.out = append(p.out, 0, 0, 0, 0)
	return len(p.out) - headerLen
}

func (p *wire) takeOut() {
	p.outBuf, _ = p.pools.out.Get().(*[]byte)
	if p.outBuf == nil {
		b := make([]byte, 0, outBufSize)
		p.outBuf = &b
	}
	p.out = (*p.outBuf)[:0]
}

// end finishes the packet that began at start, and writes the buffer if it is
// large. A failed write shows in p.err and in flush.
func (p *wire) end(start int) {
	n := len(p.out) - start - headerLen
	if n >= maxPayload {
		p.split(start, n)
	} else {
		putHeader(p.out[start:], n, p.seq)
		p.seq++
	}
	if len(p.out) >= flushSize {
		_ = p.flush()
	}
}

func putHeader(dst []byte, n int, seq uint8) {
	_ = dst[3]
	dst[0], dst[1], dst[2], dst[3] = byte(n), byte(n>>8), byte(n>>16), seq
}

// split inserts headers into a payload of n bytes that needs several packets.
func (p *wire) split(start, n int) {
	more := n / maxPayload
	p.out = append(p.out, make([]byte, more*headerLen)...)
	first := p.seq
	for k := more; k >= 1; k-- { // from the last part, which moves farthest
		from := start + headerLen + k*maxPayload
		size := min(maxPayload, n-k*maxPayload)
		to := from + k*headerLen
		copy(p.out[to:to+size], p.out[from:from+size])
		putHeader(p.out[to-headerLen:], size, first+uint8(k))
	}
	putHeader(p.out[start:], maxPayload, first)
	p.seq = first + uint8(more) + 1
}

// flush writes the out-buffer.
func (p *wire) flush() error {
	if p.err == nil && len(p.out) > 0 {
		p.phase(phaseWriting)
		p.flushed += uint64(len(p.out))
		_, err := p.dst.Write(p.out)
		p.phase(phaseBusy)
		if err != nil {
			p.err = gone("writing packet", err)
		}
	}
	if cap(p.out) > maxPooled {
		p.outBuf, p.out = nil, nil
		p.takeOut()
	}
	p.out = p.out[:0]
	return p.err
}

// release gives back the buffers that an idle connection does not need.
func (p *wire) release() {
	if p.outBuf != nil && len(p.out) == 0 {
		*p.outBuf = p.out
		p.pools.out.Put(p.outBuf)
		p.outBuf, p.out = nil, nil
	}
	if p.big != nil {
		if cap(*p.big) <= maxPooled {
			p.pools.big.Put(p.big)
		}
		p.big = nil
		_ = p.hold(0)
	}
}
