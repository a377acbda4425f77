package infoschema

import "github.com/sqlots/sqlots/metrics"

// setupTables say what is measured. It cannot be changed while the server runs.
func setupTables() []*table {
	list := []*table{
		newTable(performanceDB, "setup_actors", "HOST s255, USER s32, ROLE s32, ENABLED e:YES|NO, HISTORY e:YES|NO", fixed([]any{"%", "%", "%", "YES", "YES"})),
		newTable(performanceDB, "setup_consumers", "NAME s64, ENABLED e:YES|NO", setupConsumers),
		newTable(performanceDB, "setup_instruments", "NAME s128, ENABLED e:YES|NO, TIMED e:YES|NO?, PROPERTIES s64, FLAGS s64?, VOLATILITY i, DOCUMENTATION t?", setupInstruments),
		newTable(performanceDB, "setup_objects", "OBJECT_TYPE e:EVENT|FUNCTION|PROCEDURE|TABLE|TRIGGER, OBJECT_SCHEMA n64?, OBJECT_NAME n64, ENABLED e:YES|NO, TIMED e:YES|NO",
			fixed([]any{"TABLE", mysqlDB, "%", "NO", "NO"}, []any{"TABLE", performanceDB, "%", "NO", "NO"}, []any{"TABLE", infoDB, "%", "NO", "NO"}, []any{"TABLE", "%", "%", "YES", "NO"})),
		newTable(performanceDB, "setup_threads", "NAME s128, ENABLED e:YES|NO, HISTORY e:YES|NO, PROPERTIES s64, VOLATILITY i, DOCUMENTATION t?",
			fixed([]any{connectionThread, "YES", "YES", "user", 0, nil})),
		newTable(performanceDB, "performance_timers", "TIMER_NAME e:CYCLE|NANOSECOND|MICROSECOND|MILLISECOND|THREAD_CPU, TIMER_FREQUENCY i?, TIMER_RESOLUTION i?, TIMER_OVERHEAD i?",
			fixed([]any{"CYCLE", nil, nil, nil}, []any{"NANOSECOND", 1_000_000_000, 1, 50}, []any{"MICROSECOND", 1_000_000, 1, 50}, []any{"MILLISECOND", 1000, 1, 50}, []any{"THREAD_CPU", nil, nil, nil})),
	}
	for _, t := range list {
		measured(t, nil)
	}
	return list
}

// connectionThread is the instrument of connections.
const connectionThread = "thread/sql/one_connection"

// fixed makes rows that never change.
func fixed(rows ...[]any) func(q *query) error {
	return func(q *query) error {
		for _, r := range rows {
			if err := q.emit(r...); err != nil {
				return err
			}
		}
		return nil
	}
}

func setupConsumers(q *query) error {
	for _, c := range []struct {
		name string
		on   bool
	}{
		{"events_stages_current", false}, {"events_stages_history", false}, {"events_stages_history_long", false},
		{"events_statements_cpu", false}, {"events_statements_current", true}, {"events_statements_history", true}, {"events_statements_history_long", false},
		{"events_transactions_current", false}, {"events_transactions_history", false}, {"events_transactions_history_long", false},
		{"events_waits_current", false}, {"events_waits_history", false}, {"events_waits_history_long", false},
		{"global_instrumentation", true}, {"thread_instrumentation", true}, {"statements_digest", true},
	} {
		if err := q.emit(c.name, yesNo(c.on)); err != nil {
			return err
		}
	}
	return nil
}

func setupInstruments(q *query) error {
	for _, c := range metrics.Commands() {
		if err := q.emit(c.EventName(), "YES", "YES", "", nil, 0, nil); err != nil {
			return err
		}
	}
	for _, p := range q.server.MemoryParts() {
		if err := q.emit("memory/sqlots/"+p.Name, "YES", nil, "global_statistics", nil, 0, nil); err != nil {
			return err
		}
	}
	for _, name := range []string{"wait/io/table/sql/handler", "wait/lock/metadata/sql/mdl"} {
		if err := q.emit(name, "YES", "NO", "", nil, 0, nil); err != nil {
			return err
		}
	}
	return q.emit("error", "YES", nil, "", nil, 0, nil)
}
