package pebblekv

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/guard"
)

// The file LOGS in a store's directory says how far the logs go, as they do not
// say it themselves: a log whose last records are damaged looks like one whose
// last write was torn. It has two slots of 4 KiB, of which the one with the
// higher generation counts; they are written in turn. A slot is, in
// little-endian numbers,
//
//	offset  bytes
//	0       4      checksum of all from offset 4
//	4       2      version, 1
//	6       2      number of logs
//	8       8      generation
//	16      16     boot of the operating system, see bootID
//	32      8      sequence of a commit that is on disk, with those before it
//	40      8      number of the manifest
//	48      8      bytes of it that are synced
//	56      32 n   for each log: its number (8), how many of its bytes are
//	               written, that is given to the operating system (8), and synced
//	               (8), and the checksums of these bytes (4 and 4)
//
// The checksums are CRC-32C.
//
// All of it are lower bounds. It is written after what it is about and before
// the commit is acknowledged, but synced only now and then: after a loss of power
// it may be an older one, which is right as well.
const (
	tailsFile    = "LOGS"
	tailsVersion = 1
	tailsSlot    = 4 << 10
	tailsHeader  = 56
	tailsEntry   = 32
	tailsMost    = (tailsSlot - tailsHeader) / tailsEntry
)

// tail is how far a file goes, and the checksums of what it has.
type tail struct {
	number          uint64
	written, synced int64
	sum, syncedSum  uint32 // of a log
}

// boot is a start of the operating system. What was written and not synced is
// there as long as that runs; a zero boot is never the same.
type boot [16]byte

// tails is what LOGS says.
type tails struct {
	generation uint64
	boot       boot
	seq        uint64
	manifest   tail   // written is not used
	logs       []tail // by number
	// same is set where what was written is there, as the operating system has
	// not been started again.
	same bool
}

// needed is how much of a log must be there, and its checksum.
func (t *tails) needed(l tail) (int64, uint32) {
	if t.same && l.written > l.synced {
		return l.written, l.sum
	}
	return l.synced, l.syncedSum
}

// log is the entry of a log, which is made at first use.
func (t *tails) log(number uint64) *tail {
	i, ok := slices.BinarySearchFunc(t.logs, number, func(l tail, n uint64) int {
		switch {
		case l.number < n:
			return -1
		case l.number > n:
			return 1
		}
		return 0
	})
	if !ok {
		t.logs = slices.Insert(t.logs, i, tail{number: number})
	}
	return &t.logs[i]
}

func (t *tails) drop(number uint64) {
	t.logs = slices.DeleteFunc(t.logs, func(l tail) bool { return l.number == number })
}

// encode appends a slot to b, which is empty.
func (t *tails) encode(b []byte) []byte {
	logs := t.logs[max(0, len(t.logs)-tailsMost):]
	le := binary.LittleEndian
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, tailsVersion)
	b = le.AppendUint16(b, uint16(len(logs)))
	b = le.AppendUint64(b, t.generation)
	b = append(b, t.boot[:]...)
	b = le.AppendUint64(b, t.seq)
	b = le.AppendUint64(b, t.manifest.number)
	b = le.AppendUint64(b, uint64(t.manifest.synced))
	for _, l := range logs {
		b = le.AppendUint64(b, l.number)
		b = le.AppendUint64(b, uint64(l.written))
		b = le.AppendUint64(b, uint64(l.synced))
		b = le.AppendUint32(b, l.sum)
		b = le.AppendUint32(b, l.syncedSum)
	}
	le.PutUint32(b, crc32.Checksum(b[4:], logTable))
	return b
}

// decodeTails reads a slot; false for one that is damaged or was never written.
func decodeTails(b []byte) (t tails, ok bool) {
	le := binary.LittleEndian
	if len(b) < tailsHeader || le.Uint16(b[4:]) != tailsVersion {
		return t, false
	}
	end := tailsHeader + int(le.Uint16(b[6:]))*tailsEntry
	if end > len(b) || crc32.Checksum(b[4:end], logTable) != le.Uint32(b) {
		return t, false
	}
	t.generation, t.seq = le.Uint64(b[8:]), le.Uint64(b[32:])
	t.boot = boot(b[16:32])
	t.manifest = tail{number: le.Uint64(b[40:]), synced: int64(le.Uint64(b[48:]))}
	for at := tailsHeader; at < end; at += tailsEntry {
		t.logs = append(t.logs, tail{le.Uint64(b[at:]), int64(le.Uint64(b[at+8:])), int64(le.Uint64(b[at+16:])), le.Uint32(b[at+24:]), le.Uint32(b[at+28:])})
	}
	return t, true
}

// readTails reads LOGS. It is false, without an error, when the file is missing
// or damaged.
func readTails(dfs vfs.FS, name string) (t tails, ok bool, err error) {
	f, err := dfs.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return t, false, nil
	}
	if err != nil {
		return t, false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 2*tailsSlot))
	if err != nil {
		return t, false, err
	}
	for at := 0; at < len(b); at += tailsSlot {
		x, valid := decodeTails(b[at:min(at+tailsSlot, len(b))])
		if valid && (!ok || x.generation > t.generation) {
			t, ok = x, true
		}
	}
	t.same = t.boot != boot{} && t.boot == fileBoot(f)
	return t, ok, nil
}

