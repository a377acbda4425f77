package seg

import (
	"path/filepath"
	"runtime/debug"
	"sync"
	"unsafe"
)

// A file that is cut off while it is mapped, or that the disk cannot read, is a
// fault at an address, not an error. Guard makes damage of it.

// mapped are the files that are mapped, by their first byte.
var mapped sync.Map // uintptr to mapping

type mapping struct {
	name string
	size int
}

func addressOf(mm []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mm))) }

// fileAt is the file that is mapped at an address.
func fileAt(addr uintptr) (name string, ok bool) {
	mapped.Range(func(start, m any) bool {
		if s, m := start.(uintptr), m.(mapping); addr >= s && addr-s < uintptr(m.size) {
			name, ok = m.name, true
		}
		return !ok
	})
	return name, ok
}

// Guard calls do, in this goroutine. A fault in the file of a segment is an
// ErrDamaged, and its index is not used any more. Whatever reads segments, columns
// or postings does it within Guard; other panics pass.
func Guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface{ Addr() uintptr })
		if !ok {
			panic(r)
		}
		name, ok := fileAt(fault.Addr())
		if !ok {
			panic(r)
		}
		err = damaged(name, "cannot be read")
		if ix, ok := open.Load(filepath.Dir(name)); ok {
			ix.(*Index).note(err)
		}
	}()
	return do()
}
