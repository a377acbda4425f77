package infoschema

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// A sysView is a view of sys with its x$ form, which has the same rows with plain
// numbers. The type of a column is one of columns, or one of sysTypes, or a/b: a in the
// view and b in its x$ form.
type sysView struct {
	name, columns string
	// reads are the tables of performance_schema that an account must be able to read
	// for it, as in MySQL, where the views have the rights of who uses them. process: it
	// also reads a table of InnoDB, which needs PROCESS.
	reads   string
	process bool
	rows    func(q *query, emit emitter) error // nil: it has none
	plain   bool                               // without an x$ form
}

type emitter func(vals ...any) error

// sysTypes are types of columns with a value that the x$ form has as a plain number.
var sysTypes = map[string]string{
	"P": "s11?/u?",     // a time
	"T": "s11?/u",      // a time that is never NULL in the x$ form
	"S": "s11?/m42.0?", // a sum of times
	"B": "s11?/i?",     // a number of bytes
	"Q": "t?/t?",       // the text of a statement
	"X": "/u",          // a number in the x$ form alone
}

// The values of columns with times, B, Q and X.
type (
	pico    uint64
	bytes   int64
	sql     string
	rawOnly uint64
)

const (
	digestTable  = "events_statements_summary_by_digest"
	tableUse     = "table_io_waits_summary_by_table"
	useTable     = "table_io_waits_summary_by_index_usage"
	memoryTable  = "memory_summary_global_by_event_name"
	userTables   = "events_statements_summary_by_user_by_event_name"
	hostTables   = "events_statements_summary_by_host_by_event_name"
	threadTables = "threads"
)

func sysViews() []*table {
	var out []*table
	for _, v := range slices.Concat(sysViewList(), schemaViews(), idleViews()) {
		out = append(out, v.table(false))
		if !v.plain {
			out = append(out, v.table(true))
		}
	}
	return out
}

// table is the view, or its x$ form.
func (v *sysView) table(raw bool) *table {
	name := v.name
	if raw {
		name = "x$" + name
	}
	t := newTable(sysDB, name, columnsOf(v.columns, raw), func(q *query) error {
		if v.rows == nil {
			return nil
		}
		return v.rows(q, func(vals ...any) error {
			out := vals[:0]
			for _, x := range vals {
				if _, ok := x.(rawOnly); !ok || raw {
					out = append(out, sysValue(x, raw))
				}
			}
			return q.emit(out...)
		})
	})
	if v.process {
		t = ofServer(t)
	}
	if v.reads == "" {
		return t
	}
	return measured(reading(t, strings.Fields(v.reads)), nil)
}

// reading makes a table one for accounts that may read others of performance_schema.
func reading(t *table, others []string) *table {
	rows := t.rows
	t.rows = func(q *query) error {
		for _, o := range others {
			if q.rights.OnTable(performanceDB, o)&priv.Select == 0 {
				return sqlerr.ViewReferencesInvalid(t.db, t.name)
			}
		}
		return rows(q)
	}
	return t
}

// columnsOf are the columns of a view, or of its x$ form, for newTable.
func columnsOf(spec string, raw bool) string {
	var out []string
	for f := range strings.SplitSeq(spec, ",") {
		i := strings.LastIndexByte(f, ' ') + 1
		typ := f[i:]
		if both := sysTypes[typ]; both != "" {
			typ = both
		}
		shown, plain, ok := strings.Cut(typ, "/")
		if ok && raw {
			shown = plain
		}
		if shown != "" {
			out = append(out, f[:i]+shown)
		}
	}
	return strings.Join(out, ",")
}

// sysValue is a value of a view as its form has it.
func sysValue(x any, raw bool) any {
	switch x := x.(type) {
	case pico:
		if raw {
			return uint64(x)
		}
		return expr.FormatPicoTime(float64(x))
	case rawOnly:
		return uint64(x)
	case bytes:
		if raw {
			return int64(x)
		}
		return expr.FormatBytes(float64(x))
	case sql:
		if x == "" {
			return nil
		}
		if raw {
			return string(x)
		}
		return statementText(string(x))
	}
	return x
}

