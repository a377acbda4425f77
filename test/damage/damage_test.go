package damage

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// damaged are the names of files that are damaged, and what was done to them.
type damaged struct {
	names []string
	what  []string
}

// damager damages files of a directory.
type damager struct {
	rng   *rand.Rand
	dir   string
	older string // an earlier copy of the directory
	files map[string][]string
}

const sector = 512

// damages change the bytes of a file, the plain ways first; false where that changes
// nothing.
var damages = []struct {
	name string
	do   func(d *damager, name string, b []byte) ([]byte, bool)
}{
	{"delete", func(*damager, string, []byte) ([]byte, bool) { return nil, true }},
	{"flip", func(d *damager, _ string, b []byte) ([]byte, bool) {
		if len(b) == 0 {
			return nil, false
		}
		b[d.place(b)] ^= 1 << d.rng.IntN(8)
		return b, true
	}},
	{"cut", func(d *damager, _ string, b []byte) ([]byte, bool) {
		if len(b) == 0 {
			return nil, false
		}
		return b[:d.place(b)], true
	}},
	{"grow", func(d *damager, _ string, b []byte) ([]byte, bool) {
		return append(b, bytes.Repeat([]byte{byte(d.rng.IntN(256))}, 1+d.rng.IntN(2*sector))...), true
	}},
	{"zero sector", func(d *damager, _ string, b []byte) ([]byte, bool) {
		if len(b) == 0 {
			return nil, false
		}
		clear(d.sector(b))
		return b, true
	}},
	{"misplaced sector", func(d *damager, name string, b []byte) ([]byte, bool) {
		from := b
		if other, ok := d.other(name); ok && d.rng.IntN(2) == 0 {
			from = other
		}
		if len(b) == 0 || len(from) == 0 {
			return nil, false
		}
		copy(d.sector(b), bytes.Clone(d.sector(from)))
		return b, true
	}},
	{"older copy", func(d *damager, name string, _ []byte) ([]byte, bool) {
		old, err := os.ReadFile(filepath.Join(d.older, name))
		return old, err == nil
	}},
	{"swap", func(d *damager, name string, b []byte) ([]byte, bool) { return nil, false }}, // see swap
}

// place is an offset in what a file holds: logs are longer than that.
func (d *damager) place(b []byte) int {
	used := len(bytes.TrimRight(b, "\x00"))
	if used == 0 || d.rng.IntN(10) == 0 {
		used = len(b)
	}
	return d.rng.IntN(used)
}

// sector is one of the file, which may be shorter than others.
func (d *damager) sector(b []byte) []byte {
	at := d.place(b) / sector * sector
	return b[at:min(at+sector, len(b))]
}

// other is the content of another file of the same kind.
func (d *damager) other(name string) ([]byte, bool) {
	other := d.otherName(name)
	b, err := os.ReadFile(filepath.Join(d.dir, other))
	return b, other != "" && err == nil
}

func (d *damager) otherName(name string) string {
	list := slices.DeleteFunc(slices.Clone(d.files[kindOf(name)]), func(x string) bool { return x == name })
	if len(list) == 0 {
		return ""
	}
	return list[d.rng.IntN(len(list))]
}

// choose damages one file.
func (d *damager) choose(t *testing.T, out *damaged) {
	t.Helper()
	kinds := slices.Sorted(maps.Keys(d.files))
	for {
		list := d.files[kinds[d.rng.IntN(len(kinds))]]
		name, how := list[d.rng.IntN(len(list))], damages[d.rng.IntN(len(damages))]
		if d.apply(t, name, how.name, how.do, out) {
			return
		}
	}
}

// apply damages a file in one way; false where that changes nothing.
func (d *damager) apply(t *testing.T, name, how string, do func(*damager, string, []byte) ([]byte, bool), out *damaged) bool {
	t.Helper()
	path := filepath.Join(d.dir, name)
	before, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false // damaged before
	}
	if err != nil {
		t.Fatal(err)
	}
	if how == "swap" {
		return d.swap(t, name, before, out)
	}
	after, ok := do(d, name, bytes.Clone(before))
	if !ok || after != nil && bytes.Equal(before, after) {
		return false
	}
	if after == nil && how == "delete" {
		err = os.Remove(path)
	} else {
		err = os.WriteFile(path, after, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out.add(fmt.Sprintf("%s: %s%s", name, how, difference(before, after)), name)
	return true
}

// swap exchanges two files of the same kind.
func (d *damager) swap(t *testing.T, name string, before []byte, out *damaged) bool {
	t.Helper()
	other := d.otherName(name)
	b, err := os.ReadFile(filepath.Join(d.dir, other))
	if other == "" || err != nil || bytes.Equal(b, before) {
		return false
	}
	if err := errors.Join(os.WriteFile(filepath.Join(d.dir, name), b, 0o600), os.WriteFile(filepath.Join(d.dir, other), before, 0o600)); err != nil {
		t.Fatal(err)
	}
	out.add(name+": swapped with "+other, name, other)
	return true
}

func (d *damaged) add(what string, names ...string) {
	d.what = append(d.what, what)
	for _, name := range names {
		d.names = append(d.names, filepath.Base(name))
	}
}

// difference says where two contents begin to differ, and how long they are.
func difference(before, after []byte) string {
	at := 0
	for at < min(len(before), len(after)) && before[at] == after[at] {
		at++
	}
	return fmt.Sprintf(" (%d bytes, now %d, from offset %d)", len(before), len(after), at)
}
