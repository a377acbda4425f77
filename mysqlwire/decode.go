package mysqlwire

import (
	"bytes"
	"encoding/binary"
)

// payload reads the fields of a packet. A read beyond the end gives zero and
// sets bad, so that callers check once.
type payload struct {
	b   []byte
	bad bool
}

// take is the next n bytes, shared.
func (p *payload) take(n uint64) []byte {
	if n > uint64(len(p.b)) {
		p.bad = true
		p.b = nil
		return nil
	}
	out := p.b[:n:n]
	p.b = p.b[n:]
	return out
}

func (p *payload) uint8() byte {
	if b := p.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (p *payload) uint16() uint16 {
	if b := p.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (p *payload) uint32() uint32 {
	if b := p.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (p *payload) uint64() uint64 {
	if b := p.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// lenEnc reads a length-encoded integer; the markers of NULL and error are
// malformed here.
func (p *payload) lenEnc() uint64 {
	switch first := p.uint8(); first {
	case 0xfc:
		return uint64(p.uint16())
	case 0xfd:
		b := p.take(3)
		if b == nil {
			return 0
		}
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16
	case 0xfe:
		return p.uint64()
	case 0xfb, 0xff:
		p.bad = true
		return 0
	default:
		return uint64(first)
	}
}

func (p *payload) lenEncBytes() []byte { return p.take(p.lenEnc()) }

// nulBytes reads up to a NUL byte, which must be there, and past it.
func (p *payload) nulBytes() []byte {
	i := bytes.IndexByte(p.b, 0)
	if i < 0 {
		p.bad = true
		p.b = nil
		return nil
	}
	out := p.b[:i:i]
	p.b = p.b[i+1:]
	return out
}

// nulOrRest reads up to a NUL byte or the end.
func (p *payload) nulOrRest() []byte {
	if bytes.IndexByte(p.b, 0) < 0 {
		return p.rest()
	}
	return p.nulBytes()
}

func (p *payload) rest() []byte {
	out := p.b
	p.b = nil
	return out
}
