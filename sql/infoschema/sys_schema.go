package infoschema

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/value"
)

// schemaViews are the views of sys over tables, columns and connections, and the x$ views
// that others of MySQL are made of.
func schemaViews() []*sysView {
	const io = "io_read_requests m42.0?, io_read s11?/m41.0?, io_read_latency S, io_write_requests m42.0?, io_write s11?/m41.0?, io_write_latency S, io_misc_requests m42.0?, io_misc_latency S"
	return []*sysView{
		{name: "schema_object_overview", columns: "db n64, object_type s64?, count i", rows: objectOverview, plain: true},
		{name: "schema_auto_increment_columns", columns: "table_schema n64, table_name n64, column_name s64?, data_type t?, column_type t, is_signed i, is_unsigned i, max_value u?, auto_increment u?, " +
			"auto_increment_ratio m25.4?", rows: autoIncrements, plain: true},
		{name: "x$schema_flattened_keys", columns: "table_schema n64, table_name n64, index_name s64?, non_unique i?, subpart_exists i?, index_columns t?", rows: flattenedKeys, plain: true},
		{name: "schema_table_statistics_with_buffer", columns: "table_schema n64?, table_name n64?, rows_fetched u, fetch_latency T, rows_inserted u, insert_latency T, rows_updated u, update_latency T, " +
			"rows_deleted u, delete_latency T, " + io + ", innodb_buffer_allocated t?/m43.0?, innodb_buffer_data t?/m43.0?, innodb_buffer_free t?/m44.0?, innodb_buffer_pages i?, " +
			"innodb_buffer_pages_hashed i?, innodb_buffer_pages_old i?, innodb_buffer_rows_cached m44.0?", reads: tableUse + " file_summary_by_instance", process: true, rows: func(q *query, emit emitter) error {
			return q.everyTable(func(t *schema.Table) error {
				u := q.useOf(t)
				vals := []any{t.Database, t.Name, u.fetched, pico(0), u.inserted, pico(0), u.updated, pico(0), u.deleted, pico(0)}
				return emit(append(vals, make([]any, 15)...)...) // neither files nor pages are measured
			})
		}},
		{name: "session_ssl_status", columns: "thread_id u, ssl_version s1024?, ssl_cipher s1024?, ssl_sessions_reused s1024?", reads: "status_by_thread", rows: sessionTLS, plain: true},
		{name: "ps_check_lost_instrumentation", columns: "variable_name s64, variable_value s1024?", rows: lostInstruments, plain: true},
		{name: "x$ps_digest_avg_latency_distribution", columns: "cnt i, avg_us m21.0?", reads: digestTable, rows: digestDistribution, plain: true},
		{name: "x$ps_digest_95th_percentile_by_avg_us", columns: "avg_us m21.0?, percentile m46.4", reads: digestTable, plain: true, rows: func(q *query, emit emitter) error {
			list := digestAverages(q)
			if len(list) == 0 {
				return nil
			}
			least, n := slowAverage(list)
			return emit(wholeDecimal(least), fraction(uint64(n), uint64(len(list))))
		}},
	}
}

func wholeDecimal(n int64) value.Datum { return value.Dec(value.DecimalFromInt(n)) }

// fraction is a/n with four digits.
func fraction(a, n uint64) value.Datum {
	const scale, unit = 4, 10_000
	x := new(big.Int).SetUint64(a)
	x.Mul(x, big.NewInt(2*unit)).Add(x, new(big.Int).SetUint64(n)) // half of one more: it is rounded
	return value.Dec(value.DecimalFromBig(x.Div(x, new(big.Int).Lsh(new(big.Int).SetUint64(n), 1)), scale))
}

// objectOverview counts tables, views and parts of indexes by database and kind, as the
// tables of information_schema list them.
func objectOverview(q *query, emit emitter) error {
	type object struct{ db, kind string }
	counts := map[object]int64{}
	_ = q.eachTable(func(t *schema.Table) error {
		counts[object{t.Database, "BASE TABLE"}]++
		for _, k := range keys(t) {
			for _, p := range k.parts {
				if t.Column(p.Column) != nil {
					counts[object{t.Database, "INDEX (" + k.indexType() + ")"}]++
				}
			}
		}
		return nil
	})
	_ = q.eachView(func(v *schema.View) error {
		counts[object{v.Database, "VIEW"}]++
		return nil
	})
	_ = q.eachVirtual(func(t *table) error {
		counts[object{t.db, t.kind()}]++
		return nil
	})
	list := make([]object, 0, len(counts))
	for o := range counts {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b object) int { return cmp.Or(cmp.Compare(a.db, b.db), cmp.Compare(a.kind, b.kind)) })
	for _, o := range list {
		if err := emit(o.db, o.kind, counts[o]); err != nil {
			return err
		}
	}
	return nil
}