// fileBoot is the boot that what is written to a file and not synced survives
// with the process; zero where that is not known.
func fileBoot(f vfs.File) boot {
	if f.Fd() == vfs.InvalidFd {
		return boot{}
	}
	return bootID()
}

// tailsKeeper writes LOGS.
type tailsKeeper struct {
	name    string
	durable *atomic.Uint64 // the commits up to it are on disk

	mu    sync.Mutex
	f     vfs.File
	mem   []byte // the file in memory; nil where that cannot be
	now   tails
	buf   []byte
	dirty bool // there is more than what is synced
	// A synced LOGS says that the log known, the newest, has records, and that
	// current is the manifest.
	known, current uint64
}

// openTails begins to write LOGS, which is made where it does not exist or is
// not as long as it should be. t is what it is to say.
func openTails(dfs vfs.FS, dir string, t tails, durable *atomic.Uint64) (*tailsKeeper, error) {
	k := &tailsKeeper{name: dfs.PathJoin(dir, tailsFile), now: t, durable: durable}
	info, err := dfs.Stat(k.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil || info.Size() != 2*tailsSlot {
		k.now.generation++
		if err := makeTails(dfs, dir, k.now); err != nil {
			return nil, err
		}
	}
	if k.f, err = dfs.OpenReadWrite(k.name, vfs.WriteCategoryUnspecified); err != nil {
		return nil, err
	}
	k.mem = mapFile(k.f.Fd(), 2*tailsSlot)
	k.now.boot = fileBoot(k.f)
	for i, l := range k.now.logs {
		k.now.logs[i].written, k.now.logs[i].sum = t.needed(l)
	}
	return k, nil
}

// makeTails puts a new LOGS in place, all of whose bytes have been written: to
// write it again takes no space.
func makeTails(dfs vfs.FS, dir string, t tails) error {
	name := dfs.PathJoin(dir, tailsFile)
	f, err := dfs.Create(name+".tmp", vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	b := make([]byte, 2*tailsSlot)
	copy(b[t.generation%2*tailsSlot:], t.encode(nil))
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := dfs.Rename(name+".tmp", name); err != nil {
		return err
	}
	return syncDir(dfs, dir)
}

// created begins the entry of a log. Nothing is demanded of it before it has
// records.
func (k *tailsKeeper) created(number uint64) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.drop(number)
	k.now.log(number)
}

// removed ends the entry of a log. It need not be written: the manifest, which
// was synced before, says that the log is not needed.
func (k *tailsKeeper) removed(number uint64) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.drop(number)
}

// noteLog writes how far a log goes. From its first synced record on, LOGS
// demands it also after a loss of power.
func (k *tailsKeeper) noteLog(l tail) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	*k.now.log(l.number) = l
	if err := k.write(); err != nil || l.synced == 0 || l.number <= k.known {
		return err
	}
	err := k.flush()
	if err == nil {
		k.known = l.number
	}
	return err
}

// noteManifest writes how far a manifest is synced. What LOGS said of another
// file of the same name, which was lost before it came into use, must not come
// back.
func (k *tailsKeeper) noteManifest(number uint64, synced int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.manifest = tail{number: number, synced: synced}
	if err := k.write(); err != nil || number == k.current {
		return err
	}
	err := k.flush()
	if err == nil {
		k.current = number
	}
	return err
}

// flush syncs what was written.
func (k *tailsKeeper) flush() error {
	if err := k.f.SyncData(); err != nil {
		return err
	}
	k.dirty = false
	return nil
}

// write fills the slot whose turn it is. After an error it can be called again.
func (k *tailsKeeper) write() error {
	k.now.seq = max(k.now.seq, k.durable.Load())
	k.dirty = true
	k.now.generation++
	k.buf = k.now.encode(k.buf[:0])
	err := k.put(int64(k.now.generation % 2 * tailsSlot))
	if err != nil {
		k.now.generation-- // the other slot is unchanged
	}
	return err
}

// put writes buf at an offset. Memory of a file is as safe from the end of the
// process as what was written to it, and needs no call of the system. Where the
// file system cannot take the page it faults: then the file is written to, which
// says why.
func (k *tailsKeeper) put(at int64) error {
	if k.mem != nil && guard.Run(func() error { copy(k.mem[at:], k.buf); return nil }) == nil {
		return nil
	}
	_, err := k.f.WriteAt(k.buf, at)
	return err
}

// sync syncs the present LOGS to disk. Others may write it meanwhile.
func (k *tailsKeeper) sync() error {
	k.mu.Lock()
	dirty := k.dirty
	k.dirty = false
	k.mu.Unlock()
	if !dirty {
		return nil
	}
	return k.f.SyncData()
}

// finish has LOGS on disk with the commits up to seq.
func (k *tailsKeeper) finish(seq uint64) error {
	k.mu.Lock()
	k.now.seq = max(k.now.seq, seq)
	err := k.write()
	k.mu.Unlock()
	return errors.Join(err, k.sync())
}

// restart has the sequence begin again, after commits were lost.
func (k *tailsKeeper) restart() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.seq = 0
}

// copy is what LOGS says now, of files that are in use.
func (k *tailsKeeper) copy() tails {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.now
	t.logs, t.same = slices.Clone(t.logs), true
	return t
}

// close ends the writing.
func (k *tailsKeeper) close() error {
	if k == nil || k.f == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	mem := k.mem
	k.mem = nil
	return errors.Join(unmapFile(mem), k.f.Close())
}
