package infoschema

import "strings"

// idleViews are the views of sys over what sqlots does not measure: waits, stages, files,
// memory of connections, and the pages of a buffer pool. They have MySQL's columns.
func idleViews() []*sysView {
	const (
		waits    = "events_waits_summary_global_by_event_name"
		file     = "file_summary_by_instance"
		fileKind = "file_summary_by_event_name"
		event    = "total u, total_latency T, avg_latency T, max_latency T"
		class    = "event_class s128?, total m42.0?, total_latency S, min_latency P, avg_latency s11?/m46.4, max_latency P"
		pages    = "allocated t?/m43.0?, data t?/m43.0?, pages i, pages_hashed i, pages_old i, rows_cached m44.0?/m44.0"
		memory   = "current_count_used m41.0?, current_allocated s11?/m41.0?, current_avg_alloc s11?/m45.4, current_max_alloc B, total_allocated S"
		read     = "count_read u, total_read s11?/i, avg_read s11?/m23.4, count_write u, total_written s11?/i"
	)
	list := []*sysView{
		{name: "io_global_by_file_by_bytes", columns: "file s512?/s512, " + read + ", avg_write s11?/m23.4, total s11?/i, write_pct m26.2", reads: file},
		{name: "io_global_by_file_by_latency", columns: "file s512?/s512, total u, total_latency T, count_read u, read_latency T, count_write u, write_latency T, count_misc u, misc_latency T", reads: file},
		{name: "io_global_by_wait_by_bytes", columns: "event_name s128?, total u, total_latency T, min_latency T, avg_latency T, max_latency T, " + read + ", avg_written s11?/m23.4, total_requested s11?/i", reads: fileKind},
		{name: "io_global_by_wait_by_latency", columns: "event_name s128?, total u, total_latency T, avg_latency T, max_latency T, read_latency T, write_latency T, misc_latency T, " + read + ", avg_written s11?/m23.4", reads: fileKind},
		{name: "io_by_thread_by_latency", columns: "user s288?, total m42.0?, total_latency S, min_latency P, avg_latency s11?/m24.4?, max_latency P, thread_id u, processlist_id u?", reads: "events_waits_summary_by_thread_by_event_name " + threadTables},
		{name: "latest_file_io", columns: "thread s309?, file s512?, latency P, operation s32, requested B", reads: "events_waits_history_long " + threadTables},
		{name: "wait_classes_global_by_latency", columns: class, reads: waits},
		{name: "wait_classes_global_by_avg_latency", columns: class, reads: waits},
		{name: "waits_global_by_latency", columns: "events s128, " + event, reads: waits},
		{name: "innodb_buffer_stats_by_schema", columns: "object_schema t?, " + pages, process: true},
		{name: "innodb_buffer_stats_by_table", columns: "object_schema t?, object_name t?, " + pages, process: true},
		{name: "memory_by_thread_by_current_bytes", columns: "thread_id u, user s288?, " + memory, reads: "memory_summary_by_thread_by_event_name " + threadTables},
		{name: "x$ps_schema_table_statistics_io", columns: "table_schema s64?, table_name s64?, count_read m42.0?, sum_number_of_bytes_read m41.0?, sum_timer_read m42.0?, count_write m42.0?, " +
			"sum_number_of_bytes_write m41.0?, sum_timer_write m42.0?, count_misc m42.0?, sum_timer_misc m42.0?", reads: file, plain: true},
	}
	for _, x := range []struct{ by, column, kindLatency string }{{"user", "user s32?, ", "latency"}, {"host", "host s255?, ", "total_latency"}} {
		from := func(what string) string { return strings.Replace(what, "*", "by_"+x.by, 1) }
		list = append(list,
			&sysView{name: x.by + "_summary_by_file_io", columns: x.column + "ios m42.0?, io_latency S", reads: from("events_waits_summary_*_by_event_name")},
			&sysView{name: x.by + "_summary_by_file_io_type", columns: x.column + "event_name s128, total u, " + x.kindLatency + " T, max_latency T", reads: from("events_waits_summary_*_by_event_name")},
			&sysView{name: x.by + "_summary_by_stages", columns: x.column + "event_name s128, total u, total_latency T, avg_latency T", reads: from("events_stages_summary_*_by_event_name")},
			&sysView{name: from("waits_*_by_latency"), columns: x.column + "event s128, " + event, reads: from("events_waits_summary_*_by_event_name")},
			&sysView{name: from("memory_*_by_current_bytes"), columns: x.column + memory, reads: from("memory_summary_*_by_event_name")})
	}
	return list
}
