package pebblekv

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
)

// Files of values that are gone. Pebble 2.1 panics in whatever goroutine needs one, its
// own among them, because it does not know that the file is missing: it lists the
// directory once. So the disk lists the names that the manifest has, and opening a
// missing one is an error that Pebble passes on.

// checkFiles looks at what is in the directory before Pebble does.
func (s *Store) checkFiles() error {
	dir := s.opts.FS.PathJoin(s.opts.Dir, kvDir)
	names, err := s.opts.FS.List(dir)
	if err != nil {
		return err
	}
	if err := checkMarkers(s.opts.FS, dir, names); err != nil {
		return err
	}
	live, current, err := manifestFilesOf(s.opts.FS, dir, names)
	if err != nil {
		return err
	}
	if s.disk.missing, err = missing(s.opts.FS, dir, names, live, current); err != nil {
		return err
	}
	return s.checkSwapped(dir, live)
}

// manifestFilesOf are the files of the manifest in use, and its name; none where there
// is no manifest.
func manifestFilesOf(dfs vfs.FS, dir string, names []string) (live manifestFiles, current string, err error) {
	if current = currentManifest(names); current == "" {
		return live, "", nil
	}
	b, err := readAll(dfs, dfs.PathJoin(dir, current))
	return liveFiles(b), current, err
}

// missing are the names of the files of values of the manifest that are not in the
// directory. A table that is not there is an error. A manifest that cannot be read
// has none: Pebble says what is wrong with it.
func missing(dfs vfs.FS, dir string, names []string, live manifestFiles, current string) (map[string]bool, error) {
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	for _, t := range live.tables {
		if name := t.name(); !there[name] {
			return nil, fmt.Errorf("%w (%s names it: that may be damaged instead)", errGone(dfs.PathJoin(dir, name)), current)
		}
	}
	gone := map[string]bool{}
	for number := range live.blobs {
		if name := fmt.Sprintf("%06d.blob", number); !there[name] {
			gone[name] = true
		}
	}
	return gone, nil
}

// errGone is that of a file which is not there.
func errGone(name string) error {
	return &fileError{name, fmt.Errorf("%w: the file is missing: restore a backup", storage.ErrCorruption)}
}

// fileError is what is wrong with a file.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return fmt.Sprintf("file %s: %v", e.name, e.err) }

func (e *fileError) Unwrap() error { return e.err }

// currentManifest is the file that the newest marker.manifest.NUMBER.FILE names; ""
// without a marker.
func currentManifest(names []string) string {
	current, newest := "", ""
	for _, name := range names {
		parts := strings.SplitN(name, ".", 4)
		if len(parts) == 4 && parts[0] == "marker" && parts[1] == "manifest" && parts[2] > newest {
			newest, current = parts[2], parts[3]
		}
	}
	return current
}

// checkMarkers refuses a database with files of data whose markers are gone:
// Pebble would take it for a new one, and remove the files.
func checkMarkers(dfs vfs.FS, dir string, names []string) error {
	data, log, version := "", "", false
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob") {
			data = name
		}
		if isLog(name) {
			log = name
		}
		version = version || strings.HasPrefix(name, "marker.format-version.")
	}
	what := ""
	switch {
	case currentManifest(names) == "":
		what, data = "marker.manifest.*", cmp.Or(data, log)
	case !version: // a store that is being made has a log before
		what = "marker.format-version.*"
	}
	if what == "" || data == "" {
		return nil
	}
	return &fileError{dfs.PathJoin(dir, what), fmt.Errorf("%w: the file is missing, and there is %s: restore a backup", storage.ErrCorruption, data)}
}

