package infoschema

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/value"
)

// sysNames are the tables and views of sys in MySQL 8.4 with their columns; after + also
// the x$ form of a view, with the same ones.
const sysNames = `
+host_summary host statements statement_latency statement_avg_latency table_scans file_ios file_io_latency current_connections total_connections unique_users current_memory total_memory_allocated
+host_summary_by_file_io host ios io_latency
+host_summary_by_file_io_type host event_name total total_latency max_latency
+host_summary_by_stages host event_name total total_latency avg_latency
+host_summary_by_statement_latency host total total_latency max_latency lock_latency cpu_latency rows_sent rows_examined rows_affected full_scans
+host_summary_by_statement_type host statement total total_latency max_latency lock_latency cpu_latency rows_sent rows_examined rows_affected full_scans
+innodb_buffer_stats_by_schema object_schema allocated data pages pages_hashed pages_old rows_cached
+innodb_buffer_stats_by_table object_schema object_name allocated data pages pages_hashed pages_old rows_cached
+innodb_lock_waits wait_started wait_age wait_age_secs locked_table locked_table_schema locked_table_name locked_table_partition locked_table_subpartition locked_index locked_type waiting_trx_id waiting_trx_started waiting_trx_age waiting_trx_rows_locked waiting_trx_rows_modified waiting_pid waiting_query waiting_lock_id waiting_lock_mode blocking_trx_id blocking_pid blocking_query blocking_lock_id blocking_lock_mode blocking_trx_started blocking_trx_age blocking_trx_rows_locked blocking_trx_rows_modified sql_kill_blocking_query sql_kill_blocking_connection
+io_by_thread_by_latency user total total_latency min_latency avg_latency max_latency thread_id processlist_id
+io_global_by_file_by_bytes file count_read total_read avg_read count_write total_written avg_write total write_pct
+io_global_by_file_by_latency file total total_latency count_read read_latency count_write write_latency count_misc misc_latency
+io_global_by_wait_by_bytes event_name total total_latency min_latency avg_latency max_latency count_read total_read avg_read count_write total_written avg_written total_requested
+io_global_by_wait_by_latency event_name total total_latency avg_latency max_latency read_latency write_latency misc_latency count_read total_read avg_read count_write total_written avg_written
+latest_file_io thread file latency operation requested
+memory_by_host_by_current_bytes host current_count_used current_allocated current_avg_alloc current_max_alloc total_allocated
+memory_by_thread_by_current_bytes thread_id user current_count_used current_allocated current_avg_alloc current_max_alloc total_allocated
+memory_by_user_by_current_bytes user current_count_used current_allocated current_avg_alloc current_max_alloc total_allocated
+memory_global_by_current_bytes event_name current_count current_alloc current_avg_alloc high_count high_alloc high_avg_alloc
+memory_global_total total_allocated
metrics Variable_name Variable_value Type Enabled
+processlist thd_id conn_id user db command state time current_statement execution_engine statement_latency progress lock_latency cpu_latency rows_examined rows_sent rows_affected tmp_tables tmp_disk_tables full_scan last_statement last_statement_latency current_memory last_wait last_wait_latency source trx_latency trx_state trx_autocommit pid program_name
ps_check_lost_instrumentation variable_name variable_value
schema_auto_increment_columns table_schema table_name column_name data_type column_type is_signed is_unsigned max_value auto_increment auto_increment_ratio
+schema_index_statistics table_schema table_name index_name rows_selected select_latency rows_inserted insert_latency rows_updated update_latency rows_deleted delete_latency
schema_object_overview db object_type count
schema_redundant_indexes table_schema table_name redundant_index_name redundant_index_columns redundant_index_non_unique dominant_index_name dominant_index_columns dominant_index_non_unique subpart_exists sql_drop_index
+schema_table_lock_waits object_schema object_name waiting_thread_id waiting_pid waiting_account waiting_lock_type waiting_lock_duration waiting_query waiting_query_secs waiting_query_rows_affected waiting_query_rows_examined blocking_thread_id blocking_pid blocking_account blocking_lock_type blocking_lock_duration sql_kill_blocking_query sql_kill_blocking_connection
+schema_table_statistics table_schema table_name total_latency rows_fetched fetch_latency rows_inserted insert_latency rows_updated update_latency rows_deleted delete_latency io_read_requests io_read io_read_latency io_write_requests io_write io_write_latency io_misc_requests io_misc_latency
+schema_table_statistics_with_buffer table_schema table_name rows_fetched fetch_latency rows_inserted insert_latency rows_updated update_latency rows_deleted delete_latency io_read_requests io_read io_read_latency io_write_requests io_write io_write_latency io_misc_requests io_misc_latency innodb_buffer_allocated innodb_buffer_data innodb_buffer_free innodb_buffer_pages innodb_buffer_pages_hashed innodb_buffer_pages_old innodb_buffer_rows_cached
+schema_tables_with_full_table_scans object_schema object_name rows_full_scanned latency
schema_unused_indexes object_schema object_name index_name
+session thd_id conn_id user db command state time current_statement execution_engine statement_latency progress lock_latency cpu_latency rows_examined rows_sent rows_affected tmp_tables tmp_disk_tables full_scan last_statement last_statement_latency current_memory last_wait last_wait_latency source trx_latency trx_state trx_autocommit pid program_name
session_ssl_status thread_id ssl_version ssl_cipher ssl_sessions_reused
statement_analysis query db full_scan exec_count err_count warn_count total_latency max_latency avg_latency lock_latency cpu_latency rows_sent rows_sent_avg rows_examined rows_examined_avg rows_affected rows_affected_avg tmp_tables tmp_disk_tables rows_sorted sort_merge_passes max_controlled_memory max_total_memory digest first_seen last_seen
+statements_with_errors_or_warnings query db exec_count errors error_pct warnings warning_pct first_seen last_seen digest
+statements_with_full_table_scans query db exec_count total_latency no_index_used_count no_good_index_used_count no_index_used_pct rows_sent rows_examined rows_sent_avg rows_examined_avg first_seen last_seen digest
+statements_with_runtimes_in_95th_percentile query db full_scan exec_count err_count warn_count total_latency max_latency avg_latency rows_sent rows_sent_avg rows_examined rows_examined_avg first_seen last_seen digest
+statements_with_sorting query db exec_count total_latency sort_merge_passes avg_sort_merges sorts_using_scans sort_using_range rows_sorted avg_rows_sorted first_seen last_seen digest
+statements_with_temp_tables query db exec_count total_latency memory_tmp_tables disk_tmp_tables avg_tmp_tables_per_query tmp_tables_to_disk_pct first_seen last_seen digest
sys_config variable value set_time set_by
+user_summary user statements statement_latency statement_avg_latency table_scans file_ios file_io_latency current_connections total_connections unique_hosts current_memory total_memory_allocated
+user_summary_by_file_io user ios io_latency
+user_summary_by_file_io_type user event_name total latency max_latency
+user_summary_by_stages user event_name total total_latency avg_latency
+user_summary_by_statement_latency user total total_latency max_latency lock_latency cpu_latency rows_sent rows_examined rows_affected full_scans
+user_summary_by_statement_type user statement total total_latency max_latency lock_latency cpu_latency rows_sent rows_examined rows_affected full_scans
version sys_version mysql_version
+wait_classes_global_by_avg_latency event_class total total_latency min_latency avg_latency max_latency
+wait_classes_global_by_latency event_class total total_latency min_latency avg_latency max_latency
+waits_by_host_by_latency host event total total_latency avg_latency max_latency
+waits_by_user_by_latency user event total total_latency avg_latency max_latency
+waits_global_by_latency events total total_latency avg_latency max_latency
x$ps_digest_95th_percentile_by_avg_us avg_us percentile
x$ps_digest_avg_latency_distribution cnt avg_us
x$ps_schema_table_statistics_io table_schema table_name count_read sum_number_of_bytes_read sum_timer_read count_write sum_number_of_bytes_write sum_timer_write count_misc sum_timer_misc
x$schema_flattened_keys table_schema table_name index_name non_unique subpart_exists index_columns
x$statement_analysis query db full_scan exec_count exec_secondary_count err_count warn_count total_latency max_latency avg_latency lock_latency cpu_latency rows_sent rows_sent_avg rows_examined rows_examined_avg rows_affected rows_affected_avg tmp_tables tmp_disk_tables rows_sorted sort_merge_passes max_controlled_memory max_total_memory digest first_seen last_seen
`

