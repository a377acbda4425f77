package seg

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"unsafe"

	"github.com/blevesearch/mmap-go"
)

// Parts of a field in the file. The numbers are on disk.
const (
	partNulls      = iota + 1 // bitset of the documents that are NULL
	partOffsets               // Multi: packed, start of each document's values
	partValues                // packed: words, ordinals, text lengths
	partPerm                  // documents in the order of their values
	partDict                  // Key: the distinct values
	partDictEnds              // Key: packed, their ends
	partKeys                  // Key, collated: the distinct sort keys
	partKeyEnds               // Key, collated: packed, their ends
	partClasses               // Key, collated: packed, first value of each sort key
	partListEnds              // Key: packed, ends of the lists of documents
	partDense                 // Key: sort keys that have a bitset instead of a list
	partDenseBits             // Key: those bitsets
	partLat                   // Point: int32
	partLon                   // Point: int32
	partBlocks                // Bytes: compressed blocks
	partBlockIndex            // Bytes: first document and offset of each block
	partIDs                   // document ids
	partIDEnds                // packed, their ends; absent when they are of one length
	partHash                  // hash table of ids
	partPaths                 // path of each nested document
	partRoots                 // bitset of the documents that are no nested ones
	partCells                 // Point: cell of every 64th place of the permutation
	partInverted              // terms and postings, as zap writes them
	partX                     // Point: float64, the coordinates as they were
	partY                     // Point: float64
)

const (
	fileMagic   = "sqlotsC1"
	fileVersion = 2
	footerSize  = 64
	entrySize   = 56
	sectionPad  = 64
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	// littleEndian: sections are read in place, in the byte order of the disk.
	littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1
)

// entry is one section in the directory of a file.
type entry struct {
	field  FieldID
	kind   Kind
	part   uint8
	crc    uint32
	off    uint64
	len    uint64
	params [4]int64
}

// fileWriter writes sections one after the other and the directory at the end.
type fileWriter struct {
	w       *bufio.Writer
	off     uint64
	entries []entry
	err     error
}

func newFileWriter(w io.Writer, off int64) *fileWriter {
	return &fileWriter{w: bufio.NewWriterSize(w, 256<<10), off: uint64(off)}
}

func (w *fileWriter) write(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
	w.off += uint64(len(b))
}

var zeros [sectionPad]byte

func (w *fileWriter) pad() {
	if n := w.off % sectionPad; n != 0 {
		w.write(zeros[n:])
	}
}

// section writes the parts, which lie one after the other.
func (w *fileWriter) section(f FieldID, k Kind, part uint8, params [4]int64, data ...[]byte) {
	w.pad()
	e := entry{field: f, kind: k, part: part, off: w.off, params: params}
	for _, d := range data {
		e.crc = crc32.Update(e.crc, castagnoli, d)
		e.len += uint64(len(d))
		w.write(d)
	}
	w.entries = append(w.entries, e)
}

// begin begins a section whose data comes piece by piece; end ends it.
func (w *fileWriter) begin(f FieldID, k Kind, part uint8) *entry {
	w.pad()
	return &entry{field: f, kind: k, part: part, off: w.off}
}

func (w *fileWriter) add(e *entry, data []byte) {
	e.crc = crc32.Update(e.crc, castagnoli, data)
	e.len += uint64(len(data))
	w.write(data)
}

func (w *fileWriter) end(e *entry) { w.entries = append(w.entries, *e) }

// inverted notes the part that zap wrote to the beginning of the file. It has
// a checksum of its own.
func (w *fileWriter) inverted(n int64) {
	w.entries = append(w.entries, entry{part: partInverted, len: uint64(n)})
}

