package search

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// check is what Check finds.
func (w *world) check() (found []string) {
	w.Helper()
	s := w.snapshot()
	defer s.Close()
	docs, err := w.m.Check(w.Context(), s, w.table, &w.table.Search[0], func(key []byte, text string) {
		found = append(found, fmt.Sprintf("%x %s", key, text))
	})
	if err != nil {
		w.Fatal(err)
	}
	if docs == 0 {
		w.Error("no documents were compared")
	}
	slices.Sort(found)
	return found
}

// checkFiles is what CheckFiles finds.
func (w *world) checkFiles() (found []string, err error) {
	w.Helper()
	s := w.snapshot()
	defer s.Close()
	_, err = CheckFiles(w.Context(), w.m.cfg, s, w.table, &w.table.Search[0], func(key []byte, text string) {
		found = append(found, fmt.Sprintf("%x %s", key, text))
	})
	slices.Sort(found)
	return found, err
}

// TestCheck: a check finds documents that are not what their rows give.
func TestCheck(t *testing.T) {
	t.Parallel()
	eachStore(t, func(w *world) {
		const rows = checkRows + 500
		w.fill(rows)
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		if got := w.check(); got != nil {
			w.Fatal(got)
		}
		w.change(map[uint64]uint64{1: 0, 2: 99, rows + 1: 5})
		if got := w.check(); got != nil { // with changes that the files do not have yet
			w.Fatal(got)
		}
		w.caughtUp()
		files := w.index().seg
		b := files.NewBatch()
		b.Delete(number(5)) // a row without a document
		b.Upsert(number(7)) // other values
		b.Word(1, 12345)
		b.Upsert(number(8))
		b.Upsert(number(1)) // without a row
		b.Word(1, 1)
		if err := files.Apply(b); err != nil {
			w.Fatal(err)
		}
		want := []string{
			"0000000000000001 a document without a row",
			"0000000000000005 a row without a document",
			"0000000000000007 the document has another value than the row in field v",
			"0000000000000008 the document has another value than the row in field v",
		}
		if got := w.check(); !slices.Equal(got, want) {
			w.Errorf("%q", got)
		}
		if err := files.Persist(w.Context()); err != nil {
			w.Fatal(err)
		}
		w.m.Close()
		got, err := w.checkFiles()
		if !slices.Equal(got, want) || err != nil {
			w.Errorf("%q %v", got, err)
		}
		w.change(map[uint64]uint64{7: 1, 8: 0, 3: 0}) // the files say nothing of what is newer
		if got, err := w.checkFiles(); !slices.Equal(got, want[:2]) || err != nil {
			w.Errorf("%q %v", got, err)
		}
		paths := w.files(".zap")
		for _, p := range paths { // some may be of merges that were cut off
			damageFile(w, p)
		}
		isNamed := func(p string) bool { return len(got) == 1 && strings.Contains(got[0], filepath.Base(p)) }
		if got, err = w.checkFiles(); !slices.ContainsFunc(paths, isNamed) || err != nil {
			w.Errorf("%q %v", got, err)
		}
		if n := len(w.files(".zap")); n != len(paths) {
			w.Errorf("%d files, %d before", n, len(paths))
		}
		w.table.Search[0].ID = 9
		if _, err := w.checkFiles(); !errors.Is(err, ErrUnavailable) {
			w.Error(err)
		}
	})
}
