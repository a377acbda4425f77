package pebblekv

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
)

// LeftOut is the end of a log that a start leaves out.
type LeftOut struct {
	File   string
	Offset int64 // where it begins
	Bytes  int64 // at least; of what the log had
	// Err is nil for a write that a crash interrupted, of which nothing was
	// acknowledged as synced. Else the log is damaged, and a start is refused unless
	// Options.AcceptLogDamage is set.
	Err error
}

// String names file, place and size.
func (l LeftOut) String() string {
	if l.Err != nil {
		return l.Err.Error()
	}
	return fmt.Sprintf("file %s, offset %d: an unfinished write of %d bytes", l.File, l.Offset, l.Bytes)
}

// logFile is a log that the manifest needs.
type logFile struct {
	number uint64
	path   string
	there  bool
	need   int64 // bytes that it must have
	sum    uint32
	had    int64 // bytes that it had once
	scan   logScan
	// elsewhere is another file that begins with a record of this log, "" for none.
	elsewhere string
}

// logState is what a start finds.
type logState struct {
	manifest manifest
	said     tails // by LOGS; empty where that says nothing
	known    bool  // LOGS could be read
	logs     []logFile
}

// findLogs reads LOGS, the manifest and the logs of a store. It changes nothing.
func findLogs(dfs vfs.FS, dir string) (st *logState, err error) {
	st = &logState{}
	if st.said, st.known, err = readTails(dfs, dfs.PathJoin(dir, tailsFile)); err != nil {
		return nil, fmt.Errorf("reading %s: %w", tailsFile, err)
	}
	return st, st.load(dfs, dfs.PathJoin(dir, kvDir))
}

// load reads the manifest and the logs of a database.
func (st *logState) load(dfs vfs.FS, kv string) (err error) {
	if st.manifest, err = readManifest(dfs, kv); err != nil {
		return err
	}
	if err := st.checkManifest(dfs.PathJoin(kv, manifestPrefix)); err != nil {
		return err
	}
	names, err := dfs.List(kv)
	if err != nil {
		return err
	}
	if err := st.listLogs(dfs, kv, names); err != nil {
		return err
	}
	for i := range st.logs {
		l := &st.logs[i]
		if l.scan, err = l.read(dfs, l.need); err != nil {
			return err
		}
	}
	return nil
}