// TestSysNames: sys has MySQL's views, each with its columns in order.
func TestSysNames(t *testing.T) {
	tables := definitions().dbs[sysDB]
	seen := map[string]bool{}
	check := func(name string, want []string) {
		seen[name] = true
		tab := tables[name]
		if tab == nil {
			t.Errorf("no %s", name)
			return
		}
		var got []string
		for _, c := range tab.cols {
			got = append(got, c.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s\n got %v\nwant %v", name, got, want)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(sysNames)) {
		f := strings.Fields(line)
		name, both := strings.CutPrefix(f[0], "+")
		check(name, f[1:])
		if both {
			check("x$"+name, f[1:])
		}
	}
	for name := range tables {
		if !seen[name] {
			t.Errorf("MySQL has no %s", name)
		}
	}
}

// TestSlowDigests: the 95th percentile is that of all digests, whichever of them a query
// needs.
func TestSlowDigests(t *testing.T) {
	f := newFake(t)
	s := f.metrics.Open(7, "root", "localhost")
	for i, d := range []time.Duration{time.Millisecond, time.Millisecond, time.Second} {
		s.Record(&metrics.Event{Command: metrics.CommandOf("select"), Digest: f.metrics.Digests.Get(fmt.Sprint("db", i), fmt.Sprint(i), fmt.Sprint("SELECT ", i)), Start: started, Duration: d})
	}
	read := func(name string, equal map[int]string) string {
		v, _, err := f.p.For(f).Virtual(sysDB, name)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		err = f.p.Rows(context.Background(), f, v.Key, equal, func(row []value.Datum) error {
			text, err := rowText(v.Cols, row)
			out = append(out, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, ";")
	}
	if got, want := read("x$ps_digest_avg_latency_distribution", nil), "2|1000;1|1000000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := read("x$ps_digest_95th_percentile_by_avg_us", nil), "1000000|1.0000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	const slow = "statements_with_runtimes_in_95th_percentile"
	if got := read(slow, map[int]string{1: "db0"}); got != "" {
		t.Errorf("db0 has %s", got)
	}
	if got := read(slow, map[int]string{1: "db2"}); !strings.HasPrefix(got, "SELECT 2|db2|") {
		t.Errorf("db2 has %q", got)
	}
}

func TestFraction(t *testing.T) {
	for _, c := range []struct {
		a, n uint64
		want string
	}{{1, 127, "0.0079"}, {128, 127, "1.0079"}, {1, 20000, "0.0001"}, {1, 20001, "0.0000"}, {1<<64 - 1, 1<<64 - 1, "1.0000"}, {1<<64 - 1, 127, "145249953336295682.0079"}} {
		if got := fraction(c.a, c.n).Decimal().String(); got != c.want {
			t.Errorf("%d/%d is %s, want %s", c.a, c.n, got, c.want)
		}
	}
}
