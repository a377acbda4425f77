package sorter

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/internal/procs"
)

// ErrDuplicate: two keys of a group are equal (see DuplicateError).
var ErrDuplicate = errors.New("duplicate key in a sorted run")

// DuplicateError is the ErrDuplicate of one key, with one of its values.
type DuplicateError struct{ Key, Value []byte }

// Error implements error.
func (e *DuplicateError) Error() string { return fmt.Sprintf("%v: %x", ErrDuplicate, e.Key) }

// Is makes errors.Is(err, ErrDuplicate) true.
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicate }

func duplicate(key, val []byte) error {
	return &DuplicateError{Key: bytes.Clone(key), Value: bytes.Clone(val)}
}

// Options shape a Sorter.
type Options struct {
	// Groups is the number of groups.
	Groups int
	// Memory is how many bytes are held in memory, roughly; 0 for 256 MiB.
	Memory int64
	// TempDir is the directory of temporary files, "" for the system's.
	TempDir string
	// Pause makes a Sorter that leaves the processors to others: it sorts on its
	// caller's goroutine, and calls Pause after every bit of work.
	Pause func() error
	// Budget, when set, grants memory below Memory, and makes the files.
	Budget Budget
}

// Budget is what sorters share with the rest of a program: memory and space for
// temporary files. Each sorter has its own.
type Budget interface {
	// Room makes the sorter hold n bytes in all. false says that it should spill what
	// it has.
	Room(n int64) bool
	// Hold makes it hold n bytes, even beyond the budget.
	Hold(n int64)
	// Create makes a temporary file, which is removed when it is closed.
	Create() (File, error)
}

// File is a temporary file: written to its end, then read.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Sorter sorts pairs. Add, Sort and Close belong to one goroutine.
type Sorter struct {
	opts  Options
	chunk int64 // bytes of a full chunk

	cur    *chunk
	next   int64    // size of cur at which memory is looked at
	sealed []*chunk // sorted, or being sorted
	held   int64    // bytes in them
	runs   []*run

	copies  atomic.Int64 // bytes of the chunks being sorted
	sorting sync.WaitGroup
	slots   chan struct{}
	failed  atomic.Pointer[error]
}

const (
	maxChunk = 16 << 20
	// step is how often the memory budget is checked, minRun the least that is worth a
	// run.
	step   = 1 << 20
	minRun = 4 << 20
	// A chunk that is sorted between pauses takes a few milliseconds.
	pausedChunk = 128 << 10
	pausedPairs = 64
)

// New makes a Sorter. Close frees it.
func New(opts Options) *Sorter {
	if opts.Memory <= 0 {
		opts.Memory = 256 << 20
	}
	most := int64(maxChunk)
	if opts.Pause != nil {
		most = pausedChunk
	}
	s := &Sorter{opts: opts, chunk: min(most, max(1, opts.Memory/4)), slots: make(chan struct{}, max(1, procs.Number()-1))}
	s.start()
	return s
}

// start starts a chunk.
func (s *Sorter) start() {
	s.cur = newChunk(s.opts.Groups, s.chunk)
	s.next = min(s.chunk, step)
}

// Add copies a pair into a group.
func (s *Sorter) Add(group int, key, val []byte) error {
	s.cur.add(group, key, val)
	if s.cur.size < s.next {
		return nil
	}
	return s.grown()
}

// grown checks the budget for more memory, and seals the chunk when it is full.
func (s *Sorter) grown() error {
	short := false
	if b := s.opts.Budget; b != nil {
		n := s.held + s.cur.size + s.copies.Load() + step
		if !b.Room(n) {
			if short = s.held+s.cur.size >= minRun; !short {
				b.Hold(n)
			}
		}
	}
	if s.cur.size < s.chunk && !short {
		s.next = min(s.chunk, s.cur.size+step)
		return nil
	}
	if err := s.seal(); err != nil {
		return err
	}
	if !short && s.held+s.chunk <= s.opts.Memory {
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	if b := s.opts.Budget; b != nil {
		b.Hold(step)
	}
	return nil
}

// seal sorts the current chunk, in the background unless there are pauses, and
// starts another.
func (s *Sorter) seal() error {
	c := s.cur
	s.start()
	s.sealed = append(s.sealed, c)
	s.held += c.size
	if s.opts.Pause != nil {
		if err := c.sort(); err != nil {
			return err
		}
		return s.opts.Pause()
	}
	s.slots <- struct{}{}
	s.copies.Add(c.size)
	s.sorting.Go(func() {
		defer func() {
			s.copies.Add(-c.size)
			<-s.slots
		}()
		if err := guard.Run(c.sort); err != nil {
			s.fail(err)
		}
	})
	return s.failure()
}

func (s *Sorter) fail(err error) { s.failed.CompareAndSwap(nil, &err) }

func (s *Sorter) failure() error {
	if p := s.failed.Load(); p != nil {
		return *p
	}
	return nil
}

// spill merges the sorted chunks into a run.
func (s *Sorter) spill() error {
	s.sorting.Wait()
	if err := s.failure(); err != nil {
		return err
	}
	f, err := s.create()
	if err != nil {
		return fmt.Errorf("spilling sorted rows: %w", err)
	}
	r := &run{file: f, parts: make([]part, s.opts.Groups)}
	s.runs = append(s.runs, r)
	if err := r.write(s); err != nil {
		return err
	}
	s.sealed, s.held = nil, 0
	return nil
}

// create makes a temporary file without a name, so that a crash leaves no file.
func (s *Sorter) create() (File, error) {
	if s.opts.Budget != nil {
		return s.opts.Budget.Create()
	}
	f, err := os.CreateTemp(s.opts.TempDir, "sqlots-bulk-*.tmp")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Sort ends the adding of pairs.
func (s *Sorter) Sort() error {
	if err := s.seal(); err != nil {
		return err
	}
	s.sorting.Wait()
	return s.failure()
}

// Empty reports whether a group has no pairs. Sort comes before.
func (s *Sorter) Empty(group int) bool {
	cs, err := s.cursors(group, true)
	return err == nil && len(cs) == 0
}

// Merge calls fn with the pairs of a group in the order of their keys; both are
// valid until fn returns. Sort comes before. Different groups may be merged
// concurrently, each once.
func (s *Sorter) Merge(group int, fn func(key, val []byte) error) error {
	cs, err := s.cursors(group, true)
	if err != nil {
		return err
	}
	return merge(cs, fn)
}

// Close frees memory and files. It is idempotent.
func (s *Sorter) Close() error {
	s.sorting.Wait()
	var err error
	for _, r := range s.runs {
		err = errors.Join(err, r.file.Close())
	}
	s.runs, s.sealed, s.cur, s.held = nil, nil, nil, 0
	if s.opts.Budget != nil {
		s.opts.Budget.Hold(0)
	}
	return err
}
