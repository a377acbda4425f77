package seg

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// FuzzFile: a segment file of any bytes whose checksums are right is read or damaged.
func FuzzFile(f *testing.F) {
	dir := f.TempDir()
	ix, err := Open(dir, testSchema(), Options{})
	if err != nil {
		f.Fatal(err)
	}
	b := ix.NewBatch()
	for i := range 5 {
		b.Upsert([]byte{byte(i)})
		randomDoc(rand.New(rand.NewPCG(uint64(i), 1)), 0).put(b)
	}
	b.Checkpoint(1)
	if err := errors.Join(ix.Apply(b), ix.Persist(f.Context()), ix.Close()); err != nil {
		f.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && filepath.Base(name) != rootFile {
			f.Add(text)
		}
	}
	wrap := make([]byte, 2*footerSize) // a directory whose end is beyond 2^64
	copy(wrap[footerSize:], fileMagic)
	binary.LittleEndian.PutUint32(wrap[footerSize+8:], fileVersion)
	binary.LittleEndian.PutUint32(wrap[footerSize+12:], 4)
	binary.LittleEndian.PutUint64(wrap[footerSize+16:], ^uint64(0)-4*entrySize+1+footerSize)
	f.Add(wrap)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Clone(data)
		if len(data) < footerSize {
			return
		}
		foot := data[len(data)-footerSize:]
		copy(foot, fileMagic)
		binary.LittleEndian.PutUint32(foot[8:], fileVersion)
		n := uint64(binary.LittleEndian.Uint32(foot[12:])) * entrySize
		if at := binary.LittleEndian.Uint64(foot[16:]); at <= uint64(len(data)) && n <= uint64(len(data))-at {
			binary.LittleEndian.PutUint32(foot[footerSize-8:], crc32.Checksum(data[at:at+n], castagnoli))
		}
		binary.LittleEndian.PutUint32(foot[footerSize-4:], crc32.Checksum(foot[:footerSize-4], castagnoli))
		file, err := parseFile("file", data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if err := file.verify(); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}

// FuzzPages: a root file of any bytes whose newest meta page is valid passes or is
// damaged.
func FuzzPages(f *testing.F) {
	for seed := range uint64(3) {
		text, err := os.ReadFile(boltFile(f, rand.New(rand.NewPCG(seed, 9))))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 16<<10)])
		f.Add(text[:min(len(text), 64<<10)])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Clone(data)
		if len(data) < pageHeader+64 {
			return
		}
		m := data[pageHeader:][:64]
		binary.LittleEndian.PutUint32(m, boltMagic)
		binary.LittleEndian.PutUint32(m[4:], boltVersion)
		h := fnv.New64a()
		h.Write(m[:56])
		binary.LittleEndian.PutUint64(m[56:], h.Sum64())
		if err := checkPagesOf("root", data); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}
