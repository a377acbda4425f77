package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// workload is one kind of operation. Reading workloads have a statement with
// integer parameters; writing ones build their text.
type workload struct {
	name, about string
	sql         string // with a ? for each parameter
	prepared    bool   // runs as a prepared statement, else as text
	heavy       bool   // long-running: limited to few connections
	writes      bool
	perOp       int64 // rows that an insert adds, 0 for others

	// draw fills the parameters of one operation.
	draw func(w *world, r *random, args []int64) []int64
	// rows is how many rows must come back while the table is as loaded, and
	// at least how many later; nil where that is not known.
	rows func(w *world, args []int64) int64
	// point: the answer is the single row of the call whose number draw left in w's
	// scratch, see pointAnswer.
	point bool
	// setup makes what the workload needs in addition to what was loaded; may be nil.
	setup func(ctx context.Context, t *target, d *dataset) error
	// truth computes the answer from the data set, as text; nil for writes.
	truth func(d *dataset, args []int64) [][]string
}

// world is what the workloads know about the data. Immutable.
type world struct {
	*dataset
	byCell, byCalled []uint32 // number of calls, by number of the cell
}

func newWorld(d *dataset) *world {
	w := &world{dataset: d, byCell: make([]uint32, d.Cells), byCalled: make([]uint32, d.Cells)}
	for i := range d.Rows {
		c := d.row(i)
		w.byCell[c.cell-firstCell]++
		w.byCalled[c.called-firstCell]++
	}
	return w
}

const pointSQL = "SELECT called, duration, station FROM calls WHERE cell = ? AND start = ?"

// batchRows is the number of rows of one insert_batch operation.
const batchRows = 100

func oneRow(*world, []int64) int64 { return 1 }

func noArgs(*world, *random, []int64) []int64 { return nil }

func drawPoint(w *world, r *random, args []int64) []int64 {
	c := w.row(r.below(w.Rows))
	return append(args, c.cell, c.start)
}

// drawWindow draws a station of the ranks below maxRank and a time range that
// holds about so many of its calls.
func drawWindow(maxRank int64, calls float64) func(*world, *random, []int64) []int64 {
	return func(w *world, r *random, args []int64) []int64 {
		rank := r.below(min(maxRank, w.Stations))
		width := min(w.Rows, max(1, int64(float64(w.Rows)*calls/w.stationRows(rank))))
		from := firstStart + r.below(w.Rows-width+1)
		return append(args, w.stationAt(rank), from, from+width-1)
	}
}

const coverSQL = "SELECT COUNT(*), SUM(duration), AVG(duration) FROM calls WHERE station = ? AND start BETWEEN ? AND ?"

// workloads lists all, those that write last: the order in which they run.
func workloads() []workload {
	return slices.Concat(pointWorkloads(), queueWorkloads(), rangeWorkloads(), scanWorkloads(), writeWorkloads())
}

func pointWorkloads() []workload {
	return []workload{
		{
			name: "select1", about: "SELECT 1: what the wire costs",
			sql: "SELECT 1", draw: noArgs, rows: oneRow,
			truth: func(*dataset, []int64) [][]string { return [][]string{{"1"}} },
		},
		{
			name: "point_text", about: "one row by its primary key, text protocol",
			sql: pointSQL, draw: drawPoint, rows: oneRow, point: true, truth: truthPoint,
		},
		{
			name: "point_prepared", about: "one row by its primary key, prepared statement",
			sql: pointSQL, prepared: true, draw: drawPoint, rows: oneRow, point: true, truth: truthPoint,
		},
	}
}

