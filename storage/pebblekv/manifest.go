package pebblekv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
)

// The manifest is made of blocks and chunks as the log is, see log.go, but the
// header of a chunk ends behind the kind:
//
//	1 a whole record    2 the first chunk of one    3 one of the middle    4 the last
const (
	manifestHeader = 7
	chunkWhole     = 1
	chunkFirst     = 2
	chunkLast      = 4
)

// checkManifest looks for damage in the current manifest of a database. Pebble
// takes a record that it cannot read for the end, where a crash tore a write,
// and then forgets, and removes, the files that later records are about.
func checkManifest(dfs vfs.FS, dir string) error {
	names, err := dfs.List(dir)
	if err != nil {
		return err
	}
	current, newest := "", ""
	for _, name := range names {
		// marker.manifest.000003.MANIFEST-000007
		parts := strings.SplitN(name, ".", 4)
		if len(parts) == 4 && parts[0] == "marker" && parts[1] == "manifest" && parts[2] > newest {
			newest, current = parts[2], parts[3]
		}
	}
	if current == "" {
		return nil // a new store, or one that Pebble will refuse
	}
	path := dfs.PathJoin(dir, current)
	f, err := dfs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if at, bad := damagedChunk(b); bad {
		return fmt.Errorf("file %s, offset %d: %w: restore a backup", path, at, storage.ErrCorruption)
	}
	return nil
}

// chunkAt is the end and the kind of the chunk at offset at; ok that it is whole
// and right.
func chunkAt(b []byte, at int) (end int, kind byte, ok bool) {
	if at+manifestHeader > len(b) {
		return 0, 0, false
	}
	kind = b[at+6]
	end = at + manifestHeader + int(binary.LittleEndian.Uint16(b[at+4:]))
	if kind < chunkWhole || kind > chunkLast || end > len(b) || at/logBlock != (end-1)/logBlock {
		return end, kind, false
	}
	sum := crc32.Checksum(b[at+6:end], logTable)
	return end, kind, binary.LittleEndian.Uint32(b[at:]) == (sum>>15|sum<<17)+logMaskedDelta
}

// damagedChunk finds the first chunk that is wrong and was not just torn by a
// crash: another record begins behind it, or all of it is there. Each record is
// synced before the next is written, so that only the last can be torn.
func damagedChunk(b []byte) (at int, bad bool) {
	for at < len(b) {
		if left := logBlock - at%logBlock; left < manifestHeader {
			at += left
			continue
		}
		end, _, ok := chunkAt(b, at)
		if !ok {
			break
		}
		at = end
	}
	if at >= len(b) {
		return 0, false
	}
	for next := at + 1; next < len(b); next++ {
		if _, kind, ok := chunkAt(b, next); ok && (kind == chunkWhole || kind == chunkFirst) {
			return at, true
		}
	}
	// A torn write lacks whole sectors: they are behind the end, or zero.
	const sector = 512
	rest := b[at:]
	end := len(rest)
	for end > 0 && rest[end-1] == 0 {
		end--
	}
	claimed, _, _ := chunkAt(b, at)
	return at, claimed > 0 && claimed-at <= end && !bytes.Contains(rest[:end], make([]byte, sector/2))
}
