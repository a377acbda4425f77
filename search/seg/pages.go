package seg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
)

// The layout of a bbolt file (go.etcd.io/bbolt, internal/common): pages with a
// header, the first two of them meta pages; B+trees of branch and leaf pages,
// one for the root bucket and one for every bucket that is not inline; and the
// list of free pages.
const (
	boltMagic      = 0xED0CDAED
	boltVersion    = 2
	pageHeader     = 16 // id u64, flags u16, count u16, overflow u32
	pageElement    = 16 // of a branch: pos, ksize u32, child u64; of a leaf: flags, pos, ksize, vsize u32
	bucketHeader   = 16 // root u64, sequence u64
	branchFlag     = 0x01
	leafFlag       = 0x02
	freelistFlag   = 0x10
	bucketLeafFlag = 0x01
	noFreelist     = ^uint64(0)
	maxDepth       = 64
)

// pages checks the structure of a bbolt file.
type pages struct {
	file []byte
	size uint64 // of a page
	high uint64 // the first page that was never used
	used []bool // by page
}

// checkPages verifies the structure of a bbolt file that is not open: every page below
// the high water mark belongs to one tree, or to the free list, once; elements are
// within their pages; keys ascend. Bbolt has checksums of its meta pages alone and
// trusts the rest: where that is damaged it loops, or overwrites pages in use.
func checkPages(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return checkPagesOf(path, b)
}

// checkPagesOf is checkPages for a file's bytes.
func checkPagesOf(path string, b []byte) error {
	p := pages{file: b}
	root, free, err := p.meta()
	if err != nil {
		return damaged(path, "%v", err)
	}
	if err := p.tree(root, nil, nil, 0); err != nil {
		return damaged(path, "%v", err)
	}
	if free == noFreelist {
		return nil
	}
	if err := p.free(free); err != nil {
		return damaged(path, "free list: %v", err)
	}
	for id, used := range p.used {
		if !used {
			return damaged(path, "page %d is in no tree and not free", id)
		}
	}
	return nil
}

// meta takes the newer of the valid meta pages.
func (p *pages) meta() (root, free uint64, err error) {
	le := binary.LittleEndian
	var newest uint64
	found := false
	try := func(at uint64) (size uint64) {
		if at+pageHeader+64 > uint64(len(p.file)) {
			return 0
		}
		m := p.file[at+pageHeader:][:64]
		h := fnv.New64a()
		h.Write(m[:56])
		if le.Uint32(m) != boltMagic || le.Uint32(m[4:]) != boltVersion || le.Uint64(m[56:]) != h.Sum64() {
			return 0
		}
		size = uint64(le.Uint32(m[8:]))
		if txid := le.Uint64(m[48:]); !found || txid > newest {
			found, newest = true, txid
			p.size, root, free, p.high = size, le.Uint64(m[16:]), le.Uint64(m[32:]), le.Uint64(m[40:])
		}
		return size
	}
	// the second one follows after one page; if the first is valid it has the page
	// size, otherwise bbolt tries the powers of two
	if size := try(0); size != 0 {
		try(size)
	} else {
		for size := uint64(1024); size <= 16<<20 && !found; size *= 2 {
			try(size)
		}
	}
	switch {
	case !found:
		return 0, 0, fmt.Errorf("no meta page is valid")
	case p.size < 1024 || p.high < 2 || p.high > uint64(len(p.file))/p.size:
		return 0, 0, fmt.Errorf("%d pages of %d bytes in a file of %d", p.high, p.size, len(p.file))
	}
	p.used = make([]bool, p.high)
	p.used[0], p.used[1] = true, true
	return root, free, nil
}

// take reads the header of a page and marks its pages; body begins with the
// header.
func (p *pages) take(id uint64) (flags, count uint16, body []byte, err error) {
	if id < 2 || id >= p.high {
		return 0, 0, nil, fmt.Errorf("page %d of %d", id, p.high)
	}
	le := binary.LittleEndian
	b := p.file[id*p.size:]
	if le.Uint64(b) != id {
		return 0, 0, nil, fmt.Errorf("page %d calls itself %d", id, le.Uint64(b))
	}
	n := uint64(le.Uint32(b[12:])) + 1
	if n > p.high-id {
		return 0, 0, nil, fmt.Errorf("page %d is %d pages long, of %d in all", id, n, p.high)
	}
	for i := id; i < id+n; i++ {
		if p.used[i] {
			return 0, 0, nil, fmt.Errorf("page %d is used twice", i)
		}
		p.used[i] = true
	}
	return le.Uint16(b[8:]), le.Uint16(b[10:]), b[:n*p.size], nil
}

