package pebblekv

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// FuzzTails: a slot of LOGS of any bytes whose checksum is right.
func FuzzTails(f *testing.F) {
	var t tails
	for i := range 3 {
		t.logs = append(t.logs, tail{number: uint64(i), written: int64(i), synced: int64(i)})
	}
	f.Add(t.encode(nil))
	f.Add(make([]byte, tailsHeader))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		if len(b) >= tailsHeader {
			binary.LittleEndian.PutUint16(b[4:], tailsVersion)
			if end := tailsHeader + int(binary.LittleEndian.Uint16(b[6:]))*tailsEntry; end <= len(b) {
				binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:end], logTable))
			}
		}
		got, ok := decodeTails(b)
		if !ok || len(got.logs) > tailsMost {
			return
		}
		if again, ok := decodeTails(got.encode(nil)); !ok || len(again.logs) != len(got.logs) {
			t.Errorf("%d logs become %d", len(got.logs), len(again.logs))
		}
	})
}

// FuzzLog: the log and the manifest of any bytes; the checksum of the first chunk is
// right.
func FuzzLog(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 0, 1, 'x'}, uint64(1))
	f.Add([]byte{0, 0, 0, 0, 12, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, uint64(1))
	f.Add(make([]byte, logBlock+20), uint64(7))
	f.Fuzz(func(t *testing.T, b []byte, number uint64) {
		b = bytes.Clone(b)
		if len(b) > manifestHeader {
			if end := manifestHeader + int(binary.LittleEndian.Uint16(b[4:])); end <= len(b) {
				binary.LittleEndian.PutUint32(b, maskedSum(b[6:end]))
			}
		}
		s, err := scanLog(bytes.NewReader(b), number, 0, int64(len(b)/2), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if s.end() > int64(len(b)) || s.end() < 0 {
			t.Errorf("the log of %d bytes ends at %d", len(b), s.end())
		}
		if at, bad := damagedChunk(b); bad && at >= len(b) {
			t.Errorf("a damaged chunk at %d of %d", at, len(b))
		}
	})
}
