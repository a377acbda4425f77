package pebblekv

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/metrics"
)

// traffic counts what goes to and from the files of a store since it was opened.
type traffic struct {
	reads, readBytes   atomic.Int64 // of tables and files of values
	writes, writeBytes atomic.Int64
	syncs              atomic.Int64
	logWrites          atomic.Int64

	mu       sync.Mutex
	logSyncs metrics.Histogram
}

func (t *traffic) read(n int) {
	t.reads.Add(1)
	t.readBytes.Add(int64(n))
}

func (t *traffic) wrote(n int, log bool) {
	t.writes.Add(1)
	t.writeBytes.Add(int64(n))
	if log {
		t.logWrites.Add(1)
	}
}

// synced runs a sync and counts it.
func (t *traffic) synced(log bool, op func() error) error {
	t.syncs.Add(1)
	if !log {
		return op()
	}
	start := time.Now()
	err := op()
	took := time.Since(start)
	t.mu.Lock()
	t.logSyncs.Add(took)
	t.mu.Unlock()
	return err
}

// stalls are the times for which writes waited for flushes and compactions.
type stalls struct {
	mu    sync.Mutex
	n     int64
	since time.Time // zero: writes do not wait
	took  time.Duration
}

func (s *stalls) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.since = time.Now()
}

func (s *stalls) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.since.IsZero() {
		s.took += time.Since(s.since)
		s.since = time.Time{}
	}
}

// numbers are how often writes waited, for how long, and whether they do now.
func (s *stalls) numbers() (n int64, took time.Duration, now bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, took, now = s.n, s.took, !s.since.IsZero()
	if now {
		took += time.Since(s.since)
	}
	return n, took, now
}

// LogSyncs are how long syncs of the log took, which commits wait for.
func (s *Store) LogSyncs() *metrics.Histogram {
	out := &metrics.Histogram{}
	s.disk.traffic.mu.Lock()
	defer s.disk.traffic.mu.Unlock()
	out.Merge(&s.disk.traffic.logSyncs)
	return out
}

// DamagedFiles is how many files have been found damaged.
func (s *Store) DamagedFiles() int64 { return s.damaged.count() }

// Metrics implements storage.Store.
func (s *Store) Metrics() map[string]int64 {
	t := &s.disk.traffic
	stalled, stall, now := s.stalls.numbers()
	out := map[string]int64{
		"seq":               int64(s.seq.Load()),
		"commits":           int64(s.seq.Load() - s.opened),
		"disk_full":         flag(s.disk.full.Load()),
		"disk_free_bytes":   s.free.Load(),
		"disk_reserve":      max(s.opts.DiskReserveBytes, 0),
		"damaged_files":     s.damaged.count(),
		"frozen":            flag(s.disk.frozen() != nil),
		"reads":             t.reads.Load(),
		"read_bytes":        t.readBytes.Load(),
		"writes":            t.writes.Load(),
		"write_bytes":       t.writeBytes.Load(),
		"syncs":             t.syncs.Load(),
		"wal_writes":        t.logWrites.Load(),
		"write_stalls":      stalled,
		"write_stall_usecs": stall.Microseconds(),
		"write_stalled":     flag(now),
	}
	t.mu.Lock()
	out["wal_syncs"] = int64(t.logSyncs.Count)
	t.mu.Unlock()
	s.LockMetrics(out)
	out["images"], out["images_packed"], out["image_bytes"] = s.images.usage()
	out["filters"], out["filter_bytes"] = s.filters.usage()
	if s.enter() != nil {
		return out
	}
	defer s.exit()
	m := s.db.Metrics()
	out["block_cache_bytes"] = m.BlockCache.Size
	out["block_cache_capacity"] = max(s.cache.MaxSize()-s.claims.claimed(), 0)
	out["block_cache_hits"] = m.BlockCache.Hits
	out["block_cache_misses"] = m.BlockCache.Misses
	out["filter_hits"] = m.Filter.Hits
	out["filter_misses"] = m.Filter.Misses
	out["flushes"] = m.Flush.Count
	out["compactions"] = m.Compact.Count
	out["compactions_failed"] = m.Compact.FailedCount
	out["compactions_running"] = m.Compact.NumInProgress
	out["compaction_debt_bytes"] = int64(m.Compact.EstimatedDebt)
	for i := range m.Levels {
		l := &m.Levels[i]
		out["flushed_bytes"] += int64(l.TableBytesFlushed + l.BlobBytesFlushed)
		out["compacted_bytes"] += int64(l.TableBytesCompacted + l.BlobBytesCompacted)
		out["compaction_read_bytes"] += int64(l.TableBytesRead + l.BlobBytesReadEstimate)
		out["ingested_bytes"] += int64(l.TableBytesIngested)
		out["tables"] += l.TablesCount
	}
	out["ingests"] = int64(m.Ingest.Count)
	out["memtable_bytes"] = int64(m.MemTable.Size)
	out["memtables"] = m.MemTable.Count
	out["open_files"] = m.FileCache.TableCount + m.FileCache.BlobFileCount
	out["snapshots"] = int64(m.Snapshots.Count)
	out["table_iters"] = m.TableIters
	out["tables_bytes"] = int64(m.Table.Local.LiveSize)
	out["blobs"] = int64(m.BlobFiles.LiveCount)
	out["blob_bytes"] = int64(m.BlobFiles.LiveSize)
	out["wal_files"] = m.WAL.Files
	out["wal_bytes"] = int64(m.WAL.PhysicalSize)
	out["wal_written_bytes"] = int64(m.WAL.BytesWritten)
	out["disk_bytes"] = int64(m.DiskSpaceUsage())
	out["read_amp"] = int64(m.ReadAmp())
	out["l0_files"] = m.Levels[0].TablesCount
	out["l0_sublevels"] = int64(m.Levels[0].Sublevels)
	return out
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
