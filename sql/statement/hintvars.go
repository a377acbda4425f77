package statement

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// hintVariables are the variables that SET_VAR may set (MySQL manual 7.1.8,
// "SET_VAR Hint Applies"); those of our own may be set, too.
var hintVariables = func() map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(`auto_increment_increment auto_increment_offset big_tables block_encryption_mode
		bulk_insert_buffer_size cte_max_recursion_depth default_tmp_storage_engine div_precision_increment end_markers_in_json
		eq_range_index_dive_limit foreign_key_checks group_concat_max_len histogram_generation_max_mem_size insert_id
		internal_tmp_mem_storage_engine join_buffer_size lock_wait_timeout max_error_count max_execution_time
		max_heap_table_size max_join_size max_length_for_sort_data max_points_in_geometry max_seeks_for_key max_sort_length
		optimizer_max_subgraph_pairs optimizer_prune_level optimizer_search_depth optimizer_switch parser_max_mem_size
		range_alloc_block_size range_optimizer_max_mem_size read_buffer_size read_rnd_buffer_size secondary_engine_cost_threshold
		select_into_buffer_size select_into_disk_sync select_into_disk_sync_delay sort_buffer_size sql_auto_is_null
		sql_big_selects sql_buffer_result sql_mode sql_safe_updates sql_select_limit time_zone timestamp tmp_table_size
		transaction_alloc_block_size unique_checks updatable_views_with_limit use_secondary_engine
		windowing_use_high_precision xa_detach_on_prepare`) {
		out[name] = true
	}
	return out
}()

// hintVars sets the variables of the hints SET_VAR for one statement, until
// restore is called. What cannot be set is a warning: 3126, 3128, 3637, and what
// SET says.
func (s *Statement) hintVars(ctx context.Context, stmt *parser.Statement) (_ context.Context, warnings []sqlerr.Warning, restore func()) {
	if len(stmt.SetVars) == 0 {
		return ctx, nil, func() {}
	}
	warn := func(e *sqlerr.Error) {
		warnings = append(warnings, sqlerr.Warning{Level: sqlerr.LevelWarning, Err: e})
	}
	v := s.Vars
	changed, fixed, said := len(v.Changed), v.FixedTime, v.Warn
	before := map[string]*value.Datum{}
	v.Warn = func(w sqlerr.Warning) { warnings = append(warnings, w) }
	defer func() { v.Warn = said }()
	for i := range stmt.SetVars {
		h := &stmt.SetVars[i]
		d := v.Globals.Lookup(h.Variable)
		if d == nil {
			warn(sqlerr.UnresolvedHintName("'"+h.Variable+"'", h.Name))
			continue
		}
		key := strings.ToLower(d.Name)
		if _, taken := before[key]; taken {
			warn(sqlerr.ConflictingHint(h.String()))
			continue
		}
		own := strings.HasPrefix(key, "sqlots_") && d.Scope != sysvar.ScopeGlobal
		if !own && !hintVariables[key] {
			warn(sqlerr.NotHintVariable(d.Name))
			continue
		}
		before[key] = nil
		if was, ok := v.Own(key); ok {
			before[key] = &was
		}
		val, t := value.String(h.Value.Text), types.Text(v.Collation)
		if h.Value.IsNumber {
			val, t = value.Uint(h.Value.Number), types.UBigInt
		}
		if err := s.setItem(ctx, logical.SetItem{Scope: logical.SetSession, Name: d.Name}, &val, t); err != nil {
			var e *sqlerr.Error
			if errors.As(err, &e) {
				warn(e)
			}
		}
	}
	done := func() {}
	if _, timed := before["max_execution_time"]; timed && v.MaxTime > 0 && IsSelect(stmt.Text) {
		limited, cancel := context.WithCancelCause(ctx)
		timer := time.AfterFunc(v.MaxTime, func() { cancel(sqlerr.QueryTimeout()) })
		ctx, done = limited, func() { timer.Stop(); cancel(nil) }
	}
	return ctx, warnings, func() {
		done()
		for key, was := range before {
			v.Restore(key, was)
		}
		v.Changed, v.FixedTime = v.Changed[:min(changed, len(v.Changed))], fixed
		v.Refresh()
	}
}

// IsSelect reports whether max_execution_time is for a statement: a query.
func IsSelect(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n(")
	if len(text) >= 4 && strings.EqualFold(text[:4], "with") {
		return parser.AfterWith(text) == "SELECT"
	}
	return len(text) >= 6 && strings.EqualFold(text[:6], "select")
}