// statementLength is statement_truncate_len of sys.sys_config.
const statementLength = 64

// statementText is a statement as the views print it: sys.format_statement.
func statementText(s string) string {
	if r := []rune(s); len(r) > statementLength {
		const part = statementLength/2 - 2
		s = string(r[:part]) + " ... " + string(r[len(r)-part:])
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// per is a part of n, rounded; 0 of nothing.
func per(a, n uint64) int64 {
	if n == 0 {
		return 0
	}
	return int64(math.Round(float64(a) / float64(n)))
}

// percent is a share of n in hundredths with four digits.
func percent(a, n uint64) value.Datum {
	const scale, unit = 4, 100 * 10_000
	share := int64(0)
	if n > 0 {
		share = int64(math.Round(unit * float64(a) / float64(n)))
	}
	return value.Dec(value.DecimalFromInt128(share>>63, uint64(share), scale))
}

// seen are FIRST_SEEN and LAST_SEEN.
const seen = "first_seen d6, last_seen d6"

func sysViewList() []*sysView {
	average := func(t *metrics.Totals) pico {
		if t.Count == 0 {
			return 0
		}
		return pico(ps(t.Sum) / t.Count)
	}
	latency := func(t *metrics.Totals) float64 { return float64(t.Sum) }
	always := func(*metrics.Totals) bool { return true }
	digests := func(name, columns string, wants func(*metrics.Totals) bool, order func(*metrics.Totals) float64, row func(d *metrics.Digest, n *metrics.DigestNumbers) []any) *sysView {
		return &sysView{name: name, columns: columns, reads: digestTable, rows: func(q *query, emit emitter) error { return q.digestsBy(wants, order, row, emit) }}
	}
	list := []*sysView{
		digests("statement_analysis", "query Q, db n64?, full_scan s1, exec_count u, exec_secondary_count X, err_count u, warn_count u, total_latency P, max_latency P, avg_latency P, lock_latency P, cpu_latency P, "+
			"rows_sent u, rows_sent_avg i, rows_examined u, rows_examined_avg i, rows_affected u, rows_affected_avg i, tmp_tables u, tmp_disk_tables u, rows_sorted u, sort_merge_passes u, "+
			"max_controlled_memory B, max_total_memory B, digest s64?, "+seen, always, latency, func(d *metrics.Digest, n *metrics.DigestNumbers) []any {
			t := &n.Totals
			examined := t.Of(metrics.RowsExamined)
			return []any{sql(d.Text), orNull(d.Schema), fullScan(t), t.Count, rawOnly(0), t.Errors, t.Warnings, pico(ps(t.Sum)), pico(ps(t.Max)), average(t), pico(ps(t.Lock)), pico(0),
				t.Sent, per(t.Sent, t.Count), examined, per(examined, t.Count), t.Affected, per(t.Affected, t.Count), t.Of(metrics.CreatedTmpTables), t.Of(metrics.CreatedTmpDiskTables),
				t.Of(metrics.SortRows), t.Of(metrics.SortMergePasses), bytes(t.MaxMemory), bytes(t.MaxMemory), orNull(d.Hash), micros(n.First), micros(n.Last)}
		}),
		digests("statements_with_full_table_scans", "query Q, db n64?, exec_count u, total_latency P, no_index_used_count u, no_good_index_used_count u, no_index_used_pct f, rows_sent u, rows_examined u, "+
			"rows_sent_avg i?, rows_examined_avg i?, "+seen+", digest s64?",
			func(t *metrics.Totals) bool { return t.NoIndex+t.NoGood > 0 }, func(t *metrics.Totals) float64 { return float64(t.NoIndex) / float64(t.Count) }, func(d *metrics.Digest, n *metrics.DigestNumbers) []any {
				t := &n.Totals
				if strings.HasPrefix(d.Text, "SHOW") {
					return nil
				}
				examined := t.Of(metrics.RowsExamined)
				return []any{sql(d.Text), orNull(d.Schema), t.Count, pico(ps(t.Sum)), t.NoIndex, t.NoGood, float64(per(100*t.NoIndex, t.Count)), t.Sent, examined, per(t.Sent, t.Count), per(examined, t.Count),
					micros(n.First), micros(n.Last), orNull(d.Hash)}
			}),
		digests("statements_with_errors_or_warnings", "query Q, db n64?, exec_count u, errors u, error_pct m, warnings u, warning_pct m, "+seen+", digest s64?",
			func(t *metrics.Totals) bool { return t.Errors+t.Warnings > 0 }, func(t *metrics.Totals) float64 { return float64(t.Errors) + float64(t.Warnings)/1e12 }, func(d *metrics.Digest, n *metrics.DigestNumbers) []any {
				t := &n.Totals
				return []any{sql(d.Text), orNull(d.Schema), t.Count, t.Errors, percent(t.Errors, t.Count), t.Warnings, percent(t.Warnings, t.Count), micros(n.First), micros(n.Last), orNull(d.Hash)}
			}),
		digests("statements_with_sorting", "query Q, db n64?, exec_count u, total_latency P, sort_merge_passes u, avg_sort_merges i, sorts_using_scans u, sort_using_range u, rows_sorted u, avg_rows_sorted i, "+seen+", digest s64?",
			func(t *metrics.Totals) bool { return t.Of(metrics.SortRows) > 0 }, latency, func(d *metrics.Digest, n *metrics.DigestNumbers) []any {
				t := &n.Totals
				merges, sorted := t.Of(metrics.SortMergePasses), t.Of(metrics.SortRows)
				return []any{sql(d.Text), orNull(d.Schema), t.Count, pico(ps(t.Sum)), merges, per(merges, t.Count), t.Of(metrics.SortScan), t.Of(metrics.SortRange), sorted, per(sorted, t.Count),
					micros(n.First), micros(n.Last), orNull(d.Hash)}
			}),
		digests("statements_with_temp_tables", "query Q, db n64?, exec_count u, total_latency P, memory_tmp_tables u, disk_tmp_tables u, avg_tmp_tables_per_query i, tmp_tables_to_disk_pct i, "+seen+", digest s64?",
			func(t *metrics.Totals) bool { return t.Of(metrics.CreatedTmpTables) > 0 }, func(t *metrics.Totals) float64 {
				return float64(t.Of(metrics.CreatedTmpDiskTables)) + float64(t.Of(metrics.CreatedTmpTables))/1e12
			}, func(d *metrics.Digest, n *metrics.DigestNumbers) []any {
				t := &n.Totals
				memory, disk := t.Of(metrics.CreatedTmpTables), t.Of(metrics.CreatedTmpDiskTables)
				return []any{sql(d.Text), orNull(d.Schema), t.Count, pico(ps(t.Sum)), memory, disk, per(memory, t.Count), per(100*disk, memory), micros(n.First), micros(n.Last), orNull(d.Hash)}
			}),
		{name: "statements_with_runtimes_in_95th_percentile", columns: "query Q, db n64?, full_scan s1, exec_count u, err_count u, warn_count u, total_latency P, max_latency P, avg_latency P, rows_sent u, rows_sent_avg i, " +
			"rows_examined u, rows_examined_avg i, " + seen + ", digest s64?", reads: digestTable, rows: func(q *query, emit emitter) error {
			least, _ := slowAverage(digestAverages(q))
			return q.digestsBy(func(t *metrics.Totals) bool { return averageMicros(t) >= least }, func(t *metrics.Totals) float64 { return float64(average(t)) },
				func(d *metrics.Digest, n *metrics.DigestNumbers) []any {
					t := &n.Totals
					examined := t.Of(metrics.RowsExamined)
					return []any{sql(d.Text), orNull(d.Schema), fullScan(t), t.Count, t.Errors, t.Warnings, pico(ps(t.Sum)), pico(ps(t.Max)), average(t), t.Sent, per(t.Sent, t.Count), examined, per(examined, t.Count),
						micros(n.First), micros(n.Last), orNull(d.Hash)}
				}, emit)
		}},
		{name: "schema_unused_indexes", columns: "object_schema n64?, object_name n64?, index_name s64?", reads: useTable, rows: unusedIndexes, plain: true},
		{name: "schema_redundant_indexes", columns: "table_schema n64?, table_name n64?, redundant_index_name s64?, redundant_index_columns t?, redundant_index_non_unique i?, dominant_index_name s64?, " +
			"dominant_index_columns t?, dominant_index_non_unique i?, subpart_exists i, sql_drop_index t?", rows: redundantIndexes, plain: true},
		{name: "schema_table_statistics", columns: "table_schema n64?, table_name n64?, total_latency P, rows_fetched u, fetch_latency P, rows_inserted u, insert_latency P, rows_updated u, update_latency P, " +
			"rows_deleted u, delete_latency P, io_read_requests i?, io_read B, io_read_latency P, io_write_requests i?, io_write B, io_write_latency P, io_misc_requests i?, io_misc_latency P", reads: tableUse + " file_summary_by_instance", rows: func(q *query, emit emitter) error {
			return q.everyTable(func(t *schema.Table) error {
				u := q.useOf(t)
				return emit(t.Database, t.Name, pico(0), u.fetched, pico(0), u.inserted, pico(0), u.updated, pico(0), u.deleted, pico(0), nil, nil, nil, nil, nil, nil, nil, nil)
			})
		}},
		{name: "schema_index_statistics", columns: "table_schema n64?, table_name n64?, index_name s64?, rows_selected u, select_latency P, rows_inserted u, insert_latency P, rows_updated u, update_latency P, " +
			"rows_deleted u, delete_latency P", reads: useTable, rows: func(q *query, emit emitter) error {
			return q.everyTable(func(t *schema.Table) error {
				for _, k := range q.usesOf(t) {
					if k.name == "" {
						continue
					}
					if err := emit(t.Database, t.Name, k.name, k.fetched, pico(0), k.inserted, pico(0), k.updated, pico(0), k.deleted, pico(0)); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "schema_tables_with_full_table_scans", columns: "object_schema n64?, object_name n64?, rows_full_scanned u, latency P", reads: useTable, rows: fullScans},
		{name: "schema_table_lock_waits", columns: "object_schema n64?, object_name n64?, waiting_thread_id u, waiting_pid u?, waiting_account t?, waiting_lock_type s32, waiting_lock_duration s32, waiting_query Q, waiting_query_secs i?, " +
			"waiting_query_rows_affected u?, waiting_query_rows_examined u?, blocking_thread_id u, blocking_pid u?, blocking_account t?, blocking_lock_type s32, blocking_lock_duration s32, sql_kill_blocking_query s31?, sql_kill_blocking_connection s25?",
			reads: "metadata_locks " + threadTables, rows: tableLockWaits},
		{name: "memory_global_total", columns: "total_allocated B", reads: memoryTable, rows: func(q *query, emit emitter) error { return emit(bytes(q.memory())) }},
		{name: "memory_global_by_current_bytes", columns: "event_name s128, current_count i, current_alloc B, current_avg_alloc B, high_count i, high_alloc B, high_avg_alloc B", reads: memoryTable, rows: memoryParts},
		{name: "processlist", columns: processColumns, reads: threadTables, rows: func(q *query, emit emitter) error { return sysProcesses(q, emit) }},
		{name: "session", columns: processColumns, reads: threadTables, rows: func(q *query, emit emitter) error { return sysProcesses(q, emit) }},
		{name: "metrics", columns: "Variable_name s193?, Variable_value t?, Type s210?, Enabled s7", reads: memoryTable, rows: sysMetrics, plain: true},
	}
	for _, x := range []struct {
		name, column, other string
		by                  grouping
		reads               string
	}{{"user", "user s32?", "unique_hosts", byUser, userTables}, {"host", "host s255?", "unique_users", byHost, hostTables}} {
		list = append(list,
			&sysView{name: x.name + "_summary", columns: x.column + ", statements i?, statement_latency P, statement_avg_latency P, table_scans i?, file_ios i?, file_io_latency P, current_connections i?, total_connections i?, " +
				x.other + " i, current_memory B, total_memory_allocated B", reads: x.reads + " " + x.name + "s", rows: func(q *query, emit emitter) error {
				return q.eachGroup(x.by, func(name []any, list []metrics.Account) error {
					var open, total int64
					for i := range list {
						open += list[i].Open
						total += list[i].Total
					}
					t := q.server.Metrics().Of(list...).All()
					return emit(append(name, int64(t.Count), pico(ps(t.Sum)), average(&t), int64(t.NoIndex+t.NoGood), nil, nil, open, total, len(list), bytes(0), bytes(0))...)
				})
			}},
			&sysView{name: x.name + "_summary_by_statement_type", columns: x.column + ", statement s128?, total u, " + latencyColumns, reads: x.reads, rows: func(q *query, emit emitter) error {
				return q.eachGroup(x.by, func(name []any, list []metrics.Account) error {
					n := q.server.Metrics().Of(list...)
					var kinds []metrics.Command
					for _, c := range metrics.Commands() {
						if t, _ := n.Totals(c); t != nil && t.Count > 0 {
							kinds = append(kinds, c)
						}
					}
					slices.SortStableFunc(kinds, func(a, b metrics.Command) int {
						x, _ := n.Totals(a)
						y, _ := n.Totals(b)
						return cmp.Compare(y.Sum, x.Sum)
					})
					for _, c := range kinds {
						t, _ := n.Totals(c)
						if err := emit(slices.Concat(name, []any{c.String()}, latencies(t))...); err != nil {
							return err
						}
					}
					return nil
				})
			}},
			&sysView{name: x.name + "_summary_by_statement_latency", columns: x.column + ", total i?, " + latencyColumns, reads: x.reads, rows: func(q *query, emit emitter) error {
				return q.eachGroup(x.by, func(name []any, list []metrics.Account) error {
					t := q.server.Metrics().Of(list...).All()
					return emit(slices.Concat(name, latencies(&t))...)
				})
			}})
	}
	return list
}

const latencyColumns = "total_latency P, max_latency P, lock_latency P, cpu_latency P, rows_sent u?, rows_examined u?, rows_affected u?, full_scans u?"

// latencies are the number of statements and latencyColumns.
func latencies(t *metrics.Totals) []any {
	return []any{t.Count, pico(ps(t.Sum)), pico(ps(t.Max)), pico(ps(t.Lock)), pico(0), t.Sent, t.Of(metrics.RowsExamined), t.Affected, t.NoIndex + t.NoGood}
}

func fullScan(t *metrics.Totals) string {
	if t.NoIndex+t.NoGood > 0 {
		return "*"
	}
	return ""
}

// digestsBy emits the rows of digests with the greatest order first. Only their order is
// held. A nil row is left out.
func (q *query) digestsBy(wants func(*metrics.Totals) bool, order func(*metrics.Totals) float64, row func(d *metrics.Digest, n *metrics.DigestNumbers) []any, emit emitter) error {
	type place struct {
		d     *metrics.Digest
		order float64
	}
	var list []place
	err := q.eachDigest(func(d *metrics.Digest, n *metrics.DigestNumbers) error {
		if wants(&n.Totals) {
			list = append(list, place{d, order(&n.Totals)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b place) int { return cmp.Compare(b.order, a.order) })
	for _, p := range list {
		n := p.d.Numbers()
		vals := row(p.d, &n)
		if vals == nil {
			continue
		}
		if err := emit(vals...); err != nil {
			return err
		}
	}
	return nil
}

func averageMicros(t *metrics.Totals) int64 {
	if t.Count == 0 {
		return 0
	}
	return int64(math.Round(float64(t.Sum) / float64(t.Count) / 1000))
}

// unusedIndexes are those that nothing has read since the server began; unique ones are
// of use without it.
func unusedIndexes(q *query, emit emitter) error {
	return q.everyTable(func(t *schema.Table) error {
		for _, k := range q.usesOf(t) {
			if k.name == "" || k.unique || k.fetched > 0 {
				continue
			}
			if err := emit(t.Database, t.Name, k.name); err != nil {
				return err
			}
		}
		return nil
	})
}

// redundantIndexes are those whose columns another index of the table begins with.
func redundantIndexes(q *query, emit emitter) error {
	return q.eachKeys(func(t *schema.Table, list []key) error {
		for i := range list {
			for j := range list {
				a, b := &list[i], &list[j]
				if i == j || !redundant(t, a, b) {
					continue
				}
				err := emit(t.Database, t.Name, a.name, keyColumns(t, a), !a.unique, b.name, keyColumns(t, b), !b.unique, hasPrefix(a) || hasPrefix(b),
					fmt.Sprintf("ALTER TABLE %s.%s DROP INDEX %s", quoteName(t.Database), quoteName(t.Name), quoteName(a.name)))
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func keyColumns(t *schema.Table, k *key) string {
	var names []string
	for _, p := range k.parts {
		c := t.Column(p.Column)
		if c == nil {
			continue
		}
		name := c.Name
		if e, ok := keyExpression(c); ok {
			name = "(" + e + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
}

func hasPrefix(k *key) bool {
	return slices.ContainsFunc(k.parts, func(p schema.KeyPart) bool { return p.Prefix > 0 })
}

// redundant reports whether a can go because of b, by MySQL's rules: of two indexes over
// the same columns the one that is unique stays, PRIMARY before others, then the one
// whose name is first; a unique one stays in addition to longer ones.
func redundant(t *schema.Table, a, b *key) bool {
	x, y := keyColumns(t, a), keyColumns(t, b)
	switch {
	case x == y:
		if a.unique != b.unique {
			return b.unique
		}
		return a.name != "PRIMARY" && (b.name == "PRIMARY" || a.name > b.name)
	case strings.HasPrefix(y, x+","):
		return !a.unique
	case strings.HasPrefix(x, y+","):
		return b.unique && !a.unique
	}
	return false
}

// fullScans are the tables that were read without an index, most rows first.
func fullScans(q *query, emit emitter) error {
	type scan struct {
		t    *schema.Table
		rows uint64
	}
	var list []scan
	_ = q.everyTable(func(t *schema.Table) error {
		uses := q.usesOf(t)
		if n := uses[len(uses)-1].fetched; n > 0 {
			list = append(list, scan{t, n})
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b scan) int { return cmp.Compare(b.rows, a.rows) })
	for _, s := range list {
		if err := emit(s.t.Database, s.t.Name, s.rows, pico(0)); err != nil {
			return err
		}
	}
	return nil
}

// changeLock is the type of the lock by which one change of a table's schema runs at a
// time. It keeps nothing else waiting.
const changeLock = "SHARED_UPGRADABLE"

// tableLockWaits are the waits for metadata locks, with each connection that has a lock
// of the table.
func tableLockWaits(q *query, emit emitter) error {
	processes := map[uint64]Process{}
	for _, p := range q.server.Processes() {
		processes[p.ID] = p
	}
	now := time.Now()
	locks := q.server.MetadataLocks()
	for _, w := range locks {
		p, ok := processes[w.Owner]
		if !w.Pending || !ok {
			continue
		}
		for _, b := range locks {
			if b.Pending || b.Owner == w.Owner || b.Database != w.Database || b.Table != w.Table || (b.Type == changeLock) != (w.Type == changeLock) {
				continue
			}
			x, ok := processes[b.Owner]
			if !ok {
				continue
			}
			err := emit(w.Database, w.Table, p.ID, p.ID, accountOf(&p), w.Type, "TRANSACTION", sql(p.Info), int64(now.Sub(p.Since)/time.Second), uint64(0), uint64(0),
				x.ID, x.ID, accountOf(&x), b.Type, "TRANSACTION", fmt.Sprint("KILL QUERY ", x.ID), fmt.Sprint("KILL ", x.ID))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// accountOf is the user and host of a connection, without the port.
func accountOf(p *Process) string {
	host := hostText(p.Host)
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		host = host[:i]
	}
	return p.User + "@" + host
}

// memory is what the parts of the server hold.
func (q *query) memory() (sum int64) {
	for _, p := range q.server.MemoryParts() {
		sum += p.Used
	}
	return sum
}

func memoryParts(q *query, emit emitter) error {
	list := q.server.MemoryParts()
	slices.SortStableFunc(list, func(a, b MemoryPart) int { return cmp.Compare(b.Used, a.Used) })
	for _, p := range list {
		if err := emit("memory/sqlots/"+p.Name, int64(1), bytes(p.Used), bytes(p.Used), int64(1), bytes(p.Most), bytes(p.Most)); err != nil {
			return err
		}
	}
	return nil
}

const processColumns = "thd_id u?, conn_id u?, user s288?, db n64?, command s16?, state s64?, time i?, current_statement Q, execution_engine e:PRIMARY|SECONDARY?, statement_latency P, progress f?, lock_latency P, cpu_latency P, " +
	"rows_examined u?, rows_sent u?, rows_affected u?, tmp_tables u?, tmp_disk_tables u?, full_scan s3, last_statement Q, last_statement_latency P, current_memory B, last_wait s128?, last_wait_latency s13?, source s64?, " +
	"trx_latency P, trx_state e:ACTIVE|COMMITTED|ROLLED BACK?, trx_autocommit e:YES|NO?, pid s1024?, program_name s1024?"

// sysProcesses are the connections with the statement that runs, and the last one.
func sysProcesses(q *query, emit emitter) error {
	now := time.Now()
	open := map[uint64]Transaction{}
	for _, t := range q.server.Transactions() {
		open[t.ThreadID] = t
	}
	for _, p := range q.processes() {
		var e metrics.Event
		last := false
		if s := q.server.Metrics().Session(p.ID); s != nil {
			if list := s.History(); len(list) > 0 {
				e, last = list[len(list)-1], true
			}
		}
		current, took := sql(""), any(nil)
		before, beforeTook := sql(""), any(nil)
		if p.Info != "" {
			current, took = sql(p.Info), pico(ps(now.Sub(p.Since)))
			e = metrics.Event{} // its numbers are not those of what runs
		} else if last {
			before, beforeTook = sql(q.shownText(e.Text, e.Mode)), pico(ps(e.Duration))
		}
		var trx, state any
		if t, ok := open[p.ID]; ok {
			trx, state = pico(ps(now.Sub(t.Started))), "ACTIVE"
		}
		attr := map[string]any{}
		for _, a := range p.Attributes {
			attr[a[0]] = a[1]
		}
		scan := "NO"
		if e.NoIndex || e.NoGood {
			scan = "YES"
		}
		err := emit(p.ID, p.ID, accountOf(&p), orNull(p.DB), p.Command, orNull(p.State), int64(now.Sub(p.Since)/time.Second), current, "PRIMARY", took, nil, pico(ps(e.Lock)), pico(0),
			e.Work[metrics.RowsExamined], e.Sent, e.Affected, e.Work[metrics.CreatedTmpTables], e.Work[metrics.CreatedTmpDiskTables], scan, before, beforeTook, bytes(0), nil, nil, nil,
			trx, state, nil, attr["_pid"], attr["program_name"])
		if err != nil {
			return err
		}
	}
	return nil
}

// sysMetrics is sys.metrics: the status variables, memory and the time.
func sysMetrics(q *query, emit emitter) error {
	for _, v := range q.server.GlobalStatus() {
		if err := emit(strings.ToLower(v.Name), v.Value, "Global Status", "YES"); err != nil {
			return err
		}
	}
	memory, now := strconv.FormatInt(q.memory(), 10), time.Now()
	for _, x := range [][3]string{
		{"memory_current_allocated", memory, "Performance Schema"}, {"memory_total_allocated", memory, "Performance Schema"},
		{"NOW()", now.In(q.sess.Location()).Format("2006-01-02 15:04:05.000"), "System Time"},
		{"UNIX_TIMESTAMP()", fmt.Sprintf("%d.%03d", now.Unix(), now.Nanosecond()/1e6), "System Time"},
	} {
		if err := emit(x[0], x[1], x[2], "YES"); err != nil {
			return err
		}
	}
	return nil
}