// finish writes directory and footer.
func (w *fileWriter) finish(docs, roots int) error {
	w.pad()
	dirOff := w.off
	dir := make([]byte, 0, len(w.entries)*entrySize)
	for _, e := range w.entries {
		dir = binary.LittleEndian.AppendUint16(dir, uint16(e.field))
		dir = append(dir, byte(e.kind), e.part)
		dir = binary.LittleEndian.AppendUint32(dir, e.crc)
		dir = binary.LittleEndian.AppendUint64(dir, e.off)
		dir = binary.LittleEndian.AppendUint64(dir, e.len)
		for _, p := range e.params {
			dir = binary.LittleEndian.AppendUint64(dir, uint64(p))
		}
	}
	w.write(dir)
	foot := make([]byte, 0, footerSize)
	foot = append(foot, fileMagic...)
	foot = binary.LittleEndian.AppendUint32(foot, fileVersion)
	foot = binary.LittleEndian.AppendUint32(foot, uint32(len(w.entries)))
	foot = binary.LittleEndian.AppendUint64(foot, dirOff)
	foot = binary.LittleEndian.AppendUint64(foot, uint64(docs))
	foot = binary.LittleEndian.AppendUint64(foot, uint64(roots))
	foot = append(foot, make([]byte, footerSize-8-len(foot))...)
	foot = binary.LittleEndian.AppendUint32(foot, crc32.Checksum(dir, castagnoli))
	foot = binary.LittleEndian.AppendUint32(foot, crc32.Checksum(foot, castagnoli))
	w.write(foot)
	if w.err != nil {
		return w.err
	}
	return w.w.Flush()
}

// file is an opened segment, mapped or in memory.
type file struct {
	name  string
	data  []byte
	mm    mmap.MMap
	docs  int
	roots int
	dir   map[uint32]*section
}

// section is a part of a field, whose checksum is verified at its first use.
type section struct {
	entry
	data    []byte
	checked atomic.Bool
}

func partKey(f FieldID, part uint8) uint32 { return uint32(f)<<8 | uint32(part) }