func readAll(dfs vfs.FS, path string) ([]byte, error) {
	f, err := dfs.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// manifestFiles are the files that a manifest holds, by their numbers.
type manifestFiles struct {
	blobs map[uint64]bool
	// tables are by level and number of the table.
	tables map[[2]uint64]liveTable
}

// liveTable is a table of the manifest.
type liveTable struct {
	file, size uint64
	// first and last are its bounds, keys of Pebble; of a part of a file they are nil.
	first, last []byte
}

func (t liveTable) name() string { return fmt.Sprintf("%06d.sst", t.file) }

// liveFiles are the files of a manifest; none when it is of a form that this
// package does not know.
func liveFiles(manifest []byte) manifestFiles {
	live := manifestFiles{map[uint64]bool{}, map[[2]uint64]liveTable{}}
	r := record.NewReader(bytes.NewReader(manifest), 0)
	for {
		next, err := r.Next()
		if err != nil {
			return live // its end, or an error that Pebble sees as well
		}
		b, err := io.ReadAll(next)
		if err != nil {
			return live
		}
		if e := (edit{b: b}); !e.apply(&live) {
			return manifestFiles{}
		}
	}
}

// edit reads a record of the manifest: tags with fields, which are numbers
// (varint) and texts (length and bytes). Tags of Pebble's package manifest:
const (
	tagComparator = 1
	tagLog        = 2
	tagNextFile   = 3
	tagSequence   = 4
	tagPointer    = 5
	tagDropTable  = 6
	tagPrevLog    = 9
	tagTable      = 103
	tagRangeTable = 104 // it may have range keys
	tagBacking    = 105
	tagDropBack   = 106
	tagBlob       = 107
	tagDropBlob   = 108
	// What follows a table:
	extraEnd     = 1
	extraVirtual = 66
	extraBlobs   = 69
	extraUnknown = 1 << 6 // and one of the texts
	extraPrefix  = 67
	extraSuffix  = 68
)

type edit struct {
	b   []byte
	bad bool
}

func (e *edit) number() uint64 {
	v, n := binary.Uvarint(e.b)
	if n <= 0 {
		e.b, e.bad = nil, true
		return 0
	}
	e.b = e.b[n:]
	return v
}

func (e *edit) numbers(n int) {
	for range n {
		e.number()
	}
}

func (e *edit) text() []byte {
	n := e.number()
	if n > uint64(len(e.b)) {
		e.b, e.bad = nil, true
		return nil
	}
	text := e.b[:n]
	e.b = e.b[n:]
	return text
}

// apply follows what the record does; false when it cannot be read.
func (e *edit) apply(live *manifestFiles) bool {
	for len(e.b) > 0 {
		switch tag := e.number(); tag {
		case tagComparator:
			e.text()
		case tagLog, tagNextFile, tagSequence, tagPrevLog, tagDropBack:
			e.number()
		case tagPointer:
			e.number()
			e.text()
		case tagBacking:
			e.numbers(2)
		case tagTable, tagRangeTable:
			e.table(live, tag == tagRangeTable)
		case tagDropTable:
			delete(live.tables, [2]uint64{e.number(), e.number()})
		case tagBlob:
			e.number()
			live.blobs[e.number()] = true
			e.numbers(3)
		case tagDropBlob:
			e.number()
			delete(live.blobs, e.number())
		default:
			return false
		}
	}
	return !e.bad
}

// table is a table, with its bounds and what else there is of it.
func (e *edit) table(live *manifestFiles, ranges bool) {
	at := [2]uint64{e.number(), e.number()}
	t := liveTable{size: e.number()}
	texts := 0
	if ranges && len(e.b) > 0 {
		const hasPoints = 1
		texts += 2 * int(e.b[0]&hasPoints) // bounds of both kinds of keys
		e.b = e.b[1:]
	}
	first, last := e.text(), e.text()
	for range texts {
		e.text()
	}
	e.numbers(2)
	if t.file = e.extras(at[1]); t.file == at[1] && !ranges {
		t.first, t.last = first, last
	}
	live.tables[at] = t
}

// extras passes what follows a table of a number, and gives the number of
// its file.
func (e *edit) extras(number uint64) (file uint64) {
	file = number
	for !e.bad {
		switch extra := e.number(); {
		case extra == extraEnd:
			return file
		case extra == extraVirtual:
			file = e.number()
		case extra == extraBlobs:
			e.number()
			for n := e.number(); n > 0 && !e.bad; n-- {
				e.numbers(2)
			}
		case extra&extraUnknown != 0 && extra != extraPrefix && extra != extraSuffix:
			e.bad = true
		default:
			e.text()
		}
	}
	return file
}

// openBlob opens a file of values. Its errors are not Pebble's of damage, with
// which it would panic.
func (d *disk) openBlob(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := d.FS.Open(name, opts...)
	if errors.Is(err, fs.ErrNotExist) {
		err = errGone(name)
	} else if err == nil {
		if err = checkBlob(f, fileNumber(d.PathBase(name))); err != nil {
			err = &fileError{name, errors.Join(err, f.Close())}
		}
	}
	if err == nil {
		return f, nil
	}
	if errors.Is(err, storage.ErrCorruption) {
		d.damages.add(Damage{File: name, Err: err})
	}
	return nil, err
}

// List implements vfs.FS.
func (d *disk) List(dir string) ([]string, error) {
	names, err := d.FS.List(dir)
	if err == nil && d.PathDir(d.PathJoin(dir, "x")) == d.dir {
		for name := range d.missing {
			names = append(names, name)
		}
	}
	return names, err
}