// listLogs gathers the logs that the manifest needs: those that LOGS demands,
// those that are there, and those whose records are in the file of another.
func (st *logState) listLogs(dfs vfs.FS, kv string, names []string) error {
	byNumber := map[uint64]logFile{}
	for _, l := range st.said.logs {
		path := dfs.PathJoin(kv, fmt.Sprintf("%06d.log", l.number))
		need, sum := st.said.needed(l)
		byNumber[l.number] = logFile{number: l.number, path: path, need: need, sum: sum, had: max(l.written, l.synced)}
	}
	at := func(n uint64) logFile {
		l := byNumber[n]
		l.number, l.path = n, dfs.PathJoin(kv, fmt.Sprintf("%06d.log", n))
		return l
	}
	for _, name := range names {
		n := fileNumber(name)
		if n == 0 || !isLog(name) {
			continue
		}
		l := at(n)
		l.path, l.there = dfs.PathJoin(kv, name), true
		byNumber[n] = l
		first, err := firstLog(dfs, l.path)
		if err != nil {
			return err
		}
		if first != 0 && first != n {
			other := at(first)
			other.elsewhere = l.path
			byNumber[first] = other
		}
	}
	for n, l := range byNumber {
		if n >= st.manifest.minLog && (l.there || l.need > 0 || l.elsewhere != "") {
			st.logs = append(st.logs, l)
		}
	}
	if m := st.manifest; len(st.logs) == 0 && st.unsure() != "" {
		// A log is made before another is removed.
		st.logs = []logFile{at(m.minLog)}
	}
	slices.SortFunc(st.logs, func(a, b logFile) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// firstLog is the number of the log whose intact record a file begins with, 0 for none.
// It is lower than the file's own where the file is used again and has no record yet.
func firstLog(dfs vfs.FS, path string) (uint64, error) {
	f, err := dfs.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b := make([]byte, logBlock)
	n, err := io.ReadFull(f, b)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("file %s: %w", path, err)
	}
	if n < logHeader {
		return 0, nil
	}
	number := binary.LittleEndian.Uint32(b[7:])
	if _, ok := parseLogChunk(b[:n], 0, number); !ok {
		return 0, nil
	}
	return uint64(number), nil
}

// checkManifest compares the manifest with what LOGS says of it. prefix is its
// path without its number.
func (st *logState) checkManifest(prefix string) error {
	m, said := st.manifest, st.said.manifest
	if m.number == 0 {
		for _, l := range st.said.logs {
			if l.synced > 0 {
				return fmt.Errorf("file %s%06d: %w: no file marker.manifest says that it is the manifest: restore a backup", prefix, said.number, storage.ErrCorruption)
			}
		}
		return nil
	}
	if m.number == said.number && m.end < said.synced {
		return fmt.Errorf("file %s, offset %d: %w: the manifest had %d bytes: restore a backup", m.path, m.end, storage.ErrCorruption, said.synced)
	}
	return nil
}

// read scans a log, with the checksum of its first bytes.
func (l *logFile) read(dfs vfs.FS, length int64) (scan logScan, err error) {
	if !l.there {
		return scan, nil
	}
	f, err := dfs.Open(l.path)
	if err != nil {
		return scan, err
	}
	defer f.Close()
	if scan, err = scanLog(f, l.number, length); err != nil {
		return scan, fmt.Errorf("file %s: %w", l.path, err)
	}
	return scan, nil
}

// damage says what is wrong with a log for certain, "" for nothing. last is set
// for the newest one, which a crash may have left with a torn write at its end.
func (l *logFile) damage(last bool) string {
	s := l.scan
	switch {
	case l.elsewhere != "" && s.stop == 0:
		return "the records of this log are in the file " + l.elsewhere
	case !l.there && l.need == 0:
		return "there is no log, and no file " + tailsFile + " that says how long it was"
	case !l.there:
		return fmt.Sprintf("the log is missing; it had %d bytes", l.need)
	case s.wrong != "":
		return s.wrong
	case s.end() < l.need:
		return fmt.Sprintf("the log is right up to here, and had %d bytes", l.need)
	case s.stop < s.promised:
		return fmt.Sprintf("the log is right up to here, and %d bytes of it were synced", s.promised)
	case !last && !s.closed:
		return "the log has no end, and others follow it"
	case s.sums[0] != l.sum:
		return fmt.Sprintf("among the %d bytes before are others than were written", l.need)
	}
	return ""
}

// leftOut is what is lost of a log from an offset on; of a damaged log, or one after
// it, all that it had.
func (l *logFile) leftOut(from int64) LeftOut {
	return LeftOut{File: l.path, Offset: from, Bytes: max(l.scan.used, l.had, from) - from}
}

// leftOut lists what a start leaves out: of the first damaged log its end, and all logs
// after it; without damage, what a crash tore. first is the index of the first damaged
// log, or -1.
func (st *logState) leftOut() (list []LeftOut, first int) {
	first = -1
	for i := range st.logs {
		l, last := &st.logs[i], i == len(st.logs)-1
		what := l.damage(last)
		x := l.leftOut(l.scan.whole)
		switch {
		case what != "":
			// What is wrong need not be where the last whole record ends.
			x.Err = fmt.Errorf("file %s, offset %d: %w: %s", l.path, l.scan.stop, storage.ErrCorruption, what)
			if first < 0 {
				first = i
			}
		case first >= 0:
			x = l.leftOut(0)
			x.Err = fmt.Errorf("file %s, offset 0: %w: a log before it is damaged", l.path, storage.ErrCorruption)
		case max(l.scan.used, l.had) <= l.scan.end() && l.scan.whole == l.scan.stop:
			continue
		}
		list = append(list, x)
	}
	return list, first
}

// unsure says why LOGS may demand less than there was, "" where it does not. It is
// synced with the name of each manifest before that comes into use.
func (st *logState) unsure() string {
	switch {
	case st.manifest.number == 0:
		return ""
	case !st.known:
		return "no file " + tailsFile + " says how far the logs went, as after an update from an earlier release"
	case st.said.manifest.number < st.manifest.number:
		return "the file " + tailsFile + " is older than the manifest"
	}
	return ""
}

// checkLogs looks for damage in what the open will read, and remove. Pebble
// takes what it cannot read at the end of the newest log for a torn write.
func (s *Store) checkLogs() (*logState, error) {
	st, err := findLogs(s.opts.FS, s.opts.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.checkFiles(); err != nil {
		return nil, err
	}
	if why := st.unsure(); why != "" {
		s.opts.Logger.Warn(why+": if the last records of the newest log were lost, that cannot be detected. It is written from now on", "event", "storage.no_log_end", "dir", s.opts.Dir)
	}
	list, first := st.leftOut()
	if first >= 0 {
		return st, s.acceptDamage(st, list, first)
	}
	for _, x := range list {
		s.opts.Logger.Warn("an unfinished write at the end of the log is left out; nothing that was acknowledged as synced is missing", "event", "storage.log_end", "file", x.File, "offset", x.Offset, "bytes", x.Bytes)
	}
	return st, nil
}

// openLogs checks what Pebble reads at its open and begins to write LOGS. It
// returns what that says.
func (s *Store) openLogs() (tails, error) {
	st, err := s.checkLogs()
	if err != nil {
		return tails{}, err
	}
	t := st.said
	t.logs = slices.DeleteFunc(slices.Clone(t.logs), func(l tail) bool { return l.number < st.manifest.minLog })
	s.disk.tails, err = openTails(s.opts.FS, s.opts.Dir, t, &s.durable)
	if err != nil {
		return st.said, fmt.Errorf("writing %s: %w", tailsFile, err)
	}
	return st.said, nil
}

// syncTails has LOGS on disk, so that a loss of power makes it older by little.
func (s *Store) syncTails() {
	if t := s.disk.tails; s.enter() == nil {
		s.disk.must("syncing "+t.name, t.sync)
		s.exit()
	}
}

// checkSeq compares the state that was opened with what LOGS says.
func (s *Store) checkSeq(seq uint64, said tails) error {
	if seq >= said.seq {
		return nil
	}
	err := fmt.Errorf("file %s: %w: the last commit is %d, and %d was on disk: restore a backup", s.disk.tails.name, storage.ErrCorruption, seq, said.seq)
	if !s.opts.AcceptLogDamage {
		return err
	}
	s.opts.Logger.Error("commits are missing, as --accept-log-damage allows", "event", "storage.log_damage", "error", err)
	s.disk.tails.restart()
	return nil
}

// noteCopy compares the logs of a copy, all of which is on disk, with what was
// there before it was made, and writes its LOGS.
func noteCopy(dfs vfs.FS, dir string, before tails) error {
	st := &logState{said: before, known: true}
	if err := st.load(dfs, dfs.PathJoin(dir, kvDir)); err != nil {
		return err
	}
	list, first := st.leftOut()
	if first >= 0 {
		return firstDamage(list)
	}
	t := tails{generation: 1, manifest: tail{number: st.manifest.number, synced: st.manifest.end}}
	for _, l := range st.logs {
		scan, err := l.read(dfs, l.scan.stop)
		if err != nil {
			return err
		}
		*t.log(l.number) = tail{l.number, l.scan.stop, l.scan.stop, scan.sums[0], scan.sums[0]}
	}
	return makeTails(dfs, dir, t)
}

func firstDamage(list []LeftOut) error {
	i := slices.IndexFunc(list, func(x LeftOut) bool { return x.Err != nil })
	return list[i].Err
}

// acceptDamage refuses the start, or leaves out what Options.AcceptLogDamage
// allows.
func (s *Store) acceptDamage(st *logState, list []LeftOut, first int) error {
	if !s.opts.AcceptLogDamage {
		return fmt.Errorf("%w: restore a backup, or start once with --accept-log-damage, which leaves out the log from there on", firstDamage(list))
	}
	aside, err := st.keepAside(s.opts.FS, s.opts.Dir)
	if err != nil {
		return fmt.Errorf("keeping the damaged logs: %w", err)
	}
	for _, x := range list {
		if x.Err != nil {
			s.opts.Logger.Error("a damaged end of the log is left out, with the commits in it, as --accept-log-damage says", "event", "storage.log_damage",
				"file", x.File, "offset", x.Offset, "bytes", x.Bytes, "error", x.Err, "kept", aside)
		}
	}
	return st.cut(s.opts.FS, s.opts.Dir, first)
}

// asideDir is the directory in that of the store where damaged logs are kept,
// those of each start in one of their own.
const asideDir = "damaged-logs"

// keepAside copies all logs and LOGS to a new directory.
func (st *logState) keepAside(dfs vfs.FS, dir string) (string, error) {
	aside := ""
	for n := 1; ; n++ {
		aside = dfs.PathJoin(dir, asideDir, fmt.Sprint(n))
		if _, err := dfs.Stat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
	}
	if err := makeDir(dfs, aside); err != nil {
		return "", err
	}
	files := []string{}
	if st.known {
		files = append(files, dfs.PathJoin(dir, tailsFile))
	}
	for _, l := range st.logs {
		if l.there {
			files = append(files, l.path)
		}
		if l.elsewhere != "" {
			files = append(files, l.elsewhere)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, from := range files {
		if err := vfs.Copy(dfs, from, dfs.PathJoin(aside, dfs.PathBase(from))); err != nil {
			return "", err
		}
	}
	return aside, syncDir(dfs, aside)
}

// cut ends the logs where the one at index first is damaged, and has LOGS demand
// no more than that.
func (st *logState) cut(dfs vfs.FS, dir string, first int) error {
	for _, l := range st.logs[first:] {
		st.said.drop(l.number)
	}
	st.said.seq = 0
	st.said.generation++
	if err := makeTails(dfs, dir, st.said); err != nil {
		return err
	}
	kv := dfs.PathJoin(dir, kvDir)
	// Backwards: what is there is a beginning of the logs at all times.
	for i, l := range slices.Backward(st.logs) {
		switch {
		case !l.there || i < first:
		case i > first || l.scan.whole == 0:
			if err := dfs.Remove(l.path); err != nil {
				return err
			}
		default:
			if err := cutLog(dfs, l, dfs.PathJoin(dir, "cut.tmp")); err != nil {
				return err
			}
		}
	}
	return syncDir(dfs, kv)
}

// cutLog ends a log after its last whole record.
func cutLog(dfs vfs.FS, l logFile, tmp string) error {
	if err := vfs.LimitedCopy(dfs, l.path, tmp, l.scan.whole); err != nil {
		return err
	}
	return dfs.Rename(tmp, l.path)
}

// LogReport is what a start finds of the logs.
type LogReport struct {
	// Unsure says why it is unknown whether the last records of the newest log are
	// there; "" where that is known.
	Unsure  string
	LeftOut []LeftOut
}

// CheckLogs reports what a start would leave out of the logs of a store that is
// not open, and what it would refuse. It changes nothing.
func CheckLogs(opts Options) (r LogReport, err error) {
	opts = opts.withDefaults()
	lock, err := pebble.LockDirectory(opts.FS.PathJoin(opts.Dir, kvDir), opts.FS)
	if err != nil {
		return r, lockError(opts.Dir, err)
	}
	st, err := findLogs(opts.FS, opts.Dir)
	if err = errors.Join(err, lock.Close()); err != nil {
		return r, mapError(err)
	}
	r.Unsure = st.unsure()
	r.LeftOut, _ = st.leftOut()
	return r, nil
}
