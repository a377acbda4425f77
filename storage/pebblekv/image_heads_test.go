package pebblekv

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeads compares searches by heads with searches by keys, for keys that
// share beginnings and bytes in the middle, end early and lie at the borders of the numbers.
func TestHeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	letters := []byte{0, 1, 127, 255}
	// Of these places most keys of a round have the same.
	var fixed []int
	random := func(prefix int) []byte {
		k := bytes.Repeat([]byte{7}, prefix)
		for range rng.IntN(14) {
			k = append(k, letters[rng.IntN(len(letters))])
		}
		for _, p := range fixed {
			if p < len(k) && rng.IntN(100) > 0 {
				k[p] = 5
			}
		}
		return k
	}
	for round := range 3000 {
		prefix := rng.IntN(4)
		if rng.IntN(3) == 0 {
			letters = []byte{255}
		} else {
			letters = []byte{0, 1, 127, 255}[:1+rng.IntN(4)]
		}
		fixed = fixed[:0]
		for range rng.IntN(8) {
			fixed = append(fixed, prefix+rng.IntN(13))
		}
		var keys [][]byte
		for range 1 + rng.IntN(60) {
			keys = append(keys, random(prefix))
		}
		slices.SortFunc(keys, bytes.Compare)
		keys = slices.CompactFunc(keys, bytes.Equal)
		at := func(i int) []byte { return keys[i] }
		h := newHeads(len(keys), at)
		for range 50 {
			k := random(rng.IntN(4))
			if rng.IntN(2) == 0 {
				k = keys[rng.IntN(len(keys))]
			}
			want, _ := slices.BinarySearchFunc(keys, k, bytes.Compare)
			if got, _ := h.seek(k, at); got != want {
				t.Fatalf("round %d: %x among %x: %d, want %d", round, k, keys, got, want)
			}
		}
	}
}
