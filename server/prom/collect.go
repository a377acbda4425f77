package prom

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/stream"
)

// Describe implements prometheus.Collector.
func (h *Handler) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range defined {
		ch <- m.desc
	}
}

// out takes the values of a scrape.
type out chan<- prometheus.Metric

func (o out) set(m *Metric, v float64, labels ...string) {
	o <- prometheus.MustNewConstMetric(m.desc, m.kind, v, labels...)
}

// setInt is set for numbers that the server keeps as integers.
func (o out) setInt(m *Metric, v int64, labels ...string) { o.set(m, float64(v), labels...) }

func (o out) times(m *Metric, h *metrics.Histogram, labels ...string) {
	buckets := make(map[float64]uint64, len(bounds))
	for i, n := range h.Below(bounds) {
		buckets[bounds[i].Seconds()] = n
	}
	o <- prometheus.MustNewConstHistogram(m.desc, h.Count, h.Sum.Seconds(), buckets, labels...)
}

// bounds are the buckets of the histograms.
var bounds = func() (out []time.Duration) {
	for unit := 100 * time.Microsecond; unit <= time.Second; unit *= 10 {
		out = append(out, unit, unit*5/2, unit*5)
	}
	return append(out, 10*time.Second, 30*time.Second, time.Minute)
}()

