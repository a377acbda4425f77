package pebblekv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
)

// The manifest is made of blocks and chunks like the log, see log.go, but the header of
// a chunk ends after the kind:
//
//	1 a whole record    2 the first chunk of one    3 one of the middle    4 the last
const (
	manifestPrefix = "MANIFEST-"

	manifestHeader = 7
	chunkWhole     = 1
	chunkFirst     = 2
	chunkLast      = 4
)

// manifest is what the current manifest of a database says of the logs.
type manifest struct {
	path   string
	number uint64 // of its file; 0 where there is no manifest
	end    int64  // of its last record that is whole
	minLog uint64 // the logs with lower numbers are no longer needed
}

// readManifest looks for damage in the current manifest of a database. Pebble
// takes a record that it cannot read for the end, where a crash tore a write,
// and then forgets, and removes, the files that later records are about.
func readManifest(dfs vfs.FS, dir string) (m manifest, err error) {
	names, err := dfs.List(dir)
	if err != nil {
		return m, err
	}
	current := currentManifest(names)
	if current == "" {
		return m, nil // a new store
	}
	m.path = dfs.PathJoin(dir, current)
	m.number = fileNumber(current)
	b, err := readAll(dfs, m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, errGone(m.path)
	}
	if err != nil {
		return m, err
	}
	if at, bad := damagedChunk(b); bad {
		return m, fmt.Errorf("file %s, offset %d: %w: restore a backup", m.path, at, storage.ErrCorruption)
	}
	m.readRecords(b)
	return m, nil
}

// fileNumber is the number in the name of a manifest, a log or a file of values, 0 for
// other names.
func fileNumber(base string) uint64 {
	digits, ok := strings.CutPrefix(base, manifestPrefix)
	for _, kind := range []string{".log", ".blob"} {
		if !ok {
			digits, ok = strings.CutSuffix(base, kind)
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0
	}
	return n
}

// readRecords reads what the records, version edits of Pebble's, say of logs.
func (m *manifest) readRecords(b []byte) {
	var record []byte
	for at := 0; at < len(b); {
		if left := logBlock - at%logBlock; left < manifestHeader {
			at += left
			continue
		}
		end, kind, ok := chunkAt(b, at)
		if !ok {
			return
		}
		if kind == chunkWhole || kind == chunkFirst {
			record = record[:0]
		}
		record = append(record, b[at+manifestHeader:end]...)
		if kind == chunkWhole || kind == chunkLast {
			m.end = int64(end)
			if n := editLog(record); n != 0 {
				m.minLog = n
			}
		}
		at = end
	}
}

// editLog is the lowest number of a log that is needed after a version edit, 0
// where it does not change that. Edits begin with it, after the comparer's name.
func editLog(b []byte) uint64 {
	e := edit{b: b}
	tag := e.number()
	if tag == tagComparator {
		e.text()
		tag = e.number()
	}
	if tag != tagLog {
		return 0
	}
	return e.number()
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
	return end, kind, binary.LittleEndian.Uint32(b[at:]) == maskedSum(b[at+6:end])
}

// damagedChunk finds the first chunk that is wrong and was not just torn by a crash:
// another record begins after it, or all of it is there. Each record is synced before
// the next is written, so that only the last can be torn.
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
	// A torn write lacks whole sectors: they are after the end, or zero.
	const sector = 512
	rest := b[at:]
	end := len(rest)
	for end > 0 && rest[end-1] == 0 {
		end--
	}
	claimed, _, _ := chunkAt(b, at)
	return at, claimed > 0 && claimed-at <= end && !bytes.Contains(rest[:end], make([]byte, sector/2))
}
