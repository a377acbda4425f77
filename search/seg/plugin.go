package seg

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v16"
)

// plugin makes scorch keep our segments. Scorch knows plugins by type and
// version and callbacks by name, for the whole process; open finds the index
// that a call is about by its directory.
type plugin struct{}

const (
	pluginType    = "sqlots"
	pluginVersion = fileVersion
	callbackName  = "sqlots"
)

var (
	registerOnce sync.Once
	open         sync.Map // directory to *Index
	queue        *index.AnalysisQueue
)

func register() {
	registerOnce.Do(func() {
		scorch.RegisterSegmentPlugin(plugin{}, false)
		queue = index.NewAnalysisQueue(1)
		scorch.RegistryAsyncErrorCallbacks[callbackName] = func(err error, path string) {
			if ix, ok := open.Load(path); ok {
				ix.(*Index).asyncError(err)
			}
		}
		scorch.RegistryEventCallbacks[callbackName] = func(e scorch.Event) bool {
			ix, ok := byScorch.Load(e.Scorch)
			if !ok {
				return true
			}
			return ix.(*Index).event(e.Kind)
		}
	})
}

// mergeSlots bounds how many indexes merge files at a time, because of the
// memory; what is written from memory for the first time does not wait.
var mergeSlots = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// MergeSlots is how many merges of files run at a time, of all indexes; each holds
// up to MergeBytes of a document.
func MergeSlots() int { return cap(mergeSlots) }

// MergeBytes is the memory that a merge takes of a document, at most.
const MergeBytes = 100

// byScorch finds the index of an event, which does not name the directory.
var byScorch sync.Map // *scorch.Scorch to *Index

func (plugin) Type() string    { return pluginType }
func (plugin) Version() uint32 { return pluginVersion }

// carrier is the one document of a scorch batch, in place of all of ours: scorch sees
// their ids as deletions, and New takes the segment that the carrier brings.
type carrier struct {
	zapDoc
	file *file
}

// New makes the segment of a batch.
func (plugin) New(docs []index.Document) (segment.Segment, uint64, error) {
	c, ok := docs[0].(*carrier)
	if !ok || len(docs) != 1 {
		return nil, 0, fmt.Errorf("%d documents of type %T", len(docs), docs[0])
	}
	s, err := newMemSegment(c.file)
	if err != nil {
		return nil, 0, err
	}
	return s, uint64(len(c.file.data)), nil
}

// Open opens a segment on disk.
func (plugin) Open(path string) (s segment.Segment, err error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	var c *core
	err = Guard(func() (err error) {
		c, err = newCore(f)
		return err
	})
	if err != nil {
		_ = f.close()
		return nil, err
	}
	return &diskSegment{c, path}, nil
}

// Merge writes the documents that are not dropped into one segment on disk.
func (plugin) Merge(in []segment.Segment, drops []*roaring.Bitmap, path string, stop chan struct{}, stats segment.StatsReporter) ([][]uint64, uint64, error) {
	if _, ok := in[0].(*diskSegment); ok {
		select {
		case mergeSlots <- struct{}{}:
			defer func() { <-mergeSlots }()
		case <-stop:
			return nil, 0, segment.ErrClosed
		}
	}
	m := &merger{stop: stop}
	owner, _ := open.Load(filepath.Dir(path))
	if ix, ok := owner.(*Index); ok {
		if ix.dead() {
			// ends the merger, which would try again for ever
			return nil, 0, segment.ErrClosed
		}
		m.schema = &ix.schema
	}
	numbers := make([][]uint64, len(in))
	for i, s := range in {
		c := s.(interface{ base() *core }).base()
		m.in = append(m.in, c.f)
		newOf := make([]uint32, c.f.docs)
		numbers[i] = make([]uint64, c.f.docs)
		for d := range newOf {
			if drops[i] != nil && drops[i].Contains(uint32(d)) {
				newOf[d], numbers[i][d] = dropped, ^uint64(0)
				continue
			}
			newOf[d], numbers[i][d] = uint32(m.docs), uint64(m.docs)
			m.docs++
		}
		m.newOf = append(m.newOf, newOf)
	}
	err := m.stopped()
	var size int64
	if err == nil {
		err = Guard(func() (err error) {
			size, err = m.writeFile(path, in, drops, stop)
			return err
		})
	}
	if err != nil {
		_ = os.Remove(path)
		if ix, ok := owner.(*Index); ok {
			ix.note(err)
		}
		if errors.Is(err, segment.ErrClosed) {
			// scorch compares
			return nil, 0, segment.ErrClosed
		}
		return nil, 0, err
	}
	if stats != nil {
		stats.ReportBytesWritten(uint64(size))
	}
	return numbers, uint64(size), nil
}

func (m *merger) writeFile(path string, in []segment.Segment, drops []*roaring.Bitmap, stop chan struct{}) (int64, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return 0, err
	}
	inverted, err := m.mergeInverted(path, in, drops, stop)
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := newFileWriter(f, inverted)
	if inverted > 0 {
		w.inverted(inverted)
	}
	if err := m.write(w); err != nil {
		return 0, err
	}
	return int64(w.off), finishFile(f, path)
}