// Collect implements prometheus.Collector.
func (h *Handler) Collect(ch chan<- prometheus.Metric) {
	began := time.Now()
	o := out(ch)
	o.set(buildInfo, 1, h.build.Version, h.build.Revision, h.build.Go)
	o.set(startTime, float64(h.started.UnixMilli())/1000)
	o.setInt(ready, bit(len(h.notReady()) == 0))
	if s := h.source.Load(); s != nil {
		s.collect(o)
	}
	o.set(scrape, time.Since(began).Seconds())
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (s *opened) collect(o out) {
	store := s.Engine.Store.Metrics()
	all := s.Engine.Metrics.Global()
	search := s.search(o)
	s.connections(o, all)
	s.statements(o, all)
	s.transactions(o, all, store)
	s.memory(o, store, search)
	s.storage(o, store, search)
	s.cluster(o)
	s.logs(o)
	s.jobs(o)
}

// cluster is for stores on other machines.
func (s *opened) cluster(o out) {
	x, ok := s.Engine.Store.(interface{ Cluster() metrics.Cluster })
	if !ok {
		return
	}
	c := x.Cluster()
	for i := range c.Calls {
		k := &c.Calls[i]
		o.times(clusterCalls, &k.Times, k.Kind)
		for reason, n := range k.Errors {
			o.setInt(clusterErrors, n, k.Kind, reason)
		}
	}
	o.set(clusterLease, c.Lease.Seconds())
	o.setInt(clusterUnknown, c.Unknown)
}

func (s *opened) connections(o out, all *metrics.Numbers) {
	sum := s.Engine.Processes.Sum()
	o.setInt(connections, sum.Running, "running")
	o.setInt(connections, sum.Waiting, "idle_in_transaction")
	o.setInt(connections, sum.Idle, "idle")
	o.setInt(connectionsMax, int64(s.MaxConnections()))
	c := &s.Engine.Metrics.Connections
	o.setInt(connectionsTotal, c.Attempts.Load())
	o.setInt(connectionsRefused, c.Full.Load(), "full")
	o.setInt(connectionsRefused, c.Denied.Load(), "denied")
	o.setInt(connectionsRefused, c.Unfinished.Load(), "unfinished")
	o.setInt(connectionsRefused, c.NotAccepted.Load(), "not_accepted")
	o.setInt(connectionsRefused, c.Internal.Load(), "internal")
	o.setInt(connectionsAborted, c.Aborted.Load())
	made := c.TLSMade.Load() // first: begun is never less
	o.setInt(tlsHandshakes, made, "made")
	o.setInt(tlsHandshakes, c.TLSBegun.Load()-made, "failed")
	o.set(bytesReceived, float64(all.Counter(metrics.BytesReceived)))
	o.set(bytesSent, float64(all.Counter(metrics.BytesSent)))
	o.setInt(prepared, s.Engine.Metrics.Prepared())
	o.setInt(transactionsOpen, sum.Transactions)
	age := 0.0
	if !sum.Oldest.IsZero() {
		age = time.Since(sum.Oldest).Seconds()
	}
	o.set(transactionOldest, age)
}

func (s *opened) statements(o out, all *metrics.Numbers) {
	for _, c := range metrics.Commands() {
		n := all.Started(c)
		if n == 0 {
			continue
		}
		o.set(statements, float64(n), c.String())
		if totals, times := all.Totals(c); totals.Count > 0 {
			o.times(statementDuration, times, c.String())
		}
	}
	for c := range metrics.NumErrorClasses {
		o.setInt(statementErrors, s.Engine.Metrics.Failed(c), c.String())
	}
	for _, x := range []struct {
		m     *Metric
		c     metrics.Counter
		label string
	}{
		{slowStatements, metrics.SlowQueries, ""}, {rowsSent, metrics.RowsSent, ""}, {rowsExamined, metrics.RowsExamined, ""},
		{rowsWritten, metrics.HandlerWrite, "insert"}, {rowsWritten, metrics.HandlerUpdate, "update"}, {rowsWritten, metrics.HandlerDelete, "delete"},
		{accessPaths, metrics.ReadsByPoint, "point"}, {accessPaths, metrics.ReadsByRange, "range"}, {accessPaths, metrics.ReadsByIndex, "index"},
		{accessPaths, metrics.ReadsBySearch, "search"}, {accessPaths, metrics.ReadsOfAll, "full_scan"},
		{sortRows, metrics.SortRows, ""}, {planCacheHits, metrics.PlanCacheHits, ""}, {planCacheMisses, metrics.PlanCacheMisses, ""},
		{tableLockWaits, metrics.TableLocksWaited, ""},
		{transactions, metrics.HandlerCommit, "commit"}, {transactions, metrics.HandlerRollback, "rollback"},
	} {
		if x.label == "" {
			o.set(x.m, float64(all.Counter(x.c)))
		} else {
			o.set(x.m, float64(all.Counter(x.c)), x.label)
		}
	}
	o.setInt(openTables, s.Engine.Codecs.Len())
	o.setInt(digests, int64(s.Engine.Metrics.Digests.Len()))
}

func (s *opened) transactions(o out, _ *metrics.Numbers, store map[string]int64) {
	o.setInt(lockWaits, store["lock_waits"])
	o.set(lockWaitSeconds, float64(store["lock_wait_usecs"])/1e6)
	o.setInt(lockWaiting, store["lock_waiting"])
	o.setInt(deadlocks, store["deadlocks"])
}

func (s *opened) memory(o out, store map[string]int64, search searchSums) {
	e := s.Engine
	queries := e.Memory.Used()
	o.setInt(memory, queries, "statements")
	o.setInt(memory, max(e.Values.Used()-queries, 0), "values")
	o.setInt(memory, e.Writes.Used(), "transactions")
	o.setInt(memory, store["block_cache_bytes"], "block_cache")
	o.setInt(memory, store["memtable_bytes"], "write_buffers")
	o.setInt(memory, store["image_bytes"], "scan_cache")
	o.setInt(memory, store["filter_bytes"], "filters")
	o.setInt(memory, search.memory, "search")
	o.setInt(memoryLimit, e.Memory.Limit(), "statements")
	o.setInt(memoryLimit, e.Values.Limit(), "values")
	o.setInt(memoryLimit, e.Writes.Limit(), "transactions")
	o.setInt(memoryLimit, store["block_cache_capacity"], "block_cache")
	o.setInt(memoryBudget, s.Memory)
	if e.Spill != nil {
		files, bytes := e.Spill.Total()
		o.setInt(tempFiles, files)
		o.setInt(spilledBytes, bytes)
		now, _ := e.Spill.Used()
		o.setInt(tempBytes, now)
	}
}

func (s *opened) storage(o out, store map[string]int64, search searchSums) {
	o.setInt(storageBytes, store["tables_bytes"], "tables")
	o.setInt(storageBytes, store["blob_bytes"], "values")
	o.setInt(storageBytes, store["wal_bytes"], "wal")
	o.setInt(storageBytes, search.disk, "search")
	o.setInt(storageBytes, store["disk_bytes"]+search.disk, "all")
	o.setInt(writesRefused, max(store["disk_full"], store["frozen"]))
	for _, x := range []struct {
		m    *Metric
		name string
	}{
		{diskFree, "disk_free_bytes"}, {diskReserve, "disk_reserve"}, {damagedFiles, "damaged_files"}, {commits, "commits"},
		{cacheHits, "block_cache_hits"}, {cacheMisses, "block_cache_misses"},
		{fileReads, "reads"}, {fileReadBytes, "read_bytes"}, {fileWrites, "writes"}, {fileWriteBytes, "write_bytes"}, {walBytes, "wal_written_bytes"},
		{flushes, "flushes"}, {flushedBytes, "flushed_bytes"}, {compactions, "compactions"}, {compactedBytes, "compacted_bytes"},
		{compactionFailed, "compactions_failed"}, {compactionDebt, "compaction_debt_bytes"}, {writeStalls, "write_stalls"},
		{readAmp, "read_amp"}, {l0Sublevels, "l0_sublevels"}, {openFiles, "open_files"},
	} {
		o.setInt(x.m, store[x.name])
	}
	o.set(writeStallTime, float64(store["write_stall_usecs"])/1e6)
	if x, ok := s.Engine.Store.(interface{ LogSyncs() *metrics.Histogram }); ok {
		o.times(commitSync, x.LogSyncs())
	} else {
		o.times(commitSync, &metrics.Histogram{})
	}
}

// maxSeries is how many tables, indexes and consumers have series of their own.
const maxSeries = 500

// other is the name under which the rest is added up.
const other = "_other"

type searchSums struct{ memory, disk int64 }

func (s *opened) search(o out) (sums searchSums) {
	list := s.server.SearchIndexes()
	var rest struct {
		lag                      time.Duration
		docs, segments, rejected uint64
		states                   map[string]int64
	}
	for i := range list {
		x := &list[i]
		sums.memory += int64(x.Memory)
		sums.disk += int64(x.Disk)
		if x.Next {
			continue
		}
		if i >= maxSeries {
			rest.lag = max(rest.lag, x.Behind)
			rest.docs += x.Docs
			rest.segments += x.Segments
			rest.rejected += x.Rejected
			if rest.states == nil {
				rest.states = map[string]int64{}
			}
			rest.states[x.State]++
			continue
		}
		oneIndex(o, x.Database, x.Table, x.Name, x, map[string]int64{x.State: 1})
	}
	if rest.states != nil {
		oneIndex(o, other, other, other, &infoschema.SearchIndex{Behind: rest.lag, Docs: rest.docs, Segments: rest.segments, Rejected: rest.rejected}, rest.states)
	}
	return sums
}

func oneIndex(o out, db, table, name string, x *infoschema.SearchIndex, states map[string]int64) {
	o.set(searchLag, x.Behind.Seconds(), db, table, name)
	o.set(searchDocuments, float64(x.Docs), db, table, name)
	o.set(searchSegments, float64(x.Segments), db, table, name)
	o.set(searchRejected, float64(x.Rejected), db, table, name)
	for _, state := range []string{"building", "ready", "failed"} {
		o.setInt(searchState, states[state], db, table, name, state)
	}
}

// streamAge is how long what change logs have is kept: it is read from the store.
const streamAge = 10 * time.Second

// streamTimeout bounds that reading.
const streamTimeout = 5 * time.Second

type streamCache struct {
	mu        sync.Mutex
	at        time.Time
	bytes     []stream.Info
	consumers []stream.ConsumerInfo
}

// read is what is known of change logs and their consumers, at most streamAge old.
func (c *streamCache) read(s *opened) ([]stream.Info, []stream.ConsumerInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) < streamAge {
		return c.bytes, c.consumers
	}
	ctx, cancel := context.WithTimeout(context.Background(), streamTimeout)
	defer cancel()
	list, err := s.Engine.StreamList(ctx)
	if err != nil {
		return nil, nil // the next scrape tries again
	}
	list = slices.DeleteFunc(list, func(x stream.Info) bool { return x.Ended != 0 })
	for i := range list {
		list[i].Bytes, _ = s.Engine.Store.EstimateSize(ctx, stream.Span(list[i].ID)) // 0 if it fails
	}
	consumers, err := s.server.StreamConsumers(ctx)
	if err != nil {
		consumers = nil
	}
	c.at, c.bytes, c.consumers = time.Now(), list, consumers
	return list, consumers
}

