package pebblekv

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/storage"
)

// Options shape a store. Only Dir must be set.
type Options struct {
	// Dir is the directory of the store; it is created when it is missing.
	Dir string
	// FS is the file system, nil for that of the operating system.
	FS vfs.FS
	// CacheBytes is the memory of the block cache; the write buffers are
	// charged to it. 0 means 256 MiB. It lives in the Go heap.
	CacheBytes int64
	// ImageBytes is how much of CacheBytes the copies of tables and indexes may have
	// that are read over and over; 0 means a quarter, negative none. Blocks use what
	// they do not have. Those that are packed may have more, see mostImages.
	ImageBytes int64
	// FilterBytes is how much of CacheBytes is for filters of tables and
	// indexes in which missing keys are often looked up; 0 means a 32nd
	// part, negative none.
	FilterBytes int64
	// MemTableBytes is the size of one write buffer, of which up to four exist.
	// 0 means a sixteenth of the cache, within 1 and 64 MiB.
	MemTableBytes int64
	// ValueSeparationBytes is the size from which values are kept in files of
	// their own; 0 means 1 KiB, negative never.
	ValueSeparationBytes int
	// DiskReserveBytes is the free space below which writes are refused with
	// storage.ErrDiskFull; 0 means 128 MiB, negative none.
	DiskReserveBytes int64
	// MaxOpenFiles is a soft limit, 0 for 1000.
	MaxOpenFiles int
	// Caps are the limits; zero fields take storage.DefaultCaps.
	Caps storage.Caps
	// Logger receives the engine's errors (and its chatter, as debug); nil for
	// slog.Default.
	Logger *slog.Logger
	// AcceptLogDamage has Open leave out the end of a damaged log, with the commits in
	// it, where Open would otherwise fail. Before that the logs are copied unchanged to
	// the directory damaged-logs of that of the store.
	AcceptLogDamage bool
	// EagerImages makes images and filters at the first read, for tests.
	EagerImages bool
	// PackImages packs all images, for tests.
	PackImages bool
	// Steps is called at the steps of commits and reads, for tests.
	Steps step.Hook
}

const (
	defaultCache       = 256 << 20
	defaultReserve     = 128 << 20
	defaultSeparation  = 1 << 10
	minMemTable        = 1 << 20
	maxMemTable        = 64 << 20
	memTables          = 4
	blockBytes         = 16 << 10
	indexBlockBytes    = 256 << 10
	bloomBitsPerKey    = 10
	maxTxnBytes        = 2 << 30 // a Pebble batch ends at 4 GiB
	l0CompactionStart  = 2
	l0StopWrites       = 1000
	lbaseBytes         = 64 << 20
	blobRewriteMinAge  = 5 * time.Minute
	blobGarbageRatio   = 0.3
	blobReferenceDepth = 10
)

// cores is taken before a program sets the runtime to more threads than there are
// cores.
var cores = runtime.GOMAXPROCS(0)

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes <= 0 {
		o.CacheBytes = defaultCache
	}
	if o.ImageBytes == 0 {
		o.ImageBytes = o.CacheBytes / 4
	}
	o.ImageBytes = min(max(o.ImageBytes, 0), o.CacheBytes/2)
	if o.FilterBytes == 0 {
		o.FilterBytes = o.CacheBytes / 32
	}
	o.FilterBytes = min(max(o.FilterBytes, 0), o.CacheBytes/4)
	if o.MemTableBytes <= 0 {
		o.MemTableBytes = min(max(o.CacheBytes/16, minMemTable), maxMemTable)
	}
	if o.ValueSeparationBytes == 0 {
		o.ValueSeparationBytes = defaultSeparation
	}
	if o.DiskReserveBytes == 0 {
		o.DiskReserveBytes = defaultReserve
	}
	if o.MaxOpenFiles == 0 {
		o.MaxOpenFiles = 1000
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Caps.MaxTxn = min(o.Caps.MaxTxn, maxTxnBytes)
	return o
}

// mostImages is how much of CacheBytes all images may have: all except the write buffers
// and an eighth, for blocks.
func (o Options) mostImages() int64 {
	return max(o.CacheBytes*7/8-memTables*o.MemTableBytes, o.ImageBytes)
}

// pebbleOptions are the settings of the engine. Those of levels and L0 follow
// CockroachDB's, with two exceptions. The last level has filters too: unique checks
// read them. Blocks are half as large, for reads of single rows that are not in memory
// (docs/decisions/block-size.md).
func (o Options) pebbleOptions(d *disk, cache *pebble.Cache) *pebble.Options {
	po := &pebble.Options{
		Cache:                       cache,
		FS:                          d,
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: memTables,
		L0CompactionThreshold:       l0CompactionStart,
		L0StopWritesThreshold:       l0StopWrites,
		LBaseMaxBytes:               lbaseBytes,
		MaxOpenFiles:                o.MaxOpenFiles,
		// A delayed flush would rotate the log on a goroutine of Pebble's own.
		FlushDelayDeleteRange: 0,
		Logger:                logger{log: o.Logger, disk: d},
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) {
				o.Logger.Error("storage background error", "event", "storage.background", "error", err.Error())
			},
		},
		CompactionConcurrencyRange: func() (int, int) { return 1, max(2, cores-1) },
	}
	for i := range po.Levels {
		po.Levels[i].BlockSize = blockBytes
		po.Levels[i].IndexBlockSize = indexBlockBytes
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(bloomBitsPerKey)
	}
	po.FlushSplitBytes = 4 << 20
	po.WALMinSyncInterval = d.syncInterval
	// Sampling reads for compactions cost a scan 4 ns a row.
	po.Experimental.ReadSamplingMultiplier = -1
	po.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest })
	if o.ValueSeparationBytes > 0 {
		policy := pebble.ValueSeparationPolicy{
			Enabled:               true,
			MinimumSize:           o.ValueSeparationBytes,
			MaxBlobReferenceDepth: blobReferenceDepth,
			RewriteMinimumAge:     blobRewriteMinAge,
			TargetGarbageRatio:    blobGarbageRatio,
		}
		po.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy { return policy }
	}
	return po
}

// logger passes Pebble's messages on. What Pebble calls fatal freezes the
// files instead of ending the process.
type logger struct {
	log  *slog.Logger
	disk *disk
}

// Infof implements pebble.Logger.
func (l logger) Infof(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.log.Debug(fmt.Sprintf(format, args...))
	}
}

// Errorf implements pebble.Logger.
func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

// Fatalf implements pebble.Logger.
func (l logger) Fatalf(format string, args ...any) {
	l.disk.freeze("engine", fmt.Errorf(format, args...))
}