// isServerDatabase reports whether a database is the server's own.
func isServerDatabase(db string) bool { return db == mysqlDB || db == sysDB }

// integerBits are the bits of the integer types.
var integerBits = map[schema.TypeID]int{schema.TypeTinyInt: 8, schema.TypeSmallInt: 16, schema.TypeMediumInt: 24, schema.TypeInt: 32, schema.TypeBigInt: 64}

// autoIncrements are the columns with AUTO_INCREMENT, and how much of their numbers is
// used; the fullest first.
func autoIncrements(q *query, emit emitter) error {
	type row struct {
		vals  []any
		share float64
		most  uint64
	}
	var list []row
	_ = q.eachColumn(func(t *schema.Table, c *schema.Column, _ int, _ priv.Mask) error {
		if columnExtra(c) != "auto_increment" || isServerDatabase(t.Database) {
			return nil
		}
		r := row{share: -1}
		var most, ratio any
		next, counted := q.nextAutoIncrement(t).(uint64)
		if bits := integerBits[c.Type.ID]; bits > 0 {
			if !c.Type.Unsigned {
				bits--
			}
			r.most = ^uint64(0) >> (64 - bits)
			most = r.most
			if counted {
				ratio, r.share = fraction(next, r.most), float64(next)/float64(r.most)
			}
		}
		r.vals = []any{t.Database, t.Name, c.Name, c.Type.Name(), columnType(c.Type), !c.Type.Unsigned, c.Type.Unsigned, most, q.nextAutoIncrement(t), ratio}
		list = append(list, r)
		return nil
	})
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.most, b.most)) })
	for _, r := range list {
		if err := emit(r.vals...); err != nil {
			return err
		}
	}
	return nil
}

// eachKeys calls fn with the ordered indexes of the tables that the query needs, without
// those of the server.
func (q *query) eachKeys(fn func(t *schema.Table, list []key) error) error {
	return q.eachTable(func(t *schema.Table) error {
		if isServerDatabase(t.Database) {
			return nil
		}
		return fn(t, slices.DeleteFunc(keys(t), func(k key) bool { return k.search != nil }))
	})
}

// flattenedKeys are the indexes with their columns in one text.
func flattenedKeys(q *query, emit emitter) error {
	return q.eachKeys(func(t *schema.Table, list []key) error {
		for i := range list {
			k := &list[i]
			if err := emit(t.Database, t.Name, k.name, !k.unique, hasPrefix(k), keyColumns(t, k)); err != nil {
				return err
			}
		}
		return nil
	})
}

// sessionTLS is with which TLS each connection came.
func sessionTLS(q *query, emit emitter) error {
	for _, p := range q.server.Processes() {
		s := TLSStatus(p.TLS)
		if err := emit(p.ID, s[tlsVersion], s[tlsCipher], s[tlsReused]); err != nil {
			return err
		}
	}
	return nil
}

// lostInstruments are the status variables that count what had no place, if any had none.
func lostInstruments(q *query, emit emitter) error {
	for _, v := range q.server.GlobalStatus() {
		if !strings.HasPrefix(v.Name, "Performance_schema_") || !strings.HasSuffix(v.Name, "_lost") || v.Value == "0" {
			continue
		}
		if err := emit(v.Name, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// digestAverages are the average times of all digests in microseconds, ascending,
// whichever of them the query needs.
func digestAverages(q *query) []int64 {
	var list []int64
	for _, d := range q.server.Metrics().Digests.List() {
		if n := d.Numbers(); n.Totals.Count > 0 {
			list = append(list, averageMicros(&n.Totals))
		}
	}
	slices.Sort(list)
	return list
}

// slowAverage is the least of averages that more than 95 of 100 do not exceed, and how
// many do not.
func slowAverage(list []int64) (least int64, n int) {
	for i, v := range list {
		if last := i == len(list)-1 || list[i+1] != v; last && float64(i+1) > 0.95*float64(len(list)) {
			return v, i + 1
		}
	}
	return 0, 0
}

// digestDistribution is how many digests have which average.
func digestDistribution(q *query, emit emitter) error {
	list := digestAverages(q)
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n] == list[0] {
			n++
		}
		if err := emit(int64(n), wholeDecimal(list[0])); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}