func rangeWorkloads() []workload {
	return []workload{
		{
			name: "prefix_range", about: "all calls of one cell, a prefix of the primary key",
			sql: "SELECT start, called, duration FROM calls WHERE cell = ? ORDER BY start",
			draw: func(w *world, r *random, args []int64) []int64 {
				return append(args, w.row(r.below(w.Rows)).cell)
			},
			rows:  func(w *world, args []int64) int64 { return int64(w.byCell[args[0]-firstCell]) },
			truth: truthPrefix,
		},
		{
			name: "index_lookup", about: "all calls to one cell: secondary index, then the rows",
			sql: "SELECT cell, start, duration, station FROM calls WHERE called = ? ORDER BY cell, start",
			draw: func(w *world, r *random, args []int64) []int64 {
				return append(args, w.row(r.below(w.Rows)).called)
			},
			rows:  func(w *world, args []int64) int64 { return int64(w.byCalled[args[0]-firstCell]) },
			truth: truthLookup,
		},
		{
			name: "cover_1k", about: "COUNT, SUM, AVG over about 1,000 rows of a covering index",
			sql: coverSQL, draw: drawWindow(16, 1_000), rows: oneRow, truth: truthCover,
		},
		{
			name: "cover_100k", about: "the same over about 100,000 rows", heavy: true,
			sql: coverSQL, draw: drawWindow(1, 100_000), rows: oneRow, truth: truthCover,
		},
	}
}

func scanWorkloads() []workload {
	return []workload{
		{
			name: "full_sum", about: "SUM over the whole table", heavy: true,
			sql: "SELECT SUM(duration) FROM calls", draw: noArgs, rows: oneRow, truth: truthSum,
		},
		{
			name: "group_station", about: "COUNT and SUM for each station", heavy: true,
			sql:  "SELECT station, COUNT(*), SUM(duration) FROM calls GROUP BY station ORDER BY station",
			draw: noArgs, truth: truthGroup,
		},
		{
			name: "filter_scan", about: "COUNT with a filter that no index serves", heavy: true,
			sql: "SELECT COUNT(*) FROM calls WHERE duration > ? AND called < cell",
			draw: func(_ *world, r *random, args []int64) []int64 {
				return append(args, 1800+r.below(1000))
			},
			rows: oneRow, truth: truthFilter,
		},
		{
			name: "top10", about: "the ten longest calls", heavy: true,
			sql:  "SELECT cell, start, duration FROM calls ORDER BY duration DESC, start LIMIT 10",
			draw: noArgs, truth: truthTop,
		},
		{
			name: "join_station", about: "calls of a tenth of the time joined with the stations of one region", heavy: true,
			sql: "SELECT s.id, COUNT(*), SUM(c.duration) FROM stations s JOIN calls c ON c.station = s.id" +
				" WHERE s.region = ? AND c.start BETWEEN ? AND ? GROUP BY s.id ORDER BY s.id",
			draw: func(w *world, r *random, args []int64) []int64 {
				region, width := r.below(regions), (w.Rows+9)/10
				from := firstStart + r.below(w.Rows-width+1)
				return append(args, region, from, from+width-1)
			},
			truth: truthJoin,
		},
	}
}

func writeWorkloads() []workload {
	return []workload{
		{
			name: "mixed_95_5", about: "95 % point_prepared, 5 % update1", writes: true,
			sql: pointSQL, prepared: true, draw: drawPoint, rows: oneRow,
		},
		{name: "update1", about: "one row by its primary key, one durable commit each", writes: true},
		{name: "insert1", about: "one row, one durable commit each", writes: true, perOp: 1},
		{
			name: "insert_batch", about: fmt.Sprintf("%d rows in one statement and commit", batchRows),
			writes: true, perOp: batchRows,
		},
	}
}

// selectWorkloads picks by a comma-separated list: names, reads, writes, all.
func selectWorkloads(list string) ([]workload, error) {
	all := workloads()
	chosen := map[string]bool{}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		found := false
		for _, w := range all {
			if name == w.name || name == "all" || name == "reads" && !w.writes || name == "writes" && w.writes {
				chosen[w.name], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("unknown workload %q (see -h)", name)
		}
	}
	return slices.DeleteFunc(all, func(w workload) bool { return !chosen[w.name] }), nil
}