func (s *opened) logs(o out) {
	list, consumers := s.streams.read(s)
	rest := int64(0)
	for i, x := range list {
		if i >= maxSeries {
			rest += x.Bytes
			continue
		}
		o.setInt(streamBytes, x.Bytes, x.Database, x.Table)
	}
	if len(list) > maxSeries {
		o.setInt(streamBytes, rest, other, other)
	}
	lag, behind := 0.0, int64(0)
	for i, x := range consumers {
		if i >= maxSeries {
			lag = max(lag, x.LagSeconds)
			behind += bit(x.Behind)
			continue
		}
		o.set(consumerLag, x.LagSeconds, x.Name, x.Database, x.Table)
		o.setInt(consumerBehind, bit(x.Behind), x.Name, x.Database, x.Table)
	}
	if len(consumers) > maxSeries {
		o.set(consumerLag, lag, other, other, other)
		o.setInt(consumerBehind, behind, other, other, other)
	}
}

// jobKind is the kind of a job by its name, which may have that of a table.
func jobKind(name string) string {
	for _, x := range []struct{ prefix, kind string }{
		{"backup", "backup"}, {"search index", "search_index"}, {"changes of search indexes", "search_index"}, {"removing expired rows", "ttl"}, {"removing versions", "versions"},
		{"removing records", "change_logs"}, {"continuing index builds", "index_builds"},
		{"removing data", "schema_changes"}, {"removing partitions", "schema_changes"}, {"removing large values", "schema_changes"},
	} {
		if strings.HasPrefix(name, x.prefix) {
			return x.kind
		}
	}
	return "other"
}