// tree checks a tree, the keys of which are at least from and below to, where
// not nil.
func (p *pages) tree(id uint64, from, to []byte, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("page %d is too deep", id)
	}
	flags, count, b, err := p.take(id)
	if err != nil {
		return err
	}
	if err := p.elements(flags, int(count), b, from, to, depth); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

func (p *pages) elements(flags uint16, count int, b, from, to []byte, depth int) error {
	le := binary.LittleEndian
	if flags != branchFlag && flags != leafFlag || flags == branchFlag && count == 0 {
		return fmt.Errorf("flags %x with %d elements", flags, count)
	}
	if pageHeader+count*pageElement > len(b) {
		return fmt.Errorf("%d elements in %d bytes", count, len(b))
	}
	elem := func(i int) (kind uint32, key, value []byte, child uint64, err error) {
		e := b[pageHeader+i*pageElement:]
		var pos, k, v uint64
		if flags == branchFlag {
			pos, k, child = uint64(le.Uint32(e)), uint64(le.Uint32(e[4:])), le.Uint64(e[8:])
		} else {
			kind, pos, k, v = le.Uint32(e), uint64(le.Uint32(e[4:])), uint64(le.Uint32(e[8:])), uint64(le.Uint32(e[12:]))
		}
		if pos+k+v > uint64(len(e)) || pos < uint64((count-i)*pageElement) {
			return 0, nil, nil, 0, fmt.Errorf("element %d is outside", i)
		}
		return kind, e[pos:][:k], e[pos+k:][:v], child, nil
	}
	last := from
	for i := range count {
		kind, key, value, child, err := elem(i)
		if err != nil {
			return err
		}
		if last != nil {
			if c := bytes.Compare(last, key); c > 0 || c == 0 && i > 0 {
				return fmt.Errorf("key %d is not above the one before", i)
			}
		}
		if to != nil && bytes.Compare(key, to) >= 0 {
			return fmt.Errorf("key %d is above those of its branch", i)
		}
		last = key
		switch {
		case flags == branchFlag:
			next := to
			if i+1 < count {
				if _, next, _, _, err = elem(i + 1); err != nil {
					return err
				}
			}
			err = p.tree(child, key, next, depth+1)
		case kind == bucketLeafFlag:
			err = p.bucket(value, depth+1)
		case kind != 0:
			err = fmt.Errorf("element %d has flags %x", i, kind)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the value of a bucket: the root of its tree, or 0 and a page
// within the value.
func (p *pages) bucket(value []byte, depth int) error {
	if len(value) < bucketHeader || depth > maxDepth {
		return fmt.Errorf("a bucket of %d bytes", len(value))
	}
	le := binary.LittleEndian
	if root := le.Uint64(value); root != 0 {
		return p.tree(root, nil, nil, depth)
	}
	b := value[bucketHeader:]
	if len(b) < pageHeader || le.Uint64(b) != 0 || le.Uint16(b[8:]) != leafFlag || le.Uint32(b[12:]) != 0 {
		return fmt.Errorf("an inline bucket of %d bytes", len(b))
	}
	return p.elements(leafFlag, int(le.Uint16(b[10:])), b, nil, nil, depth)
}

func (p *pages) free(id uint64) error {
	flags, count, b, err := p.take(id)
	if err != nil {
		return err
	}
	if flags != freelistFlag {
		return fmt.Errorf("flags %x", flags)
	}
	le := binary.LittleEndian
	n, ids := uint64(count), b[pageHeader:]
	if count == 0xFFFF { // more than the header can hold: the first id is their number
		n, ids = le.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids))/8 {
		return fmt.Errorf("%d pages in %d bytes", n, len(ids))
	}
	last := uint64(0)
	for i := range n {
		f := le.Uint64(ids[i*8:])
		if f <= last || f >= p.high || p.used[f] {
			return fmt.Errorf("page %d after %d of %d is not free", f, last, p.high)
		}
		p.used[f], last = true, f
	}
	return nil
}
