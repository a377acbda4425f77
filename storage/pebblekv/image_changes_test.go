package pebblekv

import (
	"encoding/binary"
	"testing"
)

// BenchmarkChanges notes changes of scattered keys, each with a reader that
// freezes what is there.
func BenchmarkChanges(b *testing.B) {
	for _, bb := range []struct {
		name   string
		frozen bool
	}{{"alone", false}, {"read", true}} {
		b.Run(bb.name, func(b *testing.B) {
			var c changes
			key, value := make([]byte, 16), make([]byte, 40)
			seq := uint64(0)
			add := func() {
				seq++
				binary.BigEndian.PutUint64(key[8:], seq*0x9e3779b97f4a7c15)
				c.add(key, value, seq)
			}
			for range 50_000 {
				add()
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				add()
				if bb.frozen {
					c.frozen()
				}
			}
		})
	}
}