func (s *opened) jobs(o out) {
	type sum struct {
		running, failed int64
		success         time.Time
	}
	sums := map[string]*sum{}
	for _, kind := range []string{"backup", "search_index", "ttl", "versions", "change_logs", "index_builds", "schema_changes"} {
		sums[kind] = &sum{}
	}
	for _, j := range s.Engine.Jobs.List() {
		x := sums[jobKind(j.Name)]
		if x == nil {
			x = &sum{}
			sums[jobKind(j.Name)] = x
		}
		x.running += bit(!j.Running.IsZero())
		if j.Succeeded.After(x.success) {
			x.success = j.Succeeded
		}
	}
	failed := s.Engine.Jobs.Failures(jobKind)
	for kind := range failed {
		if sums[kind] == nil {
			sums[kind] = &sum{}
		}
	}
	last := &sum{}
	for _, b := range s.Engine.Backups.List() {
		switch {
		case b.Ended == nil:
			last.running++
		case b.Error != "":
			last.failed++
		case b.Ended.After(last.success):
			last.success = *b.Ended
		}
	}
	sums["backup"].success = last.success
	for kind, x := range sums {
		o.setInt(jobsRunning, x.running, kind)
		o.setInt(jobFailures, failed[kind], kind)
		o.set(jobSuccess, stamp(x.success), kind)
	}
	o.set(backupSuccess, stamp(last.success))
	o.setInt(backupFailures, last.failed)
	o.setInt(backupRunning, last.running)
	o.setInt(ttlRemoved, s.Engine.Expiries.Removed())
}

func stamp(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