// openFile maps a file and reads its directory.
func openFile(path string) (*file, error) {
	if !segmentName.MatchString(filepath.Base(path)) { // also a folder, or what no file may be called
		return nil, damaged(rootFile, "names a file %q", filepath.Base(path))
	}
	f, err := os.Open(path)
	if err != nil {
		if os.IsNotExist(err) {
			return nil, damaged(path, "is missing, and %s names it", rootFile)
		}
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < footerSize {
		return nil, damaged(path, "has %d bytes", st.Size())
	}
	mm, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	mapped.Store(addressOf(mm), mapping{path, len(mm)})
	var r *file
	err = Guard(func() (err error) {
		r, err = parseFile(path, mm)
		return err
	})
	if err != nil {
		mapped.Delete(addressOf(mm))
		_ = mm.Unmap()
		return nil, err
	}
	r.mm = mm
	return r, nil
}

// segmentName is how scorch calls files.
var segmentName = regexp.MustCompile(`^[0-9a-f]{12,16}\.zap$`)

func (f *file) close() error {
	if f.mm == nil {
		return nil
	}
	mm := f.mm
	mapped.Delete(addressOf(mm))
	f.mm, f.data, f.dir = nil, nil, nil
	return mm.Unmap()
}

// parseFile reads footer and directory of a file's bytes.
func parseFile(name string, data []byte) (*file, error) {
	foot := data[len(data)-footerSize:]
	if string(foot[:8]) != fileMagic {
		return nil, damaged(name, "has no footer")
	}
	if got, want := crc32.Checksum(foot[:footerSize-4], castagnoli), binary.LittleEndian.Uint32(foot[footerSize-4:]); got != want {
		return nil, damaged(name, "checksum of the footer is %08x instead of %08x", got, want)
	}
	if v := binary.LittleEndian.Uint32(foot[8:]); v < fileVersion { // places without their coordinates
		return nil, damaged(name, "has version %d, which this program builds anew", v)
	} else if v > fileVersion {
		return nil, fmt.Errorf("search index file %s has version %d; this program knows version %d", name, v, fileVersion)
	}
	n := uint64(binary.LittleEndian.Uint32(foot[12:]))
	dirOff := binary.LittleEndian.Uint64(foot[16:])
	if size := uint64(len(data)); dirOff > size || dirOff+n*entrySize+footerSize != size {
		return nil, damaged(name, "has %d bytes instead of %d", size, dirOff+n*entrySize+footerSize)
	}
	dir := data[dirOff : dirOff+n*entrySize]
	if got, want := crc32.Checksum(dir, castagnoli), binary.LittleEndian.Uint32(foot[footerSize-8:]); got != want {
		return nil, damaged(name, "checksum of the directory is %08x instead of %08x", got, want)
	}
	f := &file{
		name: name, data: data, dir: make(map[uint32]*section, n),
		docs: int(binary.LittleEndian.Uint64(foot[24:])), roots: int(binary.LittleEndian.Uint64(foot[32:])),
	}
	for ; len(dir) > 0; dir = dir[entrySize:] {
		s := &section{entry: entry{
			field: FieldID(binary.LittleEndian.Uint16(dir)), kind: Kind(dir[2]), part: dir[3],
			crc: binary.LittleEndian.Uint32(dir[4:]),
			off: binary.LittleEndian.Uint64(dir[8:]), len: binary.LittleEndian.Uint64(dir[16:]),
		}}
		for i := range s.params {
			s.params[i] = int64(binary.LittleEndian.Uint64(dir[24+8*i:]))
		}
		if s.off > dirOff || s.len > dirOff-s.off {
			return nil, damaged(name, "section past the end")
		}
		s.data = data[s.off : s.off+s.len : s.off+s.len]
		f.dir[partKey(s.field, s.part)] = s
	}
	return f, nil
}

// section gives a section after verifying its checksum; nil if the file has no such
// section.
func (f *file) section(field FieldID, part uint8) (*section, error) {
	s := f.dir[partKey(field, part)]
	if s == nil || s.checked.Load() {
		return s, nil
	}
	if err := Guard(func() error { return s.verify(f.name) }); err != nil {
		return nil, err
	}
	s.checked.Store(true)
	return s, nil
}

func (s *section) verify(name string) error {
	if s.part == partInverted {
		if len(s.data) < zapFooter {
			return damaged(name, "inverted part has %d bytes", len(s.data))
		}
		got := crc32.ChecksumIEEE(s.data[:len(s.data)-4])
		if want := binary.BigEndian.Uint32(s.data[len(s.data)-4:]); got != want {
			return damaged(name, "checksum of the inverted part is %08x instead of %08x", got, want)
		}
		return nil
	}
	if got := crc32.Checksum(s.data, castagnoli); got != s.crc {
		return damaged(name, "checksum of field %d part %d is %08x instead of %08x", s.field, s.part, got, s.crc)
	}
	return nil
}

// verify reads the whole file, also what was verified before.
func (f *file) verify() error {
	for _, s := range f.dir {
		if err := Guard(func() error { return s.verify(f.name) }); err != nil {
			return err
		}
	}
	return nil
}

// fields calls back once for each field that the file has, in no order.
func (f *file) fields() map[FieldID]Kind {
	out := map[FieldID]Kind{}
	for _, s := range f.dir {
		if s.field != 0 {
			out[s.field] = s.kind
		}
	}
	return out
}

// view reads bytes of the file as a slice of numbers. Sections are aligned.
func view[T uint16 | uint32 | uint64 | int32 | int64 | float64](b []byte) []T {
	var z T
	n := len(b) / int(unsafe.Sizeof(z))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// bytesOf is the reverse of view.
func bytesOf[T uint16 | uint32 | uint64 | int32 | int64 | float64](v []T) []byte {
	var z T
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(z)))
}

// alignedBytes is a buffer that view may read.
func alignedBytes(n int) []byte { return bytesOf(make([]uint64, (n+7)/8))[:n] }

// syncDir makes the names of files durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