// mergeInverted has zap write its part to the beginning of the file.
func (m *merger) mergeInverted(path string, in []segment.Segment, drops []*roaring.Bitmap, stop chan struct{}) (int64, error) {
	bases := make([]segment.Segment, len(in))
	any := false
	for i, s := range in {
		sb, err := s.(interface{ base() *core }).base().zap()
		if err != nil {
			return 0, err
		}
		if sb != nil {
			bases[i], any = sb, true
		}
	}
	if !any {
		return 0, nil
	}
	for i, sb := range bases {
		if sb != nil {
			continue
		}
		var err error
		if bases[i], err = emptyZap(m.in[i].docs); err != nil {
			return 0, err
		}
	}
	_, n, err := zapPlugin.Merge(bases, drops, path, stop, nil)
	return int64(n), err
}

// finishFile makes a new file durable, its name too.
func finishFile(f *os.File, path string) error {
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// core is a segment as scorch sees it.
type core struct {
	f    *file
	ids  *ids
	refs atomic.Int64

	zapOnce sync.Once
	zapBase *zap.SegmentBase
	zapErr  error

	// opened fields, shared by snapshots
	mu     sync.Mutex
	fields map[FieldID]any
	nested *Nested
	// which documents are live in the newest snapshot
	liveMu  sync.Mutex
	liveFor *roaring.Bitmap
	live    *liveSet
}

// liveOf gives the set that belongs to the deleted documents.
func (c *core) liveOf(deleted *roaring.Bitmap) *liveSet {
	c.liveMu.Lock()
	defer c.liveMu.Unlock()
	if c.live == nil || c.liveFor != deleted {
		c.live, c.liveFor = &liveSet{}, deleted
	}
	return c.live
}

func newCore(f *file) (*core, error) {
	r, err := openIDs(f)
	if err != nil {
		return nil, err
	}
	c := &core{f: f, ids: r, fields: map[FieldID]any{}}
	c.refs.Store(1)
	return c, nil
}

func (c *core) base() *core { return c }

// zap gives the inverted part; nil if the segment has none. Its checksum is verified at
// the first call.
func (c *core) zap() (*zap.SegmentBase, error) {
	c.zapOnce.Do(func() {
		c.zapErr = damaged(c.f.name, "cannot be read") // if it panics
		c.zapBase, c.zapErr = openZap(c.f)
	})
	return c.zapBase, c.zapErr
}

func (c *core) Count() uint64 { return uint64(c.f.docs) }
func (c *core) AddRef()       { c.refs.Add(1) }
func (c *core) Close() error  { return c.DecRef() }

func (c *core) DecRef() error {
	if c.refs.Add(-1) == 0 {
		return c.f.close()
	}
	return nil
}

// DocNumbers finds documents by id, with what is nested in them. They are added
// one by one: AddRange makes containers of runs, which scorch's unions of deleted
// documents and counts of them are slow with.
func (c *core) DocNumbers(list []string) (*roaring.Bitmap, error) {
	rv := roaring.New()
	for _, id := range list {
		if doc, ok := c.ids.find([]byte(id)); ok {
			for end := c.ids.end(doc); doc < end; doc++ {
				rv.Add(doc)
			}
		}
	}
	return rv, nil
}

func (c *core) DocID(doc uint64) ([]byte, error) { return c.ids.at(uint32(doc)), nil }
func (c *core) Fields() []string                 { return nil }

func (c *core) Dictionary(string) (segment.TermDictionary, error) {
	return nil, errors.New("terms are read through the snapshot")
}

func (c *core) VisitStoredFields(uint64, segment.StoredFieldValueVisitor) error { return nil }

func (c *core) BytesRead() uint64     { return 0 }
func (c *core) ResetBytesRead(uint64) {}
func (c *core) BytesWritten() uint64  { return 0 }

// memSegment is a segment that is not on disk yet.
type memSegment struct{ *core }

func newMemSegment(f *file) (*memSegment, error) {
	c, err := newCore(f)
	if err != nil {
		return nil, err
	}
	return &memSegment{c}, nil
}

func (s *memSegment) Size() int { return len(s.f.data) }

// Persist writes the segment to disk.
func (s *memSegment) Persist(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(s.f.data); err == nil {
		err = finishFile(f, path)
	}
	if err != nil {
		_ = f.Close()
		_ = os.Remove(path)
	}
	return err
}

// diskSegment is a segment in a file.
type diskSegment struct {
	*core
	path string
}

func (s *diskSegment) Size() int    { return 512 }
func (s *diskSegment) Path() string { return s.path }

var (
	_ segment.UnpersistedSegment = (*memSegment)(nil)
	_ segment.PersistedSegment   = (*diskSegment)(nil)
	_ scorch.SegmentPlugin       = plugin{}
)
